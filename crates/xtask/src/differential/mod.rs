//! `./x differential`: tests with random programs of csmith.
//!
//! Each program is checked in two ways. First, plain clang, the fast half and the symbolic
//! half must print the same checksum and exit in the same way. Second, the program reads
//! its globals from random inputs (see [`adapter`]), and every expression of its traces
//! must evaluate to the value that the program had.
//!
//! Program `i` is csmith's program for seed `SEED + i`, compiled at `-O0` to `-O3` in turn,
//! so each can be repeated alone. The files of a failure are kept, and the command that
//! repeats it is printed.

mod adapter;
mod compare;
mod random;
mod verdict;

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result};

use crate::project;
use compare::Tools;
use verdict::{Tally, Verdict};

/// Progress is printed after this many programs.
const PROGRESS_STEP: u64 = 50;

#[derive(clap::Args)]
pub struct Args {
    /// Number of programs
    #[arg(default_value_t = 40)]
    programs: u64,
    /// Seed of the first program; each next program has the next seed
    #[arg(default_value_t = 1)]
    seed: u64,
    /// Compile every program at this optimisation level, instead of 0 to 3 in turn
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=3))]
    level: Option<u64>,
    /// Number of random inputs to trace for each program; 0 checks no traces
    #[arg(long, default_value_t = 3)]
    inputs: u64,
    /// Number of programs to test at the same time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Keep the files of every program in target/differential/failures, not only of failures
    #[arg(long)]
    keep: bool,
}

/// True if no program failed.
pub fn run(args: &Args) -> Result<bool> {
    let tools = Tools::find()?;
    let saved = project::target("differential").join("failures");
    fs::create_dir_all(&saved).with_context(|| format!("cannot write to {}", saved.display()))?;

    let next = AtomicU64::new(0);
    let total = Mutex::new(Tally::default());
    thread::scope(|scope| -> Result<()> {
        let work = || -> Result<()> {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= args.programs {
                    return Ok(());
                }
                let seed = args.seed.wrapping_add(i);
                let level = args.level.unwrap_or(seed % 4);
                let verdict = tools.examine(seed, level, args.inputs, args.keep, &saved)?;
                report(seed, level, &verdict);
                let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                total.add(&verdict);
                if total.programs().is_multiple_of(PROGRESS_STEP) {
                    println!(
                        "{} of {} programs, {} failed",
                        total.programs(),
                        args.programs,
                        total.failed()
                    );
                }
            }
        };
        let workers: Vec<_> = (0..args.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            worker.join().map_err(|_| anyhow::anyhow!("a worker panicked"))??;
        }
        Ok(())
    })?;

    let total = total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    println!("{total}");
    Ok(total.failed() == 0)
}

fn report(seed: u64, level: u64, verdict: &Verdict) {
    for problem in &verdict.problems {
        println!("seed {seed} -O{level}: {problem}");
    }
    if !verdict.problems.is_empty() {
        println!("    repeat it: ./x differential 1 {seed} --level {level}");
        println!("    its files: target/differential/failures/{seed}-O{level}");
    }
}
