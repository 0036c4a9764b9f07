//! The machine and the commit that numbers were measured with.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::project;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub memory_mib: u64,
    pub kernel: String,
}

impl Machine {
    /// This machine.
    pub fn here() -> Result<Machine> {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = read("/proc/cpuinfo");
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name"));
        let memory = read("/proc/meminfo");
        let memory = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kib = memory.and_then(|m| m.split_whitespace().next()?.parse::<u64>().ok());
        Ok(Machine {
            processor: model.map_or("unknown", |m| m.trim_start_matches([' ', '\t', ':'])).into(),
            cores: std::thread::available_parallelism()?.get(),
            memory_mib: kib.unwrap_or(0) / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().into(),
        })
    }
}

/// The number of processes that were running or ready in the last minute, on average.
pub fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0.0)
}

/// The commit of this checkout. If a file that results depend on was changed since, a hash
/// of the changes follows after a `+`.
pub fn commit() -> Result<String> {
    let head = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&["diff", "HEAD", "--", "crates", "examples", "tools"])?;
    if changes.is_empty() {
        return Ok(head);
    }
    let mut hasher = DefaultHasher::new();
    changes.hash(&mut hasher);
    Ok(format!("{head}+{:08x}", hasher.finish() as u32))
}

fn git(args: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.args(args).current_dir(project::root()).stdin(Stdio::null());
    let done = command.output().context("cannot run git")?;
    if !done.status.success() {
        bail!("git {}: {}", args.join(" "), String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().into())
}

/// The time now, in UTC, as `2026-01-31T12:00:00Z`.
pub fn now() -> Result<String> {
    let done = Command::new("date").args(["-u", "+%FT%TZ"]).output().context("cannot run date")?;
    Ok(String::from_utf8_lossy(&done.stdout).trim().into())
}
