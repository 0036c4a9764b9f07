//! The counters of the fast half. They are ordinary zero-initialised data of the
//! program. Under a driver the shared memory is mapped over them: an increment
//! needs no pointer, and the driver reads them without a message.
//!
//! The compiler links a page-aligned pad after the last counter: the pages
//! from the start of the section to the pad hold nothing else.

use crate::start::{header, state};
use crate::sys;

const PAGE: usize = 4096;

unsafe extern "C" {
    #[link_name = "__start_pleach_counters"]
    static COUNTERS_START: [u8; 0];
    #[link_name = "__pleach_counters_end"]
    static COUNTERS_END: [u8; 0];
}

pub fn own_counters() -> (usize, usize) {
    (&raw const COUNTERS_START as usize, &raw const COUNTERS_END as usize)
}

/// Maps shared memory over the counters. Returns their offset in the cover region, or
/// u64::MAX if they cannot be shared.
pub fn share(from: usize, to: usize) -> u64 {
    let Some(h) = header() else { return u64::MAX };
    let used = h.modules[..h.modules_len as usize]
        .iter()
        .map(|m| m.cover_at.wrapping_add((m.counters).next_multiple_of(PAGE as u64)))
        .max()
        .unwrap_or(0);
    let len = (to - from).next_multiple_of(PAGE);
    if len == 0 {
        return used;
    }
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
    if at == from as i64 { used } else { u64::MAX }
}
