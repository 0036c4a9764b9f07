//! The command line: a thin shell. Each command is one file under `commands`;
//! what it does is in the libraries, what it prints is there.

mod args;
mod commands;
mod exit;
mod show;

use clap::Parser;
use exit::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The compiler's flags are clang's: nothing of ours may look at them.
    let mut given = std::env::args_os().skip(1);
    match given.next().as_deref().and_then(|a| a.to_str()) {
        Some("cc") => return pleach_cc::main(pleach_cc::Language::C, given),
        Some("c++") => return pleach_cc::main(pleach_cc::Language::Cxx, given),
        _ => {}
    }
    let args = args::Args::parse();
    match commands::run(args.command) {
        Ok(code) => code.into(),
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("pleach: {failure}");
            Failure::code(&failure).into()
        }
    }
}
