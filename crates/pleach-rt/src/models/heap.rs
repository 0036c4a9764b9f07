//! The heap: `malloc` and its relatives, `operator new` and `delete`.
//!
//! These models enter every allocation into the map of heap objects. So a labelled index
//! into it can be checked, and a table in it can be looked up. New memory has no labels,
//! even if the same addresses had some before. A labelled size is pinned; a wrong size
//! shows where the memory is used.
//!
//! These models are hot: without a driver they are the real call and one test.
//!
//! C++'s `operator new` may throw, and an exception cannot pass through Rust. So its models
//! are a few instructions with unwind information around the real function.
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
        let p = add_object(real::malloc(n.val), n.val);
        objects::set_size_label(p, n.label);
        p
    }
    fn calloc(n: u64, size: u64) -> u64 {
        let whole = n.mul(size);
        let (n, size) = (n.pin(), size.pin());
        let p = add_object(real::calloc(n, size), n.wrapping_mul(size));
        objects::set_size_label(p, whole.label);
        p
    }
    fn realloc(p: u64, n: u64) -> u64 {
        n.pin();
        let new = resize_object(p, n.val, |p| real::realloc(p, n.val));
        objects::set_size_label(new, n.label);
        new
    }
    fn reallocarray(p: u64, n: u64, size: u64) -> u64 {
        let (n, size) = (n.pin(), size.pin());
        resize_object(p, n.saturating_mul(size), |p| real::reallocarray(p, n, size))
    }
    fn free(p: u64) {
        let p = p.pin();
        objects::set_heap_object(p, None);
        real::free(p);
    }
    fn cfree(p: u64) {
        let p = p.pin();
        objects::set_heap_object(p, None);
        real::free(p);
    }

    fn aligned_alloc(align: u64, n: u64) -> u64 {
        let (align, n) = (align.pin(), n.pin());
        add_object(real::aligned_alloc(align, n), n)
    }
    fn memalign(align: u64, n: u64) -> u64 {
        let (align, n) = (align.pin(), n.pin());
        add_object(real::memalign(align, n), n)
    }
    fn posix_memalign(place: u64, align: u64, n: u64) -> i32 {
        let (place, align, n) = (place.pin(), align.pin(), n.pin());
        let failed = real::posix_memalign(place, align, n);
        if failed == 0 {
            clear(place, 8);
            add_object(*(place as *const u64), n);
        }
        failed
    }
    fn valloc(n: u64) -> u64 {
        let n = n.pin();
        add_object(real::valloc(n), n)
    }
    fn pvalloc(n: u64) -> u64 {
        let n = n.pin();
        add_object(real::pvalloc(n), n)
    }
    /// After this call the program may use the bytes beyond the size that it asked for.
    fn malloc_usable_size(p: u64) -> u64 {
        let p = p.pin();
        let n = real::malloc_usable_size(p);
        if n != 0 {
            objects::set_heap_object(p, Some(n));
        }
        n
    }
}

/// Adds a new object of `n` bytes, without labels.
#[inline(always)]
fn add_object(p: u64, n: u64) -> u64 {
    if p != 0 && header().is_some() {
        objects::set_heap_object(p, Some(n));
        clear(p, n);
    }
    p
}

/// Resizes an object, which may move it.
///
/// # Safety
/// As `realloc`.
unsafe fn resize_object(p: V, n: u64, real: impl FnOnce(u64) -> u64) -> u64 {
    let p = p.pin();
    if header().is_none() {
        return real(p);
    }
    // Safety: the caller guarantees it: this is an object of the heap.
    let had = unsafe { real::malloc_usable_size(p) };
    let new = real(p);
    if new == 0 {
        // With size 0 the object was freed; otherwise the call failed and it stays.
        if n == 0 {
            objects::set_heap_object(p, None);
        }
        return 0;
    }
    let kept = had.min(n);
    if new != p {
        objects::set_heap_object(p, None);
        copy(new, p, kept);
    }
    objects::set_heap_object(new, Some(n));
    clear(new + kept, n - kept);
    new
}

/// Before `operator new`: pins the size.
extern "C" fn before_new(model: usize, n: u64, _: u64) {
    let [label] = take_arguments(model);
    V::arg(label, 64, n).pin();
}

extern "C" fn after_new(p: u64, n: u64) -> u64 {
    add_object(p, n)
}

extern "C" fn before_delete(model: usize, p: u64, _: u64) {
    let [label] = take_arguments(model);
    objects::set_heap_object(V::arg(label, 64, p).pin(), None);
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

// `operator delete` and `delete[]`: plain, sized, nothrow, aligned, and combinations.
delete! {
    "_ZdlPv" "_ZdaPv"
    "_ZdlPvm" "_ZdaPvm"
    "_ZdlPvRKSt9nothrow_t" "_ZdaPvRKSt9nothrow_t"
    "_ZdlPvSt11align_val_t" "_ZdaPvSt11align_val_t"
    "_ZdlPvmSt11align_val_t" "_ZdaPvmSt11align_val_t"
    "_ZdlPvSt11align_val_tRKSt9nothrow_t" "_ZdaPvSt11align_val_tRKSt9nothrow_t"
}
