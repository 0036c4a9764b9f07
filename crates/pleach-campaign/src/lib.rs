//! A campaign: one search of one program in one directory.
//!
//! - [`run`]: the campaign itself. The ring chooses, solves, runs, judges and keeps inputs; the
//!   corpus has them in memory, in the directory and in the journal; the account has the
//!   statistics. Hybrid search and the use of a grammar are parts of it, too.
//! - [`findings`]: what the directory of a campaign says, for reports and exports.
//! - [`mutate`]: cheap children of an input, and the dictionary of words that the program
//!   knows.
//! - [`minimise`]: smaller inputs, and smaller sets of inputs.
//!
//! `pleach-exec` runs the targets, `pleach-search` has the strategies, `pleach-template` solves
//! flips. Nothing here prints: the only texts for people are messages, notes, and the files
//! beside a crash.

#![forbid(unsafe_code)]

pub mod findings;
pub mod minimise;
pub mod mutate;
pub mod run;
