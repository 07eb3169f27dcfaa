// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-far run`: checks what can be checked before the program starts, and becomes the program, with the preload library.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Args, Parser, Subcommand, ValueEnum};
use lull_far::{FaultMode, launch, trial};
use lull_far_auth::file::{parse, read_one};

/// Before the runtime, which would have the program ignore SIGPIPE, or not, whatever it was started with.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = launch::remember_signals;

/// Programs whose memory is on memory servers.
#[derive(Parser, Debug)]
#[command(name = "lull-far", version)]
struct CommandLine {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand, Debug)]
enum Subcommands {
    /// Run a program. Each file that it maps, shared and writable, in the directory gets its memory from the servers.
    ///
    /// A JVM names the directory itself: java -XX:AllocateHeapAt=DIR. The file's own blocks are not used.
    Run(Run),
    /// Say whether this machine permits it, and in which way.
    Check,
    /// Make a key, and a file for it that only you may read. Servers and clients get a copy each: --key FILE.
    NewKey(NewKey),
}

#[derive(Args, Debug)]
struct NewKey {
    /// What servers call who has the key, in their logs and metrics: letters, digits, dots, hyphens and underscores, 32 at most.
    #[arg(long, default_value = "default")]
    name: String,

    /// The file, which must not be there yet. Lines of several such files together are a server's file of keys.
    file: PathBuf,
}

#[derive(Args, Debug)]
struct Run {
    /// The memory servers, host:port or unix:PATH, separated by commas. Memory is spread over all of them.
    #[arg(long, value_name = "A,B,...", required = true, value_delimiter = ',')]
    servers: Vec<String>,

    /// The file with the key that the servers have, too. Only its owner may read it.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// With --key, neither encrypt nor prove what passes between this machine and the servers, which must permit it: for who has a tunnel there.
    /// Makes faults faster by the time that it takes.
    #[arg(long, requires = "key")]
    plain_frames: bool,

    /// Seal each page before it leaves: servers, and who listens or changes what passes, can neither read nor change it, nor give back an old
    /// one; the program ends then. Costs 24 bytes of local memory for each page that has left, and time in each fault.
    #[arg(long)]
    seal: bool,

    /// How much of the memory may be local: 1% to 100% of the first file that is mapped, or a size of 4m or more. Less local
    /// memory means more waiting for servers.
    #[arg(long, value_name = "PERCENT|SIZE", value_parser = local)]
    local: String,

    /// The directory, if no -XX:AllocateHeapAt= says it.
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Servers that hold each page beside the first, 0 or 1. With 1, any one server may be lost, at twice the remote memory and
    /// twice the traffic for writes.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    replicas: u8,

    /// Servers that take the places of lost ones, host:port, separated by commas: with --replicas 1, the pages of a server that is lost are
    /// copied to one of them, while the program goes on. They hold nothing until then.
    #[arg(long, value_name = "C,D,...", value_delimiter = ',')]
    spare: Vec<String>,

    /// Who serves a fault.
    #[arg(long, value_enum, default_value_t = Faults::Thread)]
    faults: Faults,

    /// Milliseconds for which a server may be silent before it is lost, 100 to 3600000: shorter ends waits sooner, and takes slow
    /// servers for lost ones.
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=3_600_000))]
    server_timeout: u32,

    /// Print counts to standard error when the program ends.
    #[arg(long)]
    statistics: bool,

    /// Do not ask the program what its pages are, as a JVM with Lull would say which are young or garbage: to measure what that is good for.
    #[arg(long)]
    no_owner: bool,

    /// Let a JVM with Lull have the servers mark its heap, so that nothing is fetched to be marked. On trial. Servers need --peers of each other.
    #[arg(long, conflicts_with = "seal", conflicts_with = "dirty", conflicts_with = "no_owner")]
    trace: bool,

    /// Write the number of each page that has a fault to a file, 4 bytes each, little-endian, in order: the less is local, the finer
    /// a trace of the program's accesses.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Write how many pages are written to in each 10 ms, 100 ms and second to a file, a line each 10 ms; lull-far-bench dirty sums it up.
    /// Costs a look at all local pages each 10 ms, and a microsecond or two for the first write to a page in each.
    #[arg(long, value_name = "FILE")]
    dirty: Option<PathBuf>,

    /// The program and its arguments.
    #[arg(required = true, last = true)]
    program: Vec<OsString>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Faults {
    /// The thread that has it: fast, needs no privilege; system calls other than read, pread, write and pwrite fail with EFAULT
    /// if they are given paged memory.
    Thread,
    /// Threads of the pager: slower; all system calls work; needs CAP_SYS_PTRACE or vm.unprivileged_userfaultfd=1.
    Handlers,
}

fn local(text: &str) -> Result<String, String> {
    let help = "say 1% to 100%, or a size of 4m or more";
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.parse::<u32>() {
            Ok(1..=100) => Ok(text.to_owned()),
            _ => Err(help.to_owned()),
        };
    }
    let bytes = parse_size::Config::new().with_binary().parse_size(text).map_err(|error| format!("{error}; {help}"))?;
    if bytes < 4 << 20 { Err(help.to_owned()) } else { Ok(bytes.to_string()) }
}

fn main() -> ExitCode {
    let outcome = match CommandLine::parse().command {
        Subcommands::Run(run) => run_program(&run),
        Subcommands::Check => check(),
        Subcommands::NewKey(wanted) => new_key(&wanted),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("lull-far: {text}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<(), String> {
    let mut any = false;
    for (mode, name) in [(FaultMode::InThread, "--faults thread"), (FaultMode::Handlers, "--faults handlers")] {
        match trial::faults(mode) {
            Ok(()) => {
                any = true;
                println!("{name}: permitted");
            }
            Err(error) => println!("{name}: not permitted: {error}"),
        }
    }
    match trial::sealing() {
        Ok(note) => println!("--seal: permitted{note}\n--key: permitted{note}"),
        Err(error) => println!("--seal: not permitted: {error}"),
    }
    if any { Ok(()) } else { Err("this machine permits neither".to_owned()) }
}

// Can this machine do what the run needs?
fn try_machine(run: &Run) -> Result<(), String> {
    let mode = match run.faults {
        Faults::Thread => FaultMode::InThread,
        Faults::Handlers => FaultMode::Handlers,
    };
    trial::faults(mode).map_err(|error| error.to_string())?;
    // What encrypts frames is what seals pages.
    if run.seal || (run.key.is_some() && !run.plain_frames) {
        trial::sealing().map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn run_program(run: &Run) -> Result<(), String> {
    try_machine(run)?;
    check_spares(run)?;
    let directory = directory(run)?;
    let key = run.key.as_deref().map(key).transpose()?;
    let library = preload_library()?;
    let mut preload = library.clone().into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    // Of what is there already we take what it says.
    if let Some(separator) = [' ', ':'].into_iter().find(|&separator| library.to_string_lossy().contains(separator)) {
        return Err(format!("{} has {separator:?} in its path, which LD_PRELOAD cannot say: put it elsewhere", library.display()));
    }
    let (program, arguments) = run.program.split_first().ok_or("no program")?;
    if let Some(file) = launch::find(program)
        && let Some(warning) = launch::takes_preload_library(&file)?
    {
        eprintln!("lull-far: {warning}");
    }
    let mut command = Command::new(program);
    if let Some(key) = key {
        command.env("LULL_FAR_KEY", key);
    } else {
        command.env_remove("LULL_FAR_KEY");
    }
    for (option, variable, file) in [("--record", "LULL_FAR_RECORD", &run.record), ("--dirty", "LULL_FAR_DIRTY", &run.dirty)] {
        if let Some(file) = file {
            let path = std::path::absolute(file).map_err(|error| format!("{option} {}: {error}", file.display()))?;
            command.env(variable, path);
        }
    }
    // SAFETY: it makes one system call, in this thread, which is the only one.
    unsafe {
        command.pre_exec(|| {
            launch::restore_signals();
            Ok(())
        });
    }
    let error = command
        .args(arguments)
        .env("LD_PRELOAD", preload)
        .env("LULL_FAR_DIRECTORY", directory)
        .env("LULL_FAR_SERVERS", run.servers.join(","))
        .env("LULL_FAR_SPARES", run.spare.join(","))
        .env("LULL_FAR_LOCAL", &run.local)
        .env("LULL_FAR_REPLICAS", run.replicas.to_string())
        .env(
            "LULL_FAR_FAULTS",
            match run.faults {
                Faults::Thread => "0",
                Faults::Handlers => "1",
            },
        )
        .env("LULL_FAR_SERVER_TIMEOUT_MS", run.server_timeout.to_string())
        .env("LULL_FAR_SEAL", if run.seal { "1" } else { "0" })
        .env("LULL_FAR_PLAIN_FRAMES", if run.plain_frames { "1" } else { "0" })
        .env("LULL_FAR_OWNER", if run.no_owner { "0" } else { "1" })
        .env("LULL_FAR_TRACE", if run.trace { "1" } else { "0" })
        .env("LULL_FAR_STATISTICS", if run.statistics { "1" } else { "0" })
        .exec();
    Err(format!("cannot run {}: {error}", program.display()))
}

fn check_spares(run: &Run) -> Result<(), String> {
    match run.replicas {
        0 if !run.spare.is_empty() => {
            Err("--spare without --replicas 1: of a lost server's pages nobody would have a copy to give it".to_owned())
        }
        _ => Ok(()),
    }
}

/// The file of a key, which must be of use: better to say so now than when the program maps its first file.
fn key(file: &Path) -> Result<PathBuf, String> {
    read_one(file).map_err(|error| error.to_string())?;
    std::path::absolute(file).map_err(|error| format!("--key {}: {error}", file.display()))
}

fn new_key(wanted: &NewKey) -> Result<(), String> {
    let path = wanted.file.display();
    let mut bytes = [0_u8; 32];
    File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut bytes)).map_err(|error| format!("/dev/urandom: {error}"))?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let line = format!("{} {digits}\n", wanted.name);
    parse(&line).map_err(|(_, what)| format!("--name {}: {what}", wanted.name))?;
    // Never through a link, nor into a file that somebody else may read.
    let created = File::options().write(true).create_new(true).mode(0o600).open(&wanted.file);
    let mut file = created.map_err(|error| format!("the key file {path} cannot be made: {error}"))?;
    file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| format!("{path}: {error}"))?;
    println!("{path}: a new key, {}. Copy it to the servers and to the clients, and start both with --key", wanted.name);
    Ok(())
}

/// The marked directory, as the kernel will name it.
fn directory(run: &Run) -> Result<PathBuf, String> {
    let said = |argument: &OsStr| argument.to_str()?.strip_prefix("-XX:AllocateHeapAt=").map(PathBuf::from);
    let found = run.directory.clone().or_else(|| run.program.iter().rev().find_map(|argument| said(argument)));
    let Some(directory) = found else {
        return Err("no memory of this program would be far: give --directory DIR, or -XX:AllocateHeapAt=DIR to a JVM".to_owned());
    };
    let real = directory.canonicalize().map_err(|error| format!("directory {}: {error}", directory.display()))?;
    if real.is_dir() { Ok(real) } else { Err(format!("{} is no directory", real.display())) }
}

/// The library: that of the environment, or the one beside this program, or in `../lib/lull`.
fn preload_library() -> Result<PathBuf, String> {
    if let Some(said) = std::env::var_os("LULL_FAR_PRELOAD") {
        let path = PathBuf::from(said);
        return if path.exists() { Ok(path) } else { Err(format!("LULL_FAR_PRELOAD is {}, which is not there", path.display())) };
    }
    let name = Path::new("liblull_far_preload.so");
    let here = std::env::current_exe().map_err(|error| format!("cannot find myself: {error}"))?;
    let here = here.parent().unwrap_or(Path::new("/"));
    let places = [here.join(name), here.join("../lib/lull").join(name)];
    let found = places.iter().find(|place| place.exists());
    let nowhere = || format!("{} is neither in {} nor in {}/../lib/lull", name.display(), here.display(), here.display());
    found.cloned().ok_or_else(|| format!("{}; LULL_FAR_PRELOAD may say where it is", nowhere()))
}
