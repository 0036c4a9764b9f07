//! The shared memory, from the driver's side.
//!
//! The driver works on copies, which no target can change. It reads a trace by `pread`:
//! for a trace of the usual size, this takes as long as copying from a mapping. What every
//! run uses is mapped (`mapping`), and read word by word. The memory file is sealed against
//! resizing.

mod batch;
mod counters;
mod mapping;
mod read;

pub use counters::{CounterRanges, raise_to};
pub use read::{Counts, LoadedModule};

use mapping::Mapping;

use pleach_abi::shm::{
    Bias, Growth, HEADER_SIZE, HOLES_MAX, Header, Hole, Line, Live, MAGIC, Module, Token,
};
use pleach_abi::{ABI_VERSION, event::Event, node::Node};
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;

const PAGE: u64 = 4096;
const LIVE_AT: u64 = offset_of!(Header, live) as u64;

/// How much a trace may hold before it is cut. Unused room costs nothing: memory is
/// allocated when it is first touched.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub nodes: u64,
    pub events: u64,
    pub snapshots: u64,
    pub tokens: u64,
    /// Bytes for branch counters.
    pub cover: u64,
    /// Bytes for the input of a live run.
    pub live: u64,
    /// Bytes for the inputs of a batch.
    pub batch: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes {
            nodes: 16 << 20,
            events: 4 << 20,
            snapshots: 64 << 20,
            tokens: 1 << 20,
            cover: 16 << 20,
            live: 0,
            batch: 4 << 20,
        }
    }
}

/// The memory file and the offsets of its regions. The driver never reads these offsets from
/// the header, where a target could change them.
#[derive(Debug)]
pub struct Shm {
    file: File,
    sizes: Sizes,
    events_off: u64,
    nodes_off: u64,
    snaps_off: u64,
    tokens_off: u64,
    cover_off: u64,
    live_off: u64,
    /// The part of the header that the driver writes.
    head: Vec<u8>,
    /// The modules that the target reported when it started, as bytes.
    modules: Vec<u8>,
    header: Mapping,
    /// The cover region.
    cover: Mapping,
    /// The inputs of a batch, and the lines that they moved.
    batch: Mapping,
    lines: Mapping,
}

impl Shm {
    pub fn new(sizes: Sizes) -> io::Result<Shm> {
        let file = memory_file(c"pleach-trace", libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING)?;
        let pages = |bytes: u64| bytes.next_multiple_of(PAGE);
        let live_off = HEADER_SIZE as u64;
        let batch_off = live_off + pages(sizes.live);
        let batch_cap = pages(batch::region(sizes.batch));
        let lines_off = batch_off + batch_cap;
        let lines_cap = batch::lines(sizes.batch, sizes.cover);
        let lines_len = pages(lines_cap * size_of::<Line>() as u64);
        let events_off = lines_off + lines_len;
        let nodes_off = events_off + pages(sizes.events * size_of::<Event>() as u64);
        let snaps_off = nodes_off + pages(sizes.nodes * size_of::<Node>() as u64);
        let tokens_off = snaps_off + pages(sizes.snapshots);
        let cover_off = tokens_off + pages(sizes.tokens * size_of::<Token>() as u64);
        let total = cover_off + pages(sizes.cover);
        file.set_len(total)?;
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // Safety: our own descriptor, and a number.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut head = vec![0; offset_of!(Header, nodes)];
        let mut put =
            |at: usize, value: u64| head[at..at + 8].copy_from_slice(&value.to_le_bytes());
        put(offset_of!(Header, magic), u64::from(ABI_VERSION) << 32 | u64::from(MAGIC));
        put(offset_of!(Header, total_size), total);
        put(offset_of!(Header, fast_size), events_off);
        put(offset_of!(Header, events_off), events_off);
        put(offset_of!(Header, events_cap), sizes.events);
        put(offset_of!(Header, nodes_off), nodes_off);
        put(offset_of!(Header, nodes_cap), sizes.nodes);
        put(offset_of!(Header, snaps_off), snaps_off);
        put(offset_of!(Header, snaps_cap), sizes.snapshots);
        put(offset_of!(Header, tokens_off), tokens_off);
        put(offset_of!(Header, tokens_cap), sizes.tokens);
        put(offset_of!(Header, cover_off), cover_off);
        put(offset_of!(Header, cover_cap), sizes.cover);
        put(offset_of!(Header, live_off), live_off);
        put(offset_of!(Header, live_cap), sizes.live);
        put(offset_of!(Header, batch_off), batch_off);
        put(offset_of!(Header, batch_cap), batch_cap);
        put(offset_of!(Header, lines_off), lines_off);
        put(offset_of!(Header, lines_cap), lines_cap);
        let modules = Vec::new();
        Ok(Shm {
            header: Mapping::new(&file, 0, HEADER_SIZE as u64)?,
            cover: Mapping::new(&file, cover_off, pages(sizes.cover))?,
            batch: Mapping::new(&file, batch_off, batch_cap)?,
            lines: Mapping::new(&file, lines_off, lines_len)?,
            file,
            sizes,
            events_off,
            nodes_off,
            snaps_off,
            tokens_off,
            cover_off,
            live_off,
            head,
            modules,
        })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// Before a target starts: sets which file is the input, and clears what the last target
    /// reported about itself.
    pub fn prepare_target(&mut self, dev: u64, ino: u64) -> io::Result<()> {
        self.head[offset_of!(Header, input_dev)..][..8].copy_from_slice(&dev.to_le_bytes());
        self.head[offset_of!(Header, input_ino)..][..8].copy_from_slice(&ino.to_le_bytes());
        self.modules.clear();
        self.file.write_all_at(&self.head, 0)?;
        let wiped = vec![0; offset_of!(Header, modules) - offset_of!(Header, nodes)];
        self.file.write_all_at(&wiped, offset_of!(Header, nodes) as u64)?;
        self.drop_counters()
    }

    /// Clears the whole cover region.
    fn drop_counters(&self) -> io::Result<()> {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let (at, len) = (self.cover_off as libc::off_t, self.sizes.cover as libc::off_t);
        // Safety: our own descriptor, and numbers.
        match len == 0 || unsafe { libc::fallocate(self.file.as_raw_fd(), mode, at, len) } == 0 {
            true => Ok(()),
            false => Err(io::Error::last_os_error()),
        }
    }

    /// After a target has started: keeps the modules that it reported.
    pub fn keep_modules(&mut self) -> io::Result<()> {
        const AT: usize = offset_of!(Header, modules_len);
        let count = self.modules()?.len();
        let end = offset_of!(Header, modules) + count * size_of::<Module>();
        self.modules = vec![0; end - AT];
        self.file.read_exact_at(&mut self.modules, AT as u64)
    }

    /// Before each run: writes the driver's part of the header and the modules, because the
    /// last run may have overwritten them. The counts of the last run stay: the runtime uses
    /// them to map memory ahead, and then clears them.
    pub fn prepare_run(&mut self, input_len: u64, flags: u32, holes: &[Hole], growth: Growth) {
        const { assert!(size_of::<Growth>() == 32) };
        let words = [growth.limit, growth.seed, growth.reached, growth.calls];
        for (i, word) in words.into_iter().enumerate() {
            self.put(offset_of!(Header, growth) + 8 * i, &word.to_le_bytes());
        }
        let holes = &holes[..holes.len().min(HOLES_MAX)];
        self.put(offset_of!(Header, holes_len), &(holes.len() as u32).to_le_bytes());
        if !holes.is_empty() {
            let words = holes.iter().flat_map(|h| [h.start, h.len, h.grows, h.filling]);
            let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            self.header.write(offset_of!(Header, holes), &bytes);
        }
        self.put(offset_of!(Header, input_len), &input_len.to_le_bytes());
        self.put(offset_of!(Header, run_flags), &flags.to_le_bytes());
        self.put(offset_of!(Header, batch_len), &[0; 4]);
        self.header.write(0, &self.head);
        self.header.write(offset_of!(Header, modules_len), &self.modules);
    }

    /// Sets a field of the driver's part of the header.
    fn put(&mut self, at: usize, value: &[u8]) {
        self.head[at..at + value.len()].copy_from_slice(value);
        self.header.write(at, value);
    }

    /// Before a live run starts or is resumed: sets what it may do.
    pub fn prepare_live(&mut self, live: &Live) -> io::Result<()> {
        let words = [live.have, live.events, live.random, live.seed, live.limit, live.label_from];
        const { assert!(size_of::<Live>() == 48) };
        for (i, word) in words.into_iter().enumerate() {
            let at = offset_of!(Header, live) + 8 * i;
            self.head[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        self.file.write_all_at(&self.head[offset_of!(Header, live)..][..48], LIVE_AT)
    }

    /// Sets what random events are made of.
    pub fn set_bias(&self, bias: &Bias) -> io::Result<()> {
        let mut bytes = vec![0; size_of::<Bias>()];
        let mut put = |at: usize, part: &[u8]| bytes[at..][..part.len()].copy_from_slice(part);
        for (at, value) in [
            (offset_of!(Bias, uniform), bias.uniform),
            (offset_of!(Bias, alphabet_len), bias.alphabet_len),
            (offset_of!(Bias, numbers_len), bias.numbers_len),
            (offset_of!(Bias, words), bias.words),
            (offset_of!(Bias, sentences), bias.sentences),
            (offset_of!(Bias, strict), bias.strict),
        ] {
            put(at, &value.to_le_bytes());
        }
        put(offset_of!(Bias, alphabet), &bias.alphabet);
        for (i, n) in bias.numbers.iter().enumerate() {
            put(offset_of!(Bias, numbers) + 8 * i, &n.to_le_bytes());
        }
        for (i, end) in bias.ends.iter().enumerate() {
            put(offset_of!(Bias, ends) + 2 * i, &end.to_le_bytes());
        }
        put(offset_of!(Bias, text), &bias.text);
        self.file.write_all_at(&bytes, offset_of!(Header, bias) as u64)
    }

    /// Puts bytes into the input of a live run, as far as there is room.
    pub fn put_live(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let room = self.sizes.live.saturating_sub(at).min(bytes.len() as u64) as usize;
        self.file.write_all_at(&bytes[..room], self.live_off + at)
    }
}

/// An anonymous file in memory.
pub(crate) fn memory_file(name: &std::ffi::CStr, flags: libc::c_uint) -> io::Result<File> {
    // Safety: the name is a C string.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // Safety: the descriptor is new, and nobody else's.
    Ok(unsafe { File::from_raw_fd(fd) })
}
