//! The strings of a symbolic grammar, as templates (Majumdar and Xu, "Directed Test
//! Generation using Symbolic Grammars", 2007).
//!
//! Each derivation of the symbolic grammar up to the bounds is a template: its
//! constants are the holes. Those with the fewest holes come first. A hole is what
//! the grammar's own lexer would read as one of the tokens that gave way there, so a
//! keyword does not slip into the place of a name, nor a number where only names can
//! be; where the same constants stand side by side, the hole is any sequence of such
//! tokens. A person can say what else is to be in a hole; the lexer still has its say
//! in it, unless that is relaxed.
//!
//! Between two texts that the lexer would read as one goes a separator; it counts
//! for nothing in the bounds.

use crate::grafts::impatient_parser;
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
    pub longest: usize,
    pub highest: Option<usize>,
    /// Derivations up to this length are left out.
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

/// What becomes of tokens.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    pub abstractions: HashMap<TokenId, Abstraction>,
    /// What takes the place of a token, where it was said.
    pub holes: HashMap<TokenId, Regex>,
    /// What is in a hole need not be a text of its token: what was said for it, or
    /// any bytes.
    pub relaxed: bool,
}

pub struct Strings {
    symbolic: Symbolic,
    lexer: Lexer,
    /// By token of the symbolic grammar: what can be in the place of a constant.
    constants: Vec<Option<Constant>>,
    separator: Vec<u8>,
    original: Arc<Grammar>,
    /// Made when it is first needed; none if the grammar is too large.
    parser: OnceLock<Option<Parser>>,
}

/// One token that gave way, or several in a row.
struct Constant {
    one: Arc<HoleLanguage>,
    several: Arc<HoleLanguage>,
    /// Each of the tokens by itself.
    each: Vec<(TokenId, Arc<HoleLanguage>)>,
}

/// A hole to be kept in a file: where it is, its filling, and which language it has.
pub type SavedHole = [u32; 6];

/// What a hole is first filled with: digits first, since a name that nobody knows
/// is refused more often than a number.
const FIRST: &[u8] = b"1023456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_\"' ";

impl Strings {
    pub fn new(grammar: &Grammar, choices: &Choices) -> Result<Strings, StringsError> {
        let mut said = grammar.clone();
        for (token, regex) in &choices.holes {
            said.tokens[token.index()].pattern = Pattern::Regex(regex.clone());
        }
        let choose = |t| choices.abstractions.get(&t).copied().unwrap_or(Abstraction::Auto);
        let symbolic = Symbolic::new(&said, choose)?;
        let lexer = Lexer::new(grammar)?;
        let constant = |(i, &is): (usize, &bool)| {
            let tokens = &symbolic.stands_for[i];
            is.then(|| Constant::new(grammar, &lexer, tokens, choices)).transpose()
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

    /// What may change of an input that somebody else made: the texts of tokens that
    /// give way, as far as they stay the same tokens. Nothing, if it is no sentence.
    pub fn recover(&self, input: &[u8]) -> Option<Template> {
        let parser =
            self.parser.get_or_init(|| impatient_parser(&self.original, self.lexer.clone()).ok());
        let parsed = parser.as_ref()?.parse(input).ok()?;
        let holes = parsed.lexemes.iter().filter_map(|lexeme| {
            let word = &input[lexeme.span.0..lexeme.span.1];
            let each = self.constants.iter().flatten().flat_map(|c| &c.each);
            let mut own = each.filter(|(token, _)| *token == lexeme.token);
            let (_, language) = own.find(|(_, language)| language.dfa().matches(word))?;
            Some(Hole::found(lexeme.span.0 as u32, word, language.clone()))
        });
        Some(Template { holes: holes.collect() })
    }

    /// A template of these strings, to be kept in a file.
    pub fn save(&self, template: &Template) -> Option<Vec<SavedHole>> {
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

    /// A template that was kept for an input; `None` if it does not fit.
    pub fn load(&self, saved: &[SavedHole], input: &[u8]) -> Option<Template> {
        let mut behind = 0;
        let holes = saved.iter().map(|&[start, end, from, to, constant, which]| {
            let constant = self.constants.get(constant as usize)?.as_ref()?;
            let language = constant.languages().nth(which as usize)?.clone();
            let apart = behind <= start && start <= from && from <= to && to <= end;
            behind = end;
            let word = input.get(start as usize..end as usize)?;
            let fits = apart && language.dfa().matches(word);
            fits.then_some(Hole { start, end, language, filling: (from, to) })
        });
        Some(Template { holes: holes.collect::<Option<_>>()? })
    }

    /// The grammar whose derivations they are.
    pub fn grammar(&self) -> &Grammar {
        &self.symbolic.grammar
    }

    /// Calls `visit` with each string within the bounds, until it breaks.
    pub fn walk(
        &self,
        bounds: &Bounds,
        mut visit: impl FnMut(Vec<u8>, Template) -> ControlFlow<()>,
    ) -> Result<(), StringsError> {
        let limits = Limits {
            unit: bounds.unit,
            longest: bounds.longest,
            highest: bounds.highest,
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
                // No word of the tokens has that length.
                None => true,
            }
        });
        Ok(())
    }

    fn template(&self, bytes: &[u8], tokens: &[(TokenId, u32)]) -> Option<(Vec<u8>, Template)> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut template = Template::default();
        let (mut at, mut last) = (0, 0);
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
                        let word = language.dfa().word(end - start, &order())?;
                        Some((word, Some(language.clone())))
                    };
                    fill(&constant.one).or_else(|| fill(&constant.several))?
                }
            };
            if self.run_together(&out[last..], &text) {
                out.extend_from_slice(&self.separator);
            }
            last = out.len();
            out.extend_from_slice(&text);
            if let Some(language) = language {
                template.holes.push(Hole::new(last as u32, &text, language));
            }
        }
        Some((out, template))
    }

    /// Whether the lexer would not see where one text ends and the other begins.
    fn run_together(&self, before: &[u8], behind: &[u8]) -> bool {
        if before.is_empty() {
            return false;
        }
        let both = [before, behind].concat();
        let ends =
            |lexemes: &[pleach_grammar::Lexeme]| lexemes.iter().any(|l| l.span.1 == before.len());
        !self.lexer.lex(&both).is_ok_and(|lexemes| ends(&lexemes))
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
        let (mut one, mut each): (Option<Dfa>, _) = (None, Vec::new());
        let mut patterns = Vec::new();
        for &token in tokens {
            let said = choices.holes.get(&token).or(choices.relaxed.then_some(&any));
            patterns.extend(said.cloned().or_else(|| match &grammar.token(token).pattern {
                Pattern::Regex(regex) => Some(regex.clone()),
                Pattern::Literal(bytes) => Some(Regex::literal(bytes)),
                Pattern::Unknown => None,
            }));
            let own = TokenSet::of(grammar.tokens.len(), [token]);
            let own = lexer.language_of(&own);
            let language = match said.map(|regex| Dfa::new(&[regex])).transpose()? {
                None => own,
                Some(said) if choices.relaxed => said,
                Some(said) => {
                    let both = own.product(&said, |a, b| a && b)?;
                    if both.lengths().is_empty() {
                        return Err(StringsError::Hole(grammar.token(token).name.clone()));
                    }
                    both
                }
            };
            each.push((token, hole(language.clone())?));
            one = Some(match one {
                None => language,
                Some(one) => one.product(&language, |a, b| a || b)?,
            });
        }
        let several = Dfa::new(&[&Regex::plus(Regex::alt(patterns))])?;
        let one = one.unwrap_or_else(|| several.clone());
        Ok(Constant { one: hole(one)?, several: hole(several)?, each })
    }

    fn languages(&self) -> impl Iterator<Item = &Arc<HoleLanguage>> {
        [&self.one, &self.several].into_iter().chain(self.each.iter().map(|(_, l)| l))
    }
}

/// All bytes, those that are preferred in a hole first.
pub fn order() -> Vec<u8> {
    let rest = (0x21..0x7f).chain(0..=255).filter(|b| !FIRST.contains(b));
    FIRST.iter().copied().chain(rest).collect()
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

    fn all(strings: &Strings, longest: usize, longer_than: usize) -> Vec<(Vec<u8>, Template)> {
        let bounds = Bounds { unit: Unit::Bytes, longest, highest: None, longer_than };
        let mut found = Vec::new();
        let visit = |bytes, template| {
            found.push((bytes, template));
            ControlFlow::Continue(())
        };
        strings.walk(&bounds, visit).unwrap();
        found
    }

    #[test]
    fn the_papers_numbers_of_symbolic_strings() {
        let strings = strings(CALC);
        let counts: Vec<usize> = (1..=5).map(|n| all(&strings, n, 0).len()).collect();
        assert_eq!(counts, [1, 2, 11, 35, 201]);
        assert_eq!(all(&strings, 4, 3).len(), 24);
    }

    #[test]
    fn holes_are_where_the_constants_were_and_come_in_order() {
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
    fn words_are_kept_apart_and_no_keyword_is_a_name() {
        let text = "s ::= 'let' name 'in' name\nname ::= [a-z]+\nspace ::= ' '+\n@skip space\n";
        let grammar = import::from_bytes("let.ebnf", text.as_bytes(), None);
        let strings = Strings::new(&grammar.unwrap(), &Choices::default()).unwrap();
        let bounds = Bounds { unit: Unit::Tokens, longest: 5, highest: None, longer_than: 0 };
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
