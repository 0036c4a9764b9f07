//! Sorting and searching with the program's own comparison: `qsort`, `bsearch` and their
//! relatives.
//!
//! If the comparison is instrumented, its result may have a label. Its sign is a decision
//! here, as it is a branch in libc. Elements must take their labels along during the sort,
//! since later comparisons read them. So the model sorts itself, with the same comparisons
//! in the same order as glibc 2.36. That is a merge sort: it halves the array (the smaller
//! half first), and takes from the first half unless that element is greater. Elements of
//! more than 32 bytes are sorted by pointers and moved at the end. Without a trace the
//! model calls the real function.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy, is_clean};
use super::define::models;
use super::text::check_fits;
use crate::start::header;
use crate::symbolic::events::count_loss;
use crate::symbolic::tls::{set_arguments, take_result, tls};
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn qsort(base: u64, n: u64, size: u64, compare: u64);
        pub fn qsort_r(base: u64, n: u64, size: u64, compare: u64, arg: u64);
        pub fn memcpy(dst: u64, src: u64, n: u64) -> u64;
        pub fn malloc(n: u64) -> u64;
        pub fn free(p: u64);
        pub fn sysconf(name: i32) -> i64;
    }
}

models! {
    fn qsort(base: u64, n: u64, size: u64, compare: u64) {
        let compare = Compare { function: compare.pin(), arg: None, site: tls().site };
        let (base, n, size) = pin_array(base, n, size);
        if !sort(base, n, size, &compare) {
            real::qsort(base, n, size, compare.function);
        }
    }
    fn qsort_r(base: u64, n: u64, size: u64, compare: u64, arg: u64) {
        let compare = Compare { function: compare.pin(), arg: Some(arg), site: tls().site };
        let (base, n, size) = pin_array(base, n, size);
        if !sort(base, n, size, &compare) {
            real::qsort_r(base, n, size, compare.function, arg.val);
        }
    }
    fn bsearch(key: u64, base: u64, n: u64, size: u64, compare: u64) -> u64 {
        let compare = Compare { function: compare.pin(), arg: None, site: tls().site };
        let (base, n, size) = pin_array(base, n, size);
        let (mut low, mut high) = (0, n);
        while low < high {
            let middle = (low + high) / 2;
            let at = base + middle * size;
            let order = compare.call(key, V::new(64, at));
            if order.slt(V::new(32, 0)).decide() {
                high = middle;
            } else if order.ne(V::new(32, 0)).decide() {
                low = middle + 1;
            } else {
                return at;
            }
        }
        0
    }
    fn lfind(key: u64, base: u64, n: u64, size: u64, compare: u64) -> u64 {
        let compare = Compare { function: compare.pin(), arg: None, site: tls().site };
        let count = V::load(n.pin(), 64);
        find_linear(key, pin_array(base, count, size), &compare)
    }
    fn lsearch(key: u64, base: u64, n: u64, size: u64, compare: u64) -> u64 {
        let compare = Compare { function: compare.pin(), arg: None, site: tls().site };
        let place = n.pin();
        let all = pin_array(base, V::load(place, 64), size);
        let found = find_linear(key, all, &compare);
        if found != 0 {
            return found;
        }
        let (base, count, size) = all;
        let end = base + count * size;
        real::memcpy(end, key.pin(), size);
        copy(end, key.val, size);
        V::new(64, count + 1).store(place);
        end
    }
}

/// Pins the address, the count and the element size of an array.
fn pin_array(base: V, n: V, size: V) -> (u64, u64, u64) {
    if n.label | size.label != 0 {
        check_fits(n.mul(size), base.val);
    }
    (base.pin(), n.pin(), size.pin())
}

/// Linear search.
///
/// # Safety
/// The array exists, and `compare` compares its elements.
unsafe fn find_linear(key: V, (base, n, size): (u64, u64, u64), compare: &Compare) -> u64 {
    for i in 0..n {
        let at = base + i * size;
        // Safety: the caller guarantees it.
        if unsafe { compare.call(key, V::new(64, at)) }.eq(V::new(32, 0)).decide() {
            return at;
        }
    }
    0
}

/// The program's comparison, and the site of the decisions on its result. (The comparison
/// itself overwrites the site of the thread.)
struct Compare {
    function: u64,
    arg: Option<V>,
    site: u64,
}

impl Compare {
    /// # Safety
    /// The function compares elements at these addresses.
    unsafe fn call(&self, a: V, b: V) -> V {
        let function = self.function as usize;
        // Safety: the caller guarantees it.
        let order = unsafe {
            match self.arg {
                None => {
                    set_arguments(function, &[a.label, b.label]);
                    let f: extern "C" fn(u64, u64) -> i32 = core::mem::transmute(function);
                    f(a.val, b.val)
                }
                Some(arg) => {
                    set_arguments(function, &[a.label, b.label, arg.label]);
                    let f: extern "C" fn(u64, u64, u64) -> i32 = core::mem::transmute(function);
                    f(a.val, b.val, arg.val)
                }
            }
        };
        let label = take_result(function);
        let t = tls();
        (t.site, t.arg_stamp) = (self.site, 0);
        V::arg(label, 32, order as u64)
    }
}

/// glibc sorts fewer bytes than this on the stack.
const MAX_STACK_SIZE: u64 = 1024;
/// Larger elements are sorted by pointers.
const MAX_DIRECT_SIZE: u64 = 32;

/// Sorts as glibc does; false if the real function must do it.
///
/// # Safety
/// As `qsort`.
unsafe fn sort(base: u64, n: u64, size: u64, compare: &Compare) -> bool {
    if header().is_none() {
        return false;
    }
    let pointers = size > MAX_DIRECT_SIZE;
    let need =
        if pointers { n.saturating_mul(16).saturating_add(size) } else { n.saturating_mul(size) };
    let mut on_stack = [0u64; (MAX_STACK_SIZE / 8) as usize];
    // Safety: the caller guarantees it; the buffer is as large as glibc's.
    unsafe {
        let room =
            if need < MAX_STACK_SIZE { on_stack.as_mut_ptr() as u64 } else { allocate(need) };
        if room == 0 {
            // Now glibc sorts in place, with other comparisons.
            if !is_clean(base, n.saturating_mul(size)) {
                count_loss(Loss::Model);
                clear(base, n * size);
            }
            return false;
        }
        let is_labelled = !is_clean(base, n * size);
        if pointers {
            sort_by_pointers(base, n, size, room, is_labelled, compare);
        } else {
            Merge { room, size, is_labelled, is_indirect: false, compare }.sort(base, n);
        }
        if is_labelled {
            clear(room, need);
        }
        if need >= MAX_STACK_SIZE {
            real::free(room);
        }
    }
    true
}

/// Allocates as glibc does: at most a quarter of the physical memory, otherwise 0.
unsafe fn allocate(need: u64) -> u64 {
    const PAGE_SIZE: i32 = 30;
    const PHYS_PAGES: i32 = 85;
    // Safety: `sysconf` and `malloc` have no requirements.
    unsafe {
        let pages = real::sysconf(PHYS_PAGES);
        let quarter = if pages == -1 { i64::MAX } else { pages } as u64 / 4;
        let page = real::sysconf(PAGE_SIZE).max(1) as u64;
        if need / page > quarter { 0 } else { real::malloc(need) }
    }
}

struct Merge<'a> {
    /// Room for all elements.
    room: u64,
    size: u64,
    is_labelled: bool,
    /// The elements are pointers to the data that is compared.
    is_indirect: bool,
    compare: &'a Compare,
}

impl Merge<'_> {
    unsafe fn sort(&self, b: u64, n: u64) {
        if n <= 1 {
            return;
        }
        let (mut left, mut right) = (n / 2, n - n / 2);
        let (mut b1, mut b2) = (b, b + left * self.size);
        let mut to = self.room;
        // Safety: the halves lie in the array, and `room` is as large.
        unsafe {
            self.sort(b1, left);
            self.sort(b2, right);
            while left > 0 && right > 0 {
                let (x, y) = match self.is_indirect {
                    true => (*(b1 as *const u64), *(b2 as *const u64)),
                    false => (b1, b2),
                };
                let order = self.compare.call(V::new(64, x), V::new(64, y));
                if order.sle(V::new(32, 0)).decide() {
                    self.put(to, b1, self.size);
                    (b1, left) = (b1 + self.size, left - 1);
                } else {
                    self.put(to, b2, self.size);
                    (b2, right) = (b2 + self.size, right - 1);
                }
                to += self.size;
            }
            if left > 0 {
                self.put(to, b1, left * self.size);
            }
            self.put(b, self.room, (n - right) * self.size);
        }
    }

    unsafe fn put(&self, to: u64, from: u64, n: u64) {
        // Safety: the caller guarantees it.
        unsafe { real::memcpy(to, from, n) };
        if self.is_labelled {
            copy(to, from, n);
        }
    }
}

/// Sorts pointers to the elements. Then moves each element once, along the cycles of the
/// permutation; one element of each cycle is set aside.
unsafe fn sort_by_pointers(
    base: u64,
    n: u64,
    size: u64,
    room: u64,
    is_labelled: bool,
    compare: &Compare,
) {
    let pointers = room + 8 * n;
    let aside = room + 16 * n;
    let pointer = |i: u64| (pointers + 8 * i) as *mut u64;
    // Safety: the room has 16 bytes for each element and one element.
    unsafe {
        (0..n).for_each(|i| *pointer(i) = base + i * size);
        Merge { room, size: 8, is_labelled: false, is_indirect: true, compare }.sort(pointers, n);
        let elements = Merge { room, size, is_labelled, is_indirect: false, compare };
        for first in 0..n {
            if *pointer(first) == base + first * size {
                continue;
            }
            elements.put(aside, base + first * size, size);
            let mut hole = first;
            loop {
                let from = *pointer(hole);
                *pointer(hole) = base + hole * size;
                let next = (from - base) / size;
                if next == first {
                    break;
                }
                elements.put(base + hole * size, from, size);
                hole = next;
            }
            elements.put(base + hole * size, aside, size);
        }
    }
}
