//! Random paths: graphs of all operations and widths over a few bytes and a length, with
//! the decisions that a random input makes.
#![allow(dead_code)] // Each test program uses a part of this module.

use pleach_abi::node::{FLAG_WIDE, Node, Op};
use pleach_expr::{Expr, Input};
use pleach_solve::{Goal, Model, Path, Recording, Shape, Step};
use std::sync::Arc;

pub struct Random(pub u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..4).for_each(|_| {
            random.next();
        });
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    pub fn one<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Numbers at which operations change, and random ones.
    pub fn number(&mut self, width: u32) -> u128 {
        let power = 1u128 << self.below(width.into());
        let number = match self.below(7) {
            0 => self.below(4).into(),
            1 => power,
            2 => power.wrapping_sub(1),
            3 => power.wrapping_neg(),
            4 => u128::from(self.below(256)),
            5 => u128::from(self.below(64)) + 32,
            _ => u128::from(self.next()) << 64 | u128::from(self.next()),
        };
        number & pleach_expr::mask(width)
    }
}

pub struct Builder {
    pub nodes: Vec<Node>,
    pub snapshots: Vec<u8>,
    pub bytes: u32,
}

const TWO: [Op; 13] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::And,
    Op::Or,
    Op::Xor,
];
const COMPARE: [Op; 12] = [
    Op::Eq,
    Op::Ne,
    Op::Ult,
    Op::Ule,
    Op::Slt,
    Op::Sle,
    Op::UAddO,
    Op::SAddO,
    Op::USubO,
    Op::SSubO,
    Op::UMulO,
    Op::SMulO,
];

impl Builder {
    pub fn new(bytes: u32) -> Builder {
        let mut nodes = vec![Node::default()];
        nodes.extend((0..bytes).map(|a| Node {
            op: Op::Input as u8,
            width: 8,
            a,
            ..Node::default()
        }));
        Builder { nodes, snapshots: Vec::new(), bytes }
    }

    pub fn node(&mut self, op: Op, width: u32, [a, b, c]: [u32; 3], imm: u128) -> u32 {
        let high = (imm >> 64) as u64;
        let flags = if width > 64 || high != 0 { FLAG_WIDE } else { 0 };
        let label = self.nodes.len() as u32;
        let (imm, width) = (imm as u64, width as u8);
        self.nodes.push(Node { op: op as u8, width, flags, a, b, c, imm, val: 0 });
        if flags != 0 {
            self.nodes.push(Node { op: Op::Wide as u8, imm: high, ..Node::default() });
        }
        label
    }

    pub fn byte(&self, offset: u32) -> u32 {
        1 + offset
    }

    pub fn width(&self, label: u32) -> u32 {
        self.nodes[label as usize].width.into()
    }

    pub fn snapshot(&mut self, base: u64, bytes: &[u8]) -> u32 {
        let at = self.snapshots.len() as u32;
        self.snapshots.extend(base.to_le_bytes());
        self.snapshots.extend((bytes.len() as u32).to_le_bytes());
        self.snapshots.extend([0; 4]);
        self.snapshots.extend(bytes);
        self.snapshots.resize(self.snapshots.len().next_multiple_of(8), 0);
        at
    }

    /// An operation on `a` and a constant.
    pub fn with(&mut self, op: Op, a: u32, imm: u128) -> u32 {
        let compare = COMPARE.contains(&op);
        let width = if compare { 1 } else { self.width(a) };
        let imm = imm & pleach_expr::mask(self.width(a));
        self.node(op, width, [a, 0, 0], imm)
    }

    pub fn pair(&mut self, op: Op, a: u32, b: u32) -> u32 {
        let width = if COMPARE.contains(&op) { 1 } else { self.width(a) };
        self.node(op, width, [a, b, 0], 0)
    }

    pub fn resized(&mut self, random: &mut Random, a: u32, width: u32) -> u32 {
        match self.width(a) {
            w if w == width => a,
            w if w > width => {
                let low = random.below(u64::from(w - width) + 1) as u32;
                match random.below(2) {
                    0 => self.node(Op::Trunc, width, [a, 0, 0], 0),
                    _ => self.node(Op::Extract, width, [a, low, 0], 0),
                }
            }
            w => match random.below(3) {
                0 => self.node(Op::SExt, width, [a, 0, 0], 0),
                1 => {
                    let fill = random.number(width - w);
                    self.node(Op::Concat, width, [a, 0, w], fill)
                }
                _ => self.node(Op::ZExt, width, [a, 0, 0], 0),
            },
        }
    }

    /// Adds a random operation on `known` labels. Products and quotients of wide words are
    /// made only if `heavy`, because every solver gives up on many of them.
    pub fn random(&mut self, random: &mut Random, known: &[u32], heavy: bool) -> u32 {
        let a = random.one(known);
        let w = self.width(a);
        let pick = random.one(known);
        match random.below(12) {
            0 if self.bytes >= 2 => {
                let bytes = 1 + random.below(u64::from(self.bytes.min(16))) as u32;
                let at = random.below(u64::from(self.bytes - bytes) + 1) as u32;
                self.node(Op::Read, 8 * bytes, [1 + at, 0, 0], 0)
            }
            1 => {
                let widths = [1, 7, 8, 16, 32, 33, 64, 100, 128];
                let width = random.one(&widths);
                self.resized(random, a, width)
            }
            2 => {
                let b = self.resized(random, pick, w);
                let bit = self.random_condition(random, known, false);
                self.node(Op::Ite, w, [bit, a, b], 0)
            }
            3 => {
                let table: Vec<u8> = (0..64).map(|_| random.next() as u8 & 15).collect();
                let at = self.snapshot(0x1000, &table);
                let index = self.resized(random, a, 6);
                let index = self.node(Op::ZExt, 64, [index, 0, 0], 0);
                let index = self.with(Op::Add, index, 0x1000);
                let width = random.one(&[8, 16, 32]);
                self.node(Op::Lookup, width, [index, at, 0], 0x1000)
            }
            4 => match random.below(6) {
                0 => self.node(Op::Ctlz, w, [a, 0, 0], 0),
                1 => self.node(Op::Cttz, w, [a, 0, 0], 0),
                2 => self.node(Op::Popcnt, w, [a, 0, 0], 0),
                3 if w.is_multiple_of(8) => self.node(Op::Bswap, w, [a, 0, 0], 0),
                4 => self.node(Op::BitRev, w, [a, 0, 0], 0),
                _ => {
                    let (b, c) = (self.resized(random, pick, w), random.one(known));
                    let c = self.resized(random, c, w);
                    let op = random.one(&[Op::FShl, Op::FShr]);
                    self.node(op, w, [a, b, c], 0)
                }
            },
            5..=8 => {
                let op = random.one(&TWO);
                let costly = matches!(op, Op::Mul | Op::UDiv | Op::SDiv | Op::URem | Op::SRem);
                let op = if costly && w > 16 && !heavy { Op::Add } else { op };
                let c = random.number(w);
                match random.below(6) {
                    0 => self.node(op, w, [0, a, 0], c),
                    _ => self.with(op, a, c),
                }
            }
            _ => {
                let b = self.resized(random, pick, w);
                let op = random.one(&TWO);
                let costly = matches!(op, Op::Mul | Op::UDiv | Op::SDiv | Op::URem | Op::SRem);
                let op = if costly && w > 16 && !heavy { Op::Xor } else { op };
                self.pair(op, a, b)
            }
        }
    }

    pub fn random_condition(&mut self, random: &mut Random, known: &[u32], heavy: bool) -> u32 {
        let a = random.one(known);
        let w = self.width(a);
        let op = random.one(&COMPARE);
        let costly = matches!(op, Op::UMulO | Op::SMulO) && w > 16 && !heavy;
        let op = if costly { Op::Ult } else { op };
        match random.below(5) {
            0 => {
                let b = random.one(known);
                let b = self.resized(random, b, w);
                self.pair(op, a, b)
            }
            1 => {
                let c = random.number(w);
                self.node(op, 1, [0, a, 0], c)
            }
            _ => {
                let c = random.number(w);
                self.with(op, a, c)
            }
        }
    }

    pub fn expr(&self, roots: &[u32]) -> Expr {
        let (nodes, snapshots) = (self.nodes.clone(), self.snapshots.clone());
        Expr::new(nodes, snapshots, self.bytes, roots.iter().copied()).expect("a valid graph")
    }
}

/// A random path over `bytes` bytes.
pub fn random_path(seed: u64, bytes: u32, lengths: bool) -> Recording {
    let mut random = Random::new(seed);
    let mut builder = Builder::new(bytes);
    let mut known: Vec<u32> = (0..bytes).map(|i| builder.byte(i)).collect();
    if lengths {
        known.push(builder.node(Op::InputLen, 64, [0, 0, 0], 0));
    }
    let heavy = random.below(8) == 0;
    for _ in 0..2 + random.below(10) {
        let new = builder.random(&mut random, &known, heavy);
        known.push(new);
    }
    let input: Vec<u8> = (0..bytes).map(|_| random.number(8) as u8).collect();
    let count = 1 + random.below(6);
    let labels: Vec<(u32, u64)> = (0..count)
        .map(|_| match random.below(6) {
            0 => (random.one(&known), random.below(2)),
            1 if lengths => (0, 2),
            _ => (builder.random_condition(&mut random, &known, heavy), 3),
        })
        .collect();
    let roots: Vec<u32> = labels.iter().map(|l| l.0).filter(|&l| l != 0).collect();
    let expr = builder.expr(&roots);
    let values = expr.eval_all(&Input::plain(&input));
    let steps = labels
        .into_iter()
        .map(|(label, kind)| {
            let value = values.get(label);
            let shape = match kind {
                0 if expr.width(label) <= 64 => {
                    let count = random.below(5);
                    let mut cases: Vec<u64> =
                        (0..count).map(|_| random.number(expr.width(label)) as u64).collect();
                    if random.below(2) == 0 {
                        cases.push(value as u64);
                    }
                    cases.sort_unstable();
                    cases.dedup();
                    Shape::Cases { cases: Arc::from(cases) }
                }
                0 | 1 => Shape::Value,
                2 => {
                    let bound = random.below(2 * u64::from(bytes) + 2);
                    Shape::Len { stream: 0, bound, taken: u64::from(bytes) > bound }
                }
                _ => Shape::Bool { taken: value != 0 },
            };
            Step { label, shape }
        })
        .collect();
    let lengths = vec![input.len() as u64];
    Recording { expr, steps, input, lengths, offsets: vec![0] }
}

/// The outcome of a step on an input, as a number.
pub fn outcome(recording: &Recording, at: usize, input: &[u8], length: u64) -> u128 {
    let step = &recording.steps[at];
    let view = Input::streams(input, vec![length]);
    let value = || recording.expr.eval(&[step.label], &view).get(step.label);
    match &step.shape {
        Shape::Bool { .. } => u128::from(value() != 0),
        Shape::Value => value(),
        Shape::Cases { cases } => {
            let value = value();
            cases.iter().position(|&c| u128::from(c) == value).unwrap_or(cases.len()) as u128
        }
        Shape::Len { bound, .. } => u128::from(length > *bound),
    }
}

/// True if an input keeps all steps before `at` and reaches the goal there. This checks all
/// models. It evaluates the graph itself, without terms.
pub fn reaches(recording: &Recording, at: usize, goal: Goal, input: &[u8], length: u64) -> bool {
    let own = recording.input.len() as u64;
    let same = |step: usize| {
        outcome(recording, step, input, length) == outcome(recording, step, &recording.input, own)
    };
    // The bytes that are read must exist.
    let read = (0..=at).flat_map(|s| recording.expr.support(&[recording.steps[s].label]).bytes);
    if read.max().is_some_and(|last| u64::from(last) >= length) {
        return false;
    }
    if !(0..at).all(same) {
        return false;
    }
    match goal {
        Goal::Case(i) => outcome(recording, at, input, length) == i.into(),
        Goal::Not | Goal::Other => !same(at),
    }
}

/// The input with a model applied, and its length.
pub fn applied(recording: &Recording, model: &Model) -> (Vec<u8>, u64) {
    let mut input = recording.input.clone();
    for &(offset, value) in &model.bytes {
        input[offset as usize] = value;
    }
    let length = model.lengths.first().map_or(input.len() as u64, |l| l.1);
    (input, length)
}

/// All flips of a path.
pub fn flips(path: &Path) -> Vec<(usize, Goal)> {
    (0..path.len()).flat_map(|at| path.goals(at).into_iter().map(move |g| (at, g))).collect()
}

/// The cases of a test: as many as `cases` says, from `base` on, without the first
/// `PLEACH_FIRST_CASE`.
#[allow(dead_code)]
pub fn seeds(base: u64, default: u64) -> std::ops::Range<u64> {
    let skipped = std::env::var("PLEACH_FIRST_CASE").ok().and_then(|n| n.parse::<u64>().ok());
    let first = base + skipped.unwrap_or(0);
    first..first + cases(default)
}

/// How many cases a test tries: `PLEACH_CASES`, or `default`.
pub fn cases(default: u64) -> u64 {
    std::env::var("PLEACH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}
