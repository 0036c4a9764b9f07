//! A campaign: one search of one program in one directory.
//!
//! [`Campaign::begin`] or [`Campaign::resume`] checks everything that the user may have got
//! wrong before anything is touched. [`Campaign::run`] works until the search is exhausted,
//! a limit is reached or it is told to stop.
//!
//! - `ring`: choose, solve, run, judge, keep, tell the strategy. Start reading there.
//! - `state`: what the ring works on, in named parts: `search` (tree, runs, strategy,
//!   coverage), `corpus` (inputs in memory, directory, journal), `account` (statistics).
//! - `shared`: what all workers share, and the order of locks.
//! - `exchange`: files of other fuzzers while a campaign runs.
//! - `fleet`: what the members of a campaign on several machines tell each other.
//! - `grammar`: what is derived from a grammar, and how it fits the program.
//! - `hybrid`: the ring on a live run.
//! - `threads`: workers, limits of time, and the view of a running campaign. `watchdog`
//!   notices workers that do not come back.

mod account;
mod clock;
mod corpus;
mod exchange;
pub mod fleet;
mod grammar;
mod hybrid;
mod memory;
mod places;
mod ring;
mod search;
mod settings;
mod shared;
mod state;
mod threads;
mod watchdog;

pub use account::{
    Actions, Branches, FleetMember, FleetStats, Flips, Functions, Guard, Hybrid as HybridStats,
    Inquiry, Ledger, Lock, Loss, Module, Obstacle, Place, PlaceStats, PlotPoint, Reached, Reason,
    Sight, Sights, Stats, Stop, Symbolic, Sync, Tally, Time, Tokens,
};
pub use corpus::{BranchEntries, Dir, DirError, Disk, Kept, asked_flips};
pub use grammar::Source;
pub use memory::{MIN_MEMORY, Memory};
pub use places::{FoundPlace, PlaceError, Places};
pub use search::{Map, records};
pub use settings::{
    DictionarySettings, ExchangeSettings, GrammarSettings, Hybrid, MAX_HOLE, Settings, Text,
    Toward, build_of,
};
pub use shared::Limits;
pub use threads::Snapshot;
pub use watchdog::Stall;

use crate::mutate::Dictionary;
use account::Account;
use corpus::{Corpus, EdgeFile, Journal, Needs, Past, Record, Scratch, Seed};
use exchange::{AllTaken, Announcement, Exchange, Watcher};
use fleet::{Fleet, Mail, Post, Split};
use grammar::{Fit, Language, MISFIT_SENTENCES, Stock};
use memory::Shares;
use pleach_exec::container::is_container;
use pleach_exec::executor::ExecError;
use pleach_exec::layout::Layout;
use pleach_exec::scratch::WorkDir;
use pleach_exec::triage::readme;
use pleach_search::{
    Aim, Descriptor, Members, Options, Rng, Strategy, Tree, UnknownStrategy, find,
};
use pleach_template::{Grafts, Strings, Vocabulary};
use ring::{Bets, Crashes, Growing, Pace, Patience};
use search::{AskedLengths, Covered, Search};
use shared::{Shared, SharedTokens};
use state::{Progress, State};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use thiserror::Error;

/// How many sentences are run at most to learn the numbers of tokens.
const MAX_PROBES: usize = 500;

#[derive(Debug, Error)]
pub enum CampaignError {
    #[error(transparent)]
    Strategy(#[from] UnknownStrategy),
    #[error(transparent)]
    Grammar(#[from] pleach_template::StringsError),
    #[error(transparent)]
    Tokens(#[from] pleach_template::TokensError),
    #[error(transparent)]
    Grafts(#[from] pleach_template::GraftsError),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Dir(#[from] DirError),
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error("{}: {error}", path.display())]
    Io { path: std::path::PathBuf, error: io::Error },
    #[error(
        "{}: cannot be written to: {error}; what is there is complete, and can be resumed",
        path.display()
    )]
    Write { path: std::path::PathBuf, error: io::Error },
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

/// What a campaign is made of, new or resumed.
pub struct Setup {
    pub layout: Arc<Layout>,
    pub settings: Settings,
    pub limits: Limits,
    pub jobs: usize,
    /// The grammar that the settings name.
    pub grammar: Option<Source>,
    /// The files of the directory that the settings name.
    pub workdir: Option<WorkDir>,
    /// The words of the dictionaries that the settings name.
    pub words: Vec<Vec<u8>>,
    /// Notes for the user from before it began.
    pub notes: Vec<String>,
}

impl Setup {
    /// `salt` is 0 for a new campaign. A resumed one draws other sentences than at first.
    fn parts(&self, salt: u64) -> Result<Parts, CampaignError> {
        let settings = &self.settings;
        let seed = settings.seed.wrapping_add(salt);
        let asked = settings.grammar.as_ref();
        let per_string = asked.map_or(u32::MAX, |g| g.per_string);
        let grammar = self.grammar.is_some();
        let tokens = !search::token_functions(&self.layout).is_empty();
        let flip_share = f64::from(settings.flip_share_percent) / 100.0;
        let max_waiting = Shares::new(settings.max_memory, self.jobs).waiting;
        let map = Arc::new(Map::new(self.layout.clone()));
        let known = Places::new(map.functions());
        let find_place = |toward: &Toward| known.find(&toward.place);
        let places = settings.toward.iter().map(find_place).collect::<Result<Vec<_>, _>>()?;
        let goals = places.iter().map(|place| place.goal.clone()).collect();
        let aim = Arc::new(Aim::new(&map.program, goals));
        let options = Options {
            depth: settings.depth,
            per_string,
            grammar,
            tokens,
            flip_share,
            max_waiting,
            aim: (!places.is_empty()).then(|| aim.clone()),
        };
        let descriptor = find(&settings.strategy)?;
        let strategy = descriptor.make(options);
        let language = match (&self.grammar, asked) {
            (Some(source), Some(asked)) => {
                Some(Language::new(source, asked, descriptor.derives, seed)?)
            }
            _ => None,
        };
        let token_use = descriptor.tokens.filter(|_| tokens);
        let shared_tokens = match (&self.grammar, token_use) {
            (Some(source), Some(token_use)) => {
                Some(SharedTokens { vocabulary: RwLock::new(source.vocabulary()?), token_use })
            }
            _ => None,
        };
        let (mut probes, mut untried) = (Vec::new(), None);
        match (&self.grammar, &shared_tokens) {
            (Some(source), Some(_)) => probes = source.probes(seed, MAX_PROBES)?,
            (Some(source), None) if tokens => {
                // Not every draw gives a sentence.
                probes = source.probes(seed, 2 * MISFIT_SENTENCES)?;
                untried = source.vocabulary().ok();
            }
            _ => {}
        }
        let stock = match &self.grammar {
            Some(source) if descriptor.grafts => {
                Some(Mutex::new(Stock::new(Grafts::new(&source.grammar, seed)?)))
            }
            _ => None,
        };
        let tokens = shared_tokens;
        Ok(Parts {
            descriptor,
            strategy,
            language,
            tokens,
            stock,
            probes,
            untried,
            map,
            aim,
            places,
        })
    }
}

/// What is made of a setup.
struct Parts {
    descriptor: &'static Descriptor,
    strategy: Box<dyn Strategy>,
    language: Option<Language>,
    tokens: Option<SharedTokens>,
    stock: Option<Mutex<Stock>>,
    /// Inputs from which the numbers of tokens are learned.
    probes: Vec<Vec<u8>>,
    /// The vocabulary of a grammar that the search will not compare with the program's
    /// tokens.
    untried: Option<Vocabulary>,
    map: Arc<Map>,
    aim: Arc<Aim>,
    places: Vec<FoundPlace>,
}

impl Parts {
    fn strings(&self) -> Option<Arc<Strings>> {
        self.language.as_ref().and_then(Language::walk).map(|walk| walk.strings().clone())
    }

    fn needs<'a>(&self, shares: &'a Shares) -> Needs<'a> {
        Needs {
            shares,
            strings: self.strings(),
            keeps_all: self.descriptor.exhausts,
            branches: self.map.program.branches(),
        }
    }
}

/// A campaign that is ready to run.
pub struct Campaign {
    probes: Vec<Vec<u8>>,
    untried: Option<Vocabulary>,
    shared: Arc<Shared>,
    layout: Arc<Layout>,
    /// The files that runs find in their directory.
    workdir: Option<WorkDir>,
    seeds: Vec<Seed>,
    jobs: usize,
}

impl Campaign {
    /// A new campaign in a new directory.
    pub fn begin(
        setup: Setup,
        seeds: Vec<Vec<u8>>,
        out: &Path,
        disk: Disk,
    ) -> Result<Campaign, CampaignError> {
        let parts = setup.parts(0)?;
        let dir = Dir::create(out, Arc::new(disk))?;
        let path = dir.journal();
        let io = |error| CampaignError::Dir(DirError::Write { path: path.clone(), error });
        let mut journal = Journal::open(&path, dir.disk.clone(), |_| {}).map_err(io)?;
        seeds.iter().for_each(|bytes| journal.add(&Record::Seed(bytes.clone())));
        journal.flush().map_err(io)?;
        dir.begin(&setup.settings)?;
        let shares = Shares::new(setup.settings.max_memory, setup.jobs);
        let seeds = seeds.into_iter().map(Seed::New).collect();
        let past = Past { seeds, ..Past::new(&dir, &parts.needs(&shares), journal) };
        Campaign::build(setup, dir, parts, past)
    }

    /// Resumes the campaign in a directory.
    pub fn resume(setup: Setup, out: &Path, disk: Disk) -> Result<Campaign, CampaignError> {
        let dir = Dir::resume(out, &setup.settings, Arc::new(disk))?;
        let before = std::fs::metadata(dir.journal()).map_or(0, |m| m.len());
        let parts = setup.parts(before)?;
        let io = |error| CampaignError::Io { path: dir.path.clone(), error };
        let shares = Shares::new(setup.settings.max_memory, setup.jobs);
        let past = Past::read(&dir, &parts.needs(&shares)).map_err(io)?;
        let walk = parts.language.as_ref().and_then(Language::walk);
        walk.iter().for_each(|walk| walk.skip(past.stats.strings_done));
        Campaign::build(setup, dir, parts, past)
    }

    /// Makes it a member of a fleet: a campaign on several machines.
    pub fn join(mut self, fleet: Arc<dyn Fleet>) -> Campaign {
        let jobs = self.jobs;
        let shared = match Arc::get_mut(&mut self.shared) {
            Some(shared) => shared,
            None => unreachable!("it has not begun to run"),
        };
        let split = Split::of(shared.descriptor);
        let view = fleet.view();
        let state = shared.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let branches = shared.map.program.branches();
        let keeps_hit_counts = shared.descriptor.keeps_hit_counts;
        let mut mail = Mail::new(split, &view.name, branches, keeps_hit_counts);
        for &input in state.corpus.store.queue() {
            if let Some(candidate) = state.corpus.store.get(input) {
                mail.add_own(input, &candidate.bytes);
            }
        }
        state.mail = Some(mail);
        state.count_fleet(view);
        match split {
            // What the log says is what counts: the last answers of an earlier life may not
            // have been told.
            Split::Paths => {
                let dir = &state.corpus.dir;
                let scratch = Scratch { dir: dir.path.clone(), disk: dir.disk.clone() };
                let mut tree = Tree::new(Shares::new(shared.settings.max_memory, jobs).tree);
                tree.set_archive(Arc::new(EdgeFile::new(scratch)));
                state.search.tree = tree;
            }
            Split::Finds => {
                state.search.tree.share_out(Arc::new(MembersOf(fleet.clone())));
            }
        }
        shared.post = Some(Post::new(fleet));
        self
    }

    fn build(setup: Setup, dir: Dir, parts: Parts, past: Past) -> Result<Campaign, CampaignError> {
        let strings = parts.strings();
        let Parts { descriptor, strategy, language, tokens, stock, .. } = parts;
        let Parts { probes, untried, map, aim, places, .. } = parts;
        let Setup { layout, settings, limits, jobs, workdir, words, notes, .. } = setup;
        let shares = Shares::new(settings.max_memory, jobs);
        let seeds = past.seeds;
        let exchange = exchange_of(&settings, &dir, past.taken);
        if past.records == 0 {
            write_readme(&dir, &settings, &seeds);
        }
        let mut dictionary = Dictionary::default();
        dictionary.add_given(words.iter().map(|word| &word[..]));
        dictionary.add_program(&layout);
        let given = seeds.iter().filter_map(|s| if let Seed::New(b) = s { Some(b) } else { None });
        given.for_each(|bytes| dictionary.add_seed(bytes));
        let mut account = Account::new(past.stats, &map);
        account.stats.memory = Memory { limit: settings.max_memory, ..Memory::default() };
        account.ledger = past.ledger;
        account.set_places(&settings.toward, &places, &aim);
        account.rereading = seeds.iter().any(|s| !matches!(s, Seed::New(_)));
        notes.into_iter().for_each(|note| account.note(note));
        // A resumed campaign draws other random numbers than at first.
        let rng = Rng::new(settings.seed.wrapping_add(past.records << 32));
        let pace =
            Pace { patience: Patience::default(), growing: Growing::new(&settings, descriptor) };
        let state = State {
            search: Search::new(strategy, rng, past.tree, shares.runs),
            covered: Covered::new(&map.program),
            corpus: Corpus::new(past.store, dir, past.journal, past.next_number, strings),
            account,
            crashes: Crashes { ids: past.crash_ids, ..Crashes::default() },
            fit: Fit::default(),
            asked_lengths: AskedLengths::new(shares.lengths),
            bets: Bets::default(),
            progress: Progress::default(),
            aim,
            places,
            map: map.clone(),
            mail: None,
        };
        let shared = Shared {
            map,
            settings,
            shares,
            descriptor,
            limits,
            language,
            tokens,
            stock,
            dictionary: Mutex::new(Arc::new(dictionary)),
            exchange,
            post: None,
            seen: state.covered.kept.buckets(),
            pace: Mutex::new(pace),
            runs: state.account.runs.clone(),
            state: Mutex::new(state),
            wake: Condvar::new(),
            stop: Arc::new(AtomicBool::new(false)),
        };
        let (shared, jobs) = (Arc::new(shared), jobs.max(1));
        Ok(Campaign { probes, untried, shared, layout, workdir, seeds, jobs })
    }
}

/// The exchange that the settings ask for.
fn exchange_of(settings: &Settings, dir: &Dir, taken: AllTaken) -> Option<Exchange> {
    let ExchangeSettings { from, name, main } = &settings.exchange;
    let mut roots: Vec<PathBuf> = from.iter().map(|root| root.os().into()).collect();
    // The other instances are beside it.
    let beside = dir.path.parent().filter(|_| name.is_some());
    roots.extend(beside.map(Path::to_path_buf));
    let name = name.as_deref();
    let announcement = name.map(|name| Announcement::new(settings, name, *main));
    announcement.iter().for_each(|announcement| announcement.begin(dir));
    let watcher = Watcher::new(roots, dir.path.clone(), name, settings.max_len, taken);
    (!from.is_empty() || name.is_some()).then(|| Exchange::new(watcher, announcement))
}

/// The members of a fleet, as a search knows them.
struct MembersOf(Arc<dyn Fleet>);

impl Members for MembersOf {
    fn owns(&self, hash: u64) -> bool {
        self.0.owns(hash)
    }

    fn count(&self) -> usize {
        self.0.members()
    }
}

/// Writes how to replay the crashes beside them.
fn write_readme(dir: &Dir, settings: &Settings, seeds: &[Seed]) {
    let is_container = matches!(seeds.first(), Some(Seed::New(bytes)) if is_container(bytes));
    let socket = settings.socket.then(|| "--socket".into());
    let tty = settings.tty.map(|size| [OsString::from("--tty"), size.to_string().into()]);
    let cwd = settings.cwd.as_ref().map(|dir| [OsString::from("--cwd"), dir.os()]);
    let pairs = tty.into_iter().chain(cwd).flatten();
    let flags: Vec<OsString> = socket.into_iter().chain(pairs).collect();
    dir.write_note(None, &readme(&settings.args(), &flags, is_container));
}
