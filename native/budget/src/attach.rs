// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! HotSpot's attach mechanism, that of jcmd: flags are read and set, and collections are asked for, over a socket.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::perf_data::own_pid;

/// A JVM that has an operation under way answers late; one at a long safepoint, too.
const TIMEOUT: Duration = Duration::from_secs(30);
const PROTOCOL: &str = "1";

/// A JVM that listens.
#[derive(Debug)]
pub struct Attach {
    socket: PathBuf,
}

impl Attach {
    /// Wakes the JVM's listener, if it does not listen yet. An error says what is in the way.
    pub fn to(pid: u32) -> Result<Self, String> {
        let own = own_pid(pid).ok_or(format!("process {pid}: /proc/{pid}/status cannot be read"))?;
        let temporary = PathBuf::from(format!("/proc/{pid}/root/tmp"));
        let socket = temporary.join(format!(".java_pid{own}"));
        if is_socket(&socket) {
            return Ok(Self { socket });
        }
        // A JVM that finds this file at a SIGQUIT listens; one that does not, prints its threads.
        let wish = temporary.join(format!(".attach_pid{own}"));
        File::create(&wish).map_err(|error| format!("{}: {error}", wish.display()))?;
        // SAFETY: numbers only.
        let sent = unsafe { libc::kill(pid as libc::pid_t, libc::SIGQUIT) };
        let mut patience = TIMEOUT;
        while sent == 0 && !is_socket(&socket) && !patience.is_zero() {
            sleep(Duration::from_millis(50));
            patience = patience.saturating_sub(Duration::from_millis(50));
        }
        let _ = fs::remove_file(&wish);
        if is_socket(&socket) {
            Ok(Self { socket })
        } else {
            Err(format!("process {pid} does not listen at {}: is attaching disabled?", socket.display()))
        }
    }

    /// What the JVM answers.
    pub fn execute(&self, command: &str, arguments: [&str; 3]) -> Result<String, String> {
        let failed = |error: std::io::Error| format!("{command} {}: {error}", arguments.join(" "));
        let mut stream = UnixStream::connect(&self.socket).map_err(failed)?;
        stream.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
        let request = [&[PROTOCOL, command], &arguments[..]].concat().iter().map(|part| format!("{part}\0")).collect::<String>();
        stream.write_all(request.as_bytes()).map_err(failed)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(failed)?;
        let (status, text) = answer.split_once('\n').unwrap_or((&answer, ""));
        if status.trim() == "0" {
            Ok(text.to_owned())
        } else {
            Err(format!("{command} {}: the JVM says {}", arguments.join(" "), answer.trim()))
        }
    }

    /// A flag's value, if the JVM has such a flag.
    pub fn flag(&self, name: &str) -> Option<String> {
        // -XX:Name=value, -XX:+Name or -XX:-Name
        let text = self.execute("printflag", [name, "", ""]).ok()?;
        let flag = text.trim().strip_prefix("-XX:")?;
        match flag.split_once('=') {
            Some((_, value)) => Some(value.to_owned()),
            None => flag.chars().next().map(|sign| (sign == '+').to_string()),
        }
    }

    /// The same of a flag that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.flag(name)?.parse().ok()
    }

    /// The same of a flag that is on or off.
    pub fn is_on(&self, name: &str) -> bool {
        self.flag(name).as_deref() == Some("true")
    }

    /// Manageable flags only.
    pub fn set_flag(&self, name: &str, value: u64) -> Result<(), String> {
        self.execute("setflag", [name, &value.to_string(), ""]).map(|_| ())
    }

    /// As System.gc().
    pub fn collect(&self) -> Result<(), String> {
        self.execute("jcmd", ["GC.run", "", ""]).map(|_| ())
    }
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn answering(answer: &'static str) -> (Attach, std::thread::JoinHandle<String>) {
        let name = format!("lull-budget-attach-{}-{:?}", std::process::id(), std::thread::current().id());
        let socket = std::env::temp_dir().join(name);
        let listener = UnixListener::bind(&socket).unwrap();
        let attach = Attach { socket: socket.clone() };
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

    #[test]
    fn flags_are_asked_for_as_jcmd_does() {
        let (attach, server) = answering("0\n-XX:SoftMaxHeapSize=12345\n");
        assert_eq!(attach.number("SoftMaxHeapSize"), Some(12345));
        assert_eq!(server.join().unwrap(), "1\0printflag\0SoftMaxHeapSize\0\0\0");
    }

    #[test]
    fn switches_are_on_or_off() {
        let (attach, server) = answering("0\n-XX:-UseZGC\n");
        assert!(!attach.is_on("UseZGC"));
        server.join().unwrap();
        let (attach, server) = answering("0\n-XX:+UseZGC\n");
        assert!(attach.is_on("UseZGC"));
        server.join().unwrap();
    }

    #[test]
    fn a_refusal_is_an_error_with_the_words_of_the_jvm() {
        let (attach, server) = answering("100\nflag 'GCTimeRatio' cannot be changed\n");
        assert!(attach.set_flag("GCTimeRatio", 4).unwrap_err().contains("cannot be changed"));
        assert_eq!(server.join().unwrap(), "1\0setflag\0GCTimeRatio\x004\0\0");
    }
}
