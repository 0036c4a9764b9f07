//! From a language and a text of known length to a gate that says whether the text
//! is in the language.
//!
//! Spans are found from the top: the whole text, then what the parts of a part
//! could be, each span once, only those whose lengths fit. Then they are turned
//! into gates from the bottom, shortest first. A heap in the one direction and its
//! order backwards in the other take the place of recursion.

use super::HampiError;
use super::circuit::{CellId, Circuit, GateId};
use super::language::{Part, PartId};
use super::normal::{Normal, SymbolId};
use super::work::Work;
use pleach_automata::ByteSet;
use rustc_hash::FxHashMap;
use std::collections::BinaryHeap;

/// Spans of one chart.
const MOST_SPANS: usize = 1 << 22;
/// Steps that a look at the table of spans is worth.
const LOOK: usize = 4;

/// One byte of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Byte(u8),
    Open(CellId),
}

pub(super) struct Chart<'a> {
    parts: &'a [Part],
    normal: &'a Normal,
    text: &'a [Cell],
    circuit: &'a mut Circuit,
    work: &'a mut Work,
    spans: FxHashMap<Span, GateId>,
    waiting: BinaryHeap<Span>,
}

/// Longer spans first, then symbols before their units.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Span {
    length: u32,
    symbol: SymbolId,
    at: u32,
}

/// The gate of `text` being in `language`. Lengths up to the text's are known to
/// `normal`.
pub(super) fn member(
    parts: &[Part],
    normal: &Normal,
    language: PartId,
    text: &[Cell],
    circuit: &mut Circuit,
    work: &mut Work,
) -> Result<GateId, HampiError> {
    if text.is_empty() {
        return Ok(GateId::from(normal.nullable(language)));
    }
    let symbol = normal.symbol(language);
    if !normal.get(symbol).has_length(text.len()) {
        return Ok(Circuit::FALSE);
    }
    let (spans, waiting) = (FxHashMap::default(), BinaryHeap::new());
    let chart = Chart { parts, normal, text, circuit, work, spans, waiting };
    chart.build(Span { length: text.len() as u32, symbol, at: 0 })
}

/// The gate of `text` having `inner` in it.
pub(super) fn contains(
    text: &[Cell],
    inner: &[u8],
    circuit: &mut Circuit,
    work: &mut Work,
) -> Result<GateId, HampiError> {
    let mut places = Vec::new();
    // One more window than a text that is shorter has; no window of nothing.
    for at in 0..(text.len() + 1).saturating_sub(inner.len()) {
        work.spend(1 + inner.len())?;
        let window = &text[at..at + inner.len()];
        places.push(run(window, |i| ByteSet::of(inner[i]), circuit)?);
    }
    circuit.or(&places)
}

/// The gate of every byte being in its set.
fn run(
    window: &[Cell],
    set: impl Fn(usize) -> ByteSet,
    circuit: &mut Circuit,
) -> Result<GateId, HampiError> {
    let mut all = Vec::with_capacity(window.len());
    for (i, cell) in window.iter().enumerate() {
        let gate = match cell {
            Cell::Byte(byte) => GateId::from(set(i).contains(*byte)),
            Cell::Open(cell) => circuit.within(*cell, &set(i)),
        };
        if gate == Circuit::FALSE {
            return Ok(gate);
        }
        all.push(gate);
    }
    circuit.and(&all)
}

impl Chart<'_> {
    fn build(mut self, whole: Span) -> Result<GateId, HampiError> {
        self.want(whole)?;
        let mut order = Vec::new();
        while let Some(span) = self.waiting.pop() {
            order.push(span);
            let normal = self.normal;
            for &unit in &normal.get(span.symbol).units {
                if normal.get(unit).has_length(span.length as usize) {
                    self.want(Span { symbol: unit, ..span })?;
                }
            }
            self.splits(span, |chart, left, right| {
                // Where one half is plainly wrong, the other is not needed.
                if chart.want(left)? {
                    chart.want(right)?;
                }
                Ok(())
            })?;
        }
        for &span in order.iter().rev() {
            let gate = self.gate(span)?;
            self.spans.insert(span, gate);
        }
        Ok(self.spans.get(&whole).copied().unwrap_or(Circuit::FALSE))
    }

    /// Makes sure that a span gets its gate; false if it is known to be wrong.
    fn want(&mut self, span: Span) -> Result<bool, HampiError> {
        self.work.spend(LOOK)?;
        if let Some(&known) = self.spans.get(&span) {
            return Ok(known != Circuit::FALSE);
        }
        let symbol = self.normal.get(span.symbol);
        let gate = match symbol.only_run() {
            Some(run) => self.run(run, span)?,
            None => {
                if self.spans.len() >= MOST_SPANS {
                    return Err(HampiError::Work);
                }
                self.waiting.push(span);
                // Any gate but the one that is known to be wrong will do for now.
                Circuit::TRUE
            }
        };
        self.spans.insert(span, gate);
        Ok(gate != Circuit::FALSE)
    }

    fn run(&mut self, part: PartId, span: Span) -> Result<GateId, HampiError> {
        let part = &self.parts[part as usize];
        if part.run() != Some(span.length as usize) {
            return Ok(Circuit::FALSE);
        }
        let window = &self.text[span.at as usize..(span.at + span.length) as usize];
        run(window, |i| part.set(i), self.circuit)
    }

    /// All ways to cut a span in two that fit the lengths of a pair.
    fn splits(
        &mut self,
        span: Span,
        mut each: impl FnMut(&mut Self, Span, Span) -> Result<(), HampiError>,
    ) -> Result<(), HampiError> {
        let normal = self.normal;
        let Span { length, at, symbol } = span;
        for &(a, b) in &normal.get(symbol).pairs {
            let (of_a, of_b) = (normal.get(a), normal.get(b));
            let left = |l: u32| Span { length: l, symbol: a, at };
            let right = |r: u32| Span { length: r, symbol: b, at: at + length - r };
            // Along the half that has fewer lengths.
            if of_a.lengths().len() <= of_b.lengths().len() {
                for &l in of_a.lengths().iter().take_while(|&&l| l < length) {
                    self.work.spend(1)?;
                    if of_b.has_length((length - l) as usize) {
                        each(self, left(l), right(length - l))?;
                    }
                }
            } else {
                for &r in of_b.lengths().iter().take_while(|&&r| r < length) {
                    self.work.spend(1)?;
                    if of_a.has_length((length - r) as usize) {
                        each(self, left(length - r), right(r))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A span's gate, when all that it is made of have theirs.
    fn gate(&mut self, span: Span) -> Result<GateId, HampiError> {
        let normal = self.normal;
        let symbol = normal.get(span.symbol);
        let mut ways = Vec::new();
        for &run in &symbol.runs {
            ways.push(self.run(run, span)?);
        }
        for &unit in &symbol.units {
            ways.extend(self.spans.get(&Span { symbol: unit, ..span }));
        }
        self.splits(span, |chart, left, right| {
            chart.work.spend(LOOK)?;
            if let (Some(&left), Some(&right)) = (chart.spans.get(&left), chart.spans.get(&right)) {
                ways.push(chart.circuit.and(&[left, right])?);
            }
            Ok(())
        })?;
        self.circuit.or(&ways)
    }
}
