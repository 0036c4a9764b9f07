//! The counters of the fast half. They are ordinary zero-initialised data of the
//! program. Under a driver the shared memory is mapped over them: an increment
//! needs no pointer, and the driver reads them without a message.
//!
//! The compiler links a page-aligned pad of one page after the last counter: the pages from
//! the start of the section to the end of the pad hold nothing else.

use crate::start::{header, state};
use crate::sys;
use core::arch::x86_64::*;
use pleach_abi::section::Counter;
use pleach_abi::shm::{LINE_BYTES, LINE_COUNTERS, Line, MODULES_MAX};

const PAGE: usize = 4096;

/// The counters that are shared.
struct Shared {
    modules: [Range; MODULES_MAX],
    len: usize,
    /// Lines of all modules.
    lines: usize,
}

#[derive(Clone, Copy)]
struct Range {
    from: usize,
    lines: usize,
    /// The number of the first counter in the cover region.
    first: u32,
}

static mut SHARED: Shared =
    Shared { modules: [Range { from: 0, lines: 0, first: 0 }; MODULES_MAX], len: 0, lines: 0 };

fn shared() -> &'static mut Shared {
    // Safety: written when a module is registered, before or between runs.
    unsafe { &mut *&raw mut SHARED }
}

unsafe extern "C" {
    #[link_name = "__start_pleach_counters"]
    static COUNTERS_START: [u8; 0];
    #[link_name = "__pleach_counters_end"]
    static COUNTERS_END: [u8; 0];
}

pub fn own_counters() -> (usize, usize) {
    (&raw const COUNTERS_START as usize, &raw const COUNTERS_END as usize)
}

/// The bytes of the cover region for counters of this many bytes. The pad is mapped with them:
/// a page of its own would be one more mapping that every fork copies.
fn room_for(counters: usize) -> usize {
    if counters == 0 { 0 } else { counters.next_multiple_of(PAGE) + PAGE }
}

/// Maps shared memory over the counters. Returns their offset in the cover region, or
/// u64::MAX if they cannot be shared.
pub fn share(from: usize, to: usize) -> u64 {
    let Some(h) = header() else { return u64::MAX };
    let used = h.modules[..h.modules_len as usize]
        .iter()
        .map(|m| m.cover_at.wrapping_add(room_for(m.counters as usize) as u64))
        .max()
        .unwrap_or(0);
    if from == to {
        return used;
    }
    let len = room_for(to - from);
    if !from.is_multiple_of(PAGE) || used + len as u64 > h.cover_cap {
        return u64::MAX;
    }
    let at = sys::mmap(
        from as u64,
        len as u64,
        sys::PROT_READ | sys::PROT_WRITE,
        sys::MAP_SHARED | sys::MAP_FIXED,
        state().shm_fd as u64,
        h.cover_off + used,
    );
    if at != from as i64 {
        return u64::MAX;
    }
    let s = shared();
    if s.len < MODULES_MAX {
        let lines = (to - from).div_ceil(LINE_BYTES);
        let first = (used as usize / size_of::<Counter>()) as u32;
        s.modules[s.len] = Range { from, lines, first };
        s.len += 1;
        s.lines += lines;
    }
    used
}

/// The kernel maps the pages of a file around one that is read, up to this boundary.
const FAULT_AROUND: usize = 64 << 10;
/// A program with more counters uses only some of these parts in a run.
const MAX_MAPPED_AHEAD: usize = 8;

/// In a new run: reads one counter of each part of the counters. The kernel maps only the page
/// itself when a page is written first, so a run would pay for each page that it counts on.
pub fn map_ahead() {
    let s = shared();
    for module in &s.modules[..s.len] {
        let (mut at, end) = (module.from, module.from + module.lines * LINE_BYTES);
        if end - at <= PAGE || end - at > MAX_MAPPED_AHEAD * FAULT_AROUND {
            continue;
        }
        while at < end {
            // Safety: a counter of the module.
            unsafe { (at as *const u8).read_volatile() };
            at = (at + 1).next_multiple_of(FAULT_AROUND);
        }
    }
}

/// The number of lines that a run can move.
pub fn max_lines() -> usize {
    shared().lines
}

/// Writes the lines of counters that have moved to `out`, which has room for all of them,
/// and clears them. Returns their number.
pub fn take_lines(out: *mut Line) -> usize {
    let (s, mut taken) = (shared(), 0);
    for module in &s.modules[..s.len] {
        for i in 0..module.lines {
            let line = (module.from + i * LINE_BYTES) as *mut __m128i;
            // Safety: the line lies in pages that hold only counters; `out` has room.
            unsafe {
                if has_moved(line) {
                    let to = out.add(taken);
                    (*to).first = module.first + (i * LINE_COUNTERS) as u32;
                    take_line(line, (&raw mut (*to).counts).cast());
                    taken += 1;
                }
            }
        }
    }
    taken
}

#[inline(always)]
unsafe fn has_moved(line: *const __m128i) -> bool {
    // Safety: a line has four vectors, and is aligned.
    unsafe {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| _mm_load_si128(line.add(i)));
        let all = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));
        _mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_setzero_si128())) != 0xffff
    }
}

/// Writes the 16 counters of a line, each at most 255, and clears them.
#[inline(always)]
unsafe fn take_line(line: *mut __m128i, out: *mut __m128i) {
    // Safety: as above; the 16 bytes of `out` need no alignment.
    unsafe {
        let (zero, ones) = (_mm_setzero_si128(), _mm_set1_epi32(255));
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| {
            let counts = _mm_load_si128(line.add(i));
            _mm_store_si128(line.add(i), zero);
            let is_small = _mm_cmpeq_epi32(_mm_srli_epi32::<8>(counts), zero);
            _mm_or_si128(_mm_and_si128(is_small, counts), _mm_andnot_si128(is_small, ones))
        });
        let bytes = _mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
        _mm_storeu_si128(out, bytes);
    }
}
