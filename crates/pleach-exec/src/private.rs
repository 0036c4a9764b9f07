//! Directories that only this driver uses.
//!
//! They are removed when they are dropped. If the driver is killed, its warden removes them
//! (see `warden`), but a driver can be killed before it has a warden. So the driver locks
//! each directory, and the lock ends with the process. The next driver removes the
//! directories that nobody locks.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Once;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

const PREFIX: &str = "pleach-run-";
/// A younger directory without a lock may be new, and about to be locked.
const SETTLED: Duration = Duration::from_secs(60);
/// A file system in memory, which most systems have.
const IN_MEMORY: &str = "/dev/shm";

#[derive(Debug)]
pub(crate) struct PrivateDir {
    dir: TempDir,
    /// The directory itself, locked until it is dropped.
    open: Option<File>,
}

impl PrivateDir {
    pub fn new() -> io::Result<PrivateDir> {
        PrivateDir::inside(&std::env::temp_dir())
    }

    pub fn in_memory() -> io::Result<PrivateDir> {
        PrivateDir::inside(Path::new(IN_MEMORY)).or_else(|_| PrivateDir::new())
    }

    fn inside(parent: &Path) -> io::Result<PrivateDir> {
        static ONCE: Once = Once::new();
        let owner = Permissions::from_mode(0o700);
        let dir = tempfile::Builder::new().prefix(PREFIX).permissions(owner).tempdir_in(parent)?;
        let user = dir.path().metadata()?.uid();
        ONCE.call_once(|| {
            for place in [&std::env::temp_dir(), Path::new(IN_MEMORY)] {
                remove_abandoned(place, user, SETTLED);
            }
        });
        Ok(PrivateDir { open: lock(dir.path()), dir })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The time of the last change of the directory: an entry was made, removed or renamed, or
    /// the directory itself was. `None` if that was just now, so that a later change might
    /// have the same time.
    pub fn last_change(&self) -> Option<ChangeTime> {
        let meta = self.open.as_ref()?.metadata().ok()?;
        is_settled(&meta).then(|| change_time(&meta))
    }
}

/// When a file was last changed, which no program can set: seconds and nanoseconds.
pub(crate) type ChangeTime = (i64, i64);

/// Clocks of file systems are no coarser than this.
const CLOCK_GRAIN_NS: i128 = 50_000_000;

pub(crate) fn change_time(meta: &Metadata) -> ChangeTime {
    (meta.ctime(), meta.ctime_nsec())
}

/// True if the last change was long enough ago: a later one would have another time.
pub(crate) fn is_settled(meta: &Metadata) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i128);
    let then = i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
    now - then > CLOCK_GRAIN_NS
}

/// Locks a directory until the result is dropped; `None` if another process holds it.
fn lock(dir: &Path) -> Option<File> {
    let file = File::open(dir).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

fn remove_abandoned(parent: &Path, user: u32, settled: Duration) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let old = entry.metadata().is_ok_and(|m| {
            m.is_dir()
                && m.uid() == user
                && m.modified().is_ok_and(|t| t.elapsed().is_ok_and(|age| age >= settled))
        });
        if old && let Some(_lock) = lock(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_abandoned_directories_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let held = PrivateDir::inside(parent.path()).unwrap();
        let make = |name: &str| {
            let dir = parent.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            std::fs::write(dir.join("input"), "left").unwrap();
            dir
        };
        let (dead, other) = (make("pleach-run-dead"), make("pleach-other"));
        let user = parent.path().metadata().unwrap().uid();
        remove_abandoned(parent.path(), user, SETTLED);
        assert!(dead.exists(), "it may be about to be locked");
        remove_abandoned(parent.path(), user, Duration::ZERO);
        assert!(!dead.exists());
        assert!(other.exists() && held.path().exists());
    }
}
