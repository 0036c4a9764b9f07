//! Expression nodes, bump-allocated in the shared memory.
//!
//! One `xadd` on the count in the shared header allocates a node. It is a single
//! instruction, so a signal handler that interrupts the runtime gets other nodes. With
//! more than one thread it has the lock prefix. libc clears `__libc_single_threaded`
//! before it starts a second thread, even for a library without instrumentation. Nothing
//! is hashed here: the driver finds equal expressions.

use crate::start::header;
use core::arch::asm;
use pleach_abi::event::Event;
use pleach_abi::layout::{LABEL_MAX, SHM_BASE};
use pleach_abi::node::{FLAG_BEYOND, FLAG_WIDE, Node, Op};
use pleach_abi::shm;

struct Arena {
    nodes: *mut Node,
    count: *mut u32,
    cap: u32,
}

static mut ARENA: Arena =
    Arena { nodes: core::ptr::null_mut(), count: core::ptr::null_mut(), cap: 0 };

fn arena() -> &'static mut Arena {
    // Safety: set at start-up only.
    unsafe { &mut *&raw mut ARENA }
}

pub fn start() {
    let Some(h) = header() else { return };
    let a = arena();
    a.nodes = (SHM_BASE + h.nodes_off) as *mut Node;
    a.count = &raw mut h.nodes;
    a.cap = h.nodes_cap.min(u64::from(LABEL_MAX)) as u32;
}

/// Empties the trace. First it maps the pages that the last run used, by reading one byte
/// of every 64 KiB: on a read fault in a shared file the kernel also maps the pages around
/// it, writable. That costs a fifth of `MADV_POPULATE_WRITE`, and a tenth of one fault for
/// each page.
pub fn begin_run() {
    let Some(h) = header() else { return };
    prefault(SHM_BASE + h.nodes_off, u64::from(h.nodes) * size_of::<Node>() as u64);
    prefault(SHM_BASE + h.events_off, u64::from(h.events) * size_of::<Event>() as u64);
    let reserved = h.input_len + 1;
    h.nodes = if reserved < u64::from(arena().cap) { reserved as u32 } else { 1 };
    h.events = 0;
    h.tokens = 0;
    h.snaps = 0;
    h.cut = 0;
    h.losses = [0; 16];
    h.unmodelled_len = 0;
    h.input_read = 0;
}

fn prefault(from: u64, bytes: u64) {
    const AROUND: u64 = 64 << 10;
    for at in (from..from + bytes.min(64 << 20)).step_by(AROUND as usize) {
        // Safety: inside the mapping, by the caps in the header.
        unsafe { (at as *const u8).read_volatile() };
    }
}

/// The node behind a label.
#[inline(always)]
pub fn node(label: u32) -> &'static mut Node {
    // Safety: labels come from `push`. A label that the program forged only reaches the
    // trace: the addresses above it are reserved.
    unsafe { &mut *arena().nodes.add(label as usize) }
}

unsafe extern "C" {
    static __libc_single_threaded: u8;
}

/// True if the process has never had a second thread.
pub fn is_single_threaded() -> bool {
    // Safety: libc's own byte.
    unsafe { core::ptr::read_volatile(&raw const __libc_single_threaded) != 0 }
}

/// Adds to a count in shared memory and returns its old value.
///
/// # Safety
/// `count` must point to mapped memory.
#[inline(always)]
pub unsafe fn fetch_add(count: *mut u32, n: u32) -> u32 {
    let mut at = n;
    // Safety: the caller guarantees it; one exchange-and-add.
    unsafe {
        if !is_single_threaded() {
            asm!("lock xadd dword ptr [{0}], {1:e}", in(reg) count, inout(reg) at, options(nostack));
        } else {
            asm!("xadd dword ptr [{0}], {1:e}", in(reg) count, inout(reg) at, options(nostack));
        }
    }
    at
}

#[inline(always)]
fn reserve(n: u32) -> Option<u32> {
    let a = arena();
    if a.count.is_null() {
        return None;
    }
    // Safety: the count in the shared header.
    let at = unsafe { fetch_add(a.count, n) };
    if at.wrapping_add(n) > a.cap {
        undo_reserve(n);
        return None;
    }
    Some(at)
}

#[cold]
fn undo_reserve(n: u32) {
    if let Some(h) = header() {
        h.nodes = h.nodes.wrapping_sub(n);
        h.cut |= shm::CUT_NODES;
    }
}

/// Allocates a node; 0 (concrete) if the arena is full.
#[inline(always)]
pub fn push(n: Node) -> u32 {
    let Some(at) = reserve(1) else { return 0 };
    *node(at) = n;
    at
}

/// Allocates a node wider than 64 bits, with its companion.
pub fn push_wide(mut n: Node, imm_high: u64, val_high: u64) -> u32 {
    let Some(at) = reserve(2) else { return 0 };
    n.flags |= FLAG_WIDE;
    *node(at) = n;
    *node(at + 1) =
        Node { op: Op::Wide as u8, width: 64, imm: imm_high, val: val_high, ..Node::default() };
    at
}

/// Labels for `n` bytes past the end of a stream, from offset `at` on.
pub fn labels_past_end(stream: usize, at: u64, n: u64) -> Option<u32> {
    let first = reserve(n as u32)?;
    for i in 0..n {
        *node(first + i as u32) = Node {
            op: Op::Const as u8,
            width: 8,
            flags: FLAG_BEYOND,
            b: stream as u32,
            imm: at + i,
            ..Node::default()
        };
    }
    Some(first)
}

/// The labels of input bytes `at .. at + n`, whose values are at `addr`.
pub fn input_labels(at: u64, n: u64, addr: u64) -> Option<u32> {
    if at + n + 1 > u64::from(arena().cap) {
        return None;
    }
    let first = at as u32 + 1;
    for i in 0..n as u32 {
        let slot = node(first + i);
        // A byte that is read again keeps its node.
        if slot.op != Op::Input as u8 || slot.a != at as u32 + i {
            // Safety: the caller has just read the input to this address.
            let val = unsafe { *(addr as *const u8).add(i as usize) };
            *slot = Node {
                op: Op::Input as u8,
                width: 8,
                a: at as u32 + i,
                val: val.into(),
                ..Node::default()
            };
        } else {
            slot.val = unsafe { *(addr as *const u8).add(i as usize) }.into();
            slot.flags = 0;
        }
    }
    Some(first)
}

pub fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// A cast between widths up to 64; `ops` handles wider ones.
pub fn cast(op: Op, a: u32, width: u32, val: u64) -> u32 {
    push(Node { op: op as u8, width: width as u8, a, val: val & mask(width), ..Node::default() })
}

/// An operation on two operands; `imm` is the value of a concrete one.
pub fn binary(op: Op, width: u32, a: u32, b: u32, imm: u64, val: u64) -> u32 {
    push(Node {
        op: op as u8,
        width: width as u8,
        a,
        b,
        imm,
        val: val & mask(width),
        ..Node::default()
    })
}

/// A constant of up to 128 bits.
pub fn constant(width: u32, low: u64, high: u64) -> u32 {
    let n = Node {
        op: Op::Const as u8,
        width: width as u8,
        imm: low,
        val: low & mask(width),
        ..Node::default()
    };
    if width > 64 { push_wide(n, high, high & mask(width - 64)) } else { push(n) }
}

/// The value that a label's node remembers.
pub fn value(label: u32) -> u128 {
    let n = node(label);
    let high = if n.flags & FLAG_WIDE != 0 { node(label + 1).val } else { 0 };
    u128::from(n.val) | u128::from(high) << 64
}
