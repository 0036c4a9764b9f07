//! Judges crashes and hangs: which are new, and what they cover.

use super::candidate::{Candidate, FastEnd};
use super::ends::{Ends, signature};
use super::runner::{How, Runner};
use crate::run::account::{Gap, Stop};
use crate::run::corpus::{Kept, Record, SEQUENCES};
use crate::run::fleet::HeardAs;
use pleach_exec::executor::{End, ExecError};
use pleach_exec::triage::CrashId;
use pleach_search::{Counts, Gain};
use std::collections::HashSet;
use std::sync::Arc;

/// Hangs beyond this number are not kept: each costs a run of full length.
const MAX_HANGS: u64 = 64;

/// A crash that depends on inputs before it is kept with at most this many of them.
const MAX_SEQUENCE: usize = 512;

/// The crashes and hangs that are known.
#[derive(Default)]
pub struct Crashes {
    /// What tells the kept crashes apart.
    pub ids: HashSet<u64>,
    /// Crashes and hangs by the branches that they took.
    pub ends: Ends,
}

impl Crashes {
    /// True if a hang should be examined, and kept if it still hangs.
    pub fn is_new_hang(&mut self, hangs: u64, end: &End, counts: &Counts) -> bool {
        hangs < MAX_HANGS && self.ends.is_new(end, counts)
    }
}

/// Keeps a crash that is new, or that covers what no kept input does.
pub fn judge_crash(
    runner: &mut Runner,
    candidate: &Candidate,
    end: &End,
) -> Result<Gain, ExecError> {
    let shared = runner.shared.clone();
    let before = runner.take_before_crash();
    let mut state = shared.lock();
    Gap::of_end(end).into_iter().for_each(|gap| state.record_gap(gap));
    if !state.crashes.ends.is_new(end, &runner.counts) {
        return Ok(Gain::default());
    }
    let mut gain = state.covered.gain_of_crash(&runner.counts);
    drop(state);
    if matches!(end, End::Signal(libc::SIGKILL) | End::Lost(_)) {
        // Perhaps somebody else killed it: a user, or the kernel when memory was short.
        let counts = runner.counts.clone();
        let how = How { fresh: true, counted: false, all_time: false };
        if matches!(runner.run(&candidate.bytes, how)?, End::Exit(_)) {
            shared.lock().record_gap(Gap::Unstable);
            return Ok(Gain::default());
        }
        runner.counts = counts;
    }
    let quick = signature(end, &runner.counts);
    confirm_gain(runner, candidate, &mut gain)?;
    let examined = runner.target.examine(&candidate.bytes)?;
    let was_stopped = shared.is_stopping() && examined.outcome.end == End::Timeout;
    let mut sequence = Vec::new();
    let (hash, mut report) = match &examined.crash {
        _ if was_stopped => (quick, "found as the campaign ended\n".to_string()),
        Some(crash) => (crash.hash, report(crash, &examined.outcome.stderr)),
        None => {
            let counts = runner.counts.clone();
            sequence = find_sequence(runner, candidate, before.unwrap_or_default())?;
            runner.counts = counts;
            (quick, "does not happen again in a process of its own\n".to_string())
        }
    };
    let mut state = shared.lock();
    state.covered.crashed.add(&shared.map.program, &runner.counts, &mut gain);
    let is_new = state.crashes.ids.insert(hash);
    if !is_new && gain.branches.is_empty() {
        return Ok(gain);
    }
    let signal = match end {
        End::Signal(n) => *n,
        // We ended it, as the kernel would have.
        _ => libc::SIGKILL,
    };
    let name = state.keep_bad(Kept::Crash, candidate, &format!("sig:{signal:02}"), &gain);
    state.reach_by_bad(&gain, examined.crash.as_ref(), &format!("crashes/{name}"));
    if !sequence.is_empty() {
        state.corpus.dir.keep_sequence(&name, &sequence);
        report.push_str(&format!("it happened after other inputs: see {SEQUENCES}/{name}\n"));
    }
    state.corpus.dir.write_note(Some(&format!("{name}.stack.txt")), &report);
    if is_new {
        if let Some(mail) =
            state.mail.as_mut().filter(|_| !matches!(candidate.heard, Some(HeardAs::Known(_))))
        {
            mail.tell_crash(hash, &candidate.bytes, &gain, &runner.counts);
        }
        state.corpus.record(&Record::Crash { hash });
        state.account.stats.crashes += 1;
        if shared.limits.stop_on_crash {
            shared.end(&mut state, Stop::Crash);
        }
    }
    Ok(gain)
}

/// Keeps a hang that is new, and lists the limit that ended it.
pub fn judge_hang(
    runner: &mut Runner,
    candidate: &Candidate,
    end: &End,
    is_new: bool,
) -> Result<Gain, ExecError> {
    let shared = runner.shared.clone();
    let mut state = shared.lock();
    Gap::of_end(end).into_iter().for_each(|gap| state.record_gap(gap));
    if !is_new {
        return Ok(Gain::default());
    }
    let mut gain = state.covered.gain_of_crash(&runner.counts);
    drop(state);
    confirm_gain(runner, candidate, &mut gain)?;
    let mut state = shared.lock();
    state.covered.crashed.add(&shared.map.program, &runner.counts, &mut gain);
    let name = state.keep_bad(Kept::Hang, candidate, "", &gain);
    state.reach_by_bad(&gain, None, &format!("hangs/{name}"));
    if let Some(mail) =
        state.mail.as_mut().filter(|_| !matches!(candidate.heard, Some(HeardAs::Known(_))))
    {
        mail.tell_hang(&candidate.bytes, &gain, &runner.counts);
    }
    state.account.stats.hangs += 1;
    Ok(gain)
}

/// The inputs that a process read before it crashed, and the one that it crashed on. They are
/// only the last ones if these are enough; all that are kept, if the crash does not happen
/// again.
fn find_sequence(
    runner: &mut Runner,
    candidate: &Candidate,
    mut before: Vec<Arc<[u8]>>,
) -> Result<Vec<Arc<[u8]>>, ExecError> {
    before.drain(..before.len().saturating_sub(MAX_SEQUENCE));
    if before.is_empty() {
        return Ok(before);
    }
    before.push(candidate.bytes.clone());
    let lengths = std::iter::successors(Some(2), |n| Some(2 * n)).take_while(|n| *n < before.len());
    for length in lengths.chain([before.len()]) {
        let sequence = &before[before.len() - length..];
        let mut end = End::Exit(0);
        for (i, input) in sequence.iter().enumerate() {
            if runner.shared.is_stopping() || !matches!(end, End::Exit(_)) {
                break;
            }
            let how = How { fresh: i == 0, counted: false, all_time: false };
            end = runner.run(input, how)?;
        }
        if FastEnd::of(&end) == FastEnd::Crashed {
            return Ok(sequence.to_vec());
        }
    }
    Ok(before)
}

/// Runs a crash or a hang again to confirm its gain.
fn confirm_gain(
    runner: &mut Runner,
    candidate: &Candidate,
    gain: &mut Gain,
) -> Result<(), ExecError> {
    if !gain.branches.is_empty() {
        let unconfirmed = runner.confirm(&candidate.bytes, gain)?;
        let mut state = runner.shared.lock();
        unconfirmed.iter().for_each(|&branch| state.covered.crashed.doubt(branch));
    }
    Ok(())
}

/// The text that is written beside a crash: what it is, its stack, and its output.
fn report(crash: &CrashId, stderr: &[u8]) -> String {
    let mut text = format!("{crash}\n\n");
    for (i, frame) in crash.frames.iter().enumerate() {
        text.push_str(&format!("#{i} {frame}\n"));
    }
    let stderr = String::from_utf8_lossy(stderr);
    if !stderr.trim().is_empty() {
        text.push_str(&format!("\n{}\n", stderr.trim_end()));
    }
    text
}
