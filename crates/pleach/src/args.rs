//! What can be said on the command line.

use crate::commands::grammar::{Keywords, format_list, format_names};
use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use pleach_exec::terminal::Size;
use std::ffi::OsString;
use std::path::PathBuf;

/// Test generation for C and C++ programs that read structured input.
#[derive(Parser)]
#[command(name = "pleach", version, about, disable_help_subcommand = true, max_term_width = 80)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Compile C: takes every flag of clang (also installed as pleach-cc)
    #[command(disable_help_flag = true)]
    Cc(Compiler),
    /// Compile C++: takes every flag of clang++ (also installed as pleach-c++)
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Compiler),
    /// Run one half as if it were the plain program
    Exec(Exec),
    /// Write the symbolic half to a file of its own
    Extract(Extract),
    /// Run the symbolic half on an input and print what it decided
    Trace(Trace),
    /// Answer every flip of a recorded trace, and report how fast
    SolveTrace(SolveTrace),
    /// Solve string constraints in HAMPI's language
    #[command(after_help = "Prints sat and values, or unsat. Values are written as in the file: \
                            \\ddd is a byte in decimal. In JSON each character of a value is a byte.")]
    Solve(Solve),
    /// Print the path condition of an input as C, with source lines
    Explain(Explain),
    /// Run the fast half on inputs and report which branches they cover
    Cover(Cover),
    /// Generate inputs: search, solve, run, and keep what covers something new
    #[command(name = "run")]
    Campaign(Box<Campaign>),
    /// Run strategies side by side, and compare what they cover
    #[command(
        override_usage = "pleach compare [OPTIONS] -o DIR -- PROGRAM [ARGS]",
        after_help = "Each campaign is a `pleach run` with one worker, in a directory of its own. \
                      DIR/compare.txt, compare.json, coverage-time.svg and coverage-runs.svg \
                      tell what came out."
    )]
    Compare(crate::commands::compare::Compare),
    /// Run inputs again, and tell how each ended and what they cover together
    #[command(after_help = "Ends with status 1 if an input crashed or hung.")]
    Replay(Replay),
    /// Keep a small set of inputs with the coverage of all
    #[command(
        override_usage = "pleach cmin [OPTIONS] -i DIR -o DIR -- PROGRAM [ARGS]",
        after_help = "Branches count with how often they were taken (1, 2, 3, 4-7, 8-15, ...). \
                      Inputs that crash or hang are left out."
    )]
    Cmin(Cmin),
    /// Make one input smaller that still shows the same
    #[command(
        override_usage = "pleach tmin [OPTIONS] -i FILE -o FILE -- PROGRAM [ARGS]",
        after_help = "An input that crashes keeps its crash (kind and place), one that hangs \
                      keeps hanging, and any other keeps the branches that it takes."
    )]
    Tmin(Tmin),
    /// Put several streams (arguments, variables, files) into one input file
    Pack(Pack),
    /// List the branches and checks that a program was compiled with
    Sites(Sites),
    /// List the functions that return tokens, or the tokens that an input is
    #[command(after_help = "Without an input: which functions of the program give its parser \
                            tokens, where the token is, and how that was decided.")]
    Tokens(Tokens),
    /// Check, convert, count, enumerate, sample, parse, reduce and complete grammars
    #[command(subcommand)]
    Grammar(crate::commands::grammar::Command),
}

#[derive(Group)]
pub struct Compiler {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CLANG ARGUMENTS")]
    pub args: Vec<OsString>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum HalfName {
    Fast,
    Symbolic,
}

#[derive(Group)]
pub struct Exec {
    /// Which half to run
    #[arg(long, value_enum)]
    pub half: HalfName,
    /// Label what is read from standard input (symbolic half), as under a driver
    #[arg(long)]
    pub label: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM [ARGS]")]
    pub program: Vec<OsString>,
}

#[derive(Group)]
pub struct Extract {
    /// Which half to write
    #[arg(long, value_enum, default_value = "symbolic")]
    pub half: HalfName,
    /// The file to write; twins of shared libraries go beside it, into pleach-twins/
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    pub program: PathBuf,
}

/// What all commands that run a target take.
#[derive(Group)]
pub struct Run {
    /// Milliseconds that a run may take
    #[arg(short, long, value_name = "MS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// MiB of memory that a run may use; 0 for no limit
    #[arg(short, long, value_name = "MIB", default_value_t = 4096)]
    pub memory: u64,
    /// The program's connections, accepted or made, deliver the input
    #[arg(long)]
    pub socket: bool,
    /// The program runs on a terminal of this size, and the input is what is typed
    #[arg(long, value_name = "COLUMNSxROWS", conflicts_with = "socket")]
    pub tty: Option<Size>,
    /// Runs work in a copy of this directory, the same for each; without it, in an empty
    /// one. The directory itself is only read
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The program and its arguments; @@ stands for the input file, without it
    /// the input is standard input
    #[arg(last = true, required = true, value_name = "PROGRAM [ARGS]")]
    pub program: Vec<OsString>,
}

#[derive(Group)]
pub struct Trace {
    /// Run so often, and report the mean CPU time of a run
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// One line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Evaluate every expression on the input, and fail if a value differs
    /// from the one that the program had
    #[arg(long)]
    pub check: bool,
    /// Token functions are a border: conditions are on tokens, not on their bytes
    #[arg(long)]
    pub tokens: bool,
    /// The length of these bytes is a variable; see `pleach explain`
    #[arg(long = "hole", value_name = "OFFSET:LEN")]
    pub holes: Vec<String>,
    /// Show what the program printed
    #[arg(long)]
    pub capture: bool,
    /// Write what a solver needs to flip the decisions to a file, for solve-trace
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// The input file; - for standard input
    pub input: PathBuf,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SolverName {
    /// The tiers
    Pleach,
    /// Z3 alone, for comparison; the program z3 must be installed
    Z3,
}

#[derive(Group)]
pub struct SolveTrace {
    /// Who answers
    #[arg(long, value_enum, default_value = "pleach")]
    pub solver: SolverName,
    /// Only so many flips, spread evenly over the trace
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// Print each flip with its answer
    #[arg(long)]
    pub list: bool,
    /// One line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// A file that `pleach trace --record` wrote
    pub file: PathBuf,
}

#[derive(Group)]
pub struct Solve {
    /// Up to so many solutions, each once; only one if this is not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub all: Option<u32>,
    /// One line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// The constraints; - for standard input
    pub file: PathBuf,
}

#[derive(Group)]
pub struct Explain {
    /// The length of these bytes is a variable, len[0] and so on: they could be more
    /// or fewer. May be given several times, from the front to the back
    #[arg(long = "hole", value_name = "OFFSET:LEN")]
    pub holes: Vec<String>,
    /// Token functions are a border: conditions are on tokens, not on their bytes
    #[arg(long)]
    pub tokens: bool,
    /// Only conditions in this function; may be given several times
    #[arg(long, value_name = "NAME")]
    pub function: Vec<String>,
    /// Only conditions in this source file, by its last components
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only conditions on these source lines
    #[arg(long, value_name = "LINE[-LINE]", value_parser = span)]
    pub line: Option<Span>,
    /// Only conditions that depend on these bytes of the input, counted from 0
    #[arg(long, value_name = "OFFSET[-OFFSET]", value_parser = span)]
    pub bytes: Option<Span>,
    /// Print at most N conditions; 0 for all
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub limit: usize,
    /// The input file; - for standard input
    pub input: PathBuf,
    #[command(flatten)]
    pub run: Run,
}

/// The first and the last of a range of numbers.
#[derive(Clone, Copy)]
pub struct Span {
    pub first: u32,
    pub last: u32,
}

impl Span {
    pub fn contains(self, number: u32) -> bool {
        (self.first..=self.last).contains(&number)
    }
}

fn span(text: &str) -> Result<Span, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(Span { first, last }),
        _ => Err("not a number or a range such as 10-20".into()),
    }
}

#[derive(Group)]
pub struct Cover {
    /// One line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// List what no input took: the sides of branches and the cases of switches. What
    /// is true or false is what the compiled code tests: of `!p`, that is `p`
    #[arg(long)]
    pub missing: bool,
    /// Count the branches in system headers and the C++ library, too
    #[arg(long)]
    pub system: bool,
    /// Input files, and directories of them; - for standard input
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReplayHalf {
    /// The program as a person runs it
    Plain,
    /// With coverage and sanitizers, under the fork server
    Fast,
    /// With labels, under the fork server
    Symbolic,
}

#[derive(Group)]
pub struct Replay {
    /// What to run. Coverage is the fast half's in any case
    #[arg(long, value_enum, default_value = "fast")]
    pub half: ReplayHalf,
    /// Show what the program printed, on standard error
    #[arg(long)]
    pub show_output: bool,
    /// One line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Input files, directories of them, or the directory of a campaign: its
    /// queue, crashes and hangs
    #[arg(required = true, value_name = "OUT|FILES")]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Group)]
pub struct Cmin {
    /// Directory of inputs, or of a campaign: its queue
    #[arg(short, long, value_name = "DIR")]
    pub input: PathBuf,
    /// Directory for those that are kept; must be empty or not exist
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// One line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Group)]
pub struct Tmin {
    /// The input
    #[arg(short, long, value_name = "FILE")]
    pub input: PathBuf,
    /// The file for the smaller one
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Run the program at most so often
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,
    /// One line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Group)]
pub struct Campaign {
    /// Directory of seeds; - goes on with the campaign in the output directory;
    /// without it the first input is made up
    #[arg(short, long, value_name = "DIR")]
    pub input: Option<PathBuf>,
    /// Directory for the campaign: queue, crashes, hangs, journal, statistics
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// How to search; `pleach run --help` lists the strategies
    #[arg(short, long, value_name = "STRATEGY", long_help = strategies())]
    pub strategy: Option<String>,
    /// Stop after so many seconds
    #[arg(short = 'V', long = "seconds", value_name = "SECONDS")]
    pub seconds: Option<f64>,
    /// Stop after so many runs of the fast half
    #[arg(short = 'n', long, value_name = "RUNS")]
    pub runs: Option<u64>,
    /// Workers, each with its own pair of processes
    #[arg(short, long, value_name = "JOBS", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Seed of the random numbers
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Milliseconds that a run may take [default: 1000; runs far slower than the seeds
    /// are given up sooner]
    #[arg(short, long, value_name = "MS",
          value_parser = clap::value_parser!(u64).range(1..=MOST_MS))]
    pub timeout: Option<u64>,
    /// MiB of memory that a run may use; 0 for no limit [default: 2048]
    #[arg(short, long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Bytes of the first input, where there are no seeds [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MOST_BYTES))]
    pub len: Option<u64>,
    /// Longest input that is made [default: 65536, by typed calls 1048576, or the longest seed]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_len: Option<u64>,
    /// Decisions of a path that `dfs` flips, counted from its start
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    #[arg(short, long, value_name = "FILE", help = format_names("The grammar of the input"),
          long_help = format_list("The grammar of the input"))]
    pub grammar: Option<PathBuf>,
    #[command(flatten)]
    pub derive: Derive,
    /// Hybrid: stop when so many percent of the branches within reach are covered
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub enough: Option<u32>,
    /// Hybrid: search after so many events that brought nothing new [default: adapts]
    #[arg(long, value_name = "EVENTS", value_parser = clap::value_parser!(u64).range(1..))]
    pub saturation: Option<u64>,
    /// Hybrid: steps of a search, which are runs, traces and flips [default: adapts]
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// Hybrid: events that a search looks ahead [default: adapts]
    #[arg(long, value_name = "EVENTS", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub ahead: Option<u64>,
    /// Hybrid: the strategy of a search [default: cfg]
    #[arg(long, value_name = "STRATEGY")]
    pub explore: Option<String>,
    /// Hybrid: percent of random events that are uniform; others are made of what
    /// the program compares its input with [default: 25]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub uniform: Option<u32>,
    /// Stop at the first crash
    #[arg(long)]
    pub stop_on_crash: bool,
    /// The statistics as the last line of the output
    #[arg(long)]
    pub json: bool,
    /// The program's connections, accepted or made, deliver the input
    #[arg(long)]
    pub socket: bool,
    /// The program runs on a terminal of this size, and the input is what is typed
    #[arg(long, value_name = "COLUMNSxROWS", conflicts_with = "socket")]
    pub tty: Option<Size>,
    /// Runs work in a copy of this directory, the same for each; without it, in an empty
    /// one. The directory itself is only read
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The program and its arguments; @@ stands for the input file, without it
    /// the input is standard input
    #[arg(last = true, value_name = "PROGRAM [ARGS]")]
    pub program: Vec<OsString>,
}

/// A day.
const MOST_MS: u64 = 24 * 60 * 60 * 1000;
/// A gibibyte.
const MOST_BYTES: u64 = 1 << 30;

/// How inputs are derived from a grammar.
#[derive(Group, Clone)]
#[command(next_help_heading = "With a grammar")]
pub struct Derive {
    /// Its lexer: a lex or ANTLR file, or a list of tokens and patterns
    #[arg(long, value_name = "FILE", requires = "grammar")]
    pub lexer: Option<PathBuf>,
    #[command(flatten)]
    pub keywords: Keywords,
    /// `cese`: derive nothing longer than this; without it, ever longer strings
    #[arg(long, value_name = "N", requires = "grammar",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub max_length: Option<u32>,
    /// `cese`: derive nothing higher than this
    #[arg(long, value_name = "H", requires = "grammar",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub max_height: Option<u32>,
    /// `cese`: lengths are counted in tokens, not in bytes
    #[arg(long, requires = "grammar")]
    pub tokens: bool,
    /// `cese`: flips of one string before the next is derived [default: no limit]
    #[arg(long, value_name = "N", requires = "grammar",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub per_string: Option<u32>,
    /// `cese`: leave this token as it is
    #[arg(long, value_name = "TOKEN", requires = "grammar")]
    pub keep: Vec<String>,
    /// `cese`: make this token one symbolic constant
    #[arg(long, value_name = "TOKEN", requires = "grammar")]
    pub one: Vec<String>,
    /// `cese`: make this token any number of symbolic constants from 1 on
    #[arg(long, value_name = "TOKEN", requires = "grammar")]
    pub many: Vec<String>,
    /// `cese`: what takes the place of this token: digits, letters, alnum, any, or a
    /// regular expression, and how many of it, as in NUMBER=digits{1,4}
    #[arg(long = "hole", value_name = "TOKEN=WHAT", requires = "grammar")]
    pub holes: Vec<String>,
    /// `cese`: what fills a hole need not be a text of its token
    #[arg(long, requires = "grammar")]
    pub relax_holes: bool,
    /// Holes (`cese`) and texts of tokens do not become longer than this; 0 for lengths
    /// that do not change [default: 65536]
    #[arg(long, value_name = "N", requires = "grammar")]
    pub max_hole: Option<u32>,
}

fn strategies() -> String {
    let mut text = String::from("How to search:");
    for entry in pleach_search::STRATEGIES {
        text.push_str(&format!("\n  {:<14} {}", entry.name, entry.about));
    }
    text
}

#[derive(Group)]
pub struct Pack {
    /// Standard input: the contents of a file
    #[arg(long, value_name = "FILE")]
    pub stdin: Vec<PathBuf>,
    /// The file that @@ names: the contents of a file
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// One more command-line argument
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub arg: Vec<OsString>,
    /// An environment variable
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<OsString>,
    /// What a connection receives: the contents of a file
    #[arg(long, value_name = "FILE")]
    pub socket: Vec<PathBuf>,
    /// The container to write
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
}

#[derive(Group)]
pub struct Sites {
    /// List the sites in system headers and the C++ library, too
    #[arg(long)]
    pub system: bool,
    pub program: PathBuf,
}

#[derive(Group)]
pub struct Tokens {
    /// One line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Milliseconds that a run may take
    #[arg(short, long, value_name = "MS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// The run works in a copy of this directory; without it, in an empty one
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    pub program: PathBuf,
    /// An input file, to list the tokens that the program takes from it; - for
    /// standard input
    pub input: Option<PathBuf>,
    /// The program's arguments; @@ stands for the input file, without it the input
    /// is standard input
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}
