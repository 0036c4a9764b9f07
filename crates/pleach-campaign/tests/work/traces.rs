//! From a run to decisions in the search: thinning, deciding, importing, and the flips of a
//! whole campaign.

use crate::growth::{TRACE_SIZES, check_growth};
use crate::support::Bench;
use pleach_campaign::run::Stats;
use pleach_exec::End;
use pleach_exec::fake::FakeProgram;

/// The decisions of one trace that a search gets.
const MAX_DECISIONS: u64 = 2 << 16;

/// A campaign on a program that decides `n` times, on inputs of `len` bytes.
fn campaign(n: u64, len: u64) -> Stats {
    let target = FakeProgram::new().branches("main", [10, 11]).target(move |run| {
        for round in 0..n {
            let byte = run.byte((round % len) as usize);
            run.branch(10, byte.is_below((round % 251) as u8));
        }
        let first = run.byte(0);
        run.branch(11, first.equals(b'k'));
        End::Exit(0)
    });
    let mut bench = Bench::with(target, "generational", 4);
    (bench.settings.len, bench.settings.max_len) = (len, len);
    bench.seeds = vec![vec![b'a'; len as usize]];
    bench.run().stats
}

fn check(name: &str, of_size: impl Fn(u64) -> Stats) {
    let all = TRACE_SIZES.map(|n| (n, of_size(n)));
    for task in ["decide", "import", "prepare"] {
        let work: Vec<(u64, u64)> =
            all.iter().map(|(n, stats)| (*n, stats.work.get(task).copied().unwrap_or(0))).collect();
        check_growth(&format!("{name}, {task}"), &work, u64::MAX);
    }
    for (n, stats) in &all {
        assert!(stats.symbolic.constraints <= stats.traces * MAX_DECISIONS, "{name}: {stats:?}");
        // What was left out is reported.
        let is_whole = *n < MAX_DECISIONS / 2;
        assert_eq!(stats.symbolic.left_out == 0, is_whole, "{name}: {stats:?}");
        assert_eq!(stats.partial.contains_key("decisions left out"), !is_whole, "{name}");
        assert_eq!(stats.stalls, 0, "{name}: {stats:?}");
    }
}

#[test]
fn a_campaign_on_long_traces() {
    check("eight bytes", |n| campaign(n, 8));
}

#[test]
fn a_campaign_on_long_inputs() {
    check("long inputs", |n| campaign(n, n.min(1 << 20)));
}
