//! One member of a fleet, behind the trait that the campaign knows. Every call locks the state
//! for a moment; the network is served by the thread of [`crate::duty`].

use crate::duty::Duty;
use crate::error::JoinError;
use crate::link::Connection;
use crate::log::{Entry, Gate, Ledger};
use crate::outbox::Outbox;
use crate::spool::Spool;
use crate::wire::{Broken, Session, is_name};
use pleach_campaign::run::fleet::{Fleet, Heard, HeardWhat, News, Report, Settled, View};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The most that waits on disk for a server.
const SPOOL_BYTES: u64 = 4 << 30;
/// How long [`Fleet::leave`] waits for the server. A campaign ends within a second.
const LEAVE_TIME: Duration = Duration::from_millis(700);
/// The part of it that is for saying so, when everything else is sent.
pub const GOODBYE_TIME: Duration = Duration::from_millis(250);

/// What waits to be heard.
pub enum Arrival {
    Entry(Entry),
    Lost,
}

/// What the campaign and the thread of the network share.
pub struct State {
    pub name: Arc<str>,
    pub session: Session,
    pub outbox: Outbox,
    pub gate: Gate,
    pub ledger: Ledger,
    pub inbox: VecDeque<Arrival>,
    pub inbox_bytes: usize,
    /// The position of the log that was read from the network.
    pub seen: u64,
    /// The campaign had nothing to do when it had heard this.
    pub idle_at: Option<u64>,
    pub report: Report,
    pub reports: HashMap<Session, (Report, Instant)>,
    pub connected: bool,
    /// It wants to leave, and will have left then.
    pub leaving: Option<Instant>,
    pub ended: bool,
    pub told: u64,
    pub told_bytes: u64,
    pub heard: u64,
    pub heard_bytes: u64,
    pub ignored: BTreeMap<String, u64>,
    /// What is wrong, by its kind.
    pub notes: BTreeMap<&'static str, String>,
}

pub struct Shared {
    state: Mutex<State>,
    /// There is something to send, or to end.
    pub work: Notify,
    /// There is room for what is read.
    pub room: Notify,
    pub ended: Condvar,
    pub dir: PathBuf,
    pub campaign: String,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another name than the one it has: another member uses a copy of the directory.
    pub fn rename(&self) -> Arc<str> {
        let name = new_name();
        // A name that cannot be written is lost at the next start, which is no harm.
        let _ = std::fs::write(self.dir.join("name"), &name);
        name.into()
    }
}

impl State {
    /// About what an arrival takes in memory.
    fn cost(arrival: &Arrival) -> usize {
        use crate::wire::Body;
        match arrival {
            Arrival::Entry(Entry { body: Body::Find(find), .. }) => {
                find.bytes.len() + find.covers.len() * 8 + 128
            }
            Arrival::Entry(Entry { body: Body::Task(task), .. }) => task.bytes.len() + 128,
            _ => 512,
        }
    }

    pub fn arrive(&mut self, arrival: Arrival) {
        self.inbox_bytes += State::cost(&arrival);
        self.inbox.push_back(arrival);
    }

    pub fn ignore(&mut self, sender: &str, why: Broken) {
        // A flood of made-up senders does not fill the table.
        let known = self.ignored.contains_key(sender) || self.ignored.len() < 1000;
        let sender = if known { sender } else { "others" };
        *self.ignored.entry(sender.to_string()).or_default() += 1;
        self.notes.insert("ignored", format!("a message of {sender} was ignored: {why}"));
    }

    /// The position for which this member may say that it is idle.
    pub fn idle_position(&self) -> Option<u64> {
        self.idle_at.filter(|&position| {
            self.outbox.is_empty() && self.inbox.is_empty() && position >= self.ledger.last_work()
        })
    }
}

pub struct Member {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Member {
    pub fn start(connection: Connection, dir: &Path) -> Result<Member, JoinError> {
        let dir = dir.join("fleet");
        let disk = |path: &Path| {
            let path = path.to_path_buf();
            move |error: std::io::Error| JoinError::Disk { path, why: error.to_string() }
        };
        std::fs::create_dir_all(&dir).map_err(disk(&dir))?;
        let path = dir.join("name");
        let known = std::fs::read_to_string(&path).ok().filter(|name| is_name(name));
        let name = match known {
            Some(name) => name,
            None => {
                let name = new_name();
                std::fs::write(&path, &name).map_err(disk(&path))?;
                name
            }
        };
        let path = dir.join("spool");
        let outbox = Spool::open(&path, SPOOL_BYTES).map(Outbox::new).map_err(disk(&path))?;
        let state = State {
            name: name.into(),
            session: 0,
            outbox,
            gate: Gate::default(),
            ledger: Ledger::default(),
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            seen: 0,
            idle_at: None,
            report: Report::default(),
            reports: HashMap::new(),
            connected: false,
            leaving: None,
            ended: false,
            told: 0,
            told_bytes: 0,
            heard: 0,
            heard_bytes: 0,
            ignored: BTreeMap::new(),
            notes: BTreeMap::new(),
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            work: Notify::new(),
            room: Notify::new(),
            ended: Condvar::new(),
            dir,
            campaign: connection.link.address.to_string(),
        });
        let Connection { runtime, link, manifest, .. } = connection;
        let duty = Duty::new(shared.clone(), link, manifest);
        let thread = std::thread::Builder::new()
            .name("fleet".into())
            .spawn(move || runtime.block_on(duty.run()))
            .map_err(disk(Path::new("thread of the network")))?;
        Ok(Member { shared, thread: Mutex::new(Some(thread)) })
    }

    fn end(&self) {
        let mut state = self.shared.lock();
        let deadline = *state.leaving.get_or_insert_with(|| Instant::now() + LEAVE_TIME);
        self.shared.work.notify_one();
        while !state.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // The thread is held up. What it has not sent must not be lost with it.
                state.outbox.spill();
                return;
            }
            state = match self.shared.ended.wait_timeout(state, left) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        drop(state);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It has ended already; a panic there was printed.
            let _ = thread.join();
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.end();
    }
}

impl Fleet for Member {
    fn tell(&self, news: News) {
        self.shared.lock().outbox.tell(news);
        self.shared.work.notify_one();
    }

    fn hear(&self, max: usize) -> Vec<Heard> {
        let mut state = self.shared.lock();
        let mut out = Vec::new();
        while out.len() < max {
            let Some(arrival) = state.inbox.pop_front() else { break };
            state.inbox_bytes -= State::cost(&arrival);
            match arrival {
                Arrival::Entry(entry) => out.extend(state.ledger.apply(entry)),
                Arrival::Lost => {
                    state.ledger.restart();
                    out.push(Heard { from: state.name.clone(), what: HeardWhat::Lost });
                }
            }
        }
        if !out.is_empty() {
            state.idle_at = None;
        }
        drop(state);
        self.shared.room.notify_one();
        out
    }

    fn owns(&self, hash: u64) -> bool {
        let state = self.shared.lock();
        state.ledger.owner(hash) == Some(state.session)
    }

    fn generation(&self) -> u64 {
        self.shared.lock().ledger.generation()
    }

    fn members(&self) -> usize {
        self.shared.lock().ledger.len()
    }

    fn set_idle(&self, idle: bool) {
        let mut state = self.shared.lock();
        let at = idle.then(|| state.ledger.position());
        let changed = state.idle_at != at;
        state.idle_at = at;
        drop(state);
        if changed {
            self.shared.work.notify_one();
        }
    }

    fn settled(&self) -> Option<Settled> {
        self.shared.lock().ledger.settled().cloned()
    }

    fn report(&self, report: Report) {
        self.shared.lock().report = report;
    }

    fn view(&self) -> View {
        let state = self.shared.lock();
        let report = |session| match session == state.session {
            true => state.report,
            false => state.reports.get(&session).map_or(Report::default(), |(r, _)| *r),
        };
        let mut members: Vec<(String, Report)> =
            state.ledger.members().map(|(s, name)| (name.to_string(), report(s))).collect();
        members.sort_by(|a, b| a.0.cmp(&b.0));
        let mut notes: Vec<String> = state.notes.values().cloned().collect();
        let outbox = &state.outbox;
        if outbox.too_large > 0 {
            notes.push(format!("{} inputs are too long to be sent", outbox.too_large));
        }
        if outbox.dropped > 0 {
            notes.push(format!(
                "{} messages were dropped, because the directory takes no more of what waits for \
                 the server",
                outbox.dropped
            ));
        }
        View {
            name: state.name.to_string(),
            campaign: self.shared.campaign.clone(),
            connected: state.connected,
            members,
            unsent: outbox.len(),
            told: state.told,
            told_bytes: state.told_bytes,
            heard: state.heard,
            heard_bytes: state.heard_bytes,
            ignored: state.ignored.iter().map(|(name, &n)| (name.clone(), n)).collect(),
            notes,
        }
    }

    fn leave(&self) {
        self.end();
    }
}

/// The machine's name, as far as it is made of letters, and a number.
fn new_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host: String = host
        .trim()
        .chars()
        .take_while(|&c| c != '.')
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .take(24)
        .collect();
    let host = if host.is_empty() { "member".into() } else { host };
    format!("{host}-{:08x}", fastrand::u32(..))
}
