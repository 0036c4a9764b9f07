//! Where the bytes of a stream come from, and where they go: a channel of its descriptor
//! (`symbolic/channels`), or memory.
//!
//! libc writes the buffer of a stream when it wants to. So what a model writes goes to its
//! place in the channel at once: the offset of the descriptor, and what is in the buffer before
//! it. `putc_unlocked` may be inlined, and then stores to the buffer: the next model that is
//! called for the stream finds such bytes there.
//!
//! `fmemopen` reads and writes memory of the program, which has labels. Memory that libc
//! allocates, for `fmemopen` or `open_memstream`, is a channel without a descriptor.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy, is_clean};
use super::define::models;
use super::file::File;
use crate::symbolic::channels::{self, Arrival, Key, Way, Write};
use crate::symbolic::events::count_loss;
use crate::symbolic::{arena, is_labelling, objects};
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn ftello(fp: u64) -> i64;
        pub fn fflush(fp: u64) -> i32;
        pub fn fmemopen(buffer: u64, n: u64, mode: u64) -> u64;
        pub fn open_memstream(to: u64, size: u64) -> u64;
    }
}

models! {
    fn fmemopen(buffer: u64, n: u64, mode: u64) -> u64 {
        let fp = real::fmemopen(buffer.pin(), n.pin(), mode.pin());
        remember(Stream { fp, buffer: buffer.val, ..NO_STREAM });
        fp
    }
    fn open_memstream(to: u64, size: u64) -> u64 {
        let fp = real::open_memstream(to.pin(), size.pin());
        clear(to.val, 8);
        clear(size.val, 8);
        remember(Stream { fp, to: to.val, size: size.val, ..NO_STREAM });
        fp
    }
    fn fflush(fp: u64) -> i32 {
        let fp = fp.pin();
        if fp != 0 {
            settle(File(fp));
        }
        let out = real::fflush(fp);
        if fp != 0 && out == 0 {
            show_contents(fp);
        }
        out
    }
}

/// A stream without a descriptor.
#[derive(Clone, Copy)]
struct Stream {
    fp: u64,
    /// The memory of `fmemopen`; 0 if libc has allocated it.
    buffer: u64,
    /// Where `open_memstream` stores the address of the text and its size.
    to: u64,
    size: u64,
}

const MAX_STREAMS: usize = 64;
const NO_STREAM: Stream = Stream { fp: 0, buffer: 0, to: 0, size: 0 };
static mut STREAMS: [Stream; MAX_STREAMS] = [NO_STREAM; MAX_STREAMS];

/// There have been streams without a descriptor.
static mut ARE_OPEN: bool = false;

fn streams() -> &'static mut [Stream; MAX_STREAMS] {
    // Safety: a race between threads that open streams loses labels at worst.
    unsafe { &mut *&raw mut STREAMS }
}

fn remember(stream: Stream) {
    if stream.fp == 0 || !is_labelling() {
        return;
    }
    if let Some(place) = streams().iter_mut().find(|s| s.fp == 0) {
        *place = stream;
        // Safety: as in `streams`.
        unsafe { ARE_OPEN = true };
        channels::forget(key(stream.fp));
    }
}

/// The stream without a descriptor at this address. (libc does not set the descriptor of all of
/// them.)
fn find(fp: u64) -> Option<Stream> {
    // Safety: as in `streams`.
    if !unsafe { ARE_OPEN } {
        return None;
    }
    streams().iter().find(|s| s.fp == fp).copied()
}

fn key(fp: u64) -> Key {
    Key::private(2, fp)
}

fn memory_way(fp: u64) -> Way {
    Way::of_memory(key(fp))
}

/// The offset of a stream; what is in its buffer counts.
fn tell(fp: File) -> u64 {
    // Safety: a stream of the program.
    crate::sys::keep_errno(|| unsafe { real::ftello(fp.0) }).max(0) as u64
}

/// The arrival of `n` bytes, up to the end of the buffer. `None` for input, and for bytes that
/// the program cannot have written.
pub fn arrival(fp: File, n: u64) -> Option<Arrival> {
    if !is_labelling() {
        return None;
    }
    let fd = fp.inside().fileno;
    if let Some(stream) = find(fp.0) {
        let at = (tell(fp) + fp.buffered()).saturating_sub(n);
        return Some(match stream.buffer {
            0 => channels::arrival(memory_way(fp.0), at, true),
            buffer => channels::arrival_from_memory(buffer + at),
        });
    }
    let way = channels::read_way(fd)?;
    let at = super::fd::offset(fd).saturating_sub(n);
    Some(channels::arrival(way, at, true))
}

/// True if a function of the program fills the buffer, and so labels it.
pub fn is_function(fp: File) -> bool {
    fp.inside().fileno < 0 && find(fp.0).is_none()
}

/// As [`arrival`], for the buffer of a file that was moved. `None` if it is a queue, which cannot
/// be moved.
pub fn arrival_at_end(fp: File, n: u64) -> Option<Arrival> {
    arrival(fp, n).filter(|a| !a.is_from_queue())
}

/// Where a stream or a descriptor writes to.
pub struct Sink {
    target: Target,
    /// The stream; `None` for a descriptor.
    fp: Option<File>,
}

enum Target {
    Channel(Write),
    Memory(u64),
    /// A function of the program, behind libc's buffer.
    Function,
}

/// The last write of a stream. If nothing has moved since, the next one continues there: most
/// streams are written by a character or a few at a time, and each system call costs more.
struct Last {
    fp: u64,
    fd: i32,
    /// Where the next byte goes in the buffer.
    write_ptr: u64,
    write: Option<Write>,
}

static mut LAST: Last = Last { fp: 0, fd: -1, write_ptr: 0, write: None };

fn last() -> &'static mut Last {
    // Safety: used while there is one thread.
    unsafe { &mut *&raw mut LAST }
}

/// A descriptor or its position changes.
pub fn note_move() {
    last().write = None;
}

impl Sink {
    /// Where the next bytes go; called before the real function. `None` if what the stream
    /// writes cannot be read in this run.
    #[inline]
    pub fn of(fp: File) -> Option<Sink> {
        if !is_labelling() || channels::is_outside(fp.inside().fileno) && find(fp.0).is_none() {
            return None;
        }
        Sink::find(fp)
    }

    fn find(fp: File) -> Option<Sink> {
        let sink = |write| Sink { target: Target::Channel(write), fp: Some(fp) };
        if let Some(stream) = find(fp.0) {
            let at = tell(fp);
            return match stream.buffer {
                0 => channels::write_at(memory_way(fp.0), at).map(sink),
                buffer => Some(Sink { target: Target::Memory(buffer + at), fp: None }),
            };
        }
        let inside = fp.inside();
        let last = last();
        if (last.fp, last.fd, last.write_ptr) == (fp.0, inside.fileno, inside.write_ptr)
            && arena::is_single_threaded()
            && let Some(write) = last.write
        {
            return Some(sink(write));
        }
        if inside.fileno < 0 {
            return Some(Sink { target: Target::Function, fp: None });
        }
        let way = channels::write_way(inside.fileno)?;
        if way.is_queue {
            return channels::write_at(way, 0).map(sink);
        }
        let (start, at) = fp.write_place(way.size);
        let (from, n) = fp.pending();
        if n != 0 && (!is_clean(from, n) || !channels::holds(&way, start, from, n)) {
            channels::write_at(way, start)?.put(from, V::new(64, n), true);
            clear(from, n);
        }
        channels::write_at(way, at).map(sink)
    }

    /// Where the next bytes that are written to a descriptor go.
    pub fn of_descriptor(fd: i32) -> Option<Sink> {
        let way = channels::write_way(fd)?;
        let at = if way.is_appending(fd) { way.size } else { super::fd::offset(fd) };
        note_move();
        let write = channels::write_at(way, at)?;
        Some(Sink { target: Target::Channel(write), fp: None })
    }

    /// Bytes in memory were written, with their labels.
    pub fn put(&mut self, from: u64, n: V) {
        match &mut self.target {
            Target::Channel(write) => write.put(from, n, false),
            Target::Memory(at) => {
                copy(*at, from, n.val);
                *at += n.val;
            }
            Target::Function if is_clean(from, n.val) => {}
            Target::Function => count_loss(Loss::Channel),
        }
        self.remember();
    }

    pub fn put_byte(&mut self, byte: V) {
        match &mut self.target {
            Target::Channel(write) => write.put_byte(byte),
            Target::Memory(at) => {
                byte.store_label(*at);
                *at += 1;
            }
            Target::Function if byte.label == 0 => {}
            Target::Function => count_loss(Loss::Channel),
        }
        self.remember();
    }

    fn remember(&self) {
        if let (Target::Channel(write), Some(fp)) = (&self.target, self.fp) {
            let inside = fp.inside();
            let (fp, fd, write_ptr) = (fp.0, inside.fileno, inside.write_ptr);
            *last() = Last { fp, fd, write_ptr, write: Some(*write) };
        }
    }

    /// Bytes were written whose labels are lost.
    pub fn lose(&mut self) {
        match &mut self.target {
            Target::Channel(write) => write.lose(),
            Target::Memory(_) | Target::Function => count_loss(Loss::Channel),
        }
    }
}

/// Finds what inlined code has stored to the buffer, before it is written.
pub fn settle(fp: File) {
    if fp.pending().1 != 0 {
        Sink::of(fp);
    }
}

/// The descriptor of the stream is about to be closed or replaced.
pub fn change(fp: File) {
    settle(fp);
    note_move();
    channels::note_change(fp.inside().fileno);
}

/// Labels the text of `open_memstream`, after libc has stored its address and size.
pub fn show_contents(fp: u64) {
    let Some(stream) = find(fp).filter(|s| s.to != 0 && is_labelling()) else { return };
    // Safety: the program passed these addresses; libc has just written there.
    let (text, size) = unsafe { (*(stream.to as *const u64), *(stream.size as *const u64)) };
    clear(stream.to, 8);
    clear(stream.size, 8);
    if text != 0 {
        clear(text, size + 1);
        objects::set_heap_object(text, Some(size + 1));
        channels::copy_out(key(fp), text, size);
    }
}

/// The stream is about to be closed. Returns what to do afterwards.
pub fn close(fp: File) -> impl FnOnce() {
    change(fp);
    let number = streams().iter().position(|s| s.fp == fp.0);
    move || {
        let Some(number) = number else { return };
        show_contents(fp.0);
        channels::forget(key(fp.0));
        streams()[number] = NO_STREAM;
    }
}
