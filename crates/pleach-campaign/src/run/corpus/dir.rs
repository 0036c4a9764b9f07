//! The directory of a campaign: its lock and its files.
//!
//! ```text
//! queue/    inputs that covered something new, with names as in AFL++
//! crashes/  inputs that crashed, each with its stack and output
//! hangs/    inputs that reached a limit
//! sequences/  inputs that crash only one after the other, by the name of the crash
//! run.toml  journal  stats.json  plot_data  lock
//! ```

use super::disk::Disk;
use super::writer::Writer;
use crate::run::account::{PlotPoint, Stats};
use crate::run::exchange::Sender;
use crate::run::settings::Settings;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Why a directory cannot be used. Nothing in it was changed.
#[derive(Debug, Error)]
pub enum DirError {
    #[error("{}: another pleach is at work in it", dir.display())]
    Locked { dir: PathBuf },
    #[error(
        "{}: holds a campaign already; resume it with `-i -`, or use another directory",
        dir.display()
    )]
    Used { dir: PathBuf },
    #[error("{}: is not empty, and is not the directory of a campaign", dir.display())]
    Foreign { dir: PathBuf },
    #[error("{}: holds no campaign (there is no run.toml)", dir.display())]
    Nothing { dir: PathBuf },
    #[error("{}: {}", path.display(), error.message())]
    Settings { path: PathBuf, error: toml::de::Error },
    #[error(
        "{}: its campaign has another value of {what}: it began with {then}, now it is {now}; \
         to start a new campaign from its inputs: -i {}/queue -o NEW",
        dir.display(), dir.display()
    )]
    Differs { dir: PathBuf, what: &'static str, then: String, now: String },
    #[error(
        "{}: the build of the program has changed since its campaign began, and the campaign's \
         results hold only for the old build; to start a new campaign from its inputs: \
         -i {}/queue -o NEW",
        dir.display(), dir.display()
    )]
    Rebuilt { dir: PathBuf },
    #[error("{}: cannot be written to: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// The directory of a campaign. It is locked until this value is dropped.
pub struct Dir {
    pub path: PathBuf,
    pub disk: Arc<Disk>,
    _lock: File,
    writer: Writer,
}

/// The kinds of inputs that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kept {
    Queue,
    Crash,
    Hang,
}

impl Kept {
    pub const ALL: [Kept; 3] = [Kept::Queue, Kept::Crash, Kept::Hang];

    pub fn dir(self) -> &'static str {
        match self {
            Kept::Queue => "queue",
            Kept::Crash => "crashes",
            Kept::Hang => "hangs",
        }
    }
}

/// Sequences of inputs that crash in one process, and not alone.
pub const SEQUENCES: &str = "sequences";
const README: &str = "README.txt";
const JOURNAL: &str = "journal";
/// How long to wait for the lock: after a driver was killed, a child of it may hold the lock
/// for a moment.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);
const LOCK_POLL: Duration = Duration::from_millis(25);

impl Dir {
    /// Checks that a new campaign can use a directory. Changes nothing.
    pub fn check_vacant(path: &Path) -> Result<(), DirError> {
        match std::fs::read_dir(path) {
            Ok(_) if path.join("run.toml").exists() => Err(DirError::Used { dir: path.into() }),
            Ok(entries) => match entries.flatten().all(|e| is_left_by_a_start(&e.path())) {
                true => Ok(()),
                false => Err(DirError::Foreign { dir: path.into() }),
            },
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(DirError::Io { path: path.into(), error }),
        }
    }

    /// Creates the directory of a new campaign. If it exists, it must be empty. It does not
    /// count as a campaign before [`Dir::begin`].
    pub fn create(path: &Path, disk: Arc<Disk>) -> Result<Dir, DirError> {
        let write = |error| DirError::Write { path: path.into(), error };
        Dir::check_vacant(path)?;
        if !path.exists() {
            disk.create_dir(path).map_err(write)?;
        }
        let dir = Dir::lock(path, disk)?;
        let _ = std::fs::remove_file(dir.journal());
        for kept in Kept::ALL {
            dir.disk.create_dir(&dir.path.join(kept.dir())).map_err(write)?;
        }
        Ok(dir)
    }

    /// Makes the directory a campaign, by writing its settings. Everything that resuming
    /// needs must be written before.
    pub fn begin(&self, settings: &Settings) -> Result<(), DirError> {
        let text = toml::to_string(settings).unwrap_or_default();
        let path = self.path.join("run.toml");
        self.disk
            .write_file(&path, text.as_bytes())
            .map_err(|error| DirError::Write { path, error })
    }

    pub fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// Reads the settings of the campaign in a directory.
    pub fn settings(path: &Path) -> Result<Settings, DirError> {
        let file = path.join("run.toml");
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            // A file is no directory of a campaign, either.
            Err(e)
                if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                return Err(DirError::Nothing { dir: path.into() });
            }
            Err(error) => return Err(DirError::Io { path: file, error }),
        };
        toml::from_str(&text).map_err(|error| DirError::Settings { path: file, error })
    }

    /// Checks that a campaign can be resumed with these settings. Changes nothing.
    pub fn check_same(path: &Path, settings: &Settings) -> Result<(), DirError> {
        let then = Dir::settings(path)?;
        match then.difference(settings) {
            Some((what, then, now)) => Err(DirError::Differs { dir: path.into(), what, then, now }),
            None if then.build != settings.build => Err(DirError::Rebuilt { dir: path.into() }),
            None => Ok(()),
        }
    }

    /// Opens the directory of a campaign to resume. The limits of a run may differ from the
    /// stored ones, and are stored then.
    pub fn resume(path: &Path, settings: &Settings, disk: Arc<Disk>) -> Result<Dir, DirError> {
        Dir::check_same(path, settings)?;
        let dir = Dir::lock(path, disk)?;
        if Dir::settings(path)? != *settings {
            dir.begin(settings)?;
        }
        // Somebody may have removed one. The journal has the inputs that were in it.
        for kept in Kept::ALL {
            let path = dir.path.join(kept.dir());
            std::fs::create_dir_all(&path).map_err(|error| DirError::Io { path, error })?;
        }
        Ok(dir)
    }

    /// Reads the inputs of one kind, in the order of their numbers.
    pub fn read_inputs(&self, kept: Kept) -> io::Result<Vec<(u32, Vec<u8>)>> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(self.path.join(kept.dir()))? {
            let entry = entry?;
            if let Some(id) = entry.file_name().to_str().and_then(number_in) {
                files.push((id, entry.path()));
            }
        }
        files.sort();
        files.into_iter().map(|(id, path)| Ok((id, std::fs::read(path)?))).collect()
    }

    /// Writes an input.
    pub fn keep(&self, kept: Kept, name: &str, bytes: &[u8]) {
        self.writer.write_file(self.path.join(kept.dir()).join(name), bytes.to_vec());
    }

    /// Writes an input that a member of a fleet found. `number` is that among its own.
    pub fn keep_of_member(
        &self,
        kept: Kept,
        id: u32,
        (member, number): (&str, u32),
        time_ms: u64,
        bytes: &[u8],
    ) {
        let sender = Sender { name: file_name_part(member).into(), number };
        self.keep(kept, &file_name(id, From::Other(&sender), time_ms, "op:sync"), bytes);
    }

    /// Writes a text beside the crashes: the report of one, or how to replay them.
    pub fn write_note(&self, name: Option<&str>, text: &str) {
        let path = self.path.join(Kept::Crash.dir()).join(name.unwrap_or(README));
        self.writer.write_file(path, text.into());
    }

    /// Writes inputs that crash only after each other, in one process. Their directory has
    /// the name of the file of the crash.
    pub fn keep_sequence(&self, name: &str, inputs: &[Arc<[u8]>]) {
        let dir = self.path.join(SEQUENCES).join(name);
        self.writer.create_dir(dir.clone());
        for (number, input) in inputs.iter().enumerate() {
            self.writer.write_file(dir.join(format!("{number:06}")), input.to_vec());
        }
    }

    /// Writes another file of the directory.
    pub fn write_file(&self, name: &str, bytes: Vec<u8>) {
        self.writer.write_file(self.path.join(name), bytes);
    }

    /// Writes the statistics, and appends a line to `plot_data`.
    pub fn write_stats(&self, stats: &Stats) {
        let mut json = stats.json();
        json.push('\n');
        self.writer.write_file(self.path.join("stats.json"), json.into());
        self.writer.append(self.path.join("plot_data"), Stats::PLOT_HEAD, stats.plot_line().into());
    }

    /// The first write that failed. It is returned once.
    pub fn take_failure(&self) -> Option<io::Error> {
        self.writer.take_failure()
    }

    /// Waits until everything is on disk.
    pub fn settle(&self) {
        self.writer.settle();
    }

    /// Reads the statistics of the campaign.
    pub fn read_stats(&self) -> Option<Stats> {
        Dir::read_stats_of(&self.path)
    }

    /// True if a driver uses a directory.
    pub fn is_in_use(path: &Path) -> bool {
        let lock = File::open(path.join("lock"));
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Reads the statistics of the campaign in a directory.
    pub fn read_stats_of(path: &Path) -> Option<Stats> {
        serde_json::from_slice(&std::fs::read(path.join("stats.json")).ok()?).ok()
    }

    /// Reads the points of `plot_data` of the campaign in a directory.
    pub fn plot(path: &Path) -> Vec<PlotPoint> {
        let text = std::fs::read_to_string(path.join("plot_data")).unwrap_or_default();
        text.lines().filter_map(PlotPoint::parse).collect()
    }

    fn lock(path: &Path, disk: Arc<Disk>) -> Result<Dir, DirError> {
        let io = |error| DirError::Io { path: path.into(), error };
        let path = std::path::absolute(path).map_err(io)?;
        let mut options = File::options();
        let lock = options.create(true).truncate(false).write(true).open(path.join("lock"));
        let lock = lock.map_err(io)?;
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match lock.try_lock() {
                Ok(()) => {
                    let writer = Writer::new(disk.clone());
                    return Ok(Dir { writer, path, disk, _lock: lock });
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(LOCK_POLL);
                }
                Err(TryLockError::WouldBlock) => return Err(DirError::Locked { dir: path }),
                Err(TryLockError::Error(e)) => return Err(io(e)),
            }
        }
    }
}

/// True for a file that may be left by a driver that died before its directory was a
/// campaign.
fn is_left_by_a_start(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else { return false };
    match name {
        "lock" | JOURNAL | ".run.toml.tmp" => path.with_file_name("lock").exists(),
        "queue" | "crashes" | "hangs" => {
            std::fs::read_dir(path).is_ok_and(|mut e| e.next().is_none())
        }
        _ => false,
    }
}

/// The number in a name such as `id:000012,src:…`.
pub fn number_in(name: &str) -> Option<u32> {
    name.strip_prefix("id:")?
        .split([',', '.'])
        .next()?
        .parse()
        .ok()
        .filter(|_| !name.ends_with(".txt"))
}

/// What a kept input was made from.
#[derive(Clone, Copy, Debug)]
pub enum From<'a> {
    Nothing,
    /// An input of the queue.
    Own(u32),
    /// An input of another fuzzer.
    Other(&'a Sender),
}

/// The name of a file, as in AFL++.
pub fn file_name(id: u32, from: From, time_ms: u64, rest: &str) -> String {
    let from = match from {
        From::Nothing => String::new(),
        From::Own(source) => format!("src:{source:06},"),
        From::Other(Sender { name, number }) => format!("sync:{name},src:{number:06},"),
    };
    format!("id:{id:06},{from}time:{time_ms},{rest}")
}

/// A text as a part of a file name. Characters that a name cannot have, or that separate its
/// parts, become `_`.
pub fn file_name_part(text: &str) -> String {
    let base = text.rsplit('/').next().unwrap_or(text);
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-+".contains(c) { c } else { '_' };
    base.chars().take(64).map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_afl() {
        let flip = file_name(12, From::Own(3), 4512, "op:flip,site:calc.c:41");
        assert_eq!(flip, "id:000012,src:000003,time:4512,op:flip,site:calc.c:41");
        let sender = Sender { name: "main".into(), number: 34 };
        let taken = file_name(13, From::Other(&sender), 9, "op:sync,+cov");
        assert_eq!(taken, "id:000013,sync:main,src:000034,time:9,op:sync,+cov");
        assert_eq!(number_in(&flip), Some(12));
        assert_eq!(number_in("id:000012,sig:11.txt"), None);
        assert_eq!(number_in("README.txt"), None);
        assert_eq!(file_name_part("a dir/my file,x.c"), "my_file_x.c");
    }
}
