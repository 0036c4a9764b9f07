//! `pleach grammar reduce`: makes an input smaller by the grammar.

use super::{Source, detokenizer};
use crate::commands::read;
use crate::exit::{Code, Failure};
use anyhow::{Context, anyhow};
use pleach_grammar::reduce::reduce;
use std::ffi::OsString;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Reduce {
    #[command(flatten)]
    source: Source,
    /// Input file
    input: PathBuf,
    /// File for the smaller input [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run the command at most N times
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    attempts: usize,
    /// Time limit of the command, in milliseconds; a timeout counts as failure
    #[arg(short, long, value_name = "MS", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// The command and its arguments. @@ stands for the input file; without @@, the input is
    /// standard input
    #[arg(last = true, required = true, value_name = "COMMAND [ARGS]")]
    command: Vec<OsString>,
}

pub fn run(args: &Reduce) -> Result<Code, Failure> {
    let parser = args.source.parser()?;
    let input = read(&args.input)?;
    let name = args.input.display();
    let parsed = parser.parse(&input).map_err(|e| Failure::user_error(anyhow!("{name}:{e}")))?;
    let mut file = tempfile::NamedTempFile::new()?;
    let mut problem: Option<std::io::Error> = None;
    let mut is_good = |bytes: &[u8]| match succeeds(args, &mut file, bytes) {
        Ok(yes) => yes,
        Err(error) => {
            problem.get_or_insert(error);
            false
        }
    };
    if !is_good(&input) {
        let error = match problem {
            Some(error) => {
                anyhow::Error::from(error).context(args.command[0].to_string_lossy().into_owned())
            }
            None => anyhow!("{name}: the command fails on the unchanged input"),
        };
        return Err(Failure::user_error(error));
    }
    let grammar = parser.grammar();
    let found =
        reduce(grammar, &detokenizer(grammar)?, &input, &parsed, args.attempts, &mut is_good);
    if let Some(error) = problem {
        return Err(error.into());
    }
    match &args.output {
        Some(path) => std::fs::write(path, &found.bytes)
            .with_context(|| path.display().to_string())
            .map_err(Failure::user_error)?,
        None => std::io::stdout().write_all(&found.bytes)?,
    }
    let cut = if found.cut { " (the limit)" } else { "" };
    let (from, to, attempts) = (input.len(), found.bytes.len(), found.attempts);
    eprintln!("{from} bytes to {to} in {attempts} attempts{cut}");
    Ok(Code::Ok)
}

/// Runs the command on an input. Returns true if it succeeds within its time.
fn succeeds(
    args: &Reduce,
    file: &mut tempfile::NamedTempFile,
    bytes: &[u8],
) -> Result<bool, std::io::Error> {
    let contents = file.as_file_mut();
    contents.set_len(0)?;
    contents.seek(SeekFrom::Start(0))?;
    contents.write_all(bytes)?;
    let path = file.path().as_os_str().to_owned();
    let place = |a: &OsString| if a == "@@" { path.clone() } else { a.clone() };
    let mut child = Command::new(&args.command[0])
        .args(args.command[1..].iter().map(place))
        .stdin(Stdio::from(std::fs::File::open(&path)?))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let end = Instant::now() + Duration::from_millis(args.timeout);
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}
