//! Compares the context-free constraint solver with brute force, with the algorithm of
//! the paper (Godefroid, Kieżun and Levin, 2008), and with the examples of the paper.

use crate::common::{grammar, names, random_grammar, sentences, tokens};
use pleach_grammar::{Analysis, Automaton, Chart, Grammar, TokenId, TokenSet, unroll};
use std::sync::Arc;

fn chart(grammar: &Grammar) -> Chart {
    Chart::new(Arc::new(Automaton::new(Arc::new(grammar.clone())).expect("small")))
}

fn random_sets(random: &mut fastrand::Rng, grammar: &Grammar, max_sets: usize) -> Vec<TokenSet> {
    let universe = grammar.tokens.len();
    (0..random.usize(0..=max_sets))
        .map(|_| {
            loop {
                let set = TokenSet::of(universe, grammar.token_ids().filter(|_| random.bool()));
                if !set.is_empty() {
                    return set;
                }
            }
        })
        .collect()
}

fn is_allowed(sentence: &[TokenId], sets: &[TokenSet]) -> bool {
    sentence.len() >= sets.len() && sets.iter().zip(sentence).all(|(s, &t)| s.contains(t))
}

/// For thousands of random grammars, the verdict and the shortest length are the same,
/// and the result is a sentence that the sets allow.
#[test]
fn brute_force_agrees() {
    const MAX_LENGTH: usize = 7;
    let mut random = fastrand::Rng::with_seed(1);
    let (mut sat, mut unsat) = (0, 0);
    for _ in 0..4000 {
        let (text, grammar) = random_grammar(&mut random, 4);
        let all = sentences(&grammar, MAX_LENGTH);
        for _ in 0..4 {
            let sets = random_sets(&mut random, &grammar, 5);
            let expected = all.iter().filter(|s| is_allowed(s, &sets)).map(Vec::len).min();
            let mut chart = chart(&grammar);
            let found = sets.iter().all(|s| chart.push(s)).then(|| chart.complete()).flatten();
            match (&found, expected) {
                (Some(found), Some(length)) => {
                    assert_eq!(found.tokens.len(), length, "{text}{sets:?}");
                    assert_eq!(found.cost as usize, length - sets.len(), "{text}");
                    assert!(
                        all.contains(&found.tokens),
                        "{text}{}",
                        names(&grammar, &found.tokens)
                    );
                    assert!(is_allowed(&found.tokens, &sets), "{text}{sets:?}");
                    sat += 1;
                }
                (None, None) => unsat += 1,
                (Some(found), None) => assert!(found.tokens.len() > MAX_LENGTH, "{text}{sets:?}"),
                (None, Some(_)) => panic!("{text}{sets:?}: there is a sentence"),
            }
        }
    }
    assert!(sat > 3000 && unsat > 3000, "{sat} {unsat}");
}

/// The cost with penalties is the minimum over all sentences.
#[test]
fn brute_force_agrees_with_penalties() {
    const MAX_LENGTH: usize = 7;
    let mut random = fastrand::Rng::with_seed(2);
    let mut checked = 0;
    for _ in 0..3000 {
        let (text, grammar) = random_grammar(&mut random, 3);
        let all = sentences(&grammar, MAX_LENGTH);
        let sets = random_sets(&mut random, &grammar, 4);
        let preferences: Vec<(TokenId, u32)> = sets
            .iter()
            .map(|_| (TokenId::new(random.usize(0..grammar.tokens.len())), random.u32(0..3)))
            .collect();
        let price = |s: &Vec<TokenId>| {
            let penalties =
                s.iter().zip(&preferences).filter(|(t, w)| **t != w.0).map(|(_, w)| w.1);
            s.len() - sets.len() + penalties.sum::<u32>() as usize
        };
        let expected = all.iter().filter(|s| is_allowed(s, &sets)).map(price).min();
        let mut chart = chart(&grammar);
        let pushed = sets.iter().zip(&preferences).all(|(s, w)| chart.push_near(s, w.0, w.1));
        let found = pushed.then(|| chart.complete()).flatten();
        let Some(expected) = expected else { continue };
        let found = found.unwrap_or_else(|| panic!("{text}{sets:?}: there is a sentence"));
        if found.tokens.len() <= MAX_LENGTH {
            assert_eq!(found.cost as usize, expected, "{text}{sets:?} {preferences:?}");
            assert_eq!(price(&found.tokens), expected, "{text}{sets:?} {preferences:?}");
            checked += 1;
        } else {
            assert!(found.cost as usize <= expected);
        }
    }
    assert!(checked > 500, "{checked}");
}

/// A flip on a shared chart has the result of a new chart, and does not change the chart.
#[test]
fn flips_do_not_change_a_shared_chart() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut flips = 0;
    for _ in 0..1500 {
        let (text, grammar) = random_grammar(&mut random, 4);
        let mut shared = chart(&grammar);
        let sets = random_sets(&mut random, &grammar, 6);
        let pushed: Vec<_> = sets.into_iter().take_while(|s| shared.push(s)).collect();
        let before = shared.complete();
        for _ in 0..6 {
            let at = random.usize(0..=pushed.len());
            let Some(set) = random_sets(&mut random, &grammar, 1).pop() else { continue };
            let mut fresh = chart(&grammar);
            assert!(pushed[..at].iter().all(|s| fresh.push(s)));
            let expected = fresh.push(&set).then(|| fresh.complete()).flatten();
            assert_eq!(shared.flip(at, &set), expected, "{text}{pushed:?} {at} {set:?}");
            flips += 1;
        }
        assert_eq!(shared.complete(), before, "{text}");
        let back = random.usize(0..=pushed.len());
        shared.truncate(back);
        let mut fresh = chart(&grammar);
        assert!(pushed[..back].iter().all(|s| fresh.push(s)));
        assert_eq!(shared.complete(), fresh.complete(), "{text}");
        assert!(pushed[back..].iter().all(|s| shared.push(s)), "{text}");
        assert_eq!(shared.complete(), before, "{text}");
    }
    assert!(flips > 4000);
}

#[test]
fn unroll_and_prune_agrees_without_left_recursion() {
    let mut random = fastrand::Rng::with_seed(4);
    let (mut sat, mut unsat) = (0, 0);
    while sat < 1000 || unsat < 1000 {
        let (text, grammar) = random_grammar(&mut random, 4);
        if Analysis::new(&grammar).left_recursive.contains(&true) {
            continue;
        }
        let sets = random_sets(&mut random, &grammar, 5);
        let mut chart = chart(&grammar);
        let found = sets.iter().all(|s| chart.push(s)).then(|| chart.complete()).flatten();
        let length = found.map(|f| f.tokens.len() as u64);
        let Ok(expected) = unroll::shortest(&grammar, &sets, 20_000) else { continue };
        assert_eq!(length, expected, "{text}{sets:?}");
        *if length.is_some() { &mut sat } else { &mut unsat } += 1;
    }
}

#[test]
fn s_expressions_of_the_paper() {
    let g = grammar(
        "s: '(' 'let' '(' '(' id s ')' ')' s ')' | '(' op s s ')' | num | id\nop: '+' | '-'",
    );
    let mut chart = chart(&g);
    for token in tokens(&g, "( + (") {
        assert!(chart.push_token(token));
    }
    assert!(chart.push(&TokenSet::of(g.tokens.len(), tokens(&g, "( num id let"))));
    let found = chart.complete().unwrap();
    assert_eq!(names(&g, &found.tokens), "( + ( let ( ( id num ) ) num ) num )");
    assert_eq!((found.fixed, found.cost), (4, 10));
}

#[test]
fn functions_of_the_paper() {
    let g = grammar(
        "program: function program | function\n\
         function: 'function' id '(' parameters ')' '{' body '}'\n\
         parameters: | list\n\
         list: id | list ',' id\n\
         body: | body statement\n\
         statement: id '=' id ';'",
    );
    let seed = tokens(&g, "function id ( ) { }");
    let mut chart = chart(&g);
    assert!(seed.iter().all(|&t| chart.push_token(t)));
    let other = |at: usize| TokenSet::of(g.tokens.len(), [seed[at]]).complement();
    let found = chart.flip(3, &other(3)).unwrap();
    assert_eq!(names(&g, &found.tokens), "function id ( id ) { }");
    assert_eq!(chart.flip(2, &other(2)), None);
    // The chart is still that of the seed.
    assert_eq!(names(&g, &chart.complete().unwrap().tokens), "function id ( ) { }");
}

/// With exponential time, this would not end.
#[test]
fn ambiguous_and_cyclic_grammars_take_polynomial_time() {
    let g = grammar("e: e e | e '+' e | e | 'x' |");
    let mut chart = chart(&g);
    let all = TokenSet::all(g.tokens.len());
    for _ in 0..60 {
        assert!(chart.push(&all));
    }
    assert_eq!(chart.complete().unwrap().tokens.len(), 60);
}

/// The tokens behind a flip are kept except for a small edit.
#[test]
fn completions_stay_near_the_seed() {
    let g = grammar(
        "s: | s statement\n\
         statement: id '=' e ';' | 'if' '(' e ')' statement\n\
         e: e '+' t | t\n\
         t: id | '(' e ')'",
    );
    let seed = tokens(&g, "id = id + id ; id = ( id ) ; id = id ;");
    let near = |at: usize, flipped: &str| {
        let mut chart = chart(&g);
        assert!(seed[..at].iter().all(|&t| chart.push_token(t)));
        assert!(chart.push(&TokenSet::of(g.tokens.len(), tokens(&g, flipped))));
        let found = chart.complete_near(&seed[at + 1..]).unwrap();
        assert_eq!(chart.len(), at + 1);
        assert_eq!((found.fixed, found.cost as usize), (at + 1, found.tokens.len() - at - 1));
        names(&g, &found.tokens)
    };
    // The bracket is closed, an operand is deleted, a condition is inserted.
    assert_eq!(near(2, "("), "id = ( id ) + id ; id = ( id ) ; id = id ;");
    assert_eq!(near(3, ";"), "id = id ; id = ( id ) ; id = id ;");
    assert_eq!(near(0, "if"), "if ( id ) id = id + id ; id = ( id ) ; id = id ;");
}
