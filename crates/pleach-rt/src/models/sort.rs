//! Sorting and searching with the program's own comparison.
//!
//! The comparison may be instrumented and then returns a labelled result; that
//! it was negative, zero or positive is a decision here, as it is a branch in
//! libc. The elements' labels must move with them while the sort is going on,
//! since later comparisons read them. So the sort is done here, and makes the
//! same comparisons in the same order as glibc 2.36: a merge sort that halves
//! (the smaller half first) and takes from the first half where it is not
//! greater; elements above 32 bytes are sorted by pointers and moved at the end.
//! A run without labels calls the real function.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy, is_clean};
use super::define::models;
use super::text::fits;
use crate::start::header;
use crate::symbolic::events::loss;
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
        let (base, n, size) = array(base, n, size);
        if !sort(base, n, size, &compare) {
            real::qsort(base, n, size, compare.function);
        }
    }
    fn qsort_r(base: u64, n: u64, size: u64, compare: u64, arg: u64) {
        let compare = Compare { function: compare.pin(), arg: Some(arg), site: tls().site };
        let (base, n, size) = array(base, n, size);
        if !sort(base, n, size, &compare) {
            real::qsort_r(base, n, size, compare.function, arg.val);
        }
    }
    fn bsearch(key: u64, base: u64, n: u64, size: u64, compare: u64) -> u64 {
        let compare = Compare { function: compare.pin(), arg: None, site: tls().site };
        let (base, n, size) = array(base, n, size);
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
        find(key, array(base, count, size), &compare)
    }
    fn lsearch(key: u64, base: u64, n: u64, size: u64, compare: u64) -> u64 {
        let compare = Compare { function: compare.pin(), arg: None, site: tls().site };
        let place = n.pin();
        let all = array(base, V::load(place, 64), size);
        let found = find(key, all, &compare);
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

/// An array's place, count and element size, all concrete from here on.
fn array(base: V, n: V, size: V) -> (u64, u64, u64) {
    if n.label | size.label != 0 {
        fits(n.mul(size), base.val);
    }
    (base.pin(), n.pin(), size.pin())
}

unsafe fn find(key: V, (base, n, size): (u64, u64, u64), compare: &Compare) -> u64 {
    for i in 0..n {
        let at = base + i * size;
        // Safety: the caller's.
        if unsafe { compare.call(key, V::new(64, at)) }.eq(V::new(32, 0)).decide() {
            return at;
        }
    }
    0
}

/// The program's comparison, with the site that our decisions are made at: the
/// comparison leaves others behind.
struct Compare {
    function: u64,
    arg: Option<V>,
    site: u64,
}

impl Compare {
    /// # Safety
    /// The function is one that compares what is at these addresses.
    unsafe fn call(&self, a: V, b: V) -> V {
        let function = self.function as usize;
        // Safety: the caller's.
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

/// Up to this many bytes glibc sorts on the stack.
const SMALL: u64 = 1024;
/// Larger elements are sorted by pointers.
const LARGE: u64 = 32;

/// Sorts as glibc does; false if the real function must do it.
///
/// # Safety
/// As `qsort`.
unsafe fn sort(base: u64, n: u64, size: u64, compare: &Compare) -> bool {
    if header().is_none() {
        return false;
    }
    let pointers = size > LARGE;
    let need =
        if pointers { n.saturating_mul(16).saturating_add(size) } else { n.saturating_mul(size) };
    let mut on_stack = [0u64; (SMALL / 8) as usize];
    // Safety: the caller's; the memory is ours and as large as glibc's own.
    unsafe {
        let room = if need < SMALL { on_stack.as_mut_ptr() as u64 } else { memory(need) };
        if room == 0 {
            // glibc now sorts in place, in an order of its own.
            if !is_clean(base, n.saturating_mul(size)) {
                loss(Loss::Model);
                clear(base, n * size);
            }
            return false;
        }
        let labelled = !is_clean(base, n * size);
        if pointers {
            by_pointers(base, n, size, room, labelled, compare);
        } else {
            Merge { room, size, labelled, indirect: false, compare }.sort(base, n);
        }
        if labelled {
            clear(room, need);
        }
        if need >= SMALL {
            real::free(room);
        }
    }
    true
}

/// Memory as glibc gets it: not more than a quarter of the machine's.
unsafe fn memory(need: u64) -> u64 {
    const PAGE_SIZE: i32 = 30;
    const PHYS_PAGES: i32 = 85;
    // Safety: asks for two numbers; the allocation is the real function's own.
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
    labelled: bool,
    /// The elements are pointers to what is compared.
    indirect: bool,
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
        // Safety: the halves lie in the array, and the room is as large.
        unsafe {
            self.sort(b1, left);
            self.sort(b2, right);
            while left > 0 && right > 0 {
                let (x, y) = match self.indirect {
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
        // Safety: the caller's.
        unsafe { real::memcpy(to, from, n) };
        if self.labelled {
            copy(to, from, n);
        }
    }
}

/// Sorts pointers to the elements, and then moves each element once: along the
/// cycles of the permutation, one element set aside.
unsafe fn by_pointers(base: u64, n: u64, size: u64, room: u64, labelled: bool, compare: &Compare) {
    let pointers = room + 8 * n;
    let aside = room + 16 * n;
    let pointer = |i: u64| (pointers + 8 * i) as *mut u64;
    // Safety: the room has 16 bytes for each element and one element.
    unsafe {
        (0..n).for_each(|i| *pointer(i) = base + i * size);
        Merge { room, size: 8, labelled: false, indirect: true, compare }.sort(pointers, n);
        let elements = Merge { room, size, labelled, indirect: false, compare };
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
