// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A datagram to whoever steers requests, when a pause begins, when it is expected to last longer or shorter than was said, and when it is over.
//!
//! One line of ASCII: `lull-gate 1 PROCESS PORTS busy MS`, for so many milliseconds more, or `lull-gate 1 PROCESS PORTS runs`; 1 is the version,
//! PORTS are those of the service, with commas between them: with the datagram's sender, a client knows by them which of its replicas that is.
//! A datagram may be lost, so that a receiver forgets *busy* by itself after that time.
//!
//! With a key the line is `lull-gate 2 PROCESS PORTS NUMBER busy MS PROOF`. NUMBER is the time, in microseconds since 1970, and grows with each
//! line, so that none counts twice. PROOF is the HMAC-SHA-256 of the sender's address, in its 4 or 16 bytes, and of the line up to it, in
//! hexadecimal digits: who has no key can neither make one, nor use that of another replica.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ring::hmac;

/// What sender and receivers have.
#[derive(Clone)]
pub struct Key(hmac::Key);

impl Key {
    /// From a file that its owner alone may read.
    ///
    /// # Errors
    /// What is wrong with it, without a digit of it, and what to do.
    pub fn read(path: &Path) -> Result<Key, String> {
        let failed = |what: &str| format!("option datagrams-key={}: {what}", path.display());
        let metadata = std::fs::metadata(path).map_err(|error| failed(&error.to_string()))?;
        if metadata.mode() & 0o077 != 0 {
            return Err(failed(&format!("others may read it (mode {:o}); chmod 600 it", metadata.mode() & 0o7777)));
        }
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error.to_string()))?;
        let key = bytes(text.trim()).ok_or_else(|| failed("it has not 64 hexadecimal digits; openssl rand -hex 32 makes them"))?;
        Ok(Key(hmac::Key::new(hmac::HMAC_SHA256, &key)))
    }
}

fn bytes(digits: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    if digits.len() != 2 * key.len() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(key)
}

/// Who proves that lines are the gate's.
struct Prover {
    key: hmac::Key,
    address: IpAddr,
    /// Of the last line.
    number: Cell<u64>,
}

impl Prover {
    /// The next line's.
    fn next_number(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64);
        self.number.set(now.max(self.number.get() + 1));
        self.number.get()
    }

    fn prove(&self, line: &str) -> String {
        let mut context = hmac::Context::with_key(&self.key);
        match self.address.to_canonical() {
            IpAddr::V4(address) => context.update(&address.octets()),
            IpAddr::V6(address) => context.update(&address.octets()),
        }
        context.update(line.as_bytes());
        context.sign().as_ref().iter().fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        })
    }
}

/// A socket from which the lines are sent.
pub struct Datagrams {
    socket: UdpSocket,
    /// What each line says of the service.
    who: String,
    prover: Option<Prover>,
}

impl Datagrams {
    /// To this address, of a service at these ports; proven by the key, if there is one.
    ///
    /// # Errors
    /// There is no route to it, or no descriptor left.
    pub fn to(address: SocketAddr, ports: impl Iterator<Item = u16>, key: Option<&Key>) -> io::Result<Datagrams> {
        let any: SocketAddr = if address.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
        let socket = UdpSocket::bind(any)?;
        socket.connect(address)?;
        socket.set_nonblocking(true)?;
        let ports: Vec<String> = ports.map(|port| port.to_string()).collect();
        let own = socket.local_addr()?.ip();
        let prover = key.map(|key| Prover { key: key.0.clone(), address: own, number: Cell::new(0) });
        Ok(Datagrams { socket, who: format!("{} {}", std::process::id(), ports.join(",")), prover })
    }

    /// A pause is expected to last for so long from now.
    pub fn busy(&self, remaining_ns: u64) {
        self.send(&format!("busy {}", remaining_ns.div_ceil(1_000_000)));
    }

    /// It is over.
    pub fn runs(&self) {
        self.send("runs");
    }

    fn send(&self, what: &str) {
        // That nobody listens, or that there is no room, is not the gate's trouble.
        let _ = self.socket.send(self.line(what).as_bytes());
    }

    fn line(&self, what: &str) -> String {
        let Some(prover) = &self.prover else { return format!("lull-gate 1 {} {what}\n", self.who) };
        let line = format!("lull-gate 2 {} {} {what} ", self.who, prover.next_number());
        let proof = prover.prove(&line);
        format!("{line}{proof}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    #[test]
    fn lines_arrive() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(receiver) = UdpSocket::bind(address) else { continue };
            receiver.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let datagrams = Datagrams::to(receiver.local_addr().unwrap(), [8080, 443].into_iter(), None).unwrap();
            datagrams.busy(1_000_001);
            datagrams.runs();
            for what in ["busy 2", "runs"] {
                let mut line = [0; 100];
                let n = receiver.recv(&mut line).unwrap();
                assert_eq!(std::str::from_utf8(&line[..n]).unwrap(), format!("lull-gate 1 {} 8080,443 {what}\n", std::process::id()));
            }
            // Without a receiver.
            drop(receiver);
            datagrams.runs();
            datagrams.busy(1);
        }
    }

    /// A key of bytes 0, 1, ... 31.
    fn key_file(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("lull-gate-key-{}-{name}", std::process::id()));
        let digits: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
        std::fs::write(&path, digits + "\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// The proof is what openssl says, and GateListenerTest has the same line:
    /// `(printf '\x7f\0\0\1'; printf 'lull-gate 2 77 8001 5 busy 9000 ') | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102...1f`
    #[test]
    fn a_line_is_proven_as_others_prove_it() {
        let path = key_file("golden");
        let Key(key) = Key::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        for address in ["127.0.0.1", "::ffff:127.0.0.1"] {
            let prover = Prover { key: key.clone(), address: address.parse().unwrap(), number: Cell::new(0) };
            assert_eq!(prover.prove("lull-gate 2 77 8001 5 busy 9000 "), GOLDEN);
        }
    }

    const GOLDEN: &str = "35b0fc9a0b058befeac08e69878a7087dac890769889999e12e2f817752b8da6";

    #[test]
    fn no_two_lines_have_the_same_number_or_proof() {
        let path = key_file("numbers");
        let key = Key::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        let datagrams = Datagrams::to("127.0.0.1:9".parse().unwrap(), [8080].into_iter(), Some(&key)).unwrap();
        let lines: Vec<_> = (0..1000).map(|_| datagrams.line("runs")).collect();
        let part = |line: &String, at: usize| line.split(' ').nth(at).unwrap().to_owned();
        let numbers: Vec<u64> = lines.iter().map(|line| part(line, 4).parse().unwrap()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b));
        assert!(lines.windows(2).all(|pair| part(&pair[0], 6) != part(&pair[1], 6)), "{lines:?}");
    }

    #[test]
    fn a_key_that_others_may_read_is_none() {
        let path = key_file("mode");
        let why = || Key::read(&path).map(drop).unwrap_err();
        for (mode, part) in [(0o640, "mode 640"), (0o604, "chmod 600")] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(why().contains(part), "{}", why());
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        for text in ["", "00", &"0".repeat(65), &"g".repeat(64)] {
            std::fs::write(&path, text).unwrap();
            assert!(why().contains("64 hexadecimal digits") && (text.is_empty() || !why().contains(text)), "{}", why());
        }
        std::fs::remove_file(&path).unwrap();
        assert!(why().contains("No such file"), "{}", why());
    }
}
