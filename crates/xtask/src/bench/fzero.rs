//! A sentence generator in the style of fzero, for comparison: the grammar becomes nested
//! calls that follow the derivation, with a limit on the depth.
//!
//! fzero generates a program with a function for each rule and compiles it. Here a rule is
//! a closure that calls others. This keeps what costs time in fzero: a random number and a
//! jump for every choice, a call for every node, bytes appended piece by piece. Regular
//! expressions of tokens are part of the grammar, as in fzero's grammars: a repetition is a
//! rule that calls itself.

use pleach_grammar::{Grammar, Pattern, ProductionId, Regex, Symbol, analysis};

/// The depth limit grows until sentences have this average length, in bytes.
const MIN_AVERAGE_LENGTH: usize = 4096;
const MAX_DEPTH: u32 = 400;

type Call = Box<dyn Fn(&Rules, &mut State, u32)>;

pub struct Generator {
    rules: Rules,
    start: usize,
    state: State,
    depth_limit: u32,
}

struct Rules(Vec<Call>);

struct State {
    random: u64,
    out: Vec<u8>,
}

impl State {
    /// A random number below `count`, by Xorshift as in fzero.
    fn below(&mut self, count: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 43;
        self.random as usize % count
    }
}

impl Generator {
    pub fn new(grammar: &Grammar) -> Generator {
        let height = analysis::Analysis::new(grammar).height;
        let height_of = |p: ProductionId| {
            let rules = grammar.production(p).symbols.iter().map(|s| match s {
                Symbol::Rule(r) => height[r.index()],
                Symbol::Token(_) => 0,
            });
            rules.max().unwrap_or(0)
        };
        let rules = grammar.rules.iter().map(|rule| -> Call {
            let bodies: Vec<Vec<Call>> = rule
                .productions
                .iter()
                .map(|&p| {
                    grammar.production(p).symbols.iter().map(|s| symbol(grammar, s)).collect()
                })
                .collect();
            let lowest = (0..bodies.len()).min_by_key(|&i| height_of(rule.productions[i]));
            let lowest = lowest.unwrap_or_default();
            Box::new(move |rules, state, depth| {
                // At the depth limit, take the production with the lowest tree.
                let chosen = if depth == 0 { lowest } else { state.below(bodies.len()) };
                for call in &bodies[chosen] {
                    call(rules, state, depth.saturating_sub(1));
                }
            })
        });
        let mut this = Generator {
            rules: Rules(rules.collect()),
            start: grammar.start.index(),
            state: State { random: 0x5bd1_e995_9d1f_2e3b, out: Vec::new() },
            depth_limit: 8,
        };
        let samples = 64;
        while this.depth_limit < MAX_DEPTH {
            this.state.out.clear();
            (0..samples).for_each(|_| this.append_sentence());
            if this.state.out.len() >= MIN_AVERAGE_LENGTH * samples {
                break;
            }
            this.depth_limit += 1;
        }
        this
    }

    /// Generates sentences until they have at least `bytes` bytes, and returns how many.
    pub fn sample(&mut self, bytes: usize) -> usize {
        self.state.out.clear();
        while self.state.out.len() < bytes {
            self.append_sentence();
        }
        std::hint::black_box(&self.state.out).len()
    }

    fn append_sentence(&mut self) {
        self.rules.0[self.start](&self.rules, &mut self.state, self.depth_limit);
    }
}

fn symbol(grammar: &Grammar, symbol: &Symbol) -> Call {
    match symbol {
        Symbol::Rule(rule) => {
            let rule = rule.index();
            Box::new(move |rules, state, depth| rules.0[rule](rules, state, depth))
        }
        Symbol::Token(id) => match &grammar.token(*id).pattern {
            Pattern::Literal(text) => literal(text.clone()),
            Pattern::Regex(regex) => expression(regex),
            Pattern::Unknown => literal(grammar.token(*id).name.clone().into_bytes()),
        },
    }
}

/// A repetition: either one more and a recursive call, or the end.
struct Repeat {
    inner: Call,
    min: u32,
    max: u32,
}

impl Repeat {
    #[inline(never)]
    fn call(&self, done: u32, rules: &Rules, state: &mut State, depth: u32) {
        if done < self.min || (done < self.max && state.below(2) == 0) {
            (self.inner)(rules, state, depth);
            self.call(done + 1, rules, state, depth);
        }
    }
}

fn literal(text: Vec<u8>) -> Call {
    Box::new(move |_, state, _| state.out.extend_from_slice(&text))
}

fn expression(regex: &Regex) -> Call {
    match regex {
        Regex::Empty => Box::new(|_, _, _| {}),
        Regex::Class(set) => {
            let bytes: Vec<u8> = set.iter().collect();
            Box::new(move |_, state, _| {
                let byte = bytes[state.below(bytes.len())];
                state.out.push(byte);
            })
        }
        Regex::Concat(parts) => {
            let parts: Vec<Call> = parts.iter().map(expression).collect();
            Box::new(move |rules, state, depth| parts.iter().for_each(|p| p(rules, state, depth)))
        }
        Regex::Alt(parts) => {
            let parts: Vec<Call> = parts.iter().map(expression).collect();
            Box::new(move |rules, state, depth| {
                parts[state.below(parts.len())](rules, state, depth);
            })
        }
        Regex::Repeat { inner, min, max } => {
            let more = Repeat { inner: expression(inner), min: *min, max: max.unwrap_or(u32::MAX) };
            Box::new(move |rules, state, depth| more.call(0, rules, state, depth))
        }
    }
}
