//! Connections that deliver the input, in both halves.
//!
//! If the input has socket streams, `accept` and `connect` give the program one end of a
//! socket pair. The runtime has already written the bytes of the stream to the other end,
//! and closed it for writing. There is no network: `bind` succeeds on a port that another
//! run uses, and nothing waits for a peer. Each connection delivers the next stream.
//!
//! The runtime replaces a listening socket by one that is ready to read while there are
//! streams left. So `select`, `poll` and `epoll` report it as if a peer had connected.
//! When no stream is left, no more input can come. Then an `accept` that would block, or a
//! wait without a result, ends the run with status 0. Before that, threads and children
//! get a moment to finish with open connections.
//!
//! What the program sends stays in the buffer of the pair until the program reads again;
//! then the runtime drops it. Datagram sockets are not modelled.

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
/// How long threads and children may still work on open connections at the end of a run.
const GRACE_MS: c_int = 100;
const MAX_PEERS: usize = 16;

/// The sockets behind the program's sockets.
struct Sockets {
    /// The address family that the program asked for.
    family: u16,
    listening: bool,
    /// The runtime's ends of the connections.
    peers: [c_int; MAX_PEERS],
    len: usize,
    /// Device and inode of the socket that replaces the listening one.
    listener: (u64, u64),
}

static mut SOCKETS: Sockets =
    Sockets { family: 0, listening: false, peers: [-1; MAX_PEERS], len: 0, listener: (0, 0) };

fn sockets() -> &'static mut Sockets {
    // Safety: connections are made by one thread at a time.
    unsafe { &mut *&raw mut SOCKETS }
}

/// True if connections deliver the input in this run.
fn delivers_input() -> bool {
    let s = input::streams();
    s.all[..s.len].iter().any(|x| x.kind == container::SOCKET)
}

/// The stream that the next connection delivers.
fn next_stream() -> Option<usize> {
    let s = input::streams();
    (s.next_socket..s.len).find(|&i| s.all[i].kind == container::SOCKET)
}

fn get_option(fd: c_int, name: u64) -> u32 {
    let (mut value, mut len) = (0u32, 4u32);
    let (v, l) = (&raw mut value as u64, &raw mut len as u64);
    if sys::getsockopt(fd as u64, SOL_SOCKET, name, v, l) == 0 { value } else { 0 }
}

/// True if the runtime handles this socket: a stream socket in a run with socket streams.
fn is_handled(fd: c_int) -> bool {
    delivers_input() && u64::from(get_option(fd, SO_TYPE)) == SOCK_STREAM
}

fn fail_with(errno: c_int) -> c_int {
    // Safety: glibc returns the address of this thread's errno.
    unsafe { *sys::__errno_location() = errno };
    -1
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_bind(fd: c_int, addr: *const u8, len: u32) -> c_int {
    // Safety: the caller guarantees it.
    if is_handled(fd) { 0 } else { unsafe { bind(fd, addr, len) } }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_listen(fd: c_int, backlog: c_int) -> c_int {
    if !is_handled(fd) {
        // Safety: the caller guarantees it.
        return unsafe { listen(fd, backlog) };
    }
    let w = sockets();
    let family = get_option(fd, SO_DOMAIN) as u16;
    let Some([theirs, bell]) = make_pair(0) else { return fail_with(ENOBUFS) };
    // Only the first of several listening sockets is ready.
    if !w.listening && next_stream().is_some() {
        sys::write(bell as u64, c"!".as_ptr() as u64, 1);
    }
    (w.listening, w.family) = (true, family);
    w.listener = sys::fstat(theirs).map_or((0, 0), |st| (st.dev, st.ino));
    replace(fd, theirs);
    sys::move_out_of_the_way(bell);
    0
}

const ENOBUFS: c_int = 105;

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_accept(fd: c_int, addr: *mut u8, len: *mut u32) -> c_int {
    // Safety: the caller guarantees it.
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
    if !is_handled(fd) || !sockets().listening {
        // Safety: the caller guarantees it.
        return unsafe { accept4(fd, addr, len, flags) };
    }
    let Some(stream) = next_stream() else {
        if sys::fcntl(fd as u64, F_GETFL, 0) & i64::from(SOCK_NONBLOCK) != 0 {
            const EAGAIN: c_int = 11;
            return fail_with(EAGAIN);
        }
        end_run();
    };
    let Some(theirs) = deliver(stream, flags) else { return fail_with(ENOBUFS) };
    if next_stream().is_none() {
        let mut byte = 0u8;
        sys::recvfrom(fd as u64, &raw mut byte as u64, 1, MSG_DONTWAIT, 0, 0);
    }
    // Safety: the caller guarantees it.
    unsafe { write_address(addr, len) };
    theirs
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_connect(fd: c_int, addr: *const u8, len: u32) -> c_int {
    // Safety: the caller guarantees it; an address begins with its family.
    let family = if len < 2 { 0 } else { unsafe { addr.cast::<u16>().read_unaligned() } };
    if !matches!(family, AF_INET | AF_INET6) || !is_handled(fd) {
        // Safety: the caller guarantees it.
        return unsafe { connect(fd, addr, len) };
    }
    const ECONNREFUSED: c_int = 111;
    let Some(stream) = next_stream() else { return fail_with(ECONNREFUSED) };
    let Some(theirs) = deliver(stream, 0) else { return fail_with(ENOBUFS) };
    sockets().family = family;
    replace(fd, theirs);
    0
}

/// A socket pair; its flags are those of `accept4`.
fn make_pair(flags: c_int) -> Option<[c_int; 2]> {
    let mut ends = [0 as c_int; 2];
    let kind = SOCK_STREAM | flags as u64;
    let made = sys::socketpair(AF_UNIX.into(), kind, 0, ends.as_mut_ptr() as u64);
    (made == 0).then_some(ends)
}

/// Replaces `fd` by `new`, with the flags of `fd`.
fn replace(fd: c_int, new: c_int) {
    let (status, flags) = (sys::fcntl(fd as u64, F_GETFL, 0), sys::fcntl(fd as u64, F_GETFD, 0));
    sys::dup2(new as u64, fd as u64);
    sys::close(new as u64);
    sys::fcntl(fd as u64, F_SETFL, status.max(0) as u64);
    sys::fcntl(fd as u64, F_SETFD, flags.max(0) as u64);
}

/// Makes a connection that delivers the stream.
fn deliver(number: usize, flags: c_int) -> Option<c_int> {
    let [theirs, ours] = make_pair(flags)?;
    let s = input::streams();
    s.next_socket = number + 1;
    let stream = &mut s.all[number];
    if live::is_on() {
        // One byte that is never read keeps it ready; `live::read` makes the real bytes.
        sys::write(ours as u64, c"!".as_ptr() as u64, 1);
    } else {
        send_stream(ours, stream);
    }
    let st = sys::fstat(theirs)?;
    (stream.dev, stream.ino, stream.taken, stream.end_of) = (st.dev, st.ino, 0, -1);
    let w = sockets();
    let peer = sys::move_out_of_the_way(ours);
    if w.len < MAX_PEERS {
        w.peers[w.len] = peer;
        w.len += 1;
    }
    Some(theirs)
}

/// Drops what the program has sent. Nobody reads it, and a few hundred short answers fill
/// the buffer of the connection: the program would hang. So every read calls this.
pub fn drain() {
    let w = sockets();
    let mut chunk = [0u8; 4096];
    for &fd in &w.peers[..w.len] {
        while sys::recvfrom(fd as u64, chunk.as_mut_ptr() as u64, 4096, MSG_DONTWAIT, 0, 0) > 0 {}
    }
}

/// True for the socket that replaces a listening one.
pub fn is_listener(dev: u64, ino: u64) -> bool {
    sockets().listener == (dev, ino)
}

/// Writes the stream to a connection, and closes it for writing.
fn send_stream(ours: c_int, stream: &Stream) {
    let room = (stream.len * 2 + 4096).min(1 << 30) as c_int;
    for name in [SO_SNDBUF, SO_SNDBUFFORCE] {
        sys::setsockopt(ours as u64, SOL_SOCKET, name, &raw const room as u64, 4);
    }
    let sent = send_bytes(ours, stream, 0, MSG_DONTWAIT);
    if sent < stream.len {
        send_rest_in_background(ours, stream, sent);
    }
    const SHUT_WR: u64 = 1;
    sys::shutdown(ours as u64, SHUT_WR);
}

/// Sends the bytes of the stream from `done` on; returns how many were sent in all.
fn send_bytes(to: c_int, stream: &Stream, mut done: u64, flags: u64) -> u64 {
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

/// Starts a process that sends what the socket has no room for. The process ends without
/// a signal, so the program does not notice it when it waits for its children.
fn send_rest_in_background(to: c_int, stream: &Stream, done: u64) {
    const NO_SIGNAL: u64 = 0;
    if sys::clone(NO_SIGNAL, 0, 0, 0, 0) == 0 {
        send_bytes(to, stream, done, 0);
        sys::exit_now(0);
    }
}

/// Ends the run: every stream was delivered, and the program waits for more.
fn end_run() -> ! {
    #[repr(C)]
    struct Poll {
        fd: c_int,
        events: i16,
        found: i16,
    }
    // A snapshot also has the connection open: the wait below would never see it close.
    if live::is_on() {
        live::end_run();
    }
    let w = sockets();
    for &fd in &w.peers[..w.len] {
        // Without events, `poll` returns when the program's end is closed.
        let mut one = Poll { fd, events: 0, found: 0 };
        // Safety: one record.
        unsafe { poll((&raw mut one).cast(), 1, GRACE_MS) };
    }
    // Safety: a program may call it at any time; exit handlers run.
    unsafe { sys::exit(0) }
}

/// True if the program has got every stream, so that no input can come.
fn has_no_more_input() -> bool {
    delivers_input() && next_stream().is_none() && sockets().len != 0
}

/// A wait with a time limit in milliseconds (negative: none). It is shortened if no input
/// can come.
fn wait_ms(limit: i64, wait: impl FnOnce(c_int) -> c_int) -> c_int {
    if limit == 0 && terminal::hides_key() {
        return terminal::poll_without_key(|| wait(0));
    }
    terminal::note_wait();
    if limit == 0 || !has_no_more_input() {
        return wait(limit.min(i32::MAX.into()) as c_int);
    }
    let out = wait(if limit < 0 { GRACE_MS } else { (limit as c_int).min(GRACE_MS) });
    if out == 0 {
        end_run();
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
    // Safety: the caller guarantees it.
    wait_ms(timeout.into(), |ms| unsafe { poll(fds, n, ms) })
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
    // Safety: the caller guarantees it; without a mask they are the same.
    wait_ms(timeout.into(), |ms| unsafe { epoll_pwait(fd, events, n, ms, core::ptr::null()) })
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
    // Safety: the caller guarantees it.
    wait_ms(timeout.into(), |ms| unsafe { epoll_pwait(fd, events, n, ms, mask) })
}

/// As [`wait_ms`], for a wait that takes a pointer to its time limit.
///
/// # Safety
/// The pointer is null or valid.
unsafe fn wait_timespec(
    timeout: *const Timespec,
    wait: impl FnOnce(*const Timespec) -> c_int,
) -> c_int {
    // Safety: the caller guarantees it.
    let may_wait = unsafe { timeout.as_ref() }.is_none_or(|t| !t.is_zero());
    if !may_wait && terminal::hides_key() {
        return terminal::poll_without_key(|| wait(timeout));
    }
    terminal::note_wait();
    if !may_wait || !has_no_more_input() {
        return wait(timeout);
    }
    let out = wait(&GRACE);
    if out == 0 {
        end_run();
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
    // Safety: the caller guarantees it.
    unsafe { wait_timespec(timeout, |t| ppoll(fds, n, t, mask)) }
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
    // Safety: the caller guarantees it.
    unsafe { wait_timespec(timeout, |t| pselect(n, read, write, other, t, mask)) }
}

/// True if a `select` without waiting asks only for keys from the terminal. Then this
/// empties the sets: there is no key. It saves a system call, since an editor asks
/// thousands of times while it works.
///
/// # Safety
/// The sets are null or valid, up to `n`.
unsafe fn is_only_for_keys(n: c_int, [read, write, other]: [*mut u64; 3]) -> bool {
    let words = (n.max(0) as usize).div_ceil(64);
    let has = |set: *mut u64, wrong: fn(c_int) -> bool| {
        !set.is_null()
            && (0..words).any(|i| {
                // Safety: the caller guarantees it.
                let bits = unsafe { *set.add(i) };
                let fds = (0..64).filter(|b| bits >> b & 1 != 0).map(|b| i as c_int * 64 + b);
                fds.filter(|fd| *fd < n).any(wrong)
            })
    };
    let another = |fd| !terminal::is_terminal(fd);
    if has(write, |_| true) || has(read, another) || has(other, another) {
        return false;
    }
    for set in [read, other].into_iter().filter(|set| !set.is_null()) {
        // Safety: the caller guarantees it.
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
    // Safety: the caller guarantees it. The real function writes the remaining time.
    unsafe {
        let given = timeout.as_ref().map(|t| Timespec { seconds: t.seconds, nanos: t.micros });
        let is_sleep = n == 0 || read.is_null() && write.is_null() && other.is_null();
        if is_sleep && given.is_some() && sleep::is_skipped() {
            return 0;
        }
        let is_poll = given.is_some_and(|t| t.is_zero());
        if is_poll && terminal::hides_key() {
            if is_only_for_keys(n, [read.cast(), write.cast(), other.cast()]) {
                return 0;
            }
            return terminal::poll_without_key(|| select(n, read, write, other, timeout));
        }
        terminal::note_wait();
        if is_poll || !has_no_more_input() {
            return select(n, read, write, other, timeout);
        }
        let mut grace = Timeval { seconds: 0, micros: i64::from(GRACE_MS) * 1000 };
        let out = select(n, read, write, other, &raw mut grace);
        if out == 0 {
            end_run();
        }
        out
    }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_getsockname(fd: c_int, addr: *mut u8, len: *mut u32) -> c_int {
    // Safety: the caller guarantees it.
    unsafe { get_address(fd, addr, len, getsockname) }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_getpeername(fd: c_int, addr: *mut u8, len: *mut u32) -> c_int {
    // Safety: the caller guarantees it.
    unsafe { get_address(fd, addr, len, getpeername) }
}

/// # Safety
/// As the C functions.
unsafe fn get_address(
    fd: c_int,
    addr: *mut u8,
    len: *mut u32,
    real: unsafe extern "C" fn(c_int, *mut u8, *mut u32) -> c_int,
) -> c_int {
    // Safety: the caller guarantees it.
    unsafe {
        if !is_handled(fd)
            || get_option(fd, SO_DOMAIN) as u16 != AF_UNIX
            || sockets().family == AF_UNIX
        {
            return real(fd, addr, len);
        }
        write_address(addr, len);
    }
    0
}

/// Accepts network options, which the sockets of a pair do not have.
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
    if NETWORK.contains(&level) && is_handled(fd) && get_option(fd, SO_DOMAIN) as u16 == AF_UNIX {
        return 0;
    }
    // Safety: the caller guarantees it.
    unsafe { setsockopt(fd, level, name, value, len) }
}

/// Writes a loopback address of the family that the program asked for. It is cut to the
/// given room, as the kernel does.
///
/// # Safety
/// Both pointers are null or valid arguments of `accept`.
unsafe fn write_address(addr: *mut u8, len: *mut u32) {
    if addr.is_null() || len.is_null() {
        return;
    }
    let mut full = [0u8; 28];
    let family = sockets().family;
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
    // Safety: the caller guarantees it; at most `len` bytes.
    unsafe {
        let room = (*len).min(size) as usize;
        core::ptr::copy_nonoverlapping(full.as_ptr(), addr, room);
        *len = size;
    }
}
