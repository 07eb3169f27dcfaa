// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The preload library of `lull-far run`: stands in for the functions of the C library through which a program maps a file in
//! the marked directory, and for those that would get in the pager's way.
//!
//! What is not about the marked directory, paged memory or SIGBUS is passed on unchanged.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

mod descriptor;
mod files;
mod next;
mod settings;
mod signals;
mod transfer;
