//! Where campaigns work: on small file systems that nobody else sees.
//!
//! The command has a mount namespace of its own, and every driver has one below it, with its
//! own `/dev/shm`. The kernel removes all these mounts when the last process of the
//! namespaces has ended, so nothing is left mounted, even if the command is killed.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sched::{CloneFlags, unshare};

use crate::process;

/// How many logs are kept.
const LOGS: u64 = 4;
const MOUNT_LIMIT: Duration = Duration::from_secs(20);
/// The size of the disk of a campaign, of its temporary directory and of its shared memory.
/// The temporary directory has less than the gigabyte that Pleach allows a run to write.
const DISK_SIZE: &str = "128m";
const SCRATCH_SIZE: &str = "64m";

/// Enters a mount namespace. False if that is not permitted. Call it before there are
/// threads.
pub fn enter_namespace() -> bool {
    unshare(CloneFlags::CLONE_NEWNS).is_ok() && mount(&["--make-rprivate", "/"]).is_ok()
}

fn mount(args: &[&str]) -> Result<()> {
    mount_command("mount", args)
}

fn mount_command(name: &str, args: &[&str]) -> Result<()> {
    process::succeed(Command::new(name).args(args), MOUNT_LIMIT, name).map(drop)
}

/// The directories of one campaign.
pub struct Place {
    /// The program and the log are here.
    pub home: PathBuf,
    /// The file system that the campaign directory is on.
    pub disk: PathBuf,
    /// `TMPDIR` of the driver.
    pub temporary: PathBuf,
    /// `/dev/shm` of the driver.
    pub shared: PathBuf,
    /// The file systems are its own.
    pub is_mounted: bool,
}

impl Place {
    /// Makes empty directories.
    pub fn new(home: PathBuf, can_mount: bool) -> Result<Place> {
        let dir = |name: &str| home.join(name);
        let place = Place {
            disk: dir("disk"),
            temporary: dir("tmp"),
            shared: dir("shm"),
            is_mounted: can_mount,
            home,
        };
        if place.home.exists() {
            let failed = || format!("cannot empty {}", place.home.display());
            fs::remove_dir_all(&place.home).with_context(failed)?;
        }
        for (dir, size) in place.directories() {
            fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
            if can_mount {
                let size = format!("size={size}");
                mount(&["-t", "tmpfs", "-o", &size, "tmpfs", &dir.to_string_lossy()])?;
            }
        }
        Ok(place)
    }

    fn directories(&self) -> [(&Path, &str); 3] {
        [(&self.disk, DISK_SIZE), (&self.temporary, SCRATCH_SIZE), (&self.shared, SCRATCH_SIZE)]
    }

    /// The directory of the campaign.
    pub fn out(&self) -> PathBuf {
        self.disk.join("out")
    }

    /// The log of a driver. Only the last few are kept.
    pub fn log(&self, number: u64) -> PathBuf {
        self.home.join(format!("log-{}.txt", number % LOGS))
    }

    /// The start of a command that runs in this place, and ends when this thread ends.
    pub fn command(&self) -> Command {
        // A shell starts background jobs with signals ignored.
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP,INT,TERM", "setpriv", "--pdeathsig", "KILL"]);
        if self.is_mounted {
            // In a namespace of its own, so that /dev/shm can be too.
            command.args(["unshare", "--mount", "sh", "-c"]);
            command.arg("mount --bind \"$SOAK_SHARED\" /dev/shm && exec \"$@\"").arg("sh");
            command.env("SOAK_SHARED", &self.shared);
        }
        command.env("TMPDIR", &self.temporary).current_dir(&self.home);
        command
    }

    /// Fills the disk. It is full until the result is dropped.
    pub fn fill_disk(&self) -> Result<Ballast> {
        let path = self.disk.join("ballast");
        let mut file = File::create(&path)?;
        let block = vec![0; 1 << 20];
        let mut size = block.len();
        while size > 0 {
            match file.write(&block[..size]) {
                Ok(n) if n > 0 => {}
                _ => size /= 2,
            }
        }
        Ok(Ballast(path))
    }

    /// Makes the campaign directory read-only for a driver, for as long as that lives.
    pub fn protect_from(&self, driver: i32) -> Result<()> {
        let mut command = Command::new("nsenter");
        command.args(["--target", &driver.to_string(), "--mount", "sh", "-c"]);
        command.arg("mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\"");
        command.arg(self.out());
        process::succeed(&mut command, MOUNT_LIMIT, "cannot make it read-only").map(drop)
    }

    /// What drivers have left in the temporary directory and in `/dev/shm`.
    pub fn left_files(&self) -> Vec<PathBuf> {
        let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
        let both = entries(&self.temporary).chain(entries(&self.shared));
        both.map(|entry| entry.path()).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for (dir, _) in self.directories().into_iter().filter(|_| self.is_mounted) {
            // Lazily: a process that was killed may not be gone yet.
            let _ = mount_command("umount", &["--lazy", &dir.to_string_lossy()]);
        }
    }
}

/// A file that fills a disk.
pub struct Ballast(PathBuf);

impl Drop for Ballast {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
