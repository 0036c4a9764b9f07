//! Campaigns on targets that do their worst. Each ends in order, says what
//! happened, goes on with the rest of the search, and leaves nothing behind: no
//! process, no file, nothing on the terminal.

mod common;

use common::campaign::{Ended, ended, files};
use common::{PLEACH, Program, feed};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
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

/// A target under a name of its own, so that its processes can be counted, with
/// a directory for temporary files of its own, so that they can.
struct Target {
    program: Program,
    name: String,
    what: &'static str,
}

impl Target {
    fn new(what: &'static str) -> Target {
        let program = Program::empty();
        // Names of processes are cut after 15 bytes.
        let name = format!("l-{}", &what[..what.len().min(13)]);
        std::fs::copy(compiled(), program.dir.path().join(&name)).expect("room for a copy");
        std::fs::create_dir(program.dir.path().join("tmp")).expect("a directory");
        Target { program, name, what }
    }

    fn command(&self, flags: &[&str]) -> Command {
        let mut command = self.program.command(&["run", "-o", "out", "--json"]);
        command.args(["-s", "dfs", "--len", "4"]).args(flags);
        if !flags.contains(&"-t") {
            command.args(["-t", "300"]);
        }
        command.arg("--").arg(format!("./{}", self.name)).arg(self.what);
        command.env("TMPDIR", self.program.dir.path().join("tmp"));
        command
    }

    fn campaign(&self, flags: &[&str]) -> Ended {
        let ended = ended(&mut self.command(flags), &self.program.dir.path().join("out"));
        self.nothing_is_left();
        ended
    }

    fn nothing_is_left(&self) {
        let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
        let named = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let left = all.filter(|e| named(e.path().join("comm")).trim() == self.name).count();
        assert_eq!(left, 0, "{}: processes", self.what);
        let temporary = std::fs::read_dir(self.program.dir.path().join("tmp"));
        assert_eq!(temporary.expect("it is there").count(), 0, "{}: files", self.what);
        // What the driver and we have made, and nothing of the target's.
        let mut here: Vec<_> = files(self.program.dir.path()).into_keys().collect();
        here.retain(|name| *name != self.name);
        assert!(here.is_empty(), "{}: {here:?}", self.what);
    }
}

/// Whatever the worst is, the search goes on and finds the other paths: short
/// inputs, and what does not begin with `bad`.
fn searched(what: &'static str, flags: &[&str]) -> (Target, Ended) {
    let target = Target::new(what);
    let ended = target.campaign(flags);
    assert!(ended.stop().starts_with("exhausted"), "{what}: {}", ended.stats);
    assert!(ended.count("paths") >= 6, "{what}: {}", ended.stats);
    (target, ended)
}

/// It is a hang, and kept as one.
fn hangs(what: &'static str, flags: &[&str]) {
    let (_target, ended) = searched(what, flags);
    assert_eq!((ended.count("hangs"), ended.count("crashes")), (1, 0), "{what}: {}", ended.stats);
    let kept = ended.files("hangs").into_values().next().expect("a file");
    assert!(kept.starts_with(b"bad"), "{what}: {kept:?}");
}

/// It is nothing out of the ordinary.
fn passes(what: &'static str, flags: &[&str]) {
    let (_target, ended) = searched(what, flags);
    assert_eq!((ended.count("hangs"), ended.count("crashes")), (0, 0), "{what}: {}", ended.stats);
}

/// It is a crash.
fn crashes(what: &'static str, flags: &[&str]) {
    let (_target, ended) = searched(what, flags);
    assert_eq!((ended.count("hangs"), ended.count("crashes")), (0, 1), "{what}: {}", ended.stats);
    assert!(ended.crashes()[0].starts_with(b"bad"), "{what}");
}

#[test]
fn processes() {
    passes("daemons", &[]);
    hangs("sleep", &[]);
    hangs("stop", &[]);
    // Fifteen at once use up their time in CPU before the clock does.
    hangs("spin", &["-t", "1500"]);
    crashes("parent", &[]);
}

#[test]
fn fork_bombs() {
    let start = Instant::now();
    hangs("bomb", &["-t", "5000"]);
    hangs("bomb-sessions", &["-t", "5000"]);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn memory() {
    crashes("memory", &["-m", "300", "-t", "5000"]);
    // No process of it is large, all together are.
    crashes("family", &["-m", "300", "-t", "5000"]);
}

#[test]
fn files_and_output() {
    hangs("file", &["-t", "20000"]);
    hangs("files", &["-t", "5000"]);
    // It goes nowhere; only the clock ends it.
    hangs("output", &[]);
    passes("litter", &[]);
    passes("homeless", &[]);
}

#[test]
fn shared_memory() {
    let (_target, ended) = searched("memory-map", &[]);
    assert!(ended.count("broken_traces") >= 1, "{}", ended.stats);
    assert_eq!(ended.stop(), "exhausted-partial");
}

#[test]
fn the_terminal() {
    let target = Target::new("terminal");
    let mut inner = vec![PLEACH.to_string()];
    inner.extend(target.command(&[]).get_args().map(|a| a.to_string_lossy().into_owned()));
    let mut script = Command::new("script");
    script.args(["-qefc", &inner.join(" "), "/dev/null"]).current_dir(target.program.dir.path());
    script.env("TMPDIR", target.program.dir.path().join("tmp"));
    let done = feed(&mut script, b"");
    let screen = String::from_utf8_lossy(&done.stdout);
    assert!(screen.contains("branches") && !screen.contains("HERE I AM"), "{screen}");
    let stats = std::fs::read(target.program.dir.path().join("out/stats.json")).expect("it ran");
    let stats: serde_json::Value = serde_json::from_slice(&stats).expect("JSON");
    assert_eq!((&stats["crashes"], &stats["stop"]), (&0.into(), &"exhausted".into()), "{stats}");
    target.nothing_is_left();
}

#[test]
fn every_way_to_end() {
    // A run that ends with this status, by this signal, or in its own way.
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
    let ended = program.campaign("out", &["-s", "dfs", "--len", "1", "-t", "500"]);
    assert_eq!(ended.count("branches.covered"), ended.count("branches.total"), "{}", ended.stats);
    let mut found = Vec::new();
    for kind in ["crashes", "hangs"] {
        let inputs = ended.files(kind).into_iter().filter(|(name, _)| name.starts_with("id:"));
        let mut letters: Vec<u8> =
            inputs.filter(|(name, _)| !name.ends_with(".txt")).map(|f| f.1[0]).collect();
        letters.sort();
        found.push(String::from_utf8(letters).expect("letters"));
    }
    // Those killed by SIGKILL have no stack, and are alike. Both cover a new branch.
    assert_eq!((&found[0][..], ended.count("crashes")), ("fghikl", 5), "{}", ended.stats);
    assert_eq!(found[1], "", "{}", ended.stats);
}

#[test]
fn targets_that_do_not_start() {
    // A constructor that crashes: the fork server never speaks.
    let program = Program::with(
        "#include <stdlib.h>\n__attribute__((constructor)) static void c(void) { abort(); }\n\
         int main(void) { return 0; }\n",
        &[],
    );
    let done = program.campaign_command("out", &[]).output().expect("pleach runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!((done.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("does not start: it was killed by SIGABRT"), "{said}");
    assert!(!program.dir.path().join("out").exists());
}

#[test]
fn behaviour_that_changes_from_run_to_run() {
    // Which byte is looked at next depends on the number of the process.
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
    // The same with branches of its own: coverage that comes and goes. Two runs
    // one after the other never agree in all of the last bits.
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
