//! yacc and bison files, unmodified, with or without their lexer.
//!
//! Actions, types and all other C are skipped. The patterns of the tokens come from a
//! lex file or a token list ([`Lexicon`]). Without one, characters and aliases stand
//! for themselves, and other tokens have no pattern.
//!
//! Alternatives with `error` are ignored: the parser uses them only after a syntax
//! error. So is the token that marks the end of the input. Precedence does not change
//! which texts are accepted, with one exception: `%nonassoc` forbids some. Tokens and
//! productions keep their precedence. [`Ambiguity`] says whether derivations that the
//! parser would never choose are removed.

mod keywords;
mod lexeme;
mod parse;
mod precedence;

use std::collections::HashSet;

pub use self::keywords::KeywordFiles;
use self::keywords::Keywords;
use self::parse::{Declared, File, Key};
use super::lex::{self, Names};
use super::{Input, tokens};
use crate::ImportError;
use crate::lexicon::{self, KEYWORD_PRIORITY, Lexicon, char_name, is_catch_all, pattern_of};
use crate::text::{Source, contains};
use pleach_grammar::builder::Attributes;
use pleach_grammar::{
    Assoc, Grammar, GrammarBuilder, Language, Pattern, Severity, Symbol, Token, TokenId,
};

/// What happens to derivations that precedence rules out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ambiguity {
    /// All stay: the grammar is as ambiguous as the rules of the file.
    #[default]
    Keep,
    /// They are removed: an operand is never an expression that binds less.
    Drop,
}

/// True for `%%` and a declaration that lex does not have.
pub(super) fn recognises(bytes: &[u8]) -> bool {
    let declarations: [&[u8]; 6] =
        [b"\n%token", b"\n%union", b"\n%start", b"\n%type", b"\n%left", b"\n%define"];
    contains(bytes, b"\n%%") && declarations.iter().any(|word| contains(bytes, word))
}

/// A yacc file with the lexer that feeds it, if the user names one.
pub(super) fn import(input: &Input) -> Result<Grammar, ImportError> {
    let Input { options, .. } = input;
    let source = &Source::new(input.file, input.bytes)?;
    let lexer = input.lexer.map(|(name, text)| Source::new(name, text)).transpose()?;
    let is_token_list = input.lexer.is_some_and(|(name, _)| tokens::is_token_list(name));
    let lexer = lexer.as_ref();
    let parsed = parse::parse(source)?;
    let mut names = Names::new();
    for token in &parsed.tokens {
        if let Key::Name(name) = &token.key {
            // The names in C++ and in C.
            names.insert(format!("make_{name}"), name.clone());
            names.insert(format!("{}{name}", parsed.prefix), name.clone());
        }
    }
    let mut keywords = Keywords::read_given(&options.keywords, &names)?;
    let read = |lexer| match is_token_list {
        true => tokens::read(lexer),
        false => lex::read(lexer, Some(&names)),
    };
    let lexicon = lexer.map(read).transpose()?;
    keywords.search(source, &names, lexicon.as_ref());
    if let Some(lexer) = lexer {
        keywords.search(lexer, &names, lexicon.as_ref());
    }
    if lexicon.as_ref().is_some_and(|lexicon| lexicon.caseless) {
        keywords.ignore_case();
    }
    build(source, parsed, lexicon, keywords, options.ambiguity)
}

fn build(
    source: &Source,
    file: File,
    lexicon: Option<Lexicon>,
    keywords: Keywords,
    ambiguity: Ambiguity,
) -> Result<Grammar, ImportError> {
    let mut builder = GrammarBuilder::new();
    for note in file.notes.iter().chain(&keywords.notes) {
        builder.note(note.place.clone(), note.severity, note.text.clone());
    }
    builder.language(file.language);
    let used: HashSet<usize> = file
        .alternatives
        .iter()
        .flat_map(|a| a.symbols.iter().filter_map(|(_, key)| file.token(key)))
        .collect();
    let numbers = token_numbers(&file);
    let ids: Vec<Option<TokenId>> = (0..file.tokens.len())
        .map(|at| {
            let token = &file.tokens[at];
            let is_rule = matches!(&token.key, Key::Name(name) if file.is_rule(name));
            let entry = lexicon.as_ref().and_then(|l| l.get(&lexicon_key(&token.key)?));
            let keyword = match &token.key {
                Key::Name(name) => keywords.pattern(name, entry.map(|entry| &entry.regex)),
                Key::Char(_) | Key::Str(_) => None,
            };
            let is_needed = used.contains(&at)
                || keyword.is_some()
                || entry.is_some_and(|entry| !is_catch_all(&entry.regex));
            if is_rule || numbers[at] == 0 || !is_needed {
                return None;
            }
            let is_keyword = keyword.is_some();
            let pattern = keyword.unwrap_or_else(|| {
                find_pattern(source, token, lexicon.as_ref(), &mut builder, used.contains(&at))
            });
            Some(builder.token(Token {
                name: name(token),
                pattern,
                number: Some(numbers[at]),
                place: source.place(token.at),
                precedence: token.precedence,
                priority: match entry {
                    Some(entry) => entry.priority,
                    None if is_keyword => KEYWORD_PRIORITY,
                    None => u32::MAX,
                },
            }))
        })
        .collect();
    if let Some(lexicon) = lexicon {
        lexicon.move_to(&mut builder);
    } else {
        let first_alias = file.tokens.iter().zip(&ids).find(|(token, id)| {
            let is_literal = id.is_some_and(|id| builder.tokens()[id.index()].literal().is_some());
            let is_certain = match &token.key {
                Key::Name(name) => keywords.pattern(name, None).is_some(),
                Key::Char(_) | Key::Str(_) => true,
            };
            is_literal && !is_certain
        });
        if let Some((token, _)) = first_alias {
            let text = "aliases are used as the texts of their tokens; the first is here";
            builder.note(source.place(token.at), Severity::Warning, text);
            builder.language(Language::Unknown);
        }
        let unknown = builder.tokens().iter().filter(|t| t.pattern == Pattern::Unknown);
        let (count, first) = (unknown.clone().count(), unknown.map(|t| t.place.clone()).min());
        if let Some(first) = first {
            let text =
                format!("no lexer was given; tokens without a pattern: {count}; the first is here");
            builder.note(first, Severity::Warning, text);
            builder.language(Language::Smaller);
        }
    }

    for (name, at) in &file.rules {
        builder.rule(name, source.place(*at));
    }
    for alternative in &file.alternatives {
        let rule = builder.rule(&alternative.lhs, source.place(alternative.at));
        let mut symbols = Vec::new();
        for (at, key) in &alternative.symbols {
            match (key, file.token(key)) {
                (Key::Name(name), _) if file.is_rule(name) => {
                    symbols.push(builder.name(name, source.place(*at)));
                }
                // The end of the input has no text.
                (_, Some(token)) if numbers[token] == 0 => {}
                (_, Some(token)) => {
                    if let Some(id) = ids[token] {
                        symbols.push(builder.symbol(Symbol::Token(id)));
                    }
                }
                (Key::Name(name), None) => symbols.push(builder.name(name, source.place(*at))),
                (_, None) => {}
            }
        }
        let decides = match &alternative.prec {
            Some((_, key)) => file.token(key),
            None => alternative.symbols.iter().rev().find_map(|(_, key)| file.token(key)),
        };
        let body = builder.sequence(symbols);
        let attributes = Attributes {
            precedence: decides.and_then(|token| file.tokens[token].precedence),
            ..Attributes::at(source.place(alternative.at))
        };
        builder.production(rule, body, attributes);
    }
    if let Some((at, name)) = &file.start {
        builder.start(name, source.place(*at));
    }
    if ambiguity == Ambiguity::Keep
        && let Some(at) = forbidden_chain(&file)
    {
        let text = "%nonassoc forbids chaining this operator; the grammar allows it";
        builder.note(source.place(at), Severity::Warning, text);
        builder.language(Language::Larger);
    }
    let grammar = builder.finish()?;
    Ok(match ambiguity {
        Ambiguity::Keep => grammar,
        Ambiguity::Drop => precedence::apply(grammar),
    })
}

/// The offset of the first binary operator that `%nonassoc` forbids to chain.
fn forbidden_chain(file: &File) -> Option<usize> {
    file.alternatives.iter().find_map(|alternative| match &alternative.symbols[..] {
        [(_, Key::Name(first)), (at, operator), (_, Key::Name(last))]
            if *first == alternative.lhs && *last == alternative.lhs =>
        {
            let precedence = file.tokens[file.token(operator)?].precedence?;
            (precedence.assoc == Assoc::None).then_some(*at)
        }
        _ => None,
    })
}

fn name(token: &Declared) -> String {
    match &token.key {
        Key::Name(name) => name.clone(),
        Key::Char(bytes) => match bytes[..] {
            [byte] => char_name(byte),
            _ => format!("'{}'", bytes.escape_ascii()),
        },
        Key::Str(text) => format!("\"{}\"", text.escape_ascii()),
    }
}

fn lexicon_key(key: &Key) -> Option<lexicon::Key> {
    match key {
        Key::Name(name) => Some(lexicon::Key::Name(name.clone())),
        Key::Char(bytes) if bytes.len() == 1 => Some(lexicon::Key::Char(bytes[0])),
        Key::Char(_) | Key::Str(_) => None,
    }
}

/// The pattern of a token: from the lexicon, otherwise its own text.
fn find_pattern(
    source: &Source,
    token: &Declared,
    lexicon: Option<&Lexicon>,
    builder: &mut GrammarBuilder,
    used: bool,
) -> Pattern {
    let entry = lexicon.and_then(|l| l.get(&lexicon_key(&token.key)?));
    if let Some(entry) = entry {
        return pattern_of(entry.regex.clone());
    }
    // A lexer that computes some of its tokens may return this one.
    let may_be_returned = lexicon.is_none_or(|l| l.computes_tokens);
    let text = match &token.key {
        Key::Char(text) | Key::Str(text) => Some(text),
        Key::Name(_) => token.alias.as_ref().filter(|alias| !token.typed && is_text(alias)),
    };
    match text {
        Some(text) if may_be_returned && !text.is_empty() => {
            if lexicon.is_some() && used {
                let name = name(token);
                let note = format!("no lexer rule returns {name}; the token gets its own text");
                builder.note(source.place(token.at), Severity::Warning, note);
                builder.language(Language::Unknown);
            }
            Pattern::Literal(text.clone())
        }
        _ => {
            if lexicon.is_some() && used {
                let note = format!("no lexer rule returns {}; it has no pattern", name(token));
                builder.note(source.place(token.at), Severity::Warning, note);
                builder.language(Language::Smaller);
            }
            Pattern::Unknown
        }
    }
}

/// True if an alias is the text of its token, such as `"+"` and `"while"`. Others
/// describe the token: `"end of file"`, `"<string>"`.
fn is_text(alias: &[u8]) -> bool {
    let describes = alias.len() > 2 && alias.starts_with(b"<") && alias.ends_with(b">");
    !alias.contains(&b' ') && !describes
}

/// The numbers that bison gives to the tokens. A character has its code. The others are
/// numbered in the order of the file, from two above the highest number in the file:
/// the one between is for the undefined token. The number of `error` is 256, so without
/// numbers in the file tokens start at 258. Raw numbers start at 3.
fn token_numbers(file: &File) -> Vec<i64> {
    let tokens = &file.tokens;
    let given = tokens.iter().filter_map(|token| token.number);
    let mut last = if file.raw { 2 } else { given.max().unwrap_or(0).max(256).saturating_add(1) };
    let mut order: Vec<usize> = (0..tokens.len()).collect();
    order.sort_by_key(|token| tokens[*token].at);
    let mut numbers = vec![0; tokens.len()];
    for token in order {
        let given = tokens[token].number.filter(|number| !file.raw || *number == 0);
        numbers[token] = given.unwrap_or_else(|| {
            last = last.saturating_add(1);
            last
        });
    }
    numbers
}
