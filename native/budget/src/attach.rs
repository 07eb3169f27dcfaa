// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! HotSpot's attach mechanism, that of jcmd: flags are read and set, and collections are asked for, over a socket.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lull_stall::PidFd;

use crate::process::Status;
use crate::temporary::Temporary;

/// A JVM that has an operation under way answers late; one at a long safepoint, too.
const TIMEOUT: Duration = Duration::from_secs(30);
const PROTOCOL: &str = "1";
/// More than all that is asked for here.
const LONGEST_ANSWER: usize = 1 << 20;

/// A JVM that listens.
#[derive(Debug)]
pub struct Attach {
    socket: PathBuf,
    /// As whom the JVM runs.
    user: u32,
    patience: Duration,
    /// Where the socket is.
    _temporary: Option<Temporary>,
}

/// Why a command was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The JVM says so: it does not know the flag, or it does not permit it.
    Refused(String),
    /// It has not answered in time. It has the command, and may do it yet.
    Late(String),
    /// It could not be asked, or went away.
    Lost(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(text) | Self::Late(text) | Self::Lost(text)) = self;
        formatter.write_str(text)
    }
}

impl From<Failure> for String {
    fn from(failure: Failure) -> Self {
        failure.to_string()
    }
}

impl Attach {
    /// Wakes the JVM's listener, if it does not listen yet. An error says what is in the way.
    pub fn to(pid: u32) -> Result<Self, String> {
        // What is looked at behind this is of the process that gets the signal.
        let process = PidFd::open(pid);
        let status = Status::of(pid)?;
        let process = process?;
        let shown = format!("/proc/{pid}/root/tmp");
        let temporary = Temporary::of(pid).map_err(|error| format!("{shown}: {error}"))?;
        let path = temporary.path();
        let socket = path.join(format!(".java_pid{}", status.own_pid));
        let in_words = |text: String| text.replace(&path.display().to_string(), &shown);
        if !listens(&socket, status.user).map_err(in_words)? {
            let wish = path.join(format!(".attach_pid{}", status.own_pid));
            wake(pid, &process, &status, &socket, &wish).map_err(in_words)?;
        }
        Ok(Self { socket, user: status.user, patience: TIMEOUT, _temporary: Some(temporary) })
    }

    /// What the JVM answers.
    pub fn execute(&self, command: &str, arguments: [&str; 3]) -> Result<String, Failure> {
        let what = || format!("{command} {}", arguments.join(" ").trim_end());
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                Failure::Late(format!("{}: the JVM has not answered in {:?}", what(), self.patience))
            }
            _ => Failure::Lost(format!("{}: {error}", what())),
        };
        let mut stream = UnixStream::connect(&self.socket).map_err(failed)?;
        // The socket that was looked at may be another one by now.
        let user = peer(&stream).map_err(failed)?;
        if ![0, self.user].contains(&user) {
            return Err(Failure::Lost(format!("{}: user {user} listens there, but the JVM's user is {}", what(), self.user)));
        }
        stream.set_read_timeout(Some(self.patience)).map_err(failed)?;
        let request = [&[PROTOCOL, command], &arguments[..]].concat().iter().map(|part| format!("{part}\0")).collect::<String>();
        stream.write_all(request.as_bytes()).map_err(failed)?;
        let answer = read_all(&mut stream, self.patience).map_err(failed)?;
        match answer.split_once('\n') {
            Some((status, text)) if status.trim() == "0" => Ok(text.to_owned()),
            Some(_) => Err(Failure::Refused(format!("{}: the JVM says {}", what(), answer.trim()))),
            None => Err(Failure::Lost(format!("{}: the JVM has hung up without an answer", what()))),
        }
    }

    /// A flag's value, if the JVM has such a flag. A JVM that does not answer may have it.
    pub fn flag(&self, name: &str) -> Result<Option<String>, Failure> {
        // -XX:Name=value, -XX:+Name or -XX:-Name
        let text = match self.execute("printflag", [name, "", ""]) {
            Err(Failure::Refused(_)) => return Ok(None),
            answered => answered?,
        };
        let Some(flag) = text.trim().strip_prefix("-XX:") else { return Ok(None) };
        Ok(match flag.split_once('=') {
            Some((_, value)) => Some(value.to_owned()),
            None => flag.chars().next().map(|sign| (sign == '+').to_string()),
        })
    }

    /// The same of a flag that is a number.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Failure> {
        Ok(self.flag(name)?.and_then(|value| value.parse().ok()))
    }

    /// The same of a flag that is on or off.
    pub fn is_on(&self, name: &str) -> Result<bool, Failure> {
        Ok(self.flag(name)?.as_deref() == Some("true"))
    }

    /// Manageable flags only.
    pub fn set_flag(&self, name: &str, value: u64) -> Result<(), Failure> {
        self.execute("setflag", [name, &value.to_string(), ""]).map(|_| ())
    }

    /// As System.gc(). The JVM answers when the collection has ended, a concurrent one, too.
    pub fn collect(&self) -> Result<(), Failure> {
        self.execute("jcmd", ["GC.run", "", ""]).map(|_| ())
    }

    /// For tests, whose JVM is a socket.
    #[cfg(test)]
    pub(crate) fn at(socket: PathBuf, patience: Duration) -> Self {
        // SAFETY: it only answers.
        Self { socket, user: unsafe { libc::geteuid() }, patience, _temporary: None }
    }
}

/// All that comes until the end, which must be in time and no more than a flag or a list of them can be: whoever is there may not be a JVM.
fn read_all(stream: &mut UnixStream, patience: Duration) -> io::Result<String> {
    let (deadline, mut answer, mut buffer) = (Instant::now() + patience, Vec::new(), [0; 4096]);
    loop {
        // The socket's own limit is for each piece.
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let count = match stream.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        };
        if count == 0 {
            return String::from_utf8(answer).map_err(|_| io::Error::new(ErrorKind::InvalidData, "the answer is not text"));
        }
        answer.extend_from_slice(&buffer[..count]);
        if answer.len() > LONGEST_ANSWER {
            let text = format!("the answer has more than {LONGEST_ANSWER} bytes: is it a JVM?");
            return Err(io::Error::new(ErrorKind::InvalidData, text));
        }
    }
}

/// As whom the other side of a socket has begun to listen.
fn peer(stream: &UnixStream) -> io::Result<u32> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: a structure of that size.
    let failed =
        unsafe { libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut found).cast(), &raw mut size) };
    if failed == 0 { Ok(found.uid) } else { Err(io::Error::last_os_error()) }
}

/// A JVM that finds the wish at a SIGQUIT listens; one that does not, prints its threads.
fn wake(pid: u32, process: &PidFd, status: &Status, socket: &Path, wish: &Path) -> Result<(), String> {
    if !status.catches_quit {
        return Err(format!(
            "process {pid} has no handler for SIGQUIT, which would end it, and cannot be attached to: is it a JVM with -XX:+DisableAttachMechanism?"
        ));
    }
    make_wish(wish).map_err(|error| format!("{}: {error}", wish.display()))?;
    let is_sent = process.signal(libc::SIGQUIT).is_ok();
    let (mut patience, mut answer) = (TIMEOUT, Ok(false));
    while is_sent && answer == Ok(false) && !patience.is_zero() {
        sleep(Duration::from_millis(50));
        patience = patience.saturating_sub(Duration::from_millis(50));
        answer = listens(socket, status.user);
    }
    let _ = fs::remove_file(wish);
    if answer? { Ok(()) } else { Err(format!("process {pid} does not listen at {}: is attaching disabled?", socket.display())) }
}

/// Makes the file, not through a link: somebody else may have put it there, and it may lead to any file of this process's root.
fn make_wish(path: &Path) -> io::Result<()> {
    match File::create_new(path) {
        // Another program attaches, too.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && fs::symlink_metadata(path)?.is_file() => Ok(()),
        made => made.map(drop),
    }
}

/// Whether the socket is there. Anybody could have made it: one that is neither the JVM's user's nor root's is an error.
fn listens(socket: &Path, user: u32) -> Result<bool, String> {
    match fs::symlink_metadata(socket) {
        Ok(metadata) if !metadata.file_type().is_socket() => Ok(false),
        Ok(metadata) if ![0, user].contains(&metadata.uid()) => {
            Err(format!("{} belongs to user {}, but the JVM's user is {user}", socket.display(), metadata.uid()))
        }
        found => Ok(found.is_ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{chown, symlink};
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    fn temporary(what: &str) -> PathBuf {
        std::env::temp_dir().join(format!("lull-budget-{what}-{}-{:?}", std::process::id(), std::thread::current().id()))
    }

    fn answering(answer: &'static str) -> (Attach, std::thread::JoinHandle<String>) {
        let socket = temporary("attach");
        let listener = UnixListener::bind(&socket).unwrap();
        let attach = Attach::at(socket.clone(), TIMEOUT);
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while request.iter().filter(|byte| **byte == 0).count() < 5 {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
            fs::remove_file(socket).unwrap();
            String::from_utf8(request).unwrap()
        });
        (attach, server)
    }

    /// Whoever pretends to be a JVM takes neither the controller's memory nor its time.
    #[test]
    fn an_answer_without_an_end_is_given_up() {
        for (piece, pause, want) in
            [(vec![b'x'; 1 << 16], Duration::ZERO, "bytes: is it a JVM?"), (vec![b'x'], Duration::from_millis(20), "")]
        {
            let socket = temporary("endless");
            let listener = UnixListener::bind(&socket).unwrap();
            let attach = Attach::at(socket.clone(), if pause.is_zero() { TIMEOUT } else { Duration::from_millis(300) });
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut sent = 0;
                while sent < 64 << 20 && stream.write_all(&piece).is_ok() {
                    sent += piece.len();
                    sleep(pause);
                }
                sent
            });
            match attach.execute("jcmd", ["GC.run", "", ""]) {
                Err(Failure::Lost(text)) if !want.is_empty() => assert!(text.ends_with(want), "{text}"),
                Err(Failure::Late(_)) if want.is_empty() => {}
                other => panic!("{other:?}"),
            }
            assert!(server.join().unwrap() < 8 << 20, "all was read");
            fs::remove_file(socket).unwrap();
        }
    }

    #[test]
    fn flags_are_asked_for_as_jcmd_does() {
        let (attach, server) = answering("0\n-XX:SoftMaxHeapSize=12345\n");
        assert_eq!(attach.number("SoftMaxHeapSize"), Ok(Some(12345)));
        assert_eq!(server.join().unwrap(), "1\0printflag\0SoftMaxHeapSize\0\0\0");
    }

    #[test]
    fn switches_are_on_or_off() {
        let (attach, server) = answering("0\n-XX:-UseZGC\n");
        assert_eq!(attach.is_on("UseZGC"), Ok(false));
        server.join().unwrap();
        let (attach, server) = answering("0\n-XX:+UseZGC\n");
        assert_eq!(attach.is_on("UseZGC"), Ok(true));
        server.join().unwrap();
    }

    #[test]
    fn a_refusal_is_an_error_with_the_words_of_the_jvm() {
        let (attach, server) = answering("100\nflag 'GCTimeRatio' cannot be changed\n");
        assert!(matches!(attach.set_flag("GCTimeRatio", 4), Err(Failure::Refused(why)) if why.contains("cannot be changed")));
        assert_eq!(server.join().unwrap(), "1\0setflag\0GCTimeRatio\x004\0\0");
    }

    #[test]
    fn a_jvm_that_does_not_answer_may_have_the_flag() {
        let (attach, server) = answering("1\nno such flag 'UseLullGC'\n");
        assert_eq!(attach.flag("UseLullGC"), Ok(None));
        server.join().unwrap();
        let (attach, server) = answering("");
        assert!(matches!(attach.flag("UseZGC"), Err(Failure::Lost(why)) if why.contains("hung up")));
        server.join().unwrap();

        let socket = temporary("silent");
        let listener = UnixListener::bind(&socket).unwrap();
        let attach = Attach::at(socket.clone(), Duration::from_millis(20));
        let why = "printflag UseZGC: the JVM has not answered in 20ms";
        assert_eq!(attach.flag("UseZGC"), Err(Failure::Late(why.to_owned())));
        drop(listener);
        assert!(matches!(attach.flag("UseZGC"), Err(Failure::Lost(why)) if why.contains("refused")));
        fs::remove_file(socket).unwrap();
    }

    #[test]
    fn a_wish_is_made_through_no_link() {
        let (wish, victim) = (temporary("wish"), temporary("victim"));
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, &wish).unwrap();
        assert_eq!(make_wish(&wish).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        fs::remove_file(&wish).unwrap();
        fs::remove_file(&victim).unwrap();
        // Nor is one made where it leads to nothing.
        symlink(&victim, &wish).unwrap();
        assert!(make_wish(&wish).is_err() && !victim.exists());
        fs::remove_file(&wish).unwrap();
        for _ in 0..2 {
            make_wish(&wish).unwrap();
        }
        fs::remove_file(wish).unwrap();
    }

    #[test]
    fn a_process_without_a_handler_is_not_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(Attach::to(child.id()).unwrap_err().contains("SIGQUIT"));
        sleep(Duration::from_millis(100));
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Somebody else's socket has come into the place of the one that was looked at.
    #[test]
    fn a_socket_that_was_swapped_is_not_spoken_to() {
        const OTHER: u32 = 4712;
        let socket = temporary("swapped");
        let place = socket.clone();
        let bound = std::thread::spawn(move || {
            // SAFETY: numbers, of this thread only. Root alone may do so.
            let is_other = unsafe { libc::syscall(libc::SYS_setresuid, -1, OTHER, -1) } == 0;
            is_other.then(|| UnixListener::bind(place).unwrap())
        });
        let Some(listener) = bound.join().unwrap() else { return };
        let attach = Attach::at(socket.clone(), TIMEOUT);
        match attach.execute("jcmd", ["GC.run", "", ""]) {
            Err(Failure::Lost(text)) => assert!(text.contains(&format!("user {OTHER} listens there")), "{text}"),
            other => panic!("{other:?}"),
        }
        let mut heard = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut heard).unwrap();
        assert!(heard.is_empty(), "{heard:?}");
        fs::remove_file(socket).unwrap();
    }

    #[test]
    fn a_socket_of_somebody_else_is_not_spoken_to() {
        let socket = temporary("owner");
        assert_eq!(listens(&socket, 4711), Ok(false));
        let _listener = UnixListener::bind(&socket).unwrap();
        let mut owner = fs::metadata(&socket).unwrap().uid();
        if owner == 0 {
            // Root's own is always trusted.
            assert_eq!(listens(&socket, 4711), Ok(true));
            owner = 4712;
            chown(&socket, Some(owner), None).unwrap();
        }
        assert_eq!(listens(&socket, owner), Ok(true));
        assert!(listens(&socket, owner + 1).unwrap_err().contains("belongs to user"));
        fs::remove_file(socket).unwrap();
    }
}
