//! The context-free constraint solver against brute force, against the paper's
//! own algorithm, and on the paper's examples.

use crate::common::{grammar, names, random_grammar, sentences, tokens};
use pleach_grammar::{Analysis, Automaton, Chart, Grammar, TokenId, TokenSet, unroll};
use std::sync::Arc;

fn chart(grammar: &Grammar) -> Chart {
    Chart::new(Arc::new(Automaton::new(Arc::new(grammar.clone())).expect("small")))
}

fn random_sets(random: &mut fastrand::Rng, grammar: &Grammar, most: usize) -> Vec<TokenSet> {
    let universe = grammar.tokens.len();
    (0..random.usize(0..=most))
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

fn fits(sentence: &[TokenId], sets: &[TokenSet]) -> bool {
    sentence.len() >= sets.len() && sets.iter().zip(sentence).all(|(s, &t)| s.contains(t))
}

/// Same verdict and same shortest length, over thousands of random grammars;
/// what is returned is a sentence that the sets allow.
#[test]
fn brute_force_agrees() {
    const LONGEST: usize = 7;
    let mut random = fastrand::Rng::with_seed(1);
    let (mut sat, mut unsat) = (0, 0);
    for _ in 0..4000 {
        let (text, grammar) = random_grammar(&mut random, 4);
        let all = sentences(&grammar, LONGEST);
        for _ in 0..4 {
            let sets = random_sets(&mut random, &grammar, 5);
            let expected = all.iter().filter(|s| fits(s, &sets)).map(Vec::len).min();
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
                    assert!(fits(&found.tokens, &sets), "{text}{sets:?}");
                    sat += 1;
                }
                (None, None) => unsat += 1,
                (Some(found), None) => assert!(found.tokens.len() > LONGEST, "{text}{sets:?}"),
                (None, Some(_)) => panic!("{text}{sets:?}: there is a sentence"),
            }
        }
    }
    assert!(sat > 3000 && unsat > 3000, "{sat} {unsat}");
}

/// Penalties: the total is the least over all sentences.
#[test]
fn brute_force_agrees_about_preferences() {
    const LONGEST: usize = 7;
    let mut random = fastrand::Rng::with_seed(2);
    let mut checked = 0;
    for _ in 0..3000 {
        let (text, grammar) = random_grammar(&mut random, 3);
        let all = sentences(&grammar, LONGEST);
        let sets = random_sets(&mut random, &grammar, 4);
        let wishes: Vec<(TokenId, u32)> = sets
            .iter()
            .map(|_| (TokenId::new(random.usize(0..grammar.tokens.len())), random.u32(0..3)))
            .collect();
        let price = |s: &Vec<TokenId>| {
            let penalties = s.iter().zip(&wishes).filter(|(t, w)| **t != w.0).map(|(_, w)| w.1);
            s.len() - sets.len() + penalties.sum::<u32>() as usize
        };
        let expected = all.iter().filter(|s| fits(s, &sets)).map(price).min();
        let mut chart = chart(&grammar);
        let pushed = sets.iter().zip(&wishes).all(|(s, w)| chart.push_near(s, w.0, w.1));
        let found = pushed.then(|| chart.complete()).flatten();
        let Some(expected) = expected else { continue };
        let found = found.unwrap_or_else(|| panic!("{text}{sets:?}: there is a sentence"));
        if found.tokens.len() <= LONGEST {
            assert_eq!(found.cost as usize, expected, "{text}{sets:?} {wishes:?}");
            assert_eq!(price(&found.tokens), expected, "{text}{sets:?} {wishes:?}");
            checked += 1;
        } else {
            assert!(found.cost as usize <= expected);
        }
    }
    assert!(checked > 500, "{checked}");
}

/// A flip on a shared chart is what a fresh chart would say, and leaves no trace.
#[test]
fn flips_share_a_chart_and_leave_it_alone() {
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
fn unroll_and_prune_agrees_where_it_ends() {
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
    // And the chart still is that of the seed.
    assert_eq!(names(&g, &chart.complete().unwrap().tokens), "function id ( ) { }");
}

/// Ambiguity costs a power of the length, not an exponential.
#[test]
fn ambiguous_and_cyclic_grammars_are_polynomial() {
    let g = grammar("e: e e | e '+' e | e | 'x' |");
    let mut chart = chart(&g);
    let all = TokenSet::all(g.tokens.len());
    for _ in 0..60 {
        assert!(chart.push(&all));
    }
    assert_eq!(chart.complete().unwrap().tokens.len(), 60);
}

/// What follows the flip is kept as far as a small edit allows.
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
    // The bracket is closed at once, an operand goes, a condition and a target come.
    assert_eq!(near(2, "("), "id = ( id ) + id ; id = ( id ) ; id = id ;");
    assert_eq!(near(3, ";"), "id = id ; id = ( id ) ; id = id ;");
    assert_eq!(near(0, "if"), "if ( id ) id = id + id ; id = ( id ) ; id = id ;");
}
