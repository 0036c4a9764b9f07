//! Members for tests: what they heard is collected.

use pleach_campaign::run::fleet::{
    Build, Find, FindKind, Fleet, Heard, HeardWhat, News, Settled, Task,
};
use pleach_fleet::{Connection, JoinError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A cluster on a busy machine takes half a minute and more to choose new leaders.
pub const PATIENCE: Duration = Duration::from_secs(90);

pub fn build() -> Build {
    let mut build = Build::default();
    build.add("the executable", "aa");
    build
}

pub struct Member {
    pub fleet: Arc<dyn Fleet>,
    pub heard: Vec<Heard>,
    pub dir: Option<TempDir>,
}

impl Member {
    pub fn join(url: &str) -> Member {
        Member::join_in(url, tempfile::tempdir().unwrap())
    }

    pub fn join_in(url: &str, dir: TempDir) -> Member {
        let member = Member::try_join(url, dir.path()).unwrap();
        Member { dir: Some(dir), ..member }
    }

    /// Joins in a directory that stays.
    pub fn try_join(url: &str, dir: &Path) -> Result<Member, JoinError> {
        let fleet = Connection::open(url, None, &build(), "")?.join(dir)?;
        Ok(Member { fleet, heard: Vec::new(), dir: None })
    }

    /// Its own directory in that of the campaign.
    pub fn home(&self) -> PathBuf {
        self.dir.as_ref().unwrap().path().join("fleet")
    }

    pub fn name(&self) -> String {
        self.fleet.view().name
    }

    pub fn hear(&mut self) {
        self.heard.extend(self.fleet.hear(1000));
    }

    /// Hears until that is so.
    #[track_caller]
    pub fn until(&mut self, what: &str, holds: impl Fn(&Member) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(start.elapsed() < PATIENCE, "never {what}: {:#?}", self.fleet.view());
            std::thread::sleep(Duration::from_millis(5));
            self.hear();
        }
    }

    pub fn news(&self) -> Vec<&News> {
        self.heard
            .iter()
            .filter_map(|heard| match &heard.what {
                HeardWhat::News(news) => Some(news),
                _ => None,
            })
            .collect()
    }

    pub fn has(&self, news: &News) -> bool {
        self.news().contains(&news)
    }

    pub fn members(&self) -> usize {
        self.fleet.view().members.len()
    }

    /// Hears, idle, until the search is settled.
    #[track_caller]
    pub fn settle(members: &mut [Member]) -> Settled {
        let start = Instant::now();
        loop {
            let mut settled = Vec::new();
            for member in members.iter_mut() {
                member.hear();
                member.fleet.set_idle(true);
                settled.extend(member.fleet.settled());
            }
            if settled.len() == members.len() {
                assert!(settled.iter().all(|one| *one == settled[0]), "{settled:?}");
                return settled.remove(0);
            }
            assert!(start.elapsed() < PATIENCE, "{:#?}", members[0].fleet.view());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub fn task(edge: u64) -> News {
    News::Task(Task { edge, bound: 3, node: 4, asked: Some(5), bytes: bytes(edge) })
}

pub fn find(number: u64) -> News {
    News::Find(Find { kind: FindKind::Queue, bytes: bytes(number), covers: Vec::new() })
}

fn bytes(number: u64) -> Arc<[u8]> {
    number.to_le_bytes().repeat(20).into()
}

/// The files below a directory.
pub fn files(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|e| if e.path().is_dir() { files(&e.path()) } else { 1 }).sum()
}
