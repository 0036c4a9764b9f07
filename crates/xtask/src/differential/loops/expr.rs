//! Expressions without undefined behaviour: arithmetic wraps around in unsigned types,
//! shifts and indexes are reduced, and divisors are never 0.

use super::types::{self, I32, Int, U32, U64};
use super::{Array, Generator, INPUT_LEN};

/// An expression and its type. Its text can be an operand of any operator.
#[derive(Clone, Debug)]
pub struct Expr {
    pub text: String,
    pub int: Int,
}

pub fn expr(text: impl Into<String>, int: Int) -> Expr {
    Expr { text: text.into(), int }
}

impl Expr {
    /// The value converted to a type.
    pub fn cast(&self, to: Int) -> String {
        format!("({})({})", to.name(), self.text)
    }
}

impl Generator {
    pub fn any_int(&mut self) -> Int {
        *self.pick(&types::ALL)
    }

    /// An expression that reads at most some 2^depth values.
    pub fn expr(&mut self, depth: u32) -> Expr {
        if depth == 0 || self.chance(15) {
            return self.leaf();
        }
        match self.below(13) {
            0..=2 => self.arithmetic(depth),
            3 => self.small_arithmetic(depth),
            4 => self.bitwise(depth),
            5 => self.shift(depth),
            6 => self.division(depth),
            7 | 8 => self.condition(depth),
            9 => {
                let (c, a, b) =
                    (self.condition(depth - 1), self.expr(depth - 1), self.expr(depth - 1));
                let int = a.int.common(b.int);
                expr(format!("({} ? {} : {})", c.text, a.text, b.text), int)
            }
            10 => {
                let (value, to) = (self.expr(depth - 1), self.any_int());
                expr(format!("({})", value.cast(to)), to)
            }
            11 => self.call(depth).unwrap_or_else(|| self.leaf()),
            _ => self.of_string(),
        }
    }

    fn arithmetic(&mut self, depth: u32) -> Expr {
        let (a, b, to) = (self.expr(depth - 1), self.expr(depth - 1), self.any_int());
        let wide = a.int.common(b.int).wrapping();
        let op = *self.pick(&["+", "-", "*", "+", "-"]);
        expr(format!("({})({} {op} {})", to.name(), a.cast(wide), b.cast(wide)), to).wrapped()
    }

    /// Arithmetic of narrow types in `int`, which cannot overflow.
    fn small_arithmetic(&mut self, depth: u32) -> Expr {
        let (a, b) = (self.expr(depth - 1), self.expr(depth - 1));
        let narrow = |generator: &mut Generator| *generator.pick(&types::ALL[..4]);
        let (x, y) = (narrow(self), narrow(self));
        let fits = x.magnitude_bits() + y.magnitude_bits() < 32;
        let op = *self.pick(if fits { &["+", "-", "*"] } else { &["+", "-", "-"] });
        expr(format!("({} {op} {})", a.cast(x), b.cast(y)), I32)
    }

    fn bitwise(&mut self, depth: u32) -> Expr {
        let (a, b) = (self.expr(depth - 1), self.expr(depth - 1));
        if self.chance(20) {
            return expr(format!("(~{})", a.text), a.int.promoted());
        }
        let op = *self.pick(&["&", "|", "^"]);
        expr(format!("({} {op} {})", a.text, b.text), a.int.common(b.int))
    }

    fn shift(&mut self, depth: u32) -> Expr {
        let (a, b) = (self.expr(depth - 1), self.expr(depth - 1));
        let wide = a.int.promoted();
        let by = format!("({} & {})", b.text, wide.bits - 1);
        match self.chance(50) {
            true => expr(format!("({} << {by})", a.cast(wide.wrapping())), wide.wrapping()),
            // A negative value is shifted arithmetically, in every compiler there is.
            false => expr(format!("({} >> {by})", a.text), wide),
        }
    }

    fn division(&mut self, depth: u32) -> Expr {
        let (a, b) = (self.expr(depth - 1), self.expr(depth - 1));
        let int = a.int.common(b.int);
        let op = *self.pick(&["/", "%"]);
        match int.signed {
            false => expr(format!("({} {op} ({} | 1))", a.cast(int), b.cast(int)), int),
            true => {
                let name = if op == "/" { "divide" } else { "modulo" };
                let text = format!("{name}{}({}, {})", int.bits, a.cast(int), b.cast(int));
                expr(text, int)
            }
        }
    }

    /// An expression whose value is 0 or 1.
    pub fn condition(&mut self, depth: u32) -> Expr {
        let depth = depth.max(1);
        let (a, b) = (self.expr(depth - 1), self.expr(depth - 1));
        let op = *self.pick(&["<", ">", "<=", ">=", "==", "!=", "&&", "||", "!"]);
        let text = match op {
            "!" => format!("(!{})", a.text),
            _ => format!("({} {op} {})", a.text, b.text),
        };
        expr(text, I32)
    }

    fn call(&mut self, depth: u32) -> Option<Expr> {
        // What a call costs counts as often as the loops around it repeat it.
        let rest = (2 * super::MAX_COST).saturating_sub(self.cost);
        let affordable = |f: &&super::Function| f.cost * self.weight <= rest.min(super::MAX_COST);
        let possible: Vec<_> = self.functions.iter().filter(affordable).cloned().collect();
        if possible.is_empty() {
            return None;
        }
        let function = self.pick(&possible).clone();
        self.cost += function.cost * self.weight;
        let args: Vec<String> =
            (0..function.parameters).map(|_| self.expr(depth.min(2) - 1).text).collect();
        Some(expr(format!("{}({})", function.name, args.join(", ")), function.result))
    }

    /// A number that is read from a string.
    fn of_string(&mut self) -> Expr {
        let (a, b) = (self.any_string(), self.any_string());
        let byte = self.leaf().cast(types::ALL[1]);
        let text = match self.below(14) {
            0 => format!("(int32_t)strlen({a})"),
            1 => format!("sign(strcmp({a}, {b}))"),
            2 => format!("sign(strncmp({a}, {b}, {}))", self.below(8)),
            3 => format!("sign(memcmp({a}, {b}, {}))", self.below(12)),
            4 => format!("offset({a}, strchr({a}, {byte} | 1))"),
            5 => format!("offset({a}, strrchr({a}, {byte} | 1))"),
            6 => format!("offset({a}, memchr({a}, {byte}, {}))", self.below(12)),
            7 => format!("offset({a}, strstr({a}, {b}))"),
            8 => format!("(int32_t)strspn({a}, {b})"),
            9 => format!("(int32_t)strcspn({a}, {b})"),
            10 => format!("(int32_t)strtol({a}, NULL, {})", self.pick(&[0, 10, 16])),
            11 => format!("!!{}({byte})", self.pick(&["isdigit", "isalpha", "isspace", "isupper"])),
            12 => format!("{}({byte})", self.pick(&["tolower", "toupper"])),
            _ => return expr(format!("(uint8_t){a}[{}]", self.below(12)), types::ALL[1]).wrapped(),
        };
        expr(text, I32).wrapped()
    }

    pub fn any_string(&mut self) -> String {
        format!("s{}", self.below(self.strings))
    }

    fn leaf(&mut self) -> Expr {
        match self.below(10) {
            0 | 1 => self.constant(),
            2..=4 if !self.locals.is_empty() => {
                let locals = self.locals.clone();
                self.pick(&locals).clone()
            }
            5 | 6 => {
                let array = self.any_array();
                self.element(&array)
            }
            7 => self.field(),
            8 => {
                let index = self.index(INPUT_LEN);
                expr(format!("in[{index}]"), types::ALL[1])
            }
            _ => {
                let n = self.below(self.globals.len() as u64) as usize;
                expr(format!("v{n}"), self.globals[n])
            }
        }
    }

    fn constant(&mut self) -> Expr {
        let value = match self.below(4) {
            0 => self.below(4),
            1 => self.below(256),
            2 => 1 << self.below(31),
            _ => self.below(u64::from(u32::MAX)),
        };
        match self.below(6) {
            0 => expr(format!("{value}u"), U32),
            1 => expr(format!("UINT64_C({})", value << self.below(32)), U64),
            2 => expr(format!("(-{})", value & 0x7fff_ffff), I32),
            _ => expr(format!("{}", value & 0x7fff_ffff), I32),
        }
    }

    pub fn any_array(&mut self) -> Array {
        let arrays = self.arrays.clone();
        self.pick(&arrays).clone()
    }

    /// An element of an array.
    pub fn element(&mut self, array: &Array) -> Expr {
        let row = self.index(array.rows);
        match array.columns {
            Some(columns) => {
                let column = self.index(columns);
                expr(format!("{}[{row}][{column}]", array.name), array.int)
            }
            None => expr(format!("{}[{row}]", array.name), array.int),
        }
    }

    /// A field of an element of an array of structs.
    pub fn field(&mut self) -> Expr {
        let structs = self.structs.clone();
        let chosen = self.pick(&structs);
        let (field, int) = self.pick(&chosen.fields).clone();
        let index = self.index(chosen.elements);
        expr(format!("t{}[{index}].{field}", chosen.number), int)
    }

    /// An index below `length`.
    pub fn index(&mut self, length: u64) -> String {
        // A loop variable below the length needs no reduction.
        let fitting: Vec<_> = self.counters.iter().filter(|c| c.1 <= length).cloned().collect();
        if !fitting.is_empty() && self.chance(75) {
            let (name, limit) = self.pick(&fitting).clone();
            return match self.below(6) {
                0 => format!("{} - {name}", length - 1),
                1 => format!("{name} / 2"),
                2 if limit < length => format!("{name} + {}", length - limit),
                3 => format!("({name} * 3 + {}) % {length}", self.below(9)),
                _ => name,
            };
        }
        match self.below(3) {
            0 => self.below(length).to_string(),
            1 => {
                let mask = (length + 1).next_power_of_two() / 2 - 1;
                format!("{} & {mask}", self.leaf().text)
            }
            _ => format!("{} % {length}", self.leaf().cast(U32)),
        }
    }
}

impl Expr {
    /// In parentheses, where a cast or a call is at its start.
    fn wrapped(self) -> Expr {
        Expr { text: format!("({})", self.text), ..self }
    }
}
