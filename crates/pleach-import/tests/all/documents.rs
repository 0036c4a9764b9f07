//! The list of formats in the documents is that of the library.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use pleach_import::{FORMATS, Format};

/// `docs/grammars.md` has one line for each format. `UPDATE_EXPECT=1` writes them.
#[test]
fn the_documents_list_all_formats() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grammars.md");
    let text = fs::read_to_string(&path).unwrap();
    let head = "| format | extensions | what |\n|---|---|---|\n";
    let start = text.find(head).expect("a table of formats") + head.len();
    let rows = text[start..].split_inclusive('\n').take_while(|line| line.starts_with('|'));
    let end = start + rows.map(str::len).sum::<usize>();
    let mut wanted = String::new();
    for Format { name, extensions, about, .. } in FORMATS {
        let extensions: Vec<String> = extensions.iter().map(|e| format!("`.{e}`")).collect();
        writeln!(wanted, "| {name} | {} | {about} |", extensions.join(" ")).unwrap();
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, [&text[..start], &wanted, &text[end..]].concat()).unwrap();
        return;
    }
    assert_eq!(text[start..end], wanted, "UPDATE_EXPECT=1 writes the table");
}

/// Names differ, descriptions fit into one line of help, and each extension is found.
#[test]
fn entries_of_the_table_are_complete() {
    for (index, format) in FORMATS.iter().enumerate() {
        assert!(FORMATS[..index].iter().all(|other| other.name != format.name));
        assert!(format.name.len() <= 14, "{} is longer than 14 bytes", format.name);
        assert!(format.about.len() <= 53, "{} is longer than 53 bytes", format.about);
        assert!(!format.extensions.is_empty() && !format.about.is_empty());
        for extension in format.extensions {
            let found = Format::detect(&format!("x.{extension}"), b"").expect("a format");
            assert!(found.extensions.contains(extension), "{extension}");
        }
    }
}
