//! What people look at: a campaign as a panel on a terminal, as plain lines
//! elsewhere, and in the few lines that end it; several campaigns compared. Nothing
//! is decided here.

#![forbid(unsafe_code)]

pub mod compare;
mod numbers;
mod panel;
mod summary;

pub use panel::{Panel, Size};
pub use summary::{line, summary};
