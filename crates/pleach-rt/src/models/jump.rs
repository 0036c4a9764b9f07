//! `longjmp` and its like: the second result of `setjmp` keeps its label. The jump leaves
//! the label in the result slots, with a stamp that matches every name of `setjmp`.

use super::api::V;
use super::define::models;
use crate::symbolic::calls::FROM_JUMP;
use crate::symbolic::tls;

// They never return, but `models!` does not support the type `!`.
mod real {
    unsafe extern "C" {
        pub fn longjmp(buffer: u64, value: i32) -> i32;
        pub fn siglongjmp(buffer: u64, value: i32) -> i32;
        pub fn __longjmp_chk(buffer: u64, value: i32) -> i32;
    }
}

/// The second result of `setjmp`, which is never 0.
fn prepare_result(value: V) -> i32 {
    if value.eq(V::new(32, 0)).decide() {
        return 1;
    }
    tls::set_result(FROM_JUMP as usize, value.label);
    value.val as i32
}

models! {
    fn longjmp(buffer: u64, value: i32) -> i32 {
        real::longjmp(buffer.pin(), prepare_result(value))
    }

    fn _longjmp(buffer: u64, value: i32) -> i32 {
        real::longjmp(buffer.pin(), prepare_result(value))
    }

    fn siglongjmp(buffer: u64, value: i32) -> i32 {
        real::siglongjmp(buffer.pin(), prepare_result(value))
    }

    fn __longjmp_chk(buffer: u64, value: i32) -> i32 {
        real::__longjmp_chk(buffer.pin(), prepare_result(value))
    }
}
