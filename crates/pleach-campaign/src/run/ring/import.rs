//! Runs files of other fuzzers.

use super::candidate::Candidate;
use super::judge::run_candidates;
use super::runner::Runner;
use crate::run::corpus::Record;
use crate::run::exchange::Exchange;
use pleach_exec::executor::ExecError;
use pleach_search::Origin;

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
