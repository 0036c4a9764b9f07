//! Printed expressions are C: random ones are printed, compiled and run. Their values must
//! be those of the evaluation.

mod common;

use common::{Builder, is_compare};
use pleach_abi::node::Op;
use pleach_expr::{Input, NoSymbols, Printer, mask};
use std::fmt::Write as _;
use std::process::Command;

const PRELUDE: &str = r#"
#include <stdint.h>
#include <limits.h>
#include <stdio.h>
typedef unsigned __int128 u128;
static u128 le(const uint8_t *p, int n) { u128 v = 0; while (n--) v = v << 8 | p[n]; return v; }
static u128 be(const uint8_t *p, int n) { u128 v = 0; for (int i = 0; i < n; i++) v = v << 8 | p[i]; return v; }
#define u16le(p) ((uint16_t)le(p, 2))
#define u32le(p) ((uint32_t)le(p, 4))
#define u64le(p) ((uint64_t)le(p, 8))
#define u128le(p) (le(p, 16))
#define u16be(p) ((uint16_t)be(p, 2))
#define u32be(p) ((uint32_t)be(p, 4))
#define u64be(p) ((uint64_t)be(p, 8))
static const uint8_t in[] = {INPUT};
static uint64_t len = sizeof in;
static void show(u128 v) { printf("%016llx%016llx\n", (unsigned long long)(v >> 64), (unsigned long long)v); }
"#;

/// xorshift: the same graphs every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % u64::from(n)) as u32
    }

    fn constant(&mut self, width: u32) -> u128 {
        let any = u128::from(self.0) << 64 | u128::from(self.0.rotate_left(29));
        let value = match self.below(7) {
            3 => 0xff << (self.below(16) * 8),
            4 => 0xffff,
            0 => any,
            1 => u128::MAX - u128::from(self.below(200)),
            2 => 1 << self.below(width),
            _ => self.below(300).into(),
        };
        value & mask(width)
    }
}

const WIDTHS: [u32; 12] = [1, 8, 8, 16, 32, 32, 64, 64, 24, 33, 65, 128];

/// One random expression of about `size` operations.
fn expression(b: &mut Builder, random: &mut Random, width: u32, size: u32) -> u32 {
    use Op::*;
    if size == 0 {
        let leaf = match (width, random.below(2)) {
            (8, _) => return b.byte(random.below(8)),
            (16 | 32 | 64 | 128, 0) => return b.read(random.below(8), width / 8),
            (64, 1) if random.below(4) == 0 => return b.node(InputLen, 64, [0; 3], 0),
            _ => b.byte(random.below(8)),
        };
        return resize(b, random, leaf, width);
    }
    let binary = [Add, Sub, Mul, And, Or, Xor, Shl, LShr, AShr, UDiv, SRem, SDiv, URem, Concat];
    match random.below(10) {
        0 => {
            let from = WIDTHS[random.below(12) as usize];
            let inner = expression(b, random, from, size - 1);
            resize(b, random, inner, width)
        }
        1 if width <= 64 => {
            let half = (size - 1) / 2;
            let condition = expression(b, random, 1, half.min(3));
            let yes = expression(b, random, width, half);
            let no = expression(b, random, width, half);
            b.node(Ite, width, [condition, yes, no], 0)
        }
        _ if width == 1 => {
            let compare = [Eq, Ne, Ult, Ule, Slt, Sle][random.below(6) as usize];
            let of = WIDTHS[random.below(12) as usize];
            let a = expression(b, random, of, size / 2);
            if random.below(2) == 0 {
                let constant = random.constant(of);
                let sides = if random.below(3) == 0 { [0, a, 0] } else { [a, 0, 0] };
                return b.node(compare, 1, sides, constant);
            }
            let other = expression(b, random, of, size / 2);
            b.binary(compare, a, other)
        }
        _ => {
            let op = binary[random.below(binary.len() as u32) as usize];
            match op {
                Concat => {
                    let low = 1 + random.below(width - 1);
                    let (x, y) = (
                        expression(b, random, low, size / 2),
                        expression(b, random, width - low, size / 2),
                    );
                    return b.node(Concat, width, [x, y, low], 0);
                }
                Shl | LShr | AShr => {
                    let a = expression(b, random, width, size - 1);
                    let any = random.below(width);
                    let by = if random.below(2) == 0 { any } else { any & !7 }.into();
                    return b.with(op, a, by);
                }
                UDiv | URem | SDiv | SRem => {
                    let a = expression(b, random, width, size - 1);
                    let by = 1 + random.below(if width >= 8 { 100 } else { 1 });
                    return b.with(op, a, by.into());
                }
                _ => {}
            }
            let a = expression(b, random, width, size / 2);
            if random.below(2) == 0 {
                let constant = random.constant(width);
                let sides = if random.below(2) == 0 { [0, a, 0] } else { [a, 0, 0] };
                return b.node(op, width, sides, constant);
            }
            let other = expression(b, random, width, size / 2);
            debug_assert!(!is_compare(op));
            b.binary(op, a, other)
        }
    }
}

fn resize(b: &mut Builder, random: &mut Random, label: u32, width: u32) -> u32 {
    let from = b.width(label);
    match (from < width, random.below(2)) {
        (true, 0) => b.zext(label, width),
        (true, _) => b.sext(label, width),
        (false, 0) => b.trunc(label, width),
        (false, _) => {
            let at = random.below(from - width + 1);
            b.node(Op::Extract, width, [label, at, 0], 0)
        }
    }
}

#[test]
fn compiled_expressions_have_their_evaluated_values() {
    let input: Vec<u8> = (0..32u8).map(|i| i.wrapping_mul(73) ^ 0x9c).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut program = format!(
        "{}\nint main(void) {{\n",
        PRELUDE.replace("INPUT", &input.iter().map(u8::to_string).collect::<Vec<_>>().join(","))
    );
    let mut expected = Vec::new();
    while expected.len() < 1500 {
        let mut b = Builder::new(input.len() as u32);
        let width = WIDTHS[random.below(12) as usize];
        let size = 1 + random.below(12);
        let label = expression(&mut b, &mut random, width, size);
        let expr = b.build(&[label]);
        let value = expr.eval(&[label], &Input::plain(&input)).get(label);
        let printer = Printer::new(&expr, &NoSymbols);
        let mut texts = vec![(printer.value(label), value)];
        texts.push((printer.equals(label, value), 1));
        texts.push((printer.equals(label, value ^ 1), 0));
        if width == 1 {
            texts.push((printer.condition(label, true), value));
            texts.push((printer.condition(label, false), 1 - value));
        }
        for (text, value) in texts.into_iter().filter(|(t, _)| !t.contains('…') && is_defined(t))
        {
            writeln!(program, "show({text});").unwrap();
            expected.push((text, value));
        }
    }
    program.push_str("return 0; }\n");
    let dir = tempfile::tempdir().unwrap();
    let (source, binary) = (dir.path().join("t.c"), dir.path().join("t"));
    std::fs::write(&source, &program).unwrap();
    let compiled =
        Command::new("cc").args(["-w", "-O0", "-o"]).args([&binary, &source]).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&binary).output().unwrap();
    let lines: Vec<_> = std::str::from_utf8(&run.stdout).unwrap().lines().collect();
    assert_eq!(lines.len(), expected.len(), "{:?} {:?}", run.status, expected.get(lines.len()));
    for (line, (text, value)) in lines.iter().zip(&expected) {
        assert_eq!(u128::from_str_radix(line, 16).unwrap(), *value, "{text}");
    }
}

/// True if the prelude has all functions in the text. It has none for 3 or 5 bytes.
fn is_defined(text: &str) -> bool {
    !["u24", "u40", "u48", "u56", "u72", "u80", "u88"].iter().any(|n| text.contains(n))
}
