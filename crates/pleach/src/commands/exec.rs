//! `pleach exec`: replaces this process by one half of the program, with the same
//! descriptors and the same name. So the caller sees the program's own status or signal.
//! The symbolic half is a file in memory. If there are twins of shared libraries, they are
//! temporary files, which are removed after the program has ended.

use crate::args::{Exec, HalfName};
use crate::exit::{Code, Failure};
use anyhow::Context;
use pleach_abi::shm;
use pleach_exec::{Half, Image, Layout, process};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn run(args: Exec) -> Result<Code, Failure> {
    let given = Path::new(&args.program[0]);
    let in_memory = match args.half {
        HalfName::Fast => None,
        HalfName::Symbolic => Layout::in_memory(given)?,
    };
    let (file, library_path): (PathBuf, _) = match (args.half, &in_memory) {
        (HalfName::Fast, _) => (Image::open(given)?.path, None),
        (_, Some(file)) => (format!("/proc/self/fd/{}", file.as_raw_fd()).into(), None),
        (_, None) => {
            let (layout, dir) = Layout::lasting(given)?;
            let variable = layout.library_path(Half::Symbolic);
            process::remove_after_exit(&dir)
                .context("cannot remove temporary files at the end")
                .map_err(Failure::user_error)?;
            (layout.symbolic_path, variable)
        }
    };
    let mut command = Command::new(std::path::absolute(&file)?);
    command.arg0(&args.program[0]).args(&args.program[1..]).env_remove(shm::ENV);
    if let Some(path) = library_path {
        command.env("LD_LIBRARY_PATH", path);
    }
    if args.label {
        command.env(shm::ENV_LABEL, "1");
    }
    let error = command.exec();
    Err(Failure::user_error(anyhow::Error::from(error).context(given.display().to_string())))
}
