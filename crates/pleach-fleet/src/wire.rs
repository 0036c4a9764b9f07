//! Messages as bytes, and the checks of everything that comes in.
//!
//! What a message is, its subject tells; its body has what it says. A body is compressed with
//! LZ4 if that makes it smaller. Everything here comes from a network: numbers are bounded before
//! memory is allocated for them, and a body that has bytes left at its end is broken.
//!
//! Inputs and tasks have a subject of their own, made of their hash or their edge. A server
//! refuses a second message there, so that an input is stored once, whoever finds it. The
//! other messages are addressed by their sender.

use pleach_campaign::run::fleet::{
    Answer, Cover, Find, FindKind, MAX_BATCH, MAX_COVERS, News, Report, Task,
};
use pleach_search::Mark;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The version of what is described here. Members with another one are refused.
pub const PROTOCOL: u32 = 1;
/// The longest input that is sent. A server refuses messages beyond a megabyte by default; longer
/// inputs stay with who found them.
pub const MAX_INPUT: usize = 1 << 20;
/// The longest body, unpacked.
pub const MAX_BODY: usize = 8 << 20;
/// The longest text in a message: names, gaps.
pub const MAX_TEXT: usize = 256;
/// The header that names the sender.
pub const FROM: &str = "Pleach-From";

/// The number of a member from its joining to its leaving. A member that joins again has another.
pub type Session = u64;

/// What is wrong with a message, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    #[error("it is cut")]
    Cut,
    #[error("it has more than it says")]
    Rest,
    #[error("it is larger than allowed")]
    TooLarge,
    #[error("it cannot be unpacked")]
    Packing,
    #[error("its hash is not that of its contents")]
    Hash,
    #[error("it has an unknown kind")]
    Kind,
    #[error("its list is not in order")]
    Order,
    #[error("its text has characters that names do not have")]
    Text,
    #[error("its sender is not a member")]
    Stranger,
    #[error("its sender sends too much")]
    Flood,
    #[error("the campaign has too many bytes")]
    CampaignFull,
}

/// A message of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Find(Find),
    Task(Task),
    /// News in order; the number counts the messages of this session from 1.
    News {
        number: u64,
        news: Vec<News>,
    },
    Join {
        name: Arc<str>,
    },
    /// The session that has left, or is lost.
    Leave {
        session: Session,
        lost: bool,
        report: Report,
    },
    /// The sender has nothing to do and has heard the log up to there; `None`: it works.
    Idle(Option<u64>),
    Manifest,
}

/// A hash that nobody can find a second input for: of 128 bits, as text.
pub fn content_hash(kind: FindKind, bytes: &[u8]) -> u128 {
    let mut hash = Sha256::new();
    match kind {
        FindKind::Queue => hash.update(b"queue"),
        FindKind::Crash(place) => {
            hash.update(b"crash");
            hash.update(place.to_le_bytes());
        }
        FindKind::Hang => hash.update(b"hang"),
    }
    hash.update(bytes);
    let digest = hash.finalize();
    let mut first = [0; 16];
    first.copy_from_slice(&digest[..16]);
    u128::from_be_bytes(first)
}

/// What tells the contents of finds and tasks apart in memory.
pub fn content_key(body: &Body) -> Option<u128> {
    match body {
        Body::Find(find) => Some(content_hash(find.kind, &find.bytes)),
        Body::Task(task) => Some(task_key(task.edge)),
        _ => None,
    }
}

pub fn task_key(edge: u64) -> u128 {
    (1 << 127) | u128::from(edge)
}

/// The end of a message's subject, after that of its campaign.
pub fn subject(session: Session, body: &Body) -> String {
    match body {
        Body::Find(find) => {
            let hash = content_hash(find.kind, &find.bytes);
            match find.kind {
                FindKind::Queue => format!("input.{hash:032x}"),
                FindKind::Crash(place) => format!("crash.{place:016x}.{hash:032x}"),
                FindKind::Hang => format!("hang.{hash:032x}"),
            }
        }
        Body::Task(task) => format!("task.{:016x}", task.edge),
        Body::News { .. } => format!("news.{session:016x}"),
        Body::Join { .. } => format!("join.{session:016x}"),
        Body::Leave { session, .. } => format!("leave.{session:016x}"),
        Body::Idle(_) => format!("idle.{session:016x}"),
        Body::Manifest => "manifest".into(),
    }
}

pub fn encode(body: &Body) -> Vec<u8> {
    let mut out = Writer::default();
    match body {
        Body::Find(find) => {
            out.bytes(&find.bytes);
            out.covers(&find.covers);
        }
        Body::Task(task) => {
            out.u64(task.edge);
            out.number(task.bound.into());
            out.u64(task.node);
            out.number(task.asked.map_or(0, |branch| u64::from(branch) + 1));
            out.bytes(&task.bytes);
        }
        Body::News { number, news } => {
            out.number(*number);
            news.iter().for_each(|news| out.news(news));
        }
        Body::Join { name } => {
            out.number(PROTOCOL.into());
            out.bytes(name.as_bytes());
        }
        Body::Leave { session: _, lost, report } => {
            out.0.push(u8::from(*lost));
            out.report(report);
        }
        Body::Idle(position) => out.number(position.map_or(0, |position| position + 1)),
        Body::Manifest => {}
    }
    pack(&out.0)
}

/// Reads a message. `subject` is what follows that of the campaign.
pub fn decode(subject: &str, packed: &[u8]) -> Result<Body, Broken> {
    let (kind, rest) = subject.split_once('.').unwrap_or((subject, ""));
    if kind == "manifest" {
        return Ok(Body::Manifest);
    }
    let raw = unpack(packed)?;
    let mut input = Reader(&raw);
    let body = match kind {
        "input" | "crash" | "hang" => {
            let kind = match kind {
                "input" => FindKind::Queue,
                "hang" => FindKind::Hang,
                _ => FindKind::Crash(hex64(rest.split('.').next().unwrap_or(""))?),
            };
            let bytes = input.bytes(MAX_INPUT)?.into();
            Body::Find(Find { kind, bytes, covers: input.covers()? })
        }
        "task" => Body::Task(Task {
            edge: input.u64()?,
            bound: u32::try_from(input.number()?).map_err(|_| Broken::TooLarge)?,
            node: input.u64()?,
            asked: input.branch()?,
            bytes: input.bytes(MAX_INPUT)?.into(),
        }),
        "news" => {
            let number = input.number()?;
            let mut news = Vec::new();
            while !input.0.is_empty() {
                news.push(input.news()?);
            }
            Body::News { number, news }
        }
        "join" => {
            if input.number()? != u64::from(PROTOCOL) {
                return Err(Broken::Kind);
            }
            Body::Join { name: input.name()? }
        }
        "leave" => {
            Body::Leave { session: hex64(rest)?, lost: input.u8()? != 0, report: input.report()? }
        }
        "idle" => Body::Idle(input.number()?.checked_sub(1)),
        _ => return Err(Broken::Kind),
    };
    if !input.0.is_empty() {
        return Err(Broken::Rest);
    }
    let stated = match &body {
        Body::Find(_) | Body::Task(_) | Body::Leave { .. } => subject,
        _ => return Ok(body),
    };
    if self::subject(0, &body) == stated { Ok(body) } else { Err(Broken::Hash) }
}

/// A report that a member sends beside the log.
pub fn encode_report(report: &Report) -> Vec<u8> {
    let mut out = Writer::default();
    out.report(report);
    out.0
}

pub fn decode_report(bytes: &[u8]) -> Result<Report, Broken> {
    let mut input = Reader(bytes);
    let report = input.report()?;
    if input.0.is_empty() { Ok(report) } else { Err(Broken::Rest) }
}

pub fn hex64(text: &str) -> Result<u64, Broken> {
    let plain = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    u64::from_str_radix(text, 16).ok().filter(|_| plain).ok_or(Broken::Kind)
}

/// True if a name cannot leave a directory and does not confuse a terminal.
pub fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// The first byte says if the rest is packed; then comes the length unpacked.
fn pack(raw: &[u8]) -> Vec<u8> {
    let packed = lz4_flex::compress_prepend_size(raw);
    let (tag, body) = if packed.len() < raw.len() { (1, &packed[..]) } else { (0, raw) };
    let mut out = Vec::with_capacity(body.len() + 1);
    out.push(tag);
    out.extend_from_slice(body);
    out
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>, Broken> {
    match packed.split_first() {
        Some((0, raw)) if raw.len() <= MAX_BODY => Ok(raw.to_vec()),
        Some((1, rest)) => {
            let (size, rest) = rest.split_first_chunk::<4>().ok_or(Broken::Cut)?;
            let size = u32::from_le_bytes(*size) as usize;
            if size > MAX_BODY {
                return Err(Broken::TooLarge);
            }
            lz4_flex::decompress(rest, size).map_err(|_| Broken::Packing)
        }
        Some((0, _)) => Err(Broken::TooLarge),
        Some(_) => Err(Broken::Kind),
        None => Err(Broken::Cut),
    }
}

/// The tags of news.
const BEGUN: u8 = 1;
const DONE: u8 = 2;
const ANSWERS: u8 = 3;
const PARTIAL: u8 = 4;

#[derive(Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    pub fn u64(&mut self, n: u64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    /// A number in groups of seven bits, the lowest first.
    pub fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Branches as differences, and all counts after them: both pack well.
    fn covers(&mut self, covers: &[Cover]) {
        self.number(covers.len() as u64);
        let mut next = 0;
        for cover in covers {
            self.number(u64::from(cover.branch.wrapping_sub(next)));
            next = cover.branch.wrapping_add(1);
        }
        self.0.extend(covers.iter().map(|cover| cover.count));
    }

    fn edges(&mut self, tag: u8, edges: &[u64]) {
        self.0.push(tag);
        self.number(edges.len() as u64);
        edges.iter().for_each(|&edge| self.u64(edge));
    }

    pub fn news(&mut self, news: &News) {
        match news {
            News::Begun(edges) => self.edges(BEGUN, edges),
            News::Done(edges) => self.edges(DONE, edges),
            News::Answers(answers) => {
                self.0.push(ANSWERS);
                self.number(answers.len() as u64);
                for answer in answers {
                    self.u64(answer.edge);
                    self.0.push(answer.mark as u8);
                }
            }
            News::Partial(gap) => {
                self.0.push(PARTIAL);
                self.bytes(gap.as_bytes());
            }
            // They are messages of their own.
            News::Find(_) | News::Task(_) => {}
        }
    }

    fn report(&mut self, report: &Report) {
        let Report { runs, pace, branches, inputs, crashes, hangs } = *report;
        for n in [runs, pace, branches, inputs, crashes, hangs] {
            self.number(n);
        }
    }
}

pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Broken> {
        let (head, rest) = self.0.split_at_checked(len).ok_or(Broken::Cut)?;
        self.0 = rest;
        Ok(head)
    }

    fn u8(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
    }

    fn u64(&mut self) -> Result<u64, Broken> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    pub fn number(&mut self) -> Result<u64, Broken> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                return Err(Broken::TooLarge);
            }
            n |= bits << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(Broken::TooLarge)
    }

    /// The number of things of that size that follow.
    fn count(&mut self, most: usize, size: usize) -> Result<usize, Broken> {
        let count = usize::try_from(self.number()?).map_err(|_| Broken::TooLarge)?;
        if count > most {
            return Err(Broken::TooLarge);
        }
        if count * size > self.0.len() {
            return Err(Broken::Cut);
        }
        Ok(count)
    }

    pub fn bytes(&mut self, most: usize) -> Result<&'a [u8], Broken> {
        let len = self.count(most, 1)?;
        self.take(len)
    }

    fn branch(&mut self) -> Result<Option<u32>, Broken> {
        let branch = self.number()?.checked_sub(1).map(u32::try_from).transpose();
        branch.map_err(|_| Broken::TooLarge)
    }

    fn text(&mut self) -> Result<&'a str, Broken> {
        let text = std::str::from_utf8(self.bytes(MAX_TEXT)?).map_err(|_| Broken::Text)?;
        if text.chars().any(char::is_control) { Err(Broken::Text) } else { Ok(text) }
    }

    fn name(&mut self) -> Result<Arc<str>, Broken> {
        let name = self.text()?;
        if is_name(name) { Ok(name.into()) } else { Err(Broken::Text) }
    }

    fn covers(&mut self) -> Result<Vec<Cover>, Broken> {
        let count = self.count(MAX_COVERS, 2)?;
        let mut covers = Vec::with_capacity(count);
        let mut next = 0u64;
        for _ in 0..count {
            let branch = next.checked_add(self.number()?).ok_or(Broken::TooLarge)?;
            let branch = u32::try_from(branch).map_err(|_| Broken::Order)?;
            covers.push(Cover { branch, count: 0 });
            next = u64::from(branch) + 1;
        }
        for (cover, &count) in covers.iter_mut().zip(self.take(count)?) {
            cover.count = count;
        }
        Ok(covers)
    }

    fn edges(&mut self) -> Result<Vec<u64>, Broken> {
        let count = self.count(MAX_BATCH, 8)?;
        (0..count).map(|_| self.u64()).collect()
    }

    pub fn news(&mut self) -> Result<News, Broken> {
        Ok(match self.u8()? {
            BEGUN => News::Begun(self.edges()?),
            DONE => News::Done(self.edges()?),
            ANSWERS => {
                let count = self.count(MAX_BATCH, 9)?;
                let answer = |_| Ok(Answer { edge: self.u64()?, mark: answered_mark(self.u8()?)? });
                News::Answers((0..count).map(answer).collect::<Result<_, Broken>>()?)
            }
            PARTIAL => News::Partial(self.text()?.to_string()),
            _ => return Err(Broken::Kind),
        })
    }

    fn report(&mut self) -> Result<Report, Broken> {
        Ok(Report {
            runs: self.number()?,
            pace: self.number()?,
            branches: self.number()?,
            inputs: self.number()?,
            crashes: self.number()?,
            hangs: self.number()?,
        })
    }
}

fn answered_mark(byte: u8) -> Result<Mark, Broken> {
    [Mark::Unknown, Mark::Unsat, Mark::Optimistic, Mark::Sat]
        .into_iter()
        .find(|&mark| mark as u8 == byte)
        .ok_or(Broken::Kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies() -> Vec<Body> {
        let covers = vec![
            Cover { branch: 0, count: 1 },
            Cover { branch: 7, count: 255 },
            Cover { branch: u32::MAX, count: 3 },
        ];
        let bytes: Arc<[u8]> = (0..1000).map(|i| (i / 7) as u8).collect();
        let find = |kind| Body::Find(Find { kind, bytes: bytes.clone(), covers: covers.clone() });
        vec![
            find(FindKind::Queue),
            find(FindKind::Crash(5)),
            find(FindKind::Hang),
            Body::Find(Find { kind: FindKind::Queue, bytes: [].into(), covers: vec![] }),
            Body::Task(Task {
                edge: 3,
                bound: 300,
                node: u64::MAX,
                asked: Some(4),
                bytes: bytes.clone(),
            }),
            Body::News {
                number: 77,
                news: vec![
                    News::Begun(vec![1, 2]),
                    News::Done(vec![u64::MAX]),
                    News::Answers(vec![Answer { edge: 9, mark: Mark::Unsat }]),
                    News::Partial("a gap".into()),
                ],
            },
            Body::Join { name: "host-1a2b".into() },
            Body::Leave {
                session: 12,
                lost: true,
                report: Report { runs: 1, pace: 2, branches: 3, ..Report::default() },
            },
            Body::Idle(None),
            Body::Idle(Some(0)),
            Body::Idle(Some(1 << 40)),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        for body in bodies() {
            assert_eq!(decode(&subject(7, &body), &encode(&body)), Ok(body));
        }
    }

    #[test]
    fn broken_messages_are_refused() {
        for body in bodies() {
            let (subject, raw) = (subject(7, &body), unpack(&encode(&body)).unwrap());
            let plain = |raw: &[u8]| [&[0], raw].concat();
            for cut in 0..raw.len() {
                // Shorter lists of news are messages as well.
                let result = decode(&subject, &plain(&raw[..cut]));
                assert!(result.is_err() || matches!(body, Body::News { .. }), "{body:?} {cut}");
            }
            let longer = plain(&[&raw[..], &[0]].concat());
            assert!(decode(&subject, &longer).is_err(), "{body:?}");
            for at in 0..raw.len() {
                let mut changed = raw.clone();
                changed[at] ^= 0x55;
                let _ = decode(&subject, &plain(&changed));
            }
        }
    }

    #[test]
    fn an_input_has_the_hash_that_its_subject_says() {
        let body = &bodies()[0];
        let other = format!("input.{:032x}", 5);
        assert_eq!(decode(&other, &encode(body)), Err(Broken::Hash));
    }

    #[test]
    fn sizes_are_bounded_before_memory_is_taken() {
        let mut bomb = vec![1];
        bomb.extend_from_slice(&u32::MAX.to_le_bytes());
        bomb.extend_from_slice(&[0; 16]);
        assert_eq!(decode("task.0000000000000000", &bomb), Err(Broken::TooLarge));
        let mut out = Writer::default();
        out.number(1);
        out.0.push(BEGUN);
        out.number(u64::MAX);
        assert_eq!(decode("news.0000000000000000", &pack(&out.0)), Err(Broken::TooLarge));
    }

    #[test]
    fn names_stay_in_their_directory() {
        for name in ["", "../x", "a/b", "a b", ".", "\u{1b}[2J", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
            let mut out = Writer::default();
            out.number(PROTOCOL.into());
            out.bytes(name.as_bytes());
            assert_eq!(decode("join.0000000000000001", &pack(&out.0)), Err(Broken::Text));
        }
        assert!(is_name("host_1-ab"));
    }
}
