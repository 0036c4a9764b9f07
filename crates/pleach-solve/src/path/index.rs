//! The index of the conditions of a path, by the inputs that they read.
//!
//! Lists are in the order of the path, so the part before a step is found by bisection.

use super::atoms::{bound, compared, pins};
use super::{Atom, Path};
use crate::domains::Memo;
use crate::request::intersect;
use pleach_abi::node::Op;
use pleach_automata::ByteSet;
use pleach_expr::{Expr, Term, Var};

/// An atom that reads more inputs than this gets no entry for each, but is in
/// [`Path::broad`].
const MAX_INDEXED_INPUTS: u32 = 512;

/// The conditions on one byte.
#[derive(Clone, Debug, Default)]
pub(super) struct ByteIndex {
    /// Atoms that read this byte alone.
    pub own: Vec<u32>,
    /// Atoms that read it together with other inputs.
    pub shared: Vec<u32>,
    /// The steps that restrict the byte, each with the values that are left after it.
    /// Computed when they are first needed.
    pub domains: Option<Vec<(u32, ByteSet)>>,
}

/// The conditions on the length of one stream.
#[derive(Clone, Debug, Default)]
pub(super) struct LengthIndex {
    /// The steps that restrict the length, each with the interval that is left after it.
    bounds: Vec<(u32, u64, u64)>,
    /// Atoms that read the length and are not bounds.
    shared: Vec<u32>,
    /// How many bytes of the stream all steps up to a step read.
    reach: Vec<(u32, u64)>,
}

impl Path {
    /// Adds an atom to the index.
    pub(super) fn index(&mut self, term: Term, step: u32) {
        let atom = self.atoms.len() as u32;
        self.atoms.push(Atom { term, step });
        if let Some(compared) = compared(&self.pool, term) {
            self.comparisons.entry(compared).or_default().push(atom);
        }
        for (pinned, value) in pins(&self.pool, term) {
            self.pins.entry(pinned).or_insert((step, value));
        }
        let reads = self.pool.reads(term);
        match reads.single().map(|v| (v.as_byte(), v.as_length())) {
            Some((Some(offset), _)) => {
                let byte = self.byte_index(offset);
                self.bytes[byte].own.push(atom);
            }
            Some((_, Some(stream))) => {
                let Some(length) = self.streams.get_mut(stream as usize) else { return };
                let (_, low, high) = length.bounds.last().copied().unwrap_or((0, 0, u64::MAX));
                match bound(&self.pool, term) {
                    Some((from, to)) => {
                        let (from, to) = (from.max(low), to.min(high));
                        if (from, to) != (low, high) {
                            length.bounds.push((step, from, to));
                        }
                    }
                    None => length.shared.push(atom),
                }
            }
            _ => {
                let ranges = self.pool.var_ranges(term).to_vec();
                let count: u32 = ranges.iter().map(|r| r.1 - r.0).sum();
                if count > MAX_INDEXED_INPUTS {
                    let last = ranges.last().map_or(Var(0), |r| Var(r.1 - 1));
                    let before = self.broad.last().map_or(last, |b| b.1);
                    self.broad.push((atom, last.max(before)));
                    return;
                }
                for var in ranges.iter().flat_map(|&(from, to)| (from..to).map(Var)) {
                    if let Some(offset) = var.as_byte() {
                        let byte = self.byte_index(offset);
                        self.bytes[byte].shared.push(atom);
                    } else if let Some(stream) = var.as_length()
                        && let Some(length) = self.streams.get_mut(stream as usize)
                    {
                        length.shared.push(atom);
                    }
                }
            }
        }
    }

    /// The place of a byte in `bytes`; adds an entry if it has none.
    fn byte_index(&mut self, offset: u32) -> usize {
        let id = &mut self.byte_ids[offset as usize];
        if *id == 0 {
            self.bytes.push(ByteIndex::default());
            *id = self.bytes.len() as u32;
        }
        *id as usize - 1
    }

    fn conditions_on(&self, offset: u32) -> Option<&ByteIndex> {
        let id = self.byte_ids.get(offset as usize)?.checked_sub(1)?;
        self.bytes.get(id as usize)
    }

    /// Records how far into the streams each step reads. It uses the graph and not the
    /// terms, because simplification removes bytes that the program has read.
    pub(super) fn record_reach(&mut self, expr: &Expr, labels: &[u32]) {
        // By label: the first step that depends on it.
        let top = expr.order().iter().max().map_or(0, |&l| l as usize + 1);
        let mut first_step = vec![u32::MAX; top];
        for (step, &label) in labels.iter().enumerate().rev() {
            if let Some(first) = first_step.get_mut(label as usize) {
                *first = step as u32;
            }
        }
        // The last byte that each leaf reads, by step.
        let mut reads: Vec<(u32, u64)> = Vec::new();
        for &label in expr.order().iter().rev() {
            let (node, step) = (expr.node(label), first_step[label as usize]);
            match expr.op(label) {
                Op::Input => reads.push((step, u64::from(node.a))),
                Op::Read => {
                    reads.push((step, u64::from(node.a) + u64::from(node.width) / 8 - 2));
                }
                _ => expr.operands(label).for_each(|operand| {
                    let first = &mut first_step[operand as usize];
                    *first = (*first).min(step);
                }),
            }
        }
        pleach_work::count(expr.order().len() as u64);
        reads.sort_unstable();
        // Streams are in the order of the file.
        for (step, last) in reads.into_iter().filter(|r| r.0 != u32::MAX) {
            let stream = self.offsets.partition_point(|&offset| offset <= last);
            let Some(stream) = stream.checked_sub(1) else { continue };
            let (offset, length) = (self.offsets[stream], self.lengths[stream]);
            let reach = &mut self.streams[stream].reach;
            let end = last - offset + 1;
            if last < offset + length && reach.last().map_or(0, |r| r.1) < end {
                reach.push((step, end));
            }
        }
    }

    /// The values that a byte may have, by the conditions before `at` that read it alone.
    pub(crate) fn domain(&mut self, memo: &mut Memo, offset: u32, at: usize) -> ByteSet {
        let list = self.domains(memo, offset);
        match list.partition_point(|d| (d.0 as usize) < at) {
            0 => ByteSet::ALL,
            n => list[n - 1].1,
        }
    }

    /// By value of a byte: the first step whose condition on this byte alone it breaks.
    pub(crate) fn value_kills(&mut self, memo: &mut Memo, offset: u32) -> [u32; 256] {
        let mut kills = [u32::MAX; 256];
        for (step, set) in self.domains(memo, offset).iter().rev() {
            for value in (0..=255).filter(|&v| !set.contains(v)) {
                kills[value as usize] = *step;
            }
        }
        kills
    }

    /// The first step after which a byte has one possible value.
    pub(crate) fn pin_of_byte(&mut self, memo: &mut Memo, offset: u32) -> u32 {
        let list = self.domains(memo, offset);
        list.iter().find(|d| d.1.len() == 1).map_or(u32::MAX, |d| d.0)
    }

    /// The steps that restrict a byte alone, each with the values that are left after it.
    fn domains(&mut self, memo: &mut Memo, offset: u32) -> &[(u32, ByteSet)] {
        let id = match self.byte_ids.get(offset as usize) {
            Some(&id) if id > 0 => id as usize - 1,
            _ => return &[],
        };
        if self.bytes[id].domains.is_none() {
            let mut list: Vec<(u32, ByteSet)> = Vec::new();
            let mut left = ByteSet::ALL;
            let own = self.bytes[id].own.iter().map(|&atom| self.atoms[atom as usize]);
            let terms: Vec<Term> = own.clone().map(|atom| atom.term).collect();
            let sets = memo.sets(&self.pool, &self.values, &terms, offset);
            for (Atom { step, .. }, set) in own.zip(sets) {
                let now = left.intersection(&set);
                if now != left {
                    left = now;
                    match list.last_mut() {
                        Some(last) if last.0 == step => last.1 = now,
                        _ => list.push((step, now)),
                    }
                }
            }
            self.bytes[id].domains = Some(list);
        }
        self.bytes[id].domains.as_deref().unwrap_or(&[])
    }

    /// The values that a length may have, by the bounds before `at` and by what the steps
    /// up to `at` read.
    pub(crate) fn interval(&self, stream: u32, at: usize) -> (u64, u64) {
        let Some(length) = self.streams.get(stream as usize) else { return (0, 0) };
        let (low, high) = match length.bounds.partition_point(|b| (b.0 as usize) < at) {
            0 => (0, u64::MAX),
            n => (length.bounds[n - 1].1, length.bounds[n - 1].2),
        };
        // The flipped step still reads its bytes.
        let read = match length.reach.partition_point(|r| r.0 as usize <= at) {
            0 => 0,
            n => length.reach[n - 1].1,
        };
        (low.max(read), high)
    }

    /// The value that a condition before `at` pins a term to.
    pub(crate) fn pinned(&self, term: Term, at: usize) -> Option<u64> {
        self.pins.get(&term).filter(|pin| (pin.0 as usize) < at).map(|pin| pin.1)
    }

    /// Conditions before `at` that compare a term with a constant or a set.
    pub(crate) fn comparisons(&self, term: Term, at: usize) -> impl Iterator<Item = Term> + '_ {
        let list: &[u32] = self.comparisons.get(&term).map_or(&[], |l| l);
        let atoms = list.iter().map(|&a| self.atoms[a as usize]);
        atoms.take_while(move |a| (a.step as usize) < at).map(|a| a.term)
    }

    /// Atoms before `at` that read `var` together with other inputs, or read a length and
    /// are not bounds.
    pub(crate) fn shared(&self, var: Var, at: usize) -> impl Iterator<Item = u32> + '_ {
        // Most broad conditions read all bytes up to some byte.
        let from = self.broad.partition_point(|b| b.1 < var);
        let broad = self.broad[from..].iter().map(|b| b.0);
        let broad = broad.take_while(move |&a| (self.atoms[a as usize].step as usize) < at);
        let broad = broad.filter(move |&a| self.pool.depends_on(self.atoms[a as usize].term, var));
        self.shared_narrowly(var, at).chain(broad)
    }

    /// As [`Path::shared`], without the atoms that read hundreds of inputs.
    pub(crate) fn shared_narrowly(&self, var: Var, at: usize) -> impl Iterator<Item = u32> + '_ {
        let list: &[u32] = match (var.as_byte(), var.as_length()) {
            (Some(offset), _) => self.conditions_on(offset).map_or(&[], |b| &b.shared),
            (_, Some(stream)) => self.streams.get(stream as usize).map_or(&[], |s| &s.shared),
            _ => &[],
        };
        let before = list.partition_point(|&a| (self.atoms[a as usize].step as usize) < at);
        list[..before].iter().copied()
    }

    /// The atoms before `at` that read hundreds of inputs, each with the last input that it
    /// or one before it reads.
    pub(crate) fn broad_before(&self, at: usize) -> &[(u32, Var)] {
        let is_before = |b: &(u32, Var)| (self.atoms[b.0 as usize].step as usize) < at;
        &self.broad[..self.broad.partition_point(is_before)]
    }

    /// At most `max` conditions before `at` that read inputs of `terms`, the last first.
    pub(crate) fn nearest(&self, at: usize, terms: &[Term], max: usize) -> Vec<Term> {
        let before = self.atoms.partition_point(|a| (a.step as usize) < at);
        let is_read = |atom: &Term| {
            let ranges = self.pool.var_ranges(*atom);
            terms.iter().any(|&term| intersect(self.pool.var_ranges(term), ranges))
        };
        let is_bound = |atom: &Term| bound(&self.pool, *atom).is_some();
        let atoms = self.atoms[..before].iter().rev().map(|a| a.term);
        atoms.filter(|atom| is_read(atom) && !is_bound(atom)).take(max).collect()
    }

    /// Atoms before `at` that read this byte alone.
    pub(crate) fn own(&self, offset: u32, at: usize) -> &[u32] {
        let list: &[u32] = self.conditions_on(offset).map_or(&[], |b| &b.own);
        &list[..list.partition_point(|&a| (self.atoms[a as usize].step as usize) < at)]
    }
}
