//! `./x bench grammar`: measures sampling, enumerating, completing and parsing, and solving
//! constraints (in `constraints`), and checks each number against its bar.
//!
//! Times are processor times of one thread. Every number is the best of several rounds,
//! because other load can only make a round slower.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::time::{ClockId, clock_gettime};
use pleach_grammar::count::Unit;
use pleach_grammar::enumerate::{Enumerator, Limits};
use pleach_grammar::sample::{Sentence, Uniform, Weighted};
use pleach_grammar::{Automaton, Chart, Grammar, Lexer, Parser, TokenId, TokenSet, unroll};
use pleach_import as import;
use serde::Serialize;

use super::fzero;
use crate::project;

#[derive(clap::Args)]
pub struct GrammarArgs {
    /// Parts to measure [default: all]
    parts: Vec<Part>,
    /// Number of rounds; the best counts
    #[arg(long, default_value_t = 5)]
    pub(super) rounds: u32,
    /// Milliseconds for each round of a speed measurement
    #[arg(long, default_value_t = 300)]
    millis: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Draw random sentences
    Sample,
    /// Enumerate all derivations
    Enumerate,
    /// Complete a prefix to a sentence
    Complete,
    /// Complete by the chart, and by the paper's unroll and prune
    Unroll,
    /// Parse a document
    Parse,
    /// Solve constraints in HAMPI's language
    Constraints,
}

#[derive(Serialize)]
pub(super) struct Figure {
    pub what: String,
    pub value: f64,
    pub unit: &'static str,
    /// The minimum (for a speed) or the maximum (for a time).
    pub bar: Option<f64>,
    pub met: bool,
}

pub(super) struct Bench<'a> {
    pub args: &'a GrammarArgs,
    pub figures: Vec<Figure>,
}

/// A program in the grammar of tests/grammars/javascript.ebnf, as tokens.
const SCRIPT: &str = "function identifier ( identifier , identifier ) { var identifier = number + \
    identifier * ( number - identifier ) ; if ( identifier < number ) { return identifier . \
    identifier ( identifier [ number ] , { identifier : string } ) ; } else { for ( identifier = \
    number ; identifier < number ; identifier ++ ) identifier += number ; } }";

pub fn run(args: &GrammarArgs) -> Result<bool> {
    let mut bench = Bench { args, figures: Vec::new() };
    let is_selected = |part| args.parts.is_empty() || args.parts.contains(&part);
    if is_selected(Part::Sample) {
        bench.measure_sampling()?;
    }
    if is_selected(Part::Enumerate) {
        bench.measure_enumerating()?;
    }
    if is_selected(Part::Complete) {
        bench.measure_completing()?;
    }
    if is_selected(Part::Unroll) {
        bench.measure_unrolling()?;
    }
    if is_selected(Part::Parse) {
        bench.measure_parsing()?;
    }
    if is_selected(Part::Constraints) {
        bench.measure_constraints()?;
    }
    println!("| | | bar | |\n|---|---|---|---|");
    for f in &bench.figures {
        let bar = f.bar.map_or(String::new(), |b| format!("{b} {}", f.unit));
        let met = if f.bar.is_none() {
            ""
        } else if f.met {
            "met"
        } else {
            "**not met**"
        };
        println!("| {} | {:.4} {} | {bar} | {met} |", f.what, f.value, f.unit);
    }
    println!();
    super::write_numbers("grammar", &bench.figures)?;
    Ok(bench.figures.iter().all(|f| f.met))
}

/// The processor time of this thread. Not from `getrusage`: the kernel updates that only
/// now and then, so the best of several short times would be 0.
pub(super) fn cpu_time() -> Duration {
    let clock = ClockId::CLOCK_THREAD_CPUTIME_ID;
    clock_gettime(clock).expect("the kernel knows this thread").into()
}

fn load(name: &str) -> Result<Arc<Grammar>> {
    let path = project::root().join("crates/pleach-grammar/tests/grammars").join(name);
    Ok(Arc::new(import::load(&path, None)?))
}

fn automaton(grammar: &Arc<Grammar>) -> Result<Arc<Automaton>> {
    Ok(Arc::new(Automaton::new(Arc::clone(grammar))?))
}

/// All tokens but one.
fn all_but(grammar: &Grammar, token: TokenId) -> TokenSet {
    TokenSet::of(grammar.tokens.len(), [token]).complement()
}

impl Bench<'_> {
    /// Measures a speed: millions of units of work per second.
    fn measure_speed(
        &mut self,
        what: &str,
        unit: &'static str,
        bar: Option<f64>,
        mut work: impl FnMut() -> usize,
    ) -> f64 {
        let mut best = 0f64;
        for _ in 0..self.args.rounds {
            let (start, mut done) = (cpu_time(), 0);
            while cpu_time() - start < Duration::from_millis(self.args.millis) {
                done += work();
            }
            best = best.max(done as f64 / (cpu_time() - start).as_secs_f64() / 1e6);
        }
        let met = bar.is_none_or(|bar| best >= bar);
        self.figures.push(Figure { what: what.into(), value: best, unit, bar, met });
        best
    }

    /// Measures the time of one piece of work. Each call of `work` does `parts` pieces.
    pub(super) fn measure_time(
        &mut self,
        what: &str,
        unit: &'static str,
        bar: Option<f64>,
        parts: usize,
        mut work: impl FnMut(),
    ) {
        let scale = if unit == "ms" { 1e3 } else { 1e6 };
        let mut best = f64::INFINITY;
        for _ in 0..self.args.rounds {
            // Repeated until the time is long enough for the clock.
            let (start, mut times) = (cpu_time(), 0);
            while times == 0 || cpu_time() - start < Duration::from_millis(self.args.millis / 10) {
                work();
                times += parts;
            }
            best = best.min((cpu_time() - start).as_secs_f64() * scale / times as f64);
        }
        let met = bar.is_none_or(|bar| best <= bar);
        self.figures.push(Figure { what: what.into(), value: best, unit, bar, met });
    }

    fn measure_sampling(&mut self) -> Result<()> {
        for name in ["json", "arithmetic"] {
            let grammar = load(&format!("{name}.ebnf"))?;
            let mut weighted = Weighted::new(&grammar, 1)?;
            let mut out = Vec::new();
            let what = format!("sample {name} by weight");
            let ours = self.measure_speed(&what, "MB/s", Some(200.0), || {
                out.clear();
                while out.len() < 1 << 16 {
                    weighted.sample(1 << 14, &mut out);
                }
                out.len()
            });
            let mut nested = fzero::Generator::new(&grammar);
            let what = format!("sample {name}, nested calls as fzero makes them");
            let theirs = self.measure_speed(&what, "MB/s", None, || nested.sample(1 << 16));
            let what = format!("sample {name}, by weight against nested calls");
            let (value, bar) = (ours / theirs, 3.0);
            let met = value >= bar;
            self.figures.push(Figure { what, value, unit: "times", bar: Some(bar), met });
            for length in [100, 500] {
                let mut uniform = Uniform::new(Arc::clone(&grammar), Unit::Bytes, length, 1)?;
                let mut sentence = Sentence::default();
                let what = format!("sample {name} uniformly, {length} bytes");
                self.measure_speed(&what, "MB/s", Some(20.0), || {
                    (0..100)
                        .map(|_| {
                            uniform.sample(length, &mut sentence);
                            sentence.bytes.len()
                        })
                        .sum()
                });
            }
        }
        Ok(())
    }

    fn measure_enumerating(&mut self) -> Result<()> {
        let grammar = load("simplecalc.ebnf")?;
        let limits = Limits { unit: Unit::Bytes, longest: 6, highest: None, constants: None };
        let all = Enumerator::new(&grammar, &limits)?;
        self.measure_speed("enumerate SimpleCalc, length 6", "M derivations/s", Some(5.0), || {
            let mut left = 5_000_000u32;
            all.walk(|_| {
                left -= 1;
                left > 0
            }) as usize
        });
        Ok(())
    }

    fn measure_completing(&mut self) -> Result<()> {
        let grammar = load("javascript.ebnf")?;
        let automaton = automaton(&grammar)?;
        let find = |name| grammar.find_token(name).with_context(|| format!("no token {name}"));
        let script: Result<Vec<TokenId>> = SCRIPT.split_whitespace().map(find).collect();
        let script = script?;
        for (length, bar) in [(50, 1.0), (500, 10.0), (5000, 100.0)] {
            let seed: Vec<TokenId> = script.iter().copied().cycle().take(length).collect();
            let last = all_but(&grammar, seed[length - 1]);
            self.measure_time(
                &format!("complete, prefix of {length}, fresh"),
                "ms",
                Some(bar),
                1,
                || {
                    let mut chart = Chart::new(Arc::clone(&automaton));
                    let pushed = seed[..length - 1].iter().all(|&t| chart.push_token(t));
                    assert!(pushed, "the script is of the grammar");
                    std::hint::black_box(chart.push(&last).then(|| chart.complete()));
                },
            );
            let mut chart = Chart::new(Arc::clone(&automaton));
            ensure!(seed.iter().all(|&t| chart.push_token(t)), "the script is of the grammar");
            let others: Vec<TokenSet> = seed.iter().map(|&t| all_but(&grammar, t)).collect();
            let bar = (length == 500).then_some(50.0);
            let what = format!("complete, each flip on a shared prefix of {length}");
            self.measure_time(&what, "µs", bar, length, || {
                for (at, set) in others.iter().enumerate() {
                    std::hint::black_box(chart.flip(at, set));
                }
            });
        }
        let all = TokenSet::all(grammar.tokens.len());
        for length in [10, 20, 40] {
            let what = format!("complete, any token at each of {length}");
            self.measure_time(&what, "ms", None, 1, || {
                let mut chart = Chart::new(Arc::clone(&automaton));
                let pushed = (0..length).all(|_| chart.push(&all));
                std::hint::black_box(pushed.then(|| chart.complete()));
            });
        }
        Ok(())
    }

    /// Compares the chart with the paper's algorithm, on a grammar for which that one ends.
    fn measure_unrolling(&mut self) -> Result<()> {
        let grammar = load("sexpression.ebnf")?;
        let automaton = automaton(&grammar)?;
        let all = TokenSet::all(grammar.tokens.len());
        for length in [4, 8, 12, 16] {
            let sets = vec![all.clone(); length];
            let mut ended = true;
            self.measure_time(
                &format!("any token at each of {length}, chart"),
                "ms",
                None,
                1,
                || {
                    let mut chart = Chart::new(Arc::clone(&automaton));
                    let pushed = sets.iter().all(|s| chart.push(s));
                    std::hint::black_box(pushed.then(|| chart.complete()));
                },
            );
            let what = format!("any token at each of {length}, unroll and prune");
            self.measure_time(&what, "ms", None, 1, || {
                ended &= std::hint::black_box(unroll::shortest(&grammar, &sets, 1 << 20)).is_ok();
            });
            if let (false, Some(figure)) = (ended, self.figures.last_mut()) {
                figure.what.push_str(" (given up after 2^20 forms)");
            }
        }
        Ok(())
    }

    fn measure_parsing(&mut self) -> Result<()> {
        let grammar = load("json.ebnf")?;
        let text = json_document();
        let automaton = automaton(&grammar)?;
        let parser = Parser::new(Arc::clone(&automaton), Lexer::new(&grammar)?);
        ensure!(parser.parse(&text).is_ok(), "the document is JSON");
        self.measure_speed("parse JSON", "MB/s", Some(10.0), || {
            std::hint::black_box(parser.parse(&text).is_ok());
            text.len()
        });
        let tokens: Vec<TokenId> = parser.lexer().lex(&text)?.iter().map(|l| l.token).collect();
        self.measure_speed("parse JSON by the chart alone, from tokens", "MB/s", None, || {
            let mut chart = Chart::new(Arc::clone(&automaton));
            let tree = tokens.iter().all(|&t| chart.push_token(t)).then(|| chart.tree());
            std::hint::black_box(tree.flatten().is_some());
            text.len()
        });
        Ok(())
    }
}

/// A megabyte of JSON, the same on every run. The records look like those of a web server,
/// without blanks and fractions, which the grammar does not have.
fn json_document() -> Vec<u8> {
    use std::fmt::Write;
    let mut text = String::from("[");
    for id in 0u32.. {
        // Numbers and words that are different in each record.
        let mixed = id.wrapping_mul(0x9e37_79b9);
        let (small, large) = (mixed >> 28, mixed % 100_000);
        let word = ["alder", "birch", "cedar", "dogwood", "elm", "fir"][(mixed >> 8) as usize % 6];
        let _ = write!(
            text,
            r#"{{"id":{id},"name":"{word} {large}","active":{},"tags":["{word}","a{small}"],"#,
            id % 3 == 0
        );
        let _ = write!(
            text,
            r#""size":{{"height":{small},"width":{large},"unit":"cm"}},"parent":{},"notes":[]}}"#,
            if id % 4 == 0 { "null".into() } else { (id / 4).to_string() }
        );
        if text.len() >= 1 << 20 {
            break;
        }
        text.push(',');
    }
    text.push(']');
    text.into_bytes()
}
