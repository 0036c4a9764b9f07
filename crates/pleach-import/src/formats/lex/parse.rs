//! The parts of a lex file: definitions, start conditions, options and rules.
//!
//! Patterns and actions are only delimited here. A pattern ends at the first blank
//! outside quotes, classes and `(?x: )`. An action ends at the first end of a line
//! outside braces.

use std::collections::HashMap;

use crate::ImportError;
use crate::ccode;
use crate::text::{Cursor, MAX_NESTING, Source};
use pleach_grammar::{Note, Severity};

/// A start condition by its index; 0 is INITIAL.
pub type Condition = usize;

pub struct StartCondition {
    pub name: String,
    pub exclusive: bool,
}

/// A range of offsets in the file.
pub type Span = std::ops::Range<usize>;

pub struct Rule {
    /// The conditions that the rule names. A rule that names none is active in INITIAL
    /// and in every inclusive condition.
    pub conditions: Option<Vec<Condition>>,
    pub pattern: Span,
    /// True for `<<EOF>>`, which has no pattern.
    pub eof: bool,
    pub action: Span,
}

#[derive(Default)]
pub struct Options {
    pub ignore_case: bool,
    pub seven_bit: bool,
    pub no_default: bool,
}

pub struct File {
    pub definitions: HashMap<Vec<u8>, Span>,
    pub conditions: Vec<StartCondition>,
    pub rules: Vec<Rule>,
    pub options: Options,
    pub notes: Vec<Note>,
}

pub fn parse(source: &Source) -> Result<File, ImportError> {
    let initial = StartCondition { name: "INITIAL".into(), exclusive: false };
    let file = File {
        definitions: HashMap::new(),
        conditions: vec![initial],
        rules: Vec::new(),
        options: Options::default(),
        notes: Vec::new(),
    };
    let mut parser = Parser { cursor: source.cursor(), file };
    parser.definitions()?;
    parser.rules(&[])?;
    parser.share_actions();
    Ok(parser.file)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    file: File,
}

impl Parser<'_> {
    fn note(&mut self, at: usize, text: impl Into<String>) {
        self.file.notes.push(self.cursor.source.note(at, Severity::Info, text));
    }

    /// Up to `%%`. Every construct here starts at the beginning of a line.
    fn definitions(&mut self) -> Result<(), ImportError> {
        loop {
            if self.cursor.at_end() {
                return Err(self.cursor.error("the file has no %%, behind which rules begin"));
            }
            if self.cursor.eat("%%") {
                self.cursor.eat_line();
                return Ok(());
            }
            match self.cursor.peek() {
                Some(b'%') => self.directive()?,
                Some(b' ' | b'\t' | b'\n' | b'\r' | b'#' | b'}') => {
                    self.code_line();
                }
                Some(b'/') if ccode::eat_comment(&mut self.cursor) => {}
                _ => self.definition(),
            }
        }
    }

    /// A line of C. A comment in it may continue on the next lines.
    fn code_line(&mut self) {
        while let Some(byte) = self.cursor.peek() {
            if byte == b'\n' {
                self.cursor.at += 1;
                return;
            }
            if !ccode::eat_comment(&mut self.cursor) {
                self.cursor.at += 1;
            }
        }
    }

    fn directive(&mut self) -> Result<(), ImportError> {
        let at = self.cursor.at;
        if self.cursor.eat("%{") {
            return self.skip_code(at);
        }
        self.cursor.at += 1;
        let word = self.cursor.eat_while(|b| b.is_ascii_alphabetic() || b == b'-');
        match word.to_ascii_lowercase().as_slice() {
            b"top" | b"class" | b"namespace" => {
                self.cursor.eat_while(|b| b != b'{' && b != b'\n');
                if self.cursor.peek() == Some(b'{') {
                    ccode::skip_braces(&mut self.cursor)?;
                }
            }
            b"s" | b"start" | b"state" => self.start_conditions(false),
            b"x" | b"xstate" => self.start_conditions(true),
            b"option" => self.options(),
            b"t" => drop(self.cursor.skip_past("%T")),
            b"pointer" | b"array" | b"a" | b"e" | b"k" | b"n" | b"o" | b"p" => {}
            _ => self.note(at, format!("the unknown directive %{} is ignored", text(word))),
        }
        self.cursor.eat_line();
        Ok(())
    }

    /// From behind `%{` to the line that starts with `%}`.
    fn skip_code(&mut self, open: usize) -> Result<(), ImportError> {
        loop {
            if !self.cursor.skip_past("%}") {
                return Err(self.cursor.source.error(open, "this %{ is never closed by %}"));
            }
            let before = Cursor { at: self.cursor.at - 2, ..self.cursor };
            if before.at_line_start() {
                self.cursor.eat_line();
                return Ok(());
            }
        }
    }

    fn start_conditions(&mut self, exclusive: bool) {
        let line = self.cursor.eat_line();
        for name in text(line).split(|c: char| c.is_whitespace() || c == ',') {
            // A comment may end the line.
            if name.starts_with('/') {
                break;
            }
            if !name.is_empty() && self.condition(name).is_none() {
                self.file.conditions.push(StartCondition { name: name.into(), exclusive });
            }
        }
    }

    fn condition(&self, name: &str) -> Option<Condition> {
        self.file.conditions.iter().position(|condition| condition.name == name)
    }

    fn options(&mut self) {
        let line = text(self.cursor.eat_line());
        for option in line.split_whitespace() {
            let options = &mut self.file.options;
            // flex ignores the case of its own words, and `no` negates each option.
            let option = option.to_ascii_lowercase();
            let (name, on) = match option.strip_prefix("no") {
                Some(name) => (name, false),
                None => (option.as_str(), true),
            };
            match name {
                "case-insensitive" | "caseless" => options.ignore_case = on,
                "case-sensitive" | "caseful" => options.ignore_case = !on,
                "7bit" => options.seven_bit = on,
                "8bit" => options.seven_bit = !on,
                "default" => options.no_default = !on,
                _ => {}
            }
        }
    }

    /// `name pattern`, the pattern to the end of the line.
    fn definition(&mut self) {
        let at = self.cursor.at;
        let name = self.cursor.eat_while(|b| !b.is_ascii_whitespace());
        let is_name = name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        self.cursor.eat_while(|b| matches!(b, b' ' | b'\t'));
        let start = self.cursor.at;
        let line = self.cursor.eat_line();
        let length = line.trim_ascii_end().len();
        if is_name {
            self.file.definitions.insert(name.to_vec(), start..start + length);
        } else {
            let text =
                format!("this line is ignored: {} is not the name of a definition", text(name));
            self.note(at, text);
        }
    }

    /// Rules, to the second `%%`, the end of the file, or the brace that closes
    /// `<condition>{`.
    fn rules(&mut self, scope: &[Vec<Condition>]) -> Result<(), ImportError> {
        if scope.len() > MAX_NESTING {
            let message = format!("start conditions nest more than {MAX_NESTING} deep");
            return Err(self.cursor.error(message));
        }
        let open = self.cursor;
        loop {
            let blank = self.cursor.eat_while(|b| b == b' ' || b == b'\t');
            if self.cursor.at_end() {
                return match scope {
                    [] => Ok(()),
                    _ => Err(open.error("this block of rules is never closed")),
                };
            }
            let at = self.cursor.at;
            // Before the first rule, an indented line is C.
            let is_first = self.file.rules.is_empty() && scope.is_empty();
            if self.cursor.eat("%%") {
                self.cursor.at = self.cursor.end;
            } else if self.cursor.eat("%{") {
                self.skip_code(at)?;
            } else if matches!(self.cursor.peek(), Some(b'\n' | b'\r')) {
                self.cursor.at += 1;
            } else if ccode::eat_comment(&mut self.cursor) {
            } else if !blank.is_empty() && is_first {
                self.code_line();
            } else if !scope.is_empty() && self.cursor.peek() == Some(b'}') {
                self.cursor.eat_line();
                return Ok(());
            } else if blank.is_empty() && self.at_conditional() {
                self.note(at, "this preprocessor line is ignored");
                self.cursor.eat_line();
            } else {
                self.rule(scope)?;
            }
        }
    }

    /// True at `#if` and its like. Any other line with `#` is a pattern.
    fn at_conditional(&self) -> bool {
        let mut look = self.cursor;
        let word = look.eat_while(|b| b.is_ascii_alphabetic() || b == b'#');
        let words: [&[u8]; 6] = [b"#if", b"#ifdef", b"#ifndef", b"#else", b"#elif", b"#endif"];
        let rest = look.eat_line();
        words.contains(&word) && !rest.contains(&b'{') && !rest.contains(&b';')
    }

    fn rule(&mut self, scope: &[Vec<Condition>]) -> Result<(), ImportError> {
        let mut conditions = scope.last().cloned();
        let names_conditions = self.cursor.peek() == Some(b'<') && !self.cursor.starts_with("<<");
        if names_conditions {
            let mut named = self.named_conditions()?;
            named.extend(conditions.unwrap_or_default());
            named.sort_unstable();
            named.dedup();
            conditions = Some(named);
            if self.block_follows() {
                self.cursor.skip_space();
                self.cursor.eat_line();
                let inner: Vec<_> = scope.iter().cloned().chain(conditions).collect();
                return self.rules(&inner);
            }
        }
        let eof = self.cursor.eat("<<EOF>>") || self.cursor.eat("<<eof>>");
        let start = self.cursor.at;
        if !eof {
            self.skip_pattern()?;
        }
        let pattern = start..self.cursor.at;
        if pattern.is_empty() && !eof {
            return Err(self.cursor.error("expected a pattern"));
        }
        self.cursor.eat_while(|b| b == b' ' || b == b'\t');
        let start = self.cursor.at;
        self.skip_action()?;
        let action = start..self.cursor.at;
        self.file.rules.push(Rule { conditions, pattern, eof, action });
        Ok(())
    }

    /// `<A,B>`, `<*>`
    fn named_conditions(&mut self) -> Result<Vec<Condition>, ImportError> {
        self.cursor.at += 1;
        let mut named = Vec::new();
        loop {
            self.cursor.skip_space();
            let at = self.cursor.at;
            if self.cursor.eat("*") {
                named.extend(0..self.file.conditions.len());
            } else {
                let name = text(self.cursor.eat_while(|b| b.is_ascii_alphanumeric() || b == b'_'));
                match self.condition(&name) {
                    Some(found) => named.push(found),
                    None if name == "0" => named.push(0),
                    None => {
                        let message = format!("start condition \"{name}\" is not declared");
                        return Err(self.cursor.source.error(at, message));
                    }
                }
            }
            self.cursor.skip_space();
            match self.cursor.bump() {
                Some(b',') => {}
                Some(b'>') => return Ok(named),
                _ => return Err(self.cursor.source.error(at, "expected , or > after this")),
            }
        }
    }

    /// True if `{` is next and alone on its line: a block of rules. Otherwise the brace
    /// starts the name of a definition.
    fn block_follows(&self) -> bool {
        let mut look = self.cursor;
        look.skip_space();
        if !look.eat("{") {
            return false;
        }
        let mut rest = look.eat_line();
        if let Some(comment) = rest.windows(2).position(|w| w == b"/*" || w == b"//") {
            rest = &rest[..comment];
        }
        rest.trim_ascii().is_empty()
    }

    fn skip_pattern(&mut self) -> Result<(), ImportError> {
        let open = self.cursor;
        // For each open group: true if blanks in it are ignored.
        let mut groups: Vec<bool> = Vec::new();
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'\n' if groups.last() != Some(&true) => break,
                b' ' | b'\t' | b'\r' if groups.last() != Some(&true) => break,
                b'\\' => self.cursor.at += 1,
                b'"' => self.skip_quotes()?,
                b'[' => self.skip_class()?,
                b'(' => {
                    let extended = groups.last() == Some(&true);
                    groups.push(group_is_extended(&self.cursor, extended));
                    if self.cursor.starts_with("(?#") {
                        self.cursor.skip_past(")");
                        groups.pop();
                        continue;
                    }
                }
                b')' => drop(groups.pop()),
                b'/' if groups.last() == Some(&true) && self.cursor.starts_with("/*") => {
                    ccode::eat_comment(&mut self.cursor);
                    continue;
                }
                _ => {}
            }
            self.cursor.at = (self.cursor.at + 1).min(self.cursor.end);
        }
        if groups.is_empty() {
            Ok(())
        } else {
            Err(open.error("a group in this pattern is never closed"))
        }
    }

    /// To the closing quote.
    fn skip_quotes(&mut self) -> Result<(), ImportError> {
        let open = self.cursor;
        loop {
            self.cursor.at += 1;
            match self.cursor.peek() {
                Some(b'"') => return Ok(()),
                Some(b'\\') => self.cursor.at += 1,
                Some(b'\n') | None => return Err(open.error("this quote is never closed")),
                _ => {}
            }
        }
    }

    /// To the closing bracket. `]` right behind `[` or `[^` is a member.
    fn skip_class(&mut self) -> Result<(), ImportError> {
        let open = self.cursor;
        self.cursor.at += 1;
        if self.cursor.peek() == Some(b'^') {
            self.cursor.at += 1;
        }
        if self.cursor.peek() == Some(b']') {
            self.cursor.at += 1;
        }
        loop {
            match self.cursor.peek() {
                Some(b']') => return Ok(()),
                Some(b'\\') => self.cursor.at += 1,
                Some(b'[') if self.cursor.peek_at(1) == Some(b':') => {
                    // `[:alpha:]`; any other bracket is a plain member.
                    let mut look = self.cursor;
                    look.at += 2;
                    look.eat_while(|b| b.is_ascii_alphabetic() || b == b'^');
                    if look.eat(":]") {
                        self.cursor.at = look.at - 1;
                    }
                }
                Some(b'\n') | None => return Err(open.error("this class is never closed")),
                _ => {}
            }
            self.cursor.at += 1;
        }
    }

    fn skip_action(&mut self) -> Result<(), ImportError> {
        if self.cursor.starts_with("%{") {
            return self.skip_code(self.cursor.at);
        }
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'\n' => return Ok(()),
                b'{' => ccode::skip_braces(&mut self.cursor)?,
                _ => ccode::skip_lexeme(&mut self.cursor),
            }
        }
        Ok(())
    }

    /// The action `|` is that of the next rule.
    fn share_actions(&mut self) {
        let bytes = &self.cursor.source.bytes;
        let mut following: Option<Span> = None;
        for rule in self.file.rules.iter_mut().rev() {
            if bytes[rule.action.clone()].trim_ascii() == b"|"
                && let Some(action) = &following
            {
                rule.action = action.clone();
            }
            following = Some(rule.action.clone());
        }
    }
}

/// True if the group at the cursor ignores blanks: `(?x:` turns that on, `(?-x:` off.
fn group_is_extended(cursor: &Cursor, outer: bool) -> bool {
    let rest = cursor.rest();
    let Some(flags) = rest.strip_prefix(b"(?") else { return outer };
    let mut on = true;
    let mut extended = outer;
    for flag in flags.iter().take_while(|b| **b != b':' && b.is_ascii() && **b != b')') {
        match flag {
            b'-' => on = false,
            b'x' => extended = on,
            _ => {}
        }
    }
    extended
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
