// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-far-bench`: one measurement for each run, as a process has one pager. `native/far/bench.sh` starts the servers and runs
//! them all.

mod bare;
mod calls;
mod dirty;
mod disk;
mod faults;
mod mapped;
mod memory;
mod processor;
mod replay;
mod samples;
mod sealed;
mod trace;
mod zram;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// Measures the pager.
#[derive(Parser, Debug)]
#[command(name = "lull-far-bench", version)]
struct CommandLine {
    #[command(subcommand)]
    command: Measurement,
}

#[derive(Subcommand, Debug)]
enum Measurement {
    /// Latency of a fault on a random page that is on a server, of one thread.
    Faults(Far),
    /// The same while there is room for all pages: nothing has to leave.
    First(Far),
    /// The same exchange over a connection of its own, without a fault: what the network and the server need.
    Bare(Far),
    /// Bandwidth and pages for each fault of a thread that reads memory in order.
    Sequential(Far),
    /// Faults and reads in order, and what they take of the processors: plain, with frames that are encrypted, with sealed pages, with both; by
    /// turns. The servers have the key of --key, and permit --plain-frames. What is local is what the two measurements have elsewhere, whatever
    /// --local, --seal and --plain-frames say.
    Sealed {
        #[command(flatten)]
        far: Far,
        /// How often each is measured.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
    },
    /// What the evictor's thread needs for a page, clean and dirty.
    Evict(Far),
    /// The system calls of it, and the one that puts a page in, by themselves: no server, no other thread.
    Calls {
        /// Pages that are put in and taken out.
        #[arg(long, default_value_t = 16384, value_parser = clap::value_parser!(u32).range(2048..))]
        pages: u32,
    },
    /// The same accesses on a file of a local disk, mapped, whose pages are not in memory.
    Disk(Disk),
    /// The same on a compressed device in this machine's memory, which is made and removed. Needs root, and a kernel with zram.
    Zram {
        /// Pages that are read.
        #[arg(long, default_value_t = 16384, value_parser = clap::value_parser!(u32).range(2048..))]
        pages: u32,
    },
    /// Misses of the pager against exact LRU on a trace.
    Misses(Misses),
    /// What lull-far run --dirty has written, summed up: pages that are written to in 10 ms, 100 ms and 1 s.
    Dirty {
        /// Only windows that end from then on, in milliseconds since 1970.
        #[arg(long, value_name = "MS", default_value_t = 0)]
        from: u64,
        /// Only windows that end until then.
        #[arg(long, value_name = "MS", default_value_t = u64::MAX)]
        to: u64,
        /// The file.
        file: PathBuf,
    },
    /// Time of a read or write, on a trace.
    Operations {
        #[command(flatten)]
        misses: Misses,
        /// Percent of the accesses that write, too.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(0..=100))]
        writes: u32,
    },
}

/// Memory on servers.
#[derive(Args, Debug, Clone)]
struct Far {
    /// The memory servers, host:port, separated by commas.
    #[arg(long, value_name = "A,B,...", required = true, value_delimiter = ',')]
    servers: Vec<String>,
    /// Pages of the range.
    #[arg(long, default_value_t = 16384, value_parser = clap::value_parser!(u32).range(2048..))]
    pages: u32,
    /// Percent of it that may be local.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=100))]
    local: u32,
    /// The most pages that one fault fetches.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=32))]
    read_ahead: u32,
    /// Seal the pages.
    #[arg(long)]
    seal: bool,
    /// The file with the key that the servers have, too: what passes is encrypted then.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// With a key, do not encrypt what passes.
    #[arg(long, requires = "key")]
    plain_frames: bool,
}

#[derive(Args, Debug)]
struct Disk {
    /// A directory on the disk; a file is made there and removed.
    #[arg(long)]
    directory: PathBuf,
    /// Pages of the file.
    #[arg(long, default_value_t = 16384)]
    pages: u32,
}

#[derive(Args, Debug)]
struct Misses {
    #[command(flatten)]
    far: Far,
    /// zipf:EXPONENT, loop, or a file that `lull-far run --record` has written.
    #[arg(long)]
    trace: String,
    /// Accesses of a trace that is made.
    #[arg(long, default_value_t = 300_000)]
    accesses: usize,
}

fn main() -> ExitCode {
    let outcome = match CommandLine::parse().command {
        Measurement::Faults(far) => faults::random(&far),
        Measurement::First(far) => faults::first(&far),
        Measurement::Bare(far) => bare::exchanges(&far),
        Measurement::Sequential(far) => faults::sequential(&far),
        Measurement::Sealed { far, rounds } => sealed::beside(&far, rounds),
        Measurement::Evict(far) => faults::evict(&far),
        Measurement::Calls { pages } => calls::measure(pages as usize),
        Measurement::Disk(disk) => disk::measure(&disk.directory, disk.pages as usize),
        Measurement::Zram { pages } => zram::measure(pages as usize),
        Measurement::Misses(misses) => replay::misses(&misses.far, &misses.trace, misses.accesses),
        Measurement::Dirty { from, to, file } => dirty::sum_up(&file, from, to),
        Measurement::Operations { misses, writes } => replay::operations(&misses.far, &misses.trace, misses.accesses, writes),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("lull-far-bench: {text}");
            ExitCode::FAILURE
        }
    }
}
