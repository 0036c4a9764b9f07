//! `pleach cmin`: a small set of inputs with the coverage of all.

use super::{executor, inputs_in, read_input, require_vacant};
use crate::args::Cmin;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::{Context, anyhow};
use pleach_campaign::minimise::{Features, smallest_set};
use pleach_exec::{End, Half, Output};
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

pub fn run(args: Cmin) -> Result<Code, Failure> {
    let paths = inputs_in(&args.input, &["queue"])?;
    let Some(first) = paths.first() else {
        let given = args.input.display().to_string();
        return Err(Failure::person(anyhow!("{given}: there are no inputs in it")));
    };
    require_vacant(&args.output)?;
    let mut executor = executor(Half::Fast, &args.run, first, Output::Null)?;
    executor.start()?;
    let mut features = Features::default();
    let (mut runs, mut places, mut crashed) = (Vec::new(), Vec::new(), 0);
    for (place, path) in paths.iter().enumerate() {
        let input = read_input(path)?;
        // One process for each: a crash in a loop that keeps state would take
        // the coverage of the next along.
        let outcome = executor.run(&input, Duration::from_millis(args.run.timeout))?;
        match outcome.end {
            End::Exit(_) => {
                runs.push((features.of(&executor.counters()?), input.len()));
                places.push(place);
            }
            _ => crashed += 1,
        }
    }
    let kept: Vec<_> = smallest_set(&runs).into_iter().map(|i| places[i]).collect();
    std::fs::create_dir_all(&args.output)
        .with_context(|| args.output.display().to_string())
        .map_err(Failure::person)?;
    for &place in &kept {
        copy(&paths[place], &args.output)?;
    }
    let mut out = show::out();
    if args.json {
        let line = json!({ "inputs": paths.len(), "kept": kept.len(), "left_out": crashed });
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    } else {
        write!(out, "{} of {} inputs kept", kept.len(), paths.len())?;
        match crashed {
            0 => writeln!(out)?,
            n => writeln!(out, "; {n} that crash or hang were left out")?,
        }
    }
    out.flush()?;
    Ok(Code::Ok)
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let Some(name) = from.file_name() else { return Ok(()) };
    let target = to.join(name);
    let done = std::fs::copy(from, &target).with_context(|| target.display().to_string());
    done.map(|_| ()).map_err(Failure::person)
}
