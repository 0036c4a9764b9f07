//! `pleach solve-trace`: answers every flip of a recorded trace, and measures the time.

use super::read;
use super::z3::{Z3, Z3Answer};
use crate::args::{SolveTrace, SolverName};
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::Context;
use nix::time::{ClockId, clock_gettime};
use pleach_solve::{
    Answer, Config, Goal, Limits, Model, Path, Recording, SmtRequest, Solver, Tier, Verdict, Why,
};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

/// The limit of one Z3 process, in Z3's own units of work.
const Z3_MAX_WORK: u64 = 4_000_000_000;
/// The longest script that Z3 gets, in bytes.
const Z3_MAX_SCRIPT: usize = 1 << 18;
/// Z3's time limit for one flip.
const Z3_MAX_MILLISECONDS: u64 = 2_000;

pub fn run(args: SolveTrace) -> Result<Code, Failure> {
    let bytes = read(&args.file)?;
    let recording = Recording::from_bytes(&bytes)
        .map_err(|e| Failure::user_error(anyhow::anyhow!("{}: {e}", args.file.display())))?;
    let start = Instant::now();
    let mut path = recording.path();
    let prepared = start.elapsed();
    let flips = choose_flips(&path, args.sample);
    let mut report = Report::default();
    let mut out = show::out();
    match args.solver {
        SolverName::Pleach => {
            let before = cpu_time();
            let mut solver =
                Solver::new(Config { no_retries: args.no_retries, ..Config::default() });
            for &(at, goal) in &flips {
                let start = Instant::now();
                let answer = solver.flip(&mut path, at, goal);
                let took = start.elapsed();
                report.add(&answer, took);
                if args.list {
                    print_flip(&mut out, &path.show(at), at, goal, &answer, took)?;
                }
            }
            report.cpu = before.zip(cpu_time()).map(|(before, after)| after.saturating_sub(before));
        }
        SolverName::Z3 => ask_z3(&recording, &flips, &mut report)?,
    }
    if args.json {
        serde_json::to_writer(&mut out, &report.json(&path, prepared))?;
        writeln!(out)?;
    } else {
        report.print(&mut out, &path, prepared)?;
    }
    out.flush()?;
    Ok(Code::Ok)
}

/// Asks Z3 the same flips, with the same slices of conditions, in one process. Its time
/// includes reading the script, as in any use of Z3.
fn ask_z3(
    recording: &Recording,
    flips: &[(usize, Goal)],
    report: &mut Report,
) -> Result<(), Failure> {
    let limits = Limits::default();
    let start = || {
        Z3::start(Z3_MAX_WORK, Z3_MAX_MILLISECONDS)
            .context("cannot run z3; the Debian package is z3")
            .map_err(Failure::user_error)
    };
    let mut z3 = start()?;
    for &(at, goal) in flips {
        // Writing the script does not count.
        let Some(request) = SmtRequest::new(recording, at, goal, true, limits.length) else {
            report.letters.push('-');
            continue;
        };
        // Scripts with large tables take Z3 too long to read. They are skipped.
        if request.script.len() > Z3_MAX_SCRIPT {
            report.skipped += 1;
            report.letters.push('-');
            continue;
        }
        let before = Instant::now();
        let answer = z3.ask(&request.script, &request.values());
        let answer = answer.context("z3").map_err(Failure::user_error)?;
        let took = before.elapsed();
        let verdict = match answer {
            Z3Answer::Sat(_) => Verdict::Sat(Model::default()),
            Z3Answer::Unsat => Verdict::Unsat,
            Z3Answer::Unknown => {
                // Its limit of work counts from its start, so start it again.
                z3 = start()?;
                Verdict::Unknown(Why::Work)
            }
        };
        let mut by_tier = [None; Tier::COUNT];
        by_tier[Tier::Complete as usize] = Some(0);
        let answer = Answer { verdict, tier: Tier::Complete, cached: false, work: 0, by_tier };
        report.add(&answer, took);
    }
    Ok(())
}

/// All flips, or a sample of them.
fn choose_flips(path: &Path, sample: Option<usize>) -> Vec<(usize, Goal)> {
    let all: Vec<(usize, Goal)> =
        (0..path.len()).flat_map(|at| path.goals(at).into_iter().map(move |g| (at, g))).collect();
    match sample {
        Some(count) if count < all.len() => {
            (0..count).map(|i| all[i * all.len() / count.max(1)]).collect()
        }
        _ => all,
    }
}

#[derive(Default)]
struct Report {
    flips: u64,
    verdicts: [u64; 4],
    tiers: [TierReport; Tier::COUNT],
    cached: u64,
    /// Flips whose script is too large for Z3.
    skipped: u64,
    /// One letter for each flip: the first of its verdict, or `-` if it was not asked.
    letters: String,
    work: u64,
    time: Duration,
    /// CPU time of all flips, if it could be measured.
    cpu: Option<Duration>,
    slowest: Duration,
}

/// What one tier did.
#[derive(Clone, Copy, Default)]
struct TierReport {
    /// Flips that reached the tier, and flips that it answered.
    asked: u64,
    answered: u64,
    work: u64,
    /// The time of each flip is divided among its tiers by their work.
    time: Duration,
}

const VERDICTS: [&str; 4] = ["sat", "unsat", "optimistic", "unknown"];

fn verdict_index(answer: &Answer) -> usize {
    match answer.verdict {
        Verdict::Sat(_) => 0,
        Verdict::Unsat => 1,
        Verdict::Optimistic(_) => 2,
        Verdict::Unknown(_) => 3,
    }
}

impl Report {
    fn add(&mut self, answer: &Answer, took: Duration) {
        self.flips += 1;
        let verdict = verdict_index(answer);
        self.verdicts[verdict] += 1;
        self.letters.push(['s', 'u', 'o', '?'][verdict]);
        let total: u64 = answer.by_tier.iter().flatten().sum();
        for tier in Tier::ALL {
            let Some(work) = answer.by_tier[tier as usize] else { continue };
            let report = &mut self.tiers[tier as usize];
            let decided = tier == answer.tier;
            report.asked += 1;
            report.answered += u64::from(decided && verdict < 2);
            report.work += work;
            report.time += match total {
                0 if decided => took,
                0 => Duration::ZERO,
                total => took.mul_f64(work as f64 / total as f64),
            };
        }
        self.cached += u64::from(answer.cached);
        self.work += answer.work;
        self.time += took;
        self.slowest = self.slowest.max(took);
    }

    /// Flips per second, whether answered or not.
    fn rate(&self) -> f64 {
        self.flips as f64 / self.seconds()
    }

    /// CPU time of all flips, so that other processes have no influence. Z3 is another
    /// process; its time is measured by the clock.
    fn seconds(&self) -> f64 {
        self.cpu.unwrap_or(self.time).as_secs_f64().max(1e-9)
    }

    /// The share of answered flips that did not need tier 4.
    fn cheap(&self) -> f64 {
        let answered = self.answered();
        let complete = self.tiers[Tier::Complete as usize].answered;
        (answered - complete) as f64 / answered.max(1) as f64
    }

    /// Flips with a model or a proof that there is none.
    fn answered(&self) -> u64 {
        self.tiers.iter().map(|t| t.answered).sum()
    }

    /// The share of the time that a tier took.
    fn share_of_time(&self, tier: Tier) -> f64 {
        self.tiers[tier as usize].time.as_secs_f64() / self.time.as_secs_f64().max(1e-9)
    }

    fn json(&self, path: &Path, prepared: Duration) -> Value {
        let verdicts: Map<String, Value> =
            VERDICTS.iter().zip(self.verdicts).map(|(v, n)| (v.to_string(), n.into())).collect();
        let tiers: Map<String, Value> = Tier::ALL
            .iter()
            .map(|&t| {
                let TierReport { asked, answered, work, time } = self.tiers[t as usize];
                let row = json!({
                    "asked": asked,
                    "answered": answered,
                    "not_answered": asked - answered,
                    "work": work,
                    "ms": ms(time),
                    "share_of_answers": share(answered, self.answered()),
                    "share_of_work": share(work, self.work),
                    "share_of_time": self.share_of_time(t),
                });
                (t.name().to_string(), row)
            })
            .collect();
        json!({
            "steps": path.len(),
            "inconsistent": path.inconsistent(),
            "flips": self.flips,
            "flips_per_s": self.rate(),
            "answers_per_s": self.answered() as f64 / self.seconds(),
            "prepare_ms": ms(prepared),
            "solve_ms": ms(self.time),
            "cpu_ms": self.cpu.map(ms),
            "slowest_ms": ms(self.slowest),
            "verdicts": verdicts,
            "tiers": tiers,
            "without_tier_4": self.cheap(),
            "cached": self.cached,
            "skipped": self.skipped,
            "answers": self.letters,
            "work": self.work,
            "memory": path.memory(),
        })
    }

    fn print(&self, out: &mut impl Write, path: &Path, prepared: Duration) -> Result<(), Failure> {
        writeln!(
            out,
            "{} steps, {} flips; prepared in {:.2} ms, solved in {:.2} ms: {:.0} flips/s, the slowest {:.2} ms",
            path.len(),
            self.flips,
            ms(prepared),
            ms(self.time),
            self.rate(),
            ms(self.slowest),
        )?;
        let verdicts: Vec<String> =
            VERDICTS.iter().zip(self.verdicts).map(|(v, n)| format!("{v} {n}")).collect();
        writeln!(out, "{}; {} from the cache", verdicts.join(", "), self.cached)?;
        for tier in Tier::ALL {
            let TierReport { asked, answered, work, time } = self.tiers[tier as usize];
            if asked > 0 {
                writeln!(
                    out,
                    "{:<10} {answered} answered of {asked} asked ({:.1} % of the answers), \
                     {:.2} ms ({:.1} % of the time, {:.1} % of the work)",
                    tier.name(),
                    100.0 * share(answered, self.answered()),
                    ms(time),
                    100.0 * self.share_of_time(tier),
                    100.0 * share(work, self.work),
                )?;
            }
        }
        let complete = self.tiers[Tier::Complete as usize];
        let time = 100.0 * self.share_of_time(Tier::Complete);
        let answered = self.answered();
        let open = self.flips - answered;
        write!(out, "{answered} of {} flips answered, ", self.flips)?;
        writeln!(out, "{:.1} % of these without tier 4; {open} not", 100.0 * self.cheap())?;
        if complete.asked > complete.answered {
            let failed = complete.asked - complete.answered;
            writeln!(
                out,
                "tier 4 did not answer {failed} of the {} flips that came to it, and took \
                 {time:.1} % of the time",
                complete.asked,
            )?;
        }
        Ok(())
    }
}

/// CPU time of this thread so far.
fn cpu_time() -> Option<Duration> {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok().map(Duration::from)
}

/// `part / whole`; 0 if `whole` is 0.
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn print_flip(
    out: &mut impl Write,
    step: &str,
    at: usize,
    goal: Goal,
    answer: &Answer,
    took: Duration,
) -> Result<(), Failure> {
    writeln!(
        out,
        "{at} {goal:?}: {:?} by {}{}, {} operations, {:.1} µs: {step}",
        answer.verdict,
        answer.tier.name(),
        if answer.cached { " (cached)" } else { "" },
        answer.work,
        took.as_secs_f64() * 1e6,
    )?;
    Ok(())
}
