//! Builds a gate that is true if a text of known length is in a language.
//!
//! The spans that matter are found from the whole text down, each once; a span is skipped if
//! its length is not one of the symbol's. Then they become gates, the shortest first. There
//! is no recursion: a heap gives the first order, and the second is its reverse.

use super::HampiError;
use super::budget::Budget;
use super::circuit::{CellId, Circuit, GateId};
use super::language::{Part, PartId};
use super::normal::{NormalForm, SymbolId};
use pleach_automata::ByteSet;
use rustc_hash::FxHashMap;
use std::collections::BinaryHeap;

/// How many spans one chart may have.
const MAX_SPANS: usize = 1 << 22;
/// How many steps a lookup in the table of spans counts as.
const LOOKUP_STEPS: usize = 4;

/// One byte of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Byte(u8),
    Open(CellId),
}

pub(super) struct Chart<'a> {
    parts: &'a [Part],
    normal: &'a NormalForm,
    text: &'a [Cell],
    circuit: &'a mut Circuit,
    budget: &'a mut Budget,
    spans: FxHashMap<Span, GateId>,
    waiting: BinaryHeap<Span>,
}

/// A symbol and the part of the text that it should derive. In this order longer spans come
/// first out of the heap, and symbols before their units.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Span {
    length: u32,
    symbol: SymbolId,
    at: u32,
}

/// Builds the gate of `text` being in `language`. `normal` has found all lengths up to that
/// of the text.
pub(super) fn member(
    parts: &[Part],
    normal: &NormalForm,
    language: PartId,
    text: &[Cell],
    circuit: &mut Circuit,
    budget: &mut Budget,
) -> Result<GateId, HampiError> {
    if text.is_empty() {
        return Ok(GateId::from(normal.nullable(language)));
    }
    let symbol = normal.symbol(language);
    if !normal.get(symbol).has_length(text.len()) {
        return Ok(Circuit::FALSE);
    }
    let (spans, waiting) = (FxHashMap::default(), BinaryHeap::new());
    let chart = Chart { parts, normal, text, circuit, budget, spans, waiting };
    chart.build(Span { length: text.len() as u32, symbol, at: 0 })
}

/// Builds the gate of `text` containing `inner`.
pub(super) fn contains(
    text: &[Cell],
    inner: &[u8],
    circuit: &mut Circuit,
    budget: &mut Budget,
) -> Result<GateId, HampiError> {
    let mut places = Vec::new();
    // A shorter text has no place for it.
    for at in 0..(text.len() + 1).saturating_sub(inner.len()) {
        budget.spend(1 + inner.len())?;
        let window = &text[at..at + inner.len()];
        places.push(run_gate(window, |i| ByteSet::of(inner[i]), circuit)?);
    }
    circuit.or(&places)
}

/// Builds the gate of every byte being in its set.
fn run_gate(
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
        self.request(whole)?;
        let mut order = Vec::new();
        while let Some(span) = self.waiting.pop() {
            order.push(span);
            let normal = self.normal;
            for &unit in &normal.get(span.symbol).units {
                if normal.get(unit).has_length(span.length as usize) {
                    self.request(Span { symbol: unit, ..span })?;
                }
            }
            self.for_each_split(span, |chart, left, right| {
                // If one half is false, the other is not needed.
                if chart.request(left)? {
                    chart.request(right)?;
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

    /// Makes sure that a span gets a gate. Returns false if the gate is known to be false.
    fn request(&mut self, span: Span) -> Result<bool, HampiError> {
        self.budget.spend(LOOKUP_STEPS)?;
        if let Some(&known) = self.spans.get(&span) {
            return Ok(known != Circuit::FALSE);
        }
        let symbol = self.normal.get(span.symbol);
        let gate = match symbol.only_run() {
            Some(run) => self.match_run(run, span)?,
            None => {
                if self.spans.len() >= MAX_SPANS {
                    return Err(HampiError::TooLarge);
                }
                self.waiting.push(span);
                // A placeholder: anything but false.
                Circuit::TRUE
            }
        };
        self.spans.insert(span, gate);
        Ok(gate != Circuit::FALSE)
    }

    /// Builds the gate of a run deriving a span.
    fn match_run(&mut self, part: PartId, span: Span) -> Result<GateId, HampiError> {
        let part = &self.parts[part as usize];
        if part.run_length() != Some(span.length as usize) {
            return Ok(Circuit::FALSE);
        }
        let window = &self.text[span.at as usize..(span.at + span.length) as usize];
        run_gate(window, |i| part.byte_set(i), self.circuit)
    }

    /// Calls `each` with all ways to split a span in two that match the lengths of a pair.
    fn for_each_split(
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
            // Try the lengths of the half that has fewer.
            if of_a.lengths().len() <= of_b.lengths().len() {
                for &l in of_a.lengths().iter().take_while(|&&l| l < length) {
                    self.budget.spend(1)?;
                    if of_b.has_length((length - l) as usize) {
                        each(self, left(l), right(length - l))?;
                    }
                }
            } else {
                for &r in of_b.lengths().iter().take_while(|&&r| r < length) {
                    self.budget.spend(1)?;
                    if of_a.has_length((length - r) as usize) {
                        each(self, left(length - r), right(r))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Builds the gate of a span. All smaller spans have theirs.
    fn gate(&mut self, span: Span) -> Result<GateId, HampiError> {
        let normal = self.normal;
        let symbol = normal.get(span.symbol);
        let mut ways = Vec::new();
        for &run in &symbol.runs {
            ways.push(self.match_run(run, span)?);
        }
        for &unit in &symbol.units {
            ways.extend(self.spans.get(&Span { symbol: unit, ..span }));
        }
        self.for_each_split(span, |chart, left, right| {
            chart.budget.spend(LOOKUP_STEPS)?;
            if let (Some(&left), Some(&right)) = (chart.spans.get(&left), chart.spans.get(&right)) {
                ways.push(chart.circuit.and(&[left, right])?);
            }
            Ok(())
        })?;
        self.circuit.or(&ways)
    }
}
