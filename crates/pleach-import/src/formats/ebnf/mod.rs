//! EBNF in its three standard dialects: the W3C's, ISO 14977 and ABNF (RFC 5234).
//!
//! None of them says what is a token. Here every quoted text is one, and so is a
//! rule that refers to no other rule and is written with a class of characters or
//! a repetition: `Number ::= [0-9]+`. A comment in the file can say otherwise:
//!
//! ```text
//! @token Name …    these rules are tokens, with all that they refer to
//! @rule Name …     these are not
//! @skip Name …     these may stand between any two tokens
//! @start Name      this is where it starts; else with the first rule
//! ```
//!
//! Without names, the rule that follows is meant. Bare BNF (`<a> ::= <b> "c"`) is
//! read as the W3C's, and the brackets and braces of the many grammars that are
//! between the standards are understood where they cannot mean anything else.

pub(super) mod abnf;
pub(super) mod iso;
pub(super) mod w3c;

use std::collections::{HashMap, HashSet};

use super::Input;
use crate::ImportError;
use crate::lexicon::pattern_of;
use crate::text::{Cursor, Source};
use crate::tree::{Expander, Lowerer, Tree};
use pleach_grammar::builder::Attributes;
use pleach_grammar::{Grammar, Language, Lexing, Separator, Token};

/// Imports a file whose dialect `parse` reads.
fn import(
    input: &Input,
    parse: impl FnOnce(&Source) -> Result<File, ImportError>,
    lexing: Lexing,
) -> Result<Grammar, ImportError> {
    let source = Source::text(input.file, input.bytes)?;
    let parsed = parse(&source)?;
    Ok(Grammar { lexing, ..build(&source, &parsed)? })
}

struct Rule {
    name: String,
    at: usize,
    tree: Tree,
}

/// What a file says, whatever its dialect.
#[derive(Default)]
struct File {
    rules: Vec<Rule>,
    index: HashMap<String, usize>,
    directives: Directives,
    notes: Vec<(usize, Language, String)>,
}

impl File {
    /// A second definition of a rule adds to the first.
    fn add(&mut self, name: String, at: usize, tree: Tree) {
        self.directives.resolve(&name, at);
        match self.index.get(&name) {
            Some(&known) => {
                let old = std::mem::replace(&mut self.rules[known].tree, Tree::Empty);
                self.rules[known].tree = match old {
                    Tree::Alt(mut parts) => {
                        parts.push(tree);
                        Tree::Alt(parts)
                    }
                    old => Tree::Alt(vec![old, tree]),
                };
            }
            None => {
                self.index.insert(name.clone(), self.rules.len());
                self.rules.push(Rule { name, at, tree });
            }
        }
    }
}

/// What the comments of a file ask for.
#[derive(Default)]
struct Directives {
    token: HashSet<String>,
    rule: HashSet<String>,
    skip: HashSet<String>,
    start: Option<(usize, String)>,
    /// Directives for the rule that comes next.
    pending: Vec<(usize, String)>,
}

impl Directives {
    /// Reads the directives in a comment, whose text is given.
    fn comment(&mut self, cursor: Cursor) {
        let mut at = cursor.at;
        for line in cursor.rest().split(|b| *b == b'\n') {
            let text = String::from_utf8_lossy(line);
            let text = text.trim_matches(|c: char| c.is_whitespace() || "*/();".contains(c));
            if let Some((word, names)) =
                text.strip_prefix('@').map(|t| t.split_once(char::is_whitespace).unwrap_or((t, "")))
            {
                let names = names.split([',', ' ', '\t']).filter(|name| !name.is_empty());
                let names: Vec<String> = names.map(str::to_owned).collect();
                if names.is_empty() {
                    self.pending.push((at, word.to_owned()));
                }
                for name in names {
                    self.set(at, word, name);
                }
            }
            at += line.len() + 1;
        }
    }

    /// For names that ignore case, and are kept in small letters.
    fn ignore_case(&mut self) {
        for names in [&mut self.token, &mut self.rule, &mut self.skip] {
            *names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        }
        if let Some((_, name)) = &mut self.start {
            name.make_ascii_lowercase();
        }
    }

    /// A comment behind a rule is read before the rule is known to end, and is not
    /// about that rule.
    fn resolve(&mut self, next: &str, place: usize) {
        for (at, word) in std::mem::take(&mut self.pending) {
            if at < place {
                self.set(at, &word, next.to_owned());
            } else {
                self.pending.push((at, word));
            }
        }
    }

    fn set(&mut self, at: usize, word: &str, name: String) {
        match word {
            "token" => drop(self.token.insert(name)),
            "rule" => drop(self.rule.insert(name)),
            "skip" | "pass" => drop(self.skip.insert(name)),
            "start" => self.start = Some((at, name)),
            // An address in a comment, most likely.
            _ => {}
        }
    }
}

fn build(source: &Source, file: &File) -> Result<Grammar, ImportError> {
    let trees: HashMap<&str, &Tree> =
        file.rules.iter().map(|rule| (rule.name.as_str(), &rule.tree)).collect();
    let mut expander = Expander::new(source, trees.clone(), 0);
    let mut lowerer = Lowerer::new(source).with_sets(trees);
    for (at, change, text) in &file.notes {
        lowerer.note(*at, *change, text.clone());
    }
    let (tokens, rules): (Vec<&Rule>, Vec<&Rule>) = file.rules.iter().partition(|rule| {
        let name = &rule.name;
        let asked = file.directives.token.contains(name) || file.directives.skip.contains(name);
        asked || (looks_like_token(&rule.tree) && !file.directives.rule.contains(name))
    });
    let mut used: HashSet<&str> = HashSet::new();
    for rule in &rules {
        rule.tree.visit(&mut |tree| {
            if let Tree::Name { name, .. } = tree {
                used.insert(name);
            }
        });
    }
    for (priority, rule) in tokens.iter().enumerate() {
        let skipped = file.directives.skip.contains(&rule.name);
        // A rule that only tokens refer to is a part of them.
        let is_used = used.contains(rule.name.as_str()) || rules.is_empty();
        if !skipped && !is_used {
            continue;
        }
        let pattern = expander.token(&rule.tree, rule.at)?;
        if skipped {
            let name = rule.name.clone();
            lowerer.builder.separator(Separator {
                name,
                pattern: pattern.clone(),
                required: false,
            });
        }
        if is_used {
            lowerer.builder.token(Token {
                name: rule.name.clone(),
                pattern: pattern_of(pattern),
                number: None,
                place: source.place(rule.at),
                precedence: None,
                // Quoted texts have none: a keyword wins against a name.
                priority: priority as u32 + 1,
            });
        }
    }
    for (at, change, text) in std::mem::take(&mut expander.found) {
        lowerer.note(at, change, text);
    }
    for rule in &rules {
        lowerer.builder.rule(&rule.name, source.place(rule.at));
    }
    for rule in &rules {
        let body = lowerer.lower(&rule.tree)?;
        let place = source.place(rule.at);
        let id = lowerer.builder.rule(&rule.name, place.clone());
        lowerer.builder.production(id, body, Attributes::at(place));
    }
    match &file.directives.start {
        Some((at, name)) => lowerer.builder.start(name, source.place(*at)),
        None => start_at_first(file, &rules, &mut lowerer),
    }
    Ok(lowerer.builder.finish()?)
}

/// The first rule of the file is the start, even if it is a token.
fn start_at_first(file: &File, rules: &[&Rule], lowerer: &mut Lowerer) {
    let Some(first) = file.rules.first() else { return };
    let place = lowerer.source.place(first.at);
    let is_rule = rules.iter().any(|rule| rule.name == first.name);
    if is_rule {
        lowerer.builder.start(&first.name, place);
    } else if rules.is_empty() {
        let body = lowerer.builder.name(&first.name, place.clone());
        let rule = lowerer.builder.rule("start", place.clone());
        lowerer.builder.production(rule, body, Attributes::at(place));
    }
}

/// Refers to no rule, and has a class or a repetition.
fn looks_like_token(tree: &Tree) -> bool {
    let (mut refers, mut regular) = (false, false);
    tree.visit(&mut |tree| match tree {
        Tree::Name { .. } => refers = true,
        Tree::Chars { .. } | Tree::Bytes { .. } | Tree::Repeat { .. } | Tree::Not { .. } => {
            regular = true;
        }
        _ => {}
    });
    regular && !refers
}
