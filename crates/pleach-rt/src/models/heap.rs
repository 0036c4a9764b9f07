//! The heap: objects begin, end and move.
//!
//! Every allocation that the program makes is entered in the map of heap
//! objects, so that a labelled index into it can be checked and a table built
//! in it can be looked up. Fresh memory has no labels, whatever was in its
//! place before. A labelled size is pinned; what could go wrong with it shows
//! where the memory is used.
//!
//! These are hot. Without a driver they are the call and one test.
//!
//! C++'s `operator new` throws, and an exception cannot pass through Rust: its
//! models are a few instructions with unwind information around the real
//! function.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy};
use super::define::{call_real, jump_to_real, models, wrapper};
use crate::start::header;
use crate::symbolic::objects;
use crate::symbolic::tls::take_arguments;

mod real {
    unsafe extern "C" {
        pub fn malloc(n: u64) -> u64;
        pub fn calloc(n: u64, size: u64) -> u64;
        pub fn realloc(p: u64, n: u64) -> u64;
        pub fn reallocarray(p: u64, n: u64, size: u64) -> u64;
        pub fn free(p: u64);
        pub fn aligned_alloc(align: u64, n: u64) -> u64;
        pub fn memalign(align: u64, n: u64) -> u64;
        pub fn posix_memalign(place: u64, align: u64, n: u64) -> i32;
        pub fn valloc(n: u64) -> u64;
        pub fn pvalloc(n: u64) -> u64;
        pub fn malloc_usable_size(p: u64) -> u64;
    }
}

models! {
    fn malloc(n: u64) -> u64 {
        n.pin();
        let p = fresh(real::malloc(n.val), n.val);
        objects::sized(p, n.label);
        p
    }
    fn calloc(n: u64, size: u64) -> u64 {
        let whole = n.mul(size);
        let (n, size) = (n.pin(), size.pin());
        let p = fresh(real::calloc(n, size), n.wrapping_mul(size));
        objects::sized(p, whole.label);
        p
    }
    fn realloc(p: u64, n: u64) -> u64 {
        n.pin();
        let new = moved(p, n.val, |p| real::realloc(p, n.val));
        objects::sized(new, n.label);
        new
    }
    fn reallocarray(p: u64, n: u64, size: u64) -> u64 {
        let (n, size) = (n.pin(), size.pin());
        moved(p, n.saturating_mul(size), |p| real::reallocarray(p, n, size))
    }
    fn free(p: u64) {
        let p = p.pin();
        objects::heap(p, None);
        real::free(p);
    }
    fn cfree(p: u64) {
        let p = p.pin();
        objects::heap(p, None);
        real::free(p);
    }

    fn aligned_alloc(align: u64, n: u64) -> u64 {
        let (align, n) = (align.pin(), n.pin());
        fresh(real::aligned_alloc(align, n), n)
    }
    fn memalign(align: u64, n: u64) -> u64 {
        let (align, n) = (align.pin(), n.pin());
        fresh(real::memalign(align, n), n)
    }
    fn posix_memalign(place: u64, align: u64, n: u64) -> i32 {
        let (place, align, n) = (place.pin(), align.pin(), n.pin());
        let failed = real::posix_memalign(place, align, n);
        if failed == 0 {
            clear(place, 8);
            fresh(*(place as *const u64), n);
        }
        failed
    }
    fn valloc(n: u64) -> u64 {
        let n = n.pin();
        fresh(real::valloc(n), n)
    }
    fn pvalloc(n: u64) -> u64 {
        let n = n.pin();
        fresh(real::pvalloc(n), n)
    }
    /// What lies behind the size that was asked for is the program's too now.
    fn malloc_usable_size(p: u64) -> u64 {
        let p = p.pin();
        let n = real::malloc_usable_size(p);
        if n != 0 {
            objects::heap(p, Some(n));
        }
        n
    }
}

/// An object of `n` bytes begins.
#[inline(always)]
fn fresh(p: u64, n: u64) -> u64 {
    if p != 0 && header().is_some() {
        objects::heap(p, Some(n));
        clear(p, n);
    }
    p
}

/// An object changes its size, and perhaps its place.
///
/// # Safety
/// As `realloc`.
unsafe fn moved(p: V, n: u64, real: impl FnOnce(u64) -> u64) -> u64 {
    let p = p.pin();
    if header().is_none() {
        return real(p);
    }
    // Safety: the program says that this is an object of the heap.
    let had = unsafe { real::malloc_usable_size(p) };
    let new = real(p);
    if new == 0 {
        // With a size of 0 the object is gone, otherwise it stays.
        if n == 0 {
            objects::heap(p, None);
        }
        return 0;
    }
    let kept = had.min(n);
    if new != p {
        objects::heap(p, None);
        copy(new, p, kept);
    }
    objects::heap(new, Some(n));
    clear(new + kept, n - kept);
    new
}

/// Before `operator new`: the size is pinned.
extern "C" fn before_new(model: usize, n: u64, _: u64) {
    let [label] = take_arguments(model);
    V::arg(label, 64, n).pin();
}

extern "C" fn after_new(p: u64, n: u64) -> u64 {
    fresh(p, n)
}

extern "C" fn before_delete(model: usize, p: u64, _: u64) {
    let [label] = take_arguments(model);
    objects::heap(V::arg(label, 64, p).pin(), None);
}

macro_rules! new {
    ($($name:literal)*) => {$(
        wrapper!($name, before_new, [
            call_real!($name),
            "mov rdi, rax", "mov rsi, [rsp + 16]",
            "call {after}",
            "add rsp, 24", ".cfi_def_cfa_offset 8",
            "ret"
        ], after_new);
    )*};
}

macro_rules! delete {
    ($($name:literal)*) => {$(
        wrapper!($name, before_delete, [
            "add rsp, 24", ".cfi_def_cfa_offset 8",
            jump_to_real!($name)
        ]);
    )*};
}

// `operator new` and `new[]`: plain, nothrow, aligned, both.
new! {
    "_Znwm" "_Znam"
    "_ZnwmRKSt9nothrow_t" "_ZnamRKSt9nothrow_t"
    "_ZnwmSt11align_val_t" "_ZnamSt11align_val_t"
    "_ZnwmSt11align_val_tRKSt9nothrow_t" "_ZnamSt11align_val_tRKSt9nothrow_t"
}

// `operator delete` and `delete[]`: plain, sized, nothrow, aligned, and so on.
delete! {
    "_ZdlPv" "_ZdaPv"
    "_ZdlPvm" "_ZdaPvm"
    "_ZdlPvRKSt9nothrow_t" "_ZdaPvRKSt9nothrow_t"
    "_ZdlPvSt11align_val_t" "_ZdaPvSt11align_val_t"
    "_ZdlPvmSt11align_val_t" "_ZdaPvmSt11align_val_t"
    "_ZdlPvSt11align_val_tRKSt9nothrow_t" "_ZdaPvSt11align_val_tRKSt9nothrow_t"
}
