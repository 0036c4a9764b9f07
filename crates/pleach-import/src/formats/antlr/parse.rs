//! The syntax of ANTLR 4: a file as its rules, modes and options.

use std::ops::Range;

use crate::ImportError;
use crate::ccode;
use crate::text::{Cursor, MAX_NESTING, Source};
use crate::tree::{LAST_CHAR, Ranges, Tree};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Combined,
    Lexer,
    Parser,
}

/// One outermost alternative of a rule.
#[derive(Clone, Debug)]
pub struct Alternative {
    pub at: usize,
    pub tree: Tree,
    pub label: Option<String>,
    pub right_assoc: bool,
    /// `-> skip, mode(X)`
    pub commands: Vec<(String, Option<String>)>,
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub name: String,
    pub at: usize,
    pub fragment: bool,
    pub mode: usize,
    pub alternatives: Vec<Alternative>,
}

impl Rule {
    /// Rules of the lexer start with a capital letter.
    pub fn is_token(&self) -> bool {
        is_token_name(&self.name)
    }
}

pub struct File {
    pub name: String,
    pub kind: Kind,
    pub vocabulary: Option<String>,
    pub imports: Vec<(usize, String)>,
    /// `tokens { … }`
    pub tokens: Vec<(usize, String)>,
    pub modes: Vec<String>,
    pub rules: Vec<Rule>,
    /// Offsets of all predicates.
    pub predicates: Vec<usize>,
    /// The offset of the first action, and how many there are.
    pub actions: Option<(usize, usize)>,
}

pub fn is_token_name(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

/// Parses one of the files of `source`.
pub fn parse(source: &Source, span: Range<usize>) -> Result<File, ImportError> {
    let file = File {
        name: String::new(),
        kind: Kind::Combined,
        vocabulary: None,
        imports: Vec::new(),
        tokens: Vec::new(),
        modes: vec!["DEFAULT_MODE".into()],
        rules: Vec::new(),
        predicates: Vec::new(),
        actions: None,
    };
    let mut cursor = Cursor::between(source, span.start, span.end);
    cursor.eat("\u{feff}");
    let mut parser = Parser { cursor, file, depth: 0, any_case: false };
    parser.header()?;
    parser.rules()?;
    Ok(parser.file)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    file: File,
    depth: usize,
    any_case: bool,
}

impl Parser<'_> {
    fn blank(&mut self) {
        loop {
            self.cursor.skip_space();
            if !ccode::eat_plain_comment(&mut self.cursor) {
                return;
            }
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        self.blank();
        self.cursor.eat(text)
    }

    fn expect(&mut self, text: &str) -> Result<(), ImportError> {
        if self.eat(text) { Ok(()) } else { Err(self.unexpected(&format!("expected {text}"))) }
    }

    fn unexpected(&self, expected: &str) -> ImportError {
        let mut look = self.cursor;
        let found = look.bump_char().map_or("the end of the file".into(), |c| format!("\"{c}\""));
        self.cursor.error(format!("{expected}, found {found}"))
    }

    fn peek(&mut self) -> Option<u8> {
        self.blank();
        self.cursor.peek()
    }

    fn name(&mut self) -> Result<(usize, String), ImportError> {
        self.blank();
        let at = self.cursor.at;
        let name = self.cursor.eat_while(is_name_byte);
        if name.is_empty() || name[0].is_ascii_digit() {
            return Err(self.unexpected("expected a name"));
        }
        Ok((at, String::from_utf8_lossy(name).into_owned()))
    }

    /// Steps over `word` if it is the next word.
    fn eat_word(&mut self, word: &str) -> bool {
        self.blank();
        let mut look = self.cursor;
        let found = look.eat_while(is_name_byte) == word.as_bytes();
        if found {
            self.cursor = look;
        }
        found
    }

    fn header(&mut self) -> Result<(), ImportError> {
        self.file.kind = if self.eat_word("lexer") {
            Kind::Lexer
        } else if self.eat_word("parser") {
            Kind::Parser
        } else {
            Kind::Combined
        };
        if !self.eat_word("grammar") {
            return Err(self.unexpected("expected the word grammar"));
        }
        self.file.name = self.name()?.1;
        self.expect(";")
    }

    fn rules(&mut self) -> Result<(), ImportError> {
        let mut mode = 0;
        loop {
            match self.peek() {
                None => return Ok(()),
                Some(b'@') => self.named_action()?,
                Some(_) if self.eat_word("options") => {
                    for (name, value) in self.options()? {
                        match name.as_str() {
                            "tokenVocab" => self.file.vocabulary = Some(value),
                            "caseInsensitive" => self.any_case = value == "true",
                            _ => {}
                        }
                    }
                }
                Some(_) if self.eat_word("import") => {
                    let imports = self.names(b';')?;
                    self.file.imports.extend(imports);
                }
                Some(_) if self.eat_word("tokens") => {
                    self.expect("{")?;
                    let tokens = self.names(b'}')?;
                    self.file.tokens.extend(tokens);
                }
                Some(_) if self.eat_word("channels") => {
                    self.expect("{")?;
                    self.names(b'}')?;
                }
                Some(_) if self.eat_word("mode") => {
                    let (_, name) = self.name()?;
                    mode = self.mode(name);
                    self.expect(";")?;
                }
                Some(_) => self.rule(mode)?,
            }
        }
    }

    fn mode(&mut self, name: String) -> usize {
        let mode = self.file.modes.iter().position(|mode| *mode == name);
        mode.unwrap_or_else(|| {
            self.file.modes.push(name);
            self.file.modes.len() - 1
        })
    }

    /// `A, B = x`, and the closing byte.
    fn names(&mut self, close: u8) -> Result<Vec<(usize, String)>, ImportError> {
        let mut names = Vec::new();
        loop {
            match self.peek() {
                Some(byte) if byte == close => {
                    self.cursor.at += 1;
                    return Ok(names);
                }
                Some(b',' | b';') => self.cursor.at += 1,
                Some(b'=') => {
                    self.cursor.at += 1;
                    let right = self.name()?;
                    names.pop();
                    names.push(right);
                }
                _ => names.push(self.name()?),
            }
        }
    }

    /// `{ a = b; c = 'd'; }`
    fn options(&mut self) -> Result<Vec<(String, String)>, ImportError> {
        self.expect("{")?;
        let mut options = Vec::new();
        while !self.eat("}") {
            let (_, name) = self.name()?;
            self.expect("=")?;
            self.blank();
            let start = self.cursor.at;
            match self.cursor.peek() {
                Some(b'\'' | b'"') => ccode::skip_lexeme(&mut self.cursor),
                Some(b'{') => ccode::skip_braces(&mut self.cursor)?,
                _ => drop(self.cursor.eat_while(|b| b != b';' && b != b'}')),
            }
            let value = String::from_utf8_lossy(&self.cursor.source.bytes[start..self.cursor.at]);
            options.push((name, value.trim().trim_matches(['\'', '"']).to_owned()));
            self.eat(";");
        }
        Ok(options)
    }

    /// `@parser::members { … }`
    fn named_action(&mut self) -> Result<(), ImportError> {
        self.cursor.at += 1;
        self.name()?;
        if self.eat("::") {
            self.name()?;
        }
        self.blank();
        if self.cursor.peek() != Some(b'{') {
            return Err(self.unexpected("expected {"));
        }
        ccode::skip_braces(&mut self.cursor)
    }

    fn rule(&mut self, mode: usize) -> Result<(), ImportError> {
        for modifier in ["public", "private", "protected"] {
            self.eat_word(modifier);
        }
        let fragment = self.eat_word("fragment");
        let (at, name) = self.name()?;
        let in_lexer = is_token_name(&name);
        let mut any_case = self.any_case;
        // Arguments, results, local variables and actions of a parser rule.
        loop {
            match self.peek() {
                Some(b'[') => self.arguments()?,
                Some(b'@') => self.named_action()?,
                Some(b':') => break,
                Some(_) if self.eat_word("options") => {
                    for (name, value) in self.options()? {
                        if name == "caseInsensitive" {
                            any_case = value == "true";
                        }
                    }
                }
                Some(_) if self.eat_word("returns") || self.eat_word("locals") => {}
                Some(_) if self.eat_word("throws") => {
                    self.name()?;
                    while self.eat(",") || self.eat(".") {
                        self.name()?;
                    }
                }
                _ => return Err(self.unexpected(&format!("expected : in rule {name}"))),
            }
        }
        self.cursor.at += 1;
        let outer = std::mem::replace(&mut self.any_case, any_case);
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.alternative(in_lexer)?);
            if !self.eat("|") {
                break;
            }
        }
        self.expect(";")?;
        self.any_case = outer;
        while self.eat_word("catch") || self.eat_word("finally") {
            if self.peek() == Some(b'[') {
                self.arguments()?;
            }
            self.blank();
            ccode::skip_braces(&mut self.cursor)?;
        }
        self.file.rules.push(Rule { name, at, fragment, mode, alternatives });
        Ok(())
    }

    /// `[ … ]`, with brackets and strings inside.
    fn arguments(&mut self) -> Result<(), ImportError> {
        let open = self.cursor;
        let mut depth = 0;
        loop {
            match self.cursor.peek() {
                None => return Err(open.error("this [ is never closed")),
                Some(b'[') => depth += 1,
                Some(b']') => depth -= 1,
                Some(_) => {
                    ccode::skip_lexeme(&mut self.cursor);
                    continue;
                }
            }
            self.cursor.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn alternative(&mut self, in_lexer: bool) -> Result<Alternative, ImportError> {
        self.blank();
        let at = self.cursor.at;
        let mut found = Alternative {
            at,
            tree: Tree::Empty,
            label: None,
            right_assoc: false,
            commands: Vec::new(),
        };
        found.right_assoc = self.element_options()?;
        found.tree = self.sequence(in_lexer, &mut found.right_assoc)?;
        if self.eat("->") {
            loop {
                let (_, name) = self.name()?;
                let argument = if self.eat("(") {
                    self.blank();
                    let argument = self.cursor.eat_while(|b| is_name_byte(b) || b == b'-').to_vec();
                    self.expect(")")?;
                    Some(String::from_utf8_lossy(&argument).into_owned())
                } else {
                    None
                };
                found.commands.push((name, argument));
                if !self.eat(",") {
                    break;
                }
            }
        }
        if self.eat("#") {
            found.label = Some(self.name()?.1);
        }
        Ok(found)
    }

    /// Steps over `<…>`; true if it is `<assoc=right>`.
    fn element_options(&mut self) -> Result<bool, ImportError> {
        if !self.eat("<") {
            return Ok(false);
        }
        let inside = self.cursor.eat_while(|b| b != b'>');
        let right_assoc = String::from_utf8_lossy(inside).replace(' ', "") == "assoc=right";
        self.expect(">")?;
        Ok(right_assoc)
    }

    fn sequence(&mut self, in_lexer: bool, right_assoc: &mut bool) -> Result<Tree, ImportError> {
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                None | Some(b'|' | b')' | b';' | b'#') => return Ok(Tree::seq(parts)),
                Some(b'-') if self.cursor.starts_with("->") => return Ok(Tree::seq(parts)),
                Some(b'{') => self.action()?,
                Some(b'<') => *right_assoc |= self.element_options()?,
                Some(_) => parts.push(self.element(in_lexer, right_assoc)?),
            }
        }
    }

    /// `{ … }` and `{ … }?`
    fn action(&mut self) -> Result<(), ImportError> {
        let at = self.cursor.at;
        ccode::skip_braces(&mut self.cursor)?;
        if self.eat("?") {
            self.file.predicates.push(at);
            // `{…}?<fail={…}>`
            if self.eat("<") {
                while !self.eat(">") {
                    match self.cursor.peek() {
                        Some(b'{') => ccode::skip_braces(&mut self.cursor)?,
                        Some(_) => ccode::skip_lexeme(&mut self.cursor),
                        None => return Err(self.cursor.error("this < is never closed")),
                    }
                }
            }
        } else {
            let actions = self.file.actions.get_or_insert((at, 0));
            actions.1 += 1;
        }
        Ok(())
    }

    fn element(&mut self, in_lexer: bool, right_assoc: &mut bool) -> Result<Tree, ImportError> {
        let tree = self.atom(in_lexer, right_assoc)?;
        let (min, max) = match self.peek() {
            Some(b'?') => (0, Some(1)),
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            _ => return Ok(tree),
        };
        self.cursor.at += 1;
        let lazy = self.eat("?");
        Ok(Tree::Repeat { inner: Box::new(tree), min, max, lazy })
    }

    fn atom(&mut self, in_lexer: bool, right_assoc: &mut bool) -> Result<Tree, ImportError> {
        self.blank();
        let at = self.cursor.at;
        match self.cursor.peek() {
            Some(b'\'') => {
                let text = self.literal()?;
                let range = self.cursor.starts_with("..") || {
                    let mut look = self.cursor;
                    look.skip_space();
                    look.starts_with("..")
                };
                if range {
                    self.eat("..");
                    self.blank();
                    let high = self.literal()?;
                    return self.range(at, &text, &high);
                }
                let any_case = self.any_case;
                Ok(Tree::Literal { text: text.into_bytes(), any_case, at })
            }
            Some(b'[') if in_lexer => {
                let set = self.charset()?;
                let any_case = self.any_case;
                let set = if any_case { crate::tree::either_case(&set) } else { set };
                Ok(Tree::Chars { set, at })
            }
            Some(b'.') => {
                self.cursor.at += 1;
                Ok(if in_lexer {
                    Tree::any_char(at)
                } else {
                    // Any token: all but none.
                    Tree::Not { inner: Box::new(Tree::Alt(Vec::new())), at }
                })
            }
            Some(b'~') => {
                self.cursor.at += 1;
                self.enter_group()?;
                let inner = Box::new(self.atom(in_lexer, right_assoc)?);
                self.depth -= 1;
                Ok(Tree::Not { inner, at })
            }
            Some(b'(') => self.group(in_lexer, right_assoc),
            Some(byte) if is_name_byte(byte) && !byte.is_ascii_digit() => {
                let (at, name) = self.name()?;
                // `label=x` and `label+=x`
                let mut look = self.cursor;
                look.skip_space();
                if look.eat("+=") || (look.peek() == Some(b'=') && look.eat("=")) {
                    self.cursor = look;
                    self.enter_group()?;
                    let labelled = self.atom(in_lexer, right_assoc)?;
                    self.depth -= 1;
                    return Ok(labelled);
                }
                if !in_lexer && self.peek() == Some(b'[') {
                    self.arguments()?;
                }
                if self.peek() == Some(b'<') {
                    *right_assoc |= self.element_options()?;
                }
                Ok(if name == "EOF" { Tree::Empty } else { Tree::Name { name, at } })
            }
            _ => Err(self.unexpected("expected a name, a literal or a group")),
        }
    }

    fn enter_group(&mut self) -> Result<(), ImportError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            let message = format!("groups are nested more than {MAX_NESTING} deep");
            return Err(self.cursor.error(message));
        }
        Ok(())
    }

    fn group(&mut self, in_lexer: bool, right_assoc: &mut bool) -> Result<Tree, ImportError> {
        let open = self.cursor;
        self.enter_group()?;
        self.cursor.at += 1;
        if self.eat_word("options") {
            self.options()?;
        }
        // Options and actions may come first; a colon ends them.
        while self.peek() == Some(b'@') {
            self.named_action()?;
        }
        self.eat(":");
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.sequence(in_lexer, right_assoc)?);
            if !self.eat("|") {
                break;
            }
        }
        if !self.eat(")") {
            return Err(open.error("this group is never closed"));
        }
        self.depth -= 1;
        Ok(Tree::alt(alternatives))
    }

    fn range(&self, at: usize, low: &str, high: &str) -> Result<Tree, ImportError> {
        let one = |text: &str| {
            let mut chars = text.chars();
            chars.next().filter(|_| chars.next().is_none())
        };
        match (one(low), one(high)) {
            (Some(low), Some(high)) if low <= high => {
                let set = vec![(low as u32, high as u32)];
                let any_case = self.any_case;
                let set = if any_case { crate::tree::either_case(&set) } else { set };
                Ok(Tree::Chars { set, at })
            }
            _ => Err(self
                .cursor
                .source
                .error(at, "expected a range from a character to a later one")),
        }
    }

    /// `'…'`
    fn literal(&mut self) -> Result<String, ImportError> {
        let open = self.cursor;
        if !self.cursor.eat("'") {
            return Err(self.unexpected("expected a literal"));
        }
        let mut text = String::new();
        loop {
            match self.cursor.bump_char() {
                None | Some('\n') => return Err(open.error("this literal is never closed")),
                Some('\'') => return Ok(text),
                Some('\\') => match self.escape()? {
                    Escaped::Char(code) => text.extend(char::from_u32(code)),
                    Escaped::Set(_) => return Err(open.error("a literal cannot contain a class")),
                },
                Some(c) => text.push(c),
            }
        }
    }

    /// `[…]` of the lexer.
    fn charset(&mut self) -> Result<Ranges, ImportError> {
        let open = self.cursor;
        self.cursor.at += 1;
        let mut set: Ranges = Vec::new();
        // True behind a hyphen that makes a range.
        let mut in_range = false;
        loop {
            let code = match self.cursor.bump_char() {
                None | Some('\n') => return Err(open.error("this set is never closed")),
                Some(']') => {
                    if in_range {
                        set.push(('-' as u32, '-' as u32));
                    }
                    return Ok(set);
                }
                Some('-') if !set.is_empty() && !in_range => {
                    in_range = true;
                    continue;
                }
                Some('\\') => match self.escape()? {
                    Escaped::Char(code) => code,
                    Escaped::Set(class) => {
                        set.extend(class);
                        continue;
                    }
                },
                Some(c) => c as u32,
            };
            match set.last_mut().filter(|_| in_range) {
                Some((_, high)) if *high <= code => *high = code,
                Some(_) => {
                    return Err(open.error("a range in this set has its end before its start"));
                }
                None => set.push((code, code)),
            }
            in_range = false;
        }
    }

    fn escape(&mut self) -> Result<Escaped, ImportError> {
        let at = self.cursor;
        let unknown = |what: &str| at.error(format!("ANTLR has no escape {what}"));
        Ok(Escaped::Char(match self.cursor.bump_char() {
            Some('n') => 10,
            Some('r') => 13,
            Some('t') => 9,
            Some('b') => 8,
            Some('f') => 12,
            Some('u') => {
                let digits = if self.cursor.eat("{") {
                    let digits = self.cursor.eat_while(|b| b.is_ascii_hexdigit());
                    self.cursor.eat("}");
                    digits
                } else {
                    let rest = self.cursor.rest();
                    let digits = rest.get(..4).unwrap_or(rest);
                    self.cursor.at += digits.len();
                    digits
                };
                let code = u32::from_str_radix(&String::from_utf8_lossy(digits), 16);
                code.ok().filter(|code| *code <= LAST_CHAR).ok_or_else(|| unknown("\\u"))?
            }
            Some(kind @ ('p' | 'P')) => {
                if !self.cursor.eat("{") {
                    return Err(unknown("\\p without {"));
                }
                let name = self.cursor.eat_while(|b| b != b'}' && b != b'\n');
                self.cursor.eat("}");
                let name = String::from_utf8_lossy(name);
                let class =
                    property(kind, &name).ok_or_else(|| unknown(&format!("\\{kind}{{{name}}}")))?;
                return Ok(Escaped::Set(class));
            }
            Some(c) => c as u32,
            None => return Err(unknown("\\")),
        }))
    }
}

enum Escaped {
    Char(u32),
    Set(Ranges),
}

/// The characters of a Unicode property, from the crate regex-syntax.
fn property(kind: char, name: &str) -> Option<Ranges> {
    let pattern = format!("\\{kind}{{{}}}", name.replace('-', "_"));
    let parsed = regex_syntax::Parser::new().parse(&pattern).ok()?;
    match parsed.kind() {
        regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => {
            Some(class.ranges().iter().map(|r| (r.start() as u32, r.end() as u32)).collect())
        }
        regex_syntax::hir::HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            text.chars().next().map(|c| vec![(c as u32, c as u32)])
        }
        _ => None,
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
