//! The state of a campaign, in parts that know nothing of each other. What is here is what
//! needs several of them: a candidate is kept, a trace is added.

use super::account::{Account, Entry, Gap, Reached, Stop};
use super::corpus::{Corpus, Kept, Label, Record, file_name_part};
use super::fleet::{HeardAs, Mail, Split};
use super::grammar::Fit;
use super::memory::resident_memory;
use super::places::{FoundPlace, Obstacles, is_in_stack};
use super::ring::{Bets, Candidate, Crashes, FastEnd, Judgement, divergence};
use super::search::{AddedRun, AskedLengths, Conditions, Covered, Facts, Map, Search};
use pleach_exec::triage::CrashId;
use pleach_search::{
    Aim, BranchId, Counts, Entered, ExecutionReport, Flip, Gain, InputId, Marked, Origin, Run,
    RunCost, Strategy, Verdict, View,
};
use pleach_template::solve::Traced;
use std::sync::Arc;

pub struct State {
    pub map: Arc<Map>,
    pub search: Search,
    pub covered: Covered,
    pub corpus: Corpus,
    pub account: Account,
    pub crashes: Crashes,
    /// How the program reads the grammar's sentences.
    pub fit: Fit,
    /// Conditions over lengths that were asked for.
    pub asked_lengths: AskedLengths,
    /// What optimistic inputs cost and brought.
    pub bets: Bets,
    pub progress: Progress,
    /// The places that the search should get to.
    pub aim: Arc<Aim>,
    pub places: Vec<FoundPlace>,
    /// The mail of a member of a fleet.
    pub mail: Option<Mail>,
}

/// How far a campaign is.
#[derive(Default)]
pub struct Progress {
    /// Actions under way.
    pub outstanding: usize,
    /// Workers that wait until an action has ended.
    pub waiting: usize,
    /// Why the campaign is over, once it is.
    pub stop: Option<Stop>,
    /// What a live run does now, for the panel.
    pub doing: Option<String>,
}

impl State {
    /// The search, and what its strategy may see.
    pub fn search(&mut self) -> (&mut Search, Facts<'_>) {
        let facts = Facts { program: &self.map.program, coverage: &self.covered.kept };
        (&mut self.search, facts)
    }

    pub fn tell(&mut self, news: impl FnOnce(&mut dyn Strategy, &View)) {
        let (search, facts) = self.search();
        search.tell(facts, news);
    }

    /// A flip was answered: marks the tree, and tells the strategy. Returns the record for
    /// the journal.
    pub fn answer(&mut self, flip: Flip, verdict: Verdict) -> Option<Record> {
        let (search, facts) = self.search();
        search.answer(facts, flip, verdict)
    }

    /// Takes a candidate that was run. Seeds and the results of flips are remembered though
    /// they gained nothing: they are traced. Returns the number of a candidate that is
    /// remembered.
    pub fn keep(
        &mut self,
        candidate: Candidate,
        judgement: &Judgement,
        counts: &Counts,
    ) -> Option<InputId> {
        let Judgement { gain, keep, cost } = judgement;
        let is_seed_or_flip = matches!(candidate.origin, Origin::Flip(_) | Origin::Seed);
        let heard = candidate.heard.clone();
        // Another member traces it.
        let is_foreign = matches!(heard, Some(HeardAs::Known(_)));
        // An input of another member whose claims are untrue is rubbish, unless it gained.
        let is_heard = heard.as_ref().is_some_and(|heard| match heard {
            HeardAs::Shared(_) => heard.holds(counts) == Some(true),
            HeardAs::Task(_) => true,
            HeardAs::Known(_) => false,
        });
        let is_traced = is_seed_or_flip || is_heard;
        let has_gained = *keep || !gain.branches.is_empty();
        let mut news = ExecutionReport {
            input: None,
            origin: candidate.origin,
            branches: gain.branches.len() as u32,
            buckets: gain.buckets.len() as u32,
            bad: candidate.fast != FastEnd::Complete,
            hung: candidate.fast == FastEnd::Hung,
            size: candidate.bytes.len() as u32,
            cost: *cost,
        };
        if has_gained || is_traced || candidate.template.is_some() {
            let label = keep.then(|| self.label("", &candidate, gain, gain));
            self.account.stats.inputs += u64::from(*keep);
            if let Some(sender) = &candidate.sender {
                self.account.count_sync(sender).kept += u64::from(*keep);
            }
            let (bytes, is_complete) =
                (candidate.bytes.clone(), candidate.fast == FastEnd::Complete);
            let (input, file) = self.corpus.add(candidate, label.as_ref());
            news.input = (!is_foreign).then_some(input);
            if let Some(mail) = &mut self.mail {
                match heard {
                    Some(HeardAs::Shared(_)) => mail.set_shared(input),
                    None | Some(HeardAs::Task(_)) if is_complete && *keep && !gain.is_empty() => {
                        mail.tell_find(input, &bytes, gain, counts);
                    }
                    _ => {}
                }
            }
            if let Some(number) = self.corpus.store.queue_number(input) {
                self.record_covered(Kept::Queue, number, &gain.branches);
            }
            if let Some(file) = file {
                self.reach(&gain.branches, &file);
            }
            if !is_foreign {
                self.tell(|strategy, view| strategy.record_counts(view, input, counts, *keep));
            }
        }
        if !gain.branches.is_empty() {
            self.account.record_gain();
        }
        self.tell(|strategy, view| strategy.record_execution(view, &news));
        news.input
    }

    /// A worker begins an action.
    pub fn start_action(&mut self) {
        self.progress.outstanding += 1;
        self.mail.iter_mut().for_each(|mail| mail.is_exhausted = false);
    }

    /// Records which goals an input reached, given the branches that no earlier input took.
    pub fn reach(&mut self, branches: &[BranchId], file: &str) {
        for goal in self.aim.shown_by(branches) {
            self.reach_goal(goal, file);
        }
    }

    /// Records that an input reached a goal.
    pub fn reach_goal(&mut self, goal: usize, file: &str) {
        if self.aim.reach(goal) {
            let (time_ms, runs) = (self.account.time_ms(), self.account.stats.runs);
            if let Some(place) = self.account.stats.places.get_mut(goal) {
                place.reached.get_or_insert(Reached { file: file.into(), time_ms, runs });
            }
        }
    }

    /// Records which goals a crash or a hang reached: those that its branches show, and those
    /// in its stack.
    pub fn reach_by_bad(&mut self, gain: &Gain, crash: Option<&CrashId>, file: &str) {
        self.reach(&gain.branches, file);
        let Some(crash) = crash else { return };
        let is_new = |goal: &usize| !self.aim.is_reached(*goal);
        let in_stack = |goal: &usize| is_in_stack(&self.places[*goal], crash);
        let goals: Vec<_> = (0..self.places.len()).filter(is_new).filter(in_stack).collect();
        goals.into_iter().for_each(|goal| self.reach_goal(goal, file));
    }

    /// Finds what stands in the way to the goals that are not reached.
    pub fn find_obstacles(&mut self) {
        /// With thousands of goals this would take long.
        const MAX_GOALS: usize = 200;
        let open = self.aim.open();
        if open.is_empty() {
            return;
        }
        let map = self.map.clone();
        let coverage = self.covered.together(&map.program);
        let mut obstacles = Obstacles::new(&map, coverage, self);
        let found: Vec<_> = open
            .into_iter()
            .take(MAX_GOALS)
            .map(|goal| (goal, obstacles.find(&self.aim.goals()[goal], self)))
            .collect();
        for (goal, obstacle) in found {
            self.account.stats.places[goal].obstacle = obstacle;
        }
    }

    /// True if there are goals, and all are reached.
    pub fn has_reached_all(&self) -> bool {
        !self.aim.goals().is_empty() && self.aim.open().is_empty()
    }

    /// Tells the strategy of a run that brought nothing and is not remembered.
    pub fn record_quiet(&mut self, origin: Origin, size: u32, cost: RunCost) {
        let (input, bad, hung) = (None, false, false);
        let news =
            ExecutionReport { input, origin, branches: 0, buckets: 0, bad, hung, size, cost };
        self.tell(|strategy, view| strategy.record_execution(view, &news));
    }

    /// Tells the strategy of an input of a resumed campaign: one of the queue, or without a
    /// gain one that only waits to be traced.
    pub fn recall(
        &mut self,
        id: InputId,
        size: usize,
        gain: Option<&Gain>,
        is_bad: bool,
        cost: RunCost,
    ) {
        let news = ExecutionReport {
            input: Some(id),
            origin: if gain.is_some() { Origin::Seed } else { Origin::Recalled },
            branches: gain.map_or(0, |g| g.branches.len() as u32),
            buckets: gain.map_or(0, |g| g.buckets.len() as u32),
            bad: is_bad,
            hung: false,
            size: size as u32,
            cost,
        };
        self.tell(|strategy, view| strategy.record_execution(view, &news));
    }

    /// Writes a crash or a hang beside the queue. Returns the name of its file.
    pub fn keep_bad(
        &mut self,
        kept: Kept,
        candidate: &Candidate,
        what: &str,
        gain: &Gain,
    ) -> String {
        if let Some(sender) = &candidate.sender {
            self.account.count_sync(sender).bad += 1;
        }
        let label = self.label(what, candidate, &Gain::default(), gain);
        let (number, name) = self.corpus.keep(kept, candidate, &label);
        self.record_covered(kept, number, &gain.branches);
        name
    }

    /// Records which branches a kept input took before any other.
    pub fn record_covered(&mut self, kept: Kept, number: u32, branches: &[BranchId]) {
        if !branches.is_empty() {
            let branches = branches.to_vec();
            self.corpus.record(&Record::Covered { kept, number, branches });
        }
    }

    /// What the name of a file says: `what`, how the input was made, and the branch that it
    /// was made for, or else the first of `site` that it took; `+cov` if it covers
    /// something new.
    pub fn label(&self, what: &str, candidate: &Candidate, site: &Gain, covers: &Gain) -> Label {
        let optimistic = candidate.predicted_path().is_some_and(|path| path.optimistic);
        let (how, flipped) = match candidate.origin {
            Origin::Seed => ("op:seed", None),
            Origin::Flip(flip) => {
                let how = if optimistic { "op:optimistic" } else { "op:flip" };
                (how, self.search.branch_of(flip))
            }
            Origin::Mutant(_) => ("op:havoc", None),
            Origin::Graft(_) => ("op:graft", None),
            Origin::Random => ("op:random", None),
            Origin::Derived => ("op:derive", None),
            Origin::Live => ("op:hybrid", None),
            Origin::Recalled => ("op:recovered", None),
            Origin::Imported => ("op:sync", None),
            Origin::Task => ("op:flip", None),
        };
        let branch: Option<BranchId> = flipped.or_else(|| site.branches.first().copied());
        let place = branch.and_then(|b| self.map.place(b));
        let place = place.map(|(file, line)| format!("site:{}:{line}", file_name_part(file)));
        let covers = (!covers.branches.is_empty()).then(|| "+cov".to_string());
        let what = (!what.is_empty()).then(|| what.to_string());
        let parts = what.into_iter().chain([how.to_string()]).chain(place).chain(covers);
        let text = parts.collect::<Vec<_>>().join(",");
        Label { time_ms: self.account.time_ms(), text }
    }

    /// Adds the trace of an input to the search.
    pub fn add_trace(&mut self, mut run: Run, marked: Marked, traced: Arc<Traced>) -> AddedRun {
        let candidate = self.corpus.store.get(run.input);
        if let Some(path) = candidate.as_ref().and_then(|c| divergence::predicted(c, &run)) {
            run.bound = path.decisions.min(run.decisions.len() as u32);
            run.diverged = !divergence::follows(&run, path);
        }
        if let Some(place) = self.find_divergence(&run) {
            self.account.count_divergence(place);
            self.record_gap(Gap::Diverged);
        }
        self.record_folded(&run);
        let Entered { path, is_new, open } = run.finish_entering(&mut self.search.tree, marked);
        if !run.shared && self.is_shared(run.input) {
            // Others have heard of it meanwhile.
            run.share(&mut self.search.tree);
        }
        self.account.stats.paths += u64::from(is_new);
        self.corpus.record(&Record::Traced { input: run.input, open, path });
        let (search, facts) = self.search();
        search.add_run(facts, run, traced)
    }

    /// True if other members of a fleet may know the path of a run, or its beginning: its
    /// input was not made by a flip that this member owns, or left the path of it.
    pub fn is_common(&self, run: &Run, candidate: &Candidate) -> bool {
        let splits_finds = self.mail.as_ref().is_some_and(|mail| mail.split == Split::Finds);
        splits_finds
            && match candidate.origin {
                Origin::Flip(_) => candidate.predicted_path().is_some_and(|path| {
                    path.on_tokens != run.tokens || !divergence::follows(run, path)
                }),
                Origin::Mutant(_) | Origin::Graft(_) | Origin::Random | Origin::Live => true,
                Origin::Derived => candidate.template.is_none(),
                Origin::Imported => candidate.heard.is_none(),
                Origin::Seed | Origin::Recalled | Origin::Task => false,
            }
    }

    /// True for a member of a fleet that splits paths.
    pub fn splits_paths(&self) -> bool {
        self.mail.as_ref().is_some_and(|mail| mail.split == Split::Paths)
    }

    /// True if all members of a fleet know an input.
    pub fn is_shared(&self, input: InputId) -> bool {
        self.mail.as_ref().is_some_and(|mail| mail.is_shared(input))
    }

    /// Where a run left its predicted path, if it did.
    pub fn find_divergence(&self, run: &Run) -> Option<String> {
        let candidate = self.corpus.store.get(run.input)?;
        let path = divergence::left_path(&candidate, run)?;
        Some(divergence::place(run, self.search.runs.get(path.flip.run), path))
    }

    /// An input took another path when it was traced again. Its flips would be solved for
    /// a path that it need not take, so it is counted and not flipped.
    pub fn record_unstable(&mut self, input: InputId) {
        self.account.stats.unstable_paths += 1;
        self.record_gap(Gap::Unstable);
        self.record_untraceable(input);
    }

    /// An input has no usable trace.
    pub fn record_untraceable(&mut self, input: InputId) {
        self.tell(|strategy, view| strategy.record_trace_failure(view, input));
    }

    /// Records something that keeps the search from being exhaustive.
    pub fn record_gap(&mut self, gap: Gap) {
        if self.account.add_gap(gap) {
            let name = gap.name().into_owned();
            self.corpus.record(&Record::Partial(name.clone()));
            self.mail.iter_mut().for_each(|mail| mail.tell_gap(name.clone()));
        }
    }

    /// Records what was learned about branches.
    pub fn record_branch(&mut self, entry: Entry) {
        if self.account.ledger.add(&entry) {
            self.corpus.record(&Record::Branch(entry));
        }
    }

    /// Records which branches a traced run has decided on.
    pub fn record_conditions(&mut self, conditions: Conditions) {
        let Conditions { mut changeable, mut fixed } = conditions;
        let (ledger, covered) = (&self.account.ledger, &self.covered.kept);
        changeable.retain(|&b| !ledger.of(b).conditional && !covered.has(b));
        fixed.retain(|&b| !ledger.of(b).fixed && !covered.has(b));
        if !changeable.is_empty() {
            self.record_branch(Entry::Conditional(changeable));
        }
        if !fixed.is_empty() {
            self.record_branch(Entry::Fixed(fixed));
        }
    }

    /// Brings the statistics up to date.
    pub fn refresh(&mut self) {
        let forgotten = self.search.tree.forgotten();
        let memory = &mut self.account.stats.memory;
        memory.tree = self.search.tree.memory() as u64;
        memory.runs = self.search.runs.memory() as u64;
        (memory.inputs, memory.queue) = self.corpus.store.memory();
        (memory.forgotten, memory.forgotten_refutations) = (forgotten.edges, forgotten.refutations);
        memory.edges_on_disk = self.search.tree.archived() as u64;
        memory.add_up();
        self.account.refresh(&self.map, &self.covered);
    }

    /// Brings the statistics up to date and writes them, with the records so far.
    pub fn write_stats(&mut self) {
        self.refresh();
        self.account.stats.resident = resident_memory();
        self.corpus.flush();
        self.corpus.tend_journal(&mut self.search.tree, self.map.program.branches());
        self.corpus.dir.write_stats(&self.account.stats);
    }
}
