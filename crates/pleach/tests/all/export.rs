//! `pleach export`: what it writes is read by tools that others wrote, and its suites run
//! without Pleach.

use crate::common::{Program, feed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Functions with and without branches, loops, a switch, a call by a pointer, and a crash.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int calls;
static int twice(int x)
{
    calls++;
    return 2 * x;
}
static int never(int x)
{
    return x + 1;
}
static int by_pointer(int x) { return x - 1; }
static int (*table[2])(int) = { by_pointer, never };

static int classify(const char *s, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (s[i] >= '0' && s[i] <= '9')
            sum += s[i] - '0';
        else if (s[i] == '-')
            sum = -sum;
    }
    switch (sum) {
    case 0:
        puts("nothing");
        break;
    case 7:
        puts("seven");
        break;
    default:
        puts("something");
    }
    return sum;
}

int main(void) {
    char s[64];
    int n = fread(s, 1, sizeof s, stdin);
    if (n > 3 && memcmp(s, "boom", 4) == 0)
        abort();
    int sum = classify(s, n);
    while (sum > 10) {
        sum -= twice(3);
        if (sum == 11)
            continue;
        sum -= 1;
    }
    printf("%d %d\n", sum, table[0](calls));
    return 0;
}
"#;

const SEEDS: [(&str, &[u8]); 4] =
    [("digits", b"99-9"), ("empty", b""), ("seven", b"7"), ("text", b"hello 12345")];

fn program() -> Program {
    let program = Program::new(PROGRAM);
    program.seeds(SEEDS);
    program
}

/// The directory with readers that others wrote. `./x` installs them if they are missing.
pub fn readers() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        succeed(Command::new(root.join("x")).arg("readers"));
        root.join("target/readers")
    })
}

/// Runs a command that must succeed, and returns what it prints.
pub fn succeed(command: &mut Command) -> String {
    let out = feed(command, b"");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(out.status.success(), "{command:?}: {}{}", text(&out.stdout), text(&out.stderr));
    text(&out.stdout)
}

fn python(script: &str, args: &[&Path]) -> String {
    succeed(Command::new(readers().join("venv/bin/python")).arg("-c").arg(script).args(args))
}

impl Program {
    fn export(&self, args: &[&str]) -> String {
        self.text(&[&["export", "--to"], args].concat(), b"")
    }

    /// Compiles the source with plain clang, as a user does.
    fn plain(&self, source: &str, name: &str) -> PathBuf {
        let (file, path) = (self.file(&format!("{name}.c"), source.as_bytes()), self.path(name));
        succeed(Command::new("clang-22").arg("-O1").arg(file).arg("-o").arg(&path));
        path
    }

    fn sh(&self, suite: &str, args: &[&str]) -> Output {
        let mut command = Command::new("sh");
        command.current_dir(self.dir.path()).arg(format!("{suite}/run.sh")).args(args);
        feed(&mut command, b"")
    }
}

/// The count of each line in an LCOV tracefile.
fn lcov_lines(text: &str) -> BTreeMap<u32, u64> {
    let pairs = text.lines().filter_map(|l| l.strip_prefix("DA:")?.split_once(','));
    pairs.map(|(line, count)| (line.parse().unwrap(), count.parse().unwrap())).collect()
}

/// The counts of lines that llvm-cov's own instrumentation gives for the same inputs.
fn llvm_cov_export(program: &Program) -> Value {
    let plain = program.path("covered");
    succeed(
        Command::new("clang-22")
            .args(["-fprofile-instr-generate", "-fcoverage-mapping", "prog.c", "-o"])
            .arg(&plain)
            .current_dir(program.dir.path()),
    );
    let mut profiles = Vec::new();
    for (name, bytes) in SEEDS {
        let profile = program.path(&format!("{name}.profraw"));
        let out = feed(Command::new(&plain).env("LLVM_PROFILE_FILE", &profile), bytes);
        assert!(out.status.success());
        profiles.push(profile);
    }
    let merged = program.path("merged");
    succeed(Command::new("llvm-profdata-22").arg("merge").args(profiles).arg("-o").arg(&merged));
    let profile = format!("-instr-profile={}", merged.display());
    serde_json::from_str(&succeed(
        Command::new("llvm-cov-22").arg("export").arg(plain).arg(profile),
    ))
    .expect("JSON")
}

/// The count of a line that has segments: the largest of the regions that begin on it, or of
/// the one that holds at its start.
fn llvm_cov_line(segments: &[Value], line: u64) -> Option<u64> {
    let number = |s: &Value, i: usize| s[i].as_u64().unwrap_or(0);
    let before = segments.iter().rev().find(|s| number(s, 0) < line);
    let wrapped = before.filter(|s| s[3] == true).map(|s| number(s, 2));
    let is_entry =
        |s: &&Value| number(s, 0) == line && s[3] == true && s[4] == true && s[5] == false;
    let entries = segments.iter().filter(is_entry).map(|s| number(s, 2));
    entries.chain(wrapped).max()
}

#[test]
fn lines_count_as_often_as_llvm_cov_says() {
    let program = program();
    program.export(&["lcov", "out.lcov", "seeds", "--", "./prog"]);
    let ours = lcov_lines(&String::from_utf8(program.read("out.lcov")).unwrap());
    let theirs = llvm_cov_export(&program);
    let segments = theirs["data"][0]["files"][0]["segments"].as_array().unwrap();
    let differ: Vec<_> = ours
        .iter()
        .filter_map(|(&line, &count)| {
            let expected = llvm_cov_line(segments, line.into())?;
            // The brace of a switch has the jump from its last case.
            let is_brace = PROGRAM.lines().nth(line as usize - 1).is_some_and(|l| l.trim() == "}");
            if is_brace {
                return None;
            }
            (expected != count).then_some((line, count, expected))
        })
        .collect();
    assert_eq!(differ, [], "line, our count, llvm-cov's");
    assert!(ours.len() > 25, "{ours:?}");
    // The JSON has the same shape as llvm-cov's, and the same totals of functions.
    program.export(&["llvm-cov", "out.json", "seeds", "--", "./prog"]);
    let ours: Value = serde_json::from_slice(&program.read("out.json")).unwrap();
    assert_eq!(shape(&ours), shape(&theirs));
    assert_eq!(ours["type"], theirs["type"]);
    assert_eq!(ours["version"], theirs["version"]);
    let totals = |v: &Value| {
        let functions = &v["data"][0]["totals"]["functions"];
        ["count", "covered", "percent"].map(|key| functions[key].as_f64())
    };
    assert_eq!(totals(&ours), totals(&theirs));
}

/// The keys and types of a value. An array has the shape of its element with the most.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), shape(v))).collect(),
        Value::Array(items) => {
            items.iter().map(shape).max_by_key(|s| s.to_string().len()).into_iter().collect()
        }
        Value::Number(_) => "number".into(),
        Value::String(_) => "string".into(),
        Value::Bool(_) => "bool".into(),
        Value::Null => Value::Null,
    }
}

#[test]
fn lcov_and_cobertura_are_read_by_others() {
    let program = program();
    program.export(&["lcov", "out.lcov", "seeds", "--", "./prog"]);
    let text = String::from_utf8(program.read("out.lcov")).unwrap();
    let find = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)).map(str::to_string);
    let functions: BTreeMap<_, _> = text
        .lines()
        .filter_map(|l| l.strip_prefix("FNDA:")?.split_once(','))
        .map(|(n, f)| (f, n))
        .collect();
    assert_eq!(functions["never"], "0");
    assert_eq!(functions["by_pointer"], "4");
    assert_eq!(functions["main"], "4");
    assert_eq!((find("FNF:"), find("FNH:")), (Some("5".into()), Some("4".into())));
    let html = program.path("html");
    let page = succeed(
        Command::new("genhtml")
            .args(["--branch-coverage", "-o"])
            .arg(&html)
            .arg(program.path("out.lcov")),
    );
    assert!(page.contains("4 of 5 functions"), "{page}");
    assert!(html.join("index.html").exists());

    program.export(&["cobertura", "out.xml", "seeds", "--", "./prog"]);
    let script = "import sys; from pycobertura import Cobertura; c = Cobertura(sys.argv[1])
for f in c.files():
    missed = [l for l, status in c.line_statuses(f) if status == 'miss']
    print(f, c.total_statements(f), len(missed))";
    let read = python(script, &[&program.path("out.xml")]);
    let lines = lcov_lines(&text);
    let missed = lines.values().filter(|c| **c == 0).count();
    assert_eq!(read.trim(), format!("prog.c {} {missed}", lines.len()));
}

#[test]
fn crashes_are_results_in_sarif_and_junit() {
    let program = program();
    program.file("seeds/crash", b"boom!");
    program.file("seeds/crash2", b"boom?");
    program.export(&["sarif", "out.sarif", "seeds", "--", "./prog"]);
    let schema = readers().join("sarif-2.1.0.json");
    succeed(
        Command::new(readers().join("venv/bin/check-jsonschema"))
            .args(["--regex-variant", "python", "--schemafile"])
            .arg(schema)
            .arg(program.path("out.sarif")),
    );
    let log: Value = serde_json::from_slice(&program.read("out.sarif")).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "equal crashes are one result");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "prog.c");
    assert_eq!(place["region"]["startLine"], line_of("abort()"));
    let flow = results[0]["codeFlows"][0]["threadFlows"][0]["locations"].to_string();
    assert!(flow.contains("(in) == ") && flow.contains("in main"), "{flow}");
    assert_eq!(results[0]["properties"]["inputs"], 2);

    program.export(&["junit", "out.xml", "seeds", "--", "./prog"]);
    let script = "import sys; from junitparser import JUnitXml
x = JUnitXml.fromfile(sys.argv[1]); print(x.tests, x.failures, x.errors)
for s in x:
  for c in s:
    if c.result: print(c.name, c.result[0].type)";
    let read = python(script, &[&program.path("out.xml")]);
    assert_eq!(read, "6 2 0\ncrash SIGABRT\ncrash2 SIGABRT\n");
}

fn line_of(text: &str) -> usize {
    PROGRAM.lines().position(|l| l.contains(text)).unwrap() + 1
}

#[test]
fn a_suite_passes_on_a_plain_build_and_fails_on_a_broken_one() {
    let program = program();
    program.file("seeds/crash", b"boom!");
    let printed = program.export(&["sh", "suite", "seeds", "--", "./prog"]);
    assert!(printed.contains("1 that crash or hang"), "{printed}");
    let plain = program.plain(PROGRAM, "plain");
    let plain = plain.to_str().unwrap();
    let out = program.sh("suite", &["--junit", "results.xml", plain]);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success() && text.contains(" passed, 0 failed"), "{text}");
    assert!(!text.starts_with("0 passed"));
    // The same export again changes nothing.
    let before = crate::common::campaign::tree(&program.path("suite"));
    program.export(&["sh", "suite", "seeds", "--", "./prog"]);
    assert_eq!(crate::common::campaign::tree(&program.path("suite")), before);

    let broken = program.plain(&PROGRAM.replace("sum -= twice(3)", "sum -= twice(4)"), "broken");
    let out = program.sh("suite", &["--junit", "results.xml", broken.to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stdout));
    let script = "import sys; from junitparser import JUnitXml
print(JUnitXml.fromfile(sys.argv[1]).failures > 0)";
    assert_eq!(python(script, &[&program.path("results.xml")]), "True\n");
}

/// The smallest input that adds is `0+0`, and with the least coverage it is one that prints
/// nothing. Neither shows a wrong sum.
#[test]
fn a_suite_shows_wrong_results() {
    const SUM: &str = r#"#include <stdio.h>
static int c;
static int number(void) {
    int n = 0;
    while (c >= '0' && c <= '9') { n = 10 * n + c - '0'; c = getchar(); }
    return n;
}
int main(void) {
    c = getchar();
    int sum = number();
    while (c == '+' || c == '-') {
        int sign = c;
        c = getchar();
        if (sign == '+') sum += number();
        else sum -= number();
    }
    if (c != '\n') return 1;
    printf("%d\n", sum);
    return 0;
}
"#;
    let program = Program::new(SUM);
    let seeds = [("sum", "120+34\n"), ("difference", "5-120-7\n"), ("all", "10+20-30+4444?")];
    program.seeds(seeds.map(|(name, text)| (name, text.as_bytes())));
    program.export(&["sh", "suite", "seeds", "--", "./prog"]);
    let run = |source: &str, name: &str| {
        let path = program.plain(source, name);
        program.sh("suite", &[path.to_str().expect("a path")]).status.code()
    };
    assert_eq!(run(SUM, "plain"), Some(0));
    for (right, wrong) in [("sum += number()", "sum -= number()"), ("sum -= n", "sum += n")] {
        assert_eq!(run(&SUM.replace(right, wrong), "broken"), Some(1), "{wrong}");
    }
}

#[test]
fn ctest_meson_and_make_run_the_suite() {
    let program = program();
    let plain = program.plain(PROGRAM, "plain");
    let broken = program.plain(&PROGRAM.replace("\"seven\"", "\"eight\""), "broken");
    let is_ok = |command: &mut Command| feed(command, b"").status.success();
    program.export(&["ctest", "ctest", "seeds", "--", "./prog"]);
    for (tested, passes) in [(&plain, true), (&broken, false)] {
        let build = program.path(if passes { "b1" } else { "b2" });
        let mut define = std::ffi::OsString::from("-DPROGRAM=");
        define.push(tested);
        succeed(
            Command::new("cmake")
                .arg("-S")
                .arg(program.path("ctest"))
                .arg("-B")
                .arg(&build)
                .arg(define),
        );
        assert_eq!(is_ok(Command::new("ctest").arg("--test-dir").arg(build)), passes);
    }
    program.export(&["meson", "meson", "seeds", "--", "./prog"]);
    for (tested, passes) in [(&plain, true), (&broken, false)] {
        let build = program.path(if passes { "m1" } else { "m2" });
        let mut define = std::ffi::OsString::from("-Dprogram=");
        define.push(tested);
        let dir = program.path("meson");
        succeed(Command::new("meson").arg("setup").arg(&build).arg(dir).arg(define));
        assert_eq!(is_ok(Command::new("meson").arg("test").arg("-C").arg(build)), passes);
    }
    program.export(&["make", "make", "seeds", "--", "./prog"]);
    for (tested, passes) in [(&plain, true), (&broken, false)] {
        let variable = format!("PROGRAM={}", tested.display());
        let mut make = Command::new("make");
        assert_eq!(
            is_ok(make.arg("-C").arg(program.path("make")).arg("check").arg(variable)),
            passes
        );
    }
}

/// Files, standard input, arguments and variables; and a program whose output differs.
#[test]
fn suites_have_every_kind_of_input() {
    let program = Program::new(crate::common::SEVERAL_INPUTS);
    program.file("data", b"si");
    program.text(
        &[
            "pack",
            "--stdin",
            "data",
            "--file",
            "data",
            "--arg=-x y'z",
            "--env",
            "MODE=fast",
            "-o",
            "all",
        ],
        b"",
    );
    program.export(&["junit", "suite", "all", "--", "./prog", "@@"]);
    let plain = program.plain(crate::common::SEVERAL_INPUTS, "plain");
    let out = program.sh("suite", &[plain.to_str().unwrap()]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    let case = std::fs::read_dir(program.path("suite/cases")).unwrap().next().unwrap().unwrap();
    let status = std::fs::read_to_string(case.path().join("expected.status")).unwrap();
    assert_eq!(status, "15\n", "the program recognised all four");

    let unstable = Program::new(
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) { int c = getchar();\n\
         if (c == 'p') printf(\"%d\\n\", getpid()); else puts(\"same\"); }\n",
    );
    unstable.seeds([("pid", &b"p"[..]), ("same", b"s")]);
    let printed = unstable.export(&["sh", "suite", "seeds", "--", "./prog"]);
    assert!(printed.contains("1 cases of 2 inputs"), "{printed}");
    assert!(printed.contains("1 whose output differs from run to run"), "{printed}");
}

#[test]
fn test_comp_suites_have_the_values_of_calls() {
    let program = Program::new(
        "extern int __VERIFIER_nondet_int(void);\nextern unsigned char __VERIFIER_nondet_uchar(void);\n\
         extern void reach_error(void);\nint main(void) { int a = __VERIFIER_nondet_int();\n\
         unsigned char b = __VERIFIER_nondet_uchar(); if (a == -2 && b == 200) reach_error(); return 0; }\n",
    );
    program.seeds([("a", &[0xfe, 0xff, 0xff, 0xff, 200][..]), ("b", &[1, 0, 0, 0, 5])]);
    program.export(&["testcomp", "suite", "seeds", "--", "./prog"]);
    let text = |name: &str| String::from_utf8(program.read(&format!("suite/{name}"))).unwrap();
    let inputs = |name: &str| {
        let text = text(name);
        let inputs = text.lines().filter(|l| l.contains("<input")).map(str::trim);
        inputs.map(str::to_string).collect::<Vec<_>>()
    };
    let error = ["<input type=\"int\">-2</input>", "<input type=\"unsigned char\">200</input>"];
    assert_eq!(inputs("testcase-1.xml"), error);
    assert!(text("testcase-1.xml").contains("<testcase coversError=\"true\">"));
    assert_eq!(inputs("testcase-2.xml").len(), 2);
    assert!(text("metadata.xml").contains("<programfile>prog.c</programfile>"));
    let script = "import sys, xml.dom.minidom
for p in sys.argv[1:]: print(xml.dom.minidom.parse(p).documentElement.tagName)";
    let files = [program.path("suite/metadata.xml"), program.path("suite/testcase-1.xml")];
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    assert_eq!(python(script, &paths), "test-metadata\ntestcase\n");
}

#[test]
fn a_campaign_knows_its_program() {
    let program = program();
    program.campaign("out", &["-i", "seeds", "-n", "300"]);
    program.export(&["lcov", "out.lcov", "out"]);
    assert!(lcov_lines(&String::from_utf8(program.read("out.lcov")).unwrap()).len() > 25);
}

#[test]
fn wrong_exports_are_refused() {
    let program = program();
    let run = |args: &[&'static str]| [&["export", "--to"], args].concat();
    program.refuses(&run(&["html", "x", "seeds", "--", "./prog"]), &["--to html", "lcov"]);
    program.refuses(&run(&["lcov", "x", "seeds"]), &["no program"]);
    program
        .refuses(&run(&["lcov", "no/x", "seeds", "--", "./prog"]), &["no/x", "cannot be written"]);
    program.refuses(&run(&["sh", "seeds", "seeds", "--", "./prog"]), &["seeds", "not empty"]);
    program.refuses(&run(&["lcov", "x", "nothing", "--", "./prog"]), &["nothing"]);
    program.refuses(&run(&["testcomp", "x", "seeds", "--", "./prog"]), &["__VERIFIER_nondet_"]);
    program.refuses(&run(&["sh", "x", "seeds", "--socket", "--", "./prog"]), &["connections"]);
}
