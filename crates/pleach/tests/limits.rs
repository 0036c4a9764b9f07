//! Campaigns on targets that do their worst. Each campaign ends normally, reports what
//! happened, searches the rest of the program, and leaves nothing behind: no process, no
//! file, nothing on the terminal.

mod common;

use common::campaign::{Ended, files, run_campaign, stats_on_disk};
use common::process::{count_processes, unique_name};
use common::{PLEACH, Program, feed};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

fn compiled() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/limits.c");
        let mut cc = Command::new(PLEACH);
        let done = cc.args(["cc", "-O1", "-w", "-o"]).args([&program, Path::new(source)]).output();
        let done = done.expect("pleach runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        program
    })
}

/// The time limit for a run that no other limit ends. The symbolic half gets ten times this,
/// so it decides how long these tests take. The harmless runs must end within it, too; each
/// needs a millisecond.
const SHORT: &str = "500";
/// The time limit for a run that ends by itself or at another limit.
const LONG: &str = "20000";

/// A fork bomb leaves no processor to anybody else. Tests with short time limits do not run
/// at the same time.
static PROCESSORS: RwLock<()> = RwLock::new(());

/// A target with a process name and a temporary directory of its own, so that what it
/// leaves behind can be seen.
struct Target {
    program: Program,
    name: String,
    what: &'static str,
}

impl Target {
    fn new(what: &'static str) -> Target {
        let program = Program::empty();
        let name = unique_name();
        std::fs::copy(compiled(), program.path(&name)).expect("room for a copy");
        program.make_dir("tmp");
        Target { program, name, what }
    }

    fn command(&self, flags: &[&str]) -> Command {
        let mut command = self.program.command(&["run", "-o", "out", "--json"]);
        command.args(["-s", "dfs", "--len", "4"]).args(flags);
        command.arg("--").arg(format!("./{}", self.name)).arg(self.what);
        command.env("TMPDIR", self.program.path("tmp"));
        command
    }

    fn campaign(&self, flags: &[&str]) -> Ended {
        let ended = run_campaign(&mut self.command(flags), &self.program.path("out"));
        self.assert_clean();
        ended
    }

    fn assert_clean(&self) {
        assert_eq!(count_processes(&self.name), 0, "{}: processes", self.what);
        assert!(files(&self.program.path("tmp")).is_empty(), "{}: temporary files", self.what);
        // Besides the copy of the target there are only directories.
        let mut here: Vec<_> = files(self.program.dir.path()).into_keys().collect();
        here.retain(|name| *name != self.name);
        assert!(here.is_empty(), "{}: {here:?}", self.what);
    }
}

/// Runs a campaign. Whatever the target does on `bad` inputs, the search finds the paths of
/// the others: short inputs, and inputs that begin otherwise. The directory with the kept
/// inputs is gone when the target is dropped.
fn search(what: &'static str, flags: &[&str]) -> (Target, Ended) {
    let target = Target::new(what);
    let ended = target.campaign(flags);
    assert!(ended.stop().starts_with("exhausted"), "{what}: {}", ended.stats);
    assert!(ended.count("paths") >= 6, "{what}: {}", ended.stats);
    (target, ended)
}

/// The bad input is one hang, which this limit ends.
fn hangs(what: &'static str, limit: &str, timeout: &str) {
    let (_target, ended) = search(what, &["-t", timeout]);
    assert_eq!((ended.count("hangs"), ended.count("crashes")), (1, 0), "{what}: {}", ended.stats);
    assert!(ended.partial().contains(&limit), "{what}: {}", ended.stats);
    let kept = ended.inputs("hangs").into_values().next().expect("a file");
    assert!(kept.starts_with(b"bad"), "{what}: {kept:?}");
}

/// The bad input ends like any other.
fn passes(what: &'static str) {
    let (_target, ended) = search(what, &["-t", LONG]);
    assert_eq!((ended.count("hangs"), ended.count("crashes")), (0, 0), "{what}: {}", ended.stats);
}

/// The bad input is a crash.
fn crashes(what: &'static str, flags: &[&str]) {
    let (_target, ended) = search(what, &[flags, &["-t", LONG]].concat());
    assert_eq!((ended.count("hangs"), ended.count("crashes")), (0, 1), "{what}: {}", ended.stats);
    assert!(ended.crashes()[0].starts_with(b"bad"), "{what}");
}

#[test]
fn runs_that_sleep_or_stop_time_out() {
    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    // They need no processor, so they can wait for their time limits together.
    std::thread::scope(|scope| {
        for what in ["sleep", "stop"] {
            scope.spawn(move || hangs(what, "timed out", SHORT));
        }
    });
}

#[test]
fn runs_that_write_or_compute_for_ever_time_out() {
    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    // What they write goes nowhere, so only the clock ends them.
    hangs("output", "timed out", SHORT);
    // Sixteen processes.
    hangs("spin", "timed out", SHORT);
}

#[test]
fn processes_that_a_run_leaves_are_ended() {
    passes("daemons");
}

#[test]
fn a_killed_fork_server_is_a_crash() {
    crashes("parent", &[]);
}

#[test]
fn fork_bombs_are_ended() {
    let _alone = PROCESSORS.write().unwrap_or_else(PoisonError::into_inner);
    let start = Instant::now();
    hangs("bomb", "too many processes", LONG);
    hangs("bomb-sessions", "too many processes", LONG);
    // To kill all processes takes a few seconds. If the bomb wins the race against the
    // warden, it takes until the time limits, which are many minutes.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn memory_limits_count_all_processes_of_a_run() {
    crashes("memory", &["-m", "300"]);
    // No process of the family is large, but all together are.
    crashes("family", &["-m", "300"]);
}

#[test]
fn large_files_and_many_files_are_ended() {
    hangs("file", "too much output", LONG);
    hangs("files", "too much output", LONG);
}

#[test]
fn files_of_a_run_are_removed() {
    passes("litter");
    passes("homeless");
}

#[test]
fn overwritten_shared_memory_is_a_broken_trace() {
    let (_target, ended) = search("memory-map", &["-t", LONG]);
    assert!(ended.count("broken_traces") >= 1, "{}", ended.stats);
    assert_eq!(ended.stop(), "exhausted-partial");
}

#[test]
fn targets_cannot_write_to_the_terminal() {
    let target = Target::new("terminal");
    let mut inner = vec![PLEACH.to_string()];
    let command = target.command(&["-t", LONG]);
    inner.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    let mut script = Command::new("script");
    script.args(["-qefc", &inner.join(" "), "/dev/null"]).current_dir(target.program.dir.path());
    script.env("TMPDIR", target.program.path("tmp"));
    let done = feed(&mut script, b"");
    let screen = String::from_utf8_lossy(&done.stdout);
    assert!(screen.contains("branches") && !screen.contains("HERE I AM"), "{screen}");
    let stats = stats_on_disk(&target.program.path("out"));
    assert_eq!((&stats["crashes"], &stats["stop"]), (&0.into(), &"exhausted".into()), "{stats}");
    target.assert_clean();
}

#[test]
fn an_exit_is_no_crash_and_a_signal_is_one() {
    let program = Program::with(
        r#"
        #define _GNU_SOURCE
        #include <pleach.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <unistd.h>
        int main(void) {
            unsigned char in[1];
            pleach_bytes(in, 1);
            switch (in[0]) {
            case 'a': return 255;
            case 'b': exit(1);
            case 'c': _exit(2);
            case 'd': quick_exit(3);
            case 'e': execl("/bin/true", "true", (char *)0);
            case 'f': abort();
            case 'g': raise(SIGSEGV);
            case 'h': raise(SIGKILL);
            case 'i': raise(SIGTERM);
            case 'j': close(0); close(1); close(2); return 0;
            case 'k': kill(0, SIGKILL);
            case 'l': __builtin_trap();
            }
            return 0;
        }
        "#,
        &["-w"],
    );
    let ended = program.campaign("out", &["-s", "dfs", "--len", "1", "-t", LONG]);
    assert_eq!(ended.count("branches.covered"), ended.count("branches.total"), "{}", ended.stats);
    let mut letters: Vec<u8> = ended.crashes().iter().map(|input| input[0]).collect();
    letters.sort();
    // `h` and `k` are killed by SIGKILL. Such crashes have no stack and count as one, but
    // each covers a new branch, so both inputs are kept.
    assert_eq!((&letters[..], ended.count("crashes")), (&b"fghikl"[..], 5), "{}", ended.stats);
    assert!(ended.inputs("hangs").is_empty(), "{}", ended.stats);
}

#[test]
fn a_target_that_does_not_start_is_refused() {
    // The constructor runs before the fork server.
    let program = Program::with(
        "#include <stdlib.h>\n__attribute__((constructor)) static void c(void) { abort(); }\n\
         int main(void) { return 0; }\n",
        &[],
    );
    let reason = "does not start: it was killed by SIGABRT";
    program.refuses(&["run", "-o", "out", "--", "./prog"], &[reason]);
}

#[test]
fn behaviour_that_changes_from_run_to_run_is_unstable() {
    // Which byte is compared next depends on the process ID.
    let program = Program::with(
        r#"
        #include <pleach.h>
        #include <unistd.h>
        static volatile int n;
        int main(void) {
            unsigned char in[16];
            pleach_bytes(in, 16);
            unsigned chance = getpid();
            for (int i = 0; i < 16; i++) {
                chance = chance * 1103515245 + 12345;
                if (in[chance >> 20 & 15] == 'x') n++;
            }
            return n;
        }
        "#,
        &[],
    );
    let ended = program.campaign("out", &["-s", "dfs", "--len", "16", "-n", "2000"]);
    assert!(ended.count("unstable_paths") > 0, "{}", ended.stats);
    assert_eq!(ended.stop(), "exhausted-partial", "{}", ended.stats);
    assert!(ended.stderr.contains("unstable"), "{}", ended.stderr);
    // Here the process ID decides which branches are covered. Two runs in a row almost never
    // have process IDs with the same last four bits.
    let program = Program::new(
        r#"
        #include <stdio.h>
        #include <unistd.h>
        static volatile int n;
        int main(void) {
            int c = getchar(), chance = getpid();
            if (chance & 1) n++;
            if (chance & 2) n++;
            if (chance & 4) n++;
            if (chance & 8) n++;
            return c == 'x';
        }
        "#,
    );
    let ended = program.campaign("out", &["-s", "generational", "-n", "200"]);
    assert!(ended.count("unstable") > 0, "{}", ended.stats);
    assert!(ended.stderr.contains("unstable"), "{}", ended.stderr);
}
