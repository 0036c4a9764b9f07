//! Holes: stretches of the input whose length is a variable (the *length
//! abstraction* of Majumdar and Xu, "Directed test generation using symbolic
//! grammars", 2007).
//!
//! The driver says where the holes of an input are, and for each the one place where
//! it grows: behind a certain byte of it. That byte carries the hole's length about.
//! Bytes keep their labels when they are copied, so a string in memory that has the
//! byte in it, and goes on behind it, would also have what a longer hole brings. Its
//! length is not `n` but `n + (len[h] - len)`: with the expression `len[h]` for the
//! hole's length and `len` for what that is in this run. The same holds for the place
//! of whatever comes behind the byte, and for the end of the input.
//!
//! A hole that was made longer has no labels, except for the byte behind which it grows
//! on: what the program decides about a thousand bytes that are all the same would fill
//! the trace and tell nothing.
//!
//! A hole may also become shorter, by bytes in front of that place. What a string has
//! of the hole bounds how far that makes sense; [`stretched`] records the bound as an
//! assumption.
//!
//! What this does not see: a copy of a fixed number of bytes that happens to end with
//! the byte in question, and lengths that the program counts itself, byte by byte.

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
    /// How many holes this run has.
    len: usize,
    /// By hole: the label of its length, and the least that was assumed of it.
    labels: [u32; HOLES_MAX],
    least: [u32; HOLES_MAX],
    /// The label of the whole input's length.
    whole: u32,
}

static mut STATE: State = State { len: 0, labels: [0; HOLES_MAX], least: [0; HOLES_MAX], whole: 0 };

fn state() -> &'static mut State {
    // Safety: set when a run begins; a race later costs a second label at worst.
    unsafe { &mut *&raw mut STATE }
}

pub fn begin_run() {
    let s = state();
    s.len = header().map_or(0, |h| match h.run_flags & RUN_LABEL {
        0 => 0,
        _ => (h.holes_len as usize).min(HOLES_MAX),
    });
    s.labels[..s.len].fill(0);
    s.least[..s.len].fill(0);
    s.whole = 0;
}

/// Whether this run has holes.
#[inline(always)]
pub fn on() -> bool {
    state().len != 0
}

fn holes() -> &'static [Hole] {
    let n = state().len;
    header().map_or(&[], |h| &h.holes[..n])
}

/// Input bytes from offset `at` on are at `addr`: filling loses its labels.
pub fn unlabel_filling(addr: u64, at: u64, n: u64) {
    for hole in holes().iter().filter(|h| h.grows > h.filling + 1) {
        let from = u64::from(hole.filling).max(at);
        let to = u64::from(hole.grows - 1).min(at + n);
        if from < to {
            clear(addr + (from - at), to - from);
        }
    }
}

/// The length of a hole, as a number of 64 bits.
fn length(h: usize) -> V {
    let len = u64::from(holes()[h].len);
    let label = &mut state().labels[h];
    if *label == 0 {
        let op = Op::HoleLen as u8;
        let whole = arena::push(Node { op, width: 32, a: h as u32, val: len, ..Node::default() });
        *label = if whole == 0 { 0 } else { arena::cast(Op::ZExt, whole, 64, len) };
    }
    V { label: *label, width: 64, val: len }
}

/// The hole that grows behind the byte with this label.
fn grows_behind(label: u32) -> Option<usize> {
    let offset = origin(label)?;
    let all = holes();
    let after = all.partition_point(|h| h.start <= offset);
    let h = after.checked_sub(1)?;
    (all[h].grows == offset + 1).then_some(h)
}

/// The input byte that a value is, or was made from alone by a few steps: letters
/// that were folded are still those letters.
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

/// Calls `f` with each hole that grows inside the `n` bytes at `addr`, and where.
fn each(addr: u64, n: u64, mut f: impl FnMut(usize, u64)) {
    let mut i = next_labelled(addr, n);
    while i < n {
        if let Some(h) = grows_behind(V::byte(addr + i).label) {
            f(h, i);
        }
        i += 1;
        i += next_labelled(addr + i, n - i);
    }
}

/// `n` as a length that has the `n` bytes at `addr` in it: it grows with every hole
/// that grows inside them.
pub fn stretched(addr: u64, n: u64) -> V {
    beside(V::new(64, n), addr, n)
}

/// `place`, which lies behind the `n` bytes at `addr`: it moves with every hole that
/// grows inside them.
pub fn beside(place: V, addr: u64, n: u64) -> V {
    if !on() || is_clean(addr, n) {
        return place;
    }
    let mut sum = place;
    each(addr, n, |h, i| {
        let len = length(h);
        if len.label == 0 {
            return;
        }
        assume_least(h, i + 1, len);
        sum = plus(sum, len);
    });
    sum
}

/// `held` bytes up to the place where a hole grows are here: it cannot lose more.
fn assume_least(h: usize, held: u64, len: V) {
    let hole = &holes()[h];
    let before = u64::from(hole.grows - hole.start);
    if held >= before {
        return;
    }
    let least = u64::from(hole.len) - held.min(hole.len.into());
    let known = &mut state().least[h];
    if least <= u64::from(*known) {
        return;
    }
    *known = least as u32;
    let enough = V::new(64, least).ule(len);
    decide(tls().site, enough.label, Kind::Assume, true, 0);
}

/// The bytes of the input from `pos` to the end at `end`.
pub fn left(pos: u64, end: u64) -> V {
    let plain = V::new(64, end - pos);
    if pos == 0 && state().whole != 0 {
        return V { label: state().whole, ..plain };
    }
    let left = grown(plain, |hole| (pos + 1..=end).contains(&hole.grows.into()));
    if pos == 0 {
        state().whole = left.label;
    }
    left
}

/// A position in the input.
pub fn position(pos: u64) -> V {
    grown(V::new(64, pos), |hole| (1..=pos).contains(&hole.grows.into()))
}

/// A number of bytes in which some holes lie.
fn grown(plain: V, lies_in: impl Fn(&Hole) -> bool) -> V {
    let inside = holes().iter().enumerate().filter(|(_, hole)| lies_in(hole));
    inside.fold(plain, |sum, (h, _)| plus(sum, length(h)))
}

/// A number that grows with a hole.
fn plus(sum: V, len: V) -> V {
    match sum.label {
        0 => len.add(V::new(64, sum.val.wrapping_sub(len.val))),
        _ => sum.add(len).sub(V::new(64, len.val)),
    }
}
