//! Reading by descriptor: `read` and its relatives, receiving from sockets,
//! and `lseek`. What arrives from the input gets the input's labels, whatever
//! descriptor it comes by; see [`source`] for what the counts mean.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::define::models;
use super::source::{self, Source};
use super::text::fits;
use crate::{input, live};

mod real {
    unsafe extern "C" {
        #[link_name = "__read"]
        pub fn read(fd: i32, to: u64, n: u64) -> i64;
        pub fn __read_chk(fd: i32, to: u64, n: u64, room: u64) -> i64;
        pub fn pread(fd: i32, to: u64, n: u64, at: i64) -> i64;
        pub fn __pread_chk(fd: i32, to: u64, n: u64, at: i64, room: u64) -> i64;
        pub fn readv(fd: i32, parts: u64, n: i32) -> i64;
        pub fn preadv(fd: i32, parts: u64, n: i32, at: i64) -> i64;
        pub fn preadv2(fd: i32, parts: u64, n: i32, at: i64, flags: i32) -> i64;
        pub fn recv(fd: i32, to: u64, n: u64, flags: i32) -> i64;
        pub fn __recv_chk(fd: i32, to: u64, n: u64, room: u64, flags: i32) -> i64;
        pub fn recvfrom(fd: i32, to: u64, n: u64, flags: i32, addr: u64, len: u64) -> i64;
        pub fn recvmsg(fd: i32, message: u64, flags: i32) -> i64;
        pub fn lseek(fd: i32, to: i64, whence: i32) -> i64;
    }
}

models! {
    fn read(fd: i32, to: u64, n: u64) -> i64 {
        arriving(fd, to, n, |fd, to, n| real::read(fd, to, n))
    }
    fn __read_chk(fd: i32, to: u64, n: u64, room: u64) -> i64 {
        arriving(fd, to, n, |fd, to, n| real::__read_chk(fd, to, n, room.val))
    }
    fn pread(fd: i32, to: u64, n: u64, at: i64) -> i64 {
        arriving_at(fd, to, n, at, |fd, to, n, at| real::pread(fd, to, n, at))
    }
    fn pread64(fd: i32, to: u64, n: u64, at: i64) -> i64 {
        arriving_at(fd, to, n, at, |fd, to, n, at| real::pread(fd, to, n, at))
    }
    fn __pread_chk(fd: i32, to: u64, n: u64, at: i64, room: u64) -> i64 {
        arriving_at(fd, to, n, at, |fd, to, n, at| real::__pread_chk(fd, to, n, at, room.val))
    }
    fn __pread64_chk(fd: i32, to: u64, n: u64, at: i64, room: u64) -> i64 {
        arriving_at(fd, to, n, at, |fd, to, n, at| real::__pread_chk(fd, to, n, at, room.val))
    }

    fn readv(fd: i32, parts: u64, n: i32) -> i64 {
        let fd = fd.pin() as i32;
        let src = source::of(fd);
        let got = real::readv(fd, parts.pin(), n.pin() as i32);
        scattered(src, parts.val, n.val, got, true)
    }
    fn preadv(fd: i32, parts: u64, n: i32, at: i64) -> i64 {
        let (fd, at) = (fd.pin() as i32, at.pin() as i64);
        let got = real::preadv(fd, parts.pin(), n.pin() as i32, at);
        scattered(source::at(fd, at as u64), parts.val, n.val, got, true)
    }
    fn preadv64(fd: i32, parts: u64, n: i32, at: i64) -> i64 {
        let (fd, at) = (fd.pin() as i32, at.pin() as i64);
        let got = real::preadv(fd, parts.pin(), n.pin() as i32, at);
        scattered(source::at(fd, at as u64), parts.val, n.val, got, true)
    }
    fn preadv2(fd: i32, parts: u64, n: i32, at: i64, flags: i32) -> i64 {
        let (fd, at) = (fd.pin() as i32, at.pin() as i64);
        let src = if at == -1 { source::of(fd) } else { source::at(fd, at as u64) };
        let got = real::preadv2(fd, parts.pin(), n.pin() as i32, at, flags.pin() as i32);
        scattered(src, parts.val, n.val, got, true)
    }

    fn recv(fd: i32, to: u64, n: u64, flags: i32) -> i64 {
        let flags = flags.pin() as i32;
        received(fd, to, n, flags, |fd, to, n| real::recv(fd, to, n, flags))
    }
    fn __recv_chk(fd: i32, to: u64, n: u64, room: u64, flags: i32) -> i64 {
        let flags = flags.pin() as i32;
        received(fd, to, n, flags, |fd, to, n| real::__recv_chk(fd, to, n, room.val, flags))
    }
    fn recvfrom(fd: i32, to: u64, n: u64, flags: i32, addr: u64, len: u64) -> i64 {
        let flags = flags.pin() as i32;
        forget_address(addr.val, len.val);
        received(fd, to, n, flags, |fd, to, n| {
            real::recvfrom(fd, to, n, flags, addr.val, len.val)
        })
    }
    /// The fortified form differs only in what it aborts on, and the kernel
    /// writes no more than `n` bytes.
    fn __recvfrom_chk(fd: i32, to: u64, n: u64, _room: u64, flags: i32, addr: u64, len: u64) -> i64 {
        let flags = flags.pin() as i32;
        forget_address(addr.val, len.val);
        received(fd, to, n, flags, |fd, to, n| {
            real::recvfrom(fd, to, n, flags, addr.val, len.val)
        })
    }
    fn recvmsg(fd: i32, message: u64, flags: i32) -> i64 {
        let (fd, flags) = (fd.pin() as i32, flags.pin() as i32);
        let src = source::of(fd);
        let got = real::recvmsg(fd, message.pin(), flags);
        let m = message.val as *const Message;
        scattered(src, (*m).parts, (*m).count, got, flags & MSG_PEEK == 0)
    }

    fn lseek(fd: i32, to: i64, whence: i32) -> i64 {
        seeking(fd, to, whence)
    }
    fn lseek64(fd: i32, to: i64, whence: i32) -> i64 {
        seeking(fd, to, whence)
    }
}

// `read` itself, for libraries without instrumentation: what the C++ library's
// stream buffers read is labelled, and code in headers finds it there. Weak, so
// that a program may have its own.
core::arch::global_asm!(
    ".pushsection .text.read,\"ax\",@progbits",
    ".weak read",
    ".type read,@function",
    "read: jmp {target}",
    ".size read, .-read",
    ".popsection",
    target = sym read_from_outside,
);

extern "C" fn read_from_outside(fd: i32, to: u64, n: u64) -> i64 {
    if let Some(got) = event(fd, to, V::new(64, n)) {
        return got.val as i64;
    }
    let src = source::of(fd);
    // Safety: the caller's own arguments.
    let got = unsafe { real::read(fd, to, n) };
    arrived(src, to, V::new(64, n), got, true);
    got
}

const MSG_PEEK: i32 = 2;

/// `struct msghdr`, as far as it matters.
#[repr(C)]
struct Message {
    name: [u64; 2],
    parts: u64,
    count: u64,
}

fn arriving(fd: V, to: V, n: V, real: impl FnOnce(i32, u64, u64) -> i64) -> V {
    fits(n, to.val);
    let (fd, to) = (fd.pin() as i32, to.pin());
    if let Some(got) = event(fd, to, n) {
        return got;
    }
    let src = source::of(fd);
    let got = real(fd, to, n.pin());
    arrived(src, to, n, got, true)
}

/// What a live run reads from a descriptor, if that is its input.
fn event(fd: i32, to: u64, n: V) -> Option<V> {
    crate::socket::drain();
    if !live::on() || input::stream_of(fd).is_none() {
        return None;
    }
    let got = live::read(to as *mut u8, n.pin());
    clear(to, got);
    let at = live::labelled().saturating_sub(got);
    crate::symbolic::label_input(to, at, got);
    Some(V::new(64, got))
}

fn arriving_at(fd: V, to: V, n: V, at: V, real: impl FnOnce(i32, u64, u64, i64) -> i64) -> V {
    fits(n, to.val);
    let (fd, to, at) = (fd.pin() as i32, to.pin(), at.pin() as i64);
    let got = real(fd, to, n.pin(), at);
    arrived(source::at(fd, at as u64), to, n, got, true)
}

fn received(fd: V, to: V, n: V, flags: i32, real: impl FnOnce(i32, u64, u64) -> i64) -> V {
    fits(n, to.val);
    let (fd, to) = (fd.pin() as i32, to.pin());
    if let Some(got) = event(fd, to, n) {
        return got;
    }
    let src = source::of(fd);
    let got = real(fd, to, n.pin());
    arrived(src, to, n, got, flags & MSG_PEEK == 0)
}

/// `got` of the `want` bytes that were asked for are at `to`; `src` is what it
/// was before the call.
fn arrived(src: Option<Source>, to: u64, want: V, got: i64, taken: bool) -> V {
    if got < 0 {
        return V::new(64, got as u64);
    }
    let got = got as u64;
    clear(to, got.min(want.val));
    let Some(src) = src else { return V::new(64, got) };
    src.label(to, 0, got);
    src.beyond(to, got, want.val);
    if taken {
        src.took(got);
    }
    src.outcome(want, got)
}

/// As [`arrived`], over the parts of an `iovec`.
fn scattered(src: Option<Source>, parts: u64, n: u64, got: i64, taken: bool) -> V {
    if got < 0 {
        return V::new(64, got as u64);
    }
    let (mut left, mut done, mut want) = (got as u64, 0, 0);
    for i in 0..n {
        // Safety: the kernel has just read the same array.
        let [to, room] = unsafe { *(parts as *const [u64; 2]).add(i as usize) };
        let here = left.min(room);
        clear(to, here);
        if let Some(s) = &src {
            s.label(to, done, here);
        }
        (left, done, want) = (left - here, done + here, want + room);
    }
    let Some(src) = src else { return V::new(64, got as u64) };
    if taken {
        src.took(got as u64);
    }
    src.outcome(V::new(64, want), got as u64)
}

/// The kernel is about to write a socket's address.
fn forget_address(addr: u64, len: u64) {
    if addr != 0 && len != 0 {
        // Safety: the caller passes a length that the kernel reads too.
        clear(addr, unsafe { *(len as *const u32) }.into());
        clear(len, 4);
    }
}

/// # Safety
/// None but the descriptor's.
unsafe fn seeking(fd: V, to: V, whence: V) -> V {
    let (fd, to, whence) = (fd.pin() as i32, to.pin() as i64, whence.pin() as i32);
    let src = source::of(fd);
    // Safety: any arguments are fine.
    let now = unsafe { real::lseek(fd, to, whence) };
    match src {
        Some(src) => src.sought(to, whence, now),
        None => V::new(64, now as u64),
    }
}
