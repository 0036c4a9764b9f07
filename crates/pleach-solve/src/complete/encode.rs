//! From terms to circuits.
//!
//! A term that reads one byte is not taken apart at all: each of its bits is a
//! set of byte values, and a set is a small decision tree over the byte's eight
//! bits. So a look into a table of character classes costs a dozen gates.

use super::gates::{Gates, Word};
use crate::path::Path;
use crate::sat::Literal as Lit;
use pleach_automata::ByteSet;
use pleach_expr::{Code, Compiler, Frame, Node, Table, Term, Var};
use rustc_hash::FxHashMap;

/// Terms that are circuits already.
pub(super) struct Encoder {
    pub gates: Gates,
    words: FxHashMap<Term, Word>,
    inputs: FxHashMap<Var, Word>,
    sets: FxHashMap<(u32, ByteSet), Lit>,
    compiler: Compiler,
    frame: Frame<256>,
}

/// The circuit would be larger than allowed.
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
        }
    }

    /// The variables of an input.
    pub fn input(&mut self, path: &Path, var: Var) -> Word {
        if let Some(word) = self.inputs.get(&var) {
            return word.clone();
        }
        let bits = if var.as_byte().is_some() { 8 } else { 64 };
        // Where nothing speaks against it, an input stays what it is.
        let current = path.current(var);
        let word: Word =
            (0..bits).map(|i| self.gates.sat.variable(Some(current >> i & 1 == 1))).collect();
        self.inputs.insert(var, word.clone());
        word
    }

    /// Whether the byte at `offset` is in a set.
    pub fn member(&mut self, path: &Path, offset: u32, set: &ByteSet) -> Lit {
        if let Some(&known) = self.sets.get(&(offset, *set)) {
            return known;
        }
        let bits = self.input(path, Var::byte(offset));
        let words: [u64; 4] = set.0;
        let halves: Vec<Lit> = words.iter().map(|&w| self.tree(w, 64, &bits)).collect();
        let low = self.gates.mux(bits[6], halves[1], halves[0]);
        let high = self.gates.mux(bits[6], halves[3], halves[2]);
        let out = self.gates.mux(bits[7], high, low);
        self.sets.insert((offset, *set), out);
        out
    }

    /// The bit of `word` (of `size` bits) that the low bits of `bits` choose.
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

    /// The circuit of a term and all that it needs.
    pub fn encode(&mut self, path: &Path, root: Term, most: usize) -> Result<Word, TooLarge> {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.words.contains_key(&term) {
                stack.pop();
                continue;
            }
            if self.gates.sat.variables() > most {
                return Err(TooLarge);
            }
            let pool = &path.pool;
            let node = pool.node(term);
            let byte = pool.reads(term).single().and_then(|v| v.as_byte());
            if let Some(offset) = byte.filter(|_| node.code != Code::Read && node.width <= 64) {
                let word = self.by_value(path, term, offset);
                self.words.insert(term, word);
                continue;
            }
            let before = stack.len();
            stack.extend(node.operands().filter(|o| !self.words.contains_key(o)));
            if stack.len() == before {
                let word = self.step(path, term, node)?;
                self.words.insert(term, word);
                stack.pop();
            }
        }
        Ok(self.words[&root].clone())
    }

    /// A term of one byte, from its 256 values.
    fn by_value(&mut self, path: &Path, term: Term, offset: u32) -> Word {
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

    fn step(&mut self, path: &Path, term: Term, node: Node) -> Result<Word, TooLarge> {
        let pool = &path.pool;
        let width = node.width();
        let word = |n: usize| node.operands().nth(n).map_or(&[][..], |t| &self.words[&t]).to_vec();
        let (a, b, c) = (word(0), word(1), word(2));
        let one = |bit: Lit| vec![bit];
        let g = &mut self.gates;
        Ok(match node.code {
            Code::Const => g.constant(pool.constant(term).unwrap_or(0), width),
            Code::Len => self.input(path, Var::length(node.a)),
            Code::Read => {
                let bytes = (0..width / 8).map(|i| Var::byte(node.a + i));
                bytes.flat_map(|v| self.input(path, v)).collect()
            }
            Code::Add => {
                let none = g.bit(false);
                g.add(&a, &b, none).0
            }
            Code::Sub => g.subtract(&a, &b).0,
            Code::Mul => g.multiply(&a, &b),
            Code::UDiv => g.divide(&a, &b).0,
            Code::URem => g.divide(&a, &b).1,
            Code::SDiv | Code::SRem => signed_divide(g, &a, &b, node.code == Code::SRem),
            Code::Shl | Code::LShr => {
                let none = g.bit(false);
                g.shift(&a, &b, node.code == Code::Shl, none)
            }
            Code::AShr => {
                let sign = a[a.len() - 1];
                g.shift(&a, &b, false, sign)
            }
            Code::And => a.iter().zip(&b).map(|(&x, &y)| g.and(x, y)).collect(),
            Code::Or => a.iter().zip(&b).map(|(&x, &y)| g.or(x, y)).collect(),
            Code::Xor => a.iter().zip(&b).map(|(&x, &y)| g.xor(x, y)).collect(),
            Code::Eq => one(g.equal(&a, &b)),
            Code::Ne => one(!g.equal(&a, &b)),
            Code::Ult | Code::USubO => one(g.less(&a, &b)),
            Code::Ule => one(!g.less(&b, &a)),
            Code::Slt => one(g.signed_less(&a, &b)),
            Code::Sle => one(!g.signed_less(&b, &a)),
            Code::UAddO => {
                let none = g.bit(false);
                one(g.add(&a, &b, none).1)
            }
            Code::SAddO | Code::SSubO => {
                let minus = node.code == Code::SSubO;
                let none = g.bit(false);
                let sum = if minus { g.subtract(&a, &b).0 } else { g.add(&a, &b, none).0 };
                let top = a.len() - 1;
                // Operands of the same sign (of different ones for a difference),
                // and a result of the other.
                let y = if minus { !b[top] } else { b[top] };
                let same = !g.xor(a[top], y);
                let turned = g.xor(a[top], sum[top]);
                one(g.and(same, turned))
            }
            Code::UMulO | Code::SMulO => {
                one(product_overflows(g, &a, &b, node.code == Code::SMulO))
            }
            Code::ZExt => {
                let none = g.bit(false);
                let mut out = a;
                out.resize(width as usize, none);
                out
            }
            Code::SExt => {
                let mut out = a;
                let sign = out[out.len() - 1];
                out.resize(width as usize, sign);
                out
            }
            Code::Extract => a[node.b as usize..][..width as usize].to_vec(),
            Code::Concat => [a, b].concat(),
            Code::Ite => g.choose(a[0], &b, &c),
            Code::Ctlz | Code::Cttz => {
                let bits: Word = match node.code {
                    Code::Ctlz => a.iter().rev().copied().collect(),
                    _ => a,
                };
                // As long as no bit was set, one more zero.
                let mut zeros = Vec::new();
                let mut still = g.bit(true);
                for bit in bits {
                    still = g.and(still, !bit);
                    zeros.push(still);
                }
                g.count(&zeros, width)
            }
            Code::Popcnt => g.count(&a, width),
            Code::BitRev => a.into_iter().rev().collect(),
            Code::FShl | Code::FShr => {
                // Of a:b, doubled so that no place is past the end.
                let modulus = g.constant(width.into(), width);
                let amount = match width.is_power_of_two() {
                    true if width > 1 => {
                        let none = g.bit(false);
                        let low = c[..width.trailing_zeros() as usize].iter().copied();
                        low.chain(std::iter::repeat(none)).take(width as usize).collect()
                    }
                    // One bit: every amount is a multiple of the width.
                    true => vec![g.bit(false)],
                    false => g.divide(&c, &modulus).1,
                };
                let none = g.bit(false);
                let both = [b, a].concat();
                let mut amount: Word = amount;
                amount.resize(both.len(), none);
                match node.code {
                    Code::FShl => {
                        let moved = g.shift(&both, &amount, true, none);
                        moved[width as usize..].to_vec()
                    }
                    _ => g.shift(&both, &amount, false, none)[..width as usize].to_vec(),
                }
            }
            Code::Lookup => {
                let table = pool.table(&node).clone();
                self.lookup(&table, &a, width)?
            }
            Code::Member => {
                let values = pool.set(&node).values.clone();
                let hits: Vec<Lit> = values
                    .iter()
                    .map(|&v| {
                        let value = self.gates.constant(v.into(), a.len() as u32);
                        self.gates.equal(&a, &value)
                    })
                    .collect();
                one(self.gates.any(hits))
            }
        })
    }

    /// A table as a tree of choices over the bits of the index, those above its
    /// end all zero. Bits of the index that are constant halve the tree.
    fn lookup(&mut self, table: &Table, index: &[Lit], width: u32) -> Result<Word, TooLarge> {
        const MOST_ENTRIES: usize = 1 << 16;
        let len = table.bytes.len();
        let deep = (usize::BITS - len.leading_zeros()) as usize;
        if len > MOST_ENTRIES || index.len() < deep {
            return Err(TooLarge);
        }
        let beyond = self.gates.any(index[deep..].iter().copied());
        let entry = self.entries(table, 0, deep, index, width);
        let zero = self.gates.constant(0, width);
        Ok(self.gates.choose(beyond, &zero, &entry))
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

fn signed_divide(g: &mut Gates, a: &[Lit], b: &[Lit], remainder: bool) -> Word {
    let (top_a, top_b) = (a[a.len() - 1], b[b.len() - 1]);
    let (minus_a, minus_b) = (g.negate(a), g.negate(b));
    let (x, y) = (g.choose(top_a, &minus_a, a), g.choose(top_b, &minus_b, b));
    let (quotient, rest) = g.divide(&x, &y);
    // A remainder has the sign of what is divided.
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

/// The full product has bits that the width does not hold.
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
