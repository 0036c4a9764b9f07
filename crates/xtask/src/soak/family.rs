//! Processes, as `/proc` lists them: those below another one, and those that carry a mark.

use std::fs;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    parent: i32,
    pub name: String,
    /// `R`, `S`, `T`, `Z` and so on.
    state: char,
}

impl Process {
    fn read(pid: i32) -> Option<Process> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The name may contain anything; it ends at the last parenthesis.
        let (start, end) = (stat.find('(')?, stat.rfind(')')?);
        let mut rest = stat.get(end + 2..)?.split(' ');
        let state = rest.next()?.chars().next()?;
        let parent = rest.next()?.parse().ok()?;
        Some(Process { pid, parent, name: stat.get(start + 1..end)?.into(), state })
    }

    /// True if it has ended, and only waits for its parent.
    fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|e| Process::read(e.file_name().to_str()?.parse().ok()?)).collect()
}

/// The role of a process below a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Warden,
    Server,
    /// A run, or a process that a run has started.
    Run,
}

/// The processes of this role below a driver.
pub fn of_role(driver: i32, role: Role) -> Vec<Process> {
    let all = all();
    let below = |parents: &[Process]| -> Vec<Process> {
        let is_child = |p: &&Process| parents.iter().any(|q| q.pid == p.parent);
        all.iter().filter(|p| !p.has_ended()).filter(is_child).cloned().collect()
    };
    let wardens: Vec<Process> =
        all.iter().filter(|p| p.parent == driver && p.name == "pleach-warden").cloned().collect();
    match role {
        Role::Warden => wardens,
        Role::Server => below(&wardens),
        Role::Run => below(&below(&wardens)),
    }
}

/// The processes that have `NAME=value` in their environment, or work or were started in
/// a directory.
pub fn marked(mark: &str, dir: &Path) -> Vec<Process> {
    let is_marked = |process: &Process| {
        let pid = process.pid;
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let link = |name: &str| fs::read_link(format!("/proc/{pid}/{name}"));
        environ.split(|&b| b == 0).any(|variable| variable == mark.as_bytes())
            || ["cwd", "exe"].iter().any(|name| link(name).is_ok_and(|path| path.starts_with(dir)))
    };
    all().into_iter().filter(|p| !p.has_ended() && is_marked(p)).collect()
}

/// A number of `/proc/PID/status`, such as `VmHWM` in KiB.
pub fn status_number(pid: i32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}
