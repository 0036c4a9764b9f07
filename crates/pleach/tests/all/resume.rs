//! The driver is killed at any moment, and the campaign is resumed: the queue is still there,
//! no flip is solved twice, no path is lost.

use crate::common::Program;
use crate::common::campaign::{Ended, files, inputs, journal};
use crate::common::process::wait_until;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Six bytes of three classes each; the last one counts only after some values of the first.
/// That is enough paths to interrupt a campaign in many places.
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

/// How often the driver is killed; set `PLEACH_KILLS=100` for more.
fn kills() -> u32 {
    std::env::var("PLEACH_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

#[test]
fn a_campaign_killed_at_random_moments_finds_every_path() {
    let program = Program::new(MANY_PATHS);
    let flags = ["-s", "dfs", "--len", "6"];
    let whole = program.campaign("whole", &flags);
    assert_eq!(whole.stop(), "exhausted", "{}", whole.stats);
    let whole_journal = journal_length(&whole.out);
    let out = program.path("out");
    let mut random = Random(0x5eed);
    let mut queue = BTreeMap::new();
    let mut killed_at_work = 0;
    for n in 0..kills() {
        let mut command = match out.join("run.toml").exists() {
            true => program.command(&["run", "-i", "-", "-o", "out"]),
            false => program.campaign_command("out", &flags),
        };
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut driver = command.spawn().expect("pleach runs");
        // Mostly while it searches, sometimes while it starts. The length of the journal
        // shows how far a search is, whatever the speed of the machine.
        if n % 4 == 3 {
            std::thread::sleep(Duration::from_secs_f64(0.1 * random.fraction()));
        } else {
            let part = random.fraction() * 2.0 / f64::from(kills());
            let length = journal_length(&out) + (part * whole_journal as f64) as u64;
            killed_at_work += u32::from(wait_for_journal(&mut driver, &out, length));
        }
        let _ = driver.kill();
        driver.wait().expect("it is our child");
        let now = files(&out.join("queue"));
        for (name, bytes) in &queue {
            assert_eq!(now.get(name), Some(bytes), "kill {n}: {name}");
        }
        assert!(now.values().all(|bytes| bytes.len() <= 6), "kill {n}");
        queue = inputs(&out.join("queue"));
    }
    assert!(killed_at_work >= kills() / 4, "{killed_at_work} of {} kills", kills());
    let last = program.resume("out", &[]);
    assert_same_end(&whole, &last);
    check_flips(&last.out, whole.count("flips.asked"));
}

fn journal_length(out: &Path) -> u64 {
    std::fs::metadata(out.join("journal")).map_or(0, |m| m.len())
}

/// Waits until the journal has grown to this length, or the driver has ended. True if the
/// driver still runs.
fn wait_for_journal(driver: &mut Child, out: &Path, length: u64) -> bool {
    let mut has_ended = false;
    wait_until("the journal does not grow", || {
        has_ended = driver.try_wait().expect("it is our child").is_some();
        has_ended || journal_length(out) > length
    });
    !has_ended
}

#[test]
fn resuming_after_a_run_limit_asks_no_flip_again() {
    let program = Program::new(MANY_PATHS);
    let flags = ["-s", "dfs", "--len", "6"];
    let whole = program.campaign("whole", &flags);
    let first = program.campaign("out", &[&flags[..], &["-n", "100"]].concat());
    assert_eq!(first.stop(), "runs");
    let last = program.resume("out", &[]);
    assert_same_end(&whole, &last);
    assert_eq!(last.count("flips.asked"), whole.count("flips.asked"));
    check_flips(&last.out, whole.count("flips.asked"));
    // Resuming an exhausted campaign asks no flip and finds no new path.
    let again = program.resume("out", &[]);
    assert_same_end(&whole, &again);
    assert_eq!(again.count("flips.asked"), whole.count("flips.asked"));
    assert_eq!(again.files("queue"), last.files("queue"));
}

#[test]
fn seeds_that_did_not_run_are_run_by_the_resumed_campaign() {
    let program = Program::new(MANY_PATHS);
    let seeds: Vec<_> = (0..40u8).map(|n| (format!("{n:02}"), [b'A' + n; 6])).collect();
    program.seeds(seeds.iter().map(|(name, bytes)| (&name[..], &bytes[..])));
    // A seed costs a run or two, so this ends long before the last seed.
    let first = program.campaign("out", &["-i", "seeds", "-s", "dfs", "-n", "10"]);
    let distinct = |ended: &Ended| ended.queue().into_iter().collect::<HashSet<_>>();
    assert!(distinct(&first).len() < 40, "{}", first.stats);
    let last = program.resume("out", &[]);
    assert_eq!(last.stop(), "exhausted");
    let queue = distinct(&last);
    assert!(seeds.iter().all(|(_, bytes)| queue.contains(&bytes[..])), "{}", last.stats);
    assert_eq!(last.queue().iter().filter(|q| q[..] == [b'A'; 6]).count(), 1);
}

#[test]
fn inputs_that_other_fuzzers_put_into_the_queue_are_used() {
    let program = Program::new(MANY_PATHS);
    let whole = program.campaign("whole", &["-s", "dfs", "--len", "6"]);
    program.campaign("out", &["-s", "dfs", "--len", "6", "-n", "20"]);
    program.file("out/queue/id:000900,sync:other", b"xaxaxa");
    // The second time, the input comes from the journal.
    program.resume("out", &["-n", "60"]);
    let last = program.resume("out", &[]);
    assert!(last.queue().contains(&b"xaxaxa".to_vec()));
    assert_same_end(&whole, &last);
}

/// Some branches, one of them only in a crash. It is slow enough that a resumed campaign can
/// be stopped while it still runs its old inputs again.
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

/// Seconds, runs and covered branches of each line in `plot_data`.
fn plot(out: &Path) -> Vec<[f64; 3]> {
    let text = std::fs::read_to_string(out.join("plot_data")).expect("it exists");
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    let numbers = |line: &str| -> Vec<f64> {
        line.split(", ").map(|n| n.parse().expect("a number")).collect()
    };
    lines.map(numbers).map(|n| [n[0], n[1], n[3]]).collect()
}

#[test]
fn resuming_keeps_every_count() {
    let program = Program::new(SLOW);
    let seeds: Vec<_> = (0..30u8).map(|n| (format!("{n:02}"), [b'0' + 2 * n; 8])).collect();
    program.seeds(seeds.iter().map(|(name, bytes)| (&name[..], &bytes[..])));
    let first = program.campaign("out", &["-i", "seeds", "-n", "60", "-t", "5000"]);
    assert!(first.count("crashes") > 0, "{}", first.stats);
    let assert_same = |ended: &Ended| {
        for count in ["runs", "paths", "branches.covered", "inputs", "crashes", "hangs"] {
            assert_eq!(ended.count(count), first.count(count), "{count}: {}", ended.stats);
        }
        let plot = plot(&ended.out);
        let falls = plot.windows(2).any(|w| (0..3).any(|i| w[1][i] < w[0][i]));
        assert!(!falls, "{plot:?}");
    };
    // Stopped at once, and after all old inputs were run again.
    assert_same(&program.resume("out", &["-V", "0"]));
    assert_same(&program.resume("out", &["-n", "60"]));
    assert_same(&program.resume("out", &["-V", "0"]));
}

/// Inputs that the first campaign did not trace are no seeds of the resumed one.
#[test]
fn resuming_does_not_trace_inputs_that_were_not_traced_before() {
    let program = Program::new(MANY_PATHS);
    let first = program.campaign("out", &["-n", "400"]);
    let paths = first.count("paths");
    let last = program.resume("out", &["-n", "440"]);
    assert!(last.count("paths") <= paths + 40, "{paths}: {}", last.stats);
    assert_eq!(last.count("runs"), 440, "{}", last.stats);
}

#[test]
fn the_limits_of_a_run_can_be_changed_when_resuming() {
    let program = Program::new(MANY_PATHS);
    let first = ["-s", "dfs", "--len", "6", "-n", "10", "--max-memory", "1G"];
    program.campaign("out", &first);
    let limits = || {
        let text = String::from_utf8(program.read("out/run.toml")).expect("text");
        let is_limit = |l: &&str| {
            ["timeout_ms", "adaptive", "memory", "max_mem"].iter().any(|n| l.starts_with(n))
        };
        text.lines().filter(is_limit).map(String::from).collect::<Vec<_>>()
    };
    let given =
        ["timeout_ms = 1000", "adaptive = true", "memory_mib = 2048", "max_memory = 1073741824"];
    assert_eq!(limits(), given);
    program.resume("out", &["-t", "3000", "-m", "500", "--max-memory", "64M", "-n", "20"]);
    let changed =
        ["timeout_ms = 3000", "adaptive = false", "memory_mib = 500", "max_memory = 67108864"];
    assert_eq!(limits(), changed);
    let last = program.resume("out", &[]);
    assert_eq!((last.stop(), limits()), ("exhausted", changed.map(String::from).to_vec()));
}

#[test]
fn the_share_of_flips_is_kept_when_resuming() {
    let program = Program::new(MANY_PATHS);
    let share = || {
        let text = String::from_utf8(program.read("out/run.toml")).expect("text");
        text.lines().find(|l| l.starts_with("flip_share")).map(String::from)
    };
    program.campaign("out", &["--flip-share", "0.5", "-n", "100"]);
    assert_eq!(share().as_deref(), Some("flip_share_percent = 50"));
    program.resume("out", &["-n", "200"]);
    assert_eq!(share().as_deref(), Some("flip_share_percent = 50"));
}

/// Both campaigns ran every path.
fn assert_same_end(whole: &Ended, last: &Ended) {
    assert_eq!(last.stop(), "exhausted", "{}", last.stats);
    assert_eq!(last.count("paths"), whole.count("paths"));
}

/// No edge of the tree was asked for twice. A campaign without interruptions asks for
/// `asked` edges; a resumed one may ask for a few more, which the other took by chance.
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

struct Random(u64);

impl Random {
    fn fraction(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

#[test]
fn a_lost_directory_of_inputs_is_written_again() {
    let program = Program::new(MANY_PATHS);
    let ended = program.campaign("out", &["-s", "dfs", "--len", "6", "-n", "50"]);
    let before = ended.queue().len();
    std::fs::remove_dir_all(program.path("out/queue")).unwrap();
    // The messages name what is missing, and no other file of the campaign is an input.
    program.refuses(&["report", "out", "-o", "page"], &["out/queue", "No such file"]);
    program.refuses(&["replay", "out", "--", "./prog"], &["out: no inputs in it"]);
    let again = program.resume("out", &["-n", "60"]);
    assert!(again.queue().len() >= before, "{}", again.stats);
}
