//! Enumerates every derivation up to a length and a height, each once.
//!
//! A table has the possible lengths of every rule, and of every rest of a production,
//! for each height. The derivations of one length are then walked depth-first. Each step
//! expands the leftmost open rule, and only choices that the table allows are made, so
//! every step leads to a derivation. From one derivation to the next, only the part
//! behind the last choice changes. The memory is that of one derivation.
//!
//! A *size* is a length and a number of symbolic constants in one number:
//! `length * stride + constants`. So adding sizes adds both. If constants are not
//! counted, the stride is 1.

use crate::analysis::Analysis;
use crate::count::{CountError, Unit};
use crate::grammar::{Grammar, Pattern, ProductionId, RuleId, Symbol, TokenId};
use crate::lexer::Lexer;
use crate::shortest::Items;
use pleach_automata::dfa::{DEAD, Dfa};

/// The largest length that can be enumerated.
pub const LONGEST: usize = 512;
/// Texts of one token and length that are stored as a list.
const MAX_LISTED: usize = 1 << 12;

pub struct Enumerator<'g> {
    grammar: &'g Grammar,
    items: Items,
    longest: usize,
    stride: usize,
    /// The largest height; 0 if heights are not limited.
    levels: usize,
    /// By level and rule: the possible sizes.
    rules: Vec<Vec<Bits>>,
    /// By level and item: the possible sizes of what is behind the dot.
    rests: Vec<Vec<Bits>>,
    tokens: Vec<Texts>,
}

#[derive(Clone, Debug)]
pub struct Limits {
    pub unit: Unit,
    pub longest: usize,
    pub highest: Option<usize>,
    /// By token: true if it is a symbolic constant. With this, derivations are ordered by
    /// the number of constants first, and then by length.
    pub constants: Option<Vec<bool>>,
}

/// The current derivation.
pub struct Derivation<'a> {
    /// The texts of its tokens, joined.
    pub bytes: &'a [u8],
    /// Its tokens, each with the end of its text in `bytes`.
    pub tokens: &'a [(TokenId, u32)],
    /// Its productions, leftmost first.
    pub productions: &'a [ProductionId],
}

enum Texts {
    /// One text and its size.
    Fixed(Vec<u8>, usize),
    Pattern {
        dfa: Box<Dfa>,
        /// By length: all texts, unless there are too many.
        lists: Vec<Option<Vec<Box<[u8]>>>>,
        /// By length and state: true if a text of that length leads to a match.
        live: Vec<Vec<bool>>,
    },
}

/// A rest of a production that still has to be derived.
#[derive(Clone, Copy)]
struct Goal {
    item: u32,
    size: u32,
    level: u32,
    /// The goal behind this one.
    next: u32,
}

/// A choice that has other alternatives, and the state of the walk before it.
struct Frame {
    choice: Choice,
    goals: u32,
    /// The first goal behind the choice.
    head: u32,
    bytes: u32,
    tokens: u32,
    productions: u32,
}

enum Choice {
    /// The size of the first symbol of a goal: the last one tried.
    Split { goal: Goal, size: u32 },
    /// The production of a rule: the index of the next one to try.
    Production { rule: RuleId, size: u32, level: u32, next: u32 },
    /// The text of a token: its index in the list of the next one to try.
    Listed { token: TokenId, length: u32, next: u32 },
    /// The text of a token that has no list: the last one tried.
    Text { token: TokenId, text: Vec<u8> },
}

const NONE: u32 = u32::MAX;

impl<'g> Enumerator<'g> {
    pub fn new(grammar: &'g Grammar, limits: &Limits) -> Result<Enumerator<'g>, CountError> {
        let longest = limits.longest;
        if longest > LONGEST {
            return Err(CountError::TooLong(longest));
        }
        if limits.highest.is_none()
            && let Some(rule) = Analysis::new(grammar).cyclic_rule()
        {
            let rule = grammar.rule(rule);
            let (rule, place) = (rule.name.clone(), rule.place.clone());
            return Err(CountError::Endless { rule, place });
        }
        let is_constant = |t: TokenId| limits.constants.as_ref().is_some_and(|c| c[t.index()]);
        let stride = if limits.constants.is_some() { longest + 1 } else { 1 };
        let sizes = (longest + 1) * stride;
        let (tokens, lengths) = texts(grammar, limits)?;
        let token_sizes: Vec<Bits> = grammar
            .token_ids()
            .zip(&lengths)
            .map(|(id, lengths)| {
                let per_unit = stride + usize::from(is_constant(id));
                let size = |l: usize| if is_constant(id) { l * per_unit } else { l * stride };
                Bits::of(sizes, lengths.iter().map(|&l| size(l)))
            })
            .collect();
        let mut this = Enumerator {
            grammar,
            items: Items::new(grammar),
            longest,
            stride,
            levels: 0,
            rules: vec![vec![Bits::of(sizes, []); grammar.rules.len()]],
            rests: Vec::new(),
            tokens,
        };
        // Level `h` has the sizes of trees of height at most `h`. Without a limit,
        // levels are added until nothing changes. The last level is then used for all
        // heights.
        loop {
            let below = this.rules.len() - 1;
            let (rules, rests) = this.next_level(below, &token_sizes, sizes);
            let is_last = rules == this.rules[below];
            this.rules.push(rules);
            this.rests.push(rests);
            this.levels = below + 1;
            if limits.highest.map_or(is_last, |highest| this.levels >= highest) {
                break;
            }
        }
        if limits.highest.is_none() {
            // Only the last level is kept; it is its own level below.
            this.rules.drain(..this.levels);
            this.rests.drain(..this.levels - 1);
            this.levels = 0;
        }
        Ok(this)
    }

    fn level_below(&self, level: u32) -> u32 {
        if self.levels == 0 { 0 } else { level - 1 }
    }

    fn rests_of(&self, level: u32) -> &[Bits] {
        &self.rests[if self.levels == 0 { 0 } else { level as usize - 1 }]
    }

    /// The possible sizes of rules and items one level above `below`.
    fn next_level(&self, below: usize, tokens: &[Bits], sizes: usize) -> (Vec<Bits>, Vec<Bits>) {
        let mut rests = vec![Bits::of(sizes, []); self.items.len()];
        let mut rules = vec![Bits::of(sizes, []); self.grammar.rules.len()];
        for id in self.grammar.production_ids() {
            let production = self.grammar.production(id);
            let end = self.items.item(id, production.symbols.len()) as usize;
            rests[end] = Bits::of(sizes, [0]);
            for dot in (0..production.symbols.len()).rev() {
                let first = match production.symbols[dot] {
                    Symbol::Token(t) => &tokens[t.index()],
                    Symbol::Rule(r) => &self.rules[below][r.index()],
                };
                let at = self.items.item(id, dot) as usize;
                rests[at] = first.plus(&rests[at + 1], sizes);
            }
            let first = self.items.item(id, 0) as usize;
            rules[production.rule.index()].unite(&rests[first]);
        }
        (rules, rests)
    }

    /// Visits all derivations by rising length (or number of constants), until `visit`
    /// returns false. Returns the number of visited derivations.
    pub fn walk(&self, mut visit: impl FnMut(&Derivation) -> bool) -> u64 {
        let top = self.levels as u32;
        let start = self.grammar.start;
        let possible = &self.rules[top as usize][start.index()];
        let mut sizes: Vec<usize> =
            (0..(self.longest + 1) * self.stride).filter(|&s| possible.has(s)).collect();
        if self.stride > 1 {
            sizes.sort_by_key(|s| (s % self.stride, s / self.stride));
        }
        let mut count = 0;
        for size in sizes {
            let mut walk = Walk::new(self);
            let choice = Choice::Production { rule: start, size: size as u32, level: top, next: 0 };
            walk.frames.push(walk.frame(choice, NONE));
            while walk.advance() {
                count += 1;
                let derivation = Derivation {
                    bytes: &walk.bytes,
                    tokens: &walk.tokens,
                    productions: &walk.productions,
                };
                if !visit(&derivation) {
                    return count;
                }
            }
        }
        count
    }
}

struct Walk<'a> {
    of: &'a Enumerator<'a>,
    goals: Vec<Goal>,
    frames: Vec<Frame>,
    bytes: Vec<u8>,
    tokens: Vec<(TokenId, u32)>,
    productions: Vec<ProductionId>,
}

impl<'a> Walk<'a> {
    fn new(of: &'a Enumerator) -> Walk<'a> {
        let (goals, frames, bytes) = (Vec::new(), Vec::new(), Vec::new());
        Walk { of, goals, frames, bytes, tokens: Vec::new(), productions: Vec::new() }
    }

    fn frame(&self, choice: Choice, head: u32) -> Frame {
        Frame {
            choice,
            goals: self.goals.len() as u32,
            head,
            bytes: self.bytes.len() as u32,
            tokens: self.tokens.len() as u32,
            productions: self.productions.len() as u32,
        }
    }

    fn push(&mut self, goal: Goal) -> u32 {
        self.goals.push(goal);
        self.goals.len() as u32 - 1
    }

    /// Goes to the next derivation: changes the last choice that has another
    /// alternative. False if there is none.
    fn advance(&mut self) -> bool {
        while let Some(frame) = self.frames.last_mut() {
            self.goals.truncate(frame.goals as usize);
            self.bytes.truncate(frame.bytes as usize);
            self.tokens.truncate(frame.tokens as usize);
            self.productions.truncate(frame.productions as usize);
            let head = frame.head;
            let of = self.of;
            match &mut frame.choice {
                Choice::Listed { token, length, next } => {
                    let Texts::Pattern { lists, .. } = &of.tokens[token.index()] else {
                        unreachable!("only patterns have lists")
                    };
                    let list = lists[*length as usize].as_deref().unwrap_or_default();
                    let text = list.get(*next as usize);
                    *next += 1;
                    if let Some(text) = text {
                        let token = *token;
                        // For the last text, the frame is not needed any more.
                        if self.frames.last().is_some_and(|f| {
                            matches!(&f.choice, Choice::Listed { next, .. } if *next as usize == list.len())
                        }) {
                            self.frames.pop();
                        }
                        self.emit(token, text);
                        if self.run(head) {
                            return true;
                        }
                        continue;
                    }
                }
                Choice::Text { token, text } => {
                    let Texts::Pattern { dfa, live, .. } = &of.tokens[token.index()] else {
                        unreachable!("only patterns have texts")
                    };
                    if successor(dfa, live, text) {
                        let (token, text) = (*token, text.clone());
                        self.emit(token, &text);
                        if self.run(head) {
                            return true;
                        }
                        continue;
                    }
                }
                Choice::Production { rule, size, level, next } => {
                    let productions = &of.grammar.rule(*rule).productions;
                    let rests = of.rests_of(*level);
                    let is_possible =
                        |p: &ProductionId| rests[of.items.item(*p, 0) as usize].has(*size as usize);
                    let from = *next as usize;
                    let found = productions[from..].iter().position(is_possible).map(|i| from + i);
                    if let Some(at) = found {
                        *next = at as u32 + 1;
                        let (size, level) = (*size, *level);
                        let production = productions[at];
                        self.productions.push(production);
                        let item = of.items.item(production, 0);
                        let head = self.push(Goal { item, size, level, next: head });
                        if self.run(head) {
                            return true;
                        }
                        continue;
                    }
                }
                Choice::Split { goal, size } => {
                    let goal = *goal;
                    if let Some(part) = of.split(&goal, *size + 1) {
                        *size = part;
                        if self.derive_split(goal, part, head) {
                            return true;
                        }
                        continue;
                    }
                }
            }
            self.frames.pop();
        }
        false
    }

    fn emit(&mut self, token: TokenId, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.tokens.push((token, self.bytes.len() as u32));
    }

    /// Gives the first symbol of a goal `part` of its size, and continues.
    fn derive_split(&mut self, goal: Goal, part: u32, head: u32) -> bool {
        let rest = Goal { item: goal.item + 1, size: goal.size - part, ..goal };
        let rest = self.push(Goal { next: head, ..rest });
        match self.symbol(&goal, part, rest) {
            Some(head) => self.run(head),
            None => false,
        }
    }

    /// Derives a symbol of a known size. Returns the goal behind it. `None` if there is
    /// a choice, which is then the last frame.
    fn symbol(&mut self, goal: &Goal, part: u32, head: u32) -> Option<u32> {
        let of = self.of;
        let symbol = of.items.next(of.grammar, goal.item)?;
        match symbol {
            Symbol::Token(token) => match &of.tokens[token.index()] {
                Texts::Fixed(text, _) => {
                    self.emit(token, text);
                    return Some(head);
                }
                Texts::Pattern { lists, live, dfa } => {
                    let length = part as usize / of.stride;
                    let choice = match &lists[length] {
                        Some(_) => Choice::Listed { token, length: length as u32, next: 0 },
                        None => {
                            let mut text = vec![0; length];
                            first_text(dfa, live, Dfa::START, &mut text, 0);
                            let frame =
                                self.frame(Choice::Text { token, text: text.clone() }, head);
                            self.frames.push(frame);
                            self.emit(token, &text);
                            return Some(head);
                        }
                    };
                    let frame = self.frame(choice, head);
                    self.frames.push(frame);
                }
            },
            Symbol::Rule(rule) => {
                let level = of.level_below(goal.level);
                // The parts of a production at level `h` are below `h`.
                let choice = Choice::Production { rule, size: part, level, next: 0 };
                let frame = self.frame(choice, head);
                self.frames.push(frame);
            }
        }
        None
    }

    /// Derives goals until none is left. False if there is a choice first, which is then
    /// the last frame. Every choice has at least one alternative, by the tables.
    fn run(&mut self, mut head: u32) -> bool {
        let of = self.of;
        while head != NONE {
            let goal = self.goals[head as usize];
            let production = of.grammar.production(of.items.production(goal.item));
            let symbols = &production.symbols[of.items.dot(goal.item)..];
            let next = goal.next;
            match symbols {
                [] => head = next,
                [_] => match self.symbol(&goal, goal.size, next) {
                    Some(after) => head = after,
                    None => return false,
                },
                [Symbol::Token(t), ..] if of.fixed_size(*t).is_some() => {
                    let part = of.fixed_size(*t).unwrap_or(0);
                    let rest = Goal { item: goal.item + 1, size: goal.size - part, ..goal };
                    if let Texts::Fixed(text, _) = &of.tokens[t.index()] {
                        self.emit(*t, text);
                    }
                    head = self.push(rest);
                }
                _ => {
                    let Some(part) = of.split(&goal, 0) else { return false };
                    // A frame is needed only if another split is possible.
                    if of.split(&goal, part + 1).is_some() {
                        let frame = self.frame(Choice::Split { goal, size: part }, next);
                        self.frames.push(frame);
                    }
                    let rest = Goal { item: goal.item + 1, size: goal.size - part, ..goal };
                    let rest = self.push(rest);
                    match self.symbol(&goal, part, rest) {
                        Some(after) => head = after,
                        None => return false,
                    }
                }
            }
        }
        true
    }
}

impl Enumerator<'_> {
    fn fixed_size(&self, token: TokenId) -> Option<u32> {
        match &self.tokens[token.index()] {
            Texts::Fixed(_, size) => Some(*size as u32),
            Texts::Pattern { .. } => None,
        }
    }

    /// The smallest size from `from` on that the first symbol of a goal can have.
    fn split(&self, goal: &Goal, from: u32) -> Option<u32> {
        let rest = &self.rests_of(goal.level)[goal.item as usize + 1];
        let below = self.level_below(goal.level) as usize;
        let first = |size: usize| match self.items.next(self.grammar, goal.item) {
            Some(Symbol::Rule(r)) => self.rules[below][r.index()].has(size),
            Some(Symbol::Token(t)) => match &self.tokens[t.index()] {
                Texts::Fixed(_, s) => *s == size,
                Texts::Pattern { live, .. } => {
                    size.is_multiple_of(self.stride)
                        && live.get(size / self.stride).is_some_and(|l| l[0])
                }
            },
            None => false,
        };
        (from..=goal.size).find(|&s| rest.has((goal.size - s) as usize) && first(s as usize))
    }
}

/// By token: its texts, and their possible lengths.
#[allow(clippy::type_complexity)]
fn texts(grammar: &Grammar, limits: &Limits) -> Result<(Vec<Texts>, Vec<Vec<usize>>), CountError> {
    let lexer = Lexer::new(grammar)?;
    let stride = if limits.constants.is_some() { limits.longest + 1 } else { 1 };
    let (mut texts, mut lengths) = (Vec::new(), Vec::new());
    for id in grammar.token_ids() {
        let token = grammar.token(id);
        let is_constant = limits.constants.as_ref().is_some_and(|c| c[id.index()]);
        let per_unit = stride + usize::from(is_constant);
        let mut fixed = |text: Vec<u8>, length: usize| {
            texts.push(Texts::Fixed(text, length * per_unit));
            lengths.push(vec![length]);
        };
        match (&token.pattern, limits.unit) {
            (Pattern::Literal(bytes), Unit::Bytes) => fixed(bytes.clone(), bytes.len()),
            (Pattern::Literal(bytes), Unit::Tokens) => fixed(bytes.clone(), 1),
            (Pattern::Unknown, Unit::Tokens) => fixed(token.name.clone().into_bytes(), 1),
            (Pattern::Regex(_), Unit::Tokens) => {
                fixed(lexer.language(id).shortest().unwrap_or_default(), 1);
            }
            (Pattern::Unknown, Unit::Bytes) => {
                let (token, place) = (token.name.clone(), token.place.clone());
                return Err(CountError::Unknown { token, place });
            }
            (Pattern::Regex(_), Unit::Bytes) => {
                let dfa = Box::new(lexer.language(id));
                let live = live(&dfa, limits.longest);
                let possible: Vec<usize> = (0..=limits.longest).filter(|&l| live[l][0]).collect();
                let lists = (0..=limits.longest).map(|l| list(&dfa, &live, l)).collect();
                lengths.push(possible);
                texts.push(Texts::Pattern { dfa, lists, live });
            }
        }
    }
    Ok((texts, lengths))
}

/// By length and state: true if a text of that length leads from the state to a match.
fn live(dfa: &Dfa, longest: usize) -> Vec<Vec<bool>> {
    let states = dfa.states() as u32;
    let moves: Vec<Vec<(u8, u32)>> = (0..states).map(|s| dfa.moves(s)).collect();
    let mut all = vec![(0..states).map(|s| !dfa.accepts(s).is_empty()).collect::<Vec<bool>>()];
    for length in 1..=longest {
        let before = &all[length - 1];
        let now = moves.iter().map(|m| m.iter().any(|&(_, to)| before[to as usize])).collect();
        all.push(now);
    }
    all
}

/// All texts of a length; `None` if there are too many.
fn list(dfa: &Dfa, live: &[Vec<bool>], length: usize) -> Option<Vec<Box<[u8]>>> {
    let mut list = Vec::new();
    let mut text = vec![0; length];
    if !live[length][0] {
        return Some(list);
    }
    first_text(dfa, live, Dfa::START, &mut text, 0);
    loop {
        list.push(text.clone().into_boxed_slice());
        if list.len() > MAX_LISTED {
            return None;
        }
        if !successor(dfa, live, &mut text) {
            return Some(list);
        }
    }
}

/// Fills in the first text in the order of bytes, from `at` on.
fn first_text(dfa: &Dfa, live: &[Vec<bool>], mut state: u32, text: &mut [u8], at: usize) {
    for i in at..text.len() {
        let left = text.len() - i - 1;
        for byte in 0..=255 {
            let to = dfa.next(state, byte);
            if to != DEAD && live[left][to as usize] {
                (text[i], state) = (byte, to);
                break;
            }
        }
    }
}

/// Changes a text to the next one of the same length; false if there is none.
fn successor(dfa: &Dfa, live: &[Vec<bool>], text: &mut [u8]) -> bool {
    let mut states = vec![Dfa::START];
    for &byte in text.iter() {
        states.push(dfa.next(states[states.len() - 1], byte));
    }
    for at in (0..text.len()).rev() {
        let left = text.len() - at - 1;
        for byte in text[at].saturating_add(1)..=255 {
            let to = dfa.next(states[at], byte);
            if byte > text[at] && to != DEAD && live[left][to as usize] {
                text[at] = byte;
                first_text(dfa, live, to, text, at + 1);
                return true;
            }
        }
    }
    false
}

/// A set of sizes.
#[derive(Clone, PartialEq)]
struct Bits(Vec<u64>);

impl Bits {
    fn of(sizes: usize, members: impl IntoIterator<Item = usize>) -> Bits {
        let mut bits = Bits(vec![0; sizes.div_ceil(64)]);
        for size in members.into_iter().filter(|&s| s < sizes) {
            bits.0[size / 64] |= 1 << (size % 64);
        }
        bits
    }

    #[inline]
    fn has(&self, size: usize) -> bool {
        self.0.get(size / 64).is_some_and(|w| w >> (size % 64) & 1 != 0)
    }

    fn unite(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// All sums of a member of each that are below `sizes`.
    fn plus(&self, other: &Bits, sizes: usize) -> Bits {
        let mut sum = Bits::of(sizes, []);
        for by in (0..sizes).filter(|&s| self.has(s)) {
            let (words, bits) = (by / 64, by % 64);
            for i in words..sum.0.len() {
                let mut word = other.0[i - words] << bits;
                if bits > 0 && i > words {
                    word |= other.0[i - words - 1] >> (64 - bits);
                }
                sum.0[i] |= word;
            }
        }
        let last = sum.0.len() * 64 - sizes;
        if let Some(word) = sum.0.last_mut()
            && last > 0
        {
            *word &= u64::MAX >> last;
        }
        sum
    }
}
