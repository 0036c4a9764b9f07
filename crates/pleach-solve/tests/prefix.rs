//! Compares flips of machines that decide by tables with all inputs. The machines have the
//! shape of generated lexers and parsers.
//!
//! The bytes of an input matter only through few classes. So one input for each choice of
//! classes stands for all inputs, and every verdict is exact.

mod common;

use common::{Builder, Random, applied, cases, flips};
use pleach_abi::node::Op;
use pleach_automata::{ByteSet, Dfa, Regex};
use pleach_expr::Input;
use pleach_solve::{
    Config, Goal, HoleLanguage, Path, Recording, Requirement, Shape, Solver, Step, Tier, Verdict,
};
use std::collections::HashSet;
use std::sync::Arc;

/// The most inputs of one machine.
const MAX_INPUTS: usize = 1300;
/// Where the tables of the machines are in memory.
const TABLES: u64 = 0x1000;

/// A path, and the inputs that stand for all.
struct Machine {
    recording: Recording,
    /// Values of a byte that stand for all values.
    samples: Vec<u8>,
    requirements: Vec<Requirement>,
}

impl Machine {
    fn path(&self) -> Path {
        let Recording { expr, steps, input, lengths, offsets } = &self.recording;
        let streams = (&lengths[..], &offsets[..]);
        Path::under(&self.requirements, expr, steps.clone(), input, streams)
    }

    /// The outcomes of all steps.
    fn outcomes(&self, input: &[u8]) -> Vec<u128> {
        let values = self.recording.expr.eval_all(&Input::plain(input));
        let outcome = |step: &Step| match &step.shape {
            _ if step.label == 0 => 0,
            Shape::Cases { cases } => {
                let value = values.get(step.label);
                cases.iter().position(|&c| u128::from(c) == value).unwrap_or(cases.len()) as u128
            }
            _ => values.get(step.label),
        };
        self.recording.steps.iter().map(outcome).collect()
    }

    fn meets_requirements(&self, input: &[u8]) -> bool {
        self.requirements.iter().all(|requirement| match requirement {
            Requirement::Byte { offset, allowed } => allowed.contains(&input[*offset as usize]),
            Requirement::Word { offset, length, language } => {
                let from = *offset as usize;
                language.dfa().matches(&input[from..from + *length as usize])
            }
        })
    }

    /// The first step at which an input leaves the path, with its outcome there.
    fn divergence(&self, own: &[u128], input: &[u8]) -> Option<(usize, u128)> {
        let outcomes = self.outcomes(input);
        let at = (0..own.len()).find(|&at| outcomes[at] != own[at])?;
        Some((at, outcomes[at]))
    }

    /// All divergences that are possible.
    fn divergences(&self, own: &[u128]) -> HashSet<(usize, u128)> {
        let bytes = self.recording.input.len();
        let mut places = vec![0; bytes];
        let mut all = HashSet::new();
        loop {
            let input: Vec<u8> = places.iter().map(|&p: &usize| self.samples[p]).collect();
            if self.meets_requirements(&input) {
                all.extend(self.divergence(own, &input));
            }
            let Some(next) = places.iter().position(|&p| p + 1 < self.samples.len()) else {
                return all;
            };
            places[..next].fill(0);
            places[next] += 1;
        }
    }
}

/// What the verdicts of some flips were.
#[derive(Default)]
struct Count {
    sat: usize,
    unsat: usize,
    open: usize,
}

/// Flips all steps forward, backward and in a random order, and compares with all inputs.
fn check(machine: &Machine, name: &str, count: &mut Count) {
    let own = machine.outcomes(&machine.recording.input);
    let possible = machine.divergences(&own);
    let mut order = flips(&machine.path());
    let mut random = Random::new(own.len() as u64);
    for round in ["forward", "backward", "random"] {
        match round {
            "forward" => {}
            "backward" => order.reverse(),
            _ => (1..order.len()).for_each(|i| order.swap(i, random.below(i as u64 + 1) as usize)),
        }
        let mut path = machine.path();
        assert_eq!(path.inconsistent(), 0, "{name}");
        let mut solver = Solver::new(Config::default());
        for &(at, goal) in &order {
            let reaches = |&(step, outcome): &(usize, u128)| {
                let is_wanted = match goal {
                    Goal::Case(case) => outcome == case.into(),
                    Goal::Not | Goal::Other => true,
                };
                step == at && is_wanted
            };
            let answer = solver.flip(&mut path, at, goal);
            let context = || format!("{name}, {round}, step {at}, {goal:?}: {answer:?}");
            match &answer.verdict {
                Verdict::Sat(model) => {
                    let (input, _) = applied(&machine.recording, model);
                    assert!(machine.meets_requirements(&input), "{}", context());
                    let reached = machine.divergence(&own, &input);
                    assert!(
                        reached.is_some_and(|d| reaches(&d)),
                        "{} diverges: {reached:?}",
                        context()
                    );
                    assert!(possible.iter().any(reaches), "{}: the samples miss it", context());
                    count.sat += 1;
                }
                Verdict::Unsat => {
                    let model = possible.iter().find(|d| reaches(d));
                    assert_eq!(model, None, "{}, but it is feasible", context());
                    count.unsat += 1;
                }
                _ => count.open += 1,
            }
        }
        assert_eq!(solver.stats().rejected, 0, "{name}, {round}");
    }
}

/// Builds a machine: terms, and steps that decide on them.
struct Maker {
    random: Random,
    builder: Builder,
    input: Vec<u8>,
    /// The labels of the steps, with the kind of decision.
    decisions: Vec<(u32, Decision)>,
}

#[derive(Clone, Copy)]
enum Decision {
    Bool,
    Switch,
    Value,
}

impl Maker {
    fn new(seed: u64, bytes: u32) -> Maker {
        let random = Random::new(seed);
        Maker { random, builder: Builder::new(bytes), input: Vec::new(), decisions: Vec::new() }
    }

    /// An entry of a table of bytes.
    fn lookup(&mut self, table: &[u8], index: u32) -> u32 {
        let at = self.builder.snapshot(TABLES, table);
        let address = self.builder.with(Op::Add, index, TABLES.into());
        self.builder.node(Op::Lookup, 8, [address, at, 0], TABLES.into())
    }

    fn wide(&mut self, label: u32, width: u32) -> u32 {
        match self.builder.width(label) == width {
            true => label,
            false => self.builder.node(Op::ZExt, width, [label, 0, 0], 0),
        }
    }

    /// An entry of a table with `columns` columns.
    fn cell(&mut self, table: &[u8], row: u32, columns: usize, column: u32) -> u32 {
        let (row, column) = (self.wide(row, 64), self.wide(column, 64));
        let row = self.builder.with(Op::Mul, row, columns as u128);
        let index = self.builder.pair(Op::Add, row, column);
        self.lookup(table, index)
    }

    fn table(&mut self, entries: usize, below: u64) -> Vec<u8> {
        (0..entries).map(|_| self.random.below(below) as u8).collect()
    }

    /// A constant of 8 bits, as a label.
    fn constant(&mut self, value: u8) -> u32 {
        let zero = self.builder.with(Op::And, self.builder.byte(0), 0);
        self.builder.with(Op::Or, zero, value.into())
    }

    fn decide(&mut self, label: u32, decision: Decision) {
        self.decisions.push((label, decision));
    }

    /// A comparison of a small number with a constant.
    fn compare(&mut self, label: u32, below: u64) -> u32 {
        let op = self.random.one(&[Op::Eq, Op::Ne, Op::Ult, Op::Ule]);
        let constant = self.random.below(below);
        self.builder.with(op, label, constant.into())
    }

    fn finish(mut self, samples: Vec<u8>, has_empty_step: bool) -> Machine {
        let roots: Vec<u32> = self.decisions.iter().map(|d| d.0).collect();
        let expr = self.builder.expr(&roots);
        let values = expr.eval_all(&Input::plain(&self.input));
        let mut steps = Vec::new();
        if has_empty_step {
            steps.push(Step { label: 0, shape: Shape::Bool { taken: true } });
        }
        for &(label, decision) in &self.decisions {
            let value = values.get(label) as u64;
            let shape = match decision {
                Decision::Bool => Shape::Bool { taken: value != 0 },
                Decision::Value => Shape::Value,
                Decision::Switch => {
                    let mut cases: Vec<u64> = (0..8).filter(|_| self.random.below(3) > 0).collect();
                    if self.random.below(3) > 0 {
                        cases.push(value);
                    }
                    cases.sort_unstable();
                    cases.dedup();
                    Shape::Cases { cases: Arc::from(cases) }
                }
            };
            steps.push(Step { label, shape });
        }
        let lengths = vec![self.input.len() as u64];
        let input = self.input;
        let recording = Recording { expr, steps, input, lengths, offsets: vec![0] };
        Machine { recording, samples, requirements: Vec::new() }
    }
}

/// A random machine. Bytes matter only through their classes.
fn table_machine(seed: u64) -> Machine {
    let mut m = Maker::new(seed, 3 + (seed % 4) as u32);
    let bytes = m.builder.bytes;
    let largest = (2..=6u32).rev().find(|k| k.pow(bytes) as usize <= MAX_INPUTS).unwrap_or(2);
    // The class of a byte is an entry of a table, or some bits of the byte.
    let is_masked = m.random.below(3) == 0;
    let classes = match is_masked {
        true => 1 << largest.ilog2(),
        false => u64::from(largest).min(3 + m.random.below(4)),
    } as usize;
    let mut kinds = m.table(256, classes as u64);
    if is_masked {
        (0..=255u8).for_each(|b| kinds[b as usize] = b & (classes as u8 - 1));
    }
    // Some classes have one value, so that a condition can pin a byte.
    if !is_masked && m.random.below(2) == 0 {
        let single = 1 + m.random.below(classes as u64 - 1) as u8;
        kinds.iter_mut().filter(|kind| **kind >= single).for_each(|kind| *kind = 0);
    }
    (0..classes).for_each(|c| kinds[64 + c] = c as u8);
    let samples: Vec<u8> = (0..classes).map(|c| 64 + c as u8).collect();
    let any_byte = |m: &mut Maker| match m.random.below(3) {
        0 => m.random.next() as u8,
        _ => m.random.one(&samples),
    };
    m.input = (0..bytes).map(|_| any_byte(&mut m)).collect();

    let states = 2 + m.random.below(6) as usize;
    let moves = m.table(states * classes, states as u64);
    let gotos = m.table(states * states, states as u64);
    let accepts = m.table(states, 3);
    let mut state: Option<u32> = None;
    let mut number: Option<u32> = None;
    let mut stack: Vec<u32> = Vec::new();
    let mut seen: Vec<u32> = Vec::new();
    for offset in 0..bytes {
        let byte = m.builder.byte(offset);
        let class = match is_masked {
            true => m.builder.with(Op::And, byte, classes as u128 - 1),
            false => {
                let index = m.wide(byte, 64);
                m.lookup(&kinds, index)
            }
        };
        seen.push(class);
        let mut now = match state {
            Some(state) => m.cell(&moves, state, classes, class),
            None => m.lookup_class(&moves, class),
        };
        for _ in 0..m.random.below(5) {
            match m.random.below(14) {
                0 => m.decide(now, Decision::Switch),
                1 => m.decide(now, Decision::Value),
                2 => {
                    let index = m.wide(now, 64);
                    let accepted = m.lookup(&accepts, index);
                    let decision = m.random.one(&[Decision::Switch, Decision::Value]);
                    m.decide(accepted, decision);
                }
                3 => {
                    let index = m.wide(now, 64);
                    let accepted = m.lookup(&accepts, index);
                    let accepted = m.compare(accepted, 3);
                    m.decide(accepted, Decision::Bool);
                }
                4 | 5 => stack.push(now),
                6 | 7 => {
                    if let Some(top) = stack.pop() {
                        now = m.cell(&gotos, top, states, now);
                    }
                }
                8 => {
                    // A condition on several bytes, or one that holds in one of two ways.
                    let (a, b) = (m.random.one(&seen), m.random.one(&seen));
                    let (a, b) = (m.compare(a, classes as u64), m.compare(b, classes as u64));
                    let op = m.random.one(&[Op::And, Op::Or, Op::Xor]);
                    let both = m.builder.pair(op, a, b);
                    m.decide(both, Decision::Bool);
                }
                9 => {
                    let other = m.random.one(&seen);
                    let op = m.random.one(&[Op::Eq, Op::Ult]);
                    let same = m.builder.pair(op, class, other);
                    m.decide(same, Decision::Bool);
                }
                10 => {
                    let decision = m.random.one(&[Decision::Switch, Decision::Value]);
                    m.decide(class, decision);
                }
                11 => {
                    // A choice whose comparison is simplified to its condition.
                    let (a, b) = (m.random.one(&seen), m.random.one(&seen));
                    let (a, b) = (m.random.one(&[a, now]), m.random.one(&[b, class]));
                    let bit = m.compare(a, states as u64);
                    let seven = m.constant(7);
                    let chosen = match m.random.below(2) {
                        0 => m.builder.node(Op::Ite, 8, [bit, seven, b], 0),
                        _ => m.builder.node(Op::Ite, 8, [bit, now, b], 0),
                    };
                    m.decide(chosen, Decision::Switch);
                }
                12 if is_masked && offset > 0 => {
                    let from = m.random.below(offset.into()) as u32;
                    let word = m.builder.node(Op::Read, 16, [1 + from, 0, 0], 0);
                    let mask = (classes as u128 - 1) * 0x101;
                    let word = m.builder.with(Op::And, word, mask);
                    let factor = 1 + m.random.below(300);
                    let product = m.builder.with(Op::Mul, word, factor.into());
                    let less = m.compare(product, 1000);
                    m.decide(less, Decision::Bool);
                }
                _ => {
                    let value = number.unwrap_or(class);
                    let below = (classes as u64).pow(offset.min(4) + 1);
                    let value = m.wide(value, 32);
                    let less = m.compare(value, below);
                    m.decide(less, Decision::Bool);
                }
            }
        }
        let digit = m.wide(class, 32);
        number = Some(match number {
            Some(number) if m.random.below(8) > 0 => {
                let scaled = m.builder.with(Op::Mul, number, classes as u128);
                m.builder.pair(Op::Add, scaled, digit)
            }
            _ => digit,
        });
        state = Some(now);
    }
    if let Some(state) = state {
        m.decide(state, Decision::Switch);
    }
    let has_requirements = m.random.below(3) == 0;
    let mut random = Random::new(!seed);
    let mut machine = m.finish(samples, has_requirements);
    if has_requirements {
        add_requirements(&mut machine, &mut random, &kinds, classes);
    }
    machine
}

impl Maker {
    /// The move of the first state.
    fn lookup_class(&mut self, moves: &[u8], class: u32) -> u32 {
        let index = self.wide(class, 64);
        self.lookup(moves, index)
    }
}

/// A byte of some classes, or a word of a language, that the input meets.
fn add_requirements(machine: &mut Machine, random: &mut Random, kinds: &[u8], classes: usize) {
    let input = &machine.recording.input;
    let of_classes = |set: &[u8]| -> ByteSet {
        (0..=255u8).filter(|&b| set.contains(&kinds[b as usize])).collect()
    };
    for offset in 0..input.len() {
        let own = kinds[input[offset] as usize];
        let other = random.below(classes as u64) as u8;
        let third = random.below(classes as u64) as u8;
        match random.below(4) {
            0 => {
                let allowed = of_classes(&[own, other]).iter().collect();
                let offset = offset as u32;
                machine.requirements.push(Requirement::Byte { offset, allowed });
            }
            1 if offset + 1 < input.len() => {
                let next = kinds[input[offset + 1] as usize];
                let word = |a: &[u8], b: &[u8]| {
                    let class = |set| Regex::Class(of_classes(set));
                    Regex::concat([class(a), class(b)])
                };
                let words = [word(&[own, other], &[next]), word(&[other], &[third, next])];
                let dfa = Dfa::new(&[&Regex::alt(words)]).expect("a small automaton");
                let language = Arc::new(HoleLanguage::new(dfa).expect("few states"));
                let offset = offset as u32;
                machine.requirements.push(Requirement::Word { offset, length: 2, language });
            }
            _ => {}
        }
    }
}

/// A machine that compares bytes with each other, as a program compares names. Bytes
/// matter only through two classes and through which of them are equal. Two names have too
/// many values for a layer, so the graph gives some of them up.
fn name_machine(seed: u64) -> Machine {
    let mut m = Maker::new(seed, 3 + (seed % 2) as u32);
    let bytes = m.builder.bytes;
    let kinds: Vec<u8> = (0..=255u8).map(|b| u8::from(b.is_ascii_lowercase())).collect();
    let samples: Vec<u8> = (0..bytes as u8).flat_map(|i| [b'a' + i, b'0' + i]).collect();
    m.input = (0..bytes).map(|_| m.random.one(&samples)).collect();
    let count = 3 + m.random.below(4);
    let moves = m.table(8, 4);
    let mut state: Option<u32> = None;
    for offset in 0..bytes {
        let byte = m.builder.byte(offset);
        let index = m.wide(byte, 64);
        let class = m.lookup(&kinds, index);
        let now = match state {
            Some(state) => m.cell(&moves, state, 2, class),
            None => m.lookup_class(&moves, class),
        };
        for _ in 0..count {
            let other = m.random.below(u64::from(offset) + 1) as u32;
            match m.random.below(7) {
                0 => m.decide(now, Decision::Switch),
                1 => m.decide(now, Decision::Value),
                2 => m.decide(class, Decision::Bool),
                3 | 4 if other < offset => {
                    let other = m.builder.byte(other);
                    let same = m.builder.pair(Op::Eq, byte, other);
                    m.decide(same, Decision::Bool);
                }
                5 if bytes == 4 && offset == 3 => {
                    let [first, second] =
                        [1, 3].map(|at| m.builder.node(Op::Read, 16, [at, 0, 0], 0));
                    let same = m.builder.pair(Op::Eq, first, second);
                    m.decide(same, Decision::Bool);
                }
                6 if other < offset => {
                    let other = m.builder.byte(other);
                    let same = m.builder.pair(Op::Eq, byte, other);
                    let accepted = m.compare(now, 4);
                    let op = m.random.one(&[Op::And, Op::Or, Op::Xor]);
                    let both = m.builder.pair(op, same, accepted);
                    m.decide(both, Decision::Bool);
                }
                _ => {}
            }
        }
        state = Some(now);
    }
    if let Some(state) = state {
        m.decide(state, Decision::Switch);
    }
    m.finish(samples, false)
}

#[test]
fn flips_of_tables_agree_with_all_inputs() {
    let mut count = Count::default();
    for seed in 0..cases(250) {
        check(&table_machine(seed), &format!("seed {seed}"), &mut count);
    }
    eprintln!("{} feasible, {} infeasible, {} open", count.sat, count.unsat, count.open);
    assert!(count.open * 200 <= count.sat + count.unsat);
}

#[test]
fn flips_of_names_agree_with_all_inputs() {
    let mut count = Count::default();
    for seed in 0..cases(60) {
        check(&name_machine(seed), &format!("seed {seed}"), &mut count);
    }
    eprintln!("{} feasible, {} infeasible, {} open", count.sat, count.unsat, count.open);
    assert!(count.open * 200 <= count.sat + count.unsat);
}

/// The condition of a switch may read fewer bytes than its value: here the value is 7 or
/// some bits of the first byte, so "it is 7" does not depend on the first byte.
#[test]
fn a_switch_reads_a_byte_that_its_condition_does_not_read() {
    let mut m = Maker::new(1, 3);
    m.input = vec![0, 1, 1];
    let [first, second, third] = [0, 1, 2].map(|at| m.builder.byte(at));
    let (second, third) = (m.builder.with(Op::And, second, 3), m.builder.with(Op::And, third, 3));
    let sum = m.builder.pair(Op::Add, second, third);
    let bit = m.builder.with(Op::Ult, sum, 3);
    let first = m.builder.with(Op::And, first, 3);
    let seven = m.constant(7);
    let chosen = m.builder.node(Op::Ite, 8, [bit, seven, first], 0);
    m.decide(chosen, Decision::Switch);
    let mut machine = m.finish(vec![0, 1, 2, 3], false);
    machine.recording.steps[0].shape = Shape::Cases { cases: Arc::from([2, 5, 7]) };
    let mut count = Count::default();
    check(&machine, "a switch", &mut count);
    // The value can be 2 and others, but not 5.
    assert_eq!((count.sat, count.unsat, count.open), (6, 3, 0));
}

/// A switch on a value of 128 bits whose cases are conditions on bytes.
#[test]
fn a_switch_on_a_wide_value_takes_the_wanted_case() {
    let mut m = Maker::new(1, 3);
    m.input = b"abc".to_vec();
    let word = m.builder.node(Op::Read, 16, [1, 0, 0], 0);
    let wide = m.builder.node(Op::ZExt, 128, [word, 0, 0], 0);
    let [first, second, third] = [0, 1, 2].map(|at| m.builder.byte(at));
    let same = m.builder.pair(Op::Eq, first, second);
    m.decide(same, Decision::Bool);
    let same = m.builder.pair(Op::Eq, second, third);
    m.decide(same, Decision::Bool);
    m.decide(wide, Decision::Value);
    let mut machine = m.finish(b"abcxyz".to_vec(), false);
    let cases = [*b"ab", *b"xy", *b"zz"].map(|c| u64::from(u16::from_le_bytes(c)));
    machine.recording.steps[2].shape = Shape::Cases { cases: Arc::from(cases) };
    let mut count = Count::default();
    check(&machine, "a wide switch", &mut count);
    assert_eq!((count.sat, count.unsat, count.open), (12, 3, 0));
}

/// A generated lexer begins a token in a state that depends on the byte before: after a newline
/// it is another. The check of its table compares that state with an entry of the table, so it
/// has a small side and a large one, as the comparison of a checksum with its field. All flips
/// are answered by the graph of the path all the same.
#[test]
fn start_states_are_no_checksums() {
    const BYTES: u32 = 64;
    const CLASSES: usize = 4;
    /// A byte of this class leaves the machine.
    const REJECTED: usize = 3;
    let mut m = Maker::new(1, BYTES);
    m.input = (0..BYTES).map(|i| b"\nabdefh"[i as usize % 7]).collect();
    let kinds: Vec<u8> = (0..=255u8).map(|byte| byte % CLASSES as u8).collect();
    let same: Vec<u8> = (0..CLASSES as u8).collect();
    let by_state_and_class = |entry: &dyn Fn(usize, usize) -> usize| -> Vec<u8> {
        let pairs = (0..6).flat_map(|state| (0..CLASSES).map(move |class| (state, class)));
        pairs.map(|(state, class)| entry(state, class) as u8).collect()
    };
    let owners = by_state_and_class(&|state, class| if class == REJECTED { 7 } else { state });
    let moves = by_state_and_class(&|state, class| match class {
        REJECTED => 0,
        _ => 1 + (3 * state + 2 * class) % 5,
    });
    let accepts = [0, 1, 1, 1, 1, 1];
    let is_start_of_line = m.builder.with(Op::Eq, m.builder.byte(0), u128::from(b'\n'));
    let start = m.wide(is_start_of_line, 8);
    let mut state = m.builder.with(Op::Add, start, 1);
    for offset in 1..BYTES {
        let byte = m.wide(m.builder.byte(offset), 64);
        let kind = m.lookup(&kinds, byte);
        let kind = m.wide(kind, 64);
        let class = m.lookup(&same, kind);
        let class = m.wide(class, 64);
        let class = m.lookup(&same, class);
        let owner = m.cell(&owners, state, CLASSES, class);
        let is_owner = m.builder.pair(Op::Eq, owner, state);
        m.decide(is_owner, Decision::Bool);
        state = m.cell(&moves, state, CLASSES, class);
        let index = m.wide(state, 64);
        let accepted = m.lookup(&accepts, index);
        let is_accepted = m.builder.with(Op::Ne, accepted, 0);
        m.decide(is_accepted, Decision::Bool);
    }
    let machine = m.finish(Vec::new(), false);
    let mut path = machine.path();
    let mut solver = Solver::new(Config::default());
    for (at, goal) in flips(&machine.path()) {
        let answer = solver.flip(&mut path, at, goal);
        // The first decision on a byte can reject it, and the second one follows.
        match at % 2 {
            0 => assert!(matches!(answer.verdict, Verdict::Sat(_)), "step {at}: {answer:?}"),
            _ => assert!(matches!(answer.verdict, Verdict::Unsat), "step {at}: {answer:?}"),
        }
        assert_eq!(answer.by_tier[Tier::Inversion as usize], None, "step {at}: {answer:?}");
    }
}
