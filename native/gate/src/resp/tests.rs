// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

use super::*;

fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
    }
    bytes
}

fn busy(resp: &Resp, request: &[u8]) -> (u64, String) {
    let mut answer = vec![1];
    let n = resp.busy(request, Duration::from_micros(1001), &mut answer);
    (n, String::from_utf8(answer).unwrap())
}

#[test]
fn commands_are_requests() {
    let resp = Resp::default();
    for request in [
        command(&["GET", "a"]),
        command(&["set", "a", "x\r\n*1\r\n$4\r\nPING\r\n"]),
        command(&["SET", "", ""]),
        command(&["GEORADIUSBYMEMBER"]),
    ] {
        assert_eq!(resp.front(&request), Front::Request { length: request.len(), deadline: None });
        for behind in [&b"*"[..], b"PING\r\n", b"\r\n", &command(&["MULTI"])] {
            let followed = [&request[..], behind].concat();
            assert_eq!(resp.front(&followed), Front::Request { length: request.len(), deadline: None });
        }
        for end in 0..request.len() {
            assert_eq!(resp.front(&request[..end]), Front::Incomplete, "{end}");
        }
        let name = request.split(|&byte| byte == b'\r').nth(2).unwrap()[1..].to_ascii_uppercase();
        assert_eq!(resp.describe(&request).line.to_ascii_uppercase(), [b"RESP ", &name[..]].concat());
        assert_eq!(busy(&resp, &request), (1, "-BUSY the server is stopped for 2 ms more\r\n".to_string()));
    }
}

#[test]
fn a_pipeline_is_answered_at_once() {
    let resp = Resp::default();
    let one = command(&["GET", "a"]);
    let pipeline = one.repeat(MOST_AT_ONCE + 1);
    let length = one.len() * MOST_AT_ONCE;
    assert_eq!(resp.front(&pipeline), Front::Request { length, deadline: None });
    let (n, answer) = busy(&resp, &pipeline[..length]);
    assert_eq!((n, answer.matches("-BUSY").count()), (MOST_AT_ONCE as u64, MOST_AT_ONCE));
}

#[test]
fn lines_are_the_applications() {
    for line in ["PING\r\n", "get a \r\n", "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n", "POST / HTTP/1.1\r\n", "Host: a\r\n"] {
        assert_eq!(Resp::default().front(line.as_bytes()), Front::Leave, "{line}");
    }
    for line in ["PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n", "post / HTTP/1.1\r\n", "Host: a\r\n", "MUL\"TI\"\r\n", "GET \\x\r\n", "GET a\tb\r\n"]
    {
        assert!(matches!(Resp::default().received(line.as_bytes()), Err(Opaque::Request(_))), "{line}");
    }
    Resp::default().received(b"GET a\r\n").unwrap();
}

#[test]
fn each_command_has_one_answer() {
    for answer in [
        "+OK\r\n",
        "-ERR no\r\n",
        ":-3\r\n",
        "$3\r\nabc\r\n",
        "$0\r\n\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "*0\r\n",
        "*2\r\n$1\r\na\r\n*1\r\n:1\r\n",
        "_\r\n",
        "#t\r\n",
        ",1.5\r\n",
        "(123\r\n",
        "!3\r\nERR\r\n",
        "=7\r\ntxt:abc\r\n",
        "%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n_\r\n",
        "~1\r\n:1\r\n",
        "%0\r\n",
    ] {
        let mut resp = Resp::default();
        resp.received(&[command(&["GET", "a"]), b"PING\r\n".to_vec()].concat()).unwrap();
        for byte in answer.bytes() {
            assert!(!resp.is_idle(), "{answer}");
            resp.sent(&[byte]).unwrap_or_else(|e| panic!("{answer}: {e:?}"));
        }
        assert!(!resp.is_idle());
        resp.sent(answer.as_bytes()).unwrap();
        assert!(resp.is_idle(), "{answer}");
        assert_eq!(resp.sent(b"+"), Err(Opaque::Response("an answer without a command")));
    }
}

#[test]
fn what_is_not_known_to_change_only_data_is_the_applications() {
    let leave = [
        &["SELECT", "1"][..],
        &["auth", "x"],
        &["HELLO", "3"],
        &["CLIENT", "SETNAME", "x"],
        &["WATCH", "a"],
        &["MULTI"],
        &["EXEC"],
        &["Asking"],
        &["PING"],
        &["ECHO", "a"],
        &["INFO"],
        &["A.MODULES"],
        &["SCRIPT", "LOAD", "x"],
        &["GETS"],
        &["SELECTABLE-THINGS-OF-ALL-SORTS"],
        &["GEORADIUSBYMEMBER-AND-MORE-OF-IT"],
    ];
    for words in leave {
        let mut resp = Resp::default();
        assert_eq!(resp.front(&command(words)), Front::Leave, "{words:?}");
        resp.received(&command(words)).unwrap();
    }
    let opaque = [
        &["SUBSCRIBE", "a"][..],
        &["monitor"],
        &["PSYNC", "?", "-1"],
        &["REPLCONF", "ACK", "1"],
        &["CLIENT", "reply", "OFF"],
        &["CLIENT", "TRACKING", "ON"],
        &["SCRIPT", "DEBUG", "YES"],
        &["QUIT"],
    ];
    for words in opaque {
        let mut resp = Resp::default();
        assert_eq!(resp.front(&command(words)), Front::Leave, "{words:?}");
        assert!(matches!(resp.received(&command(words)), Err(Opaque::Request(_))), "{words:?}");
    }
}

/// Reads and answers a command, and tells whether the next one is the application's.
fn exchange(resp: &mut Resp, request: &[&str], answer: &str) -> bool {
    resp.received(&command(request)).unwrap();
    resp.sent(answer.as_bytes()).unwrap();
    assert!(resp.is_idle());
    resp.front(&command(&["GET", "a"])) == Front::Leave
}

#[test]
fn a_transaction_is_executed_whole() {
    let mut resp = Resp::default();
    for end in
        [("EXEC", "*1\r\n+OK\r\n"), ("EXEC", "*-1\r\n"), ("EXEC", "-EXECABORT no\r\n"), ("DISCARD", "+OK\r\n"), ("RESET", "+RESET\r\n")]
    {
        assert!(exchange(&mut resp, &["multi"], "+OK\r\n"));
        assert!(exchange(&mut resp, &["SET", "a", "1"], "+QUEUED\r\n"));
        // It may be refused, or be queued like any other.
        for refused in ["-ERR no\r\n", "+QUEUED\r\n"] {
            assert!(exchange(&mut resp, &[end.0, "x"], refused));
        }
        assert!(!exchange(&mut resp, &[end.0], end.1), "{end:?}");
    }
    assert!(exchange(&mut resp, &["ASKING"], "+OK\r\n"));
    assert!(!exchange(&mut resp, &["GET", "b"], "$-1\r\n"));
    resp.received(&command(&["GET", "a"])).unwrap();
    assert!(matches!(resp.sent(b"+QUEUED\r\n"), Err(Opaque::Response(_))));
}

#[test]
fn the_answer_to_one_transactions_end_does_not_end_the_next() {
    let mut resp = Resp::default();
    let get = command(&["GET", "a"]);
    for words in [["MULTI"], ["EXEC"], ["MULTI"]] {
        resp.received(&command(&words)).unwrap();
    }
    resp.sent(b"+OK\r\n*0\r\n+OK\r\n").unwrap();
    assert!(resp.is_idle() && resp.front(&get) == Front::Leave);
    resp.received(&[get.clone(), command(&["EXEC"])].concat()).unwrap();
    resp.sent(b"+QUEUED\r\n").unwrap();
    assert!(!resp.is_idle());
    resp.sent(b"*1\r\n*1\r\n:1\r\n").unwrap();
    assert!(resp.is_idle() && matches!(resp.front(&get), Front::Request { .. }));
}

#[test]
fn what_is_not_of_the_protocol_is_left_alone() {
    for bytes in [
        "\r\n",
        "*0\r\n",
        "*-1\r\n",
        "*1\n",
        "PING\n",
        "*01\r\n",
        "*1\r\n+PING\r\n",
        "*1\r\n$-1\r\n",
        "*1\r\n$4\r\nPINGS",
        "*1\r\n$999999999999\r\n",
        "*9999999\r\n",
        "\u{16}\u{3}\u{1}\r\n",
        "P\rING\r\n",
        "$4\r\n",
        "*1234567890123\r\n",
    ] {
        let mut resp = Resp::default();
        assert!(matches!(resp.front(bytes.as_bytes()), Front::Unknown(_)), "{bytes:?}");
        assert!(matches!(resp.received(bytes.as_bytes()), Err(Opaque::Request(_))), "{bytes:?}");
        let mut single = Resp::default();
        assert!(bytes.bytes().any(|byte| single.received(&[byte]).is_err()), "{bytes:?}");
    }
    // Another protocol shows at its first byte.
    assert!(matches!(Resp::default().front(b"\x16"), Front::Unknown(_)) && Resp::default().received(b"\x16").is_err());
    let longest = "A".repeat((64 << 10) - 2);
    assert_eq!(Resp::default().front(format!("{longest}\r\n").as_bytes()), Front::Leave);
    assert!(matches!(Resp::default().front(format!("{longest}A\r\n").as_bytes()), Front::Unknown(_)));
    for bytes in
        [">2\r\n", "|1\r\n", "$?\r\n", "OK\r\n", "\r\n", "+OK\n", "$1\r\nab", "*4294967297\r\n", "*2\r\n*4294967296\r\n", "%4294967296\r\n"]
    {
        for whole in [true, false] {
            let mut resp = Resp::default();
            resp.received(&command(&["GET", "a"])).unwrap();
            let said = if whole { resp.sent(bytes.as_bytes()) } else { bytes.bytes().try_for_each(|byte| resp.sent(&[byte])) };
            assert!(matches!(said, Err(Opaque::Response(_))), "{bytes:?}");
        }
    }
}

#[test]
fn unanswered_commands_are_bounded() {
    let mut resp = Resp { outstanding: MOST_OUTSTANDING - 1, ..Resp::default() };
    resp.received(b"PING\r\n").unwrap();
    assert!(resp.received(b"PING\r\n").is_err());
}
