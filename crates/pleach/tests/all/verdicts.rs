//! What a campaign reports is true: it is exhausted only if it ran every feasible path, and
//! the files in its directory take all branches that it counts.

use crate::common::Program;
use crate::common::campaign::Ended;
use pleach_search::{Needs, STRATEGIES};

/// The covered branches of the statistics, and those that the kept files cover when they are
/// run again.
fn counted_and_replayed(program: &Program, ended: &Ended) -> (u64, u64) {
    let paths = ["queue", "crashes", "hangs"].map(|kind| {
        let names = ended.inputs(kind).into_keys();
        names.map(|name| ended.out.join(kind).join(name).display().to_string()).collect::<Vec<_>>()
    });
    let mut args = vec!["cover", "--json", "-t", "500"];
    args.extend(paths.iter().flatten().map(String::as_str));
    args.extend(["--", "./prog"]);
    let replayed = program.json(&args, b"")["covered"].as_u64().expect("a number");
    (ended.count("branches.covered"), replayed)
}

#[test]
fn a_crash_of_the_first_input_is_flipped() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\n\
        int main(void) { if (getchar() != EOF) abort(); return 0; }\n";
    let program = Program::new(source);
    for strategy in ["dfs", "generational", "cfg", "auto"] {
        let ended = program.campaign(strategy, &["-s", strategy, "-n", "100"]);
        assert_eq!(ended.count("branches.covered"), 2, "{strategy}: {}", ended.stats);
        assert_eq!(ended.count("crashes"), 1, "{strategy}: {}", ended.stats);
        assert_eq!(counted_and_replayed(&program, &ended), (2, 2), "{strategy}");
        if strategy != "auto" {
            assert_eq!((ended.stop(), ended.partial()), ("exhausted", vec![]), "{strategy}");
        }
    }
}

/// All paths but one end in the same crash.
const FAILS: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    static volatile int n;
    static void fail(void) { abort(); }
    void not_called(int n) { if (n) fail(); }
    int yylex(void) { int c = getchar(); return c == EOF ? 0 : c; }
    int main(void) {
        int a = yylex(), b = yylex(), c = yylex();
        if (a == '1') fail();
        if (b == '2') n++;
        if (c == '3') { if (a == '2') n++; fail(); }
        if (b == '+') exit(0);
        fail();
    }
"#;

#[test]
fn the_files_cover_what_every_strategy_counts() {
    let program = Program::new(FAILS);
    program.file("three.ebnf", b"s ::= t t t\nt ::= '1' | '2' | '3' | '+'\n");
    for strategy in STRATEGIES {
        let name = strategy.name;
        let grammar: &[&str] = match strategy.needs {
            Needs::Nothing => &[],
            Needs::Grammar | Needs::Tokens => &["-g", "three.ebnf"],
            Needs::Places => &["--toward", "not_called"],
        };
        let flags = ["-s", name, "--len", "3", "-n", "120", "-t", "10000"];
        let ended = program.campaign(name, &[&flags[..], grammar].concat());
        let (counted, replayed) = counted_and_replayed(&program, &ended);
        assert_eq!(counted, replayed, "{name}: {}", ended.stats);
        if ["dfs", "generational", "cfg", "gbw"].contains(&name) {
            assert!(counted >= 10, "{name}: {}", ended.stats);
        }
        if ["dfs", "generational", "cfg"].contains(&name) {
            assert_eq!((ended.stop(), counted), ("exhausted", 12), "{name}: {}", ended.stats);
            // It is one crash, even if several files show what it covers.
            assert_eq!(ended.count("crashes"), 1, "{name}: {}", ended.stats);
            assert!(ended.crashes().len() > 2, "{name}: {:?}", ended.crashes());
            let again = program.resume(name, &[]);
            assert_eq!(again.count("branches.covered"), 12, "{name}: {}", again.stats);
        }
    }
}

#[test]
fn a_hang_counts_and_makes_the_search_partial() {
    let source = r#"
        #include <pleach.h>
        static volatile int n;
        int main(void) {
            unsigned char c = pleach_u8();
            if (c == 'h') { if (n == 0) for (;;) n = n + 1; }
            else n = 1;
            return n;
        }
    "#;
    let program = Program::new(source);
    let ended = program.campaign("out", &["-s", "dfs", "--len", "1"]);
    assert_eq!(ended.stop(), "exhausted-partial", "{}", ended.stats);
    assert_eq!(ended.partial(), ["timed out"], "{}", ended.stats);
    assert_eq!(ended.count("hangs"), 1, "{}", ended.stats);
    assert_eq!(counted_and_replayed(&program, &ended), (3, 3), "{}", ended.stats);
}

/// ASan ends a run of the fast half where the symbolic half continues.
#[test]
fn branches_behind_a_sanitizers_report_are_not_counted() {
    let source = r#"
        #include <pleach.h>
        #include <stdlib.h>
        static volatile int n;
        int main(void) {
            unsigned char a = pleach_u8(), b = pleach_u8(), c = pleach_u8();
            static char *volatile p, table[4];
            p = malloc(4);
            free(p);
            if (a < 128) n += *p;
            if (b == 'b') n++;
            table[c] = 1;
            if (c == 2) n++;
            if (b == 'x') n++;
            return 0;
        }
    "#;
    let program = Program::with(source, &["-fsanitize=address"]);
    for strategy in ["dfs", "generational", "auto"] {
        let ended = program.campaign(strategy, &["-s", strategy, "--len", "3", "-n", "300"]);
        let (counted, replayed) = counted_and_replayed(&program, &ended);
        assert_eq!(counted, replayed, "{strategy}: {}", ended.stats);
        assert_eq!(ended.count("diverged"), 0, "{strategy}: {}", ended.stats);
        assert!(ended.partial().contains(&"stopped by a sanitizer"), "{}", ended.stats);
        assert_ne!(ended.stop(), "exhausted", "{strategy}: {}", ended.stats);
        assert!(counted >= 7, "{strategy}: {}", ended.stats);
    }
}

/// Labels do not follow input that leaves the process, so the search is not exhaustive.
#[test]
fn input_that_leaves_the_process_makes_the_search_partial() {
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static int decide(int c) { return c == 'Q' ? 3 : 0; }
        int main(int count, char **args) {
            char c = 0, back = 0, command[32];
            int ends[2], status = 0;
            if (read(0, &c, 1) != 1) return 1;
            if (!strcmp(args[1], "child")) {
                if (pipe(ends) || fork() == 0) {
                    close(ends[1]);
                    if (read(ends[0], &back, 1) != 1) _exit(1);
                    _exit(decide(back));
                }
                write(ends[1], &c, 1);
                wait(&status);
            } else if (!strcmp(args[1], "program")) {
                sprintf(command, "exit %d", c == '0');
                return decide(system(command));
            } else if (!strcmp(args[1], "nothing")) {
                printf("%c", c);
                return decide(c);
            }
            return 0;
        }
    "#;
    let program = Program::new(source);
    let run = |how: &str| {
        program.campaign_with_args(how, &["-s", "dfs", "--len", "1", "-n", "100"], &[how])
    };
    for (how, lost) in [("child", "lost: another-process"), ("program", "lost: another-process")] {
        let ended = run(how);
        assert_eq!(ended.stop(), "exhausted-partial", "{how}: {}", ended.stats);
        assert!(ended.partial().contains(&lost), "{how}: {}", ended.stats);
    }
    assert_eq!(run("nothing").stop(), "exhausted");
}

/// The first call in a process fills a table, with a function that later calls use, too.
#[test]
fn initialisation_in_the_first_call_makes_nothing_unstable() {
    let source = r#"
        #include <stddef.h>
        #include <stdint.h>
        static int ready;
        static unsigned table[256];
        static unsigned step(unsigned c) {
            for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
            return c;
        }
        int LLVMFuzzerTestOneInput(const uint8_t *in, size_t n) {
            if (!ready) {
                for (unsigned i = 0; i < 256; i++) table[i] = step(i);
                ready = 1;
            }
            if (n < 4) return 0;
            unsigned sum = step(in[0]);
            if (in[1] == 'x') for (int i = 0; i < in[2] % 20; i++) sum = step(sum);
            if (in[3] == 'k') sum ^= table[in[0]];
            return sum == 0;
        }
    "#;
    let program = Program::with(source, &["-fsanitize=fuzzer"]);
    let ended = program.campaign("out", &["-n", "1500"]);
    assert_eq!(ended.count("unstable"), 0, "{}", ended.stats);
    let (counted, replayed) = counted_and_replayed(&program, &ended);
    assert_eq!(counted, replayed, "{}", ended.stats);
    // The loop runs 0 to 19 times, which are seven buckets of counts.
    assert!(ended.queue().len() >= 12, "{}", ended.stats);
}

/// Functions without a model that get input in a structure, or behind a pointer in one.
const UNMODELLED: &str = r#"
    #define _GNU_SOURCE
    #include <iconv.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/msg.h>
    #include <time.h>
    #include <unistd.h>
    int main(int count, char **args) {
        char c;
        struct message { long type; char text[8]; } out = { 1, "" }, in = { 0, "" };
        struct tm date = { .tm_mday = 1 };
        if (read(0, &c, 1) != 1) return 1;
        if (!strcmp(args[1], "message")) {
            int queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
            out.text[4] = c;
            msgsnd(queue, &out, 8, 0);
            msgrcv(queue, &in, 8, 1, 0);
            msgctl(queue, IPC_RMID, 0);
            return in.text[4] == 'Q' ? 3 : 0;
        } else if (!strcmp(args[1], "date")) {
            date.tm_year = 100 + c;
            return mktime(&date) == 4102444800 ? 3 : 0;
        } else if (!strcmp(args[1], "heap")) {
            char *text = calloc(64, 1);
            memcpy(text, "a date: %", 9);
            text[9] = c;
            char to[200] = "";
            strftime(to, sizeof to, text, &date);
            return strcmp(to, "a date: 01") ? 0 : 3;
        } else if (!strcmp(args[1], "pointer")) {
            char to[8], *from = &c, *place = to;
            size_t left = 1, room = 8;
            iconv(iconv_open("UTF-16LE", "ISO-8859-1"), &from, &left, &place, &room);
            return to[0] == 'Q' ? 3 : 0;
        } else if (!strcmp(args[1], "assembly")) {
            char back;
            __asm__ volatile("movb (%1), %0" : "=q"(back) : "r"(&c) : "memory");
            return back == 'Q' ? 3 : 0;
        } else if (!strcmp(args[1], "barrier")) {
            __asm__ volatile("" : : "r"(&c) : "memory");
        }
        return c == 'Q';
    }
"#;

#[test]
fn input_that_goes_into_a_function_without_a_model_is_counted() {
    let program = Program::new(UNMODELLED);
    let run = |how: &str| {
        program.campaign_with_args(how, &["-s", "dfs", "--len", "1", "-n", "100"], &[how])
    };
    for how in ["message", "date", "heap", "pointer", "assembly"] {
        let ended = run(how);
        let lost = if how == "assembly" { "lost: asm" } else { "lost: unmodelled" };
        assert_eq!(ended.stop(), "exhausted-partial", "{how}: {}", ended.stats);
        assert!(ended.partial().contains(&lost), "{how}: {}", ended.stats);
    }
    for how in ["nothing", "barrier"] {
        assert_eq!(run(how).stop(), "exhausted", "{how}");
    }
}

#[test]
fn a_byte_that_a_longer_input_fills_is_no_divergence() {
    let source = r#"
        #include <unistd.h>
        int main(void) {
            char text[9] = "";
            int n = 0;
            if (read(0, text, 8) <= 0) return 0;
            while (text[n] == 'a') n++;
            return text[n] == 'x' ? 3 : 0;
        }
    "#;
    let program = Program::new(source);
    for strategy in ["dfs", "generational"] {
        let ended = program.campaign(strategy, &["-s", strategy, "--len", "2", "-n", "5000"]);
        assert_eq!(ended.count("diverged"), 0, "{strategy}: {}", ended.stats);
        assert_eq!((ended.stop(), ended.partial()), ("exhausted", vec![]), "{strategy}");
    }
}
