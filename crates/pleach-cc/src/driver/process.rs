//! Runs clang, and cleans up when a signal stops the driver.
//!
//! Build systems run many compilers at once and stop them with a signal. A
//! separate thread waits for such signals. It ends the running compilers, removes
//! the scratch directory and half-written outputs, and then lets the signal have
//! its default effect. (A signal handler could not do this safely.) Children
//! start with an empty signal mask.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::error::Error;
use super::response;

/// What must be ended or removed if a signal arrives.
#[derive(Default)]
struct Live {
    children: Vec<u32>,
    directories: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

static LIVE: Mutex<Live> =
    Mutex::new(Live { children: Vec::new(), directories: Vec::new(), files: Vec::new() });

fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread that waits for signals. Call it before other threads exist.
pub fn guard_signals() {
    const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    // Safety: plain calls on a local set. A signal that is ignored stays ignored.
    let set = unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut set);
        for signal in ENDING {
            let mut old = std::mem::zeroed::<libc::sigaction>();
            libc::sigaction(signal, std::ptr::null(), &mut old);
            if old.sa_sigaction != libc::SIG_IGN {
                libc::sigaddset(&mut set, signal);
            }
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        set
    };
    std::thread::spawn(move || {
        let mut signal = 0;
        // Safety: the set is initialised above and outlives the call.
        if unsafe { libc::sigwait(&set, &mut signal) } != 0 {
            return;
        }
        // The lock is never released, so no new child or file can appear.
        let live = live();
        for &pid in &live.children {
            // Safety: a child of this process that nobody has waited for yet. WNOWAIT
            // leaves it waitable for the thread that started it.
            unsafe {
                libc::kill(pid as i32, libc::SIGTERM);
                let mut info = std::mem::zeroed();
                libc::waitid(libc::P_PID, pid, &mut info, libc::WEXITED | libc::WNOWAIT);
            }
        }
        live.files.iter().for_each(|f| drop(std::fs::remove_file(f)));
        live.directories.iter().for_each(|d| drop(std::fs::remove_dir_all(d)));
        // Safety: plain calls; the signal gets its default effect and ends the process.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
            libc::raise(signal);
            libc::_exit(128 + signal);
        }
    });
}

/// A private directory for one run of the driver. A file in it is locked while the
/// process lives. If the lock is free, the run was killed, and a later run removes
/// the directory.
pub struct Scratch {
    dir: PathBuf,
    _lock: Option<File>,
}

const SCRATCH_PREFIX: &str = "pleach-cc-";
const LOCK_FILE: &str = "lock";
/// A younger directory may belong to a run that has not locked it yet.
const MIN_ABANDONED_AGE: Duration = Duration::from_secs(60);

impl Scratch {
    pub fn new() -> Result<Scratch, Error> {
        remove_abandoned(&std::env::temp_dir());
        let mut live = live();
        let dir = tempfile::Builder::new()
            .prefix(SCRATCH_PREFIX)
            .tempdir()
            .map_err(Error::io("create a directory in", std::env::temp_dir()))?
            .keep();
        live.directories.push(dir.clone());
        let file = dir.join(LOCK_FILE);
        std::fs::write(&file, "").map_err(Error::io("write", &file))?;
        Ok(Scratch { _lock: lock(&dir), dir })
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// A directory inside, for the files of one input.
    pub fn sub(&self, name: &str) -> Result<PathBuf, Error> {
        // The signal thread removes everything under this lock. Without the lock, this
        // could create a directory after that.
        let _live = live();
        let dir = self.dir.join(name);
        std::fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
        Ok(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A build must not fail because a directory cannot be removed.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Locks a directory until the result is dropped. `None` if another run holds the
/// lock, or if there is no lock file.
fn lock(dir: &Path) -> Option<File> {
    let file = File::open(dir.join(LOCK_FILE)).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Removes the scratch directories that killed runs left in `parent`.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(SCRATCH_PREFIX.as_bytes()) {
            continue;
        }
        // Safety: takes nothing and cannot fail.
        let user = unsafe { libc::geteuid() };
        let is_old =
            |modified: SystemTime| modified.elapsed().is_ok_and(|age| age > MIN_ABANDONED_AGE);
        let may_be_abandoned = entry
            .metadata()
            .is_ok_and(|m| m.is_dir() && m.uid() == user && m.modified().is_ok_and(is_old));
        if may_be_abandoned && let Some(_lock) = lock(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Writes an output so that it is either complete or absent. If no second file can
/// be created in the directory, the output is written in place.
pub fn write_output(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    live().files.push(temporary.clone());
    let done = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&temporary);
        std::fs::write(path, bytes).map_err(Error::io("write", path))?;
    }
    Ok(())
}

/// One run of clang.
pub struct Run {
    child: Child,
    program: PathBuf,
}

/// Where a run's messages go.
pub enum Messages<'a> {
    /// To the user, as they come.
    User,
    /// To a file that is shown only after an error.
    File(&'a Path),
}

impl Run {
    pub fn start(
        program: &Path,
        args: &[OsString],
        messages: Messages,
        scratch: &Scratch,
    ) -> Result<Run, Error> {
        let mut command = Command::new(program);
        add_args(&mut command, args, scratch)?;
        if let Messages::File(path) = messages {
            let file = std::fs::File::create(path).map_err(Error::io("write", path))?;
            let twin = file.try_clone().map_err(Error::io("write", path))?;
            command.stdin(Stdio::null()).stdout(twin).stderr(file);
        }
        // Safety: both calls are allowed after a fork, and the set is local. Without
        // them the child would inherit the signals that `guard_signals` blocks.
        unsafe {
            command.pre_exec(|| {
                let mut none = std::mem::zeroed::<libc::sigset_t>();
                libc::sigemptyset(&mut none);
                libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
                Ok(())
            });
        }
        let mut live = live();
        let child = command.spawn().map_err(Error::io("run", program))?;
        live.children.push(child.id());
        Ok(Run { child, program: program.to_owned() })
    }

    pub fn wait(mut self) -> Result<ExitStatus, Error> {
        let status = self.child.wait().map_err(Error::io("wait for", &self.program))?;
        let id = self.child.id();
        live().children.retain(|&c| c != id);
        Ok(status)
    }
}

/// Adds the arguments, through a response file if they are long: the system limits
/// the length of a command line and of each word.
fn add_args(command: &mut Command, args: &[OsString], scratch: &Scratch) -> Result<(), Error> {
    const MAX_DIRECT_BYTES: usize = 100_000;
    if args.iter().map(|a| a.len() + 1).sum::<usize>() < MAX_DIRECT_BYTES {
        command.args(args);
        return Ok(());
    }
    let file = tempfile::Builder::new()
        .prefix("args-")
        .tempfile_in(scratch.path())
        .and_then(|f| f.keep().map_err(|e| e.error))
        .map_err(Error::io("write in", scratch.path()))?;
    std::fs::write(&file.1, response::quote(args)).map_err(Error::io("write", &file.1))?;
    let mut word = OsString::from("@");
    word.push(&file.1);
    command.arg(word);
    Ok(())
}

/// The exit status for a child: its own, or 128 plus the signal, as a shell reports it.
pub fn status_code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128 + signal as u8,
        (None, None) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_abandoned_directories_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - 2 * MIN_ABANDONED_AGE;
        let make = |name: &str, is_old: bool| {
            let dir = parent.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            if name != "pleach-cc-other" {
                std::fs::write(dir.join(LOCK_FILE), "").unwrap();
            }
            if is_old {
                File::open(&dir).unwrap().set_modified(old).unwrap();
            }
            dir
        };
        let (dead, fresh) = (make("pleach-cc-dead", true), make("pleach-cc-fresh", false));
        let (locked, other) = (make("pleach-cc-locked", true), make("another", true));
        // Without a lock file it is not a scratch directory.
        let foreign = make("pleach-cc-other", true);
        let _lock = lock(&locked).unwrap();
        remove_abandoned(parent.path());
        let left = [&dead, &fresh, &locked, &other, &foreign].map(|d| d.exists());
        assert_eq!(left, [false, true, true, true, true]);
    }
}
