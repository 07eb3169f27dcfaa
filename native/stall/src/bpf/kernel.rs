// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The system call bpf(2): maps, a program, and what is in a map. Only what the sensor needs.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const MAP_CREATE: i32 = 0;
const MAP_DELETE_ELEM: i32 = 3;
const PROG_LOAD: i32 = 5;
const RAW_TRACEPOINT_OPEN: i32 = 17;
const MAP_LOOKUP_BATCH: i32 = 24;

const MAP_TYPE_HASH: u32 = 1;
const MAP_TYPE_ARRAY: u32 = 2;
const F_MMAPABLE: u32 = 1 << 10;
const PROG_TYPE_TRACING: u32 = 26;
const ATTACH_TRACE_RAW_TP: u32 = 23;

// The beginnings of the variants of union bpf_attr; the kernel takes what is behind as 0.
#[repr(C)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
    inner_map_fd: u32,
    numa_node: u32,
    map_name: [u8; 16],
}

#[repr(C)]
#[derive(Default)]
struct MapElem {
    map_fd: u32,
    reserved: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct MapBatch {
    in_batch: u64,
    out_batch: u64,
    keys: u64,
    values: u64,
    count: u32,
    map_fd: u32,
    elem_flags: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct ProgLoad {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
    prog_name: [u8; 16],
    prog_ifindex: u32,
    expected_attach_type: u32,
    prog_btf_fd: u32,
    func_info_rec_size: u32,
    func_info: u64,
    func_info_cnt: u32,
    line_info_rec_size: u32,
    line_info: u64,
    line_info_cnt: u32,
    attach_btf_id: u32,
}

#[repr(C)]
struct RawTracepointOpen {
    name: u64,
    prog_fd: u32,
    reserved: u32,
}

fn bpf<T>(command: i32, attributes: &mut T) -> io::Result<i32> {
    // SAFETY: the attributes are of the command, and all pointers in them are to memory that lives longer than the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
}

fn bpf_fd<T>(command: i32, attributes: &mut T) -> io::Result<OwnedFd> {
    let fd = bpf(command, attributes)?;
    // SAFETY: these commands answer with a new descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn name(text: &str) -> [u8; 16] {
    let mut name = [0; 16];
    name[..text.len()].copy_from_slice(text.as_bytes());
    name
}

/// The kernel copies whole buckets: one may be more than what is left, if nothing is.
const SLACK: usize = 64;

/// A hash from numbers of 4 bytes to values of type T.
#[derive(Debug)]
pub struct HashMap<T> {
    fd: OwnedFd,
    entries: usize,
    keys: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy + Default> HashMap<T> {
    pub fn create(text: &str, entries: usize) -> io::Result<Self> {
        let mut attributes = MapCreate {
            map_type: MAP_TYPE_HASH,
            key_size: 4,
            value_size: size_of::<T>() as u32,
            max_entries: entries as u32,
            map_flags: 0,
            inner_map_fd: 0,
            numa_node: 0,
            map_name: name(text),
        };
        let fd = bpf_fd(MAP_CREATE, &mut attributes)?;
        Ok(Self { fd, entries, keys: vec![0; entries + SLACK], values: vec![T::default(); entries + SLACK] })
    }

    pub fn fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    pub fn entries(&self) -> usize {
        self.entries
    }

    /// All that is in it.
    pub fn read(&mut self) -> io::Result<impl Iterator<Item = (u32, &T)>> {
        let (mut have, mut batch, mut first) = (0, 0_u32, true);
        loop {
            let mut next = 0_u32;
            let mut attributes = MapBatch {
                in_batch: if first { 0 } else { std::ptr::from_ref(&batch) as u64 },
                out_batch: std::ptr::from_mut(&mut next) as u64,
                keys: self.keys[have..].as_mut_ptr() as u64,
                values: self.values[have..].as_mut_ptr() as u64,
                count: (self.keys.len() - have) as u32,
                map_fd: self.fd.as_raw_fd() as u32,
                elem_flags: 0,
                flags: 0,
            };
            let result = bpf(MAP_LOOKUP_BATCH, &mut attributes);
            match result {
                Ok(_) => have += attributes.count as usize,
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                    have += attributes.count as usize;
                    break;
                }
                Err(error) => return Err(error),
            }
            (batch, first) = (next, false);
        }
        Ok(self.keys[..have].iter().copied().zip(&self.values[..have]))
    }

    /// Nothing happens if it is not there.
    pub fn remove(&self, key: u32) {
        let mut attributes = MapElem { map_fd: self.fd.as_raw_fd() as u32, key: std::ptr::from_ref(&key) as u64, ..MapElem::default() };
        let _ = bpf(MAP_DELETE_ELEM, &mut attributes);
    }
}

/// An array of one value, which is mapped.
#[derive(Debug)]
pub struct SharedValue {
    fd: OwnedFd,
    map: memmap2::Mmap,
}

impl SharedValue {
    pub fn create(text: &str, size: usize) -> io::Result<Self> {
        let mut attributes = MapCreate {
            map_type: MAP_TYPE_ARRAY,
            key_size: 4,
            value_size: size as u32,
            max_entries: 1,
            map_flags: F_MMAPABLE,
            inner_map_fd: 0,
            numa_node: 0,
            map_name: name(text),
        };
        let fd = bpf_fd(MAP_CREATE, &mut attributes)?;
        // SAFETY: the map's memory lives as long as its descriptor and the mapping; it is read as atomic words.
        let map = unsafe { memmap2::MmapOptions::new().len(size).map(fd.as_raw_fd())? };
        Ok(Self { fd, map })
    }

    pub fn fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// Words of 8 bytes, each as it is now.
    pub fn word(&self, offset: usize) -> u64 {
        use std::sync::atomic::{AtomicU64, Ordering};
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.map.len());
        // SAFETY: within the mapping, and aligned.
        unsafe { (*self.map.as_ptr().add(offset).cast::<AtomicU64>()).load(Ordering::Relaxed) }
    }
}

/// Loads a program for a tracepoint with typed arguments. An error has the last lines of what the kernel's verifier says.
pub fn load_tracing(text: &str, code: &[u64], attach_btf_id: u32) -> Result<OwnedFd, String> {
    let license = c"GPL";
    let mut attributes = ProgLoad {
        prog_type: PROG_TYPE_TRACING,
        insn_cnt: code.len() as u32,
        insns: code.as_ptr() as u64,
        license: license.as_ptr() as u64,
        prog_name: name(text),
        expected_attach_type: ATTACH_TRACE_RAW_TP,
        attach_btf_id,
        ..ProgLoad::default()
    };
    bpf_fd(PROG_LOAD, &mut attributes).map_err(|error| {
        // Once more, with its words.
        let mut log = vec![0_u8; 1 << 20];
        attributes.log_level = 1;
        attributes.log_size = log.len() as u32;
        attributes.log_buf = log.as_mut_ptr() as u64;
        let _ = bpf_fd(PROG_LOAD, &mut attributes);
        let words = String::from_utf8_lossy(log.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned();
        let lines: Vec<&str> = words.lines().filter(|line| !line.starts_with("processed ")).collect();
        let last = lines[lines.len().saturating_sub(3)..].join(" | ");
        if last.is_empty() { format!("bpf(BPF_PROG_LOAD): {error}") } else { format!("bpf(BPF_PROG_LOAD): {error}; the verifier: {last}") }
    })
}

/// The program runs from now on, until what is returned is closed.
pub fn attach_tracing(program: &OwnedFd) -> io::Result<OwnedFd> {
    bpf_fd(RAW_TRACEPOINT_OPEN, &mut RawTracepointOpen { name: 0, prog_fd: program.as_raw_fd() as u32, reserved: 0 })
}
