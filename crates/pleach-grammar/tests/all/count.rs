//! Compares counting with enumerating, with all sentences, and with the table of the
//! paper (Majumdar and Xu, 2007).

use crate::common::{file, grammar, random_grammar, sentences};
use num_bigint::BigUint;
use pleach_grammar::count::{CountError, Counts, Unit, by_height};
use pleach_grammar::enumerate::{Enumerator, Limits};
use pleach_grammar::{Analysis, Grammar, ProductionId};
use std::collections::BTreeSet;

fn limits(unit: Unit, longest: usize) -> Limits {
    Limits { unit, longest, highest: None, constants: None }
}

fn count_visited(grammar: &Grammar, limits: &Limits) -> u64 {
    Enumerator::new(grammar, limits).expect("small").walk(|_| true)
}

/// The first four rows of the concrete column of the table.
#[test]
fn simple_calc_concrete() {
    let g = file("simplecalc.ebnf");
    let counts = Counts::new(&g, Unit::Bytes, 6).expect("counts");
    for (length, expected) in [(1, 62u64), (2, 124), (3, 27_156), (4, 108_066)] {
        assert_eq!(counts.up_to(length), BigUint::from(expected), "up to {length}");
        assert_eq!(count_visited(&g, &limits(Unit::Bytes, length)), expected, "up to {length}");
    }
}

/// All six rows, with letters and digits as one symbolic constant and as two.
#[test]
fn simple_calc_symbolic() {
    let text = "e: '(' e ')' | e '*' e | e '/' e | e '%' e | e '+' e | e '-' e | e '|' e \
                | e '&' e | '-' e | 'c'";
    let merged = grammar(text);
    let apart = grammar(&format!("{text} | 'n'"));
    let rows = [(1, 1, 2), (2, 2, 4), (3, 11, 36), (4, 35, 126), (5, 201, 1172), (6, 853, 5724)];
    for (length, one, two) in rows {
        for (g, expected) in [(&merged, one), (&apart, two)] {
            let counts = Counts::new(g, Unit::Bytes, length).expect("counts");
            assert_eq!(counts.up_to(length), BigUint::from(expected as u64), "up to {length}");
            assert_eq!(count_visited(g, &limits(Unit::Bytes, length)), expected as u64);
        }
    }
}

/// Counting, enumerating and the set of sentences agree, and no derivation is visited
/// twice.
#[test]
fn random_grammars() {
    let mut random = fastrand::Rng::with_seed(10);
    let mut checked = 0;
    while checked < 800 {
        let (text, g) = random_grammar(&mut random, 4);
        if Analysis::new(&g).cyclic_rule().is_some() {
            assert!(matches!(Counts::new(&g, Unit::Tokens, 3), Err(CountError::Endless { .. })));
            continue;
        }
        let longest = 5;
        let counts = Counts::new(&g, Unit::Tokens, longest).expect("counts");
        if counts.up_to(longest) > BigUint::from(5000u32) {
            continue;
        }
        let mut seen: BTreeSet<Vec<ProductionId>> = BTreeSet::new();
        let mut strings = BTreeSet::new();
        let mut lengths = Vec::new();
        let walk = Enumerator::new(&g, &limits(Unit::Tokens, longest)).expect("small");
        let count = walk.walk(|d| {
            assert!(seen.insert(d.productions.to_vec()), "{text}: twice");
            strings.insert(d.tokens.iter().map(|t| t.0).collect::<Vec<_>>());
            lengths.push(d.tokens.len());
            true
        });
        assert_eq!(BigUint::from(count), counts.up_to(longest), "{text}");
        assert_eq!(strings, sentences(&g, longest), "{text}");
        assert!(lengths.is_sorted(), "{text}");
        checked += 1;
    }
}

#[test]
fn numbers_by_height_are_those_of_enumerated_trees() {
    let mut random = fastrand::Rng::with_seed(11);
    let mut checked = 0;
    while checked < 300 {
        let (text, g) = random_grammar(&mut random, 3);
        let Ok(numbers) = by_height(&g, Unit::Tokens, 3) else { continue };
        if numbers[3] > BigUint::from(3000u32) {
            continue;
        }
        for (highest, number) in numbers.iter().enumerate().skip(1) {
            let limits = Limits { highest: Some(highest), ..limits(Unit::Tokens, 27) };
            assert_eq!(BigUint::from(count_visited(&g, &limits)), *number, "{text}");
        }
        checked += 1;
    }
}

/// Whether the texts of a pattern are stored as a list or not, no derivation comes twice in
/// a row.
#[test]
fn texts_of_patterns() {
    let g = grammar("%token w [a-z]+\n%token d [0-9]\ns: w d | w");
    let counts = Counts::new(&g, Unit::Bytes, 4).expect("counts");
    assert_eq!(counts.of_length(3), BigUint::from(26u32.pow(3) + 26 * 26 * 10));
    let mut last = Vec::new();
    let mut repeated = 0;
    let count = Enumerator::new(&g, &limits(Unit::Bytes, 4)).expect("small").walk(|d| {
        let now = (d.productions.to_vec(), d.bytes.len(), d.bytes.to_vec());
        let ends: Vec<u32> = d.tokens.iter().map(|t| t.1).collect();
        repeated += u32::from((now.clone(), ends.clone()) == last.pop().unwrap_or_default());
        last.push((now, ends));
        true
    });
    assert_eq!(repeated, 0);
    assert_eq!(BigUint::from(count), counts.up_to(4));
}

#[test]
fn derivations_are_ordered_by_the_number_of_constants() {
    let g = grammar("s: | s 'c' | s '+'");
    let constant: Vec<bool> = g.tokens.iter().map(|t| t.literal() == Some(b"c")).collect();
    let limits = Limits { constants: Some(constant), ..limits(Unit::Bytes, 6) };
    let mut numbers = Vec::new();
    Enumerator::new(&g, &limits).expect("small").walk(|d| {
        numbers.push((d.bytes.iter().filter(|&&b| b == b'c').count(), d.bytes.len()));
        true
    });
    assert!(numbers.is_sorted());
    assert_eq!(numbers.len(), (1 << 7) - 1);
}

#[test]
fn enumeration_can_stop_early() {
    let g = file("simplecalc.ebnf");
    let mut left = 10;
    let walk = Enumerator::new(&g, &limits(Unit::Bytes, 40)).expect("small");
    assert_eq!(
        walk.walk(|_| {
            left -= 1;
            left > 0
        }),
        10
    );
}

#[test]
fn long_derivations_do_not_overflow_the_stack() {
    let g =
        grammar("s: long | other\nlong: 'x' | 'x' long\nother: 'y' other2\nother2: other | 'y'");
    let small = std::thread::Builder::new().stack_size(128 << 10);
    let run = move || count_visited(&g, &limits(Unit::Bytes, 512));
    assert_eq!(small.spawn(run).expect("a thread").join().expect("no overflow"), 512 + 511);
}
