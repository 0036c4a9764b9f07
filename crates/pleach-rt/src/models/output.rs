//! Output: printing, writing, sending, the exit status.
//!
//! Mostly, what the program prints has no effect on its later decisions. So these models drop
//! the labels of their arguments, without counting a loss, and continue in the real function.
//! The result of `write` and its like is the size argument with its label: the test
//! `write(1, p, n) != n` must not fix the length of the input.
//!
//! What goes to a file, a pipe or a socket may be read back: its labels go to the channel
//! (`stream_way`, `symbolic/channels`).
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::V;
use super::define::{assembly_model, drop_argument_labels, jump_to_real, models};
use super::fd;
use super::file::{EOF, File, low_byte};
use super::stream_way::{self, Sink};
use super::text::{check_fits, symbolic_length};
use crate::symbolic::channels::{self, Write};
use crate::symbolic::events::count_loss;
use crate::symbolic::is_labelling;
use crate::sys;
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub static stdout: u64;
        #[link_name = "__write"]
        pub fn write(fd: i32, from: u64, n: u64) -> i64;
        pub fn pwrite(fd: i32, from: u64, n: u64, at: i64) -> i64;
        pub fn pwritev(fd: i32, parts: u64, n: i32, at: i64) -> i64;
        pub fn send(fd: i32, from: u64, n: u64, flags: i32) -> i64;
        pub fn sendto(fd: i32, from: u64, n: u64, flags: i32, to: u64, len: u32) -> i64;
        pub fn sendmsg(fd: i32, message: u64, flags: i32) -> i64;
        pub fn socketpair(domain: i32, kind: i32, protocol: i32, ends: u64) -> i32;
        pub fn ftruncate(fd: i32, n: i64) -> i32;
        pub fn fwrite(from: u64, size: u64, n: u64, fp: u64) -> u64;
        pub fn fwrite_unlocked(from: u64, size: u64, n: u64, fp: u64) -> u64;
        pub fn fputs(s: u64, fp: u64) -> i32;
        pub fn fputs_unlocked(s: u64, fp: u64) -> i32;
        pub fn puts(s: u64) -> i32;
        pub fn fputc(c: i32, fp: u64) -> i32;
        pub fn fputc_unlocked(c: i32, fp: u64) -> i32;
        pub fn __overflow(fp: u64, c: i32) -> i32;
    }
}

/// The program's standard output stream.
pub fn stdout() -> u64 {
    // Safety: libc's own variable.
    unsafe { real::stdout }
}

models! {
    fn write(fd: i32, from: u64, n: u64) -> i64 {
        check_fits(n, from.val);
        let got = real::write(fd.val as i32, from.val, n.val);
        note_write(fd.val as i32, None, from, n, got);
        written(n, got as u64)
    }
    fn pwrite(fd: i32, from: u64, n: u64, at: i64) -> i64 {
        write_at(fd, from, n, at)
    }
    fn pwrite64(fd: i32, from: u64, n: u64, at: i64) -> i64 {
        write_at(fd, from, n, at)
    }
    fn writev(fd: i32, parts: u64, n: i32) -> i64 {
        let got = write_vector(fd.val as i32, parts.val, n.val as i32);
        note_scattered(fd.val as i32, None, [parts.val, n.val], got);
        got
    }
    fn pwritev(fd: i32, parts: u64, n: i32, at: i64) -> i64 {
        write_vector_at(fd, parts, n, at)
    }
    fn pwritev64(fd: i32, parts: u64, n: i32, at: i64) -> i64 {
        write_vector_at(fd, parts, n, at)
    }
    fn send(fd: i32, from: u64, n: u64, flags: i32) -> i64 {
        check_fits(n, from.val);
        let got = real::send(fd.val as i32, from.val, n.val, flags.val as i32);
        note_write(fd.val as i32, None, from, n, got);
        written(n, got as u64)
    }
    fn sendto(fd: i32, from: u64, n: u64, flags: i32, to: u64, len: u32) -> i64 {
        check_fits(n, from.val);
        let got = real::sendto(
            fd.val as i32, from.val, n.val, flags.val as i32, to.val, len.val as u32);
        if to.val == 0 {
            note_write(fd.val as i32, None, from, n, got);
        }
        written(n, got as u64)
    }
    fn sendmsg(fd: i32, message: u64, flags: i32) -> i64 {
        let got = real::sendmsg(fd.val as i32, message.val, flags.val as i32);
        let m = message.val as *const fd::Message;
        if got > 0 && (*m).name[0] == 0 {
            note_scattered(fd.val as i32, None, [(*m).parts, (*m).count], got);
        }
        got
    }
    fn socketpair(domain: i32, kind: i32, protocol: i32, ends: u64) -> i32 {
        let out = real::socketpair(
            domain.pin() as i32, kind.pin() as i32, protocol.pin() as i32, ends.pin());
        if out == 0 {
            super::api::clear(ends.val, 8);
            channels::add_pair(*(ends.val as *const [i32; 2]));
        }
        out
    }
    fn ftruncate(fd: i32, n: i64) -> i32 {
        truncate(fd, n)
    }
    fn ftruncate64(fd: i32, n: i64) -> i32 {
        truncate(fd, n)
    }

    fn fwrite(from: u64, size: u64, n: u64, fp: u64) -> u64 {
        write_block(from, size, n, fp, real::fwrite)
    }
    fn fwrite_unlocked(from: u64, size: u64, n: u64, fp: u64) -> u64 {
        write_block(from, size, n, fp, real::fwrite_unlocked)
    }
    fn fputs(s: u64, fp: u64) -> i32 {
        write_text(s, fp, false, |s, fp| real::fputs(s, fp))
    }
    fn fputs_unlocked(s: u64, fp: u64) -> i32 {
        write_text(s, fp, false, |s, fp| real::fputs_unlocked(s, fp))
    }
    fn puts(s: u64) -> i32 {
        write_text(s, V::new(64, stdout()), true, |s, _| real::puts(s))
    }
    fn fputc(c: i32, fp: u64) -> i32 {
        write_character(c, fp, |c, fp| real::fputc(c, fp))
    }
    fn putc(c: i32, fp: u64) -> i32 {
        write_character(c, fp, |c, fp| real::fputc(c, fp))
    }
    #[allow(non_snake_case, reason = "glibc's old name")]
    fn _IO_putc(c: i32, fp: u64) -> i32 {
        write_character(c, fp, |c, fp| real::fputc(c, fp))
    }
    fn putchar(c: i32) -> i32 {
        write_character(c, V::new(64, stdout()), |c, fp| real::fputc(c, fp))
    }
    fn fputc_unlocked(c: i32, fp: u64) -> i32 {
        write_character(c, fp, |c, fp| real::fputc_unlocked(c, fp))
    }
    fn putc_unlocked(c: i32, fp: u64) -> i32 {
        write_character(c, fp, |c, fp| real::fputc_unlocked(c, fp))
    }
    fn putchar_unlocked(c: i32) -> i32 {
        write_character(c, V::new(64, stdout()), |c, fp| real::fputc_unlocked(c, fp))
    }
    fn __overflow(fp: u64, c: i32) -> i32 {
        write_character(c, fp, |c, fp| real::__overflow(fp, c))
    }
}

// `write` and `writev` themselves, for libraries without instrumentation: C++'s streams write
// their buffers so. They are weak, so that a program may define its own.
core::arch::global_asm!(
    ".pushsection .text.write,\"ax\",@progbits",
    ".weak write",
    ".type write,@function",
    "write: jmp {write}",
    ".size write, .-write",
    ".weak writev",
    ".type writev,@function",
    "writev: jmp {writev}",
    ".size writev, .-writev",
    ".popsection",
    write = sym write_from_outside,
    writev = sym write_vector_from_outside,
);

extern "C" fn write_from_outside(fd: i32, from: u64, n: u64) -> i64 {
    // Safety: the caller guarantees it.
    let got = unsafe { real::write(fd, from, n) };
    note_write(fd, None, V::new(64, from), V::new(64, n), got);
    got
}

extern "C" fn write_vector_from_outside(fd: i32, parts: u64, n: i32) -> i64 {
    let got = write_vector(fd, parts, n);
    note_scattered(fd, None, [parts, n as u64], got);
    got
}

/// The system call: libc has no second name for its `writev`.
fn write_vector(fd: i32, parts: u64, n: i32) -> i64 {
    let got = sys::writev(fd as u64, parts, n as u64);
    if got < 0 {
        // Safety: glibc returns the address of this thread's errno.
        unsafe { *sys::__errno_location() = -got as i32 };
        return -1;
    }
    got
}

/// The result of a write: `n` with its label, or a smaller number from the system.
fn written(n: V, got: u64) -> V {
    if got == n.val { n } else { V::new(64, got) }
}

/// After a write of `n` bytes that wrote `got`, at the offset of the descriptor if `at` is
/// `None`: notes where they went.
fn note_write(fd: i32, at: Option<u64>, from: V, n: V, got: i64) {
    if let Some(mut write) = begin_write(fd, at, got) {
        write.put(from.pin(), written(n, got as u64), false);
    }
}

/// As [`note_write`], for an `iovec`.
fn note_scattered(fd: i32, at: Option<u64>, [parts, n]: [u64; 2], got: i64) {
    let Some(mut write) = begin_write(fd, at, got) else { return };
    let mut left = got as u64;
    for i in 0..n {
        // Safety: the kernel has just read the same array.
        let [from, size] = unsafe { *(parts as *const [u64; 2]).add(i as usize) };
        let here = left.min(size);
        write.put(from, V::new(64, here), false);
        left -= here;
    }
}

/// The place of `got` bytes that were just written.
fn begin_write(fd: i32, at: Option<u64>, got: i64) -> Option<Write> {
    if got <= 0 {
        return None;
    }
    let way = channels::write_way(fd)?;
    stream_way::note_move();
    let at = at.unwrap_or_else(|| fd::offset(fd).saturating_sub(got as u64));
    channels::write_at(way, at)
}

/// # Safety
/// As `pwrite`.
unsafe fn write_at(fd: V, from: V, n: V, at: V) -> V {
    check_fits(n, from.val);
    let (fd, at) = (fd.val as i32, at.pin() as i64);
    // Safety: the caller guarantees it.
    let got = unsafe { real::pwrite(fd, from.val, n.val, at) };
    note_write(fd, Some(at as u64), from, n, got);
    written(n, got as u64)
}

/// # Safety
/// As `pwritev`.
unsafe fn write_vector_at(fd: V, parts: V, n: V, at: V) -> i64 {
    let (fd, at) = (fd.pin() as i32, at.pin() as i64);
    // Safety: the caller guarantees it.
    let got = unsafe { real::pwritev(fd, parts.pin(), n.pin() as i32, at) };
    note_scattered(fd, Some(at as u64), [parts.val, n.val], got);
    got
}

/// # Safety
/// As `ftruncate`.
unsafe fn truncate(fd: V, n: V) -> i32 {
    let fd = fd.pin() as i32;
    // Safety: the caller guarantees it.
    let out = unsafe { real::ftruncate(fd, n.val as i64) };
    if out == 0 {
        stream_way::note_move();
        channels::truncate(fd, n);
    }
    out
}

/// # Safety
/// As `fwrite`, which is `real`.
unsafe fn write_block(
    from: V,
    size: V,
    n: V,
    fp: V,
    real: unsafe extern "C" fn(u64, u64, u64, u64) -> u64,
) -> V {
    check_fits(size.mul(n), from.val);
    let mut sink = Sink::of(File(fp.val));
    // Safety: the caller guarantees it.
    let got = unsafe { real(from.val, size.val, n.val, fp.val) };
    let count = written(n, got);
    if let Some(sink) = &mut sink {
        fp.pin();
        sink.put(from.pin(), if size.val == 1 { count } else { count.mul(size) });
    }
    count
}

/// Writes a string, and a newline if `ends`.
///
/// # Safety
/// `s` is a string.
unsafe fn write_text(s: V, fp: V, ends: bool, real: impl FnOnce(u64, u64) -> i32) -> i32 {
    let Some(mut sink) = Sink::of(File(fp.val)) else { return real(s.val, fp.val) };
    fp.pin();
    // Safety: the caller guarantees it.
    let n = unsafe { symbolic_length(s.pin()) };
    let out = real(s.val, fp.val);
    if out != EOF {
        sink.put(s.val, n);
        if ends {
            sink.put_byte(V::new(8, b'\n'.into()));
        }
    }
    out
}

fn write_character(c: V, fp: V, real: impl FnOnce(i32, u64) -> i32) -> i32 {
    let mut sink = Sink::of(File(fp.val));
    let out = real(c.val as i32, fp.val);
    if let Some(sink) = sink.as_mut().filter(|_| out != EOF) {
        fp.pin();
        sink.put_byte(low_byte(c));
    }
    out
}

/// Counts a copy that the kernel makes between descriptors.
extern "C" fn count_copy() {
    if is_labelling() {
        count_loss(Loss::Channel);
    }
}

/// Models of copies in the kernel and of messages that are not followed.
macro_rules! kernel_copies {
    ($($name:literal)*) => {$(
        assembly_model!($name, [
            "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
            ".cfi_def_cfa_offset 64",
            "call {count}",
            "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
            ".cfi_def_cfa_offset 8",
            drop_argument_labels!(),
            jump_to_real!($name),
        ], count = sym count_copy);
    )*};
}

kernel_copies! { "sendfile" "sendfile64" "splice" "tee" "vmsplice" "copy_file_range" "recvmmsg" }

/// Models that only drop the labels of their arguments.
macro_rules! without_labels {
    ($($name:literal)*) => {$(
        assembly_model!($name, [drop_argument_labels!(), jump_to_real!($name)]);
    )*};
}

without_labels! {
    "perror" "putw"
    "fputwc" "putwc" "putwchar" "fputws" "wprintf" "fwprintf" "vwprintf" "vfwprintf"
    "syslog" "vsyslog" "__syslog_chk"
    "err" "errx" "warn" "warnx" "verr" "verrx" "vwarn" "vwarnx" "error"
    "exit" "_exit" "_Exit" "quick_exit"
}
