//! Output for users: a campaign as a panel on a terminal or as plain lines, its summary, and
//! the comparison of several campaigns. Nothing is decided here.

#![forbid(unsafe_code)]

pub mod compare;
mod numbers;
mod panel;
mod progress;
mod summary;

pub use panel::{Panel, Size};
pub use progress::Progress;
pub use summary::{describe_stall, line, summary};
