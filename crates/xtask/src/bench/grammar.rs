//! `./x bench grammar`: what sampling, enumerating, completing and parsing take,
//! and solving constraints (in `constraints`), each beside the bar that it is held
//! to.
//!
//! Times are of the processor, on one thread, and every figure is the best of some
//! rounds: other work on the machine only ever makes one slower.

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
    /// Only these parts
    parts: Vec<Part>,
    /// Rounds; the best of them counts
    #[arg(long, default_value_t = 5)]
    pub(super) rounds: u32,
    /// Milliseconds of a round, where one can last as long as one likes
    #[arg(long, default_value_t = 300)]
    millis: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Sample,
    Enumerate,
    Complete,
    Unroll,
    Parse,
    Constraints,
}

#[derive(Serialize)]
pub(super) struct Figure {
    pub what: String,
    pub value: f64,
    pub unit: &'static str,
    /// At least (for speeds) or at most (for times).
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
    let wanted = |part| args.parts.is_empty() || args.parts.contains(&part);
    if wanted(Part::Sample) {
        bench.sampling()?;
    }
    if wanted(Part::Enumerate) {
        bench.enumerating()?;
    }
    if wanted(Part::Complete) {
        bench.completing()?;
    }
    if wanted(Part::Unroll) {
        bench.unrolling()?;
    }
    if wanted(Part::Parse) {
        bench.parsing()?;
    }
    if wanted(Part::Constraints) {
        bench.constraints()?;
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
    super::keep("grammar", &bench.figures)?;
    Ok(bench.figures.iter().all(|f| f.met))
}

/// What this thread has had of the processor. Not by `getrusage`: that is brought up
/// to date now and then only, and the best of several short times would be none.
pub(super) fn spent() -> Duration {
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

fn other(grammar: &Grammar, token: TokenId) -> TokenSet {
    TokenSet::of(grammar.tokens.len(), [token]).complement()
}

impl Bench<'_> {
    /// A speed: units of work a second, in millions.
    fn speed(
        &mut self,
        what: &str,
        unit: &'static str,
        bar: Option<f64>,
        mut work: impl FnMut() -> usize,
    ) -> f64 {
        let mut best = 0f64;
        for _ in 0..self.args.rounds {
            let (start, mut done) = (spent(), 0);
            while spent() - start < Duration::from_millis(self.args.millis) {
                done += work();
            }
            best = best.max(done as f64 / (spent() - start).as_secs_f64() / 1e6);
        }
        let met = bar.is_none_or(|bar| best >= bar);
        self.figures.push(Figure { what: what.into(), value: best, unit, bar, met });
        best
    }

    /// The time of one piece of work, which is `parts` pieces.
    pub(super) fn time(
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
            // Often enough for the clock.
            let (start, mut times) = (spent(), 0);
            while times == 0 || spent() - start < Duration::from_millis(self.args.millis / 10) {
                work();
                times += parts;
            }
            best = best.min((spent() - start).as_secs_f64() * scale / times as f64);
        }
        let met = bar.is_none_or(|bar| best <= bar);
        self.figures.push(Figure { what: what.into(), value: best, unit, bar, met });
    }

    fn sampling(&mut self) -> Result<()> {
        for name in ["json", "arithmetic"] {
            let grammar = load(&format!("{name}.ebnf"))?;
            let mut weighted = Weighted::new(&grammar, 1)?;
            let mut out = Vec::new();
            let what = format!("sample {name} by weight");
            let ours = self.speed(&what, "MB/s", Some(200.0), || {
                out.clear();
                while out.len() < 1 << 16 {
                    weighted.sample(1 << 14, &mut out);
                }
                out.len()
            });
            let mut nested = fzero::Generator::new(&grammar);
            let what = format!("sample {name}, nested calls as fzero makes them");
            let theirs = self.speed(&what, "MB/s", None, || nested.sample(1 << 16));
            let what = format!("sample {name}, by weight against nested calls");
            let (value, bar) = (ours / theirs, 3.0);
            let met = value >= bar;
            self.figures.push(Figure { what, value, unit: "times", bar: Some(bar), met });
            for length in [100, 500] {
                let mut uniform = Uniform::new(Arc::clone(&grammar), Unit::Bytes, length, 1)?;
                let mut sentence = Sentence::default();
                let what = format!("sample {name} uniformly, {length} bytes");
                self.speed(&what, "MB/s", Some(20.0), || {
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

    fn enumerating(&mut self) -> Result<()> {
        let grammar = load("simplecalc.ebnf")?;
        let limits = Limits { unit: Unit::Bytes, longest: 6, highest: None, constants: None };
        let all = Enumerator::new(&grammar, &limits)?;
        self.speed("enumerate SimpleCalc, length 6", "M derivations/s", Some(5.0), || {
            let mut left = 5_000_000u32;
            all.walk(|_| {
                left -= 1;
                left > 0
            }) as usize
        });
        Ok(())
    }

    fn completing(&mut self) -> Result<()> {
        let grammar = load("javascript.ebnf")?;
        let automaton = automaton(&grammar)?;
        let find = |name| grammar.find_token(name).with_context(|| format!("no token {name}"));
        let script: Result<Vec<TokenId>> = SCRIPT.split_whitespace().map(find).collect();
        let script = script?;
        for (length, bar) in [(50, 1.0), (500, 10.0), (5000, 100.0)] {
            let seed: Vec<TokenId> = script.iter().copied().cycle().take(length).collect();
            let last = other(&grammar, seed[length - 1]);
            self.time(&format!("complete, prefix of {length}, fresh"), "ms", Some(bar), 1, || {
                let mut chart = Chart::new(Arc::clone(&automaton));
                let pushed = seed[..length - 1].iter().all(|&t| chart.push_token(t));
                assert!(pushed, "the script is of the grammar");
                std::hint::black_box(chart.push(&last).then(|| chart.complete()));
            });
            let mut chart = Chart::new(Arc::clone(&automaton));
            ensure!(seed.iter().all(|&t| chart.push_token(t)), "the script is of the grammar");
            let others: Vec<TokenSet> = seed.iter().map(|&t| other(&grammar, t)).collect();
            let bar = (length == 500).then_some(50.0);
            let what = format!("complete, each flip on a shared prefix of {length}");
            self.time(&what, "µs", bar, length, || {
                for (at, set) in others.iter().enumerate() {
                    std::hint::black_box(chart.flip(at, set));
                }
            });
        }
        let all = TokenSet::all(grammar.tokens.len());
        for length in [10, 20, 40] {
            let what = format!("complete, any token at each of {length}");
            self.time(&what, "ms", None, 1, || {
                let mut chart = Chart::new(Arc::clone(&automaton));
                let pushed = (0..length).all(|_| chart.push(&all));
                std::hint::black_box(pushed.then(|| chart.complete()));
            });
        }
        Ok(())
    }

    /// The paper's algorithm beside ours, on a grammar that it ends for.
    fn unrolling(&mut self) -> Result<()> {
        let grammar = load("sexpression.ebnf")?;
        let automaton = automaton(&grammar)?;
        let all = TokenSet::all(grammar.tokens.len());
        for length in [4, 8, 12, 16] {
            let sets = vec![all.clone(); length];
            let mut ended = true;
            self.time(&format!("any token at each of {length}, chart"), "ms", None, 1, || {
                let mut chart = Chart::new(Arc::clone(&automaton));
                let pushed = sets.iter().all(|s| chart.push(s));
                std::hint::black_box(pushed.then(|| chart.complete()));
            });
            let what = format!("any token at each of {length}, unroll and prune");
            self.time(&what, "ms", None, 1, || {
                ended &= std::hint::black_box(unroll::shortest(&grammar, &sets, 1 << 20)).is_ok();
            });
            if let (false, Some(figure)) = (ended, self.figures.last_mut()) {
                figure.what.push_str(" (given up after 2^20 forms)");
            }
        }
        Ok(())
    }

    fn parsing(&mut self) -> Result<()> {
        let grammar = load("json.ebnf")?;
        let text = document();
        let automaton = automaton(&grammar)?;
        let parser = Parser::new(Arc::clone(&automaton), Lexer::new(&grammar)?);
        ensure!(parser.parse(&text).is_ok(), "the document is JSON");
        self.speed("parse JSON", "MB/s", Some(10.0), || {
            std::hint::black_box(parser.parse(&text).is_ok());
            text.len()
        });
        let tokens: Vec<TokenId> = parser.lexer().lex(&text)?.iter().map(|l| l.token).collect();
        self.speed("parse JSON by the chart alone, from tokens", "MB/s", None, || {
            let mut chart = Chart::new(Arc::clone(&automaton));
            let tree = tokens.iter().all(|&t| chart.push_token(t)).then(|| chart.tree());
            std::hint::black_box(tree.flatten().is_some());
            text.len()
        });
        Ok(())
    }
}

/// A megabyte of JSON, the same on every run: records such as servers send, as
/// far as the grammar goes (which has no blanks and no fractions).
fn document() -> Vec<u8> {
    use std::fmt::Write;
    let mut text = String::from("[");
    for id in 0u32.. {
        // Numbers and words that differ from record to record.
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
