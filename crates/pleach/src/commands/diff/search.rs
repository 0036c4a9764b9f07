//! The search for inputs with a difference.

use super::{Diff, Difference, Pair};
use crate::commands::{extension, inputs_in, read_input};
use crate::exit::Failure;
use anyhow::{Context, anyhow};
use pleach_campaign::mutate::{Dictionary, Mutator};
use pleach_exec::{Layout, is_system_file};
use pleach_search::Rng;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest mutant.
const MAX_LEN: usize = 64 << 10;
/// At most this many blocks of changed functions are goals of a campaign.
const MAX_GOALS: usize = 500;
/// The time for a mutant on each build, if the user allows more. If they differ, both get all the
/// time that the user allows.
const QUICK: Duration = Duration::from_secs(1);
/// At most this many inputs with a difference are kept.
const MAX_FOUND: usize = 100;

/// Calls `found` with each input that is kept, and its difference.
pub fn run(
    args: &Diff,
    pair: &mut Pair,
    paths: &[PathBuf],
    mut inputs: Vec<Vec<u8>>,
    mut found: impl FnMut(&Path, Difference) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(out) = &args.output else { return Ok(()) };
    let start = Instant::now();
    let time = args.seconds.map(Duration::try_from_secs_f64).transpose();
    let time = time.map_err(|e| Failure::user_error(anyhow!("-V: {e}")))?;
    make_dir(out)?;
    copy_seeds(paths, out)?;
    let mut campaigns = vec![("new", &args.new, pair.new.layout(), pair.changed_functions())];
    if pair.old.layout().is_some() {
        campaigns.push(("old", &args.old, pair.old.layout(), pair.changed_in_old()));
    }
    let share = campaigns.len() as u32;
    for (name, program, layout, changed) in campaigns {
        let goals = layout.map(|layout| goals_in(layout, &changed)).unwrap_or_default();
        run_campaign(args, program, &goals, share, &out.join(name))?;
    }
    let kept = out.join("differences");
    make_dir(&kept)?;
    let mut seen = BTreeSet::new();
    let mut keep = |input: &[u8], difference: Difference| -> Result<(), Failure> {
        // The same line of output with other numbers is not worth another file.
        let digest = (difference.what.clone(), difference.path.clone(), ends(&difference));
        if seen.len() < MAX_FOUND && seen.insert(digest) {
            let path = kept.join(format!("id:{:06}", seen.len() - 1));
            write(&path, input)?;
            found(&path, difference)?;
        }
        Ok(())
    };
    let mut made = Vec::new();
    for name in ["new", "old"].iter().filter(|name| out.join(name).is_dir()) {
        made.extend(inputs_in(&out.join(name), &["queue", "crashes", "hangs"])?);
    }
    for path in made {
        let input = read_input(&path)?;
        if let Some(difference) = pair.compare(&input)? {
            keep(&input, difference)?;
        }
        inputs.push(input);
    }
    // Inputs that execute what has changed are worth more mutants.
    let changed = pair.changed_functions();
    let mut near = Vec::new();
    for input in &inputs {
        let path = pair.new.run(input, QUICK)?.path;
        if path.is_some_and(|path| path.executes(&changed)) {
            near.push(input.clone());
        }
    }
    let parents = if near.is_empty() { &inputs } else { &near };
    let mut dictionary = Dictionary::default();
    [pair.old.layout(), pair.new.layout()].into_iter().flatten().for_each(|layout| {
        dictionary.add_program(layout);
    });
    inputs.iter().for_each(|input| dictionary.add_seed(input));
    let (mut rng, mut mutator, mut mutant) = (Rng::new(args.seed), Mutator::new(), Vec::new());
    let mut left = args.runs.map(|runs| runs - runs / 2);
    while left != Some(0) && time.is_none_or(|time| start.elapsed() < time) {
        let (Some(parent), other) = (rng.pick(parents), rng.pick(&inputs)) else { break };
        let other = other.map(|other| &other[..]);
        mutator.mutate(&mut rng, parent, other, &dictionary, &mut mutant, MAX_LEN);
        if let Some(difference) = pair.compare_within(&mutant, QUICK)? {
            keep(&mutant, difference)?;
        }
        left = left.map(|left| left - 1);
    }
    Ok(())
}

fn make_dir(path: &Path) -> Result<(), Failure> {
    let made = std::fs::create_dir_all(path).with_context(|| path.display().to_string());
    made.map_err(Failure::user_error)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = std::fs::write(path, bytes).with_context(|| path.display().to_string());
    written.map_err(Failure::user_error)
}

/// How both ended, for telling differences apart.
fn ends(difference: &Difference) -> String {
    difference.status.as_ref().map_or_else(String::new, |ends| format!("{ends:?}"))
}

fn copy_seeds(paths: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let seeds = out.join("seeds");
    make_dir(&seeds)?;
    for (number, path) in paths.iter().enumerate() {
        let name = extension(path).unwrap_or_default();
        let name = format!("{number:06}{}", name.to_string_lossy());
        write(&seeds.join(name), &read_input(path)?)?;
    }
    Ok(())
}

/// A campaign on one build towards some places. `share`: how many campaigns share half of the
/// time.
fn run_campaign(
    args: &Diff,
    program: &Path,
    goals: &[String],
    share: u32,
    campaign: &Path,
) -> Result<(), Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["run", "--seed", &args.seed.to_string()]);
    command.arg("-i").arg(campaign.with_file_name("seeds")).arg("-o").arg(campaign);
    command.args(["-m", &args.memory.to_string()]);
    if let Some(seconds) = args.seconds {
        command.args(["-V", &(seconds / 2.0 / f64::from(share)).to_string()]);
    }
    if let Some(runs) = args.runs {
        command.args(["-n", &(runs / 2 / u64::from(share)).to_string()]);
    }
    if let Some(dir) = &args.cwd {
        command.arg("--cwd").arg(dir);
    }
    for place in goals {
        command.args(["--toward", place]);
    }
    command.arg("--").arg(program).args(&args.args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let ended = command.output()?;
    if !ended.status.success() {
        let text = String::from_utf8_lossy(&ended.stderr);
        let last = text.lines().last().unwrap_or("it failed").trim_start_matches("pleach: ");
        return Err(Failure::user_error(anyhow!("the search failed: {last}")));
    }
    Ok(())
}

/// The blocks with code in some functions, spread evenly if there are too many.
fn goals_in(layout: &Layout, functions: &[String]) -> Vec<String> {
    let mut goals = BTreeSet::new();
    for function in pleach_campaign::run::records(layout) {
        if functions.contains(&crate::show::name(function)) && !is_system_file(&function.file) {
            for place in function.places.iter().filter_map(|block| block.first()) {
                let file = function.file_of_place(place);
                let path = Path::new(&function.directory).join(file);
                let column = place.column.max(1);
                goals.insert((path.to_string_lossy().into_owned(), place.line, column));
            }
        }
    }
    let step = goals.len().div_ceil(MAX_GOALS).max(1);
    let text = |(file, line, column)| format!("{file}:{line}:{column}");
    goals.into_iter().step_by(step).map(text).collect()
}
