// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! HotSpot's policy (`hotspot/src/hotspot/share/gc/budget/heapBudgetPolicy.hpp`, which says what all of this means).

use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;

unsafe extern "C" {
    fn lull_budget_new(processors: u32) -> *mut c_void;
    fn lull_budget_delete(policy: *mut c_void);
    fn lull_budget_interval(policy: *mut c_void, sample: *const Sample, decision: *mut Decision);
    safe fn lull_budget_state_name(state: u32) -> *const c_char;
    safe fn lull_budget_reason_name(reason: u32) -> *const c_char;
    #[cfg(test)]
    fn lull_budget_layout(length: *mut usize) -> *const usize;
}

/// HeapBudgetSample: an interval. Times in nanoseconds, sizes in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Sample {
    pub now: u64,
    pub pause: u64,
    pub concurrent: u64,
    pub waiting: u64,
    pub running: u64,
    pub stalled: u64,
    pub read_bytes: u64,
    pub allocated: u64,
    pub collections: u32,
    pub stalled_known: bool,
    pub read_known: bool,
    pub allocated_known: bool,
    pub capacity: usize,
    pub live: usize,
    pub reserve: usize,
    pub least: usize,
    pub most: usize,
    pub available: usize,
    pub released: usize,
}

/// HeapBudgetDecision.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Decision {
    action: u32,
    state: u32,
    reason: u32,
    pub target: usize,
    pub collection: f64,
    pub stalled: f64,
    pub wait: u64,
}

/// What the heap should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Action {
    Hold,
    Grow,
    Shrink,
}

impl Decision {
    /// What the heap should do.
    pub fn action(&self) -> Action {
        match self.action {
            1 => Action::Grow,
            2 => Action::Shrink,
            _ => Action::Hold,
        }
    }

    /// The state's name.
    pub fn state(&self) -> &'static str {
        text(lull_budget_state_name(self.state))
    }

    /// Why, in words.
    pub fn reason(&self) -> &'static str {
        text(lull_budget_reason_name(self.reason))
    }
}

fn text(name: *const c_char) -> &'static str {
    // SAFETY: the names are constants of the program.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("?")
}

/// The policy, with its history.
#[derive(Debug)]
pub struct Policy(NonNull<c_void>);

impl Policy {
    /// For a service that has that many processors.
    pub fn new(processors: u32) -> Self {
        // SAFETY: any number of processors is valid; the object is ours.
        Self(NonNull::new(unsafe { lull_budget_new(processors) }).expect("operator new does not return null"))
    }

    /// An interval has ended: what should the heap do?
    pub fn interval(&mut self, sample: &Sample) -> Decision {
        let mut decision = Decision::default();
        // SAFETY: both structs are laid out as in C++ (there is a test), and the policy lives.
        unsafe { lull_budget_interval(self.0.as_ptr(), sample, &mut decision) };
        decision
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        // SAFETY: made by lull_budget_new, and not used any more.
        unsafe { lull_budget_delete(self.0.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn both_sides_mean_the_same_bytes() {
        let mut length = 0;
        // SAFETY: the answer is a constant array of that length.
        let theirs = unsafe { std::slice::from_raw_parts(lull_budget_layout(&mut length), length) };
        let ours = [
            size_of::<Sample>(),
            offset_of!(Sample, read_bytes),
            offset_of!(Sample, collections),
            offset_of!(Sample, stalled_known),
            offset_of!(Sample, read_known),
            offset_of!(Sample, allocated_known),
            offset_of!(Sample, capacity),
            offset_of!(Sample, available),
            offset_of!(Sample, released),
            size_of::<Decision>(),
            offset_of!(Decision, state),
            offset_of!(Decision, reason),
            offset_of!(Decision, target),
            offset_of!(Decision, collection),
            offset_of!(Decision, stalled),
            offset_of!(Decision, wait),
            2,
            2,
        ];
        assert_eq!(&theirs[..ours.len()], ours);
        let last = theirs[ours.len()] as u32;
        assert!((0..=last).all(|reason| text(lull_budget_reason_name(reason)) != "?"));
    }

    #[test]
    fn a_heap_over_its_limit_is_to_shrink() {
        let mut policy = Policy::new(2);
        let mut sample = Sample {
            now: 1,
            stalled_known: true,
            capacity: 1 << 30,
            live: 1 << 20,
            most: 1 << 30,
            available: 1 << 30,
            ..Sample::default()
        };
        assert_eq!(policy.interval(&sample).action(), Action::Hold);
        sample.now += 1_000_000_000;
        sample.available = 1 << 29;
        let decision = policy.interval(&sample);
        assert_eq!((decision.action(), decision.target, decision.state()), (Action::Shrink, 1 << 29, "wait-shrink"));
        assert_eq!(decision.reason(), "the memory limit leaves less");
    }
}
