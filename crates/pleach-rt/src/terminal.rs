//! A terminal whose keys are the input.
//!
//! The driver makes a pseudo-terminal. It is the program's standard input, output and
//! error, and the controlling terminal of its session. A read from it gets the next event
//! instead of a typed key: every run on a terminal is a live run (see [`crate::live`]).
//! So no key is ever queued, and a snapshot shares no queued keys with its children. The
//! rest of the terminal is real: `isatty`, modes, size, and output, which the driver
//! reads and drops.
//!
//! One byte stays in the terminal's queue and is never read. So the kernel reports that
//! there is input to every program that waits, in whatever way. But users type slowly: a
//! program that polls for a key, without waiting, must see none most of the time. Then it
//! does what it does between two keys; an editor draws its screen. A program that only
//! polls must get keys, too: it gets one after [`MAX_POLLS`] polls in a row.
//!
//! A read gets one byte. Keys of several bytes come byte by byte, one for each read.
//!
//! Only a process in the foreground may set modes, and modes belong to the terminal, not
//! to the process. So a process that is resumed first moves to the foreground and restores
//! its modes.

use crate::start::state;
use crate::{input, sys};

const TCGETS: u64 = 0x5401;
const TCSETS: u64 = 0x5402;
const TCFLSH: u64 = 0x540b;
const TCIOFLUSH: u64 = 2;
const TIOCSPGRP: u64 = 0x5410;
const FIONREAD: u64 = 0x541b;
/// Number of polls in a row after which there is a key.
const MAX_POLLS: u32 = 64;

/// Room for the kernel's `termios`, which is shorter.
type Modes = [u32; 16];

struct Terminal {
    /// The program's end, as a descriptor of the runtime; -1: there is none.
    fd: i32,
    /// The modes before the program changed them.
    first: Modes,
    /// The modes of this process when it was last paused.
    saved: Modes,
    /// Polls since the program read a key or waited for one.
    polls: u32,
}

static mut TERMINAL: Terminal = Terminal { fd: -1, first: [0; 16], saved: [0; 16], polls: 0 };

fn terminal() -> &'static mut Terminal {
    // Safety: used by the only thread of a run, when it begins, pauses and reads.
    unsafe { &mut *&raw mut TERMINAL }
}

/// True if the input is keys from a terminal.
pub fn is_on() -> bool {
    state().terminal >= 0
}

/// At the start of the process: saves the modes of the terminal.
pub fn attach() {
    let t = terminal();
    t.fd = sys::duplicate_out_of_the_way(0);
    sys::ioctl(t.fd as u64, TCGETS, &raw mut t.first as u64);
}

/// At the start of every run: resets the terminal.
pub fn begin_run() {
    if !is_on() {
        return;
    }
    let t = terminal();
    if let Some(st) = sys::fstat(t.fd) {
        let stream = &mut input::streams().all[0];
        (stream.dev, stream.ino) = (st.dev, st.ino);
    }
    t.saved = t.first;
    resume();
    sys::ioctl(t.fd as u64, TCFLSH, TCIOFLUSH);
    ensure_readable();
}

/// Saves the modes of a run that is paused.
pub fn save_modes() {
    if is_on() {
        let t = terminal();
        sys::ioctl(t.fd as u64, TCGETS, &raw mut t.saved as u64);
    }
}

/// Brings this process to the foreground and restores its modes.
pub fn resume() {
    if !is_on() {
        return;
    }
    let t = terminal();
    let group = sys::getpid() as u32;
    with_output_signals_blocked(|| {
        sys::ioctl(t.fd as u64, TIOCSPGRP, &raw const group as u64);
        sys::ioctl(t.fd as u64, TCSETS, &raw const t.saved as u64);
    });
    ensure_readable();
}

/// Makes sure that the terminal has something to read.
pub fn ensure_readable() {
    if !is_on() {
        return;
    }
    let mut waiting = 0u32;
    sys::ioctl(terminal().fd as u64, FIONREAD, &raw mut waiting as u64);
    if waiting == 0 {
        sys::write(state().terminal as u64, c"\n".as_ptr() as u64, 1);
    }
}

/// Notes that the program waits for a key or has read one.
pub fn note_wait() {
    terminal().polls = 0;
    ensure_readable();
}

/// Counts a poll for a key; true if the program must see none.
pub fn hides_key() -> bool {
    if !is_on() {
        return false;
    }
    let t = terminal();
    t.polls += 1;
    t.polls < MAX_POLLS
}

/// Calls `poll` while the terminal has nothing to read.
pub fn poll_without_key<T>(poll: impl FnOnce() -> T) -> T {
    const TCIFLUSH: u64 = 0;
    sys::ioctl(terminal().fd as u64, TCFLSH, TCIFLUSH);
    let out = poll();
    ensure_readable();
    out
}

/// True if a descriptor is the terminal that keys come from.
pub fn is_terminal(fd: i32) -> bool {
    is_on() && input::stream_of(fd) == Some(0)
}

/// True if a file is `/dev/tty`, the terminal of the session.
pub fn is_dev_tty(st: &sys::Stat) -> bool {
    const DEV_TTY: u64 = 0x500;
    is_on() && st.rdev == DEV_TTY
}

/// Runs `f` with SIGTTOU blocked: that signal stops a process in the background that sets
/// modes.
fn with_output_signals_blocked(f: impl FnOnce()) {
    const SIG_BLOCK: u64 = 0;
    const SIG_SETMASK: u64 = 2;
    const SIGTTOU: u64 = 22;
    let (mask, mut before) = (1u64 << (SIGTTOU - 1), 0u64);
    sys::rt_sigprocmask(SIG_BLOCK, &raw const mask as u64, &raw mut before as u64, 8);
    f();
    sys::rt_sigprocmask(SIG_SETMASK, &raw const before as u64, 0, 8);
}
