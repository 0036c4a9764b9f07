//! The fork server: one process that has done its start-up forks a child for every input.
//!
//! It begins at the entry of `main`, when library constructors have run, or later, where
//! the program calls `pleach_ready` or `__AFL_INIT`. Objects with such a call define
//! `__pleach_deferred` as 1. In the fast half a program with `__AFL_LOOP` keeps one
//! child for many inputs: the child stops itself after each input, as with AFL.
//!
//! `fork` has what makes the process of a run cheap.

use crate::start::{header, state};
use crate::{fork, input, sys};
use core::ffi::{c_char, c_int, c_uint};
use pleach_abi::message::{self, Message};

// Weak, so that the definition of an object replaces it.
core::arch::global_asm!(
    ".pushsection .data.__pleach_deferred,\"aw\",@progbits",
    ".weak __pleach_deferred",
    "__pleach_deferred: .byte 0",
    ".popsection"
);

unsafe extern "C" {
    static __pleach_deferred: u8;
}

static mut ROUNDS: u32 = 0;
static mut IN_RUN: bool = false;

/// The hook at the entry of `main`. The compiler then replaces the parameters of `main`
/// by the results of [`__pleach_argc`] and [`__pleach_argv`].
#[unsafe(no_mangle)]
pub extern "C" fn __pleach_main(argc: c_int, argv: *mut *mut c_char) {
    let s = state();
    (s.argc, s.argv) = (argc, argv);
    // Safety: defined above, if not in an object.
    if unsafe { (&raw const __pleach_deferred).read_volatile() } == 0 {
        serve(true);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __pleach_argc() -> c_int {
    state().argc
}

#[unsafe(no_mangle)]
pub extern "C" fn __pleach_argv() -> *mut *mut c_char {
    state().argv
}

#[unsafe(no_mangle)]
pub extern "C" fn pleach_ready() {
    serve(false);
}

#[unsafe(no_mangle)]
pub extern "C" fn __pleach_afl_init() {
    serve(false);
}

/// True if this process runs the program on an input.
pub fn in_run() -> bool {
    // Safety: set by the one thread that starts the run.
    unsafe { IN_RUN }
}

/// `__AFL_LOOP(n)`: true for the next input, false when the program should end.
#[unsafe(no_mangle)]
pub extern "C" fn __pleach_afl_loop(max_rounds: c_uint) -> c_int {
    // Safety: AFL's loop is entered by one thread.
    let round = unsafe { ROUNDS };
    unsafe { ROUNDS = round + 1 };
    if round == 0 {
        serve(false);
        return 1;
    }
    // Without a driver there is one round: nobody would wake a stopped process.
    let driven = state().input_fd >= 0;
    let stays = cfg!(feature = "fast") && driven && unsafe { IN_RUN } && round < max_rounds;
    if !stays {
        return 0;
    }
    #[cfg(feature = "fast")]
    if crate::batch::next() {
        input::begin_run();
        return 1;
    }
    const SIGSTOP: c_int = 19;
    if let Some(h) = header() {
        h.between_inputs = 1;
    }
    unsafe { sys::raise(SIGSTOP) };
    #[cfg(feature = "fast")]
    crate::batch::begin();
    input::begin_run();
    1
}

/// Runs the server; returns in each child. `is_at_main`: no code of `main` has run.
fn serve(is_at_main: bool) {
    let s = state();
    // Safety: only one thread runs at the start of the program.
    if s.control < 0 || unsafe { IN_RUN } {
        if !unsafe { IN_RUN } {
            unsafe { IN_RUN = true };
            input::begin_run();
        }
        return;
    }
    sys::prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0);
    fork::start_allocator();
    let half = if cfg!(feature = "fast") { message::HALF_FAST } else { message::HALF_SYMBOLIC };
    send(Message {
        kind: message::HELLO,
        a: pleach_abi::ABI_VERSION,
        b: sys::getpid() as u64,
        c: half,
        d: 0,
    });
    // Set here for the children: the server never returns to the program.
    // Safety: the server has one thread.
    unsafe { IN_RUN = true };
    let mut waiting: Option<i64> = None;
    loop {
        if receive().kind != message::RUN {
            if let Some(pid) = waiting {
                sys::kill(pid as u64, 9);
            }
            sys::exit_now(0);
        }
        // Read before the run, which may write over it.
        let flags = header().map_or(0, |h| h.run_flags);
        if let Some(pid) = waiting.take_if(|_| flags & pleach_abi::shm::RUN_FRESH != 0) {
            sys::kill(pid as u64, 9);
            sys::wait4(pid as u64, 0, 0, 0);
        }
        let pid = match waiting.take() {
            Some(pid) => {
                const SIGCONT: u64 = 18;
                sys::kill(pid as u64, SIGCONT);
                pid
            }
            None => {
                #[cfg(feature = "fast")]
                let has_begun = input::begin_run_before_fork(flags);
                #[cfg(feature = "symbolic")]
                let has_begun = false;
                let pid = fork::fork(is_at_main);
                if pid == 0 {
                    become_run(flags);
                    #[cfg(feature = "fast")]
                    crate::cover::map_ahead();
                    if !has_begun {
                        input::begin_run();
                    }
                    return;
                }
                pid
            }
        };
        if flags & pleach_abi::shm::RUN_LIVE != 0 {
            sys::setpgid(pid as u64, pid as u64);
            send(Message { kind: message::STARTED, a: pid as u32, ..Message::default() });
        }
        const WUNTRACED: u64 = 2;
        if wait_for(pid, if cfg!(feature = "fast") { WUNTRACED } else { 0 }) {
            waiting = Some(pid);
        }
    }
}

/// The low byte of the wait status of a stopped process.
const STOPPED: i32 = 0x7f;

/// True if the child stopped itself between two inputs.
fn is_between() -> bool {
    header().is_some_and(|h| core::mem::take(&mut h.between_inputs) != 0)
}

const PR_SET_PDEATHSIG: u64 = 1;

/// In a new child: makes it a group of its own that ends with its parent. Only a live
/// run keeps the control socket; in others `state().control` is a number without meaning, and
/// nothing uses it.
pub fn become_run(flags: u32) {
    sys::setpgid(0, 0);
    sys::prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0);
    if flags & pleach_abi::shm::RUN_LIVE == 0 {
        sys::close(state().control as u64);
    }
}

/// Waits for the child and reports to the driver; true if the child stopped and waits
/// for its next input.
pub fn wait_for(pid: i64, options: u64) -> bool {
    let (mut status, mut usage) = (0i32, [0i64; 18]);
    loop {
        let got =
            sys::wait4(pid as u64, &raw mut status as u64, options, usage.as_mut_ptr() as u64);
        const EINTR: i64 = -4;
        // A child that stops for its own reasons is not done: the run times out.
        if got == pid && (status & 0xff != STOPPED || is_between()) {
            break;
        }
        if got == pid {
            continue;
        }
        if got != EINTR {
            status = 9;
            break;
        }
    }
    let stopped = status & 0xff == STOPPED;
    let micros = (usage[0] + usage[2]) * 1_000_000 + usage[1] + usage[3];
    send(Message {
        kind: if stopped { message::STOPPED } else { message::DONE },
        a: status as u32,
        b: if stopped { 0 } else { micros as u64 },
        c: usage[4] as u64,
        d: pid as u64,
    });
    stopped
}

pub fn send(m: Message) {
    let n = sys::write(state().control as u64, &raw const m as u64, message::SIZE as u64);
    if n != message::SIZE as i64 {
        sys::exit_now(0);
    }
}

/// Receives the driver's next message; `QUIT` if the driver closed the socket.
pub fn receive() -> Message {
    let mut m = Message::default();
    let mut have = 0;
    while have < message::SIZE {
        let n = sys::read(
            state().control as u64,
            &raw mut m as u64 + have as u64,
            (message::SIZE - have) as u64,
        );
        if n <= 0 {
            return Message { kind: message::QUIT, ..Message::default() };
        }
        have += n as usize;
    }
    m
}
