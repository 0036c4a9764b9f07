//! `pleach compare`: runs several strategies on one program. Each campaign is a `pleach run`
//! with the same limits and options, in its own directory. The results are read from these
//! directories. The kept inputs run again, to find the branches that they take in each
//! source file. Campaigns that exist, also those of several machines, can take part.

mod args;
mod branches;
mod campaigns;

pub use args::Compare;

use super::require_vacant;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::{Context, anyhow};
use branches::{Branches, Taken};
use campaigns::{Finished, Job};
use pleach_campaign::run::{Dir, build_of};
use pleach_exec::Layout;
use pleach_report::compare::{Axis, Comparison, Strategy, plot, table};
use pleach_report::html::comparison_page;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

pub fn run(args: Compare) -> Result<Code, Failure> {
    for name in &args.strategies {
        pleach_search::find(name).map_err(Failure::user_error)?;
    }
    let layout = Arc::new(Layout::private(Path::new(&args.program[0]))?);
    let branches = Branches::new(&layout, &args.modules).map_err(Failure::user_error)?;
    require_vacant(&args.output)?;
    let existing = read_existing(&args)?;
    let seeds = 0..args.seeds;
    let jobs: Vec<Job> = seeds
        .flat_map(|seed| args.strategies.iter().map(move |s| Job { strategy: s.clone(), seed }))
        .collect();
    let finished = campaigns::run(&args, &jobs)?;
    let mut groups: Vec<Group> =
        args.strategies.iter().map(|name| (name.clone(), Vec::new())).collect();
    for (Job { strategy, seed }, finished) in jobs.into_iter().zip(finished) {
        finished.into_iter().for_each(|finished| add_to(&mut groups, &strategy, seed, finished));
    }
    for (seed, (name, finished)) in (0..).zip(existing) {
        add_to(&mut groups, &name, seed, finished);
    }
    let comparison = compare(&args, &layout, &branches, groups)?;
    let text = table(&comparison);
    let json = serde_json::to_string(&comparison)?;
    let files = [
        ("compare.txt", text.clone()),
        ("compare.json", format!("{json}\n")),
        ("coverage-time.svg", plot(&comparison, Axis::Time)),
        ("coverage-runs.svg", plot(&comparison, Axis::Runs)),
        ("compare.html", comparison_page(&comparison, env!("CARGO_PKG_VERSION"))),
    ];
    for (name, contents) in &files {
        let path = args.output.join(name);
        std::fs::write(&path, contents)
            .with_context(|| path.display().to_string())
            .map_err(Failure::user_error)?;
    }
    let mut out = show::out();
    match args.json {
        true => writeln!(out, "{json}")?,
        false => write!(out, "{text}")?,
    }
    out.flush()?;
    eprintln!("table, plots and campaigns are in {}", args.output.display());
    Ok(Code::Ok)
}

/// The campaigns of a strategy, or those that exist under one name.
type Group = (String, Vec<(u64, Finished)>);

fn add_to(groups: &mut Vec<Group>, name: &str, seed: u64, finished: Finished) {
    match groups.iter_mut().find(|(known, _)| known == name) {
        Some((_, campaigns)) => campaigns.push((seed, finished)),
        None => groups.push((name.into(), vec![(seed, finished)])),
    }
}

/// Reads the campaigns that exist. They must have searched the same program.
fn read_existing(args: &Compare) -> Result<Vec<(String, Finished)>, Failure> {
    let mut existing = Vec::new();
    for (name, dir) in &args.existing {
        if args.strategies.contains(name) {
            let message = format!("--with {name}: a strategy that is compared has this name");
            return Err(Failure::user_error(anyhow!(message)));
        }
        let settings = Dir::settings(dir).map_err(Failure::user_error)?;
        if settings.build != build_of(Path::new(&args.program[0])).map_err(Failure::user_error)? {
            let message = format!("{}: this campaign searched another program", dir.display());
            return Err(Failure::user_error(anyhow!(message)));
        }
        existing.push((name.clone(), campaigns::read_results(dir)?));
    }
    Ok(existing)
}

fn compare(
    args: &Compare,
    layout: &Arc<Layout>,
    branches: &Branches,
    groups: Vec<Group>,
) -> Result<Comparison, Failure> {
    let mut strategies = Vec::new();
    let mut covered: Vec<Taken> = Vec::new();
    for (name, finished) in groups {
        let mut all = Taken::default();
        let mut campaigns = Vec::new();
        for (seed, Finished { dir, mut campaign, stats }) in finished {
            let replayed = branches.replay(layout, &dir)?;
            campaign.seed = seed;
            campaign.modules = replayed.modules;
            branches.add_counts(&stats, &mut campaign.modules);
            all.add(&replayed.taken);
            campaigns.push(campaign);
        }
        covered.push(all);
        strategies.push(Strategy { name, campaigns });
    }
    let difference = |a: &Taken, i: usize, j: usize| match i == j {
        true => a.count(),
        false => a.without(&covered[j]),
    };
    let row = |(i, a): (usize, &Taken)| (0..covered.len()).map(|j| difference(a, i, j)).collect();
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
