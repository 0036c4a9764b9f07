//! Runs a candidate on the fast half, judges what it brought, and keeps it if it is worth
//! that.

use super::candidate::{Candidate, FastEnd, Judgement};
use super::crash::{judge_crash, judge_hang};
use super::runner::{How, Runner};
use crate::run::account::Gap;
use crate::run::corpus::Kept;
use pleach_exec::executor::{End, ExecError};
use pleach_search::{BranchId, Gain, InputId, Origin, RunCost};
use std::collections::HashSet;
use std::sync::atomic::Ordering;

/// What a hanging run costs besides, in microseconds.
const HANG_COST: u32 = 30_000;

/// Runs a candidate. Returns its number if it is remembered.
pub fn run_candidate(
    runner: &mut Runner,
    candidate: Candidate,
) -> Result<Option<InputId>, ExecError> {
    judge(runner, candidate, None)
}

/// Runs candidates that were made without a solver, in order, as many at once as the target
/// allows. They are also judged in order. So the result is that of running them one by one;
/// those that come after the last run of a campaign have not run. Returns how many have.
pub fn run_candidates(runner: &mut Runner, candidates: &[Candidate]) -> Result<usize, ExecError> {
    let shared = runner.shared.clone();
    let (mut rest, mut quiet, mut judged) = (candidates, Vec::new(), 0);
    while !rest.is_empty() && !shared.is_ending() {
        let count = runner.run_batch(rest)?;
        let mut left = shared.runs_left();
        for (run, candidate) in rest[..count].iter().enumerate() {
            let end = runner.adopt(run);
            if quiet.len() as u64 == left {
                break;
            }
            if runner.is_quiet(&end) {
                quiet.push(QuietRun::new(runner, candidate));
                runner.count_adopted();
                continue;
            }
            judged += tell_quiet(runner, &mut quiet);
            if shared.is_ending() {
                return Ok(judged);
            }
            // Typed calls have made it longer, or their limits have changed: it runs again.
            let end = (!runner.has_calls()).then_some(end);
            judge(runner, candidate.clone(), end)?;
            judged += 1;
            left = shared.runs_left();
        }
        judged += tell_quiet(runner, &mut quiet);
        rest = &rest[count..];
    }
    Ok(judged)
}

/// A run that has nothing to report but its cost.
struct QuietRun {
    origin: Origin,
    size: u32,
    cost: RunCost,
}

impl QuietRun {
    fn new(runner: &Runner, candidate: &Candidate) -> QuietRun {
        let size = candidate.bytes.len() as u32;
        QuietRun { origin: candidate.origin, size, cost: runner.cost() }
    }
}

/// Counts runs and tells the strategy of them, up to the last run of the campaign. Returns
/// how many these are.
fn tell_quiet(runner: &mut Runner, quiet: &mut Vec<QuietRun>) -> usize {
    if quiet.is_empty() {
        return 0;
    }
    let shared = runner.shared.clone();
    // Another worker may have made the last run.
    let told = shared.count_runs(quiet.len());
    quiet.truncate(told);
    let mut state = shared.lock();
    for QuietRun { origin, size, cost } in quiet.drain(..) {
        state.record_quiet(origin, size, cost);
    }
    told
}

/// Judges a candidate. `end`: it has run, and ended so; otherwise it runs now.
fn judge(
    runner: &mut Runner,
    mut candidate: Candidate,
    end: Option<End>,
) -> Result<Option<InputId>, ExecError> {
    let shared = runner.shared.clone();
    let (end, is_new_hang) = run_to_end(runner, &mut candidate, end)?;
    if shared.is_stopping() && end == End::Timeout {
        return Ok(None);
    }
    if candidate.origin == Origin::Seed && end != End::Timeout {
        shared.pace().patience.add_seed(runner.cpu());
    }
    candidate.fast = FastEnd::of(&end);
    let mut judgement = Judgement { cost: runner.cost(), ..Judgement::default() };
    match candidate.fast {
        FastEnd::Crashed => judgement.gain = judge_crash(runner, &candidate, &end)?,
        FastEnd::Hung => {
            judgement.gain = judge_hang(runner, &candidate, &end, is_new_hang)?;
            judgement.cost.work += HANG_COST;
        }
        FastEnd::Complete | FastEnd::NotRun => judge_exit(runner, &candidate, &mut judgement)?,
    }
    Ok(shared.lock().keep(candidate, &judgement, &runner.counts))
}

/// Runs a candidate, unless it has run and ended. A hang of a new kind that was stopped early
/// is run again with all the time there is. Returns how it ended, and if that is a new hang.
fn run_to_end(
    runner: &mut Runner,
    candidate: &mut Candidate,
    end: Option<End>,
) -> Result<(End, bool), ExecError> {
    let shared = runner.shared.clone();
    let is_hang = |end: &End| FastEnd::of(end) == FastEnd::Hung;
    let is_new = |runner: &Runner, end: &End, stopped_early: bool| {
        if stopped_early && !shared.pace().patience.allows_second() {
            return false;
        }
        let state = &mut *shared.lock();
        let hangs = state.account.stats.hangs;
        state.crashes.is_new_hang(hangs, end, &runner.counts)
    };
    let mut bytes = candidate.bytes.clone();
    let mut end = match end {
        Some(end) => {
            runner.count_adopted();
            shared.runs.fetch_add(1, Ordering::Relaxed);
            end
        }
        None => runner.run_growing(&mut bytes, false)?,
    };
    let stopped_early = end == End::Timeout && runner.is_adaptive();
    let mut is_new_hang = is_hang(&end) && is_new(runner, &end, stopped_early);
    if is_new_hang && stopped_early {
        bytes = candidate.bytes.clone();
        end = runner.run_growing(&mut bytes, true)?;
        // With more time it may end in another way, which may be known.
        if end != End::Timeout {
            is_new_hang = is_hang(&end) && is_new(runner, &end, false);
        }
    }
    candidate.bytes = bytes;
    Ok((end, is_new_hang))
}

/// Judges a run that ended by itself, and adds what it covers.
fn judge_exit(
    runner: &mut Runner,
    candidate: &Candidate,
    judgement: &mut Judgement,
) -> Result<(), ExecError> {
    let shared = runner.shared.clone();
    judgement.keep = candidate.origin == Origin::Seed;
    if shared.seen.has_all(&runner.counts) {
        return Ok(());
    }
    let keeps_hit_counts = shared.descriptor.keeps_hit_counts;
    let is_worth =
        |gain: &Gain| !gain.branches.is_empty() || (keeps_hit_counts && !gain.buckets.is_empty());
    let mut state = shared.lock();
    let mut gain = state.covered.kept.news(&runner.counts);
    // The gain of a live run has been seen twice already, and so has what its finder says.
    let is_confirmed = candidate.origin == Origin::Live
        || candidate.heard.as_ref().is_some_and(|heard| heard.confirms(&gain, &runner.counts));
    if is_worth(&gain) && !is_confirmed {
        drop(state);
        let unconfirmed = runner.confirm(&candidate.bytes, &mut gain)?;
        state = shared.lock();
        unconfirmed.iter().for_each(|&branch| state.covered.kept.doubt(branch));
    }
    state.covered.kept.add(&shared.map.program, &runner.counts, &mut gain);
    judgement.keep |= is_worth(&gain);
    judgement.gain = gain;
    Ok(())
}

/// Takes an input of a campaign that is resumed: it has its number and its place already.
/// One of the queue runs again, to see what it covers. Others gained nothing when they were
/// made, and would gain nothing now. `first`: the branches that it took before any other.
/// `known`: those that any input of the campaign has taken.
pub fn recall_input(
    runner: &mut Runner,
    id: InputId,
    first: &[BranchId],
    known: &HashSet<BranchId>,
) -> Result<(), ExecError> {
    let shared = runner.shared.clone();
    let candidate = shared.lock().corpus.store.get(id);
    let Some(candidate) = candidate else {
        shared.lock().record_gap(Gap::InputDropped);
        return Ok(());
    };
    let size = candidate.bytes.len();
    if candidate.queue.is_none() {
        let mut state = shared.lock();
        if !state.splits_paths() {
            state.recall(id, size, None, false, runner.cost());
        }
        return Ok(());
    }
    // It has ended before, within the limits that there were then.
    let end = runner.run(&candidate.bytes, How { all_time: true, counted: false, fresh: false })?;
    let mut gain = Gain::default();
    let is_bad = FastEnd::of(&end) != FastEnd::Complete;
    if !is_bad {
        shared.pace().patience.add_recalled(runner.cpu());
    }
    let mut state = shared.lock();
    if !is_bad {
        state.corpus.store.set_complete(id);
        gain = state.covered.kept.news(&runner.counts);
        state.covered.kept.add(&shared.map.program, &runner.counts, &mut gain);
        if let Some(number) = candidate.queue {
            state.reach(&gain.branches, &format!("queue/id:{number:06}"));
            state.record_covered(Kept::Queue, number, &unknown(&gain, known));
        }
        let counts = &runner.counts;
        let has_new = !gain.is_empty();
        if let Some(mail) = state.mail.as_mut().filter(|_| has_new) {
            // Perhaps it was not told before the campaign was interrupted.
            mail.tell_find(id, &candidate.bytes, &gain, counts);
        }
        state.tell(|strategy, view| strategy.record_counts(view, id, counts, true));
    }
    // A run that somebody killed, or a busy machine, does not undo what it has shown.
    state.covered.kept.restore(&shared.map.program, first);
    if state.splits_paths() {
        // Whoever owns its task traces it.
        return Ok(());
    }
    state.recall(id, size, Some(&gain), is_bad, runner.cost());
    Ok(())
}

/// Runs a crash or a hang of a campaign that is resumed, to see what it covers. A hang does
/// not get all the time there is.
pub fn recall_bad(
    runner: &mut Runner,
    (kept, number): (Kept, u32),
    bytes: &[u8],
    first: &[BranchId],
    known: &HashSet<BranchId>,
) -> Result<(), ExecError> {
    let how = How { all_time: kept == Kept::Crash, counted: false, fresh: false };
    let end = runner.run(bytes, how)?;
    let mut state = runner.shared.lock();
    state.crashes.ends.is_new(&end, &runner.counts);
    let mut gain = state.covered.gain_of_crash(&runner.counts);
    state.covered.crashed.add(&runner.shared.map.program, &runner.counts, &mut gain);
    state.covered.crashed.restore(&runner.shared.map.program, first);
    state.record_covered(kept, number, &unknown(&gain, known));
    if state.mail.is_some() && kept == Kept::Crash {
        drop(state);
        // Perhaps it was not told before the campaign was interrupted.
        let counts = runner.counts.clone();
        let examined = runner.target.examine(bytes)?;
        state = runner.shared.lock();
        if let (Some(mail), Some(crash)) = (&mut state.mail, examined.crash) {
            mail.tell_crash(crash.hash, &bytes.into(), &gain, &counts);
        }
    }
    let dir = if kept == Kept::Crash { "crashes" } else { "hangs" };
    state.reach(&gain.branches, dir);
    Ok(())
}

/// The branches of a gain that the journal has of no input. They are covered from now on, also
/// if the next driver does not see them.
fn unknown(gain: &Gain, known: &HashSet<BranchId>) -> Vec<BranchId> {
    gain.branches.iter().copied().filter(|branch| !known.contains(branch)).collect()
}

impl FastEnd {
    /// A run that grew beyond its memory counts as one that crashed: as far as anybody can
    /// tell, it ended by itself.
    pub fn of(end: &End) -> FastEnd {
        match end {
            End::Exit(_) => FastEnd::Complete,
            End::Signal(_) | End::Lost(_) | End::Memory => FastEnd::Crashed,
            End::Timeout | End::Output | End::Processes => FastEnd::Hung,
        }
    }
}
