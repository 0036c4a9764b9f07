//! How much work a problem may take, counted in steps and not in time: the same file has the
//! same answer on every machine.

use super::HampiError;

/// The steps of all charts and tables of a problem together.
const MAX_STEPS: u64 = 1 << 28;

pub(super) struct Budget {
    left: u64,
}

impl Budget {
    pub fn new() -> Budget {
        Budget { left: MAX_STEPS }
    }

    pub fn spend(&mut self, steps: usize) -> Result<(), HampiError> {
        self.left = self.left.checked_sub(steps as u64).ok_or(HampiError::TooLarge)?;
        Ok(())
    }
}
