//! HAMPI's files: the reader for all of their statements, and the import of
//! `cfg`.
//!
//! `cfg E := "(" E ")" | E E | ['a'-'z'] | x?;` Texts, ranges of characters, names
//! with `?`, `*` and `+`, groups; decimal escapes `\ddd`. As a grammar a file is
//! its `cfg` statements, the first of which is the start; nothing stands between
//! tokens. What the other statements (`var`, `reg`, `val`, `assert`) mean is known
//! to `pleach-template`; here they are only read.

mod read;
mod syntax;

use super::Input;
use crate::ImportError;
use crate::text::{Source, has_line_start};
use crate::tree::{Lowerer, Tree};
use pleach_grammar::builder::Attributes;
use pleach_grammar::{ByteSet, Grammar, Language, Lexing, Place};
use read::Reader;

pub use read::MOST_NUMBER;
pub use syntax::{Cfg, Name, NameId, Reg, Statement, Test, Val};

/// A file that was read: its statements in their order.
pub struct File<'a> {
    source: Source<'a>,
    names: Vec<String>,
    pub statements: Vec<Statement>,
}

/// Reads a whole file. Names are not resolved.
pub fn parse<'a>(file: &str, bytes: &'a [u8]) -> Result<File<'a>, ImportError> {
    let source = Source::text(file, bytes)?;
    let (statements, names) = Reader::new(source.cursor()).statements()?;
    Ok(File { source, names, statements })
}

impl File<'_> {
    /// How a name is written.
    pub fn name(&self, id: NameId) -> &str {
        &self.names[id.index()]
    }

    /// How many names there are; their numbers are below this.
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

pub(super) fn recognizes(bytes: &[u8]) -> bool {
    has_line_start(bytes, b"cfg ")
}

pub(super) fn import(input: &Input) -> Result<Grammar, ImportError> {
    let file = parse(input.file, input.bytes)?;
    let mut lowerer = Lowerer::new(&file.source);
    let cfgs = file.statements.iter().filter_map(|statement| match statement {
        Statement::Cfg { name, body } => Some((name, body)),
        _ => None,
    });
    let other = file.statements.iter().find(|s| !matches!(s, Statement::Cfg { .. }));
    if let Some(other) = other {
        let text = "statements other than cfg are no part of the grammar";
        lowerer.note(other.at() as usize, Language::Same, text);
    }
    for (name, _) in cfgs.clone() {
        lowerer.builder.rule(file.name(name.id), file.place(name.at));
    }
    for (name, body) in cfgs {
        let body = lowerer.lower(&tree(&file, body))?;
        let place = file.place(name.at);
        let rule = lowerer.builder.rule(file.name(name.id), place.clone());
        lowerer.builder.production(rule, body, Attributes::at(place));
    }
    Ok(Grammar { lexing: Lexing::Context, ..lowerer.builder.finish()? })
}

/// A body in the form that all importers share. It nests no deeper than the
/// reader allows.
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
