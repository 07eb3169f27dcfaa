// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Who may use a memory server (`docs/design/far-memory-security.md`). Both sides have the same key of 32 bytes, and prove it to each other
//! before anything else is said: [`proof`]. Keys are read from files: [`file`].
//!
//! This crate opens no socket and draws no random number. It allocates, and is no part of the pager's fault path.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod file;
mod key;
pub mod proof;

pub use file::{Entry, FileError};
pub use key::{Key, client_number, seal_key};
