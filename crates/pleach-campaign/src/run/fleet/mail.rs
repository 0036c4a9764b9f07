//! The mail of a campaign: what it has to tell the fleet, and what it heard and has not run
//! yet. It is a part of the state; `post` carries it.
//!
//! A find is *shared* when all members know it, which is when its message is the first in the
//! log that covers something: all read the same log, so all agree. Until then it is the
//! finder's alone. Of two equal finds at about the same time, the second remains its finder's:
//! the others do not take it, and nobody else asks its flips.

use super::tasks::Tasks;
use super::trust::Trust;
use super::{
    Answer, Cover, Find, FindKind, HeardWhat, MAX_BATCH, MAX_COVERS, News, Report, Split, Task,
    View,
};
use crate::run::account::{FleetMember, Gap};
use crate::run::corpus::Record;
use crate::run::exchange::Sender;
use crate::run::ring::Candidate;
use crate::run::state::State;
use pleach_hash::hash_bytes;
use pleach_search::{BranchId, Counts, Gain, InputId, Origin, bucket};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The longest input whose coverage is believed. Who sends untrue finds fills no disk.
const MAX_BELIEVED: usize = 4 << 10;
/// How many inputs wait to be run at most, and their bytes, before nothing more is heard.
const MAX_WAITING: usize = 4096;
const MAX_WAITING_BYTES: usize = 64 << 20;

/// The most kinds of gaps that are known before those of others are ignored. There are about
/// thirty, some with the name of a function.
const MAX_GAPS: usize = 256;

pub struct Mail {
    pub split: Split,
    /// The name of this member.
    pub name: Arc<str>,
    /// To be told, in order. Answers come after the tasks that result from them, and what is
    /// done comes last.
    out: Vec<News>,
    answers: Vec<Answer>,
    done: Vec<u64>,
    /// Inputs of others, and tasks, that wait to be run.
    inbox: VecDeque<Parcel>,
    inbox_bytes: usize,
    /// The strategy has nothing left, and nothing is under way.
    pub is_exhausted: bool,
    /// What the finds of the log cover: hit counts, as [`bucket`] has them.
    log: Vec<u8>,
    keeps_hit_counts: bool,
    /// The finds of this member, by the hash of their bytes.
    own: HashMap<u64, InputId>,
    /// Finds of the log that this member has or will run, by the hash of their bytes.
    taken: HashSet<u64>,
    /// Inputs that all members know.
    shared: HashSet<InputId>,
    /// Crashes that were told or heard, by what tells them apart.
    crashes: HashSet<u64>,
    /// All finds that are known and their finders, to tell them again to a server that has lost
    /// them.
    finds: Vec<(Arc<str>, Find)>,
    /// Whose finds did what they said.
    trust: Trust,
    pub tasks: Tasks,
    /// The generation of the fleet for which tasks or flips were shared out.
    generation: u64,
    /// The generation in which a string of a symbolic grammar was left to another member.
    left_strings: Option<u64>,
    sent: u64,
    pub tally: Tally,
}

/// What came of the mail, for the statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Finds and tasks that were told.
    pub told: u64,
    /// Finds of others that were heard, and those of them that were run.
    pub heard: u64,
    pub run: u64,
    /// Answers of others.
    pub answers: u64,
    /// Messages that make no sense for this program.
    pub refused: u64,
}

/// What a find adds to what the log covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Adds {
    Nothing,
    Counts,
    Branches,
}

/// An input that was heard of.
pub struct Parcel {
    pub bytes: Arc<[u8]>,
    pub heard: HeardAs,
    /// `None` for a task of this member.
    pub sender: Option<Sender>,
}

/// What an input covers that was new to its finder, as the finder says.
pub type Claims = Arc<[Cover]>;

/// How an input that was heard of is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeardAs {
    /// All members know it, and share its flips.
    Shared(Claims),
    /// Its finder alone asks its flips. It is run for what it covers.
    Known(Claims),
    /// This member traces it.
    Task(Task),
}

impl HeardAs {
    /// True if the run of an input took most of what its finder says: some may be different in
    /// each run. `None` if the finder says nothing.
    pub fn holds(&self, counts: &Counts) -> Option<bool> {
        let HeardAs::Shared(claims) = self else { return None };
        let taken = claims.iter().filter(|claim| counts.get(claim.branch) > 0).count();
        (!claims.is_empty()).then_some(2 * taken > claims.len())
    }

    /// True if the finder says that the input covers all of this. The finder has run it twice,
    /// so it need not run again here.
    pub fn confirms(&self, gain: &Gain, counts: &Counts) -> bool {
        let (HeardAs::Shared(claims) | HeardAs::Known(claims)) = self else { return false };
        let claimed = |branch: BranchId| {
            let found = claims.binary_search_by_key(&branch, |claim| claim.branch);
            found.map_or(0, |at| claims[at].count)
        };
        let has_bucket = |&branch: &BranchId| bucket(claimed(branch)) == bucket(counts.get(branch));
        gain.branches.iter().all(|&branch| claimed(branch) > 0)
            && gain.buckets.iter().all(has_bucket)
    }
}

impl Mail {
    pub fn new(split: Split, name: &str, branches: usize, keeps_hit_counts: bool) -> Mail {
        Mail {
            split,
            name: name.into(),
            out: Vec::new(),
            answers: Vec::new(),
            done: Vec::new(),
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            is_exhausted: false,
            log: vec![0; branches],
            keeps_hit_counts,
            own: HashMap::new(),
            taken: HashSet::new(),
            shared: HashSet::new(),
            crashes: HashSet::new(),
            finds: Vec::new(),
            trust: Trust::default(),
            tasks: Tasks::default(),
            generation: u64::MAX,
            left_strings: None,
            sent: 0,
            tally: Tally::default(),
        }
    }

    /// An input that this member had before it joined.
    pub fn add_own(&mut self, input: InputId, bytes: &[u8]) {
        self.own.insert(hash_bytes(bytes), input);
    }

    /// Tells what an input of the queue covers that is new.
    pub fn tell_find(&mut self, input: InputId, bytes: &Arc<[u8]>, gain: &Gain, counts: &Counts) {
        self.own.insert(hash_bytes(bytes), input);
        self.tell_input(FindKind::Queue, bytes, gain, counts);
    }

    /// Tells of a crash, if it was not told or heard of before.
    pub fn tell_crash(&mut self, hash: u64, bytes: &Arc<[u8]>, gain: &Gain, counts: &Counts) {
        if self.crashes.insert(hash) {
            self.tell_input(FindKind::Crash(hash), bytes, gain, counts);
        }
    }

    pub fn tell_hang(&mut self, bytes: &Arc<[u8]>, gain: &Gain, counts: &Counts) {
        self.tell_input(FindKind::Hang, bytes, gain, counts);
    }

    fn tell_input(&mut self, kind: FindKind, bytes: &Arc<[u8]>, gain: &Gain, counts: &Counts) {
        let mut branches = [&gain.branches[..], &gain.buckets].concat();
        branches.sort_unstable();
        branches.truncate(MAX_COVERS);
        let cover = |branch| Cover { branch, count: counts.get(branch) };
        let covers = branches.into_iter().map(cover).collect();
        let find = Find { kind, bytes: bytes.clone(), covers };
        self.tally.told += 1;
        self.finds.push((self.name.clone(), find.clone()));
        self.out.push(News::Find(find));
    }

    pub fn tell_task(&mut self, task: Task) {
        self.tally.told += 1;
        self.out.push(News::Task(task));
    }

    pub fn tell_answer(&mut self, answer: Answer) {
        self.answers.push(answer);
    }

    pub fn tell_gap(&mut self, name: String) {
        self.out.push(News::Partial(name));
    }

    /// Takes what is to be told.
    pub fn take_news(&mut self) -> Vec<News> {
        let mut news = std::mem::take(&mut self.out);
        let answers = std::mem::take(&mut self.answers);
        news.extend(answers.chunks(MAX_BATCH).map(|batch| News::Answers(batch.to_vec())));
        let done = std::mem::take(&mut self.done);
        news.extend(done.chunks(MAX_BATCH).map(|batch| News::Done(batch.to_vec())));
        news
    }

    fn has_news(&self) -> bool {
        !(self.out.is_empty() && self.answers.is_empty() && self.done.is_empty())
    }

    /// True if nothing is left to do or to tell.
    pub fn is_settled(&self) -> bool {
        self.is_exhausted && self.inbox.is_empty() && !self.tasks.has_own() && !self.has_news()
    }

    /// True if members have come or gone since work was shared out.
    pub fn is_before(&self, generation: u64) -> bool {
        self.generation != generation
    }

    pub fn has_parcels(&self) -> bool {
        !self.inbox.is_empty()
    }

    /// True if nothing more should be heard before some of it was run.
    pub fn is_full(&self) -> bool {
        self.inbox.len() >= MAX_WAITING || self.inbox_bytes >= MAX_WAITING_BYTES
    }

    pub fn take_parcels(&mut self, max: usize) -> Vec<Parcel> {
        let count = max.min(self.inbox.len());
        let parcels: Vec<_> = self.inbox.drain(..count).collect();
        self.inbox_bytes -= parcels.iter().map(|parcel| parcel.bytes.len()).sum::<usize>();
        parcels
    }

    /// An input of another member waits to be run.
    fn put(&mut self, find: Find, heard: HeardAs, from: &Arc<str>) {
        self.finds.push((from.clone(), find.clone()));
        let sender = Some(self.sender(from));
        self.put_parcel(Parcel { bytes: find.bytes, heard, sender });
    }

    fn put_parcel(&mut self, parcel: Parcel) {
        self.inbox_bytes += parcel.bytes.len();
        self.inbox.push_back(parcel);
    }

    fn sender(&mut self, from: &Arc<str>) -> Sender {
        self.sent += 1;
        Sender { name: from.clone(), number: self.sent as u32 }
    }

    /// A string of a symbolic grammar is left to its owner.
    pub fn leave_string(&mut self, generation: u64) {
        self.left_strings.get_or_insert(generation);
    }

    /// Tells the seeds of a search that splits paths.
    pub fn tell_seed(&mut self, bytes: &[u8]) {
        let (edge, bytes) = (hash_bytes(bytes), bytes.into());
        self.tell_task(Task { edge, bound: 0, node: 0, asked: None, bytes });
    }

    pub fn is_shared(&self, input: InputId) -> bool {
        self.shared.contains(&input)
    }

    pub fn set_shared(&mut self, input: InputId) {
        self.shared.insert(input);
    }

    /// Adds what a find of the log covers. Returns what no find before it covered.
    fn add_to_log(&mut self, covers: &[Cover]) -> Adds {
        let mut adds = if covers.is_empty() { Adds::Branches } else { Adds::Nothing };
        for cover in covers {
            let Some(seen) = self.log.get_mut(cover.branch as usize) else { continue };
            let bit = if self.keeps_hit_counts { bucket(cover.count) } else { 1 };
            adds = adds.max(match *seen {
                0 => Adds::Branches,
                seen if seen & bit != bit => Adds::Counts,
                _ => Adds::Nothing,
            });
            *seen |= bit;
        }
        adds
    }

    /// Others believe what this find covers, and do not run it.
    fn is_believed(&self, adds: Adds, find: &Find) -> bool {
        let splits_finds = self.split == Split::Finds;
        splits_finds && adds == Adds::Counts && find.bytes.len() <= MAX_BELIEVED
    }

    fn is_plausible(&self, covers: &[Cover]) -> bool {
        covers.iter().all(|c| (c.branch as usize) < self.log.len() && c.count > 0)
    }

    /// The group of tasks is finished. Takes the next one, if there is one: it waits in the
    /// inbox then.
    fn take_group(&mut self) -> bool {
        let done = self.tasks.finish_group();
        self.done.extend(done);
        let name = self.name.clone();
        let group = self.tasks.take_group(&name);
        if group.is_empty() {
            return false;
        }
        self.out.push(News::Begun(group.iter().map(|task| task.edge).collect()));
        for task in group {
            let (bytes, heard) = (task.bytes.clone(), HeardAs::Task(task));
            self.put_parcel(Parcel { bytes, heard, sender: None });
        }
        true
    }

    /// Everything is told again.
    fn tell_all(&mut self) {
        self.log.fill(0);
        self.trust.forget_passed_over();
        let (tasks, begun, done) = self.tasks.all();
        self.out.extend(self.finds.iter().map(|(_, find)| News::Find(find.clone())));
        self.out.extend(tasks.into_iter().map(News::Task));
        self.out.extend(begun.chunks(MAX_BATCH).map(|batch| News::Begun(batch.to_vec())));
        self.done.extend(done);
    }
}

impl State {
    /// Takes one message of the log. `owns`: who owns what, as the members are now.
    pub fn hear(&mut self, from: &Arc<str>, what: HeardWhat, owns: &dyn Fn(u64) -> bool) {
        let Some(mail) = &mut self.mail else { return };
        let is_own = *from == mail.name;
        match what {
            HeardWhat::News(News::Find(find)) => self.hear_find(from, is_own, find),
            HeardWhat::News(News::Task(task)) => {
                let owns = owns(super::tasks::owner_key(&task));
                if !mail.tasks.add(task, owns) {
                    mail.tally.refused += 1;
                    self.record_gap(Gap::TasksIgnored);
                }
            }
            HeardWhat::News(News::Begun(edges)) => mail.tasks.begin(&edges, from, is_own),
            HeardWhat::News(News::Done(edges)) => mail.tasks.finish(&edges),
            HeardWhat::News(News::Answers(answers)) if !is_own => {
                mail.tally.answers += answers.len() as u64;
                for Answer { edge, mark } in answers {
                    self.search.tree.set(edge, mark);
                }
            }
            HeardWhat::News(News::Answers(_)) => {}
            HeardWhat::News(News::Partial(name)) => self.hear_gap(name),
            HeardWhat::Left => {
                mail.tasks.forget_member(from);
                if is_own {
                    // The others took it for dead. What it works on is still its own.
                    let begun = mail.tasks.group();
                    mail.out.extend((!begun.is_empty()).then_some(News::Begun(begun)));
                }
            }
            HeardWhat::Lost => mail.tell_all(),
        }
    }

    fn hear_find(&mut self, from: &Arc<str>, is_own: bool, find: Find) {
        let Some(mail) = &mut self.mail else { return };
        if !mail.is_plausible(&find.covers) {
            mail.tally.refused += 1;
            return;
        }
        mail.tally.heard += u64::from(!is_own);
        if mail.trust.is_lost(from) {
            mail.tally.refused += 1;
            return;
        }
        let hash = hash_bytes(&find.bytes);
        match find.kind {
            FindKind::Queue => {
                let adds = mail.add_to_log(&find.covers);
                if adds == Adds::Nothing {
                    if !is_own {
                        mail.trust.pass_over(from, find);
                    }
                    return;
                }
                if mail.is_believed(adds, &find) {
                    if !is_own && !mail.own.contains_key(&hash) && mail.taken.insert(hash) {
                        mail.finds.push((from.clone(), find.clone()));
                        self.keep_believed(from, find);
                    }
                    return;
                }
                let claims = find.covers[..].into();
                let heard = match mail.split {
                    Split::Paths => HeardAs::Known(claims),
                    Split::Finds => HeardAs::Shared(claims),
                };
                if let Some(&input) = mail.own.get(&hash) {
                    if mail.split == Split::Finds && mail.shared.insert(input) {
                        self.search.runs.share(input, &mut self.search.tree);
                    }
                } else if !is_own && mail.taken.insert(hash) {
                    mail.put(find, heard, from);
                }
            }
            FindKind::Crash(id) => {
                if mail.crashes.insert(id) && !self.crashes.ids.contains(&id) {
                    mail.put(find, HeardAs::Known(Arc::default()), from);
                }
            }
            FindKind::Hang => {
                if !is_own && mail.taken.insert(hash) {
                    mail.put(find, HeardAs::Known(Arc::default()), from);
                }
            }
        }
    }

    /// Keeps an input that adds nothing but hit counts. Its finder has run it, and is the one
    /// that traces and mutates it.
    fn keep_believed(&mut self, from: &Arc<str>, find: Find) {
        let Some(mail) = &mut self.mail else { return };
        let sender = mail.sender(from);
        let branches = find.covers.iter().map(|cover| cover.branch).collect();
        find.covers.iter().for_each(|c| self.covered.kept.believe(c.branch, c.count));
        let sync = self.account.count_sync(&sender);
        (sync.taken, sync.kept) = (sync.taken + 1, sync.kept + 1);
        let candidate = Candidate {
            sender: Some(sender),
            heard: Some(HeardAs::Known(Arc::default())),
            ..Candidate::new(find.bytes, Origin::Imported, None)
        };
        let site = Gain { branches, buckets: Vec::new() };
        let label = self.label("", &candidate, &site, &Gain::default());
        self.account.stats.inputs += 1;
        self.corpus.add(candidate, Some(&label));
    }

    /// A find of another member was run here. `is_useful`: it was kept. `is_true`: it covers
    /// what its finder says.
    pub fn judge_sender(&mut self, from: &Arc<str>, bytes: &[u8], is_useful: bool, is_true: bool) {
        let Some(mail) = &mut self.mail else { return };
        let is_lost = mail.trust.judge(from, is_useful);
        if is_lost {
            let Mail { inbox, inbox_bytes, tally, .. } = mail;
            let before = inbox.len();
            inbox.retain(|p| p.sender.as_ref().is_none_or(|sender| sender.name != *from));
            *inbox_bytes = inbox.iter().map(|parcel| parcel.bytes.len()).sum();
            tally.refused += (before - inbox.len()) as u64;
        }
        if is_lost || !is_true {
            // What it claimed must not keep others from being heard.
            mail.finds
                .retain(|(finder, find)| finder != from || !(is_lost || *find.bytes == *bytes));
            mail.log.fill(0);
            let finds = std::mem::take(&mut mail.finds);
            finds.iter().for_each(|(_, find)| _ = mail.add_to_log(&find.covers));
            mail.finds = finds;
            for (from, find) in mail.trust.take_passed_over() {
                self.hear_find(&from, false, find);
            }
        }
        if is_lost {
            self.record_gap(Gap::MemberIgnored);
            self.account.note(format!(
                "the finds of the member {from} are ignored: almost none of those that were run \
                 covered anything new"
            ));
        }
    }

    /// Puts what there is to know of the fleet into the statistics.
    pub fn count_fleet(&mut self, view: View) {
        let Some(mail) = &self.mail else { return };
        let other = |(name, report): (String, Report)| FleetMember {
            name,
            runs: report.runs,
            branches: report.branches,
            inputs: report.inputs,
            crashes: report.crashes,
        };
        let members = view.members.into_iter().filter(|(name, _)| *name != view.name);
        let fleet = self.account.stats.fleet.get_or_insert_default();
        let Tally { told, heard, run, answers, refused } = mail.tally;
        fleet.others = members.map(other).collect();
        (fleet.member, fleet.campaign) = (view.name, view.campaign);
        fleet.split = mail.split.name().into();
        (fleet.told, fleet.heard, fleet.run, fleet.answers) = (told, heard, run, answers);
        fleet.ignored = refused + view.ignored.iter().map(|(_, count)| count).sum::<u64>();
        fleet.unsent = view.unsent;
        (fleet.told_bytes, fleet.heard_bytes) = (view.told_bytes, view.heard_bytes);
        view.notes.into_iter().for_each(|note| self.account.note(note));
    }

    /// Another member has met something that keeps the search from being exhaustive.
    fn hear_gap(&mut self, name: String) {
        let partial = &mut self.account.stats.partial;
        if partial.contains_key(&name) {
            return;
        }
        if partial.len() >= MAX_GAPS {
            self.mail.iter_mut().for_each(|mail| mail.tally.refused += 1);
            return;
        }
        partial.insert(name.clone(), 1);
        self.corpus.record(&Record::Partial(name));
    }

    /// The strategy has nothing left, and nothing is under way. True if the fleet has work for
    /// this member: tasks, or flips of finds that were another's before.
    pub fn take_work(&mut self, generation: u64, owns: &dyn Fn(u64) -> bool) -> bool {
        let Some(mail) = &mut self.mail else { return false };
        let has_changed = mail.generation != generation;
        mail.generation = generation;
        if mail.left_strings.is_some_and(|left| left != generation) {
            self.record_gap(Gap::StringsLeft);
        }
        let Some(mail) = &mut self.mail else { return false };
        match mail.split {
            Split::Paths => {
                if has_changed {
                    let name = mail.name.clone();
                    mail.tasks.share_out(&name, owns);
                }
                mail.take_group()
            }
            Split::Finds if has_changed => {
                let mut shared: Vec<InputId> = mail.shared.iter().copied().collect();
                shared.sort_unstable();
                for &input in &shared {
                    let size = self.corpus.store.get(input).map(|c| c.bytes.len());
                    if let Some(size) = size {
                        self.recall(input, size, None, false, Default::default());
                    }
                }
                !shared.is_empty()
            }
            Split::Finds => false,
        }
    }

    /// Tells a flip's answer, if others know its run.
    pub fn tell_answer(&mut self, record: &Record) {
        let Record::Flip { node, mark, of, taken } = *record else { return };
        let Some(mail) = &mut self.mail else { return };
        let is_known = mail.split == Split::Paths
            || self.search.tree.is_shared(taken)
            || self.corpus.store.queue_number(of).is_some();
        if is_known {
            mail.tell_answer(Answer { edge: node, mark });
        }
    }

    /// Hands the result of a flip to whoever owns it, in a search that splits paths. Returns
    /// false in any other.
    pub fn hand_over(&mut self, tasks: Vec<(Arc<[u8]>, TaskPath)>, record: Option<Record>) -> bool {
        let Some(mail) = self.mail.as_mut().filter(|mail| mail.split == Split::Paths) else {
            return false;
        };
        for (bytes, TaskPath { edge, bound, node, asked }) in tasks {
            mail.tell_task(Task { edge, bound, node, asked, bytes });
        }
        if let Some(record) = record {
            self.tell_answer(&record);
            self.corpus.record(&record);
        }
        true
    }
}

/// The path of a task.
pub struct TaskPath {
    pub edge: u64,
    pub bound: u32,
    pub node: u64,
    pub asked: Option<BranchId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail() -> Mail {
        Mail::new(Split::Finds, "me", 8, true)
    }

    fn covers(counts: &[(BranchId, u8)]) -> Vec<Cover> {
        counts.iter().map(|&(branch, count)| Cover { branch, count }).collect()
    }

    #[test]
    fn the_first_find_of_the_log_that_covers_something_is_shared() {
        let mut mail = mail();
        assert_eq!(mail.add_to_log(&covers(&[(1, 1)])), Adds::Branches);
        assert_eq!(mail.add_to_log(&covers(&[(1, 1)])), Adds::Nothing);
        assert_eq!(mail.add_to_log(&covers(&[(1, 1), (2, 1)])), Adds::Branches);
        assert_eq!(mail.add_to_log(&covers(&[(1, 2)])), Adds::Counts);
        assert_eq!(mail.add_to_log(&[]), Adds::Branches, "nobody knows what it covers");
        mail.keeps_hit_counts = false;
        assert_eq!(mail.add_to_log(&covers(&[(1, 100)])), Adds::Nothing);
        assert!(mail.is_plausible(&covers(&[(7, 1)])));
        assert!(!mail.is_plausible(&covers(&[(8, 1)])) && !mail.is_plausible(&covers(&[(7, 0)])));
    }

    #[test]
    fn news_are_told_in_an_order_that_loses_nothing() {
        let mut mail = mail();
        mail.tell_answer(Answer { edge: 1, mark: pleach_search::Mark::Sat });
        mail.done.push(7);
        mail.tell_seed(b"x");
        let news = mail.take_news();
        let order: Vec<_> = news.iter().map(std::mem::discriminant).collect();
        let expected = [
            News::Task(Task { edge: 0, bound: 0, node: 0, asked: None, bytes: Arc::from([]) }),
            News::Answers(Vec::new()),
            News::Done(Vec::new()),
        ];
        assert_eq!(order, expected.each_ref().map(std::mem::discriminant));
        assert!(mail.take_news().is_empty());
    }
}
