//! Threads. Labels in memory need nothing. The argument of a new thread and its result pass
//! through libc, which keeps no labels: a function of the runtime begins the thread, passes the
//! label of the argument to the program's function, and keeps that of the result.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::define::models;
use crate::symbolic::events::count_loss;
use crate::symbolic::is_labelling;
use crate::symbolic::tls::{set_arguments, take_result};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn pthread_create(thread: u64, attributes: u64, start: u64, arg: u64) -> i32;
        pub fn pthread_join(thread: u64, result: u64) -> i32;
        pub fn pthread_exit(result: u64);
        pub fn pthread_self() -> u64;
        pub fn thrd_create(thread: u64, start: u64, arg: u64) -> i32;
        pub fn thrd_join(thread: u64, result: u64) -> i32;
        pub fn malloc(n: u64) -> u64;
        pub fn free(p: u64);
    }
}

models! {
    fn pthread_create(thread: u64, attributes: u64, start: u64, arg: u64) -> i32 {
        let (thread, attributes) = (thread.pin(), attributes.pin());
        start_thread(start, arg, begin as *const () as u64, |start, arg| {
            real::pthread_create(thread, attributes, start, arg)
        })
    }
    fn thrd_create(thread: u64, start: u64, arg: u64) -> i32 {
        let thread = thread.pin();
        start_thread(start, arg, begin_standard as *const () as u64, |start, arg| {
            real::thrd_create(thread, start, arg)
        })
    }
    fn pthread_join(thread: u64, result: u64) -> i32 {
        let (thread, result) = (thread.pin(), result.pin());
        let out = real::pthread_join(thread, result);
        if out == 0 {
            label_result(thread, result, 64);
        }
        out
    }
    fn thrd_join(thread: u64, result: u64) -> i32 {
        let (thread, result) = (thread.pin(), result.pin());
        let out = real::thrd_join(thread, result);
        if out == 0 {
            label_result(thread, result, 32);
        }
        out
    }
    fn pthread_exit(result: u64) {
        keep_result(result.label);
        real::pthread_exit(result.val)
    }
}

/// What a thread begins with.
struct Begin {
    start: u64,
    arg: u64,
    label: u32,
}

/// Starts a thread, with `begin` if its argument is labelled or its result may be.
fn start_thread(start: V, arg: V, begin: u64, real: impl FnOnce(u64, u64) -> i32) -> i32 {
    let start = start.pin();
    if !is_labelling() {
        return real(start, arg.val);
    }
    // Safety: new memory of that size; `begin` frees it.
    let place = unsafe { real::malloc(size_of::<Begin>() as u64) } as *mut Begin;
    if place.is_null() {
        return real(start, arg.pin());
    }
    unsafe { place.write(Begin { start, arg: arg.val, label: arg.label }) };
    let out = real(begin, place as u64);
    if out != 0 {
        unsafe { real::free(place as u64) };
    }
    out
}

/// The first function of a thread: passes on the label of its argument.
///
/// # Safety
/// `place` comes from `start_thread`.
unsafe fn pass_argument(place: *mut Begin) -> (u64, u64) {
    // Safety: the caller guarantees it.
    let Begin { start, arg, label } = unsafe { place.read() };
    unsafe { real::free(place as u64) };
    set_arguments(start as usize, &[label]);
    (start, arg)
}

unsafe extern "C" fn begin(place: *mut Begin) -> u64 {
    // Safety: as above; the program's function has this type.
    unsafe {
        let (start, arg) = pass_argument(place);
        let function: unsafe extern "C" fn(u64) -> u64 = core::mem::transmute(start);
        let result = function(arg);
        keep_result(take_result(start as usize));
        result
    }
}

unsafe extern "C" fn begin_standard(place: *mut Begin) -> i32 {
    // Safety: as above.
    unsafe {
        let (start, arg) = pass_argument(place);
        let function: unsafe extern "C" fn(u64) -> i32 = core::mem::transmute(start);
        let result = function(arg);
        keep_result(take_result(start as usize));
        result
    }
}

const MAX_RESULTS: usize = 64;
/// Threads that have ended with a labelled result.
static RESULTS: [(AtomicU64, AtomicU32); MAX_RESULTS] =
    [const { (AtomicU64::new(0), AtomicU32::new(0)) }; MAX_RESULTS];

/// Keeps the label of the result of this thread.
fn keep_result(label: u32) {
    if label == 0 {
        return;
    }
    // Safety: has no preconditions.
    let me = unsafe { real::pthread_self() };
    let free = |r: &&(AtomicU64, AtomicU32)| {
        r.0.compare_exchange(0, me, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    match RESULTS.iter().find(free) {
        Some(place) => place.1.store(label, Ordering::Release),
        None => count_loss(Loss::Model),
    }
}

/// Labels the result of a thread that was joined.
fn label_result(thread: u64, at: u64, bits: u32) {
    if at != 0 {
        clear(at, (bits / 8).into());
    }
    let Some(place) = RESULTS.iter().find(|r| r.0.load(Ordering::Acquire) == thread) else {
        return;
    };
    let label = place.1.swap(0, Ordering::AcqRel);
    place.0.store(0, Ordering::Release);
    if at != 0 {
        V::arg(label, bits, 0).store_label(at);
    }
}
