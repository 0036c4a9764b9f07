//! `pleach ci`: the corpus grows, crashes are new only once, and answers are compared.

use crate::common::campaign::files;
use crate::common::{Program, feed, refused};
use crate::export::{readers, succeed};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Crashes on `!`, and at another place on `?` if it is compiled so.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
static void first(void) { abort(); }
#ifdef SECOND
static void second(void) { abort(); }
#endif
int main(void) {
    int c = getchar();
    if (c == 'a') puts("a"); else if (c == 'b') puts(ANSWER); else puts("other");
    if (c == '!') first();
#ifdef SECOND
    if (c == '?') second();
#endif
    return 0;
}
"#;

fn compile(program: &Program, flags: &[&str]) {
    program.compile(PROGRAM, &[&["-o", "prog"], flags].concat());
}

fn ci(program: &Program, flags: &[&str]) -> Output {
    let args = ["ci", "-n", "400", "--corpus", "corpus", "--report", "report"];
    program.run(&[&args, flags, &["--", "./prog"]].concat(), b"")
}

fn code_and_text(out: &Output) -> (Option<i32>, String) {
    let both = [&out.stdout[..], b"\n", &out.stderr[..]].concat();
    (out.status.code(), String::from_utf8_lossy(&both).into_owned())
}

#[test]
fn a_crash_is_new_once_and_the_corpus_grows() {
    let program = Program::empty();
    compile(&program, &["-DANSWER=\"b\""]);
    let (code, text) = code_and_text(&ci(&program, &[]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("| result | 1 new crash |") && text.contains("first"), "{text}");
    let corpus = files(&program.path("corpus"));
    assert!(corpus.len() >= 3, "{corpus:?}");
    for name in [
        "page/index.html",
        "results.sarif",
        "junit.xml",
        "coverage.lcov",
        "cobertura.xml",
        "summary.md",
    ] {
        assert!(program.path("report").join(name).exists(), "{name}");
    }
    // Every input that the reports name is there.
    let log: Value = serde_json::from_slice(&program.read("report/results.sarif")).unwrap();
    let input = log["runs"][0]["results"][0]["properties"]["input"].as_str().unwrap();
    assert!(program.path(input).is_file() && text.contains(input), "{input}: {text}");
    let page = String::from_utf8(program.read("report/page/index.html")).unwrap();
    assert!(page.contains("pleach replay report/campaign/crashes/id:000000"), "{input}");
    // It is known now. Nothing was removed from the corpus.
    let (code, text) = code_and_text(&ci(&program, &[]));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("| result | 1 known crash |"), "{text}");
    let later = files(&program.path("corpus"));
    assert!(corpus.iter().all(|(name, bytes)| later.get(name) == Some(bytes)));
    let (code, text) = code_and_text(&ci(&program, &["--fail-on-known"]));
    assert_eq!(code, Some(1), "{text}");
    // Another crash is new, although one is known.
    compile(&program, &["-DANSWER=\"b\"", "-DSECOND"]);
    let (code, text) = code_and_text(&ci(&program, &[]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("| result | 1 new crash, 1 known crash |"), "{text}");
    let log: Value = serde_json::from_slice(&program.read("report/results.sarif")).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap().iter();
    let states: Vec<_> = results.map(|r| r["baselineState"].as_str().unwrap()).collect();
    assert!(states.contains(&"new") && states.contains(&"unchanged"), "{states:?}");
    // Without the second crash, its input no longer crashes.
    compile(&program, &["-DANSWER=\"b\""]);
    let (code, text) = code_and_text(&ci(&program, &[]));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("### No longer crashing") && text.contains("second"), "{text}");
}

#[test]
fn answers_are_compared_only_if_asked() {
    let program = Program::empty();
    compile(&program, &["-DANSWER=\"b\""]);
    program.make_dir("corpus");
    program.file("corpus/b", b"b");
    let (code, text) = code_and_text(&ci(&program, &["--accept-answers", "--baseline", "known"]));
    assert_eq!(code, Some(1), "{text}");
    assert!(program.path("known").exists());
    let (code, text) = code_and_text(&ci(&program, &["--check-answers", "--baseline", "known"]));
    assert_eq!(code, Some(0), "{text}");
    compile(&program, &["-DANSWER=\"changed\""]);
    assert_eq!(ci(&program, &["--baseline", "known"]).status.code(), Some(0));
    let (code, text) = code_and_text(&ci(&program, &["--check-answers", "--baseline", "known"]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("1 changed answer") && text.contains("| `b` |"), "{text}");
    ci(&program, &["--accept-answers", "--baseline", "known"]);
    let (code, text) = code_and_text(&ci(&program, &["--check-answers", "--baseline", "known"]));
    assert_eq!(code, Some(0), "{text}");
}

/// A corpus that starts empty has the answers of the inputs that the same run added.
#[test]
fn answers_of_new_inputs_are_remembered_at_once() {
    let program = Program::empty();
    compile(&program, &["-DANSWER=\"b\""]);
    ci(&program, &["--accept-answers"]);
    compile(&program, &["-DANSWER=\"changed\""]);
    let (code, text) = code_and_text(&ci(&program, &["--check-answers"]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("changed answer"), "{text}");
}

#[test]
fn a_corpus_that_cannot_be_written_is_refused_before_the_search() {
    let program = Program::empty();
    compile(&program, &["-DANSWER=\"b\""]);
    let args = ["ci", "-n", "400", "--corpus", "/proc/none", "--", "./prog"];
    refused(&program.run(&args, b""), &args, &["/proc/none"]);
}

/// An output directory of AFL++ stays one, and new inputs go where its instances look.
#[test]
fn a_corpus_of_afl_is_taken_as_it_is() {
    let program = Program::empty();
    compile(&program, &["-DANSWER=\"b\""]);
    std::fs::create_dir_all(program.path("corpus/default/queue/.state")).unwrap();
    std::fs::create_dir_all(program.path("corpus/default/crashes")).unwrap();
    program.file("corpus/default/queue/id:000000,time:0,execs:0,orig:a", b"a");
    program.file("corpus/default/fuzzer_stats", b"start_time : 1\n");
    let summary = program.path("step.md");
    let mut command = program.command(&["ci", "-n", "400", "--corpus", "corpus", "--", "./prog"]);
    let out = feed(command.env("GITHUB_STEP_SUMMARY", &summary), b"");
    let (_, text) = code_and_text(&out);
    assert!(!files(&program.path("corpus/pleach/queue")).is_empty(), "{text}");
    assert_eq!(files(&program.path("corpus/default/queue")).len(), 1, "{text}");
    let step = std::fs::read_to_string(summary).unwrap();
    assert!(step.starts_with("## Pleach: prog failed\n") && text.contains(&step));
}

/// The workflows in `docs/ci.md` are valid, and their commands do what the page says.
#[test]
fn the_workflows_of_the_page_work() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ci.md");
    let page = std::fs::read_to_string(page).expect("the page exists");
    for (name, schema) in [("github", "vendor.github-workflows"), ("gitlab", "vendor.gitlab-ci")] {
        let begin = format!("<!-- workflow: {name} -->\n```yaml\n");
        let workflow = page.split_once(&begin).and_then(|(_, rest)| rest.split_once("```"));
        let workflow = workflow.expect("the page has it").0;
        let program = Program::empty();
        let file = program.file("workflow.yml", workflow.as_bytes());
        let venv = readers().join("venv/bin");
        let mut check = Command::new(venv.join("check-jsonschema"));
        check.args(["--builtin-schema", schema, "--data-transform", "gitlab-ci"]).arg(&file);
        succeed(&mut check);
        let script = "import sys; from ruamel.yaml import YAML
w = YAML(typ='safe').load(open(sys.argv[1]))
if 'jobs' in w:
    steps = [s['run'] for j in w['jobs'].values() for s in j['steps'] if 'run' in s]
else:
    steps = [s for j in w.values() for s in j['script']]
print('\\n'.join(steps))";
        let steps = succeed(Command::new(venv.join("python")).arg("-c").arg(script).arg(&file));
        assert!(steps.contains("--time 5m"), "{steps}");
        // The commands, with less time, in a project as the page presumes it.
        let steps = steps.replace("--time 5m", "--time 60s -n 400");
        program.file("program.c", PROGRAM.replace("ANSWER", "\"b\"").as_bytes());
        program.file("Makefile", b"program: program.c\n\t$(CC) $(CFLAGS) -o $@ program.c\n");
        let beside = Path::new(crate::common::PLEACH).parent().expect("it is in a directory");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs = std::iter::once(beside.to_path_buf()).chain(std::env::split_paths(&path));
        let mut shell = Command::new("sh");
        shell.arg("-ec").arg(steps.replace(" @@", "")).current_dir(program.dir.path());
        shell.env("PATH", std::env::join_paths(dirs).expect("plain paths"));
        let (code, text) = code_and_text(&feed(&mut shell, b""));
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("1 new crash"), "{text}");
        for name in ["results.sarif", "junit.xml", "cobertura.xml"] {
            assert!(program.path("report").join(name).exists(), "{name}");
        }
    }
}

#[test]
fn wrong_runs_are_refused() {
    let program = Program::empty();
    compile(&program, &["-DANSWER=\"b\""]);
    program.file("file", b"");
    let run = |args: &[&'static str]| [&["ci"], args].concat();
    program.refuses(&run(&["--corpus", "c", "--", "./prog"]), &["--time"]);
    program.refuses(&run(&["--time", "1s", "--corpus", "file", "--", "./prog"]), &["file"]);
    program.refuses(&run(&["--time", "1s", "--corpus", "c", "--", "./none"]), &["none"]);
    let args = ["--time", "1s", "--corpus", "c", "--report", "file/x", "--", "./prog"];
    program.refuses(&run(&args), &["file/x"]);
    program.refuses_flag(&run(&["--time", "5y", "--corpus", "c", "--", "./prog"]), "90s");
}
