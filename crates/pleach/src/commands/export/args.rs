//! The options of `pleach export`.

use crate::args::Run;
use crate::show::wrap;
use clap::Args as Group;
use std::path::PathBuf;

#[derive(Group)]
pub struct Export {
    /// The format; they are listed below
    #[arg(long, value_name = "FORMAT")]
    pub to: String,
    /// Suites: keep all inputs, not only a small set with the same coverage
    #[arg(long)]
    pub all: bool,
    /// Suites: make each input smaller with at most N runs; 0 leaves it as it is
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub shrink: u64,
    /// Suites: also compare standard error
    #[arg(long)]
    pub stderr: bool,
    /// Suites: keep inputs that crash, and expect the crash
    #[arg(long)]
    pub crashes: bool,
    /// Coverage: also count system headers and the C++ library
    #[arg(long)]
    pub system: bool,
    /// Where the source files are, if not where they were compiled; relative paths start
    /// from here [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub source: Option<PathBuf>,
    /// The file or directory to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Input files, directories of inputs, a campaign directory (which also knows the
    /// program), or an output directory of AFL++
    #[arg(required = true, value_name = "OUT_DIR|FILES")]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub run: Run,
}

/// The formats of `pleach export`, one a line.
pub fn formats() -> String {
    const NAME_WIDTH: usize = 11;
    const ABOUT_WIDTH: usize = 64;
    let mut text = String::from("Formats:");
    for format in pleach_report::export::FORMATS {
        let mut name = format.name;
        for line in wrap(format.about, ABOUT_WIDTH) {
            text.push_str(&format!("\n  {name:<NAME_WIDTH$}  {line}"));
            name = "";
        }
    }
    text
}
