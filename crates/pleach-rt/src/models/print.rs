//! `printf` and its relatives. The real function prints. If its text may be read back, the text
//! is also made in memory, with its labels (`format`), and goes to the channel of the stream.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::define::{assembly_model, models};
use super::file::File;
use super::format::{Call, Passed, take_variadic, variadic};
use super::output::stdout;
use super::stream_way::Sink;
use super::va_list::VaList;

mod real {
    unsafe extern "C" {
        pub fn malloc(n: u64) -> u64;
        pub fn free(p: u64);
        pub fn vsnprintf(to: u64, n: u64, format: u64, args: u64) -> i32;
        pub fn vfprintf(fp: u64, format: u64, args: u64) -> i32;
        pub fn vdprintf(fd: i32, format: u64, args: u64) -> i32;
        pub fn __vfprintf_chk(fp: u64, flag: i32, format: u64, args: u64) -> i32;
        pub fn __vdprintf_chk(fd: i32, flag: i32, format: u64, args: u64) -> i32;
    }
}

models! {
    fn vprintf(format: u64, args: u64) -> i32 {
        let list = args.pin();
        print_stream(V::new(64, stdout()), format, list, |fp, l| real::vfprintf(fp, format.val, l))
    }
    fn vfprintf(fp: u64, format: u64, args: u64) -> i32 {
        let list = args.pin();
        print_stream(fp, format, list, |fp, l| real::vfprintf(fp, format.val, l))
    }
    fn vdprintf(fd: i32, format: u64, args: u64) -> i32 {
        let list = args.pin();
        print_descriptor(fd, format, list, |fd, l| real::vdprintf(fd, format.val, l))
    }
    fn __vprintf_chk(flag: i32, format: u64, args: u64) -> i32 {
        let list = args.pin();
        print_stream(V::new(64, stdout()), format, list, |fp, l| {
            real::__vfprintf_chk(fp, flag.val as i32, format.val, l)
        })
    }
    fn __vfprintf_chk(fp: u64, flag: i32, format: u64, args: u64) -> i32 {
        let list = args.pin();
        print_stream(fp, format, list, |fp, l| {
            real::__vfprintf_chk(fp, flag.val as i32, format.val, l)
        })
    }
    fn __vdprintf_chk(fd: i32, flag: i32, format: u64, args: u64) -> i32 {
        let list = args.pin();
        print_descriptor(fd, format, list, |fd, l| {
            real::__vdprintf_chk(fd, flag.val as i32, format.val, l)
        })
    }
}

variadic!("printf", 8, "rsi", printf);
variadic!("fprintf", 16, "rdx", fprintf);
variadic!("dprintf", 16, "rdx", dprintf);
variadic!("__printf_chk", 16, "rdx", printf_chk);
variadic!("__fprintf_chk", 24, "rcx", fprintf_chk);
variadic!("__dprintf_chk", 24, "rcx", dprintf_chk);

unsafe extern "C" fn printf(format: u64, passed: *const Passed) -> i32 {
    // Safety: the list comes from `variadic!`; the rest is the caller's. So it is below.
    unsafe {
        let ([format], list) = take_variadic(passed, [format]);
        print_stream(V::new(64, stdout()), format, list, |fp, l| real::vfprintf(fp, format.val, l))
    }
}

unsafe extern "C" fn fprintf(fp: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: as above.
    unsafe {
        let ([fp, format], list) = take_variadic(passed, [fp, format]);
        print_stream(fp, format, list, |fp, l| real::vfprintf(fp, format.val, l))
    }
}

unsafe extern "C" fn dprintf(fd: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: as above.
    unsafe {
        let ([fd, format], list) = take_variadic(passed, [fd, format]);
        print_descriptor(fd, format, list, |fd, l| real::vdprintf(fd, format.val, l))
    }
}

unsafe extern "C" fn printf_chk(flag: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: as above.
    unsafe {
        let ([_, format], list) = take_variadic(passed, [flag, format]);
        print_stream(V::new(64, stdout()), format, list, |fp, l| {
            real::__vfprintf_chk(fp, flag as i32, format.val, l)
        })
    }
}

unsafe extern "C" fn fprintf_chk(fp: u64, flag: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: as above.
    unsafe {
        let ([fp, _, format], list) = take_variadic(passed, [fp, flag, format]);
        print_stream(fp, format, list, |fp, l| real::__vfprintf_chk(fp, flag as i32, format.val, l))
    }
}

unsafe extern "C" fn dprintf_chk(fd: u64, flag: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: as above.
    unsafe {
        let ([fd, _, format], list) = take_variadic(passed, [fd, flag, format]);
        print_descriptor(fd, format, list, |fd, l| {
            real::__vdprintf_chk(fd, flag as i32, format.val, l)
        })
    }
}

/// # Safety
/// As `vfprintf`.
unsafe fn print_stream(fp: V, format: V, args: u64, real: impl FnOnce(u64, u64) -> i32) -> i32 {
    let Some(mut sink) = Sink::of(File(fp.val)) else { return real(fp.val, args) };
    fp.pin();
    // Safety: the caller guarantees it.
    unsafe { print_to(&mut sink, format, args, |list| real(fp.val, list)) }
}

/// # Safety
/// As `vdprintf`.
unsafe fn print_descriptor(fd: V, format: V, args: u64, real: impl FnOnce(i32, u64) -> i32) -> i32 {
    let Some(mut sink) = Sink::of_descriptor(fd.val as i32) else {
        return real(fd.val as i32, args);
    };
    fd.pin();
    // Safety: the caller guarantees it.
    unsafe { print_to(&mut sink, format, args, |list| real(fd.val as i32, list)) }
}

/// # Safety
/// As `vsnprintf`.
unsafe fn print_to(sink: &mut Sink, format: V, args: u64, real: impl FnOnce(u64) -> i32) -> i32 {
    // Safety: the caller guarantees it. Each call gets a list of its own.
    unsafe {
        let mut list = *(args as *const VaList);
        let n = real::vsnprintf(0, 0, format.val, &raw mut list as u64);
        let to = if n < 0 { 0 } else { real::malloc(n as u64 + 1) };
        if to == 0 {
            sink.lose();
            return real(args);
        }
        let room = V::new(64, n as u64 + 1);
        let mut list = *(args as *const VaList);
        let call = Call::of(V::new(64, to), Some(room), format, &raw mut list as u64);
        let mut is_lost = false;
        let size = call
            .print_or(|list| real::vsnprintf(to, room.val, format.val, list), || is_lost = true);
        let out = real(args);
        if is_lost {
            sink.lose();
        }
        if out == n {
            sink.put(to, size.zext(64));
        }
        clear(to, room.val);
        real::free(to);
        out
    }
}
