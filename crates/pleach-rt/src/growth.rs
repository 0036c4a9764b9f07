//! Typed calls at the end of the input.
//!
//! A call past the end of the input gets a fresh value, as in CREST, if the driver
//! allows the input to grow; the driver then keeps the longer input. Otherwise the
//! call ends the run. Either way the end of the input is not a decision, unless the
//! program can see it: by `pleach_length` and `pleach_left`, or because it reads the
//! same stream as a file. From then on the input does not grow, and a call is a decision
//! on the length, as a read is.

use crate::start::{header, state};
use crate::typed::CallStream;
use crate::{input, live, sys};
use pleach_abi::growth::fresh_byte;
use pleach_abi::{container, shm};

/// The typed calls of this run.
#[derive(PartialEq, Eq)]
pub struct Calls {
    /// Bytes taken so far.
    pub taken: u64,
    /// Number of fresh bytes: how much the stream has grown.
    pub fresh: u64,
    /// Bytes taken before the program could see where the stream ends.
    unseen: u64,
    end_is_seen: bool,
    /// One bit for each stream that the program has read as a file.
    streams_read: u64,
}

const NO_CALLS: Calls =
    Calls { taken: 0, fresh: 0, unseen: 0, end_is_seen: false, streams_read: 0 };

static mut CALLS: Calls = NO_CALLS;

pub fn calls() -> &'static mut Calls {
    // Safety: input calls are made by one thread at a time.
    unsafe { &mut *&raw mut CALLS }
}

/// At the start of every run.
pub fn begin_run() {
    // Where nothing was written, nothing is written: the page stays the server's.
    if *calls() != NO_CALLS {
        *calls() = NO_CALLS;
    }
}

/// True if the program can see where the stream ends.
pub fn is_end_seen(w: &CallStream) -> bool {
    let c = calls();
    let Some(h) = header() else { return c.end_is_seen };
    let is_read = w.stream.is_some_and(|stream| c.streams_read >> stream & 1 != 0);
    if is_read && !live::is_on() {
        h.growth.calls |= shm::CALLS_MIXED;
        see_end();
    }
    // The program reads a file or a connection itself, and so can see its end.
    let is_other =
        w.stream.is_some_and(|stream| input::streams().all[stream].kind != container::STDIN);
    c.end_is_seen || is_other || is_fixed()
}

/// True if the driver does not let the input grow.
fn is_fixed() -> bool {
    header().is_some_and(|h| h.run_flags & shm::RUN_FIXED != 0)
}

/// Notes that the program can see the end from now on.
pub fn see_end() {
    let c = calls();
    if !c.end_is_seen {
        (c.end_is_seen, c.unseen) = (true, c.taken);
    }
}

/// Notes that the program has read a stream as a file, or asked for its length.
#[cfg(feature = "symbolic")]
pub fn note_stream_read(stream: usize) {
    let c = calls();
    c.streams_read |= 1 << stream;
    if c.taken != 0 {
        is_end_seen(&crate::typed::call_stream());
    }
}

/// `len`, but at least what was taken before the end could be seen: a shorter input on
/// this path would have grown to that.
#[cfg(feature = "symbolic")]
pub fn at_least_unseen(len: crate::models::api::V) -> crate::models::api::V {
    let c = calls();
    if c.unseen == 0 || is_fixed() {
        return len;
    }
    let unseen = crate::models::api::V::new(64, c.unseen);
    len.ult(unseen).choose(unseen, len)
}

/// Grows the stream to `len` bytes; false if that is not allowed.
pub fn grow(w: &CallStream, len: u64) -> bool {
    let Some(h) = header().filter(|_| state().input_fd >= 0) else { return false };
    let c = calls();
    if c.fresh == 0 && is_stdin_read(w) {
        h.growth.calls |= shm::CALLS_MIXED;
        return false;
    }
    if len > h.growth.limit {
        h.growth.calls |= shm::CALLS_ENDED;
        return false;
    }
    c.fresh = len - w.len;
    h.growth.reached = len;
    true
}

/// True if the stream is standard input and its position is not 0. (The fast half has no
/// record of reads.)
fn is_stdin_read(w: &CallStream) -> bool {
    const SEEK_CUR: u64 = 1;
    let at_stdin = input::stream_of(0);
    at_stdin.is_some() && at_stdin == w.stream && sys::lseek(0, 0, SEEK_CUR) != 0
}

/// Writes the `n` fresh bytes from offset `from` of the stream to memory.
pub fn add_fresh(from: u64, to: *mut u8, n: u64) {
    let Some(h) = header().filter(|_| n != 0) else { return };
    for i in 0..n {
        // Safety: the caller of the typed call has room for them.
        unsafe { *to.add(i as usize) = fresh_byte(h.growth.seed, from + i) };
    }
    #[cfg(feature = "symbolic")]
    crate::symbolic::shadow::clear(to as u64, n);
}
