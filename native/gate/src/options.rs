// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What stands behind `-agentpath:liblull_gate.so=`: a list of `name=value`, separated by commas.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use lull_network::Network;

/// Range of `deadline`, milliseconds.
pub const DEADLINE_RANGE: RangeInclusive<u64> = 1..=600_000;
/// Range of `poll`, microseconds; 0 as well, which is never.
pub const POLL_RANGE: RangeInclusive<u64> = 50..=1_000_000;
/// Range of `tls-connections`.
/// Each has a connection from 127.0.0.1 to the service's port, and the kernel has 28,232 ports for such if nothing else is said.
pub const TLS_CONNECTIONS_RANGE: RangeInclusive<u64> = 1..=28_000;

/// What the gate needs to serve TLS ([`crate::tls`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// `tls-port=PORT`, on all IPv4 addresses, for clients are elsewhere, or `tls-port=ADDRESS:PORT`: TLS is served there, and ends in the gate.
    /// What comes of HTTP/1.1 goes to the first `port`, what comes of HTTP/2 to the first `h2-port`.
    pub address: SocketAddr,
    /// `cert=PATH`: the server's certificate, and those between it and its root, in PEM.
    pub cert: PathBuf,
    /// `key=PATH`: its private key, in PEM.
    pub key: PathBuf,
    /// `tls-connections=N`, default 8192: so many clients at most.
    pub connections: usize,
}

/// The agent's options. [`Options::parse`] gives each its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `port=N`, once for each: local TCP ports whose accepted connections are the gate's and speak HTTP/1.1. None, nor one of
    /// another protocol: refused, for an agent that watches nothing is a mistake.
    pub ports: Vec<u16>,
    /// `h2-port=N`, once for each: the same of connections that speak HTTP/2 without TLS from their first byte on, as gRPC does.
    pub h2_ports: Vec<u16>,
    /// `cql-port=N`, once for each: the same of connections that speak Cassandra's native protocol.
    pub cql_ports: Vec<u16>,
    /// `resp-port=N`, once for each: the same of connections that speak Redis' protocol.
    pub resp_ports: Vec<u16>,
    /// `other-port=N`, once for each: local ports at which the gate looks at no connection, for it could not read them (TLS, a protocol that it
    /// does not speak), and which it names to those whom it tells of pauses. Alone, they need somebody who is told.
    pub other_ports: Vec<u16>,
    /// `deadline=MS`, default 50: how long a request may wait that does not say so itself. A smaller one sends more
    /// clients to another replica, a larger one lets more of them wait for the end of the pause.
    pub deadline_ms: u64,
    /// `deadline-header=NAME`, once for each: request headers that hold the milliseconds a client will wait.
    /// Default: `x-envoy-expected-rq-timeout-ms`. Lower case.
    pub deadline_headers: Vec<String>,
    /// `leave=PATH`, once for each: requests of HTTP/1.1 for this path, and what lies below it, are left to the application: health checks, for
    /// which a pause must not be a failure.
    pub leave: Vec<String>,
    /// `leave-agent=TEXT`, once for each: the same of requests whose `User-Agent` begins so.
    pub leave_agents: Vec<String>,
    /// `retry-after=off`: without that field in answers of HTTP, which says whole seconds of pauses that are milliseconds. Default: on.
    pub retry_after: bool,
    /// `busy-until=MS`: what every busy answer says, in place of how long the pause is expected to go on, which nobody need know. Default: none.
    pub busy_until_ms: Option<u64>,
    /// `trusted=NETWORK`, once for each: clients there are told how long the pause is expected to go on all the same. Default: none.
    pub trusted: Vec<Network>,
    /// `poll=US`, default 10000: how often the VM's counters are looked at for safepoints that are no collections. A
    /// smaller one sees them earlier and takes the processor from who has it for each look (a tenth of a busy one at 1000); 0 does not look.
    pub poll_us: u64,
    /// `metrics=PORT`, at 127.0.0.1, or `metrics=ADDRESS:PORT`: Prometheus text at `http://ADDRESS:PORT/metrics`, also in pauses. Default: none.
    pub metrics: Option<SocketAddr>,
    /// `beacon=PATH`: a file that other processes map to know whether the VM is stopped (`include/lull_gate.h`). Default: none.
    pub beacon: Option<PathBuf>,
    /// `datagrams=ADDRESS:PORT`, once for each: a UDP datagram there when a pause begins, goes on longer than was said, and ends
    /// ([`crate::datagram`]). Default: none.
    pub datagrams: Vec<SocketAddr>,
    /// `datagrams-key=FILE`: a key of 64 hexadecimal digits, by which a receiver knows that a datagram is the gate's. Default: none.
    pub datagrams_key: Option<PathBuf>,
    /// `agent-check=PORT`, on all IPv4 addresses, for load balancers are elsewhere, or `agent-check=ADDRESS:PORT`: answers HAProxy's agent check
    /// ([`crate::health`]). Default: none.
    pub agent_check: Option<SocketAddr>,
    /// `tls-port` and what belongs to it. Default: none.
    pub tls: Option<Tls>,
    /// `required`: the VM ends where the gate, or what is to tell others of pauses, cannot begin; otherwise the service goes on without.
    pub required: bool,
    /// `dry-run`: decides and counts, but answers nothing. Reads and selectors wait for the end of a pause as they would without it.
    pub dry_run: bool,
    /// `verbose`: a line on the standard error for each pause.
    pub verbose: bool,
}

/// What is wrong with the options, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionError(String);

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OptionError {}

const KNOWN: &str = "port=N, h2-port=N, cql-port=N, resp-port=N, other-port=N, deadline=MS, deadline-header=NAME, leave=PATH, leave-agent=TEXT, retry-after=on|off, busy-until=MS, trusted=NETWORK, poll=US, metrics=[ADDRESS:]PORT, beacon=PATH, datagrams=ADDRESS:PORT, datagrams-key=FILE, agent-check=[ADDRESS:]PORT, tls-port=[ADDRESS:]PORT, cert=PATH, key=PATH, tls-connections=N, required, dry-run, verbose";

/// Options that may be given several times.
const REPEATED: &[&str] =
    &["port", "h2-port", "cql-port", "resp-port", "other-port", "deadline-header", "leave", "leave-agent", "trusted", "datagrams"];

fn error<T>(text: impl Into<String>) -> Result<T, OptionError> {
    Err(OptionError(text.into()))
}

fn number(name: &str, value: Option<&str>, unit: &str, range: RangeInclusive<u64>) -> Result<u64, OptionError> {
    let parsed = value.filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).and_then(|text| text.parse().ok());
    match parsed {
        Some(n) if range.contains(&n) => Ok(n),
        _ => error(format!("option {name}={} is not a number of {unit} from {} to {}", value.unwrap_or(""), range.start(), range.end())),
    }
}

fn port(name: &str, value: Option<&str>) -> Result<u16, OptionError> {
    match number(name, value, "a TCP port", 1..=65535) {
        Ok(n) => Ok(u16::try_from(n).expect("in range")),
        Err(_) => error(format!("option {name}={} is not a TCP port from 1 to 65535", value.unwrap_or(""))),
    }
}

/// A port at an address that is meant if none is said; or both.
fn address(name: &str, value: Option<&str>, usual: Ipv4Addr) -> Result<SocketAddr, OptionError> {
    if let Ok(n @ 1..) = port(name, value) {
        return Ok((usual, n).into());
    }
    match value.map(str::parse::<SocketAddr>) {
        Some(Ok(address)) if address.port() != 0 => Ok(address),
        _ => {
            let text = value.unwrap_or("");
            error(format!("option {name}={text} is neither a TCP port from 1 to 65535 nor an address with one, [::1]:9404 for instance"))
        }
    }
}

fn flag(name: &str, value: Option<&str>) -> Result<bool, OptionError> {
    match value {
        None => Ok(true),
        Some(text) => error(format!("option {name} takes no value, but has '{text}'")),
    }
}

/// The characters of a header's name, RFC 9110 section 5.6.2.
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl Default for Options {
    fn default() -> Options {
        Options {
            ports: Vec::new(),
            h2_ports: Vec::new(),
            cql_ports: Vec::new(),
            resp_ports: Vec::new(),
            other_ports: Vec::new(),
            deadline_ms: 50,
            deadline_headers: Vec::new(),
            leave: Vec::new(),
            leave_agents: Vec::new(),
            retry_after: true,
            busy_until_ms: None,
            trusted: Vec::new(),
            poll_us: 10_000,
            metrics: None,
            beacon: None,
            datagrams: Vec::new(),
            datagrams_key: None,
            agent_check: None,
            tls: None,
            required: false,
            dry_run: false,
            verbose: false,
        }
    }
}

/// Options of [`Tls`], as they come.
#[derive(Default)]
struct TlsParts {
    address: Option<SocketAddr>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    connections: Option<u64>,
}

impl TlsParts {
    /// Sets one; false if `name` is no such option.
    fn set(&mut self, name: &str, value: Option<&str>) -> Result<bool, OptionError> {
        let path = |what: &str| match value {
            Some(path) if !path.is_empty() => Ok(Some(PathBuf::from(path))),
            _ => error(format!("option {name}= needs the path of a file in PEM with {what}")),
        };
        match name {
            "tls-port" => self.address = Some(address(name, value, Ipv4Addr::UNSPECIFIED)?),
            "cert" => self.cert = path("the server's certificate and those between it and its root")?,
            "key" => self.key = path("the certificate's private key")?,
            "tls-connections" => self.connections = Some(number(name, value, "clients", TLS_CONNECTIONS_RANGE)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn whole(self) -> Result<Option<Tls>, OptionError> {
        let TlsParts { address, cert, key, connections } = self;
        match (address, cert, key, connections) {
            (None, None, None, None) => Ok(None),
            (Some(address), Some(cert), Some(key), connections) => {
                let connections = usize::try_from(connections.unwrap_or(8192)).expect("in range");
                Ok(Some(Tls { address, cert, key, connections }))
            }
            (None, ..) => {
                error("cert, key and tls-connections are for tls-port, and it is not given: add tls-port=8443, or leave them out")
            }
            (Some(address), ..) => {
                error(format!("tls-port={} needs a certificate and its key: add cert=PATH,key=PATH, both in PEM", address.port()))
            }
        }
    }
}

impl Options {
    /// Reads the text behind the `=` of `-agentpath`.
    ///
    /// # Errors
    /// An unknown option, a value out of its range, no port.
    pub fn parse(text: &str) -> Result<Options, OptionError> {
        let mut options = Options::default();
        let mut tls = TlsParts::default();
        let mut seen: Vec<&str> = Vec::new();
        for item in text.split(',').filter(|item| !item.is_empty()) {
            let (name, value) = match item.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (item, None),
            };
            if seen.contains(&name) && !REPEATED.contains(&name) {
                return error(format!("option {name} is given twice"));
            }
            seen.push(name);
            if !(tls.set(name, value)? || options.set_request(name, value)? || options.set_outlet(name, value)?) {
                return error(format!("there is no option '{name}'; there are {KNOWN}"));
            }
        }
        options.tls = tls.whole()?;
        options.check_ports()?;
        options.check_addresses()?;
        if options.deadline_headers.is_empty() {
            options.deadline_headers.push("x-envoy-expected-rq-timeout-ms".to_string());
        }
        Ok(options)
    }

    /// Sets what concerns ports and requests; false if `name` is no such option.
    fn set_request(&mut self, name: &str, value: Option<&str>) -> Result<bool, OptionError> {
        let text = value.unwrap_or("");
        match name {
            "port" => self.ports.push(port(name, value)?),
            "h2-port" => self.h2_ports.push(port(name, value)?),
            "cql-port" => self.cql_ports.push(port(name, value)?),
            "resp-port" => self.resp_ports.push(port(name, value)?),
            "other-port" => self.other_ports.push(port(name, value)?),
            "deadline" => self.deadline_ms = number(name, value, "milliseconds", DEADLINE_RANGE)?,
            "deadline-header" => match value {
                Some(header) if !header.is_empty() && header.bytes().all(is_token) => {
                    self.deadline_headers.push(header.to_ascii_lowercase());
                }
                _ => return error(format!("option deadline-header={text} is not the name of a header")),
            },
            "leave" => match value {
                Some(path) if path.starts_with('/') && path.bytes().all(|b| b.is_ascii_graphic() && b != b'?') => {
                    self.leave.push(path.to_string());
                }
                _ => return error(format!("option leave={text} is not a path, /healthz for instance")),
            },
            "leave-agent" => match value {
                Some(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() || b == b' ') => {
                    self.leave_agents.push(text.to_string());
                }
                _ => return error(format!("option leave-agent={text} is not what a User-Agent begins with, kube-probe/ for instance")),
            },
            "busy-until" => self.busy_until_ms = Some(number(name, value, "milliseconds", DEADLINE_RANGE)?),
            "trusted" => self.trusted.push(text.parse().map_err(|why| OptionError(format!("option trusted={text}: {why}")))?),
            "retry-after" => match value {
                Some(word @ ("on" | "off")) => self.retry_after = word == "on",
                _ => return error(format!("option retry-after={text} is neither on nor off")),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Sets how pauses are seen, and who is told of them; false if `name` is no such option.
    fn set_outlet(&mut self, name: &str, value: Option<&str>) -> Result<bool, OptionError> {
        match name {
            "poll" if value == Some("0") => self.poll_us = 0,
            "poll" => self.poll_us = number(name, value, "microseconds (0: never)", POLL_RANGE)?,
            "metrics" => self.metrics = Some(address(name, value, Ipv4Addr::LOCALHOST)?),
            "beacon" => match value {
                Some(path) if !path.is_empty() => self.beacon = Some(PathBuf::from(path)),
                _ => return error("option beacon= needs the path of a file, /dev/shm/service.beacon for instance"),
            },
            "datagrams" => match value.map(str::parse::<SocketAddr>) {
                Some(Ok(address)) if address.port() != 0 => self.datagrams.push(address),
                _ => {
                    let text = value.unwrap_or("");
                    return error(format!(
                        "option datagrams={text} is not an address and a port, 192.0.2.1:7000 or [2001:db8::1]:7000 for instance"
                    ));
                }
            },
            "datagrams-key" => match value {
                Some(path) if !path.is_empty() => self.datagrams_key = Some(PathBuf::from(path)),
                _ => return error("option datagrams-key= needs the path of a file with 64 hexadecimal digits"),
            },
            "agent-check" => self.agent_check = Some(address(name, value, Ipv4Addr::UNSPECIFIED)?),
            "required" => self.required = flag(name, value)?,
            "dry-run" => self.dry_run = flag(name, value)?,
            "verbose" => self.verbose = flag(name, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether there is a port to watch, each of one protocol, and what else needs one, or another option, has it.
    fn check_ports(&self) -> Result<(), OptionError> {
        if self.served_ports().count() == self.other_ports.len() {
            if self.other_ports.is_empty() {
                return error(format!("no port to watch: say -agentpath:liblull_gate.so=port=8080; the options are {KNOWN}"));
            }
            if !self.tells() {
                return error(
                    "other-port is for those who are told of pauses, and nobody is: add datagrams, beacon, metrics or agent-check",
                );
            }
        }
        if self.ports.is_empty() && !(self.leave.is_empty() && self.leave_agents.is_empty()) {
            return error("leave and leave-agent are for HTTP/1.1, and no port of it is given: add port=N, or leave them out");
        }
        if !self.retry_after && self.ports.is_empty() && self.h2_ports.is_empty() {
            return error("retry-after is of HTTP, and no port of it is given: add port=N or h2-port=N, or leave it out");
        }
        if self.busy_until_ms.is_none() && !self.trusted.is_empty() {
            return error("trusted says who is told more than busy-until says, and that is not given: add busy-until=MS, or leave it out");
        }
        if self.datagrams.is_empty() && self.datagrams_key.is_some() {
            return error("datagrams-key is for datagrams, and none are sent: add datagrams=ADDRESS:PORT, or leave it out");
        }
        if self.tls.is_some() && self.ports.is_empty() && self.h2_ports.is_empty() {
            return error(
                "tls-port forwards to a port at which the service speaks HTTP without TLS, and none is given: add port=N or h2-port=N",
            );
        }
        for port in self.served_ports() {
            if self.ports_by_protocol().iter().filter(|ports| ports.contains(&port)).count() > 1 {
                return error(format!(
                    "port {port} is given for two protocols, of port, h2-port, cql-port, resp-port and other-port; a port has one"
                ));
            }
        }
        Ok(())
    }

    /// Whether what the gate itself listens at is nobody else's.
    fn check_addresses(&self) -> Result<(), OptionError> {
        let tls = self.tls.as_ref().map(|tls| tls.address);
        let all = [("metrics", self.metrics), ("agent-check", self.agent_check), ("tls-port", tls)];
        let given: Vec<(&str, u16)> = all.iter().filter_map(|(name, address)| Some((*name, (*address)?.port()))).collect();
        for (i, (name, port)) in given.iter().enumerate() {
            if self.served_ports().any(|served| served == *port) {
                return error(format!("port {port} of option {name} is one of the service's ports; give {name} another one"));
            }
            if let Some((other, _)) = given[..i].iter().find(|(_, of)| of == port) {
                return error(format!("{other} and {name} have the same port, {port}; give each its own"));
            }
        }
        Ok(())
    }

    /// All ports that clients of the service connect to.
    pub fn served_ports(&self) -> impl Iterator<Item = u16> {
        self.ports_by_protocol().into_iter().flatten().copied()
    }

    /// The same, and that at which the gate serves TLS for it: what those are told who know the service by a port.
    pub fn told_ports(&self) -> impl Iterator<Item = u16> {
        self.served_ports().chain(self.tls.iter().map(|tls| tls.address.port()))
    }

    /// Those at which connections are watched, once they are accepted.
    pub fn watched_ports(&self) -> impl Iterator<Item = u16> {
        let h2_ports = if self.dry_run { &[][..] } else { &self.h2_ports };
        [&self.ports, h2_ports, &self.cql_ports, &self.resp_ports].into_iter().flatten().copied()
    }

    /// Of `served_ports`, those of a protocol together; the last ones are of no watched connections.
    fn ports_by_protocol(&self) -> [&[u16]; 5] {
        [&self.ports, &self.h2_ports, &self.cql_ports, &self.resp_ports, &self.other_ports]
    }

    /// Whether a client there may know how long pauses are. Who is not known may not.
    pub fn trusts(&self, client: Option<SocketAddr>) -> bool {
        client.is_some_and(|client| self.trusted.iter().any(|network| network.contains(client.ip())))
    }

    /// Whether anybody can know of a pause without a request of its own.
    fn tells(&self) -> bool {
        !self.datagrams.is_empty() || self.beacon.is_some() || self.metrics.is_some() || self.agent_check.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn defaults_and_values() {
        let o = Options::parse("port=8080").unwrap();
        assert_eq!((o.ports, o.deadline_ms, o.poll_us, o.dry_run), (vec![8080], 50, 10_000, false));
        let o = Options::parse("port=1,port=65535,deadline=600000,poll=0,metrics=9,deadline-header=X-D,dry-run,verbose").unwrap();
        assert_eq!(o.ports, [1, 65535]);
        assert_eq!(Options::parse("cql-port=9042").unwrap().cql_ports, [9042]);
        assert_eq!(Options::parse("resp-port=6379").unwrap().resp_ports, [6379]);
        assert_eq!(Options::parse("h2-port=50051,h2-port=7").unwrap().h2_ports, [50051, 7]);
        assert_eq!(o.deadline_headers, ["x-d"]);
        let left = Options::parse("port=1,leave=/healthz,leave=/,leave-agent=kube-probe/,leave-agent=ELB-HealthChecker").unwrap();
        assert_eq!(
            (left.leave, left.leave_agents),
            (vec!["/healthz".into(), "/".into()], vec!["kube-probe/".into(), "ELB-HealthChecker".into()])
        );
        assert_eq!(o.watched_ports().collect::<Vec<_>>(), [1, 65535]);
        for (text, expected) in [("", true), ("retry-after=on,", true), ("retry-after=off,", false)] {
            assert_eq!(Options::parse(&format!("{text}h2-port=7")).unwrap().retry_after, expected);
        }
        for text in ["port=1,retry-after=no", "port=1,retry-after", "cql-port=1,retry-after=off"] {
            assert!(Options::parse(text).unwrap_err().to_string().contains("retry-after"), "{text}");
        }
        assert_eq!((o.busy_until_ms, Options::parse("resp-port=7,busy-until=500").unwrap().busy_until_ms), (None, Some(500)));
        let who = Options::parse("port=1,busy-until=500,trusted=10.0.0.0/8,trusted=::1").unwrap();
        for (client, trusted) in [("10.1.2.3:4", true), ("[::ffff:10.1.2.3]:4", true), ("[::1]:5", true), ("11.0.0.1:6", false)] {
            assert_eq!(who.trusts(client.parse().ok()), trusted, "{client}");
        }
        assert!(!who.trusts(None) && !who.required && Options::parse("port=1,required").unwrap().required);
        let keyed = Options::parse("port=1,datagrams=127.0.0.1:7,datagrams-key=/k").unwrap();
        assert_eq!(keyed.datagrams_key, Some("/k".into()));
        assert!(Options::parse("port=1,busy-until=0").unwrap_err().to_string().contains("busy-until"));
        assert_eq!(Options::parse("h2-port=7,resp-port=8,dry-run").unwrap().watched_ports().collect::<Vec<_>>(), [8]);
        assert!(o.dry_run && o.verbose && o.poll_us == 0 && o.metrics == Some((Ipv4Addr::LOCALHOST, 9).into()));
    }

    #[test]
    fn ports_that_are_only_told_of() {
        let o = Options::parse("other-port=8443,port=80,datagrams=127.0.0.1:7,datagrams=[::1]:8").unwrap();
        assert_eq!(o.served_ports().collect::<Vec<_>>(), [80, 8443]);
        assert_eq!(o.datagrams, ["127.0.0.1:7".parse().unwrap(), "[::1]:8".parse().unwrap()]);
        for told in ["datagrams=127.0.0.1:7", "beacon=/dev/shm/b", "metrics=9", "agent-check=9"] {
            assert_eq!(Options::parse(&format!("other-port=8443,{told}")).unwrap().other_ports, [8443]);
        }
    }

    #[test]
    fn tls() {
        let o = Options::parse("port=80,h2-port=81,tls-port=8443,cert=/c.pem,key=/k.pem").unwrap();
        let tls = o.tls.clone().unwrap();
        assert_eq!((tls.address, tls.connections), ((Ipv4Addr::UNSPECIFIED, 8443).into(), 8192));
        assert_eq!((tls.cert, tls.key), ("/c.pem".into(), "/k.pem".into()));
        assert_eq!((o.served_ports().collect::<Vec<_>>(), o.told_ports().last()), (vec![80, 81], Some(8443)));
        let o = Options::parse("h2-port=81,tls-port=[::]:8443,cert=c,key=k,tls-connections=5").unwrap();
        assert_eq!(o.tls.map(|tls| (tls.address.is_ipv6(), tls.connections)), Some((true, 5)));
        assert_eq!(Options::parse("port=80").unwrap().tls, None);
    }

    #[test]
    fn who_is_told_is_told_at_an_address_of_choice() {
        let o = Options::parse("port=80,metrics=10.0.0.1:9404,agent-check=[fd00::1]:9405").unwrap();
        assert_eq!((o.metrics, o.agent_check), (Some("10.0.0.1:9404".parse().unwrap()), Some("[fd00::1]:9405".parse().unwrap())));
        let o = Options::parse("port=80,agent-check=9405").unwrap();
        assert_eq!(o.agent_check, Some("0.0.0.0:9405".parse().unwrap()));
    }

    #[test]
    fn errors_name_the_option_and_the_value() {
        for (text, part) in [
            ("", "no port"),
            ("deadline=5", "no port"),
            ("port=0", "port=0"),
            ("port=65536", "65536"),
            ("port=+80", "+80"),
            ("port", "port="),
            ("port=80,deadline=0", "deadline=0"),
            ("port=80,deadline=600001", "600000"),
            ("port=80,deadline=5,deadline=6", "twice"),
            ("port=80,poll=1", "poll=1"),
            ("port=80,dry-run=yes", "yes"),
            ("port=80,deadline-header=a b", "a b"),
            ("port=80,leave", "leave="),
            ("port=80,leave=healthz", "leave=healthz is not a path"),
            ("port=80,leave=/a?b", "/a?b"),
            ("port=80,leave-agent=", "kube-probe/ for instance"),
            ("h2-port=80,leave=/healthz", "no port of it"),
            ("port=80,metrics=80", "another"),
            ("port=80,metrics=10.0.0.1:80", "another"),
            ("port=80,metrics=localhost:81", "metrics=localhost:81 is neither"),
            ("port=80,metrics=10.0.0.1:0", "10.0.0.1:0"),
            ("cql-port=80,metrics=80", "another"),
            ("port=80,cql-port=80", "two protocols"),
            ("h2-port=80,cql-port=80", "two protocols"),
            ("h2-port=80,port=80", "two protocols"),
            ("resp-port=80,port=80", "two protocols"),
            ("resp-port=80,metrics=80", "another"),
            ("h2-port=80,metrics=80", "another"),
            ("h2-port=0", "h2-port=0"),
            ("other-port=443", "nobody is"),
            ("other-port=0,port=80", "other-port=0"),
            ("other-port=80,port=80", "two protocols"),
            ("other-port=80,metrics=80", "another"),
            ("port=80,agent-check=80", "another"),
            ("port=80,agent-check=81,metrics=81", "its own"),
            ("port=80,tls-port=81,cert=c,key=k,metrics=81", "metrics and tls-port have the same port, 81"),
            ("port=80,tls-port=80,cert=c,key=k", "another one"),
            ("port=80,tls-port=0,cert=c,key=k", "tls-port=0 is neither"),
            ("port=80,tls-port=81,cert=c", "tls-port=81 needs a certificate and its key"),
            ("port=80,tls-port=81,key=k", "cert=PATH,key=PATH"),
            ("port=80,cert=c,key=k", "add tls-port=8443"),
            ("port=80,tls-port=81,cert=,key=k", "cert= needs the path"),
            ("port=80,tls-port=81,cert=c,key", "key= needs the path"),
            ("cql-port=80,tls-port=81,cert=c,key=k", "speaks HTTP without TLS"),
            ("port=80,tls-port=81,cert=c,key=k,tls-connections=0", "tls-connections=0 is not a number"),
            ("port=80,tls-port=81,cert=c,key=k,tls-connections=28001", "tls-connections=28001 is not a number"),
            ("port=80,tls-port=81,tls-port=82,cert=c,key=k", "twice"),
            ("port=80,datagrams=localhost:7", "localhost:7"),
            ("port=80,datagrams=127.0.0.1:0", "127.0.0.1:0"),
            ("port=80,datagrams", "datagrams="),
            ("port=80,datagrams-key=k", "add datagrams="),
            ("port=80,datagrams=127.0.0.1:7,datagrams-key", "64 hexadecimal digits"),
            ("port=80,trusted=10.0.0.0/8", "add busy-until="),
            ("port=80,busy-until=5,trusted=10.0.0.0/33", "trusted=10.0.0.0/33: "),
            ("port=80,required=yes", "yes"),
            ("port=80,beacon", "path"),
            ("port=80,beacon=", "path"),
            ("port=80,prot=90", "'prot'"),
        ] {
            let message = Options::parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,60}") {
            let _ = Options::parse(&text);
        }

        #[test]
        fn a_number_is_in_range_or_an_error(value in any::<u64>()) {
            match Options::parse(&format!("port=80,deadline={value}")) {
                Ok(o) => prop_assert!(o.deadline_ms == value && DEADLINE_RANGE.contains(&value)),
                Err(_) => prop_assert!(!DEADLINE_RANGE.contains(&value)),
            }
        }
    }
}
