//! What a labelled address points into, and what a read there means.
//!
//! A read at a labelled address inside a known object whose bytes are concrete
//! becomes a lookup over a snapshot of the object: lexer tables, ctype tables
//! and jump tables depend on it. Any other labelled address is pinned to the
//! value it had, and the trace says so.
//!
//! Objects are known from the compiler (globals, and the local array that an
//! access is based on), from the allocation models (heap), and from the
//! runtime's own models (ctype tables).

use super::arena::{binary, bounds, node, push};
use super::events::{decide, loss};
use super::shadow;
use super::tokens::{looked_at, silent};
use crate::start::header;
use crate::sys;
use pleach_abi::event::Kind;
use pleach_abi::layout::{SHM_BASE, heap_of};
use pleach_abi::node::{FLAG_CHECKED, FLAG_PINNED, Node, Op};
use pleach_abi::section::Global;
use pleach_abi::shm::{self, Loss, Snapshot};

#[derive(Clone, Copy)]
pub struct Object {
    pub base: u64,
    pub size: u64,
    pub constant: bool,
}

/// Larger objects are pinned: a snapshot of them would cost more than it gives.
const LARGEST: u64 = 64 * 1024;
/// How far back a heap object's start is looked for.
const HEAP_REACH: u64 = 1 << 20;
const EXTRA: usize = 64;

struct Known {
    globals: *mut Global,
    len: usize,
    extra: [Object; EXTRA],
    extra_len: usize,
}

static mut KNOWN: Known = Known {
    globals: core::ptr::null_mut(),
    len: 0,
    extra: [Object { base: 0, size: 0, constant: false }; EXTRA],
    extra_len: 0,
};

fn known() -> &'static mut Known {
    // Safety: written at start-up and by models of one thread at a time.
    unsafe { &mut *&raw mut KNOWN }
}

#[used]
#[unsafe(link_section = "pleach_globals")]
static NO_GLOBAL: [u64; 0] = [];

/// Sorts the executable's globals by address, once, in the fork server.
pub fn start() {
    unsafe extern "C" {
        #[link_name = "__start_pleach_globals"]
        static START: [u8; 0];
        #[link_name = "__stop_pleach_globals"]
        static STOP: [u8; 0];
    }
    if header().is_none() {
        return;
    }
    let (from, to) = (&raw const START as u64, &raw const STOP as u64);
    add_globals(from, to);
}

/// For shared libraries: the constructor that the compiler links into them.
#[unsafe(no_mangle)]
pub extern "C" fn __pleach_register_globals(from: u64, to: u64) {
    if header().is_some() && from != 0 {
        add_globals(from, to);
    }
}

/// Adds a module's table of globals to the sorted whole.
pub fn add_globals(from: u64, to: u64) {
    let k = known();
    let more = (to - from) as usize / size_of::<Global>();
    let all = k.len + more;
    let at = sys::mmap(
        0,
        (all * size_of::<Global>()).max(1) as u64,
        sys::PROT_READ | sys::PROT_WRITE,
        sys::MAP_PRIVATE | sys::MAP_ANONYMOUS,
        u64::MAX,
        0,
    );
    if at < 0 {
        return;
    }
    // Safety: fresh memory for all of them; the old table is dropped after.
    let table = unsafe {
        let p = at as *mut Global;
        core::ptr::copy_nonoverlapping(k.globals, p, k.len);
        core::ptr::copy_nonoverlapping(from as *const Global, p.add(k.len), more);
        core::slice::from_raw_parts_mut(p, all)
    };
    table.sort_unstable_by_key(|g| g.addr);
    (k.globals, k.len) = (table.as_mut_ptr(), all);
}

/// Makes a range known, for tables that belong to libc.
pub fn add(o: Object) {
    let k = known();
    if k.extra[..k.extra_len].iter().any(|e| e.base == o.base) || k.extra_len == EXTRA {
        return;
    }
    k.extra[k.extra_len] = o;
    k.extra_len += 1;
}

/// A heap object begins (size given) or ends (`None`).
pub fn heap(addr: u64, size: Option<u64>) {
    if addr == 0 || addr & 15 != 0 || header().is_none() {
        return;
    }
    let known = sized_objects();
    if known.any {
        known.all.iter_mut().filter(|s| s.0 == addr).for_each(|s| *s = (0, 0));
    }
    let v = size.map_or(0, |s| (s + 1).min(u32::MAX.into()) as u32);
    // Safety: the heap map covers the address space.
    unsafe { *(heap_of(addr) as *mut u32) = v };
    if v != 0 {
        let around = |g: &&mut Gap| g.from < addr && addr <= g.to;
        gaps().iter_mut().filter(around).for_each(|g| *g = Gap { from: 0, to: 0 });
    }
}

/// No heap object starts behind `from` and up to `to`.
#[derive(Clone, Copy)]
struct Gap {
    from: u64,
    to: u64,
}

/// How far the map is read before the gaps are asked.
const NEAR: u64 = 1024;
const GAPS: usize = 8;
static mut GAP_OF: [Gap; GAPS] = [Gap { from: 0, to: 0 }; GAPS];
static mut NEXT_GAP: usize = 0;

/// The last long ways through the heap map: a large object, and the stack, whose
/// accesses have none behind them, are asked about again and again.
fn gaps() -> &'static mut [Gap; GAPS] {
    // Safety: a race between threads can only make an object unknown.
    unsafe { &mut *&raw mut GAP_OF }
}

/// Heap objects whose size is an expression over the lengths of holes: a string that
/// was duplicated has room for itself however long it is.
struct Sized {
    all: [(u64, u32); SIZED],
    next: usize,
    any: bool,
}

const SIZED: usize = 256;
static mut SIZED_OBJECTS: Sized = Sized { all: [(0, 0); SIZED], next: 0, any: false };

fn sized_objects() -> &'static mut Sized {
    // Safety: a race between threads loses an entry at worst.
    unsafe { &mut *&raw mut SIZED_OBJECTS }
}

pub fn begin_run() {
    let s = sized_objects();
    if s.any {
        *s = Sized { all: [(0, 0); SIZED], next: 0, any: false };
    }
}

/// The size of the heap object that has just begun at `addr` has a label.
pub fn sized(addr: u64, label: u32) {
    if addr == 0 || label == 0 || !super::holes::on() {
        return;
    }
    let s = sized_objects();
    s.any = true;
    s.all[s.next] = (addr, label);
    s.next = (s.next + 1) % SIZED;
}

/// The label of an object's size.
pub fn size_label(o: &Object) -> u32 {
    let s = sized_objects();
    let label = |&(base, label): &(u64, u32)| (base == o.base).then_some(label);
    if s.any { s.all.iter().find_map(label).unwrap_or(0) } else { 0 }
}

/// The object that holds an address.
pub fn find(addr: u64) -> Option<Object> {
    let k = known();
    if let Some(o) = k.extra[..k.extra_len].iter().find(|o| addr.wrapping_sub(o.base) < o.size) {
        return Some(*o);
    }
    // Safety: the table that `add_globals` made.
    let globals = unsafe {
        core::slice::from_raw_parts(k.globals, if k.globals.is_null() { 0 } else { k.len })
    };
    let after = globals.partition_point(|g| g.addr <= addr);
    if let Some(g) = after.checked_sub(1).map(|i| globals[i])
        && addr - g.addr < u64::from(g.size)
    {
        return Some(Object { base: g.addr, size: g.size.into(), constant: g.flags & 1 != 0 });
    }
    find_heap(addr)
}

fn find_heap(addr: u64) -> Option<Object> {
    let granule = addr & !15;
    let last = granule.saturating_sub(HEAP_REACH);
    // Safety: as above; untouched parts read as zero.
    let size_at = |at: u64| unsafe { *(heap_of(at) as *const u32) };
    let mut at = granule;
    while size_at(at) == 0 && at > last {
        at -= 16;
        if granule - at == NEAR
            && let Some(gap) = gaps().iter().find(|g| g.from < at && at <= g.to)
        {
            at = gap.from.max(last);
        }
    }
    if granule - at > NEAR {
        remember(Gap { from: at, to: granule });
    }
    let size = u64::from(size_at(at).checked_sub(1)?);
    (addr - at < size).then_some(Object { base: at, size, constant: false })
}

/// A gap joins one that it overlaps, or replaces the oldest.
fn remember(gap: Gap) {
    let of = gaps();
    if let Some(old) = of.iter_mut().find(|g| g.from < gap.to && gap.from < g.to) {
        *old = Gap { from: old.from.min(gap.from), to: old.to.max(gap.to) };
        return;
    }
    // Safety: as `gaps`.
    unsafe {
        of[NEXT_GAP] = gap;
        NEXT_GAP = (NEXT_GAP + 1) % GAPS;
    }
}

/// A load of `bits` at `addr`, whose label is `label` or that of an address a
/// constant away: the label of what it yields.
pub extern "C" fn load_at(site: u64, label: u32, addr: u64, bits: u32) -> u32 {
    load_in(site, label, addr, bits, 0, 0)
}

/// The same, in a local object that the compiler knows.
pub extern "C" fn load_in(
    site: u64,
    label: u32,
    addr: u64,
    bits: u32,
    hint: u64,
    hint_size: u64,
) -> u32 {
    if label == 0 {
        return shadow::load(addr, bits);
    }
    let label = exact(label, addr);
    let n = u64::from(bits.div_ceil(8));
    let Some(o) = object(addr, hint, hint_size) else {
        pin(site, label, addr);
        return shadow::load(addr, bits);
    };
    check_index(site, label, addr, n, o);
    if o.size <= LARGEST
        && bits.is_multiple_of(8)
        && bits <= 64
        && addr - o.base + n <= o.size
        && (o.constant || shadow::is_clean(o.base, o.size))
    {
        let found = lookup(o, label, addr, bits);
        if found != 0 {
            return found;
        }
    }
    pin(site, label, addr);
    shadow::load(addr, bits)
}

/// A read of a concrete object at a labelled address inside it; 0 if there is
/// no room for it.
pub fn lookup(o: Object, label: u32, addr: u64, bits: u32) -> u32 {
    if label == 0 {
        return 0;
    }
    let Some(at) = snapshot(o) else { return 0 };
    let n = u64::from(bits / 8);
    // Safety: the program reads these bytes itself.
    let val =
        (0..n).fold(0, |v, i| v | u64::from(unsafe { *((addr + i) as *const u8) }) << (8 * i));
    push(Node {
        op: Op::Lookup as u8,
        width: bits as u8,
        a: label,
        b: at,
        imm: o.base,
        val,
        ..Node::default()
    })
}

/// A store of `bits` with label `value` at `addr`: the address is pinned.
pub extern "C" fn store_at(site: u64, label: u32, addr: u64, value: u32, bits: u32) {
    if label != 0 {
        pin_access(site, label, addr, bits.div_ceil(8).into(), 0, 0);
    }
    shadow::store(addr, value, bits);
}

/// The same, in a local object: its size is above the low 8 bits of `sized`,
/// which are the store's.
pub extern "C" fn store_in(site: u64, label: u32, addr: u64, value: u32, sized: u64, hint: u64) {
    let bits = sized as u32 & 0xff;
    if label != 0 {
        pin_access(site, label, addr, bits.div_ceil(8).into(), hint, sized >> 8);
    }
    shadow::store(addr, value, bits);
}

/// Any other access of `bytes` bytes.
pub extern "C" fn pin_range(site: u64, label: u32, addr: u64, bytes: u64) {
    pin_access(site, label, addr, bytes, 0, 0);
}

fn pin_access(site: u64, label: u32, addr: u64, bytes: u64, hint: u64, hint_size: u64) {
    let label = exact(label, addr);
    if let Some(o) = object(addr, hint, hint_size) {
        check_index(site, label, addr, bytes, o);
    }
    pin(site, label, addr);
}

/// The label of `addr` itself, given that of an address a constant away.
fn exact(label: u32, addr: u64) -> u32 {
    let away = addr.wrapping_sub(node(label).val);
    match away {
        0 => label,
        _ => match binary(Op::Add, 64, label, 0, away, addr) {
            0 => label,
            sum => sum,
        },
    }
}

fn object(addr: u64, hint: u64, hint_size: u64) -> Option<Object> {
    if hint != 0 && addr.wrapping_sub(hint) < hint_size {
        return Some(Object { base: hint, size: hint_size, constant: false });
    }
    find(addr)
}

/// The address could leave its object: `addr - base <= size - n`.
fn check_index(site: u64, label: u32, addr: u64, n: u64, o: Object) {
    let is = node(label);
    if is.flags & FLAG_CHECKED != 0 || n > o.size || silent() {
        return;
    }
    is.flags |= FLAG_CHECKED;
    let (low, high) = bounds(label);
    if low >= o.base && high - o.base <= o.size - n {
        return;
    }
    let offset = binary(Op::Sub, 64, label, 0, o.base, addr.wrapping_sub(o.base));
    let fits = addr - o.base <= o.size - n;
    let most = match size_label(&o) {
        0 => 0,
        size => binary(Op::Sub, 64, size, 0, n, o.size - n),
    };
    let cond = binary(Op::Ule, 1, offset, most, o.size - n, fits.into());
    if offset != 0 && cond != 0 {
        decide(site, cond, Kind::CheckIndex, fits, o.size.min(u32::MAX.into()) as u32);
    }
}

/// Records that the rest of the trace holds for this address only.
pub fn pin(site: u64, label: u32, addr: u64) {
    if silent() {
        return looked_at(label);
    }
    let is = node(label);
    if is.flags & FLAG_PINNED != 0 {
        return;
    }
    is.flags |= FLAG_PINNED;
    loss(Loss::Pinned);
    let cond = binary(Op::Eq, 1, label, 0, addr, 1);
    if cond != 0 {
        decide(site, cond, Kind::Pin, true, 0);
    }
}

#[derive(Clone, Copy)]
struct Taken {
    base: u64,
    len: u32,
    at: u32,
}

const CACHE: usize = 256;
static mut CACHE_OF: [Taken; CACHE] = [Taken { base: 0, len: 0, at: 0 }; CACHE];

/// The offset of a snapshot of the object's bytes as they are now.
fn snapshot(o: Object) -> Option<u32> {
    let h = header()?;
    // Safety: a race between threads costs a second snapshot at worst.
    let cached = unsafe { &mut *&raw mut CACHE_OF[(o.base >> 4) as usize % CACHE] };
    let region = SHM_BASE + h.snaps_off;
    let head = size_of::<Snapshot>() as u64;
    let now = o.base as *const u8;
    if cached.base == o.base && u64::from(cached.len) == o.size {
        let old = (region + u64::from(cached.at) + head) as *const u8;
        // Safety: both ranges are mapped and as long as they say.
        let same = o.constant || unsafe { equal(old, now, o.size as usize) };
        if same {
            return Some(cached.at);
        }
    }
    let at = h.snaps;
    let end = at + (head + o.size).next_multiple_of(8);
    if end > h.snaps_cap {
        h.cut |= shm::CUT_SNAPS;
        return None;
    }
    h.snaps = end;
    // Safety: within the region, by the test above.
    unsafe {
        *((region + at) as *mut Snapshot) =
            Snapshot { base: o.base, len: o.size as u32, reserved: 0 };
        core::ptr::copy_nonoverlapping(now, (region + at + head) as *mut u8, o.size as usize);
    }
    *cached = Taken { base: o.base, len: o.size as u32, at: at as u32 };
    Some(at as u32)
}

unsafe fn equal(a: *const u8, b: *const u8, n: usize) -> bool {
    // Safety: the caller vouches for both ranges.
    unsafe { core::slice::from_raw_parts(a, n) == core::slice::from_raw_parts(b, n) }
}
