// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The cgroups of a process, of version 2 or 1, as far as this one can see them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// Their files have other names in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// A hierarchy for each controller, or for some.
    One,
    /// One hierarchy for all.
    Two,
}

/// The cgroup of a process for one controller.
#[derive(Debug)]
pub struct Group {
    /// Whose files it has.
    pub version: Version,
    /// The outermost directory that can be seen.
    root: PathBuf,
    directory: PathBuf,
}

impl Group {
    /// Nothing if no hierarchy of the controller can be seen. An error says that there is one, and that the process's cgroup is not in what
    /// it shows.
    pub fn of(pid: u32, controller: &str) -> Result<Option<Self>, String> {
        let text = |path: String| fs::read_to_string(path).unwrap_or_default();
        let theirs = PathBuf::from(format!("/proc/{pid}/root"));
        // In a container, what is mounted here most often begins with the container's own group. The process's own mounts may show its own.
        let places = [(Path::new("/"), text("/proc/self/mountinfo".to_owned())), (&theirs, text(format!("/proc/{pid}/mountinfo")))];
        find(&text(format!("/proc/{pid}/cgroup")), controller, &places).map_err(|error| format!("process {pid}: {error}"))
    }

    /// Its directory and those around it, as far as they can be seen.
    pub fn around(&self) -> impl Iterator<Item = &Path> {
        self.directory.ancestors().take_while(|ancestor| ancestor.starts_with(&self.root))
    }

    /// Whether it has not been removed since.
    pub fn is_there(&self) -> bool {
        self.directory.is_dir()
    }

    /// For tests of what is read in it.
    #[cfg(test)]
    pub(crate) fn at(version: Version, root: &Path, path: &str) -> Self {
        Self { version, root: root.to_owned(), directory: root.join(path) }
    }
}

/// By /proc/N/cgroup, and mounts, each with the directory that their paths begin at.
fn find(groups: &str, controller: &str, places: &[(&Path, String)]) -> Result<Option<Group>, String> {
    let path = |wanted: &dyn Fn(&str) -> bool| {
        groups.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            wanted(controllers).then_some(Path::new(path))
        })
    };
    let one = path(&|controllers| controllers.split(',').any(|name| name == controller)).map(|path| (Version::One, path));
    let Some((version, path)) = one.or_else(|| Some((Version::Two, path(&str::is_empty)?))) else { return Ok(None) };

    let mut shown = None;
    for (begin, mounts) in places {
        let mut mounts: Vec<(PathBuf, PathBuf)> = mounts.lines().filter_map(|line| mount(line, version, controller)).collect();
        // The one that shows the most first.
        mounts.sort_by_key(|(group, _)| group.components().count());
        for (group, at) in mounts {
            let root = begin.join(at.strip_prefix("/").unwrap_or(&at));
            // The kernel writes a group that is not below that of this process's namespace with "..": then the mount must be so, too.
            if let Ok(rest) = path.strip_prefix(&group)
                && rest.components().all(|component| matches!(component, Component::Normal(_)))
                && root.join(rest).is_dir()
            {
                // Components, for an empty rest leaves a slash at the end.
                return Ok(Some(Group { version, directory: root.join(rest).components().collect(), root }));
            }
            shown.get_or_insert((group, root));
        }
    }
    let Some((group, root)) = shown else { return Ok(None) };
    Err(format!(
        "its cgroup for {controller} is {} as this program's cgroup namespace names it, and {} shows only {} and what is in it: its limits are \
         not known; run lull-budget on the host, or in the process's own container",
        path.display(),
        root.display(),
        group.display()
    ))
}

/// Of a line of a mountinfo, if it is a hierarchy with that controller: which group is mounted, and where.
fn mount(line: &str, version: Version, controller: &str) -> Option<(PathBuf, PathBuf)> {
    let (mount, of) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(3);
    let (group, at) = (mount.next()?, mount.next()?);
    let mut of = of.split(' ');
    let (kind, options) = (of.next()?, of.nth(1)?);
    let wanted = match version {
        Version::One => kind == "cgroup" && options.split(',').any(|option| option == controller),
        Version::Two => kind == "cgroup2",
    };
    wanted.then(|| (unescaped(group), unescaped(at)))
}

/// Blanks, line ends and backslashes are a backslash and three octal digits there.
fn unescaped(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let number = after.get(..3).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match number {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with groups in it.
    struct Root(PathBuf);

    impl Root {
        fn with(test: &str, groups: &[&str]) -> Self {
            let root = std::env::temp_dir().join(format!("lull-budget-cgroup-{test}-{}", std::process::id()));
            for group in groups {
                fs::create_dir_all(root.join(group)).unwrap();
            }
            Self(root)
        }

        fn find(&self, groups: &str, mounts: &str) -> Result<Option<Vec<String>>, String> {
            let found = find(groups, "memory", &[(&self.0, mounts.to_owned())])?;
            let relative = |path: &Path| path.strip_prefix(&self.0).unwrap().to_str().unwrap().to_owned();
            Ok(found.map(|group| group.around().map(relative).collect()))
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn version2(group: &str, at: &str) -> String {
        format!("31 23 0:28 {group} {at} rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n")
    }

    #[test]
    fn a_group_and_those_around_it() {
        let root = Root::with("around", &["sys/a/b"]);
        let mounts = format!("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n{}", version2("/", "/sys"));
        let found = |groups| root.find(groups, &mounts).unwrap().unwrap();
        assert_eq!(found("0::/a/b\n"), ["sys/a/b", "sys/a", "sys"]);
        assert_eq!(found("0::/\n"), ["sys"]);
        // No hierarchy, or none with this controller, is no error.
        assert_eq!((root.find("", &mounts), root.find("0::/a\n", "")), (Ok(None), Ok(None)));
    }

    #[test]
    fn version_1_is_found_by_its_controller() {
        let root = Root::with("version1", &["cpu/x", "memory/y"]);
        let mounts = "34 31 0:31 / /cpu rw - cgroup cgroup rw,cpu,cpuacct\n35 31 0:32 / /memory rw - cgroup cgroup rw,memory\n";
        let groups = "4:memory:/y\n1:cpu,cpuacct:/x\n0::/\n";
        assert_eq!(root.find(groups, mounts), Ok(Some(vec!["memory/y".to_owned(), "memory".to_owned()])));
        let cpu = find(groups, "cpu", &[(&root.0, mounts.to_owned())]).unwrap().unwrap();
        assert_eq!((cpu.version, cpu.directory), (Version::One, root.0.join("cpu/x")));
    }

    #[test]
    fn a_group_beside_that_of_this_container_is_not_taken_for_it() {
        let root = Root::with("beside", &["sys/jvm", "jvm"]);
        let why = root.find("0::/../jvm\n", &version2("/", "/sys")).unwrap_err();
        assert!(why.contains("is /../jvm as") && why.contains("run lull-budget on the host"), "{why}");
        assert!(root.find("0::/docker/jvm\n", &version2("/docker/own", "/sys")).is_err());
        // The mounts show what is around both, or the other's.
        assert_eq!(root.find("0::/../jvm\n", &version2("/..", "/sys")), Ok(Some(vec!["sys/jvm".to_owned(), "sys".to_owned()])));
        assert_eq!(root.find("0::/../jvm\n", &version2("/../jvm", "/sys")), Ok(Some(vec!["sys".to_owned()])));
        assert_eq!(root.find("0::/docker/jvm\n", &version2("/docker", "/sys")), Ok(Some(vec!["sys/jvm".to_owned(), "sys".to_owned()])));
    }

    #[test]
    fn the_other_process_sees_its_own_group() {
        let (own, theirs) = (Root::with("own", &["sys"]), Root::with("theirs", &["sys"]));
        let places = [(own.0.as_path(), version2("/", "/sys")), (theirs.0.as_path(), version2("/../jvm", "/sys"))];
        let found = find("0::/../jvm\n", "memory", &places).unwrap().unwrap();
        assert_eq!(found.around().collect::<Vec<_>>(), [theirs.0.join("sys")]);
    }

    #[test]
    fn of_several_mounts_the_one_that_shows_most_and_is_there() {
        let root = Root::with("several", &["part", "all/a/b"]);
        let mounts = [version2("/", "/hidden"), version2("/a/b", "/part"), version2("/", "/all")].concat();
        assert_eq!(root.find("0::/a/b\n", &mounts).unwrap().unwrap()[0], "all/a/b");
    }

    #[test]
    fn names_with_blanks() {
        assert_eq!(unescaped(r"/a\040b\134c\x"), Path::new(r"/a b\c\x"));
    }
}
