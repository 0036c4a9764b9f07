//! Reading the shared memory. The results are copies, and nothing in them is checked.

use super::Shm;
use pleach_abi::event::Event;
use pleach_abi::node::Node;
use pleach_abi::shm::{Growth, Header, MODULES_MAX, Module, NOTE_CAP, Token, UNMODELLED_CAP};
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// The counts in the header after a run.
#[derive(Clone, Debug)]
pub struct Counts {
    pub nodes: u32,
    pub events: u32,
    pub tokens: u32,
    pub snapshots: u64,
    pub cut: u32,
    pub losses: [u32; 16],
    pub input_read: u32,
    pub unmodelled: Vec<String>,
}

/// An instrumented module that the target reports.
#[derive(Clone, Debug)]
pub struct LoadedModule {
    /// Its place in the list of modules; 0 is the executable.
    pub place: usize,
    pub path: PathBuf,
    pub site_base: u32,
    pub sites: u32,
    pub cover_at: u64,
    pub counters: u64,
    pub bias: u64,
}

impl Shm {
    /// The counts of the last run.
    pub fn counts(&self) -> io::Result<Counts> {
        const AT: usize = offset_of!(Header, nodes);
        const LEN: usize = offset_of!(Header, modules_len) - AT;
        let mut head = [0; LEN];
        self.file.read_exact_at(&mut head, AT as u64)?;
        let at = |field: usize| u32_at(&head, field - AT);
        let names = (at(offset_of!(Header, unmodelled_len)) as usize).min(UNMODELLED_CAP);
        let mut text = vec![0; names];
        self.file.read_exact_at(&mut text, offset_of!(Header, unmodelled) as u64)?;
        Ok(Counts {
            nodes: at(offset_of!(Header, nodes)),
            events: at(offset_of!(Header, events)),
            tokens: at(offset_of!(Header, tokens)),
            snapshots: u64_at(&head, offset_of!(Header, snaps) - AT),
            cut: at(offset_of!(Header, cut)),
            losses: std::array::from_fn(|i| at(offset_of!(Header, losses) + 4 * i)),
            input_read: at(offset_of!(Header, input_read)),
            unmodelled: String::from_utf8_lossy(&text)
                .lines()
                .filter(|l| !l.is_empty())
                .map(String::from)
                .collect(),
        })
    }

    /// The modules that the target reported when it started.
    pub fn modules(&self) -> io::Result<Vec<LoadedModule>> {
        let mut count = [0; 4];
        self.file.read_exact_at(&mut count, offset_of!(Header, modules_len) as u64)?;
        let count = (u32::from_le_bytes(count) as usize).min(MODULES_MAX);
        let mut bytes = vec![0; count * size_of::<Module>()];
        self.file.read_exact_at(&mut bytes, offset_of!(Header, modules) as u64)?;
        let module = |(place, m): (usize, &[u8])| {
            let path = &m[offset_of!(Module, path)..];
            let end = path.iter().position(|&b| b == 0).unwrap_or(path.len());
            LoadedModule {
                place,
                path: String::from_utf8_lossy(&path[..end]).into_owned().into(),
                site_base: u32_at(m, offset_of!(Module, site_base)),
                sites: u32_at(m, offset_of!(Module, sites)),
                cover_at: u64_at(m, offset_of!(Module, cover_at)),
                counters: u64_at(m, offset_of!(Module, counters)),
                bias: u64_at(m, offset_of!(Module, bias)),
            }
        };
        Ok(bytes.chunks_exact(size_of::<Module>()).enumerate().map(module).collect())
    }

    /// The target's message on why it gave up, if there is one. It goes to a terminal, so
    /// control characters are dropped.
    pub fn note(&self) -> Option<String> {
        let mut head = [0; 4 + NOTE_CAP];
        const { assert!(offset_of!(Header, note) == offset_of!(Header, note_len) + 4) };
        self.file.read_exact_at(&mut head, offset_of!(Header, note_len) as u64).ok()?;
        let len = (u32_at(&head, 0) as usize).min(NOTE_CAP);
        let text = String::from_utf8_lossy(&head[4..4 + len]);
        let clean: String = text.chars().filter(|c| !c.is_control()).collect();
        (!clean.is_empty()).then_some(clean)
    }

    /// The first `count` events. The caller has checked that there is room for so many.
    pub fn events(&self, count: u32) -> io::Result<Vec<Event>> {
        self.read(self.events_off, count as usize)
    }

    pub fn nodes(&self, count: u32) -> io::Result<Vec<Node>> {
        self.nodes_from(0, count)
    }

    /// `count` nodes, the first of them number `from`.
    pub fn nodes_from(&self, from: u32, count: u32) -> io::Result<Vec<Node>> {
        let at = self.nodes_off + u64::from(from) * size_of::<Node>() as u64;
        self.read(at, count as usize)
    }

    pub fn tokens(&self, count: u32) -> io::Result<Vec<Token>> {
        self.read(self.tokens_off, count as usize)
    }

    pub fn snapshots(&self, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len as usize];
        self.file.read_exact_at(&mut bytes, self.snaps_off)?;
        Ok(bytes)
    }

    /// What typed calls of the last run did at the end of the input.
    pub fn growth(&self) -> Growth {
        let word = |i: usize| self.header.read_u64(offset_of!(Header, growth) + 8 * i);
        Growth { limit: word(0), seed: word(1), reached: word(2), calls: word(3) }
    }

    /// Bytes `from..to` of the input of a live run, as far as the region has them.
    pub fn live(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let to = to.min(self.sizes.live);
        let mut bytes = vec![0; to.saturating_sub(from) as usize];
        self.file.read_exact_at(&mut bytes, self.live_off + from)?;
        Ok(bytes)
    }

    /// How many bytes a live run has read, and its events since it was last resumed.
    pub fn live_counts(&self) -> io::Result<(u64, u64)> {
        let mut words = [0; 16];
        const { assert!(offset_of!(Header, live_events) == offset_of!(Header, live_taken) + 8) };
        self.file.read_exact_at(&mut words, offset_of!(Header, live_taken) as u64)?;
        Ok((u64_at(&words, 0).min(self.sizes.live), u64_at(&words, 8)))
    }

    fn read<T: Plain>(&self, at: u64, count: usize) -> io::Result<Vec<T>> {
        let mut items = vec![T::default(); count];
        let bytes = count * size_of::<T>();
        // Safety: the vector has this many bytes, and any bytes are a valid `T`.
        let view = unsafe { std::slice::from_raw_parts_mut(items.as_mut_ptr().cast(), bytes) };
        self.file.read_exact_at(view, at)?;
        Ok(items)
    }
}

/// Types without padding for which any bytes are a valid value.
trait Plain: Copy + Default {}
impl Plain for Event {}
impl Plain for Node {}
impl Plain for Token {}
const _: () = assert!(size_of::<Event>() == 16 && size_of::<Node>() == 32);
const _: () = assert!(size_of::<Token>() == 24);

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
