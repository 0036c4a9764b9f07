//! ANTLR 4: combined grammars, and pairs of a lexer and a parser grammar.
//!
//! Rules that start with a capital letter are tokens. Names in them are expanded, so a
//! token is one expression over the bytes of UTF-8. A lazy repetition such as `.*?` is
//! exact ([`crate::tree`]). `-> skip` and `-> channel(…)` make separators: the parser
//! does not see such tokens. Modes are like the start conditions of lex: the grammar
//! allows the tokens of every mode everywhere. `-> more` is followed through the modes
//! to the end of the token.
//!
//! Predicates and actions are code of a target language, and are ignored. A predicate
//! can only forbid, so without it the language is larger.

mod parse;

use std::collections::{HashMap, HashSet};

use self::parse::{Alternative, File, Kind, Rule, is_token_name};
use super::Input;
use crate::ImportError;
use crate::lexicon::{Key, Lexicon, is_catch_all, pattern_of};
use crate::scanner::{self, Outcome};
use crate::text::{Source, has_line_start};
use crate::tree::{Expander, Lowerer, Tree};
use pleach_grammar::builder::Attributes;
use pleach_grammar::{Assoc, Grammar, Language, Pattern, Precedence, Regex, Token};

/// How often a token may be expanded inside itself, for nested comments.
const MAX_SELF_NESTING: usize = 2;
/// Tokens that all negated sets in parser rules may stand for together.
const MAX_NEGATED: usize = 1_000_000;

/// Finds a file that a grammar names without `.g4`. Returns its name for messages, and
/// its text.
type Finder<'f> = dyn FnMut(&str) -> Option<(String, Vec<u8>)> + 'f;

pub(super) fn recognises(bytes: &[u8]) -> bool {
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
    let found: HashSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let mut lowerer = Lowerer::new(&source);
    for file in &files {
        note_unsupported(file, &found, &mut lowerer);
    }
    let merged = merge(&files);
    let lexicon = LexerImport::new(&source, &merged).run()?;
    if merged.parser.is_empty() {
        return lexicon.into_grammar(source.place(0));
    }
    ParserImport { lowerer, merged: &merged, negated: HashMap::new(), negated_tokens: 0 }
        .run(lexicon)
}

/// The file and all files that it names, each once.
fn gather(
    file: &str,
    bytes: &[u8],
    find: &mut Finder,
) -> Result<Vec<(String, Vec<u8>)>, ImportError> {
    const MAX_FILES: usize = 64;
    let mut texts = vec![(file.to_owned(), bytes.to_vec())];
    let mut asked = HashSet::new();
    let mut next = 0;
    while next < texts.len() && texts.len() < MAX_FILES {
        let (name, text) = &texts[next];
        let source = Source::text(name, text)?;
        let span = source.files().remove(0);
        let parsed = parse::parse(&source, span)?;
        asked.insert(parsed.name);
        let named = parsed.vocabulary.into_iter().chain(parsed.imports.into_iter().map(|i| i.1));
        for name in named.collect::<Vec<_>>() {
            if asked.insert(name.clone()) {
                texts.extend(find(&name));
            }
        }
        next += 1;
    }
    Ok(texts)
}

/// Notes what a file has and a grammar cannot express.
fn note_unsupported(file: &File, found: &HashSet<&str>, lowerer: &mut Lowerer) {
    for (at, name) in file.imports.iter().filter(|(_, name)| !found.contains(name.as_str())) {
        lowerer.note(*at, Language::Unknown, format!("the import {name}.g4 was not found"));
    }
    for at in &file.predicates {
        lowerer.note(*at, Language::Larger, "the predicate is ignored");
    }
    if let Some((at, count)) = file.actions {
        let text = format!("actions are ignored; the first of {count} is here");
        lowerer.note(at, Language::Same, text);
    }
}

/// The rules of all files. The first definition of a name counts.
struct Merged<'a> {
    parser: Vec<&'a Rule>,
    /// Each with the index of its mode in `modes`.
    lexer: Vec<(&'a Rule, usize)>,
    modes: Vec<&'a str>,
    declared: Vec<(usize, &'a str)>,
    trees: HashMap<&'a str, Tree>,
    /// True if no file has rules of a lexer. Then any name may be a token.
    lacks_lexer: bool,
}

fn merge(files: &[File]) -> Merged<'_> {
    let mut modes: Vec<&str> = Vec::new();
    let mut merged = Merged {
        parser: Vec::new(),
        lexer: Vec::new(),
        modes: Vec::new(),
        declared: Vec::new(),
        trees: HashMap::new(),
        lacks_lexer: !files.iter().any(|file| file.kind != Kind::Parser),
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
            let mode = modes.iter().position(|other| *other == mode).unwrap_or_else(|| {
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

/// One alternative of a lexer rule, with its commands.
struct Match<'a> {
    rule: &'a Rule,
    regex: Regex,
    mode: usize,
    /// `-> more`: the token continues with the next match.
    more: bool,
    /// The mode of the lexer after the match.
    next: usize,
    /// `-> skip` or `-> channel(…)`: the parser does not see the token.
    hidden: bool,
    token: &'a str,
    priority: u32,
}

/// From the lexer rules to a lexicon.
struct LexerImport<'a> {
    merged: &'a Merged<'a>,
    expander: Expander<'a>,
    lexicon: Lexicon,
}

impl<'a> LexerImport<'a> {
    fn new(source: &'a Source<'a>, merged: &'a Merged<'a>) -> LexerImport<'a> {
        let trees = merged.trees.iter().map(|(name, tree)| (*name, tree)).collect();
        let expander = Expander::new(source, trees, MAX_SELF_NESTING);
        LexerImport { merged, expander, lexicon: Lexicon::default() }
    }

    fn run(mut self) -> Result<Lexicon, ImportError> {
        let mut matches = Vec::new();
        let rules = self.merged.lexer.iter().filter(|(rule, _)| !rule.fragment);
        for (priority, (rule, mode)) in rules.enumerate() {
            for alternative in &rule.alternatives {
                let regex = self.expander.token(&alternative.tree, alternative.at)?;
                matches.push(self.with_commands(rule, alternative, regex, *mode, priority as u32));
            }
        }
        let token_modes = self.modes_with_token_starts(&matches);
        let mut noted = HashSet::new();
        for matched in matches.iter().filter(|matched| token_modes.contains(&matched.mode)) {
            if matched.mode != 0 && noted.insert(matched.mode) {
                let mode = self.merged.modes[matched.mode];
                let text = format!("the grammar allows the tokens of mode {mode} everywhere");
                // There are more sequences of tokens. But in a text, a match of another
                // mode can be longer than the one that is meant.
                self.note(matched.rule.at, Language::Unknown, text);
                self.lexicon.merges_states = true;
            }
            if matched.more {
                self.add_continued(matched, &matches);
            } else {
                self.add(matched, matched.regex.clone(), matched.priority);
            }
        }
        for (at, change, text) in std::mem::take(&mut self.expander.changes) {
            self.note(at, change, text);
        }
        Ok(self.lexicon)
    }

    fn note(&mut self, at: usize, change: Language, text: impl Into<String>) {
        self.lexicon.note(self.expander.source, at, change, text);
    }

    /// An alternative after its commands are applied.
    fn with_commands(
        &mut self,
        rule: &'a Rule,
        alternative: &'a Alternative,
        regex: Regex,
        mode: usize,
        priority: u32,
    ) -> Match<'a> {
        let (more, hidden, token) = (false, false, rule.name.as_str());
        let mut matched = Match { rule, regex, mode, more, next: mode, hidden, token, priority };
        for (command, argument) in &alternative.commands {
            match (command.as_str(), argument) {
                ("skip" | "channel", _) => matched.hidden = true,
                ("more", _) => matched.more = true,
                ("type", Some(token)) => matched.token = token,
                ("mode" | "pushMode", Some(name)) => {
                    let mode = self.merged.modes.iter().position(|mode| mode == name);
                    matched.next = mode.unwrap_or(0);
                }
                // The mode that pushed this one is nearly always the default mode.
                ("popMode", _) => matched.next = 0,
                _ => {
                    let text = format!("the unknown command -> {command} is ignored");
                    self.note(alternative.at, Language::Unknown, text);
                }
            }
        }
        matched
    }

    fn add(&mut self, matched: &Match, regex: Regex, priority: u32) {
        if regex.matches_empty() && !matched.hidden {
            let text = format!("{} can match the empty text", matched.rule.name);
            self.note(matched.rule.at, Language::Same, text);
        }
        if matched.hidden {
            self.lexicon.add_separator(matched.token.to_owned(), regex);
        } else {
            let key = Key::Name(matched.token.to_owned());
            let place = self.expander.source.place(matched.rule.at);
            self.lexicon.add_token(key, regex, priority, place);
        }
    }

    /// The modes in which a token can begin: not those that only continue one.
    fn modes_with_token_starts(&self, matches: &[Match]) -> HashSet<usize> {
        let mut found = HashSet::new();
        // A mode that no command enters may be entered by an action.
        let is_entered = |mode: usize| matches.iter().any(|m| m.mode != mode && m.next == mode);
        let modes = 0..self.merged.modes.len();
        let mut waiting: Vec<usize> =
            modes.filter(|mode| *mode == 0 || !is_entered(*mode)).collect();
        while let Some(mode) = waiting.pop() {
            if found.insert(mode) {
                for matched in matches.iter().filter(|matched| matched.mode == mode) {
                    match matched.more {
                        false => waiting.push(matched.next),
                        // The match that ends the token may lead to another mode.
                        true => {
                            let ends = modes_of_continuations(matches, matched.next);
                            let ends = matches.iter().filter(|m| ends.contains(&m.mode) && !m.more);
                            waiting.extend(ends.map(|end| end.next));
                        }
                    }
                }
            }
        }
        found
    }

    /// Adds the tokens that start with a match that continues (`-> more`).
    fn add_continued(&mut self, opening: &Match, matches: &[Match]) {
        let reachable = modes_of_continuations(matches, opening.next);
        let mut ends: Vec<&Match> = Vec::new();
        let mut modes = Vec::new();
        for mode in 0..self.merged.modes.len() {
            let mut rules = Vec::new();
            let here = |matched: &&Match| matched.mode == mode && reachable.contains(&mode);
            for matched in matches.iter().filter(here) {
                let outcome = if matched.more {
                    Outcome::Continue(matched.next)
                } else {
                    ends.push(matched);
                    Outcome::Leave(ends.len() - 1)
                };
                rules.push((matched.regex.clone(), outcome));
            }
            modes.push(rules);
        }
        let rests = scanner::collect_texts(&modes, opening.next, ends.len());
        let Some(rests) = rests else {
            let name = &opening.rule.name;
            let text =
                format!("{name} is ignored: what follows it is too large for one expression");
            return self.note(opening.rule.at, Language::Smaller, text);
        };
        for (rest, end) in rests.into_iter().zip(ends).filter(|(rest, _)| !rest.is_nothing()) {
            self.add(end, Regex::concat([opening.regex.clone(), rest]), opening.priority);
        }
    }
}

/// The modes that a token can go through by matches that continue.
fn modes_of_continuations(matches: &[Match], entry: usize) -> HashSet<usize> {
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

/// From the parser rules and a lexicon to a grammar.
struct ParserImport<'a> {
    lowerer: Lowerer<'a>,
    merged: &'a Merged<'a>,
    /// The rules made for negated sets of tokens, by the excluded tokens.
    negated: HashMap<Vec<String>, String>,
    /// Tokens in all these rules together.
    negated_tokens: usize,
}

/// The token of each literal in the parser rules: the name of a lexer rule, or `None`
/// if the literal is a token of its own.
type LiteralTokens = HashMap<Vec<u8>, Option<String>>;

impl ParserImport<'_> {
    fn run(mut self, lexicon: Lexicon) -> Result<Grammar, ImportError> {
        // Literals in parser rules have priority over the rules of the lexer.
        let literals = self.declare_literals();
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
            if is_catch_all(&entry.regex) && !used.contains(name.as_str()) {
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
        lexicon.move_to(&mut self.lowerer.builder);
        self.declare_unknown_tokens();
        let mut rules = Vec::new();
        for rule in &self.merged.parser {
            for (index, alternative) in rule.alternatives.iter().enumerate() {
                let tree = self.resolve(&alternative.tree, &literals)?;
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

    /// Declares the literals of the parser rules, unless a lexer rule is the same
    /// literal.
    fn declare_literals(&mut self) -> LiteralTokens {
        let mut lexer_rules: HashMap<Vec<u8>, &str> = HashMap::new();
        for (rule, _) in self.merged.lexer.iter().filter(|(rule, _)| !rule.fragment) {
            if let [Alternative { tree: Tree::Literal { text, any_case: false, .. }, commands, .. }] =
                &rule.alternatives[..]
                && commands.is_empty()
            {
                lexer_rules.entry(text.clone()).or_insert(&rule.name);
            }
        }
        let mut literals = HashMap::new();
        for rule in &self.merged.parser {
            for alternative in &rule.alternatives {
                alternative.tree.visit(&mut |tree| {
                    if let Tree::Literal { text, at, any_case } = tree
                        && !literals.contains_key(text)
                    {
                        let rule = lexer_rules.get(text).map(|name| (*name).to_owned());
                        if rule.is_none() && !any_case {
                            self.lowerer.builder.literal(text, self.lowerer.source.place(*at));
                        }
                        literals.insert(text.clone(), rule);
                    }
                });
            }
        }
        literals
    }

    /// Declares tokens that have no lexer rule.
    fn declare_unknown_tokens(&mut self) {
        let mut names: Vec<(usize, &str)> = self.merged.declared.clone();
        if self.merged.lacks_lexer {
            for alternative in self.merged.parser.iter().flat_map(|rule| &rule.alternatives) {
                alternative.tree.visit(&mut |tree| {
                    if let Tree::Name { name, at } = tree
                        && is_token_name(name)
                    {
                        names.push((*at, name));
                    }
                });
            }
        }
        let mut first = None;
        let mut count = 0;
        for (at, name) in names {
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
            let text = format!("tokens without a pattern: {count}; the first is here");
            self.lowerer.note(at, Language::Smaller, text);
        }
    }

    /// The tree of a parser rule with tokens in place of literals and negated sets.
    fn resolve(&mut self, tree: &Tree, literals: &LiteralTokens) -> Result<Tree, ImportError> {
        Ok(match tree {
            Tree::Literal { text, at, .. } => match literals.get(text) {
                Some(Some(name)) => Tree::Name { name: name.clone(), at: *at },
                _ => tree.clone(),
            },
            Tree::Seq(parts) => {
                let parts = parts.iter().map(|part| self.resolve(part, literals));
                Tree::Seq(parts.collect::<Result<_, _>>()?)
            }
            Tree::Alt(parts) => {
                let parts = parts.iter().map(|part| self.resolve(part, literals));
                Tree::Alt(parts.collect::<Result<_, _>>()?)
            }
            Tree::Repeat { inner, min, max, lazy } => Tree::Repeat {
                inner: Box::new(self.resolve(inner, literals)?),
                min: *min,
                max: *max,
                lazy: *lazy,
            },
            Tree::Not { inner, at } => self.negate(inner, *at, literals)?,
            other => other.clone(),
        })
    }

    /// A rule of all tokens but those in `inner`.
    fn negate(
        &mut self,
        inner: &Tree,
        at: usize,
        literals: &LiteralTokens,
    ) -> Result<Tree, ImportError> {
        let mut excluded = Vec::new();
        inner.visit(&mut |tree| match tree {
            Tree::Name { name, .. } => excluded.push(name.clone()),
            Tree::Literal { text, .. } => match literals.get(text) {
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
        self.negated_tokens += allowed.len();
        if self.negated_tokens > MAX_NEGATED {
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
        // The first declared rule is the start, and must not be this one.
        if let Some(start) = self.merged.parser.first() {
            let start_place = self.lowerer.source.place(start.at);
            builder.rule(&start.name, start_place);
        }
        let rule = builder.rule(&name, place.clone());
        builder.production(rule, body, Attributes::at(place));
        Ok(Tree::Name { name, at })
    }
}

/// In a left-recursive rule, an earlier alternative binds tighter.
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
        assoc: if alternative.right_assoc { Assoc::Right } else { Assoc::Left },
    })
}
