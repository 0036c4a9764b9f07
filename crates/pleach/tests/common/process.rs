//! Processes: waiting for what must happen, counting them, sending signals.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long a test waits for an event that must come. A slow machine never needs this
/// long; the limit only makes a test fail that would wait for ever.
const STUCK: Duration = Duration::from_secs(120);

/// Ctrl-C and time limits take effect within a second when the machine has nothing else to
/// do. With other builds on the same two processors it can take a few seconds. If they had
/// no effect, the tests would take a minute.
pub const SOON: Duration = Duration::from_secs(10);

/// The kernel cuts the names of processes to this length.
const MAX_NAME: usize = 15;

/// Waits until something has happened. `what` is the message if it never does.
pub fn wait_until(what: &str, mut has_happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !has_happened() {
        assert!(start.elapsed() < STUCK, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A name for an executable that no other process has, not even one of another run of these
/// tests at the same time.
pub fn unique_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("t{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    assert!(name.len() <= MAX_NAME, "{name}");
    name
}

/// The number of processes with this name.
pub fn count_processes(name: &str) -> usize {
    let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let comm = |entry: &std::fs::DirEntry| std::fs::read_to_string(entry.path().join("comm"));
    all.filter(|entry| comm(entry).is_ok_and(|comm| comm.trim_end() == name)).count()
}

pub fn send_signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).expect("the process is there");
}
