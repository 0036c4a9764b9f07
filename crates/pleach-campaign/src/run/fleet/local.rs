//! A fleet whose members are campaigns of one process: for tests, and to measure what a member
//! is worth without counting processors.
//!
//! Members may search *in step*: after N runs each waits for all others, and what they
//! told meanwhile enters the log in the order of the members. So the results do not depend on
//! time, and a find is known to all after the same number of runs.

use super::{Fleet, Heard, HeardWhat, News, Report, Settled, View, owner};
use crate::run::shared::lock;
use pleach_hash::hash_bytes;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The log, and the members that read it.
#[derive(Default)]
pub struct LocalFleet {
    hub: Mutex<Hub>,
    /// Notified when all members have come to the end of a step.
    stepped: Condvar,
    /// How many runs a step has, for members in step.
    step: Option<u64>,
}

#[derive(Default)]
struct Hub {
    log: Vec<Entry>,
    members: Vec<Member>,
    settled: Option<Settled>,
    /// How many steps have ended.
    steps: u64,
}

#[derive(Clone)]
struct Entry {
    from: Arc<str>,
    what: What,
}

#[derive(Clone)]
enum What {
    Joined,
    Heard(HeardWhat),
}

struct Member {
    name: Arc<str>,
    is_present: bool,
    /// Told since the last step.
    told: Vec<News>,
    /// It waits for the end of the step.
    waits: bool,
    /// It has nothing to do, at this position of the log.
    idle_at: Option<usize>,
    report: Report,
}

/// One membership.
struct Local {
    fleet: Arc<LocalFleet>,
    index: usize,
    name: Arc<str>,
    reader: Mutex<Reader>,
    generation: AtomicU64,
}

/// How far a member has read the log.
#[derive(Default)]
struct Reader {
    position: usize,
    /// The members at that position.
    members: BTreeSet<Arc<str>>,
}

impl LocalFleet {
    pub fn new() -> Arc<LocalFleet> {
        Arc::default()
    }

    /// Its members wait for each other after N runs of each. All must have joined before
    /// the first of them runs.
    pub fn in_step(runs: u64) -> Arc<LocalFleet> {
        Arc::new(LocalFleet { step: Some(runs), ..LocalFleet::default() })
    }

    /// Adds a member, or one that was there before and comes back.
    pub fn join(self: &Arc<Self>, name: &str) -> Arc<dyn Fleet> {
        let name: Arc<str> = name.into();
        let mut hub = lock(&self.hub);
        let index = hub.members.len();
        hub.members.push(Member {
            name: name.clone(),
            is_present: true,
            told: Vec::new(),
            waits: false,
            idle_at: None,
            report: Report::default(),
        });
        hub.log.push(Entry { from: name.clone(), what: What::Joined });
        drop(hub);
        Arc::new(Local {
            fleet: self.clone(),
            index,
            name,
            reader: Mutex::default(),
            generation: AtomicU64::new(0),
        })
    }

    /// A member is lost: what it tells from now on is not heard, and others are told that it
    /// has left.
    pub fn lose(&self, name: &str) {
        let mut hub = lock(&self.hub);
        let lost = hub.members.iter().position(|m| &*m.name == name && m.is_present);
        if let Some(index) = lost {
            hub.remove(index);
        }
        // Others may have waited for it alone.
        if self.step.is_some() && hub.present().next().is_some() {
            hub.try_step();
        }
        self.stepped.notify_all();
    }

    /// Everything that was told, in the order of the log, and by whom.
    pub fn told(&self) -> Vec<(Arc<str>, News)> {
        let hub = lock(&self.hub);
        let news = hub.log.iter().filter_map(|entry| match &entry.what {
            What::Heard(HeardWhat::News(news)) => Some((entry.from.clone(), news.clone())),
            _ => None,
        });
        news.collect()
    }
}

impl Hub {
    fn remove(&mut self, index: usize) {
        let member = &mut self.members[index];
        member.is_present = false;
        member.told.clear();
        let from = member.name.clone();
        self.log.push(Entry { from, what: What::Heard(HeardWhat::Left) });
        self.try_settle();
    }

    fn present(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.is_present)
    }

    /// The search is exhausted if all members are idle at the end of the log.
    fn try_settle(&mut self) {
        let is_idle = |member: &Member| member.idle_at == Some(self.log.len());
        if self.settled.is_none() && self.present().next().is_some() && self.present().all(is_idle)
        {
            let members: BTreeSet<String> =
                self.present().map(|member| member.name.to_string()).collect();
            let (members, position) = (members.into_iter().collect(), self.log.len() as u64);
            self.settled = Some(Settled { members, lost: Vec::new(), position });
        }
    }

    /// Ends the step if all members have come to its end.
    fn try_step(&mut self) -> bool {
        if self.present().any(|member| !member.waits) {
            return false;
        }
        self.steps += 1;
        let before = self.log.len();
        for index in 0..self.members.len() {
            let member = &mut self.members[index];
            member.waits = false;
            let from = member.name.clone();
            let told = std::mem::take(&mut member.told).into_iter();
            let entry =
                |news| Entry { from: from.clone(), what: What::Heard(HeardWhat::News(news)) };
            self.log.extend(told.map(entry));
        }
        if self.log.len() == before {
            self.try_settle();
        }
        true
    }
}

impl Local {
    /// Waits until all members have come to the end of the step.
    fn finish_step(&self) {
        let mut hub = lock(&self.fleet.hub);
        let step = hub.steps;
        hub.members[self.index].waits = true;
        if hub.try_step() {
            self.fleet.stepped.notify_all();
        }
        while hub.steps == step && hub.members[self.index].is_present {
            hub = self.fleet.stepped.wait(hub).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Fleet for Local {
    fn tell(&self, news: News) {
        let mut hub = lock(&self.fleet.hub);
        let member = &mut hub.members[self.index];
        match self.fleet.step {
            _ if !member.is_present => {}
            Some(_) => member.told.push(news),
            None => hub
                .log
                .push(Entry { from: self.name.clone(), what: What::Heard(HeardWhat::News(news)) }),
        }
    }

    fn hear(&self, max: usize) -> Vec<Heard> {
        if self.fleet.step.is_some() {
            self.finish_step();
        }
        let mut reader = lock(&self.reader);
        let hub = lock(&self.fleet.hub);
        let mut heard = Vec::new();
        while heard.len() < max
            && let Some(Entry { from, what }) = hub.log.get(reader.position)
        {
            reader.position += 1;
            match what {
                What::Joined => _ = reader.members.insert(from.clone()),
                What::Heard(HeardWhat::Left) => _ = reader.members.remove(from),
                What::Heard(_) => {}
            }
            match what {
                What::Heard(HeardWhat::News(_)) => {}
                _ => _ = self.generation.fetch_add(1, Ordering::Relaxed),
            }
            if let What::Heard(what) = what {
                heard.push(Heard { from: from.clone(), what: what.clone() });
            }
        }
        heard
    }

    fn owns(&self, hash: u64) -> bool {
        let reader = lock(&self.reader);
        let number = |name: &Arc<str>| hash_bytes(name.as_bytes());
        owner(hash, reader.members.iter().map(number)) == Some(number(&self.name))
    }

    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    fn members(&self) -> usize {
        lock(&self.reader).members.len()
    }

    fn set_idle(&self, idle: bool) {
        let position = lock(&self.reader).position;
        let mut hub = lock(&self.fleet.hub);
        hub.members[self.index].idle_at = idle.then_some(position);
        // In step, the end of the next step shows if anything was told.
        if self.fleet.step.is_none() {
            hub.try_settle();
        }
    }

    fn settled(&self) -> Option<Settled> {
        lock(&self.fleet.hub).settled.clone()
    }

    fn report(&self, report: Report) {
        lock(&self.fleet.hub).members[self.index].report = report;
    }

    fn view(&self) -> View {
        let hub = lock(&self.fleet.hub);
        let members = hub.present().map(|member| (member.name.to_string(), member.report));
        View {
            name: self.name.to_string(),
            campaign: "local".into(),
            connected: true,
            members: members.collect(),
            ..View::default()
        }
    }

    fn leave(&self) {
        let mut hub = lock(&self.fleet.hub);
        if !hub.members[self.index].is_present {
            return;
        }
        // In step, what it told last counts for the others.
        let told = std::mem::take(&mut hub.members[self.index].told).into_iter();
        let entry =
            |news| Entry { from: self.name.clone(), what: What::Heard(HeardWhat::News(news)) };
        hub.log.extend(told.map(entry));
        hub.remove(self.index);
        if self.fleet.step.is_some() && hub.present().next().is_some() {
            hub.try_step();
        }
        self.fleet.stepped.notify_all();
    }

    fn in_step(&self) -> Option<u64> {
        self.fleet.step
    }
}
