//! What all workers share: the strategy and what it sees, the inputs, the
//! journal and the directory. Workers hold its lock only between runs, to ask
//! for an action and to say what came of it.

use super::corpus::{Dir, Kept, name, piece};
use super::ends::Ends;
use super::growing::Growing;
use super::journal::{InputRecord, Journal, Record};
use super::map::Map;
use super::optimistic::Bets;
use super::patience::Patience;
use super::sizes::Foretold;
use super::stats::{Stats, Stop};
use super::store::{Expect, Known, Store};
use pleach_abi::event::Kind;
use pleach_exec::executor::End;
use pleach_exec::image::is_system_file;
use pleach_search::{
    Action, BranchId, Coverage, Flip, Gain, InputId, InputNews, Mark, Origin, Rng, Run, RunId,
    Runs, Strategy, Tree, Verdict, View,
};
use pleach_template::{Strings, Template};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Instant;

/// Hangs beyond this number are not kept: each costs a run of full length.
const HANGS_KEPT: u64 = 64;

pub struct State {
    pub map: Arc<Map>,
    pub strategy: Box<dyn Strategy>,
    pub rng: Rng,
    pub tree: Tree,
    pub coverage: Coverage,
    /// What the kept crashes and hangs cover. The search does not see it: for a branch
    /// that only a crash took, an input that lives is still worth finding.
    pub crashed: Coverage,
    pub runs: Runs,
    pub store: Store,
    pub dir: Dir,
    pub journal: Journal,
    pub stats: Stats,
    pub crash_ids: HashSet<u64>,
    /// Crashes and hangs by the branches that they took.
    pub ends: Ends,
    /// Runs that were dropped, for workers to drop what they hold of them.
    pub dropped: Vec<RunId>,
    /// Flips under way. A run may be dropped before its flip is answered.
    pub asked: HashMap<Flip, Edge>,
    /// Actions under way.
    pub outstanding: usize,
    /// Why it is over, once it is.
    pub stop: Option<Stop>,
    /// A write that failed: the campaign ends with it.
    pub failed: Option<io::Error>,
    pub began: Instant,
    /// Seconds of the campaign before it was resumed.
    pub before: f64,
    /// The inputs of a resumed campaign are being run again: what they cover together is
    /// not known yet, and the statistics say what they said.
    pub rereading: bool,
    pub last_gain: Instant,
    pub patience: Patience,
    pub growing: Growing,
    pub next_kept: [u32; 3],
    /// What a live run is at, for people.
    pub doing: Option<String>,
    /// By source file: runs that reached it, the last such run, and constraints of
    /// traces from it.
    pub reached: Vec<u64>,
    pub last_reached: Vec<u64>,
    pub constraints: Vec<u64>,
    /// What optimistic inputs cost and brought.
    pub bets: Bets,
    /// What templates are made of, where inputs are strings of a symbolic grammar.
    pub strings: Option<Arc<Strings>>,
}

/// An edge of the tree that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    node: u64,
    /// The input that it is asked of, and the edge that its run took there.
    of: InputId,
    taken: u64,
}

/// An input that was executed on the fast half, with what is to be known of it.
pub struct Executed<'a> {
    pub bytes: &'a [u8],
    pub origin: Origin,
    pub expect: Option<Expect>,
    /// The input that it was made from.
    pub parent: Option<InputId>,
    pub gain: &'a Gain,
    /// It goes into the queue.
    pub keep: bool,
    /// It ended in a crash or a time-out.
    pub bad: bool,
    /// It timed out or hit another limit.
    pub hung: bool,
    pub cost: u32,
    /// The answer that it is the result of, for the journal.
    pub answer: Option<Record>,
    /// What of it may change, if not everything.
    pub template: Option<Arc<Template>>,
    /// What it will decide on lengths, if it was made for that.
    pub foretold: Option<Foretold>,
}

impl State {
    /// The strategy, what it may look at, and its random numbers.
    fn parts(&mut self) -> (&mut dyn Strategy, View<'_>, &mut Rng) {
        let State { strategy, map, coverage, tree, runs, rng, .. } = self;
        (&mut **strategy, View { program: &map.program, coverage, tree, runs }, rng)
    }

    /// The next action of the strategy.
    pub fn next(&mut self) -> Action {
        let (strategy, view, rng) = self.parts();
        let action = strategy.next(&view, rng);
        if let Action::Flip(flip) = action {
            let edge = self.runs.get(flip.run).and_then(|r| {
                let (node, taken) =
                    (r.flipped(flip.at, flip.outcome)?, r.nodes[flip.at as usize + 1]);
                Some(Edge { node, of: r.input, taken })
            });
            if let Some(edge) = edge {
                // No other worker is to ask the same.
                self.tree.set(edge.node, Mark::Asked);
                self.asked.insert(flip, edge);
            }
        }
        action
    }

    /// Milliseconds of the campaign so far.
    pub fn time_ms(&self) -> u64 {
        ((self.before + self.began.elapsed().as_secs_f64()) * 1000.0) as u64
    }

    /// Takes in an input that was executed. Its number, if it has one.
    pub fn executed(&mut self, e: &Executed) -> Option<InputId> {
        // Seeds and the results of flips are traced though they gained nothing. A crash is
        // traced, too, and is kept beside the queue.
        let traced = matches!(e.origin, Origin::Flip(_) | Origin::Seed);
        let gained = e.keep || !e.gain.branches.is_empty();
        let wanted = gained || traced || e.template.is_some();
        let id = wanted.then(|| self.remember(e));
        let news = InputNews {
            input: id,
            origin: e.origin,
            branches: e.gain.branches.len() as u32,
            buckets: e.gain.buckets.len() as u32,
            bad: e.bad,
            hung: e.hung,
            size: e.bytes.len() as u32,
            cost: e.cost,
        };
        if !e.gain.branches.is_empty() {
            self.last_gain = Instant::now();
        }
        self.tell(|strategy, view| strategy.executed(view, &news));
        id
    }

    /// Takes in an input of a campaign that is resumed: one of the queue, or without a gain
    /// one that only waits to be traced.
    pub fn recalled(
        &mut self,
        id: InputId,
        size: usize,
        gain: Option<&Gain>,
        bad: bool,
        cost: u32,
    ) {
        let news = InputNews {
            input: Some(id),
            origin: if gain.is_some() { Origin::Seed } else { Origin::Recalled },
            branches: gain.map_or(0, |g| g.branches.len() as u32),
            buckets: gain.map_or(0, |g| g.buckets.len() as u32),
            bad,
            hung: false,
            size: size as u32,
            cost,
        };
        self.tell(|strategy, view| strategy.executed(view, &news));
    }

    /// An input gets its number, its place in the queue and in the journal.
    fn remember(&mut self, e: &Executed) -> InputId {
        let queue = e.keep.then(|| self.enqueue(e));
        let parent = e.parent.and_then(|p| Some((p, self.store.get(p)?.clone())));
        let (template, foretold) = (e.template.clone(), e.foretold.clone());
        let parents = parent.as_ref().and_then(|(_, known)| known.template.as_ref());
        let own = template.as_ref().filter(|t| !parents.is_some_and(|p| Arc::ptr_eq(t, p)));
        let holes = own.and_then(|own| self.strings.as_ref()?.save(own));
        let known = Known {
            bytes: e.bytes.into(),
            queue,
            crashed: Some(e.bad && !e.hung),
            expect: e.expect,
            template,
            foretold,
            complete: !e.bad,
            uncounted: None,
        };
        let id = self.store.add(known);
        let parent = parent.as_ref().map(|(id, known)| (*id, &known.bytes[..]));
        let record = InputRecord::new(id, queue, e.bytes, parent);
        // In this order, and in one write: see the journal.
        self.journal.add(&Record::Input(record));
        holes.into_iter().for_each(|h| self.journal.add(&Record::Template { input: id, holes: h }));
        e.answer.iter().for_each(|answer| self.journal.add(answer));
        self.flush_if_full();
        id
    }

    /// Puts an input into the queue. Its number there.
    fn enqueue(&mut self, e: &Executed) -> u32 {
        let number = self.next_kept[0];
        let source = e.parent.and_then(|p| self.store.number(p));
        let mut rest = self.origin_of(e);
        if !e.gain.branches.is_empty() {
            rest.push_str(",+cov");
        }
        let name = name(number, source, self.time_ms(), &rest);
        self.dir.keep(Kept::Queue, &name, e.bytes);
        self.next_kept[0] = number + 1;
        self.stats.inputs += 1;
        number
    }

    /// How an input came about, for its name.
    fn origin_of(&self, e: &Executed) -> String {
        let how = match e.origin {
            Origin::Seed => "op:seed",
            Origin::Flip(_) if e.expect.is_some_and(|x| x.optimistic) => "op:optimistic",
            Origin::Flip(_) => "op:flip",
            Origin::Mutant(_) => "op:havoc",
            Origin::Graft(_) => "op:graft",
            Origin::Random => "op:random",
            Origin::Derived => "op:derive",
            Origin::Live => "op:hybrid",
            Origin::Recalled => "op:recovered",
        };
        match self.place_of(e.origin, e.gain) {
            Some(place) => format!("{how},site:{place}"),
            None => how.into(),
        }
    }

    /// Where a new input went that none had gone: the flipped branch, or the
    /// first of those that it covered.
    fn place_of(&self, origin: Origin, gain: &Gain) -> Option<String> {
        let flipped = match origin {
            Origin::Flip(flip) => self.branch_of(flip),
            _ => None,
        };
        let branch = flipped.or_else(|| gain.branches.first().copied())?;
        let (file, line) = self.map.place(branch)?;
        Some(format!("{}:{line}", piece(file)))
    }

    /// The branch that a flip asks for.
    pub fn branch_of(&self, flip: Flip) -> Option<BranchId> {
        self.runs.get(flip.run)?.decisions.get(flip.at as usize)?.branch(flip.outcome)
    }

    /// Keeps a crash or a hang beside the queue, and says under which name.
    pub fn keep_bad(&mut self, kept: Kept, e: &Executed, what: &str, gain: &Gain) -> String {
        let slot = kept as usize;
        let id = self.next_kept[slot];
        self.next_kept[slot] += 1;
        let source = e.parent.and_then(|p| self.store.number(p));
        let mut rest = self.origin_of(e);
        if !what.is_empty() {
            rest = format!("{what},{rest}");
        }
        if !gain.branches.is_empty() {
            rest.push_str(",+cov");
        }
        let name = name(id, source, self.time_ms(), &rest);
        self.dir.keep(kept, &name, e.bytes);
        name
    }

    /// The branches of a crash or a hang that no run took before.
    pub fn new_in_crash(&mut self, counts: &[u8]) -> Gain {
        let mut gain = self.crashed.news(counts);
        gain.branches.retain(|&b| !self.coverage.has(b));
        gain.buckets.clear();
        gain
    }

    /// Adds what a kept crash or hang covers.
    pub fn add_crash(&mut self, counts: &[u8], gain: &mut Gain) {
        self.crashed.add(&self.map.program, counts, gain);
    }

    /// Whether a run has left the path that its input was solved for. Nobody can tell
    /// where the fast half stopped before the end of that path, and a check that fails
    /// there need not be recorded in the symbolic half.
    pub fn has_left(&self, run: &Run) -> bool {
        let crashed = self.store.get(run.input).is_some_and(|k| k.crashed == Some(true));
        let failed = |e: &Expect| e.check && crashed;
        let firm = |e: &Expect| !e.optimistic && e.decisions <= run.shown() && !failed(e);
        self.foretold(run).is_some_and(|e| firm(&e) && !follows(run, &e))
    }

    /// What was foretold of a run.
    fn foretold(&self, run: &Run) -> Option<Expect> {
        let expect = self.store.get(run.input).and_then(|k| k.expect);
        expect.filter(|e| e.tokens == run.tokens)
    }

    /// An input whose path was another when it was traced again. What it decided
    /// once is no promise: its flips would be asked for nothing, and every
    /// answer would bring another such input. So it is counted and left alone.
    pub fn unstable(&mut self, input: InputId) {
        self.stats.unstable_paths += 1;
        self.partial("unstable");
        self.untraceable(input);
    }

    /// Takes in the trace of an input.
    pub fn traced(&mut self, mut run: Run) -> RunId {
        let id = run.input;
        if let Some(e) = self.foretold(&run) {
            run.bound = e.decisions.min(run.decisions.len() as u32);
            let left = !follows(&run, &e);
            if self.has_left(&run) {
                self.stats.diverged += 1;
                let place = where_left(&run, self.runs.get(e.flip.run), &e);
                *self.stats.diverged_at.entry(place).or_default() += 1;
                self.partial("diverged");
            }
            run.diverged = left;
        }
        self.record_folded(&run);
        let new = run.enter(&mut self.tree);
        self.stats.paths += u64::from(new);
        let open = run.open(&self.tree, 0).count() as u32;
        self.record(&Record::Traced { input: id, open, path: run.path() });
        let (run, dropped) = self.runs.add(run);
        self.dropped.extend(dropped);
        self.tell(|strategy, view| strategy.traced(view, run));
        run
    }

    /// An input cannot be traced.
    pub fn untraceable(&mut self, input: InputId) {
        self.tell(|strategy, view| strategy.untraceable(view, input));
    }

    /// A flip was answered: marks the tree, and tells the strategy. What the
    /// journal is to say of it, once its result is there.
    pub fn answered(&mut self, flip: Flip, verdict: Verdict) -> Option<Record> {
        let mark = match verdict {
            Verdict::Sat => Some(Mark::Sat),
            Verdict::Optimistic => Some(Mark::Optimistic),
            Verdict::Unsat => Some(Mark::Unsat),
            Verdict::Unknown => Some(Mark::Unknown),
            Verdict::Gone => None,
        };
        let record = self.asked.remove(&flip).and_then(|Edge { node, of, taken }| match mark {
            Some(mark) => {
                self.tree.set(node, mark);
                Some(Record::Flip { node, mark, of, taken })
            }
            None => {
                self.tree.withdraw(node);
                None
            }
        });
        self.tell(|strategy, view| strategy.answered(view, flip, verdict));
        record
    }

    /// Whether a run that took too long is to be looked at, and kept if it does. One that
    /// was given up takes a second run.
    pub fn is_new_hang(&mut self, end: &End, counts: &[u8], given_up: bool) -> bool {
        self.stats.hangs < HANGS_KEPT
            && (!given_up || self.patience.allows_second())
            && self.ends.is_new(end, counts)
    }

    /// Notes something that keeps the search from being exhaustive.
    pub fn partial(&mut self, what: &str) {
        match self.stats.partial.get_mut(what) {
            Some(n) => *n += 1,
            None => {
                self.stats.partial.insert(what.into(), 1);
                self.record(&Record::Partial(what.into()));
            }
        }
    }

    pub fn record(&mut self, record: &Record) {
        self.journal.add(record);
        self.flush_if_full();
    }

    fn flush_if_full(&mut self) {
        if self.journal.is_full() {
            let result = self.journal.flush();
            self.check(result);
        }
    }

    /// A write that failed ends the campaign.
    pub fn check(&mut self, result: io::Result<()>) {
        if let Err(error) = result
            && self.failed.is_none()
        {
            self.failed = Some(error);
        }
    }

    /// Counts which source files a run reached.
    pub fn reach(&mut self, counts: &[u8]) {
        let State { map, reached, last_reached, stats, .. } = self;
        map.reached(counts, |file| {
            if last_reached[file] != stats.runs {
                last_reached[file] = stats.runs;
                reached[file] += 1;
            }
        });
    }

    /// Counts what a trace was made of.
    pub fn constrained(&mut self, variables: u64, run: &Run) {
        self.stats.symbolic.variables += variables;
        self.stats.symbolic.constraints += run.decisions.len() as u64;
        self.stats.symbolic.left_out += run.left_out;
        for decision in &run.decisions {
            let branch = decision.branch(decision.outcome);
            if let Some(file) = branch.and_then(|b| self.map.file_of(b)) {
                self.constraints[file] += 1;
            }
        }
    }

    /// Says something that people should know, once.
    pub fn note(&mut self, note: String) {
        if !self.stats.notes.contains(&note) {
            self.stats.notes.push(note);
        }
    }

    /// The statistics, brought up to date.
    pub fn refresh(&mut self) {
        self.stats.time_s.total = self.before + self.began.elapsed().as_secs_f64();
        if self.rereading {
            return;
        }
        let program = &self.map.program;
        let s = &mut self.stats;
        let coverage = self.coverage.with(&self.crashed, program);
        s.unstable = (self.coverage.doubted() + self.crashed.doubted()) as u64;
        s.branches.covered = coverage.covered() as u64;
        s.branches.reachable = coverage.reachable(program) as u64;
        s.functions.reached = coverage.functions_reached(program) as u64;
        let files = self.map.files().iter().zip(self.map.covered(&coverage));
        for (i, (name, (branches, covered))) in files.enumerate() {
            if is_system_file(name) {
                continue;
            }
            let reached = self.reached.get(i).copied().unwrap_or_default();
            let module = super::stats::Module { branches, covered, reached };
            s.modules.insert(name.clone(), module);
            if let Some(&n) = self.constraints.get(i).filter(|n| **n > 0) {
                s.symbolic.by_module.insert(name.clone(), n);
            }
        }
    }

    fn tell(&mut self, f: impl FnOnce(&mut dyn Strategy, &View)) {
        let (strategy, view, _) = self.parts();
        f(strategy, &view);
    }
}

/// True if a run ended by itself, and badly. A run that grew beyond its memory did, as
/// far as anybody can tell.
pub fn is_crash(end: &End) -> bool {
    matches!(end, End::Signal(_) | End::Lost(_) | End::Memory)
}

/// The limit that ended a run, as `partial` lists it.
pub fn limit_of(end: &End) -> Option<&'static str> {
    match end {
        End::Exit(_) | End::Signal(_) => None,
        End::Timeout => Some("timed out"),
        End::Memory => Some("out of memory"),
        End::Output => Some("too much output"),
        End::Processes => Some("too many processes"),
        End::Lost(_) => Some("fork server lost"),
    }
}

/// Whether a run went where it was foretold.
fn follows(run: &Run, expect: &Expect) -> bool {
    run.nodes.get(expect.decisions as usize) == Some(&expect.node)
}

/// What kind of decision a run left the path foretold for it with, and whether it
/// was the one that was flipped or an earlier one. `parent` is the run that was
/// flipped, if it is still known.
fn where_left(run: &Run, parent: Option<&Run>, expect: &Expect) -> String {
    let Some(parent) = parent else { return "forgotten".into() };
    let agreed = run.shared(parent) as usize;
    if run.decisions.len() == agreed && agreed < expect.decisions as usize {
        return "ended early".into();
    }
    let when = if agreed < expect.flip.at as usize { "earlier " } else { "" };
    let kind = parent.decisions.get(agreed.min(expect.flip.at as usize)).map(|d| d.kind);
    kind.map_or("ended early".into(), |kind| format!("{when}{kind:?}").to_lowercase())
}

/// Whether a kind of decision, when flipped, shows up as another decision.
pub fn changes_key(kind: Kind) -> bool {
    matches!(kind, Kind::Indirect | Kind::Pin)
}
