// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Files of keys. A line is `NAME KEY [WORD=VALUE...]`: the name is for people, the key 64 hexadecimal digits, the rest what a server grants
//! to who has the key; a client does not look at it. Empty lines and those that begin with `#` are none.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::key::Key;

/// No more is read: some ten thousand keys.
const LONGEST: u64 = 1 << 20;

/// The longest name.
const LONGEST_NAME: usize = 32;

/// A line.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What people call it.
    pub name: String,
    /// The key.
    pub key: Key,
    /// Word and value of what is granted.
    pub grants: Vec<(String, String)>,
}

/// Why a file is of no use. No text of it is in here: it may be a part of a key.
#[derive(Debug)]
pub enum FileError {
    /// It cannot be read.
    Read(PathBuf, io::Error),
    /// It is a directory, a device, a pipe.
    NotAFile(PathBuf),
    /// Others may read or change it: its mode, its owner and its group.
    Open(PathBuf, u32, u32, u32),
    /// It is somebody else's, who may change it at any time: its owner, and who we are.
    Owner(PathBuf, u32, u32),
    /// A line, and what is wrong with it.
    Line(PathBuf, usize, &'static str),
    /// It has no key, or, for a client, more than one.
    Count(PathBuf, usize),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = "a line is NAME KEY, the key 64 hexadecimal digits; lull-far new-key FILE makes one";
        match self {
            FileError::Read(path, error) => write!(f, "the key file {} cannot be read: {error}", path.display()),
            FileError::NotAFile(path) => write!(f, "the key file {} is no regular file: give one that holds the key", path.display()),
            FileError::Open(path, mode, owner, group) => {
                let path = path.display();
                write!(
                    f,
                    "the key file {path} has the mode {mode:04o}, owner {owner} and group {group}, so that others may read or change it: "
                )?;
                write!(f, "take that away (chmod 600 {path}), and make a new key if others were there")
            }
            FileError::Owner(path, owner, own) => {
                let path = path.display();
                write!(f, "the key file {path} belongs to the user {owner}, who may change it, and this program runs as {own}: ")?;
                write!(f, "chown it to {own} or to root, or make a new one by lull-far new-key")
            }
            FileError::Line(path, line, what) => write!(f, "the key file {}, line {line}: {what}; {form}", path.display()),
            FileError::Count(path, 0) => write!(f, "the key file {} has no key; {form}", path.display()),
            FileError::Count(path, count) => {
                write!(f, "the key file {} has {count} keys; a client's has one: keep only its own line there", path.display())
            }
        }
    }
}

impl std::error::Error for FileError {}

/// All keys of a server's file.
///
/// # Errors
/// [`FileError`].
pub fn read_all(path: &Path) -> Result<Vec<Entry>, FileError> {
    let failed = |error| FileError::Read(path.to_owned(), error);
    // What is looked at is what is read: by the descriptor. Without waiting for who writes to a pipe.
    let mut file = open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(FileError::NotAFile(path.to_owned()));
    }
    let (mode, owner, group) = (metadata.mode() & 0o7777, metadata.uid(), metadata.gid());
    if !is_private(mode, owner, group) {
        return Err(FileError::Open(path.to_owned(), mode, owner, group));
    }
    let own = rustix::process::geteuid().as_raw();
    if !is_of(owner, own) {
        return Err(FileError::Owner(path.to_owned(), owner, own));
    }
    let mut text = Zeroizing::new(String::new());
    (&mut file).take(LONGEST + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > LONGEST {
        return Err(FileError::Line(path.to_owned(), text.lines().count(), "the file has more than 1 MB"));
    }
    let entries = parse(&text).map_err(|(line, what)| FileError::Line(path.to_owned(), line, what))?;
    if entries.is_empty() { Err(FileError::Count(path.to_owned(), 0)) } else { Ok(entries) }
}

/// The key of a client's file.
///
/// # Errors
/// [`FileError`].
pub fn read_one(path: &Path) -> Result<Key, FileError> {
    let entries = read_all(path)?;
    match &entries[..] {
        [entry] => Ok(entry.key.clone()),
        more => Err(FileError::Count(path.to_owned(), more.len())),
    }
}

fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    const O_NONBLOCK: i32 = 0o4000;
    File::options().read(true).custom_flags(O_NONBLOCK).open(path)
}

/// Whether only its owner may read it. The group root may, of a file of root's: so are the credentials that systemd passes on.
fn is_private(mode: u32, owner: u32, group: u32) -> bool {
    let allowed = if owner == 0 && group == 0 { 0o740 } else { 0o700 };
    mode & 0o777 & !allowed == 0
}

/// Whether its owner is to be believed by a program that runs as `own`: it is root, or that user.
fn is_of(owner: u32, own: u32) -> bool {
    owner == 0 || owner == own
}

/// The keys of a text, or a line with what is wrong there.
///
/// # Errors
/// The number of the line, from 1 on.
pub fn parse(text: &str) -> Result<Vec<Entry>, (usize, &'static str)> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut names, mut ids) = (HashSet::new(), HashSet::new());
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let entry = parse_line(line).map_err(|what| (number, what))?;
        if !names.insert(entry.name.clone()) {
            return Err((number, "the name has been given before"));
        }
        if !ids.insert(entry.key.id()) {
            return Err((number, "the key has been given before"));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn parse_line(line: &str) -> Result<Entry, &'static str> {
    let mut words = line.split_whitespace();
    let (Some(name), Some(key)) = (words.next(), words.next()) else { return Err("there is only one word") };
    if name.len() > LONGEST_NAME || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return Err("the name may have 32 letters, digits, dots, hyphens and underscores");
    }
    let key = Key::from_hex(key).ok_or("the second word is not 64 hexadecimal digits")?;
    let grant = |word: &str| {
        let (word, value) = word.split_once('=').filter(|(word, value)| !word.is_empty() && !value.is_empty())?;
        Some((word.to_owned(), value.to_owned()))
    };
    let grants = words.map(grant).collect::<Option<Vec<_>>>().ok_or("what follows the key must be WORD=VALUE")?;
    Ok(Entry { name: name.to_owned(), key, grants })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const ONE: &str = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
    const TWO: &str = "10112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    #[test]
    fn lines_say_name_key_and_grants() {
        let entries = parse(&format!("# keys\n\n build  {ONE} memory=8g connections=12 \n\tci.2 {TWO}\n")).unwrap();
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(entries.iter().map(|entry| &entry.name[..]).collect::<Vec<_>>(), ["build", "ci.2"]);
        assert_eq!(entries[0].grants, [of("memory", "8g"), of("connections", "12")]);
        assert!(entries[1].grants.is_empty());
        assert_eq!(entries[0].key.id(), Key::from_hex(&ONE.to_lowercase()).unwrap().id());
    }

    #[test]
    fn what_is_wrong_is_named_without_the_key() {
        for (text, line, what) in [
            (format!("{ONE}\n"), 1, "there is only one word"),
            (format!("\na b/c\nd {ONE}"), 2, "the second word is not 64 hexadecimal digits"),
            (format!("a {}\n", &ONE[1..]), 1, "the second word is not 64 hexadecimal digits"),
            (format!("a {ONE}0\n"), 1, "the second word is not 64 hexadecimal digits"),
            (format!("a/b {ONE}\n"), 1, "the name may have 32 letters, digits, dots, hyphens and underscores"),
            (format!("a {ONE} 8g\n"), 1, "what follows the key must be WORD=VALUE"),
            (format!("a {ONE} memory=\n"), 1, "what follows the key must be WORD=VALUE"),
            (format!("a {ONE}\na {TWO}\n"), 2, "the name has been given before"),
            (format!("a {ONE}\nb {}\n", ONE.to_lowercase()), 2, "the key has been given before"),
        ] {
            assert_eq!(parse(&text).unwrap_err(), (line, what), "{text:?}");
        }
    }

    /// A file with a key that nobody else may read.
    fn private(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("lull-far-key-{name}-{}", std::process::id()));
        std::fs::write(&path, format!("a {ONE}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// Whoever it belongs to can put another key there: a server of root's, or of a service's user, takes none of somebody else's.
    #[test]
    fn a_key_of_another_user_is_refused() {
        for (owner, own, right) in [(0, 0, true), (0, 990, true), (990, 990, true), (1000, 990, false), (1000, 0, false)] {
            assert_eq!(is_of(owner, own), right, "of {owner}, read by {own}");
        }
        let path = private("owner");
        assert!(read_one(&path).is_ok());
        // Only root can give a file away.
        if std::os::unix::fs::chown(&path, Some(1000), None).is_ok() && rustix::process::geteuid().is_root() {
            let text = read_one(&path).unwrap_err().to_string();
            assert!(text.contains("belongs to the user 1000") && text.contains("chown it to 0 or to root"), "{text}");
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn only_the_owner_may_read_a_key() {
        for (mode, owner, group, private) in [
            (0o600, 1000, 1000, true),
            (0o400, 1000, 1000, true),
            (0o700, 0, 0, true),
            (0o640, 1000, 1000, false),
            (0o640, 0, 1000, false),
            (0o604, 0, 0, false),
            (0o440, 0, 0, true),
            (0o460, 0, 0, false),
            (0o660, 0, 0, false),
            (0o602, 1000, 1000, false),
        ] {
            assert_eq!(is_private(mode, owner, group), private, "{mode:o} of {owner}:{group}");
        }
        let path = private("mode");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let text = read_one(&path).unwrap_err().to_string();
        assert!(text.contains("has the mode 0644") && text.contains("chmod 600") && !text.contains(&ONE[..8]), "{text}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read_one(&path).unwrap().id(), Key::from_hex(ONE).unwrap().id());
        std::fs::write(&path, format!("a {ONE}\nb {TWO}\n")).unwrap();
        assert!(read_one(&path).unwrap_err().to_string().contains("has 2 keys; a client's has one"));
        std::fs::write(&path, "# nothing\n").unwrap();
        assert!(read_all(&path).unwrap_err().to_string().contains("has no key; a line is NAME KEY"));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(read_one(&path), Err(FileError::Read(..))));
        assert!(matches!(read_one(Path::new("/")), Err(FileError::NotAFile(_))));
    }
}
