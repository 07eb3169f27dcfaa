// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Between Java code and its sockets: native methods of the JDK, and of Netty's transports, that are bound to functions of ours, by JVMTI's
//! `NativeMethodBind` event. A method that is not known, or of another signature than it had in the releases that were looked
//! at, keeps its own function; what passes there is found out by the kernel's counts ([`crate::connection`], invariant S).

pub mod jdk;
pub mod netty;
mod selector;
mod transfer;

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The VM's own function behind one of ours.
pub struct Original(AtomicPtr<c_void>);

impl Original {
    /// None yet.
    pub const fn none() -> Self {
        Original(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The function; null before it is bound, and then ours is not called.
    pub fn get(&self) -> *mut c_void {
        self.0.load(Ordering::Acquire)
    }

    /// Whether ours stands before it.
    pub fn is_bound(&self) -> bool {
        !self.get().is_null()
    }
}

/// One method of which we have our own.
pub struct Method {
    /// Its class, as a signature: `Lsun/nio/ch/Net;`.
    pub class: &'static CStr,
    /// Its name.
    pub name: &'static CStr,
    /// Its signature.
    pub signature: &'static CStr,
    /// Where the VM's own function is kept.
    pub original: &'static Original,
    /// Ours, of the same C type.
    pub ours: *const c_void,
}

// SAFETY: addresses of functions and of statics.
unsafe impl Sync for Method {}

macro_rules! methods {
    ($($class:literal $name:literal $signature:expr => $original:ident, $ours:ident as $type:ty;)*) => {
        &[$($crate::intercept::Method { class: $class, name: $name, signature: $signature, original: &$original, ours: $ours as $type as *const c_void }),*]
    };
}
use methods;

/// What the VM shall call for a method that it binds to `address`; `None` to leave it.
pub fn replacement(class: &CStr, name: &CStr, signature: &CStr, address: *mut c_void) -> Option<*const c_void> {
    let method = jdk::METHODS.iter().chain(netty::METHODS).find(|m| m.class == class && m.name == name && m.signature == signature)?;
    // Bound anew, after RegisterNatives for instance, it may have another function; ours itself would be a circle.
    if address.is_null() || std::ptr::eq(address, method.ours) {
        return None;
    }
    method.original.0.store(address, Ordering::Release);
    Some(method.ours)
}
