//! The lengths of holes as variables: what the models make of them, and inputs of just
//! the right size.

use crate::common::Program;

/// What is measured, and how it is `n + c` for a name of `n` bytes in `ab=NAME;x`.
const MEASURED: &[(&str, usize)] = &[
    ("strlen(line)", 5),
    ("strnlen(line, 4000)", 5),
    ("strlen(strcpy(to, line))", 5),
    ("stpcpy(to, line) - to", 5),
    ("strlen(strcat(strcpy(to, \"pre\"), line))", 8),
    ("strlen(strncpy(to, line, 4000))", 5),
    ("strlen(strncat(strcpy(to, \"pre\"), line, 4000))", 8),
    ("strlen(strdup(line))", 5),
    ("strchr(line, ';') - line", 3),
    ("strrchr(line, ';') - line", 3),
    ("strchrnul(line, ';') - line", 3),
    ("strstr(line, \";x\") - line", 3),
    ("strpbrk(line, \";\") - line", 3),
    ("(char *)memchr(line, ';', sizeof line) - line", 3),
    ("(char *)rawmemchr(line, ';') - line", 3),
    ("strcspn(line, \";\")", 3),
    ("strspn(line + 3, letters)", 0),
    ("strlen((char *)memcpy(to, line, strlen(line) + 1))", 5),
    ("(char *)mempcpy(to, line, strlen(line)) - to", 5),
    ("strlen(strtok(strcpy(to, line + 3), \";\"))", 0),
    ("sprintf(to, \"<%s>\", line)", 7),
    ("snprintf(to, sizeof to, \"%d%-3s\", 12, line)", 7),
    ("ftell(stdin)", 6),
    ("size()", 6),
];

/// The least that is asked about, and how far the questions are apart.
const FROM: usize = 300;
const APART: usize = 20;

fn program() -> Program {
    let ask = |(i, (what, _)): (usize, &(&str, usize))| {
        format!("    if ((size_t)({what}) > {}) big++;\n", FROM + APART * i)
    };
    let asked: String = MEASURED.iter().enumerate().map(ask).collect();
    let program = Program::new(&format!(
        r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
static char line[4096], to[8192];
static const char *const letters = "abcdefghijklmnopqrstuvwxyz";
static size_t size(void) {{
    struct stat s;
    return fstat(0, &s) == 0 ? s.st_size : 0;
}}
int main(void) {{
    int big = 0;
    if (!fgets(line, sizeof line, stdin)) return 2;
    line[strcspn(line, "\n")] = 0;
{asked}
    return big > 100;
}}
"#
    ));
    program.file("line.ebnf", b"s ::= 'ab=' name ';x' end\nname ::= [a-z]+\nend ::= #xA\n");
    program
}

#[test]
fn every_model_carries_the_length_to_its_boundary() {
    let program = program();
    let flags = ["-s", "cese", "-g", "line.ebnf", "--max-length", "7"];
    // Not as long as what would be needed to leave the buffers.
    let ended = program.campaign("out", &[&flags[..], &["--max-hole", "900"]].concat());
    assert_eq!(ended.stop(), "exhausted", "{}", ended.stats);
    assert_eq!(ended.count("diverged"), 0, "{}", ended.stats);
    let lengths: Vec<usize> = ended.queue().iter().map(|input| input.len()).collect();
    for (i, (what, c)) in MEASURED.iter().enumerate() {
        // In the first input for which it is greater than the bound it is just so.
        let bound = FROM + APART * i;
        let wanted = bound + 1 - c + "ab=;x\n".len();
        assert!(lengths.contains(&wanted), "{what} > {bound}: no {wanted} among {lengths:?}");
    }
    for input in ended.queue() {
        let parsed = program.run(&["grammar", "parse", "line.ebnf", "-"], &input);
        assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&input));
    }
    // Without the length as a variable nothing of this is found.
    let short = program.campaign("short", &[&flags[..], &["--max-hole", "0"]].concat());
    assert!(short.queue().iter().all(|input| input.len() <= 7), "{}", short.stats);
}

#[test]
fn what_the_models_say_is_true_of_the_run() {
    let program = program();
    program.file("input", b"ab=name;x\n");
    let flags = ["trace", "--check", "--hole", "3:4", "input", "--", "./prog"];
    let done = program.run(&flags, b"");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    let said = program.text(&["explain", "--hole", "3:4", "input", "--", "./prog"], b"");
    for (i, (what, _)) in MEASURED.iter().enumerate() {
        let bound = FROM + APART * i;
        let over = |line: &str| line.contains("len[0]") && line.contains(&bound.to_string());
        // A constant may have moved to the other side.
        let moved = |line: &str| {
            let numbers = bound.saturating_sub(10)..=bound;
            line.contains("len[0]") && numbers.into_iter().any(|n| line.contains(&n.to_string()))
        };
        assert!(said.lines().any(|l| over(l) || moved(l)), "{what}: {said}");
    }
    assert!(said.contains("// len[0]: 4 bytes, in[3..7]"), "{said}");
    for (hole, why) in [
        ("3", "must be OFFSET:LEN"),
        ("3:0", "must be OFFSET:LEN"),
        ("8:3", "not inside the input"),
    ] {
        let done = program.run(&["explain", "--hole", hole, "input", "--", "./prog"], b"");
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{text}");
        assert!(text.contains(why), "{text}");
    }
}

/// A copy that no branch guards, one that a branch guards wrongly, and a name that must
/// be of one length among many.
const COPIES: &str = r#"
#include <stdio.h>
#include <string.h>
static char line[4096], small[100], first[40], last[40], both[64];
int main(void) {
    if (!fgets(line, sizeof line, stdin)) return 2;
    char *space = strchr(line, ' '), *end = strchr(line, '\n');
    if (!space || !end) return 2;
    *space = *end = 0;
    if (line[0] == 'q') strcpy(small, line);
    if (strlen(line) >= sizeof first || strlen(space + 1) >= sizeof last) return 1;
    strcpy(first, line);
    strcpy(last, space + 1);
    if (strlen(first) + strlen(last) > 60) return 3;
    if (strlen(first) * 3 == 57) puts("nineteen");
    return 0;
}
"#;

#[test]
fn sizes_are_checked_and_sums_are_reached() {
    let program = Program::new(COPIES);
    program.file("names.ebnf", b"s ::= name ' ' name end\nname ::= [a-z]+\nend ::= #xA\n");
    let ended = program.campaign("out", &["-s", "cese", "-g", "names.ebnf", "--max-length", "4"]);
    let queue = ended.queue();
    let words = |input: &[u8]| {
        let text = String::from_utf8_lossy(input).into_owned();
        let mut sizes = text.split_whitespace().map(str::len);
        (sizes.next().unwrap_or(0), sizes.next().unwrap_or(0))
    };
    let sizes: Vec<(usize, usize)> = queue.iter().map(|input| words(input)).collect();
    assert!(sizes.iter().any(|&(a, b)| a < 40 && b < 40 && a + b > 60), "{sizes:?}");
    assert!(sizes.iter().any(|&(a, _)| a == 19), "{sizes:?}");
    // The check of the copy alone leads there; the plain program may live through it.
    let checked = queue.iter().chain(&ended.crashes()).any(|i| i[0] == b'q' && words(i).0 == 100);
    assert!(checked || ended.count("flips.by_tier.lengths") > 0, "{}", ended.stats);
}

/// Tokens that another language takes the place of.
#[test]
fn holes_are_what_was_said() {
    let source = r#"
#include <stdio.h>
#include <string.h>
static char line[4096];
int main(void) {
    if (!fgets(line, sizeof line, stdin)) return 2;
    if (strlen(line) > 20) puts("long");
    return line[0] == '7';
}
"#;
    let program = Program::new(source);
    program.file(
        "n.ebnf",
        b"s ::= word '=' number end\nword ::= [a-z]+\nnumber ::= [0-9A-F]+\nend ::= #xA\n",
    );
    let run = |out: &str, flags: &[&str]| {
        let flags = [&["-s", "cese", "-g", "n.ebnf", "--max-length", "5"], flags].concat();
        program.campaign(out, &flags).queue()
    };
    let number = |input: &[u8]| {
        let text = String::from_utf8_lossy(input).trim_end().to_string();
        text.split_once('=').map(|(_, n)| n.to_string()).unwrap_or_default()
    };
    let digits = run("digits", &["--hole", "number=digits{2,3}", "--keep", "word"]);
    assert!(!digits.is_empty());
    for input in &digits {
        let n = number(input);
        assert!((2..=3).contains(&n.len()) && n.bytes().all(|b| b.is_ascii_digit()), "{n}");
    }
    // What is not a text of the token is left out, unless that is relaxed.
    let expression = run("expression", &["--hole", "number=[A-Z]{2}", "--keep", "word"]);
    assert!(expression.iter().all(|i| number(i).bytes().all(|b| (b'A'..=b'F').contains(&b))));
    let relaxed = run("relaxed", &["--hole", "number=[X-Z]{2}", "--relax-holes"]);
    assert!(relaxed.iter().any(|i| number(i).bytes().any(|b| b > b'F')), "{relaxed:?}");
    // A number never stands where a word must.
    let plain = run("plain", &[]);
    for input in &plain {
        let parsed = program.run(&["grammar", "parse", "n.ebnf", "-"], input);
        assert!(parsed.status.success(), "{}", String::from_utf8_lossy(input));
    }
    assert!(plain.iter().any(|input| input.len() > 20), "{plain:?}");

    let refused = |hole: &str, message: &str| {
        let mut command = program.command(&["run", "-o", "never", "-s", "cese", "-g", "n.ebnf"]);
        let done = command.args(["--hole", hole, "--", "./prog"]).output().expect("it runs");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains(message), "{said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        assert!(!program.dir.path().join("never").exists());
    };
    refused("number", "must be TOKEN=WHAT");
    refused("name=digits", "no token name");
    refused("number=[0-", "--hole number=[0-");
    refused("number=digits{3,1}", "--hole number=digits{3,1}");
    refused("number=digits*", "cannot be empty");
    refused("number=[X-Z]+", "no text of the token number");
}

/// A lexer that keeps the text of a name, and decisions on how long it is: alone, and
/// together with the digit behind it.
const NAMES: &str = r#"
#include <stdio.h>
#include <string.h>
enum { END, NAME = 258, DIGIT };
static char text[4096];
static int digit;
int yylex(void) {
    int c = getchar();
    size_t n = 0;
    if (c >= '0' && c <= '9') { digit = c - '0'; return DIGIT; }
    while (c >= 'a' && c <= 'z' && n + 1 < sizeof text) { text[n++] = c; c = getchar(); }
    if (n == 0) return c == EOF ? END : c;
    ungetc(c, stdin);
    text[n] = 0;
    return NAME;
}
int main(void) {
    if (yylex() != NAME) return 1;
    if (strlen(text) == 777) puts("just so");
    if (yylex() != DIGIT) return 1;
    if (strlen(text) == 20 + (size_t)digit) puts("together");
    return yylex() != END;
}
"#;

#[test]
fn texts_of_tokens_have_lengths() {
    let program = Program::new(NAMES);
    program.file("names.ebnf", b"s ::= name digit\nname ::= [a-z]+\ndigit ::= [0-9]\n");
    std::fs::create_dir(program.dir.path().join("seeds")).expect("a directory");
    program.file("seeds/one", b"abc7");
    for (strategy, runs) in [("gbw", "400"), ("auto", "10000")] {
        let flags = ["-i", "seeds", "-s", strategy, "-g", "names.ebnf", "-n", runs];
        let ended = program.campaign(strategy, &flags);
        let said = |input: &Vec<u8>| {
            program.run(&["exec", "--half", "fast", "--", "./prog"], input).stdout
        };
        let said: Vec<Vec<u8>> = ended.queue().iter().map(said).collect();
        for line in ["just so", "together"] {
            let found = said.iter().any(|s| String::from_utf8_lossy(s).contains(line));
            assert!(found, "{strategy}: {line}: {:?} {}", ended.files("queue").keys(), ended.stats);
        }
        assert!(ended.count("flips.by_tier.lengths") > 0, "{}", ended.stats);
        if strategy == "gbw" {
            assert_eq!(ended.count("diverged"), 0, "{}", ended.stats);
        }
        let rigid = program.campaign("rigid", &[&flags[..], &["--max-hole", "0"]].concat());
        let lengths = &rigid.stats["flips"]["by_tier"]["lengths"];
        assert!(lengths.is_null(), "{}", rigid.stats);
        std::fs::remove_dir_all(program.dir.path().join("rigid")).expect("it was there");
    }
}
