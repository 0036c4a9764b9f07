//! Every libc model against the function that it stands for: what the model's
//! decisions and labels foretell for another input is what the function does
//! with that input. `models/predict.c` is the program, `models/functions.h` the
//! list; it is compiled by plain clang, since it calls the models itself.
//! `PLEACH_MODEL=strlen` in the environment tests that function only.

mod common;

use std::path::Path;
use std::process::Command;

#[test]
fn models_foretell_what_libc_does() {
    foretell("C");
}

#[test]
fn models_foretell_what_libc_does_with_utf8() {
    foretell("C.UTF-8");
}

#[track_caller]
fn foretell(locale: &str) {
    let dir = common::dir(&[]);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/predict.c");
    let archive = concat!(env!("OUT_DIR"), "/libpleach_rt_symbolic.a");
    // The models must meet libc's own functions, not the compiler's.
    let flags = "-O1 -fno-builtin -Wall -Wextra -Werror -fPIE -pie -o predict";
    dir.run(common::clang().arg(source).arg(archive), flags, "").quiet();
    let program = dir.join("predict");
    let only = std::env::var("PLEACH_MODEL").unwrap_or_default();
    let mut predict = Command::new(program);
    let done = dir.run(predict.env("PLEACH_LABEL", "1"), &format!("2000 {locale} {only}"), "");
    assert_eq!(done.status, 0, "{}", done.stdout);
}
