//! The larger commands of `./x`: real programs built and tested, programs of csmith
//! compared, and the benchmarks.
//!
//! Campaigns run through the commands of `pleach`, as users run them, so that the tests
//! cover what users get. Only grammars, and the speed of single runs, are measured
//! through libraries.

mod bench;
mod differential;
mod examples;
mod grammars;
mod packages;
mod process;
mod project;
mod queues;
mod soak;
mod subjects;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "./x",
    bin_name = "./x",
    about = "Large tests and benchmarks of Pleach, mostly on real programs"
)]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Download real programs, build them with Pleach, and run their test suites on both
    /// halves
    Subjects(subjects::Args),
    /// Build Debian packages with Pleach, run their tests, and search them for crashes; one
    /// package after another, continues if it was interrupted
    Packages(packages::Args),
    /// Check on random programs of csmith that plain clang, the fast half and the symbolic
    /// half agree, and that every traced expression is true
    Differential(differential::Args),
    /// Import real grammars, sample them, and check the samples with the programs that the
    /// grammars belong to
    Grammars(grammars::Args),
    /// Check that two builds of Pleach find the same inputs in the examples
    Queues(queues::Args),
    /// Search programs while processes are killed, the disk fills up and memory is short:
    /// nothing may be lost or left behind
    Soak(soak::Args),
    /// Run a benchmark
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    let done = match Args::parse().task {
        Task::Subjects(args) => subjects::run(&args),
        Task::Packages(args) => packages::run(&args),
        Task::Differential(args) => differential::run(&args),
        Task::Grammars(args) => grammars::run(&args),
        Task::Queues(args) => queues::run(&args),
        Task::Soak(args) => soak::run(&args),
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
