//! The symbolic half: labels for memory and registers, expression nodes, and the log of
//! decisions. `docs/architecture.md` describes how instrumented code calls it; `thunks`
//! lists the entry points.

pub mod arena;
pub mod bounds;
pub mod calls;
pub mod cells;
pub mod channels;
pub mod events;
pub mod holes;
pub mod losses;
pub mod objects;
pub mod ops;
mod sanitizers;
pub mod shadow;
pub mod through;
pub mod thunks;
pub mod tls;
pub mod tokens;

use crate::input;
use crate::start::{fail, header, state};
use crate::sys;
use pleach_abi::layout::{
    self, DIRTY_BASE, DIRTY_SIZE, HEAP_BASE, HEAP_SIZE, SHADOW_BASE, SHADOW_SIZE,
};
use pleach_abi::node::{Node, Op};
use pleach_abi::shm::{self, Header};

/// Maps the dirty map, the shadow and the heap map. A page costs memory only when it is
/// touched, so huge pages are off: one label must not cost two megabytes.
pub fn map_shadow() {
    for (base, size) in
        [(DIRTY_BASE, DIRTY_SIZE), (HEAP_BASE, HEAP_SIZE), (SHADOW_BASE, SHADOW_SIZE)]
    {
        let at = sys::mmap(
            base,
            size,
            sys::PROT_READ | sys::PROT_WRITE,
            sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE | sys::MAP_FIXED_NOREPLACE,
            u64::MAX,
            0,
        );
        if at != base as i64 {
            fail(&[b"cannot reserve the address space for labels (is there a limit such as ulimit -v?)"]);
        }
        sys::madvise(base, size, sys::MADV_NOHUGEPAGE);
    }
}

/// Without a driver but with `PLEACH_LABEL`: records a trace in private memory, so that
/// programs can be tested with labels on.
pub fn attach_private() {
    // Safety: the environment is a list of strings.
    if unsafe { sys::getenv(c"PLEACH_LABEL".as_ptr()) }.is_null() {
        return;
    }
    const MIB: u64 = 1 << 20;
    let total = 2048 * MIB;
    let at = sys::mmap(
        layout::SHM_BASE,
        total,
        sys::PROT_READ | sys::PROT_WRITE,
        sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE | sys::MAP_FIXED_NOREPLACE,
        u64::MAX,
        0,
    );
    if at != layout::SHM_BASE as i64 {
        return;
    }
    state().header = at as *mut Header;
    let Some(h) = header() else { return };
    (h.events_off, h.events_cap) = (MIB, 255 * MIB / 16);
    (h.snaps_off, h.snaps_cap) = (256 * MIB, 256 * MIB);
    (h.tokens_off, h.tokens_cap) = (MIB, 0);
    (h.nodes_off, h.nodes_cap) = (512 * MIB, 1536 * MIB / 32);
    h.run_flags = shm::RUN_LABEL;
    h.input_len = 4 * MIB;
    if let Some(st) = sys::fstat(0) {
        (h.input_dev, h.input_ino) = (st.dev, st.ino);
        const REGULAR: u32 = 0o100_000;
        if st.mode & 0o170_000 == REGULAR {
            h.input_len = st.size as u64;
        }
    }
}

/// At the start of the process, after the shared memory is mapped.
pub fn start() {
    arena::start();
    objects::start();
    crate::models::ctype::start();
}

/// At the start of every run, before anything reads the input.
pub fn begin_run() {
    arena::begin_run();
    tokens::begin_run();
    holes::begin_run();
    crate::models::random::begin_run();
    losses::begin_run();
    objects::begin_run();
    through::begin_run();
    bounds::begin_run();
    cells::begin_run();
    // The clock of file time stamps.
    const CLOCK_REALTIME_COARSE: u64 = 5;
    let mut now = [0u64; 2];
    sys::clock_gettime(CLOCK_REALTIME_COARSE, &raw mut now as u64);
    // Safety: one thread begins a run.
    unsafe { RUN_START_TIME = (now[0], now[1]) };
    channels::begin_run();
}

static mut RUN_START_TIME: (u64, u64) = (0, 0);

/// When the run began, in seconds and nanoseconds, by the clock of file time stamps.
pub fn run_start_time() -> (u64, u64) {
    // Safety: written before the program runs.
    unsafe { RUN_START_TIME }
}

/// True if this run labels its input.
pub fn is_labelling() -> bool {
    header().is_some_and(|h| h.run_flags & shm::RUN_LABEL != 0)
}

/// Labels the `n` bytes at `addr` as the input bytes from offset `at` on. They must
/// already be there.
pub fn label_input(addr: u64, at: u64, n: u64) {
    if n == 0 || !is_labelling() {
        return;
    }
    let Some(h) = header() else { return };
    let n = n.min(h.input_len.saturating_sub(at));
    let Some(first) = arena::input_labels(at, n, addr) else {
        h.cut |= shm::CUT_INPUT;
        return;
    };
    shadow::set_run(addr, first, n);
    if holes::are_on() {
        holes::unlabel_filling(addr, at, n);
    }
    h.input_read = h.input_read.max((at + n) as u32);
}

/// As [`decide_len`], for a program that reads the stream as a file.
pub fn decide_read_len(stream: usize, need: u64) {
    crate::growth::note_stream_read(stream);
    decide_len(stream, need);
}

/// Records the decision whether the stream has at least `need` bytes.
pub fn decide_len(stream: usize, need: u64) {
    if need == 0 || !is_labelling() || crate::live::is_on() {
        return;
    }
    let s = &input::streams().all[stream];
    events::record_len(stream, need - 1, need <= s.len);
}

/// As [`label_of_len`], for a program that reads the stream as a file.
pub fn label_of_read_len(stream: usize) -> u32 {
    crate::growth::note_stream_read(stream);
    label_of_len(stream)
}

/// The label of the length of a stream, 64 bits wide.
pub fn label_of_len(stream: usize) -> u32 {
    if !is_labelling() || crate::live::is_on() {
        return 0;
    }
    let len = input::streams().all[stream].len;
    if holes::are_on() && input::streams().len == 1 {
        return holes::bytes_left(0, len).label;
    }
    arena::push(Node {
        op: Op::InputLen as u8,
        width: 64,
        a: stream as u32,
        val: len,
        ..Node::default()
    })
}

/// Labels the result of a function that returns the length of the plain input.
pub fn return_length(function: usize, width: u32) {
    let label = label_of_read_len(0);
    if label != 0 {
        let len = input::streams().all[0].len;
        let cut = if width < 64 { arena::cast(Op::Trunc, label, width, len) } else { label };
        tls::set_result(function, cut);
    }
}

/// Labels the size that is passed to `LLVMFuzzerTestOneInput`.
pub fn pass_buffer(callee: usize) {
    let label = label_of_read_len(0);
    tls::set_arguments(callee, &[0, label]);
}
