// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The file of a heap that a JVM has exported (`jcmd PID GC.export_heap FILE`, docs/design/far-memory.md). All numbers are little-endian.
//!
//! ```text
//!  0  "LulHeap1"
//!  8  u64 address of the heap               48  u64 roots
//! 16  u64 its bytes, a multiple of 4096     56  u64 objects marked
//! 24  u64 what a compressed reference       64  u64 offset of the heap's bytes in the file, a multiple of 4096
//!     of 0 would mean                       72  8 bytes 0
//! 32  u8 shift of a compressed reference, 7 bytes 0
//! 40  u64 bytes of layouts
//! 80  the layouts, as in LAYOUT, one behind the other
//!     u64 each root
//!     a bit for each 8 bytes of the heap: what the JVM has marked. Whole bytes, the lowest bit first
//!     the heap
//! ```

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use lull_far_trace::layout::Layout;
use lull_far_trace::wire;

const MAGIC: &[u8; 8] = b"LulHeap1";

/// Bytes before the layouts.
pub const HEAD: u64 = 80;

/// Layouts of more bytes than this are taken for a damaged file.
const MOST_LAYOUTS: u64 = 256 << 20;

/// An exported heap, but for its bytes.
#[derive(Debug)]
pub struct Export {
    file: File,
    /// Address of the heap.
    pub base: u64,
    /// Its bytes.
    pub bytes: u64,
    /// What a compressed reference of 0 would mean, if it did not mean null.
    pub narrow_base: u64,
    /// By how many bits a compressed reference is shifted.
    pub narrow_shift: u8,
    /// Of all classes of which there can be objects.
    pub layouts: Vec<Layout>,
    /// Objects to trace from.
    pub roots: Vec<u64>,
    /// How many objects the JVM has marked.
    pub marked: u64,
    /// A bit for each 8 bytes: those objects.
    pub marks: Vec<u64>,
    heap: u64,
}

impl Export {
    /// Opens a file, and reads all but the heap.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn open(path: &Path) -> Result<Export, String> {
        Export::read(path).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn read(path: &Path) -> io::Result<Export> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut head = [0; HEAD as usize];
        file.read_exact_at(&mut head, 0)?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        if head[..8] != MAGIC[..] {
            return Err(wrong("it is no exported heap: it does not start with LulHeap1"));
        }
        let (base, bytes, narrow_base, layouts, roots, marked, heap) =
            (number(8), number(16), number(24), number(40), number(48), number(56), number(64));
        if number(32) > 3 || number(72) != 0 || bytes % 4096 != 0 || heap % 4096 != 0 || layouts > MOST_LAYOUTS {
            return Err(wrong("a number of its head is impossible"));
        }
        // Compared with the file's length before anything is allocated.
        let end = roots
            .checked_mul(8)
            .and_then(|roots| roots.checked_add(HEAD + layouts)?.checked_add(bytes / 64))
            .filter(|&end| end <= heap && heap.checked_add(bytes) == Some(length));
        if end.is_none() {
            return Err(wrong(&format!("its {length} bytes are not those that its head says")));
        }
        let mut layouts = vec![0; layouts as usize];
        file.read_exact_at(&mut layouts, HEAD)?;
        let after = HEAD + layouts.len() as u64;
        let roots = words(&file, after, roots)?;
        let marks = words(&file, after + 8 * roots.len() as u64, bytes / 512)?;
        let layouts = wire::decode_all_layouts(&layouts).map_err(|error| wrong(&format!("its layouts: {error}")))?;
        if marks.iter().map(|word| u64::from(word.count_ones())).sum::<u64>() != marked {
            return Err(wrong(&format!("it has not as many marks as it says, {marked}")));
        }
        Ok(Export { file, base, bytes, narrow_base, narrow_shift: head[32], layouts, roots, marked, marks, heap })
    }

    /// Bytes of the heap from an offset on.
    ///
    /// # Errors
    /// As the file.
    pub fn heap(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, self.heap + offset)
    }
}

fn wrong(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.to_owned())
}

fn words(file: &File, offset: u64, count: u64) -> io::Result<Vec<u64>> {
    let mut bytes = vec![0; count as usize * 8];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes.chunks_exact(8).map(|word| u64::from_le_bytes(std::array::from_fn(|i| word[i]))).collect())
}
