// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Which file descriptors are the pager's. A program that closes all that it does not know, as daemons do, would close them, too; and what
//! it opens then would get their numbers, and what the pager sends to its servers. The preload library asks here first.

use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::syscall;

/// As many as the kernel lets a process have (`fs.nr_open`), unless somebody has raised that. Memory is taken where a bit is set only.
const MOST: usize = 1 << 20;

/// A bit for each descriptor. Whoever asks about one that is being opened or closed gets either answer: relaxed.
static OWN: [AtomicU64; MOST / 64] = [const { AtomicU64::new(0) }; MOST / 64];

/// Of so many words one may have had a bit.
static WORDS: AtomicUsize = AtomicUsize::new(0);

/// The pager's descriptors have numbers from here on. A program that was started without one of the first three, or has closed it, writes
/// its messages to whoever gets that number: to a memory file, if it were the pager's.
const FIRST: RawFd = 64;

/// The first number that is no standard input, output or error.
const FIRST_BEHIND_STANDARD: RawFd = 3;

/// A descriptor of the pager, in whatever owns it.
#[derive(Debug)]
pub struct Own<F: AsRawFd>(F);

impl<F: AsRawFd> Own<F> {
    /// From now on.
    pub fn new(owner: F) -> Own<F> {
        if let Some((word, bit)) = place(owner.as_raw_fd()) {
            WORDS.fetch_max(word + 1, Ordering::Relaxed);
            OWN[word].fetch_or(bit, Ordering::Relaxed);
        }
        Own(owner)
    }
}

impl<F: AsRawFd + From<OwnedFd>> Own<F> {
    /// One that was opened just now, which gets another number.
    ///
    /// # Errors
    /// If it has one of the first three, and there is no other.
    pub fn opened(fd: OwnedFd) -> std::io::Result<Own<F>> {
        let moved = |least: RawFd| {
            // SAFETY: a new descriptor.
            let fd = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, least) };
            // SAFETY: the descriptor is new and ours.
            (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) }).ok_or_else(std::io::Error::last_os_error)
        };
        // The limit of this process may be lower.
        match moved(FIRST) {
            Ok(moved) => Ok(Own::new(moved.into())),
            Err(_) if fd.as_raw_fd() >= FIRST_BEHIND_STANDARD => Ok(Own::new(fd.into())),
            Err(_) => moved(FIRST_BEHIND_STANDARD).map(|moved| Own::new(moved.into())),
        }
    }
}

impl<F: AsRawFd> Drop for Own<F> {
    /// Before it is closed: the next who gets the number may close it.
    fn drop(&mut self) {
        if let Some((word, bit)) = place(self.0.as_raw_fd()) {
            OWN[word].fetch_and(!bit, Ordering::Relaxed);
        }
    }
}

impl<F: AsRawFd> Deref for Own<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.0
    }
}

impl<F: AsRawFd> DerefMut for Own<F> {
    fn deref_mut(&mut self) -> &mut F {
        &mut self.0
    }
}

fn place(fd: RawFd) -> Option<(usize, u64)> {
    let fd = usize::try_from(fd).ok().filter(|&fd| fd < MOST)?;
    Some((fd / 64, 1 << (fd % 64)))
}

/// Whether a descriptor is the pager's. Async-signal-safe.
#[must_use]
pub fn is_own(fd: RawFd) -> bool {
    place(fd).is_some_and(|(word, bit)| OWN[word].load(Ordering::Relaxed) & bit != 0)
}

/// The first of the pager's descriptors from one number to another, both included. Async-signal-safe.
#[must_use]
pub fn first_own(from: u32, to: u32) -> Option<u32> {
    let words = WORDS.load(Ordering::Relaxed);
    let first = from as usize / 64;
    let numbers = (first..words).find_map(|index| {
        let behind = if index == first { u64::MAX << (from % 64) } else { u64::MAX };
        let bits = OWN[index].load(Ordering::Relaxed) & behind;
        (bits != 0).then(|| (index * 64) as u32 + bits.trailing_zeros())
    });
    numbers.filter(|&number| number <= to)
}

/// In a child of `fork`: they are copies of the parent's, and of no use. They are closed, or the parent's servers would not see its end before
/// the child's. Async-signal-safe. Nobody in the child drops what owns them.
pub(crate) fn close_all() {
    for (index, word) in OWN[..WORDS.load(Ordering::Relaxed)].iter().enumerate() {
        let mut bits = word.swap(0, Ordering::Relaxed);
        while bits != 0 {
            syscall::close((index * 64) as RawFd + bits.trailing_zeros() as RawFd);
            bits &= bits - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a number, which nobody closes.
    struct Number(RawFd);

    impl AsRawFd for Number {
        fn as_raw_fd(&self) -> RawFd {
            self.0
        }
    }

    #[test]
    fn what_is_opened_gets_a_number_that_no_program_takes_for_standard_error() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let own: Own<std::fs::File> = Own::opened(file.into()).unwrap();
        let fd = own.as_raw_fd();
        assert!(fd >= FIRST && is_own(fd));
        // SAFETY: a number only.
        assert_eq!(unsafe { libc::fcntl(fd, libc::F_GETFD) }, libc::FD_CLOEXEC);
        assert!(own.metadata().is_ok());
        drop(own);
        assert!(!is_own(fd));
    }

    #[test]
    fn descriptors_are_own_from_when_they_are_opened_until_they_are_closed() {
        // Numbers that no other test of this process has.
        let own = [100_000, 100_063, 100_064, 100_200].map(|fd| Own::new(Number(fd)));
        assert!(is_own(100_000) && is_own(100_200) && !is_own(100_001) && !is_own(-1) && !is_own(i32::MAX));
        assert_eq!(first_own(100_000, u32::MAX), Some(100_000));
        assert_eq!(first_own(100_001, u32::MAX), Some(100_063));
        assert_eq!(first_own(100_001, 100_062), None);
        assert_eq!(first_own(100_064, 100_064), Some(100_064));
        assert_eq!(first_own(100_065, 100_200), Some(100_200));
        assert_eq!(first_own(100_201, u32::MAX), None);
        assert_eq!(first_own(u32::MAX, 0), None);
        drop(own);
        assert!(!is_own(100_000) && first_own(100_000, u32::MAX).is_none());
    }
}
