//! Encodes terms as circuits.
//!
//! A term that reads one byte is not encoded operation by operation. Each of its bits is a
//! set of byte values, and a set is a small decision tree over the eight bits of the byte.
//! So a lookup in a table of character classes costs a dozen gates.

use super::gates::{Gates, Word};
use crate::path::Path;
use crate::sat::Literal as Lit;
use pleach_automata::ByteSet;
use pleach_expr::{Code, Compiler, Frame, Node, Table, Term, Var};
use rustc_hash::FxHashMap;

/// The circuits of all terms so far.
pub(super) struct Encoder {
    pub gates: Gates,
    /// The bits of each term that something has needed, from the lowest one on.
    words: FxHashMap<Term, Word>,
    inputs: FxHashMap<Var, Word>,
    /// By offset of a byte and set of values.
    sets: FxHashMap<(u32, ByteSet), Lit>,
    compiler: Compiler,
    frame: Frame<256>,
    /// Operations that this request may evaluate for terms of one byte.
    evaluations: u64,
}

/// The circuit would be larger than allowed, or has an operation without a circuit.
#[derive(Debug)]
pub(super) struct TooLarge;

impl Encoder {
    pub fn new(gates: Gates) -> Encoder {
        Encoder {
            gates,
            words: FxHashMap::default(),
            inputs: FxHashMap::default(),
            sets: FxHashMap::default(),
            compiler: Compiler::default(),
            frame: Frame::default(),
            evaluations: 0,
        }
    }

    /// A new request, which may evaluate this many operations.
    pub fn start(&mut self, evaluations: u64) {
        self.evaluations = self.frame.work + evaluations;
    }

    /// The variables of an input.
    pub fn input(&mut self, path: &Path, var: Var) -> Word {
        if let Some(word) = self.inputs.get(&var) {
            return word.clone();
        }
        let bits = if var.as_byte().is_some() { 8 } else { 64 };
        // The SAT solver tries the current values first, to change few inputs.
        let current = path.current(var);
        let word: Word =
            (0..bits).map(|i| self.gates.sat.variable(Some(current >> i & 1 == 1))).collect();
        self.inputs.insert(var, word.clone());
        word
    }

    /// True if the byte at `offset` is in a set.
    pub fn member(&mut self, path: &Path, offset: u32, set: &ByteSet) -> Lit {
        if let Some(&cached) = self.sets.get(&(offset, *set)) {
            return cached;
        }
        let bits = self.input(path, Var::byte(offset));
        let words: [u64; 4] = set.0;
        let quarters: Vec<Lit> = words.iter().map(|&w| self.tree(w, 64, &bits)).collect();
        let low = self.gates.mux(bits[6], quarters[1], quarters[0]);
        let high = self.gates.mux(bits[6], quarters[3], quarters[2]);
        let out = self.gates.mux(bits[7], high, low);
        self.sets.insert((offset, *set), out);
        out
    }

    /// The bit of `word` (of `size` bits) whose number is in the low bits of `bits`.
    fn tree(&mut self, word: u64, size: u32, bits: &[Lit]) -> Lit {
        let ones = if size == 64 { u64::MAX } else { (1 << size) - 1 };
        match word & ones {
            0 => self.gates.bit(false),
            w if w == ones => self.gates.bit(true),
            w => {
                let half = size / 2;
                let low = self.tree(w, half, bits);
                let high = self.tree(w >> half, half, bits);
                self.gates.mux(bits[half.trailing_zeros() as usize], high, low)
            }
        }
    }

    /// The circuit of a term. Its operands are encoded first. A sum or a product whose low bits
    /// alone are used has no circuit for the others: hash functions compute with 32 bits, and
    /// programs use a few of them.
    pub fn encode(
        &mut self,
        path: &Path,
        root: Term,
        max_variables: usize,
    ) -> Result<Word, TooLarge> {
        let pool = &path.pool;
        let mut stack = vec![(root, pool.width(root))];
        while let Some(&(term, bits)) = stack.last() {
            if self.has_bits(term, bits) {
                stack.pop();
                continue;
            }
            let is_too_large = self.gates.sat.variables() > max_variables
                || self.frame.work > self.evaluations
                || pleach_work::spend(1);
            if is_too_large {
                return Err(TooLarge);
            }
            let node = pool.node(term);
            let byte = pool.reads(term).single().and_then(|v| v.as_byte());
            if let Some(offset) = byte.filter(|_| node.code != Code::Read && node.width <= 64) {
                let word = self.encode_by_value(path, term, offset);
                self.words.insert(term, word);
                continue;
            }
            let before = stack.len();
            for (place, operand) in node.operands().enumerate() {
                let bits = needed_bits(path, &node, place, operand, bits);
                if !self.has_bits(operand, bits) {
                    stack.push((operand, bits));
                }
            }
            if stack.len() == before {
                let word = self.encode_node(path, term, node, bits)?;
                self.words.insert(term, word);
                stack.pop();
            }
        }
        Ok(self.words[&root].clone())
    }

    /// True if the lowest bits of a term are encoded.
    fn has_bits(&self, term: Term, bits: u32) -> bool {
        bits == 0 || self.words.get(&term).is_some_and(|word| word.len() >= bits as usize)
    }

    /// Encodes a term of one byte, from its 256 values.
    fn encode_by_value(&mut self, path: &Path, term: Term, offset: u32) -> Word {
        let (pool, values) = (&path.pool, &path.values);
        let tape = self.compiler.compile(pool, values, &[term], &[Var::byte(offset)]);
        self.frame.load(&tape);
        if !tape.inputs().is_empty() {
            self.frame.set(&tape, 0, std::array::from_fn(|i| i as u64));
        }
        self.frame.run(pool, &tape);
        let all = *self.frame.root(&tape, 0);
        (0..pool.width(term))
            .map(|bit| {
                let set = (0..=255u8).filter(|&v| all[usize::from(v)] >> bit & 1 == 1).collect();
                self.member(path, offset, &set)
            })
            .collect()
    }

    /// Encodes the lowest `bits` of one operation, or all. Its operands are encoded as far as
    /// they are needed for that.
    fn encode_node(
        &mut self,
        path: &Path,
        term: Term,
        node: Node,
        bits: u32,
    ) -> Result<Word, TooLarge> {
        let pool = &path.pool;
        let width = if is_by_low_bits(node.code) { bits } else { node.width() };
        let word = |place: usize| -> Word {
            let Some(operand) = node.operands().nth(place) else { return Word::new() };
            let needed = needed_bits(path, &node, place, operand, bits);
            self.words.get(&operand).map_or(Word::new(), |w| w[..needed as usize].to_vec())
        };
        let (a, b, c) = (word(0), word(1), word(2));
        let g = &mut self.gates;
        Ok(match node.code {
            Code::Const => g.constant(pool.constant(term).unwrap_or(0), width),
            Code::Len => self.input(path, Var::length(node.a)),
            Code::Read => {
                let bytes = (0..width / 8).map(|i| Var::byte(node.a + i));
                bytes.flat_map(|v| self.input(path, v)).collect()
            }
            Code::Ite => g.choose(a[0], &b, &c),
            Code::FShl | Code::FShr => funnel_shift(g, &node, a, b, &c),
            Code::Lookup => {
                let table = pool.table(&node).clone();
                self.lookup(&table, &a, width)?
            }
            Code::Member => {
                let values = pool.set(&node).values.clone();
                let hits: Vec<Lit> = values
                    .iter()
                    .map(|&v| {
                        let value = g.constant(v.into(), a.len() as u32);
                        g.equal(&a, &value)
                    })
                    .collect();
                vec![g.any(hits)]
            }
            code if code.touches_float() => return Err(TooLarge),
            code if code.is_compare() => vec![comparison(g, code, &a, &b)],
            code if code.arity() == 2 => binary(g, code, a, b),
            _ => unary(g, &node, a, width),
        })
    }

    /// A table as a tree of choices over the bits of the index. Entries past the end are 0.
    /// A constant bit of the index halves the tree.
    fn lookup(&mut self, table: &Table, index: &[Lit], width: u32) -> Result<Word, TooLarge> {
        const MAX_TABLE_BYTES: usize = 1 << 16;
        let len = table.bytes.len();
        let depth = (usize::BITS - len.leading_zeros()) as usize;
        if len > MAX_TABLE_BYTES || index.len() < depth {
            return Err(TooLarge);
        }
        let is_beyond = self.gates.any(index[depth..].iter().copied());
        let entry = self.entries(table, 0, depth, index, width);
        let zero = self.gates.constant(0, width);
        Ok(self.gates.choose(is_beyond, &zero, &entry))
    }

    /// The entry at `from` plus the low `bits` bits of the index.
    fn entries(
        &mut self,
        table: &Table,
        from: u64,
        bits: usize,
        index: &[Lit],
        width: u32,
    ) -> Word {
        if from >= table.bytes.len() as u64 {
            return self.gates.constant(0, width);
        }
        let Some(bit) = bits.checked_sub(1) else {
            return self.gates.constant(table.get(from, width), width);
        };
        let (yes, no) = (self.gates.bit(true), self.gates.bit(false));
        let condition = index[bit];
        if condition == no {
            return self.entries(table, from, bit, index, width);
        }
        let high = self.entries(table, from + (1 << bit), bit, index, width);
        if condition == yes {
            return high;
        }
        let low = self.entries(table, from, bit, index, width);
        self.gates.choose(condition, &high, &low)
    }
}

/// True if each bit of the result depends only on bits of the operands up to the same place, or,
/// for `Extract` and `Concat`, to a place that is known.
fn is_by_low_bits(code: Code) -> bool {
    use Code::*;
    matches!(code, Add | Sub | Mul | And | Or | Xor | Ite | ZExt | SExt | Extract | Concat)
}

/// How many of the lowest bits of an operand the lowest `bits` of a node need.
fn needed_bits(path: &Path, node: &Node, place: usize, operand: Term, bits: u32) -> u32 {
    let width = path.pool.width(operand);
    let needed = match (node.code, place) {
        (Code::Ite, 0) => width,
        (Code::Extract, _) => node.b + bits,
        (Code::Concat, 1) => {
            let low = path.pool.width(node.operands().next().unwrap_or(operand));
            bits.saturating_sub(low)
        }
        (code, _) if is_by_low_bits(code) => bits,
        _ => width,
    };
    needed.min(width)
}

/// An operation on two words of the same width, or `Concat`.
fn binary(g: &mut Gates, code: Code, a: Word, b: Word) -> Word {
    let none = g.bit(false);
    match code {
        Code::Add => g.add(&a, &b, none).0,
        Code::Sub => g.subtract(&a, &b).0,
        Code::Mul => g.multiply(&a, &b),
        Code::UDiv => g.divide(&a, &b).0,
        Code::URem => g.divide(&a, &b).1,
        Code::SDiv | Code::SRem => signed_divide(g, &a, &b, code == Code::SRem),
        Code::Shl | Code::LShr => g.shift(&a, &b, code == Code::Shl, none),
        Code::AShr => {
            let sign = a[a.len() - 1];
            g.shift(&a, &b, false, sign)
        }
        Code::And => a.iter().zip(&b).map(|(&x, &y)| g.and(x, y)).collect(),
        Code::Or => a.iter().zip(&b).map(|(&x, &y)| g.or(x, y)).collect(),
        Code::Xor => a.iter().zip(&b).map(|(&x, &y)| g.xor(x, y)).collect(),
        _ => [a, b].concat(),
    }
}

/// An operation on one word.
fn unary(g: &mut Gates, node: &Node, a: Word, width: u32) -> Word {
    match node.code {
        Code::ZExt => {
            let mut out = a;
            out.resize(width as usize, g.bit(false));
            out
        }
        Code::SExt => {
            let mut out = a;
            let sign = out[out.len() - 1];
            out.resize(width as usize, sign);
            out
        }
        Code::Extract => a[node.b as usize..][..width as usize].to_vec(),
        Code::Ctlz | Code::Cttz => {
            let bits: Word = match node.code {
                Code::Ctlz => a.iter().rev().copied().collect(),
                _ => a,
            };
            // One bit for each zero before the first set bit.
            let mut zeros = Vec::new();
            let mut only_zeros = g.bit(true);
            for bit in bits {
                only_zeros = g.and(only_zeros, !bit);
                zeros.push(only_zeros);
            }
            g.count(&zeros, width)
        }
        Code::Popcnt => g.count(&a, width),
        // `BitRev`, the only other one.
        _ => a.into_iter().rev().collect(),
    }
}

fn comparison(g: &mut Gates, code: Code, a: &[Lit], b: &[Lit]) -> Lit {
    match code {
        Code::Eq => g.equal(a, b),
        Code::Ne => !g.equal(a, b),
        Code::Ult | Code::USubO => g.less(a, b),
        Code::Ule => !g.less(b, a),
        Code::Slt => g.signed_less(a, b),
        Code::Sle => !g.signed_less(b, a),
        Code::UAddO => {
            let none = g.bit(false);
            g.add(a, b, none).1
        }
        Code::SAddO | Code::SSubO => {
            let is_difference = code == Code::SSubO;
            let none = g.bit(false);
            let sum = if is_difference { g.subtract(a, b).0 } else { g.add(a, b, none).0 };
            let top = a.len() - 1;
            // The operands have the same sign (for a difference, different signs), and the
            // result has another sign than `a`.
            let y = if is_difference { !b[top] } else { b[top] };
            let same_sign = !g.xor(a[top], y);
            let sign_changed = g.xor(a[top], sum[top]);
            g.and(same_sign, sign_changed)
        }
        // `UMulO` and `SMulO`, the only other ones.
        _ => product_overflows(g, a, b, code == Code::SMulO),
    }
}

/// `fshl` or `fshr`: shifts the word `a:b` by `c` modulo the width.
fn funnel_shift(g: &mut Gates, node: &Node, a: Word, b: Word, c: &[Lit]) -> Word {
    let width = node.width();
    let none = g.bit(false);
    let modulus = g.constant(width.into(), width);
    let mut amount: Word = match width.is_power_of_two() {
        true if width > 1 => {
            let low = c[..width.trailing_zeros() as usize].iter().copied();
            low.chain(std::iter::repeat(none)).take(width as usize).collect()
        }
        // Every amount is a multiple of a width of 1.
        true => vec![none],
        false => g.divide(c, &modulus).1,
    };
    let both = [b, a].concat();
    amount.resize(both.len(), none);
    match node.code {
        Code::FShl => g.shift(&both, &amount, true, none)[width as usize..].to_vec(),
        _ => g.shift(&both, &amount, false, none)[..width as usize].to_vec(),
    }
}

fn signed_divide(g: &mut Gates, a: &[Lit], b: &[Lit], remainder: bool) -> Word {
    let (top_a, top_b) = (a[a.len() - 1], b[b.len() - 1]);
    let (minus_a, minus_b) = (g.negate(a), g.negate(b));
    let (x, y) = (g.choose(top_a, &minus_a, a), g.choose(top_b, &minus_b, b));
    let (quotient, rest) = g.divide(&x, &y);
    // A remainder has the sign of the dividend.
    let (out, sign) = match remainder {
        true => (rest, top_a),
        false => {
            let sign = g.xor(top_a, top_b);
            (quotient, sign)
        }
    };
    let minus = g.negate(&out);
    g.choose(sign, &minus, &out)
}

/// True if the full product has more bits than the width.
fn product_overflows(g: &mut Gates, a: &[Lit], b: &[Lit], signed: bool) -> Lit {
    let width = a.len();
    let none = g.bit(false);
    let double = |word: &[Lit]| {
        let fill = if signed { word[width - 1] } else { none };
        let mut wide = word.to_vec();
        wide.resize(2 * width, fill);
        wide
    };
    let product = g.multiply(&double(a), &double(b));
    let (low, high) = product.split_at(width);
    let expected = if signed { low[width - 1] } else { none };
    let differ: Vec<Lit> = high.iter().map(|&bit| g.xor(bit, expected)).collect();
    g.any(differ)
}
