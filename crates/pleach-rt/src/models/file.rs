//! glibc's `FILE` from the inside, for the stdio models.
//!
//! The buffer of a stream is labelled when it is filled: the model calls the
//! real fill and gives `[read_ptr, read_end)` the labels of the input at the
//! descriptor's position. From there everything reads labels out of the buffer
//! as out of any memory, `getc_unlocked` inlined into the program included. A
//! byte's label also says where in the input it stood, so no table of streams
//! has to be kept: taking the byte at offset `i` shows that the input is longer
//! than `i`.
//!
//! Memory streams and cookies have no descriptor and stay concrete; wide
//! streams keep their text in another buffer and do too.

use super::api::{V, clear};
use super::source::{self, Source};
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

/// The head of glibc's `struct _IO_FILE` on x86-64, which is part of its ABI:
/// the inlined `getc_unlocked` uses it.
#[repr(C)]
pub struct Inside {
    pub flags: u32,
    pub read_ptr: u64,
    pub read_end: u64,
    pub read_base: u64,
    write: [u64; 3],
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
const USER_LOCK: u32 = 0x8000;
/// In `flags2`: there is more than one thread.
const NEED_LOCK: u32 = 0x80;

impl File {
    #[inline(always)]
    pub fn inside(self) -> &'static mut Inside {
        // Safety: the program passes a stream to a stdio function.
        unsafe { &mut *(self.0 as *mut Inside) }
    }

    /// Runs `f` with the stream locked, where locks matter.
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

    /// Bytes that can be taken without a fill.
    #[inline(always)]
    pub fn ahead(self) -> u64 {
        let i = self.inside();
        i.read_end.saturating_sub(i.read_ptr)
    }

    /// Where the bytes are that the next reads take: the buffer, or pushed
    /// back characters and then the buffer.
    pub fn parts(self) -> [(u64, u64); 2] {
        let i = self.inside();
        let first = (i.read_ptr, self.ahead());
        let behind = i.flags & IN_BACKUP != 0;
        [first, if behind { (i.save_base, i.save_end.saturating_sub(i.save_base)) } else { (0, 0) }]
    }

    /// The source behind the buffer.
    pub fn source(self) -> Option<Source> {
        source::of(self.inside().fileno)
    }

    /// Makes at least one byte available: that byte, or `EOF`.
    ///
    /// Bytes that the program took by itself (`getc_unlocked` inlined) show here
    /// that they were there, the last of them for all.
    pub fn fill(self) -> i32 {
        let [_, behind] = self.parts();
        let i = self.inside();
        if i.read_ptr > i.read_base {
            source::passed(V::byte(i.read_ptr - 1).label);
        }
        let src = if behind.1 == 0 { self.source() } else { None };
        // Safety: a stream, as above.
        let first = unsafe { real::__underflow(self.0) };
        // A live run may have stood meanwhile, and gone on with labels.
        let src = match live::on() {
            true => self.source().map(|s| s.back(self.ahead())),
            false => src,
        };
        let (at, n) = (self.inside().read_ptr, self.ahead());
        match src {
            Some(src) if first == EOF => _ = src.outcome(V::new(64, 1), 0),
            Some(src) => {
                src.label(at, 0, n);
                src.took(n);
            }
            None if first != EOF && behind.1 == 0 => clear(at, n),
            None => {}
        }
        first
    }

    /// Takes the next byte, if there is one.
    #[inline]
    pub fn next(self) -> Option<V> {
        if self.ahead() == 0 && self.fill() == EOF {
            return None;
        }
        let i = self.inside();
        let byte = V::byte(i.read_ptr);
        i.read_ptr += 1;
        source::passed(byte.label);
        Some(byte)
    }

    /// `n` bytes of the buffer have been taken.
    pub fn skip(self, n: u64) {
        self.inside().read_ptr += n;
    }

    /// Pushes a byte back with its label; whether there was room.
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

    /// After the buffer was moved or filled by a function that knows nothing of
    /// labels. What is right already is left alone: seeking within the buffer
    /// is common.
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

    /// Drops the labels of the buffer, which is about to be given up.
    pub fn forget(self) {
        let i = self.inside();
        clear(i.buf_base, i.buf_end.saturating_sub(i.buf_base));
    }
}

/// The low byte of a character, as it came from a stream if it did.
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
