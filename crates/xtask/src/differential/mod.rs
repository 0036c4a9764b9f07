//! Random programs by csmith, run in every flavour.
//!
//! Two questions are asked of each program. Does it behave the same: plain clang,
//! fast half, symbolic half, one checksum and one way to exit? And, with its
//! globals fed from input (see [`adapter`]), is what the symbolic half says true:
//! does every expression of a trace evaluate to the value that the program saw?
//!
//! Program number `i` is csmith's for seed `SEED + i`, at `-O0` to `-O3` in turn,
//! so any one of them can be had again alone. What fails is kept with the
//! command that repeats it.

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
use compare::Workshop;
use verdict::{Tally, Verdict};

/// A line says how far it is after so many programs.
const STEP: u64 = 50;

#[derive(clap::Args)]
pub struct Args {
    /// How many programs
    #[arg(default_value_t = 40)]
    programs: u64,
    /// Seed of the first one; the next has the next number
    #[arg(default_value_t = 1)]
    seed: u64,
    /// Compile every program at this level, instead of 0 to 3 in turn
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=3))]
    level: Option<u64>,
    /// Random inputs for each program whose globals are fed; 0 leaves that part out
    #[arg(long, default_value_t = 3)]
    inputs: u64,
    /// Programs at the same time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Keep the files of every program, not only of those that fail
    #[arg(long)]
    keep: bool,
}

/// True when nothing differed.
pub fn run(args: &Args) -> Result<bool> {
    let workshop = Workshop::new()?;
    let kept = project::target("differential").join("failures");
    fs::create_dir_all(&kept).with_context(|| format!("cannot write to {}", kept.display()))?;

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
                let verdict = workshop.examine(seed, level, args.inputs, args.keep, &kept)?;
                report(seed, level, &verdict);
                let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                total.add(&verdict);
                if total.programs().is_multiple_of(STEP) {
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
        println!("    again: ./x differential 1 {seed} --level {level}");
        println!("    kept:  target/differential/failures/{seed}-O{level}");
    }
}
