//! Beside other fuzzers: live exchange with AFL++, and dictionaries.

use crate::common::campaign::{files, stats_on_disk};
use crate::common::process::{send_signal, wait_until};
use crate::common::{Program, feed};
use nix::sys::signal::Signal;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// AFL++ does not find the magic number. A search by flips does not find the other branch,
/// because it depends on a `long double`.
const MAGIC_AND_LOOP: &str = r#"#include <stdint.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    static unsigned char b[64];
    if (fread(b, 1, sizeof b, stdin) < 16) return 1;
    uint32_t x;
    memcpy(&x, b, 4);
    if (x * 2654435761u == 0xdecafbadu) puts("magic");
    long double sum = 0;
    for (int i = 8; i < 16; i++) sum = sum * 1.75 + b[i];
    if ((long)sum % 64 == 7) puts("loop");
    return 0;
}
"#;

fn has_magic(input: &[u8]) -> bool {
    let x = input.first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
    input.len() >= 16 && x.wrapping_mul(2_654_435_761) == 0xdeca_fbad
}

fn takes_loop(input: &[u8]) -> bool {
    let sum = input.iter().skip(8).take(8).fold(0f64, |sum, b| sum * 1.75 + f64::from(*b));
    input.len() >= 16 && sum as i64 % 64 == 7
}

/// An input that takes the branch behind the loop.
fn loop_input() -> Vec<u8> {
    let mut input = vec![1; 16];
    while !takes_loop(&input) {
        input[15] += 1;
    }
    input
}

/// A process that is killed at the end of the test.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Running {
        Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"))
    }

    /// Ends it as Ctrl-C does.
    fn interrupt(mut self) {
        send_signal(&self.0, Signal::SIGINT);
        self.0.wait().expect("it ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn afl(program: &Program, args: &[&str]) -> Command {
    let mut command = Command::new("afl-fuzz");
    command.current_dir(program.dir.path()).args(args).args(["--", "./prog-afl"]);
    command.envs([
        ("AFL_SKIP_CPUFREQ", "1"),
        ("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1"),
        ("AFL_NO_AFFINITY", "1"),
        ("AFL_NO_UI", "1"),
        ("AFL_SYNC_TIME", "1"),
    ]);
    command
}

fn compile_for_afl(program: &Program) {
    let mut command = Command::new("afl-clang-fast");
    command.current_dir(program.dir.path()).args(["-O1", "prog.c", "-o", "prog-afl"]);
    let out = feed(command.env("AFL_QUIET", "1"), b"");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

fn any(dir: &Path, is: impl Fn(&str, &[u8]) -> bool) -> bool {
    files(dir).iter().any(|(name, bytes)| name.starts_with("id:") && is(name, bytes))
}

#[test]
fn inputs_go_to_afl_and_come_from_it() {
    let p = Program::new(MAGIC_AND_LOOP);
    compile_for_afl(&p);
    p.seeds([("first", &[0u8; 16][..])]);
    let args = ["run", "-s", "generational", "-S", "pleach", "-i", "seeds", "-o", "all"];
    let pleach = Running::start(p.command(&args).args(["--", "./prog"]));
    let (ours, theirs) = (p.path("all/pleach"), p.path("all/main"));
    wait_until("Pleach finds the magic number", || {
        any(&ours.join("queue"), |_, input| has_magic(input))
    });
    assert!(!any(&ours.join("queue"), |_, input| takes_loop(input)));
    let fuzzer = Running::start(&mut afl(&p, &["-M", "main", "-i", "seeds", "-o", "all"]));
    wait_until("AFL++ takes the magic number", || {
        any(&theirs.join("queue"), |name, input| name.contains("sync:pleach") && has_magic(input))
    });
    wait_until("Pleach takes the loop", || {
        any(&ours.join("queue"), |name, input| {
            name.contains(",sync:main,src:") && takes_loop(input)
        })
    });
    wait_until("there are statistics", || ours.join("fuzzer_stats").exists());
    let overview = feed(Command::new("afl-whatsup").arg(p.path("all")).env("TERM", "xterm"), b"");
    let overview = String::from_utf8_lossy(&overview.stdout).into_owned();
    assert!(
        overview.contains(">>> pleach") && overview.contains("Fuzzers alive : 2"),
        "{overview}"
    );
    fuzzer.interrupt();
    pleach.interrupt();
    let sync = &stats_on_disk(&ours)["sync"]["main"];
    assert!(sync["kept"].as_u64() >= Some(1) && sync["taken"].as_u64() >= sync["kept"].as_u64());
}

#[test]
fn a_directory_of_files_may_come_later_and_hold_anything() {
    let p = Program::new(MAGIC_AND_LOOP);
    p.seeds([("first", &[0u8; 16][..])]);
    let args = ["run", "-s", "generational", "-F", "other", "-i", "seeds", "-o", "out"];
    let start = || Running::start(p.command(&args).args(["--", "./prog"]));
    let pleach = start();
    wait_until("it has begun", || any(&p.path("out/queue"), |_, input| has_magic(input)));
    p.file("outside", &loop_input());
    p.make_dir("other");
    p.make_dir("other/directory");
    p.file("other/.hidden", &loop_input());
    p.file("other/huge", &[0; 100_000]);
    std::os::unix::fs::symlink(p.path("outside"), p.path("other/link")).expect("a link");
    nix::unistd::mkfifo(&p.path("other/fifo"), nix::sys::stat::Mode::S_IRWXU).expect("a fifo");
    let stats = || stats_on_disk(&p.path("out"))["sync"]["other"].clone();
    wait_until("all is skipped", || stats()["skipped"] == 4);
    assert_eq!(stats()["taken"], 0);
    p.file("other/good", &loop_input());
    let kept = |name: &str, input: &[u8]| name.contains(",sync:other,src:") && takes_loop(input);
    wait_until("a file is taken", || any(&p.path("out/queue"), kept));
    pleach.interrupt();
    assert_eq!((stats()["taken"].as_u64(), stats()["kept"].as_u64()), (Some(1), Some(1)));
    // What was taken is not taken again, and what is new is.
    p.file("other/next", &[7; 20]);
    let resumed = Running::start(&mut p.command(&["run", "-i", "-", "-o", "out"]));
    wait_until("the next file is taken", || stats()["taken"] == 2);
    resumed.interrupt();
    assert_eq!(stats()["taken"], 2);
}

#[test]
fn an_exchange_that_cannot_be_is_refused() {
    let p = Program::new(MAGIC_AND_LOOP);
    p.file("file", b"x");
    p.make_dir("one");
    p.make_dir("one/queue");
    let run = |flags: &[&'static str]| [&["run"][..], flags, &["--", "./prog"]].concat();
    p.refuses(&run(&["-o", "out", "-F", "file"]), &["-F file", "not a directory"]);
    p.refuses(&run(&["-o", "one", "-M", "a"]), &["one: ", "-M and -S"]);
    p.refuses_flag(&run(&["-o", "out", "-M", "a b"]), "at most 32");
    p.refuses_flag(&run(&["-o", "out", "-M", "a", "-S", "b"]), "cannot be used with");
}

/// Compares a word in a part that Pleach did not compile.
const FOREIGN_WORD: &str = r#"#include <stdio.h>
int is_secret(const char *text);
int main(void) {
    static char b[32];
    fread(b, 1, sizeof b - 1, stdin);
    if (is_secret(b)) puts("found");
    return 0;
}
"#;

#[test]
fn words_of_a_dictionary_are_tried() {
    let p = Program::empty();
    p.file(
        "secret.c",
        b"#include <string.h>\nint is_secret(const char *t) { return strstr(t, \"x7\\tqZ0\") != 0; }\n",
    );
    let out = feed(
        Command::new("clang-22").current_dir(p.dir.path()).args(["-c", "-fno-builtin", "secret.c"]),
        b"",
    );
    assert!(out.status.success());
    p.compile(FOREIGN_WORD, &["secret.o", "-o", "prog"]);
    p.file("words", b"# words\nname@2=\"x7\\x09qZ0\"\n");
    p.make_dir("tokens");
    p.file("tokens/one", b"x7\tqZ0");
    let found = |dir: &str, flags: &[&str]| {
        let ended = p.campaign(dir, &[flags, &["-n", "6000"]].concat());
        ended.queue().iter().any(|input| input.windows(6).any(|w| w == b"x7\tqZ0"))
    };
    assert!(!found("without", &[]));
    assert!(!found("below", &["-x", "words@1"]));
    assert!(found("with", &["-x", "words@2"]));
    assert!(found("directory", &["-x", "tokens"]));
    // Resuming keeps the dictionary, and another one is refused.
    p.resume("with", &["-n", "6100"]);
    p.file("words", b"\"other\"");
    p.refuses(&["run", "-i", "-", "-o", "with"], &["dictionary (-x)"]);
}

#[test]
fn a_broken_dictionary_is_refused() {
    let p = Program::new("int main(void) { return 0; }\n");
    p.file("words", b"\"good\"\nbad\n");
    p.make_dir("empty");
    for (file, part) in [("words", "words: line 2: "), ("none", "none: "), ("empty", "no words")] {
        p.refuses(&["run", "-x", file, "-o", "out", "--", "./prog"], &[part]);
    }
}

const COMPARES: &str = r#"#include <stdint.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    static char b[32];
    fread(b, 1, sizeof b - 1, stdin);
    uint32_t x;
    memcpy(&x, b + 8, 4);
    if (!memcmp(b, "\x89QQZ", 4)) return 1;
    if (!strcmp(b, "quit\"now")) return 2;
    if (x == 0x44434241) return 3;
    switch ((unsigned char)b[16] << 24 | (unsigned char)b[17] << 16 | (unsigned char)b[18] << 8
            | (unsigned char)b[19]) {
    case 0x49484452: return 4;
    case 0x504c5445: return 5;
    }
    puts("never compared");
    return 0;
}
"#;

#[test]
fn a_dictionary_is_written_from_what_was_compared() {
    let p = Program::new(COMPARES);
    compile_for_afl(&p);
    p.seeds([("first", &b"a seed of some bytes that is long"[..])]);
    let text = p.text(&["dict", "seeds", "--", "./prog"], b"");
    for line in [
        "word_QQZ=\"\\x89QQZ\"",
        "word_quit_now=\"quit\\\"now\"",
        "word_ABCD=\"ABCD\"",
        "word_IHDR=\"IHDR\"",
        "word_PLTE=\"PLTE\"",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}: {text}");
    }
    assert!(!text.contains("never"), "{text}");
    let mut sorted: Vec<_> = text.lines().map(|line| line.split_once('"').unwrap().1).collect();
    sorted.dedup();
    assert_eq!(sorted.len(), text.lines().count());
    p.file("file.dict", text.as_bytes());
    let mut fuzz = afl(&p, &["-i", "seeds", "-o", "afl", "-x", "file.dict", "-E", "100"]);
    let out = feed(&mut fuzz, b"");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(said.contains(&format!("Loaded {} extra tokens", text.lines().count())), "{said}");
    p.refuses(&["dict", "nothing", "--", "./prog"], &["nothing"]);
    p.campaign("out", &["-x", "file.dict", "-n", "50"]);
}
