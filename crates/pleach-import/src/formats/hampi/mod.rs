//! HAMPI's files: a parser for all their statements, and the import of `cfg`.
//!
//! `cfg E := "(" E ")" | E E | ['a'-'z'] | x?;` has literals, ranges of characters,
//! names with `?`, `*` and `+`, and groups. Escapes `\ddd` are decimal. The grammar is
//! the `cfg` statements, the first of which is the start; it has no separators.
//!
//! The other statements (`var`, `reg`, `val`, `assert`) are only parsed here.
//! `pleach-template` solves them.

mod read;
mod syntax;

use super::Input;
use crate::ImportError;
use crate::text::{Source, has_line_start};
use crate::tree::{Lowerer, Rule, Tree};
use pleach_grammar::{ByteSet, Grammar, Language, Lexing, Place};
use read::Reader;

pub use read::MAX_NUMBER;
pub use syntax::{Cfg, Name, NameId, Reg, Statement, Test, Val};

/// A parsed file: its statements in order.
pub struct File<'a> {
    source: Source<'a>,
    names: Vec<String>,
    pub statements: Vec<Statement>,
}

/// Parses a whole file. Names are not resolved.
pub fn parse<'a>(file: &str, bytes: &'a [u8]) -> Result<File<'a>, ImportError> {
    let source = Source::text(file, bytes)?;
    let (statements, names) = Reader::new(source.cursor()).statements()?;
    Ok(File { source, names, statements })
}

impl File<'_> {
    /// The text of a name.
    pub fn name(&self, id: NameId) -> &str {
        &self.names[id.index()]
    }

    /// How many names there are.
    pub fn names(&self) -> usize {
        self.names.len()
    }

    /// Line and column of an offset.
    pub fn place(&self, at: u32) -> Place {
        self.source.place(at as usize)
    }

    pub fn error(&self, at: u32, message: impl Into<String>) -> ImportError {
        self.source.error(at as usize, message)
    }
}

pub(super) fn recognises(bytes: &[u8]) -> bool {
    has_line_start(bytes, b"cfg ")
}

pub(super) fn import(input: &Input) -> Result<Grammar, ImportError> {
    let file = parse(input.file, input.bytes)?;
    let mut lowerer = Lowerer::new(&file.source);
    let other = file.statements.iter().find(|s| !matches!(s, Statement::Cfg { .. }));
    if let Some(other) = other {
        let text = "statements other than cfg are ignored; the first is here";
        lowerer.note(other.at() as usize, Language::Same, text);
    }
    let mut rules = Vec::new();
    for statement in &file.statements {
        if let Statement::Cfg { name, body } = statement {
            let (name, at) = (file.name(name.id).to_owned(), name.at as usize);
            rules.push(Rule { name, at, tree: tree(&file, body) });
        }
    }
    lowerer.add_rules(&rules)?;
    Ok(Grammar { lexing: Lexing::Context, ..lowerer.builder.finish()? })
}

/// The tree of a body. It nests no deeper than the parser allows.
fn tree(file: &File, cfg: &Cfg) -> Tree {
    let all = |parts: &[Cfg]| parts.iter().map(|part| tree(file, part)).collect();
    match cfg {
        Cfg::Text { text, at } => {
            Tree::Literal { text: text.to_vec(), any_case: false, at: *at as usize }
        }
        Cfg::Range { low, high, at } => {
            Tree::Bytes { set: ByteSet::range(*low, *high), at: *at as usize }
        }
        Cfg::Name(name) => Tree::Name { name: file.name(name.id).to_owned(), at: name.at as usize },
        Cfg::Seq(parts) => Tree::seq(all(parts)),
        Cfg::Alt(parts) => Tree::alt(all(parts)),
        Cfg::Optional(inner) => Tree::repeat(tree(file, inner), 0, Some(1)),
        Cfg::Star(inner) => Tree::repeat(tree(file, inner), 0, None),
        Cfg::Plus(inner) => Tree::repeat(tree(file, inner), 1, None),
    }
}
