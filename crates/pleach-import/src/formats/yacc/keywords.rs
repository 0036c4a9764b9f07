//! Keywords that a scanner looks up in C, and not by a pattern.
//!
//! Many scanners match `if` as an identifier and then look the word up: in a table
//! (`{"if", IF}`, with other columns before or behind the token), in a list of macro
//! calls (`PG_KEYWORD("abort", ABORT_P, …)`), in a C++ map (`words["if"] = IF;`), or
//! by comparing (`if (strcmp(s, "if") == 0) return IF;`). The C is not run. A keyword is
//! a string literal beside the name of a token.
//!
//! The files of grammar and lexer are always searched. The user may name other files,
//! in C or with lines `word TOKEN`.

use std::collections::{BTreeSet, HashMap};

use super::super::lex::Names;
use crate::ImportError;
use crate::ccode::{self, Word};
use crate::lexicon::{self, Lexicon, pattern_of};
use crate::text::{Cursor, MAX_NESTING, Source};
use pleach_grammar::{Note, Pattern, Regex, Severity};

/// A table has at least this many rows with a token. A single string beside a token
/// need not be a keyword.
const MIN_ROWS: usize = 2;
/// Columns in which the token is looked for.
const MAX_COLUMNS: usize = 32;

/// The files of `--keywords`, by name and content.
#[derive(Clone, Debug, Default)]
pub struct KeywordFiles {
    pub files: Vec<(String, Vec<u8>)>,
    /// True if the scanner ignores the case of keywords.
    pub caseless: bool,
}

/// The keywords of each token, by the token's name in the grammar.
#[derive(Default)]
pub(crate) struct Keywords {
    words: HashMap<String, BTreeSet<Vec<u8>>>,
    caseless: bool,
    pub notes: Vec<Note>,
}

impl Keywords {
    /// The keywords of the files of `--keywords`.
    pub fn read_given(given: &KeywordFiles, names: &Names) -> Result<Keywords, ImportError> {
        let mut keywords = Keywords { caseless: given.caseless, ..Keywords::default() };
        for (file, bytes) in &given.files {
            let source = Source::new(file, bytes)?;
            let mut tables = find_tables(&source, names, true);
            if tables.is_empty() {
                if is_c(file) {
                    let message = "no keywords found: no table has a string beside a token";
                    return Err(source.error(0, message));
                }
                tables = read_lines(&source, names)?;
            }
            keywords.add(&source, tables);
        }
        Ok(keywords)
    }

    /// Adds the tables in the C of a grammar or a lexer. Tokens with a lexer rule are
    /// left out: their rows are names for messages.
    pub fn search(&mut self, source: &Source, names: &Names, found: Option<&Lexicon>) {
        let has_rule = |token: &str| {
            let key = lexicon::Key::Name(token.to_owned());
            found.is_some_and(|lexicon| lexicon.get(&key).is_some())
        };
        let mut tables = find_tables(source, names, found.is_some());
        for table in &mut tables {
            table.rows.retain(|row| !has_rule(&row.token));
        }
        tables.retain(|table| table.rows.len() >= MIN_ROWS);
        self.add(source, tables);
    }

    pub fn ignore_case(&mut self) {
        self.caseless = true;
    }

    fn add(&mut self, source: &Source, tables: Vec<Table>) {
        for Table { at, rows } in tables {
            let count = rows.len();
            for Row { word, token, .. } in rows {
                self.words.entry(token).or_default().insert(word);
            }
            let text = format!("this table has {count} keywords");
            self.notes.push(source.note(at, Severity::Info, text));
        }
    }

    /// The pattern of a token from its keywords, and from the lexer rule for it.
    pub fn pattern(&self, token: &str, rule: Option<&Regex>) -> Option<Pattern> {
        let texts = self.words.get(token)?.iter().map(|word| self.text(word));
        Some(pattern_of(Regex::alt(rule.cloned().into_iter().chain(texts))))
    }

    fn text(&self, word: &[u8]) -> Regex {
        match self.caseless {
            true => Regex::literal_any_case(word),
            false => Regex::literal(word),
        }
    }
}

/// True if the extension of a file is one for C or C++.
fn is_c(file: &str) -> bool {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "y", "l"].contains(&extension)
}

struct Row {
    word: Vec<u8>,
    /// The name of the token in the grammar.
    token: String,
}

struct Table {
    at: usize,
    rows: Vec<Row>,
}

/// A row in C. A column has a name if it is just that.
struct RawRow {
    at: usize,
    word: Vec<u8>,
    columns: Vec<Option<String>>,
}

/// All tables of a file. With `any_order` the token may come before the string. Without
/// a lexer that is not allowed: such tables often hold names for messages.
fn find_tables(source: &Source, names: &Names, any_order: bool) -> Vec<Table> {
    let words = ccode::split_words(source.cursor());
    let mut tables: Vec<Vec<RawRow>> = Vec::new();
    let mut calls: HashMap<&str, Vec<RawRow>> = HashMap::new();
    let mut compared = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if opens_table(&words, at) {
            let (end, columns) = read_group(&words, at);
            let mut rows = Vec::new();
            collect_rows(&columns, any_order, &mut rows);
            tables.push(rows);
            at = end;
            continue;
        }
        if let Some((name, row, end)) = read_call(&words, at) {
            calls.entry(name).or_default().push(row);
            at = end;
            continue;
        }
        compared.extend(read_comparison(&words, at));
        at += 1;
    }
    tables.extend(calls.into_values());
    tables.push(compared);
    let mut found: Vec<Table> =
        tables.into_iter().filter_map(|rows| choose_column(rows, names)).collect();
    found.sort_by_key(|table| table.at);
    found
}

/// True at the brace of `= {`, or of `{ { "` in C++, where `=` may be missing.
fn opens_table(words: &[(usize, Word)], at: usize) -> bool {
    let is = |at: usize, byte| matches!(words.get(at), Some((_, Word::Punct(p))) if *p == byte);
    let nested = is(at + 1, b'{') && matches!(words.get(at + 2), Some((_, Word::Str(_))));
    is(at, b'{') && (nested || at > 0 && is(at - 1, b'='))
}

#[derive(Debug)]
enum Column {
    Str(usize, Vec<u8>),
    Name(String),
    Group(Vec<Column>),
    /// `[TOKEN] = "word"`
    Indexed(usize, String, Vec<u8>),
    Other,
}

/// The columns of a group in braces, and the index behind it. A group that is nested
/// too deep has no columns.
fn read_group(words: &[(usize, Word)], open: usize) -> (usize, Vec<Column>) {
    let mut stack: Vec<Vec<Column>> = vec![Vec::new()];
    let mut at = open + 1;
    let mut start = at;
    while at < words.len() && stack.len() < MAX_NESTING {
        match words[at].1 {
            Word::Punct(b'{') => {
                stack.push(Vec::new());
                start = at + 1;
            }
            // A call in a row, such as `MPF(and)`. Its commas do not separate columns.
            Word::Punct(b'(') if !is_row_macro(words, at) => at = skip_parentheses(words, at),
            Word::Punct(b'(') => {
                stack.push(Vec::new());
                start = at + 1;
            }
            Word::Punct(close @ (b',' | b'}' | b')')) => {
                if let Some(group) = stack.last_mut() {
                    group.extend(read_column(&words[start..at]));
                }
                start = at + 1;
                if close != b',' {
                    let closed = stack.pop().unwrap_or_default();
                    match stack.last_mut() {
                        Some(outer) => outer.push(Column::Group(closed)),
                        None => return (at + 1, closed),
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    (at, Vec::new())
}

/// True if a row is a macro call: `KEYWORD("if", IF)`.
fn is_row_macro(words: &[(usize, Word)], open: usize) -> bool {
    let has_name = open > 0 && matches!(words[open - 1].1, Word::Name(_));
    has_name && matches!(words.get(open + 1), Some((_, Word::Str(_))))
}

/// The index of the closing parenthesis.
fn skip_parentheses(words: &[(usize, Word)], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, (_, word)) in words.iter().enumerate().skip(open) {
        match word {
            Word::Punct(b'(') => depth += 1,
            Word::Punct(b')') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    words.len()
}

fn read_column(words: &[(usize, Word)]) -> Option<Column> {
    // `.token = IF`
    let value = match words {
        [(_, Word::Punct(b'.')), (_, Word::Name(_)), (_, Word::Punct(b'=')), value @ ..] => value,
        all => all,
    };
    Some(match value {
        [] => return None,
        [(at, Word::Str(text))] => Column::Str(*at, text.clone()),
        [(_, Word::Name(name))] => Column::Name(name.clone()),
        [
            (_, Word::Punct(b'[')),
            (_, Word::Name(name)),
            (_, Word::Punct(b']')),
            (_, Word::Punct(b'=')),
            (at, Word::Str(text)),
        ] => Column::Indexed(*at, name.clone(), text.clone()),
        _ => Column::Other,
    })
}

/// Collects the rows of a group: inner groups, or a flat list `"if", IF, "else", ELSE`.
fn collect_rows(columns: &[Column], any_order: bool, rows: &mut Vec<RawRow>) {
    let mut open: Option<RawRow> = None;
    let mut before = Vec::new();
    let strings = columns.iter().filter(|column| matches!(column, Column::Str(..))).count();
    for column in columns {
        let name = match column {
            Column::Group(inner) => {
                rows.extend(open.take());
                collect_rows(inner, any_order, rows);
                continue;
            }
            Column::Indexed(at, name, word) => {
                if any_order {
                    let columns = vec![Some(name.clone())];
                    rows.push(RawRow { at: *at, word: word.clone(), columns });
                }
                continue;
            }
            Column::Str(at, word) => {
                rows.extend(open.take());
                let columns = match any_order && strings == 1 {
                    true => std::mem::take(&mut before),
                    false => Vec::new(),
                };
                open = Some(RawRow { at: *at, word: word.clone(), columns });
                continue;
            }
            Column::Name(name) => Some(name.clone()),
            Column::Other => None,
        };
        match &mut open {
            Some(row) => row.columns.push(name),
            None => before.push(name),
        }
    }
    rows.extend(open);
}

/// Reads `PG_KEYWORD("abort", ABORT_P, …)` or `words["abort"] = ABORT_P;`. Returns the
/// name of the function or map, the row, and the index behind it.
fn read_call(words: &[(usize, Word)], at: usize) -> Option<(&str, RawRow, usize)> {
    let [(_, Word::Name(name)), (_, Word::Punct(open)), (start, Word::Str(word)), rest @ ..] =
        &words[at..]
    else {
        return None;
    };
    let mut row = RawRow { at: *start, word: word.clone(), columns: Vec::new() };
    match (open, rest) {
        (b'(', _) => {
            let end = skip_parentheses(words, at + 1);
            let inside = words.get(at + 3..end)?;
            for column in inside.split(|(_, word)| *word == Word::Punct(b',')).skip(1) {
                row.columns.push(match column {
                    [(_, Word::Name(name))] => Some(name.clone()),
                    _ => None,
                });
            }
            Some((name, row, end))
        }
        (b'[', [(_, Word::Punct(b']')), (_, Word::Punct(b'=')), (_, Word::Name(token)), ..]) => {
            row.columns.push(Some(token.clone()));
            Some((name, row, at + 6))
        }
        _ => None,
    }
}

/// Reads `strcmp(s, "if") == 0) return IF;`. `at` is the index of the string.
fn read_comparison(words: &[(usize, Word)], at: usize) -> Option<RawRow> {
    /// Words between the string and the name of the function, or the `return`.
    const MAX_DISTANCE: usize = 12;
    let (start, Word::Str(word)) = &words[at] else { return None };
    let before = &words[at.saturating_sub(MAX_DISTANCE)..at];
    let compares = before.iter().rev().find_map(|(_, word)| match word {
        Word::Name(name) if name.contains("cmp") || name.contains("eq") => Some(true),
        Word::Punct(b';' | b'{' | b'}') => Some(false),
        _ => None,
    });
    let behind = &words[at + 1..];
    let test = behind.iter().take(MAX_DISTANCE).take_while(|(_, word)| {
        matches!(word, Word::Punct(p) if *p != b';') || matches!(word, Word::Number(_))
    });
    let then = &behind[test.count()..];
    match then {
        [(_, Word::Name(verb)), (_, Word::Name(token)), (_, Word::Punct(b';')), ..]
            if verb == "return" && compares == Some(true) =>
        {
            let columns = vec![Some(token.clone())];
            Some(RawRow { at: *start, word: word.clone(), columns })
        }
        _ => None,
    }
}

/// The rows that have a token, as a table. The token is in the column that most often
/// names one.
fn choose_column(raw: Vec<RawRow>, names: &Names) -> Option<Table> {
    let token_at = |row: &RawRow, column: usize| {
        let name = row.columns.get(column)?.as_ref()?;
        names.get(name).cloned()
    };
    let widest = raw.iter().map(|row| row.columns.len()).max()?.min(MAX_COLUMNS);
    let counts =
        (0..widest).map(|column| raw.iter().filter(|r| token_at(r, column).is_some()).count());
    // Of equals, the first column.
    let (column, _) = counts.enumerate().max_by_key(|(column, count)| (*count, widest - column))?;
    let mut rows = Vec::new();
    let mut first = None;
    for row in &raw {
        if let Some(token) = token_at(row, column).filter(|_| is_keyword(&row.word)) {
            first.get_or_insert(row.at);
            rows.push(Row { word: row.word.clone(), token });
        }
    }
    (rows.len() >= MIN_ROWS).then_some(Table { at: first?, rows })
}

/// True if a scanner can look a text up: it has no blank, and no conversion of `printf`.
fn is_keyword(word: &[u8]) -> bool {
    let printable = word.iter().all(|b| b.is_ascii_graphic() || !b.is_ascii());
    !word.is_empty() && printable && (word.len() == 1 || !word.contains(&b'%'))
}

/// Reads lines `word TOKEN`, or the lines `word, TOKEN, …` of gperf between two `%%`.
fn read_lines(source: &Source, names: &Names) -> Result<Vec<Table>, ImportError> {
    let gperf = source.bytes.windows(3).any(|window| window == b"\n%%");
    let mut cursor = source.cursor();
    if gperf {
        cursor.skip_past("\n%%");
        cursor.eat_line();
    }
    let mut table = Table { at: cursor.at, rows: Vec::new() };
    while !cursor.at_end() {
        cursor.skip_space();
        let at = cursor.at;
        let line = cursor.eat_line();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        if gperf && line.starts_with(b"%%") {
            break;
        }
        table.rows.push(read_line(Cursor::between(source, at, cursor.at), names)?);
    }
    match table.rows.is_empty() {
        true => {
            Err(source.error(0, "no keywords found: expected lines `word TOKEN`, or a table in C"))
        }
        false => Ok(vec![table]),
    }
}

fn read_line(mut cursor: Cursor, names: &Names) -> Result<Row, ImportError> {
    let open = cursor;
    let word = match cursor.peek() {
        Some(b'"') => match ccode::split_words(cursor).into_iter().next() {
            Some((_, Word::Str(word))) => {
                ccode::skip_lexeme(&mut cursor);
                word
            }
            _ => return Err(open.error("this string is never closed")),
        },
        _ => cursor.eat_while(|b| !b.is_ascii_whitespace() && b != b',').to_vec(),
    };
    let behind = ccode::split_words(cursor);
    let mut candidates = behind.iter().filter_map(|(_, word)| match word {
        Word::Name(name) => Some(name),
        _ => None,
    });
    let token = candidates.clone().find_map(|name| names.get(name));
    match (token, candidates.next()) {
        (Some(token), _) if !word.is_empty() => Ok(Row { word, token: token.clone() }),
        (_, Some(name)) => Err(open.error(format!("the grammar has no token {name}"))),
        (_, None) => Err(open.error("expected `word TOKEN`")),
    }
}
