//! What can be said on the command line.

use clap::{Args as Group, Parser, Subcommand, ValueEnum};
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
    /// Print the path condition of an input as C, with source lines
    Explain(Explain),
    /// Run the fast half on inputs and report which branches they cover
    Cover(Cover),
    /// Put several streams (arguments, variables, files) into one input file
    Pack(Pack),
    /// List the branches and checks that a program was compiled with
    Sites(Sites),
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
    /// Show what the program printed
    #[arg(long)]
    pub capture: bool,
    /// The input file; - for standard input
    pub input: PathBuf,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Group)]
pub struct Explain {
    /// The input file; - for standard input
    pub input: PathBuf,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Group)]
pub struct Cover {
    /// One line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Input files; - for standard input
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub run: Run,
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
    pub program: PathBuf,
}
