// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a container's profile and a systemd unit say about system calls.

use std::collections::BTreeSet;
use std::process::Command;

use crate::filter::{Condition, Rule, numbers};

/// The rules of a profile in the form that container engines read. Fails if it has anything that this does not understand, or that the
/// headers do not know.
pub fn of_profile(text: &str) -> Vec<Rule> {
    let numbers = numbers();
    let profile: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(profile["defaultAction"], "SCMP_ACT_ERRNO");
    assert_eq!(profile["defaultErrnoRet"], libc::EPERM);
    assert_eq!(profile["architectures"], serde_json::json!(["SCMP_ARCH_X86_64"]));
    let mut rules = Vec::new();
    for entry in profile["syscalls"].as_array().unwrap() {
        let number = |value: &serde_json::Value| u32::try_from(value.as_u64().unwrap()).unwrap();
        let error = match entry["action"].as_str().unwrap() {
            "SCMP_ACT_ALLOW" => None,
            "SCMP_ACT_ERRNO" => Some(number(&entry["errnoRet"])),
            other => panic!("{other}"),
        };
        let arguments = entry.get("args").and_then(|arguments| arguments.as_array()).map_or(&[][..], Vec::as_slice);
        assert!(arguments.len() <= 1, "{entry}");
        let condition = arguments.first().map(|argument| {
            let (index, value) = (number(&argument["index"]), number(&argument["value"]));
            match argument["op"].as_str().unwrap() {
                "SCMP_CMP_EQ" => Condition::Equals { index, value },
                "SCMP_CMP_MASKED_EQ" => Condition::Masked { index, mask: value, value: number(&argument["valueTwo"]) },
                other => panic!("{other}"),
            }
        });
        for name in entry["names"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            let number = *numbers.get(name).unwrap_or_else(|| panic!("there is no system call {name}"));
            rules.push(Rule { number, condition, error });
        }
    }
    rules
}

/// The rules of a unit's SystemCallFilter= lines, and of RestrictAddressFamilies=; none if systemd is not here to say what its groups are.
pub fn of_unit(text: &str) -> Option<Vec<Rule>> {
    Command::new("systemd-analyze").arg("--version").output().ok()?;
    let mut permitted = BTreeSet::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("SystemCallFilter=")) {
        let (takes_away, names) = line.strip_prefix('~').map_or((false, line), |names| (true, names));
        for name in names.split(' ') {
            let group = expand(name);
            if takes_away { permitted.retain(|name| !group.contains(name)) } else { permitted.extend(group) }
        }
    }
    // What it always permits, to start the service at all.
    permitted.extend(["execve", "exit", "exit_group", "rt_sigreturn"].map(str::to_owned));
    // As systemd has it, of this call alone.
    assert!(permitted.remove("socket"));
    let numbers = numbers();
    let rule = |name: &String| numbers.get(name).map(|&number| Rule { number, condition: None, error: None });
    let socket = |value: u32| Rule { number: numbers["socket"], condition: Some(Condition::Equals { index: 0, value }), error: None };
    Some(permitted.iter().filter_map(rule).chain(families(text).into_iter().map(socket)).collect())
}

/// What a unit says of families of addresses, in one line.
fn families(text: &str) -> Vec<u32> {
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("RestrictAddressFamilies=")).collect();
    let [line] = lines[..] else { panic!("{lines:?}") };
    let number = |name: &str| match name {
        "AF_UNIX" => 1,
        "AF_INET" => 2,
        "AF_INET6" => 10,
        other => panic!("{other}"),
    };
    line.split(' ').map(number).collect()
}

/// The calls of a group, and of the groups in it.
fn expand(name: &str) -> BTreeSet<String> {
    if !name.starts_with('@') {
        return BTreeSet::from([name.to_owned()]);
    }
    let output = Command::new("systemd-analyze").args(["syscall-filter", "--no-pager", name]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = text.lines().skip(1).map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(!names.is_empty(), "{name}: {text}");
    names.into_iter().flat_map(expand).collect()
}
