// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The few functions of JNI that the agent calls, by their place in the function table (JNI specification, chapter 4).

use std::ffi::{CStr, c_char, c_int, c_void};

/// A local or global reference.
pub type Object = *mut c_void;
/// `jfieldID`.
pub type FieldId = *mut c_void;

/// `JNI_OK`.
pub const OK: c_int = 0;
/// `JNI_ERR`.
pub const ERR: c_int = -1;

const FIND_CLASS: usize = 6;
const THROW_NEW: usize = 14;
const EXCEPTION_CLEAR: usize = 17;
const DELETE_LOCAL_REF: usize = 23;
const GET_FIELD_ID: usize = 94;
const GET_INT_FIELD: usize = 100;
const EXCEPTION_CHECK: usize = 228;
const GET_DIRECT_BUFFER_ADDRESS: usize = 230;
const TABLE_LENGTH: usize = 231;

const GET_ENV: usize = 6;

/// `JNIEnv`: valid on the thread that it was given to, and for the duration of the call.
#[repr(C)]
pub struct Env {
    functions: *const [*const c_void; TABLE_LENGTH],
}

/// `JavaVM`: valid as long as the process.
#[repr(C)]
pub struct JavaVm {
    functions: *const [*const c_void; GET_ENV + 1],
}

macro_rules! call {
    ($this:expr, $index:expr, fn($($type:ty),*) -> $result:ty, $($argument:expr),*) => {{
        let this: *mut Self = $this;
        // SAFETY: the VM fills the whole table with functions of the types that the specification gives.
        let function: unsafe extern "system" fn(*mut Self, $($type),*) -> $result =
            unsafe { std::mem::transmute((*(*this).functions)[$index]) };
        // SAFETY: the caller holds to what the function's own description demands.
        unsafe { function(this, $($argument),*) }
    }};
}

impl JavaVm {
    /// The environment of a version, for instance JVMTI's; `None` if the VM has none such.
    ///
    /// # Safety
    /// `this` is the pointer that the VM gave to the agent.
    pub unsafe fn environment(this: *mut Self, version: c_int) -> Option<*mut c_void> {
        let mut result = std::ptr::null_mut();
        let status = call!(this, GET_ENV, fn(*mut *mut c_void, c_int) -> c_int, &mut result, version);
        (status == OK && !result.is_null()).then_some(result)
    }

    /// An address inside the VM's library.
    ///
    /// # Safety
    /// As [`JavaVm::environment`].
    pub unsafe fn address_in_vm(this: *mut Self) -> *const c_void {
        // SAFETY: the table is the VM's.
        unsafe { (*(*this).functions)[GET_ENV] }
    }
}

impl Env {
    /// The class of that name, or `None` with no exception pending.
    ///
    /// # Safety
    /// `this` is the current thread's, with no exception pending.
    pub unsafe fn find_class(this: *mut Self, name: &CStr) -> Option<Object> {
        let class = call!(this, FIND_CLASS, fn(*const c_char) -> Object, name.as_ptr());
        // SAFETY: as demanded of the caller.
        unsafe { Self::clear_exception(this) };
        (!class.is_null()).then_some(class)
    }

    /// The field of that name and type, or `None` with no exception pending.
    ///
    /// # Safety
    /// As [`Env::find_class`]; `class` is a reference to a class.
    pub unsafe fn field(this: *mut Self, class: Object, name: &CStr, signature: &CStr) -> Option<FieldId> {
        let field =
            call!(this, GET_FIELD_ID, fn(Object, *const c_char, *const c_char) -> FieldId, class, name.as_ptr(), signature.as_ptr());
        // SAFETY: as demanded of the caller.
        unsafe { Self::clear_exception(this) };
        (!field.is_null()).then_some(field)
    }

    /// An int field's value. Blocks while the VM is stopped: never to be called with a lock of ours held.
    ///
    /// # Safety
    /// `this` is the current thread's, `object` a non-null reference to an object of a class that has `field`.
    pub unsafe fn int_field(this: *mut Self, object: Object, field: FieldId) -> c_int {
        call!(this, GET_INT_FIELD, fn(Object, FieldId) -> c_int, object, field)
    }

    /// Throws an exception of that class in the caller's Java frame. Blocks while the VM is stopped.
    ///
    /// # Safety
    /// As [`Env::find_class`].
    pub unsafe fn throw(this: *mut Self, class: Object, message: &CStr) {
        let _: c_int = call!(this, THROW_NEW, fn(Object, *const c_char) -> c_int, class, message.as_ptr());
    }

    /// Where a direct buffer's bytes are; null of any other. May block while the VM is stopped.
    ///
    /// # Safety
    /// `this` is the current thread's, `buffer` a non-null reference.
    pub unsafe fn direct_buffer_address(this: *mut Self, buffer: Object) -> *mut c_void {
        call!(this, GET_DIRECT_BUFFER_ADDRESS, fn(Object) -> *mut c_void, buffer)
    }

    /// Whether an exception is pending.
    ///
    /// # Safety
    /// `this` is the current thread's.
    pub unsafe fn has_exception(this: *mut Self) -> bool {
        let pending: u8 = call!(this, EXCEPTION_CHECK, fn() -> u8,);
        pending != 0
    }

    /// Lets go of a local reference.
    ///
    /// # Safety
    /// `object` is a local reference of the current thread, not used afterwards.
    pub unsafe fn delete_local(this: *mut Self, object: Object) {
        call!(this, DELETE_LOCAL_REF, fn(Object) -> (), object);
    }

    unsafe fn clear_exception(this: *mut Self) {
        // SAFETY: as demanded of the caller.
        if unsafe { Self::has_exception(this) } {
            call!(this, EXCEPTION_CLEAR, fn() -> (),);
        }
    }
}
