//! Holes: parts of the input whose length is a variable (the *length abstraction* of
//! Majumdar and Xu, "Directed test generation using symbolic grammars", 2007).
//!
//! The driver says where the holes of an input are, and at which byte each one grows:
//! new bytes are added after that byte. Bytes keep their labels when they are copied. So
//! a string in memory that contains the byte, and continues after it, would also contain
//! the added bytes. Its length is not `n` but `n + (len[h] - len)`, where `len[h]` is
//! the expression for the length of hole `h`, and `len` that length in this run. The
//! addresses of the bytes after it, and the end of the input, move in the same way.
//!
//! In a hole that was made longer, only the byte where it grows has a label. Decisions
//! on a thousand equal bytes would fill the trace and are of no use.
//!
//! A hole may also become shorter, by bytes before that byte. It can lose at most the
//! bytes that the string has of it; [`length_with_holes`] records this bound as an assumption.
//!
//! Two cases are not covered: a copy of a fixed number of bytes that happens to end with
//! that byte, and lengths that the program counts itself, byte by byte.

use super::arena::{self, node};
use super::events::decide;
use super::shadow::{clear, is_clean, next_labelled};
use super::tls::tls;
use crate::models::api::V;
use crate::start::header;
use pleach_abi::event::Kind;
use pleach_abi::node::{Node, Op};
use pleach_abi::shm::{HOLES_MAX, Hole, RUN_LABEL};

struct State {
    /// Number of holes in this run.
    len: usize,
    /// By hole: the label of its length; 0: none yet.
    labels: [u32; HOLES_MAX],
    /// By hole: the least length that was assumed.
    min_lens: [u32; HOLES_MAX],
    /// The label of the length of the input; 0: none yet.
    input_len: u32,
}

static mut STATE: State =
    State { len: 0, labels: [0; HOLES_MAX], min_lens: [0; HOLES_MAX], input_len: 0 };

fn state() -> &'static mut State {
    // Safety: set when a run begins; a later race makes a second label at worst.
    unsafe { &mut *&raw mut STATE }
}

pub fn begin_run() {
    let s = state();
    s.len = header().map_or(0, |h| match h.run_flags & RUN_LABEL {
        0 => 0,
        _ => (h.holes_len as usize).min(HOLES_MAX),
    });
    s.labels[..s.len].fill(0);
    s.min_lens[..s.len].fill(0);
    s.input_len = 0;
}

/// True if this run has holes.
#[inline(always)]
pub fn are_on() -> bool {
    state().len != 0
}

fn holes() -> &'static [Hole] {
    let n = state().len;
    header().map_or(&[], |h| &h.holes[..n])
}

/// Removes the labels of filling among the `n` input bytes from offset `at`, which are at
/// `addr`.
pub fn unlabel_filling(addr: u64, at: u64, n: u64) {
    for hole in holes().iter().filter(|h| h.grows > h.filling + 1) {
        let from = u64::from(hole.filling).max(at);
        let to = u64::from(hole.grows - 1).min(at + n);
        if from < to {
            clear(addr + (from - at), to - from);
        }
    }
}

/// The length of a hole, 64 bits wide.
fn hole_length(h: usize) -> V {
    let len = u64::from(holes()[h].len);
    let label = &mut state().labels[h];
    if *label == 0 {
        let op = Op::HoleLen as u8;
        let whole = arena::push(Node { op, width: 32, a: h as u32, val: len, ..Node::default() });
        *label = if whole == 0 { 0 } else { arena::cast(Op::ZExt, whole, 64, len) };
    }
    V { label: *label, width: 64, val: len }
}

/// The hole that grows after the byte with this label.
fn hole_growing_after(label: u32) -> Option<usize> {
    let offset = origin(label)?;
    let all = holes();
    let after = all.partition_point(|h| h.start <= offset);
    let h = after.checked_sub(1)?;
    (all[h].grows == offset + 1).then_some(h)
}

/// The offset of the input byte that a value is, or was computed from in a few steps,
/// such as a letter in lower case.
fn origin(mut label: u32) -> Option<u32> {
    const STEPS: u32 = 6;
    for _ in 0..STEPS {
        let n = node(label);
        match Op::from_u8(n.op)? {
            Op::Input => return Some(n.a),
            Op::ZExt | Op::SExt | Op::Trunc | Op::Lookup => label = n.a,
            Op::Extract if n.b == 0 => label = n.a,
            Op::Add | Op::Sub | Op::Or | Op::And | Op::Xor if n.b == 0 => label = n.a,
            Op::Ite => label = n.b,
            _ => return None,
        }
    }
    None
}

/// Calls `f` with each hole that grows inside the `n` bytes at `addr`, and the index of
/// the byte where it grows.
fn for_each_hole(addr: u64, n: u64, mut f: impl FnMut(usize, u64)) {
    let mut i = next_labelled(addr, n);
    while i < n {
        if let Some(h) = hole_growing_after(V::byte(addr + i).label) {
            f(h, i);
        }
        i += 1;
        i += next_labelled(addr + i, n - i);
    }
}

/// The length `n` of the bytes at `addr`, as an expression over the holes in them.
pub fn length_with_holes(addr: u64, n: u64) -> V {
    address_with_holes(V::new(64, n), addr, n)
}

/// An address after the `n` bytes at `addr`, as an expression over the holes in them.
pub fn address_with_holes(address: V, addr: u64, n: u64) -> V {
    if !are_on() || is_clean(addr, n) {
        return address;
    }
    let mut sum = address;
    for_each_hole(addr, n, |h, i| {
        let len = hole_length(h);
        if len.label == 0 {
            return;
        }
        assume_min_len(h, i + 1, len);
        sum = add_growth(sum, len);
    });
    sum
}

/// Assumes that a hole loses at most the `held` bytes before the place where it grows.
fn assume_min_len(h: usize, held: u64, len: V) {
    let hole = &holes()[h];
    let before = u64::from(hole.grows - hole.start);
    if held >= before {
        return;
    }
    let least = u64::from(hole.len) - held.min(hole.len.into());
    let known = &mut state().min_lens[h];
    if least <= u64::from(*known) {
        return;
    }
    *known = least as u32;
    let enough = V::new(64, least).ule(len);
    decide(tls().site, enough.label, Kind::Assume, true, 0);
}

/// The number of input bytes from `pos` to the end at `end`.
pub fn bytes_left(pos: u64, end: u64) -> V {
    let plain = V::new(64, end - pos);
    if pos == 0 && state().input_len != 0 {
        return V { label: state().input_len, ..plain };
    }
    let left = with_growth_of(plain, |hole| (pos + 1..=end).contains(&hole.grows.into()));
    if pos == 0 {
        state().input_len = left.label;
    }
    left
}

/// The position `pos` in the input.
pub fn position(pos: u64) -> V {
    with_growth_of(V::new(64, pos), |hole| (1..=pos).contains(&hole.grows.into()))
}

/// The number `plain`, plus the growth of each hole that `lies_in` the bytes it counts.
fn with_growth_of(plain: V, lies_in: impl Fn(&Hole) -> bool) -> V {
    let inside = holes().iter().enumerate().filter(|(_, hole)| lies_in(hole));
    inside.fold(plain, |sum, (h, _)| add_growth(sum, hole_length(h)))
}

/// `sum` plus the growth of a hole of length `len`.
fn add_growth(sum: V, len: V) -> V {
    match sum.label {
        0 => len.add(V::new(64, sum.val.wrapping_sub(len.val))),
        _ => sum.add(len).sub(V::new(64, len.val)),
    }
}
