//! The grammar of a campaign: what is derived from it, what is made of parsed inputs, and
//! how it agrees with the program.

mod fit;
mod graft;
mod language;
mod probe;

pub use fit::{Fit, MISFIT_SENTENCES, check_accepted, try_grammar, try_refused};
pub use graft::Stock;
pub use language::{Language, Source, Walk};
pub use probe::learn_tokens;
