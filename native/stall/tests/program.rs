// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The program's file where the system is not as it should be: another umask, a full disk, a log that nobody reads.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is watched, and a directory for the file.
struct Watched {
    process: Child,
    directory: PathBuf,
}

impl Watched {
    fn start(test: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("lull-stall-program-{test}-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        Self { process: Command::new("sleep").arg("600").spawn().unwrap(), directory }
    }

    fn file(&self) -> PathBuf {
        self.directory.join("file")
    }

    /// The command line, for a shell.
    fn sensor(&self) -> String {
        let (program, pid) = (env!("CARGO_BIN_EXE_lull-stall"), self.process.id());
        format!("'{program}' --pid {pid} --source faults --period 5 --map '{}'", self.file().display())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn wait(mut condition: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !condition() {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
    true
}

#[test]
fn all_may_read_the_file_whatever_the_umask() {
    let mut watched = Watched::start("umask");
    let mut sensor = Command::new("sh").args(["-c", &format!("umask 077; exec {}", watched.sensor())]).spawn().unwrap();
    let there = wait(|| watched.file().exists());
    let mode = fs::metadata(watched.file()).map(|metadata| metadata.permissions().mode() & 0o777);
    watched.process.kill().unwrap();
    assert!(sensor.wait().unwrap().success() && there);
    assert_eq!(mode.unwrap(), 0o644);
}

#[test]
fn a_log_that_cannot_be_written_does_not_end_the_sensor() {
    let mut watched = Watched::start("log");
    let mut sensor = Command::new("sh").args(["-c", &format!("exec {} --print 1 > /dev/full 2>&1", watched.sensor())]).spawn().unwrap();
    let there = wait(|| watched.file().exists() || sensor.try_wait().unwrap().is_some());
    // Until it has printed.
    sleep(Duration::from_millis(1200));
    let lives = sensor.try_wait().unwrap().is_none();
    watched.process.kill().unwrap();
    assert!(sensor.wait().unwrap().success() && there && lives);
    assert!(!watched.file().exists());
}

/// On a file system whose only page is taken, in a mount namespace of the sensor's own.
#[test]
fn a_full_disk_is_an_error_and_not_a_signal() {
    let watched = Watched::start("full");
    let disk = format!("mount -t tmpfs -o size=4k none '{0}' && head -c 4096 /dev/zero > '{0}/full'", watched.directory.display());
    let isolated = |script: &str| Command::new("unshare").args(["-rm", "sh", "-c", script]).stdin(Stdio::null()).output();
    if !isolated(&disk).is_ok_and(|output| output.status.success()) {
        skip("a_full_disk_is_an_error_and_not_a_signal", "no mount namespace can be made");
        return;
    }
    let output = isolated(&format!("{disk} && timeout 5 {}", watched.sensor())).unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("No space left on device"), "{:?}: {said}", output.status);
}

/// Tests that cannot run here say so, for cargo has no word for that.
fn skip(test: &str, why: &str) {
    use std::io::Write;
    let line = format!("SKIPPED {test}: {why}\n");
    eprint!("{line}");
    if let Some(path) = std::env::var_os("LULL_SKIPPED") {
        fs::File::options().append(true).create(true).open(path).and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
    }
}
