//! Samples are sentences, and have the right length and distribution.

use crate::common::{file, grammar};
use num_traits::ToPrimitive;
use pleach_grammar::count::Unit;
use pleach_grammar::sample::{Sentence, Uniform, Weighted, paths};
use pleach_grammar::{Automaton, Grammar, Lexer, Parser};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

fn parser(grammar: &Grammar) -> Parser {
    let automaton = Arc::new(Automaton::new(Arc::new(grammar.clone())).expect("small"));
    Parser::new(automaton, Lexer::new(grammar).expect("small"))
}

/// A chi-square test over all derivations of a length. The grammar must be unambiguous, so
/// that each string has one derivation. The limit of 5 standard deviations holds for
/// almost any seed.
fn chi_square(text: &str, unit: Unit, length: usize) {
    let g = Arc::new(grammar(text));
    let mut uniform = Uniform::new(g, unit, length, 17).expect("counts");
    let count = uniform.counts().of_length(length).to_f64().expect("small");
    let draws = count * 100.0;
    let mut seen: HashMap<Vec<u8>, f64> = HashMap::new();
    let mut out = Sentence::default();
    for _ in 0..draws as u64 {
        assert!(uniform.sample(length, &mut out));
        let size = if unit == Unit::Bytes { out.bytes.len() } else { out.tokens.len() };
        assert_eq!(size, length);
        *seen.entry(out.bytes.clone()).or_default() += 1.0;
    }
    assert_eq!(seen.len() as f64, count, "some derivation was never drawn");
    let chi: f64 = seen.values().map(|n| (n - 100.0).powi(2) / 100.0).sum();
    let freedom = count - 1.0;
    assert!((chi - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{chi} for {freedom}");
}

#[test]
fn samples_are_uniform_over_derivations() {
    let brackets = "s: | '(' s ')' s";
    chi_square(brackets, Unit::Bytes, 12);
    chi_square(brackets, Unit::Tokens, 14);
    let words = "%token w [a-c]+\n%token n [0-2]\ns: w | w '+' s | n | n '+' s";
    chi_square(words, Unit::Bytes, 6);
    chi_square("e: t | e '+' t | e '-' t\nt: 'x' | 'yy' | '(' e ')'", Unit::Bytes, 9);
}

#[test]
fn impossible_lengths_are_refused_and_seeds_repeat() {
    let g = Arc::new(grammar("s: 'a' 'a' | 'b' 'b' s"));
    let mut uniform = Uniform::new(g.clone(), Unit::Bytes, 9, 1).expect("counts");
    let mut out = Sentence::default();
    assert!(!uniform.sample(3, &mut out));
    assert!(uniform.sample(8, &mut out));
    let json = Arc::new(file("json.ebnf"));
    assert_eq!(twenty(&json, 5), twenty(&json, 5));
    assert_ne!(twenty(&json, 5), twenty(&json, 6));
}

fn twenty(json: &Arc<Grammar>, seed: u64) -> Vec<Vec<u8>> {
    let mut weighted = Weighted::new(json, seed).expect("patterns");
    (0..20)
        .map(|_| {
            let mut out = Vec::new();
            weighted.sample(1000, &mut out);
            out
        })
        .collect()
}

#[test]
fn samples_are_parsed() {
    let json = file("json.ebnf");
    let parser = parser(&json);
    let mut weighted = Weighted::new(&json, 3).expect("patterns");
    for _ in 0..3000 {
        let mut out = Vec::new();
        weighted.sample(200, &mut out);
        assert!(parser.parse(&out).is_ok(), "{}", String::from_utf8_lossy(&out));
    }
    let mut uniform = Uniform::new(Arc::new(json), Unit::Bytes, 80, 3).expect("counts");
    let mut out = Sentence::default();
    for _ in 0..1000 {
        assert!(uniform.sample(80, &mut out));
        assert!(parser.parse(&out.bytes).is_ok(), "{}", String::from_utf8_lossy(&out.bytes));
    }
}

/// Combining several choices into one does not change the distribution.
#[test]
fn samples_follow_the_weights() {
    let mut g = grammar("s: a a\na: 'x' | 'y' | '(' a ')'");
    let productions = g.rules[g.find_rule("a").expect("a").index()].productions.clone();
    for (p, weight) in productions.iter().zip([1.0, 2.0, 1.0]) {
        g.productions[p.index()].weight = weight;
    }
    let mut weighted = Weighted::new(&g, 9).expect("patterns");
    let (mut counts, draws) = (HashMap::new(), 400_000);
    for _ in 0..draws {
        let mut out = Vec::new();
        weighted.sample(1000, &mut out);
        *counts.entry(out).or_insert(0.0) += 1.0;
    }
    let texts: [(&[u8], f64); 5] = [
        (b"xx", 1.0 / 16.0),
        (b"yy", 1.0 / 4.0),
        (b"xy", 1.0 / 8.0),
        (b"(x)y", 1.0 / 32.0),
        (b"((y))(x)", 1.0 / 512.0),
    ];
    for (text, share) in texts {
        let expected = share * f64::from(draws);
        let got = counts.get(text).copied().unwrap_or(0.0);
        assert!((got - expected).abs() < 6.0 * expected.sqrt(), "{text:?}: {got} of {expected}");
    }
}

/// The weights of this grammar alone would give infinite sentences.
#[test]
fn limits_end_sentences() {
    let g = grammar("s: s s | s s | s s | 'x'");
    let mut weighted = Weighted::new(&g, 1).expect("patterns");
    let mut longest = 0;
    for _ in 0..200 {
        let mut out = Vec::new();
        weighted.sample(1000, &mut out);
        longest = longest.max(out.len());
    }
    assert!((1000..4000).contains(&longest), "{longest}");
}

/// Every path of k steps is in one of the trees, and there are fewer trees than paths.
#[test]
fn paths_are_covered() {
    let g = file("javascript.ebnf");
    let mut last = 0;
    for k in 1..=3 {
        let trees = paths::cover(&g, k).expect("few");
        assert!(trees.iter().all(|t| t.is_of(&g)));
        let mut found = HashSet::new();
        for tree in &trees {
            paths::visit_paths(tree, k, |p| {
                found.insert(p.clone());
            });
        }
        // Random sentences have no other paths.
        let automaton = Arc::new(Automaton::new(Arc::new(g.clone())).expect("small"));
        let mut uniform = Uniform::new(Arc::new(g.clone()), Unit::Tokens, 30, 4).expect("counts");
        let mut out = Sentence::default();
        for _ in 0..300 {
            assert!(uniform.sample(30, &mut out));
            let mut chart = pleach_grammar::Chart::new(Arc::clone(&automaton));
            assert!(out.tokens.iter().all(|t| chart.push_token(t.0)));
            let tree = chart.tree().expect("a sentence");
            paths::visit_paths(&tree, k, |p| assert!(found.contains(p), "{p:?}"));
        }
        assert!(found.len() > last && trees.len() < found.len(), "{} {}", trees.len(), found.len());
        last = found.len();
    }
    assert!(paths::cover(&g, 9).is_err());
}
