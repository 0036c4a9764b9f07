//! `pleach run -s hybrid`: live runs, snapshots, and what becomes of them.

use crate::common::Program;
use crate::common::campaign::{Ended, files};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Three states by random calls, and then a word that only solving spells.
const STATES: &str = r#"
    #include <pleach.h>
    #include <stdlib.h>
    int main(void) {
        int state = 0;
        for (;;) {
            unsigned char c = pleach_u8();
            unsigned n = pleach_u32();
            if (c % 8 == 3 && state == 0) state = 1;
            else if (c % 8 == 5 && state == 1) state = 2;
            else if (c % 8 == 6 && state == 2) state = 3;
            if (n == 0x7e57ab1e && state == 3) abort();
        }
    }
"#;

fn example(name: &str, sources: &[&str]) -> Program {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let program = Program::empty();
    for file in std::fs::read_dir(&root).expect("the example").flatten() {
        let bytes = std::fs::read(file.path()).unwrap_or_default();
        program.file(file.file_name().to_str().expect("a plain name"), &bytes);
    }
    let args =
        [&["cc", "-g", "-O2", "-Wall", "-Wextra", "-Werror", "-o", "prog"], sources].concat();
    program.text(&args, b"");
    program
}

/// Everything that was kept, run from the start, covers together what the campaign
/// says, and every crash is there again.
fn replays(program: &Program, ended: &Ended, flags: &[&str]) {
    let out = &ended.out;
    let args = [&["replay", "--json"], flags, &[out.to_str().unwrap(), "--", "./prog"]].concat();
    let told = program.run(&args, b"");
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let covered = told["covered"].as_u64().expect("a number");
    assert!(covered >= ended.count("branches.covered"), "{told} {}", ended.stats);
    for half in ["plain", "fast"] {
        for (name, _) in crash_files(ended) {
            let path = ended.out.join("crashes").join(&name);
            let path = path.to_str().unwrap();
            if half == "plain" && flags.contains(&"--socket") {
                continue;
            }
            let args = [&["replay", "--half", half], flags, &[path, "--", "./prog"]].concat();
            let done = program.run(&args, b"");
            assert_eq!(done.status.code(), Some(1), "{half} {name}");
        }
    }
}

fn crash_files(ended: &Ended) -> Vec<(String, Vec<u8>)> {
    let all = files(&ended.out.join("crashes")).into_iter();
    all.filter(|(name, _)| name.starts_with("id:") && !name.ends_with(".txt")).collect()
}

#[test]
fn a_state_is_reached_by_events_and_the_word_by_solving() {
    let program = Program::new(STATES);
    let ended =
        program.campaign("out", &["-s", "hybrid", "--stop-on-crash", "-V", "60", "--seed", "3"]);
    assert_eq!(ended.stop(), "crash", "{}", ended.stats);
    assert!(ended.count("hybrid.searches") > 0 && ended.count("hybrid.events") > 0);
    replays(&program, &ended, &[]);
    // Four events of the many are left: three states, and the word.
    let (name, long) = crash_files(&ended).remove(0);
    let path = ended.out.join("crashes").join(name);
    let told = program.json(
        &["tmin", "--json", "-i", path.to_str().unwrap(), "-o", "short", "--", "./prog"],
        b"",
    );
    let short = std::fs::read(program.dir.path().join("short")).expect("written");
    assert!(short.len() <= 20 && short.len().is_multiple_of(5), "{} {told}", long.len());
    assert_eq!(short[short.len() - 4..], 0x7e57_ab1e_u32.to_le_bytes());
}

#[test]
fn the_same_seed_gives_the_same_queue() {
    let program = Program::new(STATES);
    let run = |out: &str, seed: &str| {
        let ended = program.campaign(out, &["-s", "hybrid", "-n", "300", "--seed", seed]);
        assert_eq!(ended.stop(), "runs");
        ended.queue()
    };
    assert_eq!(run("a", "1"), run("b", "1"));
    assert_ne!(run("c", "2"), run("d", "3"));
}

#[test]
fn a_campaign_is_gone_on_with() {
    let program = Program::new(STATES);
    let first = program.campaign("out", &["-s", "hybrid", "-n", "8"]);
    assert_eq!((first.stop(), first.count("crashes")), ("runs", 0));
    let ended = program.resume("out", &["--stop-on-crash", "-V", "60"]);
    assert_eq!(ended.stop(), "crash", "{} {}", first.stats, ended.stats);
    assert!(ended.count("inputs") >= first.count("inputs"));
}

/// Keys by `getchar`, and by `read`, byte for byte.
#[test]
fn keys_from_standard_input_are_events() {
    let body = |get: &str| {
        format!(
            r#"#include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <unistd.h>
            static int key(void) {{ {get} }}
            int main(void) {{
                char word[8] = "";
                int deep = 0, n = 0, c;
                while ((c = key()) >= 0) {{
                    if (c == '\n') {{
                        word[n] = 0;
                        if (deep > 20 && !strcmp(word, "drown")) abort();
                        n = 0, deep++;
                    }} else if (n < 7) word[n++] = (char)c;
                }}
                return 0;
            }}"#
        )
    };
    let ways = [
        "return getchar();",
        "unsigned char c; return read(0, &c, 1) == 1 ? c : -1;",
        "static unsigned char line[16]; static int at, have; \
         if (at == have) { at = 0; have = (int)read(0, line, sizeof line); if (have <= 0) return -1; } \
         return line[at++];",
    ];
    for get in ways {
        let program = Program::new(&body(get));
        let ended = program.campaign("out", &["-s", "hybrid", "--stop-on-crash", "-V", "60"]);
        assert_eq!(ended.stop(), "crash", "{get}: {}", ended.stats);
        replays(&program, &ended, &[]);
    }
}

#[test]
fn each_program_that_cannot_be_driven_ends_with_a_word() {
    let cases = [
        ("int main(void) { return 0; }", "reads-nothing", "without asking for input"),
        (
            "#include <pleach.h>\nint main(void) { return pleach_u8() > 9 ? 1 : 0; }",
            "ends-at-once",
            "does not keep reading",
        ),
        (
            "#include <pleach.h>\nint main(void) { for (;;) pleach_u8(); }",
            "nothing-depends",
            "decides depends on them",
        ),
    ];
    for (source, stop, word) in cases {
        let program = Program::new(source);
        let ended = program.campaign("out", &["-s", "hybrid", "-V", "60"]);
        assert_eq!(ended.stop(), stop, "{}", ended.stats);
        assert!(ended.stderr.contains(word), "{}", ended.stderr);
    }
}

/// A program that appends to a file and reads another as it goes: a path that
/// moved its snapshot's files would be seen in what the live run finds there.
#[test]
fn paths_leave_the_files_of_their_snapshot_alone() {
    let program = Program::new(
        r#"
        #include <fcntl.h>
        #include <pleach.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/stat.h>
        #include <unistd.h>
        int main(void) {
            int log = open("log", O_RDWR | O_CREAT | O_TRUNC, 0600);
            FILE *list = fopen("list", "w+");
            long rounds = 0;
            for (;;) {
                unsigned char c = pleach_u8();
                struct stat st;
                if (fstat(log, &st) || st.st_size != rounds) _exit(71);
                if (lseek(log, 0, SEEK_CUR) != rounds) _exit(72);
                if (access("made", F_OK) == 0) _exit(73);
                if (write(log, &c, 1) != 1) _exit(74);
                fprintf(list, "%d\n", c);
                rounds++;
                if (c == 'm') { close(open("made", O_CREAT | O_RDWR, 0600)); unlink("made"); }
                if (c == 'q' && rounds % 64 == 9) close(open("made", O_CREAT | O_RDWR, 0600)), exit(0);
                for (int i = 0; i < 200; i += 10) if (c == i) rounds += 0;
            }
        }
        "#,
    );
    let ended = program.campaign("out", &["-s", "hybrid", "-n", "600", "--saturation", "64"]);
    assert!(ended.count("hybrid.searches") > 3, "{}", ended.stats);
    for input in ended.queue() {
        let path = program.file("input", &input);
        let told = program.json(&["replay", "--json", path.to_str().unwrap(), "--", "./prog"], b"");
        assert!(!told.to_string().contains("status 7"), "{told}");
    }
    // The live run itself saw nothing either: its ends are in the queue if new.
    assert_eq!(ended.count("crashes"), 0);
}

#[test]
fn killing_the_driver_leaves_no_process() {
    let program = Program::new(STATES);
    let name = format!("h-{}", std::process::id());
    let path = program.dir.path().join(&name);
    std::fs::rename(program.dir.path().join("prog"), &path).expect("writable");
    let running = || {
        let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
        let comm = |e: &std::fs::DirEntry| std::fs::read_to_string(e.path().join("comm"));
        all.filter(|e| comm(e).is_ok_and(|c| c.trim() == name)).count()
    };
    let mut driver = Command::new(crate::common::PLEACH)
        .args(["run", "-s", "hybrid", "-o", "out", "--saturation", "500", "--"])
        .arg(&path)
        .current_dir(program.dir.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let start = Instant::now();
    // Two servers of the live run, a run of each, and a snapshot.
    while running() < 5 {
        assert!(start.elapsed() < Duration::from_secs(30), "{} processes", running());
        std::thread::sleep(Duration::from_millis(5));
    }
    driver.kill().expect("it is there");
    driver.wait().expect("it ends");
    let start = Instant::now();
    while running() > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "{} processes are left", running());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn mistakes_are_told_before_anything_is_touched() {
    let program = Program::new("int main(void) { return 0; }");
    for (flags, word) in [
        (vec!["--explore", "best"], "unknown strategy `best`"),
        (vec!["--explore", "hybrid"], "cannot be hybrid itself"),
        (vec!["--saturation", "0"], "--saturation"),
    ] {
        let mut command = program.campaign_command("out", &["-s", "hybrid"]);
        let args: Vec<_> = command.get_args().map(|a| a.to_os_string()).collect();
        let split = args.iter().position(|a| a == "--").expect("the program");
        command = program.command(&[]);
        command.args(&args[..split]).args(&flags).args(&args[split..]);
        let done = crate::common::feed(&mut command, b"");
        assert_eq!(done.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&done.stderr).contains(word), "{done:?}");
        assert!(!program.dir.path().join("out").exists());
    }
}

#[test]
fn the_examples_of_the_paper() {
    let program = example("testme", &["testme.c"]);
    let ended = program.campaign("out", &["-s", "hybrid", "--stop-on-crash", "-V", "60"]);
    assert_eq!(ended.stop(), "crash", "{}", ended.stats);
    replays(&program, &ended, &[]);
    let tree = example("rbtree", &["driver.c", "rbtree.c"]);
    let ended = tree.campaign("out", &["-s", "hybrid", "-V", "5"]);
    assert_eq!(ended.count("crashes"), 0);
    replays(&tree, &ended, &[]);
}

/// What is missing from the branches of the red-black tree is not there to be had:
/// no tree of up to a dozen nodes fails its check after any step.
#[test]
fn every_small_red_black_tree_passes_its_check() {
    let tree = example("rbtree", &["every.c", "rbtree.c"]);
    let done = Command::new(tree.dir.path().join("prog")).output().expect("it runs");
    assert!(done.status.success(), "{done:?}");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "1369 trees, 62210 steps\n");
}

/// Insists on a terminal, of the right size, and on setting its modes; says so to
/// `/dev/tty`, at length. Keys come one at a time, after a wait.
const ON_TERMINAL: &str = r#"
    #include <fcntl.h>
    #include <poll.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/ioctl.h>
    #include <termios.h>
    #include <unistd.h>
    int main(void) {
        struct termios before, raw;
        struct winsize size;
        if (!isatty(0) || !isatty(1) || tcgetattr(0, &before)) return 70;
        if (!(before.c_lflag & ICANON)) return 71;
        if (ioctl(0, TIOCGWINSZ, &size) || size.ws_col != 60 || size.ws_row != 20) return 72;
        if (!getenv("TERM") || getenv("LINES")) return 73;
        raw = before;
        raw.c_lflag &= ~(ICANON | ECHO);
        raw.c_cc[VMIN] = 1, raw.c_cc[VTIME] = 0;
        if (tcsetattr(0, TCSAFLUSH, &raw)) return 74;
        int tty = open("/dev/tty", O_RDWR), deep = 0, n = 0;
        if (tty < 0) return 75;
        char word[8] = "", c;
        for (;;) {
            struct pollfd one = {.fd = 0, .events = POLLIN};
            if (poll(&one, 1, -1) != 1 || read(deep % 2 ? tty : 0, &c, 1) != 1) break;
            dprintf(tty, "%-200d", deep);
            if (c == 'q') {
                word[n] = 0;
                if (deep > 12 && !strcmp(word, "drown")) abort();
                n = 0, deep++;
            } else if (n < 7) word[n++] = c;
        }
        tcsetattr(0, TCSAFLUSH, &before);
        return 0;
    }
"#;

#[test]
fn keys_are_typed_on_a_terminal() {
    let program = Program::new(ON_TERMINAL);
    let flags = ["--tty", "60x20"];
    let ended = program.campaign(
        "out",
        &["-s", "hybrid", "--tty", "60x20", "--stop-on-crash", "-V", "60", "--seed", "2"],
    );
    assert_eq!(ended.stop(), "crash", "{} {}", ended.stats, ended.stderr);
    // From the start, in the fast half and typed into the plain program.
    replays(&program, &ended, &flags);
    let (name, long) = crash_files(&ended).remove(0);
    let path = ended.out.join("crashes").join(name);
    let path = path.to_str().unwrap();
    let told = program.run(&["trace", "--tty", "60x20", path, "--", "./prog"], b"");
    assert!(String::from_utf8_lossy(&told.stdout).contains("prog.c"), "{told:?}");
    let args = ["tmin", "--json", "--tty", "60x20", "-i", path, "-o", "short", "--", "./prog"];
    program.json(&args, b"");
    let short = std::fs::read(program.dir.path().join("short")).expect("written");
    assert!(short.len() <= long.len() && short.len() <= 19, "{short:?}");
    assert!(short.ends_with(b"drownq"), "{short:?}");
    // Other strategies run on it as well, and without it the program says why not.
    let other = program.campaign("other", &["--tty", "60x20", "-n", "200"]);
    assert!(other.count("branches.covered") > 15, "{}", other.stats);
    let without = program.run(&["replay", path, "--", "./prog"], b"");
    assert!(String::from_utf8_lossy(&without.stdout).contains("exit 70"), "{without:?}");
    let wrong = program.run(&["replay", "--tty", "60by20", path, "--", "./prog"], b"");
    assert_eq!(wrong.status.code(), Some(2));
}

/// Whoever only looks for a key sees none for long, whoever waits gets one, one at a time;
/// and nothing sleeps.
#[test]
fn keys_come_when_they_are_waited_for() {
    let program = Program::new(
        r#"
        #include <poll.h>
        #include <stdio.h>
        #include <sys/select.h>
        #include <time.h>
        #include <unistd.h>
        static int look(int how) {
            struct timeval none = {0, 0};
            fd_set keys, empty;
            FD_ZERO(&keys);
            FD_ZERO(&empty);
            FD_SET(0, &keys);
            struct pollfd one = {.fd = 0, .events = POLLIN};
            if (how == 0) return poll(&one, 1, 0);
            if (how == 1) return select(1, &keys, &empty, &empty, &none);
            return select(2, &keys, NULL, NULL, &none);
        }
        int main(void) {
            char text[100];
            struct timespec minute = {60, 0};
            struct timeval hour = {3600, 0};
            for (int how = 0; how < 3; how++) {
                for (int i = 0; i < 20; i++)
                    if (look(how) != 0) return 10 + how;
                struct pollfd one = {.fd = 0, .events = POLLIN};
                if (poll(&one, 1, 1000) != 1) return 20 + how;
                if (read(0, text, sizeof text) != 1 || text[0] != 'a' + how) return 30 + how;
            }
            sleep(60), usleep(60000000), nanosleep(&minute, NULL);
            select(0, NULL, NULL, NULL, &hour), poll(NULL, 0, 60000);
            int looks = 0;
            while (look(1) == 0 && looks < 1000) looks++;
            if (looks == 1000 || read(0, text, sizeof text) != 1) return 40;
            return text[0] == 'd' ? 7 : 50;
        }
        "#,
    );
    program.file("keys", b"abcd");
    let args = ["replay", "--tty", "80x24", "keys", "--", "./prog"];
    let said = program.run(&args, b"");
    assert!(String::from_utf8_lossy(&said.stdout).contains("exit 7"), "{said:?}");
    let traced = program.run(&["trace", "--tty", "80x24", "keys", "--", "./prog"], b"");
    assert!(String::from_utf8_lossy(&traced.stdout).contains("exit 7"), "{traced:?}");
}

/// With a grammar, lines are its sentences: most of them are understood.
#[test]
fn events_are_sentences_of_a_grammar() {
    let program = Program::new(
        r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        int main(void) {
            char line[64], what[16];
            int n, good = 0, all = 0;
            while (fgets(line, sizeof line, stdin)) {
                all++;
                if (sscanf(line, "take %d from %15s", &n, what) != 2) continue;
                if (strcmp(what, "shelf") && strcmp(what, "cellar")) continue;
                good++;
                if (all >= 200 && good * 4 > all * 3) abort();
            }
            return 0;
        }
        "#,
    );
    let grammar = program.file(
        "lines.ebnf",
        b"s ::= \"take \" n \" from \" p\nn ::= \"1\" | \"20\" | \"300\"\n\
          p ::= \"shelf\" | \"cellar\"\n",
    );
    let grammar = grammar.to_str().unwrap();
    let ended =
        program.campaign("out", &["-s", "hybrid", "-g", grammar, "--stop-on-crash", "-V", "60"]);
    assert_eq!(ended.stop(), "crash", "{} {}", ended.stats, ended.stderr);
    replays(&program, &ended, &[]);
}

#[test]
fn lines_of_a_connection_are_events() {
    let program = example("server", &["server.c"]);
    let ended = program.campaign("out", &["-s", "hybrid", "--socket", "-V", "6"]);
    assert!(ended.count("hybrid.searches") > 0, "{}", ended.stats);
    // Lines were served, and answered: the connection did not fill up.
    assert!(ended.count("hybrid.events") > 1000, "{}", ended.stats);
    replays(&program, &ended, &["--socket"]);
}

/// What people can say of a live run: each is heard, and the same comes out again.
#[test]
fn live_runs_do_as_they_are_told() {
    let program = Program::new(STATES);
    let told = [
        &["--enough", "40"][..],
        &["--saturation", "50", "--budget", "40", "--ahead", "2"],
        &["--uniform", "100", "--explore", "dfs"],
    ];
    let mut events = Vec::new();
    for (i, flags) in told.iter().enumerate() {
        let run = |out: String| {
            let start = ["-s", "hybrid", "-n", "200", "--seed", "5"];
            program.campaign(&out, &[&start[..], flags].concat())
        };
        let (one, two) = (run(format!("one-{i}")), run(format!("two-{i}")));
        let told = |ended: &Ended| (ended.stop().to_owned(), ended.count("hybrid.events"));
        assert_eq!(told(&one), told(&two), "{flags:?}");
        assert_eq!(one.queue(), two.queue(), "{flags:?}");
        assert_eq!(one.stop(), if i == 0 { "enough" } else { "runs" }, "{}", one.stats);
        events.push(one.count("hybrid.events"));
    }
    assert_ne!(events[1], events[2], "they do the same whatever they are told");
}
