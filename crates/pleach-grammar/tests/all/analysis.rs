//! The analyses that `check` prints.

use crate::common::{grammar, random_grammar, sentences};
use pleach_grammar::shortest::{Items, NEVER, Shortest};
use pleach_grammar::{Analysis, Symbol};

#[test]
fn notes_name_useless_and_cyclic_rules() {
    let g = grammar("s: a\na: a | 'x' | l\nl: l 'y' | 'y'\nlost: 'z'\nendless: endless 'z'");
    let notes: Vec<String> = Analysis::new(&g).notes(&g).iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "test:2:1: warning: a derives itself: it has infinitely many derivations",
            "test:2:1: note: a is left-recursive",
            "test:3:1: note: l is left-recursive",
            "test:4:1: warning: lost cannot be reached from s",
            "test:5:1: warning: endless derives no finite text",
        ]
    );
}

/// Compares nullable rules, shortest lengths and first tokens with all short sentences.
#[test]
fn analyses_agree_with_the_sentences() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..1500 {
        let (text, g) = random_grammar(&mut random, 4);
        let all = sentences(&g, 6);
        let analysis = Analysis::new(&g);
        let start = g.start.index();
        assert_eq!(analysis.nullable[start], all.contains(&Vec::new()), "{text}");
        let shortest = all.iter().map(Vec::len).min();
        assert!(analysis.length[start] != NEVER, "{text}");
        if let Some(shortest) = shortest {
            assert_eq!(analysis.length[start], shortest as u64, "{text}");
        }
        for sentence in all.iter().filter(|s| !s.is_empty()) {
            assert!(analysis.first[start].contains(sentence[0]), "{text}");
        }
    }
}

/// The cheapest string of each rule has the cost that was computed for it.
#[test]
fn cheapest_strings_have_their_cost() {
    let mut random = fastrand::Rng::with_seed(6);
    for _ in 0..1500 {
        let (text, g) = random_grammar(&mut random, 5);
        let shortest = Shortest::new(&g, &Items::new(&g), |t| u64::from(t.0) + 1);
        for rule in g.rule_ids().filter(|r| shortest.rule[r.index()] != NEVER) {
            let mut tokens = Vec::new();
            assert!(shortest.append(&g, &[Symbol::Rule(rule)], &mut tokens, 10_000), "{text}");
            let cost: u64 = tokens.iter().map(|t| u64::from(t.0) + 1).sum();
            assert_eq!(cost, shortest.rule[rule.index()], "{text}");
        }
    }
}

/// The first productions of `t` and `u` are a cycle, so others are chosen.
#[test]
fn first_productions_win_unless_they_are_a_cycle() {
    let g = grammar("s: t | id\nt: u | num\nu: t | id");
    let shortest = Shortest::new(&g, &Items::new(&g), |_| 1);
    let mut tokens = Vec::new();
    assert!(shortest.append(&g, &[Symbol::Rule(g.start)], &mut tokens, 10));
    assert_eq!(tokens.len(), 1);
}
