//! The programs of `examples/` build with their Makefiles, do the same in both halves, and
//! accept the sentences of their grammars.

use crate::common::{PLEACH, feed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A copy of an example's folder, built with Pleach.
struct Example {
    dir: TempDir,
    name: &'static str,
    grammar: &'static [&'static str],
}

/// The number of sentences for each number of tokens.
const SAMPLES: u64 = 8;

impl Example {
    fn new(name: &'static str, grammar: &'static [&'static str]) -> Example {
        let dir = tempfile::tempdir().expect("a temporary directory");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name), dir.path());
        let done = Command::new("make")
            .arg(format!("CC={PLEACH} cc"))
            .current_dir(dir.path())
            .output()
            .expect("make is installed");
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(!stderr.contains("warning"), "{name}: {stderr}");
        Example { dir, name, grammar }
    }

    fn program(&self) -> PathBuf {
        self.dir.path().join(self.name)
    }

    fn plain(&self, input: &[u8]) -> Output {
        feed(&mut Command::new(self.program()), input)
    }

    /// The statistics of a campaign with the grammar.
    fn campaign(&self, strategy: &str, flags: &[&str]) -> serde_json::Value {
        let (out, program) = (format!("out-{strategy}"), format!("./{}", self.name));
        let start = ["run", "--json", "-o", &out, "-s", strategy, "-g"];
        let args = [&start[..], self.grammar, flags, &["--", &program]].concat();
        let done = self.pleach(&args);
        let stderr = String::from_utf8_lossy(&done.stderr);
        serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {stderr}"))
    }

    fn pleach(&self, args: &[&str]) -> Output {
        let mut command = Command::new(PLEACH);
        feed(command.args(args).current_dir(self.dir.path()), b"")
    }

    /// Checks that both halves have the same output and status on every sample as the program
    /// by hand. The status must be one of `statuses`.
    fn check_samples(&self, folder: &str, statuses: &[i32]) {
        let files = fs::read_dir(self.dir.path().join(folder)).expect("the samples exist");
        let mut count = 0;
        for file in files.flatten().map(|e| e.path()) {
            let input = fs::read(&file).expect("readable");
            let plain = self.plain(&input);
            let status = plain.status.code();
            assert!(status.is_some_and(|s| statuses.contains(&s)), "{file:?}: {status:?}");
            for half in ["fast", "symbolic"] {
                let mut command = Command::new(PLEACH);
                command.args(["exec", "--half", half, "--label", "--"]).arg(self.program());
                let out = feed(&mut command, &input);
                assert_eq!(out.status.code(), status, "{file:?}, {half}");
                assert_eq!(out.stdout, plain.stdout, "{file:?}, {half}");
            }
            count += 1;
        }
        assert!(count > 2, "{folder} has {count} samples");
    }

    /// Sentences of the grammar, `SAMPLES` of each number of tokens.
    fn sentences(&self, tokens: &[u64]) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for tokens in tokens {
            for seed in 0..SAMPLES {
                let (tokens, seed) = (tokens.to_string(), seed.to_string());
                let how = ["--tokens", &tokens, "--seed", &seed];
                let args = [&["grammar", "sample"], self.grammar, &how].concat();
                let out = self.pleach(&args);
                assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
                all.push(out.stdout);
            }
        }
        all
    }

    /// Checks that the program accepts the syntax of every sentence (status 1 means that it
    /// does not). Returns how many it runs successfully.
    fn check_sentences(&self, sentences: &[Vec<u8>]) -> usize {
        let mut successful = 0;
        for sentence in sentences {
            let out = self.plain(sentence);
            let text = String::from_utf8_lossy(sentence);
            let stderr = String::from_utf8_lossy(&out.stderr);
            assert_ne!(out.status.code(), Some(1), "{}: {text:?}: {stderr}", self.name);
            successful += usize::from(out.status.success());
        }
        successful
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the example exists").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            fs::create_dir(&to).expect("writable");
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("writable");
        }
    }
}

#[test]
fn simplecalc_has_two_faults_and_both_are_found() {
    let example = Example::new("simplecalc", &["calc.y", "--lexer", "calc.l"]);
    example.check_samples("seeds", &[0]);
    example.check_sentences(&example.sentences(&[1, 5, 12]));
    for (text, value) in [("7", "7\n"), ("2*3+1", "8\n"), ("-(a-c)&6", "-6\n"), ("Z%b\n", "0\n")] {
        assert_eq!(example.plain(text.as_bytes()).stdout, value.as_bytes(), "{text}");
    }
    for text in [b"1+".as_slice(), b"12", b"", b"1\0", b"1\xff", b"1 "] {
        assert_eq!(example.plain(text).status.code(), Some(1), "{text:?}");
    }
    // Both faults are found from the seeds.
    let args = ["run", "-i", "seeds", "-o", "out", "-s", "generational", "-n", "300", "--json"];
    let out = example.pleach(&[&args[..], &["--", "./simplecalc"]].concat());
    let stats: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(stats["crashes"], 2, "{stats}");
    // Both are found with all strings of the grammar up to a length.
    let stats = example.campaign("cese", &["--max-length", "3"]);
    assert_eq!((&stats["stop"], &stats["crashes"]), (&"exhausted".into(), &2.into()), "{stats}");
}

#[test]
fn the_overflow_of_realpath_at_one_length_is_found() {
    let example = Example::new("realpath", &["ftp.y", "--lexer", "ftp.l"]);
    example.check_samples("samples", &[0]);
    let sentences = example.sentences(&[2, 8, 16]);
    assert_eq!(example.check_sentences(&sentences), sentences.len());
    // The program writes one byte too many, and only at exactly this length.
    let at = |length: usize| example.plain(format!("RETR /m/{}\n", "x".repeat(length)).as_bytes());
    for (length, reply) in [(999, "250 retrieve /mirrors"), (1001, "553 the name")] {
        let out = at(length);
        assert!(out.status.success() && out.stdout.starts_with(reply.as_bytes()), "{length}");
    }
    let out = at(1000);
    let report = String::from_utf8_lossy(&out.stderr);
    assert!(report.contains("stack-buffer-overflow") && report.contains("join"), "{report}");
    // The length is solved for. The limit on runs only ends a search that does not find it.
    let stats = example.campaign("cese", &["--stop-on-crash", "-n", "20000"]);
    assert_eq!(stats["crashes"], 1, "{stats}");
}

#[test]
fn flips_of_cue_on_tokens_are_completed_by_the_grammar() {
    let example = Example::new("cue", &["cue.y", "--lexer", "cue.l"]);
    example.check_samples("samples", &[0, 2]);
    example.check_sentences(&example.sentences(&[8, 14, 25]));
    let out = example.plain(&fs::read(example.dir.path().join("samples/album.cue")).expect("text"));
    let text = String::from_utf8(out.stdout).expect("text");
    assert!(text.contains("catalogue 4006408261234\n"), "{text}");
    assert!(text.contains(" 2 a  04:14:00  03:47:10  The Hedge Layers with Ida Thorn: "), "{text}");
    assert_eq!(example.plain(b"FILE a WAVE\nTRACK 1\n").status.code(), Some(1));
    // Decisions of bison's tables become sets of tokens, which the grammar completes.
    let stats = example.campaign("gbw", &["-n", "400"]);
    let flips = stats["flips"]["by_tier"]["tokens"].as_u64();
    assert!(flips > Some(0) && stats["flips"]["sat"].as_u64() > Some(0), "{stats}");
    assert!(stats["tokens"]["accepted"].as_u64() > stats["tokens"]["rejected"].as_u64(), "{stats}");
    assert_eq!(stats["mismatched"], 0, "{stats}");
}

#[test]
fn tinyjs_accepts_the_sentences_of_its_grammar() {
    let example = Example::new("tinyjs", &["tinyjs.g4"]);
    example.check_samples("scripts", &[0]);
    for script in fs::read_dir(example.dir.path().join("scripts")).expect("scripts").flatten() {
        let path = script.path();
        let out = example.pleach(&["grammar", "parse", "tinyjs.g4", path.to_str().expect("text")]);
        assert!(out.status.success(), "{path:?}: {}", String::from_utf8_lossy(&out.stderr));
    }
    let sentences = example.sentences(&[2, 6, 18, 40]);
    let successful = example.check_sentences(&sentences);
    println!("tinyjs runs {successful} of {} sentences to their end", sentences.len());
    for (script, status) in REFUSED {
        let out = example.plain(script.as_bytes());
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(*status), "{script}: {stderr}");
    }
}

/// Scripts with an error and the status of each: 1 in the syntax, 2 before the script runs, 3
/// while it runs, 4 at a limit.
const REFUSED: &[(&str, i32)] = &[
    ("a + b = c;", 1),
    ("++a++;", 1),
    ("if (a) let b;", 1),
    ("for (a + b in c) ;", 1),
    ("while (a) function f() {}", 1),
    ("print(1)", 1),
    ("\"\\", 1),
    ("try {}", 1),
    ("(a + b) = c;", 2),
    ("break;", 2),
    ("if (1) continue;", 2),
    ("return;", 2),
    ("a: { a: ; }", 2),
    ("a: { continue a; }", 2),
    ("while (1) { break nowhere; }", 2),
    ("let a; let a;", 2),
    ("let a; var a;", 2),
    ("const a;", 2),
    ("const a = 1; a = 2;", 2),
    ("function f(a, a) {}", 2),
    ("switch (1) { default: default: }", 2),
    ("delete a;", 2),
    ("throw 1;", 3),
    ("nowhere;", 3),
    ("[].push.x.y;", 3),
    ("var p = [].push; p(1);", 3),
    ("for (;;) ;", 4),
    ("function f() { f(); } f();", 4),
    ("var s = \"x\"; for (;;) s += s;", 4),
];
