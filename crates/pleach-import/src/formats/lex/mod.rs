//! lex and flex: which texts are which token.
//!
//! A lex file is patterns and C. The patterns are taken exactly ([`pattern`]);
//! what happens on a match is read off the C where it is plain ([`action`]). A
//! rule that returns a token gives that token its pattern, a rule that returns
//! nothing is a separator.
//!
//! Start conditions come in two kinds. Those that only *collect* (a string, a
//! comment) are folded into the token or separator that they end in
//! ([`crate::scanner`]). Those that return tokens of their own make the lexer depend on
//! what came before; a [`Grammar`] has one set of tokens, so the tokens of all
//! such conditions are taken everywhere, and the language is larger.

mod action;
pub(crate) mod parse;
pub(crate) mod pattern;

use std::collections::HashSet;

pub(crate) use self::action::Names;
use self::action::{Action, Next, Returned};
use self::parse::{Condition, File};
use self::pattern::{Flags, Parsed, Patterns};
use super::Input;
use crate::ImportError;
use crate::lexicon::{KEYWORD_PRIORITY, Key, Lexicon};
use crate::scanner::{self, Outcome};
use crate::text::{Source, contains};
use pleach_grammar::{ByteSet, Grammar, Language, Regex, Severity};

/// True for `%%`. A yacc file has that, too, and is recognised before.
pub(super) fn recognizes(bytes: &[u8]) -> bool {
    contains(bytes, b"\n%%")
}

/// A lex file alone: any sequence of its tokens.
pub(super) fn import(input: &Input) -> Result<Grammar, ImportError> {
    let source = Source::new(input.file, input.bytes)?;
    read(&source, None)?.into_grammar(source.place(0))
}

/// What a lex file says about the tokens of a parser (by name; any without one).
pub(crate) fn read(source: &Source, tokens: Option<&Names>) -> Result<Lexicon, ImportError> {
    let file = parse::parse(source)?;
    let flags = Flags {
        ignore_case: file.options.ignore_case,
        seven_bit: file.options.seven_bit,
        ..Flags::default()
    };
    let mut patterns = Patterns::new(source, &file.definitions);
    let mut rules = Vec::new();
    for rule in &file.rules {
        if rule.eof {
            continue;
        }
        let Parsed { regex, line_start, trailing } = patterns.parse(rule.pattern.clone(), flags)?;
        let action = action::understand(source, rule.action.clone(), tokens);
        let conditions = match &rule.conditions {
            Some(named) => named.clone(),
            None => (0..file.conditions.len()).filter(|c| !file.conditions[*c].exclusive).collect(),
        };
        let priority = rules.len() as u32 + KEYWORD_PRIORITY + 1;
        let at = rule.pattern.start;
        let named = rule.conditions.is_some();
        rules.push(Rule { at, regex, line_start, trailing, action, conditions, named, priority });
    }
    let collecting = collecting(&file, &rules);
    let mut lexicon = Lexicon::default();
    lexicon.caseless = flags.ignore_case;
    lexicon.notes.extend(file.notes.iter().cloned());
    let mut reading = Reading { source, file: &file, rules: &rules, collecting, lexicon };
    reading.rules();
    Ok(reading.lexicon)
}

struct Rule {
    at: usize,
    regex: Regex,
    line_start: bool,
    trailing: bool,
    action: Action,
    conditions: Vec<Condition>,
    /// The conditions stand in front of it.
    named: bool,
    priority: u32,
}

impl Rule {
    /// Active in a condition because it names it, or because it must.
    fn collects(&self, file: &File, here: Condition) -> bool {
        let named = self.named || here == 0 || file.conditions[here].exclusive;
        named && self.conditions.contains(&here)
    }

    fn returns_tokens(&self) -> bool {
        self.action.returns.iter().any(|r| *r != Returned::End)
    }

    /// The condition that it goes to; `None` where that cannot be said, which for
    /// `BEGIN(caller)` and `yy_pop_state()` is one that is not collecting.
    fn next(&self, file: &File, here: Condition) -> Option<Condition> {
        match &self.action.next {
            Next::Stay => Some(here),
            Next::To(name) => file.conditions.iter().position(|c| c.name == *name),
            Next::Back | Next::Computed => None,
        }
    }
}

/// The conditions that only collect: entered without a token, and left whenever
/// one is returned. Found by taking all and striking out. An inclusive condition
/// has the rules of INITIAL too; it collects if its own leave nothing to them.
fn collecting(file: &File, rules: &[Rule]) -> Vec<bool> {
    let candidate = |here: Condition| {
        let own = rules.iter().filter(|rule| rule.collects(file, here));
        let starts = own.fold(ByteSet::EMPTY, |set, rule| set.union(&first_bytes(&rule.regex)));
        here != 0 && (file.conditions[here].exclusive || starts.len() >= 255)
    };
    let mut collecting: Vec<bool> = (0..file.conditions.len()).map(candidate).collect();
    loop {
        let mut changed = false;
        for rule in rules.iter().filter(|rule| rule.returns_tokens()) {
            for &here in rule.conditions.iter().filter(|here| rule.collects(file, **here)) {
                let Some(next) = rule.next(file, here) else { continue };
                if collecting[next] {
                    changed = true;
                    collecting[next] = false;
                }
            }
        }
        if !changed {
            return collecting;
        }
    }
}

struct Reading<'a> {
    source: &'a Source<'a>,
    file: &'a File,
    rules: &'a [Rule],
    collecting: Vec<bool>,
    lexicon: Lexicon,
}

impl Reading<'_> {
    fn note(&mut self, at: usize, change: Language, text: impl Into<String>) {
        let severity = if change == Language::Same { Severity::Info } else { Severity::Warning };
        self.lexicon.notes.push(self.source.note(at, severity, text));
        self.lexicon.language = self.lexicon.language.combine(change);
    }

    fn rules(&mut self) {
        let rules = self.rules;
        let mut noted = HashSet::new();
        for rule in rules {
            if rule.action.includes {
                let text = "the action turns to another file, and what is there is not known";
                self.note(rule.at, Language::Smaller, text);
            }
            let Some(&here) = rule.conditions.iter().find(|c| !self.collecting[**c]) else {
                continue;
            };
            if here != 0 && noted.insert(here) {
                let name = &self.file.conditions[here].name;
                let text = format!("what <{name}> matches is taken everywhere");
                self.note(rule.at, Language::Larger, text);
                self.lexicon.merged = true;
            }
            let entered = rule.next(self.file, here).filter(|next| self.collecting[*next]);
            match entered {
                Some(condition) if !rule.returns_tokens() => self.collected(rule, condition),
                _ => self.plain(rule),
            }
        }
        self.default_rule();
    }

    fn plain(&mut self, rule: &Rule) {
        if rule.action.rematches {
            let text = "the action gives back or asks for more of what it matched; \
                        the pattern is taken as it is";
            self.note(rule.at, Language::Unknown, text);
        }
        if rule.action.returns.is_empty() {
            return self.separator(rule);
        }
        // Such a rule takes texts that the program's lexer leaves to others.
        if rule.line_start {
            self.note(
                rule.at,
                Language::Unknown,
                "matches at the start of a line only; taken everywhere",
            );
        }
        if rule.trailing {
            self.note(rule.at, Language::Unknown, "what must follow the match is left out");
        }
        self.token(rule, &rule.regex);
    }

    /// Gives `regex` to what the rule returns.
    fn token(&mut self, rule: &Rule, regex: &Regex) {
        if rule.action.returns.len() > 1 {
            self.note(
                rule.at,
                Language::Larger,
                "the action returns one of several tokens; the pattern is taken for each",
            );
        }
        for returned in &rule.action.returns {
            let place = self.source.place(rule.at);
            match returned {
                Returned::Name(name) => {
                    self.lexicon.token(
                        Key::Name(name.clone()),
                        regex.clone(),
                        rule.priority,
                        place,
                    );
                }
                Returned::Char(byte) => {
                    self.lexicon.token(Key::Char(*byte), regex.clone(), rule.priority, place);
                }
                Returned::FirstByte => match regex {
                    Regex::Class(set) => {
                        for byte in set.iter() {
                            let key = Key::Char(byte);
                            self.lexicon.own_char(key, Regex::byte(byte), rule.priority, &place);
                        }
                    }
                    other => match first_byte(other) {
                        Some(byte) => {
                            let key = Key::Char(byte);
                            self.lexicon.token(key, regex.clone(), rule.priority, place);
                        }
                        None => self.note(
                            rule.at,
                            Language::Smaller,
                            "the action returns the first byte of a longer match; left out",
                        ),
                    },
                },
                Returned::End => self.note(
                    rule.at,
                    Language::Smaller,
                    "the action ends the input here; the rule is left out",
                ),
                Returned::Computed => {
                    self.lexicon.computed.push((regex.clone(), rule.priority, place));
                    self.note(
                        rule.at,
                        Language::Unknown,
                        "which token the action returns cannot be read off it",
                    );
                }
            }
        }
    }

    fn separator(&mut self, rule: &Rule) {
        let at = rule.at;
        if let Some((regex, what)) = by_hand(rule) {
            let text = format!("the action seems to read {what}, and is taken for that");
            self.note(at, Language::Unknown, text);
            return self.lexicon.separator("comment".into(), regex);
        }
        let (change, why) = if rule.action.complains {
            (Language::Same, "the action complains; the rule is left out")
        } else if rule.action.reads {
            (Language::Smaller, "the action reads on by itself; the rule is left out")
        } else if matches!(&rule.regex, Regex::Class(set) if set.len() > 200) {
            (Language::Smaller, "any other byte is skipped by the lexer; that is left out")
        } else if rule.line_start {
            (Language::Smaller, "skipped at the start of a line only; left out")
        } else {
            return self.lexicon.separator(self.separator_name(at), rule.regex.clone());
        };
        self.note(at, change, why);
    }

    /// As a person would find it: the pattern itself.
    fn separator_name(&self, at: usize) -> String {
        let rule = self.file.rules.iter().find(|rule| rule.pattern.start == at);
        let span = rule.map_or(at..at, |rule| rule.pattern.clone());
        crate::text::shown(&self.source.bytes[span])
    }

    /// A rule that opens a condition which collects: its match, and all that the
    /// condition can match up to where it is left.
    fn collected(&mut self, opening: &Rule, entry: Condition) {
        let reachable = self.reachable(entry);
        // Ways of leaving: 0 without a token, and one for each rule with one.
        let mut ways: Vec<&Rule> = Vec::new();
        let mut conditions = Vec::new();
        for (here, collects) in self.collecting.iter().enumerate() {
            let mut rules = Vec::new();
            let active = self.rules.iter().filter(|rule| rule.collects(self.file, here));
            for rule in active.filter(|_| *collects && reachable.contains(&here)) {
                let outcome = if rule.returns_tokens() {
                    ways.push(rule);
                    Outcome::Leave(ways.len())
                } else if rule.action.complains || rule.action.returns.contains(&Returned::End) {
                    Outcome::Fail
                } else {
                    match rule.next(self.file, here).filter(|next| self.collecting[*next]) {
                        Some(next) => Outcome::Continue(next),
                        None => Outcome::Leave(0),
                    }
                };
                rules.push((rule.regex.clone(), outcome));
            }
            conditions.push(rules);
        }
        let Some(found) = scanner::collected(&conditions, entry, ways.len() + 1) else {
            let name = &self.file.conditions[entry].name;
            let text = format!("what <{name}> collects is too large for one expression; left out");
            return self.note(opening.at, Language::Smaller, text);
        };
        for (way, rest) in found.into_iter().enumerate() {
            if rest.is_nothing() {
                continue;
            }
            let whole = Regex::concat([opening.regex.clone(), rest]);
            match way.checked_sub(1).map(|way| ways[way]) {
                None => {
                    let name = self.file.conditions[entry].name.to_lowercase();
                    self.lexicon.separator(name, whole);
                }
                Some(rule) => {
                    self.token(&Rule { priority: opening.priority, ..rule.copy() }, &whole)
                }
            }
        }
    }

    /// The collecting conditions that one leads to.
    fn reachable(&self, entry: Condition) -> HashSet<Condition> {
        let mut found = HashSet::new();
        let mut stack = vec![entry];
        while let Some(here) = stack.pop() {
            if found.insert(here) {
                let active = self.rules.iter().filter(|rule| rule.collects(self.file, here));
                let next = active.filter_map(|rule| rule.next(self.file, here));
                stack.extend(next.filter(|next| self.collecting[*next]));
            }
        }
        found
    }

    /// flex copies what no rule matches to its output and goes on.
    fn default_rule(&mut self) {
        let catches = |rule: &Rule| matches!(&rule.regex, Regex::Class(set) if set.len() >= 255);
        let caught = self.rules.iter().any(|rule| rule.conditions.contains(&0) && catches(rule));
        if !caught && !self.file.options.no_default {
            let text = "text that no rule matches is skipped by the lexer; that is left out";
            self.note(0, Language::Smaller, text);
        }
    }
}

impl Rule {
    fn copy(&self) -> Rule {
        Rule {
            regex: self.regex.clone(),
            action: self.action.clone(),
            conditions: self.conditions.clone(),
            ..*self
        }
    }
}

/// The byte that all matches start with.
fn first_byte(regex: &Regex) -> Option<u8> {
    match regex {
        Regex::Class(set) if set.len() == 1 => set.iter().next(),
        Regex::Concat(parts) => first_byte(parts.first()?),
        Regex::Repeat { inner, min: 1.., .. } => first_byte(inner),
        _ => None,
    }
}

/// The bytes that a match can start with.
fn first_bytes(regex: &Regex) -> ByteSet {
    match regex {
        Regex::Empty => ByteSet::EMPTY,
        Regex::Class(set) => *set,
        Regex::Alt(parts) => {
            parts.iter().fold(ByteSet::EMPTY, |set, part| set.union(&first_bytes(part)))
        }
        Regex::Concat(parts) => {
            let mut set = ByteSet::EMPTY;
            for part in parts {
                set = set.union(&first_bytes(part));
                if !part.matches_empty() {
                    break;
                }
            }
            set
        }
        Regex::Repeat { inner, .. } => first_bytes(inner),
    }
}

/// A comment whose end the action looks for in C.
fn by_hand(rule: &Rule) -> Option<(Regex, &'static str)> {
    if !rule.action.calls && !rule.action.reads {
        return None;
    }
    match crate::lexicon::literal_of(&rule.regex)?.as_slice() {
        b"/*" => Some((c_comment(), "a comment to */")),
        b"//" | b"#" | b";" | b"--" => {
            let rest = Regex::star(Regex::Class(ByteSet::of(b'\n').complement()));
            let whole = Regex::concat([rule.regex.clone(), rest]);
            Some((whole, "a comment to the end of the line"))
        }
        _ => None,
    }
}

/// `/* … */`
fn c_comment() -> Regex {
    let star = Regex::byte(b'*');
    let mut other = ByteSet::of(b'*').complement();
    let no_star = Regex::Class(other);
    other.remove(b'/');
    let step = Regex::concat([Regex::plus(star.clone()), Regex::Class(other)]);
    Regex::concat([
        Regex::literal(b"/*"),
        Regex::star(Regex::alt([no_star, step])),
        Regex::plus(star),
        Regex::byte(b'/'),
    ])
}
