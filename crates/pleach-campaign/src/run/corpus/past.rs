//! Restores a campaign that is resumed, from its journal and its files.
//!
//! Of the tree it restores the edges that flips asked for and, beside each, the edge that the
//! flipped run took there. Other edges come back when their inputs are traced again. A run
//! whose flips were all answered is not traced again. So another run may ask for an edge that
//! it took; that only finds a known path once more.

use super::dir::{Dir, From, Kept, file_name};
use super::edges::EdgeFile;
use super::journal::{InputRecord, Journal, Record, Totals};
use super::scratch::Scratch;
use super::store::Store;
use crate::run::account::{Flips, Ledger, Stats};
use crate::run::exchange::AllTaken;
use crate::run::memory::Shares;
use crate::run::ring::Candidate;
use pleach_search::{BranchId, InputId, Mark, Tree};
use pleach_template::{Strings, Template};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

/// An input that a campaign starts from.
pub enum Seed {
    /// It was given by the user or generated, and was not run yet.
    New(Vec<u8>),
    /// An input of the campaign that is resumed.
    Recalled(InputId, FirstTaken),
    /// A crash or a hang of that campaign: its directory, and its number there.
    Bad((Kept, u32), Vec<u8>, FirstTaken),
}

impl Seed {
    /// The branches that it is known to have taken before any other.
    pub fn first_taken(&self) -> &[BranchId] {
        match self {
            Seed::New(_) => &[],
            Seed::Recalled(_, first) | Seed::Bad(_, _, first) => first,
        }
    }
}

/// The branches that an input took before any other. They stay covered, also if the machine
/// is too busy to show them again.
pub type FirstTaken = Vec<BranchId>;

/// What is restored of a campaign; nothing, for a new one.
pub struct Past {
    pub journal: Journal,
    /// How many records the journal has.
    pub records: u64,
    pub tree: Tree,
    pub store: Store,
    pub stats: Stats,
    pub crash_ids: HashSet<u64>,
    /// What was learned about branches.
    pub ledger: Ledger,
    pub next_number: [u32; 3],
    /// The inputs to start from: the queue, inputs that were never traced or have open flips,
    /// crashes and hangs, and seeds that were not run.
    pub seeds: Vec<Seed>,
    /// The files of other fuzzers that were run.
    pub taken: AllTaken,
}

/// What the past of a campaign is restored for.
pub struct Needs<'a> {
    pub shares: &'a Shares,
    pub strings: Option<Arc<Strings>>,
    /// The search should be exhaustive: what does not fit in memory goes to disk.
    pub keeps_all: bool,
    /// The number of branches of the program.
    pub branches: usize,
}

impl Needs<'_> {
    fn scratch(&self, dir: &Dir) -> Scratch {
        Scratch { dir: dir.path.clone(), disk: dir.disk.clone() }
    }

    fn tree(&self, dir: &Dir) -> Tree {
        let mut tree = Tree::new(self.shares.tree);
        if self.keeps_all {
            tree.set_archive(Arc::new(EdgeFile::new(self.scratch(dir))));
        }
        tree
    }
}

impl Past {
    /// The past of a new campaign.
    pub fn new(dir: &Dir, needs: &Needs, journal: Journal) -> Past {
        let (scratch, strings) = (Some(needs.scratch(dir)), needs.strings.clone());
        Past {
            journal,
            records: 0,
            tree: needs.tree(dir),
            store: Store::new(needs.shares, scratch, strings, needs.keeps_all),
            stats: Stats::default(),
            crash_ids: HashSet::new(),
            ledger: Ledger::new(needs.branches),
            next_number: [0; 3],
            seeds: Vec::new(),
            taken: AllTaken::new(),
        }
    }

    /// Restores the campaign of a directory.
    pub fn read(dir: &Dir, needs: &Needs) -> io::Result<Past> {
        let mut replayed = Replayed {
            strings: needs.strings.as_deref(),
            tree: needs.tree(dir),
            ledger: Ledger::new(needs.branches),
            ..Replayed::default()
        };
        let journal = Journal::open(&dir.journal(), dir.disk.clone(), |r| replayed.apply(r))?;
        let mut past = Past {
            stats: dir.read_stats().unwrap_or_default(),
            records: replayed.records,
            tree: std::mem::take(&mut replayed.tree),
            ledger: std::mem::take(&mut replayed.ledger),
            crash_ids: std::mem::take(&mut replayed.crash_ids),
            taken: std::mem::take(&mut replayed.taken),
            ..Past::new(dir, needs, journal)
        };
        past.store.skip_ids(replayed.next_input);
        past.stats.partial.retain(|what, _| what != "dropped");
        for what in replayed.gaps.drain(..) {
            past.stats.partial.entry(what).or_insert(1);
        }
        past.stats.paths = past.tree.paths() as u64 + replayed.paths;
        past.stats.flips = Flips {
            cached: past.stats.flips.cached,
            by_tier: std::mem::take(&mut past.stats.flips.by_tier),
            time_by_tier: std::mem::take(&mut past.stats.flips.time_by_tier),
            ..std::mem::take(&mut replayed.flips)
        };
        let queue = dir.read_inputs(Kept::Queue)?;
        let crashes = dir.read_inputs(Kept::Crash)?;
        let hangs = dir.read_inputs(Kept::Hang)?;
        // The statistics may be older than the files.
        past.stats.inputs = queue.len() as u64;
        past.stats.crashes = past.crash_ids.len() as u64;
        past.stats.hangs = hangs.len() as u64;
        for (slot, kept) in [&queue, &crashes, &hangs].into_iter().enumerate() {
            past.next_number[slot] = kept.last().map_or(0, |(id, _)| id + 1);
        }
        past.add_inputs(&mut replayed);
        past.add_unknown_files(&replayed, &queue);
        past.write_missing_files(&replayed, &queue, dir);
        for (kept, inputs) in [(Kept::Crash, crashes), (Kept::Hang, hangs)] {
            past.seeds.extend(inputs.into_iter().map(|(number, bytes)| {
                Seed::Bad((kept, number), bytes, replayed.first_taken(kept, number))
            }));
        }
        // A seed may be in the queue before the journal says that it was run.
        let rest = replayed.seeds.into_iter().skip(replayed.seeds_run);
        let new = rest.filter(|seed| !queue.iter().any(|(_, bytes)| bytes == seed));
        past.seeds.extend(new.map(Seed::New));
        Ok(past)
    }

    /// Adds the inputs of the journal that are in the queue, or were not traced, or have open
    /// flips.
    fn add_inputs(&mut self, replayed: &mut Replayed) {
        for (id, number) in &replayed.order {
            if number.is_none() && replayed.open_flips.get(id).is_some_and(|&n| n <= 0) {
                continue;
            }
            let Some(bytes) = replayed.bytes.remove(id) else { continue };
            let template = replayed.templates.remove(id);
            let first = number.and_then(|n| replayed.covered.remove(&(Kept::Queue, n)));
            self.store.insert(*id, Candidate::recalled(bytes, *number, template));
            self.seeds.push(Seed::Recalled(*id, first.unwrap_or_default()));
        }
    }

    /// Adds files of the queue that are not in the journal: they were written just before the
    /// campaign ended, or another fuzzer put them there.
    fn add_unknown_files(&mut self, replayed: &Replayed, queue: &[(u32, Vec<u8>)]) {
        let known: HashSet<u32> = replayed.order.iter().filter_map(|(_, number)| *number).collect();
        for (number, bytes) in queue.iter().filter(|(number, _)| !known.contains(number)) {
            let id = self.store.next_id();
            self.store.insert(id, Candidate::recalled(bytes[..].into(), Some(*number), None));
            let record = InputRecord::new(id, Some(*number), bytes, None);
            self.journal.add(&Record::Input(record));
            self.seeds.push(Seed::Recalled(id, FirstTaken::new()));
        }
    }

    /// Writes inputs of the queue that are only in the journal: the driver died before it
    /// wrote their files.
    fn write_missing_files(&mut self, replayed: &Replayed, queue: &[(u32, Vec<u8>)], dir: &Dir) {
        let existing: HashSet<u32> = queue.iter().map(|(number, _)| *number).collect();
        for (id, number) in &replayed.order {
            let Some(number) = number.filter(|n| !existing.contains(n)) else { continue };
            if let Some(input) = self.store.get(*id) {
                dir.keep(
                    Kept::Queue,
                    &file_name(number, From::Nothing, 0, "op:recovered"),
                    &input.bytes,
                );
                self.stats.inputs += 1;
                self.next_number[0] = self.next_number[0].max(number + 1);
            }
        }
    }
}

/// The sum of the records of a journal.
#[derive(Default)]
struct Replayed<'a> {
    /// Needed to rebuild templates.
    strings: Option<&'a Strings>,
    records: u64,
    tree: Tree,
    ledger: Ledger,
    crash_ids: HashSet<u64>,
    gaps: Vec<String>,
    covered: HashMap<(Kept, u32), FirstTaken>,
    taken: AllTaken,
    templates: HashMap<InputId, Arc<Template>>,
    bytes: HashMap<InputId, Arc<[u8]>>,
    /// The inputs, in order, and their numbers in the queue.
    order: Vec<(InputId, Option<u32>)>,
    next_input: InputId,
    /// How many flips of an input are open. An input without a number was never traced.
    open_flips: HashMap<InputId, i64>,
    seeds: Vec<Vec<u8>>,
    /// How many of the seeds were run.
    seeds_run: usize,
    flips: Flips,
    /// Paths that a compacted journal only counts.
    paths: u64,
}

impl Replayed<'_> {
    fn apply(&mut self, record: Record) {
        self.records += 1;
        match record {
            Record::Flip { node, mark, of, taken } => {
                self.answer(node, mark, taken);
                self.count_answers(mark, 1);
                *self.open_flips.entry(of).or_default() -= 1;
            }
            Record::Answers(answers) => {
                for [asked, taken] in answers {
                    // A mark that is not known would be one of a later version.
                    let mark = Mark::from_u8((asked & 15) as u8).unwrap_or(Mark::Unknown);
                    self.answer(asked, mark, taken);
                }
            }
            Record::Input(input) => {
                let parent = input.parent.and_then(|p| self.bytes.get(&p)).cloned();
                if let Some(bytes) = input.bytes(parent.as_deref().unwrap_or(&[])) {
                    self.bytes.insert(input.id, bytes.into());
                    let inherited = input.parent.and_then(|p| self.templates.get(&p)).cloned();
                    inherited.into_iter().for_each(|t| _ = self.templates.insert(input.id, t));
                    self.order.push((input.id, input.queue));
                }
                self.next_input = self.next_input.max(input.id.saturating_add(1));
            }
            Record::Traced { input, open, path } => {
                self.open_flips.insert(input, open.into());
                self.tree.end(path);
            }
            Record::Open { input, flips } => _ = self.open_flips.insert(input, flips.into()),
            Record::Paths(paths) => paths.into_iter().for_each(|path| _ = self.tree.end(path)),
            Record::Crash { hash } => _ = self.crash_ids.insert(hash),
            Record::Partial(what) => self.gaps.push(what),
            Record::Branch(entry) => _ = self.ledger.add(&entry),
            Record::Covered { kept, number, branches } => {
                self.covered.entry((kept, number)).or_default().extend(branches);
            }
            Record::Tally(branch, tally) => self.ledger.set(branch, tally),
            Record::Seed(bytes) => self.seeds.push(bytes),
            Record::SeedRun => self.seeds_run += 1,
            Record::Taken(file) => self.taken.entry(file.place).or_default().add(file.mark),
            Record::Template { input, holes } => {
                let bytes = self.bytes.get(&input);
                let template = bytes.and_then(|bytes| self.strings?.load_template(&holes, bytes));
                match template {
                    Some(template) => _ = self.templates.insert(input, Arc::new(template)),
                    None => _ = self.templates.remove(&input),
                }
            }
            Record::Compacted(Totals { records, next_input, answers, paths }) => {
                self.records += records;
                self.next_input = self.next_input.max(next_input);
                self.paths += paths;
                for (mark, count) in (0..).zip(answers) {
                    Mark::from_u8(mark).into_iter().for_each(|m| self.count_answers(m, count));
                }
            }
        }
    }

    fn first_taken(&mut self, kept: Kept, number: u32) -> FirstTaken {
        self.covered.remove(&(kept, number)).unwrap_or_default()
    }

    fn answer(&mut self, asked: u64, mark: Mark, taken: u64) {
        self.tree.set(asked, mark);
        self.tree.set(taken, Mark::Taken);
    }

    fn count_answers(&mut self, mark: Mark, count: u64) {
        let flips = &mut self.flips;
        flips.asked += count;
        match mark {
            Mark::Sat => flips.sat += count,
            Mark::Unsat => flips.unsat += count,
            Mark::Optimistic => flips.optimistic += count,
            _ => flips.unknown += count,
        }
    }
}
