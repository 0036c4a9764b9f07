//! Options, repetitions and groups become helper rules, at any depth.

use crate::common::{build, grammar};
use pleach_grammar::builder::{Attributes, MAX_REPEATS};
use pleach_grammar::{Grammar, GrammarBuilder, GrammarError, Place};

fn shown(grammar: &Grammar) -> Vec<String> {
    grammar.production_ids().map(|id| grammar.show(id)).collect()
}

#[test]
fn helpers_are_shared_and_named_after_what_they_repeat() {
    let g = grammar("s: item? item* 'x' item*\nitem: 'a'");
    assert_eq!(
        shown(&g),
        [
            "item_opt: item",
            "item_opt:",
            "item_star:",
            "item_star: item_star item",
            "s: item_opt item_star \"x\" item_star",
            "item: \"a\"",
        ]
    );
}

#[test]
fn choices_without_helpers_are_flattened() {
    let mut b = GrammarBuilder::new();
    let at = Place::none();
    let s = b.rule("s", at.clone());
    let t = |b: &mut GrammarBuilder, text: &[u8]| {
        let token = b.literal(text, Place::none());
        b.symbol(pleach_grammar::Symbol::Token(token))
    };
    let (x, y, z) = (t(&mut b, b"x"), t(&mut b, b"y"), t(&mut b, b"z"));
    let inner = b.choice(vec![y, z]);
    let body = b.choice(vec![x, inner]);
    let group = b.choice(vec![x, y]);
    let nested = b.sequence(vec![group, z]);
    let repeated = b.star(group);
    let body = b.choice(vec![body, nested, repeated]);
    b.production(s, body, Attributes::at(at));
    let g = b.finish().unwrap();
    assert_eq!(
        shown(&g),
        [
            "s: \"x\"",
            "s: \"y\"",
            "s: \"z\"",
            "s: s_group \"z\"",
            "s_star:",
            "s: s_star",
            "s_star: s_star \"x\"",
            "s_star: s_star \"y\"",
            "s_group: \"x\"",
            "s_group: \"y\"",
        ]
    );
}

#[test]
fn counted_repetitions() {
    let counted = |min, max| {
        let mut b = GrammarBuilder::new();
        let s = b.rule("s", Place::none());
        let x = b.literal(b"x", Place::none());
        let x = b.symbol(pleach_grammar::Symbol::Token(x));
        let body = b.repeat(x, min, max);
        b.production(s, body, Attributes::at(Place::none()));
        b.finish()
    };
    let g = counted(2, Some(3)).unwrap();
    assert_eq!(shown(&g), ["s_upto: \"x\"", "s_upto:", "s: \"x\" \"x\" s_upto"]);
    let g = counted(2, None).unwrap();
    assert_eq!(shown(&g)[2], "s: \"x\" \"x\" s_star");
    assert!(matches!(counted(MAX_REPEATS + 1, None), Err(GrammarError::Repeats { .. })));
}

/// A hundred thousand nested brackets of each kind.
#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for kind in 0..5 {
        let mut b = GrammarBuilder::new();
        let s = b.rule("s", Place::none());
        let x = b.literal(b"x", Place::none());
        let mut body = b.symbol(pleach_grammar::Symbol::Token(x));
        for level in 0..100_000 {
            let x = b.symbol(pleach_grammar::Symbol::Token(x));
            body = match if kind == 4 { level % 4 } else { kind } {
                0 => b.sequence(vec![x, body]),
                1 => b.choice(vec![x, body]),
                2 => {
                    let both = b.sequence(vec![body, x]);
                    b.star(both)
                }
                _ => b.optional(body),
            };
        }
        b.production(s, body, Attributes::at(Place::none()));
        assert!(b.finish().is_ok());
    }
}

#[test]
fn bad_grammars_are_refused_with_their_place() {
    let message = |text: &str| build(text).expect_err(text).to_string();
    assert_eq!(
        message("s: 'a' t\nt: t 'b'"),
        "test:1:1: the language is empty: s derives no finite text"
    );
    let mut b = GrammarBuilder::new();
    let s = b.rule("s", Place::none());
    let x = b.name("nowhere", Place::new(&"g.y".into(), 7, 9));
    b.production(s, x, Attributes::at(Place::none()));
    let error = b.finish().expect_err("undefined").to_string();
    assert_eq!(error, "g.y:7:9: nowhere is neither a token nor a rule");
    assert!(matches!(GrammarBuilder::new().finish(), Err(GrammarError::NoRules { .. })));
}
