//! The context-free constraint solver. Given a set of allowed tokens at each of the
//! first positions, it finds a shortest sentence with such tokens there, or proves that
//! there is none.
//!
//! [`Chart`] is Earley's algorithm over the states of [`Automaton`], with additions:
//!
//! **Sets and costs.** A position allows a set of tokens, and a token there can have a
//! penalty. An entry of the chart has the least penalty of the tokens that it spans.
//!
//! **One token of lookahead.** To *close* a place in the input means to complete the
//! rules that end there. A place is closed only when the set of the next position is
//! known, and only rules that one of its tokens can follow are completed. So right
//! recursion costs nothing extra, and grammars that LR parsers handle in linear time
//! take linear time here. The last place is never closed: [`Chart::complete`] starts
//! from the entries that moved over the last token.
//!
//! **Completions without search.** An entry *wants* the rules behind its dots. When a
//! place is closed, each wanted rule gets the least cost of finishing the whole
//! sentence behind that rule. This is the sum of three numbers that are known by then:
//! the cost of the rest of the entry's production, the cost behind the entry's own rule
//! at the place where it began, and the entry's penalty. So the cost of finishing from
//! an entry takes one addition, and its tokens are found by walking up.
//!
//! **Sharing.** Places are a stack. A flip of one position closes the place before it
//! once more, for another set, on top of the stack, and then removes it. So the cost of
//! a flip does not depend on the length of the prefix.
//!
//! The algorithm of the paper on grammar-based whitebox fuzzing, unroll and prune, is
//! exponential, and does not terminate for left recursion. The tests compare with it
//! ([`crate::unroll`]).

mod automaton;
mod complete;
mod near;
mod tree;

pub use automaton::{Automaton, TooLarge};
pub use complete::Completion;

use crate::grammar::{RuleId, TokenId};
use crate::shortest::{NEVER, plus};
use crate::token_set::TokenSet;
use automaton::NONE;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

#[derive(Clone)]
pub struct Chart {
    automaton: Arc<Automaton>,
    entries: Vec<Entry>,
    /// Entries with a dot before a rule, place by place.
    waiting: Vec<u32>,
    wants: Vec<Want>,
    places: Vec<Place>,
    /// `frontiers[i]`: the entries that moved over token `i - 1`.
    frontiers: Vec<Frontier>,
    /// How many of the first `i` positions allow more than one token.
    open: Vec<u32>,
    /// The token of each position, or the first one allowed.
    tokens: Vec<TokenId>,
    index: Index,
    /// See [`Chart::work`].
    work: u64,
}

/// A state that began at place `origin` and spans the input up to here.
#[derive(Clone, Copy)]
struct Entry {
    state: u32,
    origin: u32,
    /// The entry before the last symbol was moved over.
    before: u32,
    /// The entry that completed that symbol, if it is a rule.
    child: u32,
    penalty: u64,
}

/// A rule that some entry wants at a place.
#[derive(Clone, Copy)]
struct Want {
    rule: RuleId,
    /// The cost of finishing the sentence behind the rule.
    cost: u64,
    /// The entry that wants it, and the item of that entry.
    entry: u32,
    item: u32,
}

/// A closed place between two tokens.
#[derive(Clone, Copy)]
struct Place {
    position: u32,
    entries: (u32, u32),
    waiting: (u32, u32),
    wants: (u32, u32),
}

#[derive(Clone, Copy)]
struct Frontier {
    entries: (u32, u32),
    /// The lengths of the vectors without anything behind this frontier.
    places: u32,
    waiting: u32,
    wants: u32,
}

/// The tokens that a position allows.
#[derive(Clone, Copy)]
enum Allowed<'a> {
    One(TokenId),
    Set {
        set: &'a TokenSet,
        preferred: Option<TokenId>,
        penalty: u64,
    },
    /// None: the sentence ends.
    End,
}

impl Chart {
    pub fn new(automaton: Arc<Automaton>) -> Chart {
        let first = Frontier { entries: (0, 0), places: 0, waiting: 0, wants: 0 };
        Chart {
            automaton,
            entries: Vec::new(),
            waiting: Vec::new(),
            wants: Vec::new(),
            places: Vec::new(),
            frontiers: vec![first],
            open: vec![0],
            tokens: Vec::new(),
            index: Index::default(),
            work: 0,
        }
    }

    pub fn automaton(&self) -> &Arc<Automaton> {
        &self.automaton
    }

    /// How many positions are constrained.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// How many entries the chart has, as a measure of memory.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Entries and their parents that were visited so far, also in positions that were
    /// removed again.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Constrains the next position. If no sentence is left, returns false and does not
    /// add the position.
    pub fn push(&mut self, set: &TokenSet) -> bool {
        match set.single() {
            Some(token) => self.push_token(token),
            None => self.step(Allowed::Set { set, preferred: None, penalty: 0 }, set.iter().next()),
        }
    }

    pub fn push_token(&mut self, token: TokenId) -> bool {
        self.step(Allowed::One(token), Some(token))
    }

    /// The same as `push`, but a token other than `preferred` costs as much as `penalty`
    /// additional tokens.
    pub fn push_near(&mut self, set: &TokenSet, preferred: TokenId, penalty: u32) -> bool {
        let (preferred, penalty) = (Some(preferred), u64::from(penalty));
        self.step(Allowed::Set { set, preferred, penalty }, set.iter().next())
    }

    /// The number of positions so far, to return to by `truncate`.
    pub fn checkpoint(&self) -> usize {
        self.len()
    }

    /// Removes all positions from `length` on.
    pub fn truncate(&mut self, length: usize) {
        if length < self.len() {
            self.frontiers.truncate(length + 1);
            self.open.truncate(length + 1);
            self.tokens.truncate(length);
            self.drop_overlay();
        }
    }

    /// The cheapest sentence if position `at` allowed `set` and no later position were
    /// constrained. The chart is not changed.
    ///
    /// # Panics
    /// If fewer than `at` positions have been pushed.
    pub fn flip(&mut self, at: usize, set: &TokenSet) -> Option<Completion> {
        self.flip_allowed(at, Allowed::Set { set, preferred: None, penalty: 0 })
    }

    fn flip_allowed(&mut self, at: usize, allowed: Allowed) -> Option<Completion> {
        let place = self.close(at, allowed);
        let entries = self.scan(place, allowed);
        let last = Some(allowed);
        let found = self.cheapest(entries, at + 1, |chart, end| chart.is_open(end, at, last));
        self.drop_overlay();
        found
    }

    fn is_open(&self, span: (usize, usize), flipped: usize, last: Option<Allowed>) -> bool {
        let (from, to) = span;
        let inside = to.min(flipped);
        (from < inside && self.open[inside] > self.open[from])
            || (to > flipped && matches!(last, Some(Allowed::Set { .. })))
    }

    fn step(&mut self, allowed: Allowed, shown: Option<TokenId>) -> bool {
        let at = self.len();
        let place = self.close(at, allowed);
        let entries = self.scan(place, allowed);
        let (true, Some(token)) = (entries.0 < entries.1, shown) else {
            self.drop_overlay();
            return false;
        };
        self.frontiers.push(Frontier {
            entries,
            places: self.places.len() as u32,
            waiting: self.waiting.len() as u32,
            wants: self.wants.len() as u32,
        });
        let more = u32::from(matches!(allowed, Allowed::Set { .. }));
        self.open.push(self.open[at] + more);
        self.tokens.push(token);
        true
    }

    /// Removes everything behind the last frontier.
    fn drop_overlay(&mut self) {
        if let Some(last) = self.frontiers.last() {
            self.entries.truncate(last.entries.1 as usize);
            self.places.truncate(last.places as usize);
            self.waiting.truncate(last.waiting as usize);
            self.wants.truncate(last.wants as usize);
        }
    }

    /// Closes the place before position `at`, for the tokens allowed at `at`.
    fn close(&mut self, at: usize, allowed: Allowed) -> u32 {
        let automaton = Arc::clone(&self.automaton);
        let id = self.places.len() as u32;
        let start = self.entries.len();
        let (waiting, wants) = (self.waiting.len() as u32, self.wants.len() as u32);
        self.index.begin();
        let (from, to) = self.frontiers[at].entries;
        self.entries.extend_from_within(from as usize..to as usize);
        let mut todo = start;
        // Entries whose penalty fell after they were processed.
        let mut improved: Vec<u32> = Vec::new();
        loop {
            let child = match improved.pop() {
                Some(child) => child,
                None if todo < self.entries.len() => {
                    todo += 1;
                    todo as u32 - 1
                }
                None => break,
            };
            let entry = self.entries[child as usize];
            // A chart that is not complete is of no use, and whoever stops drops it.
            if pleach_work::is_stopping() {
                break;
            }
            self.work += 1;
            for &(rule, _) in &automaton.states[entry.state as usize].completes {
                if !allowed.can_follow(&automaton, rule) {
                    continue;
                }
                let parents = self.places[entry.origin as usize].waiting;
                self.work += u64::from(parents.1 - parents.0);
                for parent in parents.0..parents.1 {
                    let before = self.waiting[parent as usize];
                    let parent = self.entries[before as usize];
                    let state = automaton.on_rule(parent.state, rule);
                    if state == NONE {
                        continue;
                    }
                    let penalty = parent.penalty + entry.penalty;
                    let new = Entry { state, origin: parent.origin, before, child, penalty };
                    if let Some(changed) = self.add(start, new)
                        && (changed as usize) < todo
                    {
                        improved.push(changed);
                    }
                }
            }
        }
        let completed = self.entries.len();
        if at == 0 {
            self.predict(start, 0, id);
        }
        for entry in start..completed {
            let state = &automaton.states[self.entries[entry].state as usize];
            if state.waits {
                self.waiting.push(entry as u32);
            }
            if state.predicted != NONE {
                self.predict(completed, state.predicted, id);
            }
        }
        for entry in completed..self.entries.len() {
            self.waiting.push(entry as u32);
        }
        self.add_wants(start..completed, wants, at == 0);
        self.places.push(Place {
            position: at as u32,
            entries: (start as u32, self.entries.len() as u32),
            waiting: (waiting, self.waiting.len() as u32),
            wants: (wants, self.wants.len() as u32),
        });
        id
    }

    fn predict(&mut self, from: usize, state: u32, origin: u32) {
        if !self.entries[from..].iter().any(|e| e.state == state) {
            self.entries.push(Entry { state, origin, before: NONE, child: NONE, penalty: 0 });
        }
    }

    /// Adds the rules that entries want, with the costs behind them. `from` is the first
    /// want of the place.
    fn add_wants(&mut self, entries: std::ops::Range<usize>, from: u32, is_first: bool) {
        let automaton = Arc::clone(&self.automaton);
        if is_first {
            let rule = automaton.grammar.start;
            self.wants.push(Want { rule, cost: 0, entry: NONE, item: NONE });
        }
        for index in entries {
            let entry = self.entries[index];
            for want in &automaton.states[entry.state as usize].wants {
                let (after, _) = self.context(entry.origin, want.lhs);
                let cost = plus(plus(entry.penalty, want.rest), after);
                let new = Want { rule: want.rule, cost, entry: index as u32, item: want.item };
                let of_place = &mut self.wants[from as usize..];
                match of_place.iter_mut().find(|w| w.rule == want.rule) {
                    Some(old) if (old.cost, old.item) <= (cost, want.item) => {}
                    Some(old) => *old = new,
                    None => self.wants.push(new),
                }
            }
        }
    }

    /// The least cost of finishing the sentence behind a rule that began at a place, and
    /// the want that gives it.
    fn context(&self, place: u32, rule: RuleId) -> (u64, u32) {
        let (from, to) = self.places[place as usize].wants;
        let mut best = (NEVER, NONE);
        for index in from..to {
            let want = &self.wants[index as usize];
            let cost = plus(want.cost, self.automaton.corners.get(want.rule, rule).0);
            if cost < best.0 {
                best = (cost, index);
            }
        }
        best
    }

    /// Moves the entries of a place over the tokens allowed after it.
    fn scan(&mut self, place: u32, allowed: Allowed) -> (u32, u32) {
        let automaton = Arc::clone(&self.automaton);
        let (from, to) = self.places[place as usize].entries;
        let start = self.entries.len();
        self.index.begin();
        for before in from..to {
            let Entry { state, origin, penalty, .. } = self.entries[before as usize];
            match allowed {
                Allowed::End => {}
                Allowed::One(token) => {
                    let state = automaton.on_token(state, token);
                    if state != NONE {
                        self.add(start, Entry { state, origin, before, child: NONE, penalty });
                    }
                }
                Allowed::Set { set, preferred, penalty: more } => {
                    for &(token, state) in &automaton.states[state as usize].tokens {
                        if !set.contains(token) {
                            continue;
                        }
                        let is_other = preferred.is_some_and(|p| p != token);
                        let penalty = penalty + if is_other { more } else { 0 };
                        self.add(start, Entry { state, origin, before, child: NONE, penalty });
                    }
                }
            }
        }
        (start as u32, self.entries.len() as u32)
    }

    /// Adds an entry to those from `start` on, unless it is there with at most the same
    /// penalty. Returns its index if anything changed.
    fn add(&mut self, start: usize, new: Entry) -> Option<u32> {
        match self.index.find(&self.entries, start, &new) {
            Some(at) if self.entries[at as usize].penalty <= new.penalty => None,
            Some(at) => {
                self.entries[at as usize] = new;
                Some(at)
            }
            None => {
                let at = self.entries.len() as u32;
                self.index.insert(&new, at);
                self.entries.push(new);
                Some(at)
            }
        }
    }
}

impl Allowed<'_> {
    /// True if an allowed token can follow the rule.
    #[inline]
    fn can_follow(&self, automaton: &Automaton, rule: RuleId) -> bool {
        match self {
            Allowed::One(token) => automaton.follow[rule.index()].contains(*token),
            Allowed::Set { set, .. } => automaton.follow[rule.index()].intersects(set),
            Allowed::End => automaton.last[rule.index()],
        }
    }
}

/// Finds an entry by state and origin. Most places have few entries, and comparing all
/// of them is faster than hashing. With ambiguous grammars a place can have thousands.
#[derive(Clone, Default)]
struct Index {
    /// Used from `MAX_SCANNED` entries on.
    map: HashMap<u64, u32, BuildHasherDefault<Multiply>>,
}

impl Index {
    /// Up to this many entries are compared one by one.
    const MAX_SCANNED: usize = 40;

    fn begin(&mut self) {
        if !self.map.is_empty() {
            self.map.clear();
        }
    }

    fn find(&mut self, entries: &[Entry], start: usize, new: &Entry) -> Option<u32> {
        if entries.len() - start <= Index::MAX_SCANNED {
            let same = |e: &Entry| e.state == new.state && e.origin == new.origin;
            return entries[start..].iter().position(same).map(|i| (start + i) as u32);
        }
        if self.map.is_empty() {
            for (i, entry) in entries.iter().enumerate().skip(start) {
                self.map.insert(key(entry), i as u32);
            }
        }
        self.map.get(&key(new)).copied()
    }

    fn insert(&mut self, new: &Entry, at: u32) {
        if !self.map.is_empty() {
            self.map.insert(key(new), at);
        }
    }
}

fn key(entry: &Entry) -> u64 {
    u64::from(entry.state) << 32 | u64::from(entry.origin)
}

/// A hash of one multiplication, which is enough for two small numbers.
#[derive(Default)]
struct Multiply(u64);

impl Hasher for Multiply {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(u64::from(b)));
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}
