//! Inputs that are made without a solver: by mutation, from parts of other inputs, from the
//! grammar, or at random.

use super::candidate::Candidate;
use super::judge::{run_candidate, run_candidates};
use super::runner::Runner;
use super::worker::Worker;
use crate::run::account::Gap;
use crate::run::clock::{self, Part};
use crate::run::grammar::{Language, Walk};
use crate::run::shared::lock;
use pleach_exec::executor::ExecError;
use pleach_hash::hash_bytes;
use pleach_search::{InputId, Origin, Rng};
use pleach_work::Task;
use std::sync::Arc;
use std::time::Instant;

/// The most inputs that are made before they run, and their bytes.
const MAX_BATCH: usize = 128;
const MAX_BATCH_BYTES: usize = 1 << 20;

/// Runs mutants of an input.
pub fn mutate(worker: &mut Worker, input: InputId, count: u32) -> Result<(), ExecError> {
    let shared = worker.runner.shared.clone();
    let (parent, other, mut rng) = {
        let state = &mut *shared.lock();
        let mut rng = Rng::new(state.search.rng.next_u64());
        let store = &state.corpus.store;
        let other = rng.pick(store.queue()).and_then(|&other| store.get(other));
        (store.get(input), other, rng)
    };
    let Some(parent) = parent else { return Ok(()) };
    let dictionary = shared.dictionary();
    let (parent, max_len) = (&parent.bytes, shared.max_len(&parent.bytes));
    let other = other.as_ref().map(|other| &other.bytes[..]);
    let (mut mutant, mut batch, mut batch_bytes) = (Vec::new(), Vec::new(), 0);
    for made in 1..=count {
        let mutating = (clock::enter(Part::Mutate), pleach_work::enter(Task::Mutate));
        worker.mutator.mutate(&mut rng, parent, other, &dictionary, &mut mutant, max_len);
        let bytes = Arc::from(&mutant[..]);
        batch.push(Candidate::new(bytes, Origin::Mutant(input), Some(input)));
        batch_bytes += mutant.len();
        pleach_work::count(mutant.len() as u64);
        drop(mutating);
        if made == count || batch.len() == MAX_BATCH || batch_bytes >= MAX_BATCH_BYTES {
            run_candidates(&mut worker.runner, &batch)?;
            if shared.is_ending() {
                break;
            }
            batch.clear();
            batch_bytes = 0;
        }
    }
    Ok(())
}

/// Runs children of an input that are made of its parts and of those of others; children of
/// another input, if the grammar does not derive this one.
pub fn graft(runner: &mut Runner, input: InputId, count: u32) -> Result<(), ExecError> {
    let shared = runner.shared.clone();
    let Some(stock) = &shared.stock else { return Ok(()) };
    let start = Instant::now();
    let _grafting = pleach_work::enter(Task::Graft);
    let tree = {
        let mut stock = lock(stock);
        let (new, seen): (Vec<_>, usize) = {
            let store = &shared.lock().corpus.store;
            let queue = store.queue().get(stock.seen()..).unwrap_or_default();
            let known = queue.iter().filter_map(|&id| Some((id, store.get(id)?.bytes.clone())));
            (known.collect(), stock.seen() + queue.len())
        };
        stock.add_inputs(&new, seen);
        stock.add_words(&shared.dictionary());
        stock.tree_of(input)
    };
    clock::charge(Part::Parse, start.elapsed());
    let mut left = count as usize;
    while left > 0 && !shared.is_ending() {
        let start = Instant::now();
        let mut batch = Vec::new();
        let mut batch_bytes = 0;
        while left > 0 && batch.len() < MAX_BATCH && batch_bytes < MAX_BATCH_BYTES {
            left -= 1;
            let Some(child) = lock(stock).child(tree) else {
                // No input has been parsed yet.
                left = 0;
                break;
            };
            pleach_work::count(child.len() as u64);
            if child.len() as u64 <= shared.settings.max_len {
                batch_bytes += child.len();
                batch.push(Candidate::new(child.into(), Origin::Graft(input), Some(input)));
            }
        }
        clock::charge(Part::Parse, start.elapsed());
        let run = run_candidates(runner, &batch)?;
        shared.lock().account.stats.grafted += run as u64;
    }
    Ok(())
}

/// Runs the next input that the grammar derives.
pub fn derive(runner: &mut Runner) -> Result<(), ExecError> {
    let shared = runner.shared.clone();
    let language = shared.language.as_ref();
    let walk = language.and_then(Language::walk);
    let start = Instant::now();
    let deriving = pleach_work::enter(Task::Derive);
    let derived = language.and_then(|l| l.next(&shared.stop));
    pleach_work::count(derived.as_ref().map_or(0, |derived| derived.bytes.len() as u64));
    drop(deriving);
    clock::charge(Part::Parse, start.elapsed());
    // Every member of a fleet derives the same strings.
    if let (Some(post), Some(walk), Some(derived)) = (&shared.post, walk, &derived)
        && let Some(number) = derived.number
        && !post.fleet.owns(hash_bytes(&derived.bytes))
    {
        walk.finish(number);
        let generation = post.fleet.generation();
        shared.lock().mail.iter_mut().for_each(|mail| mail.leave_string(generation));
        return Ok(());
    }
    let mut state = shared.lock();
    let Some(derived) = derived else {
        if walk.is_some_and(Walk::is_cut) {
            state.record_gap(Gap::LongerStrings);
        }
        state.search.strategy.record_grammar_exhausted();
        return Ok(());
    };
    state.account.stats.derived += 1;
    drop(state);
    let candidate = Candidate {
        template: derived.template.map(Arc::new),
        ..Candidate::new(derived.bytes.into(), Origin::Derived, None)
    };
    run_candidate(runner, candidate)?;
    if let (Some(walk), Some(number)) = (walk, derived.number)
        && !shared.is_stopping()
    {
        let done = walk.finish(number);
        let stats = &mut shared.lock().account.stats;
        stats.strings_done = stats.strings_done.max(done);
    }
    Ok(())
}

/// Runs an input of random bytes.
pub fn random(runner: &mut Runner) -> Result<(), ExecError> {
    let bytes: Arc<[u8]> = {
        let rng = &mut runner.shared.lock().search.rng;
        let len = runner.shared.settings.len.max(1) as usize;
        let len = 1 + rng.below(2 * len);
        (0..len).map(|_| rng.next_u64() as u8).collect()
    };
    run_candidate(runner, Candidate::new(bytes, Origin::Random, None))?;
    Ok(())
}
