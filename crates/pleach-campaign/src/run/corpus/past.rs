//! Restores a campaign that is resumed, from its journal and its files.
//!
//! Of the tree it restores the edges that flips asked for and, beside each, the edge that the
//! flipped run took there. Other edges come back when their inputs are traced again. A run
//! whose flips were all answered is not traced again. So another run may ask for an edge that
//! it took; that only finds a known path once more.

use super::dir::{Dir, From, Kept, file_name};
use super::journal::{InputRecord, Journal, Record};
use super::store::Store;
use crate::run::account::{Entry, Flips, Stats};
use crate::run::exchange::AllTaken;
use crate::run::memory::Shares;
use crate::run::ring::Candidate;
use pleach_search::{InputId, Mark, Tree};
use pleach_template::{Strings, Template};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

/// An input that a campaign starts from.
pub enum Seed {
    /// It was given by the user or generated, and was not run yet.
    New(Vec<u8>),
    /// An input of the campaign that is resumed.
    Recalled(InputId),
    /// A crash or a hang of that campaign.
    Bad(Kept, Vec<u8>),
}

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
    pub entries: Vec<Entry>,
    pub next_number: [u32; 3],
    /// The inputs to start from: the queue, inputs that were never traced or have open flips,
    /// crashes and hangs, and seeds that were not run.
    pub seeds: Vec<Seed>,
    /// The files of other fuzzers that were run.
    pub taken: AllTaken,
}

impl Past {
    /// The past of a new campaign.
    pub fn new(journal: Journal, shares: &Shares) -> Past {
        Past {
            journal,
            records: 0,
            tree: Tree::new(shares.tree),
            store: Store::new(shares.inputs),
            stats: Stats::default(),
            crash_ids: HashSet::new(),
            entries: Vec::new(),
            next_number: [0; 3],
            seeds: Vec::new(),
            taken: AllTaken::new(),
        }
    }

    /// Restores the campaign of a directory.
    pub fn read(dir: &Dir, strings: Option<&Strings>, shares: &Shares) -> io::Result<Past> {
        let (journal, records) = Journal::open(&dir.journal(), dir.disk.clone())?;
        let mut past = Past {
            stats: dir.read_stats().unwrap_or_default(),
            records: records.len() as u64,
            ..Past::new(journal, shares)
        };
        past.stats.partial.retain(|what, _| what != "dropped");
        let mut replayed = Replayed { strings, ..Replayed::default() };
        records.into_iter().for_each(|record| replayed.apply(record, &mut past));
        past.stats.paths = past.tree.paths() as u64;
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
        past.add_inputs(&replayed);
        past.add_unknown_files(&replayed, &queue);
        past.write_missing_files(&replayed, &queue, dir);
        for (kept, inputs) in [(Kept::Crash, crashes), (Kept::Hang, hangs)] {
            past.seeds.extend(inputs.into_iter().map(|(_, bytes)| Seed::Bad(kept, bytes)));
        }
        // A seed may be in the queue before the journal says that it was run.
        let rest = replayed.seeds.into_iter().skip(replayed.seeds_run);
        let new = rest.filter(|seed| !queue.iter().any(|(_, bytes)| bytes == seed));
        past.seeds.extend(new.map(Seed::New));
        Ok(past)
    }

    /// Adds the inputs of the journal.
    fn add_inputs(&mut self, replayed: &Replayed) {
        for (id, number) in &replayed.order {
            let Some(bytes) = replayed.bytes.get(id).cloned() else { continue };
            let template = replayed.templates.get(id).cloned();
            self.store.insert(*id, Candidate::recalled(bytes, *number, template));
            if number.is_some() || replayed.open_flips.get(id).is_none_or(|&n| n > 0) {
                self.seeds.push(Seed::Recalled(*id));
            }
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
            self.seeds.push(Seed::Recalled(id));
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
    templates: HashMap<InputId, Arc<Template>>,
    bytes: HashMap<InputId, Arc<[u8]>>,
    /// The inputs, in order, and their numbers in the queue.
    order: Vec<(InputId, Option<u32>)>,
    /// How many flips of an input are open. An input without a number was never traced.
    open_flips: HashMap<InputId, i64>,
    seeds: Vec<Vec<u8>>,
    /// How many of the seeds were run.
    seeds_run: usize,
    flips: Flips,
}

impl Replayed<'_> {
    fn apply(&mut self, record: Record, past: &mut Past) {
        match record {
            Record::Flip { node, mark, of, taken } => {
                past.tree.set(node, mark);
                past.tree.set(taken, Mark::Taken);
                *self.open_flips.entry(of).or_default() -= 1;
                let flips = &mut self.flips;
                flips.asked += 1;
                match mark {
                    Mark::Sat => flips.sat += 1,
                    Mark::Unsat => flips.unsat += 1,
                    Mark::Optimistic => flips.optimistic += 1,
                    _ => flips.unknown += 1,
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
            }
            Record::Traced { input, open, path } => {
                self.open_flips.insert(input, open.into());
                past.tree.end(path);
            }
            Record::Crash { hash } => {
                past.crash_ids.insert(hash);
            }
            Record::Partial(what) => {
                past.stats.partial.entry(what).or_insert(1);
            }
            Record::Branch(entry) => past.entries.push(entry),
            Record::Seed(bytes) => self.seeds.push(bytes),
            Record::SeedRun => self.seeds_run += 1,
            Record::Taken(file) => past.taken.entry(file.place).or_default().add(file.mark),
            Record::Template { input, holes } => {
                let bytes = self.bytes.get(&input);
                let template = bytes.and_then(|bytes| self.strings?.load_template(&holes, bytes));
                match template {
                    Some(template) => _ = self.templates.insert(input, Arc::new(template)),
                    None => _ = self.templates.remove(&input),
                }
            }
        }
    }
}
