//! By the weights of productions, as fast as memory allows.
//!
//! A choice costs a random number and a look into a table, and most productions
//! give a byte or none. So choices are made in larger pieces: for each rule, the
//! most probable productions are expanded into their rules' productions, again
//! and again, until there are some hundreds of alternatives; the probability of
//! an alternative is the product of those on the way. An alternative is a short
//! program that copies bytes, fills in texts, and says which rules are left. The
//! distribution is the same; the number of choices is several times smaller.
//!
//! Alternatives are drawn by Walker's alias method, texts by one look into a
//! table of 256 entries for each byte. When a sentence has reached its limit, the
//! rules that are left take their shortest texts.

use crate::count::CountError;
use crate::dfa::Dfa;
use crate::grammar::{Grammar, Pattern, Symbol, TokenId};
use crate::lexer::Lexer;
use crate::shortest::{Items, NEVER, Shortest};

/// Alternatives of a rule.
const ALTERNATIVES: usize = 512;
/// Symbols of an alternative.
const LONGEST: usize = 24;
/// Of 256 times that a text could go on or end, so often it ends.
const ENDS: usize = 56;

pub struct Weighted {
    rules: Vec<Alternatives>,
    closing: Vec<(u32, u32)>,
    ops: Vec<Op>,
    literals: Vec<u8>,
    texts: Vec<Vec<[u16; 256]>>,
    next: Vec<Vec<[u32; 256]>>,
    start: usize,
    random: fastrand::Rng,
    stack: Vec<(u32, u32)>,
}

#[derive(Clone, Copy)]
enum Op {
    Bytes(u32, u32),
    Text(u32),
    Rule(u32),
}

/// Walker's table: a slot is an alternative, a bound, and another for draws
/// beyond the bound.
struct Alternatives {
    slots: Vec<(u32, u32, u32)>,
    programs: Vec<(u32, u32)>,
}

impl Weighted {
    pub fn new(grammar: &Grammar, seed: u64) -> Result<Weighted, CountError> {
        let items = Items::new(grammar);
        let lexer = Lexer::new(grammar)?;
        let shortest = Shortest::new(grammar, &items, |_| 1);
        let mut this = Weighted {
            rules: Vec::new(),
            closing: Vec::new(),
            ops: Vec::new(),
            literals: Vec::new(),
            texts: Vec::new(),
            next: Vec::new(),
            start: grammar.start.index(),
            random: fastrand::Rng::with_seed(seed),
            stack: Vec::new(),
        };
        let mut literals: Vec<Option<Vec<u8>>> = Vec::new();
        for id in grammar.token_ids() {
            let token = grammar.token(id);
            let (text, (bytes, next)) = match &token.pattern {
                Pattern::Literal(bytes) => (Some(bytes.clone()), Default::default()),
                Pattern::Unknown => (Some(token.name.clone().into_bytes()), Default::default()),
                Pattern::Regex(_) => (None, steps(&lexer.language(id))),
            };
            literals.push(text);
            this.texts.push(bytes);
            this.next.push(next);
        }
        let short: Vec<Vec<u8>> = grammar
            .token_ids()
            .map(|id| match &literals[id.index()] {
                Some(text) => text.clone(),
                None => lexer.language(id).shortest().unwrap_or_default(),
            })
            .collect();
        for rule in grammar.rule_ids() {
            let mut tokens = Vec::new();
            let fits = shortest.append(grammar, &[Symbol::Rule(rule)], &mut tokens, 1 << 20);
            let from = this.literals.len() as u32;
            if fits {
                tokens.iter().for_each(|t| this.literals.extend_from_slice(&short[t.index()]));
            }
            this.closing.push((from, this.literals.len() as u32));
            let alternatives = expand(grammar, &shortest, &items, rule.index());
            let weights: Vec<f64> = alternatives.iter().map(|a| a.0).collect();
            let programs =
                alternatives.iter().map(|(_, symbols)| this.compile(symbols, &literals)).collect();
            this.rules.push(Alternatives { slots: walker(&weights), programs });
        }
        Ok(this)
    }

    fn compile(&mut self, symbols: &[Symbol], literals: &[Option<Vec<u8>>]) -> (u32, u32) {
        let from = self.ops.len();
        for symbol in symbols {
            match *symbol {
                Symbol::Rule(r) => self.ops.push(Op::Rule(r.0)),
                Symbol::Token(t) => match &literals[t.index()] {
                    None => self.ops.push(Op::Text(t.0)),
                    Some(text) => {
                        let end = self.literals.len() as u32;
                        self.literals.extend_from_slice(text);
                        let new = self.literals.len() as u32;
                        match self.ops[from..].last_mut() {
                            Some(Op::Bytes(_, to)) if *to == end => *to = new,
                            _ => self.ops.push(Op::Bytes(end, new)),
                        }
                    }
                },
            }
        }
        (from as u32, self.ops.len() as u32)
    }

    /// Appends the bytes of a sentence. After `limit` of them it is brought to an
    /// end as soon as the grammar allows.
    pub fn sample(&mut self, limit: usize, out: &mut Vec<u8>) {
        let limit = out.len().saturating_add(limit);
        self.stack.clear();
        let first = self.draw(self.start);
        self.stack.push(first);
        while let Some((mut at, end)) = self.stack.pop() {
            while at < end {
                let op = self.ops[at as usize];
                at += 1;
                match op {
                    Op::Bytes(from, to) => {
                        out.extend_from_slice(&self.literals[from as usize..to as usize]);
                    }
                    Op::Text(token) => self.text(TokenId(token), out),
                    Op::Rule(rule) if out.len() < limit => {
                        if at < end {
                            self.stack.push((at, end));
                        }
                        let program = self.draw(rule as usize);
                        self.stack.push(program);
                        break;
                    }
                    Op::Rule(rule) => {
                        let (from, to) = self.closing[rule as usize];
                        out.extend_from_slice(&self.literals[from as usize..to as usize]);
                    }
                }
            }
        }
    }

    #[inline]
    fn draw(&mut self, rule: usize) -> (u32, u32) {
        let alternatives = &self.rules[rule];
        let digits = self.random.u64(..);
        let slot = ((digits >> 32) * alternatives.slots.len() as u64) >> 32;
        let (own, bound, other) = alternatives.slots[slot as usize];
        let chosen = if (digits as u32) <= bound { own } else { other };
        alternatives.programs[chosen as usize]
    }

    #[inline]
    fn text(&mut self, token: TokenId, out: &mut Vec<u8>) {
        let (bytes, next) = (&self.texts[token.index()], &self.next[token.index()]);
        let mut state = 0usize;
        loop {
            let mut digits = self.random.u64(..);
            for _ in 0..8 {
                let draw = (digits & 255) as usize;
                let byte = bytes[state][draw];
                if byte > 255 {
                    return;
                }
                out.push(byte as u8);
                state = next[state][draw] as usize;
                digits >>= 8;
            }
        }
    }
}

/// By state and draw: the byte to write (256 to end) and the next state.
fn steps(dfa: &Dfa) -> (Vec<[u16; 256]>, Vec<[u32; 256]>) {
    let (mut bytes, mut next) = (Vec::new(), Vec::new());
    for state in 0..dfa.states() as u32 {
        let moves = dfa.moves(state);
        let ends = match (dfa.accepts(state).is_empty(), moves.is_empty()) {
            (_, true) => 256,
            (true, false) => 0,
            (false, false) => ENDS,
        };
        let (mut byte, mut to) = ([256; 256], [0; 256]);
        for draw in ends..256 {
            let choice = moves[(draw - ends) * moves.len() / (256 - ends)];
            (byte[draw], to[draw]) = (u16::from(choice.0), choice.1);
        }
        bytes.push(byte);
        next.push(to);
    }
    (bytes, next)
}

/// Alternatives of a rule with their probabilities.
fn expand(
    grammar: &Grammar,
    shortest: &Shortest,
    items: &Items,
    rule: usize,
) -> Vec<(f64, Vec<Symbol>)> {
    let productions = |rule: usize| {
        let fits = |p: &&crate::ProductionId| shortest.rest[items.item(**p, 0) as usize] != NEVER;
        let all = grammar.rules[rule].productions.iter().filter(fits);
        let weight = |w: f64| if w.is_finite() && w > 0.0 { w } else { 0.0 };
        let total: f64 = all.clone().map(|&p| weight(grammar.production(p).weight)).sum();
        let count = all.clone().count() as f64;
        all.map(move |&p| {
            let production = grammar.production(p);
            // Weights that are all zero say nothing.
            let share = if total > 0.0 { weight(production.weight) / total } else { 1.0 / count };
            (share, &production.symbols)
        })
        .collect::<Vec<_>>()
    };
    let mut done: Vec<(f64, Vec<Symbol>)> = Vec::new();
    let mut open: Vec<(f64, Vec<Symbol>)> =
        productions(rule).into_iter().map(|(w, s)| (w, s.clone())).collect();
    while done.len() + open.len() < ALTERNATIVES {
        let best = (0..open.len()).max_by(|&a, &b| open[a].0.total_cmp(&open[b].0));
        let Some(best) = best else { break };
        let (share, symbols) = open.swap_remove(best);
        let at = symbols.iter().position(|s| matches!(s, Symbol::Rule(_)));
        let (Some(at), true) = (at, symbols.len() < LONGEST) else {
            done.push((share, symbols));
            continue;
        };
        let Symbol::Rule(inner) = symbols[at] else { continue };
        for (part, body) in productions(inner.index()) {
            open.push((share * part, [&symbols[..at], body, &symbols[at + 1..]].concat()));
        }
    }
    done.append(&mut open);
    done
}

/// Walker's alias table.
fn walker(weights: &[f64]) -> Vec<(u32, u32, u32)> {
    let total: f64 = weights.iter().sum();
    let count = weights.len();
    let mut shares: Vec<f64> = weights.iter().map(|w| w / total * count as f64).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..count).partition(|&i| shares[i] < 1.0);
    let mut slots: Vec<(u32, u32, u32)> = (0..count as u32).map(|i| (i, u32::MAX, i)).collect();
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
