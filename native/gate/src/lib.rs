// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The gate: a JVMTI agent for HotSpot 17, 21 and 25 that tells clients *busy* while the JVM is stopped.
//!
//! A request that arrives in a pause is answered at once when its deadline cannot be met, so that the client goes to another
//! replica; everything else stays in the kernel's buffers, where the application finds it after the pause. The idea is MITMEM's
//! ("let GC stop the world, but do not stop the universe", section 3); the gate needs no changed JDK and takes no byte
//! that it does not answer.
//!
//! Reading order: [`protocol`] says what a protocol must tell, [`http1`], [`http2`] and [`cql`] are those there are, [`connection`] holds the
//! invariants of one connection, [`pause`] knows when the JVM is stopped, [`predict`] for how long, [`gate`] is the thread that acts,
//! [`intercept`] stands between the JDK and its sockets, [`tls`] serves it for those who do not, and [`flight`] tells the flight recorder what was done.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

pub mod agent;
pub mod answers;
pub mod beacon;
pub mod connection;
pub mod cql;
pub mod datagram;
pub mod deadline;
pub mod flight;
pub mod gate;
pub mod guard;
pub mod health;
pub mod http1;
pub mod http2;
pub mod intercept;
pub mod jni;
pub mod jvmti;
pub mod kernel;
pub mod metrics;
pub mod options;
pub mod outlets;
pub mod own_ports;
pub mod pause;
pub mod perf_memory;
pub mod predict;
#[cfg(any(test, fuzzing))]
pub mod properties;
pub mod protocol;
pub mod resp;
pub mod socket;
pub mod spoken;
pub mod table;
pub mod tcp_table;
pub mod tls;
pub mod unseen;
pub mod vm_counters;
