//! `pleach-cc`, for `CC=pleach-cc` in build systems that need a single word.
//! Under a name that ends in `++`, such as the link `pleach-c++`, it is a C++
//! compiler. (Cargo cannot build a program of that name.)

use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use pleach_cc::Language;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    let language = if name.as_bytes().ends_with(b"++") { Language::Cxx } else { Language::C };
    pleach_cc::main(language, args)
}
