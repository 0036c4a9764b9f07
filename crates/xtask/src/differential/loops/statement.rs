//! Statements: loops of all shapes, and what is done in them.

use super::expr::{Expr, expr};
use super::types::Int;
use super::{Array, Generator, MAX_COST};

/// Loops are nested at most this deep.
const MAX_NESTING: usize = 3;
const MAX_ROUNDS: u64 = 14;

impl Generator {
    /// Some statements of a block. `depth` bounds how deep blocks are nested in it.
    pub fn block(&mut self, depth: u32) {
        let locals = self.locals.len();
        for _ in 0..1 + self.below(4) {
            self.statement(depth);
        }
        self.locals.truncate(locals);
    }

    fn statement(&mut self, depth: u32) {
        self.cost += self.weight;
        let is_leaf = depth == 0 || self.cost > MAX_COST;
        match self.below(if is_leaf { 6 } else { 17 }) {
            0 => self.declare(),
            1..=3 => self.assign(),
            4 => self.copy(),
            5 => self.change_string(),
            6 | 7 => self.for_loop(depth),
            8 => self.while_loop(depth),
            9 => self.reduce(),
            10 => self.nest(),
            11 => self.walk(),
            12 => self.switch(depth),
            13 => self.sort(),
            14 => self.jump(),
            15 => self.go_forward(depth),
            _ => {
                let condition = self.condition(2).text;
                self.source.open(format!("if {condition} {{"));
                self.block(depth - 1);
                if self.chance(50) {
                    self.source.between("} else {");
                    self.block(depth - 1);
                }
                self.source.close();
            }
        }
    }

    fn declare(&mut self) {
        let (int, name, value) = (self.any_int(), self.new_name("x"), self.expr(3));
        self.source.line(format!("{} {name} = {};", int.name(), value.cast(int)));
        self.locals.push(expr(name, int));
    }

    fn lvalue(&mut self) -> Expr {
        match self.below(6) {
            0 | 1 if !self.locals.is_empty() => {
                let locals = self.locals.clone();
                self.pick(&locals).clone()
            }
            2 => self.field(),
            3 => {
                let n = self.below(self.globals.len() as u64) as usize;
                expr(format!("v{n}"), self.globals[n])
            }
            _ => {
                let array = self.any_array();
                self.element(&array)
            }
        }
    }

    fn assign(&mut self) {
        let (to, value) = (self.lvalue(), self.expr(3));
        let wide = to.int.wrapping();
        let line = match self.below(6) {
            0 => format!("{} {}= {};", to.text, self.pick(&["^", "|", "&"]), value.cast(wide)),
            1 if !to.int.signed => {
                format!("{} {}= {};", to.text, self.pick(&["+", "-", "*"]), value.cast(wide))
            }
            2 if !to.int.signed || to.int.bits < 32 => {
                format!("{}{};", to.text, self.pick(&["++", "--"]))
            }
            3 => format!("mix((uint64_t){});", value.text),
            4 => format!("{} = {};", to.text, wrapping_sum(&to, &value)),
            _ => format!("{} = {};", to.text, value.cast(to.int)),
        };
        self.source.line(line);
    }

    /// Copies, moves or fills bytes of arrays.
    fn copy(&mut self) {
        let (a, b) = (self.any_array(), self.any_array());
        let (size_a, size_b) = (a.bytes(), b.bytes());
        let length = 1 + self.below(size_a.min(size_b));
        let (at_a, at_b) = (self.below(size_a - length + 1), self.below(size_b - length + 1));
        let (name_a, name_b) = (&a.name, &b.name);
        let to = format!("(char *){name_a} + {at_a}");
        let line = match (name_a == name_b, self.below(3)) {
            (_, 0) => format!("memset({to}, {}, {length});", self.expr(1).text),
            // Overlapping bytes are for memmove.
            (false, 1) => format!("memcpy({to}, (char *){name_b} + {at_b}, {length});"),
            _ => format!("memmove({to}, (char *){name_b} + {at_b}, {length});"),
        };
        self.source.line(line);
    }

    /// Changes a string, which keeps its end.
    fn change_string(&mut self) {
        let (a, b) = (self.any_string(), self.any_string());
        let number = self.expr(2).cast(super::types::I32);
        let line = match self.below(6) {
            0 => format!("strcpy({a}, \"{}\");", self.pick(&["", "0", "abc", "-12", "x=7"])),
            1 => format!("snprintf({a}, sizeof {a}, \"%d:%x\", {number}, {number});"),
            2 if a != b => {
                format!("snprintf({a}, sizeof {a}, \"%s%c\", {b}, 'a' + ({number} & 15));")
            }
            3 if a != b => format!("strncpy({a}, {b}, sizeof {a} - 1);"),
            4 => format!("{a}[{}] = (char)({number} | 1);", self.below(8)),
            _ => format!("for (char *p = {a}; *p; p++) *p = (char)toupper((unsigned char)*p);"),
        };
        self.source.line(line);
    }

    /// The largest number of rounds that a new loop may have here.
    fn max_rounds(&self) -> u64 {
        match self.counters.len() < MAX_NESTING {
            true => MAX_ROUNDS.min(MAX_COST / self.weight / 8),
            false => 0,
        }
    }

    /// Runs `body` with a loop around it that has at most `rounds` rounds.
    fn in_loop(&mut self, counter: &str, rounds: u64, body: impl FnOnce(&mut Generator)) {
        self.counters.push((counter.into(), rounds));
        self.weight *= rounds.max(1);
        body(self);
        self.weight /= rounds.max(1);
        self.counters.pop();
    }

    fn for_loop(&mut self, depth: u32) {
        let most = self.max_rounds();
        if most < 2 {
            return self.assign();
        }
        let (i, rounds) = (self.new_name("i"), 2 + self.below(most - 1));
        let kind = *self.pick(&["int", "size_t", "unsigned", "uint8_t"]);
        let bound = match self.chance(50) {
            true => rounds.to_string(),
            false => format!("{} % {}", self.expr(1).cast(super::types::U32), rounds + 1),
        };
        let head = match self.below(4) {
            0 => format!("for ({kind} {i} = 0; {i} < {rounds}; {i} += {}) {{", 1 + self.below(3)),
            1 => format!("for ({kind} {i} = {rounds}; {i}-- > 0;) {{"),
            _ => format!("for ({kind} {i} = 0, end = ({kind})({bound}); {i} < end; {i}++) {{"),
        };
        self.source.open(head);
        self.in_loop(&i, rounds, |g| g.block(depth - 1));
        self.source.close();
    }

    fn while_loop(&mut self, depth: u32) {
        let most = self.max_rounds();
        if most < 2 {
            return self.assign();
        }
        let (i, rounds) = (self.new_name("w"), 2 + self.below(most - 1));
        let condition = self.condition(2).text;
        self.source.line(format!("int {i} = 0;"));
        match self.chance(60) {
            true => {
                self.source.open(format!("while ({i} < {rounds} && {condition}) {{"));
                // Counted first, so that `continue` cannot skip it.
                self.source.line(format!("{i}++;"));
                self.in_loop("0", rounds, |g| g.block(depth - 1));
                self.source.close();
            }
            false => {
                self.source.open("do {");
                self.in_loop("0", rounds, |g| g.block(depth - 1));
                self.source.close_with(&format!("}} while (++{i} < {rounds} && {condition});"));
            }
        }
        self.locals.push(expr(i, super::types::I32));
    }

    /// A sum, a smallest or largest element, a count, a search.
    fn reduce(&mut self) {
        let (array, int, sum) = (self.any_array(), self.any_int(), self.new_name("r"));
        if array.rows * self.weight > MAX_COST / 8 {
            return self.assign();
        }
        let (i, rows) = (self.new_name("i"), array.rows);
        self.source.line(format!("{} {sum} = 0;", int.name()));
        self.source.open(format!("for (size_t {i} = 0; {i} < {rows}; {i}++) {{"));
        let total = expr(sum.clone(), int);
        let line = self.in_rows(&array, &i, |g, element| match g.below(5) {
            0 => format!("{sum} = {};", wrapping_sum(&total, &element)),
            1 => format!("if ({} > {sum}) {sum} = {};", element.text, element.cast(int)),
            2 => format!("{sum} ^= {};", element.cast(int)),
            3 => format!("{sum} = (uint8_t){sum} + ({} == {});", element.text, g.expr(1).text),
            _ => format!(
                "if ({} < {}) {{ {sum} = ({})({i}); break; }}",
                element.text,
                g.expr(1).text,
                int.name()
            ),
        });
        self.source.line(line);
        self.source.close();
        self.locals.push(total);
    }

    /// A line on an element in each row of an array.
    fn in_rows(
        &mut self,
        array: &Array,
        i: &str,
        line: impl FnOnce(&mut Generator, Expr) -> String,
    ) -> String {
        let mut made = String::new();
        self.in_loop(i, array.rows, |g| {
            let text = match array.columns {
                Some(columns) => format!("{}[{i}][{}]", array.name, g.index(columns)),
                None => format!("{}[{i}]", array.name),
            };
            made = line(g, expr(text, array.int));
        });
        made
    }

    /// Two nested loops on arrays: prefix sums, stencils, products, transpositions.
    fn nest(&mut self) {
        let (a, b) = (self.any_array(), self.any_array());
        let rounds = [a.rows.min(b.rows), b.columns.unwrap_or(3).min(MAX_ROUNDS)];
        if rounds[0] * rounds[1] * self.weight > MAX_COST / 8 || self.counters.len() > 1 {
            return self.assign();
        }
        let (i, j) = (self.new_name("i"), self.new_name("j"));
        self.source.open(format!("for (int {i} = 0; {i} < {}; {i}++) {{", rounds[0]));
        self.in_loop(&i, rounds[0], |g| {
            g.source.open(format!("for (int {j} = 0; {j} < {}; {j}++) {{", rounds[1]));
            g.in_loop(&j, rounds[1], |g| {
                for _ in 0..1 + g.below(3) {
                    let (to, from, value) = (g.element(&a), g.element(&b), g.expr(2));
                    let sum = expr(format!("({})", wrapping_sum(&from, &value)), from.int);
                    g.source.line(format!("{} = {};", to.text, wrapping_sum(&to, &sum)));
                }
            });
            g.source.close();
        });
        self.source.close();
    }

    /// A pointer that walks through an array.
    fn walk(&mut self) {
        let array = self.any_array();
        let cells = array.rows * array.columns.unwrap_or(1);
        let (p, n, step) = (self.new_name("p"), self.new_name("n"), 1 + self.below(3));
        let start = self.below(cells);
        // After the last round the pointer is at most one past the end.
        let rounds = (cells - start) / step;
        if rounds == 0 || rounds * self.weight > MAX_COST / 8 {
            return self.assign();
        }
        let int = array.int;
        let base = format!("({} *){}", int.name(), array.name);
        self.source.line(format!("{} *{p} = {base} + {start};", int.name()));
        let bound = match self.chance(50) {
            true => rounds.to_string(),
            false => format!("{} % {}", self.expr(1).cast(super::types::U32), rounds + 1),
        };
        self.source.open(format!("for (unsigned {n} = {bound}; {n} > 0; {n}--) {{"));
        // The counter counts from the number of rounds, so it is no index.
        self.in_loop("0", rounds, |g| {
            let value = g.expr(2);
            let target = expr(format!("*{p}"), int);
            g.source.line(format!("*{p} = {};", wrapping_sum(&target, &value)));
            if g.chance(30) {
                let condition = g.condition(1).text;
                g.source.line(format!("if {condition} break;"));
            }
            g.source.line(format!("{p} += {step};"));
        });
        self.source.close();
        self.source.line(format!("mix((uint64_t)({p} - ({base})));"));
    }

    fn switch(&mut self, depth: u32) {
        let (value, cases) = (self.expr(2), 2 + self.below(5));
        let stride = *self.pick(&[1, 1, 1, 7, 1000]);
        let of = cases + 2;
        let value = value.cast(super::types::U32);
        self.source.open(format!("switch ({value} % {of} * {stride}) {{"));
        for case in 0..cases {
            self.source.line(format!("case {}:", case * stride));
            self.source.open("{");
            self.block(depth.saturating_sub(2));
            self.source.close();
            if self.chance(75) {
                self.source.line("break;");
            } else {
                self.source.line("/* falls through */");
            }
        }
        if self.chance(70) {
            self.source.line("default:");
            self.assign();
        } else {
            self.source.line("default: break;");
        }
        self.source.close();
    }

    fn sort(&mut self) {
        let array = self.any_array();
        if array.columns.is_some() || self.weight > 4 {
            return self.assign();
        }
        let (name, n, int) = (&array.name, array.rows, array.int);
        self.cost += n * n * self.weight;
        let compare = format!("compare_{}", int.name());
        if self.chance(50) {
            self.source.line(format!("qsort({name}, {n}, sizeof {name}[0], {compare});"));
            return;
        }
        let (i, j) = (self.new_name("i"), self.new_name("j"));
        self.source.open(format!("for (int {i} = 1; {i} < {n}; {i}++) {{"));
        self.source.line(format!("{} key = {name}[{i}];", int.name()));
        self.source.line(format!("int {j} = {i} - 1;"));
        self.source.open(format!("while ({j} >= 0 && {name}[{j}] > key) {{"));
        self.source.line(format!("{name}[{j} + 1] = {name}[{j}];"));
        self.source.line(format!("{j}--;"));
        self.source.close();
        self.source.line(format!("{name}[{j} + 1] = key;"));
        self.source.close();
    }

    /// Leaves a loop or a round of it.
    fn jump(&mut self) {
        if self.counters.is_empty() {
            return self.assign();
        }
        let (condition, how) = (self.condition(2).text, *self.pick(&["break", "continue"]));
        self.source.line(format!("if {condition} {how};"));
    }

    /// Jumps over a block.
    fn go_forward(&mut self, depth: u32) {
        let (label, condition) = (self.new_name("l"), self.condition(2).text);
        self.source.line(format!("if {condition} goto {label};"));
        self.source.open("{");
        self.block(depth - 1);
        self.source.close();
        self.source.line(format!("{label}:;"));
    }
}

/// `a + b` without overflow, as a value of the type of `a`.
fn wrapping_sum(a: &Expr, b: &Expr) -> String {
    let wide: Int = a.int.common(b.int).wrapping();
    format!("({})({} + {})", a.int.name(), a.cast(wide), b.cast(wide))
}
