//! The strings of a symbolic grammar, as templates (Majumdar and Xu, "Directed Test
//! Generation using Symbolic Grammars", 2007).
//!
//! Each derivation of the symbolic grammar within the bounds is a template. Its holes are
//! the symbolic constants. Derivations with the fewest holes come first. A hole may be any
//! text that the grammar's lexer reads as one of the tokens that the constant stands for: no
//! keyword in the place of a name, and no number where only names can be. If the same
//! constants are neighbours, they are one hole, and it may be any sequence of such tokens.
//! The user can give a hole another language. Its texts must still be texts of the token,
//! unless that is relaxed.
//!
//! If the lexer would read two neighbouring texts as one, a separator is put between them. It
//! does not count for the bounds.

use crate::grafts::bounded_parser;
use crate::template::{Hole, Template};
use pleach_automata::dfa::{self, Dfa};
use pleach_grammar::count::CountError;
pub use pleach_grammar::count::Unit;
use pleach_grammar::enumerate::{Enumerator, Limits};
use pleach_grammar::symbolic::{Abstraction, Symbolic};
use pleach_grammar::{ByteSet, Grammar, Lexer, Parser, Pattern, Regex, TokenId, TokenSet};
use pleach_solve::{HoleLanguage, TooManyStates};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

#[derive(Clone, Debug)]
pub struct Bounds {
    pub unit: Unit,
    pub max_length: usize,
    pub max_height: Option<usize>,
    /// Derivations up to this length are skipped.
    pub longer_than: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum StringsError {
    #[error("the lexer of the grammar is too large: {0}")]
    Lexer(#[from] dfa::TooLarge),
    #[error("the tokens of the grammar are too large: {0}")]
    Tokens(#[from] TooManyStates),
    #[error("no text of the token {0} is what its hole should be")]
    Hole(String),
    #[error(transparent)]
    Count(#[from] CountError),
}

/// What the tokens of a grammar become in the symbolic grammar.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    pub abstractions: HashMap<TokenId, Abstraction>,
    /// The languages that the user gave for tokens.
    pub holes: HashMap<TokenId, Regex>,
    /// A hole need not be a text of its token: it may be any word of the given language, or
    /// any bytes.
    pub relaxed: bool,
}

pub struct Strings {
    symbolic: Symbolic,
    lexer: Lexer,
    /// For each token of the symbolic grammar that is a constant, what may be in its place.
    constants: Vec<Option<Constant>>,
    separator: Vec<u8>,
    original: Arc<Grammar>,
    /// Made when it is first needed. `None` if the grammar is too large.
    parser: OnceLock<Option<Parser>>,
}

/// What may be in the place of a symbolic constant.
struct Constant {
    /// Texts of one token.
    one: Arc<HoleLanguage>,
    /// Texts of several tokens in a row.
    several: Arc<HoleLanguage>,
    /// The texts of each token that it stands for.
    by_token: Vec<(TokenId, Arc<HoleLanguage>)>,
}

/// A hole as numbers, to be stored: its start and end, those of its filling, and two numbers
/// that name its language.
pub type HoleRecord = [u32; 6];

/// Bytes that a hole gets first. Digits come before letters: a program rejects an unknown
/// name more often than a number.
const PREFERRED: &[u8] = b"1023456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_\"' ";

impl Strings {
    pub fn new(grammar: &Grammar, choices: &Choices) -> Result<Strings, StringsError> {
        let mut with_holes = grammar.clone();
        for (token, regex) in &choices.holes {
            with_holes.tokens[token.index()].pattern = Pattern::Regex(regex.clone());
        }
        let choose = |t| choices.abstractions.get(&t).copied().unwrap_or(Abstraction::Auto);
        let symbolic = Symbolic::new(&with_holes, choose)?;
        let lexer = Lexer::new(grammar)?;
        let constant = |(i, &is_constant): (usize, &bool)| {
            let tokens = &symbolic.stands_for[i];
            is_constant.then(|| Constant::new(grammar, &lexer, tokens, choices)).transpose()
        };
        let constants = symbolic.constants.iter().enumerate().map(constant);
        let constants = constants.collect::<Result<_, StringsError>>()?;
        let separator = grammar.separators.iter().find_map(|s| {
            let dfa = Dfa::new(&[&s.pattern]).ok()?;
            let usual = [&b" "[..], b"\n"].into_iter().find(|s| dfa.matches(s));
            usual.map(<[u8]>::to_vec).or_else(|| dfa.shortest())
        });
        let separator = separator.unwrap_or_else(|| b" ".to_vec());
        let (original, parser) = (Arc::new(grammar.clone()), OnceLock::new());
        Ok(Strings { symbolic, lexer, constants, separator, original, parser })
    }

    /// Finds the template of an input of unknown origin: its holes are the texts of tokens
    /// that constants stand for. `None` if the input is not a sentence.
    pub fn find_template(&self, input: &[u8]) -> Option<Template> {
        let parser =
            self.parser.get_or_init(|| bounded_parser(&self.original, self.lexer.clone()).ok());
        let parsed = parser.as_ref()?.parse(input).ok()?;
        let holes = parsed.lexemes.iter().filter_map(|lexeme| {
            let word = &input[lexeme.span.0..lexeme.span.1];
            let all = self.constants.iter().flatten().flat_map(|c| &c.by_token);
            let mut own = all.filter(|(token, _)| *token == lexeme.token);
            let (_, language) = own.find(|(_, language)| language.dfa().matches(word))?;
            Some(Hole::with_guessed_filling(lexeme.span.0 as u32, word, language.clone()))
        });
        Some(Template { holes: holes.collect() })
    }

    /// The holes of a template, to be stored. `None` if it is not one of these strings.
    pub fn save_template(&self, template: &Template) -> Option<Vec<HoleRecord>> {
        let saved = template.holes.iter().map(|hole| {
            let mut constants = (0u32..).zip(&self.constants);
            let (constant, which) = constants.find_map(|(i, constant)| {
                let languages = (0u32..).zip(constant.as_ref()?.languages());
                let mut same = languages.filter(|(_, l)| Arc::ptr_eq(l, &hole.language));
                Some((i, same.next()?.0))
            })?;
            Some([hole.start, hole.end, hole.filling.0, hole.filling.1, constant, which])
        });
        saved.collect()
    }

    /// Rebuilds the stored template of an input. `None` if it does not match the input.
    pub fn load_template(&self, saved: &[HoleRecord], input: &[u8]) -> Option<Template> {
        let mut last_end = 0;
        let holes = saved.iter().map(|&[start, end, from, to, constant, which]| {
            let constant = self.constants.get(constant as usize)?.as_ref()?;
            let language = constant.languages().nth(which as usize)?.clone();
            let is_in_order = last_end <= start && start <= from && from <= to && to <= end;
            last_end = end;
            let word = input.get(start as usize..end as usize)?;
            let is_valid = is_in_order && language.dfa().matches(word);
            is_valid.then_some(Hole { start, end, language, filling: (from, to) })
        });
        Some(Template { holes: holes.collect::<Option<_>>()? })
    }

    /// Calls `visit` with each string within the bounds and its template, until it breaks.
    pub fn walk(
        &self,
        bounds: &Bounds,
        mut visit: impl FnMut(Vec<u8>, Template) -> ControlFlow<()>,
    ) -> Result<(), StringsError> {
        let limits = Limits {
            unit: bounds.unit,
            longest: bounds.max_length,
            highest: bounds.max_height,
            constants: Some(self.symbolic.constants.clone()),
        };
        let enumerator = Enumerator::new(&self.symbolic.grammar, &limits)?;
        enumerator.walk(|derivation| {
            let length = match bounds.unit {
                Unit::Bytes => derivation.bytes.len(),
                Unit::Tokens => derivation.tokens.len(),
            };
            if length <= bounds.longer_than {
                return true;
            }
            match self.template(derivation.bytes, derivation.tokens) {
                Some((bytes, template)) => visit(bytes, template).is_continue(),
                // No text of the tokens has that length.
                None => true,
            }
        });
        Ok(())
    }

    /// The template of a derivation. `tokens` has the end of each token in `bytes`.
    fn template(&self, bytes: &[u8], tokens: &[(TokenId, u32)]) -> Option<(Vec<u8>, Template)> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut template = Template::default();
        let (mut at, mut last_start) = (0, 0);
        while at < tokens.len() {
            let start = at.checked_sub(1).map_or(0, |b| tokens[b].1 as usize);
            let token = tokens[at].0;
            let constant = self.constants[token.index()].as_ref();
            at += 1;
            while constant.is_some() && at < tokens.len() && tokens[at].0 == token {
                at += 1;
            }
            let end = tokens[at - 1].1 as usize;
            let (text, language) = match constant {
                None => (bytes[start..end].to_vec(), None),
                Some(constant) => {
                    let fill = |language: &Arc<HoleLanguage>| {
                        let word = language.dfa().word(end - start, &preferred_bytes())?;
                        Some((word, Some(language.clone())))
                    };
                    fill(&constant.one).or_else(|| fill(&constant.several))?
                }
            };
            if self.reads_as_one(&out[last_start..], &text) {
                out.extend_from_slice(&self.separator);
            }
            last_start = out.len();
            out.extend_from_slice(&text);
            if let Some(language) = language {
                template.holes.push(Hole::new(last_start as u32, &text, language));
            }
        }
        Some((out, template))
    }

    /// True if the lexer would not see where one text ends and the other starts.
    fn reads_as_one(&self, before: &[u8], after: &[u8]) -> bool {
        if before.is_empty() {
            return false;
        }
        let both = [before, after].concat();
        let lexemes = self.lexer.lex(&both).unwrap_or_default();
        !lexemes.iter().any(|lexeme| lexeme.span.1 == before.len())
    }
}

impl Constant {
    fn new(
        grammar: &Grammar,
        lexer: &Lexer,
        tokens: &[TokenId],
        choices: &Choices,
    ) -> Result<Constant, StringsError> {
        let any = Regex::plus(Regex::Class(ByteSet::range(0, 255)));
        let hole = |dfa| HoleLanguage::new(dfa).map(Arc::new);
        let (mut one, mut by_token): (Option<Dfa>, _) = (None, Vec::new());
        let mut patterns = Vec::new();
        for &token in tokens {
            let given = choices.holes.get(&token).or(choices.relaxed.then_some(&any));
            patterns.extend(given.cloned().or_else(|| match &grammar.token(token).pattern {
                Pattern::Regex(regex) => Some(regex.clone()),
                Pattern::Literal(bytes) => Some(Regex::literal(bytes)),
                Pattern::Unknown => None,
            }));
            let own = TokenSet::of(grammar.tokens.len(), [token]);
            let own = lexer.language_of(&own);
            let language = match given.map(|regex| Dfa::new(&[regex])).transpose()? {
                None => own,
                Some(given) if choices.relaxed => given,
                Some(given) => {
                    let both = own.product(&given, |a, b| a && b)?;
                    if both.lengths().is_empty() {
                        return Err(StringsError::Hole(grammar.token(token).name.clone()));
                    }
                    both
                }
            };
            by_token.push((token, hole(language.clone())?));
            one = Some(match one {
                None => language,
                Some(one) => one.product(&language, |a, b| a || b)?,
            });
        }
        let several = Dfa::new(&[&Regex::plus(Regex::alt(patterns))])?;
        let one = one.unwrap_or_else(|| several.clone());
        Ok(Constant { one: hole(one)?, several: hole(several)?, by_token })
    }

    /// All its languages, in the order in which they are numbered.
    fn languages(&self) -> impl Iterator<Item = &Arc<HoleLanguage>> {
        [&self.one, &self.several].into_iter().chain(self.by_token.iter().map(|(_, l)| l))
    }
}

/// All bytes, in the order in which they are chosen for a hole.
pub(crate) fn preferred_bytes() -> Vec<u8> {
    let rest = (0x21..0x7f).chain(0..=255).filter(|b| !PREFERRED.contains(b));
    PREFERRED.iter().copied().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_import as import;

    const CALC: &str = "e ::= '(' e ')' | e '*' e | e '/' e | e '%' e | e '+' e | e '-' e \
        | e '|' e | e '&' e | '-' e | letter | digit\nletter ::= [a-zA-Z]\ndigit ::= [0-9]\n";

    fn strings(text: &str) -> Strings {
        let grammar = import::from_bytes("calc.ebnf", text.as_bytes(), None);
        Strings::new(&grammar.unwrap(), &Choices::default()).unwrap()
    }

    fn all(strings: &Strings, max_length: usize, longer_than: usize) -> Vec<(Vec<u8>, Template)> {
        let bounds = Bounds { unit: Unit::Bytes, max_length, max_height: None, longer_than };
        let mut found = Vec::new();
        let visit = |bytes, template| {
            found.push((bytes, template));
            ControlFlow::Continue(())
        };
        strings.walk(&bounds, visit).unwrap();
        found
    }

    #[test]
    fn there_are_as_many_symbolic_strings_as_in_the_paper() {
        let strings = strings(CALC);
        let counts: Vec<usize> = (1..=5).map(|n| all(&strings, n, 0).len()).collect();
        assert_eq!(counts, [1, 2, 11, 35, 201]);
        assert_eq!(all(&strings, 4, 3).len(), 24);
    }

    #[test]
    fn constants_become_holes_and_fewer_holes_come_first() {
        let found = all(&strings(CALC), 3, 0);
        let holes: Vec<usize> = found.iter().map(|(_, t)| t.holes.len()).collect();
        assert!(holes.is_sorted(), "{holes:?}");
        for (bytes, template) in &found {
            assert!(template.covers(bytes, bytes));
            for hole in &template.holes {
                assert!(hole.language.dfa().matches(b"x") && hole.language.dfa().matches(b"7"));
                assert!(!hole.language.dfa().matches(b"+"));
            }
        }
        assert_eq!(found[0].0, b"1");
    }

    #[test]
    fn words_are_separated_and_no_keyword_is_a_name() {
        let text = "s ::= 'let' name 'in' name\nname ::= [a-z]+\nspace ::= ' '+\n@skip space\n";
        let grammar = import::from_bytes("let.ebnf", text.as_bytes(), None);
        let strings = Strings::new(&grammar.unwrap(), &Choices::default()).unwrap();
        let bounds = Bounds { unit: Unit::Tokens, max_length: 5, max_height: None, longer_than: 0 };
        let mut found = Vec::new();
        let visit = |bytes: Vec<u8>, template: Template| {
            found.push((String::from_utf8_lossy(&bytes).into_owned(), template));
            ControlFlow::Continue(())
        };
        strings.walk(&bounds, visit).unwrap();
        assert_eq!(found[0].0, "let a in a");
        assert!(found[0].1.holes[0].language.dfa().matches(b"x"));
        assert!(!found[0].1.holes[0].language.dfa().matches(b"in"));
    }
}
