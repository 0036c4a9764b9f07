//! `pleach solve`

use crate::args::Solve;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::Context;
use pleach_import::MAX_FILE;
use pleach_template::hampi::{HampiError, Problem, Solution, quoted};
use serde_json::json;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// Prints `sat` and a line for each variable of each solution, or `unsat`.
pub fn run(args: &Solve) -> Result<Code, Failure> {
    let problem = read(&args.file)?;
    let mut solutions: Box<dyn Iterator<Item = Result<Solution, HampiError>>> = match args.all {
        None => Box::new(problem.solve().transpose().into_iter()),
        // One more than is asked for tells whether that was all.
        Some(most) => Box::new(problem.solutions().take(most as usize + 1)),
    };
    let wanted = args.all.unwrap_or(1) as usize;
    let mut out = show::out();
    let (mut found, mut values) = (0, Vec::new());
    let mut gave_up = None;
    let mut more = args.all.is_none();
    loop {
        let solution = match solutions.next() {
            None => break,
            Some(Ok(_)) if found == wanted => {
                more = true;
                break;
            }
            Some(Ok(solution)) => solution,
            Some(Err(problem)) => {
                gave_up = Some(problem);
                break;
            }
        };
        found += 1;
        if args.json {
            let named = problem.variables().zip(&solution).map(|(name, value)| {
                (name.to_owned(), value.iter().map(|&b| char::from(b)).collect::<String>().into())
            });
            values.push(serde_json::Value::Object(named.collect()));
            continue;
        }
        match found {
            1 => writeln!(out, "sat")?,
            _ if problem.variables().count() > 1 => writeln!(out)?,
            _ => {}
        }
        for (name, value) in problem.variables().zip(&solution) {
            writeln!(out, "{name} = {}", quoted(value))?;
        }
    }
    let verdict = match (found, &gave_up) {
        (1.., _) => "sat",
        (0, None) => "unsat",
        (0, Some(_)) => "unknown",
    };
    if args.json {
        let mut answer = json!({ "verdict": verdict, "solutions": values });
        if args.all.is_some() {
            answer["complete"] = (!more && gave_up.is_none()).into();
        }
        writeln!(out, "{answer}")?;
    } else if found == 0 && gave_up.as_ref().is_none_or(is_limit) {
        writeln!(out, "{verdict}")?;
    }
    out.flush()?;
    match gave_up {
        None => Ok(Code::Ok),
        Some(problem) => Err(failure(&args.file, problem)),
    }
}

fn is_limit(problem: &HampiError) -> bool {
    matches!(problem, HampiError::Work | HampiError::Hard)
}

/// Reads no more than could be a file of constraints.
fn read(path: &Path) -> Result<Problem, Failure> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let most = MAX_FILE as u64 + 1;
    let done = match path == Path::new("-") {
        true => std::io::stdin().take(most).read_to_end(&mut bytes),
        false => File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    done.with_context(|| name.clone()).map_err(Failure::person)?;
    Problem::read(&name, &bytes).map_err(|problem| failure(path, problem))
}

fn failure(path: &Path, problem: HampiError) -> Failure {
    let name = path.display();
    match problem {
        HampiError::File(_) => Failure::person(problem),
        HampiError::Work | HampiError::Hard => {
            Failure::wanting(anyhow::anyhow!("{name}: {problem}"))
        }
        HampiError::Wrong => Failure::ours(anyhow::anyhow!("{name}: {problem}")),
    }
}
