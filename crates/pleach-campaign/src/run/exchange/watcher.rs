//! Watches the directories of other fuzzers.
//!
//! A directory that the user names is one instance of AFL++ (it has `queue/`), a directory of
//! instances, or a plain directory of files such as a corpus of libFuzzer. It may come into
//! being later, and instances may come and go. Crashes of an instance are taken, too: they
//! show branches that nothing else covers.

use super::place::{MAX_NAMES, Next, Place, hash_of};
use super::{AllTaken, Exchange};
use crate::run::corpus::file_name_part;
use crate::run::shared::Shared;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often directories are checked, at most. A check that takes long is made less often: it
/// may take this share of the time.
const INTERVAL: Duration = Duration::from_millis(250);
const MAX_SHARE: u32 = 20;
/// How long to wait while the inbox is full.
const FULL_INTERVAL: Duration = Duration::from_millis(10);
/// Instances beyond this number are not watched.
const MAX_INSTANCES: usize = 256;

pub struct Watcher {
    /// The directories that the user named.
    roots: Vec<PathBuf>,
    /// The campaign's own directory, which may be among the instances of a root.
    own: PathBuf,
    /// The part of the name of files that others took from us.
    own_mark: Option<String>,
    max_len: u64,
    /// What was taken before, from directories that have not been seen yet.
    taken: AllTaken,
    places: BTreeMap<PathBuf, Place>,
}

/// What one check of all directories did.
#[derive(Default)]
struct Check {
    /// Files that were not taken, by the name of the other fuzzer.
    skipped: BTreeMap<String, u64>,
    notes: Vec<String>,
    was_full: bool,
}

impl Watcher {
    pub fn new(
        roots: Vec<PathBuf>,
        own: PathBuf,
        own_name: Option<&str>,
        max_len: u64,
        taken: AllTaken,
    ) -> Watcher {
        let own_mark = own_name.map(|name| format!("sync:{name},"));
        Watcher { roots, own, own_mark, max_len, taken, places: BTreeMap::new() }
    }

    pub(super) fn watch(mut self, exchange: &Exchange, shared: &Shared) {
        while !exchange.is_over() {
            let start = Instant::now();
            let check = self.check(exchange);
            if exchange.has_waiting() || !check.skipped.is_empty() || !check.notes.is_empty() {
                let mut state = shared.lock();
                for (name, count) in check.skipped {
                    state.account.stats.sync.entry(name).or_default().skipped += count;
                }
                check.notes.into_iter().for_each(|note| state.account.note(note));
                // With the lock: a worker that saw an empty inbox is waiting by now.
                shared.wake.notify_all();
            }
            let pause = match check.was_full {
                true => FULL_INTERVAL,
                false => INTERVAL.max(start.elapsed() * MAX_SHARE),
            };
            if !exchange.is_over() {
                std::thread::park_timeout(pause);
            }
        }
    }

    /// Puts new files into the inbox: one from each directory in turn, until none has more or
    /// the inbox is full.
    fn check(&mut self, exchange: &Exchange) -> Check {
        let mut check = Check::default();
        self.find_places();
        let mut active: Vec<&mut Place> = self.places.values_mut().collect();
        for place in &mut active {
            place.look(self.own_mark.as_deref(), &exchange.is_over);
        }
        while !active.is_empty() {
            let max_len = self.max_len;
            active.retain_mut(|place| {
                if exchange.is_over() || !exchange.has_room() {
                    check.was_full = true;
                    return false;
                }
                match place.next(max_len) {
                    Next::File(import) => exchange.put(import),
                    Next::Skipped => {
                        *check.skipped.entry(place.name().into()).or_default() += 1;
                    }
                    Next::None => return false,
                }
                if place.is_full() {
                    let dir = place.dir().display();
                    check.notes.push(format!("{dir}: only {MAX_NAMES} files are taken from it"));
                }
                true
            });
        }
        check
    }

    /// Adds the directories that have come into being.
    fn find_places(&mut self) {
        let own = std::fs::canonicalize(&self.own).unwrap_or_else(|_| self.own.clone());
        for root in &self.roots {
            for (dir, name) in directories(root, &own) {
                let taken = &mut self.taken;
                self.places.entry(dir).or_insert_with_key(|dir| {
                    let taken = taken.remove(&hash_of(dir)).unwrap_or_default();
                    Place::new(dir.clone(), name.into(), taken)
                });
            }
        }
    }
}

/// The directories with files below a root, and the names of their fuzzers.
fn directories(root: &Path, own: &Path) -> Vec<(PathBuf, String)> {
    let instance = |dir: &Path| -> Vec<(PathBuf, String)> {
        let is_own = std::fs::canonicalize(dir).is_ok_and(|dir| dir == own);
        match !is_own && dir.join("queue").is_dir() {
            true => ["queue", "crashes"].map(|sub| (dir.join(sub), name_of(dir))).into(),
            false => Vec::new(),
        }
    };
    let mut found = instance(root);
    if found.is_empty() {
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        let dirs = entries.filter(|e| e.file_type().is_ok_and(|t| !t.is_file()));
        let mut dirs: Vec<PathBuf> = dirs.map(|e| e.path()).collect();
        dirs.sort();
        found = dirs
            .iter()
            .map(|dir| instance(dir))
            .filter(|i| !i.is_empty())
            .take(MAX_INSTANCES)
            .flatten()
            .collect();
    }
    let is_own = own.join("queue").is_dir()
        && std::fs::canonicalize(root).is_ok_and(|root| own == root || own.parent() == Some(&root));
    if found.is_empty() && !is_own {
        found.push((root.into(), name_of(root)));
    }
    found
}

/// The name of the fuzzer that has a directory.
fn name_of(dir: &Path) -> String {
    let is_queue = dir.file_name().is_some_and(|name| name == "queue");
    let dir = if is_queue { dir.parent().unwrap_or(dir) } else { dir };
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let name = file_name_part(&name);
    if name.is_empty() { "other".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::exchange::MAX_WAITING;

    fn watcher(root: &Path) -> Watcher {
        let (roots, own) = (vec![root.into()], root.join("own"));
        Watcher::new(roots, own, Some("own"), 100, AllTaken::new())
    }

    /// A file that has been complete for long.
    fn file(path: PathBuf) {
        std::fs::write(&path, b"x").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(60)).unwrap();
    }

    #[test]
    fn instances_take_turns() {
        let dir = tempfile::tempdir().unwrap();
        for queue in ["own/queue", "flood/queue", "small/queue", "small/crashes"] {
            std::fs::create_dir_all(dir.path().join(queue)).unwrap();
        }
        for number in 0..2 * MAX_WAITING {
            file(dir.path().join(format!("flood/queue/id:{number:06}")));
        }
        for name in ["own/queue/id:000000", "small/queue/id:000000", "small/crashes/id:000000"] {
            file(dir.path().join(name));
        }
        let mut watcher = watcher(dir.path());
        let exchange = Exchange::new(self::watcher(dir.path()), None);
        assert!(watcher.check(&exchange).was_full);
        let first = exchange.take(MAX_WAITING);
        let from = |name: &str| first.iter().filter(|i| &*i.sender.name == name).count();
        assert_eq!((first.len(), from("small"), from("own")), (MAX_WAITING, 2, 0));
        // What did not fit comes next.
        assert!(!exchange.has_waiting());
        watcher.check(&exchange);
        watcher.check(&exchange);
        assert_eq!(exchange.take(2 * MAX_WAITING).len(), MAX_WAITING);
    }

    #[test]
    fn a_directory_is_an_instance_some_instances_or_files() {
        let dir = tempfile::tempdir().unwrap();
        let names = |root: &str| {
            let found = directories(&dir.path().join(root), &dir.path().join("all/own"));
            let relative =
                |path: PathBuf| path.strip_prefix(dir.path()).unwrap().display().to_string();
            found.into_iter().map(|(dir, name)| (relative(dir), name)).collect::<Vec<_>>()
        };
        for queue in ["all/own/queue", "all/one/queue", "all/plain", "corpus"] {
            std::fs::create_dir_all(dir.path().join(queue)).unwrap();
        }
        let instance =
            |dir: &str| ["queue", "crashes"].map(|sub| (format!("{dir}/{sub}"), "one".to_string()));
        assert_eq!(names("all"), instance("all/one"));
        assert_eq!(names("all/one"), instance("all/one"));
        assert_eq!(names("corpus"), [("corpus".into(), "corpus".to_string())]);
        assert_eq!(names("all/one/queue"), [("all/one/queue".into(), "one".to_string())]);
        assert_eq!(names("not/yet"), [("not/yet".into(), "yet".to_string())]);
    }
}
