//! Compares terms with the graph that they were made from: their values are the same,
//! whatever rules simplified them and however they are evaluated.

mod common;

use common::{Random, cases, random_path};
use pleach_expr::{ChangedValues, Compiler, Frame, Input, Pool, Term, TermValues, Users, Var};
use std::collections::BTreeMap;

const BYTES: u32 = 4;

#[test]
fn terms_have_the_values_of_their_labels() {
    for seed in 0..cases(2000) {
        let recording = random_path(seed, BYTES, true);
        let imported = Pool::import(&recording.expr);
        let mut random = Random::new(seed);
        for _ in 0..4 {
            let bytes: Vec<u8> = (0..BYTES).map(|_| random.number(8) as u8).collect();
            let input = Input::streams(&bytes, vec![random.below(1 << 20)]);
            let mut values = TermValues::default();
            values.extend(&imported.pool, &input);
            let expected = recording.expr.eval_all(&input);
            for &label in recording.expr.order() {
                let term = imported.term(label).expect("every live label has a term");
                assert_eq!(
                    values.get(term),
                    expected.get(label),
                    "seed {seed}, label {label}: {}",
                    imported.pool.show(term, 6)
                );
            }
        }
    }
}

/// Tapes with 64 lanes, tapes with one lane, and [`ChangedValues`].
#[test]
fn every_way_to_evaluate_agrees() {
    let mut compiler = Compiler::default();
    let (mut lanes, mut single) = (Frame::<64>::default(), Frame::<1>::default());
    let mut changed = ChangedValues::default();
    for seed in 0..cases(1000) {
        let recording = random_path(seed, BYTES, true);
        let imported = Pool::import(&recording.expr);
        let pool = &imported.pool;
        let mut random = Random::new(seed);
        let base_input = Input::streams(&recording.input, vec![BYTES.into()]);
        let mut base = TermValues::default();
        base.extend(pool, &base_input);
        let roots: Vec<_> = recording.steps.iter().filter_map(|s| imported.term(s.label)).collect();
        // Some inputs vary, the others stay.
        let mut vary: Vec<Var> =
            (0..BYTES).filter(|_| random.below(2) == 0).map(Var::byte).collect();
        if random.below(3) == 0 {
            vary.push(Var::length(0));
        }
        let tape = compiler.compile(pool, &base, &roots, &vary);
        lanes.load(&tape);
        single.load(&tape);
        let columns: Vec<[u64; 64]> = vary
            .iter()
            .map(|v| {
                let most = if v.as_byte().is_some() { 256 } else { 1 << 20 };
                std::array::from_fn(|_| random.below(most))
            })
            .collect();
        for (place, column) in columns.iter().enumerate() {
            lanes.set(&tape, place, *column);
        }
        lanes.run(pool, &tape);
        for lane in [0, 17, 63] {
            let mut bytes = recording.input.clone();
            let mut length = u64::from(BYTES);
            let mut changes = Vec::new();
            for (place, &var) in vary.iter().enumerate() {
                let value = columns[place][lane];
                single.set(&tape, place, [value]);
                changes.push((var, value));
                match var.as_byte() {
                    Some(offset) => bytes[offset as usize] = value as u8,
                    None => length = value,
                }
            }
            single.run(pool, &tape);
            let input = Input::streams(&bytes, vec![length]);
            let mut expected = TermValues::default();
            expected.extend(pool, &input);
            changed.start(pool);
            for (place, &root) in roots.iter().enumerate() {
                let value = expected.get(root);
                assert_eq!(lanes.root(&tape, place)[lane], value as u64, "seed {seed}");
                assert_eq!(single.root_wide(&tape, place, 0), value, "seed {seed}");
                let difference = changed.eval(pool, &base, &base_input, &changes, root);
                assert_eq!(difference, value, "seed {seed}");
            }
        }
    }
}

/// [`ChangedValues::propagate`] finds all terms that change and matter up to a step, and
/// [`ChangedValues::propagated`] has the values of all terms.
#[test]
fn changes_are_followed_to_all_terms_that_change() {
    let mut changed = ChangedValues::default();
    for seed in 0..cases(2000) {
        let recording = random_path(seed, BYTES, true);
        let mut imported = Pool::import(&recording.expr);
        let mut random = Random::new(seed);
        let terms: Vec<Term> =
            recording.expr.order().iter().filter_map(|&l| imported.term(l)).collect();
        if terms.is_empty() {
            continue;
        }
        let roots: Vec<(Term, u32)> = (0..1 + random.below(6))
            .map(|_| (random.one(&terms), random.below(4) as u32))
            .collect();
        let users = Users::new(&imported.pool, roots.iter().copied());
        // Goals are made later, so the users know nothing of them.
        for &term in &terms {
            if imported.pool.width(term) == 1 {
                imported.pool.not(term);
            }
        }
        let pool = &imported.pool;
        let base_input = Input::streams(&recording.input, vec![BYTES.into()]);
        let mut base = TermValues::default();
        base.extend(pool, &base_input);
        for _ in 0..4 {
            let (mut bytes, mut length) = (recording.input.clone(), u64::from(BYTES));
            let mut changes: Vec<(Var, u64)> = Vec::new();
            for offset in (0..BYTES).filter(|_| random.below(3) == 0).collect::<Vec<_>>() {
                bytes[offset as usize] = random.number(8) as u8;
                changes.push((Var::byte(offset), bytes[offset as usize].into()));
            }
            if random.below(3) == 0 {
                length = random.below(1 << 20);
                changes.push((Var::length(0), length));
            }
            let mut expected = TermValues::default();
            expected.extend(pool, &Input::streams(&bytes, vec![length]));
            let last = random.below(4) as u32;
            let mut matters = vec![false; pool.len()];
            roots.iter().filter(|r| r.1 <= last).for_each(|r| matters[r.0.index()] = true);
            for term in pool.terms().rev() {
                let is_used = matters[term.index()];
                pool.node(term).operands().for_each(|o| matters[o.index()] |= is_used);
            }
            let must_change = |t: &Term| matters[t.index()] && expected.get(*t) != base.get(*t);
            let wanted: BTreeMap<Term, u128> =
                pool.terms().filter(must_change).map(|t| (t, expected.get(t))).collect();

            let parts = (pool, &base, &users);
            let mut found: Vec<(Term, u128)> = Vec::new();
            let is_done = changed.propagate(parts, &base_input, &changes, last, |term, value| {
                found.push((term, value));
                true
            });
            assert!(is_done, "seed {seed}");
            // Operands come first, so the terms are in order.
            assert_eq!(found, wanted.into_iter().collect::<Vec<_>>(), "seed {seed}");
            let mut every: Vec<Term> = pool.terms().collect();
            (1..every.len()).for_each(|i| every.swap(i, random.below(i as u64 + 1) as usize));
            for &term in &every {
                let value = changed.propagated(parts, &base_input, &changes, last, term);
                assert_eq!(value, expected.get(term), "seed {seed}: {}", pool.show(term, 6));
            }
            changed.start(pool);
            for &term in &every {
                let value = changed.eval(pool, &base, &base_input, &changes, term);
                assert_eq!(value, expected.get(term), "seed {seed}: {}", pool.show(term, 6));
            }
            if let Some(stop) = (!found.is_empty()).then(|| random.below(found.len() as u64)) {
                let mut left = stop;
                let is_done = changed.propagate(parts, &base_input, &changes, last, |_, _| {
                    left = left.wrapping_sub(1);
                    left != u64::MAX
                });
                assert!(!is_done, "seed {seed}");
            }
        }
    }
}
