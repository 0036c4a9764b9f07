//! `./x differential`: tests with random programs, and with test suites of compilers.
//!
//! Each program is checked in two ways. First, plain clang, the fast half and the symbolic
//! half must print the same and exit in the same way. Second, the program reads random
//! inputs, and every expression of its traces must evaluate to the value that the program
//! had.
//!
//! There are four kinds of random programs ([`kind`]): those of csmith, which read their
//! globals (see [`adapter`]), and C and C++ programs of our own.
//!
//! Program `i` is that for seed `SEED + i`, compiled at `-O0` to `-O3` in turn, so each can be
//! repeated alone. The files of a failure are kept, and the command that repeats it is
//! printed. `--continue` takes seeds that were not taken before, and adds the results to
//! `docs/differential.jsonl` ([`count`]).

mod adapter;
mod compare;
mod count;
mod cxx;
mod floats;
mod kind;
mod loops;
mod random;
mod source;
mod suite;
mod verdict;

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::project;
use compare::Case;
use count::Counts;
use kind::Kind;
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
    /// Kind of the programs [default: csmith; with --continue all]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
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
    /// Test the next N programs of each kind, or of --kind, and add the results to
    /// docs/differential.jsonl
    #[arg(long = "continue", value_name = "N", conflicts_with_all = ["programs", "seed", "level"])]
    next: Option<u64>,
    /// Compare the next N random paths of each size with Z3, and add the flips to
    /// docs/differential.jsonl
    #[arg(long, value_name = "N", conflicts_with_all = ["programs", "seed", "next"])]
    flips: Option<u64>,
    /// Print the totals of docs/differential.jsonl, and run nothing
    #[arg(long)]
    count: bool,
    /// Test the C and C++ files below this directory that check themselves, such as
    /// gcc/testsuite/gcc.c-torture/execute in the sources of gcc; those that plain clang does
    /// not compile or that fail there are skipped
    #[arg(long, value_name = "DIR", conflicts_with_all = ["programs", "seed", "next", "flips"])]
    suite: Option<PathBuf>,
}

/// True if no program failed.
pub fn run(args: &Args) -> Result<bool> {
    let mut counts = Counts::open()?;
    if args.count {
        println!("{}", counts.totals());
        return Ok(true);
    }
    if let Some(paths) = args.flips {
        return counts.add_flips(paths);
    }
    let saved = project::target("differential").join("failures");
    fs::create_dir_all(&saved).with_context(|| format!("cannot write to {}", saved.display()))?;
    if let Some(dir) = &args.suite {
        let total = suite::run(dir, args.level, args.jobs, &saved)?;
        println!("{total}");
        return Ok(total.failed() == 0);
    }
    let Some(next) = args.next else {
        let total = args.test(args.kind.unwrap_or(Kind::Csmith), args.seed, args.programs)?;
        println!("{total}");
        return Ok(total.failed() == 0);
    };
    if next == 0 {
        bail!("--continue 0: give a number above 0");
    }
    let kinds = args.kind.map_or(Kind::ALL.to_vec(), |kind| vec![kind]);
    let mut good = true;
    for kind in kinds {
        let seed = counts.next_seed(kind);
        let total = args.test(kind, seed, next)?;
        println!("{}, seeds {seed} to {}\n{total}", kind.name(), seed + next - 1);
        counts.add_programs(kind, seed, &total)?;
        good &= total.failed() == 0;
    }
    println!("{}", counts.totals());
    Ok(good)
}

impl Args {
    /// Tests some programs of a kind.
    fn test(&self, kind: Kind, first: u64, programs: u64) -> Result<Tally> {
        let saved = project::target("differential").join("failures");
        in_parallel(self.jobs, programs, |i| {
            let seed = first.wrapping_add(i);
            let level = self.level.unwrap_or(seed % 4);
            let case = Case { kind, seed, level, inputs: self.inputs };
            let verdict = case.examine(self.keep, &saved)?;
            report(&case, &verdict);
            Ok(verdict)
        })
    }
}

/// Adds up the verdicts on programs 0 to `programs - 1`.
fn in_parallel(
    jobs: usize,
    programs: u64,
    examine: impl Fn(u64) -> Result<Verdict> + Sync,
) -> Result<Tally> {
    let next = AtomicU64::new(0);
    let total = Mutex::new(Tally::default());
    thread::scope(|scope| -> Result<()> {
        let work = || -> Result<()> {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= programs {
                    return Ok(());
                }
                let verdict = examine(i)?;
                let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                total.add(&verdict);
                if total.programs().is_multiple_of(PROGRESS_STEP) {
                    println!(
                        "{} of {programs} programs, {} failed",
                        total.programs(),
                        total.failed()
                    );
                }
            }
        };
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            worker.join().map_err(|_| anyhow::anyhow!("a worker panicked"))??;
        }
        Ok(())
    })?;
    Ok(total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

fn report(case: &Case, verdict: &Verdict) {
    let Case { kind, seed, level, .. } = case;
    for problem in &verdict.problems {
        println!("{} seed {seed} -O{level}: {problem}", kind.name());
    }
    if !verdict.problems.is_empty() {
        let kind = match kind {
            Kind::Csmith => String::new(),
            other => format!(" --kind {}", other.name()),
        };
        println!("    repeat it: ./x differential 1 {seed} --level {level}{kind}");
        println!("    its files: target/differential/failures/{}", case.name());
    }
}
