//! Importing terms, preparing paths, and solving flips.

use crate::growth::{INPUT_SIZES, TRACE_SIZES, check_growth, work_of};
use pleach_abi::node::{Node, Op};
use pleach_expr::{Expr, mask};
use pleach_solve::{Config, Goal, Path, Shape, Solver, Step};
use pleach_work::Task;

/// What one flip may take at any size: all tiers up to their limits, and a second attempt
/// without the conditions on several inputs.
const MAX_FLIP: u64 = 400_000_000;

/// A run that is made up: nodes, and conditions with the values that they had.
struct Made {
    nodes: Vec<Node>,
    values: Vec<u64>,
    input: Vec<u8>,
    events: Vec<u32>,
}

impl Made {
    fn new(len: u64) -> Made {
        let byte = |i: u64| b'a' + (i * i % 23) as u8;
        let input: Vec<u8> = (0..len).map(byte).collect();
        let mut made =
            Made { nodes: vec![Node::default()], values: vec![0], input, events: Vec::new() };
        for at in 0..made.input.len() {
            let value = made.input[at].into();
            made.add(Op::Input, 8, at as u32, 0, 0, value);
        }
        made
    }

    fn add(&mut self, op: Op, width: u8, a: u32, b: u32, imm: u64, value: u64) -> u32 {
        let val = value & mask(width.into()) as u64;
        self.nodes.push(Node { op: op as u8, width, a, b, imm, val, ..Node::default() });
        self.values.push(val);
        self.nodes.len() as u32 - 1
    }

    /// A byte of the input, widened.
    fn byte(&mut self, at: u64) -> u32 {
        let label = at as u32 + 1;
        self.add(Op::ZExt, 32, label, 0, 0, self.values[label as usize])
    }

    /// An operation on 32 bits. The second operand is a constant if it is `Err`.
    fn op(&mut self, op: Op, a: u32, b: Result<u32, u64>) -> u32 {
        let (x, (label, imm)) = match b {
            Ok(b) => (self.values[b as usize], (b, 0)),
            Err(imm) => (imm, (0, imm)),
        };
        let y = self.values[a as usize];
        let (width, value) = match op {
            Op::Add => (32, y.wrapping_add(x)),
            Op::Mul => (32, y.wrapping_mul(x)),
            Op::Xor => (32, y ^ x),
            Op::And => (32, y & x),
            Op::Eq => (1, u64::from(y == x)),
            _ => (1, u64::from(y < x)),
        };
        self.add(op, width, a, label, imm, value)
    }

    fn decide(&mut self, condition: u32) {
        self.events.push(condition);
    }

    /// The work of importing and preparing, and the most work of one of some flips.
    fn work(self) -> (u64, u64) {
        let Made { nodes, values, input, events } = self;
        let step = |&label: &u32| {
            let taken = values[label as usize] != 0;
            Step { label, shape: Shape::Bool { taken } }
        };
        let steps: Vec<Step> = events.iter().map(step).collect();
        let expr = Expr::new(nodes, Vec::new(), input.len() as u32, events.iter().copied());
        let expr = expr.expect("a sound graph");
        let (mut path, preparing) = work_of(&[Task::Import, Task::Prepare], || {
            Path::new(&expr, steps, &input, &[input.len() as u64], &[0])
        });
        let mut solver = Solver::new(Config::default());
        let places = [events.len() / 9, events.len() / 2, events.len() - 1];
        let solving = [Task::Judge, Task::Solve, Task::Graph, Task::Sat];
        let flips = places.map(|at| {
            let (_, flip) = work_of(&solving, || solver.flip(&mut path, at, Goal::Not));
            let (_, relaxed) = work_of(&solving, || solver.relax(&mut path, at, Goal::Not));
            flip + relaxed
        });
        (preparing, flips.into_iter().max().unwrap_or(0))
    }
}

fn check(name: &str, sizes: [u64; 4], make: impl Fn(u64) -> Made) {
    let work = sizes.map(|size| (size, make(size).work()));
    let preparing = work.map(|(size, (preparing, _))| (size, preparing));
    check_growth(&format!("{name}, preparing"), &preparing, u64::MAX);
    let flips = work.map(|(size, (_, flip))| (size, flip));
    if flips.iter().any(|&(_, flip)| flip > MAX_FLIP) {
        check_growth(&format!("{name}, flips"), &flips, u64::MAX);
    }
}

#[test]
fn a_decision_on_each_byte() {
    check("scan", INPUT_SIZES, |n| {
        let mut made = Made::new(n);
        for at in 0..n {
            let byte = made.byte(at);
            let is_low = made.op(Op::Ult, byte, Err(u64::from(b'm')));
            made.decide(is_low);
        }
        made
    });
}

#[test]
fn many_decisions_on_eight_bytes() {
    check("loop", TRACE_SIZES, |n| {
        let mut made = Made::new(8);
        for round in 0..n {
            let byte = made.byte(round % 8);
            let is_low = made.op(Op::Ult, byte, Err(round % 251));
            made.decide(is_low);
        }
        made
    });
}

/// Each round makes a term of the term before, on one byte alone; and compares two of them.
#[test]
fn chains_on_one_byte() {
    check("chain", TRACE_SIZES.map(|n| n / 2), |n| {
        let mut made = Made::new(2);
        let bytes = [made.byte(0), made.byte(1)];
        let mut chains = bytes;
        for round in 0..n {
            for (chain, byte) in chains.iter_mut().zip(bytes) {
                let product = made.op(Op::Mul, *chain, Err(31));
                *chain = made.op(Op::Add, product, Ok(byte));
            }
            let alone = made.op(Op::Ult, chains[0], Err(1 << 31));
            made.decide(alone);
            if round % 4 == 0 {
                let both = made.op(Op::Ult, chains[0], Ok(chains[1]));
                made.decide(both);
            }
        }
        made
    });
}

/// Each decision depends on all bytes so far.
#[test]
fn a_checksum_that_is_compared_at_each_byte() {
    check("checksum", INPUT_SIZES.map(|n| n / 4), |n| {
        let mut made = Made::new(n);
        let mut sum = made.byte(0);
        for at in 1..n {
            let (byte, product) = (made.byte(at), made.op(Op::Mul, sum, Err(31)));
            sum = made.op(Op::Add, product, Ok(byte));
            let low = made.op(Op::And, sum, Err(0xff));
            let is_it = made.op(Op::Eq, low, Err(0x5a));
            made.decide(is_it);
        }
        made
    });
}

/// Each decision depends on all bytes.
#[test]
fn a_checksum_that_is_compared_often() {
    check("often", INPUT_SIZES.map(|n| n / 4), |n| {
        let mut made = Made::new(n);
        let mut sum = made.byte(0);
        for at in 1..n {
            let byte = made.byte(at);
            let mixed = made.op(Op::Xor, sum, Ok(byte));
            sum = made.op(Op::Mul, mixed, Err(16_777_619));
        }
        for round in 0..n.min(1 << 16) {
            let product = made.op(Op::Mul, sum, Err(2 * round + 1));
            let is_low = made.op(Op::Ult, product, Err(1 << 30));
            made.decide(is_low);
        }
        made
    });
}

/// Each decision connects two bytes that are far apart.
#[test]
fn a_palindrome() {
    check("mirror", INPUT_SIZES, |n| {
        let mut made = Made::new(n);
        for at in 0..n / 2 {
            let pair = [made.byte(at), made.byte(n - 1 - at)];
            let is_equal = made.op(Op::Eq, pair[0], Ok(pair[1]));
            made.decide(is_equal);
        }
        made
    });
}

/// The next state depends on the state and a byte.
#[test]
fn a_state_machine() {
    check("machine", INPUT_SIZES.map(|n| n / 4), |n| {
        let mut made = Made::new(n);
        let mut state = made.byte(0);
        for at in 1..n {
            let byte = made.byte(at);
            let mixed = made.op(Op::Xor, state, Ok(byte));
            let product = made.op(Op::Mul, mixed, Err(7));
            state = made.op(Op::And, product, Err(0xff));
            let is_it = made.op(Op::Eq, state, Err(17));
            made.decide(is_it);
        }
        made
    });
}
