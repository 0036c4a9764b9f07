//! Memory with labelled contents, read and written at labelled addresses.
//!
//! A *cell* is a place in the object where the access could be: from the bounds of the
//! address and the step between its values. A read is a choice between the contents of all
//! cells, `in[in[0]]` or an entry of a table that the program has decoded. It is a binary
//! tree of comparisons of the offset, so its depth is small. Concrete cells between two
//! labelled ones share one leaf, a lookup over a snapshot.
//!
//! A write gives each cell the value "written here ? new : old", and so later reads see it
//! wherever they are. The cells of a write do not overlap.
//!
//! Both cost nodes in proportion to the cells, so they have a limit for each access and one
//! for each run. Beyond a limit, the caller pins the address.
//!
//! An address that is a sum of many labelled terms is pinned, too. It is that of a pointer
//! which moves by labelled amounts, as the stack pointer of a generated parser does: by the
//! length of each rule that is reduced. The decisions before the access have chosen these
//! amounts, so to follow it costs much and finds nothing. The same holds for an address that
//! depends on the length of the input only, as that of the zero which ends a buffer: other
//! lengths are found by the decisions on the length.

use super::arena::{binary, constant, mask, node, push};
use super::bounds::{bounds, is_length};
use super::objects::{MAX_LOOKUP_SIZE, Object, lookup};
use super::tokens::in_token_function;
use super::{holes, shadow};
use crate::start::header;
use pleach_abi::node::{FLAG_BEYOND, FLAG_CELLS, Node, Op};

/// Maximum number of leaves of a read: labelled cells and runs of concrete ones.
const MAX_LEAVES: usize = 512;
/// Maximum number of labelled terms in the sum that an address is.
const MAX_TERMS: u32 = 3;
/// Maximum number of cells of a write.
const MAX_WRITTEN_CELLS: u64 = 256;
/// Nodes that all reads and writes of a run may add.
const MAX_NODES: u32 = 1 << 17;
/// Bytes of memory that the reads of a run may examine. It bounds the time that a run spends
/// on reads that fail for other limits.
const MAX_EXAMINED: u64 = 64 << 20;

/// Bytes of snapshots that the reads of a run may add. Where labelled bytes change between
/// two reads, each needs its own.
const MAX_SNAPSHOTS: u64 = 4 << 20;

struct Budget {
    nodes: u32,
    snapshots: u64,
    examined: u64,
}

static mut BUDGET: Budget = Budget { nodes: 0, snapshots: 0, examined: 0 };

fn budget() -> &'static mut Budget {
    // Safety: a race between threads miscounts at worst.
    unsafe { &mut *&raw mut BUDGET }
}

pub fn begin_run() {
    *budget() = Budget { nodes: MAX_NODES, snapshots: MAX_SNAPSHOTS, examined: MAX_EXAMINED };
}

/// Takes nodes from the budget. False if there are not so many left.
fn spend_nodes(n: u64) -> bool {
    let left = &mut budget().nodes;
    let Some(rest) = u64::from(*left).checked_sub(n) else { return false };
    *left = rest as u32;
    true
}

/// The places where an access could be: `first`, `first + step`, …
#[derive(Clone, Copy)]
struct Window {
    first: u64,
    count: u64,
    step: u64,
}

/// The window of an access of `n` bytes at `addr`, whose label is `label`, in an object that
/// holds all of them.
fn window(o: Object, label: u32, addr: u64, n: u64) -> Window {
    let (low, high) = bounds(label);
    let low = low.max(o.base).min(addr);
    let high = high.min(o.base + o.size - n).max(addr);
    let step = match step_of(label, MAX_STEP_DEPTH) {
        0 => o.size,
        step => step.min(o.size),
    };
    let first = addr - (addr - low) / step * step;
    Window { first, count: (high - first) / step + 1, step }
}

/// True if accesses at an address are followed, whatever they cost.
fn is_followed(label: u32) -> bool {
    !holes::are_on()
        && !in_token_function()
        && terms(label, MAX_TERMS) <= MAX_TERMS
        && !is_length(label)
}

/// The label of a read of `bits` at `addr`, whose label is `label`; 0 if no cell is labelled.
/// `None` if a limit does not allow the read.
pub fn read(o: Object, label: u32, addr: u64, bits: u32) -> Option<u32> {
    let n = u64::from(bits / 8);
    let w = window(o, label, addr, n);
    if w.count == 1 {
        return Some(shadow::load(addr, bits));
    }
    if !is_followed(label) || !examine(w.count * w.step) {
        return None;
    }
    if is_beyond(addr, n) {
        // Records that the input ends before these bytes, which are concrete from now on.
        shadow::load(addr, bits);
    }
    let mut leaves = [Leaf { from: 0, label: 0 }; MAX_LEAVES];
    let (len, concrete) = find_leaves(w, n, bits, &mut leaves)?;
    let leaves = &mut leaves[..len];
    // A comparison, a choice, and what the cell itself needs.
    if !spend_nodes(4 * len as u64 + 2) {
        return None;
    }
    if concrete > 0 {
        let size = (w.count - 1) * w.step + n;
        let found = look_up(Object { base: w.first, size, ..o }, label, addr, bits)?;
        leaves.iter_mut().filter(|l| l.label == 0).for_each(|l| l.label = found);
    }
    let offset = binary(Op::Sub, 64, label, 0, o.base, addr - o.base);
    if offset == 0 {
        return None;
    }
    let found = tree(offset, o.base, leaves);
    if found != 0 && leaves.len() > 1 {
        node(found).flags |= FLAG_CELLS;
        node(found).imm = o.base;
    }
    Some(found).filter(|&l| l != 0)
}

/// The label of a read in a part of an object, whose concrete bytes matter; `None` if the
/// snapshots of this run are too large.
fn look_up(part: Object, label: u32, addr: u64, bits: u32) -> Option<u32> {
    let h = header()?;
    if part.size > MAX_LOOKUP_SIZE
        || part.size > budget().snapshots
        || h.snaps + part.size > h.snaps_cap / 2
    {
        return None;
    }
    let before = h.snaps;
    let found = lookup(part, label, addr, bits);
    budget().snapshots -= part.size.min(h.snaps - before);
    Some(found).filter(|&l| l != 0)
}

/// Counts bytes that a read examines. False if the run has examined too many.
fn examine(bytes: u64) -> bool {
    let left = &mut budget().examined;
    *left = left.saturating_sub(bytes);
    *left > 0
}

/// The content of the cells from one address up to the next leaf. The label 0 stands for
/// concrete cells.
#[derive(Clone, Copy)]
struct Leaf {
    from: u64,
    label: u32,
}

/// Finds the leaves of a window, and the number of those that are concrete. `None` if there
/// are too many.
fn find_leaves(
    w: Window,
    n: u64,
    bits: u32,
    leaves: &mut [Leaf; MAX_LEAVES],
) -> Option<(usize, usize)> {
    let (mut len, mut concrete) = (0, 0);
    let mut at = w.first;
    let end = w.first + w.count * w.step;
    while at < end {
        let label = match has_label(at, n) {
            true => shadow::load(at, bits),
            false => 0,
        };
        if label != 0 || len == 0 || leaves[len - 1].label != 0 {
            *leaves.get_mut(len)? = Leaf { from: at, label };
            (len, concrete) = (len + 1, concrete + usize::from(label == 0));
        }
        at += w.step;
        if label == 0 {
            // Skips cells without labels.
            let last = end - w.step + n;
            let clean = if at < last { shadow::next_labelled(at, last - at) } else { 0 };
            if clean >= n {
                at += (clean - n) / w.step * w.step;
            }
        }
    }
    Some((len, concrete))
}

/// True if a cell has labels, and none of a byte that a longer input would have filled.
fn has_label(at: u64, n: u64) -> bool {
    !shadow::is_clean(at, n) && !is_beyond(at, n)
}

/// True if a longer input would have filled one of these bytes.
fn is_beyond(at: u64, n: u64) -> bool {
    (at..at + n).map(shadow::raw).any(|m| m != 0 && node(m >> 4).flags & FLAG_BEYOND != 0)
}

/// The choice between leaves by the offset of the access; 0 if there is no room.
fn tree(offset: u32, base: u64, leaves: &[Leaf]) -> u32 {
    let [low, high] = match leaves {
        [] => return 0,
        [one] => return one.label,
        _ => {
            let (low, high) = leaves.split_at(leaves.len() / 2);
            [low, high]
        }
    };
    let bound = high[0].from - base;
    let (low, high) = (tree(offset, base, low), tree(offset, base, high));
    if low == 0 || high == 0 {
        return 0;
    }
    let is_low = node(offset).val < bound;
    let condition = binary(Op::Ult, 1, offset, 0, bound, is_low.into());
    choose(condition, low, high)
}

/// `condition ? yes : no`, for labels of one width of at most 64 bits; 0 if there is no room.
fn choose(condition: u32, yes: u32, no: u32) -> u32 {
    if condition == 0 {
        return 0;
    }
    let taken = *node(if node(condition).val != 0 { yes } else { no });
    push(Node {
        op: Op::Ite as u8,
        width: taken.width,
        a: condition,
        b: yes,
        c: no,
        val: taken.val,
        ..Node::default()
    })
}

/// Gives every cell where a write of `bits` at `addr` could be its new label. `label` is the
/// label of `addr`; `value` and `val` are the label and the value of what is written. False
/// if a limit does not allow it: then nothing has changed.
pub fn write(o: Object, label: u32, addr: u64, bits: u32, (value, val): (u32, u64)) -> bool {
    let n = u64::from(bits / 8);
    let w = window(o, label, addr, n);
    if w.count == 1 {
        shadow::store(addr, value, bits);
        return true;
    }
    if w.step < n
        || w.count > MAX_WRITTEN_CELLS
        || !is_followed(label)
        || value != 0 && u32::from(node(value).width) != bits
        || is_beyond(w.first, (w.count - 1) * w.step + n)
        || !spend_nodes(4 * w.count + 1)
    {
        return false;
    }
    let new = if value == 0 { constant(bits, val, 0) } else { value };
    if new == 0 {
        return false;
    }
    for at in (0..w.count).map(|i| w.first + i * w.step) {
        let (old, old_val) = (shadow::load(at, bits), shadow::read_word(at, n as u32));
        if old == 0 && value == 0 && old_val == val & mask(bits) {
            continue;
        }
        let old = if old == 0 { constant(bits, old_val, 0) } else { old };
        let here = binary(Op::Eq, 1, label, 0, at, (at == addr).into());
        let now = if old == 0 { 0 } else { choose(here, new, old) };
        if now == 0 {
            // The arena is full, so the trace ends here.
            return false;
        }
        shadow::store(at, now, bits);
    }
    true
}

/// The number of labelled terms of a sum, counted up to one more than `most`.
fn terms(mut label: u32, most: u32) -> u32 {
    let mut found = 0;
    while label != 0 && found <= most {
        let n = node(label);
        label = match Op::from_u8(n.op) {
            Some(Op::Add | Op::Sub) if n.a != 0 && n.b != 0 => {
                found += terms(n.b, most - found);
                n.a
            }
            Some(Op::Add | Op::Sub) => n.a | n.b,
            _ => return found + 1,
        };
    }
    found
}

const MAX_STEP_DEPTH: u32 = 8;

/// A number that divides the difference between any two values of a label; 0 if it has one
/// value.
fn step_of(label: u32, depth: u32) -> u64 {
    if label == 0 {
        return 0;
    }
    let n = node(label);
    if depth == 0 || n.width > 64 {
        return 1;
    }
    let of = |l| step_of(l, depth - 1);
    // A result that wraps around keeps only what divides a power of two.
    let even = |step: u64| if step == 0 { 0 } else { 1 << step.trailing_zeros() };
    match Op::from_u8(n.op) {
        Some(Op::Const) => 0,
        Some(Op::Add | Op::Sub) => {
            let step = gcd(of(n.a), of(n.b));
            // An address does not wrap around between two places of one object.
            if n.width == 64 { step } else { even(step) }
        }
        Some(Op::Mul) if n.a == 0 || n.b == 0 => {
            let step = of(n.a | n.b);
            match n.width == 64 && is_small(n.a | n.b) && n.imm <= u64::from(u32::MAX) {
                true => step.wrapping_mul(n.imm),
                false => even(step).wrapping_mul(even(n.imm)),
            }
        }
        Some(Op::Shl) if n.b == 0 && n.imm < 64 => even(of(n.a)) << n.imm,
        Some(Op::And) if n.b == 0 && n.imm != 0 => even(n.imm),
        Some(Op::ZExt | Op::SExt) => even(of(n.a)),
        _ => 1,
    }
}

/// True if the magnitude of a value is below 2^32.
fn is_small(label: u32) -> bool {
    let n = node(label);
    match Op::from_u8(n.op) {
        Some(Op::ZExt | Op::SExt) => node(n.a).width <= 32,
        _ => bounds(label).1 <= u64::from(u32::MAX),
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
