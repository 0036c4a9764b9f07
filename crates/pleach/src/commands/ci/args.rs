//! The options of `pleach ci`.

use crate::args::MAX_TIMEOUT_MS;
use clap::Args as Group;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Group)]
pub struct Ci {
    /// How long it may take: 90, 90s, 5m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time: Option<Duration>,
    /// Stop the search after N runs of the fast half
    #[arg(short = 'n', long, value_name = "N")]
    pub runs: Option<u64>,
    /// The inputs that are kept between runs: plain files, a corpus of libFuzzer, or an
    /// output directory of AFL++
    #[arg(long, value_name = "DIR")]
    pub corpus: PathBuf,
    /// Write results.sarif, junit.xml, coverage.lcov, cobertura.xml and summary.md here
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// The file that lists known crashes [default: .pleach/crashes.json in the corpus]
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Fail on a crash that is known, too
    #[arg(long)]
    pub fail_on_known: bool,
    /// Fail on a hang that is new
    #[arg(long)]
    pub fail_on_hang: bool,
    /// Fail if the program answers otherwise than before on an input of the corpus: another
    /// exit status or standard output
    #[arg(long)]
    pub check_answers: bool,
    /// Remember the present answers
    #[arg(long, conflicts_with = "check_answers")]
    pub accept_answers: bool,
    /// How to search [default: auto]
    #[arg(short, long, value_name = "STRATEGY")]
    pub strategy: Option<String>,
    /// Grammar of the input
    #[arg(short, long, value_name = "FILE")]
    pub grammar: Option<PathBuf>,
    /// Number of workers
    #[arg(short, long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Seed of the random numbers [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Time limit of a run, in milliseconds
    #[arg(short, long, value_name = "MS",
          value_parser = clap::value_parser!(u64).range(1..=MAX_TIMEOUT_MS))]
    pub timeout: Option<u64>,
    /// Memory limit of a run, in MiB; 0 for no limit
    #[arg(short, long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Deliver the input over the program's connections, accepted or made
    #[arg(long)]
    pub socket: bool,
    /// Run in a copy of this directory
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Where the source files are, if not where they were compiled; relative paths start
    /// from here [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub source: Option<PathBuf>,
    /// The program and its arguments. @@ stands for the input file
    #[arg(last = true, required = true, value_name = "PROGRAM [ARGS]")]
    pub program: Vec<OsString>,
}

/// A time such as `90`, `90s`, `5m` or `1h30m`.
fn parse_time(text: &str) -> Result<Duration, String> {
    let (mut total, mut number) = (0u64, String::new());
    let wrong = || "must be a time such as 90s, 5m or 1h30m".to_string();
    for c in text.chars() {
        if c.is_ascii_digit() {
            number.push(c);
            continue;
        }
        let unit = match c {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            _ => return Err(wrong()),
        };
        let n: u64 = number.parse().map_err(|_| wrong())?;
        total = n.checked_mul(unit).and_then(|n| total.checked_add(n)).ok_or_else(wrong)?;
        number.clear();
    }
    if !number.is_empty() {
        let n: u64 = number.parse().map_err(|_| wrong())?;
        total = total.checked_add(n).ok_or_else(wrong)?;
    }
    if total == 0 { Err(wrong()) } else { Ok(Duration::from_secs(total)) }
}
