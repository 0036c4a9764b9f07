//! A flag that ends long work early. The result of interrupted work is incomplete, and the
//! caller that sets the flag drops it. So the flag never changes an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Long loops poll this flag. By default it is never set.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Option<Arc<AtomicBool>>);

impl Interrupt {
    pub fn new(flag: Arc<AtomicBool>) -> Interrupt {
        Interrupt(Some(flag))
    }

    pub fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}
