//! The lengths of holes as variables: how models compute with them, and inputs of exactly
//! the right length.

use crate::common::Program;

/// Expressions and a number `c` for each: with a name of `n` bytes in `ab=NAME;x`, the value
/// is `n + c`.
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

/// The program compares the expressions with these bounds: the first one, and the distance
/// to the next.
const FIRST_BOUND: usize = 300;
const BOUND_DISTANCE: usize = 20;

fn program() -> Program {
    let compare = |(i, (what, _)): (usize, &(&str, usize))| {
        format!("    if ((size_t)({what}) > {}) big++;\n", FIRST_BOUND + BOUND_DISTANCE * i)
    };
    let comparisons: String = MEASURED.iter().enumerate().map(compare).collect();
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
{comparisons}
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
    // Holes of at most 900 bytes stay inside the buffers.
    let ended = program.campaign("out", &[&flags[..], &["--max-hole", "900"]].concat());
    assert_eq!(ended.stop(), "exhausted", "{}", ended.stats);
    assert_eq!(ended.count("diverged"), 0, "{}", ended.stats);
    let lengths: Vec<usize> = ended.queue().iter().map(|input| input.len()).collect();
    for (i, (what, c)) in MEASURED.iter().enumerate() {
        // The shortest input for which the value is greater than the bound.
        let bound = FIRST_BOUND + BOUND_DISTANCE * i;
        let wanted = bound + 1 - c + "ab=;x\n".len();
        assert!(lengths.contains(&wanted), "{what} > {bound}: no {wanted} among {lengths:?}");
    }
    for input in ended.queue() {
        assert!(program.is_sentence("line.ebnf", &input), "{}", String::from_utf8_lossy(&input));
    }
    // Without lengths as variables, no longer input is found.
    let short = program.campaign("short", &[&flags[..], &["--max-hole", "0"]].concat());
    assert!(short.queue().iter().all(|input| input.len() <= 7), "{}", short.stats);
}

#[test]
fn conditions_on_lengths_are_true_of_the_run() {
    let program = program();
    program.file("input", b"ab=name;x\n");
    let flags = ["trace", "--check", "--hole", "3:4", "input", "--", "./prog"];
    let done = program.run(&flags, b"");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    let text = program.text(&["explain", "--hole", "3:4", "input", "--", "./prog"], b"");
    for (i, (what, _)) in MEASURED.iter().enumerate() {
        let bound = FIRST_BOUND + BOUND_DISTANCE * i;
        // Simplification may have subtracted a small constant from both sides.
        let has_bound = |line: &str| {
            let numbers = bound.saturating_sub(10)..=bound;
            line.contains("len[0]") && numbers.into_iter().any(|n| line.contains(&n.to_string()))
        };
        assert!(text.lines().any(has_bound), "{what}: {text}");
    }
    assert!(text.contains("// len[0]: 4 bytes, in[3..7]"), "{text}");
    for (hole, why) in [
        ("3", "must be OFFSET:LEN"),
        ("3:0", "must be OFFSET:LEN"),
        ("8:3", "not inside the input"),
    ] {
        program.refuses(&["explain", "--hole", hole, "input", "--", "./prog"], &[why]);
    }
}

/// A copy that no branch guards, one that a branch guards wrongly, and a comparison with one
/// length.
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
fn lengths_are_solved_for_in_checks_and_sums() {
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
    // Only the check of the copy leads there. The program may survive the overflow.
    let checked = queue.iter().chain(&ended.crashes()).any(|i| i[0] == b'q' && words(i).0 == 100);
    assert!(checked || ended.count("flips.by_tier.lengths") > 0, "{}", ended.stats);
}

#[test]
fn the_language_of_a_hole_can_be_replaced() {
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
    // Texts that the token does not have are left out, unless `--relax-holes` is given.
    let expression = run("expression", &["--hole", "number=[A-Z]{2}", "--keep", "word"]);
    assert!(expression.iter().all(|i| number(i).bytes().all(|b| (b'A'..=b'F').contains(&b))));
    let relaxed = run("relaxed", &["--hole", "number=[X-Z]{2}", "--relax-holes"]);
    assert!(relaxed.iter().any(|i| number(i).bytes().any(|b| b > b'F')), "{relaxed:?}");
    // Every input is a sentence: a number is never in the place of a word.
    let plain = run("plain", &[]);
    for input in &plain {
        assert!(program.is_sentence("n.ebnf", input), "{}", String::from_utf8_lossy(input));
    }
    assert!(plain.iter().any(|input| input.len() > 20), "{plain:?}");

    let refuses = |hole: &str, message: &str| {
        let start = ["run", "-o", "never", "-s", "cese", "-g", "n.ebnf", "--hole", hole];
        program.refuses(&[&start[..], &["--", "./prog"]].concat(), &[message]);
    };
    refuses("number", "must be TOKEN=WHAT");
    refuses("name=digits", "no token name");
    refuses("number=[0-", "--hole number=[0-");
    refuses("number=digits{3,1}", "--hole number=digits{3,1}");
    refuses("number=digits*", "cannot be empty");
    refuses("number=[X-Z]+", "no text of the token number");
}

/// A lexer that keeps the text of a name, and decisions on its length: alone, and together
/// with the digit after it.
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
fn lengths_of_the_texts_of_tokens_are_solved_for() {
    let program = Program::new(NAMES);
    program.file("names.ebnf", b"s ::= name digit\nname ::= [a-z]+\ndigit ::= [0-9]\n");
    program.seeds([("one", &b"abc7"[..])]);
    for (strategy, runs) in [("gbw", "400"), ("auto", "3000")] {
        let flags = ["-i", "seeds", "-s", strategy, "-g", "names.ebnf", "-n", runs];
        let ended = program.campaign(strategy, &flags);
        let output = |input: &Vec<u8>| {
            let out = program.run(&["exec", "--half", "fast", "--", "./prog"], input);
            String::from_utf8_lossy(&out.stdout).into_owned()
        };
        let outputs: Vec<String> = ended.queue().iter().map(output).collect();
        for line in ["just so", "together"] {
            let found = outputs.iter().any(|o| o.contains(line));
            assert!(found, "{strategy}: {line}: {:?} {}", ended.files("queue").keys(), ended.stats);
        }
        assert!(ended.count("flips.by_tier.lengths") > 0, "{}", ended.stats);
        if strategy == "gbw" {
            assert_eq!(ended.count("diverged"), 0, "{}", ended.stats);
        }
        let out = format!("{strategy}-rigid");
        let rigid = program.campaign(&out, &[&flags[..], &["--max-hole", "0"]].concat());
        let lengths = &rigid.stats["flips"]["by_tier"]["lengths"];
        assert!(lengths.is_null(), "{}", rigid.stats);
    }
}
