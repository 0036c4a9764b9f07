//! How much a problem may cost, counted and not timed: the same file has the same
//! answer on every machine.

use super::HampiError;

/// Steps of all charts and tables of a problem.
const MOST_STEPS: u64 = 1 << 28;

pub(super) struct Work {
    left: u64,
}

impl Work {
    pub fn new() -> Work {
        Work { left: MOST_STEPS }
    }

    pub fn spend(&mut self, steps: usize) -> Result<(), HampiError> {
        self.left = self.left.checked_sub(steps as u64).ok_or(HampiError::Work)?;
        Ok(())
    }
}
