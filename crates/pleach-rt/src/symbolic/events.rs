//! The log of decisions, and the counts of lost labels.

use super::arena::{binary, fetch_add, node};
use super::bounds::learn;
use super::losses;
use super::tokens::{in_token_function, note_examined};
use crate::start::{header, state};
use pleach_abi::event::{Event, Kind};
use pleach_abi::layout::SHM_BASE;
use pleach_abi::node::{FLAG_DECIDED, Op};
use pleach_abi::section::{Site, SiteKind};
use pleach_abi::shm::{self, Loss};

/// Dense index of a site record.
pub fn site_index(site: u64) -> u32 {
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
    // The driver uses a cut trace up to the cut.
    if h.cut != 0 {
        return;
    }
    // Safety: the count in the shared header.
    let at = unsafe { fetch_add(&raw mut h.events, 1) };
    if u64::from(at) >= h.events_cap {
        h.events = at;
        h.cut |= shm::CUT_EVENTS;
        return;
    }
    // Safety: below the cap.
    unsafe { *((SHM_BASE + h.events_off) as *mut Event).add(at as usize) = e };
}

/// Records a decision at a site. Each condition is recorded only once.
pub fn decide(site: u64, label: u32, kind: Kind, dir: bool, aux: u32) {
    if label == 0 {
        return;
    }
    if in_token_function() {
        return note_examined(label);
    }
    let n = node(label);
    if n.flags & FLAG_DECIDED != 0 && !losses::are_recorded() {
        return;
    }
    n.flags |= FLAG_DECIDED;
    learn(label, dir);
    append(Event {
        site: site_index(site),
        label,
        kind: kind as u8,
        dir: dir.into(),
        stream: 0,
        aux,
    });
}

/// A branch, a select or a sanitizer branch; the site record says which.
pub extern "C" fn branch(site: u64, label: u32, dir: u32) {
    // Safety: instrumented code passes its own site records.
    let kind = match unsafe { (*(site as *const Site)).kind } {
        k if k == SiteKind::Select as u32 => Kind::Select,
        k if k == SiteKind::Sanitizer as u32 => Kind::CheckOverflow,
        _ => Kind::Branch,
    };
    decide(site, label, kind, dir & 1 != 0, 0);
}

/// A switch. Each is an event: two switches on one value may have different cases.
pub extern "C" fn switch(site: u64, label: u32) {
    if in_token_function() {
        return note_examined(label);
    }
    if label != 0 {
        append(Event {
            site: site_index(site),
            label,
            kind: Kind::Switch as u8,
            dir: 1,
            stream: 0,
            aux: 0,
        });
    }
}

/// Checks that a labelled divisor is not zero.
pub extern "C" fn divisor(site: u64, label: u32) {
    if label == 0 {
        return;
    }
    if in_token_function() {
        return note_examined(label);
    }
    let n = *node(label);
    let cond = binary(Op::Ne, 1, label, 0, 0, u64::from(n.val != 0));
    decide(site, cond, Kind::CheckDiv, n.val != 0, 0);
}

/// The target of an indirect call or jump.
pub extern "C" fn indirect(site: u64, label: u32) {
    decide(site, label, Kind::Indirect, true, 0);
}

/// Records the decision "the stream is longer than `at` bytes", with outcome `dir`.
pub fn record_len(stream: usize, at: u64, dir: bool) {
    if in_token_function() {
        return;
    }
    // By stream: the lengths that earlier decisions imply. A decision that follows from
    // them is not recorded.
    static mut AT_LEAST: [u64; 64] = [0; 64];
    static mut AT_MOST: [u64; 64] = [u64::MAX; 64];
    // Safety: a race repeats a decision at worst.
    unsafe {
        let at_least = &mut *(&raw mut AT_LEAST[stream & 63]);
        let at_most = &mut *(&raw mut AT_MOST[stream & 63]);
        if (dir && at < *at_least) || (!dir && at >= *at_most) {
            return;
        }
        if dir {
            *at_least = at + 1;
        } else {
            *at_most = at;
        }
    }
    append(Event {
        site: site_index(super::tls::tls().site),
        label: 0,
        kind: Kind::Len as u8,
        dir: dir.into(),
        stream: stream as u16,
        aux: at.min(u32::MAX.into()) as u32,
    });
}

pub fn count_loss(cause: Loss) {
    if let Some(h) = header() {
        h.losses[cause as usize] = h.losses[cause as usize].saturating_add(1);
    }
}

pub extern "C" fn count_loss_by_number(cause: u32) {
    if let Some(h) = header() {
        let at = cause as usize & 15;
        h.losses[at] = h.losses[at].saturating_add(1);
    }
}

/// Counts a call of a function without model or instrumentation that got labels, and
/// lists its name once. Returns 1 + its number in the list, or 0 if it is not there.
pub fn record_unmodelled(function: usize) -> u32 {
    count_loss(Loss::Unmodelled);
    let Some(h) = header() else { return 0 };
    static mut SEEN: [usize; 64] = [0; 64];
    static mut NUMBERS: [u32; 64] = [0; 64];
    static mut LISTED: u32 = 0;
    // Safety: a race lists a name twice at worst.
    unsafe {
        let (seen, numbers) = (&mut *&raw mut SEEN, &mut *&raw mut NUMBERS);
        let Some(free) = seen.iter().position(|&f| f == function || f == 0) else { return 0 };
        if seen[free] == function {
            return numbers[free];
        }
        seen[free] = function;
        let mut name = crate::start::symbol_of(function).cast::<u8>();
        if name.is_null() || *name == 0 {
            return 0;
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
        LISTED += 1;
        numbers[free] = LISTED;
        LISTED
    }
}
