// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The few functions of JNI that the agent calls, by their place in the function table (JNI specification, chapter 4).

use std::ffi::{CStr, c_char, c_int, c_void};

/// A local or global reference.
pub type Object = *mut c_void;
/// `jfieldID`.
pub type FieldId = *mut c_void;
/// `jmethodID`.
pub type MethodId = *mut c_void;

/// `JNI_OK`.
pub const OK: c_int = 0;
/// `JNI_ERR`.
pub const ERR: c_int = -1;

/// `JNI_VERSION_10`: what 17, 21 and 25 all have.
const VERSION: c_int = 0x000a_0000;

const FIND_CLASS: usize = 6;
const THROW_NEW: usize = 14;
const EXCEPTION_CLEAR: usize = 17;
const PUSH_LOCAL_FRAME: usize = 19;
const POP_LOCAL_FRAME: usize = 20;
const NEW_GLOBAL_REF: usize = 21;
const DELETE_LOCAL_REF: usize = 23;
const NEW_OBJECT_A: usize = 30;
const GET_OBJECT_CLASS: usize = 31;
const GET_METHOD_ID: usize = 33;
const CALL_OBJECT_METHOD_A: usize = 36;
const CALL_BOOLEAN_METHOD_A: usize = 39;
const CALL_VOID_METHOD_A: usize = 63;
const GET_FIELD_ID: usize = 94;
const GET_INT_FIELD: usize = 100;
const GET_STATIC_METHOD_ID: usize = 113;
const CALL_STATIC_OBJECT_METHOD_A: usize = 116;
const CALL_STATIC_BOOLEAN_METHOD_A: usize = 119;
const GET_STATIC_FIELD_ID: usize = 144;
const GET_STATIC_OBJECT_FIELD: usize = 145;
const NEW_STRING_UTF: usize = 167;
const NEW_OBJECT_ARRAY: usize = 172;
const GET_OBJECT_ARRAY_ELEMENT: usize = 173;
const SET_OBJECT_ARRAY_ELEMENT: usize = 174;
const GET_JAVA_VM: usize = 219;
const EXCEPTION_CHECK: usize = 228;
const GET_DIRECT_BUFFER_ADDRESS: usize = 230;
const TABLE_LENGTH: usize = 231;

const DETACH_CURRENT_THREAD: usize = 5;
const GET_ENV: usize = 6;
const ATTACH_CURRENT_THREAD_AS_DAEMON: usize = 7;

/// `jvalue`: an argument of a Java method.
#[derive(Clone, Copy)]
#[repr(C)]
#[allow(missing_docs)] // Java's own types
pub union Value {
    pub object: Object,
    pub long: i64,
    pub int: c_int,
}

/// `JavaVMAttachArgs`.
#[repr(C)]
struct AttachArguments {
    version: c_int,
    name: *const c_char,
    group: Object,
}

/// `JNIEnv`: valid on the thread that it was given to, and for the duration of the call.
#[repr(C)]
pub struct Env {
    functions: *const [*const c_void; TABLE_LENGTH],
}

/// `JavaVM`: valid as long as the process.
#[repr(C)]
pub struct JavaVm {
    functions: *const [*const c_void; ATTACH_CURRENT_THREAD_AS_DAEMON + 1],
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

    /// Makes the current thread one of the VM's, under that name, which does not keep the VM from ending; `None` if the VM cannot.
    /// Blocks while the VM is stopped.
    ///
    /// # Safety
    /// As [`JavaVm::environment`]; the thread stays, or leaves by [`JavaVm::detach`].
    pub unsafe fn attach_as_daemon(this: *mut Self, name: &CStr) -> Option<*mut Env> {
        let mut arguments = AttachArguments { version: VERSION, name: name.as_ptr(), group: std::ptr::null_mut() };
        let mut env: *mut Env = std::ptr::null_mut();
        let status = call!(
            this,
            ATTACH_CURRENT_THREAD_AS_DAEMON,
            fn(*mut *mut Env, *mut AttachArguments) -> c_int,
            &raw mut env,
            &raw mut arguments
        );
        (status == OK && !env.is_null()).then_some(env)
    }

    /// The current thread is one of the VM's no longer.
    ///
    /// # Safety
    /// As [`JavaVm::environment`]; the thread was attached, and its environment is not used any more.
    pub unsafe fn detach(this: *mut Self) {
        let _: c_int = call!(this, DETACH_CURRENT_THREAD, fn() -> c_int,);
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
        unsafe { Self::result(this, class) }
    }

    /// The field of that name and type, or `None` with no exception pending.
    ///
    /// # Safety
    /// As [`Env::find_class`]; `class` is a reference to a class.
    pub unsafe fn field(this: *mut Self, class: Object, name: &CStr, signature: &CStr) -> Option<FieldId> {
        let field =
            call!(this, GET_FIELD_ID, fn(Object, *const c_char, *const c_char) -> FieldId, class, name.as_ptr(), signature.as_ptr());
        // SAFETY: as demanded of the caller.
        unsafe { Self::result(this, field) }
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

    /// The VM that the environment is of.
    ///
    /// # Safety
    /// `this` is the current thread's.
    pub unsafe fn vm(this: *mut Self) -> Option<*mut JavaVm> {
        let mut vm: *mut JavaVm = std::ptr::null_mut();
        let status = call!(this, GET_JAVA_VM, fn(*mut *mut JavaVm) -> c_int, &raw mut vm);
        (status == OK && !vm.is_null()).then_some(vm)
    }

    /// Runs `f`, whose local references, `capacity` at most, are gone afterwards. `None` if the VM has no memory for them.
    ///
    /// # Safety
    /// As [`Env::find_class`]; `f` gives no local reference away.
    pub unsafe fn in_frame<T>(this: *mut Self, capacity: c_int, f: impl FnOnce() -> Option<T>) -> Option<T> {
        let status = call!(this, PUSH_LOCAL_FRAME, fn(c_int) -> c_int, capacity);
        if status != OK {
            // SAFETY: as demanded of the caller.
            unsafe { Self::clear_exception(this) };
            return None;
        }
        let result = f();
        let _: Object = call!(this, POP_LOCAL_FRAME, fn(Object) -> Object, std::ptr::null_mut());
        result
    }

    /// A reference that any thread may use, for ever.
    ///
    /// # Safety
    /// As [`Env::find_class`]; `object` is a reference of the current thread.
    pub unsafe fn global(this: *mut Self, object: Object) -> Option<Object> {
        let global = call!(this, NEW_GLOBAL_REF, fn(Object) -> Object, object);
        // SAFETY: as demanded of the caller.
        unsafe { Self::result(this, global) }
    }

    /// The class of an object.
    ///
    /// # Safety
    /// As [`Env::find_class`]; `object` is a non-null reference.
    pub unsafe fn class_of(this: *mut Self, object: Object) -> Object {
        call!(this, GET_OBJECT_CLASS, fn(Object) -> Object, object)
    }

    /// The method of that name and type, or `None` with no exception pending. Initialises the class.
    ///
    /// # Safety
    /// As [`Env::find_class`]; `class` is a reference to a class.
    pub unsafe fn method(this: *mut Self, class: Object, name: &CStr, signature: &CStr) -> Option<MethodId> {
        let (name, signature) = (name.as_ptr(), signature.as_ptr());
        let method = call!(this, GET_METHOD_ID, fn(Object, *const c_char, *const c_char) -> MethodId, class, name, signature);
        // SAFETY: as demanded of the caller.
        unsafe { Self::result(this, method) }
    }

    /// The same of a static method.
    ///
    /// # Safety
    /// As [`Env::method`].
    pub unsafe fn static_method(this: *mut Self, class: Object, name: &CStr, signature: &CStr) -> Option<MethodId> {
        let (name, signature) = (name.as_ptr(), signature.as_ptr());
        let method = call!(this, GET_STATIC_METHOD_ID, fn(Object, *const c_char, *const c_char) -> MethodId, class, name, signature);
        // SAFETY: as demanded of the caller.
        unsafe { Self::result(this, method) }
    }

    /// What a static field of that name and type refers to; `None` if that is null, or there is no such field.
    ///
    /// # Safety
    /// As [`Env::method`].
    pub unsafe fn static_object(this: *mut Self, class: Object, name: &CStr, signature: &CStr) -> Option<Object> {
        let (name, signature) = (name.as_ptr(), signature.as_ptr());
        let field = call!(this, GET_STATIC_FIELD_ID, fn(Object, *const c_char, *const c_char) -> FieldId, class, name, signature);
        // SAFETY: as demanded of the caller.
        let field = unsafe { Self::result(this, field) }?;
        let object = call!(this, GET_STATIC_OBJECT_FIELD, fn(Object, FieldId) -> Object, class, field);
        // SAFETY: as demanded of the caller.
        unsafe { Self::result(this, object) }
    }

    /// A new object; `None`, with no exception pending, if its constructor throws.
    ///
    /// # Safety
    /// As [`Env::method`]; `constructor` is one of the class, and `arguments` are of its types.
    pub unsafe fn new_object(this: *mut Self, class: Object, constructor: MethodId, arguments: &[Value]) -> Option<Object> {
        let object = call!(this, NEW_OBJECT_A, fn(Object, MethodId, *const Value) -> Object, class, constructor, arguments.as_ptr());
        // SAFETY: as demanded of the caller.
        unsafe { Self::result(this, object) }
    }

    /// Calls a method that gives an object; `None`, with no exception pending, if it gives null or throws.
    ///
    /// # Safety
    /// As [`Env::find_class`]; `object` is a non-null reference, `method` one of its class, and `arguments` are of its types.
    pub unsafe fn call_object(this: *mut Self, object: Object, method: MethodId, arguments: &[Value]) -> Option<Object> {
        let result = call!(this, CALL_OBJECT_METHOD_A, fn(Object, MethodId, *const Value) -> Object, object, method, arguments.as_ptr());
        // SAFETY: as demanded of the caller.
        unsafe { Self::result(this, result) }
    }

    /// Calls a method that gives a boolean; `None`, with no exception pending, if it throws.
    ///
    /// # Safety
    /// As [`Env::call_object`].
    pub unsafe fn call_boolean(this: *mut Self, object: Object, method: MethodId) -> Option<bool> {
        let result: u8 = call!(this, CALL_BOOLEAN_METHOD_A, fn(Object, MethodId, *const Value) -> u8, object, method, std::ptr::null());
        // SAFETY: as demanded of the caller.
        unsafe { Self::clear_exception(this) }.then_some(result != 0)
    }

    /// Calls a method that gives nothing; `None`, with no exception pending, if it throws.
    ///
    /// # Safety
    /// As [`Env::call_object`].
    pub unsafe fn call_void(this: *mut Self, object: Object, method: MethodId, arguments: &[Value]) -> Option<()> {
        call!(this, CALL_VOID_METHOD_A, fn(Object, MethodId, *const Value) -> (), object, method, arguments.as_ptr());
        // SAFETY: as demanded of the caller.
        unsafe { Self::clear_exception(this) }.then_some(())
    }

    /// Calls a static method that gives an object; `None`, with no exception pending, if it gives null or throws.
    ///
    /// # Safety
    /// As [`Env::method`]; `method` is one of the class, and `arguments` are of its types.
    pub unsafe fn call_static_object(this: *mut Self, class: Object, method: MethodId, arguments: &[Value]) -> Option<Object> {
        let result =
            call!(this, CALL_STATIC_OBJECT_METHOD_A, fn(Object, MethodId, *const Value) -> Object, class, method, arguments.as_ptr());
        // SAFETY: as demanded of the caller.
        unsafe { Self::result(this, result) }
    }

    /// Calls a static method without arguments that gives a boolean; `None`, with no exception pending, if it throws.
    ///
    /// # Safety
    /// As [`Env::method`]; `method` is one of the class.
    pub unsafe fn call_static_boolean(this: *mut Self, class: Object, method: MethodId) -> Option<bool> {
        let result: u8 =
            call!(this, CALL_STATIC_BOOLEAN_METHOD_A, fn(Object, MethodId, *const Value) -> u8, class, method, std::ptr::null());
        // SAFETY: as demanded of the caller.
        unsafe { Self::clear_exception(this) }.then_some(result != 0)
    }

    /// A Java string; of characters that are one byte in UTF-8, or two or three.
    ///
    /// # Safety
    /// As [`Env::find_class`].
    pub unsafe fn string(this: *mut Self, text: &CStr) -> Option<Object> {
        let string = call!(this, NEW_STRING_UTF, fn(*const c_char) -> Object, text.as_ptr());
        // SAFETY: as demanded of the caller.
        unsafe { Self::result(this, string) }
    }

    /// A Java array of these objects, which are of that class.
    ///
    /// # Safety
    /// As [`Env::find_class`]; `class` is a reference to a class, and the elements to objects of it.
    pub unsafe fn array(this: *mut Self, class: Object, elements: &[Object]) -> Option<Object> {
        let null: Object = std::ptr::null_mut();
        let length = c_int::try_from(elements.len()).ok()?;
        let array = call!(this, NEW_OBJECT_ARRAY, fn(c_int, Object, Object) -> Object, length, class, null);
        // SAFETY: as demanded of the caller.
        let array = unsafe { Self::result(this, array) }?;
        for (i, &element) in (0..).zip(elements) {
            call!(this, SET_OBJECT_ARRAY_ELEMENT, fn(Object, c_int, Object) -> (), array, i, element);
            // SAFETY: as demanded of the caller.
            if !unsafe { Self::clear_exception(this) } {
                return None;
            }
        }
        Some(array)
    }

    /// An element of an array of objects: a new local reference; `None`, with no exception pending, if it is null or there is none. Blocks while the
    /// VM is stopped: never to be called with a lock of ours held.
    ///
    /// # Safety
    /// As [`Env::find_class`]; `array` is a non-null reference to such an array.
    pub unsafe fn element(this: *mut Self, array: Object, index: c_int) -> Option<Object> {
        let element = call!(this, GET_OBJECT_ARRAY_ELEMENT, fn(Object, c_int) -> Object, array, index);
        // SAFETY: as demanded of the caller.
        unsafe { Self::result(this, element) }
    }

    /// What a call has given, unless it has thrown or given null.
    unsafe fn result(this: *mut Self, result: *mut c_void) -> Option<*mut c_void> {
        // SAFETY: as demanded of the caller.
        (unsafe { Self::clear_exception(this) } && !result.is_null()).then_some(result)
    }

    /// Whether there was no exception; afterwards there is none.
    unsafe fn clear_exception(this: *mut Self) -> bool {
        // SAFETY: as demanded of the caller.
        let pending = unsafe { Self::has_exception(this) };
        if pending {
            call!(this, EXCEPTION_CLEAR, fn() -> (),);
        }
        !pending
    }
}
