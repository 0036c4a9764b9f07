//! From a run to decisions in the search: thinning, deciding, importing, and the flips of a
//! whole campaign.

use crate::growth::{TRACE_SIZES, check_growth};
use pleach_campaign::run::{Campaign, Disk, Hybrid, Limits, Settings, Setup, Stats, Text};
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
    let settings = Settings {
        version: "test".into(),
        program: vec![Text::new("fake".as_ref())],
        build: "1".into(),
        strategy: "generational".into(),
        seed: 1,
        timeout_ms: 60_000,
        adaptive: false,
        memory_mib: 0,
        len,
        max_len: len,
        calls_len: None,
        endless_len: None,
        depth: u32::MAX,
        flip_share_percent: 100,
        socket: false,
        tty: None,
        extension: Text::default(),
        cwd: None,
        grammar: None,
        hybrid: Hybrid::default(),
    };
    let setup = Setup {
        layout: target.layout(),
        settings,
        limits: Limits { runs: Some(4), ..Limits::default() },
        jobs: 1,
        grammar: None,
        workdir: None,
        notes: Vec::new(),
    };
    let dir = tempfile::tempdir().unwrap();
    let seeds = vec![vec![b'a'; len as usize]];
    let campaign = Campaign::begin(setup, seeds, &dir.path().join("out"), Disk::default());
    campaign.unwrap().run_on(|_| {}, || Ok(Box::new(target.clone()))).unwrap()
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
