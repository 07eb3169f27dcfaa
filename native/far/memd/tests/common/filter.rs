// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Filters of system calls, as a container's engine or systemd would put before a process: classic BPF for seccomp.
#![allow(dead_code)] // each test file uses a part

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::process::Command;

/// What becomes of a call that is not permitted.
#[derive(Clone, Copy)]
pub enum Denied {
    /// It fails with EPERM, as under the engine and the unit.
    Fails,
    /// It ends the process: none goes unnoticed.
    EndsTheProcess,
    /// All is permitted that no rule answers by an error.
    Nothing,
}

/// A condition on an argument.
#[derive(Clone, Copy)]
pub enum Condition {
    Equals {
        index: u32,
        value: u32,
    },
    /// The argument has none of these bits but those.
    Masked {
        index: u32,
        mask: u32,
        value: u32,
    },
}

/// One line of a filter: a call that is permitted, if the condition holds; or answered by an error.
pub struct Rule {
    pub number: u32,
    pub condition: Option<Condition>,
    pub error: Option<u32>,
}

/// The numbers of all system calls that this machine's headers name.
pub fn numbers() -> BTreeMap<String, u32> {
    let output = Command::new("cc").args(["-dM", "-E", "-include", "asm/unistd_64.h", "-x", "c", "/dev/null"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let all: BTreeMap<String, u32> = text
        .lines()
        .filter_map(|line| line.strip_prefix("#define __NR_")?.split_once(' '))
        .filter_map(|(name, number)| Some((name.to_owned(), number.parse().ok()?)))
        .collect();
    assert!(all.len() > 300, "the headers name {} system calls", all.len());
    all
}

/// A program for the kernel.
pub fn program(rules: &[Rule], denied: Denied) -> Vec<libc::sock_filter> {
    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const AND: u16 = 0x54;
    const RETURN: u16 = 0x06;
    const X86_64: u32 = 0xC000_003E;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // Another architecture's calls have other numbers.
    let mut steps = vec![step(LOAD, 0, 0, 4), step(IF_EQUAL, 1, 0, X86_64), step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS)];
    for rule in rules {
        let verdict = rule.error.map_or(libc::SECCOMP_RET_ALLOW, |error| libc::SECCOMP_RET_ERRNO | error);
        // The lower half of an argument: the values are numbers of 32 bits.
        let test = match rule.condition {
            None => vec![],
            Some(Condition::Equals { index, value }) => vec![step(LOAD, 0, 0, 16 + 8 * index), step(IF_EQUAL, 0, 1, value)],
            Some(Condition::Masked { index, mask, value }) => {
                vec![step(LOAD, 0, 0, 16 + 8 * index), step(AND, 0, 0, mask), step(IF_EQUAL, 0, 1, value)]
            }
        };
        steps.extend([step(LOAD, 0, 0, 0), step(IF_EQUAL, 0, test.len() as u8 + 1, rule.number)]);
        steps.extend(test);
        steps.push(step(RETURN, 0, 0, verdict));
    }
    let last = match denied {
        Denied::Fails => libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        Denied::EndsTheProcess => libc::SECCOMP_RET_KILL_PROCESS,
        Denied::Nothing => libc::SECCOMP_RET_ALLOW,
    };
    steps.push(step(RETURN, 0, 0, last));
    steps
}

/// Puts a filter before this thread, for ever. Between `fork` and `exec`: makes system calls only.
pub fn install(program: &[libc::sock_filter]) -> Result<()> {
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) != 0
    };
    if refused { Err(Error::last_os_error()) } else { Ok(()) }
}
