//! tree-sitter's `grammar.json`, which every parser of it carries in `src/`.
//!
//! A rule that is only a text, a pattern or `token(…)` is a token; so is every
//! text and pattern inside other rules. `extras` are what may stand between
//! tokens. `externals` are tokens that a hand-written scanner finds: they are
//! known by name only, and each is reported.
//!
//! tree-sitter's lexer asks the parser what may come next. Ours does not, so where
//! two patterns match the same text, texts win against patterns, and a higher
//! `prec` inside `token(…)` against a lower one, as in tree-sitter.

use std::collections::{HashMap, HashSet};

use super::Input;
use crate::ImportError;
use crate::javascript::{self, Found};
use crate::json::{self, Json, Value};
use crate::lexicon::pattern_of;
use crate::text::{Source, contains};
use pleach_grammar::builder::Attributes;
use pleach_grammar::{
    Assoc, Ebnf, Grammar, GrammarBuilder, Language, Lexing, Pattern, Precedence, Regex, Separator,
    Severity, Symbol, Token,
};

/// More strings of tokens; but in a text, what looks like a separator there (`//` at the
/// beginning of a string) is taken for one.
const IMMEDIATE: &str = "nothing may stand before this token; that is left out";

pub(super) fn recognizes(bytes: &[u8]) -> bool {
    json::is_object(bytes) && contains(bytes, b"\"rules\"")
}

pub(super) fn import(input: &Input) -> Result<Grammar, ImportError> {
    let source = Source::text(input.file, input.bytes)?;
    let json = Json::parse(&source)?;
    let Some(rules) = json.get("rules").and_then(Json::object) else {
        return Err(source.error(json.at, "expected an object with rules"));
    };
    let mut importer = Importer {
        source: &source,
        builder: GrammarBuilder::new(),
        tokens: HashMap::new(),
        made: HashMap::new(),
        externals: HashSet::new(),
    };
    importer.tokens(rules)?;
    importer.externals(json.get("externals"), rules)?;
    importer.extras(json.get("extras"), rules)?;
    importer.rules(rules)?;
    Ok(Grammar { lexing: Lexing::Context, ..importer.builder.finish()? })
}

struct Importer<'a> {
    source: &'a Source<'a>,
    builder: GrammarBuilder,
    /// Rules that are tokens, and their expressions.
    tokens: HashMap<&'a str, Regex>,
    /// Tokens made for texts and patterns inside rules.
    made: HashMap<String, Ebnf>,
    externals: HashSet<&'a str>,
}

impl<'a> Importer<'a> {
    fn note(&mut self, at: usize, change: Language, text: impl Into<String>) {
        let severity = if change == Language::Same { Severity::Info } else { Severity::Warning };
        self.builder.note(self.source.place(at), severity, text);
        self.builder.language(change);
    }

    fn error(&self, at: usize, message: impl Into<String>) -> ImportError {
        self.source.error(at, message)
    }

    fn kind<'j>(&self, rule: &'j Json) -> Result<&'j str, ImportError> {
        let kind = rule.get("type").and_then(Json::string);
        kind.ok_or_else(|| self.error(rule.at, "expected a rule: an object with a type"))
    }

    fn content<'j>(&self, rule: &'j Json) -> Result<&'j Json, ImportError> {
        rule.get("content").ok_or_else(|| self.error(rule.at, "this rule has no content"))
    }

    fn members<'j>(&self, rule: &'j Json) -> Result<&'j [Json], ImportError> {
        let members = rule.get("members").and_then(Json::array);
        members.ok_or_else(|| self.error(rule.at, "this rule has no members"))
    }

    fn text<'j>(&self, rule: &'j Json, member: &str) -> Result<&'j str, ImportError> {
        let text = rule.get(member).and_then(Json::string);
        text.ok_or_else(|| self.error(rule.at, format!("this rule has no {member}")))
    }

    /// What a rule is without precedence around it.
    fn bare<'j>(&self, mut rule: &'j Json) -> Result<&'j Json, ImportError> {
        loop {
            match self.kind(rule)? {
                "PREC" | "PREC_LEFT" | "PREC_RIGHT" | "PREC_DYNAMIC" | "RESERVED" => {
                    rule = self.content(rule)?;
                }
                _ => return Ok(rule),
            }
        }
    }

    /// Rules that are one token.
    fn tokens(&mut self, rules: &'a [(String, Json)]) -> Result<(), ImportError> {
        for (index, (name, rule)) in rules.iter().enumerate() {
            let bare = self.bare(rule)?;
            let kind = self.kind(bare)?;
            // The start is a rule, even if it is a token.
            if index == 0 || !matches!(kind, "STRING" | "PATTERN" | "TOKEN" | "IMMEDIATE_TOKEN") {
                continue;
            }
            let regex = self.regex(bare)?;
            self.tokens.insert(name, regex.clone());
            if kind == "IMMEDIATE_TOKEN" {
                self.note(rule.at, Language::Unknown, IMMEDIATE);
            }
            let priority = self.priority(bare)?;
            self.token(name.clone(), regex, rule.at, priority);
        }
        Ok(())
    }

    fn token(&mut self, name: String, regex: Regex, at: usize, priority: u32) -> Symbol {
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

    /// Lower wins: first by `prec` inside the token, then texts before patterns.
    fn priority(&self, rule: &Json) -> Result<u32, ImportError> {
        const MIDDLE: f64 = 1_000_000.0;
        let inner = match self.kind(rule)? {
            "TOKEN" | "IMMEDIATE_TOKEN" => self.content(rule)?,
            _ => rule,
        };
        let prec = match (self.kind(inner)?.starts_with("PREC"), inner.get("value")) {
            (true, Some(Json { value: Value::Number(value), .. })) => *value,
            _ => 0.0,
        };
        let text = self.kind(self.bare(inner)?)? == "STRING";
        let immediate = self.kind(rule)? == "IMMEDIATE_TOKEN";
        Ok((MIDDLE - prec.clamp(-1000.0, 1000.0) * 4.0) as u32 + 2 * u32::from(!text)
            - u32::from(immediate))
    }

    fn externals(
        &mut self,
        externals: Option<&'a Json>,
        rules: &'a [(String, Json)],
    ) -> Result<(), ImportError> {
        for external in externals.and_then(Json::array).unwrap_or_default() {
            if self.kind(external)? != "SYMBOL" {
                let text = "the scanner of the program finds this token too, where it likes";
                self.note(external.at, Language::Smaller, text);
                continue;
            }
            let name = self.text(external, "name")?;
            if rules.iter().any(|(known, _)| known == name) {
                let text = format!("the scanner of the program finds {name} too, where it likes");
                self.note(external.at, Language::Smaller, text);
            } else if self.externals.insert(name) {
                let text =
                    format!("{name} is known by name only: the program's own scanner finds it");
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

    fn extras(
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
                        let known = rules.iter().find(|(known, _)| known == name);
                        let regex =
                            known.map(|(_, rule)| self.regular(rule)).transpose()?.flatten();
                        match regex {
                            Some(regex) => (name.to_owned(), regex),
                            None => {
                                let text = format!("{name} between tokens is left out");
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

    /// The expression of a rule that is not a token but could be: it refers only
    /// to tokens, one level deep.
    fn regular(&mut self, rule: &Json) -> Result<Option<Regex>, ImportError> {
        let rule = self.bare(rule)?;
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
                        return Err(self.error(rule.at, format!("{name} cannot stand in a token")));
                    }
                }
            }
            other => return Err(self.error(rule.at, format!("{other} cannot stand in a token"))),
        })
    }

    fn pattern(&mut self, rule: &Json) -> Result<Regex, ImportError> {
        let text = self.text(rule, "value")?;
        let flags = rule.get("flags").and_then(Json::string).unwrap_or_default();
        let found = javascript::parse(text, flags);
        let Found { regex, anchors } = found.map_err(|problem| self.error(rule.at, problem))?;
        if anchors {
            self.note(rule.at, Language::Larger, "where a pattern may stand is left out");
        }
        Ok(regex)
    }

    fn rules(&mut self, rules: &'a [(String, Json)]) -> Result<(), ImportError> {
        let wanted = rules.iter().filter(|(name, _)| !self.tokens.contains_key(name.as_str()));
        let wanted: Vec<&(String, Json)> = wanted.collect();
        for (name, rule) in &wanted {
            self.builder.rule(name, self.source.place(rule.at));
        }
        for (name, rule) in wanted {
            // Alternatives keep the precedence that is around each.
            let (outer, precedence) = self.peeled(rule)?;
            let alternatives = match self.kind(outer)? {
                "CHOICE" => self.members(outer)?.iter().collect(),
                _ => vec![outer],
            };
            for alternative in alternatives {
                let (inner, own) = self.peeled(alternative)?;
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

    /// A rule without the precedence around it, and that.
    fn peeled<'j>(&self, rule: &'j Json) -> Result<(&'j Json, Option<Precedence>), ImportError> {
        // Levels are signed there; the middle leaves room on both sides.
        const MIDDLE: f64 = 10_000.0;
        let assoc = match self.kind(rule)? {
            "PREC" => Assoc::Precedence,
            "PREC_LEFT" => Assoc::Left,
            "PREC_RIGHT" => Assoc::Right,
            _ => return Ok((rule, None)),
        };
        let level = match rule.get("value").map(|value| &value.value) {
            Some(Value::Number(level)) => (MIDDLE + level.clamp(-MIDDLE, MIDDLE)) as u32,
            // Names of levels are ordered elsewhere; the association still counts.
            _ => MIDDLE as u32,
        };
        Ok((self.bare(rule)?, Some(Precedence { level, assoc })))
    }

    fn lower(&mut self, rule: &Json) -> Result<Ebnf, ImportError> {
        let rule = self.bare(rule)?;
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
                    self.anonymous(rule, format!("\"{}\"", text.escape_default()))?
                }
            },
            "PATTERN" => {
                let name = format!("/{}/", self.text(rule, "value")?);
                self.anonymous(rule, name)?
            }
            "TOKEN" | "IMMEDIATE_TOKEN" => {
                if self.kind(rule)? == "IMMEDIATE_TOKEN" {
                    self.note(rule.at, Language::Unknown, IMMEDIATE);
                }
                let place = self.source.place(rule.at);
                let name = match self.bare(self.content(rule)?)? {
                    inner if self.kind(inner)? == "STRING" => {
                        format!("\"{}\"", self.text(inner, "value")?.escape_default())
                    }
                    inner if self.kind(inner)? == "PATTERN" => {
                        format!("/{}/", self.text(inner, "value")?)
                    }
                    _ => format!("token@{}:{}", place.line, place.column),
                };
                self.anonymous(rule, name)?
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
            other => return Err(self.error(rule.at, format!("{other} is not known"))),
        })
    }

    /// The token of a text or pattern inside a rule. A rule that is the same token
    /// has its name.
    fn anonymous(&mut self, rule: &Json, name: String) -> Result<Ebnf, ImportError> {
        if let Some(known) = self.made.get(&name) {
            return Ok(*known);
        }
        let regex = self.regex(rule)?;
        let named = self.tokens.iter().find(|(_, known)| **known == regex).map(|(name, _)| *name);
        let ebnf = match named {
            Some(name) => self.builder.name(name, self.source.place(rule.at)),
            None => {
                let priority = self.priority(rule)?;
                let symbol = self.token(name.clone(), regex, rule.at, priority);
                self.builder.symbol(symbol)
            }
        };
        self.made.insert(name, ebnf);
        Ok(ebnf)
    }
}
