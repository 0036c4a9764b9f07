//! Which format a file has: by its name where that says it, else by what is in it.

pub(crate) mod antlr;
pub(crate) mod ebnf;
pub(crate) mod fuzzingbook;
pub mod hampi;
pub(crate) mod lex;
pub(crate) mod tokens;
pub(crate) mod treesitter;
pub(crate) mod yacc;

use std::path::Path;

use self::ebnf::Dialect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Yacc,
    Lex,
    Antlr4,
    Ebnf(Dialect),
    TreeSitter,
    Fuzzingbook,
    Hampi,
    /// The side file for lexers that are written by hand.
    Tokens,
}

impl Format {
    /// `None` if neither the name nor the content says anything.
    pub fn of(file: &str, bytes: &[u8]) -> Option<Format> {
        // `grammar.y.in` is a yacc file that a configure script completes.
        let name = file.strip_suffix(".in").unwrap_or(file);
        let extension = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "y" | "yy" | "ypp" | "y++" | "yxx" | "yacc" | "bison" => Some(Format::Yacc),
            "l" | "ll" | "lpp" | "l++" | "lxx" | "lex" | "flex" => Some(Format::Lex),
            "g4" => Some(Format::Antlr4),
            "abnf" => Some(Format::Ebnf(Dialect::Abnf)),
            "tokens" => Some(Format::Tokens),
            "hmp" => Some(Format::Hampi),
            "json" if contains(bytes, b"\"rules\"") => Some(Format::TreeSitter),
            "json" => Some(Format::Fuzzingbook),
            "ebnf" | "bnf" => Some(Format::Ebnf(dialect(bytes))),
            _ => by_content(bytes),
        }
    }
}

fn by_content(bytes: &[u8]) -> Option<Format> {
    let start = bytes.trim_ascii_start();
    if start.starts_with(b"{") {
        let tree_sitter = contains(bytes, b"\"rules\"");
        return Some(if tree_sitter { Format::TreeSitter } else { Format::Fuzzingbook });
    }
    if contains(bytes, b"\n%%") {
        // A lexer has patterns behind the mark; a parser's first word has a colon.
        let parser =
            [&b"\n%token"[..], b"\n%union", b"\n%start", b"\n%type", b"\n%left", b"\n%define"];
        let is_parser = parser.iter().any(|mark| contains(bytes, mark));
        return Some(if is_parser { Format::Yacc } else { Format::Lex });
    }
    let words = [&b"grammar "[..], b"lexer grammar ", b"parser grammar "];
    if words.iter().any(|word| start.starts_with(word) || contains(bytes, &[b"\n", *word].concat()))
    {
        return Some(Format::Antlr4);
    }
    if start.starts_with(b"cfg ") || contains(bytes, b"\ncfg ") {
        return Some(Format::Hampi);
    }
    contains(bytes, b"=").then(|| Format::Ebnf(dialect(bytes)))
}

/// `::=` is the W3C's or BNF; `%x41`, `=/` and rules without an end are ABNF's.
fn dialect(bytes: &[u8]) -> Dialect {
    if contains(bytes, b"::=") {
        return Dialect::W3c;
    }
    let numbers = [&b"%x"[..], b"%d", b"=/"].iter().any(|mark| contains(bytes, mark));
    // An ABNF comment starts with what ends a rule of ISO's.
    let ended = bytes.split(|b| *b == b'\n').any(|line| {
        let line = line.trim_ascii_end();
        line.ends_with(b";") || line.ends_with(b".") && line.contains(&b'=')
    });
    if numbers || !ended { Dialect::Abnf } else { Dialect::Iso }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
