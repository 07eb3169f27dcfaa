// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The pager: maps ranges of memory whose pages live on memory servers, with a hard bound on what is local
//! (`docs/design/far-memory.md`). Linux on x86-64. For C: `native/far/include/lull_far.h`.
//!
//! Policy and mechanism: [`kernel`] is what can be done to pages, [`page`] what may follow on what, `fault` and `evict` do it;
//! [`stream`] decides what to read ahead, the evictor's queues what to drop.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("the pager is written for Linux on x86-64");

pub mod kept;
pub mod life;
pub mod page;
pub mod passing;
pub mod queue;
pub mod room;
mod stream;
mod sync;
pub mod version;
pub mod windows;

#[cfg(not(loom))]
pub mod clean;
#[cfg(not(loom))]
pub mod descriptors;
#[cfg(not(loom))]
mod dirty;
#[cfg(not(loom))]
mod evict;
#[cfg(not(loom))]
mod fault;
#[cfg(not(loom))]
pub mod ffi;
#[cfg(not(loom))]
pub mod ffi_owner;
#[cfg(not(loom))]
pub mod ffi_tracer;
#[cfg(not(loom))]
mod keeper;
#[cfg(not(loom))]
pub mod kernel;
#[cfg(not(loom))]
pub mod last_words;
#[cfg(not(loom))]
pub mod launch;
#[cfg(not(loom))]
pub mod layout;
#[cfg(not(loom))]
mod link;
#[cfg(not(loom))]
mod mapping;
#[cfg(not(loom))]
pub mod options;
#[cfg(not(loom))]
pub mod owner;
#[cfg(not(loom))]
pub mod pager;
#[cfg(not(loom))]
mod ranges;
#[cfg(not(loom))]
mod record;
#[cfg(not(loom))]
mod restore;
#[cfg(not(loom))]
mod retry;
#[cfg(not(loom))]
pub mod seal;
#[cfg(not(loom))]
mod send;
#[cfg(not(loom))]
pub mod signal;
#[cfg(not(loom))]
mod spare;
#[cfg(not(loom))]
mod syscall;
#[cfg(not(loom))]
pub mod traced;
#[cfg(not(loom))]
pub mod trial;
#[cfg(not(loom))]
mod wait;
#[cfg(not(loom))]
mod write;

#[cfg(fuzzing)]
pub use link::fuzzing;

#[cfg(not(loom))]
pub use kernel::FaultMode;
#[cfg(not(loom))]
pub use options::Options;
#[cfg(not(loom))]
pub use pager::{Error, Pager};
#[cfg(not(loom))]
pub use ranges::Range;

/// Bytes of a page.
pub const PAGE_SIZE: usize = lull_far_protocol::PAGE_SIZE;

/// A page of zeros.
#[cfg(not(loom))]
#[repr(align(4096))]
struct ZeroPage([u8; PAGE_SIZE]);

#[cfg(not(loom))]
static ZERO_PAGE: ZeroPage = ZeroPage([0; PAGE_SIZE]);
