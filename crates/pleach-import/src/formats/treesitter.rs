//! tree-sitter's `grammar.json`, which every tree-sitter parser has in `src/`.
//!
//! A rule that is only a string, a pattern or `token(…)` is a token. So is every string
//! and pattern inside other rules. `extras` may stand between tokens. `externals` are
//! tokens that a scanner in C finds: they have no pattern, and each is reported.
//!
//! If two tokens match the same text, the higher `prec` inside `token(…)` wins, and
//! then a string wins against a pattern, as in tree-sitter.

use std::collections::{HashMap, HashSet};

use super::Input;
use crate::ImportError;
use crate::javascript::{self, Parsed};
use crate::json::{self, Json, Value};
use crate::lexicon::pattern_of;
use crate::text::{Source, contains, severity_of};
use pleach_grammar::builder::Attributes;
use pleach_grammar::{
    Assoc, Ebnf, Grammar, GrammarBuilder, Language, Lexing, Pattern, Precedence, Regex, Separator,
    Symbol, Token,
};

/// The note on an immediate token. The language is neither larger nor smaller: there
/// are more sequences of tokens, but a text that looks like a separator (`//` at the
/// start of a string) is read as one.
const IMMEDIATE_IGNORED: &str =
    "this token must directly follow the one before; the grammar allows separators there";

pub(super) fn recognises(bytes: &[u8]) -> bool {
    json::is_object(bytes) && contains(bytes, b"\"rules\"")
}

pub(super) fn import(input: &Input) -> Result<Grammar, ImportError> {
    let source = Source::text(input.file, input.bytes)?;
    let json = Json::parse(&source)?;
    let Some(rules) = json.get("rules").and_then(Json::object) else {
        return Err(source.error(json.at, "expected an object with a member \"rules\""));
    };
    let mut importer = Importer {
        source: &source,
        builder: GrammarBuilder::new(),
        tokens: HashMap::new(),
        anonymous: HashMap::new(),
        externals: HashSet::new(),
    };
    importer.declare_tokens(rules)?;
    importer.declare_externals(json.get("externals"), rules)?;
    importer.declare_extras(json.get("extras"), rules)?;
    importer.add_rules(rules)?;
    Ok(Grammar { lexing: Lexing::Context, ..importer.builder.finish()? })
}

struct Importer<'a> {
    source: &'a Source<'a>,
    builder: GrammarBuilder,
    /// Rules that are tokens, and their expressions.
    tokens: HashMap<&'a str, Regex>,
    /// Tokens of strings and patterns inside rules, by name.
    anonymous: HashMap<String, Ebnf>,
    externals: HashSet<&'a str>,
}

impl<'a> Importer<'a> {
    fn note(&mut self, at: usize, change: Language, text: impl Into<String>) {
        self.builder.note(self.source.place(at), severity_of(change), text);
        self.builder.language(change);
    }

    fn error(&self, at: usize, message: impl Into<String>) -> ImportError {
        self.source.error(at, message)
    }

    fn kind<'j>(&self, rule: &'j Json) -> Result<&'j str, ImportError> {
        let kind = rule.get("type").and_then(Json::string);
        kind.ok_or_else(|| self.error(rule.at, "expected a rule: an object with a member \"type\""))
    }

    fn content<'j>(&self, rule: &'j Json) -> Result<&'j Json, ImportError> {
        rule.get("content")
            .ok_or_else(|| self.error(rule.at, "this rule has no member \"content\""))
    }

    fn members<'j>(&self, rule: &'j Json) -> Result<&'j [Json], ImportError> {
        let members = rule.get("members").and_then(Json::array);
        members.ok_or_else(|| self.error(rule.at, "this rule has no member \"members\""))
    }

    fn text<'j>(&self, rule: &'j Json, member: &str) -> Result<&'j str, ImportError> {
        let text = rule.get(member).and_then(Json::string);
        text.ok_or_else(|| self.error(rule.at, format!("this rule has no member \"{member}\"")))
    }

    /// A rule without the precedence around it.
    fn strip_precedence<'j>(&self, mut rule: &'j Json) -> Result<&'j Json, ImportError> {
        loop {
            match self.kind(rule)? {
                "PREC" | "PREC_LEFT" | "PREC_RIGHT" | "PREC_DYNAMIC" | "RESERVED" => {
                    rule = self.content(rule)?;
                }
                _ => return Ok(rule),
            }
        }
    }

    /// Declares the rules that are one token.
    fn declare_tokens(&mut self, rules: &'a [(String, Json)]) -> Result<(), ImportError> {
        for (index, (name, rule)) in rules.iter().enumerate() {
            let bare = self.strip_precedence(rule)?;
            let kind = self.kind(bare)?;
            // The start must be a rule.
            if index == 0 || !matches!(kind, "STRING" | "PATTERN" | "TOKEN" | "IMMEDIATE_TOKEN") {
                continue;
            }
            let regex = self.regex(bare)?;
            self.tokens.insert(name, regex.clone());
            if kind == "IMMEDIATE_TOKEN" {
                self.note(rule.at, Language::Unknown, IMMEDIATE_IGNORED);
            }
            let priority = self.priority(bare)?;
            self.add_token(name.clone(), regex, rule.at, priority);
        }
        Ok(())
    }

    fn add_token(&mut self, name: String, regex: Regex, at: usize, priority: u32) -> Symbol {
        let pattern = pattern_of(regex);
        Symbol::Token(self.builder.token(Token {
            name,
            pattern,
            number: None,
            place: self.source.place(at),
            precedence: None,
            priority,
        }))
    }

    /// The lower number wins: first the higher `prec` inside the token, then strings
    /// before patterns.
    fn priority(&self, rule: &Json) -> Result<u32, ImportError> {
        /// The priority of `prec` 0; `prec` may be negative.
        const MIDDLE: f64 = 1_000_000.0;
        let inner = match self.kind(rule)? {
            "TOKEN" | "IMMEDIATE_TOKEN" => self.content(rule)?,
            _ => rule,
        };
        let prec = match (self.kind(inner)?.starts_with("PREC"), inner.get("value")) {
            (true, Some(Json { value: Value::Number(value), .. })) => *value,
            _ => 0.0,
        };
        let is_string = self.kind(self.strip_precedence(inner)?)? == "STRING";
        let is_immediate = self.kind(rule)? == "IMMEDIATE_TOKEN";
        Ok((MIDDLE - prec.clamp(-1000.0, 1000.0) * 4.0) as u32 + 2 * u32::from(!is_string)
            - u32::from(is_immediate))
    }

    fn declare_externals(
        &mut self,
        externals: Option<&'a Json>,
        rules: &'a [(String, Json)],
    ) -> Result<(), ImportError> {
        for external in externals.and_then(Json::array).unwrap_or_default() {
            if self.kind(external)? != "SYMBOL" {
                let text = "the scanner in C can also return this token; when is unknown";
                self.note(external.at, Language::Smaller, text);
                continue;
            }
            let name = self.text(external, "name")?;
            if rules.iter().any(|(rule, _)| rule == name) {
                let text = format!("the scanner in C can also return {name}; when is unknown");
                self.note(external.at, Language::Smaller, text);
            } else if self.externals.insert(name) {
                let text = format!("{name} has no pattern: a scanner in C finds it");
                self.note(external.at, Language::Smaller, text);
                self.builder.token(Token {
                    name: name.to_owned(),
                    pattern: Pattern::Unknown,
                    number: None,
                    place: self.source.place(external.at),
                    precedence: None,
                    priority: u32::MAX,
                });
            }
        }
        Ok(())
    }

    fn declare_extras(
        &mut self,
        extras: Option<&'a Json>,
        rules: &'a [(String, Json)],
    ) -> Result<(), ImportError> {
        for extra in extras.and_then(Json::array).unwrap_or_default() {
            let (name, pattern) = if self.kind(extra)? == "SYMBOL" {
                let name = self.text(extra, "name")?;
                match self.tokens.get(name) {
                    Some(regex) => (name.to_owned(), regex.clone()),
                    None => {
                        let rule = rules.iter().find(|(rule, _)| rule == name);
                        let regex = rule.map(|(_, rule)| self.regular(rule)).transpose()?.flatten();
                        match regex {
                            Some(regex) => (name.to_owned(), regex),
                            None => {
                                let text = format!("extra {name} is ignored: it is not regular");
                                self.note(extra.at, Language::Smaller, text);
                                continue;
                            }
                        }
                    }
                }
            } else {
                ("extra".to_owned(), self.regex(extra)?)
            };
            self.builder.separator(Separator { name, pattern, required: false });
        }
        Ok(())
    }

    /// The expression of a rule that is no token but refers to tokens only; `None` if it
    /// refers to another rule.
    fn regular(&mut self, rule: &Json) -> Result<Option<Regex>, ImportError> {
        let rule = self.strip_precedence(rule)?;
        Ok(match self.kind(rule)? {
            "SYMBOL" => self.tokens.get(self.text(rule, "name")?).cloned(),
            "SEQ" => {
                let parts = self.members(rule)?.iter().map(|member| self.regular(member));
                let parts: Option<Vec<Regex>> =
                    parts.collect::<Result<Vec<_>, _>>()?.into_iter().collect();
                parts.map(Regex::concat)
            }
            "CHOICE" => {
                let parts = self.members(rule)?.iter().map(|member| self.regular(member));
                let parts: Option<Vec<Regex>> =
                    parts.collect::<Result<Vec<_>, _>>()?.into_iter().collect();
                parts.map(Regex::alt)
            }
            "REPEAT" => self.regular(self.content(rule)?)?.map(Regex::star),
            "REPEAT1" => self.regular(self.content(rule)?)?.map(Regex::plus),
            "FIELD" | "ALIAS" => self.regular(self.content(rule)?)?,
            _ => Some(self.regex(rule)?),
        })
    }

    /// The expression of a rule inside a token.
    fn regex(&mut self, rule: &Json) -> Result<Regex, ImportError> {
        Ok(match self.kind(rule)? {
            "STRING" => Regex::literal(self.text(rule, "value")?.as_bytes()),
            "PATTERN" => self.pattern(rule)?,
            "BLANK" => Regex::Empty,
            "SEQ" => {
                let parts = self.members(rule)?.iter().map(|member| self.regex(member));
                Regex::concat(parts.collect::<Result<Vec<_>, _>>()?)
            }
            "CHOICE" => {
                let parts = self.members(rule)?.iter().map(|member| self.regex(member));
                Regex::alt(parts.collect::<Result<Vec<_>, _>>()?)
            }
            "REPEAT" => Regex::star(self.regex(self.content(rule)?)?),
            "REPEAT1" => Regex::plus(self.regex(self.content(rule)?)?),
            "FIELD" | "ALIAS" | "TOKEN" | "IMMEDIATE_TOKEN" | "PREC" | "PREC_LEFT"
            | "PREC_RIGHT" | "PREC_DYNAMIC" | "RESERVED" => self.regex(self.content(rule)?)?,
            "SYMBOL" => {
                let name = self.text(rule, "name")?;
                match self.tokens.get(name) {
                    Some(regex) => regex.clone(),
                    None => {
                        let message =
                            format!("a token can refer to other tokens only; {name} is none");
                        return Err(self.error(rule.at, message));
                    }
                }
            }
            other => return Err(self.error(rule.at, format!("unexpected {other} in a token"))),
        })
    }

    fn pattern(&mut self, rule: &Json) -> Result<Regex, ImportError> {
        let text = self.text(rule, "value")?;
        let flags = rule.get("flags").and_then(Json::string).unwrap_or_default();
        let parsed = javascript::parse(text, flags);
        let Parsed { regex, has_anchors } =
            parsed.map_err(|problem| self.error(rule.at, problem))?;
        if has_anchors {
            self.note(rule.at, Language::Larger, "anchors and word boundaries are ignored");
        }
        Ok(regex)
    }

    fn add_rules(&mut self, rules: &'a [(String, Json)]) -> Result<(), ImportError> {
        let rules = rules.iter().filter(|(name, _)| !self.tokens.contains_key(name.as_str()));
        let rules: Vec<&(String, Json)> = rules.collect();
        for (name, rule) in &rules {
            self.builder.rule(name, self.source.place(rule.at));
        }
        for (name, rule) in rules {
            // An alternative has its own precedence, or that of the rule.
            let (outer, precedence) = self.split_precedence(rule)?;
            let alternatives = match self.kind(outer)? {
                "CHOICE" => self.members(outer)?.iter().collect(),
                _ => vec![outer],
            };
            for alternative in alternatives {
                let (inner, own) = self.split_precedence(alternative)?;
                let place = self.source.place(alternative.at);
                let body = self.lower(inner)?;
                let id = self.builder.rule(name, place.clone());
                let precedence = own.or(precedence);
                let attributes = Attributes { precedence, ..Attributes::at(place) };
                self.builder.production(id, body, attributes);
            }
        }
        Ok(())
    }

    /// A rule without the precedence around it, and the outermost precedence.
    fn split_precedence<'j>(
        &self,
        rule: &'j Json,
    ) -> Result<(&'j Json, Option<Precedence>), ImportError> {
        /// Our level for tree-sitter's level 0; those may be negative.
        const MIDDLE: f64 = 10_000.0;
        let assoc = match self.kind(rule)? {
            "PREC" => Assoc::Precedence,
            "PREC_LEFT" => Assoc::Left,
            "PREC_RIGHT" => Assoc::Right,
            _ => return Ok((rule, None)),
        };
        let level = match rule.get("value").map(|value| &value.value) {
            Some(Value::Number(level)) => (MIDDLE + level.clamp(-MIDDLE, MIDDLE)) as u32,
            // The order of named levels is not read, only their associativity.
            _ => MIDDLE as u32,
        };
        Ok((self.strip_precedence(rule)?, Some(Precedence { level, assoc })))
    }

    fn lower(&mut self, rule: &Json) -> Result<Ebnf, ImportError> {
        let rule = self.strip_precedence(rule)?;
        Ok(match self.kind(rule)? {
            "BLANK" => self.builder.empty(),
            "SYMBOL" => {
                let name = self.text(rule, "name")?;
                self.builder.name(name, self.source.place(rule.at))
            }
            "STRING" => match self.text(rule, "value")? {
                "" => self.builder.empty(),
                text => {
                    let text = text.to_owned();
                    self.anonymous_token(rule, format!("\"{}\"", text.escape_default()))?
                }
            },
            "PATTERN" => {
                let name = format!("/{}/", self.text(rule, "value")?);
                self.anonymous_token(rule, name)?
            }
            "TOKEN" | "IMMEDIATE_TOKEN" => {
                if self.kind(rule)? == "IMMEDIATE_TOKEN" {
                    self.note(rule.at, Language::Unknown, IMMEDIATE_IGNORED);
                }
                let place = self.source.place(rule.at);
                let name = match self.strip_precedence(self.content(rule)?)? {
                    inner if self.kind(inner)? == "STRING" => {
                        format!("\"{}\"", self.text(inner, "value")?.escape_default())
                    }
                    inner if self.kind(inner)? == "PATTERN" => {
                        format!("/{}/", self.text(inner, "value")?)
                    }
                    _ => format!("token@{}:{}", place.line, place.column),
                };
                self.anonymous_token(rule, name)?
            }
            "SEQ" => {
                let members = self.members(rule)?.iter().map(|member| self.lower(member));
                let members = members.collect::<Result<_, _>>()?;
                self.builder.sequence(members)
            }
            "CHOICE" => {
                let members = self.members(rule)?.iter().map(|member| self.lower(member));
                let members = members.collect::<Result<_, _>>()?;
                self.builder.choice(members)
            }
            "REPEAT" => {
                let inner = self.lower(self.content(rule)?)?;
                self.builder.star(inner)
            }
            "REPEAT1" => {
                let inner = self.lower(self.content(rule)?)?;
                self.builder.plus(inner)
            }
            "FIELD" | "ALIAS" => self.lower(self.content(rule)?)?,
            other => return Err(self.error(rule.at, format!("unknown rule type {other}"))),
        })
    }

    /// The token of a string or pattern inside a rule. If a rule is the same token, that
    /// is used.
    fn anonymous_token(&mut self, rule: &Json, name: String) -> Result<Ebnf, ImportError> {
        if let Some(token) = self.anonymous.get(&name) {
            return Ok(*token);
        }
        let regex = self.regex(rule)?;
        let same = self.tokens.iter().find(|(_, other)| **other == regex).map(|(name, _)| *name);
        let ebnf = match same {
            Some(name) => self.builder.name(name, self.source.place(rule.at)),
            None => {
                let priority = self.priority(rule)?;
                let symbol = self.add_token(name.clone(), regex, rule.at, priority);
                self.builder.symbol(symbol)
            }
        };
        self.anonymous.insert(name, ebnf);
        Ok(ebnf)
    }
}
