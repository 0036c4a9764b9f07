//! How long workers wait for the lock on what they share: campaigns of 1 to 32 workers on a
//! fake target in persistent mode. `./x bench locks` runs it; docs/benchmarks.md explains it.
//!
//! The target sleeps instead of working, so that many workers fit on few processors. The work
//! of the workers themselves does not sleep, so a run of the target must take longer here than
//! a run of a fast program. What workers of a fast program would wait is computed from how
//! long the lock is held for a run, and what a worker does besides: see [`predict_waiting`].
//! Both are CPU times, because here a worker often waits for a processor.

#[allow(dead_code, reason = "the tests of the ring use all of it")]
#[path = "../tests/ring/support.rs"]
mod support;

use nix::time::{ClockId, clock_gettime};
use pleach_campaign::run::Stats;
use pleach_exec::fake::{FakeProgram, FakeRun, FakeTarget};
use pleach_exec::{End, Half};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::Bench;

const WORKERS: [usize; 5] = [1, 2, 8, 16, 32];
/// The first line with a branch, and the number of bytes with branches of their own.
const FIRST_LINE: u32 = 10;
const BYTES: u32 = 64;
/// Shorter sleeps take longer than asked for.
const MIN_SLEEP: Duration = Duration::from_millis(2);
/// A trace takes this many times as long as a run: it has a process of its own, so that it
/// takes 300 µs at least where a run takes 12.
const TRACE_FACTOR: u32 = 25;

fn main() {
    // `cargo bench` adds an option of its own.
    let args: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let number = |at: usize, default| args.get(at).copied().unwrap_or(default);
    let (seconds, simulated_us, real_us) = (number(0, 5.0), number(1, 600.0), number(2, 12.0));
    println!("A run takes {simulated_us} µs here, and {real_us} µs in the last column.\n");
    println!(
        "| workers | runs/s | traces, per run | lock taken, per run | held, µs per run | \
         other work, µs per run | waited | predicted |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|");
    for workers in WORKERS {
        let Measured { stats, wall, own_us } = run(workers, seconds, simulated_us);
        let runs = stats.runs.max(1) as f64;
        let traces = stats.traces as f64 / runs;
        let held = stats.lock.held_s * 1e6 / runs;
        let other = (own_us / runs - held).max(0.0);
        let of_program = real_us * (1.0 + f64::from(TRACE_FACTOR) * traces);
        println!(
            "| {workers} | {:.0} | {traces:.4} | {:.3} | {held:.3} | {other:.1} | {:.2} % | {:.2} % |",
            runs / wall,
            stats.lock.taken as f64 / runs,
            100.0 * stats.time_s.lock / (workers as f64 * wall),
            100.0 * predict_waiting(workers, held, other + of_program),
        );
    }
}

/// A campaign, how long it took, and the CPU time of its workers besides that of the program,
/// in microseconds.
struct Measured {
    stats: Stats,
    wall: f64,
    own_us: f64,
}

/// CPU time of the program, in nanoseconds.
static PROGRAM_CPU: AtomicU64 = AtomicU64::new(0);

fn cpu(clock: ClockId) -> Duration {
    Duration::from(clock_gettime(clock).expect("a clock of CPU time"))
}

/// The share of its time that a worker waits for a lock that it holds for `held` of each
/// `held + free`, by mean value analysis of a closed queue with one server. It assumes times
/// that vary much (exponentially), so it rather predicts too much.
fn predict_waiting(workers: usize, held: f64, free: f64) -> f64 {
    let (mut queue, mut response) = (0.0, held);
    for n in 1..=workers {
        response = held * (1.0 + queue);
        queue = n as f64 / (free + response) * response;
    }
    (response - held) / (free + response)
}

fn run(workers: usize, seconds: f64, run_us: f64) -> Measured {
    let mut bench = Bench::new(target(run_us));
    bench.settings.strategy = "auto".into();
    (bench.settings.len, bench.settings.max_len) = (u64::from(BYTES), 4 * u64::from(BYTES));
    bench.limits.time = Some(Duration::from_secs_f64(seconds));
    bench.jobs = workers;
    bench.seeds = vec![vec![b' '; BYTES as usize]];
    let campaign = bench.campaign();
    let before = cpu(ClockId::CLOCK_PROCESS_CPUTIME_ID);
    let (start, program_before) = (Instant::now(), PROGRAM_CPU.load(Ordering::Relaxed));
    let stats = campaign.run_on(|_| {}, || Ok(Box::new(target(run_us))));
    let used = cpu(ClockId::CLOCK_PROCESS_CPUTIME_ID) - before;
    let program = PROGRAM_CPU.load(Ordering::Relaxed) - program_before;
    Measured {
        stats: stats.expect("a campaign"),
        wall: start.elapsed().as_secs_f64(),
        own_us: (used.as_secs_f64() * 1e6 - program as f64 / 1e3).max(0.0),
    }
}

/// A program that reads bytes one by one, and decides several things for each. Each worker
/// gets its own, with a log of its own.
fn target(run_us: f64) -> FakeTarget {
    let run_time = Duration::from_secs_f64(run_us / 1e6);
    FakeProgram::new().branches("main", FIRST_LINE..FIRST_LINE + 3 * BYTES).persistent().target(
        move |run| {
            let before = cpu(ClockId::CLOCK_THREAD_CPUTIME_ID);
            sleep_in_turn(if run.half == Half::Fast { run_time } else { TRACE_FACTOR * run_time });
            let end = read_all(run);
            let used = cpu(ClockId::CLOCK_THREAD_CPUTIME_ID) - before;
            PROGRAM_CPU.fetch_add(used.as_nanos() as u64, Ordering::Relaxed);
            end
        },
    )
}

fn read_all(run: &mut FakeRun) -> End {
    for i in 0..BYTES {
        let (line, Some(byte)) = (FIRST_LINE + 3 * i, run.next_byte()) else { break };
        if run.branch(line, byte.is_below(0x40u8)) {
            run.branch(line + 1, byte.equals(b'0' + (i % 10) as u8));
        } else if run.branch(line + 2, byte.equals(b'a' + (i % 26) as u8)) {
            break;
        }
    }
    End::Exit(0)
}

/// Sleeps for this run, and for the runs before that did not sleep yet.
fn sleep_in_turn(time: Duration) {
    thread_local! {
        static OWED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }
    let owed = OWED.get() + time;
    if owed < MIN_SLEEP {
        return OWED.set(owed);
    }
    let start = Instant::now();
    std::thread::sleep(owed);
    OWED.set(owed.saturating_sub(start.elapsed()));
}
