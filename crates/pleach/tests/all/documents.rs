//! What the documents say that can be checked.

use crate::common::Program;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// `docs/models.md` lists the models that symbolic executables have, and no others.
#[test]
fn models_are_those_of_the_runtime() {
    let text = document("models.md");
    let blocks = text.split("```").skip(1).step_by(2);
    let listed: Vec<&str> = blocks.flat_map(str::split_whitespace).collect();
    let told: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(told.len(), listed.len(), "a function is listed twice");

    let p = Program::new("int main(void) { return 0; }\n");
    p.text(&["extract", "./prog", "-o", "symbolic"], b"");
    let mut nm = Command::new("nm");
    nm.args(["-D", "--defined-only", "--format=just-symbols", "symbolic"]);
    let out = nm.current_dir(p.dir.path()).output().expect("nm is part of binutils");
    let symbols = String::from_utf8(out.stdout).expect("text");
    let there: BTreeSet<&str> =
        symbols.lines().filter_map(|l| l.trim().strip_prefix("__pleach_m_")).collect();
    assert!(there.len() > 100, "{symbols}");
    let missing: Vec<_> = there.difference(&told).collect();
    let gone: Vec<_> = told.difference(&there).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not listed: {missing:?}; gone: {gone:?}");
}

/// Links between the documents lead somewhere.
#[test]
fn links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(folder).expect("there are documents");
        let paths = entries.flatten().map(|e| e.path());
        let (inner, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
        folders.extend(inner);
        pages.extend(files);
    }
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("text");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains("://") {
                let target = page.parent().expect("a folder").join(file);
                assert!(target.exists(), "{}: {link}", page.display());
            }
        }
    }
}
