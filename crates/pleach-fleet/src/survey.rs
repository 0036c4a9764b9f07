//! The log as someone reads it who is no member.

use crate::address::Address;
use crate::duty::{BEAT, READ_AHEAD, read};
use crate::error::JoinError;
use crate::link::{Link, runtime};
use crate::log::{Admitted, Gate, Ledger};
use crate::wire::{self, Body, FROM, Session};
use futures_util::StreamExt;
use pleach_campaign::run::fleet::{Find, FindKind, HeardWhat, News, Report, Settled};
use pleach_search::bucket;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How many inputs are taken of one member that add nothing to what others say they cover. Two
/// members may find the same at once, but not so often.
const MAX_WITHOUT_GAIN: u64 = 4096;

/// What a campaign has.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Without secrets.
    pub campaign: String,
    /// The parts of the build, and the first member's `run.toml`.
    pub build: Vec<(String, String)>,
    pub run: String,
    pub members: Vec<MemberState>,
    pub inputs: u64,
    pub crashes: u64,
    pub hangs: u64,
    pub tasks: u64,
    pub done: u64,
    pub answers: u64,
    /// The branches that someone covered, as far as the inputs say.
    pub branches: u64,
    pub gaps: Vec<String>,
    pub messages: u64,
    pub bytes: u64,
    /// Messages that members ignore.
    pub ignored: u64,
    pub settled: Option<Settled>,
}

/// A member, or one that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberState {
    pub name: String,
    pub is_member: bool,
    /// It left, and nobody heard of it before.
    pub is_lost: bool,
    /// A member that answered just now; the last that others heard of it otherwise.
    pub answers: bool,
    pub report: Report,
    /// What it told first.
    pub inputs: u64,
    pub crashes: u64,
    pub hangs: u64,
}

/// Reads the whole log and asks the members how they are.
pub fn survey(url: &str, creds: Option<&Path>) -> Result<Survey, JoinError> {
    fetch(url, creds, |_, _| Ok::<(), JoinError>(()))
}

/// An input of the log.
pub struct Found<'a> {
    /// The name of its finder, and how many it had found before.
    pub from: &'a str,
    pub number: u64,
    /// Milliseconds since the campaign began.
    pub time_ms: u64,
    /// The branches that are covered with it, as far as the inputs say.
    pub branches: u64,
    pub find: &'a Find,
}

/// The same, and hands over all finds in the order of the log, with what is known before them.
pub fn fetch<E: From<JoinError>>(
    url: &str,
    creds: Option<&Path>,
    mut keep: impl FnMut(&Survey, Found) -> Result<(), E>,
) -> Result<Survey, E> {
    let address = Address::parse(url)?;
    let options = address.login(creds)?;
    runtime()?.block_on(async {
        let link = Link::connect(address, options).await?;
        let error = |trouble| link.join_error(trouble);
        let no_campaign = || JoinError::NoCampaign { address: link.address.to_string() };
        let stream = link.stream().await.map_err(error)?.ok_or_else(no_campaign)?;
        let manifest = link.manifest(&stream).await.map_err(error)?.ok_or_else(no_campaign)?;
        let mut reading = Reading::default();
        reading.survey.campaign = link.address.to_string();
        reading.survey.build = manifest.build;
        reading.survey.run = manifest.run;
        let end = stream.cached_info().state.last_sequence;
        reading.survey.bytes = stream.cached_info().state.bytes;
        let prefix = link.subject("").len();
        let mut messages = read(&stream, 1, READ_AHEAD).await.map_err(error)?;
        let mut seen = 0;
        while seen < end {
            let away = |why: String| JoinError::NoServer { address: link.address.to_string(), why };
            let message = match messages.next().await {
                Some(Ok(message)) => message,
                Some(Err(error)) => return Err(away(error.to_string()).into()),
                None => return Err(away("it stopped sending".into()).into()),
            };
            let info = message.info().map_err(|error| away(error.to_string()))?;
            seen = info.stream_sequence;
            let time = info.published.unix_timestamp_nanos() as i64;
            let from = message.headers.as_ref().and_then(|headers| headers.get(FROM));
            let session = from.and_then(|from| wire::hex64(from.as_str()).ok());
            let subject = message.subject.get(prefix..).unwrap_or("");
            let body = wire::decode(subject, &message.payload);
            reading.take(seen, time, session, body, message.payload.len(), &mut keep)?;
        }
        let answers = ask(&link, reading.ledger.len()).await;
        Ok(reading.finish(&answers))
    })
}

/// How all members are that answer within a moment.
async fn ask(link: &Link, members: usize) -> HashMap<Session, Report> {
    let mut answers = HashMap::new();
    let inbox = link.client.new_inbox();
    let Ok(mut replies) = link.client.subscribe(inbox.clone()).await else { return answers };
    if link.client.publish_with_reply(link.live("ping"), inbox, Vec::new().into()).await.is_err() {
        return answers;
    }
    let deadline = tokio::time::Instant::now() + BEAT.min(Duration::from_millis(1500));
    while answers.len() < members {
        let Ok(Some(reply)) = tokio::time::timeout_at(deadline, replies.next()).await else {
            break;
        };
        if let Some((session, rest)) = reply.payload.split_first_chunk::<8>()
            && let Ok(report) = wire::decode_report(rest)
        {
            answers.insert(u64::from_le_bytes(*session), report);
        }
    }
    answers
}

#[derive(Default)]
struct Reading {
    gate: Gate,
    ledger: Ledger,
    survey: Survey,
    members: BTreeMap<Arc<str>, MemberState>,
    /// The time of the first message.
    start: Option<i64>,
    /// The hit counts of branches, as [`bucket`] has them.
    covered: HashMap<u32, u8>,
    /// Inputs of each member that added nothing to it.
    without_gain: HashMap<Arc<str>, u64>,
}

impl Reading {
    fn take<E>(
        &mut self,
        sequence: u64,
        time: i64,
        session: Option<Session>,
        body: Result<Body, wire::Broken>,
        size: usize,
        keep: &mut impl FnMut(&Survey, Found) -> Result<(), E>,
    ) -> Result<(), E> {
        self.survey.messages += 1;
        let start = *self.start.get_or_insert(time);
        if body == Ok(Body::Manifest) {
            return Ok(());
        }
        let entry = match self.gate.admit(sequence, time, session, body, size) {
            Admitted::Entry(entry) => entry,
            Admitted::Repeated => return Ok(()),
            Admitted::Ignored(_) => {
                self.survey.ignored += 1;
                return Ok(());
            }
        };
        let from = entry.from.clone();
        if let Body::Leave { session, lost, report } = &entry.body
            && let Some(name) = self.gate.name(*session).cloned()
        {
            let member = self.member(&name);
            member.is_lost = *lost;
            member.report = *report;
        }
        if let Body::Join { name } = &entry.body {
            self.member(name).is_lost = false;
        }
        for heard in self.ledger.apply(entry) {
            let HeardWhat::News(news) = heard.what else { continue };
            if let News::Find(find) = &news
                && !self.is_worth_keeping(&from, find)
            {
                self.survey.ignored += 1;
                continue;
            }
            let member = self.member(&from);
            match &news {
                News::Find(find) => {
                    let counter = match find.kind {
                        FindKind::Queue => &mut member.inputs,
                        FindKind::Crash(_) => &mut member.crashes,
                        FindKind::Hang => &mut member.hangs,
                    };
                    *counter += 1;
                    let number = *counter - 1;
                    let branches = self.covered.len() as u64;
                    let time_ms = ((time - start) / 1_000_000).max(0) as u64;
                    keep(&self.survey, Found { from: &from, number, time_ms, branches, find })?;
                }
                News::Task(_) => self.survey.tasks += 1,
                News::Done(edges) => self.survey.done += edges.len() as u64,
                News::Answers(answers) => self.survey.answers += answers.len() as u64,
                News::Partial(gap) => {
                    if !self.survey.gaps.contains(gap) && self.survey.gaps.len() < 100 {
                        self.survey.gaps.push(gap.clone());
                    }
                }
                News::Begun(_) => {}
            }
        }
        Ok(())
    }

    /// Adds what an input covers. False if its finder has sent too many that add nothing.
    fn is_worth_keeping(&mut self, from: &Arc<str>, find: &Find) -> bool {
        let mut adds = false;
        for cover in &find.covers {
            let seen = self.covered.entry(cover.branch).or_default();
            let bit = bucket(cover.count);
            adds |= *seen & bit != bit;
            *seen |= bit;
        }
        let count = self.without_gain.entry(from.clone()).or_default();
        *count += u64::from(!adds);
        adds || *count <= MAX_WITHOUT_GAIN
    }

    fn member(&mut self, name: &Arc<str>) -> &mut MemberState {
        self.members.entry(name.clone()).or_insert_with(|| MemberState {
            name: name.to_string(),
            is_member: false,
            is_lost: false,
            answers: false,
            report: Report::default(),
            inputs: 0,
            crashes: 0,
            hangs: 0,
        })
    }

    fn finish(mut self, answers: &HashMap<Session, Report>) -> Survey {
        let now: Vec<(Session, Arc<str>)> =
            self.ledger.members().map(|(session, name)| (session, name.clone())).collect();
        for (session, name) in now {
            let member = self.member(&name);
            member.is_member = true;
            if let Some(report) = answers.get(&session) {
                (member.answers, member.report) = (true, *report);
            }
        }
        let mut survey = self.survey;
        survey.members = self.members.into_values().collect();
        let sum = |f: fn(&MemberState) -> u64| survey.members.iter().map(f).sum();
        (survey.inputs, survey.crashes, survey.hangs) =
            (sum(|m| m.inputs), sum(|m| m.crashes), sum(|m| m.hangs));
        survey.branches = self.covered.len() as u64;
        survey.settled = self.ledger.settled().cloned();
        survey
    }
}
