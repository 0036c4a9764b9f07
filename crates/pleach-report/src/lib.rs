//! Output for users: a campaign as a panel on a terminal or as plain lines, its summary, the
//! comparison of several campaigns, and both as a page. Nothing is decided here.

#![forbid(unsafe_code)]

pub mod ci;
pub mod compare;
pub mod coverage;
mod ends;
pub mod export;
pub mod html;
mod numbers;
mod panel;
mod places;
mod progress;
mod summary;

pub use ends::end_words;
pub use numbers::counted;
pub use panel::{Panel, Size};
pub use places::describe_places;
pub use progress::Progress;
pub use summary::{describe_fleet, describe_stall, line, summary};
