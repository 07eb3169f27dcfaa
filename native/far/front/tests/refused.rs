// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-far check`, and what runs before a program does, where a system call is not permitted: what is refused is named, and the program
//! does not run.

#[path = "../../memd/tests/common/filter.rs"]
mod filter;
#[path = "../../memd/tests/common/skip.rs"]
mod skip;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use filter::{Condition, Denied, Rule};

/// Runs `lull-far` with one call taken away, or that call with one argument.
fn without(number: u32, condition: Option<Condition>, arguments: &[&str]) -> Output {
    let rules = [Rule { number, condition, error: Some(libc::EPERM as u32) }];
    let program = filter::program(&rules, Denied::Nothing);
    let mut command = Command::new(env!("CARGO_BIN_EXE_lull-far"));
    // SAFETY: it makes two system calls.
    unsafe { command.args(arguments).pre_exec(move || filter::install(&program)) };
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Each is a call of the pager's, and what is said of it. The first column is in the kernel's headers.
#[test]
fn what_is_not_permitted_is_named_and_nothing_runs() {
    let numbers = filter::numbers();
    let here = Command::new(env!("CARGO_BIN_EXE_lull-far")).arg("check").output().unwrap();
    let here = text(&here.stdout);
    if !here.starts_with("--faults thread: permitted\n") {
        return skip::skip("what is not permitted", &here);
    }
    assert!(here.contains("\n--seal: permitted"), "{here}");
    let argument = |index, value: i32| Some(Condition::Equals { index, value: value as u32 });
    let cases: [(&str, Option<Condition>, &str); 8] = [
        ("userfaultfd", None, "userfaultfd: Operation not permitted"),
        ("memfd_create", None, "memfd_create: Operation not permitted"),
        ("fallocate", None, "fallocate(FALLOC_FL_PUNCH_HOLE): Operation not permitted"),
        // UFFDIO_REGISTER, UFFDIO_COPY, UFFDIO_CONTINUE.
        ("ioctl", argument(1, 0xC020_AA00_u32.cast_signed()), "UFFDIO_REGISTER of a memory file: Operation not permitted"),
        ("ioctl", argument(1, 0xC028_AA03_u32.cast_signed()), "UFFDIO_COPY: Operation not permitted"),
        ("ioctl", argument(1, 0xC020_AA07_u32.cast_signed()), "UFFDIO_CONTINUE: Operation not permitted"),
        ("madvise", argument(2, libc::MADV_DONTFORK), "madvise(MADV_DONTFORK): Operation not permitted"),
        ("clone3", None, "a thread of the pager: Operation not permitted"),
    ];
    let directory = std::env::temp_dir().join(format!("lull-refused-{}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    let ran = directory.join("ran");
    let run = ["run", "--servers", "127.0.0.1:1", "--local", "4m", "--directory", directory.to_str().unwrap(), "--", "touch"];
    for (name, condition, want) in cases {
        let output = without(numbers[name], condition, &["check"]);
        let line = text(&output.stdout).lines().next().unwrap().to_owned();
        assert!(line.starts_with(&format!("--faults thread: not permitted: {want}")), "{name}: {line}");
        assert_eq!(output.status.code(), Some(1), "{name}: neither way is permitted");
        let output = without(numbers[name], condition, &[&run[..], &[ran.to_str().unwrap()]].concat());
        assert!(!output.status.success() && text(&output.stderr).contains(want), "{name}: {}", text(&output.stderr));
        assert!(!Path::new(&ran).exists(), "{name}: the program has run");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
