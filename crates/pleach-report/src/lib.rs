//! What people look at: a campaign as a panel on a terminal, as plain lines
//! elsewhere, and in the few lines that end it. Nothing is decided here.

#![forbid(unsafe_code)]

mod numbers;
mod panel;
mod summary;

pub use panel::{Panel, Style};
pub use summary::{line, summary};
