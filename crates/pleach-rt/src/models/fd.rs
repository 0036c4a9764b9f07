//! Reading by descriptor: `read` and its relatives, receiving from sockets, and `lseek`.
//! Bytes of the input get the labels of the input, on every descriptor that refers to it.
//! [`source`] explains the labels of the counts. Other bytes get the labels that they had when
//! the program wrote them (`symbolic/channels`).
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::define::models;
use super::source::{self, Source};
use super::stream_way;
use super::text::check_fits;
use crate::symbolic::channels::{self, Arrival};
use crate::symbolic::{calls, events};
use crate::{input, live, sys};

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
        pub fn close(fd: i32) -> i32;
        pub fn dup2(old: i32, new: i32) -> i32;
        pub fn dup3(old: i32, new: i32, flags: i32) -> i32;
        pub fn lseek(fd: i32, to: i64, whence: i32) -> i64;
        pub fn syscall(number: u64, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> i64;
    }
}

models! {
    fn read(fd: i32, to: u64, n: u64) -> i64 {
        read_with(fd, to, n, |fd, to, n| real::read(fd, to, n))
    }
    fn __read_chk(fd: i32, to: u64, n: u64, room: u64) -> i64 {
        read_with(fd, to, n, |fd, to, n| real::__read_chk(fd, to, n, room.val))
    }
    fn pread(fd: i32, to: u64, n: u64, at: i64) -> i64 {
        read_at_with(fd, to, n, at, |fd, to, n, at| real::pread(fd, to, n, at))
    }
    fn pread64(fd: i32, to: u64, n: u64, at: i64) -> i64 {
        read_at_with(fd, to, n, at, |fd, to, n, at| real::pread(fd, to, n, at))
    }
    fn __pread_chk(fd: i32, to: u64, n: u64, at: i64, room: u64) -> i64 {
        read_at_with(fd, to, n, at, |fd, to, n, at| real::__pread_chk(fd, to, n, at, room.val))
    }
    fn __pread64_chk(fd: i32, to: u64, n: u64, at: i64, room: u64) -> i64 {
        read_at_with(fd, to, n, at, |fd, to, n, at| real::__pread_chk(fd, to, n, at, room.val))
    }

    fn readv(fd: i32, parts: u64, n: i32) -> i64 {
        let fd = fd.pin() as i32;
        let src = source::of(fd);
        let got = real::readv(fd, parts.pin(), n.pin() as i32);
        label_scattered(src, fd, None, [parts.val, n.val], got, true)
    }
    fn preadv(fd: i32, parts: u64, n: i32, at: i64) -> i64 {
        let (fd, at) = (fd.pin() as i32, at.pin() as i64);
        let got = real::preadv(fd, parts.pin(), n.pin() as i32, at);
        label_scattered(source::at(fd, at as u64), fd, Some(at as u64), [parts.val, n.val], got, true)
    }
    fn preadv64(fd: i32, parts: u64, n: i32, at: i64) -> i64 {
        let (fd, at) = (fd.pin() as i32, at.pin() as i64);
        let got = real::preadv(fd, parts.pin(), n.pin() as i32, at);
        label_scattered(source::at(fd, at as u64), fd, Some(at as u64), [parts.val, n.val], got, true)
    }
    fn preadv2(fd: i32, parts: u64, n: i32, at: i64, flags: i32) -> i64 {
        let (fd, at) = (fd.pin() as i32, at.pin() as i64);
        let src = if at == -1 { source::of(fd) } else { source::at(fd, at as u64) };
        let got = real::preadv2(fd, parts.pin(), n.pin() as i32, at, flags.pin() as i32);
        let place = (at != -1).then_some(at as u64);
        label_scattered(src, fd, place, [parts.val, n.val], got, true)
    }

    fn recv(fd: i32, to: u64, n: u64, flags: i32) -> i64 {
        let flags = flags.pin() as i32;
        receive_with(fd, to, n, flags, |fd, to, n| real::recv(fd, to, n, flags))
    }
    fn __recv_chk(fd: i32, to: u64, n: u64, room: u64, flags: i32) -> i64 {
        let flags = flags.pin() as i32;
        receive_with(fd, to, n, flags, |fd, to, n| real::__recv_chk(fd, to, n, room.val, flags))
    }
    fn recvfrom(fd: i32, to: u64, n: u64, flags: i32, addr: u64, len: u64) -> i64 {
        let flags = flags.pin() as i32;
        clear_address(addr.val, len.val);
        receive_with(fd, to, n, flags, |fd, to, n| {
            real::recvfrom(fd, to, n, flags, addr.val, len.val)
        })
    }
    /// The fortified form only adds a check that may abort; the kernel writes at most `n`
    /// bytes.
    fn __recvfrom_chk(fd: i32, to: u64, n: u64, _room: u64, flags: i32, addr: u64, len: u64) -> i64 {
        let flags = flags.pin() as i32;
        clear_address(addr.val, len.val);
        receive_with(fd, to, n, flags, |fd, to, n| {
            real::recvfrom(fd, to, n, flags, addr.val, len.val)
        })
    }
    fn recvmsg(fd: i32, message: u64, flags: i32) -> i64 {
        let (fd, flags) = (fd.pin() as i32, flags.pin() as i32);
        let src = source::of(fd);
        let got = real::recvmsg(fd, message.pin(), flags);
        let m = message.val as *const Message;
        label_scattered(src, fd, None, [(*m).parts, (*m).count], got, flags & MSG_PEEK == 0)
    }

    fn close(fd: i32) -> i32 {
        note_change(fd);
        real::close(fd.val as i32)
    }
    fn dup2(old: i32, new: i32) -> i32 {
        note_change(new);
        real::dup2(old.val as i32, new.val as i32)
    }
    fn dup3(old: i32, new: i32, flags: i32) -> i32 {
        note_change(new);
        real::dup3(old.val as i32, new.val as i32, flags.val as i32)
    }

    fn lseek(fd: i32, to: i64, whence: i32) -> i64 {
        seek(fd, to, whence)
    }
    fn syscall(number: u64, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> i64 {
        let fd = a.trunc(32);
        match number.pin() {
            READ => read_with(fd, b, c, |fd, to, n| real::read(fd, to, n)),
            PREAD => read_at_with(fd, b, c, d, |fd, to, n, at| real::pread(fd, to, n, at)),
            number => {
                let labels = [a, b, c, d, e, f].iter().fold(0, |l, v| l | v.label);
                let from_input = is_reading(number) && source::of(fd.val as i32).is_some();
                if from_input || labels != 0 || is_writing(number) && calls::pointed(b.val, 0, 0) != 0 {
                    events::record_unmodelled(real::syscall as *const () as usize);
                }
                V::new(64, real::syscall(number, a.val, b.val, c.val, d.val, e.val, f.val) as u64)
            }
        }
    }
    fn lseek64(fd: i32, to: i64, whence: i32) -> i64 {
        seek(fd, to, whence)
    }
}

const READ: u64 = 0;
const PREAD: u64 = 17;

/// True for system calls that read from their first argument: `readv`, `recvfrom`, `recvmsg`,
/// `preadv`.
fn is_reading(number: u64) -> bool {
    matches!(number, 19 | 45 | 47 | 295)
}

/// True for system calls that write what their second argument points to: `write`, `pwrite`,
/// `writev`, `sendto`, `sendmsg`, `pwritev`.
fn is_writing(number: u64) -> bool {
    matches!(number, 1 | 18 | 20 | 44 | 46 | 296)
}

// `read` itself, for libraries without instrumentation. So the buffers of C++'s streams
// are labelled, and code in C++'s headers reads the labels from there. It is weak, so that
// a program may define its own.
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
    if let Some(got) = read_live(fd, to, V::new(64, n)) {
        return got.val as i64;
    }
    let src = source::of(fd);
    // Safety: the caller guarantees it.
    let got = unsafe { real::read(fd, to, n) };
    label_arrived(src, (fd, None), to, V::new(64, n), got, true);
    got
}

/// A descriptor is about to be closed or replaced.
fn note_change(fd: V) {
    channels::note_change(fd.val as i32);
    stream_way::note_move();
}

const MSG_PEEK: i32 = 2;

/// The head of `struct msghdr`.
#[repr(C)]
pub struct Message {
    pub name: [u64; 2],
    pub parts: u64,
    pub count: u64,
}

fn read_with(fd: V, to: V, n: V, real: impl FnOnce(i32, u64, u64) -> i64) -> V {
    check_fits(n, to.val);
    let (fd, to) = (fd.pin() as i32, to.pin());
    if let Some(got) = read_live(fd, to, n) {
        return got;
    }
    let src = source::of(fd);
    let got = real(fd, to, n.pin());
    label_arrived(src, (fd, None), to, n, got, true)
}

/// Takes the next event if the run is live and the descriptor is its input.
fn read_live(fd: i32, to: u64, n: V) -> Option<V> {
    crate::socket::drain();
    if !live::is_on() || input::stream_of(fd).is_none() {
        return None;
    }
    let got = live::read(to as *mut u8, n.pin());
    clear(to, got);
    let at = live::labelled_taken().saturating_sub(got);
    crate::symbolic::label_input(to, at, got);
    Some(V::new(64, got))
}

fn read_at_with(fd: V, to: V, n: V, at: V, real: impl FnOnce(i32, u64, u64, i64) -> i64) -> V {
    check_fits(n, to.val);
    let (fd, to, at) = (fd.pin() as i32, to.pin(), at.pin() as i64);
    let got = real(fd, to, n.pin(), at);
    label_arrived(source::at(fd, at as u64), (fd, Some(at as u64)), to, n, got, true)
}

fn receive_with(fd: V, to: V, n: V, flags: i32, real: impl FnOnce(i32, u64, u64) -> i64) -> V {
    check_fits(n, to.val);
    let (fd, to) = (fd.pin() as i32, to.pin());
    if let Some(got) = read_live(fd, to, n) {
        return got;
    }
    let src = source::of(fd);
    let got = real(fd, to, n.pin());
    label_arrived(src, (fd, None), to, n, got, flags & MSG_PEEK == 0)
}

/// After a read of `want` bytes to `to` that got `got`: sets the labels. `src` is the
/// source before the call; `from` are the descriptor and the place of a read at a given place;
/// `taken` is false for a peek. Returns the count.
fn label_arrived(
    src: Option<Source>,
    from: (i32, Option<u64>),
    to: u64,
    want: V,
    got: i64,
    taken: bool,
) -> V {
    if got < 0 {
        return V::new(64, got as u64);
    }
    let got = got as u64;
    clear(to, got.min(want.val));
    let Some(src) = src else {
        let Some(mut arrival) = arrival(from.0, from.1, got, taken) else {
            return V::new(64, got);
        };
        let count = arrival.count(want, got);
        arrival.label(to, got.min(want.val));
        return count;
    };
    src.label(to, 0, got);
    src.label_past_end(to, got, want.val);
    if taken {
        src.advance(got);
    }
    src.decide_outcome(want, got)
}

/// The arrival of `got` bytes from a descriptor that is not input.
fn arrival(fd: i32, place: Option<u64>, got: u64, taken: bool) -> Option<Arrival> {
    let way = channels::read_way(fd)?;
    let at = place.unwrap_or_else(|| offset(fd).saturating_sub(got));
    Some(channels::arrival(way, at, taken))
}

/// The offset of a descriptor; 0 if it has none.
pub fn offset(fd: i32) -> u64 {
    const SEEK_CUR: u64 = 1;
    sys::lseek(fd as u64, 0, SEEK_CUR).max(0) as u64
}

/// As [`label_arrived`], for an `iovec`: its address and the number of its parts.
fn label_scattered(
    src: Option<Source>,
    fd: i32,
    place: Option<u64>,
    [parts, n]: [u64; 2],
    got: i64,
    taken: bool,
) -> V {
    if got < 0 {
        return V::new(64, got as u64);
    }
    // Safety: the kernel has just read the same array.
    let part = |i| unsafe { *(parts as *const [u64; 2]).add(i as usize) };
    let want = V::new(64, (0..n).map(|i| part(i)[1]).sum());
    let mut arrival = match src {
        None => arrival(fd, place, got as u64, taken),
        Some(_) => None,
    };
    let count = arrival.as_ref().map(|a| a.count(want, got as u64));
    let (mut left, mut done) = (got as u64, 0);
    for [to, room] in (0..n).map(part) {
        let here = left.min(room);
        clear(to, here);
        if let Some(s) = &src {
            s.label(to, done, here);
        } else if let Some(a) = &mut arrival {
            a.label(to, here);
        }
        (left, done) = (left - here, done + here);
    }
    let Some(src) = src else { return count.unwrap_or(V::new(64, got as u64)) };
    if taken {
        src.advance(got as u64);
    }
    src.decide_outcome(want, got as u64)
}

/// Drops the labels where the kernel is about to write the address of a socket.
fn clear_address(addr: u64, len: u64) {
    if addr != 0 && len != 0 {
        // Safety: the caller passes a length that the kernel reads too.
        clear(addr, unsafe { *(len as *const u32) }.into());
        clear(len, 4);
    }
}

/// # Safety
/// As `lseek`.
unsafe fn seek(fd: V, to: V, whence: V) -> V {
    let (fd, to, whence) = (fd.pin() as i32, to.pin() as i64, whence.pin() as i32);
    let src = source::of(fd);
    stream_way::note_move();
    // Safety: all arguments are allowed.
    let now = unsafe { real::lseek(fd, to, whence) };
    match src {
        Some(src) => src.position_after_seek(to, whence, now),
        None => {
            const SEEK_END: i32 = 2;
            if whence == SEEK_END {
                channels::pin_size(fd);
            }
            V::new(64, now as u64)
        }
    }
}
