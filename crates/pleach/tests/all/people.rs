//! What people meet: Ctrl-C, terminals of any width, and mistakes in what was
//! asked, each with one clear message and nothing touched.

use crate::common::campaign::tree;
use crate::common::{PLEACH, Program, feed, refused};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "no {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A process of this name is asleep below a driver.
fn sleeps(name: &str) -> bool {
    let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let read = |e: &std::fs::DirEntry, file: &str| {
        std::fs::read_to_string(e.path().join(file)).unwrap_or_default()
    };
    all.into_iter()
        .any(|e| read(&e, "comm").trim() == name && read(&e, "wchan").contains("nanosleep"))
}

#[test]
fn interrupted_while_a_target_sleeps() {
    for signal in ["-INT", "-TERM"] {
        let program = Program::empty();
        let name = format!("sleep{signal}");
        program.compile(SLEEPER, &["-o", &name]);
        let mut command = program.command(&["run", "-o", "out", "--json", "-t", "60000"]);
        command.args(["-s", "dfs", "--len", "2", "--"]).arg(format!("./{name}"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let driver = command.spawn().expect("pleach runs");
        wait_until("sleeping target", || sleeps(&name));
        let start = Instant::now();
        let kill = Command::new("kill").args([signal, &driver.id().to_string()]).status();
        assert!(kill.expect("there is kill").success());
        let done = driver.wait_with_output().expect("it is ours");
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{said}");
        let stats: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
        assert_eq!(stats["stop"], "interrupted");
        // It was not a hang, it was us.
        assert_eq!(stats["hangs"], 0);
        let resume = said.lines().last().unwrap_or_default();
        assert_eq!(resume, format!("to resume: pleach run -i - -o out -- ./{name}"));
        // And that goes on: it finds the sleeper again, which is a hang now.
        let command = resume.replace("to resume: pleach", PLEACH).replace(" -- ", " -V 1 -- ");
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(program.dir.path()).stdin(Stdio::null());
        let done = shell.output().expect("sh runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// What `pleach run` writes to a terminal of so many columns.
fn on_terminal(columns: u32, environment: &str) -> String {
    let program = Program::new(SLEEPER);
    let inner = format!(
        "stty rows 24 cols {columns}; {environment} exec {PLEACH} run -s dfs --len 2 -t 300 \
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
        let drawn: Vec<_> = screen.split("\r\x1b[J").skip(1).collect();
        assert!(!drawn.is_empty(), "{screen:?}");
        for panel in drawn {
            let lines: Vec<_> = panel.lines().take(9).collect();
            assert_eq!(lines.len(), 9, "{screen:?}");
            for line in lines {
                assert!(line.chars().count() < columns as usize, "{line:?}");
            }
        }
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    assert!(on_terminal(80, "").contains("\x1b[1m"));
    assert!(!on_terminal(80, "NO_COLOR=1").contains("\x1b[1m"));
    let program = Program::new(SLEEPER);
    let flags = ["-s", "dfs", "--len", "2", "-t", "300"];
    let done = program.campaign("out", &flags);
    assert!(!done.stderr.contains('\x1b'), "{}", done.stderr);
    assert!(done.stderr.lines().next().is_some_and(|l| l.contains("branches")), "{}", done.stderr);
}

/// Status 2, one line that holds all of `parts`, and nothing else happens.
fn refuses(program: &Program, args: &[&str], parts: &[&str]) {
    let before = tree(program.dir.path());
    let out = program.run(&[&["run"], args].concat(), b"");
    refused(&out, args, parts);
    assert_eq!(tree(program.dir.path()), before, "{args:?}");
}

#[test]
fn mistakes_in_what_was_asked() {
    let program = Program::new(SLEEPER);
    program.compile("int main(void) { return 0; }\n", &["-o", "other"]);
    program.file("a-file", b"x");
    for dir in ["empty", "full", "cut"] {
        std::fs::create_dir(program.dir.path().join(dir)).expect("a directory");
    }
    program.file("full/thesis.tex", b"\\documentclass");
    program.file("cut/seed", b"PLEACH-INPUT-1\ni\0\0\0\x09\0\0\0four");
    for (args, parts) in [
        (&["-o", "out", "-s", "bfs", "--", "./prog"][..], &["unknown strategy `bfs`", "dfs"][..]),
        (&["-o", "out", "-i", "nowhere", "--", "./prog"], &["nowhere", "No such file"]),
        (&["-o", "out", "-i", "a-file", "--", "./prog"], &["a-file", "Not a directory"]),
        (&["-o", "out", "-i", "empty", "--", "./prog"], &["empty", "no seeds"]),
        (&["-o", "out", "-i", "cut", "--", "./prog"], &["cut/seed", "record 0 is cut off"]),
        (&["-o", "full", "--", "./prog"], &["full", "not empty"]),
        (&["-o", "a-file", "--", "./prog"], &["a-file", "Not a directory"]),
        (&["-o", "out", "--", "./nothing"], &["nothing", "No such file"]),
        (&["-o", "out", "--", "/bin/true"], &["/bin/true", "no symbolic half", "pleach cc"]),
        (&["-o", "out"], &["no program", "--"]),
        (&["-o", "out", "-V=-1", "--", "./prog"], &["-V", "not a number of seconds"]),
        (&["-i", "-", "-o", "out"], &["out", "no campaign to go on with"]),
        (&["-i", "-", "-o", "empty"], &["empty", "no campaign to go on with"]),
    ] {
        refuses(&program, args, parts);
    }
    program.campaign("out", &["-s", "dfs", "--len", "2", "-t", "300"]);
    for (args, parts) in [
        (&["-o", "out", "--", "./prog"][..], &["out", "holds a campaign already", "-i -"][..]),
        (&["-o", "out", "--", "./other"], &["out", "holds a campaign already"]),
        (&["-i", "-", "-o", "out", "--", "./other"], &["out", "the program", "prog", "other"]),
        (&["-i", "-", "-o", "out", "-s", "cfg"], &["--strategy", "dfs", "cfg"]),
        (&["-i", "-", "-o", "out", "--len", "3"], &["--len", "2", "3"]),
        (&["-i", "-", "-o", "out", "--", "./prog", "-x"], &["the program", "prog -x"]),
    ] {
        refuses(&program, args, parts);
    }
    program.compile(&format!("{SLEEPER}\nint more;"), &["-o", "prog"]);
    let advice = "-i out/queue -o NEW";
    refuses(&program, &["-i", "-", "-o", "out"], &["out", "the build of the program", advice]);
    // And that works.
    let ended = program.campaign("new", &["-i", "out/queue", "-s", "dfs", "-n", "3", "-t", "300"]);
    assert!(ended.count("inputs") > 0, "{}", ended.stats);
    program.file("out/run.toml", b"what is this");
    refuses(&program, &["-i", "-", "-o", "out"], &["out/run.toml"]);
}

#[test]
fn a_directory_that_is_in_use() {
    let program = Program::empty();
    program.compile(SLEEPER, &["-o", "in-use"]);
    let mut command = program.command(&["run", "-o", "out", "-t", "60000", "-s", "dfs"]);
    command.args(["--len", "2", "--", "./in-use"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut driver = command.spawn().expect("pleach runs");
    wait_until("sleeping target", || sleeps("in-use"));
    // The first goes on writing its statistics meanwhile.
    let out = program.run(&["run", "-i", "-", "-o", "out"], b"");
    let message = String::from_utf8_lossy(&out.stderr);
    assert_eq!((out.status.code(), message.lines().count()), (Some(2), 1), "{message}");
    assert!(message.contains("another pleach is at work in it"), "{message}");
    driver.kill().and_then(|()| driver.wait()).expect("it is ours");
}

#[test]
fn a_program_that_does_not_read() {
    let program = Program::new(
        "#include <stdio.h>\n\
         int main(int count, char **args) {\n\
             FILE *file = count > 1 ? fopen(args[1], \"r\") : 0;\n\
             return file ? getc(file) == 'x' : 2;\n\
         }\n",
    );
    let ended = program.campaign("out", &["-n", "20"]);
    assert!(ended.stderr.contains("warning") && ended.stderr.contains("@@"), "{}", ended.stderr);
    let mut command = program.command(&["run", "-o", "other", "-n", "20", "--json"]);
    command.args(["--", "./prog", "@@"]);
    let ended = crate::common::campaign::ended(&mut command, &program.dir.path().join("other"));
    assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
}

/// Needs a file from its directory, and then damages what it finds there.
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
    // It would take a minute.
    let ended = program.campaign("out", &["-V", "60"]);
    assert_eq!(ended.stop(), "reads-nothing", "{}", ended.stats);
    assert!(ended.stats["time_s"]["total"].as_f64().is_some_and(|t| t < 30.0), "{}", ended.stats);
    let parts = ["exit 1", "No config directories", "scratch directory", "--cwd DIR", "pack --arg"];
    let note = ended.stats["notes"][0].as_str().unwrap_or_default();
    for part in parts {
        assert!(note.contains(part), "{part}: {note}");
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    let warnings = ended.stderr.lines().filter(|l| l.contains("warning")).count();
    assert_eq!(warnings, ended.stats["notes"].as_array().map_or(0, Vec::len), "{}", ended.stderr);
    // A search that knows when it is done has its own word for it.
    assert_eq!(program.campaign("dfs", &["-s", "dfs"]).stop(), "exhausted");
}

#[test]
fn runs_work_in_a_copy_of_a_directory() {
    let program = Program::new(NEEDS_FILES);
    std::fs::create_dir_all(program.dir.path().join("data/conf")).expect("a directory");
    program.file("data/conf/app.ini", b"key = value");
    program.file("data/conf/other.ini", b"other");
    let ended = program.campaign("out", &["--cwd", "data", "-s", "dfs", "--len", "1", "-n", "3"]);
    assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
    // Nobody says it again.
    let ended = program.resume("out", &[]);
    // It reads a file that it may write to.
    assert_eq!(ended.stop(), "exhausted-partial", "{}", ended.stats);
    // Every run found the directory as it was, and all agree on what it covers.
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
    // The original is only read.
    let read = |name: &str| std::fs::read(program.dir.path().join(name)).expect("it is there");
    assert_eq!(read("data/conf/app.ini"), b"key = value");
    assert_eq!(read("data/conf/other.ini"), b"other");
    refuses(&program, &["-i", "-", "-o", "out", "--cwd", "out"], &["--cwd", "data"]);
    refuses(&program, &["-o", "new", "--cwd", "nowhere", "--", "./prog"], &["nowhere"]);
}
