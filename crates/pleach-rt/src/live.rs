//! Live runs: a program that keeps asking for input, driven without a process
//! for each event.
//!
//! The input of a live run is in the shared memory, and grows as it is asked
//! for. An *event* is one call for input. While there are events left, the
//! runtime takes the bytes that the driver has put there, and makes up the rest
//! at random, in this process: an event costs a few nanoseconds, and nobody is
//! told. When the events are used up the run *stands*: it says so and waits.
//! The driver may let it go on, or have it fork: then the process is a snapshot,
//! each child goes on from the very same state, and the parent reports how it
//! ended and waits again. A child that stands in its turn is spoken to next, so
//! snapshots are a stack.
//!
//! A child that only explores (`RUN_ENDS`) ends where it would stand, without
//! exit handlers: those would write out what the parent has in its buffers.
//! Files that the program has open are copied or opened anew for it, so that it
//! cannot move the parent's offsets; see [`files`].
//!
//! Only the process that the driver knows is live. What the program forks
//! itself sees the end of the input.

mod files;
mod random;

use crate::server::{receive, send, wait_for};
use crate::start::{header, state};
use crate::{input, sys};
use core::ffi::{c_int, c_void};
use pleach_abi::message::{self, Message};
use pleach_abi::shm;

pub struct State {
    on: bool,
    log: *mut u8,
    /// Bytes of the log that are there, and those that were taken.
    have: u64,
    taken: u64,
    limit: u64,
    events: u64,
    done: u64,
    random: bool,
    /// A fork that is ours is about to happen.
    forking: bool,
    watching: bool,
}

static mut STATE: State = State {
    on: false,
    log: core::ptr::null_mut(),
    have: 0,
    taken: 0,
    limit: 0,
    events: 0,
    done: 0,
    random: false,
    forking: false,
    watching: false,
};

#[inline(always)]
fn live() -> &'static mut State {
    // Safety: input is taken by one thread at a time.
    unsafe { &mut *&raw mut STATE }
}

/// Whether this run is live.
#[inline(always)]
pub fn on() -> bool {
    live().on
}

/// At the start of every run, in its process.
pub fn begin_run() {
    let Some(h) = header() else { return };
    let l = live();
    l.on = h.run_flags & shm::RUN_LIVE != 0 && state().input_fd >= 0;
    if !l.on {
        return;
    }
    l.log = (h as *mut shm::Header).cast::<u8>().wrapping_add(h.live_off as usize);
    l.taken = 0;
    if !l.watching {
        l.watching = true;
        unsafe extern "C" {
            // What `pthread_atfork` calls. That one is linked in statically, and needs
            // start files that a program may do without.
            fn __register_atfork(
                before: Option<extern "C" fn()>,
                parent: Option<extern "C" fn()>,
                child: Option<extern "C" fn()>,
                dso: *mut c_void,
            ) -> c_int;
        }
        // Safety: a function without arguments, in a program that is never unloaded.
        unsafe { __register_atfork(None, None, Some(forked), core::ptr::null_mut()) };
    }
    reload();
    replace_stdin();
}

extern "C" fn forked() {
    let l = live();
    if !l.forking {
        l.on = false;
    }
}

/// Takes what the driver has put into the header.
fn reload() {
    let Some(h) = header() else { return };
    let l = live();
    l.limit = h.live.limit.min(h.live_cap);
    l.have = h.live.have.min(l.limit).max(l.taken);
    l.events = h.live.events;
    l.random = h.live.random != 0;
    l.done = 0;
    (h.live_taken, h.live_events) = (l.taken, 0);
    random::seed(h.live.seed);
}

/// Takes exactly `n` bytes: a typed call.
pub fn take(to: *mut u8, n: u64) {
    begin_event(n);
    let l = live();
    if l.have < l.taken + n {
        // Safety: within the log, by `begin_event`.
        unsafe { random::number(l.log.add(l.have as usize), l.taken + n - l.have) };
        l.have = l.taken + n;
    }
    // Safety: the caller's; within the log.
    unsafe { core::ptr::copy_nonoverlapping(l.log.add(l.taken as usize), to, n as usize) };
    advance(n);
}

/// Takes up to `n` bytes, at least one: a read. A line is never read past its
/// end, so that programs which take a read for a message get messages.
pub fn read(to: *mut u8, n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    begin_event(1);
    let l = live();
    let most = if crate::terminal::on() { 1 } else { n.min(l.limit - l.taken) };
    let mut got = 0;
    while got < most {
        let at = (l.taken + got) as usize;
        if at as u64 == l.have {
            // Bytes that were put there are a read of their own.
            if !l.random || got != 0 && !random::more(got) {
                break;
            }
            // Safety: below the limit.
            unsafe { random::byte(l.log.add(at)) };
            l.have += 1;
        }
        // Safety: there, and the caller has room.
        let byte = unsafe { *l.log.add(at) };
        unsafe { *to.add(got as usize) = byte };
        got += 1;
        if byte == b'\n' {
            break;
        }
    }
    advance(got);
    crate::terminal::waits();
    got
}

fn advance(n: u64) {
    let l = live();
    l.taken += n;
    l.done += 1;
    l.events -= 1;
    if let Some(h) = header() {
        h.live_taken = l.taken;
        h.live_events = l.done;
    }
}

/// Returns when there is an event for which `n` bytes are there, or may be made.
fn begin_event(n: u64) {
    loop {
        let l = live();
        if l.on && l.events != 0 && l.taken + n <= l.limit && (l.random || l.taken + n <= l.have) {
            return;
        }
        if !l.on {
            crate::typed::leave();
        }
        match header() {
            Some(h) if h.run_flags & shm::RUN_ENDS == 0 => stand(),
            _ => sys::exit_now(0),
        }
    }
}

/// The end of a run that can get no more, though it does not stand at a call.
pub fn finish() -> ! {
    match header() {
        Some(h) if h.run_flags & shm::RUN_ENDS == 0 => crate::typed::leave(),
        _ => sys::exit_now(0),
    }
}

/// Waits for the driver's word; returns in the process that goes on.
#[cold]
fn stand() {
    let l = live();
    let pid = sys::getpid();
    let shared = files::look();
    crate::terminal::stand();
    let told = Message {
        kind: message::PAUSED,
        a: pid as u32,
        b: l.taken,
        c: l.done,
        d: shared | if has_threads() { message::PAUSED_WITH_THREADS } else { 0 },
    };
    send(told);
    loop {
        match receive().kind {
            message::GO => break,
            message::RUN => {
                l.forking = true;
                // Safety: as far as a fork of this process can be had at all.
                let child = i64::from(unsafe { sys::fork() });
                l.forking = false;
                if child == 0 {
                    crate::server::be_run();
                    files::part();
                    #[cfg(feature = "symbolic")]
                    crate::symbolic::begin_run();
                    break;
                }
                if child < 0 {
                    // As if it had been killed at once.
                    send(Message { kind: message::STARTED, a: 0, ..Message::default() });
                    send(Message { kind: message::DONE, a: 9, ..Message::default() });
                    continue;
                }
                sys::setpgid(child as u64, child as u64);
                send(Message { kind: message::STARTED, a: child as u32, ..Message::default() });
                wait_for(child, 0);
            }
            _ => sys::exit_now(0),
        }
    }
    crate::terminal::resume();
    reload();
}

pub fn has_threads() -> bool {
    unsafe extern "C" {
        static __libc_single_threaded: u8;
    }
    // Safety: libc's own variable.
    unsafe { (&raw const __libc_single_threaded).read_volatile() == 0 }
}

/// Bytes that the program has taken, counted from the first that has a label.
#[cfg(feature = "symbolic")]
pub fn labelled() -> u64 {
    let from = header().map_or(0, |h| h.live.label_from);
    live().taken.saturating_sub(from)
}

/// Bytes that could still come.
pub fn left() -> u64 {
    let l = live();
    l.limit - l.taken
}

/// The program's `stdin` becomes a stream whose buffer is filled from here, a
/// byte at a time: what is in a buffer would be missing from the snapshot.
fn replace_stdin() {
    #[repr(C)]
    struct Functions {
        read: extern "C" fn(*mut u8, *mut u8, usize) -> isize,
        rest: [usize; 3],
    }
    unsafe extern "C" {
        static mut stdin: *mut Head;
        fn fopencookie(cookie: *mut u8, mode: *const u8, functions: Functions) -> *mut Head;
    }
    /// The beginning and the descriptor of glibc's `FILE`.
    #[repr(C)]
    struct Head {
        flags: u32,
        pointers: [u64; 13],
        fileno: c_int,
    }
    extern "C" fn fill(_: *mut u8, to: *mut u8, n: usize) -> isize {
        read(to, n.min(1) as u64) as isize
    }
    if input::streams().all[0].kind != pleach_abi::container::STDIN {
        return;
    }
    const IS_FILEBUF: u32 = 0x2000;
    // Safety: a new stream takes the place of one that nothing was read from.
    unsafe {
        let functions = Functions { read: fill, rest: [0; 3] };
        let stream = fopencookie(core::ptr::null_mut(), c"r".as_ptr().cast(), functions);
        if !stream.is_null() {
            (*stream).flags |= IS_FILEBUF;
            (*stream).fileno = 0;
            stdin = stream;
        }
    }
}
