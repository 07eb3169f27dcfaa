// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The file's format, as `include/lull_stall.h` documents it. A test compares the two.

use std::mem::{offset_of, size_of};

/// "LULSTALL" in memory order.
pub const MAGIC: u64 = u64::from_le_bytes(*b"LULSTALL");
/// The format's version.
pub const VERSION: u32 = 1;

/// Bits of [`Header::fields`].
pub mod fields {
    #![allow(missing_docs)]
    pub const IO: u32 = 1 << 0;
    pub const SLEEPS: u32 = 1 << 1;
    pub const REFAULT: u32 = 1 << 2;
    pub const BLOCKED: u32 = 1 << 3;
    pub const ASYNC: u32 = 1 << 4;
    pub const RUNQUEUE: u32 = 1 << 5;
    pub const READ_BYTES: u32 = 1 << 6;
    pub const MAJOR_FAULTS: u32 = 1 << 7;
    pub const ROWS: u32 = 1 << 8;
}

/// Bits of [`Header::flags`].
pub mod flags {
    #![allow(missing_docs)]
    pub const ENDED: u32 = 1 << 0;
    pub const ROWS_FULL: u32 = 1 << 1;
    pub const STOPPED: u32 = 1 << 2;
}

/// What has been counted, of a thread or of the process. Times in nanoseconds; the header file says what each is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Counts {
    pub io_ns: u64,
    pub io_sleeps: u64,
    pub refault_ns: u64,
    pub blocked_ns: u64,
    pub async_ns: u64,
    pub runqueue_ns: u64,
}

/// The file's beginning.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Header {
    pub magic: u64,
    pub version: u32,
    pub header_size: u32,
    pub row_size: u32,
    pub row_capacity: u32,
    pub pid: u32,
    pub source: u32,
    pub process_start: u64,
    pub period_ns: u64,
    pub fields: u32,
    pub flags: u32,
    pub sequence: u64,
    pub updated_ns: u64,
    pub total: Counts,
    pub read_bytes: u64,
    pub major_faults: u64,
    pub rows: u32,
    pub reserved: u32,
}

/// One thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Row {
    pub host_tid: u32,
    pub tid: u32,
    pub counts: Counts,
}

/// In words of 8 bytes, of which the whole file is made.
pub(crate) const HEADER_WORDS: usize = size_of::<Header>() / 8;
pub(crate) const ROW_WORDS: usize = size_of::<Row>() / 8;
pub(crate) const SEQUENCE_WORD: usize = offset_of!(Header, sequence) / 8;

/// The words of a header.
pub(crate) fn header_words(header: &Header) -> [u64; HEADER_WORDS] {
    // SAFETY: both are plain numbers of the same size, without padding (the test of the layout sees to that).
    unsafe { std::mem::transmute(*header) }
}

/// A header of its words.
pub(crate) fn header_of(words: [u64; HEADER_WORDS]) -> Header {
    // SAFETY: as above; any bits are valid numbers.
    unsafe { std::mem::transmute(words) }
}

/// The words of a row.
pub(crate) fn row_words(row: &Row) -> [u64; ROW_WORDS] {
    // SAFETY: as above.
    unsafe { std::mem::transmute(*row) }
}

/// A row of its words.
pub(crate) fn row_of(words: [u64; ROW_WORDS]) -> Row {
    // SAFETY: as above.
    unsafe { std::mem::transmute(words) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::process::{Command, Stdio};

    /// The C compiler is asked: a mistake in either place is an error of its.
    #[test]
    fn the_header_file_says_the_same() {
        let mut program = String::from("#include <stddef.h>\n#include \"lull_stall.h\"\n");
        let mut check = |what: &str, value: u64| {
            writeln!(program, "_Static_assert({what} == {value}, \"{what}\");").expect("strings take what is written")
        };
        check("LULL_STALL_VERSION", VERSION.into());
        check("LULL_STALL_MAGIC", MAGIC);
        check("sizeof(struct lull_stall_header)", size_of::<Header>() as u64);
        check("sizeof(struct lull_stall_row)", size_of::<Row>() as u64);
        macro_rules! offsets { ($name:literal, $type:ty, $($field:ident)*) => {
            $(check(concat!("offsetof(struct ", $name, ", ", stringify!($field), ")"), offset_of!($type, $field) as u64);)*
        } }
        offsets!("lull_stall_header", Header, magic version header_size row_size row_capacity pid source process_start period_ns fields flags
            sequence updated_ns total read_bytes major_faults rows);
        offsets!("lull_stall_row", Row, host_tid tid counts);
        offsets!("lull_stall_counts", Counts, io_ns io_sleeps refault_ns blocked_ns async_ns runqueue_ns);
        for (name, value) in [
            ("FIELD_IO", fields::IO),
            ("FIELD_SLEEPS", fields::SLEEPS),
            ("FIELD_REFAULT", fields::REFAULT),
            ("FIELD_BLOCKED", fields::BLOCKED),
            ("FIELD_ASYNC", fields::ASYNC),
            ("FIELD_RUNQUEUE", fields::RUNQUEUE),
            ("FIELD_READ_BYTES", fields::READ_BYTES),
            ("FIELD_MAJOR_FAULTS", fields::MAJOR_FAULTS),
            ("FIELD_ROWS", fields::ROWS),
            ("ENDED", flags::ENDED),
            ("ROWS_FULL", flags::ROWS_FULL),
            ("STOPPED", flags::STOPPED),
        ] {
            check(&format!("LULL_STALL_{name}"), value.into());
        }
        for source in crate::Source::ALL {
            check(&format!("LULL_STALL_{}", source.name().to_uppercase()), source as u64);
        }
        let mut compiler = Command::new("cc")
            .args(["-xc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-I", concat!(env!("CARGO_MANIFEST_DIR"), "/include"), "-"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("the C compiler that Rust links with runs");
        std::io::Write::write_all(&mut compiler.stdin.take().expect("it is piped"), program.as_bytes()).expect("the compiler reads");
        assert!(compiler.wait().expect("the compiler ends").success());
    }
}
