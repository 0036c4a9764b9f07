//! Runs files of other fuzzers, and what a member of a fleet heard of.

use super::candidate::{Candidate, Predicted, PredictedPath};
use super::judge::{run_candidate, run_candidates};
use super::runner::Runner;
use crate::run::account::Entry;
use crate::run::corpus::Record;
use crate::run::exchange::Exchange;
use crate::run::fleet::{HeardAs, Parcel};
use pleach_exec::executor::ExecError;
use pleach_search::{Flip, Origin, RunId};

/// How many files are run between two actions of the search.
const BATCH: usize = 32;

/// Runs some of the files that wait. Returns how many have run. A file that has not is taken
/// again when the campaign is resumed.
pub fn import(runner: &mut Runner, exchange: &Exchange) -> Result<usize, ExecError> {
    let imports = exchange.take(BATCH);
    let candidates: Vec<_> = imports
        .iter()
        .map(|import| Candidate {
            sender: Some(import.sender.clone()),
            ..Candidate::new(import.bytes.clone(), Origin::Imported, None)
        })
        .collect();
    let run = run_candidates(runner, &candidates)?;
    let mut state = runner.shared.lock();
    for import in &imports[..run] {
        state.account.count_sync(&import.sender).taken += 1;
        state.corpus.record(&Record::Taken(import.taken));
    }
    Ok(run)
}

/// The run of a flip that another member may have asked.
const NO_RUN: RunId = RunId::MAX;

/// Runs some of what a member of a fleet heard of. Returns how many were run.
pub fn import_parcels(runner: &mut Runner) -> Result<usize, ExecError> {
    let shared = runner.shared.clone();
    let parcels = {
        let mut state = shared.lock();
        state.mail.as_mut().map_or_else(Vec::new, |mail| mail.take_parcels(BATCH))
    };
    let mut count = 0;
    for parcel in parcels {
        if shared.is_ending() {
            break;
        }
        run_parcel(runner, parcel)?;
        count += 1;
    }
    Ok(count)
}

fn run_parcel(runner: &mut Runner, parcel: Parcel) -> Result<(), ExecError> {
    let Parcel { bytes, heard, sender } = parcel;
    let mut kept_before = 0;
    if let Some(sender) = &sender {
        let mut state = runner.shared.lock();
        let sync = state.account.count_sync(sender);
        sync.taken += 1;
        kept_before = sync.kept + sync.bad;
        state.mail.iter_mut().for_each(|mail| mail.tally.run += 1);
    }
    let (mut origin, mut predicted, mut asked) = (Origin::Imported, None, None);
    if let HeardAs::Task(task) = &heard {
        origin = Origin::Task;
        asked = task.asked;
        predicted = (task.bound > 0).then(|| {
            let flip = Flip { run: NO_RUN, at: task.bound - 1, outcome: 0 };
            let (decisions, node) = (task.bound, task.node);
            let optimistic = node == 0;
            let (check, on_tokens) = (false, false);
            PredictedPath { flip, decisions, node, optimistic, check, on_tokens }
        });
    }
    let candidate = Candidate {
        sender: sender.clone(),
        heard: Some(heard.clone()),
        predicted: predicted.map(Predicted::Path),
        ..Candidate::new(bytes.clone(), origin, None)
    };
    let id = run_candidate(runner, candidate)?;
    if let Some(sender) = sender.filter(|_| !runner.shared.is_ending()) {
        let is_true = heard.holds(&runner.counts).unwrap_or(true);
        let mut state = runner.shared.lock();
        let sync = state.account.count_sync(&sender);
        let is_useful = sync.kept + sync.bad > kept_before;
        state.judge_sender(&sender.name, &bytes, is_useful, is_true);
    }
    if let (Some(id), Some(branch)) = (id, asked.filter(|&branch| runner.has_missed(branch))) {
        let mut state = runner.shared.lock();
        state.record_branch(Entry::Missed(branch));
        state.corpus.store.set_uncounted(id, branch);
    }
    Ok(())
}
