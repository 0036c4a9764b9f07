//! What this member has told and no server has stored yet.
//!
//! Inputs and tasks are sent many at a time, in any order among themselves: nothing is wrong if
//! one comes earlier than it was told. Other news are sent one list at a time, and only when all
//! inputs and tasks told before them are stored. So a task that is done never loses the
//! tasks that it made.
//!
//! While the server is away, or takes less than is told, everything waits on disk ([`Spool`]).

use crate::log::{BYTES_PER_SECOND, MESSAGES_PER_SECOND};
use crate::spool::Spool;
use crate::wire::{self, Body, MAX_INPUT, Reader, Writer};
use pleach_campaign::run::fleet::{Cover, MAX_BATCH, News, Task};
use pleach_search::Mark;
use std::collections::VecDeque;
use std::time::Instant;

/// What waits in memory at most, before the rest waits on disk.
const MEMORY_MESSAGES: usize = 8192;
const MEMORY_BYTES: usize = 32 << 20;
/// What is under way to the server at most.
const WINDOW_MESSAGES: usize = 256;
const WINDOW_BYTES: usize = 4 << 20;
/// A list of news is sent before it is longer than this.
const NEWS_BYTES: usize = 96 << 10;

pub struct Outbox {
    contents: VecDeque<(u64, Body)>,
    news: VecDeque<(u64, News)>,
    /// The list of news that is under way: its number, how many of `news` it has.
    under_way: Option<(u64, usize)>,
    last_number: u64,
    next: u64,
    bytes: usize,
    spool: Spool,
    /// The number of records on disk that are not in memory.
    spooled: u64,
    away: bool,
    pace: Pace,
    /// News that were not sent because they are too large or the disk is full.
    pub dropped: u64,
    pub too_large: u64,
}

/// When a list of news is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    Now,
    /// What the members' work depends on: what is begun and done.
    Soon,
    /// Answers only: they save others from asking what nobody needs at once.
    Later,
}

/// Sends at half the speed that others accept.
struct Pace {
    messages: f64,
    bytes: f64,
    then: Instant,
}

impl Pace {
    const MESSAGES: f64 = MESSAGES_PER_SECOND as f64 / 2.0;
    const BYTES: f64 = BYTES_PER_SECOND as f64 / 2.0;

    fn fill(&mut self) {
        let passed = self.then.elapsed().as_secs_f64();
        self.then = Instant::now();
        self.messages = (self.messages + passed * Pace::MESSAGES).min(Pace::MESSAGES);
        self.bytes = (self.bytes + passed * Pace::BYTES).min(Pace::BYTES);
    }
}

impl Outbox {
    pub fn new(spool: Spool) -> Outbox {
        Outbox {
            contents: VecDeque::new(),
            news: VecDeque::new(),
            under_way: None,
            last_number: 0,
            next: 0,
            bytes: 0,
            spooled: u64::from(!spool.is_empty()),
            spool,
            away: true,
            pace: Pace { messages: 0.0, bytes: 0.0, then: Instant::now() },
            dropped: 0,
            too_large: 0,
        }
    }

    pub fn tell(&mut self, news: News) {
        match news {
            News::Find(find) if find.bytes.len() > MAX_INPUT => self.too_large += 1,
            News::Task(Task { bytes, .. }) if bytes.len() > MAX_INPUT => {
                self.too_large += 1;
                self.tell(News::Partial("an input was too long for the fleet".into()));
            }
            News::Begun(edges) => {
                edges.chunks(MAX_BATCH).for_each(|some| self.keep(News::Begun(some.to_vec())));
            }
            News::Done(edges) => {
                edges.chunks(MAX_BATCH).for_each(|some| self.keep(News::Done(some.to_vec())));
            }
            News::Answers(mut answers) => {
                answers.retain(|answer| {
                    matches!(
                        answer.mark,
                        Mark::Unknown | Mark::Unsat | Mark::Optimistic | Mark::Sat
                    )
                });
                for some in answers.chunks(MAX_BATCH) {
                    self.keep(News::Answers(some.to_vec()));
                }
            }
            news => self.keep(news),
        }
    }

    fn keep(&mut self, news: News) {
        let full =
            self.contents.len() + self.news.len() >= MEMORY_MESSAGES || self.bytes >= MEMORY_BYTES;
        if self.away || full || !self.spool.is_empty() {
            self.write(&news);
        } else {
            self.load(news);
        }
    }

    fn write(&mut self, news: &News) {
        match self.spool.push(&record(news)) {
            Ok(true) => self.spooled += 1,
            Ok(false) | Err(_) => self.dropped += 1,
        }
    }

    fn load(&mut self, news: News) {
        self.next += 1;
        self.bytes += size(&news);
        match news {
            News::Find(find) => self.contents.push_back((self.next, Body::Find(find))),
            News::Task(task) => self.contents.push_back((self.next, Body::Task(task))),
            news => self.news.push_back((self.next, news)),
        }
    }

    /// The server is away: what is in memory waits on disk, in order.
    pub fn spill(&mut self) {
        if self.away {
            return;
        }
        self.away = true;
        let mut contents = std::mem::take(&mut self.contents).into_iter().peekable();
        let mut news = std::mem::take(&mut self.news).into_iter().peekable();
        (self.bytes, self.under_way) = (0, None);
        let count = (contents.len() + news.len()) as u64;
        if self.spool.has_taken() {
            // All of it was read from there.
            self.spooled += count;
            return self.spool.put_back();
        }
        let mut records = Vec::new();
        loop {
            let from_contents = match (contents.peek(), news.peek()) {
                (Some((content, _)), Some((news, _))) => content < news,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let next = if from_contents {
                contents.next().and_then(|(_, body)| into_news(body))
            } else {
                news.next().map(|(_, news)| news)
            };
            records.extend(next.as_ref().map(record));
        }
        if count > 0 {
            match self.spool.push_front(&records) {
                Ok(()) => self.spooled += count,
                Err(_) => self.dropped += count,
            }
        }
    }

    /// The server is back.
    pub fn resume(&mut self) {
        self.away = false;
    }

    /// The lists of a new session count from 1.
    pub fn new_session(&mut self) {
        (self.last_number, self.under_way) = (0, None);
    }

    /// Inputs and tasks to send now; they stay here until they are stored.
    pub fn window(&mut self) -> Vec<(u64, Body)> {
        self.refill();
        self.pace.fill();
        let mut window = Vec::new();
        let mut bytes = 0;
        for (index, body) in &self.contents {
            let enough = window.len() >= WINDOW_MESSAGES || bytes >= WINDOW_BYTES;
            if enough || self.pace.messages < 1.0 || self.pace.bytes <= 0.0 {
                break;
            }
            bytes += body_size(body);
            self.pace.messages -= 1.0;
            self.pace.bytes -= body_size(body) as f64;
            window.push((*index, body.clone()));
        }
        window
    }

    /// That input or task is stored, or never will be.
    pub fn settle(&mut self, index: u64) {
        if let Ok(at) = self.contents.binary_search_by_key(&index, |&(index, _)| index)
            && let Some((_, body)) = self.contents.remove(at)
        {
            self.bytes = self.bytes.saturating_sub(body_size(&body));
        }
    }

    /// The covers of an input make it too long for the server: it goes without.
    pub fn strip(&mut self, index: u64) -> bool {
        let at = self.contents.binary_search_by_key(&index, |&(index, _)| index);
        match at.ok().map(|at| &mut self.contents[at].1) {
            Some(Body::Find(find)) if !find.covers.is_empty() => {
                find.covers = Vec::new();
                true
            }
            _ => false,
        }
    }

    /// How many news can go with the next list.
    fn ready(&self) -> usize {
        let before = self.contents.front().map_or(u64::MAX, |&(index, _)| index);
        let ready = self.news.iter().take_while(|&&(index, _)| index < before);
        let sizes = ready.scan(0, |bytes, (_, news)| {
            *bytes += size(news);
            Some(*bytes)
        });
        // One goes, however long it is.
        let mut count = 0;
        for bytes in sizes {
            if count > 0 && bytes > NEWS_BYTES {
                break;
            }
            count += 1;
        }
        count
    }

    /// What the next list has; `None` if there is none. Answers can wait for others.
    pub fn urgency(&mut self) -> Option<Urgency> {
        self.refill();
        if self.under_way.is_some() {
            return Some(Urgency::Now);
        }
        let count = self.ready();
        let is_answer = |news: &News| matches!(news, News::Answers(_));
        match count {
            0 => None,
            _ if count < self.news.len() => Some(Urgency::Now),
            _ if self.news.iter().take(count).all(|(_, news)| is_answer(news)) => {
                Some(Urgency::Later)
            }
            _ => Some(Urgency::Soon),
        }
    }

    /// The next list of news, with its number: the same until it is stored.
    pub fn list(&mut self) -> Option<(u64, Vec<News>)> {
        self.refill();
        if self.under_way.is_none() {
            let count = self.ready();
            if count > 0 {
                self.last_number += 1;
                self.under_way = Some((self.last_number, count));
            }
        }
        let (number, count) = self.under_way?;
        Some((number, self.news.iter().take(count).map(|(_, news)| news.clone()).collect()))
    }

    /// The list that was under way is stored.
    pub fn settle_list(&mut self) {
        if let Some((_, count)) = self.under_way.take() {
            for (_, news) in self.news.drain(..count) {
                self.bytes = self.bytes.saturating_sub(size(&news));
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.contents.is_empty() && self.news.is_empty() && self.spool.is_empty()
    }

    pub fn has_contents(&self) -> bool {
        !self.contents.is_empty()
    }

    pub fn len(&self) -> u64 {
        (self.contents.len() + self.news.len()) as u64 + self.spooled
    }

    /// The next file of the spool, when everything in memory is stored.
    fn refill(&mut self) {
        while !self.away && self.contents.is_empty() && self.news.is_empty() {
            if self.spool.is_empty() {
                self.spooled = 0;
                return;
            }
            let records = match self.spool.take() {
                Ok(records) => records.unwrap_or_default(),
                Err(_) => {
                    self.dropped += 1;
                    Vec::new()
                }
            };
            self.spooled = self.spooled.saturating_sub(records.len() as u64);
            records.iter().filter_map(|record| news(record)).for_each(|news| self.load(news));
        }
    }
}

fn into_news(body: Body) -> Option<News> {
    match body {
        Body::Find(find) => Some(News::Find(find)),
        Body::Task(task) => Some(News::Task(task)),
        _ => None,
    }
}

fn body_size(body: &Body) -> usize {
    match body {
        Body::Find(find) => find.bytes.len() + find.covers.len() * 2 + 64,
        Body::Task(task) => task.bytes.len() + 64,
        _ => 64,
    }
}

/// About what it takes, in memory and in a message.
fn size(news: &News) -> usize {
    match news {
        News::Find(find) => find.bytes.len() + find.covers.len() * size_of::<Cover>() / 4 + 64,
        News::Task(task) => task.bytes.len() + 64,
        News::Begun(edges) | News::Done(edges) => edges.len() * 8 + 4,
        News::Answers(answers) => answers.len() * 9 + 4,
        News::Partial(gap) => gap.len() + 4,
    }
}

/// A record of the spool: the subject of a message that has its own, and its body; or news.
fn record(news: &News) -> Vec<u8> {
    let body = match news {
        News::Find(find) => Body::Find(find.clone()),
        News::Task(task) => Body::Task(task.clone()),
        other => {
            let mut out = Writer(vec![0]);
            out.news(other);
            return out.0;
        }
    };
    let mut out = Writer(vec![1]);
    out.bytes(wire::subject(0, &body).as_bytes());
    out.0.extend_from_slice(&wire::encode(&body));
    out.0
}

fn news(record: &[u8]) -> Option<News> {
    let (&tag, rest) = record.split_first()?;
    let mut input = Reader(rest);
    if tag == 0 {
        return input.news().ok();
    }
    let subject = std::str::from_utf8(input.bytes(wire::MAX_TEXT).ok()?).ok()?;
    into_news(wire::decode(subject, input.0).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_campaign::run::fleet::{Find, FindKind};
    use std::path::Path;

    fn outbox(dir: &Path) -> Outbox {
        Outbox::new(Spool::open(dir, u64::MAX).unwrap())
    }

    fn task(edge: u64) -> News {
        News::Task(Task { edge, bound: 1, node: 2, asked: None, bytes: [3; 10].into() })
    }

    fn done(edge: u64) -> News {
        News::Done(vec![edge])
    }

    /// Sends everything to a server that stores it.
    fn drain(outbox: &mut Outbox) -> Vec<News> {
        let mut out = Vec::new();
        loop {
            outbox.pace.messages = 1e9;
            outbox.pace.bytes = 1e9;
            let window = outbox.window();
            let list = if window.is_empty() { outbox.list() } else { None };
            if window.is_empty() && list.is_none() {
                assert!(outbox.is_empty() && outbox.spooled == 0);
                return out;
            }
            for (index, body) in window {
                outbox.settle(index);
                out.extend(into_news(body));
            }
            if let Some((_, news)) = list {
                outbox.settle_list();
                out.extend(news);
            }
        }
    }

    #[test]
    fn nothing_overtakes_an_input_that_was_told_before() {
        let dir = tempfile::tempdir().unwrap();
        let mut outbox = outbox(dir.path());
        outbox.resume();
        [task(1), done(0), task(2), done(1), done(2)]
            .into_iter()
            .for_each(|news| outbox.tell(news));
        outbox.pace.messages = 100.0;
        outbox.pace.bytes = 1e9;
        assert_eq!((outbox.list(), outbox.urgency()), (None, None));
        let window = outbox.window();
        assert_eq!(window.len(), 2);
        outbox.settle(window[0].0);
        assert_eq!(outbox.urgency(), Some(Urgency::Now), "others wait for the second task");
        assert_eq!(outbox.list(), Some((1, vec![done(0)])));
        assert_eq!(outbox.list(), Some((1, vec![done(0)])), "the same until it is stored");
        outbox.settle_list();
        assert_eq!(outbox.list(), None);
        outbox.settle(window[1].0);
        assert_eq!(outbox.urgency(), Some(Urgency::Soon));
        assert_eq!(outbox.list(), Some((2, vec![done(1), done(2)])));
        outbox.settle_list();
        assert!(outbox.is_empty());
    }

    #[test]
    fn everything_waits_on_disk_while_the_server_is_away() {
        let dir = tempfile::tempdir().unwrap();
        let mut outbox = outbox(dir.path());
        outbox.resume();
        let find = News::Find(Find {
            kind: FindKind::Crash(8),
            bytes: [1; 100].into(),
            covers: vec![Cover { branch: 4, count: 2 }],
        });
        let told = [task(1), find, done(1), News::Partial("gap".into())];
        told.iter().cloned().for_each(|news| outbox.tell(news));
        outbox.spill();
        outbox.tell(done(7));
        assert_eq!(outbox.len(), 5);
        // The server comes, is away again before it has stored anything, and comes.
        outbox.resume();
        assert_eq!(outbox.window().len(), 0, "the pace begins at nothing");
        outbox.tell(done(8));
        outbox.spill();
        drop(outbox);
        let mut outbox = super::tests::outbox(dir.path());
        outbox.resume();
        let expected: Vec<News> = told.into_iter().chain([done(7), done(8)]).collect();
        assert_eq!(drain(&mut outbox), expected);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn more_than_memory_takes_waits_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let mut outbox = outbox(dir.path());
        outbox.resume();
        let count = 3 * MEMORY_MESSAGES as u64;
        (0..count).for_each(|edge| outbox.tell(task(edge)));
        assert!(outbox.contents.len() <= MEMORY_MESSAGES && outbox.len() == count);
        assert_eq!(drain(&mut outbox), (0..count).map(task).collect::<Vec<_>>());
    }

    #[test]
    fn inputs_that_are_too_long_are_not_sent() {
        let dir = tempfile::tempdir().unwrap();
        let mut outbox = outbox(dir.path());
        outbox.resume();
        let bytes = vec![0; MAX_INPUT + 1].into();
        outbox.tell(News::Task(Task { edge: 1, bound: 0, node: 0, asked: None, bytes }));
        assert_eq!(outbox.too_large, 1);
        assert!(matches!(&drain(&mut outbox)[..], [News::Partial(_)]));
    }
}
