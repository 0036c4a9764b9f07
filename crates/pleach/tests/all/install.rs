//! Installing: `tools/install.sh`, the Debian packages, manual pages and completions. What is
//! installed works wherever the prefix is moved to, and without the source tree.

use crate::cli::all_help;
use crate::common::PLEACH;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const SOURCE: &str = "#include <pleach.h>\n#include <klee/klee.h>\n#include <stdlib.h>\n\
    int main(void) { if (pleach_u8() == 77) abort(); return 0; }\n";

fn tool(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools").join(name)
}

fn succeed(command: &mut Command) -> Output {
    let out = command.output().expect("it starts");
    assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
    out
}

fn text(command: &mut Command) -> String {
    String::from_utf8(succeed(command).stdout).expect("text")
}

/// Runs a script of the repository on the programs under test.
fn script(name: &str) -> Command {
    let mut command = Command::new(tool(name));
    command.env("PLEACH_BIN", Path::new(PLEACH).parent().expect("a directory"));
    command
}

/// The files below a directory.
fn files(dir: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => all.extend(files(&entry.path())),
            false => _ = all.insert(entry.path()),
        }
    }
    all
}

/// Compiles and searches with the programs of a prefix, as a user without a home.
fn use_prefix(prefix: &Path, work: &TempDir) {
    let dir = work.path();
    std::fs::write(dir.join("prog.c"), SOURCE).expect("writable");
    let home = dir.join("home");
    std::fs::create_dir_all(&home).expect("writable");
    let run = |program: &str, args: &[&str]| {
        let mut command = Command::new(prefix.join("bin").join(program));
        command.current_dir(dir).env("HOME", &home).env_remove("XDG_CACHE_HOME").args(args);
        text(&mut command)
    };
    let version = run("pleach", &["--version"]);
    let compiler = prefix.join("bin/pleach-cc");
    assert!(version.contains(&format!("({})", compiler.display())), "{version}");
    run("pleach", &["cc", "-g", "-o", "prog", "prog.c"]);
    run("pleach-c++", &["-x", "c++", "-c", "prog.c"]);
    run("pleach", &["run", "-o", "out", "-s", "dfs", "-V", "60", "--", "./prog"]);
    let crashes = std::fs::read_dir(dir.join("out/crashes")).expect("a campaign");
    assert!(crashes.flatten().any(|e| e.file_name().to_string_lossy().starts_with("id:")));
    // The runtime and the headers are those of the prefix.
    assert_eq!(files(&home), BTreeSet::new());
    for name in ["prog", "out"] {
        let path = dir.join(name);
        let removed = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
        removed.expect("it was made above");
    }
}

#[test]
fn a_prefix_can_be_moved_and_removed() {
    let work = tempfile::tempdir().expect("a temporary directory");
    let staged = work.path().join("staged");
    let install = |action: &str| {
        let mut command = script("install.sh");
        command.args([action, "--prefix", "/opt/pleach"]).env("DESTDIR", &staged);
        succeed(&mut command);
    };
    install("install");
    let prefix = work.path().join("moved");
    let installed = staged.join("opt/pleach");
    std::fs::rename(&installed, &prefix).expect("the same disk");
    use_prefix(&prefix, &work);
    let found = files(&prefix);
    let names = [
        "include/pleach/pleach.h",
        "include/pleach/crest.h",
        "include/pleach/klee/klee.h",
        "share/man/man1/pleach-cc.1",
        "share/fish/vendor_completions.d/pleach.fish",
    ];
    for name in names {
        assert!(found.contains(&prefix.join(name)), "{name}: {found:?}");
    }
    std::fs::rename(&prefix, &installed).expect("the same disk");
    install("uninstall");
    assert_eq!(files(&staged), BTreeSet::new());
}

#[test]
fn a_prefix_must_be_absolute() {
    let out = script("install.sh").args(["install", "--prefix", "here"]).output().expect("bash");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("here: must be an absolute path"));
}

/// The packages, unpacked into an empty root. `./x package --test` installs them in a fresh
/// Debian.
#[test]
fn packages_have_what_they_need() {
    let work = tempfile::tempdir().expect("a temporary directory");
    let (packages, root) = (work.path().join("packages"), work.path().join("root"));
    let mut make = script("package.sh");
    make.env("PLEACH_PACKAGES", &packages).env("PLEACH_COMPRESSION", "none");
    let made = text(&mut make);
    let made: Vec<&str> = made.lines().collect();
    assert_eq!(made.len(), 2, "{made:?}");
    let field = |package: &str, name: &str| {
        let file = made.iter().find(|f| f.contains(&format!("/{package}_"))).expect("a package");
        text(Command::new("dpkg-deb").args(["-f", file, name]))
    };
    let (search, compile) = (field("pleach", "Depends"), field("pleach-cc", "Depends"));
    assert!(search.contains("libc6 (>=") && !search.contains("llvm"), "{search}");
    for needed in ["libc6 (>=", "libllvm22", "clang-22", "lld-22"] {
        assert!(compile.contains(needed), "{compile}");
    }
    for file in &made {
        succeed(Command::new("dpkg-deb").args(["-x", file]).arg(&root));
    }
    use_prefix(&root.join("usr"), &work);
}

fn share() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    succeed(Command::new(PLEACH).arg("share").arg(dir.path()));
    dir
}

/// The flags of a help text: `-o` and `--output`.
fn flags(help: &str) -> BTreeSet<String> {
    let lines =
        help.lines().filter(|line| line.starts_with("  ") && line.trim_start().starts_with('-'));
    let named = lines.filter(|line| line.len() - line.trim_start().len() <= 6);
    let words = named.flat_map(|line| {
        let words = line.split_whitespace().take_while(|word| word.starts_with('-'));
        words
            .map(|word| word.trim_end_matches(',').split('[').next().unwrap_or(word).to_owned())
            .collect::<Vec<_>>()
    });
    words.collect()
}

#[test]
fn manual_pages_have_every_command_and_flag() {
    let dir = share();
    let man = dir.path().join("man/man1");
    let mut count = 0;
    for (command, help) in all_help("-h") {
        let name = format!("pleach {command}").trim_end().replace(' ', "-");
        let page = std::fs::read_to_string(man.join(format!("{name}.1")));
        let page = page.unwrap_or_else(|e| panic!("{name}.1: {e}")).replace("\\-", "-");
        for flag in flags(&help) {
            assert!(page.contains(&flag), "{name}.1 has no {flag}:\n{page}");
            count += 1;
        }
    }
    assert!(count > 150, "{count} flags");
    for name in ["pleach-cc.1", "pleach-c++.1"] {
        assert!(man.join(name).exists(), "{name}");
    }
    assert!(!man.join("pleach-share.1").exists(), "a hidden command");
    let mut groff = Command::new("groff");
    let warnings = succeed(groff.args(["-man", "-Tutf8", "-ww", "-z"]).args(files(&man))).stderr;
    assert!(warnings.is_empty(), "{}", String::from_utf8_lossy(&warnings));
}

#[test]
fn completions_have_every_command_and_flag() {
    let dir = share();
    let shells = [
        ("bash", "bash-completion/completions/pleach"),
        ("zsh", "zsh/site-functions/_pleach"),
        ("fish", "fish/vendor_completions.d/pleach.fish"),
    ];
    for (shell, name) in shells {
        let path = dir.path().join(name);
        let script = std::fs::read_to_string(&path).expect(name);
        for (command, help) in all_help("-h") {
            for word in command.split(' ') {
                assert!(script.contains(word), "{name} has no {word}");
            }
            for flag in flags(&help) {
                let bare = flag.trim_start_matches('-');
                // fish has `-l output -s o`.
                let is_there = match shell {
                    "fish" if flag.starts_with("--") => script.contains(&format!("-l {bare}")),
                    "fish" => script.contains(&format!("-s {bare}")),
                    _ => script.contains(&flag),
                };
                assert!(is_there, "{name} has no {flag} of {command}");
            }
        }
        let syntax = Command::new(shell).arg("-n").arg(&path).output();
        assert!(syntax.expect("the shell is installed").status.success(), "{name}");
    }
}

/// bash asks the completion for words.
#[test]
fn bash_completes_commands_and_flags() {
    let dir = share();
    let path = dir.path().join("bash-completion/completions/pleach");
    let ask = |words: &[&str]| {
        let line = words.join(" ");
        let script = format!(
            "source {}; COMP_WORDS=({line}); COMP_CWORD={}; _pleach pleach '{}' ''; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            path.display(),
            words.len() - 1,
            words.last().expect("a word"),
        );
        text(Command::new("bash").args(["-c", &script]))
    };
    assert_eq!(ask(&["pleach", "doc"]).trim(), "doctor");
    assert!(ask(&["pleach", "run", "--strat"]).contains("--strategy"));
}
