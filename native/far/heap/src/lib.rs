// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Tracing by memory servers, seen from their client: [`export`] is the file of a heap, [`server`] what is said to one server,
//! [`cycle`] has all of them trace, [`compare`] looks at what they have marked. [`concerned`] needs no server: it says how many pages
//! moving a part of the heap would concern.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod compare;
pub mod concerned;
pub mod cycle;
pub mod export;
#[cfg(feature = "made")]
pub mod made;
pub mod server;
