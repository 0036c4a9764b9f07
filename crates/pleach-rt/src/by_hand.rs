//! A program with `LLVMFuzzerTestOneInput` that the user starts, with libFuzzer's command
//! line.
//!
//! If it names files, they are run here, as libFuzzer does: a crash, an `exit` and a timeout
//! have libFuzzer's exit statuses. A search, a merge and everything else is work for
//! `pleach`, which takes the place of this process. Without arguments, and with a file or a
//! pipe as standard input, that is the input.

use crate::fuzzer::{Initialize, OneInput, run_input};
use crate::sys;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Exit statuses of libFuzzer.
const CRASHED: c_int = 77;
const TIMED_OUT: c_int = 70;
const OUT_OF_MEMORY: c_int = 71;
/// libFuzzer's limits, if the command line has none.
const TIMEOUT_S: u64 = 1200;
const RSS_LIMIT_MB: u64 = 2048;

unsafe extern "C" {
    fn free(p: *mut u8);
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn execvp(file: *const c_char, argv: *const *const c_char) -> c_int;
    fn readlink(path: *const c_char, to: *mut c_char, size: usize) -> isize;
    fn isatty(fd: c_int) -> c_int;
    fn signal(number: c_int, handler: usize) -> usize;
    fn alarm(seconds: u32) -> u32;
    fn __cxa_atexit(f: extern "C" fn(*mut c_void), arg: *mut c_void, dso: *mut c_void) -> c_int;
}

/// The arguments after the name of the program.
struct Args {
    argc: c_int,
    argv: *mut *mut c_char,
}

impl Args {
    fn iter(&self) -> impl Iterator<Item = &'static CStr> {
        let argv = self.argv;
        // Safety: argv has argc strings, which last as long as the process.
        (1..self.argc.max(1) as usize).map(move |i| unsafe { CStr::from_ptr(*argv.add(i)) })
    }

    fn paths(&self) -> impl Iterator<Item = &'static CStr> {
        self.iter().filter(|arg| !arg.to_bytes().starts_with(b"-"))
    }

    /// The value of a flag, `-name=value`; the last one counts.
    fn flag(&self, name: &[u8]) -> Option<u64> {
        let value = |arg: &CStr| {
            let rest = arg.to_bytes().strip_prefix(b"-")?.strip_prefix(name)?;
            rest.strip_prefix(b"=").map(number)
        };
        self.iter().filter_map(value).last()
    }
}

/// A decimal number; what follows it is ignored.
fn number(text: &[u8]) -> u64 {
    let digits = text.iter().take_while(|b| b.is_ascii_digit());
    digits.fold(0u64, |n, b| n.wrapping_mul(10).wrapping_add(u64::from(b - b'0')))
}

/// Flags that ask for more than to run files.
const DRIVER_FLAGS: [&[u8]; 6] =
    [b"help", b"merge", b"minimize_crash", b"cleanse_crash", b"fork", b"jobs"];

pub fn run(
    argc: c_int,
    argv: *mut *mut c_char,
    one: OneInput,
    initialize: Option<Initialize>,
) -> c_int {
    let args = Args { argc, argv };
    // Set by `pleach replay --half plain`: the input is standard input, whatever the flags.
    // Safety: the name is a string.
    let is_plain = unsafe { !sys::getenv(pleach_abi::shm::PLAIN_ENV.as_ptr()).is_null() };
    let is_for_driver = DRIVER_FLAGS.iter().any(|name| args.flag(name).is_some_and(|n| n != 0));
    let has_paths = args.paths().next().is_some();
    let are_files = has_paths && args.paths().all(|path| !is_directory(path));
    let takes_stdin = is_plain || (argc <= 1 && is_stdin_an_input());
    if !takes_stdin && (is_for_driver || !are_files) {
        return become_driver(&args);
    }
    let (mut argc, mut argv) = (argc, argv);
    if let Some(f) = initialize {
        f(&raw mut argc, &raw mut argv);
    }
    // Without a driver this only begins the one run.
    crate::server::pleach_ready();
    if takes_stdin {
        run_input(one);
        return 0;
    }
    run_files(&Args { argc, argv }, one)
}

/// True for a file or a pipe, not for a terminal or `/dev/null`.
fn is_stdin_an_input() -> bool {
    const CHARACTER_DEVICE: u32 = 0o020000;
    // Safety: takes any descriptor.
    let is_terminal = unsafe { isatty(0) == 1 };
    !is_terminal && sys::fstat(0).is_some_and(|st| st.mode & 0o170000 != CHARACTER_DEVICE)
}

fn is_directory(path: &CStr) -> bool {
    const O_DIRECTORY: c_int = 0o200000;
    // Safety: the path is a string.
    let fd = unsafe { open(path.as_ptr(), O_DIRECTORY) };
    if fd >= 0 {
        sys::close(fd as u64);
    }
    fd >= 0
}

/// Starts `pleach` with the command line: the one that `PLEACH` names, the one beside the
/// compiler that built this program, or the one in `PATH`. Returns only if there is none.
fn become_driver(args: &Args) -> c_int {
    const HEAD: usize = 4;
    let count = HEAD + args.argc.max(1) as usize;
    let mut program = [0 as c_char; 4096];
    let built_by = sys::weak!("__pleach_driver") as *const c_char;
    // Safety: the buffers are as large as they say, and all strings end with a zero.
    unsafe {
        let list = sys::malloc(count * size_of::<usize>()).cast::<*const c_char>();
        if list.is_null() {
            return 1;
        }
        let path = c"/proc/self/exe".as_ptr();
        if readlink(path, program.as_mut_ptr(), program.len() - 1) <= 0 {
            return 1;
        }
        let head = [c"pleach".as_ptr(), c"libfuzzer".as_ptr(), program.as_ptr(), c"--".as_ptr()];
        head.iter().enumerate().for_each(|(i, word)| *list.add(i) = *word);
        for i in 1..args.argc.max(1) as usize {
            *list.add(HEAD + i - 1) = *args.argv.add(i);
        }
        *list.add(count - 1) = core::ptr::null();
        let given = sys::getenv(c"PLEACH".as_ptr());
        if !given.is_null() {
            execvp(given, list);
        }
        if !built_by.is_null() {
            execvp(built_by, list);
        }
        execvp(list.read(), list);
    }
    sys::print_error(&[
        b"pleach: cannot find `pleach`, which does this: put it into PATH, or name it in the \
          environment variable PLEACH; files are run without it\n",
    ]);
    1
}

/// True while an input runs.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);
/// Seconds that the current input has run, and may run.
static SECONDS: AtomicU64 = AtomicU64::new(0);
static MAX_SECONDS: AtomicU64 = AtomicU64::new(0);
static MAX_RSS_MB: AtomicU64 = AtomicU64::new(0);

/// Runs each file, `-runs=` times.
fn run_files(args: &Args, one: OneInput) -> c_int {
    MAX_SECONDS.store(args.flag(b"timeout").unwrap_or(TIMEOUT_S), Ordering::Relaxed);
    MAX_RSS_MB.store(args.flag(b"rss_limit_mb").unwrap_or(RSS_LIMIT_MB), Ordering::Relaxed);
    install_handlers();
    let runs = args.flag(b"runs").unwrap_or(1).max(1);
    let mut status = 0;
    for path in args.paths() {
        status |= run_file(path, runs, one);
    }
    status
}

fn run_file(path: &CStr, runs: u64, one: OneInput) -> c_int {
    // Safety: the buffer is ours.
    unsafe {
        let fd = open(path.as_ptr(), 0);
        let Some(st) = (fd >= 0).then(|| sys::fstat(fd)).flatten() else {
            sys::print_error(&[b"pleach: cannot open ", path.to_bytes(), b"\n"]);
            return 1;
        };
        sys::print_error(&[b"Running: ", path.to_bytes(), b"\n"]);
        let before = milliseconds();
        for _ in 0..runs {
            let p = sys::malloc(st.size.max(1) as usize).cast::<u8>();
            let n = sys::pread(fd as u64, p as u64, st.size as u64, 0).max(0);
            SECONDS.store(0, Ordering::Relaxed);
            IS_RUNNING.store(true, Ordering::Relaxed);
            alarm(1);
            one(p, n as usize);
            IS_RUNNING.store(false, Ordering::Relaxed);
            free(p);
        }
        alarm(0);
        sys::close(fd as u64);
        let spent = sys::decimal(milliseconds().saturating_sub(before));
        sys::print_error(&[b"Executed ", path.to_bytes(), b" in ", &spent, b" ms\n"]);
    }
    0
}

fn milliseconds() -> u64 {
    const MONOTONIC: u64 = 1;
    let mut time = [0u64; 2];
    sys::clock_gettime(MONOTONIC, time.as_mut_ptr() as u64);
    time[0] * 1000 + time[1] / 1_000_000
}

/// A crash ends the program with libFuzzer's exit status. Signals that a sanitizer handles
/// stay with it.
fn install_handlers() {
    const SIGALRM: c_int = 14;
    const DEADLY: [c_int; 6] = [4, 5, 6, 7, 8, 11];
    // Safety: the handlers only make system calls.
    unsafe {
        for number in DEADLY {
            let before = signal(number, on_deadly_signal as extern "C" fn(c_int) as usize);
            if before != 0 {
                signal(number, before);
            }
        }
        signal(SIGALRM, on_alarm as extern "C" fn(c_int) as usize);
        __cxa_atexit(on_exit, core::ptr::null_mut(), core::ptr::null_mut());
    }
}

extern "C" fn on_deadly_signal(number: c_int) {
    let number = sys::decimal(number as u64);
    let summary = b")\nSUMMARY: libFuzzer: deadly signal\n";
    sys::print_error(&[b"ERROR: libFuzzer: deadly signal (", &number, summary]);
    sys::exit_now(CRASHED);
}

extern "C" fn on_exit(_: *mut c_void) {
    if IS_RUNNING.load(Ordering::Relaxed) {
        sys::print_error(&[b"ERROR: libFuzzer: fuzz target exited\n"]);
        sys::exit_now(CRASHED);
    }
}

/// Once a second: the input has run for another second.
extern "C" fn on_alarm(_: c_int) {
    let seconds = SECONDS.fetch_add(1, Ordering::Relaxed) + 1;
    let (max_seconds, max_mb) =
        (MAX_SECONDS.load(Ordering::Relaxed), MAX_RSS_MB.load(Ordering::Relaxed));
    if max_seconds > 0 && seconds >= max_seconds {
        let seconds = sys::decimal(seconds);
        sys::print_error(&[b"ERROR: libFuzzer: timeout after ", &seconds, b" seconds\n"]);
        sys::exit_now(TIMED_OUT);
    }
    if max_mb > 0 && resident_mb() > max_mb {
        sys::print_error(&[b"ERROR: libFuzzer: out-of-memory\n"]);
        sys::exit_now(OUT_OF_MEMORY);
    }
    // Safety: may be called in a handler.
    unsafe { alarm(1) };
}

/// The resident memory of this process.
fn resident_mb() -> u64 {
    const PAGES_IN_MB: u64 = 256;
    let mut text = [0u8; 128];
    let fd = sys::open(c"/proc/self/statm".as_ptr() as u64, 0, 0);
    if fd < 0 {
        return 0;
    }
    let n = sys::read(fd as u64, text.as_mut_ptr() as u64, text.len() as u64).max(0) as usize;
    sys::close(fd as u64);
    // The second number.
    let second = text[..n].split(|b| *b == b' ').nth(1);
    second.map_or(0, number) / PAGES_IN_MB
}
