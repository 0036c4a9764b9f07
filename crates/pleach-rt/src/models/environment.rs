//! Variables of the environment that the program sets: libc copies the value, and the copy gets
//! its labels. Variables that are input are labelled in place.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{clear, copy, is_clean};
use super::define::models;
use super::text::length;
use crate::symbolic::events::count_loss;
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn setenv(name: u64, value: u64, overwrite: i32) -> i32;
        pub fn getenv(name: u64) -> u64;
        pub fn strlen(s: u64) -> u64;
    }
}

models! {
    fn setenv(name: u64, value: u64, overwrite: i32) -> i32 {
        let (name, from, overwrite) = (name.pin(), value.pin(), overwrite.pin() as i32);
        let n = if from == 0 { 0 } else { length(from) };
        let was_set = name != 0 && real::getenv(name) != 0;
        let out = real::setenv(name, from, overwrite);
        if out == 0 && (overwrite != 0 || !was_set) {
            if !is_clean(name, real::strlen(name)) {
                count_loss(Loss::Model);
            }
            let place = real::getenv(name);
            clear(place, n + 1);
            copy(place, from, n);
        }
        out
    }
}
