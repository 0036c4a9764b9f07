//! Tests of the table: every rule applies to some random terms, and its result has the
//! same value.

use super::{Operation, rules, table};
use crate::eval::mask;
use crate::input::Input;
use crate::pool::{Code, LENGTH_BITS, Pool, Table, Term};
use crate::values::TermValues;
use std::collections::HashMap;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    fn one<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Numbers at which operations change: small ones, powers of two, masks, their
    /// neighbours and negations; and random ones.
    fn number(&mut self, width: u32) -> u128 {
        let power = 1u128 << self.below(width.into());
        let number = match self.below(8) {
            0 => self.below(4).into(),
            1 => power,
            2 => power.wrapping_sub(1),
            3 => power.wrapping_neg(),
            4 => power.wrapping_add(self.below(3).into()),
            5 => u128::from(self.below(256)),
            6 => mask(width).wrapping_sub(self.below(3).into()),
            _ => u128::from(self.next()) << 64 | u128::from(self.next()),
        };
        number & mask(width)
    }
}

const BYTES: u64 = 6;
const WIDTHS: [u32; 9] = [1, 5, 8, 16, 24, 32, 64, 65, 128];

/// A term of a width: a constant, a term made before, or an extension or extract of one.
fn operand(pool: &mut Pool, random: &mut Random, made: &[Term], width: u32) -> Term {
    match random.below(12) {
        0 | 1 => pool.number(random.number(width), width),
        // Operands that rules apply to: a shifted byte, a choice between constants, an
        // operation with a constant.
        3 if width > 8 => {
            let byte = random.below(BYTES) as u32;
            let byte = pool.read(byte, 1);
            let byte = pool.zext(byte, width);
            let by = pool.number(u128::from(8 * random.below(4)), width);
            pool.pair(Code::Shl, byte, by)
        }
        4 => {
            let (yes, no) = (random.number(width), random.number(width));
            let (yes, no) = (pool.number(yes, width), pool.number(no, width));
            let byte = pool.read(random.below(BYTES) as u32, 1);
            let bit = pool.extract(byte, random.below(8) as u32, 1);
            pool.ite(bit, yes, no)
        }
        7 if width == 32 => {
            let length = pool.length(0);
            pool.extract(length, 0, 32)
        }
        6 if width > 9 => {
            let byte = pool.read(random.below(BYTES) as u32, 1);
            let byte = pool.zext(byte, width);
            let c = match random.below(2) {
                0 => u128::from(random.below(300)),
                _ => u128::from(random.below(300)).wrapping_neg(),
            };
            let c = pool.number(c, width);
            pool.pair(Code::Add, byte, c)
        }
        5 => {
            let fit = made.iter().copied().find(|&t| pool.width(t) == width);
            let x = fit.unwrap_or_else(|| pool.number(1, width));
            let c = pool.number(random.number(width), width);
            let code =
                random.one(&[Code::Add, Code::Sub, Code::Mul, Code::Xor, Code::And, Code::Or]);
            if random.below(4) == 0 { pool.pair(code, c, x) } else { pool.pair(code, x, c) }
        }
        2 if width.is_multiple_of(8) && u64::from(width / 8) <= BYTES => {
            let bytes = width / 8;
            let offset = random.below(BYTES - u64::from(bytes) + 1) as u32;
            pool.read(offset, bytes)
        }
        _ => {
            let fit: Vec<Term> = made.iter().copied().filter(|&t| pool.width(t) == width).collect();
            if !fit.is_empty() && random.below(4) != 0 {
                return random.one(&fit);
            }
            let any = random.one(made);
            match pool.width(any) {
                w if w > width => {
                    let low = random.below(u64::from(w - width) + 1) as u32;
                    let low = if random.below(2) == 0 { low / 8 * 8 } else { low };
                    pool.extract(any, low, width)
                }
                _ if random.below(2) == 0 => pool.zext(any, width),
                _ => pool.sext(any, width),
            }
        }
    }
}

fn random_operation(
    pool: &mut Pool,
    random: &mut Random,
    made: &[Term],
    codes: &[Code],
    tables: &[Table],
) -> Operation {
    let code = random.one(codes);
    let width = random.one(&WIDTHS);
    let term =
        |pool: &mut Pool, random: &mut Random, width| operand(pool, random, made, width).number();
    let (width, a, b, c) = match code {
        Code::Lookup => {
            let small = operand(pool, random, made, 8);
            let offset = match random.below(3) {
                0 => operand(pool, random, made, 64),
                _ => pool.zext(small, 64),
            };
            let table = random.one(&[0, 1]);
            let width = random.one(&[8, 16, 32, 64]);
            // This gives the table its number in the pool.
            let any = pool.lookup(offset, &tables[table], width);
            let id = match pool.node(any) {
                n if n.code == Code::Lookup => n.b,
                _ => 0,
            };
            (width, offset.number(), id, 0)
        }
        Code::Member => {
            let x = operand(pool, random, made, width.min(64));
            let count = random.below(4);
            let values: Vec<u64> =
                (0..count).map(|_| random.number(width.min(64)) as u64).collect();
            (1, x.number(), pool.set_id(x, &values), 0)
        }
        Code::ZExt | Code::SExt => {
            let from = random.one(&WIDTHS).min(width);
            (width, term(pool, random, from), 0, 0)
        }
        Code::Extract => {
            let from = random.one(&WIDTHS).max(width);
            let low = random.below(u64::from(from - width) + 1) as u32;
            let low = if random.below(2) == 0 { low / 8 * 8 } else { low };
            (width, term(pool, random, from), low, 0)
        }
        // Neighbouring parts of one term.
        Code::Concat if random.below(4) == 0 => {
            let width = random.one(&[8, 32, 64]);
            let whole = operand(pool, random, made, width);
            let (from, cut) = (random.below(3) as u32, 3 + random.below(3) as u32);
            let to = cut + 1 + random.below(u64::from(width - cut)) as u32;
            let low = pool.extract(whole, from, cut - from);
            let high = pool.extract(whole, cut, to - cut);
            (to - from, low.number(), high.number(), 0)
        }
        Code::Concat => {
            let (low, high) =
                (random.one(&[1, 8, 16, 24, 32, 64]), random.one(&[1, 8, 16, 32, 64]));
            (low + high, term(pool, random, low), term(pool, random, high), 0)
        }
        Code::Ite => {
            (width, term(pool, random, 1), term(pool, random, width), term(pool, random, width))
        }
        Code::FShl | Code::FShr => {
            let (a, b) = (term(pool, random, width), term(pool, random, width));
            (width, a, b, term(pool, random, width))
        }
        _ => {
            let (a, mut b) = (term(pool, random, width), term(pool, random, width));
            if random.below(16) == 0 {
                b = a;
            }
            (if code.is_compare() { 1 } else { width }, a, b, 0)
        }
    };
    Operation { code, width, a, b, c }
}

#[test]
fn every_rule_applies_and_keeps_the_value() {
    let codes: Vec<Code> = {
        let mut codes: Vec<Code> = table().map(|(code, _)| code).collect();
        codes.dedup();
        codes
    };
    let tables = [Table::new(&[7; 16]), Table::new(b"\0\x01\x02\x03some bytes\xff\x80")];
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut applied: HashMap<(Code, &'static str), u32> = HashMap::new();
    for round in 0..1500 {
        let mut pool = Pool::default();
        let mut made: Vec<Term> = (0..4).map(|i| pool.read(i, 1)).collect();
        made.push(pool.length(0));
        let mut claims: Vec<(&'static str, Term, Term)> = Vec::new();
        for _ in 0..60 {
            let op = random_operation(&mut pool, &mut random, &made, &codes, &tables);
            // `simplify` puts constants on the right before it calls the rules.
            let mut swapped = op;
            let x = Term::from_number(op.a);
            if op.code.is_commutative() && pool.constant(x).is_some() {
                (swapped.a, swapped.b) = (op.b, op.a);
            }
            let before = pool.intern(op.code, op.width, op.a, op.b, op.c);
            let all_constant = pool.node(before).operands().all(|o| pool.constant(o).is_some());
            if !all_constant {
                for rule in rules(op.code) {
                    if let Some(after) = (rule.apply)(&mut pool, &swapped) {
                        claims.push((rule.equation, before, after));
                        *applied.entry((op.code, rule.equation)).or_default() += 1;
                    }
                }
            }
            let after = pool.make(op.code, op.width, op.a, op.b, op.c);
            claims.push(("all rules", before, after));
            made.push(after);
        }
        for _ in 0..6 {
            let bytes: Vec<u8> = (0..BYTES).map(|_| random.number(8) as u8).collect();
            let input = Input::streams(&bytes, vec![random.number(LENGTH_BITS) as u64]);
            let mut values = TermValues::default();
            values.extend(&pool, &input);
            for &(equation, before, after) in &claims {
                assert_eq!(pool.width(before), pool.width(after), "{equation}");
                assert_eq!(
                    values.get(before),
                    values.get(after),
                    "round {round}, {equation}: {} became {} on {bytes:?}",
                    pool.show(before, 5),
                    pool.show(after, 5)
                );
                let bits = mask(pool.bits(before));
                assert_eq!(values.get(before) & !bits, 0, "bits of {}", pool.show(before, 5));
            }
        }
    }
    let never: Vec<_> = table()
        .filter(|(code, rule)| !applied.contains_key(&(*code, rule.equation)))
        .map(|(code, rule)| format!("{code:?}: {}", rule.equation))
        .collect();
    assert!(never.is_empty(), "never applied: {never:#?}");
}
