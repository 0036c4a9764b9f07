//! Statements in the documents that can be checked.
//!
//! Some parts of the documents are generated. They are between a line `<!-- NAME -->` and a
//! line `<!-- end -->`. `UPDATE_EXPECT=1` writes them.

use crate::cli::all_help;
use crate::common::Program;
use pleach_campaign::run::{FleetStats, Stats};
use pleach_search::{Descriptor, Needs, STRATEGIES};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads a document, given by its path from the root of the repository.
fn document(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Checks a generated part of a document, or writes it if `UPDATE_EXPECT` is set.
fn check_generated(name: &str, part: &str, expected: &str) {
    let text = document(name);
    let begin = format!("<!-- {part} -->\n");
    let parts = text.split_once(&begin).and_then(|(before, rest)| {
        let (old, after) = rest.split_once("<!-- end -->")?;
        Some((before, old, after))
    });
    let Some((before, old, after)) = parts else {
        panic!("{name}: there is no part from `{}` to `<!-- end -->`", begin.trim_end())
    };
    if old == expected {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_EXPECT").is_some(),
        "{name}: the part {part} is out of date; UPDATE_EXPECT=1 writes it:\n{expected}"
    );
    let new = format!("{before}{begin}{expected}<!-- end -->{after}");
    std::fs::write(root().join(name), new).expect("the document is writable");
}

fn needs(strategy: &Descriptor) -> &'static str {
    match strategy.needs {
        Needs::Nothing => "",
        Needs::Grammar => "a grammar (`-g`)",
        Needs::Tokens => "a grammar (`-g`) and a token function",
        Needs::Places => "places (`--toward`, `--changed`)",
    }
}

/// The table of strategies in `docs/search.md` comes from the descriptors, and each strategy
/// has a section there.
#[test]
fn the_page_on_search_agrees_with_the_descriptors() {
    let mut long = String::from("| `-s` | what it does | use it for | needs | ends by itself |\n");
    long += "|---|---|---|---|---|\n";
    for strategy in STRATEGIES {
        let Descriptor { name, about, use_for, exhausts, .. } = strategy;
        let needs = needs(strategy);
        let ends = if *exhausts { "when every path was tried" } else { "no" };
        long += &format!("| [`{name}`](#{name}) | {about} | {use_for} | {needs} | {ends} |\n");
    }
    check_generated("docs/search.md", "strategies", &long);
    let search = document("docs/search.md");
    for strategy in STRATEGIES {
        let heading = format!("\n## {}\n", strategy.name);
        assert!(search.contains(&heading), "docs/search.md has no section {}", strategy.name);
    }
}

/// The table in `docs/export.md` comes from the formats.
#[test]
fn the_page_on_exports_agrees_with_the_formats() {
    let mut table = String::from("| `--to` | what it writes |\n|---|---|\n");
    for format in pleach_report::export::FORMATS {
        table += &format!("| `{}` | {} |\n", format.name, format.about);
    }
    check_generated("docs/export.md", "formats", &table);
}

/// The table of strategies in the README has every strategy, and no other.
#[test]
fn the_readme_names_every_strategy() {
    let text = document("README.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("| strategy |"));
    let cells =
        rows.take_while(|line| line.starts_with('|')).filter_map(|row| row.split('|').nth(1));
    let quoted = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let listed: BTreeSet<&str> = quoted.filter(|name| !name.starts_with('-')).collect();
    let names: BTreeSet<&str> = STRATEGIES.iter().map(|s| s.name).collect();
    assert_eq!(listed, names);
}

/// `docs/reference.md` has the help of every command.
#[test]
fn the_reference_has_the_help_of_every_command() {
    for (command, text) in all_help("-h") {
        let name = format!("pleach {command}");
        let lines = text.lines().map(str::trim_end);
        let text = lines.collect::<Vec<_>>().join("\n");
        let part = format!("help: {}", name.trim_end());
        check_generated("docs/reference.md", &part, &format!("```text\n{text}\n```\n"));
    }
}

/// The table in `docs/reference.md` has every field of `stats.json`, and no other. Fields of
/// an object are written as `flips.asked`.
#[test]
fn the_reference_has_every_field_of_the_statistics() {
    fn collect(value: &Value, prefix: &str, names: &mut BTreeSet<String>) {
        for (key, value) in value.as_object().into_iter().flatten() {
            let name = format!("{prefix}{key}");
            match value.as_object() {
                Some(fields) if !fields.is_empty() => collect(value, &format!("{name}."), names),
                _ => _ = names.insert(name),
            }
        }
    }
    let stats = Stats { fleet: Some(FleetStats::default()), ..Stats::default() };
    let stats = serde_json::from_str(&stats.json()).expect("JSON");
    let mut expected = BTreeSet::new();
    collect(&stats, "", &mut expected);
    // Of one source file, of one kind of action, and of another fuzzer; there is none in empty statistics.
    let files = ["branches", "covered", "reached"].map(|name| format!("modules.FILE.{name}"));
    let actions = ["count", "seconds", "estimated"].map(|name| format!("actions.KIND.{name}"));
    let sync = ["taken", "kept", "bad", "skipped"].map(|name| format!("sync.NAME.{name}"));
    expected.extend(files.into_iter().chain(actions).chain(sync));
    expected.remove("sync");
    expected.remove("modules");
    expected.remove("actions");

    let text = document("docs/reference.md");
    let section = text.split("\n## stats.json\n").nth(1).expect("there is a section stats.json");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    let names: BTreeSet<String> = listed.iter().map(|name| name.to_string()).collect();
    assert_eq!(names.len(), listed.len(), "a field is listed twice");
    let missing: Vec<_> = expected.difference(&names).collect();
    let gone: Vec<_> = names.difference(&expected).collect();
    assert!(missing.is_empty() && gone.is_empty(), "missing: {missing:?}; gone: {gone:?}");
}

/// `docs/reference.md` has every environment variable that a program of Pleach reads, and every
/// exit status.
#[test]
fn the_reference_has_every_environment_variable() {
    let text = document("docs/reference.md");
    let rows = |section: &str| -> Vec<String> {
        let section = text.split(&format!("\n## {section}\n")).nth(1).expect("a section");
        let section = section.split("\n## ").next().unwrap_or_default();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
        rows.filter_map(|row| Some(row.split(" |").next()?.to_owned())).collect()
    };
    let cells = rows("Environment variables");
    let listed: BTreeSet<&str> =
        cells.iter().flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let mut sources = Vec::new();
    for folder in ["crates", "tools"] {
        files_in(&root().join(folder), &["rs", "sh"], &mut sources);
    }
    let mut read = BTreeSet::new();
    // The rest is for Cargo and for those who test Pleach.
    let is_read = |path: &&PathBuf| {
        let folders = ["tests", "xtask"];
        let is_in_one = path.iter().any(|part| folders.iter().any(|folder| part == *folder));
        !path.ends_with("build.rs") && !is_in_one
    };
    for path in sources.iter().filter(is_read) {
        let source = std::fs::read_to_string(path).expect("text");
        let is_script = path.extension().is_some_and(|e| e == "sh");
        let starts: &[&str] = match is_script {
            true => &["${PLEACH_", "${DEB"],
            false => &["var_os(\"", "env::var(\"", "var(\"", "getenv(c\"", "\"PLEACH_"],
        };
        for start in starts {
            for (at, _) in source.match_indices(start) {
                let name = source[at..]
                    .trim_start_matches("${")
                    .trim_start_matches(|c: char| !c.is_ascii_uppercase());
                let end = name.find(|c: char| !c.is_ascii_uppercase() && c != '_');
                _ = read.insert(name[..end.unwrap_or(name.len())].to_owned());
            }
        }
    }
    read.retain(|name| !name.is_empty() && !name.starts_with("CARGO"));
    assert!(read.contains("PLEACH_LLVM") && read.contains("NO_COLOR"), "{read:?}");
    let missing: Vec<_> = read.iter().filter(|name| !listed.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "not listed: {missing:?}");
    let ours = listed.iter().filter(|name| name.starts_with("PLEACH_"));
    let gone: Vec<_> = ours.filter(|name| !read.contains(**name)).collect();
    assert!(gone.is_empty(), "listed and not read: {gone:?}");

    let codes = document("crates/pleach/src/exit.rs");
    let lines = codes.lines().filter_map(|line| line.trim().strip_prefix("Code::"));
    let numbers = lines.filter_map(|line| line.strip_suffix(',')?.split_once(" => "));
    let numbers: Vec<_> = numbers.filter(|(_, number)| number.parse::<u8>().is_ok()).collect();
    assert!(numbers.len() >= 4, "{numbers:?}");
    let statuses = rows("Exit status");
    for (name, number) in numbers {
        assert!(statuses.iter().any(|status| status == number), "{name} = {number}");
    }
}

/// `docs/models.md` lists the models that symbolic executables have, and no others.
#[test]
fn the_list_of_models_is_complete() {
    let text = document("docs/models.md");
    let blocks = text.split("```").skip(1).step_by(2);
    let listed: Vec<&str> = blocks.flat_map(str::split_whitespace).collect();
    let names: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(names.len(), listed.len(), "a function is listed twice");

    let p = Program::new("int main(void) { return 0; }\n");
    p.text(&["extract", "./prog", "-o", "symbolic"], b"");
    let mut nm = Command::new("nm");
    nm.args(["-D", "--defined-only", "--format=just-symbols", "symbolic"]);
    let out = nm.current_dir(p.dir.path()).output().expect("nm is part of binutils");
    let symbols = String::from_utf8(out.stdout).expect("text");
    let models: BTreeSet<&str> =
        symbols.lines().filter_map(|l| l.trim().strip_prefix("__pleach_m_")).collect();
    assert!(models.len() > 100, "{symbols}");
    let missing: Vec<_> = models.difference(&names).collect();
    let gone: Vec<_> = names.difference(&models).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not listed: {missing:?}; gone: {gone:?}");
}

/// All files in a folder and its subfolders that have one of these extensions.
fn files_in(dir: &Path, extensions: &[&str], files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(dir).expect("the folder exists");
    for path in entries.flatten().map(|e| e.path()) {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        if path.is_dir() {
            files_in(&path, extensions, files);
        } else if extensions.contains(&extension) {
            files.push(path);
        }
    }
}

/// The anchors of a page's headings, as on GitHub.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// Links between the documents lead to a file, and to a heading of it.
#[test]
fn links_lead_to_files_and_headings() {
    let mut pages = vec![root().join("README.md")];
    files_in(&root().join("docs"), &["md"], &mut pages);
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("text");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().expect("a folder").join(file),
            };
            assert!(target.exists(), "{}: {link}", page.display());
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&target).expect("text");
                assert!(anchors(&text).contains(anchor), "{}: {link}", page.display());
            }
        }
    }
}
