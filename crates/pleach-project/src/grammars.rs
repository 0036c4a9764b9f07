//! Files that describe the language of the input.

use crate::tree::{File, Tree};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    /// Relative to the tree.
    pub path: PathBuf,
    /// The name of the format.
    pub format: &'static str,
    /// A lexer that belongs to it.
    pub lexer: Option<PathBuf>,
}

pub fn find(tree: &Tree) -> Vec<Grammar> {
    let mut found: Vec<Grammar> =
        tree.files.iter().filter_map(|file| grammar(tree, file)).collect();
    // Those near the top first: a grammar deep in the tree is more often of a test.
    found.sort_by_key(|g| (g.path.components().count(), g.path.clone()));
    found
}

fn grammar(tree: &Tree, file: &File) -> Option<Grammar> {
    let has = |part: &str| tree.text(file).contains(part);
    let (format, lexer) = match file.extension().as_str() {
        "y" | "yy" | "ypp" | "y++" if has("\n%%") => {
            ("yacc", lexer(tree, file, &["l", "ll", "lex", "lpp", "l++"], "%%"))
        }
        "g4" if has("lexer grammar") => return None,
        "g4" => ("ANTLR 4", lexer(tree, file, &["g4"], "lexer grammar")),
        "json" if file.name() == "grammar.json" && has("\"rules\"") => ("tree-sitter", None),
        "ebnf" => ("EBNF", None),
        "abnf" | "bnf" => ("BNF", None),
        _ => return None,
    };
    Some(Grammar { path: file.path.clone(), format, lexer })
}

/// The lexer in the same directory: the one with the same stem, or the only one.
fn lexer(tree: &Tree, grammar: &File, extensions: &[&str], mark: &str) -> Option<PathBuf> {
    let beside: Vec<&File> = tree
        .with_extension(extensions)
        .filter(|f| f.dir() == grammar.dir() && f.path != grammar.path)
        .filter(|f| tree.text(f).contains(mark))
        .collect();
    let same = beside.iter().find(|f| f.path.file_stem() == grammar.path.file_stem());
    match (same, beside.as_slice()) {
        (Some(file), _) | (None, [file]) => Some(file.path.clone()),
        _ => None,
    }
}
