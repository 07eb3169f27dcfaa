// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Tracing a Java heap that lies on several memory servers (`docs/design/far-memory.md`, tracing by the servers).
//!
//! [`layout`] says where an object of a class has its references, [`geometry`] on which server an address lies, [`tracer`] is what one
//! server does, [`extents`] where what it has reached lies, [`termination`] how the client knows that all are done, [`wire`] what they say to each other. Nothing here opens a
//! socket, and nothing trusts what it is told: a layout or a reference that cannot be right is an error, never a guess.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod extents;
pub mod geometry;
pub mod layout;
pub mod termination;
pub mod tracer;
pub mod wire;
