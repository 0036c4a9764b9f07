//! The log of decisions, and what was lost.

use super::arena::{advance, binary, node};
use super::tokens::{looked_at, silent};
use crate::start::{header, state};
use pleach_abi::event::{Event, Kind};
use pleach_abi::layout::SHM_BASE;
use pleach_abi::node::{FLAG_DECIDED, Op};
use pleach_abi::section::{Site, SiteKind};
use pleach_abi::shm::{self, Loss};

/// Dense index of a site record.
fn index(site: u64) -> u32 {
    let s = state();
    for m in &s.modules[..s.modules_len] {
        if (m.start..m.stop).contains(&(site as usize)) {
            return m.base + ((site as usize - m.start) / size_of::<Site>()) as u32;
        }
    }
    u32::MAX
}

fn append(e: Event) {
    let Some(h) = header() else { return };
    // A trace that lost something is used up to there.
    if h.cut != 0 {
        return;
    }
    // Safety: the count in the shared header.
    let at = unsafe { advance(&raw mut h.events, 1) };
    if u64::from(at) >= h.events_cap {
        h.events = at;
        h.cut |= shm::CUT_EVENTS;
        return;
    }
    // Safety: below the cap.
    unsafe { *((SHM_BASE + h.events_off) as *mut Event).add(at as usize) = e };
}

/// A decision of the program at a site; a condition decides only once.
pub fn decide(site: u64, label: u32, kind: Kind, dir: bool, aux: u32) {
    if label == 0 {
        return;
    }
    if silent() {
        return looked_at(label);
    }
    let n = node(label);
    if n.flags & FLAG_DECIDED != 0 {
        return;
    }
    n.flags |= FLAG_DECIDED;
    append(Event { site: index(site), label, kind: kind as u8, dir: dir.into(), stream: 0, aux });
}

/// A branch, select or sanitizer branch: the record says which.
pub extern "C" fn branch(site: u64, label: u32, dir: u32) {
    // Safety: instrumented code passes its own site records.
    let kind = match unsafe { (*(site as *const Site)).kind } {
        k if k == SiteKind::Select as u32 => Kind::Select,
        k if k == SiteKind::Sanitizer as u32 => Kind::CheckOverflow,
        _ => Kind::Branch,
    };
    decide(site, label, kind, dir & 1 != 0, 0);
}

/// Two switches on one value may ask different things: each is an event.
pub extern "C" fn switch(site: u64, label: u32) {
    if silent() {
        return looked_at(label);
    }
    if label != 0 {
        append(Event {
            site: index(site),
            label,
            kind: Kind::Switch as u8,
            dir: 1,
            stream: 0,
            aux: 0,
        });
    }
}

/// A labelled divisor: it must not be zero.
pub extern "C" fn divisor(site: u64, label: u32) {
    if label == 0 {
        return;
    }
    if silent() {
        return looked_at(label);
    }
    let n = *node(label);
    let cond = binary(Op::Ne, 1, label, 0, 0, u64::from(n.val != 0));
    decide(site, cond, Kind::CheckDiv, n.val != 0, 0);
}

/// The target of an indirect call or jump.
pub extern "C" fn indirect(site: u64, label: u32) {
    decide(site, label, Kind::Indirect, true, 0);
}

/// "Stream is longer than `at` bytes" came out as `dir`.
pub fn len(stream: usize, at: u64, dir: bool) {
    if silent() {
        return;
    }
    // What a longer read has shown already is not said again, nor is the end
    // once it is known.
    static mut SHOWN: [u64; 64] = [0; 64];
    static mut ENDED: [u64; 64] = [u64::MAX; 64];
    // Safety: a race would at worst repeat a decision.
    unsafe {
        let shown = &mut *(&raw mut SHOWN[stream & 63]);
        let ended = &mut *(&raw mut ENDED[stream & 63]);
        if (dir && at < *shown) || (!dir && at >= *ended) {
            return;
        }
        if dir {
            *shown = at + 1;
        } else {
            *ended = at;
        }
    }
    append(Event {
        site: index(super::tls::tls().site),
        label: 0,
        kind: Kind::Len as u8,
        dir: dir.into(),
        stream: stream as u16,
        aux: at.min(u32::MAX.into()) as u32,
    });
}

pub fn loss(cause: Loss) {
    if let Some(h) = header() {
        h.losses[cause as usize] = h.losses[cause as usize].saturating_add(1);
    }
}

pub extern "C" fn count_loss(cause: u32) {
    if let Some(h) = header() {
        let at = cause as usize & 15;
        h.losses[at] = h.losses[at].saturating_add(1);
    }
}

/// A labelled argument went into a function that did not take it.
pub fn unmodelled(function: usize) {
    loss(Loss::Unmodelled);
    let Some(h) = header() else { return };
    static mut SEEN: [usize; 64] = [0; 64];
    // Safety: a race would at worst list a name twice.
    unsafe {
        let seen = &mut *&raw mut SEEN;
        let Some(free) = seen.iter().position(|&f| f == function || f == 0) else { return };
        if seen[free] == function {
            return;
        }
        seen[free] = function;
        let mut name = crate::start::symbol_of(function).cast::<u8>();
        if name.is_null() {
            return;
        }
        let from = h.unmodelled_len as usize;
        let mut at = from;
        while *name != 0 && at + 1 < shm::UNMODELLED_CAP {
            h.unmodelled[at] = *name;
            name = name.add(1);
            at += 1;
        }
        h.unmodelled[at] = b'\n';
        h.unmodelled_len = at as u32 + 1;
    }
}
