// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The kernel's tables of TCP's sockets: a row for each, of this network namespace.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Of IPv4 and IPv6.
const TABLES: [&str; 2] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

/// What a socket is, as far as anybody here asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Both sides may send.
    Established,
    /// Its peer has ended its side, and it has not.
    CloseWait,
    /// It waits for connections.
    Listen,
    /// Anything else.
    Other,
}

/// A socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Its own address.
    pub local: SocketAddr,
    /// Its peer's.
    pub remote: SocketAddr,
    /// What it is.
    pub state: State,
    /// The user who has made it.
    pub uid: u32,
    /// Its number among the kernel's files.
    pub inode: u64,
}

/// All rows of both tables, as they are at this moment; `None` where the kernel shows neither.
pub fn read() -> Option<Vec<Row>> {
    let tables: Vec<String> = TABLES.iter().filter_map(|table| std::fs::read_to_string(table).ok()).collect();
    (!tables.is_empty()).then(|| tables.iter().flat_map(|table| rows(table)).collect())
}

/// Those of a table, whose first line is a head. What cannot be understood is passed over.
fn rows(table: &str) -> impl Iterator<Item = Row> + '_ {
    table.lines().skip(1).filter_map(row)
}

fn row(line: &str) -> Option<Row> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (local, remote) = (address(words.next()?)?, address(words.next()?)?);
    let state = match words.next()? {
        "01" => State::Established,
        "08" => State::CloseWait,
        "0A" => State::Listen,
        _ => State::Other,
    };
    // Queues, timer and resends stand between.
    let (uid, inode) = (words.nth(3)?.parse().ok()?, words.nth(1)?.parse().ok()?);
    Some(Row { local, remote, state, uid, inode })
}

/// An address and a port.
fn address(words: &str) -> Option<SocketAddr> {
    let (of, port) = words.rsplit_once(':')?;
    Some((ip(of)?, u16::from_str_radix(port, 16).ok()?).into())
}

/// An address of a table: words of the machine's own order.
fn ip(hex: &str) -> Option<IpAddr> {
    let words: Option<Vec<[u8; 4]>> =
        (0..hex.len() / 8).map(|n| Some(u32::from_str_radix(hex.get(n * 8..n * 8 + 8)?, 16).ok()?.to_ne_bytes())).collect();
    let bytes = words?.concat();
    match bytes.len() {
        4 => Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).into()),
        16 => Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn addresses_of_the_tables() {
        for address in ["127.0.0.1", "10.1.2.3", "::1", "fe80::1:2"] {
            let address: IpAddr = address.parse().unwrap();
            let bytes = match address {
                IpAddr::V4(v4) => v4.octets().to_vec(),
                IpAddr::V6(v6) => v6.octets().to_vec(),
            };
            let hex: String = bytes.chunks(4).map(|word| format!("{:08X}", u32::from_ne_bytes(word.try_into().unwrap()))).collect();
            assert_eq!(ip(&hex), Some(address));
        }
        assert_eq!((ip(""), ip("0100007"), ip("0100007G"), ip("0100007F0100007F")), (None, None, None, None));
    }

    /// The columns, as the kernel's documents have them (Documentation/networking/proc_net_tcp.rst).
    #[test]
    fn a_row_has_its_user_and_its_inode() {
        let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
        let line = "   7: 0100007F:1F90 0200007F:C001 08 00000001:00000002 01:00000003 00000004  1000        5 123456 1 0000000000000000 20 4 30 10 -1\n";
        let all: Vec<Row> = rows(&format!("{head}{line}broken\n{}", line.replace(" 08 ", " 06 "))).collect();
        let want = Row {
            local: "127.0.0.1:8080".parse().unwrap(),
            remote: "127.0.0.2:49153".parse().unwrap(),
            state: State::CloseWait,
            uid: 1000,
            inode: 123_456,
        };
        assert_eq!(all, [want, Row { state: State::Other, ..want }]);
    }

    #[test]
    fn a_socket_that_listens_is_in_the_tables() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let local = listener.local_addr().unwrap();
        let is = |row: &Row| row.local == local && row.state == State::Listen && row.uid == crate::kernel::user();
        assert_eq!(read().unwrap().iter().filter(|row| is(row)).count(), 1);
    }
}
