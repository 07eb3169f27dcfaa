// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The /tmp of another process, as that one sees it: in a container it is another directory than ours, and what is a link there is somebody else's.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The directory itself, whatever becomes of its name.
#[derive(Debug)]
pub struct Temporary(OwnedFd);

impl Temporary {
    /// That of a process.
    pub fn of(pid: u32) -> io::Result<Self> {
        Self::in_root(Path::new(&format!("/proc/{pid}/root")))
    }

    /// Links on the way there lead to where that root's owner may put them, which is within it: followed by us, an absolute one would lead into our
    /// own root.
    fn in_root(root: &Path) -> io::Result<Self> {
        let flags = libc::O_PATH | libc::O_DIRECTORY;
        let root: File = OpenOptions::new().read(true).custom_flags(flags).open(root)?;
        // SAFETY: zeros are a valid open_how, to which later kernels may add.
        let mut how: libc::open_how = unsafe { std::mem::zeroed() };
        how.flags = (flags | libc::O_CLOEXEC) as u64;
        how.resolve = libc::RESOLVE_IN_ROOT;
        let (at, name, size) = (root.as_raw_fd(), c"tmp".as_ptr(), size_of::<libc::open_how>());
        // SAFETY: a name that ends, and a structure of that size.
        let mut fd = unsafe { libc::syscall(libc::SYS_openat2, at, name, &raw const how, size) } as i32;
        if fd < 0 && [Some(libc::ENOSYS), Some(libc::EPERM)].contains(&io::Error::last_os_error().raw_os_error()) {
            // Before Linux 5.6, or kept from us: then no link is followed at all.
            // SAFETY: a name that ends.
            fd = unsafe { libc::openat(at, name, flags | libc::O_CLOEXEC | libc::O_NOFOLLOW) };
        }
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Where this process finds it.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_of_another_root_leads_nowhere_but_into_it() {
        let root = std::env::temp_dir().join(format!("lull-budget-root-{}", std::process::id()));
        fs::create_dir_all(root.join("other/elsewhere")).unwrap();
        fs::write(root.join("other/elsewhere/file"), "the other's").unwrap();
        symlink("/elsewhere", root.join("other/tmp")).unwrap();
        let found = Temporary::in_root(&root.join("other")).unwrap();
        assert_eq!(fs::read_to_string(found.path().join("file")).unwrap(), "the other's");
        // What is there in our root, and not in the other.
        fs::remove_file(root.join("other/tmp")).unwrap();
        symlink("/proc", root.join("other/tmp")).unwrap();
        assert_eq!(Temporary::in_root(&root.join("other")).unwrap_err().kind(), io::ErrorKind::NotFound);
        // Our own.
        let own = Temporary::of(std::process::id()).unwrap();
        assert!(own.path().join(root.strip_prefix("/tmp").unwrap_or(Path::new("."))).exists());
        fs::remove_dir_all(root).unwrap();
    }
}
