//! A flag that ends long work early. It does not bound the work and does not change an
//! answer: whoever sets it drops what was under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Polled within long loops; by default never set.
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
