//! Samples sentences fast, by the weights of productions.
//!
//! A choice costs a random number, a table lookup and a mispredicted branch, but most
//! productions give at most one byte. So several choices are combined into one:
//!
//! - The texts of a token are a small grammar with one rule for each state of its
//!   automaton. So everything is rules and bytes.
//! - For each rule, the most probable alternative is expanded, again and again, until
//!   there are [`MAX_ALTERNATIVES`]. The probability of an alternative is the product of
//!   those that were expanded. The distribution stays the same, with several times fewer
//!   choices.
//! - An alternative is a list of steps. A step has up to 16 bytes, which are always
//!   copied as 16, and then perhaps a rule.
//! - A *run* is for a state that leads back to itself (`[a-z]*`). Its length is drawn
//!   once, and one random number gives seven bytes. A byte of the same set before it
//!   (`[a-z]+`) is part of the run.
//!
//! Alternatives are drawn by Walker's alias method. When a sentence has reached its
//! limit, the remaining rules get their shortest texts.

use super::Sentence;
use crate::count::CountError;
use crate::grammar::{Grammar, Pattern, Symbol, TokenId};
use crate::lexer::Lexer;
use crate::shortest::{Items, NEVER, Shortest};
use pleach_automata::dfa::Dfa;
use std::collections::HashMap;

/// Expanded alternatives of a rule.
const MAX_ALTERNATIVES: usize = 1024;
/// Expanded alternatives of all rules together. Larger tables do not fit into the
/// processor's cache, and that is slower than more choices.
const MAX_ALL_ALTERNATIVES: usize = 1 << 17;
/// Expanded alternatives that every rule may have, however many rules there are.
const MIN_ALTERNATIVES: usize = 16;
/// Bytes of a shortest text that is stored with every alternative that has it.
const MAX_STORED_CLOSING: usize = 64;
/// Parts of an alternative. Larger ones are not expanded further.
const MAX_PARTS: usize = 40;
/// The probability that a text ends where it could also continue.
const END_PROBABILITY: f64 = 0.22;
/// Numbers of rules from here on are runs.
const FIRST_RUN: u32 = 1 << 30;
/// Bytes of a step.
const STEP_BYTES: usize = 16;
/// Bytes of a run that one random number gives.
const RUN_BYTES: usize = 7;
const NONE: u32 = u32::MAX;

pub struct Weighted {
    /// Rules of the grammar, then states of the tokens' automata.
    rules: Vec<Rule>,
    start: u32,
    random: fastrand::Rng,
    /// The next steps of the alternatives around the current one.
    stack: Vec<u32>,
    steps: Vec<Step>,
    runs: Runs,
    /// Shortest texts that end alternatives; steps refer to parts of it.
    closings: Vec<u8>,
}

/// Bytes that lead from a state back to it.
struct Run {
    /// By a random byte: the length. [`RUN_BYTES`] means at least that many: the run
    /// `rest` follows.
    lengths: [u8; 256],
    /// By a random byte: a byte of the run.
    bytes: [u8; 256],
    rest: u32,
}

struct Runs {
    all: Vec<Run>,
    /// By two runs: the run of both.
    joined: HashMap<(u32, u32), u32>,
}

impl Runs {
    /// Joins a byte and a run, if they have the same set.
    fn join(&mut self, one: u32, run: u32) -> Option<u32> {
        let (first, then) = (&self.all[one as usize], &self.all[run as usize]);
        if first.lengths != [1; 256] || first.bytes != then.bytes {
            return None;
        }
        if let Some(&both) = self.joined.get(&(one, run)) {
            return Some(both);
        }
        let lengths = then.lengths.map(|length| (length + 1).min(RUN_BYTES as u8));
        self.all.push(Run { lengths, bytes: then.bytes, rest: run });
        let both = self.all.len() as u32 - 1;
        self.joined.insert((one, run), both);
        Some(both)
    }
}

struct Rule {
    /// The alternatives as written, each with its probability, for [`Weighted::sentence`].
    plain: Vec<(f64, Vec<Part>)>,
    plain_slots: Vec<Slot>,
    /// The first steps of the expanded alternatives.
    slots: Vec<Slot>,
    /// Its shortest text. States of tokens have none; their texts end soon.
    closing: Option<Vec<(TokenId, Vec<u8>)>>,
}

/// Part of an alternative.
#[derive(Clone, Copy)]
enum Part {
    Byte(u8),
    /// A rule, or a run from [`FIRST_RUN`] on.
    Rule(u32),
    /// The end of a token.
    End(TokenId),
}

#[derive(Clone, Copy)]
struct Step {
    bytes: [u8; STEP_BYTES],
    length: u16,
    after: After,
    /// A rule or a run, depending on `after`.
    what: u32,
    /// The shortest text from here to the end of the alternative: its start and end in
    /// `closings`.
    closing: (u32, u32),
}

/// What comes behind the bytes of a step: the next step, a run or a rule; or the end of
/// the alternative.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Step,
    Run,
    Rule,
    End,
    RunAndEnd,
    RuleAndEnd,
}

/// An alternative, a bound, and another alternative for draws above the bound.
type Slot = (u32, u32, u32);

impl Weighted {
    pub fn new(grammar: &Grammar, seed: u64) -> Result<Weighted, CountError> {
        let items = Items::new(grammar);
        let lexer = Lexer::new(grammar)?;
        let shortest = Shortest::new(grammar, &items, |_| 1);
        // By rule: its alternatives as written.
        let mut all: Vec<Vec<(f64, Vec<Part>)>> = vec![Vec::new(); grammar.rules.len()];
        let mut runs = Vec::new();
        let mut tokens: Vec<Vec<Part>> = Vec::new();
        let mut short: Vec<Vec<u8>> = Vec::new();
        // By state: its shortest text.
        let mut endings: Vec<Vec<u8>> = Vec::new();
        for id in grammar.token_ids() {
            let text = |text: &[u8]| text.iter().map(|&b| Part::Byte(b)).collect::<Vec<_>>();
            let token = grammar.token(id);
            let (mut parts, shortest) = match &token.pattern {
                Pattern::Literal(bytes) => (text(bytes), bytes.clone()),
                Pattern::Unknown => (text(token.name.as_bytes()), token.name.clone().into_bytes()),
                Pattern::Regex(_) => {
                    let dfa = lexer.language(id);
                    let first = all.len() as u32;
                    all.extend(state_rules(&dfa, first, &mut runs));
                    let distances = dfa.distances();
                    let ends = |state| dfa.shortest_from(state, &distances).unwrap_or_default();
                    endings.extend((0..dfa.states() as u32).map(ends));
                    (vec![Part::Rule(first)], ends(Dfa::START))
                }
            };
            parts.push(Part::End(id));
            tokens.push(parts);
            short.push(shortest);
        }
        for id in grammar.production_ids() {
            let production = grammar.production(id);
            if shortest.rest[items.item(id, 0) as usize] == NEVER {
                continue;
            }
            let mut parts = Vec::new();
            for &symbol in &production.symbols {
                match symbol {
                    Symbol::Rule(r) => parts.push(Part::Rule(r.0)),
                    Symbol::Token(t) => parts.extend_from_slice(&tokens[t.index()]),
                }
            }
            let weight = production.weight;
            let weight = if weight.is_finite() { weight.max(0.0) } else { 0.0 };
            all[production.rule.index()].push((weight, parts));
        }
        all.iter_mut().for_each(|alternatives| normalise(alternatives));
        let mut this = Weighted {
            rules: Vec::new(),
            start: grammar.start.0,
            random: fastrand::Rng::with_seed(seed),
            stack: Vec::new(),
            steps: Vec::new(),
            runs: Runs { all: runs, joined: HashMap::new() },
            closings: Vec::new(),
        };
        let closing = |id| -> Option<Vec<(TokenId, Vec<u8>)>> {
            let mut out = Vec::new();
            let ends = shortest.append(grammar, &[Symbol::Rule(id)], &mut out, 1 << 20);
            ends.then(|| out.iter().map(|&t| (t, short[t.index()].clone())).collect())
        };
        let mut closings: Vec<_> = grammar.rule_ids().map(closing).collect();
        let text = |tokens: &Option<Vec<(TokenId, Vec<u8>)>>| {
            let texts = tokens.as_ref()?.iter().map(|(_, text)| text.as_slice());
            Some(texts.collect::<Vec<_>>().concat())
        };
        let mut texts: Vec<Option<Vec<u8>>> = closings.iter().map(text).collect();
        texts.extend(endings.into_iter().map(Some));
        closings.resize(all.len(), None);
        let max_alternatives =
            (MAX_ALL_ALTERNATIVES / all.len().max(1)).clamp(MIN_ALTERNATIVES, MAX_ALTERNATIVES);
        for (rule, closing) in closings.into_iter().enumerate() {
            let expanded = expand(&all, rule, max_alternatives);
            let first_steps: Vec<u32> =
                expanded.iter().map(|(_, parts)| this.add_steps(parts, &texts)).collect();
            let mut slots = alias_table(&expanded.iter().map(|a| a.0).collect::<Vec<f64>>());
            for (own, _, other) in &mut slots {
                (*own, *other) = (first_steps[*own as usize], first_steps[*other as usize]);
            }
            this.rules.push(Rule {
                plain_slots: alias_table(&all[rule].iter().map(|a| a.0).collect::<Vec<f64>>()),
                plain: all[rule].clone(),
                slots,
                closing,
            });
        }
        Ok(this)
    }

    /// Adds the steps of an alternative, and returns the index of the first.
    fn add_steps(&mut self, parts: &[Part], texts: &[Option<Vec<u8>>]) -> u32 {
        let from = self.steps.len();
        let new = Step {
            bytes: [0; STEP_BYTES],
            length: 0,
            after: After::Step,
            what: NONE,
            closing: (NONE, NONE),
        };
        let mut step = new;
        for part in parts {
            match *part {
                Part::End(_) => {}
                Part::Byte(byte) => {
                    if usize::from(step.length) == STEP_BYTES {
                        self.steps.push(std::mem::replace(&mut step, new));
                    }
                    step.bytes[usize::from(step.length)] = byte;
                    step.length += 1;
                }
                Part::Rule(run) if run >= FIRST_RUN => {
                    let run = run - FIRST_RUN;
                    // A byte and a run of the same set become one run.
                    if step.length == 0
                        && let Some(last) = self.steps[from..].last_mut()
                        && last.after == After::Run
                        && let Some(both) = self.runs.join(last.what, run)
                    {
                        last.what = both;
                        continue;
                    }
                    (step.after, step.what) = (After::Run, run);
                    self.steps.push(std::mem::replace(&mut step, new));
                }
                Part::Rule(rule) => {
                    (step.after, step.what) = (After::Rule, rule);
                    self.steps.push(std::mem::replace(&mut step, new));
                }
            }
        }
        if step.length > 0 || self.steps.len() == from {
            self.steps.push(step);
        }
        if let Some(last) = self.steps.last_mut() {
            last.after = match last.after {
                After::Run => After::RunAndEnd,
                After::Rule => After::RuleAndEnd,
                _ => After::End,
            };
        }
        self.add_closings(from, texts);
        from as u32
    }

    /// Stores the shortest texts that end the steps from `from` on, if they are short.
    fn add_closings(&mut self, from: usize, texts: &[Option<Vec<u8>>]) {
        let start = self.closings.len();
        let mut closings = Vec::new();
        for step in &self.steps[from..] {
            closings.push(self.closings.len() as u32);
            self.closings.extend_from_slice(&step.bytes[..usize::from(step.length)]);
            match step.after {
                After::Run | After::RunAndEnd => {
                    let run = &self.runs.all[step.what as usize];
                    let least = run.lengths.iter().min().map_or(0, |&l| usize::from(l));
                    self.closings.extend_from_slice(&run.bytes[..1].repeat(least));
                }
                After::Rule | After::RuleAndEnd => match &texts[step.what as usize] {
                    Some(text) if text.len() <= MAX_STORED_CLOSING => {
                        self.closings.extend_from_slice(text)
                    }
                    _ => return self.closings.truncate(start),
                },
                After::Step | After::End => {}
            }
        }
        let end = self.closings.len() as u32;
        for (step, from) in self.steps[from..].iter_mut().zip(closings) {
            step.closing = (from, end);
        }
    }

    /// Appends the bytes of a sentence. After `limit` bytes, the sentence is finished with
    /// shortest texts.
    pub fn sample(&mut self, limit: usize, out: &mut Vec<u8>) {
        let limit = out.len().saturating_add(limit);
        let mut random = self.random.clone();
        self.stack.clear();
        let mut at = choose(&self.rules[self.start as usize].slots, random.u64(..));
        loop {
            let step = &self.steps[at as usize];
            if out.len() >= limit && step.closing.0 != NONE {
                let (from, to) = step.closing;
                out.extend_from_slice(&self.closings[from as usize..to as usize]);
            } else {
                // Copying 16 bytes is one store. The unused ones are removed again.
                let length = out.len() + usize::from(step.length);
                out.extend_from_slice(&step.bytes);
                out.truncate(length);
                match step.after {
                    After::Step => {
                        at += 1;
                        continue;
                    }
                    After::Run => {
                        self.run(step.what, &mut random, out);
                        at += 1;
                        continue;
                    }
                    After::Rule | After::RuleAndEnd => {
                        let last = step.after == After::RuleAndEnd;
                        let rule = &self.rules[step.what as usize];
                        match rule.closing.as_ref().filter(|_| out.len() >= limit) {
                            None => {
                                if !last {
                                    self.stack.push(at + 1);
                                }
                                at = choose(&rule.slots, random.u64(..));
                                continue;
                            }
                            // The text was too long to be stored with the step.
                            Some(closing) => {
                                closing.iter().for_each(|(_, text)| out.extend_from_slice(text));
                                if !last {
                                    at += 1;
                                    continue;
                                }
                            }
                        }
                    }
                    After::RunAndEnd => self.run(step.what, &mut random, out),
                    After::End => {}
                }
            }
            match self.stack.pop() {
                Some(next) => at = next,
                None => break,
            }
        }
        self.random = random;
    }

    /// The same with the tokens of the sentence, for callers that need separators between
    /// them. Slower, and the sentences for a seed are not the same.
    pub fn sentence(&mut self, limit: usize, out: &mut Sentence) {
        out.clear();
        let mut random = self.random.clone();
        let mut stack = vec![Part::Rule(self.start)];
        while let Some(part) = stack.pop() {
            match part {
                Part::Byte(byte) => out.bytes.push(byte),
                Part::End(token) => out.emit(token, b""),
                Part::Rule(run) if run >= FIRST_RUN => {
                    self.run(run - FIRST_RUN, &mut random, &mut out.bytes);
                }
                Part::Rule(rule) => {
                    let rule = &self.rules[rule as usize];
                    if out.bytes.len() >= limit
                        && let Some(closing) = &rule.closing
                    {
                        closing.iter().for_each(|(token, text)| out.emit(*token, text));
                        continue;
                    }
                    let chosen = choose(&rule.plain_slots, random.u64(..));
                    stack.extend(rule.plain[chosen as usize].1.iter().rev());
                }
            }
        }
        self.random = random;
    }

    #[inline]
    fn run(&self, run: u32, random: &mut fastrand::Rng, out: &mut Vec<u8>) {
        let mut run = &self.runs.all[run as usize];
        loop {
            // The first eight bits give the length, the others the bytes.
            let digits = random.u64(..);
            let length = usize::from(run.lengths[(digits & 255) as usize]);
            let end = out.len() + length;
            let byte = |i: usize| run.bytes[(digits >> (8 * (i + 1)) & 255) as usize];
            let bytes: [u8; RUN_BYTES] = std::array::from_fn(byte);
            out.extend_from_slice(&bytes);
            out.truncate(end);
            if length < RUN_BYTES {
                return;
            }
            run = &self.runs.all[run.rest as usize];
        }
    }
}

#[inline]
fn choose(slots: &[Slot], digits: u64) -> u32 {
    let slot = ((digits >> 32) * slots.len() as u64) >> 32;
    let (own, bound, other) = slots[slot as usize];
    if (digits as u32) <= bound { own } else { other }
}

/// The rules of the states of an automaton, numbered from `first`. Each alternative is a
/// run, and then the end, or one byte and the next state.
fn state_rules(dfa: &Dfa, first: u32, runs: &mut Vec<Run>) -> Vec<Vec<(f64, Vec<Part>)>> {
    let mut all = Vec::new();
    for state in 0..dfa.states() as u32 {
        let (back, on): (Vec<_>, Vec<_>) =
            dfa.moves(state).into_iter().partition(|&(_, to)| to == state);
        let moves = (back.len() + on.len()).max(1) as f64;
        let ends = match (dfa.accepts(state).is_empty(), back.is_empty() && on.is_empty()) {
            (_, true) => 1.0,
            (true, false) => 0.0,
            (false, false) => END_PROBABILITY,
        };
        // If most bytes lead back, the other bytes still get a fair share.
        let mut returns = (1.0 - ends) * back.len() as f64 / moves;
        if !on.is_empty() {
            returns = returns.min(1.0 - END_PROBABILITY);
        }
        let mut any = |of: &[(u8, u32)], lengths: [u8; 256]| {
            let byte = |draw: usize| of[draw * of.len() / 256].0;
            let rest = runs.len() as u32;
            runs.push(Run { lengths, bytes: std::array::from_fn(byte), rest });
            Part::Rule(FIRST_RUN + rest)
        };
        let prefix: Vec<Part> =
            (!back.is_empty()).then(|| any(&back, run_lengths(returns))).into_iter().collect();
        let with = |parts: &[Part]| [&prefix[..], parts].concat();
        // Bytes that lead to the same state are one alternative.
        let mut on = on;
        on.sort_by_key(|m| m.1);
        let mut alternatives: Vec<(f64, Vec<Part>)> = Vec::new();
        for group in on.chunk_by(|a, b| a.1 == b.1) {
            let share = (1.0 - ends) * group.len() as f64 / on.len() as f64;
            let byte = match group {
                [(byte, _)] => Part::Byte(*byte),
                _ => any(group, [1; 256]),
            };
            alternatives.push((share, with(&[byte, Part::Rule(first + group[0].1)])));
        }
        if ends > 0.0 {
            alternatives.push((if on.is_empty() { 1.0 } else { ends }, with(&[])));
        }
        all.push(alternatives);
    }
    all
}

/// The lengths of a run that continues with probability `returns` after each byte.
fn run_lengths(returns: f64) -> [u8; 256] {
    std::array::from_fn(|draw| {
        let rest = 1.0 - (draw as f64 + 0.5) / 256.0;
        let mut length = 0;
        while length < RUN_BYTES as u8 && rest < returns.powi(i32::from(length) + 1) {
            length += 1;
        }
        length
    })
}

/// Makes weights add up to 1. If all are 0, they become equal.
fn normalise(alternatives: &mut [(f64, Vec<Part>)]) {
    let total: f64 = alternatives.iter().map(|a| a.0).sum();
    let count = alternatives.len() as f64;
    for (share, _) in alternatives {
        *share = if total > 0.0 { *share / total } else { 1.0 / count };
    }
}

/// The expanded alternatives of a rule, each with its probability.
fn expand(
    all: &[Vec<(f64, Vec<Part>)>],
    rule: usize,
    max_alternatives: usize,
) -> Vec<(f64, Vec<Part>)> {
    let mut done: Vec<(f64, Vec<Part>)> = Vec::new();
    let mut open = all[rule].clone();
    while done.len() + open.len() < max_alternatives {
        let best = (0..open.len()).max_by(|&a, &b| open[a].0.total_cmp(&open[b].0));
        let Some(best) = best else { break };
        let (share, parts) = open.swap_remove(best);
        let inner = parts.iter().enumerate().find_map(|(at, part)| match part {
            Part::Rule(r) if *r < FIRST_RUN => Some((at, *r as usize)),
            _ => None,
        });
        match inner {
            Some((at, inner)) if parts.len() < MAX_PARTS => {
                for (part, body) in &all[inner] {
                    let parts = [&parts[..at], &body[..], &parts[at + 1..]].concat();
                    open.push((share * part, parts));
                }
            }
            _ => done.push((share, parts)),
        }
    }
    done.append(&mut open);
    done
}

/// Walker's alias table.
fn alias_table(weights: &[f64]) -> Vec<Slot> {
    let total: f64 = weights.iter().sum();
    let count = weights.len();
    let mut shares: Vec<f64> = weights.iter().map(|w| w / total * count as f64).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..count).partition(|&i| shares[i] < 1.0);
    let mut slots: Vec<Slot> = (0..count as u32).map(|i| (i, u32::MAX, i)).collect();
    while let (Some(s), Some(&l)) = (small.pop(), large.last()) {
        slots[s].1 = (shares[s] * f64::from(u32::MAX)) as u32;
        slots[s].2 = l as u32;
        shares[l] -= 1.0 - shares[s];
        if shares[l] < 1.0 {
            large.pop();
            small.push(l);
        }
    }
    slots
}
