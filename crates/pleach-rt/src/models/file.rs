//! The inside of glibc's `FILE`, for the stdio models.
//!
//! The buffer of a stream is labelled when it is filled: the model calls the real fill, and
//! gives `[read_ptr, read_end)` the labels of the input at the position of the descriptor.
//! Then all code reads labels from the buffer as from any memory, also `getc_unlocked` that
//! is inlined into the program. The label of a byte also tells its offset in the input, so
//! there is no table of streams: taking the byte at offset `i` shows that the input is
//! longer than `i`.
//!
//! Streams without a descriptor are in `stream_way`; cookie streams stay concrete. Wide
//! streams have another buffer and stay concrete, too.

use super::api::{V, clear};
use super::source::{self, Source};
use super::{fd, stream_way};
use crate::live;
use crate::symbolic::arena;
use pleach_abi::layout::memory_label;
use pleach_abi::node::Op;

mod real {
    unsafe extern "C" {
        pub fn __underflow(fp: u64) -> i32;
        pub fn ungetc(c: i32, fp: u64) -> i32;
        pub fn flockfile(fp: u64);
        pub fn funlockfile(fp: u64);
    }
}

pub const EOF: i32 = -1;

/// A `FILE *`.
#[derive(Clone, Copy)]
pub struct File(pub u64);

/// The head of glibc's `struct _IO_FILE` on x86-64. It is part of glibc's ABI: the inlined
/// `getc_unlocked` uses it.
#[repr(C)]
pub struct Inside {
    pub flags: u32,
    pub read_ptr: u64,
    pub read_end: u64,
    pub read_base: u64,
    pub write_base: u64,
    pub write_ptr: u64,
    write_end: u64,
    pub buf_base: u64,
    pub buf_end: u64,
    save_base: u64,
    backup_base: u64,
    save_end: u64,
    markers: u64,
    chain: u64,
    pub fileno: i32,
    flags2: u32,
}

const _: () = assert!(core::mem::offset_of!(Inside, read_ptr) == 8);
const _: () = assert!(core::mem::offset_of!(Inside, fileno) == 112);

const EOF_SEEN: u32 = 0x10;
pub const ERR_SEEN: u32 = 0x20;
const IN_BACKUP: u32 = 0x100;
const IS_WRITING: u32 = 0x800;
const IS_APPENDING: u32 = 0x1000;
const USER_LOCK: u32 = 0x8000;
/// Flag in `flags2`: there is more than one thread.
const NEED_LOCK: u32 = 0x80;

impl File {
    #[inline(always)]
    pub fn inside(self) -> &'static mut Inside {
        // Safety: the program passes a stream to a stdio function.
        unsafe { &mut *(self.0 as *mut Inside) }
    }

    /// Runs `f` with the stream locked, if it needs a lock.
    #[inline]
    pub fn locked<T>(self, f: impl FnOnce() -> T) -> T {
        let i = self.inside();
        if i.flags2 & NEED_LOCK == 0 || i.flags & USER_LOCK != 0 {
            return f();
        }
        // Safety: a stream, as above.
        unsafe { real::flockfile(self.0) };
        let out = f();
        unsafe { real::funlockfile(self.0) };
        out
    }

    /// Number of bytes that can be taken without a fill.
    #[inline(always)]
    pub fn buffered(self) -> u64 {
        let i = self.inside();
        i.read_end.saturating_sub(i.read_ptr)
    }

    /// Address and length of the bytes that the next reads take: the buffer, or first the
    /// characters of `ungetc` and then the buffer.
    pub fn parts(self) -> [(u64, u64); 2] {
        let i = self.inside();
        let first = (i.read_ptr, self.buffered());
        let behind = i.flags & IN_BACKUP != 0;
        [first, if behind { (i.save_base, i.save_end.saturating_sub(i.save_base)) } else { (0, 0) }]
    }

    /// The source that fills the buffer.
    pub fn source(self) -> Option<Source> {
        source::of(self.inside().fileno)
    }

    /// Fills the buffer with at least one byte; returns that byte or `EOF`.
    ///
    /// For bytes that inlined `getc_unlocked` has taken, this records the decision that the
    /// input has them; the last of them implies the others.
    pub fn fill(self) -> i32 {
        let [_, behind] = self.parts();
        let i = self.inside();
        if i.read_ptr > i.read_base {
            source::decide_byte_taken(V::byte(i.read_ptr - 1).label);
        }
        let src = if behind.1 == 0 { self.source() } else { None };
        // Safety: a stream, as above.
        let first = unsafe { real::__underflow(self.0) };
        // A live run may have been paused in the call, and resumed with labels.
        let src = match live::is_on() {
            true => self.source().map(|s| s.back(self.buffered())),
            false => src,
        };
        let (at, n) = (self.inside().read_ptr, self.buffered());
        match src {
            Some(src) if first == EOF => _ = src.decide_outcome(V::new(64, 1), 0),
            Some(src) => {
                src.label(at, 0, n);
                src.advance(n);
            }
            None if behind.1 == 0 && !stream_way::is_function(self) => {
                clear(at, n);
                self.label_arrived(&[(at, n)]);
            }
            None => {}
        }
        first
    }

    /// Labels bytes that have arrived in these places, and those in the buffer behind them, if
    /// the program wrote them in this run. No bytes stand for the end.
    pub fn label_arrived(self, places: &[(u64, u64)]) {
        let n: u64 = places.iter().map(|p| p.1).sum();
        let Some(mut arrival) = stream_way::arrival(self, n) else { return };
        _ = if n == 0 { arrival.count(V::new(64, 1), 0) } else { arrival.count(V::new(64, n), n) };
        places.iter().for_each(|&(at, n)| arrival.label(at, n));
    }

    /// Labels the buffer after a seek that filled it, if the stream is not input.
    pub fn relabel_arrived(self) {
        let i = self.inside();
        let n = i.read_end.saturating_sub(i.read_base);
        if n == 0 || i.flags & IN_BACKUP != 0 {
            return;
        }
        let Some(mut arrival) = stream_way::arrival_at_end(self, n) else { return };
        clear(i.read_base, n);
        arrival.label(i.read_base, n);
    }

    /// The count of a read of `want` bytes that got `got`, up to the end.
    pub fn count_to_end(self, want: V, got: u64) -> Option<V> {
        stream_way::arrival(self, got)?.count_to_end(want, got)
    }

    /// The bytes that were written to the buffer, and are not in the file yet.
    pub fn pending(self) -> (u64, u64) {
        let i = self.inside();
        if i.flags & IS_WRITING == 0 {
            return (0, 0);
        }
        (i.write_base, i.write_ptr.saturating_sub(i.write_base))
    }

    /// The place in the file where the bytes in the buffer begin, and where the next byte will be
    /// written. `size` is the size of the file.
    pub fn write_place(self, size: u64) -> (u64, u64) {
        let pending = self.pending().1;
        if self.inside().flags & IS_APPENDING != 0 {
            return (size, size + pending);
        }
        let at = fd::offset(self.inside().fileno);
        let ahead = if pending == 0 { self.buffered() } else { 0 };
        (at, (at + pending).saturating_sub(ahead))
    }

    /// Takes the next byte; `None` at the end.
    #[inline]
    pub fn next(self) -> Option<V> {
        if self.buffered() == 0 && self.fill() == EOF {
            return None;
        }
        let i = self.inside();
        let byte = V::byte(i.read_ptr);
        i.read_ptr += 1;
        source::decide_byte_taken(byte.label);
        Some(byte)
    }

    /// Takes `n` bytes of the buffer.
    pub fn skip(self, n: u64) {
        self.inside().read_ptr += n;
    }

    /// Pushes a byte back with its label; false if there was no room.
    pub fn push_back(self, byte: V) -> bool {
        let i = self.inside();
        // Safety: the byte before the pointer is in the buffer.
        if i.read_ptr > i.read_base
            && u64::from(unsafe { *((i.read_ptr - 1) as *const u8) }) == byte.val
        {
            i.read_ptr -= 1;
            i.flags &= !EOF_SEEN;
        } else if unsafe { real::ungetc(byte.val as i32, self.0) } == EOF {
            return false;
        }
        byte.store_label(self.inside().read_ptr);
        true
    }

    /// Labels the buffer after a function without a model moved or filled it. It does
    /// nothing if the labels are right already: seeking within the buffer is common.
    pub fn relabel(self) {
        let i = self.inside();
        if i.flags & IN_BACKUP != 0 {
            return;
        }
        let n = i.read_end.saturating_sub(i.read_base);
        let Some(src) = self.source().filter(|s| n != 0 && s.pos >= n) else { return };
        let src = src.back(n);
        let first = crate::input::streams().all[src.stream].at + src.pos + 1;
        let is = |at: u64, offset: u64| {
            crate::symbolic::shadow::raw(at) == memory_label((first + offset) as u32, 0)
        };
        if !is(i.read_base, 0) || !is(i.read_end - 1, n - 1) {
            src.label(i.read_base, 0, n);
        }
    }

    /// Drops the labels of the buffer, before it is freed.
    pub fn clear_labels(self) {
        let i = self.inside();
        clear(i.buf_base, i.buf_end.saturating_sub(i.buf_base));
    }
}

/// The low byte of a character. For a widened byte that is the byte itself.
pub fn low_byte(c: V) -> V {
    if c.label != 0 {
        let is = arena::node(c.label);
        if is.op == Op::ZExt as u8 && arena::node(is.a).width == 8 {
            return V::arg(is.a, 8, c.val);
        }
    }
    c.trunc(8)
}

/// A byte as `getc` returns it.
pub fn as_int(byte: Option<V>) -> V {
    byte.map_or(V::new(32, EOF as u64), |b| b.zext(32))
}
