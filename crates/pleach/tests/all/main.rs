//! The tests of the commands, in one executable: linking one for each file takes longer than
//! running most of them.

#[path = "../common/mod.rs"]
mod common;
#[path = "../support/goals.rs"]
mod goals;

mod aim;
mod batch;
mod beside;
mod checksums;
mod ci;
mod cli;
mod commands;
mod compare;
mod compiler;
mod diff;
mod doctor;
mod documents;
mod examples;
mod export;
mod fleet;
mod floats;
mod fuzzers;
mod grammar;
mod grammar_run;
mod guidance;
mod hampi;
mod hangs;
mod hybrid;
mod hygiene;
mod init;
mod install;
mod lengths;
mod libfuzzer;
mod libraries;
mod long_traces;
mod memory;
mod minimise;
mod optimistic;
mod people;
mod progress;
mod reasons;
mod replay;
mod report;
mod resume;
mod run;
mod sanitizers;
mod solve;
mod strategies;
mod switches;
mod targets;
mod texts;
mod threads;
mod tokens;
mod triage;
mod typed;
mod undefined;
mod verdicts;
mod ways;
