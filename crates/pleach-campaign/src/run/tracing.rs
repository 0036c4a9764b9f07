//! Tracing: an input runs on the symbolic half, and what it decided becomes a run of
//! the tree. A run that is not what was foretold is made once more before anything
//! is concluded from it.

use super::folded::FOLDED;
use super::language::Language;
use super::map::Decided;
use super::sizes::Sizes;
use super::state::{is_crash, limit_of};
use super::store::Known;
use super::worker::{How, SYMBOLIC_PATIENCE, Traced, Worker};
use pleach_abi::event::Kind;
use pleach_abi::shm::Hole;
use pleach_exec::executor::{End, ExecError, Outcome};
use pleach_exec::growth::Growth;
use pleach_exec::trace::{BrokenTrace, Trace};
use pleach_search::{BranchId, Decision, InputId, Run};
use pleach_solve::Path;
use pleach_template::{Sentence, Template, Vocabulary};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Causes of mismatches that are told apart.
const CAUSES: usize = 200;
/// What `partial` lists where the fast half stopped and the symbolic half ran on.
const STOPPED: &str = "stopped by a sanitizer";
/// Decisions of a long trace were left out.
const LEFT_OUT: &str = "decisions left out";
/// What is said of a seed that the grammar does not have.
const NO_SENTENCE: &str = "a seed is no sentence of the grammar: it was run, and nothing of it \
     is changed";

impl Worker {
    /// Traces an input; `tokens`: with the program's lexer as a border.
    pub(super) fn trace(&mut self, input: InputId, tokens: bool) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let known = shared.lock().store.get(input).cloned();
        let Some(mut known) = known else {
            let mut state = shared.lock();
            state.partial("dropped");
            state.untraceable(input);
            return Ok(());
        };
        let tokens = tokens && shared.vocabulary.is_some();
        self.recover(&mut known, tokens);
        let start = Instant::now();
        let outcome = self.run_symbolic(&known, tokens)?;
        let trace = self.symbolic.bounded_trace();
        let spent = start.elapsed().as_secs_f64();
        // Whatever was read may be a part.
        if shared.stopping() {
            return Ok(());
        }
        match trace {
            Ok(trace) => self.take((input, tokens), &known, trace, &outcome.end, spent)?,
            Err(broken) => {
                let mut state = shared.lock();
                state.stats.traces += 1;
                state.stats.time_s.symbolic += spent;
                state.stats.broken_traces += 1;
                state.partial(match broken {
                    BrokenTrace::Io(_) => "unreadable trace",
                    _ => "broken trace",
                });
                state.untraceable(input);
            }
        }
        Ok(())
    }

    /// Finds out what may change of an input, where its making does not say so. In runs
    /// on tokens that is the texts of tokens; otherwise, in such a campaign, all of it.
    fn recover(&self, known: &mut Known, tokens: bool) {
        match &self.shared.vocabulary {
            Some((vocabulary, _)) if tokens => {
                let mut vocabulary = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
                known.template = vocabulary.unread(&known.bytes).map(Arc::new);
            }
            Some(_) => (known.template, known.foretold) = (None, None),
            // A seed among strings of a symbolic grammar.
            None if known.template.is_none() => {
                let walk = self.shared.language.as_ref().and_then(Language::walk);
                let recovered = walk.map(|walk| walk.strings().recover(&known.bytes));
                if let Some(None) = recovered {
                    self.shared.lock().note(NO_SENTENCE.into());
                }
                known.template = recovered.map(|t| Arc::new(t.unwrap_or_default()));
            }
            None => {}
        }
    }

    /// Takes in a trace.
    fn take(
        &mut self,
        (input, tokens): (InputId, bool),
        known: &Known,
        trace: Trace,
        end: &End,
        spent: f64,
    ) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let decided = self.decided(&trace, known, tokens);
        let mut partial: Vec<String> =
            trace.cut_by().map(|what| format!("cut by {what}")).collect();
        // Pinned addresses are decisions, and are seen below.
        let losses = trace.named_losses().filter(|(what, _)| *what != "pinned");
        partial.extend(losses.map(|(what, _)| format!("lost: {what}")));
        partial.extend(limit_of(end).map(String::from));
        partial.extend((trace.left_out > 0).then(|| LEFT_OUT.to_string()));
        shared.dictionary.lock().unwrap_or_else(PoisonError::into_inner).add_trace(&trace);
        let bytes = &known.bytes;
        let (sentence, template) = match &shared.vocabulary {
            Some((vocabulary, _)) if tokens => self.sentence(vocabulary, known, &trace),
            _ => (None, known.template.clone()),
        };
        let holes = trace.lengths.len();
        let extended = (holes > 0 || tokens).then(|| trace.extended(bytes));
        let first = bytes.len() as u32 + 4 * holes as u32;
        let variables = if tokens { trace.tokens.len() as u64 } else { trace.input_read.into() };
        let taken = trace.tokens.len();
        let (expr, steps, plain) = (trace.expr, decided.steps, bytes.clone());
        let sizes = Sizes::default();
        let mut traced = Traced {
            expr,
            steps,
            input: plain,
            template,
            sentence,
            extended,
            tokens,
            first,
            sizes,
            interrupt: shared.interrupt(),
        };
        let mut decisions = decided.decisions;
        let mut sizes = Sizes::default();
        let path = traced.template.as_ref().map(|template| {
            let mut path = traced.path();
            // Tokens may change if it is known which they are, and lengths if they are
            // those of its holes.
            let known_tokens = traced.sentence.is_some();
            if known.template.as_ref().is_some_and(|known| Arc::ptr_eq(known, template)) {
                sizes = Sizes::find(&decisions, &mut path, bytes.len() as u32, holes);
            }
            settle(&mut decisions, &path, |offset| {
                template.is_free(offset) || (known_tokens && offset >= first)
            });
            // Sentences are many, and ask the same of lengths.
            let frame = if tokens { 0 } else { template.frame(bytes) };
            sizes.offer(&mut decisions, &path, frame, &shared.sizes);
            path
        });
        traced.sizes = sizes;
        // An interrupted path is not whole.
        if shared.stopping() {
            return Ok(());
        }
        let gone = known.foretold.as_ref().map(|f| traced.sizes.follow(f, &mut decisions));
        if gone.is_some_and(|followed| !followed) {
            let mut state = shared.lock();
            state.stats.diverged += 1;
            *state.stats.diverged_at.entry("lengths".into()).or_default() += 1;
            state.partial("diverged");
        }
        // What cannot change loses nothing by being held.
        let held = |kind| decisions.iter().any(|d| d.kind == kind && !d.is_settled());
        partial.extend(held(Kind::Pin).then(|| "pinned".to_string()));
        partial.extend(held(Kind::Indirect).then(|| "indirect".to_string()));
        let contexts = match (&traced.sentence, &path) {
            (Some(sentence), Some(path)) => {
                self.fits(sentence, (first, taken), (&decisions, path), end)
            }
            _ => Vec::new(),
        };
        let mut run = Run::new(input, decisions);
        (run.tokens, run.contexts) = (tokens, contexts);
        (run.complete, run.left_out) = (decided.complete, decided.left_out);
        let crashed = match known.crashed {
            Some(false) => false,
            unknown => self.find_stop(&known.bytes, unknown.is_some(), &mut run)?,
        };
        partial.extend(run.stopped.map(|at| {
            let folded = self.decided_otherwise(&run, at);
            if folded { FOLDED.to_string() } else { STOPPED.to_string() }
        }));
        let alone = matches!(end, End::Signal(_)) && !crashed;
        partial.extend(alone.then(|| "crashed in the symbolic half".to_string()));
        let left = shared.lock().has_left(&run);
        if left && !self.repeats(known, &run)? {
            if shared.stopping() {
                return Ok(());
            }
            shared.lock().unstable(input);
            return Ok(());
        }
        run.weight =
            size_of_val(traced.expr.nodes()) + trace.snapshot_bytes as usize + traced.weight();
        let mut state = shared.lock();
        state.stats.traces += 1;
        state.stats.time_s.symbolic += spent;
        state.constrained(variables, &run);
        partial.iter().for_each(|what| state.partial(what));
        for name in trace.unmodelled {
            if !state.stats.unmodelled.contains(&name) {
                state.stats.unmodelled.push(name);
            }
        }
        let mut traces = shared.traces.lock().unwrap_or_else(PoisonError::into_inner);
        let id = state.traced(run);
        traces.insert(id, Arc::new(traced));
        path.into_iter().for_each(|path| self.paths.put(id, path));
        for dropped in state.dropped.drain(..) {
            traces.remove(&dropped);
        }
        Ok(())
    }

    /// The tokens of an input, and what of it may change while they stay: the texts
    /// of those that have more than one. Nothing may where it is not known which
    /// tokens they are.
    fn sentence(
        &self,
        vocabulary: &Mutex<Vocabulary>,
        known: &Known,
        trace: &Trace,
    ) -> (Option<Sentence>, Option<Arc<Template>>) {
        let bytes = &known.bytes;
        let seen = trace.token_numbers();
        let mut vocabulary = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
        match vocabulary.align(bytes, &seen) {
            Ok(sentence) => {
                let template = vocabulary.template(bytes, &sentence);
                // Unless a word is another token than our lexer took it for, the holes are
                // those whose lengths the run was told of.
                let before = known.template.clone().filter(|before| before.is_like(&template));
                let template = before.unwrap_or_else(|| Arc::new(template));
                (Some(sentence), Some(template))
            }
            Err(mismatch) => {
                let mut state = self.shared.lock();
                state.stats.mismatched += 1;
                state.stats.mismatch.get_or_insert_with(|| vocabulary.explain(&mismatch));
                let (causes, cause) = (&mut state.stats.mismatched_by, vocabulary.cause(&mismatch));
                if causes.len() < CAUSES || causes.contains_key(&cause) {
                    *causes.entry(cause).or_default() += 1;
                }
                state.partial("tokens that do not fit the grammar");
                (None, Some(Arc::default()))
            }
        }
    }

    /// Whether an input takes the same path once more.
    fn repeats(&mut self, known: &Known, run: &Run) -> Result<bool, ExecError> {
        let start = Instant::now();
        self.run_symbolic(known, run.tokens)?;
        let trace = self.symbolic.bounded_trace().ok();
        let again = trace.map(|trace| {
            Run::new(run.input, self.decided(&trace, known, run.tokens).decisions).nodes
        });
        let mut state = self.shared.lock();
        state.stats.traces += 1;
        state.stats.time_s.symbolic += start.elapsed().as_secs_f64();
        let shown = run.shown() as usize;
        Ok(again.is_some_and(|nodes| nodes.get(..=shown) == run.nodes.get(..=shown)))
    }

    /// Finds where the fast half stopped in a run that crashed there. A sanitizer ends the
    /// fast half; the symbolic half has none and runs on. A branch that the counters of the
    /// fast half do not show lies behind that point. Of the decisions between it and the
    /// last one shown nobody knows, so they are not taken for shown either.
    /// True if it crashed.
    fn find_stop(&mut self, bytes: &[u8], counted: bool, run: &mut Run) -> Result<bool, ExecError> {
        let end = self.run_once(bytes, How { fresh: true, counted, ..How::default() })?;
        if !is_crash(&end) {
            return Ok(false);
        }
        let mut taken: HashMap<BranchId, u8> = HashMap::new();
        let mut shown = 0;
        for (at, decision) in run.decisions.iter().enumerate() {
            let Some(branch) = decision.branch(decision.outcome) else { continue };
            let taken = taken.entry(branch).or_default();
            *taken = taken.saturating_add(1);
            if *taken > self.counts.get(branch as usize).copied().unwrap_or_default() {
                run.stopped = Some(shown);
                break;
            }
            shown = at as u32 + 1;
        }
        Ok(true)
    }

    /// True if the fast half, which ran last, took another side of the branch where it was
    /// found to have stopped: its compiler folded that branch.
    fn decided_otherwise(&self, run: &Run, stopped: u32) -> bool {
        let rest = run.decisions.iter().skip(stopped as usize);
        let Some(first) = rest.into_iter().find(|d| d.branch(d.outcome).is_some()) else {
            return false;
        };
        let before = |branch| {
            let shown = &run.decisions[..stopped as usize];
            shown.iter().filter(|d| d.branch(d.outcome) == Some(branch)).count()
        };
        let others = (0..first.outcomes).filter(|&o| o != first.outcome);
        others.filter_map(|o| first.branch(o)).any(|branch| {
            self.counts.get(branch as usize).is_some_and(|&c| usize::from(c) > before(branch))
        })
    }

    /// Runs an input on the symbolic half, with what is variable in it.
    fn run_symbolic(&mut self, known: &Known, tokens: bool) -> Result<Outcome, ExecError> {
        self.symbolic.on_tokens(tokens);
        let holes = self.holes(known);
        self.run_symbolic_with(&known.bytes, &holes)
    }

    /// Runs an input on the symbolic half, which may take longer than the fast one.
    pub(super) fn run_symbolic_with(
        &mut self,
        input: &[u8],
        holes: &[Hole],
    ) -> Result<Outcome, ExecError> {
        let limit = self.adaptive.then(|| self.shared.lock().patience.most());
        let timeout = self.timeout * SYMBOLIC_PATIENCE;
        self.symbolic.limit_cpu(limit.map(|l| timeout.min(l * SYMBOLIC_PATIENCE)));
        loop {
            let fixed = self.shared.lock().growing.fixed;
            self.symbolic.set_growth(Growth { fixed, ..Growth::default() });
            let outcome = self.symbolic.run_with(input, holes, timeout)?;
            if fixed || !outcome.calls.mixed {
                return Ok(outcome);
            }
            // The end of this input is a decision after all.
            self.shared.lock().growing.fixed = true;
        }
    }

    fn decided(&mut self, trace: &Trace, known: &Known, tokens: bool) -> Decided {
        let decided = self.shared.map.decide(&mut self.sites, trace);
        match tokens || known.template.is_some() {
            true => decided.under_template(),
            false => decided,
        }
    }
}

/// Decisions that depend on nothing that may change are settled.
fn settle(decisions: &mut [Decision], path: &Path, is_free: impl Fn(u32) -> bool) {
    let free = path.by_support(|vars| vars.iter().filter_map(|v| v.as_byte()).any(&is_free));
    for (decision, _) in decisions.iter_mut().zip(free).filter(|(_, free)| !free) {
        decision.settle();
    }
}
