//! What users see: Ctrl-C, terminals of any width, and mistakes on the command line. Each
//! mistake gets one clear message, and nothing is touched.

use crate::common::campaign::stats_on_disk;
use crate::common::process::{SOON, send_signal, unique_name, wait_until};
use crate::common::{PLEACH, Program, feed, refused};
use nix::sys::signal::Signal;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Two decisions on its first two bytes.
const TWO_BYTES: &str = r#"
    #include <pleach.h>
    int main(void) {
        unsigned char in[2];
        pleach_bytes(in, 2);
        if (in[0] == 's') return 2;
        return in[1] == 'x';
    }
"#;

/// Sleeps for very long on inputs that begin with `s`.
const SLEEPER: &str = r#"
    #include <pleach.h>
    #include <unistd.h>
    int main(void) {
        unsigned char in[2];
        pleach_bytes(in, 2);
        if (in[0] == 's') sleep(1000);
        return in[1] == 'x';
    }
"#;

/// True if a process with this name sleeps.
fn is_asleep(name: &str) -> bool {
    let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let read = |e: &std::fs::DirEntry, file: &str| {
        std::fs::read_to_string(e.path().join(file)).unwrap_or_default()
    };
    all.into_iter()
        .any(|e| read(&e, "comm").trim() == name && read(&e, "wchan").contains("nanosleep"))
}

/// Starts a campaign on `SLEEPER`, and waits until the target sleeps. No time limit ends that
/// run for a minute. Returns the driver and the name of the target.
fn start_sleeper(program: &Program) -> (Child, String) {
    let name = unique_name();
    program.compile(SLEEPER, &["-o", &name]);
    let mut command = program.command(&["run", "-o", "out", "--json", "-t", "60000"]);
    command.args(["-s", "dfs", "--len", "2", "--"]).arg(format!("./{name}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let driver = command.spawn().expect("pleach runs");
    wait_until("the target does not sleep", || is_asleep(&name));
    (driver, name)
}

fn stops_while_a_target_sleeps(signal: Signal) {
    let program = Program::empty();
    let (driver, name) = start_sleeper(&program);
    let start = Instant::now();
    send_signal(&driver, signal);
    let done = driver.wait_with_output().expect("it is our child");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{stderr}");
    let stats: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(stats["stop"], "interrupted");
    // The signal ended the run, so it is not a hang.
    assert_eq!(stats["hangs"], 0);
    let advice = stderr.lines().last().unwrap_or_default();
    assert_eq!(advice, format!("to resume: pleach run -i - -o out -- ./{name}"));
    // The command of the advice works. With a short time limit the sleeper is a hang.
    let command = advice.replace("to resume: pleach", PLEACH).replace(" -- ", " -t 100 -- ");
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).current_dir(program.dir.path()).stdin(Stdio::null());
    let done = shell.output().expect("sh runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let stats = stats_on_disk(&program.path("out"));
    assert!(stats["hangs"].as_u64() > Some(0), "{stats}");
}

#[test]
fn sigint_stops_a_campaign_while_a_target_sleeps() {
    stops_while_a_target_sleeps(Signal::SIGINT);
}

#[test]
fn sigterm_stops_a_campaign_while_a_target_sleeps() {
    stops_while_a_target_sleeps(Signal::SIGTERM);
}

/// What `pleach run` writes to a terminal with this number of columns.
fn on_terminal(columns: u32, environment: &str) -> String {
    let program = Program::new(TWO_BYTES);
    // Long enough for the view to be drawn more than once.
    let inner = format!(
        "stty rows 24 cols {columns}; {environment} exec {PLEACH} run -s random --len 2 -n 1500 \
         -o a-directory-with-a-rather-long-name -- ./prog"
    );
    let mut script = Command::new("script");
    script.args(["-qec", &inner, "/dev/null"]).current_dir(program.dir.path());
    script.env_remove("NO_COLOR").env("SHELL", "/bin/sh");
    let done = feed(&mut script, b"");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn no_line_of_the_view_wraps() {
    for columns in [80, 40] {
        let screen = on_terminal(columns, "NO_COLOR=1");
        let panels: Vec<_> = screen.split("\r\x1b[J").skip(1).collect();
        assert!(!panels.is_empty(), "{screen:?}");
        for panel in panels {
            let lines: Vec<_> = panel.lines().take(9).collect();
            assert_eq!(lines.len(), 9, "{screen:?}");
            for line in lines {
                assert!(line.chars().count() < columns as usize, "{line:?}");
            }
        }
    }
}

#[test]
fn colours_are_used_only_on_terminals_and_not_with_no_color() {
    assert!(on_terminal(80, "").contains("\x1b[1m"));
    assert!(!on_terminal(80, "NO_COLOR=1").contains("\x1b[1m"));
    let done = Program::new(TWO_BYTES).campaign("out", &["-s", "dfs", "--len", "2"]);
    assert!(!done.stderr.contains('\x1b'), "{}", done.stderr);
    assert!(done.stderr.lines().next().is_some_and(|l| l.contains("branches")), "{}", done.stderr);
}

#[test]
fn mistakes_on_the_command_line_are_refused() {
    let program = Program::new(TWO_BYTES);
    program.compile("int main(void) { return 0; }\n", &["-o", "other"]);
    program.file("a-file", b"x");
    for dir in ["empty", "full", "cut"] {
        program.make_dir(dir);
    }
    program.file("full/thesis.tex", b"\\documentclass");
    program.file("cut/seed", b"PLEACH-INPUT-1\ni\0\0\0\x09\0\0\0four");
    let refuses =
        |args: &[&str], parts: &[&str]| program.refuses(&[&["run"], args].concat(), parts);
    for (args, parts) in [
        (&["-o", "out", "-s", "bfs", "--", "./prog"][..], &["unknown strategy `bfs`", "dfs"][..]),
        (&["-o", "out", "-i", "nowhere", "--", "./prog"], &["nowhere", "No such file"]),
        (&["-o", "out", "-i", "a-file", "--", "./prog"], &["a-file", "is a file"]),
        (&["-o", "out", "-i", "empty", "--", "./prog"], &["empty", "no seeds"]),
        (&["-o", "out", "-i", "cut", "--", "./prog"], &["cut/seed", "record 0 is cut off"]),
        (&["-o", "full", "--", "./prog"], &["full", "not empty"]),
        (&["-o", "a-file", "--", "./prog"], &["a-file", "Not a directory"]),
        (&["-o", "out", "--", "./nothing"], &["nothing", "No such file"]),
        (&["-o", "out", "--", "/bin/true"], &["/bin/true", "no symbolic half", "pleach cc"]),
        (&["-o", "out"], &["no program", "--"]),
        (&["-o", "out", "-V=-1", "--", "./prog"], &["-V", "must be a number of seconds"]),
        (&["-o", "out", "--max-memory", "63M", "--", "./prog"], &["--max-memory 63M", "64M"]),
        (&["-o", "out", "--max-memory", "much", "--", "./prog"], &["--max-memory much", "800M"]),
        (&["-i", "-", "-o", "out"], &["out", "no campaign"]),
        (&["-i", "-", "-o", "empty"], &["empty", "no campaign"]),
    ] {
        refuses(args, parts);
    }
    for factor in ["0.05", "11", "NaN", "much"] {
        let args = ["run", "-o", "out", "--flip-share", factor, "--", "./prog"];
        let refused = program.run(&args, b"");
        let message = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{factor}: {message}");
        assert!(message.contains("from 0.1 to 10"), "{message}");
    }
    program.campaign("out", &["-s", "dfs", "--len", "2"]);
    for (args, parts) in [
        (&["-o", "out", "--", "./prog"][..], &["out", "holds a campaign already", "-i -"][..]),
        (&["-o", "out", "--", "./other"], &["out", "holds a campaign already"]),
        (&["-i", "-", "-o", "out", "--", "./other"], &["out", "the program", "prog", "other"]),
        (&["-i", "-", "-o", "out", "-s", "cfg"], &["--strategy", "dfs", "cfg"]),
        (&["-i", "-", "-o", "out", "--len", "3"], &["--len", "2", "3"]),
        (&["-i", "-", "-o", "out", "--flip-share", "2"], &["--flip-share", "100", "200"]),
        (&["-i", "-", "-o", "out", "--", "./prog", "-x"], &["the program", "prog -x"]),
    ] {
        refuses(args, parts);
    }
    program.compile(&format!("{TWO_BYTES}\nint more;"), &["-o", "prog"]);
    let advice = "-i out/queue -o NEW";
    refuses(&["-i", "-", "-o", "out"], &["out", "the build of the program", advice]);
    // The advice works.
    let ended = program.campaign("new", &["-i", "out/queue", "-s", "dfs", "-n", "3"]);
    assert!(ended.count("inputs") > 0, "{}", ended.stats);
    program.file("out/run.toml", b"what is this");
    refuses(&["-i", "-", "-o", "out"], &["out/run.toml"]);
}

#[test]
fn a_directory_that_is_in_use_is_refused() {
    let program = Program::empty();
    let (mut driver, _) = start_sleeper(&program);
    // `refuses` compares files, and the first driver keeps writing its statistics.
    let args = ["run", "-i", "-", "-o", "out"];
    refused(&program.run(&args, b""), &args, &["another pleach is at work in it"]);
    driver.kill().and_then(|()| driver.wait()).expect("it is our child");
}

#[test]
fn a_program_that_reads_no_input_gets_a_warning() {
    let program = Program::new(
        "#include <stdio.h>\n\
         int main(int count, char **args) {\n\
             FILE *file = count > 1 ? fopen(args[1], \"r\") : 0;\n\
             return file ? getc(file) == 'x' : 2;\n\
         }\n",
    );
    let ended = program.campaign("out", &["-n", "20"]);
    assert!(ended.stderr.contains("warning") && ended.stderr.contains("@@"), "{}", ended.stderr);
    let ended = program.campaign_with_args("other", &["-n", "20"], &["@@"]);
    assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
}

/// Needs a file from its directory, then changes that file and removes another.
const NEEDS_FILES: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    FILE *conf = fopen("conf/app.ini", "r+");
    if (!conf) {
        fprintf(stderr, "No config directories\n");
        return 1;
    }
    if (getc(conf) != 'k') return 2;
    fputs("changed", conf);
    fclose(conf);
    unlink("conf/other.ini");
    if (getchar() == 'x') return 3;
    return 0;
}
"#;

#[test]
fn a_program_that_fails_at_start_is_quoted() {
    let program = Program::new(NEEDS_FILES);
    let ended = program.campaign("out", &["-n", "20000"]);
    assert_eq!(ended.stop(), "reads-nothing", "{}", ended.stats);
    assert!(ended.count("runs") < 10_000, "{}", ended.stats);
    let parts = ["exit 1", "No config directories", "scratch directory", "--cwd DIR", "pack --arg"];
    let note = ended.stats["notes"][0].as_str().unwrap_or_default();
    for part in parts {
        assert!(note.contains(part), "{part}: {note}");
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    let warnings = ended.stderr.lines().filter(|l| l.contains("warning")).count();
    assert_eq!(warnings, ended.stats["notes"].as_array().map_or(0, Vec::len), "{}", ended.stderr);
    // An exhaustive search stops because it has run every path.
    assert_eq!(program.campaign("dfs", &["-s", "dfs"]).stop(), "exhausted");
}

#[test]
fn runs_work_in_a_copy_of_a_directory() {
    let program = Program::new(NEEDS_FILES);
    for dir in ["data", "data/conf"] {
        program.make_dir(dir);
    }
    program.file("data/conf/app.ini", b"key = value");
    program.file("data/conf/other.ini", b"other");
    let ended = program.campaign("out", &["--cwd", "data", "-s", "dfs", "--len", "1", "-n", "3"]);
    assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
    // The directory need not be given again.
    let ended = program.resume("out", &[]);
    // The driver restores the files right before a run. If the clock has not ticked since, a
    // file looks as if the run had written it, and reading it makes the search partial.
    assert!(ended.stop().starts_with("exhausted"), "{}", ended.stats);
    let is_expected = |cause: &&str| *cause == "lost: pipe-or-file";
    assert!(ended.partial().iter().all(is_expected), "{}", ended.stats);
    // Every run started with the original files, so all halves cover the same.
    let (covered, out) = (ended.count("branches.covered"), ended.out.display().to_string());
    assert_eq!(covered, 4, "{}", ended.stats);
    let same = ["--cwd", "data", "--", "./prog"];
    for half in ["fast", "plain", "symbolic"] {
        let args = [&["replay", "--json", "--half", half, &out][..], &same].concat();
        let replayed = program.json(&args, b"");
        assert_eq!(replayed["covered"], covered, "{half}: {replayed}");
        assert!(!replayed["inputs"].to_string().contains("exit 1"), "{half}: {replayed}");
    }
    for command in [&["trace", "--json"][..], &["cover", "--json"]] {
        let args = [command, &["-"], &same].concat();
        assert!(program.text(&args, b"x").contains("3"), "{command:?}");
    }
    let small = [&["tmin", "-i", "data/conf/app.ini", "-o", "small"][..], &same].concat();
    program.text(&small, b"");
    let kept = [&["cmin", "-i", "out", "-o", "kept"][..], &same].concat();
    program.text(&kept, b"");
    let conditions = [&["explain", "-"][..], &same].concat();
    assert!(program.text(&conditions, b"x").contains("in[0] == 'x'"));
    // The original files are never written.
    assert_eq!(program.read("data/conf/app.ini"), b"key = value");
    assert_eq!(program.read("data/conf/other.ini"), b"other");
    program.refuses(&["run", "-i", "-", "-o", "out", "--cwd", "out"], &["--cwd", "data"]);
    program.refuses(&["run", "-o", "new", "--cwd", "nowhere", "--", "./prog"], &["nowhere"]);
}
