//! `pleach cmin`: a small set of inputs with the same coverage.

use super::{executor, inputs_in, read_input, require_vacant, time_limit};
use crate::args::Cmin;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::{Context, anyhow};
use pleach_campaign::minimise::{Features, smallest_set};
use pleach_exec::{End, Half, Output};
use pleach_report::Progress;
use serde_json::json;
use std::io::Write;
use std::path::Path;

pub fn run(args: Cmin) -> Result<Code, Failure> {
    let paths = inputs_in(&args.input, &["queue"])?;
    let Some(first) = paths.first() else {
        let given = args.input.display().to_string();
        return Err(Failure::user_error(anyhow!("{given}: no inputs in it")));
    };
    require_vacant(&args.output)?;
    let mut executor = executor(Half::Fast, &args.run, first, Output::Null)?;
    executor.start()?;
    let mut features = Features::default();
    let (mut runs, mut indices, mut skipped) = (Vec::new(), Vec::new(), 0);
    let progress = Progress::new("running inputs", paths.len() as u64);
    for (index, path) in paths.iter().enumerate() {
        progress.inc();
        let input = read_input(path)?;
        let outcome = executor.run(&input, time_limit(&args.run, path))?;
        match outcome.end {
            End::Exit(_) => {
                runs.push((features.of(&executor.counters()), input.len()));
                indices.push(index);
            }
            _ => skipped += 1,
        }
    }
    progress.finish();
    let kept: Vec<_> = smallest_set(&runs).into_iter().map(|i| indices[i]).collect();
    std::fs::create_dir_all(&args.output)
        .with_context(|| args.output.display().to_string())
        .map_err(Failure::user_error)?;
    for &index in &kept {
        copy(&paths[index], &args.output)?;
    }
    let mut out = show::out();
    if args.json {
        let line = json!({ "inputs": paths.len(), "kept": kept.len(), "left_out": skipped });
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    } else {
        write!(out, "{} of {} inputs kept", kept.len(), paths.len())?;
        match skipped {
            0 => writeln!(out)?,
            n => writeln!(out, "; {n} that crash or hang were skipped")?,
        }
    }
    out.flush()?;
    Ok(Code::Ok)
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let Some(name) = from.file_name() else { return Ok(()) };
    let target = to.join(name);
    let done = std::fs::copy(from, &target).with_context(|| target.display().to_string());
    done.map(|_| ()).map_err(Failure::user_error)
}
