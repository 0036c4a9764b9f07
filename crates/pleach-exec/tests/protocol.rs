//! The executor against a fork server written in C (`server.c`) that can misbehave in every
//! way a target can. The driver reports what happened, continues, and leaves no process
//! behind.

use pleach_abi::shm::Header;
use pleach_exec::container::view;
use pleach_exec::oracle;
use pleach_exec::{End, ExecError, Executor, Half, Layout, Output, TargetOptions};
use std::ffi::OsString;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

/// The time limit of runs that end without it, however slow the machine is.
const AMPLE: Duration = Duration::from_secs(60);
/// The time limit of runs that never end.
const SHORT: Duration = Duration::from_millis(300);

/// The name of the server's processes, of at most 15 characters. It is different in each
/// build directory, so that processes of other tests are not counted.
fn name() -> String {
    let fnv = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = env!("CARGO_TARGET_TMPDIR").bytes().fold(0x811c_9dc5, fnv);
    format!("plproto{hash:08x}")
}

/// The end of the name of the server's input files.
fn extension() -> String {
    format!(".{}", name())
}

/// The server as `pleach cc` would link it, with a symbolic half in it.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let (plain, whole) = (dir.join("server-plain"), dir.join(name()));
        let offsets = [
            ("NODES_OFF", offset_of!(Header, nodes_off)),
            ("EVENTS_OFF", offset_of!(Header, events_off)),
            ("INPUT_LEN", offset_of!(Header, input_len)),
            ("NODES", offset_of!(Header, nodes)),
            ("EVENTS", offset_of!(Header, events)),
            ("MODULES_LEN", offset_of!(Header, modules_len)),
            ("VERSION", pleach_abi::ABI_VERSION as usize),
        ];
        let run = |command: &mut Command| {
            let done = command.output().expect("the tool is there");
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        };
        run(Command::new("cc")
            .args(offsets.map(|(name, at)| format!("-D{name}={at}")))
            .args(["-w", "-o"])
            .arg(&plain)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server.c")));
        let section = format!(".pleach.symbolic={}", plain.display());
        run(Command::new("objcopy").args(["--add-section", &section]).args([&plain, &whole]));
        whole
    })
}

/// Tests that count processes or set variables run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|e| e.into_inner())
}

fn executor(edit: impl FnOnce(&mut TargetOptions)) -> Executor {
    let layout = Arc::new(Layout::private(program()).expect("it has both halves"));
    let args = vec![OsString::from("server"), OsString::from("@@")];
    let mut target = TargetOptions::new(Half::Symbolic, args);
    target.extension = extension().into();
    edit(&mut target);
    Executor::new(layout, target).expect("it can be set up")
}

fn end(executor: &mut Executor, input: &str) -> End {
    executor.run(input.as_bytes(), AMPLE).expect("it runs").end
}

/// The number of servers, runs and wardens of this test program.
fn processes() -> usize {
    let me = std::env::current_exe().unwrap();
    let server = name();
    let is_ours = |process: PathBuf| -> Option<bool> {
        let text = |file: &str| std::fs::read_to_string(process.join(file)).ok();
        let name = text("comm")?;
        let is_warden =
            name.trim() == "pleach-warden" && text("cmdline")?.split('\0').next() == me.to_str();
        Some((name.trim() == server || is_warden) && !text("stat")?.contains(") Z "))
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter(|e| is_ours(e.path()) == Some(true)).count()
}

#[test]
fn the_end_of_a_run_is_reported() {
    let _alone = alone();
    for by_path in [true, false] {
        let mut executor = executor(|t| t.args.truncate(1 + usize::from(by_path)));
        assert_eq!(end(&mut executor, "exit 3"), End::Exit(3));
        assert_eq!(end(&mut executor, "segv"), End::Signal(libc::SIGSEGV));
        assert_eq!(executor.run(b"loop", SHORT).unwrap().end, End::Timeout);
        for _ in 0..100 {
            assert_eq!(end(&mut executor, "exit 0"), End::Exit(0));
        }
    }
    assert_eq!(processes(), 0);
}

#[test]
fn output_is_kept_and_bounded() {
    let _alone = alone();
    let mut executor = executor(|t| t.output = Output::Capture { limit: 100_000 });
    for _ in 0..2 {
        let outcome = executor.run(b"echo", AMPLE).unwrap();
        assert_eq!((&outcome.stdout[..], &outcome.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
    }
    let outcome = executor.run(b"output", AMPLE).unwrap();
    assert_eq!(outcome.end, End::Output);
    assert_eq!(outcome.stdout.len(), 100_000);
    assert_eq!(end(&mut executor, "exit 1"), End::Exit(1));
}

#[test]
fn memory_is_bounded() {
    let _alone = alone();
    let mut executor = executor(|t| t.memory_kib = Some(100 << 10));
    let outcome = executor.run(b"memory", AMPLE).unwrap();
    assert_eq!(outcome.end, End::Memory);
    assert!(outcome.rss_kib > 50 << 10, "{} KiB", outcome.rss_kib);
    assert_eq!(end(&mut executor, "exit 1"), End::Exit(1));
}

#[test]
fn no_process_is_left_behind() {
    let _alone = alone();
    let mut executor = executor(|_| {});
    let outcome = executor.run(b"daemon", AMPLE).unwrap();
    assert_eq!(outcome.end, End::Exit(0));
    assert!(outcome.strays >= 3, "{} strays", outcome.strays);
    assert_eq!(processes(), 2, "the warden and the server");
    drop(executor);
    assert_eq!(processes(), 0);
}

#[test]
fn a_lost_server_is_started_again() {
    let _alone = alone();
    let mut executor = executor(|_| {});
    let lost = end(&mut executor, "parent");
    assert_eq!(lost, End::Lost("the fork server is gone: it was killed by SIGKILL".into()));
    assert_eq!(end(&mut executor, "exit 2"), End::Exit(2));
    // A stopped server cannot report. The driver gives it up after a grace period.
    assert!(matches!(executor.run(b"stopped", SHORT).unwrap().end, End::Lost(_)));
    assert_eq!(end(&mut executor, "close"), End::Exit(0));
    assert_eq!(end(&mut executor, "unlink"), End::Exit(0));
    assert_eq!(end(&mut executor, "exit 5"), End::Exit(5));
    drop(executor);
    assert_eq!(processes(), 0);
}

#[test]
fn sound_traces_are_read_and_broken_ones_refused() {
    let _alone = alone();
    let mut executor = executor(|_| {});
    for (input, direction) in [("trace", 1), ("exit 0", 0)] {
        end(&mut executor, input);
        let trace = executor.trace().expect("a sound trace");
        assert_eq!(trace.events.len(), 2);
        assert_eq!(trace.events[0].dir, direction);
        let view = view(input.as_bytes());
        assert_eq!(oracle::check(&trace, &view, 5), []);
        assert_eq!(oracle::predict(&trace, Some(executor.layout()), &view), None);
    }
    end(&mut executor, "trace");
    let trace = executor.trace().unwrap();
    assert_eq!(oracle::predict(&trace, Some(executor.layout()), &view(b"xrace")), Some(0));
    assert_eq!(oracle::predict(&trace, Some(executor.layout()), &view(b"tr")), Some(1));
    for (input, complaint) in [
        ("counts", "4294967280 nodes, where there is room for 16777216"),
        ("label", "refers to node 1000000, which is not there"),
        ("kind", "event 0 is of the unknown kind 99"),
        ("header", "where there is room for"),
    ] {
        end(&mut executor, input);
        let error = executor.trace().expect_err(input).to_string();
        assert!(error.contains(complaint), "{input}: {error}");
    }
    end(&mut executor, "wrong");
    let found = oracle::check(&executor.trace().unwrap(), &view(b"wrong"), 5);
    assert_eq!(found.len(), 1);
    assert!(found[0].to_string().contains("in[0] == 't'"), "{}", found[0]);
    // The shared memory is sealed: no target can make the driver read behind its end.
    assert_eq!(end(&mut executor, "resize"), End::Exit(7));
}

#[test]
fn a_server_that_does_not_start_is_explained() {
    let _alone = alone();
    let start = |name: &str, startup: Duration| {
        // Safety: no other thread of this test reads the environment now.
        unsafe { std::env::set_var(name, "1") };
        let result = executor(|t| t.startup = startup).start();
        unsafe { std::env::remove_var(name) };
        result.expect_err("it must not start")
    };
    let refused = start("FAIL", AMPLE).to_string();
    assert!(refused.contains("it ended with status 4; it said: I would rather not"), "{refused}");
    let silent = start("SILENT", SHORT).to_string();
    assert!(silent.contains("it sent no message within 0.3 s"), "{silent}");
    assert!(matches!(start("OLD", AMPLE), ExecError::Version { theirs: 0, .. }));
    assert_eq!(processes(), 0);
}

/// Names a file for the process number of a child of the driver.
const HOLDER: &str = "PLEACH_TEST_HOLDER";

/// Not a test: the driver that the next test kills.
#[test]
#[ignore = "started by a_killed_driver_leaves_nothing"]
fn driver() {
    let mut executor = executor(|_| {});
    if let Some(file) = std::env::var_os(HOLDER) {
        executor.start().unwrap();
        // As a child that is stopped before it starts its program: it has all descriptors.
        // Safety: the child only makes system calls.
        let holder = unsafe { libc::fork() };
        if holder == 0 {
            unsafe { libc::sleep(120) };
            unsafe { libc::_exit(0) };
        }
        std::fs::write(file, holder.to_string()).unwrap();
    }
    let _ = executor.run(b"loop", AMPLE);
}

/// The private directories of this test's drivers.
fn directories() -> Vec<PathBuf> {
    let list = |d: &Path| std::fs::read_dir(d).into_iter().flatten().flatten().map(|e| e.path());
    let temporary = std::env::temp_dir();
    let all = list(&temporary).chain(list(Path::new("/dev/shm")));
    let input = format!("input{}", extension());
    all.filter(|p| p.join(name()).exists() || p.join(&input).exists()).collect()
}

#[test]
fn a_killed_driver_leaves_nothing() {
    let _alone = alone();
    program();
    let before = directories();
    let file = std::env::temp_dir().join(format!("{}-holder", name()));
    for (signal, has_holder) in [
        (libc::SIGKILL, false),
        (libc::SIGTERM, false),
        (libc::SIGINT, false),
        (libc::SIGKILL, true),
    ] {
        let mut driver = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "driver"])
            .envs(has_holder.then_some((HOLDER, &file)))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the driver runs its target", || processes() == 3);
        assert_eq!(directories().len(), before.len() + 2);
        // Safety: our child was not waited for yet, so the number is still its own.
        unsafe { libc::kill(driver.id() as i32, signal) };
        driver.wait().unwrap();
        wait_until("everything is removed", || processes() == 0 && directories() == before);
    }
    let holder = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    std::fs::remove_file(&file).unwrap();
    // Safety: it slept until now, so the number is still its own.
    assert_eq!(unsafe { libc::kill(holder, libc::SIGKILL) }, 0);
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < AMPLE, "waited for: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
