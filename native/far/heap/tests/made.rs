// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Servers over real sockets trace heaps that were made by chance: their marks are those of the search that made them. And what is
//! wrong with a file, a mark, or a layout is said.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lull_far_heap::compare::compare;
use lull_far_heap::cycle::Servers;
use lull_far_heap::export::Export;
use lull_far_heap::made::Made;
use lull_memd::{Config, Server};

const WAIT: Duration = Duration::from_secs(20);

/// A file that is removed at the end.
struct File(PathBuf);

impl File {
    fn new(name: &str, bytes: &[u8]) -> File {
        let path = std::env::temp_dir().join(format!("lull-{name}-{}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        File(path)
    }

    fn open(&self) -> Result<Export, String> {
        Export::open(&self.0)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn addresses(count: usize) -> Vec<SocketAddr> {
    let peers = vec!["127.0.0.1".parse().unwrap()];
    let config = || Config { peers: peers.clone(), ..Config::new("127.0.0.1:0".parse().unwrap(), 32 << 20) };
    let server = || Server::start(config()).unwrap();
    (0..count).map(|_| server().address).collect()
}

#[test]
fn one_two_and_three_servers_mark_what_can_be_reached() {
    let mut sent = 0;
    for (seed, objects) in [(1, 10), (2, 3_000), (3, 12_000)] {
        let made = Made::new(seed, objects);
        let export = File::new(&format!("equal-{seed}"), &made.file()).open().unwrap();
        assert_eq!(export.marked, made.marked());
        for count in 1..=3 {
            for part in [4096, 64 << 10, 4 << 20] {
                let mut servers = Servers::load(&addresses(count), &export, part, WAIT).unwrap();
                // More than once: a cycle leaves nothing behind.
                for _ in 0..2 {
                    let traced = servers.trace(&export).unwrap();
                    let equal = compare(&export, &servers.geometry, &traced).unwrap();
                    assert_eq!(equal.objects, made.marked());
                    assert!(traced.rounds >= 2 && traced.layouts <= count * export.layouts.len());
                    sent += traced.servers.iter().map(|server| server.counts.sent).sum::<u64>();
                }
                servers.leave().unwrap();
            }
        }
    }
    assert!(sent > 20_000, "servers have sent each other only {sent}");
}

/// The comparison finds one bit that is wrong, either way.
#[test]
fn one_wrong_mark_is_found() {
    let made = Made::new(7, 2_000);
    let lost = made.reached.iter().position(|&reached| reached).unwrap();
    let dead = made.reached.iter().position(|&reached| !reached).unwrap();
    let address = addresses(2);
    for (object, by) in [(lost, "the servers have marked and the JVM has not"), (dead, "the JVM has marked and the servers have not")] {
        let mut wrong = made.clone();
        wrong.reached[object] = !wrong.reached[object];
        let export = File::new(&format!("wrong-{object}"), &wrong.file()).open().unwrap();
        let mut servers = Servers::load(&address, &export, 4096, WAIT).unwrap();
        let traced = servers.trace(&export).unwrap();
        let text = compare(&export, &servers.geometry, &traced).unwrap_err();
        let want = format!("1 objects differ; the first is {:#x}, which {by}", made.objects[object]);
        assert_eq!(text, want);
        servers.leave().unwrap();
    }
}

/// An object of a class that nobody knows, and a reference to no object.
#[test]
fn a_damaged_heap_ends_its_cycle_and_not_the_server() {
    let made = Made::new(9, 2_000);
    let address = addresses(2);
    let at = |object: u64| ((object - lull_far_heap::made::BASE) / 4) as usize;
    let mut unknown = made.clone();
    unknown.words[at(made.roots[0]) + 2] = 0x7777;
    let mut nowhere = made.clone();
    let instance = made.objects.iter().zip(&made.reached).position(|(&o, &r)| r && made.words[at(o) + 2] == made.layouts[0].klass).unwrap();
    nowhere.words[at(made.objects[instance]) + 3] = 0xFFFF_FFF0;
    for (heap, want) in [
        (&unknown, "has an object of the class 0x7777, which the export does not know"),
        (&nowhere, "TRACE_FAILED: cycle 1: the compressed reference 0xfffffff0 at 0x"),
    ] {
        let export = File::new("damaged", &heap.file()).open().unwrap();
        let mut servers = Servers::load(&address, &export, 4096, WAIT).unwrap();
        let text = servers.trace(&export).unwrap_err();
        assert!(text.starts_with("memory server 127.0.0.1:") && text.contains(want), "{text}");
    }
    let export = File::new("whole", &made.file()).open().unwrap();
    let mut servers = Servers::load(&address, &export, 4096, WAIT).unwrap();
    let traced = servers.trace(&export).unwrap();
    compare(&export, &servers.geometry, &traced).unwrap();
}

#[test]
fn what_is_no_exported_heap_is_refused() {
    let right = Made::new(5, 100).file();
    type Change = fn(&mut Vec<u8>);
    let changes: [(Change, &str); 8] = [
        (|file| file[0] = 0, "it does not start with LulHeap1"),
        (|file| file.truncate(79), "failed to fill whole buffer"),
        (|file| file.truncate(4096), "are not those that its head says"),
        (|file| file.push(0), "are not those that its head says"),
        // The shift, the roots, the layouts, the marks.
        (|file| file[32] = 4, "a number of its head is impossible"),
        (|file| file[48..56].fill(0xFF), "are not those that its head says"),
        (|file| file[40..48].fill(0xFF), "a number of its head is impossible"),
        (|file| file[56] ^= 1, "it has not as many marks as it says"),
    ];
    for (number, (change, want)) in changes.into_iter().enumerate() {
        let mut file = right.clone();
        change(&mut file);
        let text = File::new(&format!("file-{number}"), &file).open().unwrap_err();
        assert!(text.contains(want), "{number}: {text}");
    }
    assert!(Export::open(Path::new("/nowhere")).unwrap_err().contains("/nowhere: No such file"));
}
