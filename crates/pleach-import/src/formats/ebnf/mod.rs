//! EBNF in its three standard dialects: the W3C's, ISO 14977 and ABNF (RFC 5234).
//!
//! EBNF does not define what a token is. Here every quoted text is a token. So is a
//! rule that refers to no other rule and has a class of characters or a repetition:
//! `Number ::= [0-9]+`. Directives in comments of the file override this:
//!
//! ```text
//! @token Name …    these rules are tokens, with all that they refer to
//! @rule Name …     these rules are not tokens
//! @skip Name …     these rules may stand between any two tokens
//! @start Name      the start, which otherwise is the first rule
//! ```
//!
//! A directive without a name is for the next rule. Plain BNF (`<a> ::= <b> "c"`) is
//! read as the W3C's dialect. Many files mix the standards; brackets and braces of
//! another dialect are accepted where they have only one possible meaning.

pub(super) mod abnf;
pub(super) mod iso;
pub(super) mod w3c;

use std::collections::{HashMap, HashSet};

use super::Input;
use crate::ImportError;
use crate::lexicon::pattern_of;
use crate::text::{Cursor, Source};
use crate::tree::{Expander, Lowerer, Rule, Tree};
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

/// A parsed file of any dialect.
#[derive(Default)]
struct File {
    rules: Vec<Rule>,
    index: HashMap<String, usize>,
    directives: Directives,
    /// How the grammar differs from the file: offset, change and message.
    changes: Vec<(usize, Language, String)>,
}

impl File {
    /// Adds a rule. A second definition adds alternatives to the first.
    fn add(&mut self, name: String, at: usize, tree: Tree) {
        self.directives.apply_pending(&name, at);
        match self.index.get(&name) {
            Some(&index) => {
                let old = std::mem::replace(&mut self.rules[index].tree, Tree::Empty);
                self.rules[index].tree = match old {
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

/// The directives in the comments of a file.
#[derive(Default)]
struct Directives {
    token: HashSet<String>,
    rule: HashSet<String>,
    skip: HashSet<String>,
    start: Option<(usize, String)>,
    /// Directives for the next rule.
    pending: Vec<(usize, String)>,
}

impl Directives {
    /// Reads the directives in the text of a comment.
    fn read_comment(&mut self, cursor: Cursor) {
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

    /// For dialects whose names ignore case: puts all names into lower case.
    fn ignore_case(&mut self) {
        for names in [&mut self.token, &mut self.rule, &mut self.skip] {
            *names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        }
        if let Some((_, name)) = &mut self.start {
            name.make_ascii_lowercase();
        }
    }

    /// Applies the pending directives that stand before the rule at offset `rule_at`.
    /// Later ones belong to the next rule: comments are read before a rule is known to
    /// have ended.
    fn apply_pending(&mut self, rule: &str, rule_at: usize) {
        for (at, word) in std::mem::take(&mut self.pending) {
            if at < rule_at {
                self.set(at, &word, rule.to_owned());
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
            // Most likely an e-mail address.
            _ => {}
        }
    }
}

fn build(source: &Source, file: &File) -> Result<Grammar, ImportError> {
    let trees: HashMap<&str, &Tree> =
        file.rules.iter().map(|rule| (rule.name.as_str(), &rule.tree)).collect();
    let mut expander = Expander::new(source, trees.clone(), 0);
    let mut lowerer = Lowerer::new(source).with_char_rules(trees);
    for (at, change, text) in &file.changes {
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
        // A token that only other tokens refer to is expanded in them.
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
                // Quoted texts have priority 0: a keyword wins against a name.
                priority: priority as u32 + 1,
            });
        }
    }
    for (at, change, text) in std::mem::take(&mut expander.changes) {
        lowerer.note(at, change, text);
    }
    lowerer.add_rules(rules.iter().copied())?;
    match &file.directives.start {
        Some((at, name)) => lowerer.builder.start(name, source.place(*at)),
        None => start_at_first(file, &rules, &mut lowerer),
    }
    Ok(lowerer.builder.finish()?)
}

/// The first rule of the file is the start. If the file has tokens only, a rule is
/// made for the first.
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

/// True if a rule refers to no other, and has a class or a repetition.
fn looks_like_token(tree: &Tree) -> bool {
    let (mut has_name, mut has_class) = (false, false);
    tree.visit(&mut |tree| match tree {
        Tree::Name { .. } => has_name = true,
        Tree::Chars { .. } | Tree::Bytes { .. } | Tree::Repeat { .. } | Tree::Not { .. } => {
            has_class = true;
        }
        _ => {}
    });
    has_class && !has_name
}
