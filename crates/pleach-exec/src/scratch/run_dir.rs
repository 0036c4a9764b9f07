//! The scratch directory of an executor, if its runs have one.

use super::{Found, Saved, Scratch, WorkDir};
use crate::executor::ExecError;
use std::path::Path;

const CANNOT_MAKE: &str = "cannot make a scratch directory";

/// Where the runs of an executor work.
pub(crate) struct RunDir {
    /// Runs have a directory of their own.
    is_private: bool,
    files: Option<WorkDir>,
    /// Made just before the first start of the target: from then on a warden removes it,
    /// whatever ends the driver.
    scratch: Option<Scratch>,
}

impl RunDir {
    pub fn new(is_private: bool, files: Option<WorkDir>) -> RunDir {
        RunDir { is_private, files, scratch: None }
    }

    /// Makes the directory if there is none yet.
    pub fn make(&mut self) -> Result<(), ExecError> {
        if self.is_private && self.scratch.is_none() {
            let made = Scratch::new(self.files.as_ref());
            self.scratch = Some(made.map_err(ExecError::io(CANNOT_MAKE))?);
        }
        Ok(())
    }

    /// Makes the directory, or undoes what the last run has done in it.
    pub fn clear(&mut self) -> Result<Found, ExecError> {
        self.make()?;
        match &mut self.scratch {
            Some(scratch) => scratch.clear().map_err(ExecError::io(CANNOT_MAKE)),
            None => Ok(Found::Untouched),
        }
    }

    /// `None` if runs work where the driver does, or if it has not been made.
    pub fn path(&self) -> Option<&Path> {
        self.scratch.as_ref().map(Scratch::path)
    }

    /// True if runs have written more than `limit` bytes into it.
    pub fn is_over(&self, limit: u64) -> bool {
        self.scratch.as_ref().is_some_and(|s| s.is_over(limit))
    }

    pub fn save(&self) -> Option<Saved> {
        self.scratch.as_ref().map(Scratch::save)
    }

    /// Restores what was saved. True if anything had changed, or may have.
    pub fn restore(&self, saved: &mut Saved) -> bool {
        self.scratch.as_ref().is_some_and(|s| s.restore(saved).unwrap_or(true))
    }
}
