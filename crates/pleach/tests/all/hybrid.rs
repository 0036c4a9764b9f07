//! `pleach run -s hybrid`: live runs and snapshots.

use crate::common::Program;
use crate::common::campaign::Ended;
use crate::common::process::{count_processes, unique_name, wait_until};
use std::path::Path;
use std::process::{Command, Stdio};

/// The campaigns below find their crash within a thousand runs. This limit only ends one
/// that does not find it.
const MAX_RUNS: &str = "20000";

/// Random calls reach its three states; only solving finds the number that comes then.
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

/// Runs a hybrid campaign, which must find a crash.
fn find_crash(program: &Program, flags: &[&str]) -> Ended {
    let start = ["-s", "hybrid", "--stop-on-crash", "-n", MAX_RUNS];
    let ended = program.campaign("out", &[&start[..], flags].concat());
    assert_eq!(ended.stop(), "crash", "{} {}", ended.stats, ended.stderr);
    ended
}

/// Checks that the kept inputs, run from the start, cover together what the campaign
/// reports, and that every crash happens again.
fn assert_replays(program: &Program, ended: &Ended, flags: &[&str]) {
    let out = &ended.out;
    let args = [&["replay", "--json"], flags, &[out.to_str().unwrap(), "--", "./prog"]].concat();
    let replayed = program.run(&args, b"");
    let replayed: serde_json::Value = serde_json::from_slice(&replayed.stdout).expect("JSON");
    let covered = replayed["covered"].as_u64().expect("a number");
    assert!(covered >= ended.count("branches.covered"), "{replayed} {}", ended.stats);
    // Only the runtime delivers connections, so the plain program cannot be replayed.
    let halves: &[&str] = if flags.contains(&"--socket") { &["fast"] } else { &["plain", "fast"] };
    for half in halves {
        for path in crash_paths(ended) {
            let args = [&["replay", "--half", half], flags, &[&path, "--", "./prog"]].concat();
            let done = program.run(&args, b"");
            assert_eq!(done.status.code(), Some(1), "{half} {path}");
        }
    }
}

fn crash_paths(ended: &Ended) -> Vec<String> {
    let names = ended.inputs("crashes").into_keys();
    names.map(|name| ended.out.join("crashes").join(name).display().to_string()).collect()
}

#[test]
fn events_reach_a_state_and_solving_finds_the_number() {
    let program = Program::new(STATES);
    let ended = find_crash(&program, &["--seed", "3"]);
    assert!(ended.count("hybrid.searches") > 0 && ended.count("hybrid.events") > 0);
    assert_replays(&program, &ended, &[]);
    // At most four of the many events are left: three for the states, one for the number.
    let path = &crash_paths(&ended)[0];
    let args = ["tmin", "--json", "-i", path, "-o", "short", "--", "./prog"];
    let reduced = program.json(&args, b"");
    let short = program.read("short");
    assert!(short.len() <= 20 && short.len().is_multiple_of(5), "{reduced}");
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
fn a_campaign_can_be_resumed() {
    let program = Program::new(STATES);
    let first = program.campaign("out", &["-s", "hybrid", "-n", "8"]);
    assert_eq!((first.stop(), first.count("crashes")), ("runs", 0));
    let ended = program.resume("out", &["--stop-on-crash", "-n", MAX_RUNS]);
    assert_eq!(ended.stop(), "crash", "{} {}", first.stats, ended.stats);
    assert!(ended.count("inputs") >= first.count("inputs"));
}

/// The program gets its keys by `getchar`, by `read` of one byte, or by `read` of several.
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
        let ended = find_crash(&program, &[]);
        assert_replays(&program, &ended, &[]);
    }
}

#[test]
fn a_program_without_live_runs_ends_the_campaign_with_a_reason() {
    let cases = [
        ("int main(void) { return 0; }", "reads-nothing", "ended without reading its input"),
        (
            "#include <pleach.h>\nint main(void) { return pleach_u8() > 9 ? 1 : 0; }",
            "ends-at-once",
            "needs a program that keeps reading",
        ),
        (
            "#include <pleach.h>\nint main(void) { for (;;) pleach_u8(); }",
            "nothing-depends",
            "depends on the events",
        ),
    ];
    for (source, stop, reason) in cases {
        let program = Program::new(source);
        let ended = program.campaign("out", &["-s", "hybrid", "-n", MAX_RUNS]);
        assert_eq!(ended.stop(), stop, "{}", ended.stats);
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    }
}

/// The program writes to files while it runs and checks them after each event. If a path
/// that starts at a snapshot changed the files of the snapshot, the live run would see it.
#[test]
fn paths_do_not_change_the_files_of_their_snapshot() {
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
        let replayed =
            program.json(&["replay", "--json", path.to_str().unwrap(), "--", "./prog"], b"");
        assert!(!replayed.to_string().contains("exit 7"), "{replayed}");
    }
    // The live run saw no change either: if it had, that end would be new, and in the queue.
    assert_eq!(ended.count("crashes"), 0);
}

#[test]
fn killing_the_driver_leaves_no_process() {
    let program = Program::new(STATES);
    let name = unique_name();
    std::fs::rename(program.path("prog"), program.path(&name)).expect("writable");
    let mut command = program.command(&["run", "-s", "hybrid", "-o", "out", "--saturation", "500"]);
    command.arg("--").arg(program.path(&name)).stderr(Stdio::null());
    let mut driver = command.spawn().expect("it starts");
    // Two servers of the live run, a run of each, and a snapshot.
    wait_until("there is no snapshot", || count_processes(&name) >= 5);
    driver.kill().expect("it is our child");
    driver.wait().expect("it is our child");
    wait_until("processes are left", || count_processes(&name) == 0);
}

#[test]
fn wrong_flags_are_refused() {
    let program = Program::new("int main(void) { return 0; }");
    let start = ["run", "-s", "hybrid", "-o", "out"];
    let with = |flags: [&'static str; 2]| [&start[..], &flags, &["--", "./prog"]].concat();
    program.refuses(&with(["--explore", "best"]), &["unknown strategy `best`"]);
    program.refuses(&with(["--explore", "hybrid"]), &["cannot be hybrid itself"]);
    program.refuses_flag(&with(["--saturation", "0"]), "--saturation");
}

#[test]
fn the_bug_of_testme_is_found_and_the_red_black_tree_has_none() {
    let program = example("testme", &["testme.c"]);
    let ended = find_crash(&program, &[]);
    assert_replays(&program, &ended, &[]);
    let tree = example("rbtree", &["driver.c", "rbtree.c"]);
    let ended = tree.campaign("out", &["-s", "hybrid", "-n", "3000"]);
    assert_eq!(ended.count("crashes"), 0);
    assert_replays(&tree, &ended, &[]);
}

/// The branches that a search of the red-black tree does not cover are infeasible: no tree
/// of at most a dozen nodes fails its check after any step.
#[test]
fn every_small_red_black_tree_passes_its_check() {
    let tree = example("rbtree", &["every.c", "rbtree.c"]);
    let done = Command::new(tree.dir.path().join("prog")).output().expect("it runs");
    assert!(done.status.success(), "{done:?}");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "1369 trees, 62210 steps\n");
}

/// Needs a terminal of the right size whose modes it can set, and writes a lot to
/// `/dev/tty`. It waits for each key and reads one at a time.
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
    let ended = find_crash(&program, &["--tty", "60x20", "--seed", "2"]);
    // From the start, in the fast half and typed into the plain program.
    assert_replays(&program, &ended, &["--tty", "60x20"]);
    let path = &crash_paths(&ended)[0];
    let traced = program.run(&["trace", "--tty", "60x20", path, "--", "./prog"], b"");
    assert!(String::from_utf8_lossy(&traced.stdout).contains("prog.c"), "{traced:?}");
    let args = ["tmin", "--json", "--tty", "60x20", "-i", path, "-o", "short", "--", "./prog"];
    program.json(&args, b"");
    let (short, long) = (program.read("short"), &ended.crashes()[0]);
    assert!(short.len() <= long.len() && short.len() <= 19, "{short:?}");
    assert!(short.ends_with(b"drownq"), "{short:?}");
    // Other strategies can use a terminal, too. Without one the program exits with 70.
    let other = program.campaign("other", &["--tty", "60x20", "-n", "200"]);
    assert!(other.count("branches.covered") > 15, "{}", other.stats);
    let without = program.run(&["replay", path, "--", "./prog"], b"");
    assert!(String::from_utf8_lossy(&without.stdout).contains("exit 70"), "{without:?}");
    let wrong = program.run(&["replay", "--tty", "60by20", path, "--", "./prog"], b"");
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

/// A program that only polls sees no key for long; one that waits gets one key at a time.
/// Calls that sleep return at once, or this test would take an hour.
#[test]
fn keys_come_when_the_program_waits_for_them() {
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
    let replayed = program.run(&args, b"");
    assert!(String::from_utf8_lossy(&replayed.stdout).contains("exit 7"), "{replayed:?}");
    let traced = program.run(&["trace", "--tty", "80x24", "keys", "--", "./prog"], b"");
    assert!(String::from_utf8_lossy(&traced.stdout).contains("exit 7"), "{traced:?}");
}

/// With a grammar, the events are its sentences, so the program accepts most of them.
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
    let ended = find_crash(&program, &["-g", grammar]);
    assert_replays(&program, &ended, &[]);
}

#[test]
fn lines_of_a_connection_are_events() {
    let program = example("server", &["server.c"]);
    let ended = program.campaign("out", &["-s", "hybrid", "--socket", "-n", "3000"]);
    assert!(ended.count("hybrid.searches") > 0, "{}", ended.stats);
    // The server got many lines and answered them: the connection did not fill up.
    assert!(ended.count("hybrid.events") > 1000, "{}", ended.stats);
    assert_replays(&program, &ended, &["--socket"]);
}

#[test]
fn flags_change_live_runs_and_the_same_flags_give_the_same_queue() {
    let program = Program::new(STATES);
    let all_flags = [
        &["--enough", "40"][..],
        &["--saturation", "50", "--budget", "40", "--ahead", "2"],
        &["--uniform", "100", "--explore", "dfs"],
    ];
    let mut events = Vec::new();
    for (i, flags) in all_flags.iter().enumerate() {
        let run = |out: String| {
            let start = ["-s", "hybrid", "-n", "200", "--seed", "5"];
            program.campaign(&out, &[&start[..], flags].concat())
        };
        let (one, two) = (run(format!("one-{i}")), run(format!("two-{i}")));
        let end = |ended: &Ended| (ended.stop().to_owned(), ended.count("hybrid.events"));
        assert_eq!(end(&one), end(&two), "{flags:?}");
        assert_eq!(one.queue(), two.queue(), "{flags:?}");
        assert_eq!(one.stop(), if i == 0 { "enough" } else { "runs" }, "{}", one.stats);
        events.push(one.count("hybrid.events"));
    }
    assert_ne!(events[1], events[2], "the flags change nothing");
}
