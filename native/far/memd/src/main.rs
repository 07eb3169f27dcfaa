// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-memd`: the command line, the log, and the signals.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use lull_memd::{Config, Listen, Network, Server};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tracing::{error, info, warn};

/// Holds memory pages for programs on other machines.
///
/// Memory is committed in the background from the start on, and given to a client only when it is there, so that a page that a
/// client sends always finds room. Clients show a key (--key), and what passes between them and the server is encrypted then, and proven frame by
/// frame. The server itself can read all pages but those that a client seals (lull-far run --seal).
#[derive(Parser, Debug)]
#[command(version)]
struct Args {
    /// Where to listen: address:port, port 0 for any free one; or unix:PATH, a Unix socket that only this user's programs, and root's, may connect to.
    /// A socket's file that a server has left behind is replaced.
    #[arg(long, value_name = "ADDR", value_parser = str::parse::<Listen>)]
    listen: Listen,

    /// The keys of those who may use it, a line each: NAME KEY [memory=SIZE] [connections=N] [cycles=N] [trace-memory=SIZE] [trace-threads=N], the
    /// key 64 hexadecimal digits (lull-far new-key FILE makes one). Only its owner may read the file. Without keys the server listens at a loopback address or a Unix socket only.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// Without --key, listen also where other machines may reach it: whoever does reads and changes the memory of programs.
    #[arg(long, conflicts_with = "key")]
    insecure: bool,

    /// With --key, serve also clients that want it (lull-far run --plain-frames) without encrypting and proving what passes: where a tunnel does so.
    /// Frames to other servers are plain then, too.
    #[arg(long, requires = "key")]
    plain_frames: bool,

    /// Networks of other servers, separated by commas, that it may connect to when a client has them trace together, as 10.0.0.0/24.
    /// Without them it connects to nobody.
    #[arg(long, value_name = "NETWORK,...", value_delimiter = ',')]
    peers: Vec<Network>,

    /// How much memory to commit, 1m or more, in whole megabytes: what it gives to clients is lost to all else on this machine.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: u64,

    /// Where to answer GET /metrics in Prometheus' format; without it, nowhere.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    metrics: Option<SocketAddr>,

    /// Seconds for which a client without a connection keeps its regions, 1 to 86400: longer survives longer network
    /// failures, and keeps the memory of a client that has crashed for as long. A client without regions that asks for nothing for so
    /// long, or --frame-timeout if that is longer, loses its connections.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86400))]
    linger: u64,

    /// Seconds for one frame to pass, 1 to 3600: shorter drops hung peers sooner, too short drops slow networks.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    frame_timeout: u64,

    /// The most connections at once, 1 to 65536, and the most threads that send to other servers what was traced. Each may take 1 MB beside
    /// --memory. A tenth is kept for clients that have memory here. 64 more may be of those who have not said yet who they are.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=65536))]
    max_connections: u32,

    /// Seconds that SIGTERM leaves to the clients, 0 to 3600; what they have not taken back by then is lost. A second SIGTERM
    /// ends the wait.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=3600))]
    drain: u64,

    /// Microseconds for which a thread stays awake for a connection's next request, 0 to 1000, where requests follow each other that
    /// fast: more answers faults sooner, by what waking up takes, and takes up to half of this machine's processors from others meanwhile.
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 200, value_parser = clap::value_parser!(u64).range(0..=1000))]
    awake: u64,

    /// The form of the log, on standard error.
    #[arg(long, value_enum, default_value_t = LogForm::Text)]
    log: LogForm,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum LogForm {
    /// A line of text for each event, fields as key=value.
    Text,
    /// A JSON object for each event.
    Json,
}

fn size(text: &str) -> Result<u64, String> {
    let parser = parse_size::Config::new().with_binary();
    parser.parse_size(text).map_err(|error| format!("{error}; say a number of bytes, or one with k, m, g or t, as 512m"))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let mut all = text.to_socket_addrs().map_err(|error| format!("{error}; say address:port, as 0.0.0.0:7070"))?;
    all.next().ok_or_else(|| "the name has no address".to_owned())
}

fn main() -> ExitCode {
    let args = Args::parse();
    let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false).with_max_level(tracing::Level::INFO);
    // Who reads the log may be gone. It would be said on the same stream, and that not be possible would end the thread that logs.
    let log = log.log_internal_errors(false);
    match args.log {
        LogForm::Text => log.with_ansi(false).init(),
        LogForm::Json => log.json().flatten_event(true).init(),
    }
    let keys = match args.key.as_deref().map_or(Ok(Vec::new()), lull_far_auth::file::read_all) {
        Ok(keys) => keys,
        Err(error) => {
            error!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let config = Config {
        keys,
        insecure: args.insecure,
        plain_frames: args.plain_frames,
        peers: args.peers,
        metrics: args.metrics,
        linger: Duration::from_secs(args.linger),
        frame_timeout: Duration::from_secs(args.frame_timeout),
        max_connections: args.max_connections as usize,
        drain: Duration::from_secs(args.drain),
        awake: Duration::from_micros(args.awake),
        listen: args.listen,
        ..Config::new((Ipv4Addr::LOCALHOST, 0).into(), args.memory)
    };
    // Before the memory is committed, so that a signal in that time is not lost.
    let mut signals = match Signals::new([SIGTERM, SIGINT]) {
        Ok(signals) => signals,
        Err(error) => {
            error!(%error, "cannot catch signals");
            return ExitCode::FAILURE;
        }
    };
    let server = match Server::start(config) {
        Ok(server) => server,
        Err(error) => {
            error!("{error}");
            return ExitCode::FAILURE;
        }
    };
    // Tests and scripts read the port that the kernel chose from the first line of the output.
    let _ = writeln!(std::io::stdout(), "listening at {}", server.listens);
    let handle = server.handle();
    std::thread::spawn(move || {
        for (count, signal) in signals.forever().enumerate() {
            info!(signal, "told to stop");
            if count == 0 { handle.stop() } else { handle.stop_now() }
        }
    });
    let lost = server.wait();
    if lost > 0 {
        warn!(bytes = lost, "stopped while clients had memory here; it is lost");
        return ExitCode::from(3);
    }
    info!("stopped; no client had memory here");
    ExitCode::SUCCESS
}
