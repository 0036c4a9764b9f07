//! Reading from streams: characters, lines and blocks, over the labelled
//! buffer of [`File`]. Lines decide on the end and the newline byte by byte; a block that
//! is cut short by the end of the input has a symbolic count.
//!
//! `feof` and `ferror` are as they are: what they answer follows from the
//! decisions that were recorded when the end was met.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy};
use super::define::models;
use super::file::{EOF, ERR_SEEN, File, as_int, low_byte};
use super::source;
use super::text::{each_labelled, fits};
use crate::live;
use crate::symbolic::{arena, objects};
use crate::sys;
use pleach_abi::node::Op;

mod real {
    unsafe extern "C" {
        pub static stdin: u64;
        pub fn memchr(s: u64, c: i32, n: u64) -> u64;
        pub fn memcpy(dst: u64, src: u64, n: u64) -> u64;
        pub fn malloc(n: u64) -> u64;
        pub fn realloc(p: u64, n: u64) -> u64;
        pub fn ungetc(c: i32, fp: u64) -> i32;
        pub fn fread_unlocked(to: u64, size: u64, n: u64, fp: u64) -> u64;
        pub fn __fread_chk(to: u64, room: u64, size: u64, n: u64, fp: u64) -> u64;
        pub fn __fgets_chk(to: u64, room: u64, n: i32, fp: u64) -> u64;
    }
}

/// The program's standard input stream.
pub fn stdin() -> File {
    // Safety: libc's own variable.
    File(unsafe { real::stdin })
}

models! {
    fn getc(fp: u64) -> i32 {
        character(fp)
    }
    fn fgetc(fp: u64) -> i32 {
        character(fp)
    }
    #[allow(non_snake_case, reason = "glibc's old name")]
    fn _IO_getc(fp: u64) -> i32 {
        character(fp)
    }
    fn getchar() -> i32 {
        character(V::new(64, stdin().0))
    }
    fn getc_unlocked(fp: u64) -> i32 {
        as_int(File(fp.pin()).next())
    }
    fn fgetc_unlocked(fp: u64) -> i32 {
        as_int(File(fp.pin()).next())
    }
    fn getchar_unlocked() -> i32 {
        as_int(stdin().next())
    }
    fn __uflow(fp: u64) -> i32 {
        as_int(File(fp.pin()).next())
    }
    fn __underflow(fp: u64) -> i32 {
        let fp = File(fp.pin());
        if fp.ahead() == 0 && fp.fill() == EOF {
            return V::new(32, EOF as u64);
        }
        let byte = V::byte(fp.inside().read_ptr);
        source::passed(byte.label);
        byte.zext(32)
    }

    fn ungetc(c: i32, fp: u64) -> i32 {
        let fp = File(fp.pin());
        let is_zext = c.label != 0 && arena::node(c.label).op == Op::ZExt as u8;
        if c.val as i32 == EOF || !is_zext && c.eq(V::new(32, EOF as u64)).decide() {
            return V::from(real::ungetc(c.pin() as i32, fp.0));
        }
        let byte = low_byte(c);
        if fp.locked(|| fp.push_back(byte)) { byte.zext(32) } else { V::new(32, EOF as u64) }
    }

    fn fgets(to: u64, n: i32, fp: u64) -> u64 {
        fits(n.sext(64), to.val);
        let fp = File(fp.pin());
        fp.locked(|| line(to.pin(), n.pin() as i32, fp))
    }
    fn fgets_unlocked(to: u64, n: i32, fp: u64) -> u64 {
        fits(n.sext(64), to.val);
        line(to.pin(), n.pin() as i32, File(fp.pin()))
    }
    fn __fgets_chk(to: u64, room: u64, n: i32, fp: u64) -> u64 {
        checked_line(to, room, n, fp)
    }
    fn __fgets_unlocked_chk(to: u64, room: u64, n: i32, fp: u64) -> u64 {
        checked_line(to, room, n, fp)
    }
    fn gets(to: u64) -> u64 {
        stdin().locked(|| old_line(to.pin(), stdin()))
    }

    fn getline(line: u64, n: u64, fp: u64) -> i64 {
        whole_line(line, n, b'\n', fp)
    }
    fn getdelim(line: u64, n: u64, delimiter: i32, fp: u64) -> i64 {
        whole_line(line, n, delimiter.pin() as u8, fp)
    }
    fn __getdelim(line: u64, n: u64, delimiter: i32, fp: u64) -> i64 {
        whole_line(line, n, delimiter.pin() as u8, fp)
    }

    fn fread(to: u64, size: u64, n: u64, fp: u64) -> u64 {
        let fp = File(fp.pin());
        fp.locked(|| block(to, size, n, fp))
    }
    fn fread_unlocked(to: u64, size: u64, n: u64, fp: u64) -> u64 {
        block(to, size, n, File(fp.pin()))
    }
    fn __fread_chk(to: u64, room: u64, size: u64, n: u64, fp: u64) -> u64 {
        checked_block(to, room, size, n, fp)
    }
    fn __fread_unlocked_chk(to: u64, room: u64, size: u64, n: u64, fp: u64) -> u64 {
        checked_block(to, room, size, n, fp)
    }
    fn getw(fp: u64) -> i32 {
        let fp = File(fp.pin());
        let mut word = 0u32;
        let at = &raw mut word as u64;
        let got = fp.locked(|| block(V::new(64, at), V::new(64, 1), V::new(64, 4), fp));
        // The count decides, so it is no longer symbolic.
        let whole = got.eq(V::new(64, 4)).decide();
        let out = if whole { V::load(at, 32) } else { V::new(32, EOF as u64) };
        clear(at, 4);
        out
    }
}

#[inline(always)]
fn character(fp: V) -> V {
    let fp = File(fp.pin());
    fp.locked(|| as_int(fp.next()))
}

/// Bytes of the buffer up to and with the first `delimiter`, at most `most`:
/// where they are, how many, and whether the delimiter is the last. The
/// decisions are recorded; the bytes are still to be taken.
fn chunk(fp: File, most: u64, delimiter: u8) -> Option<(u64, u64, bool)> {
    if fp.ahead() == 0 && fp.fill() == EOF {
        return None;
    }
    let (at, n) = (fp.inside().read_ptr, fp.ahead().min(most));
    // Safety: these bytes are in the buffer.
    let hit = unsafe { real::memchr(at, delimiter.into(), n) };
    let m = if hit == 0 { n } else { hit - at + 1 };
    // That there is a byte comes before what it is: where the line ends
    // decides how long the input must be.
    each_labelled(at, m, |i| {
        let byte = V::byte(at + i);
        source::passed(byte.label);
        byte.eq(V::new(8, delimiter.into())).decide();
    });
    Some((at, m, hit != 0))
}

/// # Safety
/// There is room for the chunk at `to`.
unsafe fn take(fp: File, to: u64, at: u64, n: u64) {
    // Safety: the caller's.
    unsafe { real::memcpy(to, at, n) };
    copy(to, at, n);
    fp.skip(n);
}

/// Up to `most` bytes of a line, with its newline; how many.
///
/// # Safety
/// There is room for them.
unsafe fn gather(to: u64, most: u64, fp: File) -> u64 {
    let mut n = 0;
    while n < most
        && let Some((at, m, last)) = chunk(fp, most - n, b'\n')
    {
        // Safety: the caller's.
        unsafe { take(fp, to + n, at, m) };
        n += m;
        if last {
            break;
        }
    }
    n
}

/// Writes a string's end.
///
/// # Safety
/// There is room for it.
unsafe fn end(at: u64) {
    // Safety: the caller's.
    unsafe { *(at as *mut u8) = 0 };
    clear(at, 1);
}

/// Whether an error ended the read. One that only says "nothing yet" does not.
fn failed(fp: File) -> bool {
    const EAGAIN: i32 = 11;
    // Safety: glibc returns the address of this thread's errno.
    fp.inside().flags & ERR_SEEN != 0 && unsafe { *sys::__errno_location() } != EAGAIN
}

/// `fgets`, without the lock.
///
/// # Safety
/// As `fgets`.
unsafe fn line(to: u64, n: i32, fp: File) -> u64 {
    if n <= 0 {
        return 0;
    }
    // An error from before must not look like one of this read.
    let before = fp.inside().flags & ERR_SEEN;
    let count = if n == 1 {
        0
    } else {
        fp.inside().flags &= !ERR_SEEN;
        // Safety: the caller's.
        unsafe { gather(to, n as u64 - 1, fp) }
    };
    let nothing = n > 1 && (count == 0 || failed(fp));
    fp.inside().flags |= before;
    if nothing {
        return 0;
    }
    // Safety: the caller's.
    unsafe { end(to + count) };
    to
}

/// # Safety
/// As `fgets`.
unsafe fn checked_line(to: V, room: V, n: V, fp: V) -> u64 {
    fits(n.sext(64), to.val);
    let (fp, n) = (File(fp.pin()), n.pin() as i32);
    // Safety: the caller's; the real function ends a program whose size lies.
    unsafe {
        if n as u64 > room.val {
            return real::__fgets_chk(to.val, room.val, n, fp.0);
        }
        fp.locked(|| line(to.pin(), n, fp))
    }
}

/// `gets`: the newline is taken and dropped.
///
/// # Safety
/// As `gets`: there is room for whatever comes.
unsafe fn old_line(to: u64, fp: File) -> u64 {
    // Safety: the caller's.
    unsafe {
        let before = fp.inside().flags & ERR_SEEN;
        fp.inside().flags &= !ERR_SEEN;
        let count = gather(to, u64::MAX >> 1, fp);
        let bad = count == 0 || fp.inside().flags & ERR_SEEN != 0;
        fp.inside().flags |= before;
        if bad {
            return 0;
        }
        let newline = *((to + count - 1) as *const u8) == b'\n';
        end(if newline { to + count - 1 } else { to + count });
        to
    }
}

/// `getdelim`.
///
/// # Safety
/// As `getdelim`.
unsafe fn whole_line(line: V, n: V, delimiter: u8, fp: V) -> i64 {
    let (line, n, fp) = (line.pin() as *mut u64, n.pin() as *mut u64, File(fp.pin()));
    const EINVAL: i32 = 22;
    if line.is_null() || n.is_null() {
        // Safety: as above.
        unsafe { *sys::__errno_location() = EINVAL };
        return -1;
    }
    clear(line as u64, 8);
    clear(n as u64, 8);
    // Safety: the caller's.
    fp.locked(|| unsafe { grow_line(line, n, delimiter, fp) })
}

/// # Safety
/// As `getdelim`.
unsafe fn grow_line(line: *mut u64, n: *mut u64, delimiter: u8, fp: File) -> i64 {
    if fp.inside().flags & ERR_SEEN != 0 {
        return -1;
    }
    // The sizes are glibc's: the program sees them.
    const FIRST: u64 = 120;
    // Safety: the caller's; what is written to has just been made large enough.
    unsafe {
        if *line == 0 || *n == 0 {
            *n = FIRST;
            *line = real::malloc(FIRST);
            if *line == 0 {
                return -1;
            }
            objects::heap(*line, Some(FIRST));
            clear(*line, FIRST);
        }
        let mut len = 0;
        while let Some((at, m, last)) = chunk(fp, u64::MAX, delimiter) {
            let needed = len + m + 1;
            if needed > *n {
                let room = needed.max(2 * *n);
                if !enlarge(line, len, room) {
                    return -1;
                }
                *n = room;
            }
            take(fp, *line + len, at, m);
            len += m;
            if last {
                break;
            }
        }
        if len == 0 {
            return -1;
        }
        end(*line + len);
        len as i64
    }
}

/// Moves a heap string of `len` bytes to a larger place, labels and all.
///
/// # Safety
/// `*line` is from malloc.
pub unsafe fn enlarge(line: *mut u64, len: u64, room: u64) -> bool {
    // Safety: the caller's.
    unsafe {
        let old = *line;
        let new = real::realloc(old, room);
        if new == 0 {
            return false;
        }
        if new != old {
            copy(new, old, len);
            clear(old, len);
            objects::heap(old, None);
        }
        clear(new + len, room - len);
        objects::heap(new, Some(room));
        *line = new;
    }
    true
}

/// `fread`, without the lock. The bytes come out of the buffer and then, past
/// it, straight from the file, as glibc sees fit.
///
/// # Safety
/// As `fread`.
unsafe fn block(to: V, size: V, n: V, fp: File) -> V {
    let size = size.pin();
    let bytes = if size == 1 { n } else { n.mul(V::new(64, size)) };
    fits(bytes, to.val);
    n.pin();
    let (to, want) = (to.pin(), bytes.val);
    if want == 0 {
        return V::new(64, 0);
    }
    let parts = fp.parts();
    let buffered = parts[0].1 + parts[1].1;
    if fp.ahead() >= want {
        let src = if bytes.label != 0 { fp.source() } else { None };
        match src {
            Some(src) => _ = src.back(buffered).outcome(bytes, want),
            None => source::passed_all(parts[0].0, want),
        }
        // Safety: the caller's.
        unsafe { take(fp, to, parts[0].0, want) };
        return n;
    }
    let src = fp.source();
    // Safety: the caller's.
    let got = unsafe { real::fread_unlocked(to, 1, want, fp.0) };
    // A live run may have stood meanwhile, and gone on with labels: of what it
    // was given, the last bytes have them.
    if live::on() {
        clear(to, got);
        let new = live::labelled().min(got);
        crate::symbolic::label_input(to + got - new, live::labelled() - new, new);
        return V::new(64, got / size);
    }
    // The shadow still has what was in the buffer before.
    let mut done = 0;
    for (at, len) in parts {
        let len = len.min(got - done);
        copy(to + done, at, len);
        done += len;
    }
    clear(to + done, got - done);
    let (ahead, at) = (fp.ahead(), fp.inside().read_ptr);
    let Some(src) = src else {
        if got > buffered {
            clear(at, ahead);
        }
        return V::new(64, got / size);
    };
    src.label(to + done, 0, got - done);
    if got > buffered {
        src.label(at, got - buffered, ahead);
        src.took(got - buffered + ahead);
    }
    let src = src.back(buffered);
    src.beyond(to, got, want);
    let count = src.outcome(bytes, got);
    if got == want { n } else { divided(count, size) }
}

/// A count of bytes as one of records.
fn divided(bytes: V, size: u64) -> V {
    let whole = V::new(64, bytes.val / size);
    if bytes.label == 0 || size == 1 {
        return V { label: bytes.label, ..whole };
    }
    V { label: arena::binary(Op::UDiv, 64, bytes.label, 0, size, whole.val), ..whole }
}

/// # Safety
/// As `fread`.
unsafe fn checked_block(to: V, room: V, size: V, n: V, fp: V) -> V {
    let fp = File(fp.pin());
    // Safety: the caller's; the real function ends a program whose size lies.
    unsafe {
        if size.val.checked_mul(n.val).is_none_or(|bytes| bytes > room.val) {
            return real::__fread_chk(to.val, room.val, size.pin(), n.pin(), fp.0).into();
        }
        fp.locked(|| block(to, size, n, fp))
    }
}
