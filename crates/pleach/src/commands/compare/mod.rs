//! `pleach compare`: runs several strategies on one program. Each campaign is a `pleach run`
//! with the same limits and options, in its own directory. The results are read from these
//! directories. The kept inputs run again, to find the branches that they take in each
//! source file.

mod args;
mod branches;
mod campaigns;

pub use args::Compare;

use super::require_vacant;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::Context;
use branches::{Branches, Taken};
use campaigns::{Finished, Job};
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
    let seeds = 0..args.seeds;
    let jobs: Vec<Job> = seeds
        .flat_map(|seed| args.strategies.iter().map(move |s| Job { strategy: s.clone(), seed }))
        .collect();
    let finished = campaigns::run(&args, &jobs)?;
    let comparison = compare(&args, &layout, &branches, &jobs, finished)?;
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

fn compare(
    args: &Compare,
    layout: &Arc<Layout>,
    branches: &Branches,
    jobs: &[Job],
    mut finished: Vec<Option<Finished>>,
) -> Result<Comparison, Failure> {
    let mut strategies = Vec::new();
    let mut covered: Vec<Taken> = Vec::new();
    for name in &args.strategies {
        let mut all = Taken::default();
        let mut campaigns = Vec::new();
        for (job, campaign) in jobs.iter().zip(&mut finished).filter(|(j, _)| j.strategy == *name) {
            let Some(Finished { dir, mut campaign, stats }) = campaign.take() else { continue };
            let replayed = branches.replay(layout, &dir)?;
            campaign.seed = job.seed;
            campaign.modules = replayed.modules;
            branches.add_counts(&stats, &mut campaign.modules);
            all.add(&replayed.taken);
            campaigns.push(campaign);
        }
        covered.push(all);
        strategies.push(Strategy { name: name.clone(), campaigns });
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
