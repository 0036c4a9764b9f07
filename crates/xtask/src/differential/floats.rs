//! Random C programs of our own that compute in `float` and `double`: arithmetic,
//! comparisons, conversions, functions of libm, numbers in text.
//!
//! A program has no undefined behaviour: conversions to integers are of numbers in range,
//! and loops have bounds. It prints bits, and `nan` for every NaN: the sign and payload of a
//! NaN are not defined. Powers with constant exponents are left out, because optimisers
//! replace them by products.

use super::random::Random;
use super::source::Source;

/// How many bytes a program reads.
pub const INPUT_LEN: u64 = 64;
/// How deep expressions are nested.
const MAX_DEPTH: u32 = 4;

const PRELUDE: &str = r#"#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static unsigned char in[64];
static double double_at(int n) { double x; memcpy(&x, in + n, 8); return x; }
static float float_at(int n) { float x; memcpy(&x, in + n, 4); return x; }
static int int_at(int n) { int x; memcpy(&x, in + n, 4); return x; }
static int whole(double x) { return x > -1e9 && x < 1e9 ? (int)x : 7; }
static long wide(double x) { return x > -1e18 && x < 1e18 ? (long)x : -7; }
static unsigned positive(double x) { return x > -1 && x < 4e9 ? (unsigned)x : 9; }
static double text_at(int n) {
    char s[13];
    memcpy(s, in + n, 12);
    s[12] = 0;
    return strtod(s, 0);
}
static void show(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    if (x != x) printf("nan\n");
    else printf("%llx\n", (unsigned long long)bits);
}
"#;

struct Generator {
    random: Random,
    source: Source,
}

/// The program for a seed.
pub fn generate(seed: u64) -> String {
    let mut g = Generator { random: Random::new(seed), source: Source::default() };
    PRELUDE.lines().for_each(|line| g.source.line(line));
    let functions = 1 + g.below(3);
    for n in 0..functions {
        g.source.open(format!("static double f{n}(double x, float y, int n) {{"));
        g.source.line("double d0 = x, d1 = y; float e0 = y; int i0 = n;");
        let statements = 2 + g.below(4);
        (0..statements).for_each(|_| g.statement(n, 2));
        let result = g.double(n, MAX_DEPTH);
        g.source.line(format!("return {result};"));
        g.source.close();
    }
    g.source.open("int main(void) {");
    g.source.line("long got = read(0, in, sizeof in);");
    g.source.line("double x = double_at(0), d0 = double_at(8), d1 = text_at(32);");
    g.source.line("float y = float_at(16), e0 = float_at(20);");
    g.source.line("int n = int_at(24), i0 = in[28];");
    g.source.line("if (got < 0) return 1;");
    for _ in 0..6 + g.below(6) {
        g.statement(functions, 3);
    }
    for name in ["x", "d0", "d1", "y", "e0"] {
        g.source.line(format!("show({name});"));
    }
    g.source.line("printf(\"%d %d\\n\", n, i0);");
    g.source.line("return 0;");
    g.source.close();
    g.source.finish()
}

impl Generator {
    fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len() as u64) as usize]
    }

    /// A statement that may call the functions before number `functions`.
    fn statement(&mut self, functions: u64, depth: u32) {
        match self.below(if depth == 0 { 4 } else { 7 }) {
            0 | 1 => {
                let (name, value) =
                    (self.pick(&["d0", "d1", "x"]), self.double(functions, MAX_DEPTH));
                self.source.line(format!("{name} = {value};"));
            }
            2 => {
                let value = self.float(functions, MAX_DEPTH);
                self.source.line(format!("e0 = {value};"));
            }
            3 => {
                let value = self.int(functions, MAX_DEPTH);
                self.source.line(format!("i0 = {value};"));
            }
            4 | 5 => {
                let condition = self.condition(functions);
                self.source.open(format!("if ({condition}) {{"));
                self.statement(functions, depth - 1);
                self.source.between("} else {");
                self.statement(functions, depth - 1);
                self.source.close();
            }
            _ => {
                let (name, rounds) = (format!("k{depth}"), 1 + self.below(3));
                self.source.open(format!("for (int {name} = 0; {name} < {rounds}; {name}++) {{"));
                self.statement(functions, depth - 1);
                self.source.close();
            }
        }
    }

    fn condition(&mut self, functions: u64) -> String {
        let (a, b) = (self.double(functions, 2), self.double(functions, 2));
        match self.below(8) {
            0 => format!("isnan({a}) || isinf({b})"),
            1 => format!("isfinite({a}) && {b} < {a}"),
            2 => format!("!({a} <= {b})"),
            3 => format!("{} < {}", self.float(functions, 2), self.float(functions, 2)),
            4 => format!("{} > {}", self.int(functions, 2), self.int(functions, 2)),
            5 => format!("signbit({a})"),
            _ => {
                let symbol = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("{a} {symbol} {b}")
            }
        }
    }

    fn double(&mut self, functions: u64, depth: u32) -> String {
        if depth == 0 {
            return match self.below(4) {
                0 => self
                    .pick(&["0.0", "-0.0", "1.0", "0.1", "2.5", "-3.75", "1e300", "1e-310"])
                    .into(),
                _ => self.pick(&["x", "d0", "d1", "y", "e0"]).into(),
            };
        }
        let d = depth - 1;
        match self.below(12) {
            0..=4 => {
                let symbol = self.pick(&["+", "-", "*", "/"]);
                format!("({} {symbol} {})", self.double(functions, d), self.double(functions, d))
            }
            5 => format!("(-{})", self.double(functions, d)),
            6 => {
                let f = self.pick(&[
                    "fabs", "sqrt", "floor", "ceil", "trunc", "round", "rint", "exp", "log", "sin",
                    "cos", "atan", "tanh", "cbrt", "log10", "exp2", "expm1", "log1p",
                ]);
                format!("{f}({})", self.double(functions, d))
            }
            7 => {
                let f = self.pick(&["fmod", "pow", "atan2", "hypot", "copysign", "fdim"]);
                format!("{f}({}, {})", self.double(functions, d), self.double(functions, d))
            }
            8 => format!("(double){}", self.int(functions, d)),
            9 if functions > 0 => {
                let f = self.below(functions);
                let (a, b) = (self.double(0, d), self.float(0, d));
                format!("f{f}({a}, {b}, {})", self.int(0, d))
            }
            10 => format!(
                "({} < {} ? {} : {})",
                self.double(functions, d),
                self.double(functions, d),
                self.double(functions, d),
                self.double(functions, d)
            ),
            _ => self.float(functions, d),
        }
    }

    fn float(&mut self, functions: u64, depth: u32) -> String {
        if depth == 0 {
            return self.pick(&["y", "e0", "0.3f", "-1.5f", "16777216.0f"]).into();
        }
        let d = depth - 1;
        match self.below(5) {
            0 => format!("(float){}", self.double(functions, d)),
            1 => format!("sqrtf({})", self.float(functions, d)),
            2 => format!("(float){}", self.int(functions, d)),
            _ => {
                let symbol = self.pick(&["+", "-", "*", "/"]);
                format!("({} {symbol} {})", self.float(functions, d), self.float(functions, d))
            }
        }
    }

    fn int(&mut self, functions: u64, depth: u32) -> String {
        if depth == 0 {
            return self.pick(&["n", "i0", "3", "-17"]).into();
        }
        let d = depth - 1;
        match self.below(6) {
            0 => format!("whole({})", self.double(functions, d)),
            1 => format!("(int)wide({})", self.double(functions, d)),
            2 => format!("(int)positive({})", self.double(functions, d)),
            3 => format!("({} < {})", self.double(functions, d), self.double(functions, d)),
            _ => {
                let symbol = self.pick(&["^", "&", "|"]);
                format!("({} {symbol} {})", self.int(functions, d), self.int(functions, d))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_program() {
        assert_eq!(generate(7), generate(7));
        assert_ne!(generate(7), generate(8));
    }
}
