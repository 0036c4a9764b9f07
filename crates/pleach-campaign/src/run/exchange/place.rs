//! One directory of another fuzzer: finds new files in it, and reads them.
//!
//! To look costs one `stat` while nothing changes. Other fuzzers do not write their files in
//! one step, so a file is read when it looks the same twice, or is a second old. Only regular
//! files are opened, and no link is followed.

use super::{FileMark, Import, Sender, Taken, TakenFile};
use crate::run::corpus::number_in;
use pleach_exec::container::{self, is_container};
use pleach_hash::hash_bytes;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// How many new files one look at a directory finds at most.
const MAX_FOUND: usize = 4096;
/// How many files without a number are remembered for a directory. Beyond that, no more are
/// taken from it.
pub const MAX_NAMES: usize = 1 << 18;
/// A file that has not changed for this long is complete.
const SETTLED_AGE: Duration = Duration::from_secs(1);
/// A directory that changed more recently may change again without a new time.
const CLOCK_TICK: Duration = Duration::from_secs(2);
/// A file that changes between this many looks is read as it is.
const MAX_LOOKS: u32 = 40;

pub struct Place {
    dir: PathBuf,
    hash: u64,
    /// The name of the other fuzzer.
    name: Arc<str>,
    taken: Taken,
    /// New files, in the order in which they are read.
    found: VecDeque<Found>,
    /// When the directory had changed, at the last look that found everything.
    seen: Option<SystemTime>,
}

struct Found {
    name: OsString,
    mark: FileMark,
    /// Size and time at the last look.
    last: Option<(u64, SystemTime)>,
    looks: u32,
}

/// The next file of a place.
pub enum Next {
    File(Import),
    /// A file that is not taken.
    Skipped,
    /// No file now.
    None,
}

impl Place {
    pub fn new(dir: PathBuf, name: Arc<str>, taken: Taken) -> Place {
        let hash = hash_of(&dir);
        Place { dir, hash, name, taken, found: VecDeque::new(), seen: None }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// True if it has given all files that are remembered.
    pub fn is_full(&self) -> bool {
        self.taken.names.len() >= MAX_NAMES
    }

    /// Looks for new files, unless some are left from the last look or nothing has changed.
    /// Files whose names contain `own` came from us.
    pub fn look(&mut self, own: Option<&str>, is_over: &AtomicBool) {
        let Some(changed) = std::fs::metadata(&self.dir).and_then(|m| m.modified()).ok() else {
            // It does not exist, or does not exist any more.
            self.seen = None;
            return;
        };
        if !self.found.is_empty() || self.seen == Some(changed) {
            return;
        }
        let has_settled = changed.elapsed().is_ok_and(|age| age > CLOCK_TICK);
        let is_whole = self.list(own, is_over).unwrap_or(false);
        self.seen = (is_whole && has_settled).then_some(changed);
    }

    /// Finds the new files with the lowest numbers, and files without a number. False if
    /// there are more.
    fn list(&mut self, own: Option<&str>, is_over: &AtomicBool) -> io::Result<bool> {
        let (mut numbered, mut named) = (BTreeMap::new(), Vec::new());
        let (mut last, mut is_whole) = (None, true);
        for entry in std::fs::read_dir(&self.dir)? {
            if is_over.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let name = entry?.file_name();
            let text = name.to_string_lossy();
            let is_note = text == "README.txt" || text.ends_with(".stack.txt");
            if text.starts_with('.') || is_note {
                continue;
            }
            match number_in(&text) {
                Some(number) => {
                    last = last.max(Some(number));
                    let is_own = own.is_some_and(|own| text.contains(own));
                    if number >= self.taken.next && !is_own {
                        numbered.insert(number, name);
                        if numbered.len() > MAX_FOUND {
                            numbered.pop_last();
                            is_whole = false;
                        }
                    }
                }
                None => {
                    let mark = FileMark::Name(hash_bytes(name.as_bytes()));
                    match named.len() < MAX_FOUND {
                        _ if self.is_full() || self.taken.has(mark) => {}
                        true => named.push((name, mark)),
                        false => is_whole = false,
                    }
                }
            }
        }
        if last.is_some_and(|last| last.saturating_add(1) < self.taken.next) {
            // The other fuzzer has begun anew.
            self.taken.next = 0;
            is_whole = false;
        }
        named.sort_by(|a, b| a.0.cmp(&b.0));
        let numbered = numbered.into_iter().map(|(n, name)| (name, FileMark::Number(n)));
        let found = numbered.chain(named);
        self.found.extend(found.map(|(name, mark)| Found { name, mark, last: None, looks: 0 }));
        Ok(is_whole)
    }

    /// Reads the next file that was found.
    pub fn next(&mut self, max_len: u64) -> Next {
        let Some(found) = self.found.front_mut() else { return Next::None };
        let mark = found.mark;
        let bytes = match found.read(&self.dir, max_len) {
            Contents::Later => {
                // Let the next look begin with it, and see what is new behind it.
                return Next::None;
            }
            // It may come back: AFL++ writes a file anew to make it shorter.
            Contents::Gone => {
                self.found.clear();
                self.seen = None;
                return Next::None;
            }
            Contents::Unusable => None,
            Contents::Whole(bytes) => Some(bytes),
        };
        self.found.pop_front();
        self.taken.add(mark);
        let Some(bytes) = bytes else { return Next::Skipped };
        let number = match mark {
            FileMark::Number(number) => number,
            FileMark::Name(_) => self.taken.names.len() as u32 - 1,
        };
        let sender = Sender { name: self.name.clone(), number };
        let taken = TakenFile { place: self.hash, mark };
        Next::File(Import { bytes: bytes.into(), sender, taken })
    }
}

/// The result of reading a file.
enum Contents {
    Whole(Vec<u8>),
    /// It is being written.
    Later,
    /// It has vanished.
    Gone,
    /// It is not a regular file, too long, not readable, or a damaged container.
    Unusable,
}

impl Found {
    fn read(&mut self, dir: &Path, max_len: u64) -> Contents {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(dir.join(&self.name));
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Contents::Gone,
            Err(_) => return Contents::Unusable,
        };
        let Ok(meta) = file.metadata() else { return Contents::Unusable };
        if !meta.is_file() {
            return Contents::Unusable;
        }
        if !self.has_settled(&meta) {
            return Contents::Later;
        }
        if meta.len() > max_len {
            return Contents::Unusable;
        }
        match read_up_to(&file, max_len) {
            // It has changed since; then the next look decides.
            Ok(bytes) if bytes.len() as u64 != meta.len() && self.looks < MAX_LOOKS => {
                Contents::Later
            }
            Ok(bytes) if is_container(&bytes) && container::parse(&bytes).is_err() => {
                Contents::Unusable
            }
            Ok(bytes) => Contents::Whole(bytes),
            Err(_) => Contents::Unusable,
        }
    }

    /// True if the file is complete, as far as its size and time tell.
    fn has_settled(&mut self, meta: &Metadata) -> bool {
        let Ok(modified) = meta.modified() else { return true };
        let now = (meta.len(), modified);
        let is_same = self.last.replace(now) == Some(now);
        self.looks += 1;
        let is_old = modified.elapsed().is_ok_and(|age| age >= SETTLED_AGE);
        is_old || (is_same && meta.len() > 0) || self.looks >= MAX_LOOKS
    }
}

fn read_up_to(file: &File, max_len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(max_len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The hash by which the journal knows a directory.
pub fn hash_of(dir: &Path) -> u64 {
    hash_bytes(dir.as_os_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    struct Bench {
        dir: tempfile::TempDir,
        place: Place,
    }

    impl Bench {
        fn new() -> Bench {
            let dir = tempfile::tempdir().unwrap();
            let place = Place::new(dir.path().into(), "other".into(), Taken::default());
            Bench { dir, place }
        }

        /// Writes a file that has been complete for long.
        fn file(&self, name: &str, bytes: &[u8]) {
            self.fresh_file(name, bytes);
            let file = File::options().write(true).open(self.dir.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
        }

        fn fresh_file(&self, name: &str, bytes: &[u8]) {
            std::fs::write(self.dir.path().join(name), bytes).unwrap();
        }

        /// Looks once, and takes all files: their contents and numbers.
        fn take(&mut self) -> Vec<(String, u32)> {
            self.place.look(Some("sync:me,"), &AtomicBool::new(false));
            let mut taken = Vec::new();
            loop {
                match self.place.next(10) {
                    Next::File(import) => {
                        let text = String::from_utf8_lossy(&import.bytes).into_owned();
                        taken.push((text, import.sender.number));
                    }
                    Next::Skipped => taken.push(("skipped".into(), 0)),
                    Next::None => return taken,
                }
            }
        }
    }

    fn numbered(texts: &[(&str, u32)]) -> Vec<(String, u32)> {
        texts.iter().map(|(text, number)| (text.to_string(), *number)).collect()
    }

    #[test]
    fn numbered_files_are_taken_once_and_in_order() {
        let mut bench = Bench::new();
        bench.file("id:000002,time:1", b"two");
        bench.file("id:000000,orig:seed", b"zero");
        bench.file("id:000001,sync:me,src:000007", b"ours");
        bench.file("README.txt", b"text");
        assert_eq!(bench.take(), numbered(&[("zero", 0), ("two", 2)]));
        assert_eq!(bench.take(), []);
        bench.file("id:000003", b"far too long");
        bench.file("id:000004", b"four");
        assert_eq!(bench.take(), numbered(&[("skipped", 0), ("four", 4)]));
        // The other fuzzer begins anew.
        for number in 0..5 {
            let name = |rest| format!("id:00000{number}{rest}");
            for rest in ["", ",time:1", ",orig:seed", ",sync:me,src:000007"] {
                let _ = std::fs::remove_file(bench.dir.path().join(name(rest)));
            }
        }
        bench.file("id:000000", b"new");
        assert_eq!(bench.take(), []);
        assert_eq!(bench.take(), numbered(&[("new", 0)]));
    }

    #[test]
    fn a_file_that_is_being_written_is_read_when_it_is_complete() {
        let mut bench = Bench::new();
        bench.fresh_file("id:000000", b"");
        bench.file("id:000001", b"next");
        assert_eq!(bench.take(), []);
        bench.fresh_file("id:000000", b"ha");
        assert_eq!(bench.take(), []);
        bench.fresh_file("id:000000", b"half");
        assert_eq!(bench.take(), []);
        assert_eq!(bench.take(), numbered(&[("half", 0), ("next", 1)]));
    }

    #[test]
    fn a_file_that_vanishes_is_forgotten() {
        let mut bench = Bench::new();
        bench.fresh_file("id:000000", b"zero");
        bench.file("id:000001", b"one");
        assert_eq!(bench.take(), []);
        std::fs::remove_file(bench.dir.path().join("id:000000")).unwrap();
        assert_eq!(bench.take(), []);
        assert_eq!(bench.take(), numbered(&[("one", 1)]));
    }

    #[test]
    fn other_names_are_remembered() {
        let mut bench = Bench::new();
        bench.file("da39a3ee", b"one");
        bench.file("afac", b"two");
        assert_eq!(bench.take(), numbered(&[("two", 0), ("one", 1)]));
        bench.file("bc", b"three");
        assert_eq!(bench.take(), numbered(&[("three", 2)]));
    }
}
