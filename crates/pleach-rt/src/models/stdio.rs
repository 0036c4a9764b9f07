//! Reading from streams: characters, lines and blocks, from the labelled buffer of [`File`].
//! A line decides on the end and the newline byte by byte. A block that the end of the input
//! cuts short has a symbolic count.
//!
//! `feof` and `ferror` need no model: their results follow from the decisions that were
//! recorded when the end was reached.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy};
use super::define::models;
use super::file::{EOF, ERR_SEEN, File, as_int, low_byte};
use super::text::{check_fits, for_each_labelled};
use super::{source, stream_way};
use crate::live;
use crate::symbolic::events::count_loss;
use crate::symbolic::{arena, objects};
use crate::sys;
use pleach_abi::node::Op;
use pleach_abi::shm::Loss;

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
        get_character(fp)
    }
    fn fgetc(fp: u64) -> i32 {
        get_character(fp)
    }
    #[allow(non_snake_case, reason = "glibc's old name")]
    fn _IO_getc(fp: u64) -> i32 {
        get_character(fp)
    }
    fn getchar() -> i32 {
        get_character(V::new(64, stdin().0))
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
        if fp.buffered() == 0 && fp.fill() == EOF {
            return V::new(32, EOF as u64);
        }
        let byte = V::byte(fp.inside().read_ptr);
        source::decide_byte_taken(byte.label);
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
        check_fits(n.sext(64), to.val);
        let fp = File(fp.pin());
        fp.locked(|| get_line(to.pin(), n.pin() as i32, fp))
    }
    fn fgets_unlocked(to: u64, n: i32, fp: u64) -> u64 {
        check_fits(n.sext(64), to.val);
        get_line(to.pin(), n.pin() as i32, File(fp.pin()))
    }
    fn __fgets_chk(to: u64, room: u64, n: i32, fp: u64) -> u64 {
        get_line_checked(to, room, n, fp)
    }
    fn __fgets_unlocked_chk(to: u64, room: u64, n: i32, fp: u64) -> u64 {
        get_line_checked(to, room, n, fp)
    }
    fn gets(to: u64) -> u64 {
        stdin().locked(|| get_line_unlimited(to.pin(), stdin()))
    }

    fn getline(line: u64, n: u64, fp: u64) -> i64 {
        get_delimited(line, n, b'\n', fp)
    }
    fn getdelim(line: u64, n: u64, delimiter: i32, fp: u64) -> i64 {
        get_delimited(line, n, delimiter.pin() as u8, fp)
    }
    fn __getdelim(line: u64, n: u64, delimiter: i32, fp: u64) -> i64 {
        get_delimited(line, n, delimiter.pin() as u8, fp)
    }

    fn fread(to: u64, size: u64, n: u64, fp: u64) -> u64 {
        let fp = File(fp.pin());
        fp.locked(|| read_block(to, size, n, fp))
    }
    fn fread_unlocked(to: u64, size: u64, n: u64, fp: u64) -> u64 {
        read_block(to, size, n, File(fp.pin()))
    }
    fn __fread_chk(to: u64, room: u64, size: u64, n: u64, fp: u64) -> u64 {
        read_block_checked(to, room, size, n, fp)
    }
    fn __fread_unlocked_chk(to: u64, room: u64, size: u64, n: u64, fp: u64) -> u64 {
        read_block_checked(to, room, size, n, fp)
    }
    fn getw(fp: u64) -> i32 {
        let fp = File(fp.pin());
        let mut word = 0u32;
        let at = &raw mut word as u64;
        let got = fp.locked(|| read_block(V::new(64, at), V::new(64, 1), V::new(64, 4), fp));
        // After this decision the count is concrete.
        let whole = got.eq(V::new(64, 4)).decide();
        let out = if whole { V::load(at, 32) } else { V::new(32, EOF as u64) };
        clear(at, 4);
        out
    }
}

#[inline(always)]
fn get_character(fp: V) -> V {
    let fp = File(fp.pin());
    fp.locked(|| as_int(fp.next()))
}

/// Bytes of the buffer up to the first `delimiter`, including it, at most `most`: their
/// address, their number, and true if the last one is the delimiter. Records the decisions,
/// but does not take the bytes.
fn next_chunk(fp: File, most: u64, delimiter: u8) -> Option<(u64, u64, bool)> {
    if fp.buffered() == 0 && fp.fill() == EOF {
        return None;
    }
    let (at, n) = (fp.inside().read_ptr, fp.buffered().min(most));
    // Safety: these bytes are in the buffer.
    let hit = unsafe { real::memchr(at, delimiter.into(), n) };
    let m = if hit == 0 { n } else { hit - at + 1 };
    // First the decision that the input has the byte, then that on its value: where the
    // line ends tells how long the input must be.
    for_each_labelled(at, m, |i| {
        let byte = V::byte(at + i);
        source::decide_byte_taken(byte.label);
        byte.eq(V::new(8, delimiter.into())).decide();
    });
    Some((at, m, hit != 0))
}

/// Takes a chunk of `n` bytes.
///
/// # Safety
/// There is room for the chunk at `to`.
unsafe fn take_chunk(fp: File, to: u64, at: u64, n: u64) {
    // Safety: the caller guarantees it.
    unsafe { real::memcpy(to, at, n) };
    copy(to, at, n);
    fp.skip(n);
}

/// Reads up to `most` bytes of a line, with its newline; returns their number.
///
/// # Safety
/// There is room for them.
unsafe fn read_line(to: u64, most: u64, fp: File) -> u64 {
    let mut n = 0;
    while n < most
        && let Some((at, m, last)) = next_chunk(fp, most - n, b'\n')
    {
        // Safety: the caller guarantees it.
        unsafe { take_chunk(fp, to + n, at, m) };
        n += m;
        if last {
            break;
        }
    }
    n
}

/// Writes the terminator of a string.
///
/// # Safety
/// There is room for it.
unsafe fn terminate(at: u64) {
    // Safety: the caller guarantees it.
    unsafe { *(at as *mut u8) = 0 };
    clear(at, 1);
}

/// True if an error ended the read. "Nothing yet" (EAGAIN) does not count.
fn has_failed(fp: File) -> bool {
    const EAGAIN: i32 = 11;
    // Safety: glibc returns the address of this thread's errno.
    fp.inside().flags & ERR_SEEN != 0 && unsafe { *sys::__errno_location() } != EAGAIN
}

/// `fgets`, without the lock.
///
/// # Safety
/// As `fgets`.
unsafe fn get_line(to: u64, n: i32, fp: File) -> u64 {
    if n <= 0 {
        return 0;
    }
    // Hide an earlier error, so that it does not look like an error of this read.
    let before = fp.inside().flags & ERR_SEEN;
    let count = if n == 1 {
        0
    } else {
        fp.inside().flags &= !ERR_SEEN;
        // Safety: the caller guarantees it.
        unsafe { read_line(to, n as u64 - 1, fp) }
    };
    let nothing = n > 1 && (count == 0 || has_failed(fp));
    fp.inside().flags |= before;
    if nothing {
        return 0;
    }
    // Safety: the caller guarantees it.
    unsafe { terminate(to + count) };
    to
}

/// # Safety
/// As `fgets`.
unsafe fn get_line_checked(to: V, room: V, n: V, fp: V) -> u64 {
    check_fits(n.sext(64), to.val);
    let (fp, n) = (File(fp.pin()), n.pin() as i32);
    // Safety: the caller guarantees it; the real function ends the program if the size is wrong.
    unsafe {
        if n as u64 > room.val {
            return real::__fgets_chk(to.val, room.val, n, fp.0);
        }
        fp.locked(|| get_line(to.pin(), n, fp))
    }
}

/// `gets`: the newline is taken and dropped.
///
/// # Safety
/// As `gets`: there is room for the whole line.
unsafe fn get_line_unlimited(to: u64, fp: File) -> u64 {
    // Safety: the caller guarantees it.
    unsafe {
        let before = fp.inside().flags & ERR_SEEN;
        fp.inside().flags &= !ERR_SEEN;
        let count = read_line(to, u64::MAX >> 1, fp);
        let bad = count == 0 || fp.inside().flags & ERR_SEEN != 0;
        fp.inside().flags |= before;
        if bad {
            return 0;
        }
        let newline = *((to + count - 1) as *const u8) == b'\n';
        terminate(if newline { to + count - 1 } else { to + count });
        to
    }
}

/// `getdelim`.
///
/// # Safety
/// As `getdelim`.
unsafe fn get_delimited(line: V, n: V, delimiter: u8, fp: V) -> i64 {
    let (line, n, fp) = (line.pin() as *mut u64, n.pin() as *mut u64, File(fp.pin()));
    const EINVAL: i32 = 22;
    if line.is_null() || n.is_null() {
        // Safety: as above.
        unsafe { *sys::__errno_location() = EINVAL };
        return -1;
    }
    clear(line as u64, 8);
    clear(n as u64, 8);
    // Safety: the caller guarantees it.
    fp.locked(|| unsafe { get_delimited_unlocked(line, n, delimiter, fp) })
}

/// # Safety
/// As `getdelim`.
unsafe fn get_delimited_unlocked(line: *mut u64, n: *mut u64, delimiter: u8, fp: File) -> i64 {
    if fp.inside().flags & ERR_SEEN != 0 {
        return -1;
    }
    // The sizes are glibc's, since the program sees them.
    const FIRST_SIZE: u64 = 120;
    // Safety: the caller guarantees it; the buffer has just been made large enough.
    unsafe {
        if *line == 0 || *n == 0 {
            *n = FIRST_SIZE;
            *line = real::malloc(FIRST_SIZE);
            if *line == 0 {
                return -1;
            }
            objects::set_heap_object(*line, Some(FIRST_SIZE));
            clear(*line, FIRST_SIZE);
        }
        let mut len = 0;
        while let Some((at, m, last)) = next_chunk(fp, u64::MAX, delimiter) {
            let needed = len + m + 1;
            if needed > *n {
                let room = needed.max(2 * *n);
                if !resize(line, len, room) {
                    return -1;
                }
                *n = room;
            }
            take_chunk(fp, *line + len, at, m);
            len += m;
            if last {
                break;
            }
        }
        if len == 0 {
            return -1;
        }
        terminate(*line + len);
        len as i64
    }
}

/// Resizes a heap string of `len` bytes to `room` bytes, with its labels.
///
/// # Safety
/// `*line` comes from `malloc`.
pub unsafe fn resize(line: *mut u64, len: u64, room: u64) -> bool {
    // Safety: the caller guarantees it.
    unsafe {
        let old = *line;
        let new = real::realloc(old, room);
        if new == 0 {
            return false;
        }
        if new != old {
            copy(new, old, len);
            clear(old, len);
            objects::set_heap_object(old, None);
        }
        clear(new + len, room - len);
        objects::set_heap_object(new, Some(room));
        *line = new;
    }
    true
}

/// `fread`, without the lock. glibc takes the bytes from the buffer and then, if they are
/// not enough, directly from the file.
///
/// # Safety
/// As `fread`.
unsafe fn read_block(to: V, size: V, n: V, fp: File) -> V {
    let size = size.pin();
    let bytes = if size == 1 { n } else { n.mul(V::new(64, size)) };
    check_fits(bytes, to.val);
    n.pin();
    let (to, want) = (to.pin(), bytes.val);
    if want == 0 {
        return V::new(64, 0);
    }
    let parts = fp.parts();
    let buffered = parts[0].1 + parts[1].1;
    if fp.buffered() >= want {
        let src = if bytes.label != 0 { fp.source() } else { None };
        match src {
            Some(src) => _ = src.back(buffered).decide_outcome(bytes, want),
            None => source::decide_bytes_taken(parts[0].0, want),
        }
        // Safety: the caller guarantees it.
        unsafe { take_chunk(fp, to, parts[0].0, want) };
        return n;
    }
    let src = fp.source();
    // Safety: the caller guarantees it.
    let got = unsafe { real::fread_unlocked(to, 1, want, fp.0) };
    // A live run may have been paused in the call, and resumed with labels: then only the
    // last bytes have labels.
    if live::is_on() {
        clear(to, got);
        let new = live::labelled_taken().min(got);
        crate::symbolic::label_input(to + got - new, live::labelled_taken() - new, new);
        return V::new(64, got / size);
    }
    // The shadow still has the old labels of the buffer.
    let mut done = 0;
    for (at, len) in parts {
        let len = len.min(got - done);
        copy(to + done, at, len);
        done += len;
    }
    clear(to + done, got - done);
    let (ahead, at) = (fp.buffered(), fp.inside().read_ptr);
    let Some(src) = src else {
        let mut count = V::new(64, got);
        if got > buffered && stream_way::is_function(fp) {
            // libc's copy from its buffer is not seen.
            count_loss(Loss::Channel);
        } else if got > buffered {
            clear(at, ahead);
            fp.label_arrived(&[(to + done, got - done), (at, ahead)]);
        }
        if got < want {
            count = fp.count_to_end(bytes, got).unwrap_or(count);
        }
        return bytes_to_records(count, size);
    };
    src.label(to + done, 0, got - done);
    if got > buffered {
        src.label(at, got - buffered, ahead);
        src.advance(got - buffered + ahead);
    }
    let src = src.back(buffered);
    src.label_past_end(to, got, want);
    let count = src.decide_outcome(bytes, got);
    if got == want { n } else { bytes_to_records(count, size) }
}

/// A number of bytes as a number of records.
fn bytes_to_records(bytes: V, size: u64) -> V {
    let whole = V::new(64, bytes.val / size);
    if bytes.label == 0 || size == 1 {
        return V { label: bytes.label, ..whole };
    }
    V { label: arena::binary(Op::UDiv, 64, bytes.label, 0, size, whole.val), ..whole }
}

/// # Safety
/// As `fread`.
unsafe fn read_block_checked(to: V, room: V, size: V, n: V, fp: V) -> V {
    let fp = File(fp.pin());
    // Safety: the caller guarantees it; the real function ends the program if the size is wrong.
    unsafe {
        if size.val.checked_mul(n.val).is_none_or(|bytes| bytes > room.val) {
            return real::__fread_chk(to.val, room.val, size.pin(), n.pin(), fp.0).into();
        }
        fp.locked(|| read_block(to, size, n, fp))
    }
}
