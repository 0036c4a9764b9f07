//! One campaign on one fake target.

use pleach_campaign::run::{
    Campaign, CampaignError, Disk, ExchangeSettings, Hybrid, Limits, Settings, Setup, Stats, Text,
};
use pleach_exec::fake::{FakeProgram, FakeRun, FakeTarget, LoggedRun};
use pleach_exec::{End, Half};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A campaign to be: change its fields, then run it.
pub struct Bench {
    pub target: FakeTarget,
    pub settings: Settings,
    pub limits: Limits,
    pub jobs: usize,
    pub seeds: Vec<Vec<u8>>,
    dir: TempDir,
}

/// What a campaign has left.
pub struct Ended {
    pub stats: Stats,
    /// Names without `time:`, and contents, in order.
    pub queue: Vec<(String, Vec<u8>)>,
    pub crashes: Vec<(String, Vec<u8>)>,
    pub hangs: Vec<(String, Vec<u8>)>,
}

impl Bench {
    /// `dfs` on inputs of three bytes, from three zeros, without any limit.
    pub fn new(target: FakeTarget) -> Bench {
        let settings = Settings {
            version: "test".into(),
            program: vec![Text::new("fake".as_ref())],
            build: "1".into(),
            strategy: "dfs".into(),
            seed: 1,
            timeout_ms: 1000,
            adaptive: false,
            memory_mib: 0,
            max_memory: 1 << 30,
            len: 3,
            max_len: 3,
            calls_len: None,
            endless_len: None,
            depth: u32::MAX,
            flip_share_percent: 100,
            socket: false,
            tty: None,
            extension: Text::default(),
            cwd: None,
            grammar: None,
            hybrid: Hybrid::default(),
            exchange: ExchangeSettings::default(),
            dictionary: None,
            toward: Vec::new(),
        };
        Bench {
            target,
            settings,
            limits: Limits::default(),
            jobs: 1,
            seeds: vec![vec![0; 3]],
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// The same with another strategy, and at most this many runs.
    pub fn with(target: FakeTarget, strategy: &str, runs: u64) -> Bench {
        let mut bench = Bench::new(target);
        bench.settings.strategy = strategy.into();
        bench.limits.runs = Some(runs);
        bench
    }

    pub fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    pub fn run(&self) -> Ended {
        let stats = self.try_run(Disk::default()).unwrap();
        self.ended(stats)
    }

    pub fn resume(&self) -> Ended {
        let stats = self.try_resume(Disk::default()).unwrap();
        self.ended(stats)
    }

    pub fn try_run(&self, disk: Disk) -> Result<Stats, CampaignError> {
        self.search(Campaign::begin(self.setup(), self.seeds.clone(), &self.out(), disk)?)
    }

    pub fn try_resume(&self, disk: Disk) -> Result<Stats, CampaignError> {
        self.search(Campaign::resume(self.setup(), &self.out(), disk)?)
    }

    pub fn campaign(&self) -> Campaign {
        let seeds = self.seeds.clone();
        Campaign::begin(self.setup(), seeds, &self.out(), Disk::default()).unwrap()
    }

    pub fn search(&self, campaign: Campaign) -> Result<Stats, CampaignError> {
        campaign.run_on(|_| {}, || Ok(Box::new(self.target.clone())))
    }

    /// The runs of the target on one half, in order.
    pub fn runs_on(&self, half: Half) -> Vec<LoggedRun> {
        self.target.log().runs().into_iter().filter(|run| run.half == half).collect()
    }

    pub fn ended(&self, stats: Stats) -> Ended {
        let files = |kind: &str| files(&self.out().join(kind));
        let [queue, crashes, hangs] = ["queue", "crashes", "hangs"].map(files);
        Ended { stats, queue, crashes, hangs }
    }

    pub fn setup(&self) -> Setup {
        Setup {
            layout: self.target.layout(),
            settings: self.settings.clone(),
            limits: self.limits,
            jobs: self.jobs,
            grammar: None,
            workdir: None,
            words: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Ended {
    pub fn queue_names(&self) -> Vec<&str> {
        self.queue.iter().map(|(name, _)| &name[..]).collect()
    }

    pub fn stop(&self) -> &'static str {
        self.stats.stop.expect("it has ended").name()
    }

    /// What kept the search from being exhaustive.
    pub fn gaps(&self) -> Vec<&str> {
        self.stats.partial.keys().map(|name| &name[..]).collect()
    }
}

/// The files of a directory that are inputs.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    let file = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.to_string();
        let parts = name.split(',').filter(|part| !part.starts_with("time:"));
        let without_time = parts.collect::<Vec<_>>().join(",");
        (!name.ends_with(".txt")).then(|| (without_time, std::fs::read(&path).unwrap()))
    };
    paths.into_iter().filter_map(file).collect()
}

/// Four paths of three bytes: `ab?`, `a??`, `??c` and the rest. Shorter inputs take six
/// others: each byte that is read is a decision on the length.
pub fn letters() -> FakeTarget {
    FakeProgram::new().branches("main", [10, 11, 12]).target(|run| {
        let [a, b, c] = [0, 1, 2].map(|i| run.byte(i));
        match run.branch(10, a.equals(b'a')) {
            true => run.branch(11, b.equals(b'b')),
            false => run.branch(12, c.equals(b'c')),
        };
        End::Exit(0)
    })
}

pub const LETTERS_PATHS: u64 = 10;

/// One branch on the first byte; `end` says how a run ends that takes it.
pub fn one_branch(end: impl Fn(&mut FakeRun) -> End + Send + Sync + 'static) -> FakeTarget {
    FakeProgram::new().branches("main", [10]).target(move |run| {
        let first = run.byte(0);
        match run.branch(10, first.equals(b'a')) {
            true => end(run),
            false => End::Exit(0),
        }
    })
}
