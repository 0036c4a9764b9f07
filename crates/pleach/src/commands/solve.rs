//! `pleach solve`: solves constraints in HAMPI's language.

use crate::args::Solve;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::Context;
use pleach_import::MAX_FILE;
use pleach_template::hampi::{HampiError, Problem, Solution, quote};
use serde_json::json;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// Prints `sat` and a line for each variable of each solution, or `unsat`.
pub fn run(args: &Solve) -> Result<Code, Failure> {
    let problem = read(&args.file)?;
    let mut solutions: Box<dyn Iterator<Item = Result<Solution, HampiError>>> = match args.all {
        None => Box::new(problem.solve().transpose().into_iter()),
        // One more than the user asked for shows if there are more.
        Some(count) => Box::new(problem.solutions().take(count as usize + 1)),
    };
    let max_solutions = args.all.unwrap_or(1) as usize;
    let mut out = show::out();
    let (mut found, mut values) = (0, Vec::new());
    let mut error = None;
    let mut has_more = args.all.is_none();
    loop {
        let solution = match solutions.next() {
            None => break,
            Some(Ok(_)) if found == max_solutions => {
                has_more = true;
                break;
            }
            Some(Ok(solution)) => solution,
            Some(Err(problem)) => {
                error = Some(problem);
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
            writeln!(out, "{name} = {}", quote(value))?;
        }
    }
    let verdict = match (found, &error) {
        (1.., _) => "sat",
        (0, None) => "unsat",
        (0, Some(_)) => "unknown",
    };
    if args.json {
        let mut answer = json!({ "verdict": verdict, "solutions": values });
        if args.all.is_some() {
            answer["complete"] = (!has_more && error.is_none()).into();
        }
        writeln!(out, "{answer}")?;
    } else if found == 0 && error.as_ref().is_none_or(is_limit) {
        writeln!(out, "{verdict}")?;
    }
    out.flush()?;
    match error {
        None => Ok(Code::Ok),
        Some(problem) => Err(failure(&args.file, problem)),
    }
}

fn is_limit(problem: &HampiError) -> bool {
    matches!(problem, HampiError::TooLarge | HampiError::TooHard)
}

/// Reads a file of constraints, up to the largest size that is allowed.
fn read(path: &Path) -> Result<Problem, Failure> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let limit = MAX_FILE as u64 + 1;
    let done = match path == Path::new("-") {
        true => std::io::stdin().take(limit).read_to_end(&mut bytes),
        false => File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    };
    done.with_context(|| name.clone()).map_err(Failure::user_error)?;
    Problem::read(&name, &bytes).map_err(|problem| failure(path, problem))
}

fn failure(path: &Path, problem: HampiError) -> Failure {
    let name = path.display();
    match problem {
        HampiError::File(_) => Failure::user_error(problem),
        HampiError::TooLarge | HampiError::TooHard => {
            Failure::failed_check(anyhow::anyhow!("{name}: {problem}"))
        }
        HampiError::WrongSolution => Failure::internal(anyhow::anyhow!("{name}: {problem}")),
    }
}
