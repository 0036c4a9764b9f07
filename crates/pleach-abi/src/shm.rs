//! The shared memory between driver and target: a memfd that the driver makes,
//! sizes and maps, and that the target finds through [`ENV`].
//!
//! ```text
//! 0            Header (64 KiB)
//! events_off   events_cap × Event
//! nodes_off    nodes_cap × Node
//! snaps_off    snaps_cap bytes: snapshots, each a Snapshot header and its bytes, 8-aligned
//! tokens_off   tokens_cap × Token
//! cover_off    cover_cap bytes: branch counters, mapped over the fast half's own
//! live_off     live_cap bytes: the input of a live run, as far as there is any
//! ```
//! Every offset is a multiple of the page size. The driver fills in the layout;
//! the target writes counts as it goes, so that a trace that ends in a crash is
//! complete up to it.

/// `PLEACH_CTL=<bind>:<socket>:<memfd>:<input>[:<terminal>]`: descriptors of the
/// control socket, the shared memory, the input as it was given (a plain file, or a
/// container; for a plain input the same file that standard input or `@@` is), and
/// the terminal that it runs on, if any. The runtime removes it from the environment,
/// and, if `<bind>` is 1, `ENV_BIND`, too, which the driver added.
pub const ENV: &str = "PLEACH_CTL";
pub const ENV_BIND: &str = "LD_BIND_NOW";
/// Set for a symbolic half run without a driver: labels on what is read from
/// standard input, into private memory, for testing programs with labels on.
pub const ENV_LABEL: &str = "PLEACH_LABEL";

pub const MAGIC: u32 = 0x4843_4c50; // "PLCH"
pub const HEADER_SIZE: usize = 64 * 1024;
pub const MODULES_MAX: usize = 64;
pub const UNMODELLED_CAP: usize = 16 * 1024;
pub const NOTE_CAP: usize = 512;

#[repr(C)]
pub struct Header {
    // Written by the driver before the target starts.
    pub magic: u32,
    pub version: u32,
    pub total_size: u64,
    pub events_off: u64,
    pub events_cap: u64,
    pub nodes_off: u64,
    pub nodes_cap: u64,
    pub snaps_off: u64,
    pub snaps_cap: u64,
    pub tokens_off: u64,
    pub tokens_cap: u64,
    pub cover_off: u64,
    pub cover_cap: u64,
    pub live_off: u64,
    pub live_cap: u64,
    /// Device and inode of the file that standard input or `@@` is: a descriptor
    /// that refers to it is input. With a container, that file holds the bytes
    /// of the `FILE` record alone.
    pub input_dev: u64,
    pub input_ino: u64,
    // Written by the driver before each run.
    /// Bytes of the input as it was given (the container, if it is one).
    pub input_len: u64,
    /// See `RUN_*`.
    pub run_flags: u32,
    /// Not 0: the run has stopped itself between two inputs, and waits for the
    /// next. A program may also stop for reasons of its own.
    pub between: u32,
    /// Holes of this run's input; in runs without any their lengths are constants.
    pub holes_len: u32,
    pub reserved: u32,
    /// What a live run may do before it stops; written before it goes on, too.
    pub live: Live,
    /// What typed calls past the end of the input get. The driver clears what the
    /// target writes there.
    pub growth: Growth,

    // Written by the target during a run; the runtime zeroes them at its start.
    /// Nodes in use, the input's included: labels are below this.
    pub nodes: u32,
    pub events: u32,
    /// Tokens so far; in runs without [`RUN_TOKENS`] none.
    pub tokens: u32,
    /// Bytes of the snapshot region in use.
    pub snaps: u64,
    /// See `CUT_*`: why the trace ended early.
    pub cut: u32,
    /// Times a label was lost, by cause, see [`Loss`].
    pub losses: [u32; 16],
    /// Bytes of `unmodelled` in use.
    pub unmodelled_len: u32,
    /// Input bytes that were read.
    pub input_read: u32,
    /// Bytes of a live run's input that the program has taken.
    pub live_taken: u64,
    /// Events of a live run since it was told to go on.
    pub live_events: u64,

    // Written by the target at its start.
    pub modules_len: u32,
    /// Bytes of `note` in use: a message for people (why the target gave up).
    pub note_len: u32,
    pub note: [u8; NOTE_CAP],
    pub modules: [Module; MODULES_MAX],
    /// Names of functions that got labels and have neither instrumentation
    /// nor a model, each ended by a newline.
    pub unmodelled: [u8; UNMODELLED_CAP],

    /// The holes, in order; written by the driver before a run that has some.
    pub holes: [Hole; HOLES_MAX],
    /// How random events of a live run are made: the driver's, who writes it when it
    /// changes. It comes last because it is long, and most runs are not live.
    pub bias: Bias,
}

const _: () = assert!(core::mem::size_of::<Header>() <= HEADER_SIZE);

/// Label what is read from the input (symbolic half); without it a run is concrete.
pub const RUN_LABEL: u32 = 1;
/// The input file is a container (see [`crate::container`]).
pub const RUN_CONTAINER: u32 = 2;
/// Sockets that the program accepts or connects deliver the input.
pub const RUN_SOCKET: u32 = 4;
/// Token functions are a border: nothing is recorded inside them, and what they
/// give is a variable of its own (symbolic half).
pub const RUN_TOKENS: u32 = 8;

/// The run is live: its input is in the live region and grows as it is asked
/// for. See [`Live`].
pub const RUN_LIVE: u32 = 16;
/// A live run ends quietly where it would otherwise stop for more.
pub const RUN_ENDS: u32 = 32;
/// The run has a process of its own: one that waits for its next input is ended first.
pub const RUN_FRESH: u32 = 64;
/// Typed calls do not make the input longer: where it ends is a decision for them, too.
pub const RUN_FIXED: u32 = 128;

/// What a live run may take before it stops and asks. An *event* is one call
/// for input: a typed call, a read, a refill of a stream's buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Bytes of the live region that are there to be taken, from its start.
    pub have: u64,
    /// Events that the run may have, whether their bytes are there or made.
    pub events: u64,
    /// Whether bytes beyond `have` are made at random (1) or asked for (0).
    pub random: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// The input may not grow beyond this.
    pub limit: u64,
    /// With labels: the byte that is number 0 of the trace's input.
    pub label_from: u64,
}

/// Input that typed calls add: bytes past the end of the stream that they take.
/// [`crate::growth::fresh_byte`] says what these bytes are, so that the driver can
/// put them into the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// By the driver: the stream may become this long.
    pub limit: u64,
    /// By the driver: the seed of fresh bytes.
    pub seed: u64,
    /// By the target: the length that the stream has reached, if it grew.
    pub reached: u64,
    /// By the target: see `CALLS_*`.
    pub calls: u64,
}

/// A typed call past the end of the input has ended the run.
pub const CALLS_ENDED: u64 = 1;
/// The program takes the same stream by typed calls and by reading it.
pub const CALLS_MIXED: u64 = 2;

/// What random events are made of, apart from uniform bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bias {
    /// How many of 256 events are uniform.
    pub uniform: u32,
    /// Bytes of `alphabet` in use, and numbers of `numbers`.
    pub alphabet_len: u32,
    pub numbers_len: u32,
    /// Phrases in use: words first, then sentences.
    pub words: u32,
    pub sentences: u32,
    /// Whether events are sentences and nothing else, as far as there are any.
    pub strict: u32,
    /// A byte that is not uniform is one of these; common ones occur more often.
    pub alphabet: [u8; ALPHABET_CAP],
    pub numbers: [u64; NUMBERS_CAP],
    /// Where each phrase ends in `text`; it begins where the one before ends.
    pub ends: [u16; PHRASES_CAP],
    pub text: [u8; TEXT_CAP],
}

pub const ALPHABET_CAP: usize = 1024;
pub const NUMBERS_CAP: usize = 128;
pub const PHRASES_CAP: usize = 256;
pub const TEXT_CAP: usize = 12 * 1024;

pub const CUT_NODES: u32 = 1;
pub const CUT_EVENTS: u32 = 2;
pub const CUT_SNAPS: u32 = 4;
/// The input is longer than labels can number.
pub const CUT_INPUT: u32 = 8;
pub const CUT_TOKENS: u32 = 16;

/// An executable or shared library with instrumentation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Module {
    /// Sites of this module are numbered from here, in section order.
    pub site_base: u32,
    pub sites: u32,
    /// Fast half: its counters are at this offset in the cover region.
    pub cover_at: u64,
    pub counters: u64,
    /// Load address minus link address.
    pub bias: u64,
    /// Path, ended by a zero byte (cut to fit).
    pub path: [u8; 224],
}

/// Most holes of an input.
pub const HOLES_MAX: usize = 1024;

/// A stretch of the input whose length is a variable. Its place in the table is the
/// number that `Op::HoleLen` nodes have.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hole {
    pub start: u32,
    pub len: u32,
    /// Where it grows and shrinks: the offset after the byte behind which there may
    /// be more. Whatever holds that byte holds what is added, too. 0 for a hole that
    /// has but one length.
    pub grows: u32,
    /// Bytes from here to the one before `grows` have no labels: nobody will ask what
    /// is decided on them.
    pub filling: u32,
}

/// One token that the program took, in order. Its place among them is the ordinal
/// that `Op::Token` nodes name.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Token {
    /// The address of its token function's record (section `pleach_tokens`); 0 for
    /// one that the source marked.
    pub source: u64,
    pub number: i32,
    /// How far the input had been looked at: the offset after the last such byte.
    pub read: u32,
    /// Events that had been recorded.
    pub events: u32,
    pub reserved: u32,
}

/// Head of a snapshot in the snapshot region; `len` bytes follow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    pub base: u64,
    pub len: u32,
    pub reserved: u32,
}

/// Indices into `Header::losses`.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// A labelled value became floating point.
    Float = 0,
    /// A labelled value went into inline assembly.
    Asm = 1,
    /// A value wider than 128 bits, or of a type without labels.
    Shape = 2,
    /// A labelled argument of a function without model or instrumentation, or
    /// one that points to labelled memory.
    Unmodelled = 3,
    /// A label was dropped because memory held another value.
    Healed = 4,
    /// A labelled address was pinned.
    Pinned = 5,
    /// A model gave up (an unusual format, a base that is labelled).
    Model = 6,
    /// More arguments than the slots hold.
    Slots = 7,
    /// Another process was started: nobody reads what it decides.
    Process = 8,
    /// Bytes came from a pipe, a socket or a file that was written in this run, or went
    /// into memory that is mapped from a file: they may depend on the input.
    Channel = 9,
}

pub const LOSS_NAMES: [&str; 10] = [
    "float",
    "asm",
    "shape",
    "unmodelled",
    "healed",
    "pinned",
    "model",
    "slots",
    "another-process",
    "pipe-or-file",
];
