// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

use super::*;

fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
    }
    bytes
}

fn busy(resp: &Resp, request: &[u8]) -> String {
    let mut answer = vec![1];
    assert_eq!(resp.busy(request, Duration::from_micros(1001), &mut answer), 1);
    String::from_utf8(answer).unwrap()
}

#[test]
fn commands_and_lines_are_requests() {
    let resp = Resp::default();
    for request in [
        command(&["GET", "a"]),
        command(&["SET", "a", "x\r\n*1\r\n$4\r\nPING\r\n"]),
        command(&["SET", "", ""]),
        b"PING\r\n".to_vec(),
        b"get a \r\n".to_vec(),
    ] {
        assert_eq!(resp.front(&request), Front::Request { length: request.len(), deadline: None });
        let followed = [&request[..], b"*"].concat();
        assert_eq!(resp.front(&followed), Front::Request { length: request.len(), deadline: None });
        for end in 0..request.len() {
            assert_eq!(resp.front(&request[..end]), Front::Incomplete, "{end}");
        }
        assert_eq!(busy(&resp, &request), "-BUSY the server is stopped for 2 ms more\r\n");
    }
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
fn what_changes_the_connection_is_the_applications() {
    for words in [
        &["SELECT", "1"][..],
        &["auth", "x"],
        &["HELLO", "3"],
        &["CLIENT", "SETNAME", "x"],
        &["WATCH", "a"],
        &["MULTI"],
        &["EXEC"],
        &["Asking"],
        &["QUIT"],
    ] {
        let mut resp = Resp::default();
        assert_eq!(resp.front(&command(words)), Front::Leave, "{words:?}");
        resp.received(&command(words)).unwrap();
    }
    for words in [&["SUBSCRIBE", "a"][..], &["monitor"], &["PSYNC", "?", "-1"], &["CLIENT", "reply", "OFF"], &["CLIENT", "TRACKING", "ON"]]
    {
        let mut resp = Resp::default();
        assert_eq!(resp.front(&command(words)), Front::Leave, "{words:?}");
        assert!(matches!(resp.received(&command(words)), Err(Opaque::Request(_))), "{words:?}");
    }
    // Longer words that begin so are others.
    assert!(matches!(Resp::default().front(&command(&["SELECTABLE-THINGS-OF-ALL-SORTS"])), Front::Request { .. }));
}

#[test]
fn a_transaction_is_executed_whole() {
    let mut resp = Resp::default();
    let get = command(&["GET", "a"]);
    let mut exchange = |request: &[u8], answer: &[u8], inside: bool| {
        resp.received(request).unwrap();
        resp.sent(answer).unwrap();
        assert!(resp.is_idle());
        assert_eq!(resp.front(&get) == Front::Leave, inside);
    };
    exchange(b"multi\r\n", b"+OK\r\n", true);
    exchange(&command(&["SET", "a", "1"]), b"+QUEUED\r\n", true);
    exchange(&command(&["EXEC"]), b"*1\r\n+OK\r\n", false);
    exchange(b"MULTI\r\n", b"+OK\r\n", true);
    exchange(b"DISCARD\r\n", b"+OK\r\n", false);
    exchange(b"ASKING\r\n", b"+OK\r\n", true);
    exchange(&command(&["GET", "b"]), b"$-1\r\n", false);
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
    let long = "A".repeat(65 << 10);
    assert!(matches!(Resp::default().front(long.as_bytes()), Front::Unknown(_)));
    for bytes in [">2\r\n", "|1\r\n", "$?\r\n", "OK\r\n", "\r\n", "+OK\n", "$1\r\nab"] {
        let mut resp = Resp::default();
        resp.received(b"PING\r\n").unwrap();
        assert!(matches!(resp.sent(bytes.as_bytes()), Err(Opaque::Response(_))), "{bytes:?}");
    }
}

#[test]
fn unanswered_commands_are_bounded() {
    let mut resp = Resp::default();
    let many = b"PING\r\n".repeat(MOST_OUTSTANDING);
    resp.received(&many).unwrap();
    assert!(resp.received(b"PING\r\n").is_err());
}
