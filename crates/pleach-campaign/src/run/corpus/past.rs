//! What the directory of a campaign says when it is gone on with: the journal,
//! record by record, and the files that are there.
//!
//! Of the tree it restores what was asked and, beside each such edge, the one
//! that the asked run took; edges that runs took and nobody asked about come
//! back when their inputs are traced again. A run whose flips were all answered
//! is not traced again, so another run may ask for an edge of it: that finds the
//! same path once more, which is known by then.

use super::dir::{Dir, Kept, file_name};
use super::journal::{InputRecord, Journal, Record};
use super::store::Store;
use crate::run::account::{Flips, Stats};
use crate::run::ring::Candidate;
use pleach_search::{InputId, Mark, Tree};
use pleach_template::{Strings, Template};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

/// Bytes of inputs outside the queue that are kept for tracing.
const INPUTS_MEMORY: usize = 256 << 20;

/// What a campaign starts from.
pub enum Seed {
    /// A person's, or made up.
    Given(Vec<u8>),
    /// Of the campaign that is resumed: executed before.
    Known(InputId),
    /// A crash or a hang of that campaign.
    Bad(Kept, Vec<u8>),
}

/// What a directory says of a campaign before.
pub struct Past {
    pub journal: Journal,
    /// How many records the journal has.
    pub records: u64,
    pub tree: Tree,
    pub store: Store,
    pub stats: Stats,
    pub crash_ids: HashSet<u64>,
    pub next_number: [u32; 3],
    /// What there is to look at: the queue, inputs that were never traced or
    /// left flips open, and seeds that were not executed.
    pub seeds: Vec<Seed>,
}

impl Past {
    /// Nothing yet.
    pub fn new(journal: Journal) -> Past {
        Past {
            journal,
            records: 0,
            tree: Tree::default(),
            store: Store::new(INPUTS_MEMORY),
            stats: Stats::default(),
            crash_ids: HashSet::new(),
            next_number: [0; 3],
            seeds: Vec::new(),
        }
    }

    pub fn read(dir: &Dir, strings: Option<&Strings>) -> io::Result<Past> {
        let (journal, records) = Journal::open(&dir.journal(), dir.disk.clone())?;
        let mut past = Past {
            stats: dir.read_stats().unwrap_or_default(),
            records: records.len() as u64,
            ..Past::new(journal)
        };
        past.stats.partial.retain(|what, _| what != "dropped");
        let mut recall = Recall { strings, ..Recall::default() };
        records.into_iter().for_each(|record| recall.take(record, &mut past));
        past.stats.paths = past.tree.paths() as u64;
        past.stats.flips = Flips {
            cached: past.stats.flips.cached,
            by_tier: std::mem::take(&mut past.stats.flips.by_tier),
            time_by_tier: std::mem::take(&mut past.stats.flips.time_by_tier),
            ..recall.flips
        };
        let queue = dir.inputs(Kept::Queue)?;
        past.stats.inputs = queue.len() as u64;
        let crashes = dir.inputs(Kept::Crash)?;
        let hangs = dir.inputs(Kept::Hang)?;
        // The statistics may be older than the files.
        let different = past.crash_ids.len() as u64;
        (past.stats.crashes, past.stats.hangs) = (different, hangs.len() as u64);
        for (slot, kept) in [&queue, &crashes, &hangs].into_iter().enumerate() {
            past.next_number[slot] = kept.last().map_or(0, |(id, _)| id + 1);
        }
        for (id, number) in &recall.order {
            let Some(bytes) = recall.bytes.get(id).cloned() else { continue };
            let template = recall.templates.get(id).cloned();
            past.store.insert(*id, Candidate::recalled(bytes, *number, template));
            if number.is_some() || recall.left.get(id).is_none_or(|&n| n > 0) {
                past.seeds.push(Seed::Known(*id));
            }
        }
        // Files that the journal does not know: written just before the end, or
        // put there by another fuzzer. Now it knows them.
        let known: HashSet<u32> = recall.order.iter().filter_map(|(_, number)| *number).collect();
        for (number, bytes) in &queue {
            if !known.contains(number) {
                let id = past.store.next_id();
                let candidate = Candidate::recalled(bytes[..].into(), Some(*number), None);
                past.store.insert(id, candidate);
                let record = InputRecord::new(id, Some(*number), bytes, None);
                past.journal.add(&Record::Input(record));
                past.seeds.push(Seed::Known(id));
            }
        }
        // And the other way round: handed over to be written when the driver died.
        let there: HashSet<u32> = queue.iter().map(|(number, _)| *number).collect();
        for (id, number) in &recall.order {
            let Some(number) = number.filter(|n| !there.contains(n)) else { continue };
            if let Some(known) = past.store.get(*id) {
                dir.keep(Kept::Queue, &file_name(number, None, 0, "op:recovered"), &known.bytes);
                past.stats.inputs += 1;
                past.next_number[0] = past.next_number[0].max(number + 1);
            }
        }
        for (kept, inputs) in [(Kept::Crash, crashes), (Kept::Hang, hangs)] {
            past.seeds.extend(inputs.into_iter().map(|(_, bytes)| Seed::Bad(kept, bytes)));
        }
        // A seed may be in the queue though the journal does not say so yet.
        let rest = recall.seeds.into_iter().skip(recall.planted);
        let new = rest.filter(|seed| !queue.iter().any(|(_, bytes)| bytes == seed));
        past.seeds.extend(new.map(Seed::Given));
        Ok(past)
    }
}

/// What the records of a journal add up to.
#[derive(Default)]
struct Recall<'a> {
    /// What templates are made of, and those that inputs have.
    strings: Option<&'a Strings>,
    templates: HashMap<InputId, Arc<Template>>,
    bytes: HashMap<InputId, Arc<[u8]>>,
    /// Inputs and their numbers in the queue.
    order: Vec<(InputId, Option<u32>)>,
    /// Flips that a traced input has left open; absent: never traced.
    left: HashMap<InputId, i64>,
    seeds: Vec<Vec<u8>>,
    planted: usize,
    flips: Flips,
}

impl Recall<'_> {
    fn take(&mut self, record: Record, past: &mut Past) {
        match record {
            Record::Flip { node, mark, of, taken } => {
                past.tree.set(node, mark);
                past.tree.set(taken, Mark::Taken);
                *self.left.entry(of).or_default() -= 1;
                let f = &mut self.flips;
                f.asked += 1;
                match mark {
                    Mark::Sat => f.sat += 1,
                    Mark::Unsat => f.unsat += 1,
                    Mark::Optimistic => f.optimistic += 1,
                    _ => f.unknown += 1,
                }
            }
            Record::Input(input) => {
                let parent = input.parent.and_then(|p| self.bytes.get(&p)).cloned();
                if let Some(whole) = input.bytes(parent.as_deref().unwrap_or(&[])) {
                    self.bytes.insert(input.id, whole.into());
                    let parents = input.parent.and_then(|p| self.templates.get(&p)).cloned();
                    parents.into_iter().for_each(|t| _ = self.templates.insert(input.id, t));
                    self.order.push((input.id, input.queue));
                }
            }
            Record::Traced { input, open, path } => {
                self.left.insert(input, open.into());
                past.tree.end(path);
            }
            Record::Crash { hash } => {
                past.crash_ids.insert(hash);
            }
            Record::Partial(what) => {
                past.stats.partial.entry(what).or_insert(1);
            }
            Record::Seed(bytes) => self.seeds.push(bytes),
            Record::Planted => self.planted += 1,
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
