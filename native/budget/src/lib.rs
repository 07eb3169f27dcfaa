// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The heap budget for JVMs as they are: HotSpot's policy outside of the JVM, with the levers that its collector has.
//!
//! `docs/reference/heap-budget.md` says what it can do and what it cannot.

pub mod attach;
pub mod cgroup;
pub mod controller;
pub mod levers;
pub mod memory;
pub mod perf_data;
pub mod policy;
pub mod process;
pub mod stalls;
mod temporary;
pub mod threads;
