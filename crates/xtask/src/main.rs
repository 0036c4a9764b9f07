//! What `./x` runs that is more than a few commands: real programs built and
//! checked in every flavour, csmith's programs compared, and the benchmarks.
//!
//! Nothing here knows how campaigns work inside. They are used through the commands,
//! as anyone would use them, so that what is tested is what people get. Only grammars
//! are measured and checked by their libraries.

mod bench;
mod differential;
mod grammars;
mod process;
mod project;
mod queues;
mod subjects;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "./x", about = "Tests and benchmarks of Pleach on programs that others wrote")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Fetch real programs, build them with Pleach, and run their own tests on both halves
    Subjects(subjects::Args),
    /// Compare csmith's random programs: plain clang, fast half, symbolic half
    Differential(differential::Args),
    /// Import grammars that others wrote, and hold them against their programs
    Grammars(grammars::Args),
    /// Search the examples with two builds of Pleach, and compare what they keep
    Queues(queues::Args),
    /// Measure
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    let done = match Args::parse().task {
        Task::Subjects(args) => subjects::run(&args),
        Task::Differential(args) => differential::run(&args),
        Task::Grammars(args) => grammars::run(&args),
        Task::Queues(args) => queues::run(&args),
        Task::Bench(bench) => bench::run(&bench),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(problem) => {
            eprintln!("./x: {problem:#}");
            ExitCode::from(2)
        }
    }
}
