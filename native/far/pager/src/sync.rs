// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Atomics: the processor's, or those of loom when the interleavings are enumerated (`--cfg loom`).

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};
