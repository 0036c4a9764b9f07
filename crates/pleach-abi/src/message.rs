//! Messages of the fork server: one fixed size, over a stream socket.

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub kind: u32,
    pub a: u32,
    pub b: u64,
    pub c: u64,
    pub d: u64,
}

pub const SIZE: usize = core::mem::size_of::<Message>();

// From the target.
/// The server is ready. a: ABI version, b: pid, c: [`HALF_FAST`] or [`HALF_SYMBOLIC`].
pub const HELLO: u32 = 1;
/// A live run has started. a: pid. (Of other runs the driver asks the system for the pid, if
/// they last long enough that it matters.)
pub const STARTED: u32 = 2;
/// The run ended. a: wait status, b: CPU time in microseconds (user and
/// system), c: greatest resident size in KiB, d: pid.
pub const DONE: u32 = 3;
/// One round of a persistent loop ended; the process waits. Fields as `DONE`
/// (CPU time is 0).
pub const STOPPED: u32 = 4;
/// The target cannot continue: `Header::note` says why.
pub const FAILED: u32 = 5;
/// A live run has used up its events and is paused at a call for input. From now on
/// it receives the driver's messages, until it ends. a: pid, b: bytes taken,
/// c: events since it was last resumed, d: see `PAUSED_*`.
pub const PAUSED: u32 = 6;

/// It has more than one thread: a fork of it has only the paused thread.
pub const PAUSED_WITH_THREADS: u64 = 1;
/// It writes to a file that is too long to be copied: forks share it.
pub const PAUSED_WITH_SHARED_FILE: u64 = 2;
/// It has connections other than the input's: forks share them.
pub const PAUSED_WITH_SOCKETS: u64 = 4;

// From the driver.
/// Fork a child of the server, or of the paused live run, and run it on the input that
/// is in place.
pub const RUN: u32 = 16;
/// End the server and any waiting child, or the paused live run.
pub const QUIT: u32 = 17;
/// Resume the paused live run.
pub const GO: u32 = 18;

pub const HALF_FAST: u64 = 1;
pub const HALF_SYMBOLIC: u64 = 2;
