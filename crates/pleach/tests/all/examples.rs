//! The programs of `examples/` build by their Makefiles, do the same on every half,
//! and take what their grammars derive.

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

/// Sentences that are drawn for each number of tokens.
const SAMPLES: u64 = 8;

impl Example {
    fn new(name: &'static str, grammar: &'static [&'static str]) -> Example {
        let dir = tempfile::tempdir().expect("a temporary directory");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name), dir.path());
        let done = Command::new("make")
            .arg(format!("CC={PLEACH} cc"))
            .current_dir(dir.path())
            .output()
            .expect("make is there");
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(!said.contains("warning"), "{name}: {said}");
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
        let said = String::from_utf8_lossy(&done.stderr);
        serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {said}"))
    }

    fn pleach(&self, args: &[&str]) -> Output {
        let mut command = Command::new(PLEACH);
        feed(command.args(args).current_dir(self.dir.path()), b"")
    }

    /// Both halves do with every sample what the program does by hand: its output
    /// and its status, which must be one of `statuses`.
    fn runs_its_samples(&self, folder: &str, statuses: &[i32]) {
        let files = fs::read_dir(self.dir.path().join(folder)).expect("there are samples");
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

    /// Sentences of the grammar, some of each number of tokens.
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

    /// No sentence is bad syntax, which is status 1. How many end well is returned.
    fn takes(&self, sentences: &[Vec<u8>]) -> usize {
        let mut well = 0;
        for sentence in sentences {
            let out = self.plain(sentence);
            let text = String::from_utf8_lossy(sentence);
            let said = String::from_utf8_lossy(&out.stderr);
            assert_ne!(out.status.code(), Some(1), "{}: {text:?}: {said}", self.name);
            well += usize::from(out.status.success());
        }
        well
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("there is such an example").flatten() {
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
fn simplecalc() {
    let example = Example::new("simplecalc", &["calc.y", "--lexer", "calc.l"]);
    example.runs_its_samples("seeds", &[0]);
    example.takes(&example.sentences(&[1, 5, 12]));
    for (text, value) in [("7", "7\n"), ("2*3+1", "8\n"), ("-(a-c)&6", "-6\n"), ("Z%b\n", "0\n")] {
        assert_eq!(example.plain(text.as_bytes()).stdout, value.as_bytes(), "{text}");
    }
    for text in [b"1+".as_slice(), b"12", b"", b"1\0", b"1\xff", b"1 "] {
        assert_eq!(example.plain(text).status.code(), Some(1), "{text:?}");
    }
    // The two faults, found.
    let args = ["run", "-i", "seeds", "-o", "out", "-s", "generational", "-n", "300", "--json"];
    let out = example.pleach(&[&args[..], &["--", "./simplecalc"]].concat());
    let stats: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(stats["crashes"], 2, "{stats}");
    // And again, by all strings of the grammar up to a length.
    let stats = example.campaign("cese", &["--max-length", "3"]);
    assert_eq!((&stats["stop"], &stats["crashes"]), (&"exhausted".into(), &2.into()), "{stats}");
}

#[test]
fn realpath() {
    let example = Example::new("realpath", &["ftp.y", "--lexer", "ftp.l"]);
    example.runs_its_samples("samples", &[0]);
    let sentences = example.sentences(&[2, 8, 16]);
    assert_eq!(example.takes(&sentences), sentences.len());
    // One byte too many, and only at exactly that length.
    let at = |length: usize| example.plain(format!("RETR /m/{}\n", "x".repeat(length)).as_bytes());
    for (length, reply) in [(999, "250 retrieve /mirrors"), (1001, "553 the name")] {
        let out = at(length);
        assert!(out.status.success() && out.stdout.starts_with(reply.as_bytes()), "{length}");
    }
    let said = at(1000).stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("stack-buffer-overflow") && said.contains("join"), "{said}");
    // It is found: a name of the one length is solved for.
    let stats = example.campaign("cese", &["--stop-on-crash", "-V", "120"]);
    assert_eq!(stats["crashes"], 1, "{stats}");
}

#[test]
fn cue() {
    let example = Example::new("cue", &["cue.y", "--lexer", "cue.l"]);
    example.runs_its_samples("samples", &[0, 2]);
    example.takes(&example.sentences(&[8, 14, 25]));
    let out = example.plain(&fs::read(example.dir.path().join("samples/album.cue")).expect("text"));
    let text = String::from_utf8(out.stdout).expect("text");
    assert!(text.contains("catalogue 4006408261234\n"), "{text}");
    assert!(text.contains(" 2 a  04:14:00  03:47:10  The Hedge Layers with Ida Thorn: "), "{text}");
    assert_eq!(example.plain(b"FILE a WAVE\nTRACK 1\n").status.code(), Some(1));
    // What bison's tables decide becomes sets of tokens, which the grammar completes.
    let stats = example.campaign("gbw", &["-n", "400"]);
    let flips = stats["flips"]["by_tier"]["tokens"].as_u64();
    assert!(flips > Some(0) && stats["flips"]["sat"].as_u64() > Some(0), "{stats}");
    assert!(stats["tokens"]["accepted"].as_u64() > stats["tokens"]["rejected"].as_u64(), "{stats}");
    assert_eq!(stats["mismatched"], 0, "{stats}");
}

#[test]
fn tinyjs() {
    let example = Example::new("tinyjs", &["tinyjs.g4"]);
    example.runs_its_samples("scripts", &[0]);
    for script in fs::read_dir(example.dir.path().join("scripts")).expect("scripts").flatten() {
        let path = script.path();
        let out = example.pleach(&["grammar", "parse", "tinyjs.g4", path.to_str().expect("text")]);
        assert!(out.status.success(), "{path:?}: {}", String::from_utf8_lossy(&out.stderr));
    }
    let sentences = example.sentences(&[2, 6, 18, 40]);
    let well = example.takes(&sentences);
    println!("tinyjs runs {well} of {} sentences to their end", sentences.len());
    for (script, status) in REFUSED {
        let out = example.plain(script.as_bytes());
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(*status), "{script}: {said}");
    }
}

/// Scripts that do not run to their end, and how far they come.
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
