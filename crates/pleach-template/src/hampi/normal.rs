//! The languages in the form that charts need: nothing derives the empty string, and nothing
//! derives itself.
//!
//! A chart finds for each part and each span of a text if the part derives the span. It
//! starts with the smallest spans. This works only if no part needs its own result on the
//! same span. Three steps ensure that; each takes linear time:
//!
//! 1. Find the parts that derive the empty string. From here on, the empty string is left
//!    out of every part. If one half of a pair may be empty, the other half is a *unit* of
//!    the pair: it derives a whole string of the pair.
//! 2. Parts that are units of each other, in a cycle, have the same strings. They become one
//!    *symbol*.
//! 3. Number the symbols so that units come before the symbols that they are units of.
//!
//! A symbol that has one unit and nothing else is replaced by that unit.
//!
//! [`NormalForm::find_lengths`] finds the lengths of the strings of each symbol. They keep
//! charts small: a span is skipped if its length is not one of the symbol's.

use super::HampiError;
use super::budget::Budget;
use super::language::{Part, PartId};

pub(super) type SymbolId = u32;

/// How many bits the tables of lengths may have.
const MAX_BITS: usize = 1 << 31;

#[derive(Default)]
pub(super) struct Symbol {
    /// Parts that are runs: see [`Part::run_length`].
    pub runs: Vec<PartId>,
    pub pairs: Vec<(SymbolId, SymbolId)>,
    pub units: Vec<SymbolId>,
    /// If given, only strings of this size.
    fix: Option<u32>,
    /// The lengths of its strings in order, and the same as bits.
    lengths: Vec<u32>,
    bits: Vec<u64>,
}

impl Symbol {
    /// Its run, if it has nothing else.
    pub fn only_run(&self) -> Option<PartId> {
        match (&self.runs[..], &self.pairs[..], &self.units[..]) {
            (&[run], [], []) => Some(run),
            _ => None,
        }
    }

    pub fn has_length(&self, length: usize) -> bool {
        self.bits.get(length / 64).is_some_and(|word| word >> (length % 64) & 1 != 0)
    }

    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }
}

pub(super) struct NormalForm {
    nullable: Vec<bool>,
    symbol_of: Vec<SymbolId>,
    pub symbols: Vec<Symbol>,
    /// Lengths were found up to this one.
    max_length: usize,
}

impl NormalForm {
    pub fn new(parts: &[Part]) -> NormalForm {
        let nullable = nullable(parts);
        let units = Units::new(parts, &nullable);
        let (component, count) = components(&units);
        let mut symbols: Vec<Symbol> = (0..count).map(|_| Symbol::default()).collect();
        for (id, part) in parts.iter().enumerate() {
            let symbol = &mut symbols[component[id] as usize];
            let others = units.of(id).iter().map(|&unit| component[unit as usize]);
            symbol.units.extend(others.filter(|&unit| unit != component[id]));
            match part {
                Part::Empty | Part::Either(_) => {}
                Part::Text(_) | Part::Range(..) => symbol.runs.push(id as PartId),
                Part::Pair(a, b) => {
                    symbol.pairs.push((component[*a as usize], component[*b as usize]));
                }
                Part::Fix(_, size) => symbol.fix = Some(*size),
            }
        }
        // Units come first, so their replacements are known.
        let mut replaced_by: Vec<SymbolId> = (0..count as SymbolId).collect();
        for id in 0..count {
            let symbol = &mut symbols[id];
            symbol.units.iter_mut().for_each(|unit| *unit = replaced_by[*unit as usize]);
            symbol.units.sort_unstable();
            symbol.units.dedup();
            let has_more =
                !symbol.runs.is_empty() || !symbol.pairs.is_empty() || symbol.fix.is_some();
            if let (false, &[unit]) = (has_more, &symbol.units[..]) {
                replaced_by[id] = unit;
            }
        }
        for symbol in &mut symbols {
            for (a, b) in &mut symbol.pairs {
                (*a, *b) = (replaced_by[*a as usize], replaced_by[*b as usize]);
            }
            symbol.pairs.sort_unstable();
            symbol.pairs.dedup();
        }
        let symbol_of = component.iter().map(|&c| replaced_by[c as usize]).collect();
        NormalForm { nullable, symbol_of, symbols, max_length: 0 }
    }

    pub fn nullable(&self, part: PartId) -> bool {
        self.nullable[part as usize]
    }

    pub fn symbol(&self, part: PartId) -> SymbolId {
        self.symbol_of[part as usize]
    }

    pub fn get(&self, symbol: SymbolId) -> &Symbol {
        &self.symbols[symbol as usize]
    }

    /// Finds all lengths up to `max_length`.
    pub fn find_lengths(
        &mut self,
        parts: &[Part],
        max_length: usize,
        budget: &mut Budget,
    ) -> Result<(), HampiError> {
        if max_length <= self.max_length {
            return Ok(());
        }
        let words = max_length / 64 + 1;
        if words * 64 * self.symbols.len() > MAX_BITS {
            return Err(HampiError::TooLarge);
        }
        self.symbols.iter_mut().for_each(|s| s.bits.resize(words, 0));
        for length in self.max_length + 1..=max_length {
            for id in 0..self.symbols.len() {
                if self.derives_length(parts, &self.symbols[id], length, budget)? {
                    let symbol = &mut self.symbols[id];
                    symbol.bits[length / 64] |= 1 << (length % 64);
                    symbol.lengths.push(length as u32);
                }
            }
        }
        self.max_length = max_length;
        Ok(())
    }

    /// True if a symbol has a string of this length. All smaller lengths were found.
    fn derives_length(
        &self,
        parts: &[Part],
        symbol: &Symbol,
        length: usize,
        budget: &mut Budget,
    ) -> Result<bool, HampiError> {
        budget.spend(1 + symbol.units.len() + symbol.runs.len())?;
        if symbol.fix.is_some_and(|size| size as usize != length) {
            return Ok(false);
        }
        if symbol.runs.iter().any(|&run| parts[run as usize].run_length() == Some(length))
            || symbol.units.iter().any(|&unit| self.get(unit).has_length(length))
        {
            return Ok(true);
        }
        for &(a, b) in &symbol.pairs {
            let (a, b) = (self.get(a), self.get(b));
            let (few, other) = if a.lengths.len() <= b.lengths.len() { (a, b) } else { (b, a) };
            budget.spend(1 + few.lengths.len())?;
            if few.lengths.iter().any(|&l| other.has_length(length - l as usize)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Finds the parts that derive the empty string. A part is checked when one that it is made
/// of was found to.
fn nullable(parts: &[Part]) -> Vec<bool> {
    let mut users: Vec<Vec<PartId>> = vec![Vec::new(); parts.len()];
    let mut waiting = Vec::new();
    for (id, part) in parts.iter().enumerate() {
        let id = id as PartId;
        match part {
            Part::Empty => waiting.push(id),
            Part::Text(_) | Part::Range(..) => {}
            Part::Pair(a, b) => {
                users[*a as usize].push(id);
                users[*b as usize].push(id);
            }
            Part::Either(of) => of.iter().for_each(|&p| users[p as usize].push(id)),
            Part::Fix(of, 0) => users[*of as usize].push(id),
            Part::Fix(..) => {}
        }
    }
    let mut nullable = vec![false; parts.len()];
    while let Some(id) = waiting.pop() {
        if std::mem::replace(&mut nullable[id as usize], true) {
            continue;
        }
        for &user in &users[id as usize] {
            let is_nullable = match parts[user as usize] {
                Part::Pair(a, b) => nullable[a as usize] && nullable[b as usize],
                _ => true,
            };
            if is_nullable {
                waiting.push(user);
            }
        }
    }
    nullable
}

/// The units of all parts, in one list.
struct Units {
    /// Where the units of each part start.
    starts: Vec<u32>,
    all: Vec<PartId>,
}

impl Units {
    fn new(parts: &[Part], nullable: &[bool]) -> Units {
        let (mut starts, mut all) = (vec![0], Vec::new());
        for part in parts {
            match part {
                Part::Empty | Part::Text(_) | Part::Range(..) | Part::Fix(_, 0) => {}
                Part::Pair(a, b) => {
                    all.extend(nullable[*b as usize].then_some(*a));
                    all.extend(nullable[*a as usize].then_some(*b));
                }
                Part::Either(of) => all.extend(of),
                Part::Fix(of, _) => all.push(*of),
            }
            starts.push(all.len() as u32);
        }
        Units { starts, all }
    }

    fn of(&self, part: usize) -> &[PartId] {
        &self.all[self.starts[part] as usize..self.starts[part + 1] as usize]
    }
}

/// Tarjan's strongly connected components of the graph of units, without recursion. Returns
/// the component of each part, and how many there are. Units have the smaller numbers.
fn components(units: &Units) -> (Vec<u32>, usize) {
    const NONE: u32 = u32::MAX;
    let parts = units.starts.len() - 1;
    let mut component = vec![NONE; parts];
    let mut order = vec![NONE; parts];
    let mut low = vec![0u32; parts];
    let (mut next, mut count) = (0, 0);
    let mut open: Vec<u32> = Vec::new();
    for root in 0..parts {
        if order[root] != NONE {
            continue;
        }
        // Parts, each with the number of its units that were visited.
        let mut stack = vec![(root, 0)];
        while let Some((part, seen)) = stack.last_mut() {
            let part = *part;
            if *seen == 0 && order[part] == NONE {
                (order[part], low[part]) = (next, next);
                next += 1;
                open.push(part as u32);
            }
            if let Some(&unit) = units.of(part).get(*seen) {
                *seen += 1;
                let unit = unit as usize;
                if order[unit] == NONE {
                    stack.push((unit, 0));
                } else if component[unit] == NONE {
                    low[part] = low[part].min(order[unit]);
                }
                continue;
            }
            stack.pop();
            if let Some(&(parent, _)) = stack.last() {
                low[parent] = low[parent].min(low[part]);
            }
            if low[part] == order[part] {
                while let Some(member) = open.pop() {
                    component[member as usize] = count;
                    if member as usize == part {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    (component, count as usize)
}
