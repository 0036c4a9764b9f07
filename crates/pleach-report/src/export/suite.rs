//! A regression suite: inputs with the answers of the program, and a runner that needs
//! nothing but a POSIX shell. A project commits it, and runs it without Pleach on a plain
//! build.
//!
//! ```text
//! run.sh                     runs the cases
//! CMakeLists.txt, …          calls run.sh for each case
//! files/                     what the working directory of each run begins with
//! cases/NAME/input           the input, as a file or on standard input
//! cases/NAME/setup.sh        more arguments, and variables (inputs of several streams)
//! cases/NAME/expected.out    standard output
//! cases/NAME/expected.status the exit status
//! ```
//!
//! A case is named after the length and the hash of its input. So names sort by length, and
//! a case that is exported again keeps its name. The other files do not list the cases. So
//! the difference between two exports is the cases that came and went.
//!
//! The answers are recorded by running `run.sh --raw`, which becomes the program. So the
//! suite compares with exactly what it would run itself.

use pleach_exec::container::{self, is_container};
use pleach_exec::triage::quoted;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What starts the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    Shell,
    CTest,
    Meson,
    Make,
}

/// How the program gets its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    Stdin,
    /// As a file, in these places of the arguments (`@@`).
    File,
}

/// How all cases run the program.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the program.
    pub program: String,
    /// Its arguments. `@@` stands for the input file.
    pub args: Vec<OsString>,
    /// The extension of the input file, with its dot, or nothing.
    pub extension: String,
    pub delivery: Delivery,
    /// What the working directory begins with: names, and what is copied.
    pub files: Vec<(OsString, PathBuf)>,
}

/// What the program answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub stdout: Vec<u8>,
    /// `None`: it is not compared.
    pub stderr: Option<Vec<u8>>,
    /// As a shell reports it.
    pub status: i32,
}

/// The first line of comment in every runner. A directory with it may be replaced.
const MARK: &str = "# Written by `pleach export`.";
const SHELL: &str = "run.sh";
/// All that an export may leave in its directory.
const ENTRIES: [&str; 7] =
    [SHELL, "cases", "files", "CMakeLists.txt", "meson.build", "meson_options.txt", "Makefile"];

impl Runner {
    fn files(self, plan: &Plan) -> Vec<(&'static str, String)> {
        match self {
            Runner::Shell => Vec::new(),
            Runner::CTest => vec![("CMakeLists.txt", cmake(plan))],
            Runner::Meson => vec![
                ("meson.build", meson(plan)),
                (
                    "meson_options.txt",
                    "option('program', type: 'string', description: 'The program to test')\n"
                        .into(),
                ),
            ],
            Runner::Make => vec![("Makefile", make())],
        }
    }
}

/// The name of the case of an input.
pub fn case_name(input: &[u8]) -> String {
    let hash = pleach_hash::Hash::new().add_bytes(input).finish();
    format!("{:06}-{:08x}", input.len(), hash >> 32)
}

/// True if an earlier export wrote this directory, and nothing else is in it.
pub fn is_suite(dir: &Path) -> bool {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let is_ours = |e: std::fs::DirEntry| ENTRIES.iter().any(|name| e.file_name() == *name);
    let text = std::fs::read_to_string(dir.join(SHELL)).unwrap_or_default();
    text.contains(MARK) && entries.into_iter().all(is_ours)
}

/// Writes everything but the cases.
pub fn write_runner(dir: &Path, runner: Runner, plan: &Plan) -> io::Result<()> {
    std::fs::create_dir_all(dir.join("cases"))?;
    std::fs::write(dir.join(SHELL), shell(plan))?;
    for (name, text) in runner.files(plan) {
        std::fs::write(dir.join(name), text)?;
    }
    for (name, from) in &plan.files {
        copy_tree(from, &dir.join("files").join(name))?;
    }
    Ok(())
}

/// Writes the input of a case.
pub fn write_input(dir: &Path, plan: &Plan, name: &str, input: &[u8]) -> io::Result<()> {
    let case = dir.join("cases").join(name);
    std::fs::create_dir_all(&case)?;
    if !is_container(input) {
        return std::fs::write(case.join("input"), input);
    }
    let (mut setup, mut has_file) = (Vec::new(), false);
    for stream in container::parse(input).unwrap_or_default() {
        use pleach_abi::container::{ARG, ENV, FILE, STDIN};
        let text = OsStr::from_bytes(stream.bytes);
        match stream.kind {
            // With `@@`, standard input is a stream of its own.
            STDIN if plan.delivery == Delivery::File => {
                std::fs::write(case.join("stdin"), stream.bytes)?;
            }
            STDIN => std::fs::write(case.join("input"), stream.bytes)?,
            FILE => {
                has_file = true;
                std::fs::write(case.join("input"), stream.bytes)?;
            }
            ARG => line(&mut setup, &[b"set -- \"$@\" ", &quoted_bytes(text)]),
            ENV => {
                let at = stream.bytes.iter().position(|&b| b == b'=').unwrap_or(0);
                let (variable, value) = stream.bytes.split_at(at);
                if is_name(variable) {
                    let value = quoted_bytes(OsStr::from_bytes(&value[1..]));
                    line(&mut setup, &[b"export ", variable, b"=", &value]);
                }
            }
            _ => {}
        }
    }
    if plan.delivery == Delivery::File && !has_file {
        std::fs::write(case.join("input"), b"")?;
    }
    match setup.is_empty() {
        true => Ok(()),
        false => std::fs::write(case.join("setup.sh"), setup),
    }
}

/// True if a shell can run the input as the program gets it from Pleach.
pub fn is_expressible(input: &[u8]) -> bool {
    use pleach_abi::container::{ARG, ENV, SOCKET};
    let streams = match is_container(input) {
        true => container::parse(input).unwrap_or_default(),
        false => Vec::new(),
    };
    streams.iter().all(|s| match s.kind {
        SOCKET => false,
        ARG => !s.bytes.contains(&0),
        ENV => {
            !s.bytes.contains(&0) && is_name(s.bytes.split(|&b| b == b'=').next().unwrap_or(b""))
        }
        _ => true,
    })
}

/// Writes what a case must answer.
pub fn write_answer(dir: &Path, name: &str, answer: &Answer) -> io::Result<()> {
    let case = dir.join("cases").join(name);
    std::fs::write(case.join("expected.out"), &answer.stdout)?;
    if let Some(stderr) = &answer.stderr {
        std::fs::write(case.join("expected.err"), stderr)?;
    }
    std::fs::write(case.join("expected.status"), format!("{}\n", answer.status))
}

/// Moves a finished suite to its place. An earlier one there is replaced.
pub fn install(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for name in ENTRIES {
        let (new, old) = (from.join(name), to.join(name));
        match std::fs::symlink_metadata(&old) {
            Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(&old)?,
            Ok(_) => std::fs::remove_file(&old)?,
            Err(_) => {}
        }
        if new.exists() {
            std::fs::rename(new, old)?;
        }
    }
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        std::fs::create_dir_all(to.parent().unwrap_or(to))?;
        return std::fs::copy(from, to).map(|_| ());
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        copy_tree(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn line(text: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| text.extend(*part));
    text.push(b'\n');
}

/// A word for a shell, whatever its bytes are.
fn quoted_bytes(word: &OsStr) -> Vec<u8> {
    let mut out = vec![b'\''];
    for &b in word.as_bytes() {
        match b {
            b'\'' => out.extend(b"'\\''"),
            b => out.push(b),
        }
    }
    out.push(b'\'');
    out
}

/// True if a shell can set a variable of this name.
fn is_name(name: &[u8]) -> bool {
    let is_letter = |b: &u8| b.is_ascii_alphabetic() || *b == b'_';
    name.first().is_some_and(is_letter) && name.iter().all(|b| is_letter(b) || b.is_ascii_digit())
}

fn shell(plan: &Plan) -> Vec<u8> {
    let input = format!("input{}", plan.extension);
    let mut args = Vec::new();
    for arg in &plan.args {
        args.push(b' ');
        let with_input = replace(arg.as_bytes(), b"@@", input.as_bytes());
        args.extend(quoted_bytes(&OsString::from_vec(with_input)));
    }
    let copy = match plan.delivery {
        Delivery::File => format!("    cp \"$case/input\" {}\n", quoted(OsStr::new(&input))),
        Delivery::Stdin => String::new(),
    };
    let stdin = match plan.delivery {
        Delivery::File => "stdin",
        Delivery::Stdin => "input",
    };
    let (before, after) = RUN.split_once("@ARGS@").unwrap_or((RUN, ""));
    let fill = |text: &str| {
        let text = text.replace("@MARK@", MARK).replace("@PROGRAM@", &plan.program);
        text.replace("    @COPY@\n", &copy).replace("@STDIN@", stdin)
    };
    let mut text = fill(before).into_bytes();
    text.extend(args);
    text.extend(fill(after).bytes());
    text
}

fn replace(text: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.windows(what.len()).position(|w| w == what) {
        out.extend(&rest[..at]);
        out.extend(by);
        rest = &rest[at + what.len()..];
    }
    out.extend(rest);
    out
}

const RUN: &str = r#"#!/bin/sh
@MARK@
# Runs a program on the inputs in cases/ and compares what it answers.
#
#   sh run.sh [--junit FILE] PROGRAM [CASE...]    all cases, or these
#   sh run.sh --raw PROGRAM CASE                  becomes the program, in this directory
#
# The exit status is 1 if a case fails. TIMEOUT is the limit of a case in seconds [60].

here=$(cd "$(dirname "$0")" && pwd) || exit 2

if [ "$1" = --raw ]; then
    program=$2
    case=$here/cases/$3
    LC_ALL=C TZ=UTC
    # A build with AddressSanitizer must not answer otherwise because of a leak.
    ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
    export LC_ALL TZ ASAN_OPTIONS
    if [ -d "$here/files" ]; then cp -R "$here/files/." .; fi
    @COPY@
    stdin=$case/@STDIN@
    [ -f "$stdin" ] || stdin=/dev/null
    set --@ARGS@
    if [ -f "$case/setup.sh" ]; then . "$case/setup.sh"; fi
    exec "$program" "$@" <"$stdin"
fi

junit=
if [ "$1" = --junit ]; then
    junit=$2
    shift 2
fi
if [ $# = 0 ] || [ ! -x "$(command -v "$1")" ]; then
    echo "usage: sh run.sh [--junit FILE] PROGRAM [CASE...]; PROGRAM is @PROGRAM@, built as usual" >&2
    exit 2
fi
program=$(command -v "$1")
case $program in
/*) ;;
*) program=$PWD/$program ;;
esac
shift
if [ $# = 0 ]; then
    for case in "$here"/cases/*/; do
        if [ -d "$case" ]; then set -- "$@" "$(basename "$case")"; fi
    done
fi
limit=
if command -v timeout >/dev/null 2>&1; then limit="timeout -k 5 ${TIMEOUT:-60}"; fi
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM
passed=0 failed=0
: >"$tmp/junit"
for name in "$@"; do
    case=$here/cases/$name
    if [ ! -f "$case/expected.status" ]; then
        echo "run.sh: there is no case $name" >&2
        exit 2
    fi
    rm -rf "$tmp/dir"
    mkdir "$tmp/dir"
    (cd "$tmp/dir" && exec $limit sh "$here/run.sh" --raw "$program" "$name") \
        >"$tmp/out" 2>"$tmp/err" </dev/null
    status=$?
    expected=$(cat "$case/expected.status")
    why=
    [ "$status" = "$expected" ] || why="status $status instead of $expected"
    cmp -s "$case/expected.out" "$tmp/out" || why="${why:+$why, }other standard output"
    if [ -f "$case/expected.err" ]; then
        cmp -s "$case/expected.err" "$tmp/err" || why="${why:+$why, }other standard error"
    fi
    if [ -z "$why" ]; then
        passed=$((passed + 1))
        echo "<testcase classname=\"@PROGRAM@\" name=\"$name\"/>" >>"$tmp/junit"
        continue
    fi
    failed=$((failed + 1))
    echo "FAILED $name: $why"
    diff "$case/expected.out" "$tmp/out" | head -n 10
    [ "$status" = "$expected" ] || tail -n 3 "$tmp/err"
    echo "<testcase classname=\"@PROGRAM@\" name=\"$name\"><failure message=\"$why\"/></testcase>" \
        >>"$tmp/junit"
done
echo "$passed passed, $failed failed"
if [ -n "$junit" ]; then
    {
        echo '<?xml version="1.0" encoding="UTF-8"?>'
        echo "<testsuite name=\"@PROGRAM@\" tests=\"$((passed + failed))\" failures=\"$failed\" errors=\"0\">"
        cat "$tmp/junit"
        echo "</testsuite>"
    } >"$junit" || exit 2
fi
[ "$failed" = 0 ]
"#;

fn cmake(plan: &Plan) -> String {
    let program = &plan.program;
    let mut text = format!("{MARK}\n");
    let _ = write!(
        text,
        r#"#
# In a project that builds the program:
#
#   set(PROGRAM $<TARGET_FILE:{program}>)
#   add_subdirectory(this/directory)
#
# By itself: cmake -S this/directory -B build -DPROGRAM=/path/to/{program}
cmake_minimum_required(VERSION 3.12)
project(pleach_regression NONE)
enable_testing()
if(NOT PROGRAM)
  message(FATAL_ERROR "set PROGRAM to the program to test")
endif()
file(GLOB cases RELATIVE "${{CMAKE_CURRENT_SOURCE_DIR}}/cases" CONFIGURE_DEPENDS
     "${{CMAKE_CURRENT_SOURCE_DIR}}/cases/*")
foreach(case IN LISTS cases)
  add_test(NAME "{program}/${{case}}"
           COMMAND sh "${{CMAKE_CURRENT_SOURCE_DIR}}/run.sh" "${{PROGRAM}}" "${{case}}")
endforeach()
"#
    );
    text
}

fn meson(plan: &Plan) -> String {
    let program = &plan.program;
    let mut text = format!("{MARK}\n");
    let _ = write!(
        text,
        r#"#
# By itself: meson setup build this/directory -Dprogram=/path/to/{program}
#
# In a project that builds the program, one line is enough:
#
#   test('regression', find_program('sh'), args: [files('this/directory/run.sh'), {program}])
project('pleach-regression')
program = get_option('program')
if program == ''
  error('set -Dprogram=/path/to/program')
endif
cases = run_command('ls', 'cases', check: true).stdout().strip()
if cases != ''
  foreach name : cases.split('\n')
    test(name, find_program('sh'), args: [files('run.sh'), program, name], timeout: 90)
  endforeach
endif
"#
    );
    text
}

fn make() -> String {
    format!(
        r#"{MARK}
#
#   make -C this/directory check PROGRAM=/path/to/program
CASES = $(notdir $(wildcard cases/*))

check: $(CASES:%=case-%)
	@echo "$(words $(CASES)) cases passed"

case-%:
	@sh run.sh "$(PROGRAM)" $* >/dev/null || {{ sh run.sh "$(PROGRAM)" $*; exit 1; }}

.PHONY: check
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted_bytes(OsStr::from_bytes(b"a'b\n\xff$x")), b"'a'\\''b\n\xff$x'");
        assert_eq!(replace(b"--in=@@,@@", b"@@", b"input.c"), b"--in=input.c,input.c");
    }

    #[test]
    fn names_sort_by_length_and_stay() {
        assert!(case_name(b"zz") < case_name(b"aaa"));
        assert_eq!(case_name(b"abc"), case_name(b"abc"));
        assert_ne!(case_name(b"abc"), case_name(b"abd"));
    }

    #[test]
    fn only_names_are_variables() {
        assert!(is_name(b"MODE_2") && is_name(b"_"));
        assert!(!is_name(b"") && !is_name(b"2A") && !is_name(b"A-B"));
    }
}
