//! Live runs: one process takes many events, instead of one process for each input.
//!
//! The input of a live run is in the shared memory, and grows with every call for
//! input. An *event* is one such call. The driver allows a number of events. For each,
//! the runtime takes the bytes that the driver has filled in, and makes the rest at
//! random, in this process: an event costs a few nanoseconds and no message.
//!
//! When the events are used up the run is *paused*: it sends a message and waits. The
//! driver may resume it or fork it. A after_fork_by_program process is a snapshot: each child resumes
//! from the same state; the parent reports how the child ended, and stays paused. If a
//! child is paused in its turn, the driver talks to the child. So snapshots are a stack.
//!
//! A child that only explores (`RUN_ENDS`) ends where it would be paused, without
//! exit handlers: those would write out the parent's buffers once more. The child gets
//! its own copies of open files, so that it cannot move the parent's offsets; see
//! [`files`].
//!
//! Only the process that the driver knows is live. A process that the program forks
//! itself gets the end of the input.

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
    /// The live region: the input so far.
    log: *mut u8,
    /// Bytes of the log that are filled in.
    have: u64,
    /// Bytes of the log that the program has taken.
    taken: u64,
    limit: u64,
    /// Events that the run may still take.
    events_left: u64,
    /// Events taken since the run was last resumed.
    events_taken: u64,
    random: bool,
    /// The runtime itself is is_forking.
    is_forking: bool,
    /// The handler for forks of the program is registered.
    handler_is_set: bool,
}

static mut STATE: State = State {
    on: false,
    log: core::ptr::null_mut(),
    have: 0,
    taken: 0,
    limit: 0,
    events_left: 0,
    events_taken: 0,
    random: false,
    is_forking: false,
    handler_is_set: false,
};

#[inline(always)]
fn live() -> &'static mut State {
    // Safety: input is taken by one thread at a time.
    unsafe { &mut *&raw mut STATE }
}

/// True if this run is live.
#[inline(always)]
pub fn is_on() -> bool {
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
    if !l.handler_is_set {
        l.handler_is_set = true;
        unsafe extern "C" {
            // What `pthread_atfork` calls. `pthread_atfork` itself is linked statically
            // and needs start files that a program may lack.
            fn __register_atfork(
                before: Option<extern "C" fn()>,
                parent: Option<extern "C" fn()>,
                child: Option<extern "C" fn()>,
                dso: *mut c_void,
            ) -> c_int;
        }
        // Safety: a function without arguments, in a program that is never unloaded.
        unsafe {
            __register_atfork(None, None, Some(after_fork_by_program), core::ptr::null_mut())
        };
    }
    read_limits();
    replace_stdin();
}

/// In a child that the program after_fork_by_program: it is not live.
extern "C" fn after_fork_by_program() {
    let l = live();
    if !l.is_forking {
        l.on = false;
    }
}

/// Reads what the driver allows from the header.
fn read_limits() {
    let Some(h) = header() else { return };
    let l = live();
    l.limit = h.live.limit.min(h.live_cap);
    l.have = h.live.have.min(l.limit).max(l.taken);
    l.events_left = h.live.events;
    l.random = h.live.random != 0;
    l.events_taken = 0;
    (h.live_taken, h.live_events) = (l.taken, 0);
    random::begin_stretch(h.live.seed);
}

/// Takes exactly `n` bytes, for a typed call.
pub fn take_exactly(to: *mut u8, n: u64) {
    wait_for_event(n);
    let l = live();
    if l.have < l.taken + n {
        // Safety: within the log, by `wait_for_event`.
        unsafe { random::write_call(l.log.add(l.have as usize), l.taken + n - l.have) };
        l.have = l.taken + n;
    }
    // Safety: the caller has room for `n` bytes; they are within the log.
    unsafe { core::ptr::copy_nonoverlapping(l.log.add(l.taken as usize), to, n as usize) };
    advance(n);
}

/// Takes 1 to `n` bytes, for a read. A read ends with the end of a line, so that a
/// program that takes one read for one message gets messages.
pub fn read(to: *mut u8, n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    wait_for_event(1);
    let l = live();
    let max = if crate::terminal::is_on() { 1 } else { n.min(l.limit - l.taken) };
    let mut got = 0;
    while got < max {
        let at = (l.taken + got) as usize;
        if at as u64 == l.have {
            // Random bytes never follow the driver's bytes in one read.
            if !l.random || got != 0 && !random::continues_read(got) {
                break;
            }
            // Safety: below the limit.
            unsafe { random::write_byte(l.log.add(at)) };
            l.have += 1;
        }
        // Safety: filled in, and the caller has room.
        let byte = unsafe { *l.log.add(at) };
        unsafe { *to.add(got as usize) = byte };
        got += 1;
        if byte == b'\n' {
            break;
        }
    }
    advance(got);
    crate::terminal::note_wait();
    got
}

fn advance(n: u64) {
    let l = live();
    l.taken += n;
    l.events_taken += 1;
    l.events_left -= 1;
    if let Some(h) = header() {
        h.live_taken = l.taken;
        h.live_events = l.events_taken;
    }
}

/// Returns when the run may take an event of `n` bytes: they are filled in, or may be
/// random. Until then the run is paused, or it ends.
fn wait_for_event(n: u64) {
    loop {
        let l = live();
        if l.on
            && l.events_left != 0
            && l.taken + n <= l.limit
            && (l.random || l.taken + n <= l.have)
        {
            return;
        }
        if !l.on {
            crate::typed::end_run();
        }
        match header() {
            Some(h) if h.run_flags & shm::RUN_ENDS == 0 => pause(),
            _ => sys::exit_now(0),
        }
    }
}

/// Ends a run that gets no more input, at a place where it cannot be paused.
pub fn end_run() -> ! {
    match header() {
        Some(h) if h.run_flags & shm::RUN_ENDS == 0 => crate::typed::end_run(),
        _ => sys::exit_now(0),
    }
}

/// Pauses the run: waits for the driver's messages. Returns in the process that resumes.
#[cold]
fn pause() {
    let l = live();
    let pid = sys::getpid();
    let shared = files::list();
    crate::terminal::save_modes();
    send(Message {
        kind: message::PAUSED,
        a: pid as u32,
        b: l.taken,
        c: l.events_taken,
        d: shared | if has_threads() { message::PAUSED_WITH_THREADS } else { 0 },
    });
    loop {
        match receive().kind {
            message::GO => break,
            message::RUN => {
                l.is_forking = true;
                // Safety: other threads are missing in the child; `PAUSED` has told so.
                let child = i64::from(unsafe { sys::fork() });
                l.is_forking = false;
                if child == 0 {
                    crate::server::become_run(header().map_or(0, |h| h.run_flags));
                    files::separate();
                    #[cfg(feature = "symbolic")]
                    crate::symbolic::begin_run();
                    break;
                }
                if child < 0 {
                    // The fork failed: report a run that was killed at once.
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
    read_limits();
}

pub fn has_threads() -> bool {
    unsafe extern "C" {
        static __libc_single_threaded: u8;
    }
    // Safety: libc's own variable.
    unsafe { (&raw const __libc_single_threaded).read_volatile() == 0 }
}

/// Number of labelled bytes that the program has taken.
#[cfg(feature = "symbolic")]
pub fn labelled_taken() -> u64 {
    let from = header().map_or(0, |h| h.live.label_from);
    live().taken.saturating_sub(from)
}

/// Number of bytes that the input may still grow by.
pub fn bytes_left() -> u64 {
    let l = live();
    l.limit - l.taken
}

/// Replaces the program's `stdin` by a stream that takes one byte at a time from the
/// live input. With more, the bytes in its buffer would be taken before a snapshot and
/// used after it.
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
    /// The head of glibc's `FILE`, up to its descriptor.
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
    // Safety: nothing was read from the old stream.
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
