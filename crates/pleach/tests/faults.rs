//! Disks that fail: each write of a short campaign in turn, and a disk that is really full.
//! Each time the campaign stops with an error that names the fault, and can be resumed.

mod common;

use common::Program;
use common::campaign::{files, inputs};
use pleach_campaign::run::{
    Campaign, CampaignError, Dir, Disk, ExchangeSettings, Hybrid, Limits, Settings, Setup, Stats,
    Stop,
};
use pleach_campaign::run::{Text, build_of};
use pleach_exec::Layout;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const PROGRAM: &str = r#"
    #include <pleach.h>
    #include <stdlib.h>
    int main(void) {
        unsigned char in[3];
        pleach_bytes(in, 3);
        if (in[0] == 'a' && in[1] == 'b') abort();
        if (in[1] > 100) return 1;
        return in[2] == 'z';
    }
"#;

fn settings(program: &Path) -> Settings {
    Settings {
        version: "test".into(),
        program: vec![Text::new(program.as_os_str())],
        build: build_of(program).expect("it exists"),
        strategy: "dfs".into(),
        seed: 0,
        timeout_ms: 10_000,
        adaptive: false,
        max_memory: 1 << 30,
        memory_mib: 0,
        len: 3,
        max_len: 3,
        calls_len: None,
        endless_len: None,
        depth: u32::MAX,
        flip_share_percent: 100,
        socket: false,
        tty: None,
        extension: Text::default(),
        cwd: None,
        grammar: None,
        hybrid: Hybrid::default(),
        exchange: ExchangeSettings::default(),
        dictionary: None,
        toward: Vec::new(),
    }
}

struct Bench {
    layout: Arc<Layout>,
    settings: Settings,
}

impl Bench {
    fn new(program: &Path) -> Bench {
        let layout = Arc::new(Layout::private(program).expect("a target"));
        Bench { layout, settings: settings(program) }
    }

    fn setup(&self) -> Setup {
        let (layout, settings) = (self.layout.clone(), self.settings.clone());
        let (limits, jobs) = (Limits::default(), 1);
        let (words, notes) = (Vec::new(), Vec::new());
        Setup { layout, settings, limits, jobs, grammar: None, workdir: None, words, notes }
    }

    fn begin(&self, out: &Path, disk: Disk) -> Result<Stats, CampaignError> {
        Campaign::begin(self.setup(), vec![vec![0; 3]], out, disk)?.run(|_| {})
    }

    fn resume(&self, out: &Path, disk: Disk) -> Result<Stats, CampaignError> {
        Campaign::resume(self.setup(), out, disk)?.run(|_| {})
    }
}

fn is_disk_full(error: &CampaignError) -> bool {
    error.to_string().contains("No space left on device")
}

#[test]
fn a_campaign_can_be_resumed_whichever_write_fails() {
    let program = Program::new(PROGRAM);
    let bench = Bench::new(&program.path("prog"));
    let whole = bench.begin(&program.path("whole"), Disk::default());
    let whole = whole.expect("nothing fails");
    assert_eq!(whole.stop, Some(Stop::Exhausted));
    let mut n = 0;
    loop {
        n += 1;
        let out = program.path(&format!("out{n}"));
        let ended = bench.begin(&out, Disk::failing_at(n));
        let Err(error) = ended else { break };
        assert!(is_disk_full(&error), "write {n}: {error}");
        let before = files(&out.join("queue"));
        assert!(before.keys().all(|name| name.starts_with("id:")), "write {n}: {before:?}");
        // A directory without settings is not a campaign yet: there it starts again.
        let stats = match Dir::settings(&out) {
            Ok(_) => bench.resume(&out, Disk::default()),
            Err(_) => bench.begin(&out, Disk::default()),
        };
        let stats = stats.unwrap_or_else(|e| panic!("after write {n}: {e}"));
        assert_eq!((stats.stop, stats.paths), (whole.stop, whole.paths), "write {n}");
        let after = files(&out.join("queue"));
        assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "write {n}");
        let crashes = inputs(&out.join("crashes"));
        assert!(crashes.values().any(|bytes| bytes.starts_with(b"ab")), "write {n}");
    }
    // Files, directories, the journal, statistics: there are many writes.
    assert!(n > 30, "{n} writes");
}

#[test]
fn a_resumed_campaign_can_be_resumed_whichever_write_fails() {
    let program = Program::new(PROGRAM);
    let bench = Bench::new(&program.path("prog"));
    for n in 1.. {
        let out = program.path(&format!("out{n}"));
        bench.begin(&out, Disk::failing_at(30)).expect_err("a write fails");
        match bench.resume(&out, Disk::failing_at(n)) {
            Err(error) => assert!(is_disk_full(&error), "write {n}: {error}"),
            Ok(stats) => {
                assert!(n > 5, "{n}");
                assert_eq!(stats.stop, Some(Stop::Exhausted));
                return;
            }
        }
        let stats = bench.resume(&out, Disk::default()).expect("room again");
        assert_eq!((stats.stop, stats.paths), (Some(Stop::Exhausted), 5), "write {n}");
    }
}

/// A small file system; dropping this unmounts it.
struct Mount<'a>(&'a Path);

impl Mount<'_> {
    fn new<'a>(at: &'a Path, size: &str) -> Option<Mount<'a>> {
        std::fs::create_dir(at).ok()?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"]).arg(at);
        mount.output().is_ok_and(|o| o.status.success()).then_some(Mount(at))
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_campaign_on_a_full_disk_stops_and_can_be_resumed() {
    let program = Program::new(
        r#"
        #include <pleach.h>
        static volatile int n;
        int main(void) {
            unsigned char in[24];
            pleach_bytes(in, 24);
            for (int i = 0; i < 24; i++) if (in[i] == 'x') n++;
            return n;
        }
        "#,
    );
    let place = program.path("disk");
    let Some(_mount) = Mount::new(&place, "96k") else {
        eprintln!("skipped: no permission to mount a small file system");
        return;
    };
    let flags = ["-s", "dfs", "--len", "24", "-n", "60000"];
    let done = program.campaign_command("disk/out", &flags).output().expect("pleach runs");
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{stderr}");
    let last = stderr.lines().last().unwrap_or_default();
    assert!(last.contains("disk/out") && last.contains("No space left on device"), "{stderr}");
    let before = files(&place.join("out/queue"));
    assert!(!before.is_empty());
    let more = Command::new("mount").args(["-o", "remount,size=64m"]).arg(&place).status();
    assert!(more.is_ok_and(|s| s.success()));
    let runs = program.resume("disk/out", &["-n", "1"]).count("runs");
    let ended = program.resume("disk/out", &["-n", &(runs + 500).to_string()]);
    assert_eq!(ended.stop(), "runs", "{}", ended.stats);
    let after = ended.files("queue");
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
}
