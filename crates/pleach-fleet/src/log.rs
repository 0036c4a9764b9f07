//! What follows from the log, the same for all members: who is one, which messages count, and
//! when the search is exhausted. No clock and no network here: the time of a message is that at
//! which the server stored it.
//!
//! [`Gate`] judges messages as they arrive. [`Ledger`] is at the position that the campaign has
//! heard.

use crate::wire::{Body, Broken, Session, content_key};
use pleach_campaign::run::fleet::{Heard, HeardWhat, News, Settled, owner};
use pleach_hash::Hash;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What a member may send: so much at once, and so much a second. Members send at most
/// half of it ([`crate::outbox`]); the rest is for servers and networks that deliver in bursts.
pub const MESSAGES_PER_SECOND: u64 = 4_000;
pub const BYTES_PER_SECOND: u64 = 32 << 20;
const BURST_SECONDS: u64 = 10;
/// What all inputs of a campaign may take, unpacked: a server's limit counts packed bytes.
pub const CAMPAIGN_BYTES: u64 = 32 << 30;
/// The most members at a time.
pub const MAX_MEMBERS: usize = 10_000;
/// The most sessions in a log. More are not joinings but a flood.
const MAX_SESSIONS: usize = 1_000_000;

const SECOND: i64 = 1_000_000_000;

/// A message as it is in the log.
#[derive(Clone, Debug)]
pub struct Entry {
    pub sequence: u64,
    pub session: Session,
    pub from: Arc<str>,
    pub body: Body,
}

/// An allowance that fills with time.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    messages: i64,
    bytes: i64,
    /// Nanoseconds since 1970.
    time: i64,
}

impl Bucket {
    fn new(time: i64) -> Bucket {
        Bucket {
            messages: (MESSAGES_PER_SECOND * BURST_SECONDS) as i64,
            bytes: (BYTES_PER_SECOND * BURST_SECONDS) as i64,
            time,
        }
    }

    fn take(&mut self, time: i64, bytes: usize) -> bool {
        let full = Bucket::new(time);
        // In steps of a millisecond, so that nothing is lost to rounding.
        let passed = ((time - self.time) / 1_000_000).clamp(0, 1000 * BURST_SECONDS as i64);
        let grown =
            |have: i64, rate: u64, full: i64| (have + passed * rate as i64 / 1000).min(full);
        self.messages = grown(self.messages, MESSAGES_PER_SECOND, full.messages);
        self.bytes = grown(self.bytes, BYTES_PER_SECOND, full.bytes);
        self.time = self.time.max(self.time + passed * (SECOND / 1000));
        let allowed = self.messages > 0 && self.bytes > 0;
        if allowed {
            self.messages -= 1;
            self.bytes -= bytes as i64;
        }
        allowed
    }
}

struct Sender {
    name: Arc<str>,
    bucket: Bucket,
    /// The number of its last list of news.
    last_news: u64,
}

/// Which messages of the log count.
#[derive(Default)]
pub struct Gate {
    senders: HashMap<Session, Sender>,
    /// The inputs and tasks that the log has.
    known: HashSet<u128>,
    /// The bytes of these.
    bytes: u64,
}

/// What becomes of a message.
#[derive(Debug)]
pub enum Admitted {
    Entry(Entry),
    /// It repeats what the log has already.
    Repeated,
    Ignored(Broken),
}

impl Gate {
    /// Judges the next message. `size` is that of the message on the wire.
    pub fn admit(
        &mut self,
        sequence: u64,
        time: i64,
        session: Option<Session>,
        body: Result<Body, Broken>,
        size: usize,
    ) -> Admitted {
        let Some(session) = session else { return Admitted::Ignored(Broken::Stranger) };
        if let Ok(Body::Join { name }) = &body
            && !self.senders.contains_key(&session)
            && self.senders.len() < MAX_SESSIONS
        {
            let sender = Sender { name: name.clone(), bucket: Bucket::new(time), last_news: 0 };
            self.senders.insert(session, sender);
        }
        let Some(sender) = self.senders.get_mut(&session) else {
            return Admitted::Ignored(Broken::Stranger);
        };
        let length = match &body {
            Ok(Body::Find(find)) => find.bytes.len(),
            Ok(Body::Task(task)) => task.bytes.len(),
            _ => 0,
        };
        if !sender.bucket.take(time, size.max(length)) {
            return Admitted::Ignored(Broken::Flood);
        }
        let body = match body {
            Ok(body) => body,
            Err(broken) => return Admitted::Ignored(broken),
        };
        if let Body::News { number, .. } = &body {
            if *number <= sender.last_news {
                return Admitted::Repeated;
            }
            sender.last_news = *number;
        }
        if let Some(key) = content_key(&body) {
            if self.known.contains(&key) {
                return Admitted::Repeated;
            }
            if self.bytes + length as u64 > CAMPAIGN_BYTES {
                return Admitted::Ignored(Broken::CampaignFull);
            }
            self.bytes += length as u64;
            self.known.insert(key);
        }
        Admitted::Entry(Entry { sequence, session, from: sender.name.clone(), body })
    }

    pub fn knows(&self, key: u128) -> bool {
        self.known.contains(&key)
    }

    pub fn name(&self, session: Session) -> Option<&Arc<str>> {
        self.senders.get(&session).map(|sender| &sender.name)
    }
}

struct Member {
    name: Arc<str>,
    number: u64,
    /// The position up to which it had nothing to do.
    idle: Option<u64>,
}

/// Who is a member at a position, and whether the search is settled there.
#[derive(Default)]
pub struct Ledger {
    position: u64,
    /// The position of the last message that may make work for someone.
    last_work: u64,
    members: BTreeMap<Session, Member>,
    /// Those who left while they worked, and did not come back.
    lost: BTreeMap<Arc<str>, Session>,
    generation: u64,
    settled: Option<Settled>,
}

impl Ledger {
    /// Advances by one message. Returns what the campaign hears of it.
    pub fn apply(&mut self, entry: Entry) -> Vec<Heard> {
        let Entry { sequence, session, from, body } = entry;
        self.position = sequence;
        let heard = |what| Heard { from: from.clone(), what };
        let mut out = Vec::new();
        match body {
            Body::Find(find) => out.push(heard(HeardWhat::News(News::Find(find)))),
            Body::Task(task) => out.push(heard(HeardWhat::News(News::Task(task)))),
            Body::News { news, .. } => {
                // Who is no member holds nothing: what it has begun is open.
                let is_member = self.members.contains_key(&session);
                let counts = |news: &News| is_member || !matches!(news, News::Begun(_));
                out.extend(news.into_iter().filter(counts).map(|n| heard(HeardWhat::News(n))));
            }
            Body::Join { name } => self.join(session, name, &mut out),
            Body::Leave { session, lost, .. } => match self.members.contains_key(&session) {
                true => self.remove(session, lost, &mut out),
                false => return out,
            },
            Body::Idle(position) => {
                if let Some(member) = self.members.get_mut(&session) {
                    member.idle = position;
                }
                self.settle();
                return out;
            }
            Body::Manifest => return out,
        }
        self.last_work = sequence;
        out
    }

    fn join(&mut self, session: Session, name: Arc<str>, out: &mut Vec<Heard>) {
        // A member that was killed and is started again takes the place of what it was.
        let former: Vec<Session> =
            self.members.iter().filter(|(_, m)| m.name == name).map(|(&s, _)| s).collect();
        former.into_iter().filter(|&s| s != session).for_each(|s| self.remove(s, false, out));
        if self.members.len() < MAX_MEMBERS {
            self.lost.remove(&name);
            let number = Hash::new().add_bytes(name.as_bytes()).finish();
            self.members.insert(session, Member { name, number, idle: None });
            self.generation += 1;
        }
    }

    fn remove(&mut self, session: Session, lost: bool, out: &mut Vec<Heard>) {
        let Some(member) = self.members.remove(&session) else { return };
        self.generation += 1;
        if lost || member.idle.is_none_or(|position| position < self.last_work) {
            self.lost.insert(member.name.clone(), session);
        }
        out.push(Heard { from: member.name, what: HeardWhat::Left });
    }

    fn settle(&mut self) {
        let idle = |member: &Member| member.idle.is_some_and(|p| p >= self.last_work);
        if self.settled.is_none() && !self.members.is_empty() && self.members.values().all(idle) {
            let mut members: Vec<String> =
                self.members.values().map(|member| member.name.to_string()).collect();
            members.sort();
            let lost = self.lost.keys().map(ToString::to_string).collect();
            self.settled = Some(Settled { members, lost, position: self.position });
        }
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn last_work(&self) -> u64 {
        self.last_work
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The member that owns a hash, by its session.
    pub fn owner(&self, hash: u64) -> Option<Session> {
        let number = owner(hash, self.members.values().map(|member| member.number))?;
        self.members.iter().find(|(_, member)| member.number == number).map(|(&s, _)| s)
    }

    pub fn members(&self) -> impl Iterator<Item = (Session, &Arc<str>)> {
        self.members.iter().map(|(&session, member)| (session, &member.name))
    }

    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn has(&self, session: Session) -> bool {
        self.members.contains_key(&session)
    }

    /// The members that a member watches: the next three in a ring of all. Each is watched by
    /// three, and the ring closes around those that are lost, so that a thousand members need
    /// not hear each other.
    pub fn watched_by(&self, session: Session) -> Vec<Session> {
        let after = self.members.range(session + 1..).map(|(&s, _)| s);
        let before = self.members.range(..session).map(|(&s, _)| s);
        after.chain(before).take(3).collect()
    }

    pub fn settled(&self) -> Option<&Settled> {
        self.settled.as_ref()
    }

    /// Begins again, because the log does; a generation never comes twice.
    pub fn restart(&mut self) {
        *self = Ledger { generation: self.generation + 1, ..Ledger::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_campaign::run::fleet::{Report, Task};

    fn task(edge: u64) -> Body {
        Body::Task(Task { edge, bound: 0, node: 0, asked: None, bytes: [1].into() })
    }

    fn join(name: &str) -> Body {
        Body::Join { name: name.into() }
    }

    fn leave(session: Session, lost: bool) -> Body {
        Body::Leave { session, lost, report: Report::default() }
    }

    /// A log in memory, read by one member.
    #[derive(Default)]
    struct Log {
        gate: Gate,
        ledger: Ledger,
        sequence: u64,
        time: i64,
        ignored: Vec<Broken>,
    }

    impl Log {
        fn say(&mut self, session: Session, body: Body) -> Vec<Heard> {
            self.raw(session, Ok(body))
        }

        fn raw(&mut self, session: Session, body: Result<Body, Broken>) -> Vec<Heard> {
            self.sequence += 1;
            match self.gate.admit(self.sequence, self.time, Some(session), body, 100) {
                Admitted::Entry(entry) => self.ledger.apply(entry),
                Admitted::Repeated => Vec::new(),
                Admitted::Ignored(broken) => {
                    self.ignored.push(broken);
                    Vec::new()
                }
            }
        }

        fn idle(&mut self, session: Session, at: u64) {
            self.say(session, Body::Idle(Some(at)));
        }

        fn settled(&self) -> Option<Settled> {
            self.ledger.settled().cloned()
        }
    }

    #[test]
    fn a_search_is_settled_when_all_were_idle_after_the_last_work() {
        let mut log = Log::default();
        log.say(1, join("a"));
        log.say(2, join("b"));
        log.say(1, task(7));
        log.idle(1, 3);
        assert_eq!(log.settled(), None);
        log.idle(2, 2);
        assert_eq!(log.settled(), None, "b had not heard of the task");
        log.idle(2, 3);
        let settled = log.settled().unwrap();
        assert_eq!((settled.members, settled.position), (vec!["a".into(), "b".into()], 6));
        log.say(3, join("c"));
        assert!(log.settled().is_some(), "it stays");
    }

    #[test]
    fn joining_and_leaving_make_work() {
        let mut log = Log::default();
        log.say(1, join("a"));
        log.say(2, join("b"));
        log.idle(1, 2);
        log.say(2, leave(2, true));
        assert_eq!(log.settled(), None, "what b had begun is a's now");
        log.idle(1, 4);
        let settled = log.settled().unwrap();
        assert_eq!((settled.members, settled.lost), (vec!["a".into()], vec!["b".into()]));
    }

    #[test]
    fn who_comes_back_is_not_lost_and_takes_its_place() {
        let mut log = Log::default();
        log.say(1, join("a"));
        log.say(2, join("b"));
        let shares = |log: &Log| -> Vec<bool> {
            (0..100).map(|hash| log.ledger.owner(hash) == Some(1)).collect()
        };
        let (before, generation) = (shares(&log), log.ledger.generation());
        assert!(before.contains(&true) && before.contains(&false));
        let heard = log.say(3, join("b"));
        assert!(matches!(&heard[..], [Heard { from, what: HeardWhat::Left }] if &**from == "b"));
        assert_eq!(shares(&log), before);
        assert_ne!(log.ledger.generation(), generation);
        assert!(log.ledger.lost.is_empty());
        assert!(log.say(1, leave(2, true)).is_empty(), "the former session has left already");
        assert_eq!(log.ledger.len(), 2);
    }

    #[test]
    fn each_input_and_each_list_counts_once() {
        let mut log = Log::default();
        log.say(1, join("a"));
        log.say(2, join("b"));
        assert_eq!(log.say(1, task(7)).len(), 1);
        assert_eq!(log.say(2, task(7)).len(), 0);
        let news = |number| Body::News { number, news: vec![News::Done(vec![1])] };
        assert_eq!(log.say(1, news(1)).len(), 1);
        assert_eq!(log.say(1, news(1)).len(), 0);
        assert_eq!(log.say(2, news(1)).len(), 1);
        assert_eq!(log.say(1, news(2)).len(), 1);
    }

    #[test]
    fn who_is_gone_holds_nothing() {
        let mut log = Log::default();
        log.say(1, join("a"));
        let news =
            |number| Body::News { number, news: vec![News::Begun(vec![1]), News::Done(vec![2])] };
        assert_eq!(log.say(1, news(1)).len(), 2);
        log.say(1, leave(1, false));
        let heard = log.say(1, news(2));
        assert!(
            matches!(&heard[..], [Heard { what: HeardWhat::News(News::Done(_)), .. }]),
            "{heard:?}"
        );
    }

    #[test]
    fn strangers_floods_and_rubbish_are_ignored() {
        let mut log = Log::default();
        log.say(9, task(1));
        assert_eq!(log.ignored, [Broken::Stranger]);
        log.say(1, join("a"));
        log.raw(1, Err(Broken::Cut));
        assert_eq!(log.ignored, [Broken::Stranger, Broken::Cut]);
        log.ignored.clear();
        let sent = MESSAGES_PER_SECOND * BURST_SECONDS + 100;
        let heard: usize = (0..sent).map(|edge| log.say(1, task(edge)).len()).sum();
        assert!(heard < sent as usize && log.ignored.iter().all(|&why| why == Broken::Flood));
        log.time += SECOND;
        log.ignored.clear();
        for edge in 0..MESSAGES_PER_SECOND {
            log.say(1, task(sent + edge));
        }
        assert_eq!(log.ignored.len(), 0, "a second later it may send again");
        log.say(1, task(u64::MAX));
        assert_eq!(log.ignored.len(), 1);
    }

    #[test]
    fn each_member_is_watched_by_three() {
        let mut log = Log::default();
        (1..=9).for_each(|session| drop(log.say(session, join(&format!("m{session}")))));
        let mut watchers = [0; 10];
        for session in 1..=9 {
            let watched = log.ledger.watched_by(session);
            assert!(watched.len() == 3 && !watched.contains(&session));
            watched.iter().for_each(|&watched| watchers[watched as usize] += 1);
        }
        assert_eq!(watchers[1..], [3; 9]);
        assert_eq!(log.ledger.watched_by(9), [1, 2, 3]);
    }
}
