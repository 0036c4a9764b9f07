//! Ways around memory: what the program writes to a file, a pipe or a socket, and reads back
//! in the same run, keeps its labels.
//!
//! A *channel* is a file, a pipe, or one direction of a connection that the program has
//! written to. It has a *window*: a range of addresses that nothing else uses, with memory of
//! its own. A write copies the bytes and their labels there, and a read copies the labels
//! back. So a channel costs no code in the shadow. A file's window is indexed by the offset
//! in the file, a queue's by what was written before.
//!
//! A read compares the bytes that arrived with those in the window. Where they differ, another
//! process or code without a model wrote them: they get no labels, and a loss is counted.
//!
//! The number of bytes in a channel may depend on the input, too. If the last write had a
//! labelled size, a read up to the end has a labelled count. What is written behind such an
//! end has a place that depends on the input: the first read pins it.

pub mod mapped;

use super::arena;
use super::events::count_loss;
use super::{is_labelling, run_start_time, shadow};
use crate::input;
use crate::models::api::V;
use crate::sys::{self, Stat};
use core::sync::atomic::{AtomicBool, Ordering};
use pleach_abi::shm::Loss;

/// The windows begin here: nothing of the program lies below 2^44.
const WINDOWS: u64 = 1 << 40;
const WINDOW_SIZE: u64 = 1 << 28;
const MAX_CHANNELS: usize = 256;
/// Bytes that the channels of a run may keep.
const MAX_KEPT: u32 = 64 << 20;
const MAX_DEFERRED: usize = 8;
const MAX_PAIRS: usize = 64;

/// What identifies a channel: for a file or a pipe the numbers of its device and inode.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    first: u64,
    second: u64,
}

impl Key {
    /// A key for something that is no file.
    pub fn private(kind: u64, number: u64) -> Key {
        Key { first: u64::MAX - kind, second: number }
    }
}

/// Where the bytes of a descriptor go, or come from.
#[derive(Clone, Copy)]
pub struct Way {
    pub key: Key,
    pub is_queue: bool,
    pub size: u64,
    is_changed: bool,
}

impl Way {
    /// The way of a stream whose contents are in memory of libc.
    pub fn of_memory(key: Key) -> Way {
        Way { key, is_queue: false, size: 0, is_changed: true }
    }

    /// True if writes to the descriptor go to the end of the file.
    pub fn is_appending(&self, fd: i32) -> bool {
        const F_GETFL: u64 = 3;
        const O_APPEND: i64 = 0o2000;
        sys::fcntl(fd as u64, F_GETFL, 0) & O_APPEND != 0
    }
}

#[derive(Clone, Copy)]
struct Channel {
    key: Key,
    is_queue: bool,
    /// Where the next read of a queue begins.
    start: u64,
    /// The end of what was written.
    end: u64,
    /// The label of the end; 0 if it is concrete.
    end_label: u32,
    /// A short read has shown where the end is: reads there decide nothing more.
    has_ended: bool,
    /// Values that decide where bytes lie, to be pinned by the first read.
    deferred: [(u32, u64); MAX_DEFERRED],
    deferred_len: usize,
    /// Something was written that could not be labelled.
    is_lost: bool,
    /// The labels are shared with mappings of the file.
    is_mapped: bool,
}

const NO_CHANNEL: Channel = Channel {
    key: Key { first: 0, second: 0 },
    is_queue: false,
    start: 0,
    end: 0,
    end_label: 0,
    has_ended: false,
    deferred: [(0, 0); MAX_DEFERRED],
    deferred_len: 0,
    is_lost: false,
    is_mapped: false,
};

struct Channels {
    all: [Channel; MAX_CHANNELS],
    len: usize,
    kept: u32,
    /// Standard output and error at the start of the run: nothing is read back from there.
    outside: [Key; 2],
    /// The inodes of the two ends of a socket pair.
    pairs: [[u64; 2]; MAX_PAIRS],
    pairs_len: usize,
}

static mut CHANNELS: Channels = Channels {
    all: [NO_CHANNEL; MAX_CHANNELS],
    len: 0,
    kept: 0,
    outside: [Key { first: 0, second: 0 }; 2],
    pairs: [[0; 2]; MAX_PAIRS],
    pairs_len: 0,
};

static LOCK: AtomicBool = AtomicBool::new(false);

/// Runs `f` alone. A signal handler that interrupts `f` does not wait for ever: a race costs
/// labels.
fn locked<T>(f: impl FnOnce(&mut Channels) -> T) -> T {
    const MAX_SPINS: u32 = 1 << 16;
    let mut spins = 0;
    while LOCK.swap(true, Ordering::Acquire) && spins < MAX_SPINS {
        core::hint::spin_loop();
        spins += 1;
    }
    // Safety: one thread at a time.
    let out = f(unsafe { &mut *&raw mut CHANNELS });
    LOCK.store(false, Ordering::Release);
    out
}

pub fn begin_run() {
    if !is_labelling() {
        return;
    }
    // Safety: one thread begins a run.
    unsafe { OUTSIDE_FDS = 0b110 };
    locked(|c| {
        (c.len, c.kept, c.pairs_len) = (0, 0, 0);
        c.outside = [1, 2].map(|fd| match sys::fstat(fd) {
            Some(st) => Key { first: st.dev, second: st.ino },
            None => Key::private(0, 0),
        });
    });
}

const KIND: u32 = 0o170_000;
const PIPE: u32 = 0o010_000;
const FILE: u32 = 0o100_000;
const SOCKET: u32 = 0o140_000;
/// Counters and timers of the kernel (`eventfd` and its like).
const ANONYMOUS: u32 = 0;

/// The way of what is read from a descriptor, or written to it; `None` if nothing that was
/// written can be read.
fn way(fd: i32, reads: bool) -> Option<Way> {
    if !is_labelling() || !reads && is_outside(fd) {
        return None;
    }
    let st = sys::fstat(fd)?;
    let key = Key { first: st.dev, second: st.ino };
    let way = |key, is_queue| {
        let is_changed = st.size > 0 && st.modified() >= run_start_time();
        Some(Way { key, is_queue, size: st.size as u64, is_changed })
    };
    // Safety: as in `locked`; both ends are set before the program runs.
    let is_outside = unsafe { (*&raw const CHANNELS.outside).contains(&key) };
    if !reads && (is_outside || input::is_connection(st.dev, st.ino)) {
        return None;
    }
    match st.mode & KIND {
        FILE => way(key, false),
        PIPE => way(key, true),
        SOCKET => way(connection(fd, &st, reads), true),
        ANONYMOUS => {
            // All of these have the same inode.
            let key = Key::private(4, 0);
            let is_known = !reads || locked(|c| c.find(key)).is_some();
            is_known.then_some(Way { key, is_queue: false, size: 0, is_changed: true })
        }
        _ => None,
    }
}

/// The way of what is read from a descriptor.
pub fn read_way(fd: i32) -> Option<Way> {
    way(fd, true)
}

/// The way of what is written to a descriptor.
pub fn write_way(fd: i32) -> Option<Way> {
    way(fd, false)
}

/// The key of one direction of a connection: the inode of the end that writes, or for ends
/// that were not made together a hash of their addresses, that of the writer first.
fn connection(fd: i32, st: &Stat, reads: bool) -> Key {
    let peer = locked(|c| {
        let pairs = &c.pairs[..c.pairs_len];
        let [a, b] = *pairs.iter().rev().find(|p| p.contains(&st.ino))?;
        Some(if a == st.ino { b } else { a })
    });
    if let Some(peer) = peer {
        return Key { first: st.dev, second: if reads { peer } else { st.ino } };
    }
    let (own, far) = (socket_name(fd, false), socket_name(fd, true));
    const UNNAMED_LEN: u64 = 2;
    // Of two local sockets, only that of the server has a name. It is the same at both ends.
    let second = match (own.1 > UNNAMED_LEN, far.1 > UNNAMED_LEN) {
        (true, true) if reads => far.0.rotate_left(1) ^ own.0,
        (true, true) => own.0.rotate_left(1) ^ far.0,
        (true, false) => own.0 ^ u64::from(reads),
        (false, true) => far.0 ^ u64::from(!reads),
        (false, false) => st.ino,
    };
    Key::private(1, second)
}

/// A hash and the length of the name of a socket, or of its peer.
fn socket_name(fd: i32, of_peer: bool) -> (u64, u64) {
    let mut name = [0u8; 128];
    let mut len = name.len() as u32;
    let (at, len_at) = (name.as_mut_ptr() as u64, &raw mut len as u64);
    let out = match of_peer {
        true => sys::getpeername(fd as u64, at, len_at),
        false => sys::getsockname(fd as u64, at, len_at),
    };
    if out < 0 {
        return (0, 0);
    }
    const PRIME: u64 = 0x100_0000_01b3;
    let used = (len as usize).min(name.len());
    let hash = name[..used]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h: u64, &b| (h ^ u64::from(b)).wrapping_mul(PRIME));
    (hash & !1, len.into())
}

/// Remembers the two ends of a socket pair.
pub fn add_pair(ends: [i32; 2]) {
    let [Some(a), Some(b)] = ends.map(sys::fstat) else { return };
    locked(|c| {
        if c.pairs_len < MAX_PAIRS {
            c.pairs[c.pairs_len] = [a.ino, b.ino];
            c.pairs_len += 1;
        }
    });
}

fn window(number: usize) -> u64 {
    WINDOWS + number as u64 * WINDOW_SIZE
}

impl Channels {
    fn find(&self, key: Key) -> Option<usize> {
        self.all[..self.len].iter().position(|c| c.key == key)
    }

    /// The channel of a key. It is made if it is not there.
    fn find_or_make(&mut self, key: Key, is_queue: bool) -> Option<usize> {
        if let Some(number) = self.find(key) {
            return Some(number);
        }
        let number = self.len;
        if number == MAX_CHANNELS {
            return None;
        }
        let at = window(number);
        let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE;
        let prot = sys::PROT_READ | sys::PROT_WRITE;
        let flags = flags | sys::MAP_FIXED_NOREPLACE;
        if sys::mmap(at, WINDOW_SIZE, prot, flags, u64::MAX, 0) != at as i64 {
            return None;
        }
        let is_lost = mapped::is_mapped_for_reading(key);
        if is_lost {
            count_loss(Loss::Channel);
        }
        self.all[number] = Channel { key, is_queue, is_lost, ..NO_CHANNEL };
        self.len += 1;
        Some(number)
    }

    /// Makes room for what is written at `at` up to `end`. False if it cannot be kept.
    fn reserve(&mut self, number: usize, at: u64, end: u64) -> bool {
        let more = end.saturating_sub(self.all[number].end.max(at));
        let fits = end <= WINDOW_SIZE && more <= u64::from(MAX_KEPT - self.kept);
        if fits {
            self.kept += more as u32;
        } else {
            self.all[number].is_lost = true;
        }
        fits
    }
}

impl Channel {
    fn defer(&mut self, label: u32, val: u64) {
        if label == 0 {
            return;
        }
        match self.deferred.get_mut(self.deferred_len) {
            Some(place) => {
                *place = (label, val);
                self.deferred_len += 1;
            }
            None => self.is_lost = true,
        }
    }

    /// Moves the end after a write at `at` of as many bytes as `n` says.
    fn extend(&mut self, at: u64, n: V) {
        self.has_ended = false;
        let end = at + n.val;
        if end < self.end || end == self.end && n.label == 0 {
            return self.defer(n.label, n.val);
        }
        let (label, val) = (self.end_label, self.end);
        self.defer(label, val);
        self.end = end;
        self.end_label = n.add_constant(at).label;
    }
}

/// Bit `fd` is set while that descriptor is what it was at the start of the run.
static mut OUTSIDE_FDS: u8 = 0;

/// True if nothing that is written to the descriptor can be read.
#[inline]
pub fn is_outside(fd: i32) -> bool {
    // Safety: a race between threads costs a system call.
    (fd == 1 || fd == 2) && unsafe { OUTSIDE_FDS } >> fd & 1 != 0
}

/// A descriptor is closed or replaced.
pub fn note_change(fd: i32) {
    if fd == 1 || fd == 2 {
        // Safety: as above.
        unsafe { OUTSIDE_FDS &= !(1 << fd) };
    }
}

/// A write to a way: at an offset for a file, at the end of a queue.
#[derive(Clone, Copy)]
pub struct Write {
    number: usize,
    at: u64,
}

/// Begins a write to a file at `at`, or to a queue.
pub fn write_at(way: Way, at: u64) -> Option<Write> {
    let number = locked(|c| c.find_or_make(way.key, way.is_queue))?;
    Some(Write { number, at })
}

impl Write {
    /// Writes the bytes in memory with their labels. `is_known`: bytes without labels that are
    /// there already keep theirs.
    pub fn put(&mut self, from: u64, n: V, is_known: bool) {
        locked(|c| {
            let Some(to) = self.place(c, n) else { return };
            if is_known {
                for i in 0..n.val {
                    // Safety: as below.
                    let (old, new) =
                        unsafe { (*((to + i) as *const u8), *((from + i) as *const u8)) };
                    if old != new || shadow::raw(from + i) != 0 {
                        shadow::copy(to + i, from + i, 1);
                    }
                }
            } else {
                shadow::copy(to, from, n.val);
            }
            // Safety: the program has written these bytes; the window is mapped.
            unsafe {
                core::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, n.val as usize);
            }
        });
    }

    /// Writes one byte.
    pub fn put_byte(&mut self, byte: V) {
        locked(|c| {
            if let Some(to) = self.place(c, V::new(64, 1)) {
                byte.store(to);
            }
        });
    }

    /// Says that what was written has lost labels.
    pub fn lose(&mut self) {
        locked(|c| c.all[self.number].is_lost = true);
    }

    /// The place of the next `n` bytes in the window.
    fn place(&mut self, c: &mut Channels, n: V) -> Option<u64> {
        let queue = c.all[self.number];
        if queue.is_queue {
            if queue.start == queue.end && queue.end_label == 0 {
                (c.all[self.number].start, c.all[self.number].end) = (0, 0);
            }
            self.at = c.all[self.number].end;
        }
        let (at, end) = (self.at, self.at.saturating_add(n.val));
        if n.val == 0 && n.label == 0 || !c.reserve(self.number, at, end) {
            return None;
        }
        c.all[self.number].extend(at, n);
        self.at = end;
        Some(window(self.number) + at)
    }
}

/// Bytes that have arrived from a way, from `at` on in a file.
pub struct Arrival {
    way: Way,
    number: Option<usize>,
    at: u64,
    /// False for a peek.
    takes: bool,
    /// The bytes are at `at` in the memory of the program.
    is_memory: bool,
}

pub fn arrival(way: Way, at: u64, takes: bool) -> Arrival {
    let number = locked(|c| c.find(way.key));
    Arrival { way, number, at, takes, is_memory: false }
}

/// Bytes that have arrived from memory of the program.
pub fn arrival_from_memory(at: u64) -> Arrival {
    let way = Way::of_memory(Key::private(0, 0));
    Arrival { way, number: None, at, takes: true, is_memory: true }
}

impl Arrival {
    pub fn is_from_queue(&self) -> bool {
        self.way.is_queue
    }

    /// Labels `n` bytes that have arrived at `to`, which has no labels.
    pub fn label(&mut self, to: u64, n: u64) {
        if n == 0 {
            return;
        }
        if self.is_memory {
            shadow::copy(to, self.at, n);
            self.at += n;
            return;
        }
        let Some(number) = self.number else {
            if self.way.is_queue || self.way.is_changed {
                count_loss(Loss::Channel);
            }
            return;
        };
        if self.way.is_queue {
            wait_for_writer(number, n);
        }
        let is_right = locked(|c| self.label_from(c, number, to, n));
        if !is_right {
            count_loss(Loss::Channel);
        }
    }

    /// False if labels were lost.
    fn label_from(&mut self, c: &mut Channels, number: usize, to: u64, n: u64) -> bool {
        let from = &mut c.all[number];
        for (label, val) in &from.deferred[..from.deferred_len] {
            V::arg(*label, 64, *val).pin();
        }
        from.deferred_len = 0;
        let mut is_right = !from.is_lost;
        if from.is_queue {
            self.at = from.start;
        }
        if from.is_mapped {
            // Stores to memory have no end.
            from.end = from.end.max(self.way.size.min(WINDOW_SIZE));
        }
        let known = from.end.saturating_sub(self.at).min(n);
        is_right &= known == n || !from.is_queue && !self.way.is_changed;
        let place = window(number) + self.at;
        shadow::copy(to, place, known);
        is_right &= drop_wrong_labels(to, place, known, from.is_mapped) || !self.way.is_changed;
        self.at += known;
        if from.is_queue && self.takes {
            from.start = self.at;
        }
        is_right
    }

    /// As [`Arrival::count`], for bytes that were labelled before, up to the end.
    pub fn count_to_end(&self, want: V, got: u64) -> Option<V> {
        if self.way.is_queue {
            pin_end(self.way.key);
            return None;
        }
        Some(self.count(want, got))
    }

    /// The count of a read of `want` bytes that got `got`; the position is still that before the
    /// read. Records what it decides on the end of the channel.
    pub fn count(&self, want: V, got: u64) -> V {
        let plain = V::new(64, got);
        let Some(number) = self.number.filter(|_| want.val != 0) else { return plain };
        let (at, end) = locked(|c| {
            let of = &c.all[number];
            let at = if of.is_queue { of.start } else { self.at };
            (at, V::arg(of.end_label, 64, of.end))
        });
        let is_short = got < want.val;
        if end.label == 0 || at > end.val || is_short && at + got != end.val {
            return plain;
        }
        let was_at_end = at == end.val && locked(|c| c.all[number].has_ended);
        if was_at_end {
            return plain;
        }
        let left = end.sub_constant(at);
        if left.label == want.label || want.ule(left).decide() {
            return want;
        }
        locked(|c| c.all[number].has_ended = true);
        left
    }
}

/// True if a channel has these bytes already.
pub fn holds(way: &Way, at: u64, from: u64, n: u64) -> bool {
    locked(|c| {
        let Some(number) = c.find(way.key).filter(|&k| at + n <= c.all[k].end) else {
            return false;
        };
        let place = window(number) + at;
        // Safety: a part of the window that was written to, and bytes of a buffer.
        unsafe {
            core::slice::from_raw_parts(place as *const u8, n as usize)
                == core::slice::from_raw_parts(from as *const u8, n as usize)
        }
    })
}

/// Empties a channel.
pub fn forget(key: Key) {
    locked(|c| {
        let Some(number) = c.find(key) else { return };
        shadow::clear(window(number), c.all[number].end);
        let is_queue = c.all[number].is_queue;
        c.all[number] = Channel { key, is_queue, ..NO_CHANNEL };
    });
}

/// Ends a file at `len`.
pub fn truncate(fd: i32, len: V) {
    let Some(way) = write_way(fd).filter(|w| !w.is_queue) else { return };
    locked(|c| {
        let Some(number) = c.find(way.key) else { return };
        let of = &mut c.all[number];
        let (label, end) = (core::mem::take(&mut of.end_label), of.end);
        of.defer(label, end);
        of.defer(len.label, len.val);
        of.has_ended = false;
        if len.val < end {
            of.end = len.val;
            let at = window(number) + len.val;
            shadow::clear(at, end - len.val);
            // Safety: a part of the window that was written to.
            unsafe { core::ptr::write_bytes(at as *mut u8, 0, (end - len.val) as usize) };
        }
    });
}

/// Copies the labels of the first `n` bytes of a channel to memory that has the same bytes.
pub fn copy_out(key: Key, to: u64, n: u64) {
    let is_right = locked(|c| {
        let Some(number) = c.find(key) else { return true };
        let of = &mut c.all[number];
        let (label, end) = (core::mem::take(&mut of.end_label), of.end);
        of.defer(label, end);
        for (label, val) in &of.deferred[..core::mem::take(&mut of.deferred_len)] {
            V::arg(*label, 64, *val).pin();
        }
        let n = n.min(of.end);
        shadow::copy(to, window(number), n);
        drop_wrong_labels(to, window(number), n, false) && !of.is_lost
    });
    if !is_right {
        count_loss(Loss::Channel);
    }
}

/// The size of a file that the program has written, with its label.
pub fn size_of_file(dev: u64, ino: u64, size: u64) -> V {
    let (end, is_lost) = locked(|c| {
        let Some(number) = c.find(Key { first: dev, second: ino }) else {
            return (V::new(64, size), false);
        };
        let of = &mut c.all[number];
        for (label, val) in &of.deferred[..core::mem::take(&mut of.deferred_len)] {
            V::arg(*label, 64, *val).pin();
        }
        (V::arg(of.end_label, 64, of.end), of.is_lost)
    });
    if is_lost {
        count_loss(Loss::Channel);
    }
    // Streams write what they have buffered later.
    if end.val == size { end } else { V::new(64, size) }
}

/// Pins the size of a file, where a function returns it or moves to it.
pub fn pin_size(fd: i32) {
    if let Some(way) = read_way(fd) {
        pin_end(way.key);
    }
}

fn pin_end(key: Key) {
    let end = locked(|c| {
        let found = c.find(key)?;
        let of = &mut c.all[found];
        Some(V::arg(core::mem::take(&mut of.end_label), 64, of.end))
    });
    end.map(V::pin);
}

/// Another thread may have written bytes to a queue that it has not noted yet.
fn wait_for_writer(number: usize, n: u64) {
    const MAX_WAITS: u32 = 1000;
    let mut waits = 0;
    while !arena::is_single_threaded()
        && waits < MAX_WAITS
        && locked(|c| c.all[number].end - c.all[number].start) < n
    {
        sys::sched_yield();
        waits += 1;
    }
}

/// Drops the labels of bytes that are not those in the window. If mappings of the file share
/// the labels, the bytes in the window are old, and only the labels count. False if there was
/// another byte.
fn drop_wrong_labels(at: u64, window: u64, n: u64, is_mapped: bool) -> bool {
    // Safety: the bytes have just been read; the window is mapped.
    let (new, old) = unsafe {
        (
            core::slice::from_raw_parts(at as *const u8, n as usize),
            core::slice::from_raw_parts(window as *const u8, n as usize),
        )
    };
    if new == old {
        return true;
    }
    let mut is_right = true;
    for i in (0..n).filter(|&i| new[i as usize] != old[i as usize]) {
        let m = shadow::raw(at + i);
        let is_labels = m != 0 && (arena::value(m >> 4) >> (8 * (m & 15))) as u8 == new[i as usize];
        if is_mapped && (m == 0 || is_labels) {
            continue;
        }
        shadow::clear(at + i, 1);
        is_right = false;
    }
    is_right
}
