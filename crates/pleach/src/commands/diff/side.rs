//! One of the two builds: how it is run, and what it answers.

use super::Diff;
use super::path::Path as Taken;
use crate::commands::{extension, resolve_path};
use crate::exit::Failure;
use anyhow::Context;
use pleach_exec::plain::Plain;
use pleach_exec::{
    End, Executor, Half, Image, ImageError, Layout, Outcome, Output, TargetOptions, WorkDir,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A run that writes more than this is ended.
const MAX_OUTPUT: u64 = 16 << 20;

pub struct Side {
    runner: Runner,
    timeout: Duration,
}

enum Runner {
    Pleach(Box<Executor>),
    /// A program without Pleach: it has no path.
    Plain(Box<Plain>),
}

/// What a build does with an input.
pub struct Answer {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub path: Option<Taken>,
}

impl Side {
    /// `name` is what the program is told that it is called. `first`: the first input, for the
    /// extension of its name.
    pub fn open(args: &Diff, program: &Path, name: &OsStr, first: &Path) -> Result<Side, Failure> {
        let workdir = args.cwd.as_deref();
        let own = [name.to_os_string()].into_iter();
        let given = args.args.iter().map(|arg| resolve_path(arg, workdir));
        let mut target = TargetOptions::new(Half::Fast, own.chain(given).collect());
        target.output = Output::Capture { limit: MAX_OUTPUT };
        target.memory_kib = (args.memory > 0).then(|| args.memory.saturating_mul(1024));
        target.scratch = true;
        target.workdir = workdir.map(WorkDir::read).transpose().map_err(Failure::user_error)?;
        target.extension = extension(first).unwrap_or_default();
        let runner = match Image::open(program) {
            Ok(_) => {
                let layout = Arc::new(Layout::private(program)?);
                Runner::Pleach(Box::new(Executor::new(layout, target)?))
            }
            Err(ImageError::NotOurs { .. } | ImageError::Static { .. }) => plain(program, target)?,
            Err(ImageError::Script { .. }) => plain(program, target)?,
            Err(error) => return Err(error.into()),
        };
        Ok(Side { runner, timeout: Duration::from_millis(args.timeout) })
    }

    pub fn layout(&self) -> Option<&Layout> {
        match &self.runner {
            Runner::Pleach(executor) => Some(executor.layout()),
            Runner::Plain(_) => None,
        }
    }

    /// Runs an input, for as long as the user allows, or less.
    pub fn run(&mut self, input: &[u8], limit: Duration) -> Result<Answer, Failure> {
        let timeout = limit.min(self.timeout);
        let (outcome, path, file) = match &mut self.runner {
            Runner::Pleach(executor) => {
                let outcome = executor.run_fresh(input, timeout)?;
                let path = Taken::new(executor.layout(), &executor.counters());
                (outcome, Some(path), executor.input_path().to_path_buf())
            }
            Runner::Plain(plain) => {
                let outcome = plain.run(input, timeout)?;
                (outcome, None, plain.input_path().to_path_buf())
            }
        };
        let Outcome { end, stdout, stderr, .. } = outcome;
        // Each build has an input file of its own.
        let file = file.as_os_str().as_bytes();
        let (stdout, stderr) = (without_name(stdout, file), without_name(stderr, file));
        Ok(Answer { end, stdout, stderr, path })
    }
}

fn plain(program: &Path, target: TargetOptions) -> Result<Runner, Failure> {
    let program = program.canonicalize().with_context(|| program.display().to_string());
    let program = program.map_err(Failure::user_error)?;
    Ok(Runner::Plain(Box::new(Plain::new(program, target, MAX_OUTPUT)?)))
}

/// Replaces the name of the input file by `@@`.
fn without_name(text: Vec<u8>, name: &[u8]) -> Vec<u8> {
    if text.len() < name.len() || !text.windows(name.len()).any(|w| w == name) {
        return text;
    }
    let (mut out, mut rest) = (Vec::new(), &text[..]);
    while let Some(at) = rest.windows(name.len()).position(|w| w == name) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(b"@@");
        rest = &rest[at + name.len()..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_input_file_is_replaced() {
        let replaced = without_name(b"/tmp/a: bad /tmp/a\n".to_vec(), b"/tmp/a");
        assert_eq!(replaced, b"@@: bad @@\n");
    }
}
