//! The languages in the form that charts are made from: no part is empty, and
//! no part is itself.
//!
//! A chart says of each part and each span of a text whether the part derives the
//! span, by what smaller spans derive. That is an order only if a part never needs
//! itself on the same span. Three steps see to it, all of them linear:
//!
//! 1. Which parts derive the empty string is found, and from here on every part
//!    stands for its other strings. Where one half of a pair may be empty, the pair
//!    has the other half as a *unit*: a part that may stand for all of it.
//! 2. Parts that are units of each other, all round a circle, have the same
//!    strings, so they become one *symbol*.
//! 3. What remains of units has an order. Symbols are numbered so that units come
//!    before what they are units of.
//!
//! A symbol that has one unit and nothing else is that unit.
//!
//! [`Normal::grow`] then finds the lengths that each symbol can have. They keep
//! charts small: a span that is no length of a symbol is never looked at.

use super::HampiError;
use super::language::{Part, PartId};
use super::work::Work;

pub(super) type SymbolId = u32;

/// Bits in the tables of lengths.
const MOST_BITS: usize = 1 << 31;

#[derive(Default)]
pub(super) struct Symbol {
    /// Parts that are runs of bytes.
    pub runs: Vec<PartId>,
    pub pairs: Vec<(SymbolId, SymbolId)>,
    pub units: Vec<SymbolId>,
    /// Only strings of this size.
    fix: Option<u32>,
    /// Its lengths, rising, and the same as bits.
    lengths: Vec<u32>,
    bits: Vec<u64>,
}

impl Symbol {
    /// The run that it is, if it is nothing else.
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

pub(super) struct Normal {
    nullable: Vec<bool>,
    symbol_of: Vec<SymbolId>,
    pub symbols: Vec<Symbol>,
    /// Lengths are known up to here.
    grown: usize,
}

impl Normal {
    pub fn new(parts: &[Part]) -> Normal {
        let nullable = nullable(parts);
        let units = Units::new(parts, &nullable);
        let (component, count) = components(&units);
        let mut symbols: Vec<Symbol> = (0..count).map(|_| Symbol::default()).collect();
        for (id, part) in parts.iter().enumerate() {
            let symbol = &mut symbols[component[id] as usize];
            let own = |&unit: &PartId| component[unit as usize] != component[id];
            symbol
                .units
                .extend(units.of(id).iter().filter(|u| own(u)).map(|&u| component[u as usize]));
            match part {
                Part::Empty | Part::Either(_) => {}
                Part::Text(_) | Part::Range(..) => symbol.runs.push(id as PartId),
                Part::Pair(a, b) => {
                    symbol.pairs.push((component[*a as usize], component[*b as usize]));
                }
                Part::Fix(_, size) => symbol.fix = Some(*size),
            }
        }
        // Units come first, so what they are is known already.
        let mut same: Vec<SymbolId> = (0..count as SymbolId).collect();
        for id in 0..count {
            let symbol = &mut symbols[id];
            symbol.units.iter_mut().for_each(|unit| *unit = same[*unit as usize]);
            symbol.units.sort_unstable();
            symbol.units.dedup();
            let alone = symbol.runs.is_empty() && symbol.pairs.is_empty() && symbol.fix.is_none();
            if let (true, &[unit]) = (alone, &symbol.units[..]) {
                same[id] = unit;
            }
        }
        for symbol in &mut symbols {
            for (a, b) in &mut symbol.pairs {
                (*a, *b) = (same[*a as usize], same[*b as usize]);
            }
            symbol.pairs.sort_unstable();
            symbol.pairs.dedup();
        }
        let symbol_of = component.iter().map(|&c| same[c as usize]).collect();
        Normal { nullable, symbol_of, symbols, grown: 0 }
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

    /// Finds all lengths up to `most`.
    pub fn grow(&mut self, parts: &[Part], most: usize, work: &mut Work) -> Result<(), HampiError> {
        if most <= self.grown {
            return Ok(());
        }
        let words = most / 64 + 1;
        if words * 64 * self.symbols.len() > MOST_BITS {
            return Err(HampiError::Work);
        }
        self.symbols.iter_mut().for_each(|s| s.bits.resize(words, 0));
        for length in self.grown + 1..=most {
            for id in 0..self.symbols.len() {
                if self.reaches(parts, &self.symbols[id], length, work)? {
                    let symbol = &mut self.symbols[id];
                    symbol.bits[length / 64] |= 1 << (length % 64);
                    symbol.lengths.push(length as u32);
                }
            }
        }
        self.grown = most;
        Ok(())
    }

    /// Whether a symbol has a length, when all smaller ones are known.
    fn reaches(
        &self,
        parts: &[Part],
        symbol: &Symbol,
        length: usize,
        work: &mut Work,
    ) -> Result<bool, HampiError> {
        work.spend(1 + symbol.units.len() + symbol.runs.len())?;
        if symbol.fix.is_some_and(|size| size as usize != length) {
            return Ok(false);
        }
        if symbol.runs.iter().any(|&run| parts[run as usize].run() == Some(length))
            || symbol.units.iter().any(|&unit| self.get(unit).has_length(length))
        {
            return Ok(true);
        }
        for &(a, b) in &symbol.pairs {
            let (a, b) = (self.get(a), self.get(b));
            let (few, other) = if a.lengths.len() <= b.lengths.len() { (a, b) } else { (b, a) };
            work.spend(1 + few.lengths.len())?;
            if few.lengths.iter().any(|&l| other.has_length(length - l as usize)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Which parts derive the empty string: each is looked at again only when one that
/// it is made of turns out to.
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
            let holds = match parts[user as usize] {
                Part::Pair(a, b) => nullable[a as usize] && nullable[b as usize],
                _ => true,
            };
            if holds {
                waiting.push(user);
            }
        }
    }
    nullable
}

/// The units of each part, laid end to end.
struct Units {
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

/// Tarjan's components of the graph of units, with a stack of our own: the number
/// of each part's, and how many there are. Units have the smaller numbers.
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
        // A part, and how many of its units have been looked at.
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
