//! Memory that is shared: mappings of one file, or segments of System V.
//!
//! What is stored in one mapping is read in another. So all mappings of a file share the pages
//! of their shadow, and the window of the channel has the same pages: reads and writes of the
//! file see the labels, too. The dirty map cannot be shared, and is set for all of them.

use super::{Channels, Key, WINDOW_SIZE, Way, locked, read_way, window};
use crate::live;
use crate::symbolic::shadow;
use crate::sys;
use pleach_abi::layout::shadow_of;

const MAX_MAPPINGS: usize = 32;
/// Labels of larger mappings are not shared.
const MAX_SIZE: u64 = 64 << 20;
const PAGE: u64 = 4096;

/// The mappings whose shadow is shared: address and size.
static mut MAPPINGS: [(u64, u64); MAX_MAPPINGS] = [(0, 0); MAX_MAPPINGS];
/// Files that are mapped for reading only, and had no channel then.
static mut READ_ONLY: [Option<Key>; MAX_MAPPINGS] = [None; MAX_MAPPINGS];

fn mappings() -> &'static mut [(u64, u64); MAX_MAPPINGS] {
    // Safety: a race between threads that map files loses labels at worst.
    unsafe { &mut *&raw mut MAPPINGS }
}

fn read_only() -> &'static mut [Option<Key>; MAX_MAPPINGS] {
    // Safety: as above.
    unsafe { &mut *&raw mut READ_ONLY }
}

/// A file has been mapped to share its memory. False if its labels are not shared.
pub fn map_file(fd: i32, addr: u64, n: u64, at: u64, is_writable: bool) -> bool {
    let Some(way) = read_way(fd).filter(|w| !w.is_queue) else { return false };
    if !is_writable && locked(|c| c.find(way.key)).is_none() {
        // Most such files are never written.
        let place = read_only().iter_mut().find(|k| k.is_none_or(|k| k == way.key));
        return place.map(|place| *place = Some(way.key)).is_some();
    }
    map(way, addr, n, at)
}

/// A segment with this number has been mapped.
pub fn map_segment(id: u64, addr: u64, n: u64) -> bool {
    let way = Way { size: n, ..Way::of_memory(Key::private(3, id)) };
    map(way, addr, n, 0)
}

/// True if a file that is written now was mapped before, for reading.
pub fn is_mapped_for_reading(key: Key) -> bool {
    read_only().contains(&Some(key))
}

fn map(way: Way, addr: u64, n: u64, at: u64) -> bool {
    let n = n.next_multiple_of(PAGE);
    if live::is_on() || n > MAX_SIZE || at + n > WINDOW_SIZE {
        return false;
    }
    let Some(place) = mappings().iter_mut().find(|m| m.1 == 0) else { return false };
    locked(|c| {
        let Some(number) = c.find_or_make(way.key, false) else { return false };
        if !c.share_window(number) {
            return false;
        }
        let from = window(number) + at;
        const MAYMOVE_FIXED: u64 = 3;
        // With a length of 0, the old mapping stays.
        let to = shadow_of(addr);
        if sys::mremap(shadow_of(from), 0, 4 * n, MAYMOVE_FIXED, to) != to as i64 {
            return false;
        }
        *place = (addr, n);
        shadow::mark_dirty(addr, n);
        shadow::mark_dirty(from, n);
        let of = &mut c.all[number];
        of.end = of.end.max(way.size.min(at + n));
        true
    })
}

impl Channels {
    /// Makes the shadow of a window one that can be shared.
    fn share_window(&mut self, number: usize) -> bool {
        let of = &mut self.all[number];
        if of.is_mapped {
            return true;
        }
        let (size, used) = (4 * WINDOW_SIZE, 4 * of.end);
        let flags = sys::MAP_SHARED | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE;
        let prot = sys::PROT_READ | sys::PROT_WRITE;
        let new = sys::mmap(0, size, prot, flags, u64::MAX, 0);
        if new < 0 {
            return false;
        }
        let place = shadow_of(window(number));
        const MAYMOVE_FIXED: u64 = 3;
        // Safety: both are mapped, and have this size.
        unsafe {
            core::ptr::copy_nonoverlapping(place as *const u8, new as *mut u8, used as usize);
        }
        of.is_mapped = sys::mremap(new as u64, size, size, MAYMOVE_FIXED, place) == place as i64;
        of.is_mapped
    }
}

/// Gives a range that is unmapped or mapped anew a shadow of its own, without labels.
pub fn unmap(addr: u64, n: u64) {
    let end = addr + n.next_multiple_of(PAGE);
    for m in mappings().iter_mut().filter(|m| m.1 != 0) {
        let (from, to) = (m.0.max(addr), (m.0 + m.1).min(end));
        if from < to {
            make_private(shadow_of(from), 4 * (to - from));
            if to - from == m.1 {
                *m = (0, 0);
            }
        }
    }
}

/// The size of the mapping at an address; 0 if its shadow is not shared.
pub fn size_at(addr: u64) -> u64 {
    mappings().iter().find(|m| m.0 == addr).map_or(0, |m| m.1)
}

/// In a forked child: its labels must not reach the parent.
pub fn leave_all() {
    unmap(0, u64::MAX / 2);
    locked(|c| {
        for number in 0..c.len {
            if core::mem::take(&mut c.all[number].is_mapped) {
                make_private(shadow_of(window(number)), 4 * WINDOW_SIZE);
            }
        }
    });
}

fn make_private(at: u64, size: u64) {
    let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE | sys::MAP_FIXED;
    sys::mmap(at, size, sys::PROT_READ | sys::PROT_WRITE, flags, u64::MAX, 0);
}
