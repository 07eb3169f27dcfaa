// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the kernel says of a process's own ports: whether it listens there itself, at the host's own addresses, for who relays to such a port must
//! not relay to whoever else has it; and which of the connections there it has not ended.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use crate::kernel;
use crate::tcp_table::{self, Row, State};

/// This process's descriptors.
const DESCRIPTORS: &str = "/proc/self/fd";

/// Who is at the other end of connections of these ports that were not ended at this one; `None` where the kernel does not tell. An end that was
/// written behind bytes which nobody takes is nowhere else to be seen.
pub fn open_connections(ports: &[u16]) -> Option<HashSet<SocketAddr>> {
    let is_open = |row: &Row| matches!(row.state, State::Established | State::CloseWait) && ports.contains(&row.local.port());
    Some(tcp_table::read()?.iter().filter(|row| is_open(row)).map(|row| row.remote).collect())
}

/// Whether who connects to 127.0.0.1, or else to ::1, may come to it.
fn is_local(ip: IpAddr) -> bool {
    ip.is_unspecified() || ip == Ipv4Addr::LOCALHOST || ip == Ipv6Addr::LOCALHOST
}

/// The one of `is_ours` that who connects to `port` of this host comes to. None if another user listens there as well: at ::1 the one, at
/// 127.0.0.1 the other.
fn served(port: u16, listeners: &[Row], is_ours: impl Fn(&Row) -> bool) -> Option<Row> {
    let mut there = listeners.iter().filter(|listener| listener.local.port() == port && is_local(listener.local.ip()));
    let ours = there.clone().find(|listener| is_ours(listener))?;
    there.all(|listener| listener.uid == ours.uid || is_ours(listener)).then_some(*ours)
}

/// This process's sockets, by their inodes; `None` where the kernel does not tell, as of a program with capabilities of its file.
fn own_sockets() -> Option<HashMap<u64, RawFd>> {
    let entries = std::fs::read_dir(DESCRIPTORS).ok()?;
    let of = |fd: RawFd| Some((link(fd)?.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?, fd));
    Some(entries.flatten().filter_map(|entry| of(entry.file_name().to_str()?.parse().ok()?)).collect())
}

fn link(fd: RawFd) -> Option<PathBuf> {
    std::fs::read_link(Path::new(DESCRIPTORS).join(fd.to_string())).ok()
}

/// Ports at which this process is to listen.
#[derive(Debug)]
pub struct Own {
    ports: BTreeSet<u16>,
    /// The sockets that were found to, one for each port, or none: they are asked first, for tables of many sockets are long.
    found: Vec<(RawFd, PathBuf)>,
}

impl Own {
    /// Nothing is known of these.
    pub fn new(ports: impl Iterator<Item = u16>) -> Own {
        Own { ports: ports.collect(), found: Vec::new() }
    }

    /// Whether it listens at all of them, at 127.0.0.1, ::1 or every address. Where the kernel tells nothing, it is taken to.
    pub fn listens(&mut self) -> bool {
        let still = |(fd, socket): &(RawFd, PathBuf)| link(*fd).as_ref() == Some(socket) && kernel::is_listening(*fd);
        if !self.found.is_empty() && self.found.iter().all(still) {
            return true;
        }
        self.found.clear();
        let Some(mut listeners) = tcp_table::read() else { return true };
        listeners.retain(|row| row.state == State::Listen);
        let sockets = own_sockets();
        let user = kernel::user();
        let is_ours = |listener: &Row| match &sockets {
            Some(sockets) => sockets.contains_key(&listener.inode),
            None => listener.uid == user,
        };
        let ours: Option<Vec<Row>> = self.ports.iter().map(|port| served(*port, &listeners, is_ours)).collect();
        let Some(ours) = ours else { return false };
        let found = ours.iter().map(|listener| {
            let fd = *sockets.as_ref()?.get(&listener.inode)?;
            Some((fd, link(fd)?))
        });
        self.found = found.collect::<Option<_>>().unwrap_or_default();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    use std::process::{Command, Stdio};

    fn own(port: u16) -> Own {
        Own::new([port].into_iter())
    }

    #[test]
    fn it_listens_at_the_host_s_own_addresses_only() {
        for (address, is_local) in [
            ("127.0.0.1:0", true),
            ("0.0.0.0:0", true),
            ("127.0.0.2:0", false),
            ("[::1]:0", true),
            ("[::]:0", true),
            ("[::ffff:127.0.0.1]:0", true),
        ] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let mut own = own(listener.local_addr().unwrap().port());
            assert_eq!((own.listens(), own.listens()), (is_local, is_local), "{address}");
            assert_eq!(own.found.len(), usize::from(is_local));
            // SAFETY: no pointer is passed.
            unsafe { libc::shutdown(listener.as_raw_fd(), libc::SHUT_RDWR) };
            assert!(!own.listens(), "{address}: it has stopped, and is open");
        }
        let [first, second] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let mut both = Own::new([&first, &second].into_iter().map(|listener| listener.local_addr().unwrap().port()));
        assert!(both.listens());
        drop(second);
        assert!(!both.listens());
    }

    /// Another process has the socket, and this one has not.
    #[test]
    fn what_another_process_listens_at_is_not_ours() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let of = std::os::fd::OwnedFd::from(listener.try_clone().unwrap());
        let mut other = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::from(of)).spawn().unwrap();
        let mut own = own(port);
        assert!(own.listens());
        drop(listener);
        let listens = |row: &Row| row.local.port() == port && row.state == State::Listen;
        assert!(tcp_table::read().unwrap().iter().any(listens), "the other one still listens");
        assert!(!own.listens());
        drop(other.stdin.take());
        other.wait().unwrap();
    }

    #[test]
    fn beside_another_user_s_it_is_not_ours_alone() {
        let nobody = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let at = |ip: IpAddr, uid, inode| Row { local: (ip, 80).into(), remote: nobody, state: State::Listen, uid, inode };
        let (v4, v6): (IpAddr, IpAddr) = (Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into());
        let ours = at(v6, 1, 7);
        for (other, is) in [(at(v4, 2, 8), false), (at(v4, 1, 8), true), (at(Ipv4Addr::new(10, 0, 0, 5).into(), 2, 8), true)] {
            assert_eq!(served(80, &[other, ours], |listener| listener.inode == 7), is.then_some(ours), "{other:?}");
        }
        assert_eq!(served(81, &[ours], |_| true), None);
    }

    #[test]
    fn a_connection_is_open_until_it_was_ended_at_the_port() {
        for address in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            let to = if address == "[::1]:0" { IpAddr::from(Ipv6Addr::LOCALHOST) } else { Ipv4Addr::LOCALHOST.into() };
            let client = TcpStream::connect((to, port)).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            let is_open = || open_connections(&[port]).unwrap().contains(&client.local_addr().unwrap());
            assert!(is_open() && !open_connections(&[1]).unwrap().contains(&client.local_addr().unwrap()));
            client.shutdown(Shutdown::Write).unwrap();
            assert!(is_open(), "the other side has ended");
            server.set_nonblocking(true).unwrap();
            while server.write(&[0; 65536]).is_ok() {}
            drop(server);
            assert!(!is_open(), "its end waits behind what nobody reads");
        }
    }
}
