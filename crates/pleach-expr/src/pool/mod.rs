//! Terms: the expressions of a trace, simplified, each stored once.
//!
//! The nodes of a trace are what the program computed, step by step, so the same value
//! may be computed by several nodes. A [`Pool`] has one *term* for each value. Importing
//! goes through the labels once, in order. A new term is first simplified by the rules
//! (see [`crate::rules`]), then looked up by its operation and operands. So equal terms
//! have equal numbers, and conditions are compared by number.
//!
//! Terms differ from nodes to save cases in the solver:
//! - A constant operand is a term.
//! - Reads of one or several input bytes are one operation, `Read`, little endian.
//! - `Trunc` is `Extract` from bit 0, and `Bswap` is a concatenation of bytes.
//! - The index of a `Lookup` counts from the start of its table. It has no address, so it
//!   means the same in another run.
//! - `Member` is true if a value is in a set of numbers: the cases of a switch.
//!
//! Each term stores what the solver often needs: the inputs that it reads, how many low
//! bits can be set, and a hash of its shape, which does not depend on the offsets that it
//! reads.
//!
//! Every trace is imported, so importing must be fast: a term has 32 bytes, the hash table
//! is probed without a second hash function, and no term allocates memory.

mod import;
mod show;
mod table;

pub use import::{Imported, node_op};
pub use table::{Set, Table};

use crate::eval::mask;
use crate::reads::{Ranges, Reads, Var};
use crate::rules::{self, Operation};
use std::collections::HashMap;
use std::sync::Arc;

/// A term of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(u32);

impl Term {
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The term with this [`index`](Term::index).
    pub const fn from_index(index: usize) -> Term {
        Term(index as u32)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    pub(crate) const fn from_number(n: u32) -> Term {
        Term(n)
    }
}

/// The operation of a term. It means the same as in `pleach_abi::node::Op`.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    Const,
    /// `width / 8` input bytes from offset `a` of the file, little endian.
    Read,
    /// The length of stream `a`.
    Len,
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    Ult,
    Ule,
    Slt,
    Sle,
    UAddO,
    SAddO,
    USubO,
    SSubO,
    UMulO,
    SMulO,
    ZExt,
    SExt,
    /// Bits `b ..` (a number) of `a`.
    Extract,
    /// `a` is the low part, `b` the high part.
    Concat,
    /// `a ? b : c`.
    Ite,
    Ctlz,
    Cttz,
    Popcnt,
    BitRev,
    FShl,
    FShr,
    /// `width / 8` bytes at offset `a` (64 bits) of table `b` (a number), little
    /// endian; 0 outside of it.
    Lookup,
    /// 1 if `a` is in set `b` (a number).
    Member,
    // Floating point, from here on.
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
    FIeeeRem,
    FMin,
    FMax,
    FPow,
    FAtan2,
    FHypot,
    FScale,
    FNextAfter,
    FDim,
    FDecimal,
    FSqrt,
    FFloor,
    FCeil,
    FChop,
    FRound,
    FRint,
    FSin,
    FCos,
    FTan,
    FAsin,
    FAcos,
    FAtan,
    FSinh,
    FCosh,
    FTanh,
    FExp,
    FExp2,
    FExpm1,
    FLog,
    FLog2,
    FLog10,
    FLog1p,
    FAsinh,
    FAcosh,
    FAtanh,
    FExp10,
    FErf,
    FErfc,
    FGamma,
    FCbrt,
    FFma,
    FEq,
    FLt,
    FLe,
    FUno,
    FToS,
    FToU,
    SToF,
    UToF,
    FToF,
}

impl Code {
    pub const fn is_compare(self) -> bool {
        let n = self as u8;
        n >= Code::Eq as u8 && n <= Code::SMulO as u8
    }

    /// True for comparisons of floating point.
    pub const fn is_float_compare(self) -> bool {
        matches!(self, Code::FEq | Code::FLt | Code::FLe | Code::FUno)
    }

    /// True if the result or an operand is a floating-point number.
    pub const fn touches_float(self) -> bool {
        self as u8 >= Code::FAdd as u8
    }

    /// True if the result is a floating-point number.
    pub const fn is_float(self) -> bool {
        self.touches_float() && !self.is_float_compare() && !matches!(self, Code::FToS | Code::FToU)
    }

    pub const fn is_commutative(self) -> bool {
        use Code::*;
        matches!(self, Add | Mul | And | Or | Xor | Eq | Ne | UAddO | SAddO | UMulO | SMulO)
    }

    /// How many of `a`, `b`, `c` are terms.
    pub const fn arity(self) -> usize {
        match self {
            Code::Const | Code::Read | Code::Len => 0,
            Code::ZExt | Code::SExt | Code::Extract | Code::Ctlz | Code::Cttz => 1,
            Code::Popcnt | Code::BitRev | Code::Lookup | Code::Member => 1,
            Code::Ite | Code::FShl | Code::FShr | Code::FFma => 3,
            code if code as u8 >= Code::FSqrt as u8 && code as u8 <= Code::FCbrt as u8 => 1,
            Code::FToS | Code::FToU | Code::SToF | Code::UToF | Code::FToF => 1,
            _ => 2,
        }
    }
}

/// The operation and operands of a term. The operation says which of `a`, `b`, `c` are
/// terms and which are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub code: Code,
    pub width: u8,
    /// The value has at most this many significant bits.
    pub bits: u8,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

impl Node {
    pub fn width(&self) -> u32 {
        self.width.into()
    }

    /// The operands that are terms.
    pub fn operands(&self) -> impl Iterator<Item = Term> + use<> {
        let arity = self.code.arity();
        [self.a, self.b, self.c].into_iter().take(arity).map(Term)
    }
}

/// Simplified, shared terms.
#[derive(Clone, Debug)]
pub struct Pool {
    nodes: Vec<Node>,
    reads: Vec<Reads>,
    shapes: Vec<u64>,
    ranges: Ranges,
    /// A hash table with open addressing. 0 is free. Otherwise the low half is the
    /// number of the term plus 1, and the high half is that of its hash, so most other
    /// terms need not be compared.
    slots: Vec<u64>,
    /// The high halves of constants wider than 64 bits, by field `c` of the constant.
    highs: Vec<u64>,
    high_ids: HashMap<u64, u32>,
    tables: Vec<Table>,
    table_ids: HashMap<u64, u32>,
    sets: Vec<Set>,
    set_ids: HashMap<Arc<[u64]>, u32>,
    /// Results of rules for comparisons of choices, by the comparison.
    choice_results: HashMap<(Code, u32, u32), Option<Term>>,
    /// How many rules are active. A rule makes new terms, which are simplified in turn.
    depth: u32,
    /// See [`Pool::work`].
    work: u64,
}

/// A stream is shorter than 2 GiB. So sums with a length rarely overflow, and most
/// conditions on a length simplify to a bound.
pub const LENGTH_BITS: u32 = 31;

/// How deep rules may call each other. Each makes smaller terms, so the recursion ends,
/// but a target can write terms that would overflow the stack.
const MAX_RULE_DEPTH: u32 = 128;

impl Default for Pool {
    fn default() -> Self {
        Pool::with_capacity(0)
    }
}

impl Pool {
    pub fn with_capacity(terms: usize) -> Pool {
        Pool {
            nodes: Vec::with_capacity(terms),
            reads: Vec::with_capacity(terms),
            shapes: Vec::with_capacity(terms),
            ranges: Ranges::default(),
            slots: vec![0; (2 * terms).next_power_of_two().max(64)],
            highs: vec![0],
            high_ids: HashMap::new(),
            tables: Vec::new(),
            table_ids: HashMap::new(),
            sets: Vec::new(),
            set_ids: HashMap::new(),
            choice_results: HashMap::new(),
            depth: 0,
            work: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The operations that were made or simplified so far, and the values of sets.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Bytes of memory, roughly.
    pub fn memory(&self) -> usize {
        let term = size_of::<Node>() + size_of::<Reads>() + size_of::<u64>();
        let tables: usize = self.tables.iter().map(|t| t.bytes.len()).sum();
        self.nodes.capacity() * term + self.slots.len() * 8 + self.ranges.memory() + tables
    }

    /// All terms, each after its operands.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = Term> + use<> {
        (0..self.nodes.len() as u32).map(Term)
    }

    pub fn node(&self, term: Term) -> Node {
        self.nodes[term.index()]
    }

    pub fn width(&self, term: Term) -> u32 {
        self.nodes[term.index()].width.into()
    }

    /// The value of the term has at most this many significant bits.
    pub fn bits(&self, term: Term) -> u32 {
        self.nodes[term.index()].bits.into()
    }

    /// A hash of the operations of a term, without the offsets of its inputs. Two terms
    /// with the same shape that read one input each are the same function of it.
    pub fn shape(&self, term: Term) -> u64 {
        self.shapes[term.index()]
    }

    /// The inputs that a term depends on.
    pub fn reads(&self, term: Term) -> Reads {
        self.reads[term.index()]
    }

    /// The inputs of a term, in ascending order.
    pub fn vars(&self, term: Term) -> impl Iterator<Item = Var> + '_ {
        self.ranges.vars(self.reads(term))
    }

    /// The inputs of a term as ranges `from .. to` of their numbers.
    pub fn var_ranges(&self, term: Term) -> &[(u32, u32)] {
        self.ranges.ranges(&self.reads[term.index()])
    }

    pub fn depends_on(&self, term: Term, var: Var) -> bool {
        self.ranges.contains(self.reads(term), var)
    }

    pub fn table(&self, lookup: &Node) -> &Table {
        &self.tables[lookup.b as usize]
    }

    pub fn set(&self, member: &Node) -> &Set {
        &self.sets[member.b as usize]
    }

    /// The value of a constant.
    pub fn constant(&self, term: Term) -> Option<u128> {
        let node = &self.nodes[term.index()];
        (node.code == Code::Const).then(|| {
            u128::from(node.a)
                | u128::from(node.b) << 32
                | u128::from(self.highs[node.c as usize]) << 64
        })
    }

    pub fn number(&mut self, value: u128, width: u32) -> Term {
        let value = value & mask(width);
        let (low, high) = (value as u64, (value >> 64) as u64);
        let c = match high {
            0 => 0,
            high => *self.high_ids.entry(high).or_insert_with(|| {
                self.highs.push(high);
                self.highs.len() as u32 - 1
            }),
        };
        self.intern(Code::Const, width, low as u32, (low >> 32) as u32, c)
    }

    pub fn bit(&mut self, value: bool) -> Term {
        self.number(value.into(), 1)
    }

    /// `bytes` input bytes from an offset on.
    pub fn read(&mut self, offset: u32, bytes: u32) -> Term {
        self.intern(Code::Read, 8 * bytes, offset, 0, 0)
    }

    pub fn length(&mut self, stream: u32) -> Term {
        self.intern(Code::Len, 64, stream, 0, 0)
    }

    /// An operation on two terms of the same width.
    pub fn pair(&mut self, code: Code, a: Term, b: Term) -> Term {
        let is_compare = code.is_compare() || code.is_float_compare();
        let width = if is_compare { 1 } else { self.width(a) };
        self.make(code, width, a.0, b.0, 0)
    }

    /// A conversion from or to floating point.
    pub fn convert(&mut self, code: Code, a: Term, width: u32) -> Term {
        self.make(code, width, a.0, 0, 0)
    }

    /// `digits` (64 bits) times ten to the power of `power` (32 bits).
    pub fn decimal(&mut self, digits: Term, power: Term, width: u32) -> Term {
        self.make(Code::FDecimal, width, digits.0, power.0, 0)
    }

    /// An operation on one term that keeps its width.
    pub fn unary(&mut self, code: Code, a: Term) -> Term {
        self.make(code, self.width(a), a.0, 0, 0)
    }

    pub fn not(&mut self, bit: Term) -> Term {
        let one = self.bit(true);
        self.pair(Code::Xor, bit, one)
    }

    pub fn zext(&mut self, a: Term, width: u32) -> Term {
        self.make(Code::ZExt, width, a.0, 0, 0)
    }

    pub fn sext(&mut self, a: Term, width: u32) -> Term {
        self.make(Code::SExt, width, a.0, 0, 0)
    }

    pub fn extract(&mut self, a: Term, low: u32, width: u32) -> Term {
        self.make(Code::Extract, width, a.0, low, 0)
    }

    pub fn concat(&mut self, low: Term, high: Term) -> Term {
        self.make(Code::Concat, self.width(low) + self.width(high), low.0, high.0, 0)
    }

    pub fn ite(&mut self, condition: Term, yes: Term, no: Term) -> Term {
        self.make(Code::Ite, self.width(yes), condition.0, yes.0, no.0)
    }

    /// `fshl` or `fshr` of `high:low` by `amount`, or `a * b + c`.
    pub fn funnel(&mut self, code: Code, high: Term, low: Term, amount: Term) -> Term {
        self.make(code, self.width(high), high.0, low.0, amount.0)
    }

    /// `width / 8` bytes at a 64-bit offset of a table.
    pub fn lookup(&mut self, offset: Term, table: &Table, width: u32) -> Term {
        let id = self.table_id(table);
        self.make(Code::Lookup, width, offset.0, id, 0)
    }

    /// 1 if `a` is one of `values`.
    pub fn member(&mut self, a: Term, values: &[u64]) -> Term {
        let id = self.set_id(a, values);
        self.make(Code::Member, 1, a.0, id, 0)
    }

    /// The number of the set of `values`, cut to the width of `a`.
    pub(crate) fn set_id(&mut self, a: Term, values: &[u64]) -> u32 {
        self.work += values.len() as u64;
        let ones = mask(self.width(a));
        let set = Set::new(values.iter().map(|&v| u128::from(v) & ones));
        match self.set_ids.get(&set.values) {
            Some(&id) => id,
            None => {
                let id = self.sets.len() as u32;
                self.set_ids.insert(set.values.clone(), id);
                self.sets.push(set);
                id
            }
        }
    }

    pub(crate) fn set_values(&self, set: u32) -> Arc<[u64]> {
        self.sets[set as usize].values.clone()
    }

    fn table_id(&mut self, table: &Table) -> u32 {
        if let Some(&id) = self.table_ids.get(&table.hash) {
            return id;
        }
        let id = self.tables.len() as u32;
        self.table_ids.insert(table.hash, id);
        self.tables.push(table.clone());
        id
    }

    /// The operation of `term` on other operands of the same widths.
    pub fn with_operands(&mut self, term: Term, operands: &[Term]) -> Term {
        let node = self.node(term);
        let place = |i: usize, number: u32| operands.get(i).map_or(number, |t| t.0);
        let (a, b, c) = (place(0, node.a), place(1, node.b), place(2, node.c));
        self.make(node.code, node.width(), a, b, c)
    }

    /// The cached result of a rule for a comparison of a choice.
    pub(crate) fn choice_result(&self, op: &Operation) -> Option<Option<Term>> {
        self.choice_results.get(&(op.code, op.a, op.b)).copied()
    }

    pub(crate) fn cache_choice_result(&mut self, op: &Operation, result: Option<Term>) {
        self.choice_results.insert((op.code, op.a, op.b), result);
    }

    /// The term of an operation, simplified.
    pub(crate) fn make(&mut self, code: Code, width: u32, a: u32, b: u32, c: u32) -> Term {
        self.work += 1;
        if self.depth < MAX_RULE_DEPTH {
            self.depth += 1;
            let simplified = rules::simplify(self, &Operation { code, width, a, b, c });
            self.depth -= 1;
            if let Some(term) = simplified {
                return term;
            }
        }
        self.intern(code, width, a, b, c)
    }

    /// The term of an operation, not simplified.
    pub(crate) fn intern(&mut self, code: Code, width: u32, a: u32, b: u32, c: u32) -> Term {
        if 2 * (self.nodes.len() + 1) > self.slots.len() {
            self.grow();
        }
        let hash = slot_hash(code, width, a, b, c);
        let (tag, last) = (hash & TAG, self.slots.len() - 1);
        let mut at = hash as usize & last;
        while self.slots[at] != 0 {
            let slot = self.slots[at];
            if slot & TAG == tag {
                let number = slot as u32 - 1;
                let n = &self.nodes[number as usize];
                if n.code == code && n.a == a && n.b == b && n.c == c && n.width() == width {
                    return Term(number);
                }
            }
            at = (at + 1) & last;
        }
        let bits = self.bits_of(code, width, a, b, c);
        let node = Node { code, width: width as u8, bits: bits as u8, a, b, c };
        let (reads, shape) = (self.reads_of(&node), self.shape_of(&node));
        self.reads.push(reads);
        self.shapes.push(shape);
        self.nodes.push(node);
        self.slots[at] = tag | self.nodes.len() as u64;
        Term(self.nodes.len() as u32 - 1)
    }

    fn grow(&mut self) {
        let size = 2 * self.slots.len();
        let mut slots = vec![0; size];
        for (number, n) in self.nodes.iter().enumerate() {
            let hash = slot_hash(n.code, n.width(), n.a, n.b, n.c);
            let mut at = hash as usize & (size - 1);
            while slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            slots[at] = hash & TAG | (number as u64 + 1);
        }
        self.slots = slots;
    }

    fn bits_of(&self, code: Code, width: u32, a: u32, b: u32, c: u32) -> u32 {
        let of = |n: u32| self.bits(Term(n));
        let low = |value: Option<u128>| value.map_or(width, |v| 128 - v.leading_zeros());
        match code {
            Code::Const => {
                let low = u64::from(a) | u64::from(b) << 32;
                match self.highs[c as usize] {
                    0 => 64 - low.leading_zeros(),
                    high => 128 - high.leading_zeros(),
                }
            }
            Code::Len => LENGTH_BITS,
            Code::ZExt | Code::UDiv => of(a),
            Code::And => of(a).min(of(b)),
            Code::Or | Code::Xor => of(a).max(of(b)),
            Code::Ite => of(b).max(of(c)),
            Code::Add => (of(a).max(of(b)) + 1).min(width),
            Code::Mul => (of(a) + of(b)).min(width),
            // The remainder by 0 is 0.
            Code::URem => of(a).min(of(b)),
            Code::LShr => match self.constant(Term(b)) {
                Some(by) => of(a).saturating_sub(by.min(128) as u32),
                None => of(a),
            },
            Code::Extract => of(a).saturating_sub(b).min(width),
            Code::Concat if of(b) == 0 => of(a),
            Code::Concat => self.width(Term(a)) + of(b),
            Code::Ctlz | Code::Cttz | Code::Popcnt => low(Some(width.into())).min(width),
            Code::Lookup => self.tables[b as usize].bits(width),
            _ => width,
        }
    }

    fn reads_of(&mut self, n: &Node) -> Reads {
        let of = |pool: &Pool, at: u32| pool.reads[at as usize];
        match n.code.arity() {
            0 => match n.code {
                Code::Read => Reads::bytes(n.a, n.width() / 8),
                Code::Len => Reads::length(n.a),
                _ => Reads::NONE,
            },
            1 => of(self, n.a),
            2 => self.ranges.union(of(self, n.a), of(self, n.b)),
            _ => {
                let two = self.ranges.union(of(self, n.a), of(self, n.b));
                self.ranges.union(two, of(self, n.c))
            }
        }
    }

    fn shape_of(&self, n: &Node) -> u64 {
        let head = (n.code as u64) << 8 | u64::from(n.width);
        let of = |at: u32| self.shapes[at as usize];
        let (a, b, c) = match n.code {
            Code::Const => (u64::from(n.a) | u64::from(n.b) << 32, self.highs[n.c as usize], 0),
            Code::Read | Code::Len => (0, 0, 0),
            Code::Extract => (of(n.a), n.b.into(), 0),
            Code::Lookup => (of(n.a), self.tables[n.b as usize].hash, 0),
            Code::Member => (of(n.a), self.sets[n.b as usize].hash, 0),
            _ => match n.code.arity() {
                1 => (of(n.a), 0, 0),
                2 => (of(n.a), of(n.b), 0),
                _ => (of(n.a), of(n.b), of(n.c)),
            },
        };
        mix(mix(mix(head.wrapping_mul(SEED), a), b), c)
    }
}

/// The part of a hash that is in a slot, above the number of the term.
const TAG: u64 = !0 << 32;

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Adds a word to a hash: a multiplication to 128 bits, folded to 64.
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ 0xa076_1d64_78bd_642f).wrapping_mul(u128::from(word ^ SEED));
    (product as u64) ^ ((product >> 64) as u64) ^ hash.rotate_left(23)
}

/// The hash of a term in the table of its pool.
fn slot_hash(code: Code, width: u32, a: u32, b: u32, c: u32) -> u64 {
    let head = (code as u64) << 8 | u64::from(width) | u64::from(c) << 32;
    let body = u64::from(a) | u64::from(b) << 32;
    let mixed = (body ^ head.wrapping_mul(SEED)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 32
}
