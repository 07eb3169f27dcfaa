// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Between Java code and its sockets: native methods of the JDK, and of Netty's transports, that are bound to functions of ours, by JVMTI's
//! `NativeMethodBind` event. A method that is not known, or of another signature than it had in the releases that were looked
//! at, keeps its own function; what passes there is found out by the kernel's counts ([`crate::connection`], invariant S).

pub mod jdk;
pub mod netty;
mod selector;
mod transfer;

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::jni;

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

/// An int field of Java objects.
struct Field(jni::FieldId);
// SAFETY: a jfieldID is valid on every thread.
unsafe impl Send for Field {}
// SAFETY: the same.
unsafe impl Sync for Field {}

impl Field {
    /// The field of that name; `None` if the class has none.
    ///
    /// # Safety
    /// `env` is the current thread's, with no exception pending; `class` is a reference to a class that is never unloaded.
    unsafe fn of(env: *mut jni::Env, class: jni::Object, name: &CStr) -> Option<Field> {
        // SAFETY: as demanded.
        unsafe { jni::Env::field(env, class, name, c"I") }.map(Field)
    }

    /// Its value. Blocks while the VM is stopped: never to be called with a lock of ours held.
    ///
    /// # Safety
    /// `env` is the current thread's; `object` is a non-null reference to an object of the class.
    unsafe fn get(&self, env: *mut jni::Env, object: jni::Object) -> c_int {
        // SAFETY: as demanded.
        unsafe { jni::Env::int_field(env, object, self.0) }
    }
}

macro_rules! methods {
    ($($class:literal $name:literal $signature:expr => $original:ident, $ours:ident as $type:ty;)*) => {
        &[$($crate::intercept::Method { class: $class, name: $name, signature: $signature, original: &$original, ours: $ours as $type as *const c_void }),*]
    };
}
use methods;

/// What the VM shall call for a method that it binds.
#[derive(Debug, PartialEq, Eq)]
pub enum Binding {
    /// That function.
    Ours(*const c_void),
    /// The one that it has.
    Left,
    /// The one that it has: another copy of the library was there first.
    AnotherCopy,
    /// The one that it has: it is of io_uring, whose connections cannot be watched at all.
    Unwatched,
}

/// Netty's classes of io_uring, where no function of a library moves bytes: the kernel does, by requests in memory that both share.
const IO_URING: [&CStr; 2] = [c"Lio/netty/channel/uring/Native;", c"Lio/netty/incubator/channel/uring/Native;"];

/// What the VM shall call for a method that it binds to `address`.
pub fn binding(class: &CStr, name: &CStr, signature: &CStr, address: *mut c_void) -> Binding {
    if IO_URING.contains(&class) {
        return Binding::Unwatched;
    }
    let is_it = |m: &&Method| m.class == class && m.name == name && m.signature == signature;
    let (method, may_come_again) = match (jdk::METHODS.iter().find(is_it), netty::METHODS.iter().find(is_it)) {
        (Some(method), _) => (method, false),
        (_, Some(method)) => (method, true),
        _ => return Binding::Left,
    };
    // Bound anew, after RegisterNatives for instance, it may have another function; ours itself would be a circle.
    if address.is_null() || std::ptr::eq(address, method.ours) {
        return Binding::Left;
    }
    if may_come_again {
        // Each class loader may have a Netty of its own, with a library that goes when the loader does: one copy's connections must not run
        // through the other's functions.
        let first = method.original.0.compare_exchange(std::ptr::null_mut(), address, Ordering::AcqRel, Ordering::Acquire);
        if first.is_err_and(|first| !std::ptr::eq(first, address)) {
            return Binding::AnotherCopy;
        }
    } else {
        method.original.0.store(address, Ordering::Release);
    }
    Binding::Ours(method.ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_copy_of_a_library_keeps_its_own_functions() {
        let bind = |class: &CStr, name: &CStr, signature: &CStr, address: usize| binding(class, name, signature, address as *mut c_void);
        let splice = |address| bind(c"Lio/netty/channel/epoll/Native;", c"splice0", c"(IJIJJ)I", address);
        let Binding::Ours(ours) = splice(0x1000) else { panic!("not bound") };
        assert_eq!(splice(0x2000), Binding::AnotherCopy);
        // The first again, by a second loader of the same file, or after RegisterNatives.
        assert_eq!(splice(0x1000), Binding::Ours(ours));
        assert_eq!(splice(ours as usize), Binding::Left);
        let method = netty::METHODS.iter().find(|m| m.name == c"splice0").unwrap();
        assert_eq!(method.original.get() as usize, 0x1000);
        // The JDK's own library stays: what is bound last counts.
        let jdk = &jdk::METHODS[0];
        for address in [0x1000, 0x2000] {
            assert_eq!(bind(jdk.class, jdk.name, jdk.signature, address), Binding::Ours(jdk.ours));
            assert_eq!(jdk.original.get() as usize, address);
        }
        assert_eq!(bind(c"Lsun/nio/ch/Net;", c"unknown", c"()V", 0x1000), Binding::Left);
        assert_eq!(bind(c"Lio/netty/channel/uring/Native;", c"ioUringSetup", c"(I)[J", 0x1000), Binding::Unwatched);
    }
}
