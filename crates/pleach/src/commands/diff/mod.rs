//! `pleach diff`: runs inputs on two builds of a program, reports where output, status or path
//! differ, and searches for such inputs.
//!
//! The search takes half of its time for campaigns on both builds towards the functions whose
//! code has changed: what one of them has lost is found on the other. But a changed constant
//! need not change which branches are taken. So for the other half, mutants of inputs that
//! execute changed functions run on both, whatever they cover.

mod path;
mod search;
mod side;

use super::{named_inputs, read_input, require_vacant};
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::anyhow;
use clap::{Args as Group, ValueEnum};
use pleach_exec::End;
use pleach_report::Progress;
use serde_json::{Value, json};
use side::{Answer, Side};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Group)]
pub struct Diff {
    /// The old build: made by pleach-cc, or any executable
    pub old: PathBuf,
    /// The new build
    pub new: PathBuf,
    /// Input files, directories of inputs, or campaign directories; can be repeated
    #[arg(short, long, required = true, value_name = "INPUTS")]
    pub input: Vec<PathBuf>,
    /// Directory for the inputs that the search finds; must be empty or not exist
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Search for inputs with a difference for N seconds; needs -o
    #[arg(short = 'V', long = "seconds", value_name = "N", requires = "output")]
    pub seconds: Option<f64>,
    /// Search for N runs of the new build; needs -o
    #[arg(short = 'n', long, value_name = "N", requires = "output")]
    pub runs: Option<u64>,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Compare only these, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT",
          default_values = ["output", "status", "path"])]
    pub only: Vec<What>,
    /// Time limit of a run, in milliseconds
    #[arg(short, long, value_name = "MS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// Memory limit of a run, in MiB; 0 for no limit
    #[arg(short, long, value_name = "MIB", default_value_t = 4096)]
    pub memory: u64,
    /// Run in a copy of this directory [default: an empty directory]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// The arguments of both. @@ stands for the input file; without @@, the input is standard
    /// input
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum What {
    /// What it writes to standard output and standard error
    Output,
    /// Its exit status, or the signal that ended it
    Status,
    /// The functions that it executes, and the branches in those that have not changed
    Path,
}

/// How the answers of two builds differ on an input.
pub struct Difference {
    pub what: Vec<What>,
    status: Option<(End, End)>,
    output: Option<String>,
    path: Vec<String>,
}

/// Two builds, and how they are compared.
pub struct Pair {
    old: Side,
    new: Side,
    only: Vec<What>,
    /// Inputs on which a build differs from itself.
    unstable: u64,
    pub runs: u64,
}

pub fn run(args: &Diff) -> Result<Code, Failure> {
    let paths = named_inputs(&args.input)?;
    let inputs = paths.iter().map(|p| read_input(p)).collect::<Result<Vec<_>, _>>()?;
    if let Some(out) = &args.output {
        require_vacant(out)?;
    }
    let mut pair = Pair::open(args, &paths[0])?;
    if (args.seconds.is_some() || args.runs.is_some()) && pair.new.layout().is_none() {
        let new = args.new.display();
        return Err(Failure::user_error(anyhow!("{new}: not built by pleach-cc: no search")));
    }
    let mut found: Vec<(PathBuf, Difference)> = Vec::new();
    let progress = Progress::new("comparing inputs", paths.len() as u64);
    for (path, input) in paths.iter().zip(&inputs) {
        progress.inc();
        if let Some(difference) = pair.compare(input)? {
            progress.suspend(|| print(args, path, &difference))?;
            found.push((path.clone(), difference));
        }
    }
    progress.finish();
    let given = found.len();
    let changed = pair.changed_functions();
    if args.seconds.is_some() || args.runs.is_some() {
        search::run(args, &mut pair, &paths, inputs, |path, difference| {
            print(args, path, &difference)?;
            found.push((path.into(), difference));
            Ok(())
        })?;
    }
    let mut out = show::out();
    let count = |what: What| found.iter().filter(|(_, d)| d.what.contains(&what)).count();
    let (output, status, path) = (count(What::Output), count(What::Status), count(What::Path));
    if args.json {
        let all: Vec<Value> = found.iter().map(|(p, d)| as_json(p, d)).collect();
        let line = json!({ "inputs": paths.len(), "runs": pair.runs, "different": found.len(),
                           "different_given": given, "output": output, "status": status,
                           "path": path, "unstable": pair.unstable,
                           "changed_functions": changed, "differences": all });
        writeln!(out, "{line}")?;
    } else {
        let more = match found.len() - given {
            0 => String::new(),
            n => format!(", and {n} inputs that were found"),
        };
        writeln!(
            out,
            "{given} of {} inputs differ{more} (output {output}, status {status}, path {path})",
            paths.len()
        )?;
        if pair.unstable > 0 {
            let n = pair.unstable;
            writeln!(out, "{n} inputs give other answers each time, which are not compared")?;
        }
        if !changed.is_empty() {
            writeln!(out, "functions that have changed: {}", changed.join(", "))?;
        }
    }
    out.flush()?;
    Ok(if found.is_empty() { Code::Ok } else { Code::Failed })
}

impl Pair {
    fn open(args: &Diff, first: &Path) -> Result<Pair, Failure> {
        // Both see the same name, because they may print it.
        let name = args.new.file_name().unwrap_or_default();
        let old = Side::open(args, &args.old, name, first)?;
        let new = Side::open(args, &args.new, name, first)?;
        Ok(Pair { old, new, only: args.only.clone(), unstable: 0, runs: 0 })
    }

    /// How the builds differ on an input. If one of them differs from itself when it runs
    /// again, that is not compared.
    pub fn compare(&mut self, input: &[u8]) -> Result<Option<Difference>, Failure> {
        self.compare_within(input, Duration::MAX)
    }

    /// The same. The first run of each build gets less time.
    pub fn compare_within(
        &mut self,
        input: &[u8],
        limit: Duration,
    ) -> Result<Option<Difference>, Failure> {
        self.runs += 1;
        let mut both =
            |limit| Ok::<_, Failure>((self.old.run(input, limit)?, self.new.run(input, limit)?));
        let (mut old, mut new) = both(limit)?;
        let differs = |old, new| !differing(&self.only, old, new).is_empty();
        if !differs(&old, &new) {
            return Ok(None);
        }
        if limit < Duration::MAX {
            (old, new) = both(Duration::MAX)?;
        }
        let what = differing(&self.only, &old, &new);
        let again = both(Duration::MAX)?;
        let unstable = |w: &What| {
            let one = [*w];
            !differing(&one, &old, &again.0).is_empty()
                || !differing(&one, &new, &again.1).is_empty()
        };
        let (lost, what): (Vec<_>, Vec<_>) = what.into_iter().partition(unstable);
        self.unstable += u64::from(!lost.is_empty());
        if what.is_empty() {
            return Ok(None);
        }
        let is = |w| what.contains(&w);
        let path = match (&old.path, &new.path) {
            (Some(old), Some(new)) if is(What::Path) => old.describe_difference(new),
            _ => Vec::new(),
        };
        Ok(Some(Difference {
            status: is(What::Status).then(|| (old.end.clone(), new.end.clone())),
            output: is(What::Output).then(|| first_difference(&old, &new)),
            path,
            what,
        }))
    }

    /// The names of the functions whose code differs, or that only the new build has.
    pub fn changed_functions(&self) -> Vec<String> {
        path::changed(self.old.layout(), self.new.layout())
    }

    /// The same for the old build: those that differ, or that only it has.
    pub fn changed_in_old(&self) -> Vec<String> {
        path::changed(self.new.layout(), self.old.layout())
    }
}

fn differing(only: &[What], old: &Answer, new: &Answer) -> Vec<What> {
    let differs = |what: &What| match what {
        What::Output => old.stdout != new.stdout || old.stderr != new.stderr,
        What::Status => old.end != new.end,
        What::Path => match (&old.path, &new.path) {
            (Some(old), Some(new)) => old != new,
            _ => false,
        },
    };
    only.iter().copied().filter(differs).collect()
}

/// The first line of the output that differs.
fn first_difference(old: &Answer, new: &Answer) -> String {
    for (name, old, new) in
        [("", &old.stdout, &new.stdout), ("standard error, ", &old.stderr, &new.stderr)]
    {
        if old == new {
            continue;
        }
        let (mut old, mut new) = (old.split(|b| *b == b'\n'), new.split(|b| *b == b'\n'));
        for line in 1.. {
            match (old.next(), new.next()) {
                (a, b) if a == b => {}
                (a, b) => return format!("{name}line {line}: {} became {}", quote(a), quote(b)),
            }
        }
    }
    String::new()
}

fn quote(line: Option<&[u8]>) -> String {
    const MAX_CHARS: usize = 60;
    let Some(line) = line else { return "nothing".into() };
    let text: String = String::from_utf8_lossy(line).chars().take(MAX_CHARS).collect();
    format!("{text:?}")
}

fn print(args: &Diff, path: &Path, difference: &Difference) -> Result<(), Failure> {
    if args.json {
        return Ok(());
    }
    let mut out = show::out();
    writeln!(out, "{}", path.display())?;
    if let Some((old, new)) = &difference.status {
        writeln!(out, "    status: {} became {}", show::end(old), show::end(new))?;
    }
    if let Some(output) = &difference.output {
        writeln!(out, "    output: {output}")?;
    }
    for line in &difference.path {
        writeln!(out, "    path: {line}")?;
    }
    out.flush()?;
    Ok(())
}

fn as_json(path: &Path, difference: &Difference) -> Value {
    let status = difference.status.as_ref();
    json!({
        "input": path.to_string_lossy(),
        "status": status.map(|(old, new)| [show::end(old), show::end(new)]),
        "output": difference.output,
        "path": difference.path,
    })
}
