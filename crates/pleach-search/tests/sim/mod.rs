//! A simulated campaign. A program is a closure, its *domain* is the list of all its
//! inputs, and the solver searches the domain, so every answer is exact. Tree, coverage and
//! strategies are the real ones.
//!
//! Write a [`Subject`], run [`search`] on it, and check the [`Outcome`].

use pleach_abi::event::Kind;
use pleach_search::*;
use std::collections::{HashMap, HashSet, VecDeque};

pub type Input = Vec<u8>;
type Body = Box<dyn Fn(&mut Path, &[u8])>;
type Solve = Box<dyn Fn(&[u8], &Decision, u32, u32) -> Answer>;

/// A program and its inputs.
pub struct Subject {
    pub shape: Program,
    body: Body,
    pub seeds: Vec<Input>,
    /// Inputs that ran before the search. The search sees only what they covered.
    covered: Vec<Input>,
    /// A mutation puts bytes of this alphabet at one or two positions.
    alphabet: Vec<u8>,
    domain: Vec<Input>,
    /// For each node of the tree, the inputs of the domain that pass it.
    passing: HashMap<u64, Vec<u32>>,
    solve: Option<Solve>,
}

/// The answer of a subject's own solver.
pub enum Answer {
    Input(Input),
    Unsat,
    Unknown,
}

/// One run of a program. The body of a subject calls its methods.
#[derive(Default)]
pub struct Path {
    pub decisions: Vec<Decision>,
    taken: Vec<BranchId>,
    pub aborted: bool,
}

impl Path {
    /// Takes a branch at a site. Its sides are `2 * site` (true) and `2 * site + 1`.
    /// Returns `taken`.
    pub fn branch(&mut self, site: u32, taken: bool) -> bool {
        let d = Decision::new(u64::from(site), Kind::Branch, u32::from(taken), 2).at(2 * site);
        self.taken.extend(d.branch(d.outcome));
        self.decisions.push(d);
        taken
    }

    /// Takes a branch that has no label in the trace. It is covered, but cannot be flipped.
    pub fn opaque(&mut self, site: u32, taken: bool) -> bool {
        self.taken.push(2 * site + u32::from(!taken));
        taken
    }

    /// Makes a decision that is not a branch: a comparison inside a libc model.
    pub fn compare(&mut self, key: u64, equal: bool) -> bool {
        self.decisions.push(Decision::new(1 << 32 | key, Kind::Model, u32::from(equal), 2));
        equal
    }

    pub fn abort(&mut self) {
        self.aborted = true;
    }
}

impl Subject {
    /// A program of one function with this number of sites and no static graph.
    pub fn flat(sites: u32, body: impl Fn(&mut Path, &[u8]) + 'static) -> Subject {
        let site =
            |s| SiteShape { first: 2 * s, sides: 2, block: s, targets: vec![], counts: true };
        let f = FunctionShape {
            blocks: vec![vec![]; sites as usize],
            sites: (0..sites).map(site).collect(),
            ..FunctionShape::default()
        };
        Subject::new(Program::new(vec![f], []), body)
    }

    pub fn new(shape: Program, body: impl Fn(&mut Path, &[u8]) + 'static) -> Subject {
        Subject {
            shape,
            body: Box::new(body),
            seeds: Vec::new(),
            covered: Vec::new(),
            alphabet: vec![0, 1],
            domain: Vec::new(),
            passing: HashMap::new(),
            solve: None,
        }
    }

    /// Sets the domain: all inputs with one byte of each alphabet. The first is the seed.
    pub fn over(mut self, alphabets: &[&[u8]]) -> Subject {
        self.domain = vec![vec![]];
        for alphabet in alphabets {
            let longer = self.domain.iter().flat_map(|input| {
                alphabet.iter().map(move |&b| input.iter().copied().chain([b]).collect())
            });
            self.domain = longer.collect();
        }
        let mut bytes: Vec<u8> = alphabets.concat();
        bytes.sort();
        bytes.dedup();
        self.alphabet = bytes;
        for (i, input) in self.domain.iter().enumerate() {
            for &node in &Run::new(0, self.path(input).decisions).nodes[1..] {
                self.passing.entry(node).or_default().push(i as u32);
            }
        }
        self.seeds = vec![self.domain[0].clone()];
        self
    }

    /// Sets the seeds.
    pub fn seed(mut self, seeds: &[&[u8]]) -> Subject {
        self.seeds = seeds.iter().map(|s| s.to_vec()).collect();
        self
    }

    /// Sets the bytes that mutation uses.
    pub fn mutated_with(mut self, alphabet: &[u8]) -> Subject {
        self.alphabet = alphabet.to_vec();
        self
    }

    /// Sets inputs that ran before the search.
    pub fn covered_by(mut self, inputs: &[&[u8]]) -> Subject {
        self.covered = inputs.iter().map(|s| s.to_vec()).collect();
        self
    }

    /// Sets a solver, for programs whose domain is too large for a list. It gets the input of
    /// the run, the decision, its position and the outcome that it is to have.
    pub fn solved_by(
        mut self,
        solve: impl Fn(&[u8], &Decision, u32, u32) -> Answer + 'static,
    ) -> Subject {
        self.solve = Some(Box::new(solve));
        self
    }

    pub fn path(&self, input: &[u8]) -> Path {
        let mut path = Path::default();
        (self.body)(&mut path, input);
        path
    }

    fn counts(&self, path: &Path) -> Vec<u8> {
        let mut counts = vec![0u8; self.shape.branches()];
        for &branch in &path.taken {
            let count = &mut counts[branch as usize];
            *count = count.saturating_add(1);
        }
        counts
    }

    /// The number of distinct paths over the domain.
    pub fn paths(&self) -> usize {
        let end = |i: &Input| Run::new(0, self.path(i).decisions).nodes.last().copied();
        self.domain.iter().map(end).collect::<HashSet<_>>().len()
    }

    /// The number of branches that some input of the domain takes.
    pub fn feasible(&self) -> usize {
        self.domain.iter().flat_map(|i| self.path(i).taken).collect::<HashSet<_>>().len()
    }
}

/// The limits of a simulated search, and the faults that it injects.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The search stops after this many executions on the fast half.
    pub runs: usize,
    pub workers: usize,
    /// Runs are dropped beyond this many bytes.
    pub memory: usize,
    pub seed: u64,
    /// Every n-th flip gets the verdict [`Verdict::Gone`].
    pub gone: Option<usize>,
    /// Every n-th trace fails.
    pub untraceable: Option<usize>,
    /// Stop at the first input that aborts.
    pub until_abort: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            runs: 100_000,
            workers: 1,
            memory: 1 << 30,
            seed: 1,
            gone: None,
            untraceable: None,
            until_abort: false,
        }
    }
}

/// The result of a search.
#[derive(Default)]
pub struct Outcome {
    /// True if the strategy had nothing left to do.
    pub ended: bool,
    pub aborted: bool,
    pub runs: usize,
    pub traces: usize,
    pub mutants: usize,
    pub covered: usize,
    pub paths: usize,
    pub left_out: u64,
    pub actions: Vec<Action>,
    /// The key and outcome of every flip, in order.
    pub flips: Vec<(u64, u32)>,
}

struct World<'a> {
    subject: &'a Subject,
    limits: Limits,
    coverage: Coverage,
    tree: Tree,
    runs: Runs,
    inputs: Vec<(Input, Option<Flip>)>,
    rng: Rng,
    asked: usize,
    derived: u32,
    keeps_hit_counts: bool,
    out: Outcome,
}

/// Runs a strategy, given by name, on a subject.
pub fn search(subject: &Subject, strategy: &str, limits: Limits) -> Outcome {
    let descriptor = find(strategy).expect("the strategy is listed");
    let mut strategy = descriptor.make(Options::default());
    let mut world = World {
        subject,
        limits,
        coverage: Coverage::new(&subject.shape),
        tree: Tree::default(),
        runs: Runs::new(limits.memory),
        inputs: Vec::new(),
        rng: Rng::new(limits.seed ^ 0xabcd),
        asked: 0,
        derived: 0,
        keeps_hit_counts: descriptor.keeps_hit_counts,
        out: Outcome::default(),
    };
    world.go(strategy.as_mut());
    world.out.covered = world.coverage.covered();
    world.out.paths = world.tree.paths();
    world.out.left_out = strategy.left_out();
    assert!(!strategy.doing().is_empty());
    world.out
}

impl World<'_> {
    fn view(&self) -> View<'_> {
        View {
            program: &self.subject.shape,
            coverage: &self.coverage,
            tree: &self.tree,
            runs: &self.runs,
        }
    }

    fn go(&mut self, strategy: &mut dyn Strategy) {
        let mut rng = Rng::new(self.limits.seed);
        for input in &self.subject.covered {
            let counts = Counts::from_all(&self.subject.counts(&self.subject.path(input)));
            let mut gain = self.coverage.news(&counts);
            self.coverage.add(&self.subject.shape, &counts, &mut gain);
        }
        for seed in &self.subject.seeds {
            self.execute(strategy, seed.clone(), Origin::Seed);
        }
        // Actions under way, and for a flip the node that it should reach and its run.
        let mut busy: VecDeque<(Action, Option<(u64, Run)>)> = VecDeque::new();
        while self.out.runs < self.limits.runs && !(self.limits.until_abort && self.out.aborted) {
            while busy.len() < self.limits.workers {
                let action = strategy.next(&self.view(), &mut rng);
                if action == Action::Wait {
                    break;
                }
                self.out.actions.push(action);
                let flip = match action {
                    Action::Flip(flip) => self.ask(flip),
                    _ => None,
                };
                busy.push_back((action, flip));
            }
            let Some((action, flip)) = busy.pop_front() else {
                self.out.ended = true;
                return;
            };
            match action {
                Action::Trace(input) => self.trace(strategy, input, false),
                Action::TraceTokens(input) => self.trace(strategy, input, true),
                Action::Flip(at) => self.flip(strategy, at, flip),
                Action::Mutate { input, count } => self.mutate(strategy, input, count),
                Action::Graft { input, count } => {
                    for _ in 0..count {
                        let child = self.random();
                        self.execute(strategy, child, Origin::Graft(input));
                    }
                }
                Action::Random => {
                    let input = self.random();
                    self.execute(strategy, input, Origin::Random);
                }
                // The grammar derives three inputs.
                Action::Derive if self.derived < 3 => {
                    self.derived += 1;
                    let input = self.random();
                    self.execute(strategy, input, Origin::Derived);
                }
                Action::Derive => strategy.record_grammar_exhausted(),
                Action::Wait | Action::Live => {}
            }
        }
    }

    fn ask(&mut self, flip: Flip) -> Option<(u64, Run)> {
        self.asked += 1;
        if self.limits.gone.is_some_and(|n| self.asked.is_multiple_of(n)) {
            return None;
        }
        let run = self.runs.get(flip.run)?;
        let node = run.flipped(flip.at, flip.outcome).expect("a decision of the run");
        self.tree.set(node, Mark::Asked);
        self.out.flips.push((run.decisions[flip.at as usize].key, flip.outcome));
        Some((node, run.clone()))
    }

    fn flip(&mut self, strategy: &mut dyn Strategy, flip: Flip, asked: Option<(u64, Run)>) {
        let Some((node, run)) = asked else {
            return strategy.record_verdict(&self.view(), flip, Verdict::Gone);
        };
        let parent = &self.inputs[run.input as usize].0;
        let decision = &run.decisions[flip.at as usize];
        let found = match &self.subject.solve {
            Some(solve) => match solve(parent, decision, flip.at, flip.outcome) {
                Answer::Input(input) => Some(input),
                Answer::Unsat => None,
                Answer::Unknown => {
                    self.tree.set(node, Mark::Unknown);
                    return strategy.record_verdict(&self.view(), flip, Verdict::Unknown);
                }
            },
            None => {
                let differs = |i: &Input| i.iter().zip(parent).filter(|(a, b)| a != b).count();
                let passing = self.subject.passing.get(&node).map_or(&[][..], |p| p);
                let inputs = passing.iter().map(|&i| &self.subject.domain[i as usize]);
                inputs.min_by_key(|i| differs(i)).cloned()
            }
        };
        match found {
            None => {
                self.tree.set(node, Mark::Unsat);
                strategy.record_verdict(&self.view(), flip, Verdict::Unsat);
            }
            Some(input) => {
                self.tree.set(node, Mark::Sat);
                strategy.record_verdict(&self.view(), flip, Verdict::Sat);
                self.execute(strategy, input, Origin::Flip(flip));
            }
        }
    }

    fn execute(&mut self, strategy: &mut dyn Strategy, input: Input, origin: Origin) {
        self.out.runs += 1;
        let path = self.subject.path(&input);
        let counts = Counts::from_all(&self.subject.counts(&path));
        let mut gain = self.coverage.news(&counts);
        self.coverage.add(&self.subject.shape, &counts, &mut gain);
        self.out.aborted |= path.aborted;
        let kept = matches!(origin, Origin::Seed | Origin::Flip(_) | Origin::Derived)
            || !gain.branches.is_empty()
            || !gain.buckets.is_empty() && self.keeps_hit_counts;
        let size = input.len() as u32;
        let id = kept.then(|| {
            let from = if let Origin::Flip(flip) = origin { Some(flip) } else { None };
            self.inputs.push((input, from));
            self.inputs.len() as InputId - 1
        });
        let news = ExecutionReport {
            input: id,
            origin,
            branches: gain.branches.len() as u32,
            buckets: gain.buckets.len() as u32,
            bad: path.aborted,
            hung: false,
            size,
            cost: RunCost { work: 50, fixed: 60 },
        };
        strategy.record_execution(&self.view(), &news);
    }

    fn trace(&mut self, strategy: &mut dyn Strategy, input: InputId, tokens: bool) {
        self.out.traces += 1;
        if self.limits.untraceable.is_some_and(|n| self.out.traces.is_multiple_of(n)) {
            return strategy.record_trace_failure(&self.view(), input);
        }
        let (bytes, from) = &self.inputs[input as usize];
        let mut run = Run::new(input, self.subject.path(bytes).decisions);
        run.tokens = tokens;
        run.bound = from.map_or(0, |f| f.at + 1);
        run.enter(&mut self.tree);
        let (id, _) = self.runs.add(run);
        strategy.record_trace(&self.view(), id);
    }

    fn mutate(&mut self, strategy: &mut dyn Strategy, input: InputId, count: u32) {
        for _ in 0..count {
            let mut mutant = self.inputs[input as usize].0.clone();
            for _ in 0..=self.rng.below(2) {
                let at = self.rng.below(mutant.len());
                let byte = self.rng.pick(&self.subject.alphabet).copied();
                if let (Some(place), Some(byte)) = (mutant.get_mut(at), byte) {
                    *place = byte;
                }
            }
            self.out.mutants += 1;
            self.execute(strategy, mutant, Origin::Mutant(input));
        }
    }

    fn random(&mut self) -> Input {
        let len = self.subject.seeds[0].len();
        (0..len).filter_map(|_| self.rng.pick(&self.subject.alphabet).copied()).collect()
    }
}
