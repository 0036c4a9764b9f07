//! Labels for values whose dependence on the input is lost, in a run with `RUN_LOSSES`.
//!
//! In other runs such a value is concrete: a search could not solve for it. A run that is to
//! explain gives it a constant node that says where and why the dependence was lost. What is
//! computed from the value gets labels as usual, and so a condition shows on what it depends.

use super::arena::push;
use super::events::decide;
use super::tls::tls;
use crate::start::header;
use pleach_abi::event::Kind;
use pleach_abi::node::{FLAG_LOST, NEVER_LOST, Node, Op};
use pleach_abi::shm::{self, Loss};

/// The unmodelled function that was called last, and 1 + its number, if it is in the list of
/// names. The address is 0 if the last call was of another function.
static mut LAST_UNMODELLED: (u64, u32) = (0, 0);

pub fn begin_run() {
    const BOTH: u32 = shm::RUN_LOSSES | shm::RUN_LABEL;
    let is_on = header().is_some_and(|h| h.run_flags & BOTH == BOTH);
    tls().losses = is_on.into();
}

/// True if this run records losses.
#[inline(always)]
pub fn are_recorded() -> bool {
    tls().losses != 0
}

/// Notes which unmodelled function was just called: its address, 0 for none, and 1 + its
/// number, if it has one.
pub fn note_call(function: u64, number: u32) {
    // Safety: a race between threads names another function at worst.
    unsafe { LAST_UNMODELLED = (function, number) };
}

/// A label for a value that was lost; 0 if the run does not record losses.
pub fn label(cause: Loss, site: u32, value: u64, width: u32) -> u32 {
    push_lost(cause as u32, (0, 0), site, value, width)
}

fn push_lost(cause: u32, function: (u64, u32), site: u32, value: u64, width: u32) -> u32 {
    if !are_recorded() || !(1..=64).contains(&width) {
        return 0;
    }
    let value = if width == 64 { value } else { value & ((1 << width) - 1) };
    push(Node {
        op: Op::Const as u8,
        width: width as u8,
        flags: FLAG_LOST,
        a: function.1,
        b: cause,
        c: site,
        imm: function.0,
        val: value,
    })
}

/// The label of the result of a call, if it has none: the callee may be unmodelled.
pub extern "C" fn lost_result(site: u64, label: u32, value: u64, width: u32) -> u32 {
    // Safety: as in `note_call`.
    let function = unsafe { LAST_UNMODELLED };
    if label != 0 || function.0 == 0 {
        return label;
    }
    let site = super::events::site_index(site);
    push_lost(Loss::Unmodelled as u32, function, site, value, width)
}

/// A branch whose condition the compiler has proved to be a constant.
pub extern "C" fn proved(site: u64, dir: u32) {
    let label = push_lost(NEVER_LOST, (0, 0), u32::MAX, u64::from(dir & 1), 1);
    decide(site, label, Kind::Branch, dir & 1 != 0, 0);
}

/// A branch on floating point, after a labelled value has become floating point in this run.
pub extern "C" fn lost_float(site: u64, dir: u32) {
    let is_lost = header().is_some_and(|h| h.losses[Loss::Float as usize] > 0);
    if is_lost {
        let label = label(Loss::Float, u32::MAX, u64::from(dir & 1), 1);
        decide(site, label, Kind::Branch, dir & 1 != 0, 0);
    }
}
