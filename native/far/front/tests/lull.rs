// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-far run` with a JVM that knows of it: Lull tells the pager what is young, and what is free.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::jvm::{Jvm, debug_java, java, marked_in_control, tracing_server};
use common::{Directory, count, permitted, skip, text};

/// All that is in the heap but garbage is old. What is sent is that, and what else must leave for it: not garbage, of which there is eight
/// times as much.
#[test]
fn garbage_is_not_sent() {
    let test = "the garbage of a JVM with Lull";
    let Some(java) = java(test) else { return };
    let directory = Directory::new("requests");
    Jvm::compile(&java, &directory, "Requests");
    let run = |options: &[&str]| {
        let jvm = Jvm { java: &java, directory: &directory, local: "12m", options, heap: "-Xmx96m", flags: &[] };
        let (output, most) = jvm.run(&["Requests", "24", "400", "2"]);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && stdout.contains(" wrong=0"), "{stdout}{stderr}");
        assert!(most > 0 && most <= 12 << 20, "{most} bytes local");
        assert!(count(&output, "fetched") > 0, "the old records are local: {stderr}");
        let allocated = stdout.split("allocated=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse::<u64>().unwrap();
        eprintln!("{options:?}: allocated {allocated}; {}", stderr.trim());
        (output, allocated)
    };
    let (with, allocated) = run(&[]);
    let (without, _) = run(&["--no-owner"]);
    let bytes = |output: &Output, name: &str| count(output, name) * 4096;
    let said = text(&with.stdout);
    assert!(said.contains("Far heap: 96M on memory servers, of which 12M may be local"), "{said}");
    assert!(count(&with, "dropped_unused") > 0 && count(&with, "young_passed") > 0, "{}", text(&with.stderr));
    // Of what is young next to nothing is sent, and nothing at all is known of it without being asked.
    assert!(bytes(&with, "young_written") * 100 <= allocated, "{} bytes of {allocated}", bytes(&with, "young_written"));
    let (sent, otherwise) = (bytes(&with, "written"), bytes(&without, "written"));
    assert!(sent * 2 <= otherwise, "{sent} bytes were sent, and {otherwise} if nobody is asked");
}

/// Native code that calls the kernel itself, with the JVM's arrays; dumps; the ends of stacks.
#[test]
fn what_else_looks_at_the_heap() {
    let test = "who else looks at a far heap";
    let Some(java) = java(test) else { return };
    let directory = Directory::new("kernel");
    Jvm::compile(&java, &directory, "Kernel");
    let library = directory.0.join("libcritical.so");
    let include = java.parent().and_then(Path::parent).unwrap().join("include");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/critical.c");
    let compiled = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg("-I")
        .arg(&include)
        .arg("-I")
        .arg(include.join("linux"))
        .arg(&source)
        .status();
    assert!(compiled.unwrap().success(), "{}", source.display());
    let run = |options: &[&str], what: &str| {
        let jvm = Jvm {
            java: &java,
            directory: &directory,
            local: "8m",
            options,
            heap: "-Xmx128m",
            flags: &["--enable-native-access=ALL-UNNAMED", "-Xlog:disable", "-Xlog:all=warning:stdout"],
        };
        for name in ["critical0", "critical1", "downcall", "channel"] {
            let _ = std::fs::remove_file(directory.0.join(name));
        }
        let (output, most) = jvm.run(&["Kernel", directory.name(), library.to_str().unwrap(), what]);
        assert!(most <= 8 << 20, "{what}: {most} bytes local");
        eprintln!("{what} {options:?}: {}", text(&output.stderr).trim());
        (output, most)
    };
    let by_handlers: &[&str] = &["--faults", "handlers"];
    for (what, options) in [("critical", &[][..]), ("channel", &[]), ("dump", &[]), ("stack", &[]), ("downcall", by_handlers)] {
        if !options.is_empty() && !permitted("handlers", test) {
            continue;
        }
        let (output, most) = run(options, what);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && stdout.contains(&format!("{what}: as it should be")), "{what}: {stdout}{stderr}");
        assert!(most > 0, "{what}: nobody has seen what is local");
        assert!(count(&output, "fetched") > 0 && count(&output, "held_left") == 0, "{what}: {stderr}");
    }
    // As the pager alone cannot know what the kernel is given. It ends at once: perhaps before anybody looks at what is local.
    let (output, _) = run(&["--no-owner"], "critical");
    let said = text(&output.stdout);
    assert!(!output.status.success() && said.contains("within a critical section"), "{said}");
}

/// Old trees that change their places while 1, 2 and 3 servers mark them. Each pause of the debug build checks what must hold, and each remark is
/// followed by a walk that finds nothing without a mark.
#[test]
fn servers_mark_what_is_old() {
    let test = "a heap that memory servers mark";
    let Some(java) = debug_java(test) else { return };
    let directory = Directory::new("marked");
    Jvm::compile(&java, &directory, "Marked");
    let flags = ["-XX:+LullVerifyHeap", "-XX:+LullCycleALot", "-Xlog:gc+marking=debug:stdout"];
    let run = |servers: usize, left_out: Option<&str>| {
        let part = left_out.map(|part| format!("-XX:LullBreakInvariant={part}"));
        let flags: Vec<&str> = flags.iter().copied().chain(part.as_deref()).chain(["-XX:-CreateCoredumpOnCrash"]).collect();
        let jvm = Jvm { java: &java, directory: &directory, local: "32m", options: &["--trace"], heap: "-Xmx128m", flags: &flags };
        let servers: Vec<_> = (0..servers).map(|_| tracing_server()).collect();
        let (output, most) = jvm.run_with(&servers, &["Marked", "1500", "25", "2"]);
        assert!(most > 0 && most <= 32 << 20, "{most} bytes local");
        output
    };
    for servers in 1..=3 {
        let output = run(servers, None);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && stdout.contains(" wrong=0"), "{stdout}{stderr}");
        let cycles = stdout.matches("Memory servers have marked what was old").count();
        eprintln!("{servers} servers: {cycles} cycles; {}", stdout.lines().last().unwrap_or_default());
        assert!(cycles > 0 && !stdout.contains("Memory servers do not mark"), "{stdout}");
    }
    // FarAgain: a_store_between_two_pages_that_are_sent_is_found.
    let output = run(1, Some("FarLines"));
    let said = text(&output.stdout);
    assert!(!output.status.success() && said.contains("Internal Error"), "FarLines was left out, and nobody noticed: {said}");
    // What servers have of pages that were not sent is of another time: they say so, or the heap is not whole.
    let output = run(1, Some("FarClean"));
    let said = text(&output.stdout);
    assert!(
        said.contains("Memory servers do not mark: ") || said.contains("Internal Error"),
        "FarClean was left out, and nobody noticed: {said}"
    );
}

/// The last reference to a tree moves when half of the pages are sent, from the half that is to come to the one that is there. No server has it.
#[test]
fn a_store_between_two_pages_that_are_sent_is_found() {
    let test = "a store between two pages that are sent";
    let Some(java) = debug_java(test) else { return };
    let directory = Directory::new("between");
    Jvm::compile_with(&java, &directory, &["Between", "jdk/test/whitebox/WhiteBox"]);
    let boot = format!("-Xbootclasspath/a:{}", directory.name());
    let run = |left_out: Option<&str>| {
        let part = left_out.map(|part| format!("-XX:LullBreakInvariant={part}"));
        // A cycle that a test drives would unload otherwise, and servers mark none that does.
        let flags = [
            "-XX:+LullVerifyHeap",
            "-XX:+WhiteBoxAPI",
            "-XX:-ClassUnloadingWithConcurrentMark",
            &boot,
            "-Xlog:gc+marking=debug:stdout",
            "-XX:-CreateCoredumpOnCrash",
        ];
        let flags: Vec<&str> = flags.into_iter().chain(part.as_deref()).collect();
        // All is local: a page that left later would take the store with it.
        let jvm = Jvm { java: &java, directory: &directory, local: "128m", options: &["--trace"], heap: "-Xmx128m", flags: &flags };
        let (output, _) = jvm.run_with(&[tracing_server(), tracing_server()], &["Between", "4"]);
        let said = text(&output.stdout) + &text(&output.stderr);
        (output.status.success(), said)
    };
    let (succeeded, said) = run(None);
    assert!(succeeded && said.contains("moved=4 wrong=0"), "{said}");
    assert_eq!(marked_in_control(&said), 4, "{said}");
    let (succeeded, said) = run(Some("FarAgain"));
    assert!(!succeeded && said.contains("Internal Error"), "FarAgain was left out, and nobody noticed: {said}");
}

/// Megabytes that each whole cycle of marking has fetched, by what the log says after pauses, from when the trees of `Still` were old.
fn fetched_by_cycles(log: &str) -> Vec<u64> {
    let still = log.split("the trees are old").nth(1).unwrap_or_else(|| panic!("{log}"));
    let (mut fetched, mut begin, mut cycles) = (None, None, Vec::new());
    for line in still.lines() {
        if let Some((_, rest)) = line.split_once("so far fetched ") {
            fetched = rest.split('M').next().and_then(|number| number.parse::<u64>().ok());
        }
        if line.contains("-> marking") {
            begin = fetched;
        }
        if line.contains("has ended after")
            && let (Some(begin), Some(end)) = (begin.take(), fetched)
        {
            cycles.push(end - begin);
        }
    }
    cycles
}

/// Nobody but the collector looks at 60 MB of old trees, of which half can be local. The JVM fetches what is not to mark it; servers have it.
#[test]
fn what_servers_mark_is_not_fetched() {
    let test = "what a cycle fetches";
    let Some(java) = debug_java(test) else { return };
    let directory = Directory::new("still");
    Jvm::compile(&java, &directory, "Still");
    let flags = ["-Xms160m", "-XX:-LullVerifyHeap", "-XX:+LullCycleALot", "-Xlog:gc+marking=debug,gc+heap=debug:stdout"];
    let run = |options: &[&str]| {
        let jvm = Jvm { java: &java, directory: &directory, local: "30m", options, heap: "-Xmx160m", flags: &flags };
        let (output, _) = jvm.run_with(&[tracing_server(), tracing_server()], &["Still", "750", "25"]);
        let log = text(&output.stdout);
        assert!(output.status.success(), "{log}{}", text(&output.stderr));
        let cycles = fetched_by_cycles(&log);
        eprintln!("{options:?}: cycles have fetched {cycles:?} MB");
        assert!(!cycles.is_empty(), "no cycle has ended: {log}");
        (cycles, log)
    };
    let (by_servers, log) = run(&["--trace"]);
    assert!(log.contains("Memory servers have marked what was old") && !log.contains("Memory servers do not mark"), "{log}");
    assert!(by_servers.iter().all(|&megabytes| megabytes <= 2), "{by_servers:?} MB of 60 were fetched");
    let (here, _) = run(&[]);
    assert!(here.iter().all(|&megabytes| megabytes >= 20), "{here:?} MB of 60 were fetched: it tells nothing");
}

/// Who may not connect to the others, or has failed, is told, and the JVM marks by itself.
#[test]
fn what_servers_do_not_mark_the_jvm_does() {
    let test = "a heap that memory servers do not mark";
    let Some(java) = debug_java(test) else { return };
    let directory = Directory::new("unmarked");
    Jvm::compile(&java, &directory, "Marked");
    let jvm = Jvm {
        java: &java,
        directory: &directory,
        local: "32m",
        options: &["--trace"],
        heap: "-Xmx128m",
        flags: &["-XX:+LullVerifyHeap", "-XX:+LullCycleALot", "-Xlog:gc+marking=debug:stdout"],
    };
    // Without --peers.
    let (output, _) = jvm.run(&["Marked", "1000", "15", "2"]);
    let stdout = text(&output.stdout);
    assert!(output.status.success() && stdout.contains(" wrong=0"), "{stdout}{}", text(&output.stderr));
    assert!(stdout.contains("is none that --peers of this server names"), "{stdout}");
    assert!(!stdout.contains("Memory servers have marked"), "{stdout}");
    assert!(stdout.contains("marked beside the program"), "the JVM marks: {stdout}");
}

#[test]
fn what_a_far_heap_cannot_have_is_refused() {
    let test = "what a far heap cannot have";
    let Some(java) = java(test) else { return };
    let directory = Directory::new("refused");
    // A system that has no huge pages, or one node only, leaves the flag out itself.
    let cases: &[(&[&str], &str, bool)] = &[
        (&["-XX:+AlwaysPreTouch"], "-XX:+AlwaysPreTouch", true),
        (&["-XX:+UseTransparentHugePages"], "-XX:+UseTransparentHugePages", false),
        (&["-XX:+UseLargePages"], "-XX:+UseLargePages", false),
        (&["-XX:+UseNUMA"], "-XX:+UseNUMA", false),
    ];
    for (flags, named, always) in cases {
        let jvm = Jvm { java: &java, directory: &directory, local: "16m", options: &[], heap: "-Xmx64m", flags };
        let output = jvm.run(&["-version"]).0;
        let said = text(&output.stdout) + &text(&output.stderr);
        let want = format!("{named} cannot be used with a heap on memory servers (lull-far run): ");
        if !always && output.status.success() {
            skip(&format!("{test}: {named}"), "this system does not have it");
            continue;
        }
        assert!(!output.status.success() && said.contains(&want), "{flags:?}: {said}");
    }
}
