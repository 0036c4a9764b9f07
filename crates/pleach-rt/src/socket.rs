//! Connections that deliver the input, in both halves.
//!
//! When the input has socket streams, `accept` and `connect` give the program
//! one end of a socket pair whose other end has already been given the
//! stream's bytes and the end after them. No network is involved: `bind` to a
//! port that another run holds works, and nothing waits for a peer. Each
//! connection takes the next stream.
//!
//! A listening socket is replaced by one that is ready to read while streams
//! are left, so `select`, `poll` and `epoll` report it as they would with a
//! peer that has connected. When no stream is left, nothing will ever come
//! again: an `accept` that would block, or a wait in which nothing happens,
//! ends the run with status 0, after threads or children had a moment to
//! finish with the connections that are still open.
//!
//! What the program sends stays in the pair's buffer until the program reads again;
//! then it is thrown away. Datagram sockets are left alone.

use crate::input::{self, Stream};
use crate::live;
use crate::start::state;
use crate::{sleep, sys, terminal};
use core::ffi::{c_int, c_void};
use pleach_abi::container;

unsafe extern "C" {
    fn accept4(fd: c_int, addr: *mut u8, len: *mut u32, flags: c_int) -> c_int;
    fn connect(fd: c_int, addr: *const u8, len: u32) -> c_int;
    fn bind(fd: c_int, addr: *const u8, len: u32) -> c_int;
    fn listen(fd: c_int, backlog: c_int) -> c_int;
    fn getsockname(fd: c_int, addr: *mut u8, len: *mut u32) -> c_int;
    fn getpeername(fd: c_int, addr: *mut u8, len: *mut u32) -> c_int;
    fn setsockopt(fd: c_int, level: c_int, name: c_int, value: *const u8, len: u32) -> c_int;
    fn poll(fds: *mut c_void, n: u64, timeout: c_int) -> c_int;
    fn ppoll(fds: *mut c_void, n: u64, timeout: *const Timespec, mask: *const c_void) -> c_int;
    fn select(n: c_int, r: *mut c_void, w: *mut c_void, e: *mut c_void, t: *mut Timeval) -> c_int;
    fn pselect(
        n: c_int,
        r: *mut c_void,
        w: *mut c_void,
        e: *mut c_void,
        timeout: *const Timespec,
        mask: *const c_void,
    ) -> c_int;
    fn epoll_pwait(
        fd: c_int,
        events: *mut c_void,
        n: c_int,
        timeout: c_int,
        mask: *const c_void,
    ) -> c_int;
}

const AF_UNIX: u16 = 1;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const SOCK_STREAM: u64 = 1;
const SOCK_NONBLOCK: c_int = 0o4000;
const SOL_SOCKET: u64 = 1;
const SO_TYPE: u64 = 3;
const SO_SNDBUF: u64 = 7;
const SO_SNDBUFFORCE: u64 = 32;
const SO_DOMAIN: u64 = 39;
const MSG_DONTWAIT: u64 = 0x40;
const F_GETFD: u64 = 1;
const F_SETFD: u64 = 2;
const F_GETFL: u64 = 3;
const F_SETFL: u64 = 4;
/// How long others may still work on what they have been given.
const GRACE_MS: c_int = 100;
const MOST: usize = 16;

/// What is behind the program's sockets.
struct Wires {
    /// The family that the program asked for.
    family: u16,
    listening: bool,
    /// Our ends of its connections.
    peers: [c_int; MOST],
    len: usize,
    /// Device and inode of what stands for the listening socket.
    listener: (u64, u64),
}

static mut WIRES: Wires =
    Wires { family: 0, listening: false, peers: [-1; MOST], len: 0, listener: (0, 0) };

fn wires() -> &'static mut Wires {
    // Safety: connections are made by one thread at a time.
    unsafe { &mut *&raw mut WIRES }
}

/// Whether connections deliver the input in this run.
fn on() -> bool {
    let s = input::streams();
    s.all[..s.len].iter().any(|x| x.kind == container::SOCKET)
}

fn next() -> Option<usize> {
    let s = input::streams();
    (s.next_socket..s.len).find(|&i| s.all[i].kind == container::SOCKET)
}

fn option(fd: c_int, name: u64) -> u32 {
    let (mut value, mut len) = (0u32, 4u32);
    let (v, l) = (&raw mut value as u64, &raw mut len as u64);
    if sys::getsockopt(fd as u64, SOL_SOCKET, name, v, l) == 0 { value } else { 0 }
}

/// Whether calls on this socket are ours to answer.
fn ours(fd: c_int) -> bool {
    on() && u64::from(option(fd, SO_TYPE)) == SOCK_STREAM
}

fn fail(errno: c_int) -> c_int {
    // Safety: glibc returns the address of this thread's errno.
    unsafe { *sys::__errno_location() = errno };
    -1
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_bind(fd: c_int, addr: *const u8, len: u32) -> c_int {
    // Safety: the caller's.
    if ours(fd) { 0 } else { unsafe { bind(fd, addr, len) } }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_listen(fd: c_int, backlog: c_int) -> c_int {
    if !ours(fd) {
        // Safety: the caller's.
        return unsafe { listen(fd, backlog) };
    }
    let w = wires();
    let family = option(fd, SO_DOMAIN) as u16;
    let Some([theirs, bell]) = pair(0) else { return fail(ENOBUFS) };
    // One of several listening sockets is enough to be ready.
    if !w.listening && next().is_some() {
        sys::write(bell as u64, c"!".as_ptr() as u64, 1);
    }
    (w.listening, w.family) = (true, family);
    w.listener = sys::fstat(theirs).map_or((0, 0), |st| (st.dev, st.ino));
    replace(fd, theirs);
    keep(bell);
    0
}

const ENOBUFS: c_int = 105;

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_accept(fd: c_int, addr: *mut u8, len: *mut u32) -> c_int {
    // Safety: the caller's.
    unsafe { __pleach_m_accept4(fd, addr, len, 0) }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_accept4(
    fd: c_int,
    addr: *mut u8,
    len: *mut u32,
    flags: c_int,
) -> c_int {
    if !ours(fd) || !wires().listening {
        // Safety: the caller's.
        return unsafe { accept4(fd, addr, len, flags) };
    }
    let Some(stream) = next() else {
        if sys::fcntl(fd as u64, F_GETFL, 0) & i64::from(SOCK_NONBLOCK) != 0 {
            const EAGAIN: c_int = 11;
            return fail(EAGAIN);
        }
        finish();
    };
    let Some(theirs) = deliver(stream, flags) else { return fail(ENOBUFS) };
    if next().is_none() {
        let mut byte = 0u8;
        sys::recvfrom(fd as u64, &raw mut byte as u64, 1, MSG_DONTWAIT, 0, 0);
    }
    // Safety: the caller's.
    unsafe { tell_address(addr, len) };
    theirs
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_connect(fd: c_int, addr: *const u8, len: u32) -> c_int {
    // Safety: the caller's: an address begins with its family.
    let family = if len < 2 { 0 } else { unsafe { addr.cast::<u16>().read_unaligned() } };
    if !matches!(family, AF_INET | AF_INET6) || !ours(fd) {
        // Safety: the caller's.
        return unsafe { connect(fd, addr, len) };
    }
    const ECONNREFUSED: c_int = 111;
    let Some(stream) = next() else { return fail(ECONNREFUSED) };
    let Some(theirs) = deliver(stream, 0) else { return fail(ENOBUFS) };
    wires().family = family;
    replace(fd, theirs);
    0
}

/// Two ends, of which the first has the flags that `accept4` takes.
fn pair(flags: c_int) -> Option<[c_int; 2]> {
    let mut ends = [0 as c_int; 2];
    let kind = SOCK_STREAM | flags as u64;
    let made = sys::socketpair(AF_UNIX.into(), kind, 0, ends.as_mut_ptr() as u64);
    (made == 0).then_some(ends)
}

/// Puts `new` in the place of `fd`, with the flags that `fd` had.
fn replace(fd: c_int, new: c_int) {
    let (status, flags) = (sys::fcntl(fd as u64, F_GETFL, 0), sys::fcntl(fd as u64, F_GETFD, 0));
    sys::dup2(new as u64, fd as u64);
    sys::close(new as u64);
    sys::fcntl(fd as u64, F_SETFL, status.max(0) as u64);
    sys::fcntl(fd as u64, F_SETFD, flags.max(0) as u64);
}

/// Moves one of our ends to where the program does not meet it.
fn keep(fd: c_int) -> c_int {
    const F_DUPFD_CLOEXEC: u64 = 1030;
    let high = sys::fcntl(fd as u64, F_DUPFD_CLOEXEC, 900);
    if high < 0 {
        return fd;
    }
    sys::close(fd as u64);
    high as c_int
}

/// A connection that delivers the stream.
fn deliver(number: usize, flags: c_int) -> Option<c_int> {
    let [theirs, ours] = pair(flags)?;
    let s = input::streams();
    s.next_socket = number + 1;
    let stream = &mut s.all[number];
    if live::on() {
        // Its bytes come when they are asked for; it is always ready for reading.
        sys::write(ours as u64, c"!".as_ptr() as u64, 1);
    } else {
        fill(ours, stream);
    }
    let st = sys::fstat(theirs)?;
    (stream.dev, stream.ino, stream.taken, stream.end_of) = (st.dev, st.ino, 0, -1);
    let w = wires();
    let peer = keep(ours);
    if w.len < MOST {
        w.peers[w.len] = peer;
        w.len += 1;
    }
    Some(theirs)
}

/// Takes away what the program has sent, which nobody reads: a few hundred short
/// answers fill up the connection, and the program would wait for ever. So this
/// is done whenever it reads.
pub fn drain() {
    let w = wires();
    let mut chunk = [0u8; 4096];
    for &fd in &w.peers[..w.len] {
        while sys::recvfrom(fd as u64, chunk.as_mut_ptr() as u64, 4096, MSG_DONTWAIT, 0, 0) > 0 {}
    }
}

/// Whether a socket is one that stands for a listening one.
pub fn is_listener(dev: u64, ino: u64) -> bool {
    wires().listener == (dev, ino)
}

/// Gives a connection the stream, and then its end.
fn fill(ours: c_int, stream: &Stream) {
    let room = (stream.len * 2 + 4096).min(1 << 30) as c_int;
    for name in [SO_SNDBUF, SO_SNDBUFFORCE] {
        sys::setsockopt(ours as u64, SOL_SOCKET, name, &raw const room as u64, 4);
    }
    let sent = send(ours, stream, 0, MSG_DONTWAIT);
    if sent < stream.len {
        feed_the_rest(ours, stream, sent);
    }
    const SHUT_WR: u64 = 1;
    sys::shutdown(ours as u64, SHUT_WR);
}

/// Sends the stream's bytes from `done` on; how far it came.
fn send(to: c_int, stream: &Stream, mut done: u64, flags: u64) -> u64 {
    const MSG_NOSIGNAL: u64 = 0x4000;
    let mut chunk = [0u8; 4096];
    let at = chunk.as_mut_ptr() as u64;
    while done < stream.len {
        let want = (stream.len - done).min(4096);
        let n = sys::pread(state().input_fd as u64, at, want, stream.at + done);
        let sent = if n <= 0 {
            n
        } else {
            sys::sendto(to as u64, at, n as u64, flags | MSG_NOSIGNAL, 0, 0)
        };
        if sent <= 0 {
            break;
        }
        done += sent as u64;
    }
    done
}

/// More than the socket holds: a process of its own waits for room. It ends
/// without a signal, so the program never waits for a child that is not its.
fn feed_the_rest(to: c_int, stream: &Stream, done: u64) {
    const NO_SIGNAL: u64 = 0;
    if sys::clone(NO_SIGNAL, 0, 0, 0, 0) == 0 {
        send(to, stream, done, 0);
        sys::exit_now(0);
    }
}

/// The last stream was delivered and all is waiting: the end of the run.
fn finish() -> ! {
    #[repr(C)]
    struct Poll {
        fd: c_int,
        events: i16,
        found: i16,
    }
    // A snapshot has the connection open too: it would never be seen closed.
    if live::on() {
        live::finish();
    }
    let w = wires();
    for &fd in &w.peers[..w.len] {
        // No event asked for: it wakes up when the program's end is closed.
        let mut one = Poll { fd, events: 0, found: 0 };
        // Safety: one record.
        unsafe { poll((&raw mut one).cast(), 1, GRACE_MS) };
    }
    // Safety: leaves through the program's own exit handlers.
    unsafe { sys::exit(0) }
}

/// Whether the program waits in vain: it has had every stream.
fn drained() -> bool {
    on() && next().is_none() && wires().len != 0
}

/// A wait with a time limit in milliseconds (negative: none), shortened where
/// nothing can come.
fn waiting(limit: i64, wait: impl FnOnce(c_int) -> c_int) -> c_int {
    if limit == 0 && terminal::is_quiet() {
        return terminal::hushed(|| wait(0));
    }
    terminal::waits();
    if limit == 0 || !drained() {
        return wait(limit.min(i32::MAX.into()) as c_int);
    }
    let out = wait(if limit < 0 { GRACE_MS } else { (limit as c_int).min(GRACE_MS) });
    if out == 0 {
        finish();
    }
    out
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Timespec {
    seconds: i64,
    nanos: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Timeval {
    seconds: i64,
    micros: i64,
}

const GRACE: Timespec = Timespec { seconds: 0, nanos: GRACE_MS as i64 * 1_000_000 };

impl Timespec {
    fn is_zero(&self) -> bool {
        self.seconds == 0 && self.nanos == 0
    }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_poll(fds: *mut c_void, n: u64, timeout: c_int) -> c_int {
    if n == 0 && timeout >= 0 && sleep::is_skipped() {
        return 0;
    }
    // Safety: the caller's.
    waiting(timeout.into(), |ms| unsafe { poll(fds, n, ms) })
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_epoll_wait(
    fd: c_int,
    events: *mut c_void,
    n: c_int,
    timeout: c_int,
) -> c_int {
    // Safety: the caller's; without a mask they are the same.
    waiting(timeout.into(), |ms| unsafe { epoll_pwait(fd, events, n, ms, core::ptr::null()) })
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_epoll_pwait(
    fd: c_int,
    events: *mut c_void,
    n: c_int,
    timeout: c_int,
    mask: *const c_void,
) -> c_int {
    // Safety: the caller's.
    waiting(timeout.into(), |ms| unsafe { epoll_pwait(fd, events, n, ms, mask) })
}

/// The time limit of a wait that takes a pointer to it.
///
/// # Safety
/// The pointer is null or good.
unsafe fn limited(timeout: *const Timespec, wait: impl FnOnce(*const Timespec) -> c_int) -> c_int {
    // Safety: the caller's.
    let patient = unsafe { timeout.as_ref() }.is_none_or(|t| !t.is_zero());
    if !patient && terminal::is_quiet() {
        return terminal::hushed(|| wait(timeout));
    }
    terminal::waits();
    if !patient || !drained() {
        return wait(timeout);
    }
    let out = wait(&GRACE);
    if out == 0 {
        finish();
    }
    out
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_ppoll(
    fds: *mut c_void,
    n: u64,
    timeout: *const Timespec,
    mask: *const c_void,
) -> c_int {
    // Safety: the caller's.
    unsafe { limited(timeout, |t| ppoll(fds, n, t, mask)) }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_pselect(
    n: c_int,
    read: *mut c_void,
    write: *mut c_void,
    other: *mut c_void,
    timeout: *const Timespec,
    mask: *const c_void,
) -> c_int {
    // Safety: the caller's.
    unsafe { limited(timeout, |t| pselect(n, read, write, other, t, mask)) }
}

/// Whether a look is for keys from the terminal and nothing else. If so, the sets are empty
/// then, as they are when there is none. An editor looks thousands of times while it does
/// something.
///
/// # Safety
/// The sets are null or good, up to `n`.
unsafe fn only_for_keys(n: c_int, [read, write, other]: [*mut u64; 3]) -> bool {
    let words = (n.max(0) as usize).div_ceil(64);
    let has = |set: *mut u64, wrong: fn(c_int) -> bool| {
        !set.is_null()
            && (0..words).any(|i| {
                // Safety: the caller's.
                let bits = unsafe { *set.add(i) };
                let fds = (0..64).filter(|b| bits >> b & 1 != 0).map(|b| i as c_int * 64 + b);
                fds.filter(|fd| *fd < n).any(wrong)
            })
    };
    let another = |fd| !terminal::is(fd);
    if has(write, |_| true) || has(read, another) || has(other, another) {
        return false;
    }
    for set in [read, other].into_iter().filter(|set| !set.is_null()) {
        // Safety: the caller's.
        (0..words).for_each(|i| unsafe { *set.add(i) = 0 });
    }
    true
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_select(
    n: c_int,
    read: *mut c_void,
    write: *mut c_void,
    other: *mut c_void,
    timeout: *mut Timeval,
) -> c_int {
    // Safety: the caller's. The real one writes what is left of the time.
    unsafe {
        let given = timeout.as_ref().map(|t| Timespec { seconds: t.seconds, nanos: t.micros });
        let for_nothing = n == 0 || read.is_null() && write.is_null() && other.is_null();
        if for_nothing && given.is_some() && sleep::is_skipped() {
            return 0;
        }
        let looks = given.is_some_and(|t| t.is_zero());
        if looks && terminal::is_quiet() {
            if only_for_keys(n, [read.cast(), write.cast(), other.cast()]) {
                return 0;
            }
            return terminal::hushed(|| select(n, read, write, other, timeout));
        }
        terminal::waits();
        if looks || !drained() {
            return select(n, read, write, other, timeout);
        }
        let mut grace = Timeval { seconds: 0, micros: i64::from(GRACE_MS) * 1000 };
        let out = select(n, read, write, other, &raw mut grace);
        if out == 0 {
            finish();
        }
        out
    }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_getsockname(fd: c_int, addr: *mut u8, len: *mut u32) -> c_int {
    // Safety: the caller's.
    unsafe { named(fd, addr, len, getsockname) }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_getpeername(fd: c_int, addr: *mut u8, len: *mut u32) -> c_int {
    // Safety: the caller's.
    unsafe { named(fd, addr, len, getpeername) }
}

/// # Safety
/// As the C functions.
unsafe fn named(
    fd: c_int,
    addr: *mut u8,
    len: *mut u32,
    real: unsafe extern "C" fn(c_int, *mut u8, *mut u32) -> c_int,
) -> c_int {
    // Safety: the caller's.
    unsafe {
        if !ours(fd) || option(fd, SO_DOMAIN) as u16 != AF_UNIX || wires().family == AF_UNIX {
            return real(fd, addr, len);
        }
        tell_address(addr, len);
    }
    0
}

/// Options of the network are accepted on a socket that has none.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const u8,
    len: u32,
) -> c_int {
    const NETWORK: [c_int; 3] = [0, 6, 41];
    if NETWORK.contains(&level) && ours(fd) && option(fd, SO_DOMAIN) as u16 == AF_UNIX {
        return 0;
    }
    // Safety: the caller's.
    unsafe { setsockopt(fd, level, name, value, len) }
}

/// Writes a loopback address of the family that the program asked for, cut to
/// the room there is, as the kernel does.
///
/// # Safety
/// Both pointers are null or as `accept` wants them.
unsafe fn tell_address(addr: *mut u8, len: *mut u32) {
    if addr.is_null() || len.is_null() {
        return;
    }
    let mut full = [0u8; 28];
    let family = wires().family;
    full[..2].copy_from_slice(&family.to_ne_bytes());
    full[2..4].copy_from_slice(&49152u16.to_be_bytes());
    let size = match family {
        AF_INET => {
            full[4..8].copy_from_slice(&[127, 0, 0, 1]);
            16
        }
        AF_INET6 => {
            full[23] = 1;
            28
        }
        _ => 2,
    };
    // Safety: the caller's; no more than the room that `len` says.
    unsafe {
        let room = (*len).min(size) as usize;
        core::ptr::copy_nonoverlapping(full.as_ptr(), addr, room);
        *len = size;
    }
}
