// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The few functions of JVMTI that the agent calls, by their number in the specification's function table.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use crate::jni;

/// `JVMTI_VERSION_11`: what 17, 21 and 25 all have.
pub const VERSION: c_int = 0x300b_0000;

/// `JVMTI_EVENT_VM_INIT` and so on: the numbers of events.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
#[allow(missing_docs)] // the specification's own names
pub enum Event {
    VmInit = 50,
    VmDeath = 51,
    NativeMethodBind = 67,
    GarbageCollectionStart = 81,
    GarbageCollectionFinish = 82,
}

/// `JVMTI_PHASE_START`: from here on methods and classes can be asked for their names.
pub const PHASE_START: c_int = 6;
/// `JVMTI_PHASE_LIVE`.
pub const PHASE_LIVE: c_int = 4;

/// `jvmtiCapabilities`: 128 bits.
pub type Capabilities = [u32; 4];
/// `can_generate_native_method_bind_events` and `can_generate_garbage_collection_events`: bits 30 and 31 of the first word.
pub const WANTED: Capabilities = [(1 << 30) | (1 << 31), 0, 0, 0];

const FIRST_EVENT: usize = 50;
const LAST_EVENT: usize = 88;

/// `jvmtiEventCallbacks`: one pointer per event, from the first on.
#[repr(transparent)]
pub struct Callbacks([*const c_void; LAST_EVENT - FIRST_EVENT + 1]);

impl Callbacks {
    /// No callback at all.
    pub fn none() -> Self {
        Callbacks([std::ptr::null(); LAST_EVENT - FIRST_EVENT + 1])
    }

    /// Sets one; its type must be what the specification gives for the event.
    pub fn set(&mut self, event: Event, function: *const c_void) {
        self.0[event as usize - FIRST_EVENT] = function;
    }
}

const SET_EVENT_NOTIFICATION_MODE: usize = 2;
const DEALLOCATE: usize = 47;
const GET_CLASS_SIGNATURE: usize = 48;
const GET_METHOD_NAME: usize = 64;
const GET_METHOD_DECLARING_CLASS: usize = 65;
const SET_EVENT_CALLBACKS: usize = 122;
const DISPOSE_ENVIRONMENT: usize = 127;
const GET_SYSTEM_PROPERTY: usize = 131;
const GET_PHASE: usize = 133;
const ADD_CAPABILITIES: usize = 142;

/// `jvmtiEnv`: valid on every thread until it is disposed of.
#[repr(C)]
pub struct Env {
    functions: *const [*const c_void; ADD_CAPABILITIES],
}

/// `jvmtiError`; 0 is success.
pub type Error = c_int;

macro_rules! call {
    ($this:expr, $number:expr, fn($($type:ty),*), $($argument:expr),*) => {{
        let this: *mut Self = $this;
        // SAFETY: the VM fills the whole table with functions of the types that the specification gives.
        let function: unsafe extern "system" fn(*mut Self, $($type),*) -> Error =
            unsafe { std::mem::transmute((*(*this).functions)[$number - 1]) };
        // SAFETY: the caller holds to what the function's own description demands.
        unsafe { function(this, $($argument),*) }
    }};
}

fn check(error: Error) -> Result<(), Error> {
    if error == 0 { Ok(()) } else { Err(error) }
}

impl Env {
    /// Asks for capabilities.
    ///
    /// # Errors
    /// The VM does not have them, or not in this phase.
    ///
    /// # Safety
    /// `this` is a live environment, here and in all that follow.
    pub unsafe fn add_capabilities(this: *mut Self, capabilities: &Capabilities) -> Result<(), Error> {
        check(call!(this, ADD_CAPABILITIES, fn(*const Capabilities), capabilities))
    }

    /// Sets all callbacks at once; the VM copies them.
    ///
    /// # Errors
    /// JVMTI's.
    ///
    /// # Safety
    /// Each is of its event's type and stays loaded.
    pub unsafe fn set_callbacks(this: *mut Self, callbacks: &Callbacks) -> Result<(), Error> {
        let size = c_int::try_from(size_of::<Callbacks>()).expect("small");
        check(call!(this, SET_EVENT_CALLBACKS, fn(*const Callbacks, c_int), callbacks, size))
    }

    /// Turns an event on or off for all threads.
    ///
    /// # Errors
    /// JVMTI's, a missing capability for instance.
    ///
    /// # Safety
    /// As [`Env::add_capabilities`].
    pub unsafe fn enable(this: *mut Self, event: Event, on: bool) -> Result<(), Error> {
        type SetMode = unsafe extern "C" fn(*mut Env, c_int, c_int, jni::Object, ...) -> Error;
        // SAFETY: the VM fills the whole table with functions of the types that the specification gives.
        let function: SetMode = unsafe { std::mem::transmute((*(*this).functions)[SET_EVENT_NOTIFICATION_MODE - 1]) };
        // SAFETY: as demanded of the caller; no thread is all threads.
        check(unsafe { function(this, c_int::from(on), event as c_int, std::ptr::null_mut()) })
    }

    /// The phase that the VM is in.
    ///
    /// # Safety
    /// As [`Env::add_capabilities`].
    pub unsafe fn phase(this: *mut Self) -> c_int {
        let mut phase = 0;
        let _ = call!(this, GET_PHASE, fn(*mut c_int), &mut phase);
        phase
    }

    /// A system property of the VM's own, in the phase of loading already.
    ///
    /// # Safety
    /// As [`Env::add_capabilities`].
    pub unsafe fn property(this: *mut Self, name: &CStr) -> Option<String> {
        let mut value: *mut c_char = std::ptr::null_mut();
        let error = call!(this, GET_SYSTEM_PROPERTY, fn(*const c_char, *mut *mut c_char), name.as_ptr(), &mut value);
        check(error).ok()?;
        // SAFETY: the VM has given memory of its own, with a zero at the end.
        let text = unsafe { Self::take(this, value) };
        text.map(|text| text.to_string_lossy().into_owned())
    }

    /// Class signature, name and signature of a method.
    ///
    /// # Safety
    /// `method` is what an event gave, in the start or live phase; `env` is the current thread's.
    pub unsafe fn method(this: *mut Self, env: *mut jni::Env, method: *mut c_void) -> Option<[CString; 3]> {
        let mut class: jni::Object = std::ptr::null_mut();
        check(call!(this, GET_METHOD_DECLARING_CLASS, fn(*mut c_void, *mut jni::Object), method, &mut class)).ok()?;
        let mut class_signature: *mut c_char = std::ptr::null_mut();
        let null: *mut *mut c_char = std::ptr::null_mut();
        let found =
            check(call!(this, GET_CLASS_SIGNATURE, fn(jni::Object, *mut *mut c_char, *mut *mut c_char), class, &mut class_signature, null));
        // SAFETY: the local reference that was made above.
        unsafe { jni::Env::delete_local(env, class) };
        found.ok()?;
        let mut name: *mut c_char = std::ptr::null_mut();
        let mut signature: *mut c_char = std::ptr::null_mut();
        let named = check(call!(
            this,
            GET_METHOD_NAME,
            fn(*mut c_void, *mut *mut c_char, *mut *mut c_char, *mut *mut c_char),
            method,
            &mut name,
            &mut signature,
            null
        ));
        // SAFETY: null, or the VM's memory with a zero at the end.
        let texts = unsafe { [Self::take(this, class_signature), Self::take(this, name), Self::take(this, signature)] };
        named.ok()?;
        let [class_signature, name, signature] = texts;
        Some([class_signature?, name?, signature?])
    }

    /// Gives the environment back, with all its events.
    ///
    /// # Safety
    /// `this` is not used afterwards.
    pub unsafe fn dispose(this: *mut Self) {
        let _ = call!(this, DISPOSE_ENVIRONMENT, fn(),);
    }

    /// Copies the VM's string and gives its memory back.
    unsafe fn take(this: *mut Self, text: *mut c_char) -> Option<CString> {
        if text.is_null() {
            return None;
        }
        // SAFETY: with a zero at the end, as demanded.
        let copy = unsafe { CStr::from_ptr(text) }.to_owned();
        let _ = call!(this, DEALLOCATE, fn(*mut c_char), text);
        Some(copy)
    }
}
