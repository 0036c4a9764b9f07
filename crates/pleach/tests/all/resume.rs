//! The driver is killed at any moment, and the campaign is gone on with: what
//! was in the queue is there, nothing is solved twice, no path is lost.

use crate::common::Program;
use crate::common::campaign::{Ended, files, journal};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Six bytes of three classes each, and the last only after some firsts: enough
/// paths for a campaign to be interrupted in many places.
const MANY_PATHS: &str = r#"
    #include <pleach.h>
    static int count;
    int main(void) {
        unsigned char in[6];
        pleach_bytes(in, 6);
        for (int i = 0; i < 6; i++) {
            if (in[0] == 'x' && i > 4) break;
            switch (in[i]) {
            case 'a': count += 1; break;
            case 'x': count += 2; break;
            }
        }
        return count;
    }
"#;

/// How often the driver is killed; `PLEACH_KILLS=100` for more.
fn kills() -> u32 {
    std::env::var("PLEACH_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

#[test]
fn killed_at_random_moments() {
    let program = Program::new(MANY_PATHS);
    let flags = ["-s", "dfs", "--len", "6"];
    let whole = program.campaign("whole", &flags);
    assert_eq!(whole.stop(), "exhausted", "{}", whole.stats);
    let took = whole.stats["time_s"]["total"].as_f64().expect("a number");
    let mut chance = Chance(0x5eed);
    let mut queue = BTreeMap::new();
    let mut survived = 0;
    for n in 0..kills() {
        let mut command = match program.dir.path().join("out/run.toml").exists() {
            true => program.command(&["run", "-i", "-", "-o", "out"]),
            false => program.campaign_command("out", &flags),
        };
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut driver = command.spawn().expect("pleach runs");
        // Mostly while it works, sometimes while it starts.
        let moment = (took * 3.0 / f64::from(kills())).max(0.3) * chance.fraction();
        let ended = kill_after(&mut driver, Duration::from_secs_f64(0.02 + moment));
        survived += u32::from(ended);
        let now = files(&program.dir.path().join("out/queue"));
        for (name, bytes) in &queue {
            assert_eq!(now.get(name), Some(bytes), "kill {n}: {name}");
        }
        assert!(now.values().all(|bytes| bytes.len() <= 6), "kill {n}");
        queue = now.into_iter().filter(|(name, _)| name.starts_with("id:")).collect();
    }
    assert!(survived < kills(), "it was never killed");
    let last = program.resume("out", &[]);
    assert_same_end(&whole, &last);
    check_flips(&last.out, whole.count("flips.asked"));
}

#[test]
fn interrupted_in_order_nothing_is_asked_again() {
    let program = Program::new(MANY_PATHS);
    let flags = ["-s", "dfs", "--len", "6"];
    let whole = program.campaign("whole", &flags);
    let first = program.campaign("out", &[&flags[..], &["-n", "100"]].concat());
    assert_eq!(first.stop(), "runs");
    let last = program.resume("out", &[]);
    assert_same_end(&whole, &last);
    assert_eq!(last.count("flips.asked"), whole.count("flips.asked"));
    check_flips(&last.out, whole.count("flips.asked"));
    // Once more, when there is nothing left: no flip, no new path.
    let again = program.resume("out", &[]);
    assert_same_end(&whole, &again);
    assert_eq!(again.count("flips.asked"), whole.count("flips.asked"));
    assert_eq!(again.files("queue"), last.files("queue"));
}

#[test]
fn seeds_that_were_not_reached_are_not_forgotten() {
    let program = Program::new(MANY_PATHS);
    std::fs::create_dir(program.dir.path().join("seeds")).expect("a directory");
    for n in 0..40u8 {
        program.file(&format!("seeds/{n:02}"), &[b'A' + n; 6]);
    }
    // A seed costs a run or two: this ends long before the last.
    let first = program.campaign("out", &["-i", "seeds", "-s", "dfs", "-n", "10"]);
    let after = |ended: &Ended| ended.queue().into_iter().collect::<HashSet<_>>();
    assert!(after(&first).len() < 40, "{}", first.stats);
    let last = program.resume("out", &[]);
    assert_eq!(last.stop(), "exhausted");
    let all = after(&last);
    assert!((0..40u8).all(|n| all.contains(&vec![b'A' + n; 6])), "{}", last.stats);
    assert_eq!(last.queue().iter().filter(|q| q[..] == [b'A'; 6]).count(), 1);
}

#[test]
fn files_of_other_fuzzers_are_taken_in() {
    let program = Program::new(MANY_PATHS);
    let whole = program.campaign("whole", &["-s", "dfs", "--len", "6"]);
    program.campaign("out", &["-s", "dfs", "--len", "6", "-n", "20"]);
    program.file("out/queue/id:000900,sync:other", b"xaxaxa");
    // The second time the journal has to know it too.
    program.resume("out", &["-n", "60"]);
    let last = program.resume("out", &[]);
    assert!(last.queue().contains(&b"xaxaxa".to_vec()));
    assert_same_end(&whole, &last);
}

/// Some branches, one of them only in a crash, and slow enough for a resume to be stopped
/// while it runs its inputs again.
const SLOW: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    int main(void) {
        static char in[8];
        volatile int spent = 0;
        size_t n = fread(in, 1, 8, stdin);
        for (int i = 0; i < 3000000; i++) spent++;
        for (size_t i = 0; i < n; i++) {
            if (in[i] == 'q') abort();
            if (in[i] >= 'a' && in[i] <= 'm') spent += 2;
            else if (in[i] >= 'n') spent += 3;
        }
        return spent & 1;
    }
"#;

/// Seconds, runs, and covered branches of each line in `plot_data`.
fn plot(out: &Path) -> Vec<[f64; 3]> {
    let text = std::fs::read_to_string(out.join("plot_data")).expect("there is one");
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    let numbers = |line: &str| -> Vec<f64> {
        line.split(", ").map(|n| n.parse().expect("a number")).collect()
    };
    lines.map(numbers).map(|n| [n[0], n[1], n[3]]).collect()
}

#[test]
fn running_inputs_again_changes_no_number() {
    let program = Program::new(SLOW);
    std::fs::create_dir(program.dir.path().join("seeds")).expect("a directory");
    for n in 0..30u8 {
        program.file(&format!("seeds/{n:02}"), &[b'0' + 2 * n; 8]);
    }
    let first = program.campaign("out", &["-i", "seeds", "-n", "60", "-t", "5000"]);
    assert!(first.count("crashes") > 0, "{}", first.stats);
    let same = |ended: &Ended| {
        for count in ["runs", "paths", "branches.covered", "inputs", "crashes", "hangs"] {
            assert_eq!(ended.count(count), first.count(count), "{count}: {}", ended.stats);
        }
        let plot = plot(&ended.out);
        let sags = plot.windows(2).any(|w| (0..3).any(|i| w[1][i] < w[0][i]));
        assert!(!sags, "{plot:?}");
    };
    // Stopped at once, and when all was run again.
    same(&program.resume("out", &["-V", "0"]));
    same(&program.resume("out", &["-n", "60"]));
    same(&program.resume("out", &["-V", "0"]));
}

/// What a flip found and nobody wanted to trace is no seed of the resumed campaign.
#[test]
fn resuming_does_not_trace_what_was_left_alone() {
    let program = Program::new(MANY_PATHS);
    let first = program.campaign("out", &["-n", "400"]);
    let paths = first.count("paths");
    let last = program.resume("out", &["-n", "440"]);
    assert!(last.count("paths") <= paths + 40, "{paths}: {}", last.stats);
    assert_eq!(last.count("runs"), 440, "{}", last.stats);
}

#[test]
fn limits_of_a_run_can_be_changed() {
    let program = Program::new(MANY_PATHS);
    program.campaign("out", &["-s", "dfs", "--len", "6", "-n", "10"]);
    let limits = || {
        let text = std::fs::read_to_string(program.dir.path().join("out/run.toml"));
        let text = text.expect("there is one");
        let wanted =
            |l: &&str| ["timeout_ms", "adaptive", "memory"].iter().any(|n| l.starts_with(n));
        text.lines().filter(wanted).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(limits(), ["timeout_ms = 1000", "adaptive = true", "memory_mib = 2048"]);
    program.resume("out", &["-t", "3000", "-m", "500", "-n", "20"]);
    let changed = ["timeout_ms = 3000", "adaptive = false", "memory_mib = 500"];
    assert_eq!(limits(), changed);
    let last = program.resume("out", &[]);
    assert_eq!((last.stop(), limits()), ("exhausted", changed.map(String::from).to_vec()));
}

/// The same set of paths, all run.
fn assert_same_end(whole: &Ended, last: &Ended) {
    assert_eq!(last.stop(), "exhausted", "{}", last.stats);
    assert_eq!(last.count("paths"), whole.count("paths"));
}

/// No edge of the tree was asked for twice, and hardly any that an uninterrupted
/// campaign, with `asked` of them, takes without asking.
fn check_flips(out: &Path, asked: u64) {
    let nodes = journal::flips(out);
    let distinct: HashSet<u64> = nodes.iter().copied().collect();
    assert_eq!(
        nodes.len(),
        distinct.len(),
        "{} flips were solved again",
        nodes.len() - distinct.len()
    );
    assert!(nodes.len() as u64 <= asked + asked / 20, "{} for {asked}", nodes.len());
}

/// Kills a driver after some time. Whether it had ended by itself.
fn kill_after(driver: &mut Child, time: Duration) -> bool {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if driver.try_wait().expect("it is ours").is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = driver.kill();
    driver.wait().expect("it is ours");
    false
}

struct Chance(u64);

impl Chance {
    fn fraction(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}
