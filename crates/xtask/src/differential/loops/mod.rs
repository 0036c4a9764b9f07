//! Random C programs of our own: loops over arrays, reductions, mixed integers, structs,
//! switches, pointers into arrays, function pointers, string functions, and input that is
//! read byte by byte. Csmith has few of these, and its programs read no input.
//!
//! A program has no undefined behaviour by construction (see [`expr`]). For one program in
//! [`super::SANITIZED_STEP`], the sanitizers check that. It always ends: every loop has a
//! bound, and functions call only functions before them.

mod expr;
mod statement;
mod types;

use super::random::Random;
use super::source::Source;
use expr::{Expr, expr};
use types::{I32, Int};

/// How many bytes a program reads.
pub const INPUT_LEN: u64 = 48;
/// How many statements a function may run, about.
const MAX_COST: u64 = 3000;
const STRING_SIZE: u64 = 16;

/// An array of integers with one or two dimensions.
#[derive(Clone)]
struct Array {
    name: String,
    int: Int,
    rows: u64,
    columns: Option<u64>,
}

impl Array {
    fn bytes(&self) -> u64 {
        self.rows * self.columns.unwrap_or(1) * u64::from(self.int.bits / 8)
    }
}

/// An array of structs.
#[derive(Clone)]
struct Struct {
    number: usize,
    fields: Vec<(String, Int)>,
    elements: u64,
}

/// A function that can be called, also through a table.
#[derive(Clone)]
struct Function {
    name: String,
    parameters: usize,
    result: Int,
    cost: u64,
}

struct Generator {
    random: Random,
    source: Source,
    globals: Vec<Int>,
    arrays: Vec<Array>,
    structs: Vec<Struct>,
    strings: u64,
    functions: Vec<Function>,
    /// Variables and parameters in scope.
    locals: Vec<Expr>,
    /// Loop variables in scope. Each is below its number.
    counters: Vec<(String, u64)>,
    names: usize,
    /// How often the loops around the current statement repeat it.
    weight: u64,
    /// How many statements the current function runs, about.
    cost: u64,
}

/// The program for a seed.
pub fn generate(seed: u64) -> String {
    let mut generator = Generator {
        random: Random::new(seed),
        source: Source::default(),
        globals: Vec::new(),
        arrays: Vec::new(),
        structs: Vec::new(),
        strings: 0,
        functions: Vec::new(),
        locals: Vec::new(),
        counters: Vec::new(),
        names: 0,
        weight: 1,
        cost: 0,
    };
    generator.program();
    generator.source.finish()
}

impl Generator {
    fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    fn new_name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn program(&mut self) {
        PRELUDE.lines().for_each(|line| self.source.line(line));
        self.source.line(format!("static unsigned char in[{INPUT_LEN}];"));
        self.declare_globals();
        self.define_helpers();
        for _ in 0..2 + self.below(3) {
            self.define_function();
            self.define_table();
        }
        self.define_main();
    }

    fn declare_globals(&mut self) {
        for n in 0..2 + self.below(4) {
            let (int, value) = (self.any_int(), self.below(100));
            self.source.line(format!("static {} v{n} = {value};", int.name()));
            self.globals.push(int);
        }
        for n in 0..2 + self.below(3) {
            let (int, rows) = (self.any_int(), 3 + self.below(11));
            let columns = self.chance(30).then(|| 2 + self.random.below(6));
            let name = format!("a{n}");
            let size = columns.map_or(String::new(), |c| format!("[{c}]"));
            self.source.line(format!("static {} {name}[{rows}]{size};", int.name()));
            self.arrays.push(Array { name, int, rows, columns });
        }
        for number in 0..1 + self.below(2) as usize {
            self.declare_struct(number);
        }
        self.strings = 2 + self.below(2);
        for n in 0..self.strings {
            let text = *self.pick(&["", "abc", "12", "a,b", "-0x1f"]);
            self.source.line(format!("static char s{n}[{STRING_SIZE}] = \"{text}\";"));
        }
    }

    fn declare_struct(&mut self, number: usize) {
        let mut fields = Vec::new();
        self.source.open(format!("struct record{number} {{"));
        for n in 0..2 + self.below(4) {
            let (int, name) = (self.any_int(), format!("f{n}"));
            if self.chance(30) && int.bits >= 32 {
                // A field of bits has the type `int` in expressions.
                let width = 3 + self.below(20);
                let sign = if self.chance(50) { "signed" } else { "unsigned" };
                self.source.line(format!("{sign} {name} : {width};"));
                fields.push((name, I32));
            } else {
                self.source.line(format!("{} {name};", int.name()));
                fields.push((name, int));
            }
        }
        self.source.close_with("};");
        let elements = 2 + self.below(4);
        self.source.line(format!("static struct record{number} t{number}[{elements}];"));
        self.structs.push(Struct { number, fields, elements });
    }

    /// Functions on structs by value and by pointer, and what `qsort` needs.
    fn define_helpers(&mut self) {
        for int in types::ALL {
            let name = int.name();
            self.source.open(format!(
                "__attribute__((unused)) static int compare_{name}(const void *a, const void *b) {{"
            ));
            self.source.line(format!("{name} x = *(const {name} *)a, y = *(const {name} *)b;"));
            self.source.line("return (x > y) - (x < y);");
            self.source.close();
        }
        for record in self.structs.clone() {
            let (number, fields) = (record.number, &record.fields);
            let (a, b) = (self.pick(fields).clone(), self.pick(fields).clone());
            let (kind, x) = (format!("struct record{number}"), expr("x", I32));
            self.source.open(format!("static {kind} change{number}({kind} r, int32_t x) {{"));
            self.source.line(format!("r.{} = {};", a.0, x.cast(a.1)));
            self.source.line(format!("r.{} ^= ({})(x >> 3);", b.0, b.1.wrapping().name()));
            self.source.line("return r;");
            self.source.close();
            self.source.open(format!("static int32_t use{number}({kind} *r, int32_t x) {{"));
            self.source.line(format!("*r = change{number}(*r, x);"));
            let from = expr(format!("r->{}", b.0), b.1);
            self.source.line(format!("return {};", from.cast(I32)));
            self.source.close();
        }
    }

    fn define_function(&mut self) {
        let (name, result) = (format!("f{}", self.functions.len()), self.any_int());
        let parameters: Vec<Int> = (0..self.below(4)).map(|_| self.any_int()).collect();
        let list: Vec<String> =
            parameters.iter().enumerate().map(|(n, int)| format!("{} q{n}", int.name())).collect();
        let list = if list.is_empty() { "void".into() } else { list.join(", ") };
        let storage = if self.chance(70) { "static " } else { "" };
        self.source.open(format!("{storage}{} {name}({list}) {{", result.name()));
        let named = parameters.iter().enumerate().map(|(n, int)| expr(format!("q{n}"), *int));
        self.locals = named.collect();
        self.cost = 0;
        if self.chance(40) {
            let int = self.any_int();
            self.source.line(format!("static {} kept;", int.name()));
            self.locals.push(expr("kept", int));
        }
        for _ in 0..3 + self.below(4) {
            self.block(3);
        }
        if self.chance(50) {
            let record = self.pick(&self.structs.clone()).clone();
            let (index, value) = (self.index(record.elements), self.expr(2).cast(I32));
            let number = record.number;
            self.source.line(format!("mix((uint64_t)use{number}(&t{number}[{index}], {value}));"));
        }
        let value = self.expr(3);
        self.source.line(format!("return {};", value.cast(result)));
        self.source.close();
        self.locals.clear();
        let (parameters, cost) = (parameters.len(), self.cost + 5);
        self.functions.push(Function { name, parameters, result, cost });
    }

    /// Sometimes a table of small functions, and a function that calls one of them.
    fn define_table(&mut self) {
        if self.chance(50) {
            return;
        }
        let (number, result) = (self.functions.len(), self.any_int());
        let size = 2 + self.below(3);
        let kind = result.name();
        let mut names = Vec::new();
        for n in 0..size {
            let name = format!("small{number}_{n}");
            self.locals = vec![expr("q0", I32), expr("q1", types::U64)];
            // A call here would be paid for again by everybody who uses the table.
            let functions = std::mem::take(&mut self.functions);
            let value = self.expr(3).cast(result);
            self.functions = functions;
            self.source.open(format!("static {kind} {name}(int32_t q0, uint64_t q1) {{"));
            self.source.line("(void)q0, (void)q1;");
            self.source.line(format!("return {value};"));
            self.source.close();
            names.push(name);
        }
        self.locals.clear();
        self.source.line(format!(
            "static {kind} (*const table{number}[])(int32_t, uint64_t) = {{{}}};",
            names.join(", ")
        ));
        let name = format!("f{number}");
        self.source.open(format!("static {kind} {name}(uint32_t n, int32_t x, uint64_t y) {{"));
        self.source.line(format!("return table{number}[n % {size}](x, y);"));
        self.source.close();
        self.functions.push(Function { name, parameters: 3, result, cost: 10 });
    }

    fn define_main(&mut self) {
        self.source.open("int main(void) {");
        match self.below(3) {
            0 => self.source.line("size_t got = fread(in, 1, sizeof in, stdin);"),
            1 => {
                self.source.line("size_t got = 0;");
                self.source.line("for (long n; got < sizeof in; got += (size_t)n)");
                self.source.line("    if ((n = read(0, in + got, sizeof in - got)) <= 0) break;");
            }
            _ => {
                self.source.line("size_t got = 0;");
                self.source.line("for (int c; got < sizeof in && (c = getchar()) != EOF;)");
                self.source.line("    in[got++] = (unsigned char)c;");
            }
        }
        self.source.line("mix(got);");
        self.fill();
        self.cost = 0;
        for _ in 0..1 + self.below(3) {
            self.block(2);
        }
        for function in self.functions.clone() {
            let args: Vec<String> = (0..function.parameters).map(|_| self.expr(1).text).collect();
            self.source.line(format!("mix((uint64_t){}({}));", function.name, args.join(", ")));
        }
        self.print();
        self.source.line("return (int)(sum & 15);");
        self.source.close();
    }

    /// Puts the input into some of the globals.
    fn fill(&mut self) {
        for array in self.arrays.clone().iter().filter(|a| a.columns.is_none()) {
            let (name, rows, from) = (&array.name, array.rows, self.below(INPUT_LEN));
            self.source.line(format!("for (unsigned i = 0; i < {rows}; i++)"));
            self.source.line(format!(
                "    {name}[i] = ({})(in[(i + {from}) % {INPUT_LEN}] * (i + 1));",
                array.int.name()
            ));
        }
        for n in 0..self.strings {
            if self.chance(60) {
                let (from, length) = (self.below(INPUT_LEN - STRING_SIZE), self.below(STRING_SIZE));
                self.source.line(format!("memcpy(s{n}, in + {from}, {length});"));
            }
        }
    }

    /// Prints a checksum of everything.
    fn print(&mut self) {
        for n in 0..self.globals.len() {
            self.source.line(format!("mix((uint64_t)v{n});"));
        }
        for array in self.arrays.clone() {
            self.source.line(format!("mix_bytes({0}, sizeof {0});", array.name));
        }
        for record in self.structs.clone() {
            // Fields one by one: the bytes between them have no value.
            for (field, _) in &record.fields {
                let (number, elements) = (record.number, record.elements);
                self.source.line(format!(
                    "for (int i = 0; i < {elements}; i++) mix((uint64_t)t{number}[i].{field});"
                ));
            }
        }
        for n in 0..self.strings {
            self.source.line(format!("mix_bytes(s{n}, strlen(s{n}));"));
        }
        self.source.line("printf(\"%016llx\\n\", (unsigned long long)sum);");
    }
}

const PRELUDE: &str = r#"#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static uint64_t sum = 0xcbf29ce484222325;
static void mix(uint64_t v) {
    sum = (sum ^ v) * 0x100000001b3;
    sum ^= sum >> 29;
}
static void mix_bytes(const void *from, size_t n) {
    for (const unsigned char *p = from; n > 0; n--) mix(*p++);
}
__attribute__((unused)) static int32_t sign(int32_t v) { return (v > 0) - (v < 0); }
__attribute__((unused)) static int32_t offset(const char *s, const void *at) {
    return at ? (int32_t)((const char *)at - s) : -1;
}
__attribute__((unused)) static int32_t divide32(int32_t a, int32_t b) {
    return b == 0 || (a == INT32_MIN && b == -1) ? a : a / b;
}
__attribute__((unused)) static int32_t modulo32(int32_t a, int32_t b) {
    return b == 0 || (a == INT32_MIN && b == -1) ? a : a % b;
}
__attribute__((unused)) static int64_t divide64(int64_t a, int64_t b) {
    return b == 0 || (a == INT64_MIN && b == -1) ? a : a / b;
}
__attribute__((unused)) static int64_t modulo64(int64_t a, int64_t b) {
    return b == 0 || (a == INT64_MIN && b == -1) ? a : a % b;
}"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_program() {
        assert_eq!(generate(5), generate(5));
        assert_ne!(generate(5), generate(6));
    }

    #[test]
    fn programs_have_what_they_are_for() {
        let all: String = (0..40).map(generate).collect();
        let features = [
            "for (",
            "while (",
            "do {",
            "switch (",
            "goto ",
            "continue;",
            "qsort(",
            "memmove(",
            "strtol(",
            "strchr(",
            "table",
            "[i",
            "*p",
            " : ",
            "static int64_t",
            "getchar()",
        ];
        for feature in features {
            assert!(all.contains(feature), "no {feature}");
        }
    }
}
