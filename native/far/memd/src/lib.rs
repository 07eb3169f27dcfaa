// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The memory server: holds the pages of pagers on other machines (`docs/design/far-memory.md`).
//!
//! From the socket inwards: [`listen`] is where it comes from, [`server`] accepts, `connection` speaks the protocol over `transport`, [`store`] knows who has
//! what, [`arena`] is the memory. [`identity`] is who may have how much; `strangers` are who has not said yet who it is. [`cycle`]
//! traces a client's heap in it, `requests` is what a client says to that, `peer` what servers say to each other. What their
//! threads share is in `shared`, by who writes it; `page` shows it.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

pub mod arena;
pub mod config;
mod connection;
pub mod cycle;
mod few_lines;
pub mod identity;
pub mod listen;
pub mod metrics;
mod page;
mod peer;
mod requests;
pub mod server;
mod shared;
pub mod store;
mod strangers;
mod transport;

pub use config::Config;
pub use listen::Listen;
pub use lull_network::Network;
pub use server::{Handle, Server, StartError};
