//! Grammars for tests, in a notation with one rule in each line:
//!
//! ```text
//! %token num [0-9]+
//! %skip ws [ \t]+
//! expr: expr '+' term | term
//! term: num | '(' expr ')' | NAME
//! ```
//!
//! A name that no line defines is a token without a pattern. Larger grammars are files of
//! W3C EBNF in `tests/grammars`.
#![allow(dead_code)]

use pleach_grammar::builder::Attributes;
use pleach_grammar::{
    ByteSet, Ebnf, Grammar, GrammarBuilder, GrammarError, Pattern, Place, Regex, Separator, Token,
    TokenId,
};
use std::collections::BTreeSet;

pub fn grammar(text: &str) -> Grammar {
    build(text).unwrap_or_else(|e| panic!("{e}"))
}

pub fn file(name: &str) -> Grammar {
    let path = format!("{}/tests/grammars/{name}", env!("CARGO_MANIFEST_DIR"));
    pleach_import::load(path.as_ref(), None).unwrap_or_else(|e| panic!("{e}"))
}

pub fn build(text: &str) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let mut defined: BTreeSet<String> = BTreeSet::new();
    let mut rules = Vec::new();
    let mut priority = 0;
    for (number, line) in text.lines().enumerate() {
        let place = Place::new(&"test".into(), number as u32 + 1, 1);
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("%token ") {
            let (name, pattern) = rest.trim().split_once(' ').expect("a name and a pattern");
            priority += 1;
            defined.insert(name.into());
            builder.token(Token {
                name: name.into(),
                pattern: Pattern::Regex(regex(pattern.trim())),
                number: None,
                place,
                precedence: None,
                priority,
            });
        } else if let Some(rest) = line.strip_prefix("%skip ") {
            let (name, pattern) = rest.trim().split_once(' ').expect("a name and a pattern");
            let (name, pattern) = (name.into(), regex(pattern.trim()));
            builder.separator(Separator { name, pattern, required: false });
        } else if let Some((name, body)) = line.split_once(": ").or(line.split_once(":")) {
            defined.insert(name.trim().into());
            builder.rule(name.trim(), place.clone());
            rules.push((name.trim().to_owned(), body.to_owned(), place));
        }
    }
    for (name, body, place) in rules {
        let rule = builder.rule(&name, place.clone());
        let mut words: Vec<&str> = body.split_whitespace().collect();
        words.push("|");
        let mut symbols: Vec<Ebnf> = Vec::new();
        for word in words {
            if word == "|" {
                let sequence = builder.sequence(std::mem::take(&mut symbols));
                builder.production(rule, sequence, Attributes::at(place.clone()));
                continue;
            }
            let (word, suffix) = match word.chars().last() {
                Some(c @ ('?' | '*' | '+')) if word.len() > 1 => (&word[..word.len() - 1], c),
                _ => (word, ' '),
            };
            let symbol = if let Some(text) = word.strip_prefix('\'') {
                let text = text.strip_suffix('\'').expect("a closing quote");
                let token = builder.literal(text.as_bytes(), place.clone());
                builder.symbol(pleach_grammar::Symbol::Token(token))
            } else {
                if defined.insert(word.into()) {
                    builder.token(Token {
                        name: word.into(),
                        pattern: Pattern::Unknown,
                        number: None,
                        place: place.clone(),
                        precedence: None,
                        priority: 0,
                    });
                }
                builder.name(word, place.clone())
            };
            symbols.push(match suffix {
                '?' => builder.optional(symbol),
                '*' => builder.star(symbol),
                '+' => builder.plus(symbol),
                _ => symbol,
            });
        }
    }
    builder.finish()
}

/// Classes and single bytes, each with an optional `*`, `+` or `?`.
pub fn regex(text: &str) -> Regex {
    let mut parts: Vec<Regex> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'[' => {
                let end = at + text[at..].find(']').expect("a closing bracket");
                let (mut inner, not) = match &bytes[at + 1..end] {
                    [b'^', rest @ ..] => (rest, true),
                    all => (all, false),
                };
                let mut set = ByteSet::EMPTY;
                while let [low, rest @ ..] = inner {
                    inner = rest;
                    if let [b'-', high, rest @ ..] = inner {
                        set = set.union(&ByteSet::range(*low, *high));
                        inner = rest;
                    } else if *low == b'\\' {
                        let [c, rest @ ..] = inner else { panic!("an escape") };
                        set.insert(match c {
                            b't' => b'\t',
                            b'n' => b'\n',
                            b's' => b' ',
                            c => *c,
                        });
                        inner = rest;
                    } else {
                        set.insert(*low);
                    }
                }
                parts.push(Regex::Class(if not { set.complement() } else { set }));
                at = end;
            }
            c @ (b'*' | b'+' | b'?') => {
                let last = parts.pop().expect("something to repeat");
                parts.push(match c {
                    b'*' => Regex::star(last),
                    b'+' => Regex::plus(last),
                    _ => Regex::optional(last),
                });
            }
            b' ' => {}
            c => parts.push(Regex::byte(c)),
        }
        at += 1;
    }
    Regex::concat(parts)
}

/// Token names separated by spaces.
pub fn tokens(grammar: &Grammar, text: &str) -> Vec<TokenId> {
    let find = |w: &str| grammar.find_token(w).unwrap_or_else(|| panic!("no token {w}"));
    text.split_whitespace().map(find).collect()
}

pub fn names(grammar: &Grammar, tokens: &[TokenId]) -> String {
    let text = |t: &TokenId| match grammar.token(*t).literal() {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => grammar.token(*t).name.clone(),
    };
    tokens.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// A small random grammar whose language is not empty: up to `rules` rules over up to
/// three tokens. It can have empty productions, left recursion, cycles and ambiguity.
pub fn random_grammar(random: &mut fastrand::Rng, rules: usize) -> (String, Grammar) {
    loop {
        let count = random.usize(1..=rules);
        let tokens = random.usize(1..=3);
        let mut text = String::new();
        for rule in 0..count {
            let bodies: Vec<String> = (0..random.usize(1..=3))
                .map(|_| {
                    let symbols: Vec<String> = (0..random.usize(0..=3))
                        .map(|_| match random.usize(0..10) {
                            0..5 => format!("r{}", random.usize(0..count)),
                            _ => format!("'{}'", ["a", "b", "c"][random.usize(0..tokens)]),
                        })
                        .collect();
                    symbols.join(" ")
                })
                .collect();
            text.push_str(&format!("r{rule}: {}\n", bodies.join(" | ")));
        }
        if let Ok(grammar) = build(&text)
            && !grammar.tokens.is_empty()
        {
            return (text, grammar);
        }
    }
}

/// All sentences of up to `max_length` tokens, by the definition: the least sets that are
/// closed under the productions.
pub fn sentences(grammar: &Grammar, max_length: usize) -> BTreeSet<Vec<TokenId>> {
    let mut of: Vec<BTreeSet<Vec<TokenId>>> = vec![BTreeSet::new(); grammar.rules.len()];
    loop {
        let mut grown = false;
        for production in &grammar.productions {
            let mut strings = BTreeSet::from([Vec::new()]);
            for symbol in &production.symbols {
                let mut longer = BTreeSet::new();
                for string in &strings {
                    let mut add = |more: &[TokenId]| {
                        if string.len() + more.len() <= max_length {
                            longer.insert([string, more].concat());
                        }
                    };
                    match symbol {
                        pleach_grammar::Symbol::Token(t) => add(&[*t]),
                        pleach_grammar::Symbol::Rule(r) => {
                            of[r.index()].iter().for_each(|s| add(s));
                        }
                    }
                }
                strings = longer;
            }
            for string in strings {
                grown |= of[production.rule.index()].insert(string);
            }
        }
        if !grown {
            return of.swap_remove(grammar.start.index());
        }
    }
}
