//! `pleach dict`: writes a dictionary in AFL++'s format. Its words are what traces compare the
//! input with: in `memcmp` and its like, in equations of several bytes, and in switches.

use super::{inputs_in, read_input, time_limit, tracer};
use crate::args::Dict;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::anyhow;
use pleach_campaign::mutate::{Dictionary, write_words};
use pleach_exec::Output;
use pleach_report::Progress;
use std::io::Write;

pub fn run(args: Dict) -> Result<Code, Failure> {
    let mut paths = Vec::new();
    for path in &args.inputs {
        match path.is_dir() {
            true => paths.extend(inputs_in(path, &["queue"])?),
            false => paths.push(path.clone()),
        }
    }
    let Some(first) = paths.first() else {
        let given = args.inputs.first().map(|p| p.display().to_string()).unwrap_or_default();
        return Err(Failure::user_error(anyhow!("{given}: no inputs in it")));
    };
    let mut executor = tracer(&args.run, first, Output::Null, false)?;
    let (mut dictionary, mut untraced) = (Dictionary::default(), 0);
    let progress = Progress::new("tracing inputs", paths.len() as u64);
    for path in &paths {
        progress.inc();
        executor.run(&read_input(path)?, time_limit(&args.run, path))?;
        match executor.trace() {
            Ok(trace) => {
                dictionary.add_trace(&trace);
                dictionary.add_cases(&trace, executor.layout());
            }
            Err(_) => untraced += 1,
        }
    }
    progress.finish();
    dictionary.complete_words(executor.layout());
    if untraced > 0 {
        eprintln!("pleach: warning: {untraced} inputs have no readable trace");
    }
    let mut out = show::out();
    let words = dictionary.iter().map(|(word, _)| word);
    write!(out, "{}", write_words(words))?;
    out.flush()?;
    Ok(Code::Ok)
}
