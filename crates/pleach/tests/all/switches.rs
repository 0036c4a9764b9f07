//! The decision of a switch is the case that it takes, not the value that it gets.

use crate::common::{NO_HURRY, Program};
use pleach_exec::container::view;
use pleach_exec::{End, Half, oracle};

const SOURCE: &str = r#"#include <unistd.h>
int main(void) {
    static char b[4];
    if (read(0, b, 3) != 3) return 1;
    int n = b[0];
    switch (n) {
    case 'a': case 'b': n = 10; break;
    case -1: n = 11; break;
    default: n = 12;
    }
    switch ((unsigned char)b[1] % 3) {
    case 0: return n;
    case 1: return n + 10;
    default: return n + 20;
    }
}
"#;

fn explain(p: &Program, input: &[u8]) -> Vec<String> {
    let text = p.text(&["explain", "-", "--", "./prog"], input);
    let line = |l: &str| l.split_once("switch  ").map(|(_, condition)| condition.to_string());
    text.lines().filter_map(line).collect()
}

#[test]
fn explain_prints_the_case() {
    let p = Program::new(SOURCE);
    assert_eq!(explain(&p, b"a\x03."), ["in[0] == 'a'", "in[1] % 3 == 0"]);
    assert_eq!(explain(&p, b"b\x04."), ["in[0] == 'b'", "in[1] % 3 == 1"]);
    let none = "in[0] != 'a' && in[0] != 'b' && in[0] != 255";
    assert_eq!(explain(&p, b"z\x05."), [none, "in[1] % 3 != 0 && in[1] % 3 != 1"]);
    assert_eq!(explain(&p, b"\xff\x03."), ["in[0] == 255", "in[1] % 3 == 0"]);
}

#[test]
fn another_value_of_the_same_case_is_the_same_path() {
    let p = Program::new(SOURCE);
    let mut executor = p.executor(Half::Symbolic);
    let outcome = executor.run(b"z\x03.", NO_HURRY).expect("it runs");
    assert_eq!(outcome.end, End::Exit(12));
    let trace = executor.trace().expect("a sound trace");
    let predict = |input: &[u8]| oracle::predict(&trace, Some(executor.layout()), &view(input));
    // Event 0 is the length.
    assert_eq!(trace.events.len(), 3);
    assert_eq!(predict(b"y\x06."), None);
    assert_eq!(predict(b"\0\0\0"), None);
    assert_eq!(predict(b"a\x03."), Some(1));
    assert_eq!(predict(b"\xff\x03."), Some(1));
    assert_eq!(predict(b"y\x04."), Some(2));
    assert_eq!(predict(b"y"), Some(0));
    // Without the tables of the program, only the same value is known to take the same case.
    assert_eq!(oracle::predict(&trace, None, &view(b"y\x03.")), Some(1));
    assert_eq!(oracle::predict(&trace, None, &view(b"z\x06.")), None);
}
