//! Files of a test suite that check themselves: each is a program that ends with status 0 if
//! it was compiled correctly. Plain clang is the judge of whether a file applies: a file that
//! it does not compile and link, or that fails there, is skipped.
//!
//! Files of gcc's suites say in comments whether they run, and which flags they need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::compare::ProgramTest;
use super::kind::Language;
use super::verdict::{Tally, Verdict};
use crate::process;

/// A plain program that takes longer is skipped.
const PLAIN_LIMIT: Duration = Duration::from_secs(10);

/// Tests all files below a directory.
pub fn run(dir: &Path, level: Option<u64>, jobs: usize, saved: &Path) -> Result<Tally> {
    let files = files_below(dir)?;
    if files.is_empty() {
        bail!("{}: there are no C or C++ files", dir.display());
    }
    super::in_parallel(jobs, files.len() as u64, |number| {
        let (file, language) = &files[number as usize];
        let level = level.unwrap_or(number % 4);
        let verdict = test(file, *language, level)
            .with_context(|| format!("cannot test {}", file.display()))?;
        for problem in &verdict.problems {
            println!("{} -O{level}: {problem}", file.display());
        }
        if !verdict.problems.is_empty() {
            let name = file.strip_prefix(dir).unwrap_or(file).display().to_string();
            let kept = saved.join(format!("{}-O{level}.txt", name.replace('/', "-")));
            fs::write(kept, verdict.problems.join("\n"))?;
        }
        Ok(verdict)
    })
}

/// The C and C++ files, sorted.
fn files_below(dir: &Path) -> Result<Vec<(PathBuf, Language)>> {
    let (mut dirs, mut files) = (vec![dir.to_path_buf()], Vec::new());
    while let Some(dir) = dirs.pop() {
        let entries = fs::read_dir(&dir).with_context(|| dir.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                dirs.push(path);
            } else if let Some(language) = Language::of(&path) {
                files.push((path, language));
            }
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(files)
}

fn test(file: &Path, language: Language, level: u64) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
    let Some(own) = flags_of(&text) else {
        verdict.skipped = Some("not to be run");
        return Ok(verdict);
    };
    let dir = tempfile::tempdir()?;
    let mut flags = vec!["-w".into(), format!("-O{level}")];
    if language == Language::Cxx {
        flags.push("-std=gnu++17".into());
    }
    flags.extend(own);
    // An optimiser may remove all calls into it, but need not.
    flags.push("-lm".into());
    // Files include others beside them.
    flags.extend(file.parent().map(|dir| format!("-I{}", dir.display())));
    let test = ProgramTest { dir: dir.path(), language, flags };
    // What clang says about a file is no problem of Pleach.
    let mut opinion = Verdict::default();
    let plain = test.compile(&language.plain_compiler(), file, "plain", &mut opinion)?;
    let Some(plain) = plain else {
        verdict.skipped = Some("does not compile");
        return Ok(verdict);
    };
    let mut command = plain.run(None)?;
    let expected = process::run(command.stdin(Stdio::null()).current_dir(dir.path()), PLAIN_LIMIT)?;
    if !expected.exit.success() {
        verdict.skipped = Some("fails");
        return Ok(verdict);
    }
    test.compare_with(plain, expected, file, &mut verdict)?;
    Ok(verdict)
}

/// The flags that a file needs; `None` if it is not a program.
fn flags_of(text: &str) -> Option<Vec<String>> {
    if !text.contains("main") {
        return None;
    }
    let directive = |line: &str, name: &str| -> Option<String> {
        let rest = &line[line.find(&format!("dg-{name}"))? + name.len() + 3..];
        Some(rest.trim().to_string())
    };
    let mut flags = Vec::new();
    for line in text.lines() {
        if let Some(what) = directive(line, "do ") {
            // Some run only on other machines.
            if !what.starts_with("run") || what.contains("target") {
                return None;
            }
        }
        for name in ["options", "additional-options"] {
            let Some(list) = directive(line, name) else { continue };
            // `"-O2 -std=c11"`, and perhaps the machines that need them.
            let quoted = list.split('"').nth(1).unwrap_or_default();
            if list.contains("target") {
                continue;
            }
            let is_known = |flag: &&str| {
                ["-std=", "-D", "-fno-", "-fwrapv", "-pthread", "-fexceptions", "-U"]
                    .iter()
                    .any(|known| flag.starts_with(known))
            };
            flags.extend(quoted.split_whitespace().filter(is_known).map(String::from));
        }
    }
    Some(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_say_whether_and_how_a_file_is_run() {
        let flags = |text: &str| flags_of(text).map(|f| f.join(" "));
        assert_eq!(flags("int main() {}").as_deref(), Some(""));
        let options = "/* { dg-do run } */\n// { dg-options \"-O2 -std=c++20 -fno-inline\" }\nmain";
        assert_eq!(flags(options).as_deref(), Some("-std=c++20 -fno-inline"));
        assert_eq!(flags("// { dg-do compile }\nint main() {}"), None);
        assert_eq!(flags("// { dg-do run { target arm } }\nint main() {}"), None);
        assert_eq!(flags("int f() {}"), None);
    }
}
