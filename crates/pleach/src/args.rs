//! The command line: commands and options.

use crate::commands::grammar::{Keywords, format_list, format_names};
use crate::show::wrap;
use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use pleach_exec::terminal::Size;
use pleach_search::Needs;
use std::ffi::OsString;
use std::path::PathBuf;

/// Test generation for C and C++ programs that read structured input.
#[derive(Parser)]
#[command(
    name = "pleach",
    version,
    about,
    disable_help_subcommand = true,
    max_term_width = 80,
    after_long_help = "Exit status: 0 for success, 1 if a check failed or an input crashed or \
                       hung, 2 for a mistake of the user or a problem of the machine, 3 for a \
                       defect of Pleach.\n\n\
                       Environment: PLEACH_LLVM is the prefix of LLVM 22 for the compiler, \
                       PLEACH_SYMBOLIC=0 makes it leave out the symbolic half, TMPDIR is the \
                       directory of temporary files, NO_COLOR turns colours off, \
                       NATS_CREDS, NATS_NKEY, NATS_USER, NATS_PASSWORD, NATS_TOKEN, NATS_CA, \
                       NATS_CERT and NATS_KEY log in to the server of a fleet, and \
                       ASAN_OPTIONS and UBSAN_OPTIONS are added to the options of the \
                       sanitizers."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Compile C. Takes every option of clang (also installed as pleach-cc)
    #[command(disable_help_flag = true)]
    Cc(Compiler),
    /// Compile C++. Takes every option of clang++ (also installed as pleach-c++)
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Compiler),
    /// Look at a source tree: how to build it, seeds, a grammar, and the command to search
    Init(Init),
    /// Generate inputs: search, solve, run, and keep what covers something new
    #[command(
        name = "run",
        override_usage = "pleach run [-i SEEDS] -o OUT [OPTIONS] -- PROGRAM [ARGS]\n       \
                          pleach run -i - -o OUT [OPTIONS]"
    )]
    Campaign(Box<Campaign>),
    /// Run inputs again: how each ended, where it crashed, what they cover
    #[command(after_help = "Exit status 1 if an input crashed or hung.")]
    Replay(Replay),
    /// Report the branches that some inputs cover
    Cover(Cover),
    /// Write a dictionary of what the program compares its input with, for AFL++ and -x
    #[command(override_usage = "pleach dict [OPTIONS] <OUT|FILES>... -- PROGRAM [ARGS]")]
    Dict(Dict),
    /// Print the path condition of an input as C, with source lines
    Explain(Explain),
    /// Print the decisions of a run, its size and its cost
    Trace(Trace),
    /// Keep a small set of inputs with the same coverage
    #[command(
        override_usage = "pleach cmin [OPTIONS] -i DIR -o DIR -- PROGRAM [ARGS]",
        after_help = "Hit counts of branches count, too (1, 2, 3, 4-7, 8-15, ...). Inputs that \
                      crash or hang are skipped."
    )]
    Cmin(Cmin),
    /// Make one input smaller, and keep its crash, its hang or its branches
    #[command(
        override_usage = "pleach tmin [OPTIONS] -i FILE -o FILE -- PROGRAM [ARGS]",
        after_help = "An input that crashes keeps its crash (kind and place), one that hangs \
                      keeps hanging, and any other keeps the branches that it takes."
    )]
    Tmin(Tmin),
    /// Run several strategies side by side, and compare what they cover
    #[command(
        override_usage = "pleach compare [OPTIONS] -o DIR -- PROGRAM [ARGS]",
        after_help = "Each campaign is a `pleach run` with one worker and its own directory. \
                      The results are in DIR/compare.html, compare.txt, compare.json, \
                      coverage-time.svg and coverage-runs.svg."
    )]
    Compare(crate::commands::compare::Compare),
    /// Write the results of a campaign as one page: sources with every branch and why it is
    /// not taken, crashes, coverage over time
    #[command(
        override_usage = "pleach report OUT -o DIR [OPTIONS] [-- PROGRAM]",
        after_help = "The page is DIR/index.html. It needs no server, no network and no other \
                      file. The campaign may be running."
    )]
    Report(Report),
    /// Run inputs on two builds, and report where output, status or path differ
    #[command(
        override_usage = "pleach diff [OPTIONS] OLD NEW -i INPUTS [-- ARGS]",
        after_help = "Exit status 0 if nothing differs, 1 if something does. A build without \
                      Pleach has no path, and cannot be searched."
    )]
    Diff(crate::commands::diff::Diff),
    /// Check, convert, count, enumerate, sample, parse, reduce and complete grammars
    #[command(subcommand)]
    Grammar(crate::commands::grammar::Command),
    /// List the functions that return tokens, or the tokens of an input
    #[command(after_help = "Without an input: lists the functions that return tokens to the \
                            program's parser, where the token is, and how each was found.")]
    Tokens(Tokens),
    /// List the branches and checks of a program
    Sites(Sites),
    /// Search in continuous integration: with a kept corpus, reports and a status
    #[command(
        override_usage = "pleach ci --time TIME --corpus DIR [OPTIONS] -- PROGRAM [ARGS]",
        after_help = "Exit status 1 if there is a crash that no earlier run has seen. What is \
                      known is in DIR/.pleach."
    )]
    Ci(crate::commands::ci::Ci),
    /// Write coverage, results or a regression suite in the format of another tool
    #[command(
        override_usage = "pleach export --to FORMAT OUT OUT_DIR|FILES... [-- PROGRAM [ARGS]]",
        after_help = crate::commands::export::formats(),
        mut_arg("program", |program| program.required(false))
    )]
    Export(crate::commands::export::Export),
    /// See what the machines of a campaign do, and fetch what they found
    #[command(subcommand)]
    Fleet(crate::commands::fleet::Command),
    /// Put several streams (arguments, variables, files) into one input file
    Pack(Pack),
    /// Run one half as if it were the plain program
    Exec(Exec),
    /// Write one half to a file of its own
    Extract(Extract),
    /// Search with libFuzzer's command line. Fuzz targets start it
    #[command(name = "libfuzzer", hide = true)]
    LibFuzzer(LibFuzzer),
    /// Solve string constraints in HAMPI's language
    #[command(after_help = "Prints sat and values, or unsat. Values are written as in the file: \
                            \\ddd is a byte in decimal. In JSON each character of a value is a byte.")]
    Solve(Solve),
    /// Answer every flip of a recorded trace, and report the speed
    SolveTrace(SolveTrace),
    /// Say what this machine lacks
    #[command(after_help = "Exit status 1 if searching or compiling does not work here.")]
    Doctor(Doctor),
    /// Write manual pages and completions of shells, as `./x install` does
    #[command(hide = true)]
    Share(Share),
}

#[derive(Group)]
pub struct Init {
    /// The source tree; nothing is written to it
    #[arg(default_value = ".", value_name = "DIR")]
    pub dir: PathBuf,
    /// Directory for the build, the seeds and the search; must be empty or not exist
    /// [default: beside the source tree, with .pleach at the end of its name]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Build, find out which program reads which files, and search. Without it, the commands
    /// are printed
    #[arg(long)]
    pub run: bool,
    /// Search for N seconds
    #[arg(short = 'V', long = "seconds", value_name = "N", default_value_t = 60)]
    pub seconds: u64,
    /// Build system: configure, meson, cmake, autoconf, make, sources [default: the first that
    /// the tree has]
    #[arg(long, value_name = "SYSTEM")]
    pub build: Option<String>,
    /// Flags for the compiler beside -g -O1, such as -fsanitize=address
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub flags: Option<String>,
    /// Search this program, by its name
    #[arg(long, value_name = "NAME")]
    pub program: Option<String>,
    /// Directory of seeds, instead of files of the tree
    #[arg(long, value_name = "DIR")]
    pub seeds: Option<PathBuf>,
}

#[derive(Group)]
pub struct Doctor {
    /// Also run this program, compiled by Pleach. Then the compiler need not be there
    pub program: Option<PathBuf>,
}

#[derive(Group)]
pub struct Share {
    /// Directory to write to: PREFIX/share
    pub directory: PathBuf,
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
    /// Symbolic half: label the bytes of standard input, as in a campaign
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
    /// File to write. Symbolic halves of shared libraries go into pleach-twins/ beside it
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// A program compiled by Pleach
    pub program: PathBuf,
}

/// The options of all commands that run a target, except `run`.
#[derive(Clone, Group)]
pub struct Run {
    /// Time limit of a run, in milliseconds [default: 10000; for an input that a campaign kept
    /// as a hang, the limit of the campaign]
    #[arg(short, long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
    /// Memory limit of a run, in MiB; 0 for no limit
    #[arg(short, long, value_name = "MIB", default_value_t = 4096)]
    pub memory: u64,
    /// Deliver the input over the program's connections, accepted or made
    #[arg(long)]
    pub socket: bool,
    /// Run the program on a terminal of this size; the input is what is typed
    #[arg(long, value_name = "COLUMNSxROWS", conflicts_with = "socket")]
    pub tty: Option<Size>,
    /// Run in a copy of this directory, which is restored before each run [default: an
    /// empty directory]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The program and its arguments. @@ stands for the input file; without @@, the input
    /// is standard input
    #[arg(last = true, required = true, value_name = "PROGRAM [ARGS]")]
    pub program: Vec<OsString>,
}

#[derive(Group)]
pub struct Trace {
    /// Run N times, and report the mean CPU time of a run
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Evaluate every expression on the input, and fail if a value differs from the
    /// program's
    #[arg(long)]
    pub check: bool,
    /// Record decisions on tokens, not on the bytes that the lexer reads
    #[arg(long)]
    pub tokens: bool,
    /// Make the length of these bytes a variable; see `pleach explain`
    #[arg(long = "hole", value_name = "OFFSET:LEN")]
    pub holes: Vec<String>,
    /// Print the program's output, on standard error
    #[arg(long)]
    pub capture: bool,
    /// Write the trace to a file, for `pleach solve-trace`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Input file; - for standard input
    pub input: PathBuf,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SolverName {
    /// Pleach's solver
    Pleach,
    /// Z3 alone, for comparison; the program z3 must be installed
    Z3,
}

#[derive(Group)]
pub struct SolveTrace {
    /// The solver that answers
    #[arg(long, value_enum, default_value = "pleach")]
    pub solver: SolverName,
    /// Ask only N flips, spread evenly over the trace
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// Leave flips unknown that cannot be answered, instead of solving them again without the
    /// conditions on several inputs
    #[arg(long)]
    pub no_retries: bool,
    /// Print each flip with its answer
    #[arg(long)]
    pub list: bool,
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// A file that `pleach trace --record` wrote
    pub file: PathBuf,
}

#[derive(Group)]
pub struct Solve {
    /// Print at most N different solutions [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub all: Option<u32>,
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// File with constraints; - for standard input
    pub file: PathBuf,
}

#[derive(Group)]
pub struct Explain {
    /// Make the length of these bytes a variable: len[0], len[1] and so on. Can be
    /// repeated, in the order of the input
    #[arg(long = "hole", value_name = "OFFSET:LEN")]
    pub holes: Vec<String>,
    /// Record decisions on tokens, not on the bytes that the lexer reads
    #[arg(long)]
    pub tokens: bool,
    /// Only conditions in this function; can be repeated
    #[arg(long, value_name = "NAME")]
    pub function: Vec<String>,
    /// Only conditions in this source file; the end of its path is enough
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
    /// Input file; - for standard input
    pub input: PathBuf,
    #[command(flatten)]
    pub run: Run,
}

/// A range of numbers, both ends included.
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
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// List the uncovered sides of branches and cases of switches
    #[arg(long)]
    pub missing: bool,
    /// Also count branches in system headers and the C++ library
    #[arg(long)]
    pub system: bool,
    /// Input files, directories of inputs, or a campaign directory; - for standard input
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReplayHalf {
    /// The program as users run it
    Plain,
    /// The fast half, with sanitizers, under the fork server
    Fast,
    /// The symbolic half, under the fork server
    Symbolic,
}

#[derive(Group)]
pub struct Replay {
    /// What to run: the plain program, or one half under the fork server. Coverage is always
    /// that of the fast half
    #[arg(long, value_enum, default_value = "fast")]
    pub half: ReplayHalf,
    /// Run the inputs in one process, in the order of their names, if the program takes many
    /// (`__AFL_LOOP`, LLVMFuzzerTestOneInput): for the directories in `sequences/`
    #[arg(long, conflicts_with = "half")]
    pub sequence: bool,
    /// Print the program's output, on standard error
    #[arg(long)]
    pub show_output: bool,
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Input files, directories of inputs, or a campaign directory (its queue, crashes and
    /// hangs)
    #[arg(required = true, value_name = "OUT|FILES")]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Group)]
pub struct Dict {
    /// Input files, directories of inputs, or a campaign directory (its queue)
    #[arg(required = true, value_name = "OUT|FILES")]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Group)]
pub struct LibFuzzer {
    /// A fuzz target compiled by Pleach
    pub program: PathBuf,
    /// Flags of libFuzzer, corpora and files
    #[arg(last = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

#[derive(Group)]
pub struct Cmin {
    /// Directory of inputs, or a campaign directory (its queue)
    #[arg(short, long, value_name = "DIR")]
    pub input: PathBuf,
    /// Directory for the inputs that are kept; must be empty or not exist
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Group)]
pub struct Tmin {
    /// Input file
    #[arg(short, long, value_name = "FILE")]
    pub input: PathBuf,
    /// File for the smaller input
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Run the program at most N times
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Group)]
pub struct Campaign {
    /// Directory of seeds. `-i -` resumes the campaign in the output directory. Without -i,
    /// the first input is made up
    #[arg(short, long, value_name = "DIR")]
    pub input: Option<PathBuf>,
    /// Directory of the campaign: queue, crashes, hangs, journal, statistics
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// How to search [default: auto]; `pleach run --help` lists the strategies
    #[arg(short, long, value_name = "STRATEGY", long_help = strategies())]
    pub strategy: Option<String>,
    /// Stop after N seconds
    #[arg(short = 'V', long = "seconds", value_name = "N")]
    pub seconds: Option<f64>,
    /// Stop after N runs of the fast half
    #[arg(short = 'n', long, value_name = "N")]
    pub runs: Option<u64>,
    /// Number of workers
    #[arg(short, long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Seed of the random numbers. With one worker, the same seed and -n give the same
    /// queue [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Time limit of a run, in milliseconds [default: 1000, and less for runs that are much
    /// slower than the seeds]
    #[arg(short, long, value_name = "MS",
          value_parser = clap::value_parser!(u64).range(1..=MAX_TIMEOUT_MS))]
    pub timeout: Option<u64>,
    /// Memory limit of a run, in MiB; 0 for no limit [default: 2048]
    #[arg(short, long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Memory of pleach itself, such as 800M or 4G, without the runs of the program. When it
    /// is used up, the search forgets what is cheapest to find again; no input is lost
    /// [default: a quarter of the machine's, at least 1G]
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<String>,
    /// Length of the first input without seeds, in bytes [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MAX_FIRST_LEN))]
    pub len: Option<u64>,
    /// Maximum length of an input, in bytes [default: 65536, for typed calls 1048576, or the
    /// longest seed if that is longer]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_len: Option<u64>,
    /// dfs: flip only the first N decisions of a path [default: no limit]
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// auto: multiply the share of flips, relative to that of everything else, by this
    /// factor, from 0.1 to 10. For experiments
    #[arg(long, value_name = "FACTOR", value_parser = parse_flip_share, hide = true)]
    pub flip_share: Option<u32>,
    #[arg(short, long, value_name = "FILE", help = format_names("Grammar of the input"),
          long_help = format_list("Grammar of the input"))]
    pub grammar: Option<PathBuf>,
    /// Dictionary for mutation, in AFL++'s format, with words up to LEVEL [default: 0], or a
    /// directory with a word in each file; can be repeated
    #[arg(short = 'x', long = "dictionary", value_name = "FILE[@LEVEL]")]
    pub dictionaries: Vec<OsString>,
    /// Take new files from another fuzzer while the search runs: an output directory of AFL++,
    /// a corpus of libFuzzer, or any directory of files; can be repeated
    #[arg(short = 'F', long = "from", value_name = "DIR")]
    pub from: Vec<PathBuf>,
    /// Run as the main instance NAME in OUT, an output directory of AFL++: the campaign is in
    /// OUT/NAME, and takes new files from all other instances
    #[arg(short = 'M', long = "main", value_name = "NAME", value_parser = instance_name,
          conflicts_with = "secondary")]
    pub main: Option<String>,
    /// The same as a secondary instance
    #[arg(short = 'S', long = "secondary", value_name = "NAME", value_parser = instance_name)]
    pub secondary: Option<String>,
    /// Search together with other machines: nats://HOST:PORT/NAME, or tls://, is a server of
    /// NATS with JetStream and the name of the campaign there. All members run the same
    /// program with the same options; only the first needs -i
    #[arg(long, value_name = "URL")]
    pub fleet: Option<String>,
    /// File with what logs in to the server: credentials of NATS, the seed of an nkey,
    /// USER:PASSWORD, or a token
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub creds: Option<PathBuf>,
    /// Stop at the first crash
    #[arg(long)]
    pub stop_on_crash: bool,
    /// Print the statistics as one line of JSON at the end
    #[arg(long)]
    pub json: bool,
    /// Print no summary at the end: the directory is temporary
    #[arg(long, hide = true)]
    pub no_summary: bool,
    /// Deliver the input over the program's connections, accepted or made
    #[arg(long)]
    pub socket: bool,
    /// Run the program on a terminal of this size; the input is what is typed
    #[arg(long, value_name = "COLUMNSxROWS", conflicts_with = "socket")]
    pub tty: Option<Size>,
    /// Run in a copy of this directory, which is restored before each run [default: an
    /// empty directory]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The program and its arguments. @@ stands for the input file; without @@, the input
    /// is standard input
    #[arg(last = true, value_name = "PROGRAM [ARGS]")]
    pub program: Vec<OsString>,
    #[command(flatten)]
    pub aim: AimOptions,
    #[command(flatten)]
    pub derive: Derive,
    #[command(flatten)]
    pub hybrid: HybridOptions,
}

/// Parses the name of an instance, which AFL++ must accept.
fn instance_name(text: &str) -> Result<String, String> {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    match is_plain && (1..=32).contains(&text.len()) {
        true => Ok(text.into()),
        false => Err("a name has at most 32 letters, digits, - and _".into()),
    }
}

/// Parses a factor from 0.1 to 10. Returns it in percent.
fn parse_flip_share(text: &str) -> Result<u32, String> {
    match text.parse::<f64>() {
        Ok(factor) if (0.1..=10.0).contains(&factor) => Ok((100.0 * factor).round() as u32),
        _ => Err("must be a number from 0.1 to 10".into()),
    }
}

/// A day.
pub const MAX_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;
/// A gibibyte.
const MAX_FIRST_LEN: u64 = 1 << 30;

/// Places that the search should get to. It ends when it got to all of them.
#[derive(Group, Clone, Default)]
#[command(next_help_heading = "To get to places")]
pub struct AimOptions {
    /// Search for inputs that execute this place: FILE:LINE, FILE:LINE:COLUMN,
    /// FILE:FIRST-LAST, or a function; can be repeated. Ends when every place is reached
    #[arg(long, value_name = "PLACE")]
    pub toward: Vec<String>,
    /// The same for each result of a static analyser, in a SARIF file
    #[arg(long, value_name = "FILE")]
    pub toward_sarif: Vec<PathBuf>,
    /// The same for the lines that `git diff REV` shows as changed
    #[arg(long, value_name = "REV")]
    pub changed: Option<String>,
}

/// How inputs are derived from a grammar.
#[derive(Group, Clone)]
#[command(next_help_heading = "With a grammar (-g)")]
pub struct Derive {
    /// Lexer of the grammar: a lex or ANTLR file, or a list of tokens and patterns
    #[arg(long, value_name = "FILE", requires = "grammar")]
    pub lexer: Option<PathBuf>,
    #[command(flatten)]
    pub keywords: Keywords,
    /// cese: maximum length of a string [default: ever longer strings, at most 512]
    #[arg(long, value_name = "N", requires = "grammar",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub max_length: Option<u32>,
    /// cese: maximum height of a derivation tree [default: no limit]
    #[arg(long, value_name = "N", requires = "grammar",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub max_height: Option<u32>,
    /// cese: count lengths in tokens instead of bytes
    #[arg(long, requires = "grammar")]
    pub tokens: bool,
    /// cese: maximum number of flips for one string [default: no limit]
    #[arg(long, value_name = "N", requires = "grammar",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub per_string: Option<u32>,
    /// cese: do not make this token symbolic
    #[arg(long, value_name = "TOKEN", requires = "grammar")]
    pub keep: Vec<String>,
    /// cese: replace this token by one symbolic constant
    #[arg(long, value_name = "TOKEN", requires = "grammar")]
    pub one: Vec<String>,
    /// cese: replace this token by one or more symbolic constants
    #[arg(long, value_name = "TOKEN", requires = "grammar")]
    pub many: Vec<String>,
    /// cese: contents of the holes of this token: digits, letters, alnum, any, or a regular
    /// expression; with an optional count, as in NUMBER=digits{1,4}
    #[arg(long = "hole", value_name = "TOKEN=WHAT", requires = "grammar")]
    pub holes: Vec<String>,
    /// cese: the contents of a hole need not match the pattern of its token
    #[arg(long, requires = "grammar")]
    pub relax_holes: bool,
    /// Maximum length of a hole (cese) or of the text of a token; 0 keeps all lengths
    /// [default: 65536]
    #[arg(long, value_name = "N", requires = "grammar")]
    pub max_hole: Option<u32>,
}

/// Options of hybrid search.
#[derive(Group)]
#[command(next_help_heading = "With -s hybrid")]
pub struct HybridOptions {
    /// hybrid: stop when this share of the reachable branches is covered
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub enough: Option<u32>,
    /// hybrid: start a search after N events without a gain [default: adapts]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub saturation: Option<u64>,
    /// hybrid: number of runs, traces and flips of a search [default: adapts]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// hybrid: number of events that a search looks ahead [default: adapts]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub ahead: Option<u64>,
    /// hybrid: strategy of a search [default: cfg]
    #[arg(long, value_name = "STRATEGY")]
    pub explore: Option<String>,
    /// hybrid: share of random events that are uniformly random; the others are made from
    /// values that the program compares its input with [default: 25]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub uniform: Option<u32>,
}

/// The strategies, one a line, as wide as the help of an option.
fn strategies() -> String {
    const NAME_WIDTH: usize = 15;
    const ABOUT_WIDTH: usize = 50;
    let mut text = String::from("How to search [default: auto]:");
    for entry in pleach_search::STRATEGIES {
        let mut name = entry.name;
        let needs = match entry.needs {
            Needs::Nothing => "",
            Needs::Grammar => "; needs -g",
            Needs::Tokens => "; needs -g and a token function",
            Needs::Places => "; needs --toward or --changed",
        };
        for line in wrap(&format!("{}{needs}", entry.about), ABOUT_WIDTH) {
            text.push_str(&format!("\n  {name:<NAME_WIDTH$}  {line}"));
            name = "";
        }
    }
    text
}

#[derive(Group)]
pub struct Report {
    /// Directory of the campaign
    #[arg(value_name = "OUT")]
    pub campaign: PathBuf,
    /// Directory to write the page to: a new one, or one with such a page
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Directory that names of source files are relative to; can be repeated [default: the
    /// current one, and those above the program]
    #[arg(long = "source", value_name = "DIR")]
    pub sources: Vec<PathBuf>,
    /// While the campaign runs, write the page again every N seconds (5 without N)
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
          default_missing_value = "5", value_parser = clap::value_parser!(u32).range(1..))]
    pub watch: Option<u32>,
    /// Make the input of each crash smaller with at most N runs
    #[arg(short = 'n', long, value_name = "N", default_value_t = 500)]
    pub runs: u64,
    /// The program, if it is not where the campaign ran it. Its arguments are those of the
    /// campaign
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

#[derive(Group)]
pub struct Pack {
    /// Standard input: the contents of FILE
    #[arg(long, value_name = "FILE")]
    pub stdin: Vec<PathBuf>,
    /// The file that @@ stands for: the contents of FILE
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// One more command-line argument; can be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub arg: Vec<OsString>,
    /// An environment variable; can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<OsString>,
    /// A connection: the contents of FILE; can be repeated
    #[arg(long, value_name = "FILE")]
    pub socket: Vec<PathBuf>,
    /// Input file to write
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
}

#[derive(Group)]
pub struct Sites {
    /// Also list sites in system headers and the C++ library
    #[arg(long)]
    pub system: bool,
    /// A program compiled by Pleach
    pub program: PathBuf,
}

#[derive(Group)]
pub struct Tokens {
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Time limit of a run, in milliseconds
    #[arg(short, long, value_name = "MS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// Run in a copy of this directory [default: an empty directory]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A program compiled by Pleach
    pub program: PathBuf,
    /// Input file whose tokens are listed; - for standard input
    pub input: Option<PathBuf>,
    /// The program's arguments. @@ stands for the input file; without @@, the input is
    /// standard input
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}
