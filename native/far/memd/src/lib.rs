// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The memory server: holds the pages of pagers on other machines (`docs/far-memory.md`).
//!
//! From the socket inwards: [`server`] accepts, `connection` speaks the protocol over `transport`, [`store`] knows who has
//! what, [`arena`] is the memory.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

pub mod arena;
mod connection;
pub mod metrics;
pub mod server;
pub mod store;
mod transport;

pub use server::{Config, Handle, Server, StartError};
