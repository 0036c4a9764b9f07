//! `pleach compare`: strategies side by side on one program. Each campaign is a
//! `pleach run` of its own, with the same budget and flags, and leaves its directory;
//! what is compared is read from there, and the inputs that were kept are run again
//! to see which branches of which source files they take.

mod args;
mod branches;
mod campaigns;

pub use args::Compare;

use crate::exit::{Code, Failure};
use crate::show;
use anyhow::{Context, anyhow};
use branches::{Branches, Taken};
use campaigns::{Job, Left};
use pleach_exec::Layout;
use pleach_report::compare::{Axis, Comparison, Strategy, plot, table};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

pub fn run(args: Compare) -> Result<Code, Failure> {
    for name in &args.strategies {
        pleach_search::find(name).map_err(Failure::person)?;
    }
    let layout = Arc::new(Layout::private(Path::new(&args.program[0]))?);
    let branches = Branches::new(&layout, &args.modules).map_err(Failure::person)?;
    vacant(&args.output)?;
    let seeds = 0..args.seeds;
    let jobs: Vec<Job> = seeds
        .flat_map(|seed| args.strategies.iter().map(move |s| Job { strategy: s.clone(), seed }))
        .collect();
    let left = campaigns::run(&args, &jobs)?;
    let comparison = compared(&args, &layout, &branches, &jobs, left)?;
    let text = table(&comparison);
    let json = serde_json::to_string(&comparison)?;
    let files = [
        ("compare.txt", text.clone()),
        ("compare.json", format!("{json}\n")),
        ("coverage-time.svg", plot(&comparison, Axis::Time)),
        ("coverage-runs.svg", plot(&comparison, Axis::Runs)),
    ];
    for (name, contents) in &files {
        let path = args.output.join(name);
        std::fs::write(&path, contents)
            .with_context(|| path.display().to_string())
            .map_err(Failure::person)?;
    }
    let mut out = show::out();
    match args.json {
        true => writeln!(out, "{json}")?,
        false => write!(out, "{text}")?,
    }
    out.flush()?;
    eprintln!("plots, table and campaigns are in {}", args.output.display());
    Ok(Code::Ok)
}

/// The directory must be empty or not exist; nothing is made yet.
fn vacant(dir: &Path) -> Result<(), Failure> {
    match std::fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            Some(_) => {
                Err(Failure::person(anyhow!("{}: the directory is not empty", dir.display())))
            }
            None => Ok(()),
        },
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(Failure::person(anyhow::Error::from(e).context(dir.display().to_string()))),
    }
}

fn compared(
    args: &Compare,
    layout: &Arc<Layout>,
    branches: &Branches,
    jobs: &[Job],
    mut left: Vec<Option<Left>>,
) -> Result<Comparison, Failure> {
    let mut strategies = Vec::new();
    let mut covered: Vec<Taken> = Vec::new();
    for name in &args.strategies {
        let mut all = Taken::default();
        let mut campaigns = Vec::new();
        for (job, left) in jobs.iter().zip(&mut left).filter(|(j, _)| j.strategy == *name) {
            let Some(mut left) = left.take() else { continue };
            let replayed = branches.replay(layout, &left.dir)?;
            left.campaign.seed = job.seed;
            left.campaign.modules = replayed.modules;
            branches.count(&left.stats, &mut left.campaign.modules);
            all.add(&replayed.taken);
            campaigns.push(left.campaign);
        }
        covered.push(all);
        strategies.push(Strategy { name: name.clone(), campaigns });
    }
    let lacking = |a: &Taken, i: usize, j: usize| match i == j {
        true => a.count(),
        false => a.without(&covered[j]),
    };
    let row = |(i, a): (usize, &Taken)| (0..covered.len()).map(|j| lacking(a, i, j)).collect();
    Ok(Comparison {
        program: Path::new(&args.program[0])
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
        budget: args.budget(),
        branches: branches.total(),
        modules: branches.modules(),
        overlap: covered.iter().enumerate().map(row).collect(),
        strategies,
    })
}
