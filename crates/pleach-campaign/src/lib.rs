//! A campaign: the ring of choosing, solving, running, judging and keeping (`run`), with
//! the directory, the journal and resuming. Beside it, what is done with inputs whatever
//! the search: cheap children of an input (`mutate`), and smaller inputs and sets of
//! inputs (`minimise`).
//!
//! Targets are run by `pleach-exec`. Nothing here formats anything for people beyond
//! one-line messages.

#![forbid(unsafe_code)]

pub mod minimise;
pub mod mutate;
pub mod run;
