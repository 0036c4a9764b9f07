//! `pleach tmin`: makes one input smaller, while it keeps its crash, its hang, or the
//! branches that it takes.

use super::{read_input, target, time_limit};
use crate::args::Tmin;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::{Context, anyhow};
use pleach_campaign::minimise::{Features, Shrunk, drop_events, shrink};
use pleach_exec::container::is_container;
use pleach_exec::{End, Executor, Half, Layout, Output, TargetOptions, Triage};
use pleach_report::Progress;
use serde_json::json;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What the smaller input must keep.
enum Goal {
    Crash { end: End, hash: u64, description: String },
    Branches(Vec<u32>),
}

pub fn run(args: Tmin) -> Result<Code, Failure> {
    let input = read_input(&args.input)?;
    let parent =
        args.output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if args.output.is_dir() || !parent.is_dir() {
        let given = args.output.display().to_string();
        return Err(Failure::user_error(anyhow!(
            "{given}: cannot be written: it must be a file in an existing directory"
        )));
    }
    let layout = Arc::new(Layout::private(Path::new(&args.run.program[0]))?);
    let named = target(Half::Fast, &args.run, &args.input, Output::Null)?;
    let timeout = time_limit(&args.run, &args.input);
    let mut shrinker = Shrinker {
        executor: Executor::new(layout.clone(), named.clone())?,
        triage: Triage::new(layout.clone(), &named, timeout)?,
        features: Features::default(),
        timeout,
    };
    let goal = shrinker.goal(&input)?;
    let kept = match &goal {
        Goal::Crash { description, .. } => description.clone(),
        Goal::Branches(branches) => format!("{} branches", branches.len()),
    };
    eprintln!("{} bytes, at most {} runs; keeps {kept}", input.len(), args.runs);
    // Most end before the last run; the time that is left is at most what is shown.
    let progress = Sizes { from: input.len(), bar: Progress::new("at most", args.runs) };
    let events = event_ends(&layout, named, &input, shrinker.timeout)?;
    let fewer = match events.is_empty() {
        true => Shrunk { input: input.clone(), runs: 0, finished: true },
        false => drop_events(&input, &events, args.runs, &mut |candidate| {
            let holds = shrinker.holds(&goal, candidate)?;
            progress.count(candidate.len(), holds);
            Ok::<_, Failure>(holds)
        })?,
    };
    let left = args.runs - fewer.runs;
    let mut shrunk = shrink(&fewer.input, left, &mut |candidate| {
        let holds = shrinker.holds(&goal, candidate)?;
        progress.count(candidate.len(), holds);
        Ok::<_, Failure>(holds)
    })?;
    progress.bar.finish();
    shrunk.runs += fewer.runs;
    write(&args.output, parent, &shrunk.input)?;
    let mut out = show::out();
    if args.json {
        let line = json!({ "from": input.len(), "to": shrunk.input.len(), "runs": shrunk.runs,
                           "finished": shrunk.finished, "kept": kept });
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    } else {
        let (from, to, runs) = (input.len(), shrunk.input.len(), shrunk.runs);
        let more = if shrunk.finished { "" } else { "; more runs (-n) may make it smaller" };
        writeln!(out, "{from} bytes to {to} in {runs} runs{more}; it keeps {kept}")?;
    }
    out.flush()?;
    Ok(Code::Ok)
}

/// Shows the smallest size so far.
struct Sizes {
    from: usize,
    bar: Progress,
}

impl Sizes {
    /// Counts a candidate that was run.
    fn count(&self, length: usize, holds: bool) {
        self.bar.inc();
        if holds {
            self.bar.set_message(&format!("{} bytes to {length} so far", self.from));
        }
    }
}

/// Where the program's events (calls for input) end in the input. Empty if each is a single
/// byte. Longer events are dropped as a whole.
fn event_ends(
    layout: &Arc<Layout>,
    mut target: TargetOptions,
    input: &[u8],
    timeout: Duration,
) -> Result<Vec<u64>, Failure> {
    if is_container(input) {
        return Ok(Vec::new());
    }
    target.sizes.live = input.len() as u64;
    let ends = Executor::new(layout.clone(), target)?.event_ends(input, timeout)?;
    let longer = ends.len() > 1 && (ends.len() as u64) < ends.last().copied().unwrap_or(0);
    Ok(if longer { ends } else { Vec::new() })
}

struct Shrinker {
    executor: Executor,
    triage: Triage,
    features: Features,
    timeout: Duration,
}

impl Shrinker {
    fn goal(&mut self, input: &[u8]) -> Result<Goal, Failure> {
        let end = self.executor.run(input, self.timeout)?.end;
        if let End::Exit(_) = end {
            let branches = self.features.branches(&self.executor.counters());
            return Ok(Goal::Branches(branches));
        }
        match self.triage.examine(input)?.crash {
            Some(crash) => {
                Ok(Goal::Crash { end, hash: crash.hash, description: crash.to_string() })
            }
            None => Err(Failure::user_error(anyhow!(
                "{} only after other inputs, not in a new process: the program keeps state \
                 between inputs",
                show::end(&end)
            ))),
        }
    }

    fn holds(&mut self, goal: &Goal, candidate: &[u8]) -> Result<bool, Failure> {
        let ended = self.executor.run(candidate, self.timeout)?.end;
        Ok(match goal {
            // Compare the end first, because triage is slow.
            Goal::Crash { end, hash, .. } => {
                ended == *end
                    && self.triage.examine(candidate)?.crash.is_some_and(|c| c.hash == *hash)
            }
            Goal::Branches(branches) => {
                matches!(ended, End::Exit(_))
                    && self.features.branches(&self.executor.counters()) == *branches
            }
        })
    }
}

/// Writes the whole file, or nothing.
pub fn write(path: &Path, parent: &Path, bytes: &[u8]) -> Result<(), Failure> {
    // The permissions of any new file: what the user's umask allows.
    let mode = Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().permissions(mode).tempfile_in(parent);
    let done = file.and_then(|mut file| {
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    });
    done.with_context(|| path.display().to_string()).map_err(Failure::user_error)
}
