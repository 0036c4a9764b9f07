//! lex and flex: which texts are which token.
//!
//! A rule of a lex file is a pattern and an action in C. Patterns are read exactly
//! ([`pattern`]); actions are read only if they have a plain form ([`action`]). A rule
//! that returns a token gives the token its pattern. A rule that returns nothing is a
//! separator.
//!
//! There are two kinds of start conditions. Some only *collect* the rest of a string or
//! comment: they become part of the token or separator that they end in
//! ([`crate::scanner`]). Others return tokens of their own. There the lexer depends on
//! what came before, but a [`Grammar`] has one set of tokens. So the grammar allows
//! these tokens everywhere, and the language is larger.

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
use pleach_grammar::{ByteSet, Grammar, Language, Regex};

/// True for `%%`. A yacc file has that, too, and is recognised before.
pub(super) fn recognises(bytes: &[u8]) -> bool {
    contains(bytes, b"\n%%")
}

/// A lex file alone: any sequence of its tokens.
pub(super) fn import(input: &Input) -> Result<Grammar, ImportError> {
    let source = Source::new(input.file, input.bytes)?;
    read(&source, None)?.into_grammar(source.place(0))
}

/// The lexicon of a lex file. `tokens` are the names of the parser's tokens; without
/// them, every name that an action returns is a token.
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
        let action = action::read_action(source, rule.action.clone(), tokens);
        let conditions = match &rule.conditions {
            Some(named) => named.clone(),
            None => (0..file.conditions.len()).filter(|c| !file.conditions[*c].exclusive).collect(),
        };
        let priority = rules.len() as u32 + KEYWORD_PRIORITY + 1;
        let at = rule.pattern.start;
        let names_conditions = rule.conditions.is_some();
        rules.push(Rule {
            at,
            regex,
            line_start,
            trailing,
            action,
            conditions,
            names_conditions,
            priority,
        });
    }
    let collecting = find_collecting(&file, &rules);
    let mut lexicon = Lexicon::default();
    lexicon.caseless = flags.ignore_case;
    lexicon.notes.extend(file.notes.iter().cloned());
    let mut importer = Importer { source, file: &file, rules: &rules, collecting, lexicon };
    importer.add_rules();
    Ok(importer.lexicon)
}

#[derive(Clone)]
struct Rule {
    at: usize,
    regex: Regex,
    line_start: bool,
    trailing: bool,
    action: Action,
    conditions: Vec<Condition>,
    /// True if the rule names its conditions, as in `<A,B>pattern`.
    names_conditions: bool,
    priority: u32,
}

impl Rule {
    /// True if the rule is active in a condition, and not only because an inclusive
    /// condition has all rules of INITIAL.
    fn belongs_to(&self, file: &File, here: Condition) -> bool {
        let is_own = self.names_conditions || here == 0 || file.conditions[here].exclusive;
        is_own && self.conditions.contains(&here)
    }

    fn returns_tokens(&self) -> bool {
        self.action.returns.iter().any(|r| *r != Returned::End)
    }

    /// The condition after a match. `None` if it is unknown; `BEGIN(caller)` and
    /// `yy_pop_state()` lead to a condition that does not collect.
    fn next(&self, file: &File, here: Condition) -> Option<Condition> {
        match &self.action.next {
            Next::Stay => Some(here),
            Next::To(name) => file.conditions.iter().position(|c| c.name == *name),
            Next::Back | Next::Computed => None,
        }
    }
}

/// True for each condition that only collects: no rule that returns a token leads to
/// it. An inclusive condition also has the rules of INITIAL, so it collects only if its
/// own rules match at almost every byte. Found by striking out candidates.
fn find_collecting(file: &File, rules: &[Rule]) -> Vec<bool> {
    let is_candidate = |here: Condition| {
        let own = rules.iter().filter(|rule| rule.belongs_to(file, here));
        let starts = own.fold(ByteSet::EMPTY, |set, rule| set.union(&first_bytes(&rule.regex)));
        here != 0 && (file.conditions[here].exclusive || starts.len() >= 255)
    };
    let mut collecting: Vec<bool> = (0..file.conditions.len()).map(is_candidate).collect();
    loop {
        let mut changed = false;
        for rule in rules.iter().filter(|rule| rule.returns_tokens()) {
            for &here in rule.conditions.iter().filter(|here| rule.belongs_to(file, **here)) {
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

struct Importer<'a> {
    source: &'a Source<'a>,
    file: &'a File,
    rules: &'a [Rule],
    collecting: Vec<bool>,
    lexicon: Lexicon,
}

impl Importer<'_> {
    fn note(&mut self, at: usize, change: Language, text: impl Into<String>) {
        self.lexicon.note(self.source, at, change, text);
    }

    fn add_rules(&mut self) {
        let rules = self.rules;
        let mut noted = HashSet::new();
        for rule in rules {
            if rule.action.switches_input {
                let text = "the action switches to another input, whose text is unknown";
                self.note(rule.at, Language::Smaller, text);
            }
            let Some(&here) = rule.conditions.iter().find(|c| !self.collecting[**c]) else {
                continue;
            };
            if here != 0 && noted.insert(here) {
                let name = &self.file.conditions[here].name;
                let text =
                    format!("the grammar allows the tokens of start condition {name} everywhere");
                self.note(rule.at, Language::Larger, text);
                self.lexicon.merges_states = true;
            }
            let entered = rule.next(self.file, here).filter(|next| self.collecting[*next]);
            match entered {
                Some(condition) if !rule.returns_tokens() => self.add_collected(rule, condition),
                _ => self.add_plain(rule),
            }
        }
        self.note_default_rule();
    }

    /// Adds a rule that matches a whole token or separator.
    fn add_plain(&mut self, rule: &Rule) {
        if rule.action.rematches {
            let text = "the action changes what it matched (REJECT, yyless, unput or yymore); \
                        the pattern is used unchanged";
            self.note(rule.at, Language::Unknown, text);
        }
        if rule.action.returns.is_empty() {
            return self.add_separator(rule);
        }
        // Without its context, a rule also wins over other rules where it should not.
        if rule.line_start {
            let text = "this pattern matches at the start of a line only; \
                        the grammar allows it everywhere";
            self.note(rule.at, Language::Unknown, text);
        }
        if rule.trailing {
            self.note(rule.at, Language::Unknown, "the trailing context is ignored");
        }
        self.add_token(rule, &rule.regex);
    }

    /// Adds `regex` as a pattern of all tokens that the rule returns.
    fn add_token(&mut self, rule: &Rule, regex: &Regex) {
        if rule.action.returns.len() > 1 {
            let text = "the action returns one of several tokens; each gets the pattern";
            self.note(rule.at, Language::Larger, text);
        }
        for returned in &rule.action.returns {
            let place = self.source.place(rule.at);
            match returned {
                Returned::Name(name) => {
                    let key = Key::Name(name.clone());
                    self.lexicon.add_token(key, regex.clone(), rule.priority, place);
                }
                Returned::Char(byte) => {
                    self.lexicon.add_token(Key::Char(*byte), regex.clone(), rule.priority, place);
                }
                Returned::FirstByte => match regex {
                    Regex::Class(set) => {
                        for byte in set.iter() {
                            self.lexicon.add_own_byte(byte, rule.priority, &place);
                        }
                    }
                    other => match first_byte(other) {
                        Some(byte) => {
                            let key = Key::Char(byte);
                            self.lexicon.add_token(key, regex.clone(), rule.priority, place);
                        }
                        None => {
                            let text = "the action returns the first byte of a longer match; \
                                        the rule is ignored";
                            self.note(rule.at, Language::Smaller, text);
                        }
                    },
                },
                Returned::End => {
                    let text = "the action ends the input; the rule is ignored";
                    self.note(rule.at, Language::Smaller, text);
                }
                Returned::Computed => {
                    self.lexicon.computes_tokens = true;
                    let text = "the action computes a token that it returns; which one is unknown";
                    self.note(rule.at, Language::Unknown, text);
                }
            }
        }
    }

    fn add_separator(&mut self, rule: &Rule) {
        let at = rule.at;
        if let Some((regex, what)) = comment_read_by_action(rule) {
            let text = format!("the action seems to read {what}; the rule is treated as that");
            self.note(at, Language::Unknown, text);
            return self.lexicon.add_separator("comment".into(), regex);
        }
        let (change, why) = if rule.action.reports_error {
            (Language::Same, "the action reports an error; the rule is ignored")
        } else if rule.action.reads_input {
            (Language::Smaller, "the action reads input itself; the rule is ignored")
        } else if matches!(&rule.regex, Regex::Class(set) if set.len() > 200) {
            (Language::Smaller, "the lexer skips any other byte; the grammar allows none of them")
        } else if rule.line_start {
            let text = "the lexer skips this at the start of a line only; the rule is ignored";
            (Language::Smaller, text)
        } else {
            return self.lexicon.add_separator(self.separator_name(at), rule.regex.clone());
        };
        self.note(at, change, why);
    }

    /// A separator is named by its pattern.
    fn separator_name(&self, at: usize) -> String {
        let rule = self.file.rules.iter().find(|rule| rule.pattern.start == at);
        let span = rule.map_or(at..at, |rule| rule.pattern.clone());
        crate::text::show(&self.source.bytes[span])
    }

    /// Adds a rule that opens a collecting condition: its match, and everything that the
    /// condition matches until it is left.
    fn add_collected(&mut self, opening: &Rule, entry: Condition) {
        let reachable = self.reachable(entry);
        // Exit 0 is without a token; each rule that returns a token has an exit.
        let mut exits: Vec<&Rule> = Vec::new();
        let mut conditions = Vec::new();
        for (here, collects) in self.collecting.iter().enumerate() {
            let mut rules = Vec::new();
            let own = self.rules.iter().filter(|rule| rule.belongs_to(self.file, here));
            for rule in own.filter(|_| *collects && reachable.contains(&here)) {
                let outcome = if rule.returns_tokens() {
                    exits.push(rule);
                    Outcome::Leave(exits.len())
                } else if rule.action.reports_error || rule.action.returns.contains(&Returned::End)
                {
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
        let Some(rests) = scanner::collect_texts(&conditions, entry, exits.len() + 1) else {
            let name = &self.file.conditions[entry].name;
            let text = format!(
                "the texts of start condition {name} are too large for one expression; \
                 the rule is ignored"
            );
            return self.note(opening.at, Language::Smaller, text);
        };
        for (exit, rest) in rests.into_iter().enumerate() {
            if rest.is_nothing() {
                continue;
            }
            let whole = Regex::concat([opening.regex.clone(), rest]);
            match exit.checked_sub(1).map(|exit| exits[exit]) {
                None => {
                    let name = self.file.conditions[entry].name.to_lowercase();
                    self.lexicon.add_separator(name, whole);
                }
                Some(rule) => {
                    self.add_token(&Rule { priority: opening.priority, ..rule.clone() }, &whole)
                }
            }
        }
    }

    /// The collecting conditions that `entry` leads to.
    fn reachable(&self, entry: Condition) -> HashSet<Condition> {
        let mut found = HashSet::new();
        let mut stack = vec![entry];
        while let Some(here) = stack.pop() {
            if found.insert(here) {
                let own = self.rules.iter().filter(|rule| rule.belongs_to(self.file, here));
                let next = own.filter_map(|rule| rule.next(self.file, here));
                stack.extend(next.filter(|next| self.collecting[*next]));
            }
        }
        found
    }

    /// Text that no rule matches is copied to the output by flex, and skipped.
    fn note_default_rule(&mut self) {
        let is_any = |rule: &Rule| matches!(&rule.regex, Regex::Class(set) if set.len() >= 255);
        let has_any = self.rules.iter().any(|rule| rule.conditions.contains(&0) && is_any(rule));
        if !has_any && !self.file.options.no_default {
            let text = "the lexer skips text that no rule matches; the grammar allows no such text";
            self.note(0, Language::Smaller, text);
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

/// A comment whose end the action finds in C: its texts, and what it is in words.
fn comment_read_by_action(rule: &Rule) -> Option<(Regex, &'static str)> {
    if !rule.action.calls && !rule.action.reads_input {
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
