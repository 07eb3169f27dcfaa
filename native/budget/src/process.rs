// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What /proc says of a process that is to be spoken to.

use std::fs;

/// Of /proc/N/status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its id in its own pid namespace.
    pub own_pid: u32,
    /// Its effective user, to whom the files belong that it makes.
    pub user: u32,
    /// It has a handler for SIGQUIT, which ends a process that has none.
    pub catches_quit: bool,
}

impl Status {
    /// As it is now.
    pub fn of(pid: u32) -> Result<Self, String> {
        let path = format!("/proc/{pid}/status");
        let text = fs::read_to_string(&path).map_err(|error| format!("process {pid}: {path}: {error}"))?;
        Self::parse(&text).ok_or(format!("process {pid}: {path} does not say what is needed"))
    }

    fn parse(text: &str) -> Option<Self> {
        let words = |name: &str| Some(text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace());
        let caught = u64::from_str_radix(words("SigCgt:")?.next()?, 16).ok()?;
        Some(Self {
            // The outermost namespace comes first.
            own_pid: words("NSpid:")?.next_back()?.parse().ok()?,
            // The real one, the effective one, the saved one.
            user: words("Uid:")?.nth(1)?.parse().ok()?,
            catches_quit: caught & 1 << (libc::SIGQUIT - 1) != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_what_is_needed() {
        let text = "Name:\tjava\nUid:\t0\t1000\t7\t8\nNSpid:\t4711\t12\t1\nSigIgn:\t0000000000000004\nSigCgt:\t2000000181005ccf\n";
        assert_eq!(Status::parse(text), Some(Status { own_pid: 1, user: 1000, catches_quit: true }));
        let text = text.replace("5ccf", "5ccb");
        assert_eq!(Status::parse(&text).map(|status| status.catches_quit), Some(false));
        assert_eq!(Status::parse("Name:\tjava\n"), None);
        assert_eq!(Status::of(std::process::id()).map(|status| status.catches_quit), Ok(false));
    }
}
