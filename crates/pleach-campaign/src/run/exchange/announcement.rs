//! What makes a campaign an instance of AFL++, beside its queue: `fuzzer_stats`, which
//! `afl-whatsup` reads, and `is_main_node`, which tells the secondary instances whose queue
//! they should read.

use crate::run::account::Stats;
use crate::run::corpus::{Dir, file_name_part};
use crate::run::settings::Settings;
use std::time::{Duration, SystemTime};

const STATS: &str = "fuzzer_stats";
const MAIN: &str = "is_main_node";

pub struct Announcement {
    is_main: bool,
    banner: String,
    command: String,
    timeout_ms: u64,
}

impl Announcement {
    pub fn new(settings: &Settings, name: &str, is_main: bool) -> Announcement {
        let words: Vec<_> = settings.program.iter().map(ToString::to_string).collect();
        let command = format!("pleach run -- {}", words.join(" "));
        // A shell reads the file.
        let banner = file_name_part(name);
        Announcement { is_main, banner, command, timeout_ms: settings.timeout_ms }
    }

    /// The campaign begins, or is resumed.
    pub fn begin(&self, dir: &Dir) {
        if self.is_main {
            dir.write_file(MAIN, Vec::new());
        }
    }

    /// The campaign ends: a secondary instance may become the main one.
    pub fn end(&self, dir: &Dir) {
        if self.is_main {
            dir.settle();
            let _ = std::fs::remove_file(dir.path.join(MAIN));
        }
    }

    /// Writes `fuzzer_stats`.
    pub fn write_stats(&self, dir: &Dir, stats: &Stats, since_gain: Duration) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (now, run_time) = (now.as_secs(), stats.time_s.total as u64);
        let found = stats.sync.values().map(|sync| sync.kept).sum::<u64>();
        let speed = stats.runs as f64 / stats.time_s.total.max(0.001);
        let percent = 100.0 * stats.branches.covered as f64 / stats.branches.total.max(1) as f64;
        let values = [
            ("start_time", now.saturating_sub(run_time).to_string()),
            ("last_update", now.to_string()),
            ("run_time", run_time.to_string()),
            ("fuzzer_pid", std::process::id().to_string()),
            ("cycles_done", "0".into()),
            ("cycles_wo_finds", "0".into()),
            ("time_wo_finds", since_gain.as_secs().to_string()),
            // Readers divide by it.
            ("execs_done", stats.runs.max(1).to_string()),
            ("execs_per_sec", format!("{speed:.2}")),
            ("corpus_count", stats.inputs.max(1).to_string()),
            ("corpus_favored", "0".into()),
            ("corpus_found", stats.inputs.saturating_sub(found).to_string()),
            ("corpus_imported", found.to_string()),
            ("cur_item", "0".into()),
            ("pending_favs", "0".into()),
            ("pending_total", "0".into()),
            ("bitmap_cvg", format!("{percent:.2}%")),
            ("saved_crashes", stats.crashes.to_string()),
            ("saved_hangs", stats.hangs.to_string()),
            ("last_find", now.saturating_sub(since_gain.as_secs()).to_string()),
            ("last_crash", "0".into()),
            ("last_hang", "0".into()),
            ("exec_timeout", self.timeout_ms.to_string()),
            ("edges_found", stats.branches.covered.to_string()),
            ("total_edges", stats.branches.total.to_string()),
            ("afl_banner", self.banner.clone()),
            ("afl_version", format!("pleach-{}", env!("CARGO_PKG_VERSION"))),
            ("target_mode", "default".into()),
            ("command_line", self.command.clone()),
        ];
        let lines = values.iter().map(|(key, value)| format!("{key:<18}: {value}\n"));
        dir.write_file(STATS, lines.collect::<String>().into());
    }
}
