//! `pleach report`: the results of a campaign as one page.
//!
//! The page is written to a file beside it and renamed, so that a browser never sees half of
//! it. With `--watch` it is written again and again while a driver uses the directory. Then
//! only inputs that are new are replayed.

mod crashes;
mod grammar;

use crate::args::Report;
use crate::exit::{Code, Failure};
use anyhow::{Context, anyhow};
use crashes::Crashes;
use grammar::Exercised;
use pleach_campaign::findings::{Findings, FindingsError};
use pleach_campaign::run::Dir;
use pleach_report::Progress;
use pleach_report::html::{Sections, Sources, campaign_page};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the page in its directory.
pub const PAGE: &str = "index.html";
/// What every page of ours contains near its start.
const GENERATOR: &str = "<meta name=\"generator\" content=\"pleach\">";

pub fn run(args: Report) -> Result<Code, Failure> {
    check_output(&args.output)?;
    let program = args.program.first().map(Path::new);
    let mut findings = Findings::open(&args.campaign, program).map_err(refused)?;
    let mut crashes = Crashes::new(args.runs);
    let mut exercised = Exercised::of(&findings);
    std::fs::create_dir_all(&args.output)
        .with_context(|| args.output.display().to_string())
        .map_err(Failure::user_error)?;
    let path = args.output.join(PAGE);
    loop {
        let is_running = args.watch.is_some() && Dir::is_in_use(&args.campaign);
        let start = Instant::now();
        let text = page(&args, &mut findings, &mut crashes, &mut exercised, is_running)?;
        write_page(&path, &text)?;
        let seconds = args.watch.filter(|_| is_running);
        let Some(seconds) = seconds else { break };
        let pause = Duration::from_secs(seconds.into()).max(start.elapsed());
        std::thread::sleep(pause);
        findings.refresh().map_err(refused)?;
    }
    eprintln!("the page is {}", path.display());
    Ok(Code::Ok)
}

/// Makes the page of what the directory says now.
fn page(
    args: &Report,
    findings: &mut Findings,
    crashes: &mut Crashes,
    exercised: &mut Exercised,
    is_running: bool,
) -> Result<String, Failure> {
    findings.replay(Progress::of("inputs replayed")).map_err(refused)?;
    findings.examine(Progress::of("crashes examined")).map_err(refused)?;
    findings.trace_sites(Progress::of("inputs traced")).map_err(refused)?;
    let sections = Sections {
        crashes: crashes.sections(findings, Progress::of("crashes explained"))?,
        grammar: exercised.section(findings)?,
        watch: if is_running { args.watch.unwrap_or(0).into() } else { 0 },
        version: env!("CARGO_PKG_VERSION").into(),
    };
    Ok(campaign_page(findings, &mut Sources::new(roots(args, findings)), sections))
}

/// Where the sources may be.
fn roots(args: &Report, findings: &Findings) -> Vec<PathBuf> {
    let mut roots = args.sources.clone();
    roots.extend(std::env::current_dir());
    let program = findings.command().into_iter().next().map(PathBuf::from).unwrap_or_default();
    // The directories of the build, up to that of the project.
    const LEVELS: usize = 4;
    roots.extend(program.ancestors().skip(1).take(LEVELS).map(PathBuf::from));
    roots
}

/// Refuses a directory that has other files than a page of ours.
pub fn check_output(dir: &Path) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::user_error(anyhow!("{}: {why}", dir.display())));
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => {
            let error = anyhow::Error::from(e).context(dir.display().to_string());
            return Err(Failure::user_error(error));
        }
    };
    for entry in entries.flatten() {
        let is_page = entry.file_name() == PAGE && is_ours(&entry.path());
        if !is_page {
            return refuse("has other files; name a new directory, or one with a page of pleach");
        }
    }
    Ok(())
}

fn is_ours(page: &Path) -> bool {
    const HEAD: u64 = 4096;
    let mut head = Vec::new();
    let file = std::fs::File::open(page);
    let read =
        file.and_then(|f| std::io::Read::read_to_end(&mut std::io::Read::take(f, HEAD), &mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(GENERATOR)
}

/// Writes a page whole, or not at all.
pub fn write_page(path: &Path, text: &str) -> Result<(), Failure> {
    let disk = pleach_campaign::run::Disk::default();
    let done = disk.write_file(path, text.as_bytes());
    done.with_context(|| path.display().to_string()).map_err(Failure::user_error)
}

fn refused(error: FindingsError) -> Failure {
    match error {
        FindingsError::Exec(error) => error.into(),
        FindingsError::Image(error) => error.into(),
        other => Failure::user_error(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_report::compare::Comparison;

    #[test]
    fn only_a_directory_with_a_page_of_ours_is_written_to() {
        let dir = tempfile::tempdir().unwrap();
        assert!(check_output(&dir.path().join("new")).is_ok());
        assert!(check_output(dir.path()).is_ok());
        let page = dir.path().join(PAGE);
        std::fs::write(&page, "<!doctype html><title>my own</title>").unwrap();
        assert!(check_output(dir.path()).is_err());
        let comparison = Comparison {
            program: "p".into(),
            budget: String::new(),
            branches: 0,
            modules: Vec::new(),
            strategies: Vec::new(),
            overlap: Vec::new(),
        };
        let text = pleach_report::html::comparison_page(&comparison, "1");
        write_page(&page, &text).unwrap();
        assert!(check_output(dir.path()).is_ok());
        std::fs::write(dir.path().join("notes.txt"), "").unwrap();
        assert!(check_output(dir.path()).is_err());
    }
}
