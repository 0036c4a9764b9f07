//! Checks every libc model against the real function: what the model's decisions and
//! labels predict for another input must be what the function does with that input.
//! `models/predict.c` is the program, `models/functions.h` is the list of functions.
//! Plain clang compiles it, because it calls the models itself.
//! `PLEACH_MODEL=strlen` in the environment tests that function only; `--nocapture` shows
//! how many predictions were compared.

mod common;

use std::path::Path;
use std::process::Command;

#[test]
fn models_predict_what_libc_does() {
    check_predictions("C");
}

#[test]
fn models_predict_what_libc_does_with_utf8() {
    check_predictions("C.UTF-8");
}

#[track_caller]
fn check_predictions(locale: &str) {
    let dir = common::dir(&[]);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/predict.c");
    let archive = concat!(env!("OUT_DIR"), "/libpleach_rt_symbolic.a");
    // The models must be compared with libc's functions, not with the compiler's builtins.
    let flags = "-O1 -fno-builtin -Wall -Wextra -Werror -fPIE -pie -o predict -lz";
    dir.run(common::clang().arg(source).arg(archive), flags, "").quiet();
    let program = dir.join("predict");
    let only = std::env::var("PLEACH_MODEL").unwrap_or_default();
    let mut predict = Command::new(program);
    let done = dir.run(predict.env("PLEACH_LABEL", "1"), &format!("10000 {locale} {only}"), "");
    print!("{}", done.stdout);
    assert_eq!(done.status, 0, "{}", done.stdout);
}
