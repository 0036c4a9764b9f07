//! `pleach compare`: real campaigns side by side, and what is refused.

use crate::common::{PLEACH, Program};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn calculator() -> Program {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/calc");
    let program = Program::empty();
    let done = Command::new(PLEACH)
        .args(["cc", "-O2", "-g", "-o"])
        .arg(program.dir.path().join("prog"))
        .arg("calc.c")
        .current_dir(&source)
        .status();
    assert!(done.expect("pleach runs").success());
    std::fs::create_dir(program.dir.path().join("seeds")).expect("writable");
    program.file("seeds/sum", b"1+2\n");
    program
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}: not a number"))
}

#[test]
fn strategies_side_by_side() {
    let program = calculator();
    let args = [
        "compare",
        "-s",
        "dfs,generational",
        "-n",
        "150",
        "-V",
        "60",
        "--seeds",
        "2",
        "-j",
        "2",
        "-i",
        "seeds",
        "--max-len=12",
        "-o",
        "cmp",
        "--json",
        "--",
        "./prog",
    ];
    let told = program.json(&args, b"");
    let total = number(&told["branches"]);
    let names: Vec<&str> = told["strategies"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert_eq!(names, ["dfs", "generational"]);
    for strategy in told["strategies"].as_array().expect("a list") {
        let campaigns = strategy["campaigns"].as_array().expect("a list");
        assert_eq!(campaigns.len(), 2);
        for c in campaigns {
            let covered = number(&c["covered"]);
            assert!(covered > 10 && covered <= total, "{c}");
            assert!(number(&c["runs"]) <= 152, "{c}");
            // One source file: what is covered of it is what was covered.
            assert_eq!(number(&c["modules"][0]["covered"]), covered, "{c}");
            assert_eq!(c["modules"][0]["reached"], c["runs"], "{c}");
            assert_eq!(
                number(&c["points"].as_array().expect("a list").last().expect("one")["covered"]),
                covered
            );
        }
    }
    assert_eq!(told["modules"][0]["name"], "calc.c");
    assert_eq!(number(&told["modules"][0]["branches"]), total);
    // What one has and the other lacks is within what it has.
    for (i, j) in [(0, 1), (1, 0)] {
        let row = &told["overlap"][i];
        assert!(number(&row[j]) < number(&row[i]), "{row}");
    }
    let settings = std::fs::read_to_string(program.dir.path().join("cmp/dfs-1/run.toml"));
    let settings = settings.expect("campaigns are kept");
    assert!(settings.contains("max_len = 12") && settings.contains("seed = 1"), "{settings}");
    for name in ["compare.txt", "compare.json", "coverage-time.svg", "coverage-runs.svg"] {
        let text = std::fs::read_to_string(program.dir.path().join("cmp").join(name));
        assert!(text.expect("it was written").contains("generational"), "{name}");
    }
}

/// Status 2 and one line, and nothing is made.
#[test]
fn mistakes_are_refused() {
    let program = Program::new("#include <stdio.h>\nint main(void) { return getchar() == 'x'; }\n");
    let refuses = |flags: &[&str], part: &str| {
        let args = [&["compare", "-n", "5", "-o", "cmp"], flags, &["--", "./prog"]].concat();
        let out = program.run(&args, b"");
        let message = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{flags:?}: {message}");
        assert!(message.contains(part), "{flags:?}: {message}");
        assert!(out.stdout.is_empty() && !program.dir.path().join("cmp").exists(), "{flags:?}");
    };
    refuses(&["-s", "dfs,nonsense"], "nonsense");
    refuses(&["-s", "dfs", "-i", "nowhere"], "nowhere");
    refuses(&["-s", "dfs", "-i", "-"], "cannot go on");
    refuses(&["--module", "parser"], "NAME=FILE");
    refuses(&["--module", "parser=other.c"], "no branch of the program is in other.c");
    refuses(&["--no-such-flag"], "--no-such-flag");
    program.file("full", b"");
    let out = program.run(&["compare", "-o", ".", "-n", "5", "--", "./prog"], b"");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("not empty"));
}

/// A program that reads a file of its own besides its input, from where it was called.
#[test]
fn what_was_kept_is_counted_as_it_was_run() {
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
    let told = program.json(&[&args[..], &rest].concat(), b"");
    assert_eq!(told["modules"][0]["name"], "all", "{told}");
    let of = |strategy: usize| &told["strategies"][strategy]["campaigns"][0];
    for strategy in [0, 1] {
        let campaign = of(strategy);
        let covered = number(&campaign["modules"][0]["covered"]);
        assert_eq!(covered, number(&campaign["covered"]), "{told}");
        assert!(covered > 3, "{told}");
    }
    assert!(number(&of(0)["covered"]) > number(&of(1)["covered"]), "{told}");
}

/// What the program does only on a terminal is counted by module, too.
#[test]
fn programs_on_a_terminal_are_compared_on_one() {
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
    let told = program.json(&[&args[..], &["-o", "cmp", "--json", "--", "./prog"]].concat(), b"");
    let campaign = &told["strategies"][0]["campaigns"][0];
    let covered = number(&campaign["covered"]);
    assert_eq!(number(&campaign["modules"][0]["covered"]), covered, "{told}");
    assert!(covered > 2, "{told}");
}
