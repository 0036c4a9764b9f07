//! The shared memory between driver and target: a memfd that the driver creates, and
//! that the target finds through [`ENV`].
//!
//! ```text
//! 0            Header (64 KiB)
//! live_off     live_cap bytes: the input of a live run, so far
//! batch_off    BATCH_MAX × BatchEntry, then the bytes of the inputs of a batch
//! lines_off    lines_cap × Line: the counters that the inputs of a batch moved
//!              (the fast half maps what is above, and the counters)
//! events_off   events_cap × Event
//! nodes_off    nodes_cap × Node
//! snaps_off    snaps_cap bytes: snapshots, each a Snapshot header and its bytes, 8-aligned
//! tokens_off   tokens_cap × Token
//! cover_off    cover_cap bytes: branch counters, mapped over the fast half's own
//! ```
//! Every offset is a multiple of the page size. The fast half maps no more than it uses: when
//! a process ends, the kernel walks through all of its mappings, also where no page is. The
//! driver fills in the layout. The
//! target updates the counts during the run, so that the trace of a crash is complete
//! up to the crash.

/// `PLEACH_CTL=<added>:<socket>:<memfd>:<input>[:<terminal>]`: four descriptors. They are
/// the control socket, the shared memory, the input file (plain or a container), and the
/// terminal of the run, if it has one. A plain input file is also standard input or `@@`.
/// The runtime removes the variable from the environment, and those of [`ADDED_ENV`] that
/// the driver has added: bit i of `<added>` is for the variable i.
pub const ENV: &str = "PLEACH_CTL";
/// Variables that the driver adds if they are not set, and their values. They make runs
/// cheaper. The first has the loader bind all functions at once, in the server. The second
/// has libc not register its restartable sequences: the kernel would write into that page of
/// the server and of each run, so that each gets its own copy.
pub const ADDED_ENV: [(&core::ffi::CStr, &core::ffi::CStr); 2] =
    [(c"LD_BIND_NOW", c"1"), (c"GLIBC_TUNABLES", c"glibc.pthread.rseq=0")];
/// Set for a fuzz target that must take its input from standard input, whatever its
/// arguments are.
pub const PLAIN_ENV: &core::ffi::CStr = c"PLEACH_PLAIN";
/// Set for a symbolic half that runs without a driver: standard input gets labels, and
/// the trace goes to private memory. For tests of programs with labels on.
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
    /// How much of it the fast half maps, besides the counters.
    pub fast_size: u64,
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
    pub batch_off: u64,
    pub batch_cap: u64,
    pub lines_off: u64,
    pub lines_cap: u64,
    /// Device and inode of the file behind standard input or `@@`: a descriptor that
    /// refers to it is input. With a container, the file holds the bytes of the `FILE`
    /// record only.
    pub input_dev: u64,
    pub input_ino: u64,
    // Written by the driver before each run.
    /// Length of the input file (of the whole container, if it is one).
    pub input_len: u64,
    /// See `RUN_*`.
    pub run_flags: u32,
    /// Not 0: the process stopped itself between two inputs, and waits for the next.
    /// This tells it from a program that stops for its own reasons.
    pub between_inputs: u32,
    /// Number of `holes`.
    pub holes_len: u32,
    /// Number of inputs in the batch; 0 if the run is not one of a batch. Only a process
    /// that waits for its next input gets a batch.
    pub batch_len: u32,
    /// What a live run may do until it is paused; also written before it is resumed.
    pub live: Live,
    /// What typed calls past the end of the input get. The driver clears the fields
    /// that the target writes.
    pub growth: Growth,

    // Written by the target during a run; the runtime zeroes them at its start.
    /// Nodes in use, with those of the input: labels are below this.
    pub nodes: u32,
    pub events: u32,
    /// Tokens in use; always 0 in runs without [`RUN_TOKENS`].
    pub tokens: u32,
    /// Bytes of the snapshot region in use.
    pub snaps: u64,
    /// See `CUT_*`: why the trace ended early.
    pub cut: u32,
    /// Number of lost labels, by cause, see [`Loss`].
    pub losses: [u32; 16],
    /// Bytes of `unmodelled` in use.
    pub unmodelled_len: u32,
    /// The offset after the last input byte that the program has read.
    pub input_read: u32,
    /// Bytes that the program has taken from the input of a live run.
    pub live_taken: u64,
    /// Events of a live run since it was last resumed.
    pub live_events: u64,
    /// The input of the batch that the process is at: those before it are done.
    pub batch_at: u32,

    // Written by the target at its start.
    pub modules_len: u32,
    /// Bytes of `note` in use.
    pub note_len: u32,
    /// A message for the user: why the target gave up.
    pub note: [u8; NOTE_CAP],
    pub modules: [Module; MODULES_MAX],
    /// Names of functions that got labels and have neither instrumentation
    /// nor a model, each ended by a newline.
    pub unmodelled: [u8; UNMODELLED_CAP],

    /// The holes, in order; the driver writes them before a run that has some.
    pub holes: [Hole; HOLES_MAX],
    /// How the random events of a live run are made; the driver writes it when it
    /// changes. It comes last because it is long, and most runs are not live.
    pub bias: Bias,
}

const _: () = assert!(core::mem::size_of::<Header>() <= HEADER_SIZE);

/// Label the bytes that are read from the input (symbolic half). Without this flag the
/// run is concrete.
pub const RUN_LABEL: u32 = 1;
/// The input file is a container (see [`crate::container`]).
pub const RUN_CONTAINER: u32 = 2;
/// The sockets that the program accepts or connects deliver the input.
pub const RUN_SOCKET: u32 = 4;
/// Token functions are a border: nothing is recorded inside them, and each token is a
/// variable of its own (symbolic half).
pub const RUN_TOKENS: u32 = 8;

/// The run is live: its input is in the live region, and grows with every call for
/// input. See [`Live`].
pub const RUN_LIVE: u32 = 16;
/// A live run ends quietly where it would otherwise be paused.
pub const RUN_ENDS: u32 = 32;
/// The run gets a new process: a persistent process that waits for its next input is
/// ended first.
pub const RUN_FRESH: u32 = 64;
/// Typed calls do not make the input longer: for them, too, the end of the input is a
/// decision.
pub const RUN_FIXED: u32 = 128;
/// Values whose dependence on the input is lost get labels that say so, and a condition is
/// recorded wherever it is decided on (symbolic half). Such a trace explains; it is not for
/// a solver.
pub const RUN_LOSSES: u32 = 256;

/// What a live run may take before it is paused. An *event* is one call for input: a
/// typed call, a read, a refill of the buffer of a `FILE`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Bytes of the live region that are filled in, from its start.
    pub have: u64,
    /// Events that the run may take, whether their bytes are filled in or random.
    pub events: u64,
    /// 1: bytes beyond `have` are random. 0: the run is paused there.
    pub random: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// The greatest length of the input.
    pub limit: u64,
    /// With labels: the offset of the byte that is byte 0 of the trace's input.
    pub label_from: u64,
}

/// The input that typed calls add: bytes past the end of the stream that they read.
/// [`crate::growth::fresh_byte`] computes these bytes, so the driver can append them to
/// the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Written by the driver: the greatest length of the stream.
    pub limit: u64,
    /// Written by the driver: the seed of fresh bytes.
    pub seed: u64,
    /// Written by the target: the length of the stream, if it grew.
    pub reached: u64,
    /// Written by the target: see `CALLS_*`.
    pub calls: u64,
}

/// A typed call past the end of the input has ended the run.
pub const CALLS_ENDED: u64 = 1;
/// The program takes bytes of one stream both by typed calls and by reading it.
pub const CALLS_MIXED: u64 = 2;

/// What random events consist of, apart from uniform bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bias {
    /// How many of 256 events are uniform.
    pub uniform: u32,
    /// Bytes of `alphabet` in use.
    pub alphabet_len: u32,
    /// Elements of `numbers` in use.
    pub numbers_len: u32,
    /// Number of words and of sentences. Both are phrases of `text`, the words first.
    pub words: u32,
    pub sentences: u32,
    /// Not 0: if there are sentences, every event is a sentence.
    pub strict: u32,
    /// A byte that is not uniform is one of these; common bytes occur more than once.
    pub alphabet: [u8; ALPHABET_CAP],
    pub numbers: [u64; NUMBERS_CAP],
    /// The end of each phrase in `text`; the next phrase begins there.
    pub ends: [u16; PHRASES_CAP],
    pub text: [u8; TEXT_CAP],
}

pub const ALPHABET_CAP: usize = 1024;
pub const NUMBERS_CAP: usize = 128;
pub const PHRASES_CAP: usize = 256;
pub const TEXT_CAP: usize = 12 * 1024;

// Why a trace was cut: the region that is full.
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
    /// Index of the first site of this module; the others follow in section order.
    pub site_base: u32,
    pub sites: u32,
    /// Fast half: offset of its counters in the cover region.
    pub cover_at: u64,
    pub counters: u64,
    /// Load address minus link address.
    pub bias: u64,
    /// Path, ended by a zero byte (cut to fit).
    pub path: [u8; 224],
}

/// Maximum number of inputs in a batch.
pub const BATCH_MAX: usize = 512;
/// A batch ends early when its inputs have moved this many lines: they should stay in the
/// cache until the driver reads them.
pub const BATCH_LINES: usize = 16 << 10;

/// One input of a batch. The driver writes it, and the runtime the result.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchEntry {
    /// Offset of its bytes in the batch region, and their number.
    pub at: u64,
    pub len: u64,
    /// As in [`Header::growth`].
    pub growth: Growth,
    /// The lines that it moved: the first, and the one after the last.
    pub lines_from: u32,
    pub lines_to: u32,
}

/// Number of counters in a [`Line`]: those of one cache line.
pub const LINE_COUNTERS: usize = 16;
/// Bytes of the cover region that a [`Line`] stands for.
pub const LINE_BYTES: usize = LINE_COUNTERS * core::mem::size_of::<crate::section::Counter>();

/// Neighbouring counters, at least one of which has moved. Counters of one function lie
/// together, so most of a run's counters fit into few lines.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The number of its first counter.
    pub first: u32,
    /// Each counter, at most 255.
    pub counts: [u8; LINE_COUNTERS],
}

/// Maximum number of holes in an input.
pub const HOLES_MAX: usize = 1024;

/// A part of the input whose length is a variable. `Op::HoleLen` nodes name it by its
/// index in the table.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hole {
    pub start: u32,
    pub len: u32,
    /// The offset where the hole grows and shrinks: bytes are added after the byte
    /// before it. A string that holds that byte also holds the added bytes. 0 for a
    /// hole that has only one length.
    pub grows: u32,
    /// Bytes from here up to `grows`, without the last of them, have no labels:
    /// decisions on them are of no interest.
    pub filling: u32,
}

/// One token that the program took. `Op::Token` nodes name it by its ordinal.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Token {
    /// Address of the record of its token function (section `pleach_tokens`); 0 if
    /// the source marked the token.
    pub source: u64,
    pub number: i32,
    /// The offset after the last input byte that the program had examined.
    pub read: u32,
    /// Number of events that had been recorded.
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
    /// A value wider than 128 bits, or of a type that cannot have labels.
    Shape = 2,
    /// A function without model or instrumentation got a labelled argument, or a
    /// pointer to labelled memory.
    Unmodelled = 3,
    /// Memory held another value than the node: the label was dropped.
    Healed = 4,
    /// A labelled address was pinned.
    Pinned = 5,
    /// A model gave up (an unusual format, a labelled base).
    Model = 6,
    /// A call had more arguments than there are slots.
    Slots = 7,
    /// The program started another process, whose decisions are not recorded.
    Process = 8,
    /// Bytes that may depend on the input came from a pipe, a socket or a file that was
    /// written in this run, or went into memory that is mapped from a file.
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
