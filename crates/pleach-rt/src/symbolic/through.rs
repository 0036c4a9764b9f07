//! Reads through pointers that were read from a table: `shape[x]->kind`, and the two reads of
//! the virtual call `shape[x]->area()`.
//!
//! The table is in the trace as a snapshot. Where its entries point to known objects of
//! concrete bytes, what a read through each of them gives is known, too. So the read becomes a
//! lookup at the same place in a second table, which has these values in place of the pointers.
//! A virtual call goes on from there: the table of objects becomes a table of vtables, and that
//! one a table of functions.
//!
//! An entry that points elsewhere (a null pointer, an object with labelled bytes) has no value.
//! If there is one, the trace gets a check that the index selects another entry.

use super::arena::{binary, node, push};
use super::events::decide;
use super::objects;
use super::shadow;
use crate::start::header;
use pleach_abi::event::Kind;
use pleach_abi::layout::SHM_BASE;
use pleach_abi::node::{FLAG_CHECKED, Node, Op};
use pleach_abi::shm::Snapshot;

const POINTER_BYTES: u64 = 8;
/// Larger tables cost too much.
const MAX_ENTRIES: u64 = 256;
/// How many entries may be followed in one run.
const MAX_FOLLOWED: u64 = 1 << 20;
/// How deep the expression of an index is searched for the distance of entries.
const MAX_DEPTH: u32 = 16;

static mut FOLLOWED: u64 = 0;

/// Called at the start of each run.
pub fn begin_run() {
    // Safety: only this thread runs.
    unsafe {
        FOLLOWED = 0;
        CACHE = [(0, 0); CACHE_SIZE];
    }
}

/// A table of pointers.
struct Pointers {
    /// The label of the address that the pointer was read at, and where that lies in the table.
    index: u32,
    at: u64,
    /// The table: its address, its snapshot, and the size of that.
    base: u64,
    bytes: *const u8,
    len: u64,
    /// The offset of the first entry, and the distance between two.
    first: u64,
    step: u64,
}

/// The label of a load of `bits` at `addr`, whose label is `label`. 0 if the address is not
/// that of a pointer from a table, or near it.
pub fn load(site: u64, label: u32, addr: u64, bits: u32) -> u32 {
    if !matches!(bits, 8 | 16 | 32 | 64) {
        return 0;
    }
    let n = *node(label);
    let (pointer, away) = match Op::from_u8(n.op) {
        Some(Op::Lookup) => (label, 0),
        Some(Op::Add) if n.b == 0 => (n.a, n.imm),
        Some(Op::Add) if n.a == 0 => (n.b, n.imm),
        _ => return 0,
    };
    let Some(table) = table_of(pointer, addr.wrapping_sub(away)) else { return 0 };
    let size = u64::from(bits / 8);
    let Some(Followed { values, valid }) = follow(&table, away, size) else { return 0 };
    if valid != 0 && node(label).flags & FLAG_CHECKED == 0 {
        node(label).flags |= FLAG_CHECKED;
        let is_valid = read(&table, valid, 8, 1);
        let cond = binary(Op::Ne, 1, is_valid, 0, 0, 1);
        decide(site, cond, Kind::CheckIndex, true, table.len as u32);
    }
    read(&table, values, bits, shadow::read_word(addr, bits / 8))
}

fn read(table: &Pointers, snapshot: u32, bits: u32, val: u64) -> u32 {
    push(Node {
        op: Op::Lookup as u8,
        width: bits as u8,
        a: table.index,
        b: snapshot,
        imm: table.base,
        val,
        ..Node::default()
    })
}

/// The table that a pointer was read from; `None` if its value or its table is unknown.
fn table_of(pointer: u32, value: u64) -> Option<Pointers> {
    let n = *node(pointer);
    if n.op != Op::Lookup as u8 || n.width != 64 || n.val != value {
        return None;
    }
    let head = (SHM_BASE + header()?.snaps_off + u64::from(n.b)) as *const Snapshot;
    // Safety: the runtime has written the snapshot, and the node that names it.
    let (len, bytes) = unsafe { (u64::from((*head).len), head.add(1).cast::<u8>()) };
    let step = step_of(n.a, MAX_DEPTH);
    let at = node(n.a).val.wrapping_sub(n.imm);
    let fits = step >= POINTER_BYTES
        && step.is_multiple_of(POINTER_BYTES)
        && at.checked_add(POINTER_BYTES)? <= len
        && len / step <= MAX_ENTRIES;
    fits.then_some(Pointers { index: n.a, at, base: n.imm, bytes, len, first: at % step, step })
}

/// Snapshots beside a table.
struct Followed {
    /// What a read gives.
    values: u32,
    /// 1 where there is a value; 0 if there is one everywhere.
    valid: u32,
}

/// Reads `size` bytes `away` from each pointer of a table. `None` if the pointer of this run
/// cannot be followed.
fn follow(table: &Pointers, away: u64, size: u64) -> Option<Followed> {
    let h = header()?;
    let head = size_of::<Snapshot>() as u64;
    let room = (head + table.len).next_multiple_of(8);
    let (values_at, valid_at) = (h.snaps, h.snaps + room);
    if h.snaps + 2 * room > h.snaps_cap {
        return None;
    }
    let region = SHM_BASE + h.snaps_off;
    let bytes_of = |at: u64| (region + at + head) as *mut u8;
    let (values, valid) = (bytes_of(values_at), bytes_of(valid_at));
    // Safety: both snapshots lie in the region, and nobody else uses its end.
    unsafe {
        for at in [values_at, valid_at] {
            *((region + at) as *mut Snapshot) =
                Snapshot { base: table.base, len: table.len as u32, reserved: 0 };
            core::ptr::write_bytes(bytes_of(at), 0, table.len as usize);
        }
    }
    let mut all = true;
    let mut at = table.first;
    while at + POINTER_BYTES <= table.len {
        // Safety: a race between threads changes the count a little.
        unsafe {
            FOLLOWED += 1;
            if FOLLOWED > MAX_FOLLOWED {
                return None;
            }
        }
        // Safety: within the table.
        let pointer = unsafe { table.bytes.add(at as usize).cast::<u64>().read_unaligned() };
        let from = pointer.wrapping_add(away);
        if is_concrete(from, size) {
            // Safety: `from` lies in an object of the program, the others in the snapshots.
            unsafe {
                let to = values.add(at as usize);
                core::ptr::copy_nonoverlapping(from as *const u8, to, size as usize);
                *valid.add(at as usize) = 1;
            }
        } else if at == table.at {
            return None;
        } else {
            all = false;
        }
        at += table.step;
    }
    let values = keep(values_at, room)?;
    let valid = if all { 0 } else { keep(valid_at, room)? };
    Some(Followed { values, valid })
}

/// True if the bytes lie in a known object and have no labels.
fn is_concrete(addr: u64, size: u64) -> bool {
    let Some(o) = objects::find(addr) else { return false };
    addr - o.base + size <= o.size && (o.constant || shadow::is_clean(addr, size))
}

const CACHE_SIZE: usize = 64;
static mut CACHE: [(u32, u64); CACHE_SIZE] = [(0, 0); CACHE_SIZE];
static mut NEXT: usize = 0;

/// Takes a snapshot that was written to the end of the region, or finds an older one with the
/// same bytes.
fn keep(at: u64, room: u64) -> Option<u32> {
    let h = header()?;
    let region = SHM_BASE + h.snaps_off;
    // Safety: both are snapshots of `room` bytes in the region.
    let bytes =
        |at: u64| unsafe { core::slice::from_raw_parts((region + at) as *const u8, room as usize) };
    // Safety: a race between threads costs a snapshot.
    let cache = unsafe { &mut *&raw mut CACHE };
    let is_same = |&&(old, len): &&(u32, u64)| {
        len == room && u64::from(old) + room <= at && bytes(old.into()) == bytes(at)
    };
    if let Some(&(old, _)) = cache.iter().find(is_same) {
        return Some(old);
    }
    let next = h.snaps;
    if next != at {
        // Safety: as above; the new place is not above the old one.
        unsafe {
            core::ptr::copy((region + at) as *const u8, (region + next) as *mut u8, room as usize);
        }
    }
    h.snaps = next + room;
    let kept = u32::try_from(next).ok()?;
    // Safety: as above.
    unsafe {
        cache[NEXT % CACHE_SIZE] = (kept, room);
        NEXT += 1;
    }
    Some(kept)
}

/// A number that divides all differences between the values of a label; 0 for a constant.
fn step_of(label: u32, depth: u32) -> u64 {
    if label == 0 {
        return 0;
    }
    if depth == 0 {
        return 1;
    }
    let n = *node(label);
    let of = |label: u32| step_of(label, depth - 1);
    match Op::from_u8(n.op) {
        Some(Op::Const) => 0,
        Some(Op::Add | Op::Sub) => gcd(of(n.a), of(n.b)),
        Some(Op::Mul) if n.a == 0 || n.b == 0 => of(n.a | n.b).saturating_mul(n.imm),
        Some(Op::Shl) if n.b == 0 && n.imm < 64 => of(n.a).saturating_mul(1 << n.imm),
        Some(Op::ZExt | Op::SExt) => of(n.a),
        _ => 1,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
