//! Shrinking inputs, and choosing sets of inputs.

use crate::growth::{INPUT_SIZES, check_growth, work_of};
use pleach_campaign::minimise::{shrink, smallest_set};
use pleach_work::Task;
use std::convert::Infallible;

/// Shrinking ends at its budgets, and says so.
fn check_shrinking(name: &str, make: impl Fn(u64) -> Vec<u8>, keeps: impl Fn(&[u8]) -> bool) {
    const MAX_RUNS: u64 = 500;
    let work = INPUT_SIZES.map(|n| {
        let input = make(n);
        let mut check = |bytes: &[u8]| Ok::<_, Infallible>(keeps(bytes));
        let (Ok(shrunk), work) = work_of(&[Task::Shrink], || shrink(&input, MAX_RUNS, &mut check));
        assert!(shrunk.runs <= MAX_RUNS && keeps(&shrunk.input), "{name}");
        (n, work)
    });
    check_growth(name, &work, u64::MAX);
}

#[test]
fn shrinking_what_can_be_shrunk() {
    let make = |n: u64| (0..n).map(|i| if i == n / 3 { b'x' } else { b'a' }).collect();
    check_shrinking("one byte matters", make, |bytes| bytes.contains(&b'x'));
}

#[test]
fn shrinking_what_cannot_be_shrunk() {
    let make = |n: u64| (0..n).map(|i| (i % 251) as u8).collect();
    let first: Vec<u64> = INPUT_SIZES.to_vec();
    check_shrinking("all bytes matter", make, |bytes| first.contains(&(bytes.len() as u64)));
}

/// No bracket is closed, so each is searched for to the end.
#[test]
fn shrinking_open_brackets() {
    let make = |n: u64| vec![b'('; n as usize];
    let first: Vec<u64> = INPUT_SIZES.to_vec();
    check_shrinking("brackets", make, |bytes| first.contains(&(bytes.len() as u64)));
}

/// All inputs have most features in common.
#[test]
fn choosing_a_set_of_inputs() {
    const FEATURES: u32 = 50;
    let work = [100u32, 1_000, 10_000, 100_000].map(|n| {
        let features = |i: u32| {
            let mut all: Vec<u32> = (0..FEATURES).collect();
            all.push(FEATURES + i % (n / 10));
            all
        };
        let inputs: Vec<(Vec<u32>, usize)> =
            (0..n).map(|i| (features(i), (i % 97) as usize)).collect();
        let (kept, work) = work_of(&[Task::Cover], || smallest_set(&inputs));
        assert_eq!(kept.len() as u32, n / 10);
        (u64::from(n), work)
    });
    check_growth("set of inputs", &work, u64::MAX);
}
