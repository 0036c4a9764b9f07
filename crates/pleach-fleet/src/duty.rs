//! The thread of the network: it keeps the connection, reads the log, sends what was told, and
//! watches three other members.
//!
//! Whatever goes wrong, it stops everything, waits a moment, checks the campaign on the server
//! and begins again: there is one way for a lost connection, a server that was killed, a new
//! leader in a cluster and a store that was lost.

use crate::link::{Link, Manifest, Stored, Trouble, stored, unanswered};
use crate::log::Admitted;
use crate::member::{Arrival, GOODBYE_TIME, Shared};
use crate::outbox::Urgency;
use crate::wire::{self, Body, FROM, Session};
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt;
use pleach_campaign::run::fleet::Report;
use pleach_hash::Hash;
use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often members say that they live, at least; large fleets do it more rarely.
pub const BEAT: Duration = Duration::from_secs(2);
/// A member of whom this many beats are missing is lost.
const LOST_BEATS: u32 = 5;
/// In fleets up to this size everyone hears everyone, so that all can show all.
const SMALL_FLEET: usize = 32;
/// What waits to be heard at most.
const INBOX_MESSAGES: usize = 8192;
const INBOX_BYTES: usize = 64 << 20;
/// How often a server is asked to send the log.
const CREATE_ATTEMPTS: u32 = 3;
/// How many messages the server sends ahead. It ends a connection on which 64 MB wait, and a
/// message has little more than 1 MiB at most.
pub const READ_AHEAD: usize = 48;

/// How often a member says how it is between two beats. Who floods it with questions is not
/// answered.
const MAX_ANSWERS: u32 = 50;
/// After so long without trouble, what went wrong before does not count.
const STABLE: Duration = Duration::from_secs(30);

pub struct Duty {
    shared: Arc<Shared>,
    link: Link,
    manifest: Manifest,
    /// A hash of the last message that was read, to see if a server still has it.
    last_read: u64,
    /// The position of this member's joining; `None` if it has to join.
    joined: Option<u64>,
    /// What it said last: idle up to there.
    said_idle: Option<u64>,
    /// Inputs whose subject was taken when they were sent, and the end of the log at that time.
    refused: HashMap<u64, u64>,
    /// How often something went wrong lately.
    failures: u32,
}

impl Duty {
    pub fn new(shared: Arc<Shared>, link: Link, manifest: Manifest) -> Duty {
        Duty {
            shared,
            link,
            manifest,
            last_read: 0,
            joined: None,
            said_idle: None,
            refused: HashMap::new(),
            failures: 0,
        }
    }

    pub async fn run(mut self) {
        let mut connected = self.link.connected.clone();
        loop {
            let trouble = if !*connected.borrow_and_update() {
                tokio::select! {
                    biased;
                    _ = leaving(&self.shared) => break,
                    _ = connected.changed() => continue,
                }
            } else {
                let begun = Instant::now();
                let prepared = self.prepare().await;
                let served = match prepared {
                    Ok(stream) => self.serve(&stream).await,
                    Err(trouble) => Err(trouble),
                };
                if begun.elapsed() > STABLE {
                    self.failures = 0;
                }
                match served {
                    Ok(()) => break,
                    Err(trouble) => trouble,
                }
            };
            if self.pause(&trouble).await {
                break;
            }
        }
        let mut state = self.shared.lock();
        state.outbox.spill();
        state.connected = false;
        state.ended = true;
        drop(state);
        self.shared.ended.notify_all();
    }

    /// Notes what is wrong, and waits a moment. True if the member leaves.
    async fn pause(&mut self, trouble: &Trouble) -> bool {
        let note = match trouble {
            Trouble::Again => None,
            Trouble::Away(_) => Some("the server is away; this member continues alone".into()),
            Trouble::Full(why) => Some(format!("the store of the server is full ({why})")),
            Trouble::NoJetStream => Some("the server runs without JetStream".into()),
            Trouble::Refused(why) => Some(format!("the server refuses: {why}")),
        };
        if let Some(note) = note {
            let mut state = self.shared.lock();
            state.connected = false;
            state.outbox.spill();
            state.notes.insert("server", note);
        }
        let wait = match trouble {
            Trouble::Again => Duration::ZERO,
            // Members that all come back at once must not keep a busy server busy.
            _ => {
                let most = 400 << self.failures.min(5);
                Duration::from_millis(300 + fastrand::u64(..most))
            }
        };
        self.failures += 1;
        tokio::select! {
            _ = leaving(&self.shared) => true,
            () = tokio::time::sleep(wait) => false,
        }
    }

    /// Finds out if the server has the campaign as this member knows it, makes it if it is
    /// gone, and joins.
    async fn prepare(&mut self) -> Result<Stream, Trouble> {
        let (stream, manifest) = self.link.agree(&self.manifest.renewed()).await?;
        if manifest.id != self.manifest.id {
            if !self.manifest.agrees(&manifest) {
                return Err(Trouble::Refused("its campaign now has another build".into()));
            }
            self.manifest = manifest;
            self.lose();
        } else if !self.is_continued(&stream).await? {
            self.lose();
        }
        if self.joined.is_none() {
            self.join().await?;
        }
        let mut state = self.shared.lock();
        state.connected = true;
        state.outbox.resume();
        state.notes.remove("server");
        drop(state);
        Ok(stream)
    }

    /// True if the log still has what was read last.
    async fn is_continued(&self, stream: &Stream) -> Result<bool, Trouble> {
        let seen = self.shared.lock().seen;
        let last = stream.cached_info().state.last_sequence;
        if seen == 0 || last < seen {
            return Ok(seen == 0);
        }
        match stream.get_raw_message(seen).await {
            Ok(message) => Ok(digest(&message.subject, &message.payload) == self.last_read),
            Err(error) => match unanswered(&error) {
                Trouble::Away(why) if why.contains("no message") => Ok(false),
                trouble => Err(trouble),
            },
        }
    }

    /// The log begins again.
    fn lose(&mut self) {
        let mut state = self.shared.lock();
        if state.seen > 0 {
            state.inbox.clear();
            state.inbox_bytes = 0;
            state.arrive(Arrival::Lost);
            state.gate = Default::default();
            state.seen = 0;
        }
        drop(state);
        self.refused.clear();
        (self.joined, self.said_idle, self.last_read) = (None, None, 0);
    }

    async fn join(&mut self) -> Result<(), Trouble> {
        let session = fastrand::u64(1..);
        let name = {
            let mut state = self.shared.lock();
            state.session = session;
            state.outbox.new_session();
            state.name.clone()
        };
        self.said_idle = None;
        self.joined = match self.say(session, &Body::Join { name }, true).await? {
            Stored::At(sequence) => Some(sequence),
            Stored::Already | Stored::TooLarge => return Err(Trouble::Again),
        };
        Ok(())
    }

    async fn say(&self, session: Session, body: &Body, only: bool) -> Result<Stored, Trouble> {
        let payload = wire::encode(body);
        self.count_told(payload.len());
        let subject = self.link.subject(&wire::subject(session, body));
        self.link.store(subject, session, payload, only).await
    }

    fn count_told(&self, bytes: usize) {
        let mut state = self.shared.lock();
        state.told += 1;
        state.told_bytes += bytes as u64;
    }

    /// Does everything at once until something is wrong, or the member has left.
    async fn serve(&mut self, stream: &Stream) -> Result<(), Trouble> {
        let mut connected = self.link.connected.clone();
        let (shared, link) = (self.shared.clone(), self.link.clone());
        let reader = Reader {
            shared: shared.clone(),
            joined: self.joined.unwrap_or(0),
            last_read: &mut self.last_read,
            rejoin: &mut self.joined,
        };
        let mut sender = Sender {
            shared: shared.clone(),
            link: link.clone(),
            stream: stream.clone(),
            said_idle: &mut self.said_idle,
            refused: &mut self.refused,
        };
        let result = tokio::select! {
            result = reader.run(stream) => result,
            result = sender.run() => result,
            result = keep_watch(&shared, &link) => result,
            result = check(&shared, stream) => result,
            _ = connected.wait_for(|connected| !connected) => {
                Err(Trouble::Away("the connection is lost".into()))
            }
            () = emptied(&shared) => Ok(()),
        };
        if result.is_ok() {
            let (session, report) = {
                let state = shared.lock();
                (state.session, state.report)
            };
            let leave = Body::Leave { session, lost: false, report };
            // If it does not come through, others will find that this member is lost.
            let _ = tokio::time::timeout(GOODBYE_TIME, self.say(session, &leave, true)).await;
        }
        result
    }
}

/// Ends when the member wants to leave. Returns when it will have left.
async fn leaving(shared: &Shared) -> Instant {
    loop {
        if let Some(deadline) = shared.lock().leaving {
            return deadline;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Ends when the member wants to leave and everything is sent, or it cannot wait any longer.
async fn emptied(shared: &Shared) {
    let deadline = leaving(shared).await - GOODBYE_TIME;
    while !shared.lock().outbox.is_empty() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn digest(subject: &str, payload: &[u8]) -> u64 {
    Hash::new().add_bytes(subject.as_bytes()).add_bytes(payload).finish()
}

/// Looks from time to time if the stream is still there.
async fn check(shared: &Shared, stream: &Stream) -> Result<(), Trouble> {
    loop {
        let members = shared.lock().ledger.len();
        tokio::time::sleep(Duration::from_secs(5) + Duration::from_millis(10) * members as u32)
            .await;
        let info = stream.get_info().await.map_err(|error| unanswered(&error))?;
        if info.state.last_sequence < shared.lock().seen {
            return Err(Trouble::Again);
        }
    }
}

struct Reader<'a> {
    shared: Arc<Shared>,
    joined: u64,
    last_read: &'a mut u64,
    rejoin: &'a mut Option<u64>,
}

impl Reader<'_> {
    async fn run(mut self, stream: &Stream) -> Result<(), Trouble> {
        let mut seen = self.shared.lock().seen;
        let prefix = stream.cached_info().config.subjects.first().map_or(0, |s| s.len() - 1);
        let mut messages = read(stream, seen + 1, READ_AHEAD).await?;
        let mut is_first = true;
        loop {
            self.wait_for_room().await;
            let message = match messages.next().await {
                Some(Ok(message)) => message,
                Some(Err(error)) => return Err(unanswered(&error)),
                None => return Err(Trouble::Away("the server stopped sending".into())),
            };
            let info = message.info().map_err(|error| Trouble::Refused(error.to_string()))?;
            if info.stream_sequence <= seen {
                continue;
            }
            // Messages that an administrator has deleted are missing for everyone.
            if info.stream_sequence != seen + 1 && !is_first {
                return Err(Trouble::Again);
            }
            is_first = false;
            seen = info.stream_sequence;
            let time = info.published.unix_timestamp_nanos() as i64;
            let from = message.headers.as_ref().and_then(|headers| headers.get(FROM));
            let session = from.and_then(|from| wire::hex64(from.as_str()).ok());
            *self.last_read = digest(&message.subject, &message.payload);
            let subject = message.subject.get(prefix..).unwrap_or("");
            self.take(seen, time, session, subject, &message.payload)?;
        }
    }

    async fn wait_for_room(&self) {
        loop {
            {
                let state = self.shared.lock();
                if state.inbox.len() < INBOX_MESSAGES && state.inbox_bytes < INBOX_BYTES {
                    return;
                }
            }
            self.shared.room.notified().await;
        }
    }

    fn take(
        &mut self,
        sequence: u64,
        time: i64,
        session: Option<Session>,
        subject: &str,
        payload: &[u8],
    ) -> Result<(), Trouble> {
        let mut state = self.shared.lock();
        state.seen = sequence;
        state.heard += 1;
        state.heard_bytes += payload.len() as u64;
        let body = wire::decode(subject, payload);
        if body == Ok(Body::Manifest) {
            return Ok(());
        }
        match state.gate.admit(sequence, time, session, body, payload.len()) {
            Admitted::Repeated => Ok(()),
            Admitted::Ignored(broken) => {
                let name = session.and_then(|session| state.gate.name(session).cloned());
                state.ignore(name.as_deref().unwrap_or("unknown"), broken);
                Ok(())
            }
            Admitted::Entry(entry) => {
                let mine = state.session;
                let again = match &entry.body {
                    // Others have not heard of this member for too long, and it lives.
                    Body::Leave { session, .. } => *session == mine && state.leaving.is_none(),
                    // Someone else has this name: a copy of the directory.
                    Body::Join { name } => {
                        let copied =
                            *name == state.name && entry.session != mine && sequence > self.joined;
                        if copied {
                            state.name = self.shared.rename();
                        }
                        copied
                    }
                    _ => false,
                };
                state.arrive(Arrival::Entry(entry));
                if again {
                    *self.rejoin = None;
                    return Err(Trouble::Again);
                }
                Ok(())
            }
        }
    }
}

/// The messages of a stream from a position on.
pub async fn read(
    stream: &Stream,
    start_sequence: u64,
    ahead: usize,
) -> Result<pull::Stream, Trouble> {
    let config = pull::Config {
        // Who asks again, because a busy server took too long, gets the same consumer.
        name: Some(format!("{:016x}", fastrand::u64(..))),
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence },
        ack_policy: AckPolicy::None,
        inactive_threshold: Duration::from_secs(60),
        memory_storage: true,
        num_replicas: 1,
        ..pull::Config::default()
    };
    let mut attempt = 1;
    let consumer = loop {
        match stream.create_consumer(config.clone()).await {
            Ok(consumer) => break consumer,
            Err(_) if attempt < CREATE_ATTEMPTS => attempt += 1,
            Err(error) => return Err(unanswered(&error)),
        }
    };
    consumer
        .stream()
        .max_messages_per_batch(ahead)
        .expires(Duration::from_secs(20))
        .heartbeat(Duration::from_secs(5))
        .messages()
        .await
        .map_err(|error| unanswered(&error))
}

struct Sender<'a> {
    shared: Arc<Shared>,
    link: Link,
    stream: Stream,
    said_idle: &'a mut Option<u64>,
    refused: &'a mut HashMap<u64, u64>,
}

impl Sender<'_> {
    async fn run(&mut self) -> Result<(), Trouble> {
        loop {
            match self.send().await {
                Ok(never) => match never {},
                // Reading goes on; what is told waits, in memory first.
                Err(Trouble::Full(why)) => {
                    let note = format!("the store of the server is full ({why})");
                    self.shared.lock().notes.insert("store", note);
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                Err(trouble) => return Err(trouble),
            }
        }
    }

    async fn send(&mut self) -> Result<Infallible, Trouble> {
        let mut last_list = Instant::now();
        loop {
            let (moved, wait) = self.send_contents().await?;
            let mut wait = wait;
            if let Some(urgency) = self.urgency() {
                let linger = self.linger(urgency).saturating_sub(last_list.elapsed());
                if linger.is_zero() {
                    last_list = Instant::now();
                    self.send_list().await?;
                    continue;
                }
                wait = wait.min(linger);
            }
            self.say_idle().await?;
            if moved {
                continue;
            }
            tokio::select! {
                () = self.shared.work.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    fn urgency(&self) -> Option<Urgency> {
        self.shared.lock().outbox.urgency()
    }

    async fn send_list(&self) -> Result<(), Trouble> {
        let (session, list) = {
            let mut state = self.shared.lock();
            (state.session, state.outbox.list())
        };
        if let Some((number, news)) = list {
            self.say(session, &Body::News { number, news }).await?;
            self.shared.lock().outbox.settle_list();
        }
        Ok(())
    }

    /// Lists of news are collected for a while, the longer the more members hear them.
    fn linger(&self, urgency: Urgency) -> Duration {
        let members = self.shared.lock().ledger.len() as u64;
        Duration::from_millis(match urgency {
            Urgency::Now => 0,
            Urgency::Soon => (10 + members).min(1000),
            Urgency::Later => (20 * members).min(2000),
        })
    }

    async fn say(&self, session: Session, body: &Body) -> Result<Stored, Trouble> {
        let payload = wire::encode(body);
        {
            let mut state = self.shared.lock();
            state.told += 1;
            state.told_bytes += payload.len() as u64;
        }
        let subject = self.link.subject(&wire::subject(session, body));
        let stored = self.link.store(subject, session, payload, false).await?;
        self.shared.lock().notes.remove("store");
        Ok(stored)
    }

    /// Sends a window of inputs and tasks. Returns if anything was stored, and how long to wait
    /// otherwise.
    async fn send_contents(&mut self) -> Result<(bool, Duration), Trouble> {
        let (session, window) = {
            let mut state = self.shared.lock();
            (state.session, state.outbox.window())
        };
        let waiting = Duration::from_millis(20);
        if window.is_empty() {
            let has = self.shared.lock().outbox.has_contents();
            return Ok((false, if has { waiting } else { Duration::from_secs(1) }));
        }
        let max_payload = self.link.client.server_info().max_payload.saturating_sub(1024);
        let mut under_way = Vec::new();
        let mut moved = false;
        for (index, body) in window {
            let key = wire::content_key(&body).unwrap_or_default();
            let mut only = true;
            {
                let mut state = self.shared.lock();
                if state.gate.knows(key) {
                    state.outbox.settle(index);
                    moved = true;
                    continue;
                }
                match self.refused.get(&index) {
                    // The subject has a message, and it is not this input: it was rubbish.
                    Some(&end) if state.seen >= end => only = false,
                    Some(_) => continue,
                    None => {}
                }
            }
            let payload = wire::encode(&body);
            if payload.len() > max_payload {
                self.too_large(index);
                moved = true;
                continue;
            }
            {
                let mut state = self.shared.lock();
                state.told += 1;
                state.told_bytes += payload.len() as u64;
            }
            let subject = self.link.subject(&wire::subject(session, &body));
            let ack = self.link.publish(subject, session, payload, only).await?;
            under_way.push((index, ack));
        }
        let mut already = Vec::new();
        for (index, ack) in under_way {
            match stored(ack.await)? {
                Stored::At(_) => {
                    self.refused.remove(&index);
                    let mut state = self.shared.lock();
                    state.outbox.settle(index);
                    state.notes.remove("store");
                    moved = true;
                }
                Stored::Already => already.push(index),
                Stored::TooLarge => {
                    self.too_large(index);
                    moved = true;
                }
            }
        }
        if !already.is_empty() {
            let info = self.stream.get_info().await.map_err(|error| unanswered(&error))?;
            let end = info.state.last_sequence;
            self.refused.extend(already.into_iter().map(|index| (index, end)));
        }
        Ok((moved, waiting))
    }

    fn too_large(&self, index: u64) {
        let mut state = self.shared.lock();
        if !state.outbox.strip(index) {
            state.outbox.settle(index);
            state.outbox.too_large += 1;
        }
    }

    async fn say_idle(&mut self) -> Result<(), Trouble> {
        let (session, position, stale) = {
            let state = self.shared.lock();
            let last_work = state.ledger.last_work();
            let stale = self.said_idle.is_none_or(|said| said < last_work);
            (state.session, state.idle_position(), stale)
        };
        match position {
            Some(position) if stale => {
                // Whoever is idle often changes its mind within a moment.
                tokio::time::sleep(Duration::from_millis(30)).await;
                if self.shared.lock().idle_position() == Some(position) {
                    self.say(session, &Body::Idle(Some(position))).await?;
                    *self.said_idle = Some(position);
                }
            }
            None if !stale && self.shared.lock().idle_at.is_none() => {
                self.say(session, &Body::Idle(None)).await?;
                *self.said_idle = None;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Says that this member lives, hears that others do, and declares lost who does not.
async fn keep_watch(shared: &Shared, link: &Link) -> Result<(), Trouble> {
    let failed = |error: &(dyn std::error::Error + 'static)| unanswered(error);
    let mut pings =
        link.client.subscribe(link.live("ping")).await.map_err(|error| failed(&error))?;
    let mut ears: BTreeMap<String, async_nats::Subscriber> = BTreeMap::new();
    let mut watched: HashMap<Session, Instant> = HashMap::new();
    let mut last_round = Instant::now();
    loop {
        let (session, members, report, watch) = {
            let state = shared.lock();
            let watch = state.ledger.watched_by(state.session);
            (state.session, state.ledger.len(), state.report, watch)
        };
        let beat = BEAT.max(Duration::from_millis(5) * members as u32);
        // A process that was stopped has heard nobody, and that was its own fault.
        if last_round.elapsed() > beat * 2 {
            watched.clear();
        }
        last_round = Instant::now();
        let live = link.live(&format!("beat.{session:016x}"));
        let payload = wire::encode_report(&report).into();
        link.client.publish(live, payload).await.map_err(|error| failed(&error))?;

        let wanted: Vec<String> = if members <= SMALL_FLEET {
            vec!["beat.*".into()]
        } else {
            watch.iter().map(|session| format!("beat.{session:016x}")).collect()
        };
        ears.retain(|subject, _| wanted.contains(subject));
        for subject in wanted {
            if let Entry::Vacant(place) = ears.entry(subject) {
                let ear = link.client.subscribe(link.live(place.key())).await;
                place.insert(ear.map_err(|error| failed(&error))?);
            }
        }
        let now = Instant::now();
        watched.retain(|session, _| watch.contains(session));
        for &session in &watch {
            watched.entry(session).or_insert(now);
        }

        let until = tokio::time::Instant::now() + beat;
        let mut answered = 0;
        loop {
            let mut heard = futures_util::stream::select_all(ears.values_mut());
            tokio::select! {
                () = tokio::time::sleep_until(until) => break,
                Some(ping) = pings.next() => {
                    // Who asks gets the answer itself, and not the log.
                    let asker = ping.reply.filter(|reply| reply.starts_with("_INBOX."));
                    if let Some(reply) = asker.filter(|_| answered < MAX_ANSWERS) {
                        answered += 1;
                        let mut answer = session.to_le_bytes().to_vec();
                        answer.extend(wire::encode_report(&shared.lock().report));
                        link.client
                            .publish(reply, answer.into())
                            .await
                            .map_err(|error| failed(&error))?;
                    }
                }
                Some(message) = heard.next() => {
                    let from = message.subject.rsplit('.').next().unwrap_or("");
                    let (Ok(from), Ok(report)) =
                        (wire::hex64(from), wire::decode_report(&message.payload))
                    else {
                        continue;
                    };
                    let mut state = shared.lock();
                    if state.ledger.has(from) {
                        state.reports.insert(from, (report, Instant::now()));
                    }
                    watched.entry(from).and_modify(|heard| *heard = Instant::now());
                }
            }
        }
        {
            let mut state = shared.lock();
            let state = &mut *state;
            state.reports.retain(|&session, _| state.ledger.has(session));
        }
        for (&silent, heard) in &watched {
            if heard.elapsed() > beat * LOST_BEATS && last_round.elapsed() < beat * 2 {
                let report =
                    shared.lock().reports.get(&silent).map_or(Report::default(), |(r, _)| *r);
                let leave = Body::Leave { session: silent, lost: true, report };
                let subject = link.subject(&wire::subject(session, &leave));
                link.store(subject, session, wire::encode(&leave), true).await?;
            }
        }
    }
}
