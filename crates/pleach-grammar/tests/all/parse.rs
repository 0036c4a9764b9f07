//! Parsing, and texts of tokens that are read back as the same tokens.

use crate::common::{file, grammar, names, random_grammar, regex, sentences};
use pleach_automata::dfa::Dfa;
use pleach_grammar::detokenize::{Detokenizer, Piece};
use pleach_grammar::lalr::Lalr;
use pleach_grammar::tree::Kind;
use pleach_grammar::{
    Automaton, Chart, Grammar, Lexer, Lexing, ParseError, Parser, Regex, TokenId,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn parser(grammar: &Grammar) -> Parser {
    let automaton = Arc::new(Automaton::new(Arc::new(grammar.clone())).expect("small"));
    Parser::new(automaton, Lexer::new(grammar).expect("small"))
}

/// A string is accepted if and only if it is a sentence. Its tree is a tree of the
/// grammar, with the string at its leaves.
#[test]
fn accepts_sentences_and_nothing_else() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut accepted, mut refused, mut fast) = (0, 0, 0);
    for _ in 0..1500 {
        let (text, g) = random_grammar(&mut random, 4);
        let all = sentences(&g, 5);
        let automaton = Arc::new(Automaton::new(Arc::new(g.clone())).expect("small"));
        let lalr = Lalr::new(&g).expect("small");
        let count = g.tokens.len();
        for length in 0..=5 {
            for mut code in 0..count.pow(length) {
                let string: Vec<TokenId> = (0..length)
                    .map(|_| {
                        let token = TokenId::new(code % count);
                        code /= count;
                        token
                    })
                    .collect();
                let mut chart = Chart::new(Arc::clone(&automaton));
                let pushed = string.iter().all(|&t| chart.push_token(t));
                let tree = pushed.then(|| chart.tree()).flatten();
                assert_eq!(tree.is_some(), all.contains(&string), "{text}{}", names(&g, &string));
                // LALR finds the same tree or gives up. Without conflicts it never gives
                // up.
                let quick = lalr.tree(string.iter().copied());
                if quick.is_some() || lalr.conflicts() == 0 {
                    assert_eq!(quick, tree, "{text}{}", names(&g, &string));
                    fast += usize::from(quick.is_some());
                }
                if let Some(tree) = tree {
                    assert!(tree.is_of(&g), "{text}{}\n{tree:?}", names(&g, &string));
                    assert!(tree.tokens().eq(string.iter().copied()), "{text}");
                    accepted += 1;
                } else {
                    refused += 1;
                }
            }
        }
    }
    assert!(accepted > 5000 && refused > 50_000, "{accepted} {refused}");
    assert!(fast > 2000, "{fast}");
}

/// Grammars for which bison has no conflict, one that is LALR(1) but not SLR(1), and one
/// that is LR(1) but not LALR(1).
#[test]
fn conflicts_are_those_of_a_parser_generator() {
    for name in ["json.ebnf", "arithmetic.ebnf", "sexpression.ebnf"] {
        assert_eq!(Lalr::new(&file(name)).expect("small").conflicts(), 0, "{name}");
    }
    let pointers = grammar("s: l '=' r | r\nl: '*' r | 'x'\nr: l");
    assert_eq!(Lalr::new(&pointers).expect("small").conflicts(), 0);
    let merged = grammar("s: 'a' e 'c' | 'a' f 'd' | 'b' f 'c' | 'b' e 'd'\ne: 'e'\nf: 'e'");
    let lalr = Lalr::new(&merged).expect("small");
    assert_eq!(lalr.conflicts(), 2);
    // The chart parses what LALR gives up on.
    let parser = parser(&merged);
    for text in ["aec", "aed", "bec", "bed"] {
        assert!(parser.parse(text.as_bytes()).is_ok(), "{text}");
    }
}

#[test]
fn errors_have_the_place_and_a_partial_tree() {
    let g = file("json.ebnf");
    let parser = parser(&g);
    match parser.parse(b"{\"a\":[1,]}") {
        Err(e @ ParseError::Syntax { .. }) => {
            assert!(e.to_string().starts_with("1:9: \"]\" is not expected here; expected "), "{e}");
            let ParseError::Syntax { partial, read, .. } = e else { unreachable!() };
            assert!(partial.is_of(&g));
            assert_eq!(read, 6);
            assert_eq!(
                names(&g, &partial.tokens().collect::<Vec<_>>()),
                "{ string : [ number , string ] }"
            );
        }
        other => panic!("{other:?}"),
    }
    let lexical = parser.parse(b"[1,?]").expect_err("no token").to_string();
    assert_eq!(lexical, "1:4: no token begins here");
    let end = parser.parse(b"[1").expect_err("not whole").to_string();
    assert_eq!(end, "1:3: the end of the input is not expected here; expected \",\", \"]\"");
}

/// A hundred thousand nested brackets.
#[test]
fn deep_inputs_do_not_overflow_the_stack() {
    let parser = parser(&file("json.ebnf"));
    let deep = 100_000;
    let text = ["[".repeat(deep), "]".repeat(deep)].concat();
    let parsed = parser.parse(text.as_bytes()).expect("balanced");
    assert!(parsed.tree.height() > deep);
    assert!(parsed.tree.is_of(parser.grammar()));
}

/// A keyword that is a name in some places: the second attempt of the parser finds it.
#[test]
fn keywords_can_be_names_in_context() {
    let g =
        grammar("%token id [a-z]+\n%skip ws [\\s]+\ns: 'let' name '=' name ';'\nname: id | 'of'");
    let parser = parser(&g);
    let parsed = parser.parse(b"let let = of ;");
    // The second `let` is a name.
    assert!(parsed.is_ok(), "{parsed:?}");
    let tokens: Vec<TokenId> = parsed.expect("ok").tree.tokens().collect();
    assert_eq!(names(&g, &tokens), "let id = of ;");
    assert!(parser.parse(b"lets a = b ;").is_err());
}

/// With `Lexing::Context`, tokens are matches that the parser accepts. With
/// `Lexing::Longest`, the longest match wins, and the parse can fail.
#[test]
fn tokens_are_found_in_context() {
    let json = r#"{"<start>": ["<word>-<end>"], "<word>": ["<letter>", "<letter><word>"],
        "<letter>": ["a", "b"], "<end>": ["ab", "b"]}"#;
    let g = pleach_import::from_bytes("words.json", json.as_bytes(), None).expect("a grammar");
    let parser = parser(&g);
    let parsed = parser.parse(b"ab-ab").expect("a sentence");
    let spans: Vec<(usize, usize)> = parsed.lexemes.iter().map(|l| l.span).collect();
    assert_eq!(spans, [(0, 1), (1, 2), (2, 3), (3, 5)]);
    assert!(parsed.tree.is_of(&g));
    assert!(parser.parse(b"ab-aba").is_err());
    assert!(parser.parse(b"ab?ab").is_err());
    let longest = Grammar { lexing: Lexing::Longest, ..g };
    assert!(self::parser(&longest).parse(b"ab-ab").is_err());
}

/// `//` in a string looks like a comment, until the end of the string is missing.
#[test]
fn the_parser_goes_back_to_an_earlier_match() {
    let text = "%token text [^\"]+\n%skip note //[^;]*\ns: '\"' text '\"' | s ',' '\"' text '\"'";
    let g = Grammar { lexing: Lexing::Context, ..grammar(text) };
    let parsed = parser(&g).parse(b"\"//a\",\"//\"//end").expect("a sentence");
    assert_eq!(names(&g, &parsed.tree.tokens().collect::<Vec<_>>()), "\" text \" , \" text \"");
    assert_eq!(parsed.lexemes[1].span, (1, 4));
    assert!(parser(&g).parse(b"\"//a\",\"//").is_err());
}

/// A token that matches almost any text in one place does not suppress separators in other
/// places.
#[test]
fn tokens_in_context_are_separated() {
    let text = "%token id [a-z]+\n%token line [^;]+\n%skip ws [\\s]+\n\
         s: 'return' e ';' | '#' line\ne: id | '-' e | '--' e";
    let g = Grammar { lexing: Lexing::Context, ..grammar(text) };
    let d = Detokenizer::new(&g).expect("small");
    let bytes = d.bytes(&crate::common::tokens(&g, "return - -- id ;"));
    assert_eq!(String::from_utf8_lossy(&bytes), "return - -- a;");
    let parsed = parser(&g).parse(&bytes).expect("a sentence");
    let tokens: Vec<TokenId> = parsed.tree.tokens().collect();
    assert_eq!(names(&g, &tokens), "return - -- id ;");
    let bytes = d.bytes(&crate::common::tokens(&g, "return id ;"));
    assert_eq!(String::from_utf8_lossy(&bytes), "return a;");
}

/// If the grammar has no separators, a blank would be an error.
#[test]
fn without_separators_tokens_are_joined() {
    let g = grammar("%token id [a-z]+\ns: id ':' ':' id | id '::' id");
    let g = Grammar { lexing: Lexing::Context, ..g };
    let d = Detokenizer::new(&g).expect("small");
    assert_eq!(d.bytes(&crate::common::tokens(&g, "id : : id")), b"a::a");
}

#[test]
fn unchanged_tokens_keep_their_texts() {
    let g = grammar("%token num [0-9]+\n%skip ws [\\s]+\ns: num | s '+' num | s '-' num");
    let d = Detokenizer::new(&g).expect("small");
    let old = b" 1 +22+  333 - 4 ";
    let lexemes = d.lexer().lex(old).expect("tokens");
    let rewrite = |text: &str| {
        let new = crate::common::tokens(&g, text);
        String::from_utf8(d.rewrite(old, &lexemes, &new)).expect("text")
    };
    assert_eq!(rewrite("num + num + num - num"), " 1 +22+  333 - 4 ");
    assert_eq!(rewrite("num + num - num - num"), " 1 +22-333 - 4 ");
    assert_eq!(rewrite("num - num"), " 1- 4 ");
    assert_eq!(rewrite("num"), " 1");
    assert_eq!(rewrite("num + num + num - num + num"), " 1 +22+  333 - 4+0");
}

#[test]
fn tokens_that_would_run_together_get_separators() {
    let g = grammar(
        "%token id [a-z]+\n%token num [0-9]+\n%skip ws [\\s\\n]+\n\
         s: | s t\nt: 'if' | id | num | '+' | '++' | '('",
    );
    let d = Detokenizer::new(&g).expect("small");
    let bytes = |text| String::from_utf8(d.bytes(&crate::common::tokens(&g, text))).expect("text");
    assert_eq!(bytes("if id num + + ++ ( id ( num"), "if a0+ + ++(a(0");
    let old = b"  if (abc\n+ 17  ) ".as_slice();
    let g2 = grammar(
        "%token id [a-z]+\n%token num [0-9]+\n%skip ws [\\s\\n]+\n\
         s: | s t\nt: 'if' | id | num | '+' | '(' | ')'",
    );
    let d = Detokenizer::new(&g2).expect("small");
    let lexemes = d.lexer().lex(old).expect("tokens");
    let kept: Vec<Piece> =
        (0..).zip(&lexemes).map(|(i, l)| Piece { token: l.token, old: Some(i) }).collect();
    assert_eq!(d.edit(old, &lexemes, &kept), old);
    let mut changed = kept.clone();
    changed[2] = Piece { token: g2.find_token("num").expect("num"), old: None };
    assert_eq!(d.edit(old, &lexemes, &changed), b"  if (0+ 17  ) ");
    changed[1] = Piece { token: g2.find_token("id").expect("id"), old: None };
    assert_eq!(d.edit(old, &lexemes, &changed), b"  if a0+ 17  ) ");
}

/// Random tokens are written, and the lexer reads the same tokens.
#[test]
fn texts_are_read_back_as_the_same_tokens() {
    let g = file("javascript.ebnf");
    let mut spaced = g.clone();
    spaced.separators.push(pleach_grammar::Separator {
        name: "blank".into(),
        pattern: regex("[\\s\\n]+"),
        required: false,
    });
    let d = Detokenizer::new(&spaced).expect("small");
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..2000 {
        let tokens: Vec<TokenId> = (0..random.usize(1..12))
            .map(|_| TokenId::new(random.usize(0..g.tokens.len())))
            // The lexer alone cannot distinguish a regular expression from a division.
            .filter(|&t| g.token(t).name != "regexp" && !g.token(t).name.contains('/'))
            .collect();
        let bytes = d.bytes(&tokens);
        let back: Vec<TokenId> =
            d.lexer().lex(&bytes).expect("tokens").iter().map(|l| l.token).collect();
        assert_eq!(back, tokens, "{}", String::from_utf8_lossy(&bytes));
    }
}

/// The lengths of all matches, by the definition of regular expressions.
fn matches(regex: &Regex, text: &[u8]) -> BTreeSet<usize> {
    match regex {
        Regex::Empty => BTreeSet::from([0]),
        Regex::Class(set) => {
            text.first().filter(|b| set.contains(**b)).map(|_| 1).into_iter().collect()
        }
        Regex::Concat(parts) => parts.iter().fold(BTreeSet::from([0]), |at, part| {
            at.iter()
                .flat_map(|&i| matches(part, &text[i..]).into_iter().map(move |j| i + j))
                .collect()
        }),
        Regex::Alt(parts) => parts.iter().flat_map(|p| matches(p, text)).collect(),
        Regex::Repeat { inner, min, max } => {
            let mut at = BTreeSet::from([0]);
            let mut all = if *min == 0 { at.clone() } else { BTreeSet::new() };
            for n in 1..=max.unwrap_or(min + text.len() as u32 + 1) {
                at = at
                    .iter()
                    .flat_map(|&i| matches(inner, &text[i..]).into_iter().map(move |j| i + j))
                    .collect();
                if n >= *min {
                    all.extend(&at);
                }
            }
            all
        }
    }
}

fn random_regex(random: &mut fastrand::Rng, depth: usize) -> Regex {
    let parts = |random: &mut fastrand::Rng| -> Vec<Regex> {
        (0..random.usize(1..4)).map(|_| random_regex(random, depth - 1)).collect()
    };
    match random.usize(0..if depth == 0 { 2 } else { 6 }) {
        0 => Regex::byte(random.u8(b'a'..=b'c')),
        1 => Regex::Class((b'a'..=b'c').filter(|_| random.bool()).collect()),
        2 => Regex::concat(parts(random)),
        3 => Regex::alt(parts(random)),
        4 => Regex::star(random_regex(random, depth - 1)),
        _ => {
            let min = random.u32(0..3);
            let max = random.bool().then(|| min + random.u32(0..3));
            Regex::repeat(random_regex(random, depth - 1), min, max)
        }
    }
}

#[test]
fn automata_agree_with_the_definition() {
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..3000 {
        let r = random_regex(&mut random, 3);
        let dfa = Dfa::new(&[&r]).expect("small");
        let mut shortest = None;
        for length in 0..=5u32 {
            for mut code in 0..3usize.pow(length) {
                let text: Vec<u8> = (0..length)
                    .map(|_| {
                        let byte = b'a' + (code % 3) as u8;
                        code /= 3;
                        byte
                    })
                    .collect();
                let expected = matches(&r, &text).contains(&text.len());
                assert_eq!(dfa.matches(&text), expected, "{r:?} {text:?}");
                if expected && shortest.is_none() {
                    shortest = Some(text.len());
                }
                if expected && dfa.longest().is_some_and(|l| l < length) {
                    panic!("{r:?}: {text:?} is longer than the longest");
                }
            }
        }
        if let Some(length) = shortest {
            assert_eq!(dfa.shortest().map(|s| s.len()), Some(length), "{r:?}");
        }
    }
}

#[test]
fn leaves_are_numbered_from_left_to_right() {
    let g = file("json.ebnf");
    let parsed = parser(&g).parse(b"[1,{\"a\":true}]").expect("json");
    let numbers = parsed.tree.nodes().iter().filter_map(|n| match n.kind {
        Kind::Token(_, number) => Some(number),
        Kind::Rule(_) => None,
    });
    assert!(numbers.eq(0..parsed.lexemes.len() as u32));
}
