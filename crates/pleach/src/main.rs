//! The command line: a thin shell. Each command is one file under `commands`. It prints
//! results; the libraries do the work.

mod advice;
mod args;
mod commands;
mod compiler;
mod exit;
mod memory;
mod show;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use exit::{Code, Failure};
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    // The compiler takes clang's options, so do not parse them here.
    let mut given = std::env::args_os().skip(1);
    match given.next().as_deref().and_then(|a| a.to_str()) {
        Some("cc") => return compiler::exec("pleach-cc", given),
        Some("c++") => return compiler::exec("pleach-c++", given),
        _ => {}
    }
    // Unhandled, this signal would end the driver without a word when a file may not grow.
    // The programs that it starts do not inherit a handler.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let given: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(advice) = advice::for_libfuzzer_flags(&given) {
        eprintln!("pleach: {advice}");
        return Code::UserError.into();
    }
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            if let Some(advice) = advice_for(&error, &given) {
                eprintln!("pleach: {advice}");
                return Code::UserError.into();
            }
            let _ = error.print();
            if error.kind() == ErrorKind::DisplayVersion {
                println!("{}", compiler::describe());
            }
            if error.kind() == ErrorKind::UnknownArgument && is_separator_missing() {
                eprintln!("\n  tip: the program and its arguments come after --");
            }
            // Help and version are not errors.
            return if error.use_stderr() { Code::UserError } else { Code::Ok }.into();
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

/// Advice for an option that clap does not know.
fn advice_for(error: &clap::Error, given: &[OsString]) -> Option<String> {
    let unknown = error.kind() == ErrorKind::UnknownArgument;
    match error.get(ContextKind::InvalidArg).filter(|_| unknown) {
        Some(ContextValue::String(name)) => advice::for_afl_flag(given, name),
        _ => None,
    }
}

/// True if a command that takes a program was called without `--`.
fn is_separator_missing() -> bool {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let takes_program = [
        "trace", "explain", "cover", "dict", "exec", "run", "compare", "replay", "cmin", "tmin",
        "export", "ci",
    ];
    args.first().and_then(|a| a.to_str()).is_some_and(|a| takes_program.contains(&a))
        && !args.iter().any(|a| a == "--")
}
