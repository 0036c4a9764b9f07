//! Labels of memory: loading, storing, copying.
//!
//! The shadow heals itself: a load compares the value in memory with the value in the
//! node. If they differ, code without instrumentation wrote there, and the load drops the
//! label.

use super::arena::{cast, mask, node, push, push_wide, value};
use super::events::count_loss;
use super::losses;
use pleach_abi::layout::{DIRTY_BASE, DIRTY_SHIFT, DIRTY_SPILL, dirty_of, memory_label, shadow_of};
use pleach_abi::node::{FLAG_BEYOND, Node, Op};
use pleach_abi::shm::Loss;

const BLOCK: u64 = 1 << DIRTY_SHIFT;

#[inline(always)]
fn slot(addr: u64) -> *mut u32 {
    shadow_of(addr) as *mut u32
}

/// The memory label of one byte.
#[inline(always)]
pub fn raw(addr: u64) -> u32 {
    // Safety: the shadow of every address is mapped.
    unsafe { *slot(addr) }
}

/// True if no byte of the range has a label.
pub fn is_clean(addr: u64, n: u64) -> bool {
    next_labelled(addr, n) == n
}

/// Distance to the first labelled byte in the range; `n` if there is none.
pub fn next_labelled(addr: u64, n: u64) -> u64 {
    if n > 2 * BLOCK && is_untouched(addr, n) {
        return n;
    }
    let end = addr + n;
    let mut at = addr;
    while at < end {
        let stop = ((at | (BLOCK - 1)) + 1).min(end);
        // Safety: dirty map and shadow cover the address space.
        if unsafe { *(dirty_of(at) as *const u8) } != 0 {
            while at < stop {
                if raw(at) != 0 {
                    return at - addr;
                }
                at += 1;
            }
        }
        at = stop;
    }
    n
}

/// True if no block of a long range ever had a label; reads the dirty map by eight bytes.
fn is_untouched(addr: u64, n: u64) -> bool {
    let (mut at, end) = (dirty_of(addr), dirty_of(addr + n - 1) + 1);
    // Safety: the dirty map covers the address space.
    unsafe {
        while at + 8 <= end {
            if (at as *const u64).read_unaligned() != 0 {
                return false;
            }
            at += 8;
        }
        (at..end).all(|at| *(at as *const u8) == 0)
    }
}

/// Sets the dirty map for a range.
pub fn mark_dirty(addr: u64, n: u64) {
    let from = addr.saturating_sub(DIRTY_SPILL) >> DIRTY_SHIFT;
    let to = (addr + n - 1) >> DIRTY_SHIFT;
    for block in from..=to {
        let flag = (DIRTY_BASE + block) as *mut u8;
        // Safety: as above.
        unsafe {
            if *flag == 0 {
                *flag = 1;
            }
        }
    }
}

/// Removes all labels of a range.
pub fn clear(addr: u64, n: u64) {
    if n > 2 * BLOCK && is_untouched(addr, n) {
        return;
    }
    let end = addr + n;
    let mut at = addr;
    while at < end {
        let stop = ((at | (BLOCK - 1)) + 1).min(end);
        // Safety: as above.
        unsafe {
            if *(dirty_of(at) as *const u8) != 0 {
                core::ptr::write_bytes(slot(at), 0, (stop - at) as usize);
            }
        }
        at = stop;
    }
}

/// Gives `n` bytes the labels `first`, `first + 1`, … (one-byte nodes).
pub fn set_run(addr: u64, first: u32, n: u64) {
    mark_dirty(addr, n);
    for i in 0..n {
        // Safety: as above.
        unsafe { *slot(addr + i) = memory_label(first + i as u32, 0) };
    }
}

/// Gives the bytes of a value the labels of the bytes of one node (label 0: clears them).
pub fn store(addr: u64, label: u32, bits: u32) {
    let n = bits.div_ceil(8);
    if label == 0 {
        return clear(addr, n.into());
    }
    let is = *node(label);
    // A value read from consecutive input bytes: each byte gets its own label back.
    if is.op == Op::Read as u8 && u32::from(is.width) == 8 * n {
        return set_run(addr, is.a, n.into());
    }
    let label = if u32::from(is.width) < 8 * n { widen(label, 8 * n) } else { label };
    if label == 0 {
        return clear(addr, n.into());
    }
    mark_dirty(addr, n.into());
    for i in 0..n {
        // Safety: as above.
        unsafe { *slot(addr + u64::from(i)) = memory_label(label, i) };
    }
}

fn widen(label: u32, width: u32) -> u32 {
    let v = value(label);
    if width > 64 {
        let n = Node {
            op: Op::ZExt as u8,
            width: width as u8,
            a: label,
            val: v as u64,
            ..Node::default()
        };
        push_wide(n, 0, (v >> 64) as u64)
    } else {
        cast(Op::ZExt, label, width, v as u64)
    }
}

/// Copies labels as `memmove` copies bytes.
pub fn copy(dst: u64, src: u64, n: u64) {
    if n == 0 || dst == src {
        return;
    }
    if is_clean(src, n) {
        return clear(dst, n);
    }
    mark_dirty(dst, n);
    // Safety: as above; overlap is allowed.
    unsafe { core::ptr::copy(slot(src), slot(dst), n as usize) };
}

/// The label of the value of `bits` bits at `addr`, little endian; 0: concrete.
pub fn load(addr: u64, bits: u32) -> u32 {
    let n = bits.div_ceil(8);
    let first = raw(addr);
    if first & 15 == 0 && first != 0 {
        let label = first >> 4;
        let is = node(label);
        let one = u32::from(is.width) == bits && bits <= 64 && is_in_order(addr, first, n);
        if one && is.flags & FLAG_BEYOND == 0 {
            if is.val == read_word(addr, n) & mask(bits) {
                return label;
            }
            return heal_and_load(addr, bits);
        }
    }
    if n == 1 && first == 0 {
        return 0;
    }
    gather(addr, bits)
}

fn is_in_order(addr: u64, first: u32, n: u32) -> bool {
    (1..n).all(|i| raw(addr + u64::from(i)) == first + i)
}

#[cold]
fn heal_and_load(addr: u64, bits: u32) -> u32 {
    gather(addr, bits)
}

/// Up to 8 bytes of memory, little endian.
pub fn read_word(addr: u64, n: u32) -> u64 {
    let p = addr as *const u8;
    // Safety: the program has just accessed these bytes itself.
    unsafe {
        match n {
            1 => (*p).into(),
            2 => p.cast::<u16>().read_unaligned().into(),
            4 => p.cast::<u32>().read_unaligned().into(),
            8 => p.cast::<u64>().read_unaligned(),
            _ => (0..n.min(8)).fold(0, |w, i| w | u64::from(*p.add(i as usize)) << (8 * i)),
        }
    }
}

/// The memory label of a byte, if its node has the value in memory. Otherwise removes the
/// label and returns 0.
fn heal(addr: u64) -> u32 {
    let m = raw(addr);
    if m == 0 {
        return 0;
    }
    let is = node(m >> 4);
    if is.flags & FLAG_BEYOND != 0 {
        // A longer input would have overwritten this byte.
        if !super::tokens::in_token_function() {
            super::decide_read_len(is.b as usize, is.imm + 1);
            clear(addr, 1);
        }
        return 0;
    }
    let in_memory = read_word(addr, 1) as u8;
    if (value(m >> 4) >> (8 * (m & 15))) as u8 == in_memory {
        return m;
    }
    count_loss(Loss::Healed);
    let lost = losses::label(Loss::Healed, u32::MAX, in_memory.into(), 8);
    if lost == 0 {
        clear(addr, 1);
        return 0;
    }
    store(addr, lost, 8);
    raw(addr)
}

/// Combines a value from its bytes: runs of input bytes, runs of bytes of one node, and
/// concrete bytes.
fn gather(addr: u64, bits: u32) -> u32 {
    let n = bits.div_ceil(8);
    let mut labels = [0u32; 16];
    let mut any = 0;
    for i in 0..n.min(16) {
        labels[i as usize] = heal(addr + u64::from(i));
        any |= labels[i as usize];
    }
    if any == 0 {
        return 0;
    }
    let (mut whole, mut done) = (Piece::EMPTY, 0);
    while done < n {
        let rest = &labels[done as usize..n as usize];
        let piece = piece(addr + u64::from(done), rest);
        whole = if done == 0 { piece } else { join(whole, piece) };
        done += piece.bytes;
    }
    if whole.label != 0 && 8 * n > bits {
        let v = value(whole.label) as u64;
        return cast(Op::Trunc, whole.label, bits, v);
    }
    whole.label
}

#[derive(Clone, Copy)]
struct Piece {
    label: u32,
    bytes: u32,
    val: u128,
}

impl Piece {
    const EMPTY: Piece = Piece { label: 0, bytes: 0, val: 0 };
}

/// The longest piece that starts at `addr`.
fn piece(addr: u64, labels: &[u32]) -> Piece {
    let first = labels[0];
    let run =
        |f: &dyn Fn(usize) -> bool| (1..labels.len()).find(|&i| !f(i)).unwrap_or(labels.len());
    if first == 0 {
        let n = run(&|i| labels[i] == 0);
        let val = (0..n).fold(0, |v, i| v | u128::from(read_word(addr + i as u64, 1)) << (8 * i));
        return Piece { label: 0, bytes: n as u32, val };
    }
    let (label, byte) = (first >> 4, first & 15);
    let is = *node(label);
    if is.op == Op::Input as u8 {
        let n = run(&|i| {
            labels[i] == memory_label(label + i as u32, 0)
                && node(label + i as u32).op == Op::Input as u8
        });
        let val = (0..n).fold(0, |v, i| v | u128::from(node(label + i as u32).val) << (8 * i));
        let width = 8 * n as u32;
        let label = if n == 1 { label } else { wide_push(Op::Read, label, 0, width, val) };
        return Piece { label, bytes: n as u32, val };
    }
    let n = run(&|i| labels[i] == first + i as u32 && i as u32 + byte < 16);
    let width = 8 * n as u32;
    let val = value(label) >> (8 * byte) & wide_mask(width);
    let label = if byte == 0 && u32::from(is.width) == width {
        label
    } else {
        wide_push(Op::Extract, label, 8 * byte, width, val)
    };
    Piece { label, bytes: n as u32, val }
}

fn wide_mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

fn wide_push(op: Op, a: u32, b: u32, width: u32, val: u128) -> u32 {
    let n = Node { op: op as u8, width: width as u8, a, b, val: val as u64, ..Node::default() };
    if width > 64 { push_wide(n, 0, (val >> 64) as u64) } else { push(n) }
}

fn join(low: Piece, high: Piece) -> Piece {
    let bits = 8 * low.bytes;
    let (bytes, val) = (low.bytes + high.bytes, low.val | high.val << bits);
    let width = 8 * bytes;
    if low.label == 0 && high.label == 0 {
        return Piece { label: 0, bytes, val };
    }
    let label = if high.label == 0 && high.val == 0 {
        wide_push(Op::ZExt, low.label, 0, width, val)
    } else {
        let imm = if low.label == 0 { low.val } else { high.val };
        let n = Node {
            op: Op::Concat as u8,
            width: width as u8,
            a: low.label,
            b: high.label,
            c: bits,
            imm: imm as u64,
            val: val as u64,
            ..Node::default()
        };
        if width > 64 { push_wide(n, (imm >> 64) as u64, (val >> 64) as u64) } else { push(n) }
    };
    Piece { label, bytes, val }
}
