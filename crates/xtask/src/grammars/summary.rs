//! The table of all shares, added up for each importer.

use std::collections::BTreeMap;
use std::fmt;

use super::{Entry, Row, Share};

#[derive(Default)]
pub struct Summary(BTreeMap<&'static str, Line>);

#[derive(Default)]
struct Line {
    files: usize,
    imported: usize,
    parsed_back: Share,
    accepted: Share,
    inputs: Share,
}

impl Summary {
    /// Adds the result of a grammar; `None` if it was not imported.
    pub fn add(&mut self, entry: &Entry, row: Option<&Row>) {
        let line = self.0.entry(importer(entry)).or_default();
        line.files += 1;
        if let Some(row) = row {
            line.imported += 1;
            line.parsed_back += row.parsed_back;
            line.accepted += row.accepted;
            line.inputs += row.inputs;
        }
    }
}

fn importer(entry: &Entry) -> &'static str {
    let grammar = entry.grammar.strip_suffix(".in").unwrap_or(&entry.grammar);
    match grammar.rsplit('.').next() {
        Some("y" | "yy") if entry.lexer.is_some() => "yacc with lex",
        Some("y" | "yy") => "yacc alone",
        Some("l") => "lex alone",
        Some("g4") => "ANTLR 4",
        Some("json") if entry.source.starts_with("crate:tree-sitter-") => "tree-sitter",
        Some("json") => "fuzzing book, F1",
        Some("hmp") => "HAMPI",
        _ => "EBNF, ABNF",
    }
}

impl std::ops::AddAssign for Share {
    fn add_assign(&mut self, other: Share) {
        self.0 += other.0;
        self.1 += other.1;
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(
            f,
            "| importer | files | imported | samples read back | accepted | inputs parsed |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|")?;
        for (importer, line) in &self.0 {
            let Line { files, imported, parsed_back, accepted, inputs } = line;
            writeln!(
                f,
                "| {importer} | {files} | {imported} | {parsed_back} | {accepted} | {inputs} |"
            )?;
        }
        Ok(())
    }
}
