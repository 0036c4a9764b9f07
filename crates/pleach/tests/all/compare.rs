//! `pleach compare`: real campaigns side by side, and what it refuses.

use crate::common::{PLEACH, Program};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn calculator() -> Program {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/calc");
    let program = Program::empty();
    let done = Command::new(PLEACH)
        .args(["cc", "-O2", "-g", "-o"])
        .arg(program.path("prog"))
        .arg("calc.c")
        .current_dir(&source)
        .status();
    assert!(done.expect("pleach runs").success());
    program.seeds([("sum", &b"1+2\n"[..])]);
    program
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}: not a number"))
}

#[test]
fn the_report_agrees_with_the_campaigns() {
    let program = calculator();
    let what = ["compare", "-s", "dfs,generational", "--seeds", "2", "-j", "2", "-i", "seeds"];
    // The limit on time is only there to be accepted beside the other.
    let limits = ["-n", "150", "-V", "600", "--max-len=12"];
    let args = [&what[..], &limits, &["-o", "cmp", "--json", "--", "./prog"]].concat();
    let report = program.json(&args, b"");
    let total = number(&report["branches"]);
    let names: Vec<&str> = report["strategies"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert_eq!(names, ["dfs", "generational"]);
    for strategy in report["strategies"].as_array().expect("a list") {
        let campaigns = strategy["campaigns"].as_array().expect("a list");
        assert_eq!(campaigns.len(), 2);
        for c in campaigns {
            let covered = number(&c["covered"]);
            assert!(covered > 10 && covered <= total, "{c}");
            assert!(number(&c["runs"]) <= 152, "{c}");
            // The program has one source file, so its module has all covered branches.
            assert_eq!(number(&c["modules"][0]["covered"]), covered, "{c}");
            assert_eq!(c["modules"][0]["reached"], c["runs"], "{c}");
            assert_eq!(
                number(&c["points"].as_array().expect("a list").last().expect("one")["covered"]),
                covered
            );
        }
    }
    assert_eq!(report["modules"][0]["name"], "calc.c");
    assert_eq!(number(&report["modules"][0]["branches"]), total);
    // Of what a strategy covers (`row[i]`), the other one lacks only a part (`row[j]`).
    for (i, j) in [(0, 1), (1, 0)] {
        let row = &report["overlap"][i];
        assert!(number(&row[j]) < number(&row[i]), "{row}");
    }
    let settings = String::from_utf8(program.read("cmp/dfs-1/run.toml")).expect("text");
    assert!(settings.contains("max_len = 12") && settings.contains("seed = 1"), "{settings}");
    for name in ["compare.txt", "compare.json", "coverage-time.svg", "coverage-runs.svg"] {
        let text = String::from_utf8(program.read(&format!("cmp/{name}"))).expect("text");
        assert!(text.contains("generational"), "{name}");
    }
}

#[test]
fn mistakes_are_refused() {
    let program = Program::new("#include <stdio.h>\nint main(void) { return getchar() == 'x'; }\n");
    for (flags, part) in [
        (["-s", "dfs,nonsense"].as_slice(), "nonsense"),
        (&["-s", "dfs", "-i", "nowhere"], "nowhere"),
        (&["--module", "parser=other.c"], "the program has no branch in other.c"),
    ] {
        let args = [&["compare", "-n", "5", "-o", "cmp"], flags, &["--", "./prog"]].concat();
        program.refuses(&args, &[part]);
    }
    let start = ["compare", "-n", "5", "-o", "cmp"];
    for (flags, part) in [
        (&["-i", "-"][..], "cannot resume one"),
        (&["--module", "parser"], "NAME=FILE"),
        (&["--no-such-flag"], "--no-such-flag"),
        (&["-M", "main"], "-M"),
        (&["--fleet", "nats://localhost/name"], "--fleet"),
    ] {
        program.refuses_flag(&[&start, flags, &["--", "./prog"]].concat(), part);
    }
    program.file("full", b"");
    program.refuses(&["compare", "-o", ".", "-n", "5", "--", "./prog"], &["not empty"]);
}

/// The program also reads a file in the directory where `pleach` was called. To count the
/// branches of a module, the kept inputs must run with that file, too.
#[test]
fn modules_are_counted_with_the_files_of_the_program() {
    let program = Program::new(
        r#"
        #include <stdio.h>
        #include <string.h>
        int main(int argc, char **argv) {
            char word[8] = "", in[8] = "";
            FILE *words = fopen(argv[1], "r"), *input = fopen(argv[2], "r");
            if (argc < 3 || !words || !fgets(word, sizeof word, words)) return 1;
            if (!input || !fgets(in, sizeof in, input)) return 2;
            if (strcmp(in, word) == 0) puts("the word");
            return 0;
        }
    "#,
    );
    program.file("words.txt", b"hedge");
    program.file("words.ebnf", b"s ::= word\nword ::= [a-z]+\n");
    let args =
        ["compare", "-s", "generational,gbb", "-n", "200", "--seeds", "1", "-g", "words.ebnf"];
    let rest = ["--module", "all=prog.c", "-o", "cmp", "--json", "--", "./prog", "words.txt", "@@"];
    let report = program.json(&[&args[..], &rest].concat(), b"");
    assert_eq!(report["modules"][0]["name"], "all", "{report}");
    let of = |strategy: usize| &report["strategies"][strategy]["campaigns"][0];
    for strategy in [0, 1] {
        let campaign = of(strategy);
        let covered = number(&campaign["modules"][0]["covered"]);
        assert_eq!(covered, number(&campaign["covered"]), "{report}");
        assert!(covered > 3, "{report}");
    }
    assert!(number(&of(0)["covered"]) > number(&of(1)["covered"]), "{report}");
}

/// To count the branches of a module, the kept inputs must run on a terminal, too.
#[test]
fn modules_are_counted_on_a_terminal() {
    let program = Program::new(
        r#"
        #include <stdio.h>
        #include <unistd.h>
        int main(void) {
            char c;
            if (!isatty(0)) return 1;
            if (read(0, &c, 1) == 1 && c == 'x') puts("x");
            return 0;
        }
    "#,
    );
    let args = ["compare", "-s", "generational", "-n", "40", "--seeds", "1", "--tty", "60x20"];
    let report = program.json(&[&args[..], &["-o", "cmp", "--json", "--", "./prog"]].concat(), b"");
    let campaign = &report["strategies"][0]["campaigns"][0];
    let covered = number(&campaign["covered"]);
    assert_eq!(number(&campaign["modules"][0]["covered"]), covered, "{report}");
    assert!(covered > 2, "{report}");
}
