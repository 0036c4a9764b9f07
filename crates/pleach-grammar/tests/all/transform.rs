//! Symbolic grammars, conversions and reduction.

use crate::common::{file, grammar};
use num_bigint::BigUint;
use pleach_grammar::convert::{ConvertError, Form, convert};
use pleach_grammar::count::{Counts, Unit};
use pleach_grammar::detokenize::Detokenizer;
use pleach_grammar::reduce::reduce;
use pleach_grammar::symbolic::{Abstraction, Symbolic};
use pleach_grammar::{Automaton, Grammar, Lexer, Parser};
use std::sync::Arc;

/// The numbers are those of the symbolic column of the paper's table.
#[test]
fn simple_calc_becomes_the_papers_symbolic_grammar() {
    let g = file("simplecalc.ebnf");
    let symbolic = Symbolic::new(&g, |_| Abstraction::Auto).expect("small");
    let counts = Counts::new(&symbolic.grammar, Unit::Bytes, 6).expect("counts");
    for (length, expected) in [(1, 1u32), (2, 2), (3, 11), (4, 35), (5, 201), (6, 853)] {
        assert_eq!(counts.up_to(length), BigUint::from(expected));
    }
    assert_eq!(symbolic.constants.iter().filter(|c| **c).count(), 1);
    // With letters kept, there are 52 letters and the constant for digits.
    let letter = g.find_token("l").expect("l");
    let choose = |t| if t == letter { Abstraction::Keep } else { Abstraction::Auto };
    let partly = Symbolic::new(&g, choose).expect("small");
    let counts = Counts::new(&partly.grammar, Unit::Bytes, 1).expect("counts");
    assert_eq!(counts.up_to(1), BigUint::from(53u32));
}

#[test]
fn shapes_of_tokens() {
    let g =
        grammar("%token w [a-z]+\n%token hex [0][x][0-9]?[0-9]\n%token one [z]\ns: w | hex | one");
    let symbolic = Symbolic::new(&g, |_| Abstraction::Auto).expect("small").grammar;
    let shown: Vec<String> = symbolic.production_ids().map(|p| symbolic.show(p)).collect();
    assert_eq!(
        shown,
        [
            "α1_or_more: α",
            "α1_or_more: α1_or_more α",
            "α3_or_4: α α α",
            "α3_or_4: α α α α",
            "s: α1_or_more",
            "s: α3_or_4",
            "s: one",
        ]
    );
}

/// A grammar that was written and read again has the same number of sentences of each
/// length.
#[test]
fn converted_grammars_are_read_back() {
    let dir = std::env::temp_dir().join(format!("pleach-convert-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let quotes = "%token w [a-c\\-']+\ns: | s '\\' w | s ']' | s '-' '['";
    let all = [file("json.ebnf"), file("simplecalc.ebnf"), grammar(quotes)];
    for (i, g) in all.iter().enumerate() {
        let expected = Counts::new(g, Unit::Bytes, 5).expect("counts");
        for (form, name) in [
            (Form::Ebnf, "g.ebnf"),
            (Form::G4, "converted.g4"),
            (Form::Json, "g.json"),
            (Form::Hampi, "g.hmp"),
        ] {
            let (text, notes) = convert(g, form).expect("expressible");
            assert_eq!(notes, [""; 0]);
            let path = dir.join(name);
            std::fs::write(&path, &text).expect("writable");
            let back = pleach_import::load(&path, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let counts =
                Counts::new(&back, Unit::Bytes, 5).unwrap_or_else(|e| panic!("{e}\n{text}"));
            for length in 0..=5 {
                let (a, b) = (counts.of_length(length), expected.of_length(length));
                assert_eq!(a, b, "grammar {i} as {form:?}, length {length}:\n{text}");
            }
        }
    }
    std::fs::remove_dir_all(&dir).expect("it was there");
    assert!(matches!(convert(&grammar("s: NAME"), Form::Json), Err(ConvertError::Unknown { .. })));
}

#[test]
fn rules_are_not_named_by_reserved_words_of_antlr() {
    let g = grammar("s: import Options\nimport: 'a'\nOptions: 'b'\noptions: 'c'");
    let (text, _) = convert(&g, Form::G4).expect("expressible");
    assert!(text.contains("s\n    : import_2 options_2\n"), "{text}");
    assert!(text.contains("\noptions_3\n"), "{text}");
}

fn parser(grammar: &Grammar) -> Parser {
    let automaton = Arc::new(Automaton::new(Arc::new(grammar.clone())).expect("small"));
    Parser::new(automaton, Lexer::new(grammar).expect("small"))
}

fn reduced(
    g: &Grammar,
    input: &[u8],
    max_attempts: usize,
    holds: impl FnMut(&[u8]) -> bool,
) -> (String, bool) {
    let parsed = parser(g).parse(input).expect("a sentence");
    let detokenizer = Detokenizer::new(g).expect("small");
    let found = reduce(g, &detokenizer, input, &parsed, max_attempts, holds);
    assert!(parser(g).parse(&found.bytes).is_ok());
    (String::from_utf8(found.bytes).expect("text"), found.cut)
}

#[test]
fn reduced_inputs_satisfy_the_condition() {
    let g = file("json.ebnf");
    let input = br#"{"a":[1,22,{"deep":[true,[null,{"key":17}]]}],"b":"text","c":{"d":[]}}"#;
    let has = |what: &'static str| move |b: &[u8]| String::from_utf8_lossy(b).contains(what);
    assert_eq!(reduced(&g, input, 10_000, has("17")).0, "17");
    assert_eq!(reduced(&g, input, 10_000, has("null")).0, "null");
    assert_eq!(reduced(&g, input, 10_000, has("\"key\"")).0, r#"{"key":0}"#);
    // Only the input itself satisfies the condition.
    let same = |b: &[u8]| b == input;
    assert_eq!(reduced(&g, input, 10_000, same).0.as_bytes(), input);
    // The limit on attempts is kept.
    let mut calls = 0;
    let (_, cut) = reduced(&g, input, 3, |_| {
        calls += 1;
        false
    });
    assert!(cut && calls == 3);
}
