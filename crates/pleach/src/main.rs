//! The command line: a thin shell. Each command is one file under `commands`;
//! what it does is in the libraries, what it prints is there.

mod advice;
mod args;
mod commands;
mod exit;
mod show;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use exit::{Code, Failure};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The compiler's flags are clang's: nothing of ours may look at them.
    let mut given = std::env::args_os().skip(1);
    match given.next().as_deref().and_then(|a| a.to_str()) {
        Some("cc") => return pleach_cc::main(pleach_cc::Language::C, given),
        Some("c++") => return pleach_cc::main(pleach_cc::Language::Cxx, given),
        _ => {}
    }
    let given: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(advice) = advice::of_command_line(&given) {
        eprintln!("pleach: {advice}");
        return Code::Person.into();
    }
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            if let Some(advice) = advice_for(&error, &given) {
                eprintln!("pleach: {advice}");
                return Code::Person.into();
            }
            let _ = error.print();
            if error.kind() == ErrorKind::UnknownArgument && separator_is_missing() {
                eprintln!("\n  tip: the program and its arguments come after --");
            }
            // Help and the version are no errors.
            return if error.use_stderr() { Code::Person } else { Code::Ok }.into();
        }
    };
    match commands::run(args.command) {
        Ok(code) => code.into(),
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("pleach: {failure}");
            Failure::code(&failure).into()
        }
    }
}

/// The advice for an option that clap does not know.
fn advice_for(error: &clap::Error, given: &[OsString]) -> Option<String> {
    let unknown = error.kind() == ErrorKind::UnknownArgument;
    match error.get(ContextKind::InvalidArg).filter(|_| unknown) {
        Some(ContextValue::String(name)) => advice::of_afl(given, name),
        _ => None,
    }
}

/// Whether a command that takes a program was given none in the proper place.
fn separator_is_missing() -> bool {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let takes_program =
        ["trace", "explain", "cover", "exec", "run", "compare", "replay", "cmin", "tmin"];
    args.first().and_then(|a| a.to_str()).is_some_and(|a| takes_program.contains(&a))
        && !args.iter().any(|a| a == "--")
}
