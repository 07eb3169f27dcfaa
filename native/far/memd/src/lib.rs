// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The memory server: holds the pages of pagers on other machines (`docs/design/far-memory.md`).
//!
//! From the socket inwards: [`server`] accepts, `connection` speaks the protocol over `transport`, [`store`] knows who has
//! what, [`arena`] is the memory. [`cycle`] traces a client's heap in it, `requests` is what a client says to that, `peer` what servers
//! say to each other.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

pub mod arena;
mod connection;
pub mod cycle;
pub mod metrics;
mod peer;
mod requests;
pub mod server;
pub mod store;
mod transport;

pub use server::{Config, Handle, Server, StartError};
