//! Running clang, and leaving nothing behind when we are told to stop.
//!
//! Build systems run many compilers at once and end them with a signal. The
//! signals are taken by a thread of their own, which ends the compilers that
//! are running, removes the scratch directory and half-written outputs, and
//! then lets the signal have its usual effect. (A handler could do none of
//! this safely.) Children start with a clear signal mask: `Command` sees to it.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::Error;
use super::response;

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
    // Safety: plain calls on a local set; a signal that is ignored stays so.
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
        // The lock is kept: no child starts and no file appears any more.
        let live = live();
        for &pid in &live.children {
            // Safety: a child of ours that was not waited for yet. It is only
            // looked at here, so the thread that started it still can wait.
            unsafe {
                libc::kill(pid as i32, libc::SIGTERM);
                let mut info = std::mem::zeroed();
                libc::waitid(libc::P_PID, pid, &mut info, libc::WEXITED | libc::WNOWAIT);
            }
        }
        live.files.iter().for_each(|f| drop(std::fs::remove_file(f)));
        live.directories.iter().for_each(|d| drop(std::fs::remove_dir_all(d)));
        // Safety: the signal takes its default effect on this process.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
            libc::raise(signal);
            libc::_exit(128 + signal);
        }
    });
}

/// A private directory for one run of the driver. A file in it is locked for as
/// long as the process lives, whatever ends it: where it is not locked any more,
/// a run was killed, and the next run removes what is left.
pub struct Scratch {
    dir: PathBuf,
    _lock: Option<File>,
}

const PREFIX: &str = "pleach-cc-";
const LOCK: &str = "lock";
/// A directory younger than this may be one that is about to be locked.
const SETTLED: Duration = Duration::from_secs(60);

impl Scratch {
    pub fn new() -> Result<Scratch, Error> {
        remove_abandoned(&std::env::temp_dir());
        let mut live = live();
        let dir = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir()
            .map_err(Error::io("make a directory in", std::env::temp_dir()))?
            .keep();
        live.directories.push(dir.clone());
        let file = dir.join(LOCK);
        std::fs::write(&file, "").map_err(Error::io("write", &file))?;
        Ok(Scratch { _lock: lock(&dir), dir })
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// A directory inside, for the files of one input.
    pub fn sub(&self, name: &str) -> Result<PathBuf, Error> {
        // A signal removes everything under this lock and keeps it: nothing is to
        // be made anew behind its back.
        let _live = live();
        let dir = self.dir.join(name);
        std::fs::create_dir_all(&dir).map_err(Error::io("make", &dir))?;
        Ok(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A directory that cannot be removed is no reason to fail a build.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Locks a directory until the result is dropped; `None` if another run has it,
/// or if there is nothing to lock in it.
fn lock(dir: &Path) -> Option<File> {
    let file = File::open(dir.join(LOCK)).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Removes what runs that were killed have left in a directory.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        // Safety: takes nothing and cannot fail.
        let user = unsafe { libc::geteuid() };
        let settled = entry.metadata().is_ok_and(|m| {
            m.is_dir()
                && m.uid() == user
                && m.modified().is_ok_and(|t| t.elapsed().is_ok_and(|age| age > SETTLED))
        });
        if settled && let Some(_lock) = lock(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Writes an output so that it is either complete or not there. Where the
/// directory does not let us make a second file, the output is written in place.
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
    what: PathBuf,
}

/// Where a run's messages go.
pub enum Messages<'a> {
    /// To the user, as they come.
    User,
    /// To a file that is shown only if something went wrong.
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
        // Safety: calls that are allowed after a fork, on a set of its own. The
        // child would begin with the signals blocked that `guard_signals` waits for.
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
        Ok(Run { child, what: program.to_owned() })
    }

    pub fn wait(mut self) -> Result<ExitStatus, Error> {
        let status = self.child.wait().map_err(Error::io("wait for", &self.what))?;
        let id = self.child.id();
        live().children.retain(|&c| c != id);
        Ok(status)
    }
}

/// A long command line goes through a response file: the system limits both
/// the whole and each word.
fn add_args(command: &mut Command, args: &[OsString], scratch: &Scratch) -> Result<(), Error> {
    const LIMIT: usize = 100_000;
    if args.iter().map(|a| a.len() + 1).sum::<usize>() < LIMIT {
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

/// The status to exit with: the child's, or the shell's number for a signal.
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
        let old = std::time::SystemTime::now() - 2 * SETTLED;
        let make = |name: &str, age: bool| {
            let dir = parent.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            if name != "pleach-cc-other" {
                std::fs::write(dir.join(LOCK), "").unwrap();
            }
            if age {
                File::open(&dir).unwrap().set_modified(old).unwrap();
            }
            dir
        };
        let (dead, fresh) = (make("pleach-cc-dead", true), make("pleach-cc-fresh", false));
        let (locked, other) = (make("pleach-cc-locked", true), make("another", true));
        // Without a lock file it is nothing that we made.
        let foreign = make("pleach-cc-other", true);
        let _lock = lock(&locked).unwrap();
        remove_abandoned(parent.path());
        let left = [&dead, &fresh, &locked, &other, &foreign].map(|d| d.exists());
        assert_eq!(left, [false, true, true, true, true]);
    }
}
