// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-far-trace`: has memory servers trace exported heaps, compares, and says how fast they were. Or says, without a server, how many pages of
//! a heap moving a part of it would concern.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use lull_far_auth::file::read_one;
use lull_far_heap::compare::compare;
use lull_far_heap::concerned::{Concerned, Move};
use lull_far_heap::cycle::{Servers, Traced};
use lull_far_heap::export::Export;
use lull_memd::{Config, Network, Server};

/// Loads heaps that a JVM has exported (jcmd PID GC.export_heap FILE) into memory servers, has the servers trace them, and compares what they have
/// marked with what the JVM has marked, bit for bit. The exit status is 1 if anything differs.
#[derive(Parser, Debug)]
#[command(name = "lull-far-trace", version)]
struct Args {
    /// The memory servers, host:port, separated by commas, 255 at most. Without them, servers are started in this process.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    servers: Vec<String>,

    /// The file with the key that the servers have, too. Only its owner may read it.
    #[arg(long, value_name = "FILE", requires = "servers")]
    key: Option<PathBuf>,

    /// How many servers are started in this process, 1 to 255; several numbers, separated by commas: each heap is traced by so many
    /// after each other.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,2,3", conflicts_with = "servers",
          value_parser = clap::value_parser!(u8).range(1..))]
    here: Vec<u8>,

    /// Bytes of the heap in one run that one server has, a power of two from 4k to 1g. 4m is what the pager does; less makes
    /// servers send each other more.
    #[arg(long, value_name = "SIZE", default_value = "4m", value_parser = part)]
    part: u64,

    /// Milliseconds for which a server may be silent, 100 to 3600000.
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(100..=3_600_000))]
    server_timeout: u64,

    /// No server and no tracing: how many pages hold a reference to be patched when the sparsest regions of the heap are moved.
    #[arg(long, conflicts_with_all = ["servers", "key", "here", "part"])]
    concerned: bool,

    /// With --concerned: bytes of a region, powers of two from 4k to 1g, separated by commas.
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', default_value = "1m,256k,32k", value_parser = part, requires = "concerned")]
    region: Vec<u64>,

    /// With --concerned: so many percent of the regions with something that lives are moved, 1 to 100, separated by commas.
    #[arg(long, value_name = "PERCENT,...", value_delimiter = ',', default_value = "10,33,50", requires = "concerned",
          value_parser = clap::value_parser!(u64).range(1..=100))]
    share: Vec<u64>,

    /// With --concerned: as many regions are moved as concern so many pages at most, separated by commas.
    #[arg(long, value_name = "PAGES,...", value_delimiter = ',', default_value = "1000,10000", requires = "concerned")]
    budget: Vec<u64>,

    /// The exported heaps.
    #[arg(required = true)]
    heaps: Vec<PathBuf>,
}

fn part(text: &str) -> Result<u64, String> {
    let bytes = parse_size::Config::new().with_binary().parse_size(text).map_err(|error| error.to_string())?;
    if bytes.is_power_of_two() && (4096..=1 << 30).contains(&bytes) {
        Ok(bytes)
    } else {
        Err("say a power of two from 4k to 1g".to_owned())
    }
}

fn address(text: &String) -> Result<SocketAddr, String> {
    let mut all = text.to_socket_addrs().map_err(|error| format!("server {text}: {error}; say host:port"))?;
    all.next().ok_or_else(|| format!("server {text}: the name has no address"))
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("lull-far-trace: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let (mut heaps, mut objects) = (0, 0);
    for path in &args.heaps {
        let export = Export::open(path)?;
        println!(
            "{}: {} MB, {} classes, {} roots, {} objects marked by the JVM",
            path.display(),
            export.bytes >> 20,
            export.layouts.len(),
            export.roots.len(),
            export.marked
        );
        if args.concerned {
            print_concerned(args, &export)?;
        } else if args.servers.is_empty() {
            for &count in &args.here {
                let started = start(&export, count, args.part)?;
                let addresses: Vec<SocketAddr> = started.iter().map(|server| server.address).collect();
                trace(args, &export, &addresses)?;
                for server in started {
                    server.handle().stop_now();
                    let _ = server.wait();
                }
            }
        } else {
            trace(args, &export, &args.servers.iter().map(address).collect::<Result<Vec<_>, _>>()?)?;
        }
        heaps += 1;
        objects += export.marked;
    }
    if !args.concerned {
        println!("{heaps} heaps with {objects} objects: all marks and references equal");
    }
    Ok(())
}

fn print_concerned(args: &Args, export: &Export) -> Result<(), String> {
    for &region in &args.region {
        let concerned = Concerned::of(export, region)?;
        let (candidates, size) = (concerned.moves.len() - 1, region >> 10);
        println!("  regions of {size} KB: {} with something that lives, of which {candidates} can move", concerned.used);
        for &percent in &args.share {
            print_move(region, &format!("{percent} % of them"), &concerned.share(percent));
        }
        for &pages in &args.budget {
            print_move(region, &format!("at most {pages} pages concerned"), &concerned.budget(pages));
        }
    }
    Ok(())
}

fn print_move(region: u64, what: &str, moved: &Move) {
    let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let bytes = moved.regions as u64 * region;
    println!(
        "    {what}: {} moved, {:.1} MB with {:.1} MB live; {} of {} other pages concerned ({:.1} %), {:.1} references in each; {} roots",
        moved.regions,
        megabytes(bytes),
        megabytes(moved.live),
        moved.pages,
        moved.others,
        100.0 * moved.pages as f64 / moved.others.max(1) as f64,
        moved.references as f64 / moved.pages.max(1) as f64,
        moved.roots
    );
}

/// Servers of this process, with room for the heap.
fn start(export: &Export, count: u8, part: u64) -> Result<Vec<Server>, String> {
    const MB: u64 = 1 << 20;
    let parts = export.bytes.div_ceil(part).div_ceil(count.into());
    let memory = (parts * part).next_multiple_of(MB) + MB;
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    let network: Network = "127.0.0.1".parse()?;
    let config = || Config { peers: vec![network], ..Config::new(loopback, memory) };
    (0..count).map(|_| Server::start(config()).map_err(|error| error.to_string())).collect()
}

fn trace(args: &Args, export: &Export, addresses: &[SocketAddr]) -> Result<(), String> {
    let count = addresses.len();
    let key = args.key.as_deref().map(read_one).transpose().map_err(|error| error.to_string())?;
    let timeout = Duration::from_millis(args.server_timeout);
    let mut servers = Servers::load_with_key(addresses, export, args.part, timeout, key.as_ref())?;
    let outcome = servers.trace(export).and_then(|traced| Ok((compare(export, &servers.geometry, &traced)?, traced)));
    // In any case, or the servers keep the heap until they miss us. What went wrong first counts.
    let left = servers.leave();
    let (equal, traced) = outcome?;
    left?;
    print(count, &traced);
    println!("  {count} servers: equal: {} objects, {} references", equal.objects, equal.references);
    Ok(())
}

/// Objects in a second of the server's own time, and of the time that all took.
fn print(count: usize, traced: &Traced) {
    for (server, outcome) in traced.servers.iter().enumerate() {
        let counts = outcome.counts;
        println!(
            "  {count} servers, server {server}: {} objects, {} references followed, {} sent, {} received, {:.0} objects/s in {:.3} s",
            counts.marked,
            counts.followed,
            counts.sent,
            counts.received,
            rate(counts.marked, outcome.busy),
            outcome.busy.as_secs_f64()
        );
    }
    let all: u64 = traced.servers.iter().map(|server| server.counts.marked).sum();
    println!(
        "  {count} servers: {:.0} objects/s in {:.3} s, {} rounds, {} layouts",
        rate(all, traced.elapsed),
        traced.elapsed.as_secs_f64(),
        traced.rounds,
        traced.layouts
    );
}

fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64().max(1e-9)
}
