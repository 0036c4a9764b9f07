//! Long work shows a bar and the time that is left on a terminal, and nothing elsewhere.

use crate::common::{PLEACH, Program};
use std::process::Command;

/// A run waits a little, so that several take longer than the delay before a bar is shown.
const SLOW: &str = "#include <stdio.h>\n#include <unistd.h>\n\
    int main(void) { int c = getchar(); usleep(60000); if (c == 'z') usleep(300000); return 0; }\n";

fn program() -> Program {
    let p = Program::new(SLOW);
    let seeds: Vec<(String, Vec<u8>)> = (0..12).map(|n| (format!("s{n:02}"), vec![n, n])).collect();
    p.seeds(seeds.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
    p
}

/// What a command prints on a terminal of 80 columns, which `script` of bsdutils makes.
fn on_terminal(p: &Program, line: &str) -> String {
    let command = format!("stty cols 80; exec '{PLEACH}' {line}");
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    let out = script.current_dir(p.dir.path()).output().expect("script is part of bsdutils");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn a_bar_is_shown_on_a_terminal_only() {
    let p = program();
    p.file("long", b"zzzzzzzz");
    for (line, what) in [
        ("replay seeds -- ./prog", "running inputs"),
        ("cover seeds -- ./prog", "running inputs"),
        ("cmin -i seeds -o small -- ./prog", "running inputs"),
        ("tmin -i long -o smaller -n 20 -- ./prog", "at most"),
    ] {
        let text = on_terminal(&p, line);
        assert!(text.contains(what) && text.contains("left"), "{line}: {text}");
        // The bar is removed in the end: its line is cleared.
        let last = text.rfind(what).expect("the bar");
        assert!(text[last..].contains("\r\x1b[2K"), "{line}: {text:?}");
    }
    let args = ["replay", "seeds", "--", "./prog"];
    let out = p.run(&args, b"");
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// The bar says how many of the inputs have run.
#[test]
fn the_bar_counts_the_inputs() {
    let text = on_terminal(&program(), "replay seeds -- ./prog");
    let counts: Vec<u32> = text
        .match_indices("/12")
        .filter_map(|(at, _)| text[..at].rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .collect();
    assert!(!counts.is_empty() && counts.is_sorted(), "{counts:?} in {text:?}");
}
