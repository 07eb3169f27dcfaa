// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The agent as the VM sees it: loading, JVMTI's events, and what the process has one of.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::answers::Answers;
use crate::beacon::Beacon;
use crate::connection::Connection;
use crate::cql::Cql;
use crate::datagram::{Datagrams, Key};
use crate::flight::Events;
use crate::gate::{Gate, VmWatch};
use crate::guard::guarded;
use crate::health;
use crate::http1::{Http1, Leave};
use crate::http2::Http2;
use crate::intercept::{self, Binding};
use crate::jni;
use crate::jvmti::{self, Callbacks, Event};
use crate::kernel;
use crate::metrics::{self, Metrics};
use crate::options::Options;
use crate::outlets::Outlets;
use crate::pause::PauseClock;
use crate::perf_memory::{self, PerfMemory, SafepointWatch};
use crate::protocol::Opaque;
use crate::resp::Resp;
use crate::socket::Watched;
use crate::spoken::Spoken;
use crate::table::Table;
use crate::tls;
use crate::unseen::Ports;
use crate::vm_counters::VmCounters;

/// The oldest release that the agent knows.
const OLDEST: u32 = 17;

/// When the VM is stopped.
pub static CLOCK: PauseClock = PauseClock::new();
/// What was done.
pub static METRICS: Metrics = Metrics::new();

/// The last that was done.
static ANSWERS: Answers = Answers::new();

/// What is known once the VM runs.
struct Running {
    options: Options,
    deadline_headers: std::sync::Arc<[String]>,
    leave: std::sync::Arc<Leave>,
    watched: Watched,
    ports: Ports,
}

static RUNNING: OnceLock<Running> = OnceLock::new();
static OPTIONS: OnceLock<Options> = OnceLock::new();
/// Of datagrams, read before the VM runs.
static DATAGRAMS_KEY: OnceLock<Key> = OnceLock::new();
/// Of TLS, what was had before the VM ran.
static TLS_PREPARED: Mutex<Option<tls::Prepared>> = Mutex::new(None);
static TLS: OnceLock<tls::Serving> = OnceLock::new();
static GATE_ENDED: AtomicBool = AtomicBool::new(false);
static COPY_TOLD: AtomicBool = AtomicBool::new(false);
static IO_URING_TOLD: AtomicBool = AtomicBool::new(false);
static REFUSED_TOLD: AtomicBool = AtomicBool::new(false);
static LIBRARY: OnceLock<Library> = OnceLock::new();

/// A handle of `dlopen` of the VM's library.
struct Library(*mut c_void);
// SAFETY: such handles are of the process.
unsafe impl Send for Library {}
// SAFETY: the same.
unsafe impl Sync for Library {}

/// A line on the standard error. That this may be a full disk, or a pipe that nobody reads any more, is no reason to end a thread of the VM's.
pub fn complain(text: &str) {
    let _ = std::io::stderr().write_all(format!("lull gate: {text}\n").as_bytes());
}

/// The same, the first time that `told` is passed.
fn complain_once(told: &AtomicBool, text: &str) {
    if !told.swap(true, Ordering::Relaxed) {
        complain(text);
    }
}

/// A connection was accepted: the gate's from now on if its port is.
pub fn accepted(fd: i32, blocking: bool) {
    let Some(running) = RUNNING.get() else { return };
    if GATE_ENDED.load(Ordering::Acquire) {
        return;
    }
    let Some(port) = kernel::tcp_local_port(fd) else { return };
    let names = || running.deadline_headers.clone();
    let protocol = if running.options.ports.contains(&port) {
        Spoken::Http1(Http1::new(names()).leaving(running.leave.clone()).with_retry_after(running.options.retry_after))
    } else if running.options.h2_ports.contains(&port) && !running.options.dry_run {
        // In a dry run nothing is changed, and without a change of SETTINGS nothing could be answered.
        let http = Http2::new(names(), Duration::from_millis(running.options.deadline_ms));
        Spoken::Http2(Box::new(http.with_retry_after(running.options.retry_after)))
    } else if running.options.cql_ports.contains(&port) {
        Spoken::Cql(Cql::new(names()))
    } else if running.options.resp_ports.contains(&port) {
        Spoken::Resp(Resp::default())
    } else {
        return;
    };
    let (Some(inode), totals) = (kernel::inode(fd), kernel::tcp_totals(fd)) else { return };
    let Ok(Some(totals)) = totals.inspect_err(|error| complain_once(&REFUSED_TOLD, &not_watched(error))) else { return };
    METRICS.connections.add(1);
    running.ports.seen(port);
    let table = Table::global();
    table.track(fd, inode, blocking, Connection::new(protocol, totals));
    if running.watched.add(fd).is_err() {
        // Not to be seen in pauses, so nothing needs to be followed.
        table.forget(fd);
    }
}

/// A filter of system calls does that: the service goes on as without the agent, and whoever looks should know why.
fn not_watched(error: &std::io::Error) -> String {
    format!("a connection is not watched, nor others for which this holds: getsockopt(TCP_INFO) or its queues: {error}: permit it")
}

/// The client at the other end of a connection of the application's: behind TLS that the gate serves, the client of that.
pub fn client_of(fd: i32) -> Option<SocketAddr> {
    let peer = kernel::tcp_peer(fd)?;
    TLS.get().and_then(|tls| tls.peer(peer)).or(Some(peer))
}

/// What threads of the application have left of the gate's unwritten, which the gate's thread finishes.
struct Unsent {
    /// On these connections.
    connections: BTreeSet<i32>,
    /// The gate's thread comes soon without being called: a client that does not read would have it woken by each read of the application's.
    gate_ticks: bool,
}

static UNSENT: Mutex<Unsent> = Mutex::new(Unsent { connections: BTreeSet::new(), gate_ticks: false });

fn unsent() -> MutexGuard<'static, Unsent> {
    UNSENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// To be called when an update has left something unwritten.
pub fn connection_has_unsent(fd: i32) {
    let mut unsent = unsent();
    let must_call = unsent.connections.is_empty() && !unsent.gate_ticks;
    unsent.connections.insert(fd);
    drop(unsent);
    // It may be about to sleep for long. For those that come before it has taken them, once is enough.
    if must_call {
        CLOCK.call();
    }
}

/// Whether the gate's thread, which is about to sleep, has to come again soon: it `must` for what it knows of, or there is something new.
pub fn gate_ticks(must: bool) -> bool {
    let mut unsent = unsent();
    unsent.gate_ticks = must || !unsent.connections.is_empty();
    unsent.gate_ticks
}

/// These connections, once.
pub fn take_unsent() -> BTreeSet<i32> {
    std::mem::take(&mut unsent().connections)
}

/// To be called when an update has made a connection opaque.
pub fn connection_became_opaque(fd: i32, reason: Opaque) {
    METRICS.opaque[reason.index()].add(1);
    if let Some(running) = RUNNING.get() {
        running.watched.remove(fd);
        if running.options.verbose {
            complain(&format!("connection {fd} is left alone from now on: {reason:?}"));
        }
    }
}

/// What tells others of pauses, or nothing and a line of why not: another user of the machine may hold a name or a port first, and must not be
/// able to turn the gate off by it. Unless the options say that it is `required`: then the reason is an error.
fn or_without<T>(required: bool, made: std::io::Result<T>, why: impl FnOnce(&std::io::Error) -> String) -> Result<Option<T>, String> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(error) if required => Err(why(&error)),
        Err(error) => {
            complain(&format!("{}; the gate goes on without", why(&error)));
            Ok(None)
        }
    }
}

/// Where it is told that the JVM is stopped, as far as it can be.
fn outlets(options: &Options) -> Result<Outlets, String> {
    let mut outlets = Outlets::default();
    if let Some(path) = &options.beacon {
        let help = "give it a directory that only the service's user may write to";
        let why = |error: &std::io::Error| format!("the beacon cannot be put at {}: {error}: {help}", path.display());
        outlets.beacon = or_without(options.required, Beacon::create(path), why)?;
    }
    for address in &options.datagrams {
        let made = Datagrams::to(*address, options.told_ports(), DATAGRAMS_KEY.get());
        let made = or_without(options.required, made, |error| format!("no datagrams can be sent to {address}: {error}"))?;
        outlets.datagrams.extend(made);
    }
    Ok(outlets)
}

/// # Safety
/// `env` is the current thread's.
unsafe fn start_gate(env: *mut jni::Env, memory: Option<&PerfMemory>) -> Result<(), String> {
    let running = RUNNING.get().expect("set before");
    let watch = memory.and_then(|memory| {
        let (begun, time) = (memory.counter("sun.rt.safepoints")?, memory.counter("sun.rt.safepointTime")?);
        CLOCK.watch_safepoints(time);
        Some(SafepointWatch::new(Box::new(move || begun.get()) as Box<dyn Fn() -> i64 + Send>, Box::new(move || time.get()) as _))
    });
    let watch: Option<VmWatch> = watch.filter(|_| running.options.poll_us > 0);
    let required = running.options.required;
    let mut outlets = outlets(&running.options)?;
    // SAFETY: as demanded; the VM's own pointer.
    outlets.events = unsafe { jni::Env::vm(env).and_then(|vm| Events::start(vm, &METRICS, running.options.verbose).ok()) };
    if outlets.events.is_none() {
        complain("the flight recorder will not be told of pauses: no thread can be started");
    }
    let mut gate = Gate::new(running.options.clone(), &CLOCK, &running.watched, &METRICS, memory.map(VmCounters::new), watch, outlets);
    if let Some(address) = running.options.metrics {
        if address.ip().to_canonical().is_loopback() {
            gate = gate.telling(&ANSWERS);
        }
        let served = metrics::serve(address, &METRICS, &ANSWERS, &CLOCK);
        or_without(required, served, |error| format!("the metrics cannot be served at {address}: {error}"))?;
    }
    if let Some(address) = running.options.agent_check {
        let served = health::serve_agent_check(address, &CLOCK);
        or_without(required, served, |error| format!("agent checks cannot be answered at {address}: {error}"))?;
    }
    if let Some(prepared) = TLS_PREPARED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let started = or_without(required, prepared.start(&METRICS, complain), |error| format!("TLS cannot be served: {error}"))?;
        if let Some(serving) = started {
            let _ = TLS.set(serving);
        }
    }
    // No harm is done without it.
    let _ = std::thread::Builder::new().name("gate ports".into()).spawn(move || running.ports.watch_kernel(tell_unseen));
    let spawned = std::thread::Builder::new().name("lull gate".into()).spawn(move || {
        // Before the collector's own threads, if we may: on a machine whose processors are all busy, a pause is when we are needed.
        // SAFETY: no pointer is passed; 0 is the calling thread.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -10) };
        if guarded(|| gate.run()).is_none() {
            complain("a defect: the gate has stopped; the service goes on without it");
            CLOCK.vm_ends();
        }
        GATE_ENDED.store(true, Ordering::Release);
    });
    spawned.map(drop).map_err(|error| format!("no thread can be started: {error}"))
}

/// Connections at this port come by a way that the gate does not stand before.
fn tell_unseen(port: u16) {
    complain(&format!(
        "port {port} has had connections for a minute, and none of them is watched: they come by a transport that the gate does not know \
         (Netty's io_uring, a relocated Netty), so that their requests wait; take netty-transport-native-io_uring off the class path, \
         or have Netty use NIO or epoll (Reactor Netty: -Dreactor.netty.native=false)"
    ));
}

/// Signals are the VM's: the gate's threads take none. Threads inherit the mask of the one that starts them.
fn without_signals<T>(f: impl FnOnce() -> T) -> T {
    // SAFETY: valid sets, of which the old one is put back.
    unsafe {
        let (mut all, mut old): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP] {
            libc::sigdelset(&raw mut all, fault);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, std::ptr::null_mut());
        result
    }
}

/// The VM is initialised: everything begins.
fn vm_init(env: *mut jni::Env) -> Result<(), String> {
    let options = OPTIONS.get().ok_or("no options")?.clone();
    // SAFETY: in the VMInit event, on its thread.
    unsafe { intercept::jdk::prepare(env) }?;
    // SAFETY: the handle that Agent_OnLoad has opened.
    let memory = unsafe { PerfMemory::find(LIBRARY.get().ok_or("no library of the VM")?.0) };
    if let Err(reason) = &memory {
        complain(&format!("pauses that are no collections are not seen, and collections of all kinds are predicted alike: {reason}"));
    }
    let watched = Watched::new().map_err(|error| format!("no epoll set can be made: {error}"))?;
    let deadline_headers = options.deadline_headers.clone().into();
    let leave = Leave { paths: options.leave.clone(), agents: options.leave_agents.clone() }.into();
    let ports = Ports::new(options.watched_ports());
    if RUNNING.set(Running { options, deadline_headers, leave, watched, ports }).is_err() {
        return Err("started twice".to_string());
    }
    // SAFETY: on the event's thread.
    let started = without_signals(|| unsafe { start_gate(env, memory.as_ref().ok()) });
    if started.is_err() {
        // No connection is followed, and the VM's end waits for nobody.
        GATE_ENDED.store(true, Ordering::Release);
    }
    started
}

unsafe extern "system" fn on_vm_init(_jvmti: *mut jvmti::Env, env: *mut jni::Env, _thread: jni::Object) {
    let reason = match guarded(|| vm_init(env)) {
        Some(Ok(())) => return,
        Some(Err(reason)) => reason,
        None => "a defect".to_string(),
    };
    complain(&format!("the gate is off: {reason}"));
    if OPTIONS.get().is_some_and(|options| options.required) {
        complain("the VM ends, for the option 'required' is given; without it, the service would go on without the gate");
        // SAFETY: nothing of the program has run. Handlers of `exit` belong to libraries that the VM's threads still use.
        unsafe { libc::_exit(1) };
    }
}

unsafe extern "system" fn on_vm_death(_jvmti: *mut jvmti::Env, _env: *mut jni::Env) {
    guarded(|| CLOCK.vm_ends());
    if let Some(tls) = TLS.get() {
        guarded(|| tls.end());
    }
    // The counters go away after this; the thread leaves within a tick.
    let give_up = Instant::now() + Duration::from_secs(2);
    while RUNNING.get().is_some() && !GATE_ENDED.load(Ordering::Acquire) && Instant::now() < give_up {
        std::thread::sleep(Duration::from_micros(200));
    }
}

unsafe extern "system" fn on_collection_start(_jvmti: *mut jvmti::Env) {
    guarded(|| CLOCK.collection_begins());
}

unsafe extern "system" fn on_collection_finish(_jvmti: *mut jvmti::Env) {
    guarded(|| CLOCK.collection_ends());
}

unsafe extern "system" fn on_native_method_bind(
    jvmti: *mut jvmti::Env,
    env: *mut jni::Env,
    _thread: jni::Object,
    method: *mut c_void,
    address: *mut c_void,
    replacement: *mut *mut c_void,
) {
    // SAFETY: the event's arguments.
    guarded(|| unsafe { bind(jvmti, env, method, address, replacement) });
}

/// A method's own function may be replaced by ours.
///
/// # Safety
/// The arguments of the event of a native method that is bound.
unsafe fn bind(jvmti: *mut jvmti::Env, env: *mut jni::Env, method: *mut c_void, address: *mut c_void, replacement: *mut *mut c_void) {
    // SAFETY: as demanded; names may be asked for from the start phase on.
    unsafe {
        let phase = jvmti::Env::phase(jvmti);
        if phase != jvmti::PHASE_START && phase != jvmti::PHASE_LIVE {
            return;
        }
        let Some([class, name, signature]) = jvmti::Env::method(jvmti, env, method) else { return };
        match intercept::binding(&class, &name, &signature, address) {
            Binding::Ours(ours) => {
                *replacement = ours.cast_mut();
                if OPTIONS.get().is_some_and(|options| options.verbose) {
                    complain(&format!("stands before {}{}", class.to_string_lossy(), name.to_string_lossy()));
                }
            }
            Binding::AnotherCopy => complain_once(
                &COPY_TOLD,
                "another copy of Netty's native library is loaded, by another class loader: its connections are not watched",
            ),
            Binding::Unwatched => complain_once(
                &IO_URING_TOLD,
                "Netty's io_uring transport is loaded: connections on it are not watched, and their requests wait as without the gate; Netty's NIO and epoll transports are watched",
            ),
            Binding::Left => {}
        }
    }
}

/// Refuses a VM that the agent does not know, in a sentence.
///
/// # Safety
/// `vm` and `jvmti` are the VM's own.
unsafe fn know_vm(vm: *mut jni::JavaVm, jvmti: *mut jvmti::Env) -> Result<Library, String> {
    let property = |name: &CStr| {
        // SAFETY: as demanded.
        unsafe { jvmti::Env::property(jvmti, name) }.unwrap_or_else(|| "unknown".to_string())
    };
    let name = property(c"java.vm.name");
    let release = property(c"java.vm.specification.version");
    // SAFETY: an address in the VM's library; dladdr writes one Dl_info; the name lives as long as the library.
    let library = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(jni::JavaVm::address_in_vm(vm), &raw mut info) == 0 || info.dli_fname.is_null() {
            std::ptr::null_mut()
        } else {
            libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD)
        }
    };
    // SAFETY: a handle of dlopen.
    if library.is_null() || !unsafe { perf_memory::is_hotspot(library) } {
        return Err(format!("this VM is '{name}', not HotSpot; the gate knows HotSpot 17, 21 and 25 only"));
    }
    match release.parse::<u32>() {
        Ok(release) if release >= OLDEST => {}
        _ => return Err(format!("this VM is of Java {release}; the gate needs 17 or later")),
    }
    Ok(Library(library))
}

/// # Safety
/// The VM's arguments of `Agent_OnLoad`.
unsafe fn load(vm: *mut jni::JavaVm, options: *const c_char) -> Result<(), String> {
    let text = if options.is_null() {
        CString::default()
    } else {
        // SAFETY: the VM's string.
        unsafe { CStr::from_ptr(options) }.to_owned()
    };
    let options = Options::parse(text.to_str().map_err(|_| "the options are not UTF-8")?).map_err(|error| error.to_string())?;
    // SAFETY: the VM's pointer.
    let Some(env) = (unsafe { jni::JavaVm::environment(vm, jvmti::VERSION) }) else {
        return Err("this VM has no JVMTI of version 11".to_string());
    };
    let env = env.cast::<jvmti::Env>();
    if let Some(path) = &options.datagrams_key {
        let _ = DATAGRAMS_KEY.set(Key::read(path)?);
    }
    if let Some(tls) = &options.tls {
        let prepared = tls::Prepared::new(tls, &options)?;
        *TLS_PREPARED.lock().unwrap_or_else(PoisonError::into_inner) = Some(prepared);
    }
    // SAFETY: an environment that was just made, callbacks of the events' types in a library that stays loaded.
    unsafe {
        let library = match know_vm(vm, env) {
            Ok(library) => library,
            Err(reason) => {
                jvmti::Env::dispose(env);
                return Err(reason);
            }
        };
        jvmti::Env::add_capabilities(env, &jvmti::WANTED)
            .map_err(|error| format!("the VM refuses the events of native methods and collections (JVMTI error {error})"))?;
        let mut callbacks = Callbacks::none();
        callbacks.set(Event::VmInit, on_vm_init as *const c_void);
        callbacks.set(Event::VmDeath, on_vm_death as *const c_void);
        callbacks.set(Event::NativeMethodBind, on_native_method_bind as *const c_void);
        callbacks.set(Event::GarbageCollectionStart, on_collection_start as *const c_void);
        callbacks.set(Event::GarbageCollectionFinish, on_collection_finish as *const c_void);
        let failed = |error| format!("the VM refuses an event (JVMTI error {error})");
        jvmti::Env::set_callbacks(env, &callbacks).map_err(failed)?;
        if OPTIONS.set(options).is_err() || LIBRARY.set(library).is_err() {
            return Err("the agent is loaded twice".to_string());
        }
        for event in [Event::VmInit, Event::VmDeath, Event::NativeMethodBind, Event::GarbageCollectionStart, Event::GarbageCollectionFinish]
        {
            jvmti::Env::enable(env, event, true).map_err(failed)?;
        }
    }
    Ok(())
}

/// The VM loads the agent at its start.
///
/// # Safety
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut jni::JavaVm, options: *const c_char, _reserved: *mut c_void) -> c_int {
    // SAFETY: the VM's arguments.
    match guarded(|| unsafe { load(vm, options) }) {
        Some(Ok(())) => jni::OK,
        Some(Err(reason)) => {
            complain(&reason);
            jni::ERR
        }
        None => jni::ERR,
    }
}

/// The VM would load the agent into a service that runs already: refused, for connections that exist could not be followed from
/// their first byte on, and methods that are bound would have to be bound anew.
///
/// # Safety
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(_vm: *mut jni::JavaVm, _options: *const c_char, _reserved: *mut c_void) -> c_int {
    guarded(|| complain("the gate cannot be attached to a VM that runs; start it with -agentpath:liblull_gate.so=port=..."));
    jni::ERR
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another user may have put something at the beacon's place that is not ours to replace, or listen at the port.
    #[test]
    fn what_cannot_be_told_to_others_does_not_keep_the_gate_from_starting() {
        let directory = std::env::temp_dir().join(format!("lull-gate-taken-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let text = format!("port=1,beacon={},datagrams={taken}", directory.display());
        let made = outlets(&Options::parse(&text).unwrap()).unwrap();
        assert!(made.beacon.is_none() && made.datagrams.len() == 1);
        let why = outlets(&Options::parse(&format!("{text},required")).unwrap()).map(drop).unwrap_err();
        assert!(why.contains("the beacon cannot be put at") && why.contains("give it a directory"), "{why}");
        let mut said = String::new();
        let made: Option<()> = or_without(false, Err(std::io::ErrorKind::AddrInUse.into()), |error| {
            said = error.to_string();
            "a test takes a port".to_owned()
        })
        .unwrap();
        assert!(made.is_none() && said == "address in use");
        std::fs::remove_dir(directory).unwrap();
    }

    #[test]
    fn what_is_left_unwritten_keeps_the_gate_awake() {
        const LONG: u64 = 10_000_000_000;
        let begin = Instant::now();
        for _ in 0..2 {
            let state = CLOCK.answer_call();
            // No descriptor.
            connection_has_unsent(-7);
            connection_has_unsent(-8);
            CLOCK.wait_while(state, LONG);
            assert_eq!(take_unsent(), BTreeSet::from([-8, -7]));
        }
        assert!(begin.elapsed() < Duration::from_nanos(LONG), "it slept");
        // It need not be called while it comes anyway; and what it is not called for, it sees before it sleeps.
        let state = CLOCK.answer_call();
        assert!(gate_ticks(true));
        connection_has_unsent(-7);
        assert_eq!(CLOCK.state(), state);
        assert!(gate_ticks(false));
        assert_eq!(take_unsent(), BTreeSet::from([-7]));
        assert!(!gate_ticks(false));
        connection_has_unsent(-8);
        assert_ne!(CLOCK.state(), state);
        assert_eq!(take_unsent(), BTreeSet::from([-8]));
    }
}
