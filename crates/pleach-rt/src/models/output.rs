//! Output: printing, writing, sending, the exit status.
//!
//! What the program prints has no effect on its later decisions. So these models drop the
//! labels of their arguments, without counting a loss, and continue in the real function.
//! The result of `write` and its like is the size argument with its label: the test
//! `write(1, p, n) != n` must not fix the length of the input.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::V;
use super::define::{assembly_model, drop_argument_labels, jump_to_real, models};
use super::text::check_fits;

mod real {
    unsafe extern "C" {
        pub fn write(fd: i32, from: u64, n: u64) -> i64;
        pub fn send(fd: i32, from: u64, n: u64, flags: i32) -> i64;
        pub fn fwrite(from: u64, size: u64, n: u64, fp: u64) -> u64;
        pub fn fwrite_unlocked(from: u64, size: u64, n: u64, fp: u64) -> u64;
    }
}

models! {
    fn write(fd: i32, from: u64, n: u64) -> i64 {
        check_fits(n, from.val);
        written(n, real::write(fd.val as i32, from.val, n.val) as u64)
    }
    fn send(fd: i32, from: u64, n: u64, flags: i32) -> i64 {
        check_fits(n, from.val);
        written(n, real::send(fd.val as i32, from.val, n.val, flags.val as i32) as u64)
    }
    fn fwrite(from: u64, size: u64, n: u64, fp: u64) -> u64 {
        check_fits(size.mul(n), from.val);
        written(n, real::fwrite(from.val, size.val, n.val, fp.val))
    }
    fn fwrite_unlocked(from: u64, size: u64, n: u64, fp: u64) -> u64 {
        check_fits(size.mul(n), from.val);
        written(n, real::fwrite_unlocked(from.val, size.val, n.val, fp.val))
    }
}

/// The result of a write: `n` with its label, or a smaller number from the system.
fn written(n: V, got: u64) -> V {
    if got == n.val { n } else { V::new(64, got) }
}

/// Models that only drop the labels of their arguments.
macro_rules! without_labels {
    ($($name:literal)*) => {$(
        assembly_model!($name, [drop_argument_labels!(), jump_to_real!($name)]);
    )*};
}

without_labels! {
    "puts" "fputs" "fputs_unlocked" "perror"
    "putchar" "putchar_unlocked" "putc" "putc_unlocked" "fputc" "fputc_unlocked" "_IO_putc"
    "__overflow" "putw" "fflush"
    "printf" "fprintf" "dprintf" "vprintf" "vfprintf" "vdprintf"
    "__printf_chk" "__fprintf_chk" "__dprintf_chk"
    "__vprintf_chk" "__vfprintf_chk" "__vdprintf_chk"
    "fputwc" "putwc" "putwchar" "fputws" "wprintf" "fwprintf" "vwprintf" "vfwprintf"
    "pwrite" "pwrite64" "writev" "sendto" "sendmsg"
    "syslog" "vsyslog" "__syslog_chk"
    "err" "errx" "warn" "warnx" "verr" "verrx" "vwarn" "vwarnx" "error"
    "exit" "_exit" "_Exit" "quick_exit"
}
