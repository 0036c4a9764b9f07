//! Traces: an input runs on the symbolic half, and its decisions become a run of the tree.
//! A run that left its predicted path is traced once more before anything is concluded.

use super::candidate::{Candidate, FastEnd};
use super::runner::{How, Runner};
use crate::run::account::{Constraints, Gap};
use crate::run::clock::{self, Part};
use crate::run::fleet::HeardAs;
use crate::run::grammar::{Language, check_accepted};
use crate::run::search::{Conditions, Decided, find_lengths, follow_lengths, holes_of};
use crate::run::shared::SharedTokens;
use pleach_abi::event::Kind;
use pleach_abi::node::Op;
use pleach_abi::shm::Hole;
use pleach_exec::executor::{End, ExecError};
use pleach_exec::trace::{BrokenTrace, Trace};
use pleach_search::{BranchId, Decision, InputId, Run};
use pleach_solve::Path;
use pleach_template::solve::{LengthDecisions, Prepared, Traced};
use pleach_template::{Sentence, Template};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// How many causes of mismatches are told apart.
const MAX_CAUSES: usize = 200;
const NO_SENTENCE: &str = "the grammar does not derive one of the seeds: the seed was run, and \
     nothing of it is changed";

/// An input that is being traced.
struct Tracing {
    id: InputId,
    candidate: Candidate,
    on_tokens: bool,
    /// The holes whose lengths are variables.
    holes: Vec<Hole>,
}

/// Traces an input. `on_tokens`: the program's lexer is a border, and decisions are on
/// tokens.
pub fn trace(
    runner: &mut Runner,
    prepared: &mut Prepared,
    id: InputId,
    on_tokens: bool,
) -> Result<(), ExecError> {
    let shared = runner.shared.clone();
    let candidate = shared.lock().corpus.store.get(id);
    let Some(candidate) = candidate else {
        let mut state = shared.lock();
        state.record_gap(Gap::InputDropped);
        state.record_untraceable(id);
        return Ok(());
    };
    let mut candidate = (*candidate).clone();
    let on_tokens = on_tokens && shared.tokens.is_some();
    find_template(runner, &mut candidate, on_tokens);
    let holes =
        if shared.settings.has_variable_lengths() { holes_of(&candidate) } else { Vec::new() };
    let tracing = Tracing { id, candidate, on_tokens, holes };
    let start = Instant::now();
    let traced = runner.trace(&tracing.candidate.bytes, &tracing.holes, on_tokens)?;
    clock::charge(Part::Symbolic, start.elapsed());
    // The trace may be incomplete.
    if shared.is_stopping() {
        return Ok(());
    }
    let trace = traced.trace.and_then(|trace| check_inputs(trace, &tracing));
    match trace {
        Ok(trace) => add_trace(runner, prepared, &tracing, trace, &traced.outcome.end)?,
        Err(broken) => {
            let mut state = shared.lock();
            state.account.stats.traces += 1;
            state.account.stats.broken_traces += 1;
            state.record_gap(match broken {
                BrokenTrace::Io(_) => Gap::UnreadableTrace,
                _ => Gap::BrokenTrace,
            });
            state.record_untraceable(id);
        }
    }
    Ok(())
}

/// Finds out what of an input may change, where that is not known from its making. In runs
/// on tokens it is the texts of tokens; in other runs of such a campaign it is everything.
fn find_template(runner: &Runner, candidate: &mut Candidate, on_tokens: bool) {
    let shared = &runner.shared;
    match &shared.tokens {
        Some(tokens) if on_tokens => {
            let template = tokens.write().template_before_run(&candidate.bytes);
            candidate.template = template.map(Arc::new);
        }
        Some(_) => {
            candidate.template = None;
            if candidate.predicted_lengths().is_some() {
                candidate.predicted = None;
            }
        }
        // A seed among the strings of a symbolic grammar.
        None if candidate.template.is_none() => {
            let walk = shared.language.as_ref().and_then(Language::walk);
            let found = walk.map(|walk| walk.strings().find_template(&candidate.bytes));
            if let Some(None) = found {
                shared.lock().account.note(NO_SENTENCE.into());
            }
            candidate.template = found.map(|t| Arc::new(t.unwrap_or_default()));
        }
        None => {}
    }
}

/// Refuses a trace on bytes that reads numbers of tokens. This was seen after a fork server
/// was killed.
fn check_inputs(trace: Trace, tracing: &Tracing) -> Result<Trace, BrokenTrace> {
    if has_variables(&trace, tracing) || trace.tokens.is_empty() {
        return Ok(trace);
    }
    let (expr, room) = (&trace.expr, tracing.candidate.bytes.len() as u64);
    let reads = expr.order().iter().filter(|&&label| expr.op(label) == Op::Read);
    let ends = reads.map(|&label| {
        let node = expr.node(label);
        u64::from(node.a) + u64::from(node.width) / 8 - 1
    });
    match ends.max().filter(|&count| count > room) {
        Some(count) => Err(BrokenTrace::Count { what: "bytes of input", count, room }),
        None => Ok(trace),
    }
}

/// True if lengths of holes, or tokens, are variables of the run.
fn has_variables(trace: &Trace, tracing: &Tracing) -> bool {
    !trace.lengths.is_empty() || tracing.on_tokens
}

/// Adds a trace to the search, with everything that flips of it need.
fn add_trace(
    runner: &mut Runner,
    prepared: &mut Prepared,
    tracing: &Tracing,
    mut trace: Trace,
    end: &End,
) -> Result<(), ExecError> {
    let shared = runner.shared.clone();
    let decided = decide(runner, tracing, &trace);
    let mut gaps = gaps_of(&trace, end);
    shared.add_words(|dictionary| dictionary.add_trace(&trace));
    let unmodelled = std::mem::take(&mut trace.unmodelled);
    let tokens_seen = trace.tokens.len();
    let variables = if tracing.on_tokens { tokens_seen as u64 } else { trace.input_read.into() };
    let Decided { mut decisions, steps, complete, left_out } = decided;
    let mut traced = make_traced(runner, tracing, trace, steps);
    let path = prepare_path(runner, tracing, &mut traced, &mut decisions);
    // An interrupted path is not complete.
    if shared.is_stopping() {
        return Ok(());
    }
    let predicted = tracing.candidate.predicted_lengths();
    if predicted.is_some_and(|p| !follow_lengths(&traced.lengths, p, &mut decisions)) {
        let mut state = shared.lock();
        state.account.count_divergence("lengths".into());
        state.record_gap(Gap::Diverged);
    }
    // Decisions that cannot change lose nothing by being pinned.
    let has = |is: fn(&Decision) -> bool| decisions.iter().any(|d| is(d) && !d.is_frozen());
    gaps.extend(has(|d| d.kind == Kind::Pin).then_some(Gap::Pinned));
    let is_open = |d: &Decision| d.kind == Kind::Indirect && (d.is_pin() || d.has_left_table());
    gaps.extend(has(is_open).then_some(Gap::Indirect));
    let contexts = match &path {
        Some(path) => check_accepted(&shared, &traced, tokens_seen, (&decisions, path), end),
        None => Vec::new(),
    };
    let mut run = Run::new(tracing.id, decisions);
    (run.tokens, run.contexts) = (tracing.on_tokens, contexts);
    (run.complete, run.left_out) = (complete, left_out);
    gaps.extend(compare_halves(runner, &tracing.candidate, &mut run, end)?);
    let diverged = shared.lock().find_divergence(&run).is_some();
    if diverged && !repeats(runner, tracing, &run)? {
        if !shared.is_stopping() {
            shared.lock().record_unstable(tracing.id);
        }
        return Ok(());
    }
    run.decisions.shrink_to_fit();
    run.weight = traced.memory();
    let conditions = Conditions::of(&run);
    let constraints = Constraints::count(&shared.map, variables, &run);
    // A long run has many decisions, and others need not wait while they are marked.
    let table = {
        let mut state = shared.lock();
        run.shared = state.is_shared(tracing.id);
        run.is_common = state.is_common(&run, &tracing.candidate);
        state.search.tree.share(run.decisions.len())
    };
    if let Some(HeardAs::Task(task)) = &tracing.candidate.heard {
        run.own_from = task.bound;
    }
    let marked = run.mark_taken(table);
    let mut state = shared.lock();
    state.account.stats.traces += 1;
    state.account.add_constraints(&constraints);
    state.record_conditions(conditions);
    gaps.into_iter().for_each(|gap| state.record_gap(gap));
    for name in unmodelled {
        if !state.account.stats.unmodelled.contains(&name) {
            state.account.stats.unmodelled.push(name);
        }
    }
    let added = state.add_trace(run, marked, Arc::new(traced));
    drop(state);
    path.into_iter().for_each(|path| prepared.put(added.id, path));
    Ok(())
}

/// The decisions of a trace. Those of a template come behind one that stands for what the
/// template requires.
fn decide(runner: &mut Runner, tracing: &Tracing, trace: &Trace) -> Decided {
    let decided = runner.decide(trace);
    match tracing.on_tokens || tracing.candidate.template.is_some() {
        true => decided.under_template(),
        false => decided,
    }
}

/// What a trace lacks. Pinned addresses are decisions, and are not among these.
fn gaps_of(trace: &Trace, end: &End) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = trace.cut_by().map(Gap::Cut).collect();
    let losses = trace.named_losses().map(|(what, _)| what).filter(|what| *what != "pinned");
    gaps.extend(losses.map(Gap::Lost));
    gaps.extend(Gap::of_end(end));
    gaps.extend((trace.left_out > 0).then_some(Gap::DecisionsLeftOut));
    gaps
}

/// What flips of the run need, except for its decisions on lengths.
fn make_traced(
    runner: &Runner,
    tracing: &Tracing,
    trace: Trace,
    steps: Vec<pleach_solve::Step>,
) -> Traced {
    let Tracing { candidate, on_tokens, .. } = tracing;
    let bytes = &candidate.bytes;
    let (sentence, template) = match &runner.shared.tokens {
        Some(tokens) if *on_tokens => read_tokens(runner, tokens, candidate, &trace),
        _ => (None, candidate.template.clone()),
    };
    let holes = trace.lengths.len();
    Traced {
        template,
        sentence,
        extended: has_variables(&trace, tracing).then(|| trace.extended(bytes)),
        on_tokens: *on_tokens,
        first_token: bytes.len() as u32 + 4 * holes as u32,
        ..Traced::new(trace.expr, steps, bytes.clone())
    }
}

/// Prepares the path of a run that has a template: finds its decisions on lengths, and
/// excludes decisions from flips that depend on nothing that may change.
fn prepare_path(
    runner: &Runner,
    tracing: &Tracing,
    traced: &mut Traced,
    decisions: &mut [Decision],
) -> Option<Path> {
    let template = traced.template.clone()?;
    let mut path = traced.prepare_path();
    let (bytes, first_token) = (&tracing.candidate.bytes, traced.first_token);
    // Lengths may change if they are those of its holes.
    let known = tracing.candidate.template.as_ref();
    let mut lengths = LengthDecisions::default();
    if known.is_some_and(|known| Arc::ptr_eq(known, &template)) {
        let holes = (first_token as usize - bytes.len()) / 4;
        lengths = find_lengths(&mut path, decisions, bytes.len() as u32, holes);
    }
    // Tokens may change if they are known.
    let has_tokens = traced.sentence.is_some();
    // By offset: how many bytes before it may change.
    let count = |free: &mut u32, offset: u32| {
        let before = *free;
        *free += u32::from(template.is_free(offset));
        Some(before)
    };
    let end = traced.extended.as_ref().map_or(bytes.len(), |extended| extended.len()) as u32;
    let free_before: Vec<u32> = (0..=end).scan(0, count).collect();
    let is_free = |&(from, to): &(u32, u32)| {
        let (from, to) = (from.min(end), to.min(end));
        let is_token = has_tokens && to > first_token.max(from);
        free_before[from as usize] < free_before[to as usize] || is_token
    };
    let free = path.by_support(|ranges| ranges.iter().any(is_free));
    for (decision, _) in decisions.iter_mut().zip(free).filter(|(_, free)| !free) {
        decision.freeze();
    }
    // There are many sentences, and they ask the same about lengths.
    let frame = if tracing.on_tokens { 0 } else { template.frame_hash(bytes) };
    runner.shared.lock().asked_lengths.offer(&lengths, decisions, &path, frame);
    traced.lengths = lengths;
    Some(path)
}

/// The tokens of an input, and what of it may change while they stay: the texts of those
/// that have more than one. Nothing may change if it is not known which tokens they are.
fn read_tokens(
    runner: &Runner,
    tokens: &SharedTokens,
    candidate: &Candidate,
    trace: &Trace,
) -> (Option<Sentence>, Option<Arc<Template>>) {
    let bytes = &candidate.bytes;
    let mut vocabulary = tokens.write();
    match vocabulary.align(bytes, &trace.token_numbers()) {
        Ok(sentence) => {
            let template = vocabulary.template(bytes, &sentence);
            // Unless our lexer took a word for another token, the holes are those whose
            // lengths were variables in the run.
            let before =
                candidate.template.clone().filter(|before| before.has_same_holes(&template));
            (Some(sentence), Some(before.unwrap_or_else(|| Arc::new(template))))
        }
        Err(mismatch) => {
            let (first, cause) = (vocabulary.explain(&mismatch), vocabulary.cause(&mismatch));
            drop(vocabulary);
            let mut state = runner.shared.lock();
            let stats = &mut state.account.stats;
            stats.mismatched += 1;
            stats.mismatch.get_or_insert(first);
            let causes = &mut stats.mismatched_by;
            if causes.len() < MAX_CAUSES || causes.contains_key(&cause) {
                *causes.entry(cause).or_default() += 1;
            }
            state.record_gap(Gap::TokenMismatch);
            (None, Some(Arc::default()))
        }
    }
}

/// Compares a run with that of the fast half, where that one crashed or is not known.
fn compare_halves(
    runner: &mut Runner,
    candidate: &Candidate,
    run: &mut Run,
    end: &End,
) -> Result<Vec<Gap>, ExecError> {
    let crashed = match candidate.fast {
        FastEnd::Complete | FastEnd::Hung => false,
        fast => find_stop(runner, &candidate.bytes, fast == FastEnd::Crashed, run)?,
    };
    let stopped = run.stopped.map(|at| match has_decided_otherwise(runner, run, at) {
        true => Gap::Folded,
        false => Gap::Stopped,
    });
    let alone = matches!(end, End::Signal(_)) && !crashed;
    Ok(stopped.into_iter().chain(alone.then_some(Gap::SymbolicCrash)).collect())
}

/// Finds where the fast half stopped in a run that crashed there. A sanitizer ends the fast
/// half; the symbolic half has none and runs on. A branch that the counters of the fast
/// half do not show lies behind that point. The decisions between it and the last one shown
/// are not known to be shown, so they do not count as shown. True if the fast half crashed.
fn find_stop(
    runner: &mut Runner,
    bytes: &[u8],
    counted: bool,
    run: &mut Run,
) -> Result<bool, ExecError> {
    let end = runner.run(bytes, How { fresh: true, counted, ..How::default() })?;
    if FastEnd::of(&end) != FastEnd::Crashed {
        return Ok(false);
    }
    let mut taken: HashMap<BranchId, u8> = HashMap::new();
    let mut shown = 0;
    for (at, decision) in run.decisions.iter().enumerate() {
        let Some(branch) = decision.branch(decision.outcome) else { continue };
        let taken = taken.entry(branch).or_default();
        *taken = taken.saturating_add(1);
        if *taken > runner.counts.get(branch) {
            run.stopped = Some(shown);
            break;
        }
        shown = at as u32 + 1;
    }
    Ok(true)
}

/// True if the fast half, which ran last, took another side of the branch where it was
/// found to have stopped: its compiler folded that branch.
fn has_decided_otherwise(runner: &Runner, run: &Run, stopped: u32) -> bool {
    let (shown, rest) = run.decisions.split_at(stopped as usize);
    let Some(first) = rest.iter().find(|d| d.branch(d.outcome).is_some()) else { return false };
    let count_before =
        |branch| shown.iter().filter(|d| d.branch(d.outcome) == Some(branch)).count();
    let others = (0..first.outcomes).filter(|&o| o != first.outcome);
    others
        .filter_map(|o| first.branch(o))
        .any(|branch| usize::from(runner.counts.get(branch)) > count_before(branch))
}

/// True if an input takes the same path once more.
fn repeats(runner: &mut Runner, tracing: &Tracing, run: &Run) -> Result<bool, ExecError> {
    let start = Instant::now();
    let traced = runner.trace(&tracing.candidate.bytes, &tracing.holes, tracing.on_tokens)?;
    let nodes = traced.trace.ok().map(|trace| {
        let decided = decide(runner, tracing, &trace);
        Run::new(run.input, decided.decisions).nodes
    });
    clock::charge(Part::Symbolic, start.elapsed());
    let mut state = runner.shared.lock();
    state.account.stats.traces += 1;
    let shown = run.shown() as usize;
    Ok(nodes.is_some_and(|nodes| nodes.get(..=shown) == run.nodes.get(..=shown)))
}
