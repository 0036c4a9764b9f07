//! Everything that the processes of a target are given: shared memory, input file, scratch
//! directory, terminal, and where their output goes. It outlives the fork server.

use super::{ExecError, Output, TargetOptions};
use crate::files::{Capture, InputFiles};
use crate::layout::Layout;
use crate::process::listing;
use crate::scratch::RunDir;
use crate::shm::Shm;
use crate::terminal::Terminal;
use crate::warden::Leftovers;
use std::path::PathBuf;
use std::sync::Arc;

/// Room for the keys of a run on a terminal.
const MAX_KEYS: u64 = 16 << 20;

pub(super) struct Setup {
    pub options: TargetOptions,
    pub layout: Arc<Layout>,
    pub shm: Shm,
    pub input: InputFiles,
    pub run_dir: RunDir,
    pub capture: Option<Capture>,
    pub terminal: Option<Terminal>,
}

impl Setup {
    pub fn new(layout: Arc<Layout>, mut options: TargetOptions) -> Result<Setup, ExecError> {
        let capture = match options.output {
            Output::Capture { limit } => Some(Capture::new(limit)),
            _ => None,
        };
        let capture =
            capture.transpose().map_err(ExecError::io("cannot keep the target's output"))?;
        let terminal = options.tty.map(Terminal::new).transpose();
        let terminal = terminal.map_err(ExecError::io("cannot make a terminal"))?;
        if terminal.is_some() && options.sizes.live == 0 {
            options.sizes.live = MAX_KEYS;
        }
        let shm =
            Shm::new(options.sizes).map_err(ExecError::io("cannot make the shared memory"))?;
        let input = InputFiles::new(&options.extension);
        Ok(Setup {
            shm,
            input: input.map_err(ExecError::io("cannot make the input file"))?,
            run_dir: RunDir::new(options.scratch, options.workdir.clone()),
            capture,
            terminal,
            options,
            layout,
        })
    }

    pub fn program(&self) -> PathBuf {
        self.layout.fast.path.clone()
    }

    /// Private files that must go even if the driver is killed.
    pub fn leftovers(&self) -> Leftovers {
        let mut left = Leftovers::default();
        if let Some(dir) = self.layout.directory() {
            (left.files, left.dirs) = listing(dir);
        }
        left.files.push(self.input.path().into());
        left.dirs.push(self.input.directory().into());
        left.tree = self.run_dir.path().map(PathBuf::from);
        left
    }
}
