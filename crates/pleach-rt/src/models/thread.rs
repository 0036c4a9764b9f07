//! Threads: a label does not pass to the new thread. So a labelled argument is pinned, and
//! what the thread does with it holds for the whole path.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::define::models;

mod real {
    unsafe extern "C" {
        pub fn pthread_create(thread: u64, attributes: u64, start: u64, arg: u64) -> i32;
        pub fn thrd_create(thread: u64, start: u64, arg: u64) -> i32;
    }
}

models! {
    fn pthread_create(thread: u64, attributes: u64, start: u64, arg: u64) -> i32 {
        real::pthread_create(thread.pin(), attributes.pin(), start.pin(), arg.pin())
    }
    fn thrd_create(thread: u64, start: u64, arg: u64) -> i32 {
        real::thrd_create(thread.pin(), start.pin(), arg.pin())
    }
}
