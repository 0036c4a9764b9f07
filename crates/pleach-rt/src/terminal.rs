//! A terminal whose keys are the input.
//!
//! The driver has made a pseudo-terminal, which is the program's standard input,
//! output and error and controls its session. What is read from it is not what was
//! typed, but the next event: every run on a terminal is a live one (see
//! [`crate::live`]). So no key waits for anybody, and a snapshot has no keys in a
//! queue that it would share. The terminal is there for all the rest: `isatty`,
//! modes, its size, what is written to it, which the driver takes away.
//!
//! One byte is kept in its queue and never read, so that the kernel says of the
//! terminal that there is something to read, to whoever waits in whatever way. But
//! people are slow: a program that looks for a key without waiting for one sees none,
//! and so does between two keys what it does when nobody is typing (an editor draws its
//! screen). One that only ever looks must get keys, too: after [`LOOKS`] in a row one is
//! there.
//!
//! A read gets one byte. Longer keys come one byte after the other, as fast as they are
//! waited for.
//!
//! A process that sets modes has to be in the foreground, and the modes are the
//! terminal's, not the process's: whoever goes on comes to the front first, and
//! finds the modes that it left.

use crate::start::state;
use crate::{input, sys};

const TCGETS: u64 = 0x5401;
const TCSETS: u64 = 0x5402;
const TCFLSH: u64 = 0x540b;
const TCIOFLUSH: u64 = 2;
const TIOCSPGRP: u64 = 0x5410;
const FIONREAD: u64 = 0x541b;
/// Looks in vain, in a row.
const LOOKS: u32 = 64;

/// The kernel's `termios` is shorter than this.
type Modes = [u32; 16];

struct Terminal {
    /// The program's end, under a number of ours; -1: there is none.
    fd: i32,
    first: Modes,
    saved: Modes,
    /// Looks since a key was read or waited for.
    looks: u32,
}

static mut TERMINAL: Terminal = Terminal { fd: -1, first: [0; 16], saved: [0; 16], looks: 0 };

fn terminal() -> &'static mut Terminal {
    // Safety: used where runs begin and stand, by their only thread.
    unsafe { &mut *&raw mut TERMINAL }
}

/// Whether keys are the input.
pub fn on() -> bool {
    state().terminal >= 0
}

/// At the start of the process: how the terminal is before the program has it.
pub fn attach() {
    const F_DUPFD_CLOEXEC: u64 = 1030;
    let t = terminal();
    t.fd = sys::fcntl(0, F_DUPFD_CLOEXEC, 900) as i32;
    sys::ioctl(t.fd as u64, TCGETS, &raw mut t.first as u64);
}

/// At the start of every run: a terminal as good as new.
pub fn begin_run() {
    if !on() {
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
    ring();
}

/// A run comes to stand.
pub fn stand() {
    if on() {
        let t = terminal();
        sys::ioctl(t.fd as u64, TCGETS, &raw mut t.saved as u64);
    }
}

/// This process goes on.
pub fn resume() {
    if !on() {
        return;
    }
    let t = terminal();
    let group = sys::getpid() as u32;
    with_output_signals_blocked(|| {
        sys::ioctl(t.fd as u64, TIOCSPGRP, &raw const group as u64);
        sys::ioctl(t.fd as u64, TCSETS, &raw const t.saved as u64);
    });
    ring();
}

/// Sees to it that there is something to read.
pub fn ring() {
    if !on() {
        return;
    }
    let mut waiting = 0u32;
    sys::ioctl(terminal().fd as u64, FIONREAD, &raw mut waiting as u64);
    if waiting == 0 {
        sys::write(state().terminal as u64, c"\n".as_ptr() as u64, 1);
    }
}

/// The program waits for a key, or has read one: the next look is the first.
pub fn waits() {
    terminal().looks = 0;
    ring();
}

/// The program looks whether there is a key. Whether there is none.
pub fn is_quiet() -> bool {
    if !on() {
        return false;
    }
    let t = terminal();
    t.looks += 1;
    t.looks < LOOKS
}

/// Looks at more than the terminal while that has nothing to read.
pub fn hushed<T>(look: impl FnOnce() -> T) -> T {
    const TCIFLUSH: u64 = 0;
    sys::ioctl(terminal().fd as u64, TCFLSH, TCIFLUSH);
    let seen = look();
    ring();
    seen
}

/// Whether a descriptor is the terminal that keys come from.
pub fn is(fd: i32) -> bool {
    on() && input::stream_of(fd) == Some(0)
}

/// Whether a file is the terminal of this session under its general name.
pub fn is_by_name(st: &sys::Stat) -> bool {
    const DEV_TTY: u64 = 0x500;
    on() && st.rdev == DEV_TTY
}

/// A process in the background is stopped by SIGTTOU when it sets modes, unless
/// that is blocked.
fn with_output_signals_blocked(f: impl FnOnce()) {
    const SIG_BLOCK: u64 = 0;
    const SIG_SETMASK: u64 = 2;
    const SIGTTOU: u64 = 22;
    let (mask, mut before) = (1u64 << (SIGTTOU - 1), 0u64);
    sys::rt_sigprocmask(SIG_BLOCK, &raw const mask as u64, &raw mut before as u64, 8);
    f();
    sys::rt_sigprocmask(SIG_SETMASK, &raw const before as u64, 0, 8);
}
