// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The functions that ours stand in for.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A function of the next library, looked up once.
pub struct Next(AtomicUsize, &'static CStr);

impl Next {
    pub const fn new(name: &'static CStr) -> Next {
        Next(AtomicUsize::new(0), name)
    }

    /// The address. Ends the program if there is no such function: nothing it does would be right.
    pub fn get(&self) -> usize {
        let mut address = self.0.load(Ordering::Relaxed);
        if address == 0 {
            // SAFETY: a name and a special handle.
            address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.1.as_ptr()) } as usize;
            if address == 0 {
                lull_far::last_words::fatal(format_args!("the C library has no {}", self.1.to_str().unwrap_or("function")));
            }
            self.0.store(address, Ordering::Relaxed);
        }
        address
    }
}

/// Calls the next function of a name with a type. Looked up when it is used first, unless the second form is given a [`Next`].
macro_rules! next {
    ($name:literal, $kind:ty) => {{
        static NEXT: $crate::next::Next = $crate::next::Next::new($name);
        $crate::next::next!(NEXT, $kind)
    }};
    ($next:path, $kind:ty) => {{
        // SAFETY: the C library's function of this name has this type.
        #[allow(unused_unsafe)] // some callers are within unsafe blocks
        let function = unsafe { std::mem::transmute::<usize, $kind>($next.get()) };
        function
    }};
}
pub(crate) use next;

pub fn set_errno(number: i32) {
    // SAFETY: the C library's own variable of this thread.
    unsafe { *libc::__errno_location() = number };
}
