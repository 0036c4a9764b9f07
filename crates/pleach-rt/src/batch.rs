//! Many inputs for one message. A process that waits for its next input (`__AFL_LOOP`,
//! `LLVMFuzzerTestOneInput`) gets a *batch*: the inputs lie in the shared memory, and the
//! process runs them one after the other. After each it stores which counters moved, clears
//! them, and publishes which input comes next. So an input costs no system call and no
//! switch of processes. A crash ends the batch; the driver knows at which input.
//!
//! The bytes of an input go to where the program takes them: to the buffer of libFuzzer or
//! AFL from the shared memory. A program that reads standard input or a file gets them
//! through the input file, as in a single run.

use crate::start::{header, state};
use crate::{cover, fuzzer, sys};
use pleach_abi::shm::{BATCH_LINES, BATCH_MAX, BatchEntry, Header, Line};

struct Batch {
    /// Number of inputs; 0: this is not a batch.
    len: u32,
    at: u32,
    /// Lines in use.
    lines: usize,
}

static mut BATCH: Batch = Batch { len: 0, at: 0, lines: 0 };

fn batch() -> &'static mut Batch {
    // Safety: used by the one thread that runs the program's loop.
    unsafe { &mut *&raw mut BATCH }
}

/// The process was woken for an input, or for a batch.
pub fn begin() {
    let b = batch();
    *b = Batch { len: 0, at: 0, lines: 0 };
    if let Some(h) = header() {
        b.len = h.batch_len.min(BATCH_MAX as u32);
        h.batch_at = 0;
        b.put_input(h);
    }
}

/// An input is done. True if the next one is in place; false if the process must wait.
pub fn next() -> bool {
    let (b, Some(h)) = (batch(), header()) else { return false };
    if b.len == 0 {
        return false;
    }
    let Some(entry) = entry(h, b.at) else { return false };
    // Safety: the region has room for these lines: see below.
    let room = unsafe { region::<Line>(h, h.lines_off).add(b.lines) };
    let moved = cover::take_lines(room);
    entry.lines_from = b.lines as u32;
    b.lines += moved;
    entry.lines_to = b.lines as u32;
    entry.growth = h.growth;
    b.at += 1;
    h.batch_at = b.at;
    let is_full = b.lines >= BATCH_LINES || b.lines + cover::max_lines() > h.lines_cap as usize;
    if b.at == b.len || is_full {
        b.len = 0;
        return false;
    }
    b.put_input(h);
    true
}

/// The bytes of the input, if it is one of a batch.
pub fn bytes() -> Option<*const u8> {
    let (b, h) = (batch(), header()?);
    let entry = (b.len != 0).then(|| entry(h, b.at))??;
    Some(region::<u8>(h, h.batch_off).wrapping_add(entry.at as usize))
}

impl Batch {
    /// Makes an input of the batch the input of the run.
    fn put_input(&self, h: &mut Header) {
        if self.len == 0 {
            return;
        }
        let Some(entry) = entry(h, self.at) else { return };
        let (at, len) = (entry.at, entry.len);
        h.growth = entry.growth;
        h.input_len = len;
        if !fuzzer::is_in_memory() {
            let from = region::<u8>(h, h.batch_off).wrapping_add(at as usize);
            let fd = state().input_fd as u64;
            sys::pwrite(fd, from as u64, len, 0);
            sys::ftruncate(fd, len);
        }
    }
}

fn entry(h: &Header, at: u32) -> Option<&'static mut BatchEntry> {
    // Safety: the region begins with `BATCH_MAX` entries, and is mapped.
    let is_entry = (at as usize) < BATCH_MAX && h.batch_cap != 0;
    is_entry.then(|| unsafe { &mut *region::<BatchEntry>(h, h.batch_off).add(at as usize) })
}

fn region<T>(h: &Header, offset: u64) -> *mut T {
    (&raw const *h).cast_mut().cast::<u8>().wrapping_add(offset as usize).cast()
}
