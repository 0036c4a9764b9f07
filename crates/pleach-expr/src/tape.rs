//! Conditions compiled to a flat list of operations, to evaluate them many times while
//! a few inputs vary.
//!
//! A term that reads no varying input has its value on the base input, and becomes a
//! constant of the tape. The other terms become operations on numbered registers.
//!
//! A register holds `N` values, the *lanes*, one for each of `N` inputs that are tried at
//! once. An operation is decoded once and computed `N` times, in a loop that the compiler
//! turns into vector instructions. Solvers that try all values of a byte use 64 lanes. A
//! tape with a value wider than 64 bits is rare, and runs lane by lane on 128 bits.
//!
//! Machine code from a compiler such as Cranelift was not tried: a tape is evaluated a few
//! thousand times, which takes less time than generating code.

use crate::pool::{Code, Node, Pool, Term};
use crate::reads::Var;
use crate::values::TermValues;
use crate::word::{compute64, compute128, mask64, sign64};

/// Compiled conditions.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    /// The values of the first registers: constants, then inputs.
    start: Vec<u128>,
    inputs: Vec<Var>,
    first_input: usize,
    ops: Vec<Op>,
    /// Registers of the bytes of reads.
    bytes: Vec<u32>,
    roots: Vec<u32>,
    wide: bool,
}

#[derive(Clone, Copy, Debug)]
struct Op {
    node: Node,
    /// Width of the first operand.
    operand: u32,
    a: u32,
    b: u32,
    c: u32,
}

impl Tape {
    /// The inputs that vary, in order.
    pub fn inputs(&self) -> &[Var] {
        &self.inputs
    }

    /// Operations in one evaluation.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// How many terms the tape was compiled for.
    pub fn roots(&self) -> usize {
        self.roots.len()
    }

    pub fn is_wide(&self) -> bool {
        self.wide
    }

    /// The register of an input, by its place in [`Tape::inputs`].
    fn input(&self, place: usize) -> usize {
        self.first_input + place
    }
}

/// Compiles tapes. It keeps its memory from one tape to the next.
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    /// By term: the round in which it got a register, and the register. Each tape is one
    /// round.
    registers: Vec<(u32, u32)>,
    round: u32,
    stack: Vec<Term>,
    order: Vec<Term>,
    /// Terms visited and table entries cleared, in all tapes.
    pub work: u64,
}

impl Compiler {
    /// Bytes of memory, roughly.
    pub fn memory(&self) -> usize {
        size_of_val(&self.registers[..])
    }

    /// A tape for `roots`. The inputs `vary` (sorted) vary, and all others are as in
    /// `base`.
    pub fn compile(
        &mut self,
        pool: &Pool,
        base: &TermValues,
        roots: &[Term],
        vary: &[Var],
    ) -> Tape {
        self.compile_cut(pool, base, roots, vary, vary, &[])
    }

    /// As [`Compiler::compile`], with the terms `cuts` as further inputs, placed after
    /// those of `vary`. `free` (sorted) are `vary` and the varying inputs that the cuts
    /// depend on: terms may depend on those only through a cut.
    pub fn compile_cut(
        &mut self,
        pool: &Pool,
        base: &TermValues,
        roots: &[Term],
        vary: &[Var],
        free: &[Var],
        cuts: &[Term],
    ) -> Tape {
        let varies = |term: Term| {
            pool.var_ranges(term).iter().any(|&(from, to)| {
                let at = free.partition_point(|v| v.0 < from);
                free.get(at).is_some_and(|v| v.0 < to)
            })
        };
        self.compile_where(pool, base, roots, vary, cuts, varies)
    }

    /// As [`Compiler::compile_cut`]. A term for which `varies` is false is a constant,
    /// whatever it reads.
    pub fn compile_where(
        &mut self,
        pool: &Pool,
        base: &TermValues,
        roots: &[Term],
        vary: &[Var],
        cuts: &[Term],
        varies: impl Fn(Term) -> bool,
    ) -> Tape {
        self.start_round(pool);
        let mut tape = Tape { inputs: vary.to_vec(), ..Tape::default() };
        for &cut in cuts {
            self.registers[cut.index()] = (self.round, CUT);
        }
        // Registers are numbered in this order: constants, inputs and cuts, results.
        self.order_varying(pool, base, roots, &varies, &mut tape);
        let mut reads = self.place_read_bytes(pool, base, vary, &mut tape).into_iter();
        tape.start.resize(tape.first_input + vary.len() + cuts.len(), 0);
        for (i, &cut) in cuts.iter().enumerate() {
            let register = tape.first_input + vary.len() + i;
            self.registers[cut.index()] = (self.round, register as u32);
        }
        let mut next = tape.start.len() as u32;
        for at in 0..self.order.len() {
            let term = self.order[at];
            let node = pool.node(term);
            let leaf = match node.code {
                Code::Len => vary.binary_search(&Var::length(node.a)).ok(),
                Code::Read if node.width == 8 => vary.binary_search(&Var::byte(node.a)).ok(),
                _ => None,
            };
            if let Some(place) = leaf {
                self.registers[term.index()] = (self.round, tape.input(place) as u32);
                continue;
            }
            self.emit(pool, &mut tape, &mut reads, term, node);
            self.registers[term.index()] = (self.round, next);
            next += 1;
        }
        tape.roots = roots.iter().map(|r| self.registers[r.index()].1).collect();
        tape
    }

    /// Forgets the registers of the last tape.
    fn start_round(&mut self, pool: &Pool) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 || self.registers.len() < pool.len() {
            self.registers.clear();
            self.registers.resize(pool.len() + pool.len() / 2, (0, 0));
            self.work += self.registers.len() as u64;
            self.round = 1;
        }
    }

    /// The registers of the bytes of each read of several bytes, in the order of the
    /// tape. A byte that does not vary becomes a constant.
    fn place_read_bytes(
        &self,
        pool: &Pool,
        base: &TermValues,
        vary: &[Var],
        tape: &mut Tape,
    ) -> Vec<Vec<u32>> {
        let mut reads: Vec<Vec<u32>> = Vec::new();
        for &term in &self.order {
            let node = pool.node(term);
            if node.code != Code::Read || node.width <= 8 {
                continue;
            }
            let value = base.get(term);
            let register = |i: u32| match vary.binary_search(&Var::byte(node.a + i)) {
                Ok(place) => INPUT | place as u32,
                Err(_) => {
                    tape.start.push(value >> (8 * i) & 0xff);
                    tape.start.len() as u32 - 1
                }
            };
            reads.push((0..node.width() / 8).map(register).collect());
        }
        // Now all constants are placed, and inputs come next.
        tape.first_input = tape.start.len();
        for register in reads.iter_mut().flatten().filter(|r| **r & INPUT != 0) {
            *register = tape.first_input as u32 + (*register & !INPUT);
        }
        reads
    }

    /// Lists the terms that vary, operands first, and makes the others constants.
    fn order_varying(
        &mut self,
        pool: &Pool,
        base: &TermValues,
        roots: &[Term],
        varies: &impl Fn(Term) -> bool,
        tape: &mut Tape,
    ) {
        self.order.clear();
        self.stack.clear();
        for &root in roots {
            self.stack.push(root);
            while let Some(&term) = self.stack.last() {
                self.work += 1;
                let (round, register) = self.registers[term.index()];
                if round == self.round && register != OPEN {
                    self.stack.pop();
                    continue;
                }
                if !varies(term) {
                    self.registers[term.index()] = (self.round, tape.start.len() as u32);
                    tape.start.push(base.get(term));
                    tape.wide |= pool.width(term) > 64;
                    self.stack.pop();
                    continue;
                }
                if round == self.round {
                    self.registers[term.index()].1 = DONE;
                    self.order.push(term);
                    self.stack.pop();
                    continue;
                }
                self.registers[term.index()] = (self.round, OPEN);
                for operand in pool.node(term).operands() {
                    if self.registers[operand.index()].0 != self.round {
                        self.stack.push(operand);
                    }
                }
            }
        }
    }

    fn emit(
        &self,
        pool: &Pool,
        tape: &mut Tape,
        reads: &mut impl Iterator<Item = Vec<u32>>,
        term: Term,
        node: Node,
    ) {
        tape.wide |= pool.width(term) > 64;
        if node.code == Code::Read {
            let from = tape.bytes.len() as u32;
            tape.bytes.extend(reads.next().unwrap_or_default());
            tape.ops.push(Op { node, operand: 8, a: from, b: 0, c: 0 });
            return;
        }
        let arity = node.code.arity();
        let register = |n: usize, at: u32| match n < arity {
            true => self.registers[at as usize].1,
            false => 0,
        };
        tape.ops.push(Op {
            node,
            operand: pool.width(Term::from_number(node.a)),
            a: register(0, node.a),
            b: register(1, node.b),
            c: register(2, node.c),
        });
    }
}

// Marks in place of registers while compiling.

/// The operands of the term are being ordered.
const OPEN: u32 = u32::MAX;
/// The term is in the order, without a register yet.
const DONE: u32 = u32::MAX - 1;
const CUT: u32 = u32::MAX - 2;
/// The other bits are the place of an input.
const INPUT: u32 = 1 << 31;

/// The registers of a tape, `N` values each.
#[derive(Clone, Debug)]
pub struct Frame<const N: usize> {
    registers: Vec<[u64; N]>,
    wide: Vec<u128>,
    /// Operations times lanes, in all runs.
    pub work: u64,
}

impl<const N: usize> Frame<N> {
    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.registers.capacity() * size_of::<[u64; N]>() + 16 * self.wide.capacity()
    }
}

impl<const N: usize> Default for Frame<N> {
    fn default() -> Self {
        Frame { registers: Vec::new(), wide: Vec::new(), work: 0 }
    }
}

impl<const N: usize> Frame<N> {
    /// Makes room for a tape and sets its constants.
    pub fn load(&mut self, tape: &Tape) {
        self.registers.clear();
        self.registers.extend(tape.start.iter().map(|&v| [v as u64; N]));
        self.registers.resize(tape.start.len() + tape.ops.len(), [0; N]);
        self.wide.clear();
        if tape.wide {
            self.wide.extend(&tape.start);
            self.wide.resize(self.registers.len(), 0);
        }
    }

    /// Sets the values of an input, by its place in [`Tape::inputs`].
    pub fn set(&mut self, tape: &Tape, place: usize, values: [u64; N]) {
        self.registers[tape.input(place)] = values;
    }

    /// The values of a root; of wide ones, the low 64 bits.
    pub fn root(&self, tape: &Tape, place: usize) -> &[u64; N] {
        &self.registers[tape.roots[place] as usize]
    }

    /// All bits of the value of a root in one lane. For a wide tape, this is always the
    /// last lane.
    pub fn root_wide(&self, tape: &Tape, place: usize, lane: usize) -> u128 {
        let at = tape.roots[place] as usize;
        if tape.wide { self.wide[at] } else { self.registers[at][lane].into() }
    }

    /// Evaluates the tape on the inputs that were set.
    pub fn run(&mut self, pool: &Pool, tape: &Tape) {
        self.work += (N * tape.ops.len()) as u64;
        if tape.wide {
            for lane in 0..N {
                self.run_wide(pool, tape, lane);
            }
            return;
        }
        let first = tape.start.len();
        for (i, op) in tape.ops.iter().enumerate() {
            let (before, rest) = self.registers.split_at_mut(first + i);
            run_lanes(pool, tape, op, before, &mut rest[0]);
        }
    }

    fn run_wide(&mut self, pool: &Pool, tape: &Tape, lane: usize) {
        for at in tape.first_input..tape.start.len() {
            self.wide[at] = self.registers[at][lane].into();
        }
        for (i, op) in tape.ops.iter().enumerate() {
            let at = |r: u32| self.wide[r as usize];
            let value = match op.node.code {
                Code::Read => {
                    bytes_of(tape, op).iter().rev().fold(0, |value, &byte| value << 8 | at(byte))
                }
                _ => compute128(pool, &op.node, op.operand, at(op.a), at(op.b), at(op.c)),
            };
            let out = tape.start.len() + i;
            self.wide[out] = value;
            self.registers[out][lane] = value as u64;
        }
    }
}

fn bytes_of<'a>(tape: &'a Tape, op: &Op) -> &'a [u32] {
    &tape.bytes[op.a as usize..][..op.node.width() as usize / 8]
}

/// Computes one operation in all lanes.
fn run_lanes<const N: usize>(
    pool: &Pool,
    tape: &Tape,
    op: &Op,
    before: &[[u64; N]],
    out: &mut [u64; N],
) {
    let width = op.node.width();
    if op.node.code == Code::Read {
        *out = [0; N];
        for &byte in bytes_of(tape, op).iter().rev() {
            let byte = &before[byte as usize];
            for i in 0..N {
                out[i] = out[i] << 8 | byte[i];
            }
        }
        return;
    }
    let ones = mask64(width);
    let (a, b, c) = (&before[op.a as usize], &before[op.b as usize], &before[op.c as usize]);
    // One loop for each operation, so that no lane has to decode it again.
    macro_rules! each {
        ($i:ident => $value:expr) => {
            for $i in 0..N {
                out[$i] = $value;
            }
        };
    }
    let sign = |v: u64| sign64(v, op.operand);
    match op.node.code {
        Code::Add => each!(i => a[i].wrapping_add(b[i]) & ones),
        Code::Sub => each!(i => a[i].wrapping_sub(b[i]) & ones),
        Code::Mul => each!(i => a[i].wrapping_mul(b[i]) & ones),
        Code::And => each!(i => a[i] & b[i]),
        Code::Or => each!(i => a[i] | b[i]),
        Code::Xor => each!(i => a[i] ^ b[i]),
        Code::Eq => each!(i => u64::from(a[i] == b[i])),
        Code::Ne => each!(i => u64::from(a[i] != b[i])),
        Code::Ult => each!(i => u64::from(a[i] < b[i])),
        Code::Ule => each!(i => u64::from(a[i] <= b[i])),
        Code::Slt => each!(i => u64::from(sign(a[i]) < sign(b[i]))),
        Code::Sle => each!(i => u64::from(sign(a[i]) <= sign(b[i]))),
        Code::ZExt => *out = *a,
        Code::SExt => each!(i => sign(a[i]) as u64 & ones),
        Code::Extract => each!(i => (a[i] >> op.node.b) & ones),
        Code::Concat => each!(i => a[i] | b[i] << op.operand),
        Code::Ite => each!(i => if a[i] != 0 { b[i] } else { c[i] }),
        Code::Lookup => {
            let table = pool.table(&op.node);
            each!(i => table.get64(a[i], width));
        }
        _ => each!(i => compute64(pool, &op.node, op.operand, a[i], b[i], c[i])),
    }
}
