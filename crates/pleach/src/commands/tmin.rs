//! `pleach tmin`: one input, made smaller as long as it shows the same: its
//! crash, its hang, or the branches that it takes.

use super::{read_input, target};
use crate::args::Tmin;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::{Context, anyhow};
use pleach_campaign::minimise::{Features, shrink};
use pleach_campaign::{End, Executor, Half, Layout, Output, Triage};
use serde_json::json;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What must stay.
enum Goal {
    Crash { end: End, hash: u64, said: String },
    Branches(Vec<u32>),
}

pub fn run(args: Tmin) -> Result<Code, Failure> {
    let input = read_input(&args.input)?;
    let parent =
        args.output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if args.output.is_dir() || !parent.is_dir() {
        let given = args.output.display().to_string();
        return Err(Failure::person(anyhow!("{given}: a file cannot be written there")));
    }
    let layout = Arc::new(Layout::private(Path::new(&args.run.program[0]))?);
    let named = target(Half::Fast, &args.run, &args.input, Output::Null);
    let mut shrinker = Shrinker {
        executor: Executor::new(layout.clone(), named.clone())?,
        triage: Triage::new(layout, &named, Duration::from_millis(args.run.timeout))?,
        features: Features::default(),
        timeout: Duration::from_millis(args.run.timeout),
    };
    let goal = shrinker.goal(&input)?;
    let shrunk = shrink(&input, args.runs, &mut |candidate| shrinker.holds(&goal, candidate))?;
    write(&args.output, parent, &shrunk.input)?;
    let kept = match &goal {
        Goal::Crash { said, .. } => said.clone(),
        Goal::Branches(branches) => format!("{} branches", branches.len()),
    };
    let mut out = show::out();
    if args.json {
        let line = json!({ "from": input.len(), "to": shrunk.input.len(), "runs": shrunk.runs,
                           "finished": shrunk.finished, "kept": kept });
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    } else {
        let (from, to, runs) = (input.len(), shrunk.input.len(), shrunk.runs);
        let more = if shrunk.finished { "" } else { "; more runs (-n) may find less" };
        writeln!(out, "{from} bytes to {to} in {runs} runs{more}; it keeps {kept}")?;
    }
    out.flush()?;
    Ok(Code::Ok)
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
            let branches = self.features.branches(&self.executor.counters()?);
            return Ok(Goal::Branches(branches));
        }
        match self.triage.examine(input)?.crash {
            Some(crash) => Ok(Goal::Crash { end, hash: crash.hash, said: crash.to_string() }),
            None => Err(Failure::person(anyhow!(
                "{} only after other inputs, and not in a process of its own: the program keeps \
                 state between inputs",
                show::end(&end)
            ))),
        }
    }

    fn holds(&mut self, goal: &Goal, candidate: &[u8]) -> Result<bool, Failure> {
        let ended = self.executor.run(candidate, self.timeout)?.end;
        Ok(match goal {
            // The cheap question first: most candidates do not crash at all.
            Goal::Crash { end, hash, .. } => {
                ended == *end
                    && self.triage.examine(candidate)?.crash.is_some_and(|c| c.hash == *hash)
            }
            Goal::Branches(branches) => {
                matches!(ended, End::Exit(_))
                    && self.features.branches(&self.executor.counters()?) == *branches
            }
        })
    }
}

/// The whole file, or none of it.
fn write(path: &Path, parent: &Path, bytes: &[u8]) -> Result<(), Failure> {
    // As any new file: what the person's mask allows.
    let mode = Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().permissions(mode).tempfile_in(parent);
    let done = file.and_then(|mut file| {
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    });
    done.with_context(|| path.display().to_string()).map_err(Failure::person)
}
