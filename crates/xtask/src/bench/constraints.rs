//! Constraints in HAMPI's language, for `./x bench grammar`: many small ones, as program
//! analyses produce them, and balanced brackets of growing size.
//!
//! The small ones are random. Their kinds come from published evaluations: strings that
//! pass a filter, a query or markup that contains the input, strings of two grammars,
//! strings outside a grammar, parts that must or must not be equal. The time includes
//! reading the text.

use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use pleach_template::hampi::Problem;

use super::grammar::{Bench, Figure, cpu_time};

const CASES: usize = 2000;
const MAX_VARIABLE_SIZE: usize = 10;

/// A grammar, its start symbol, pieces of its strings, and contexts for inputs.
type Case = (&'static str, &'static str, &'static [&'static str], &'static [TextContext]);
/// The text before and after an input.
type TextContext = (&'static str, &'static str);

const GRAMMARS: &[Case] = &[
    (
        "cfg E := \"()\" | E E | \"(\" E \")\";",
        "E",
        &["(", ")", "()", "(())", ")(", "()()"],
        &[("", ""), ("(", ")"), ("((", "))"), ("()(", ")")],
    ),
    (
        "cfg Sum := Sum \"+\" Term | Term; cfg Term := Term \"*\" Atom | Atom;
         cfg Atom := \"(\" Sum \")\" | Digit+; cfg Digit := ['0'-'9'];",
        "Sum",
        &["1", "+", "*", "(", ")", "2*3", "+(", "10"],
        &[("", ""), ("1+", ""), ("(", ")*2"), ("", "+(3)")],
    ),
    (
        "cfg Query := \"SELECT \" Name+ \" FROM \" Name+ \" WHERE \" Cond;
         cfg Cond := Value \"=\" Value | Cond \" OR \" Cond | Cond \" AND \" Cond;
         cfg Value := Name+ | \"'\" (Name | Digit)* \"'\" | Digit+;
         cfg Name := ['a'-'z'] | ['A'-'Z'] | \"_\"; cfg Digit := ['0'-'9'];",
        "Query",
        &["'", "=", " OR ", "1", "a", "1=1", "'='", "' OR '"],
        &[
            ("SELECT a FROM b WHERE c=", ""),
            ("SELECT a FROM b WHERE c='", "'"),
            ("SELECT msg FROM messages WHERE topicid='", "' AND state=1"),
        ],
    ),
    (
        "cfg Doc := Node*; cfg Node := \"<\" Tag \">\" Doc \"</\" Tag \">\" | Text;
         cfg Tag := \"a\" | \"b\" | \"script\"; cfg Text := ['a'-'z']+;",
        "Doc",
        &["<", ">", "a", "</a>", "<b>", "script", "/"],
        &[("<a>", "</a>"), ("", ""), ("<a><b>", "</b></a>")],
    ),
    (
        "cfg Json := \"[\" (Json (\",\" Json)*)? \"]\" | \"\\\"\" Char* \"\\\"\" | Digit+;
         cfg Char := ['a'-'z'] | ['0'-'9'] | \",\"; cfg Digit := ['0'-'9'];",
        "Json",
        &["[", "]", ",", "\\\"", "a", "1", "[]", "[1,"],
        &[("", ""), ("[", "]"), ("[1,", ",2]"), ("\\\"", "\\\"")],
    ),
];

impl Bench<'_> {
    pub(super) fn measure_constraints(&mut self) -> Result<()> {
        let mut rng = Rng::with_seed(1);
        let (mut times, mut sat) = (Vec::new(), 0usize);
        for _ in 0..CASES {
            let text = random_constraint(&mut rng);
            let mut best = Duration::MAX;
            let mut verdict = false;
            for _ in 0..self.args.rounds {
                let start = cpu_time();
                let problem = Problem::read("constraint", text.as_bytes())
                    .with_context(|| format!("in\n{text}"))?;
                verdict = problem.solve().with_context(|| format!("in\n{text}"))?.is_some();
                best = best.min(cpu_time() - start);
            }
            sat += usize::from(verdict);
            times.push(best);
        }
        ensure!(sat > CASES / 10 && sat < CASES * 9 / 10, "{sat} of {CASES} are sat");
        times.sort();
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let at_most = |what: &str, value: f64, bar: Option<f64>| Figure {
            what: format!(
                "{what} of {CASES} constraints, sizes up to {MAX_VARIABLE_SIZE} ({sat} sat)"
            ),
            value,
            unit: "ms",
            bar,
            met: bar.is_none_or(|bar| value <= bar),
        };
        self.figures.push(at_most("median", millis(times[CASES / 2]), None));
        self.figures.push(at_most("99th of 100", millis(times[CASES * 99 / 100]), Some(10.0)));
        self.figures.push(at_most("slowest", millis(times[CASES - 1]), Some(1000.0)));
        for (size, bar) in [(20, None), (50, Some(50.0)), (100, None)] {
            // This substring closes and opens so many brackets that the string would have to
            // be longer than `size`.
            let quarter = size / 4 + 1;
            let impossible = ")".repeat(quarter) + &"(".repeat(quarter);
            for (what, inner) in [("substring", "()(()())"), ("substring, unsat", &impossible)] {
                let unsat = what.ends_with("unsat");
                let text = format!(
                    "var v : {size};\ncfg E := \"()\" | E E | \"(\" E \")\";\n\
                     reg F := fix(E, {size});\nassert v in F;\nassert v contains \"{inner}\";\n"
                );
                let problem = Problem::read("brackets", text.as_bytes())?;
                ensure!(problem.solve()?.is_some() != unsat, "brackets of {size}, {what}");
                self.measure_time(
                    &format!("brackets of size {size}, {what}"),
                    "ms",
                    bar,
                    1,
                    || {
                        let problem = Problem::read("brackets", text.as_bytes());
                        std::hint::black_box(problem.is_ok_and(|p| p.solve().is_ok()));
                    },
                );
            }
        }
        Ok(())
    }
}

fn random_constraint(rng: &mut Rng) -> String {
    let mut out = String::new();
    let high = rng.usize(1..=MAX_VARIABLE_SIZE);
    let low = if rng.bool() { high } else { rng.usize(1..=high) };
    let (grammar, start, letters, contexts) = GRAMMARS[rng.usize(..GRAMMARS.len())];
    let (before, after) = contexts[rng.usize(..contexts.len())];
    let _ = writeln!(out, "var v : {low} .. {high};\n{grammar}");
    let _ = writeln!(out, "val q := concat(\"{before}\", v, \"{after}\");");
    let not = |rng: &mut Rng| if rng.u8(..4) == 0 { "not " } else { "" };
    let text = |rng: &mut Rng| -> String {
        (0..rng.usize(1..=2)).map(|_| letters[rng.usize(..letters.len())]).collect()
    };
    match rng.u8(..8) {
        // Strings that pass a filter.
        0 | 1 => {
            let class = ["['a'-'z']", "['0'-'9']", "['(' - '+']", "['A'-'Z']"];
            let parts: Vec<String> = (0..rng.usize(2..=4))
                .map(|_| match rng.u8(..4) {
                    0 => format!("star({})", class[rng.usize(..4)]),
                    1 => format!("star(or(\"{}\", \"{}\"))", text(rng), text(rng)),
                    2 => format!("or({}, \"{}\")", class[rng.usize(..4)], text(rng)),
                    _ => format!("\"{}\"", text(rng)),
                })
                .collect();
            let _ = writeln!(out, "reg R := concat({});\nassert v in R;", parts.join(", "));
        }
        // The input in its context is a string of the grammar, of any size or of one size.
        2..=4 => {
            let _ = writeln!(out, "assert q in {start};");
        }
        5 => {
            let unescaped = |text: &str| text.replace('\\', "").len();
            let size = unescaped(before) + unescaped(after) + rng.usize(low..=high);
            let _ = writeln!(out, "reg F := fix({start}, {size});\nassert q in F;");
        }
        // Strings of one grammar that are, or are not, strings of another.
        6 => {
            let _ = writeln!(out, "cfg P := P P | {start} | \"x\" P \"y\" | Any Any;");
            let _ = writeln!(out, "cfg Any := ['\\000'-'\\255'];");
            let _ = writeln!(out, "assert q in P;\nassert q {}in {start};", not(rng));
        }
        _ => {
            let half = low / 2;
            let _ = writeln!(out, "val a := v[0:{half}];\nval b := v[{half}:{half}];");
            let _ = writeln!(out, "assert a {}equals b;\nassert q in {start};", not(rng));
        }
    }
    for _ in 0..rng.usize(0..=2) {
        let _ = writeln!(out, "assert q {}contains \"{}\";", not(rng), text(rng));
    }
    out
}
