//! `pleach-cc`, for `CC=pleach-cc` in build systems that need a single word.
//! Under a name that ends in `++`, such as the link `pleach-c++`, it is a C++
//! compiler. (Cargo cannot build a program of that name.)

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use pleach_cc::Language;

/// For `./x install`: writes the runtime and the headers into a directory.
const WRITE_RUNTIME: &str = "-fpleach-write-runtime=";

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    let language = if name.as_bytes().ends_with(b"++") { Language::Cxx } else { Language::C };
    let mut args = args.peekable();
    let dir = args.peek().and_then(|a| a.to_str()?.strip_prefix(WRITE_RUNTIME));
    match dir.map(|dir| pleach_cc::write_runtime(Path::new(dir))) {
        None => pleach_cc::main(language, args),
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(error)) => {
            eprintln!("pleach-cc: error: {error}");
            ExitCode::from(2)
        }
    }
}
