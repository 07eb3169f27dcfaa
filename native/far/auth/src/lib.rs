// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Who may use a memory server (`docs/design/far-memory-security.md`). Both sides have the same key of 32 bytes, and prove it to each other
//! before anything else is said: [`proof`]. What they say then is encrypted, and proven frame by frame: [`frames`], by keys of which a part was
//! drawn for the connection: [`Share`]. Keys are read from files: [`file`].
//!
//! This crate opens no socket and draws no random number. Of it [`frames::Frames`] alone is for the pager's fault path, too.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod file;
pub mod frames;
mod key;
pub mod proof;
mod share;

pub use file::{Entry, FileError};
pub use frames::{Frames, NotProven};
pub use key::{Key, client_number, seal_key};
pub use share::{SHARE_LEN, Share};
