//! Each command on small programs.

use crate::common::{PLEACH, Program, SEVERAL_INPUTS, feed};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

const LINE: &str = r#"#include <stdio.h>
int main(void) {
    static char b[16];
    if (!fgets(b, sizeof b, stdin)) return 1;
    if (b[0] == 'a') {
        if (b[1] - '0' < 3)
            return 2;
        return 3;
    }
    switch (b[1]) {
    case 'x': return 4;
    case 'y': return 5;
    }
    return 6;
}
"#;

#[test]
fn both_halves_behave_as_the_program() {
    let p = Program::new(
        r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char b[32] = "";
    for (int i = 0; i < argc; i++) printf("%s\n", argv[i]);
    fputs("to stderr\n", stderr);
    fgets(b, sizeof b, stdin);
    printf("%s", b);
    fflush(stdout);
    if (b[0] == 'a') abort();
    if (b[0] == 'p') printf("%d\n", getpid());
    return b[0];
}
"#,
    );
    let plain = |stdin: &[u8]| {
        let mut command = Command::new("./prog");
        feed(command.current_dir(p.dir.path()).args(["one", "--two"]), stdin)
    };
    for half in [&["fast"][..], &["symbolic"], &["symbolic", "--label"]] {
        let args = [&["exec", "--half"], half, &["--", "./prog", "one", "--two"]].concat();
        for stdin in [&b""[..], b"seven\n", b"abort\n"] {
            let (expected, got) = (plain(stdin), p.run(&args, stdin));
            assert_eq!(got, expected, "{half:?}");
        }
        assert_eq!(p.run(&args, b"a\n").status.signal(), Some(6));
        // `exec` replaces the process, so its number stays the same.
        let mut child = p
            .command(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let id = child.id().to_string();
        child.stdin.take().expect("piped").write_all(b"pid\n").expect("it reads");
        let out = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&out.stdout).lines().last(), Some(id.as_str()));
    }
}

/// A program with a shared library, both instrumented.
fn with_library() -> Program {
    let p = Program::empty();
    let library = "int classify(char c) { if (c == 'q') return 7; return 8; }\n";
    p.compile(library, &["-shared", "-fPIC", "-o", "libclass.so"]);
    let main = r#"#include <stdio.h>
int classify(char);
int main(void) {
    static char b[8];
    if (!fgets(b, sizeof b, stdin)) return 1;
    return classify(b[0]);
}
"#;
    p.compile(main, &["-L.", "-lclass", "-Wl,-rpath,$ORIGIN", "-o", "prog"]);
    p
}

#[test]
fn exec_leaves_no_files() {
    for (p, status) in [(Program::new(LINE), 6), (with_library(), 8)] {
        let temporary = p.dir.path().join("temporary");
        std::fs::create_dir(&temporary).expect("writable");
        let mut command = p.command(&["exec", "--half", "symbolic", "--", "./prog"]);
        let out = feed(command.env("TMPDIR", &temporary), b"zzz\n");
        assert_eq!(out.status.code(), Some(status), "{out:?}");
        let empty = || std::fs::read_dir(&temporary).expect("readable").next().is_none();
        for _ in 0..500 {
            if empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(empty(), "the symbolic half was not removed");
    }
}

#[test]
fn an_extracted_half_runs_by_itself() {
    let p = Program::new(LINE);
    p.text(&["extract", "./prog", "-o", "symbolic"], b"");
    let run = |name: &str| feed(&mut Command::new(p.dir.path().join(name)), b"bx\n");
    assert_eq!(run("symbolic"), run("prog"));
    assert_eq!(run("symbolic").status.code(), Some(4));
    // The program itself must not be overwritten.
    let out = p.run(&["extract", "./prog", "-o", "prog"], b"");
    assert_eq!(out.status.code(), Some(2), "{out:?}");
    assert_eq!(run("prog").status.code(), Some(4));
}

#[test]
fn explanations_are_readable() {
    let p = Program::new(
        r#"#include <unistd.h>
int main(void) {
    static char b[16];
    if (read(0, b, 4) != 4)
        return 1;
    if (b[0] == 'a')
        if (b[1] < '3')
            return 2;
    return 100 / b[2];
}
"#,
    );
    assert_eq!(
        p.text(&["explain", "-", "--", "./prog"], b"a7\x05z"),
        "main:
  prog.c:4:9   length  len > 3
  prog.c:6:14          in[0] == 'a'
  prog.c:7:18          (int8_t)in[1] >= '3'
  prog.c:9:16  check   in[2] != '\\0'
// 4 conditions; exit 20
"
    );
}

#[test]
fn trace_reports_counts_and_costs() {
    let p = Program::new(LINE);
    let args = ["trace", "--json", "--check", "--repeat", "5", "-", "--", "./prog"];
    let json = p.json(&args, b"by\n");
    for (field, value) in [("status", 5), ("input_bytes", 3), ("disagreements", 0), ("runs", 5)] {
        assert_eq!(json[field], value, "{json}");
    }
    for field in ["events", "nodes", "cpu_ms", "rss_kib"] {
        assert!(json[field].as_f64() > Some(0.0), "{field}: {json}");
    }
    for field in ["losses", "unmodelled", "cut", "snapshot_bytes"] {
        assert!(!json[field].is_null(), "{field}: {json}");
    }
    let lines = p.text(&["trace", "-", "--", "./prog"], b"by\n");
    assert!(lines.contains("in[1] == 'y'") && lines.contains("exit 5"), "{lines}");
}

#[test]
fn coverage_adds_up() {
    let p = Program::new(LINE);
    p.file("one", b"a1");
    p.file("two", b"bx");
    let cover = |inputs: &[&str]| {
        let json = p.json(&[&["cover", "--json"], inputs, &["--", "./prog"]].concat(), b"");
        (json["covered"].as_u64().unwrap(), json["total"].as_u64().unwrap())
    };
    // Three branches with two sides, and a switch with two cases and a default.
    let (first, total) = cover(&["one"]);
    assert_eq!(total, 9);
    assert_eq!(first, 3);
    assert_eq!(cover(&["one", "two"]), (5, 9));
    assert_eq!(cover(&["two", "one", "one"]), (5, 9));
    let text = p.text(&["cover", "one", "two", "--", "./prog"], b"");
    assert!(text.contains("5/9     main  prog.c:2\n"), "{text}");
    let missing = ["4:9: true", "6:24: false", "10:5: case 121", "10:5: default"];
    let missing = missing.map(|side| format!("prog.c:{side} in main"));
    let text = p.text(&["cover", "--missing", "one", "two", "--", "./prog"], b"");
    let listed: Vec<&str> = text.lines().filter(|l| l.contains(" in main")).collect();
    assert_eq!(listed, missing);
    let json = p.json(&["cover", "--json", "--missing", "one", "two", "--", "./prog"], b"");
    assert_eq!(json["missing"].as_array().map(Vec::len), Some(4), "{json}");
    assert_eq!(
        (&json["missing"][2]["side"], &json["missing"][2]["function"]),
        (&"case 121".into(), &"main".into())
    );
}

/// The front end emits no negation for `if (!x)`: it swaps the targets.
#[test]
fn the_true_side_is_that_of_the_condition_as_written() {
    for level in ["-O0", "-O2"] {
        let p = Program::with(
            r#"#include <stdio.h>
int main(void) {
    unsigned char b[8] = {0};
    double d = fread(b, 1, 8, stdin) / 2.0;
    int x = b[0];
    if (!x) puts("1");
    if (!(b[1] == 'a')) puts("2");
    if (!(b[2] == 'a' && b[3] == 'b')) puts("3");
    if (b[4] == 'a' || !(b[5] > 'a')) puts("4");
    puts(!(b[6] && b[7]) ? "5" : "no");
    if (!(d < 3)) puts("6");
    if (!!x) puts("7");
    while (!(x > 5 || x == 3)) x++;
    if (!(x < 7) && !(x == 8)) puts("8");
}
"#,
            &[level],
        );
        let missing = |input: &[u8]| -> Vec<String> {
            p.file("in", input);
            let text = p.text(&["cover", "--missing", "in", "--", "./prog"], b"");
            let is_side = |l: &&str| l.contains(" in main");
            let side = |l: &str| l.split_once(':').unwrap().1.replace(" in main", "");
            text.lines().filter(is_side).map(side).collect()
        };
        let seen = missing(b"\0bxxxaxx");
        let expected = [
            "6:9: false", // !x
            "7:9: false", // !(b[1] == 'a')
            "8:23: true", // b[2] == 'a', at the &&
            "8:9: true",  // the whole condition: it was not evaluated
            "8:9: false",
            "9:21: true",   // b[4] == 'a'
            "9:21: false",  // !(b[5] > 'a')
            "10:17: false", // b[6], at the &&
            "10:10: true",  // the whole condition
            "11:9: false",  // !(d < 3)
            "12:9: true",   // !!x
            "13:20: true",  // x > 5
            "14:18: true",  // !(x < 7)
            "14:18: true",  // !(x == 8): it was not evaluated
            "14:18: false",
        ];
        assert_eq!(seen, expected, "{level}");
    }
}

#[test]
fn the_input_is_standard_input_or_the_file_at_the_placeholder() {
    let p = Program::new(
        r#"#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    static char b[16];
    FILE *f = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!f || !fgets(b, sizeof b, f)) return 1;
    if (argc > 1 && !strstr(argv[1], ".txt")) return 2;
    return b[0] == 'x' ? 3 : 4;
}
"#,
    );
    p.file("input.txt", b"xyz");
    for args in [&["./prog"][..], &["./prog", "@@"]] {
        let args = [&["trace", "--json", "--check", "input.txt", "--"], args].concat();
        let json = p.json(&args, b"");
        assert_eq!(json["status"], 3, "{json}");
        assert!(json["events"].as_u64() > Some(1), "{json}");
    }
    // A file name without @@ is not the input.
    let text = p.text(&["explain", "input.txt", "--", "./prog", "input.txt"], b"");
    assert!(
        text.contains("the program read none of the input; if it reads a file, put @@"),
        "{text}"
    );
}

#[test]
fn a_container_holds_several_streams() {
    let p = Program::new(SEVERAL_INPUTS);
    p.file("stdin", b"stdin");
    p.file("file", b"file");
    let pack = ["pack", "--stdin", "stdin", "--file", "file", "--arg=-xyz"];
    p.text(&[&pack[..], &["--env", "MODE=fast", "-o", "packed"]].concat(), b"");
    let json = p.json(&["trace", "--json", "--check", "packed", "--", "./prog", "@@"], b"");
    assert_eq!(json["status"], 15, "{json}");
    let text = p.text(&["explain", "packed", "--", "./prog", "@@"], b"");
    // Offsets are those of the file: 15 bytes of magic, and 8 before each stream.
    for part in [
        "in[49] == 'x'",
        "in[65] == 'f'",
        "in[23] == 's'",
        "in[37] == 'i'",
        "// stream 1: the file @@, 4 bytes from in[36]\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Containers and plain inputs in turn: other descriptors, same results.
    let cover = p.json(&["cover", "--json", "packed", "file", "packed", "--", "./prog", "@@"], b"");
    let status: Vec<_> = cover["inputs"].as_array().unwrap().iter().map(|i| &i["status"]).collect();
    assert_eq!(status, [15, 8, 15], "{cover}");
}

#[test]
fn a_connection_delivers_the_input() {
    let p = Program::new(
        r#"#include <netinet/in.h>
#include <sys/socket.h>
int main(void) {
    char b[16];
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(s, (void *)&a, sizeof a) || listen(s, 1)) return 1;
    int c = accept(s, 0, 0);
    if (recv(c, b, sizeof b, 0) < 3) return 2;
    if (b[0] == 'G') return 5;
    return 6;
}
"#,
    );
    let text = p.text(&["explain", "--socket", "-", "--", "./prog"], b"GET");
    assert!(text.contains("in[0] == 'G'") && text.contains("exit 5"), "{text}");
}

#[test]
fn shared_libraries_have_twins() {
    let p = with_library();
    for half in ["fast", "symbolic"] {
        let out = p.run(&["exec", "--half", half, "--", "./prog"], b"q\n");
        assert_eq!(out.status.code(), Some(7), "{half}: {out:?}");
    }
    let text = p.text(&["explain", "-", "--", "./prog"], b"q\n");
    assert!(text.contains("classify:") && text.contains("in[0] == 'q'"), "{text}");
    p.file("q", b"q");
    let json = p.json(&["cover", "--json", "q", "--", "./prog"], b"");
    assert_eq!(json["functions"].as_array().map(Vec::len), Some(2), "{json}");
    // The twin goes along with an extracted half.
    std::fs::create_dir(p.dir.path().join("alone")).expect("writable");
    p.text(&["extract", "./prog", "-o", "alone/prog"], b"");
    let alone = feed(&mut Command::new(p.dir.path().join("alone/prog")), b"q\n");
    assert_eq!(alone.status.code(), Some(7), "{alone:?}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let p = Program::new(LINE);
    let script = format!("{PLEACH} sites ./prog | true; {PLEACH} trace - -- ./prog <prog.c | :");
    let out = Command::new("sh").current_dir(p.dir.path()).args(["-c", &script]).output();
    let out = out.expect("sh runs");
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn sites_are_listed_with_their_places() {
    let p = Program::new(LINE);
    let text = p.text(&["sites", "./prog"], b"");
    assert!(text.contains("branch     prog.c:5:14"), "{text}");
    assert!(text.contains("cases 120 121"), "{text}");
}

/// A decision inside a model has the place of the call, also if the function was called
/// through a pointer or is declared in a header of Pleach.
#[test]
fn decisions_of_models_have_the_place_of_the_call() {
    let p = Program::new(
        r#"#include <pleach.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    static char b[8];
    size_t (*volatile length)(const char *) = strlen;
    if (!fgets(b, sizeof b, stdin)) return 1;
    int n = (int)length(b);
    pleach_assume(b[0] != 'z');
    return n;
}"#,
    );
    let text = p.text(&["explain", "-", "--", "./prog"], b"ab");
    let at = |line: &str, condition: &str| {
        text.lines().any(|l| l.contains(line) && l.contains(condition))
    };
    assert!(at("prog.c:8", "in[0] != '\\0'"), "{text}");
    assert!(at("prog.c:9", "in[0] != 'z'"), "{text}");
}

#[test]
fn capture_shows_the_output_of_a_traced_program() {
    let program = Program::new(
        r#"
        #include <stdio.h>
        int main(void) { if (getchar() == 'x') puts("seen on the way"); return 0; }
    "#,
    );
    let stderr = |flags: &[&str]| {
        let out = program.run(&[&["trace"], flags, &["-", "--", "./prog"]].concat(), b"x");
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    assert!(stderr(&["--capture"]).contains("seen on the way"));
    assert!(!stderr(&[]).contains("seen on the way"));
}
