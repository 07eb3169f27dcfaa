// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A process that is not a child: its end, and a signal to it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Stands for one process, even when its id has become another's.
#[derive(Debug)]
pub struct PidFd(OwnedFd);

impl PidFd {
    /// An error says that there is no such process.
    pub fn open(pid: u32) -> Result<Self, String> {
        // SAFETY: numbers only.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        if fd < 0 {
            return Err(format!("process {pid}: pidfd_open: {}", io::Error::last_os_error()));
        }
        // SAFETY: a new descriptor.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd as i32) }))
    }

    /// Sends it a signal, and nobody else who has its id by now.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        // SAFETY: numbers, and no further information.
        let sent =
            unsafe { libc::syscall(libc::SYS_pidfd_send_signal, self.0.as_raw_fd(), signal, std::ptr::null::<libc::siginfo_t>(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Waits that long for the end of the process, or for a signal to this one. A zombie has ended, though /proc still has it.
    pub fn ended(&self, wait: Duration) -> bool {
        let mut poll = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let timeout = libc::timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        // SAFETY: one descriptor, a valid time, no mask.
        unsafe { libc::ppoll(&mut poll, 1, &timeout, std::ptr::null()) == 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use std::process::Command;

    #[test]
    fn a_zombie_has_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = PidFd::open(child.id()).unwrap();
        assert!(!process.ended(Duration::ZERO));
        child.kill().unwrap();
        assert!(process.ended(Duration::from_secs(10)));
        assert!(Target::find(child.id()).is_ok());
        child.wait().unwrap();
        assert!(process.ended(Duration::ZERO) && PidFd::open(child.id()).is_err());
    }

    #[test]
    fn a_signal_reaches_that_process_or_nobody() {
        use std::os::unix::process::ExitStatusExt;
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = PidFd::open(child.id()).unwrap();
        process.signal(libc::SIGTERM).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
        // From now on its id may be given to somebody else.
        assert_eq!(process.signal(libc::SIGTERM).unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }
}
