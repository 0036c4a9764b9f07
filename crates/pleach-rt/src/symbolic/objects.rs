//! Accesses at labelled addresses, and the objects that they lie in.
//!
//! A read at a labelled address inside a known object of concrete bytes becomes a lookup
//! over a snapshot of the object. Lexer tables, ctype tables and jump tables need this.
//! If bytes of the object have labels, or if the access is a write, see `cells`. Any other
//! labelled address is pinned to its value, as a condition in the trace.
//!
//! The object of an access is that of the pointer that the address was computed from, even
//! if the address lies elsewhere: `a[-3]` belongs to `a`. The compiler passes that pointer,
//! with the size of its object if it is a variable. It also tells the runtime the globals. The models of
//! `malloc` and its relatives add heap objects, and the models of ctype add libc's tables.

use super::arena::{binary, node, push};
use super::bounds::bounds;
use super::events::{count_loss, decide, site_index};
use super::tls::tls;
use super::tokens::{in_token_function, note_examined};
use super::{cells, losses, shadow};
use crate::start::header;
use crate::sys;
use pleach_abi::event::Kind;
use pleach_abi::layout::{ADDR_LIMIT, SHM_BASE, heap_of};
use pleach_abi::node::{FLAG_CHECKED, FLAG_PINNED, Node, Op};
use pleach_abi::section::Global;
use pleach_abi::shm::{self, Loss, Snapshot};

#[derive(Clone, Copy)]
pub struct Object {
    pub base: u64,
    pub size: u64,
    pub constant: bool,
}

/// Reads in larger objects are looked up in a part of them: a snapshot of all would cost too
/// much.
pub const MAX_LOOKUP_SIZE: u64 = 64 * 1024;
/// How far back to search for the start of a heap object, in bytes.
const HEAP_REACH: u64 = 1 << 20;
const MAX_EXTRA: usize = 64;

struct Known {
    globals: *mut Global,
    len: usize,
    extra: [Object; MAX_EXTRA],
    extra_len: usize,
}

static mut KNOWN: Known = Known {
    globals: core::ptr::null_mut(),
    len: 0,
    extra: [Object { base: 0, size: 0, constant: false }; MAX_EXTRA],
    extra_len: 0,
};

fn known() -> &'static mut Known {
    // Safety: written at start-up and by models of one thread at a time.
    unsafe { &mut *&raw mut KNOWN }
}

#[used]
#[unsafe(link_section = "pleach_globals")]
static NO_GLOBAL: [u64; 0] = [];

/// Adds the globals of the executable, once, in the fork server.
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

/// Called by the constructor that the compiler links into shared libraries.
#[unsafe(no_mangle)]
pub extern "C" fn __pleach_register_globals(from: u64, to: u64) {
    if header().is_some() && from != 0 {
        add_globals(from, to);
    }
}

/// Merges the globals of a module into the sorted table.
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
    // Safety: new memory for all of them.
    let table = unsafe {
        let p = at as *mut Global;
        core::ptr::copy_nonoverlapping(k.globals, p, k.len);
        core::ptr::copy_nonoverlapping(from as *const Global, p.add(k.len), more);
        core::slice::from_raw_parts_mut(p, all)
    };
    table.sort_unstable_by_key(|g| g.addr);
    (k.globals, k.len) = (table.as_mut_ptr(), all);
}

/// Adds an object that belongs to libc.
pub fn add(o: Object) {
    let k = known();
    if k.extra[..k.extra_len].iter().any(|e| e.base == o.base) || k.extra_len == MAX_EXTRA {
        return;
    }
    k.extra[k.extra_len] = o;
    k.extra_len += 1;
}

/// Enters a heap object of `size` bytes into the map, or removes it (`None`).
pub fn set_heap_object(addr: u64, size: Option<u64>) {
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

/// A range without heap objects: none starts after `from` and up to `to`.
#[derive(Clone, Copy)]
struct Gap {
    from: u64,
    to: u64,
}

/// How far back the map is searched before the cached gaps are used, in bytes.
const NEAR_BYTES: u64 = 1024;
const MAX_GAPS: usize = 8;
static mut HEAP_GAPS: [Gap; MAX_GAPS] = [Gap { from: 0, to: 0 }; MAX_GAPS];
static mut NEXT_GAP: usize = 0;

/// The last long gaps that a search found. Searches in large objects and in the stack,
/// where there is no heap object, cross the same gap each time.
fn gaps() -> &'static mut [Gap; MAX_GAPS] {
    // Safety: a race between threads makes an object unknown at worst.
    unsafe { &mut *&raw mut HEAP_GAPS }
}

/// Heap objects whose size is an expression over the lengths of holes: the copy that
/// `strdup` makes always has room for the string, whatever its length.
struct Sized {
    all: [(u64, u32); MAX_SIZED],
    next: usize,
    any: bool,
}

const MAX_SIZED: usize = 256;
static mut SIZED_OBJECTS: Sized = Sized { all: [(0, 0); MAX_SIZED], next: 0, any: false };

fn sized_objects() -> &'static mut Sized {
    // Safety: a race between threads loses an entry at worst.
    unsafe { &mut *&raw mut SIZED_OBJECTS }
}

pub fn begin_run() {
    let s = sized_objects();
    if s.any {
        *s = Sized { all: [(0, 0); MAX_SIZED], next: 0, any: false };
    }
}

/// Sets the label of the size of the heap object at `addr`.
pub fn set_size_label(addr: u64, label: u32) {
    if addr == 0 || label == 0 || !super::holes::are_on() {
        return;
    }
    let s = sized_objects();
    s.any = true;
    s.all[s.next] = (addr, label);
    s.next = (s.next + 1) % MAX_SIZED;
}

/// The label of the size of an object; 0 if it is concrete.
pub fn size_label(o: &Object) -> u32 {
    let s = sized_objects();
    let label = |&(base, label): &(u64, u32)| (base == o.base).then_some(label);
    if s.any { s.all.iter().find_map(label).unwrap_or(0) } else { 0 }
}

/// The object that an address lies in.
pub fn find(addr: u64) -> Option<Object> {
    let k = known();
    if let Some(o) = k.extra[..k.extra_len].iter().find(|o| addr.wrapping_sub(o.base) < o.size) {
        return Some(*o);
    }
    find_global(addr).or_else(|| find_heap(addr))
}

fn find_global(addr: u64) -> Option<Object> {
    let k = known();
    // Safety: the table that `add_globals` made.
    let globals = unsafe {
        core::slice::from_raw_parts(k.globals, if k.globals.is_null() { 0 } else { k.len })
    };
    let g = globals[globals.partition_point(|g| g.addr <= addr).checked_sub(1)?];
    let is_inside = addr - g.addr < u64::from(g.size);
    is_inside.then_some(Object { base: g.addr, size: g.size.into(), constant: g.flags & 1 != 0 })
}

fn find_heap(addr: u64) -> Option<Object> {
    let granule = addr & !15;
    let last = granule.saturating_sub(HEAP_REACH);
    // Safety: as above; untouched parts read as zero.
    let size_at = |at: u64| unsafe { *(heap_of(at) as *const u32) };
    let mut at = granule;
    while size_at(at) == 0 && at > last {
        at -= 16;
        if granule - at == NEAR_BYTES
            && let Some(gap) = gaps().iter().find(|g| g.from < at && at <= g.to)
        {
            at = gap.from.max(last);
        }
    }
    if granule - at > NEAR_BYTES {
        cache_gap(Gap { from: at, to: granule });
    }
    let size = u64::from(size_at(at).checked_sub(1)?);
    (addr - at < size).then_some(Object { base: at, size, constant: false })
}

/// Caches a gap: joins it with one that overlaps, or replaces the oldest.
fn cache_gap(gap: Gap) {
    let of = gaps();
    if let Some(old) = of.iter_mut().find(|g| g.from < gap.to && gap.from < g.to) {
        *old = Gap { from: old.from.min(gap.from), to: old.to.max(gap.to) };
        return;
    }
    // Safety: as `gaps`.
    unsafe {
        of[NEXT_GAP] = gap;
        NEXT_GAP = (NEXT_GAP + 1) % MAX_GAPS;
    }
}

/// A load of `bits` at `addr`: the label of its result. `label` is the label of `addr`, or
/// of another address at a constant distance.
pub fn load_at(site: u64, label: u32, addr: u64, bits: u32) -> u32 {
    load_in(site, label, addr, bits, 0, 0)
}

/// As [`load_at`], at an address that was computed from the pointer `base`. If `size` is not
/// 0, the object is `size` bytes at `base`.
pub extern "C" fn load_in(
    site: u64,
    label: u32,
    addr: u64,
    bits: u32,
    base: u64,
    size: u64,
) -> u32 {
    if label == 0 {
        return shadow::load(addr, bits);
    }
    let label = label_of_address(label, addr);
    if node(label).flags & FLAG_PINNED != 0 {
        return load_pinned(site, label, addr, bits);
    }
    let through = super::through::load(site, label, addr, bits);
    if through != 0 {
        return through;
    }
    let n = u64::from(bits.div_ceil(8));
    let Some(o) = object_of(label, addr, base, size) else {
        return load_pinned(site, label, addr, bits);
    };
    check_index(site, label, addr, n, o);
    if can_follow(&o, addr, bits) {
        if o.size <= MAX_LOOKUP_SIZE && (o.constant || shadow::is_clean(o.base, o.size)) {
            let found = lookup(o, label, addr, bits);
            if found != 0 {
                return found;
            }
        } else if let Some(found) = cells::read(o, label, addr, bits) {
            return found;
        }
    }
    load_pinned(site, label, addr, bits)
}

/// True if an access lies in its object, and its size is one that can be followed.
fn can_follow(o: &Object, addr: u64, bits: u32) -> bool {
    let n = u64::from(bits / 8);
    bits.is_multiple_of(8) && bits <= 64 && n <= o.size && addr.wrapping_sub(o.base) <= o.size - n
}

/// A load at an address that is pinned: the label of what is there.
fn load_pinned(site: u64, label: u32, addr: u64, bits: u32) -> u32 {
    pin(site, label, addr);
    let found = shadow::load(addr, bits);
    if found != 0 || !losses::are_recorded() || bits > 64 {
        return found;
    }
    let value = shadow::read_word(addr, bits.div_ceil(8));
    losses::label(Loss::Pinned, site_index(site), value, bits)
}

/// The label of a read at a labelled address in a concrete object; 0 if there is no room
/// for a node or a snapshot.
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

/// A store at `addr` of a value with the label `value`. `packed` has the bits of the store (8
/// bits), a bit that says that `Tls::written` is the value, and from bit 16 on the size of
/// the object, as in [`load_in`].
pub extern "C" fn store_in(site: u64, label: u32, addr: u64, value: u32, packed: u64, base: u64) {
    let bits = packed as u32 & 0xff;
    if label != 0 {
        let label = label_of_address(label, addr);
        let o = object_of(label, addr, base, packed >> 16);
        if let Some(o) = o {
            check_index(site, label, addr, bits.div_ceil(8).into(), o);
        }
        if packed & 1 << 8 != 0
            && node(label).flags & FLAG_PINNED == 0
            && let Some(o) = o.filter(|o| can_follow(o, addr, bits))
            && cells::write(o, label, addr, bits, (value, tls().written))
        {
            return;
        }
        pin(site, label, addr);
    }
    shadow::store(addr, value, bits);
}

/// Longer copies from a labelled address are pinned.
const MAX_FOLLOWED_COPY: u64 = 64;

/// Copies the labels of a block of memory from a labelled address, which was computed from
/// the pointer `base`. The low half of `packed` is the number of bytes; the high half is the
/// size of the object, as in [`load_in`].
pub extern "C" fn copy_from(site: u64, label: u32, dst: u64, src: u64, packed: u64, base: u64) {
    let (n, size) = (packed & u64::from(u32::MAX), packed >> 32);
    if label == 0 || n > MAX_FOLLOWED_COPY || in_token_function() {
        pin_range(site, label, src, n, base, size);
        return shadow::copy(dst, src, n);
    }
    let label = label_of_address(label, src);
    if let Some(o) = object_of(label, src, base, size) {
        check_index(site, label, src, n, o);
    }
    // All pieces are read before one is written: the blocks may overlap.
    let mut pieces = [(0u64, 0u32, 0u32); 16];
    let (mut len, mut at) = (0, 0);
    while at < n {
        let bytes = 1 << (n - at).min(8).ilog2();
        let bits = 8 * bytes as u32;
        let found = match node(label).flags & FLAG_PINNED {
            0 => {
                let from = label_of_address(label, src + at);
                // The check of the whole block covers its parts.
                node(from).flags |= FLAG_CHECKED;
                load_in(site, from, src + at, bits, base, size)
            }
            _ => shadow::load(src + at, bits),
        };
        pieces[len] = (dst + at, found, bits);
        (len, at) = (len + 1, at + bytes);
    }
    pieces[..len].iter().for_each(|&(to, label, bits)| shadow::store(to, label, bits));
}

/// Any other access of `bytes` bytes. It pins the address.
pub extern "C" fn pin_range(site: u64, label: u32, addr: u64, bytes: u64, base: u64, size: u64) {
    if label == 0 {
        return;
    }
    let label = label_of_address(label, addr);
    if let Some(o) = object_of(label, addr, base, size) {
        check_index(site, label, addr, bytes, o);
    }
    pin(site, label, addr);
}

/// The label of `addr`, given the label of an address at a constant distance.
fn label_of_address(label: u32, addr: u64) -> u32 {
    let away = addr.wrapping_sub(node(label).val);
    match away {
        0 => label,
        _ => match binary(Op::Add, 64, label, 0, away, addr) {
            0 => label,
            sum => sum,
        },
    }
}

/// The object of an access at `addr`, which was computed from the pointer `base`. If `size`
/// is not 0, it is the variable of that size at `base`.
fn object_of(label: u32, addr: u64, base: u64, size: u64) -> Option<Object> {
    if size != 0 {
        let constant = find_global(base).is_some_and(|o| o.constant && o.size == size);
        return Some(Object { base, size, constant });
    }
    let around = find(addr);
    let is_part_of = |o: &Object, p: u64| p.wrapping_sub(o.base) <= o.size;
    for pointer in [pointer_in(label), base] {
        if pointer == 0 {
            continue;
        }
        // A pointer to the end of an object belongs to it, too.
        let o = around.filter(|o| is_part_of(o, pointer)).or_else(|| find(pointer));
        if o.is_some() {
            return o;
        }
    }
    around
}

/// The concrete pointer that the expression of an address adds to; 0 if there is none.
fn pointer_in(mut label: u32) -> u64 {
    const STEPS: u32 = 8;
    /// No index is as large, and no object lies below.
    const LOWEST: u64 = 1 << 40;
    for _ in 0..STEPS {
        let n = *node(label);
        if n.width != 64 {
            return 0;
        }
        label = match Op::from_u8(n.op) {
            Some(Op::Add) if n.a == 0 || n.b == 0 => {
                if (LOWEST..ADDR_LIMIT).contains(&n.imm) {
                    return n.imm;
                }
                n.a | n.b
            }
            Some(Op::Add) if node(n.b).val >= LOWEST => n.b,
            Some(Op::Add) => n.a,
            Some(Op::Sub) if n.a != 0 => n.a,
            Some(Op::Ite) if node(n.a).val != 0 => n.b,
            Some(Op::Ite) => n.c,
            _ => return 0,
        };
    }
    0
}

/// Checks that `n` bytes at a labelled address lie in the object:
/// `addr - base <= size - n`.
fn check_index(site: u64, label: u32, addr: u64, n: u64, o: Object) {
    let is = node(label);
    if is.flags & FLAG_CHECKED != 0 || n > o.size || in_token_function() {
        return;
    }
    is.flags |= FLAG_CHECKED;
    let (low, high) = bounds(label);
    if low >= o.base && high >= low && high - o.base <= o.size - n {
        return;
    }
    let offset = binary(Op::Sub, 64, label, 0, o.base, addr.wrapping_sub(o.base));
    let fits = addr.wrapping_sub(o.base) <= o.size - n;
    let most = match size_label(&o) {
        0 => 0,
        size => binary(Op::Sub, 64, size, 0, n, o.size - n),
    };
    let cond = binary(Op::Ule, 1, offset, most, o.size - n, fits.into());
    if offset != 0 && cond != 0 {
        decide(site, cond, Kind::CheckIndex, fits, o.size.min(u32::MAX.into()) as u32);
    }
}

/// Pins an address: the rest of the trace holds for this address only.
pub fn pin(site: u64, label: u32, addr: u64) {
    if in_token_function() {
        return note_examined(label);
    }
    let is = node(label);
    if is.flags & FLAG_PINNED != 0 {
        return;
    }
    is.flags |= FLAG_PINNED;
    count_loss(Loss::Pinned);
    let cond = binary(Op::Eq, 1, label, 0, addr, 1);
    if cond != 0 {
        decide(site, cond, Kind::Pin, true, 0);
    }
}

#[derive(Clone, Copy)]
struct CachedSnapshot {
    base: u64,
    len: u32,
    at: u32,
}

const CACHE_SIZE: usize = 256;
static mut SNAPSHOT_CACHE: [CachedSnapshot; CACHE_SIZE] =
    [CachedSnapshot { base: 0, len: 0, at: 0 }; CACHE_SIZE];

/// A snapshot of the object's bytes as they are now: its offset in the region.
fn snapshot(o: Object) -> Option<u32> {
    let h = header()?;
    // Safety: a race between threads costs a second snapshot at worst.
    let cached = unsafe { &mut *&raw mut SNAPSHOT_CACHE[(o.base >> 4) as usize % CACHE_SIZE] };
    let region = SHM_BASE + h.snaps_off;
    let head = size_of::<Snapshot>() as u64;
    let now = o.base as *const u8;
    if cached.base == o.base && u64::from(cached.len) == o.size {
        let old = (region + u64::from(cached.at) + head) as *const u8;
        // Safety: both ranges are mapped.
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
    // Safety: within the region, as checked above.
    unsafe {
        *((region + at) as *mut Snapshot) =
            Snapshot { base: o.base, len: o.size as u32, reserved: 0 };
        core::ptr::copy_nonoverlapping(now, (region + at + head) as *mut u8, o.size as usize);
    }
    *cached = CachedSnapshot { base: o.base, len: o.size as u32, at: at as u32 };
    Some(at as u32)
}

/// # Safety
/// Both ranges are mapped.
unsafe fn equal(a: *const u8, b: *const u8, n: usize) -> bool {
    // Safety: the caller guarantees it.
    unsafe { core::slice::from_raw_parts(a, n) == core::slice::from_raw_parts(b, n) }
}
