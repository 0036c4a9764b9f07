//! ANTLR 4: combined grammars, and lexer and parser grammars apart.
//!
//! Rules that start with a capital letter are tokens. Fragments and other tokens
//! in them are expanded, so a token is one expression over the bytes of UTF-8; a
//! lazy repetition such as `.*?` is made exact ([`crate::tree`]). `-> skip` and
//! `-> channel(…)` make separators: the parser does not see such tokens. Modes
//! are like the start conditions of lex: tokens of every mode are taken
//! everywhere; `-> more` is followed through the modes to the token it ends in.
//!
//! Predicates and actions are code of a target language and are left out. A
//! predicate only ever forbids, so without it the language is larger.

mod parse;

use std::collections::{HashMap, HashSet};

use self::parse::{Alternative, File, Kind, Rule, is_token_name};
use super::Input;
use crate::ImportError;
use crate::lexicon::{Key, Lexicon, catches_all, pattern_of};
use crate::scanner::{self, Outcome};
use crate::text::{Source, has_line_start};
use crate::tree::{Expander, Lowerer, Tree};
use pleach_grammar::builder::Attributes;
use pleach_grammar::{Assoc, Grammar, Language, Pattern, Precedence, Regex, Severity, Token};

/// How often a token may be expanded inside itself: nested comments.
const NESTED_TOKENS: usize = 2;
/// Symbols that negated sets of tokens in parser rules may take together.
const MAX_NEGATED: usize = 1_000_000;

/// Finds a file that a grammar names, by its name without `.g4`: a name for
/// messages, and the text.
type Finder<'f> = dyn FnMut(&str) -> Option<(String, Vec<u8>)> + 'f;

pub(super) fn recognizes(bytes: &[u8]) -> bool {
    let words: [&[u8]; 3] = [b"grammar ", b"lexer grammar ", b"parser grammar "];
    words.iter().any(|word| has_line_start(bytes, word))
}

/// Reads a grammar, and the files that it names: its lexer (`tokenVocab`) and its
/// imports.
pub(super) fn import(input: &Input) -> Result<Grammar, ImportError> {
    // The user's lexer answers the first question, whatever name the grammar has for it.
    let mut given = input.lexer.map(|(name, text)| (name.to_owned(), text.to_vec()));
    let mut find = |name: &str| given.take().or_else(|| (input.find)(name));
    let texts = gather(input.file, input.bytes, &mut find)?;
    let source = Source::joined(&texts)?;
    let files = source.files().into_iter().map(|span| parse::parse(&source, span));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let known: HashSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let mut lowerer = Lowerer::new(&source);
    for file in &files {
        report(file, &known, &mut lowerer);
    }
    let merged = merge(&files);
    let lexicon = Lexing::new(&source, &merged).lexicon()?;
    if merged.parser.is_empty() {
        return lexicon.into_grammar(source.place(0));
    }
    Parsing { lowerer, merged: &merged, negated: HashMap::new(), spent: 0 }.grammar(lexicon)
}

/// The file and all that it names, each once.
fn gather(
    file: &str,
    bytes: &[u8],
    find: &mut Finder,
) -> Result<Vec<(String, Vec<u8>)>, ImportError> {
    /// A grammar of so many files is none.
    const MOST: usize = 64;
    let mut texts = vec![(file.to_owned(), bytes.to_vec())];
    let mut asked = HashSet::new();
    let mut next = 0;
    while next < texts.len() && texts.len() < MOST {
        let (name, text) = &texts[next];
        let source = Source::text(name, text)?;
        let span = source.files().remove(0);
        let parsed = parse::parse(&source, span)?;
        asked.insert(parsed.name);
        let wanted = parsed.vocabulary.into_iter().chain(parsed.imports.into_iter().map(|i| i.1));
        for name in wanted.collect::<Vec<_>>() {
            if asked.insert(name.clone()) {
                texts.extend(find(&name));
            }
        }
        next += 1;
    }
    Ok(texts)
}

/// What a file has that a grammar cannot.
fn report(file: &File, known: &HashSet<&str>, lowerer: &mut Lowerer) {
    for (at, name) in file.imports.iter().filter(|(_, name)| !known.contains(name.as_str())) {
        lowerer.note(*at, Language::Unknown, format!("{name}.g4 was not found; not imported"));
    }
    for at in &file.predicates {
        lowerer.note(*at, Language::Larger, "a predicate is left out");
    }
    if let Some((at, count)) = file.actions {
        let text = format!("actions are left out; the first of {count} is here");
        lowerer.note(at, Language::Same, text);
    }
}

/// The rules of all files; the first definition of a name counts.
struct Merged<'a> {
    parser: Vec<&'a Rule>,
    /// With the mode, by its number among all files' modes.
    lexer: Vec<(&'a Rule, usize)>,
    modes: Vec<&'a str>,
    declared: Vec<(usize, &'a str)>,
    trees: HashMap<&'a str, Tree>,
    /// Names of tokens may be unknown: the lexer was not found.
    open: bool,
}

fn merge(files: &[File]) -> Merged<'_> {
    let mut modes: Vec<&str> = Vec::new();
    let mut merged = Merged {
        parser: Vec::new(),
        lexer: Vec::new(),
        modes: Vec::new(),
        declared: Vec::new(),
        trees: HashMap::new(),
        open: !files.iter().any(|file| file.kind != Kind::Parser),
    };
    let mut seen = HashSet::new();
    for file in files {
        for rule in &file.rules {
            if !seen.insert(rule.name.as_str()) {
                continue;
            }
            if !rule.is_token() {
                merged.parser.push(rule);
                continue;
            }
            let mode = file.modes[rule.mode].as_str();
            let mode = modes.iter().position(|known| *known == mode).unwrap_or_else(|| {
                modes.push(mode);
                modes.len() - 1
            });
            merged.lexer.push((rule, mode));
            let trees = rule.alternatives.iter().map(|a| a.tree.clone()).collect();
            merged.trees.insert(&rule.name, Tree::alt(trees));
        }
        merged.declared.extend(file.tokens.iter().map(|(at, name)| (*at, name.as_str())));
    }
    merged.modes = modes;
    merged
}

/// One alternative of a lexer rule, ready to be matched.
struct Match<'a> {
    rule: &'a Rule,
    regex: Regex,
    mode: usize,
    /// `more`: the match goes on.
    more: bool,
    /// Where the lexer is afterwards.
    next: usize,
    /// `skip` or a channel.
    hidden: bool,
    token: &'a str,
    priority: u32,
}

struct Lexing<'a> {
    merged: &'a Merged<'a>,
    expander: Expander<'a>,
    lexicon: Lexicon,
}

impl<'a> Lexing<'a> {
    fn new(source: &'a Source<'a>, merged: &'a Merged<'a>) -> Lexing<'a> {
        let trees = merged.trees.iter().map(|(name, tree)| (*name, tree)).collect();
        let expander = Expander::new(source, trees, NESTED_TOKENS);
        Lexing { merged, expander, lexicon: Lexicon::default() }
    }

    fn lexicon(mut self) -> Result<Lexicon, ImportError> {
        let mut matches = Vec::new();
        let rules = self.merged.lexer.iter().filter(|(rule, _)| !rule.fragment);
        for (priority, (rule, mode)) in rules.enumerate() {
            for alternative in &rule.alternatives {
                let regex = self.expander.token(&alternative.tree, alternative.at)?;
                matches.push(self.matching(rule, alternative, regex, *mode, priority as u32));
            }
        }
        let begins = self.beginning(&matches);
        let mut noted = HashSet::new();
        for matched in matches.iter().filter(|matched| begins.contains(&matched.mode)) {
            if matched.mode != 0 && noted.insert(matched.mode) {
                let text = format!(
                    "what mode {} matches is taken everywhere",
                    self.merged.modes[matched.mode]
                );
                // More strings of tokens; but in the text, a match of another mode
                // can be longer than the one that is meant.
                self.note(matched.rule.at, Language::Unknown, text);
                self.lexicon.merged = true;
            }
            if matched.more {
                self.follow(matched, &matches);
            } else {
                self.add(matched, matched.regex.clone(), matched.priority);
            }
        }
        for (at, change, text) in std::mem::take(&mut self.expander.found) {
            self.note(at, change, text);
        }
        Ok(self.lexicon)
    }

    fn note(&mut self, at: usize, change: Language, text: impl Into<String>) {
        let severity = if change == Language::Same { Severity::Info } else { Severity::Warning };
        self.lexicon.notes.push(self.expander.source.note(at, severity, text));
        self.lexicon.language = self.lexicon.language.combine(change);
    }

    fn matching(
        &mut self,
        rule: &'a Rule,
        alternative: &'a Alternative,
        regex: Regex,
        mode: usize,
        priority: u32,
    ) -> Match<'a> {
        let (more, hidden, token) = (false, false, rule.name.as_str());
        let mut found = Match { rule, regex, mode, more, next: mode, hidden, token, priority };
        for (command, argument) in &alternative.commands {
            match (command.as_str(), argument) {
                ("skip" | "channel", _) => found.hidden = true,
                ("more", _) => found.more = true,
                ("type", Some(token)) => found.token = token,
                ("mode" | "pushMode", Some(name)) => {
                    let known = self.merged.modes.iter().position(|mode| mode == name);
                    found.next = known.unwrap_or(0);
                }
                // Back to where it came from: nearly always the default mode.
                ("popMode", _) => found.next = 0,
                _ => {
                    let text = format!("-> {command} is not known and left out");
                    self.note(alternative.at, Language::Unknown, text);
                }
            }
        }
        found
    }

    fn add(&mut self, matched: &Match, regex: Regex, priority: u32) {
        if regex.matches_empty() && !matched.hidden {
            let text = format!("{} can match nothing at all", matched.rule.name);
            self.note(matched.rule.at, Language::Same, text);
        }
        if matched.hidden {
            self.lexicon.separator(matched.token.to_owned(), regex);
        } else {
            let key = Key::Name(matched.token.to_owned());
            let place = self.expander.source.place(matched.rule.at);
            self.lexicon.token(key, regex, priority, place);
        }
    }

    /// The modes in which a token can begin: not those that only go on.
    fn beginning(&self, matches: &[Match]) -> HashSet<usize> {
        let mut found = HashSet::new();
        // A mode that no command names is entered by an action.
        let named = |mode: usize| matches.iter().any(|m| m.mode != mode && m.next == mode);
        let modes = 0..self.merged.modes.len();
        let mut waiting: Vec<usize> = modes.filter(|mode| *mode == 0 || !named(*mode)).collect();
        while let Some(mode) = waiting.pop() {
            if found.insert(mode) {
                for matched in matches.iter().filter(|matched| matched.mode == mode) {
                    match matched.more {
                        false => waiting.push(matched.next),
                        // What it ends with may go elsewhere.
                        true => {
                            let ends = following(matches, matched.next);
                            let ends = matches.iter().filter(|m| ends.contains(&m.mode) && !m.more);
                            waiting.extend(ends.map(|end| end.next));
                        }
                    }
                }
            }
        }
        found
    }

    /// All that can follow a match that goes on, up to a match that does not.
    fn follow(&mut self, opening: &Match, matches: &[Match]) {
        let reachable = following(matches, opening.next);
        let mut ways: Vec<&Match> = Vec::new();
        let mut modes = Vec::new();
        for mode in 0..self.merged.modes.len() {
            let mut rules = Vec::new();
            let here = |matched: &&Match| matched.mode == mode && reachable.contains(&mode);
            for matched in matches.iter().filter(here) {
                let outcome = if matched.more {
                    Outcome::Continue(matched.next)
                } else {
                    ways.push(matched);
                    Outcome::Leave(ways.len() - 1)
                };
                rules.push((matched.regex.clone(), outcome));
            }
            modes.push(rules);
        }
        let found = scanner::collected(&modes, opening.next, ways.len());
        let Some(found) = found else {
            let text =
                format!("what follows {} is too large for one expression", opening.rule.name);
            return self.note(opening.rule.at, Language::Smaller, text);
        };
        for (rest, end) in found.into_iter().zip(ways).filter(|(rest, _)| !rest.is_nothing()) {
            self.add(end, Regex::concat([opening.regex.clone(), rest]), opening.priority);
        }
    }
}

/// The modes that a match which goes on can lead through.
fn following(matches: &[Match], entry: usize) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut waiting = vec![entry];
    while let Some(mode) = waiting.pop() {
        if found.insert(mode) {
            let here = matches.iter().filter(|matched| matched.mode == mode && matched.more);
            waiting.extend(here.map(|matched| matched.next));
        }
    }
    found
}

struct Parsing<'a> {
    lowerer: Lowerer<'a>,
    merged: &'a Merged<'a>,
    /// Rules for negated sets of tokens, by what is excluded.
    negated: HashMap<Vec<String>, String>,
    spent: usize,
}

impl Parsing<'_> {
    fn grammar(mut self, lexicon: Lexicon) -> Result<Grammar, ImportError> {
        // Texts in parser rules come before the rules of the lexer.
        let texts = self.texts();
        let first = self.lowerer.builder.tokens().len() as u32;
        let mut used: HashSet<&str> = HashSet::new();
        for alternative in self.merged.parser.iter().flat_map(|rule| &rule.alternatives) {
            alternative.tree.visit(&mut |tree| {
                if let Tree::Name { name, .. } = tree {
                    used.insert(name);
                }
            });
        }
        for entry in &lexicon.entries {
            let Key::Name(name) = &entry.key else { continue };
            if catches_all(&entry.regex) && !used.contains(name.as_str()) {
                continue;
            }
            self.lowerer.builder.token(Token {
                name: name.clone(),
                pattern: pattern_of(entry.regex.clone()),
                number: None,
                place: entry.place.clone(),
                precedence: None,
                priority: first + 1 + entry.priority,
            });
        }
        lexicon.hand_over(&mut self.lowerer.builder);
        self.unknown_tokens();
        let mut rules = Vec::new();
        for rule in &self.merged.parser {
            for (index, alternative) in rule.alternatives.iter().enumerate() {
                let tree = self.resolved(&alternative.tree, &texts)?;
                rules.push((*rule, index, alternative, tree));
            }
        }
        for rule in &self.merged.parser {
            let place = self.lowerer.source.place(rule.at);
            self.lowerer.builder.rule(&rule.name, place);
        }
        for (rule, index, alternative, tree) in rules {
            let place = self.lowerer.source.place(alternative.at);
            let attributes = Attributes {
                label: alternative.label.clone(),
                precedence: precedence(rule, index),
                ..Attributes::at(place.clone())
            };
            let body = self.lowerer.lower(&tree)?;
            let id = self.lowerer.builder.rule(&rule.name, place);
            self.lowerer.builder.production(id, body, attributes);
        }
        Ok(self.lowerer.builder.finish()?)
    }

    /// The token of each text in a parser rule: the rule of the lexer that is just
    /// this text, or a token of its own.
    fn texts(&mut self) -> HashMap<Vec<u8>, Option<String>> {
        let mut alone: HashMap<Vec<u8>, &str> = HashMap::new();
        for (rule, _) in self.merged.lexer.iter().filter(|(rule, _)| !rule.fragment) {
            if let [Alternative { tree: Tree::Literal { text, any_case: false, .. }, commands, .. }] =
                &rule.alternatives[..]
                && commands.is_empty()
            {
                alone.entry(text.clone()).or_insert(&rule.name);
            }
        }
        let mut found = HashMap::new();
        for rule in &self.merged.parser {
            for alternative in &rule.alternatives {
                alternative.tree.visit(&mut |tree| {
                    if let Tree::Literal { text, at, any_case } = tree
                        && !found.contains_key(text)
                    {
                        let known = alone.get(text).map(|name| (*name).to_owned());
                        if known.is_none() && !any_case {
                            self.lowerer.builder.literal(text, self.lowerer.source.place(*at));
                        }
                        found.insert(text.clone(), known);
                    }
                });
            }
        }
        found
    }

    /// Tokens that are declared or used and have no rule.
    fn unknown_tokens(&mut self) {
        let mut wanted: Vec<(usize, &str)> = self.merged.declared.clone();
        if self.merged.open {
            for alternative in self.merged.parser.iter().flat_map(|rule| &rule.alternatives) {
                alternative.tree.visit(&mut |tree| {
                    if let Tree::Name { name, at } = tree
                        && is_token_name(name)
                    {
                        wanted.push((*at, name));
                    }
                });
            }
        }
        let mut first = None;
        let mut count = 0;
        for (at, name) in wanted {
            if self.lowerer.builder.find_token(name).is_none() {
                count += 1;
                first.get_or_insert(at);
                self.lowerer.builder.token(Token {
                    name: name.to_owned(),
                    pattern: Pattern::Unknown,
                    number: None,
                    place: self.lowerer.source.place(at),
                    precedence: None,
                    priority: u32::MAX,
                });
            }
        }
        if let Some(at) = first {
            let text = format!("{count} tokens are known by name only; the first is here");
            self.lowerer.note(at, Language::Smaller, text);
        }
    }

    /// A tree of a parser rule with its texts and negated sets replaced by tokens.
    fn resolved(
        &mut self,
        tree: &Tree,
        texts: &HashMap<Vec<u8>, Option<String>>,
    ) -> Result<Tree, ImportError> {
        Ok(match tree {
            Tree::Literal { text, at, .. } => match texts.get(text) {
                Some(Some(name)) => Tree::Name { name: name.clone(), at: *at },
                _ => tree.clone(),
            },
            Tree::Seq(parts) => {
                let parts = parts.iter().map(|part| self.resolved(part, texts));
                Tree::Seq(parts.collect::<Result<_, _>>()?)
            }
            Tree::Alt(parts) => {
                let parts = parts.iter().map(|part| self.resolved(part, texts));
                Tree::Alt(parts.collect::<Result<_, _>>()?)
            }
            Tree::Repeat { inner, min, max, lazy } => Tree::Repeat {
                inner: Box::new(self.resolved(inner, texts)?),
                min: *min,
                max: *max,
                lazy: *lazy,
            },
            Tree::Not { inner, at } => self.negated(inner, *at, texts)?,
            other => other.clone(),
        })
    }

    /// Any token but some, as a rule of its own.
    fn negated(
        &mut self,
        inner: &Tree,
        at: usize,
        texts: &HashMap<Vec<u8>, Option<String>>,
    ) -> Result<Tree, ImportError> {
        let mut excluded = Vec::new();
        inner.visit(&mut |tree| match tree {
            Tree::Name { name, .. } => excluded.push(name.clone()),
            Tree::Literal { text, .. } => match texts.get(text) {
                Some(Some(name)) => excluded.push(name.clone()),
                _ => excluded.push(format!("\"{}\"", text.escape_ascii())),
            },
            _ => {}
        });
        excluded.sort();
        excluded.dedup();
        if let Some(name) = self.negated.get(&excluded) {
            return Ok(Tree::Name { name: name.clone(), at });
        }
        let tokens = self.lowerer.builder.tokens().iter().map(|token| token.name.clone());
        let allowed: Vec<String> = tokens.filter(|t| excluded.binary_search(t).is_err()).collect();
        self.spent += allowed.len();
        if self.spent > MAX_NEGATED {
            let message = format!("negated sets stand for more than {MAX_NEGATED} tokens");
            return Err(self.lowerer.source.error(at, message));
        }
        let place = self.lowerer.source.place(at);
        let mut name = match excluded.len() {
            0 => "any_token".to_owned(),
            1 => format!("not_{}", excluded[0]),
            _ => format!("not_{}_etc{}", excluded[0], self.negated.len()),
        };
        while self.merged.parser.iter().any(|rule| rule.name == name) {
            name.push('_');
        }
        self.negated.insert(excluded, name.clone());
        let builder = &mut self.lowerer.builder;
        let choices = allowed.iter().map(|token| builder.name(token, place.clone())).collect();
        let body = builder.choice(choices);
        // The first rule is the start: it must not be this one.
        if let Some(start) = self.merged.parser.first() {
            let start_place = self.lowerer.source.place(start.at);
            builder.rule(&start.name, start_place);
        }
        let rule = builder.rule(&name, place.clone());
        builder.production(rule, body, Attributes::at(place));
        Ok(Tree::Name { name, at })
    }
}

/// Alternatives of a rule that starts with itself bind the tighter the earlier
/// they stand.
fn precedence(rule: &Rule, index: usize) -> Option<Precedence> {
    let is_rule =
        |tree: Option<&Tree>| matches!(tree, Some(Tree::Name { name, .. }) if *name == rule.name);
    let first = |a: &Alternative| match &a.tree {
        Tree::Seq(parts) => is_rule(parts.first()),
        other => is_rule(Some(other)),
    };
    let last = |a: &Alternative| matches!(&a.tree, Tree::Seq(parts) if is_rule(parts.last()));
    let alternative = &rule.alternatives[index];
    let operator = first(alternative) || last(alternative);
    (operator && rule.alternatives.iter().any(first)).then(|| Precedence {
        level: (rule.alternatives.len() - index) as u32,
        assoc: if alternative.right { Assoc::Right } else { Assoc::Left },
    })
}
