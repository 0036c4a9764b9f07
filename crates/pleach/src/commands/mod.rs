//! One file a command.

mod cover;
mod exec;
mod explain;
mod extract;
mod pack;
mod record;
mod sites;
mod solve_trace;
mod trace;
mod z3;

use crate::args::{Command, Run};
use crate::exit::{Code, Failure};
use anyhow::Context;
use pleach_campaign::{Executor, Half, Layout, Output, Target, container};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

pub fn run(command: Command) -> Result<Code, Failure> {
    match command {
        // `main` has passed these on already.
        Command::Cc(_) | Command::Cxx(_) => Ok(Code::Ours),
        Command::Exec(args) => exec::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Trace(args) => trace::run(args),
        Command::SolveTrace(args) => solve_trace::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Cover(args) => cover::run(args),
        Command::Pack(args) => pack::run(args),
        Command::Sites(args) => sites::run(args),
    }
}

/// Reads a file that a person named; `-` is standard input.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes).context("standard input")
    } else {
        std::fs::read(path).with_context(|| path.display().to_string())
    };
    bytes.map_err(Failure::person)
}

/// Reads an input; a container must be whole.
fn read_input(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = read(path)?;
    if container::is_container(&bytes) {
        container::parse(&bytes)
            .with_context(|| path.display().to_string())
            .map_err(Failure::person)?;
    }
    Ok(bytes)
}

/// An executor for the target that a person named.
fn executor(half: Half, run: &Run, input: &Path, output: Output) -> Result<Executor, Failure> {
    let layout = Arc::new(Layout::private(Path::new(&run.program[0]))?);
    let mut target = Target::new(half, run.program.clone());
    target.output = output;
    target.socket = run.socket;
    target.memory_kib = (run.memory > 0).then(|| run.memory.saturating_mul(1024));
    if let Some(extension) = input.extension() {
        target.extension.push(".");
        target.extension.push(extension);
    }
    Ok(Executor::new(layout, target)?)
}
