//! `longjmp` and its like: the value that `setjmp` returns for the second time
//! keeps its label. The jump leaves it in the result slots under a stamp that
//! fits whichever of `setjmp`'s names was called.

use super::api::V;
use super::define::models;
use crate::symbolic::calls::FROM_JUMP;
use crate::symbolic::tls;

// None of them returns; a type that says so would not fit `models!`.
mod real {
    unsafe extern "C" {
        pub fn longjmp(buffer: u64, value: i32) -> i32;
        pub fn siglongjmp(buffer: u64, value: i32) -> i32;
        pub fn __longjmp_chk(buffer: u64, value: i32) -> i32;
    }
}

/// What the second return of `setjmp` gives: never 0.
fn prepare(value: V) -> i32 {
    if value.eq(V::new(32, 0)).decide() {
        return 1;
    }
    tls::set_result(FROM_JUMP as usize, value.label);
    value.val as i32
}

models! {
    fn longjmp(buffer: u64, value: i32) -> i32 {
        real::longjmp(buffer.pin(), prepare(value))
    }

    fn _longjmp(buffer: u64, value: i32) -> i32 {
        real::longjmp(buffer.pin(), prepare(value))
    }

    fn siglongjmp(buffer: u64, value: i32) -> i32 {
        real::siglongjmp(buffer.pin(), prepare(value))
    }

    fn __longjmp_chk(buffer: u64, value: i32) -> i32 {
        real::__longjmp_chk(buffer.pin(), prepare(value))
    }
}
