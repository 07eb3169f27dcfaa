// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the gate did in each pause, as events of the JDK's flight recorder (JFR): `lull.GatePause`.
//!
//! No class of ours is loaded: `jdk.jfr.EventFactory` makes the type, by calls from here. They are made on a thread of their own, which
//! is the VM's and stops with it; the gate's thread only puts what it did into a queue, and loses it rather than wait.
//!
//! The event cannot be given the begin and end of a pause that is over, so that its own time is that at which it was written, just after
//! the pause, and its duration nothing; begin and length are fields. Nothing is made before the recorder is initialised, for the first event
//! type makes the VM load the descriptions of all the JDK's own: memory and time that a service without a recording need not spend.

mod event;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use crate::agent::complain;
use crate::jni::{Env, JavaVm};
use crate::metrics::Metrics;
use event::EventType;

/// Pauses that wait to be written, at most: far more than there are while the thread gets no processor.
const MOST_WAITING: usize = 256;

/// A pause that is over, and what the gate did in it.
#[derive(Debug, Clone, Copy)]
pub struct GatePause {
    /// When it began, or was first seen; `CLOCK_MONOTONIC`, nanoseconds.
    pub begin_ns: u64,
    /// From then to its end.
    pub length_ns: u64,
    /// The collector, as the VM's counters call it, or what else it was.
    pub kind: &'static str,
    /// How long it was expected to last.
    pub expected_ns: u64,
    /// How long it was expected to last at most: what the decisions were taken by.
    pub upper_ns: u64,
    /// Watched connections.
    pub connections: u64,
    /// Requests that were answered busy.
    pub answered: u64,
    /// Requests that would have been, in a dry run.
    pub would_answer: u64,
    /// Requests that were left to the application by decision.
    pub kept: u64,
}

/// The gate's end of the queue.
pub struct Events {
    queue: SyncSender<GatePause>,
    metrics: &'static Metrics,
}

impl Events {
    /// Starts the thread that writes. The VM hears of it when there is a pause to be told.
    ///
    /// # Errors
    /// No thread can be started.
    ///
    /// # Safety
    /// `vm` is the VM.
    pub unsafe fn start(vm: *mut JavaVm, metrics: &'static Metrics, verbose: bool) -> io::Result<Events> {
        let (queue, pauses) = sync_channel(MOST_WAITING);
        let writer = Writer { vm, pauses, metrics, verbose };
        std::thread::Builder::new().name("gate events".into()).spawn(move || writer.run())?;
        Ok(Events { queue, metrics })
    }

    /// A pause is over. Never waits.
    pub fn tell(&self, pause: GatePause) {
        // That the thread has given up is no loss: it says so with `verbose`.
        if let Err(TrySendError::Full(_)) = self.queue.try_send(pause) {
            self.metrics.events_lost.add(1);
        }
    }
}

/// The thread's state.
struct Writer {
    vm: *mut JavaVm,
    pauses: Receiver<GatePause>,
    metrics: &'static Metrics,
    verbose: bool,
}

// SAFETY: the VM's pointer is good on any thread.
unsafe impl Send for Writer {}

impl Writer {
    fn run(self) {
        // The VM has no thread more before a connection has met a pause.
        let Ok(first) = self.pauses.recv() else { return };
        // SAFETY: the VM, as demanded of who has started the thread.
        let Some(env) = (unsafe { JavaVm::attach_as_daemon(self.vm, c"lull gate events") }) else {
            self.give_up("the VM takes no thread more");
            return;
        };
        // SAFETY: this thread's environment.
        match catch_unwind(AssertUnwindSafe(|| unsafe { self.write_all(env, first) })) {
            Ok(Err(reason)) => {
                self.give_up(reason);
                // SAFETY: the environment is not used after this.
                unsafe { JavaVm::detach(self.vm) };
                return;
            }
            Err(_) => complain("a defect: the flight recorder is told of no pause any more"),
            Ok(Ok(())) => {}
        }
        // The gate has ended, mostly with the VM. A thread that is still the VM's must not end, and one that leaves it now could meet its end.
        loop {
            std::thread::park();
        }
    }

    fn give_up(&self, reason: &str) {
        if self.verbose {
            complain(&format!("the flight recorder has no events of the gate: {reason}"));
        }
    }

    /// Until the gate ends.
    ///
    /// # Safety
    /// `env` is this thread's.
    unsafe fn write_all(&self, env: *mut Env, first: GatePause) -> Result<(), &'static str> {
        // SAFETY: this thread's environment; references and methods stay good, for these classes are never unloaded.
        unsafe {
            let (recorder, is_initialized) = event::find_recorder(env).ok_or("the VM runs without the module jdk.jfr")?;
            let mut made = None;
            for pause in std::iter::once(first).chain(&self.pauses) {
                if made.is_none() && Env::call_static_boolean(env, recorder, is_initialized) == Some(true) {
                    made = Some(EventType::make(env).ok_or("the VM refuses the type lull.GatePause")?);
                }
                match made.as_ref().map(|made| made.write(env, &pause)) {
                    // No recorder, or no recording that wants it.
                    None | Some(Some(false)) => {}
                    Some(Some(true)) => self.metrics.events.add(1),
                    Some(None) => self.metrics.events_lost.add(1),
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: GatePause = GatePause {
        begin_ns: 0,
        length_ns: 1,
        kind: "no collection",
        expected_ns: 2,
        upper_ns: 3,
        connections: 4,
        answered: 5,
        would_answer: 6,
        kept: 7,
    };

    #[test]
    fn the_gate_never_waits_and_what_is_too_much_is_counted() {
        static METRICS: Metrics = Metrics::new();
        let (queue, pauses) = sync_channel(MOST_WAITING);
        let events = Events { queue, metrics: &METRICS };
        for _ in 0..MOST_WAITING + 3 {
            events.tell(PAUSE);
        }
        assert_eq!(METRICS.events_lost.get(), 3);
        assert_eq!(pauses.recv().unwrap().answered, 5);
        events.tell(PAUSE);
        assert_eq!(METRICS.events_lost.get(), 3);
        // The thread has given up.
        drop(pauses);
        events.tell(PAUSE);
        assert_eq!(METRICS.events_lost.get(), 3);
    }
}
