//! `./x packages`: source packages of Debian that nobody prepared for Pleach.
//!
//! Each is a recipe in `tools/packages/`. This module builds it with Pleach as the compiler
//! and nothing else, runs its own tests on the plain build and on both halves, and measures
//! the slowdown. Then `pleach run` and AFL++ search it side by side, both with ASan, from
//! its own test data. Crashes are checked on a plain build with ASan.
//!
//! Every result is one line in `docs/packages.jsonl`, and `docs/packages.md` is made from
//! these lines. So the command can be stopped at any time, and continues with what is
//! missing.

mod crash;
mod record;
mod slowdown;
mod table;

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use pleach_report::Progress;

use crate::bench::contest::program::Program;
use crate::bench::contest::record::JsonLines;
use crate::bench::contest::{self, Contestant, Entry};
use crate::bench::machine::{self, Machine};
use crate::project;
use crate::subjects::{self, Flavour, Recipe, stage_output};
use record::{Campaign, Line, Rival, Tests};

#[derive(clap::Args)]
pub struct Args {
    /// Names of packages; `list` to print all names [default: all that have no result yet]
    names: Vec<String>,
    /// Minutes of each campaign
    #[arg(long, default_value_t = 5.0)]
    minutes: f64,
    /// Build and test only, without campaigns
    #[arg(long)]
    build_only: bool,
    /// Without building and testing: campaigns only
    #[arg(long, conflicts_with = "build_only")]
    campaign_only: bool,
    /// Build again, even if nothing changed
    #[arg(long)]
    rebuild: bool,
    /// Check the crashes of earlier campaigns again, and run nothing else
    #[arg(long)]
    verify: bool,
    /// Make docs/packages.md from the results so far, and run nothing
    #[arg(long)]
    show: bool,
}

pub fn run(args: &Args) -> Result<bool> {
    let known = Recipe::packages()?;
    if args.names == ["list"] {
        known.iter().for_each(|recipe| println!("{:16} {}", recipe.name, recipe.summary()));
        return Ok(true);
    }
    let seconds = (args.minutes * 60.0).round() as u64;
    if seconds < 5 {
        bail!("--minutes {}: a campaign takes at least 5 seconds", args.minutes);
    }
    let mut results = JsonLines::open(project::root().join("docs/packages.jsonl"))?;
    let chosen = match args.names.is_empty() {
        true => known.clone(),
        false => {
            args.names.iter().map(|n| subjects::choose(&known, n)).collect::<Result<Vec<_>>>()?
        }
    };
    let mut good = true;
    let progress = Progress::new("packages", chosen.len() as u64);
    for recipe in chosen.iter().filter(|_| !args.show) {
        progress.show();
        progress.set_message(&recipe.name);
        if args.verify {
            crash::verify_kept(recipe)?.iter().for_each(|crash| println!("{}", crash.markdown()));
            continue;
        }
        // A package that fails is a result; the others continue.
        if let Err(problem) = examine(recipe, args, seconds, &mut results, &progress) {
            progress.suspend(|| eprintln!("{}: {problem:#}", recipe.name));
            good = false;
        }
        progress.inc();
        write_table(&known, &results.all)?;
    }
    write_table(&known, &results.all)?;
    Ok(good)
}

/// Does everything that is missing for a package, or all of it if the package was named.
fn examine(
    recipe: &Recipe,
    args: &Args,
    seconds: u64,
    results: &mut JsonLines<Line>,
    progress: &Progress,
) -> Result<()> {
    let again = !args.names.is_empty();
    let latest = record::latest(&results.all, &recipe.name);
    let has_tests = latest.tests.is_some_and(|tests| tests.problem.is_none());
    let has_campaign = latest.campaign.is_some_and(|c| c.seconds >= seconds);
    if !args.campaign_only && (again || !has_tests) {
        let tests = test(recipe, args.rebuild)?;
        progress.suspend(|| eprintln!("{}: {}", recipe.name, tests.describe()));
        results.add(Line::Tests(tests))?;
    }
    if !args.build_only && (again || !has_campaign) {
        let campaign = compete(recipe, seconds)?;
        progress.suspend(|| eprintln!("{}: {}", recipe.name, campaign.describe()));
        results.add(Line::Campaign(campaign))?;
    }
    Ok(())
}

/// Builds a package and runs its tests. A failed build by Pleach is a result.
fn test(recipe: &Recipe, rebuild: bool) -> Result<Tests> {
    let row = subjects::examine(recipe, rebuild)?;
    row.print_problems();
    let slowdown = match row.build_problem {
        Some(_) => None,
        None => Some(slowdown::measure(recipe)?),
    };
    let (passed, in_halves) = row.counts();
    Ok(Tests {
        package: recipe.name.clone(),
        version: version(recipe)?,
        commit: machine::commit()?,
        machine: Machine::here()?,
        date: machine::now()?,
        problem: row.build_problem.as_ref().map(|p| without_root(p.lines().next().unwrap_or(""))),
        passed,
        in_halves,
        slowdown,
    })
}

/// The version of the source package.
fn version(recipe: &Recipe) -> Result<String> {
    Ok(String::from_utf8(stage_output(recipe, "version", Flavour::Plain)?)?.trim().into())
}

/// Runs `pleach run` and AFL++ side by side, and checks the crashes.
fn compete(recipe: &Recipe, seconds: u64) -> Result<Campaign> {
    let program = Program::package(recipe.clone());
    for flavour in [Flavour::Plain, Flavour::Gcov] {
        program.build(flavour)?;
    }
    let options = String::from_utf8(stage_output(recipe, "fuzz_options", Flavour::Plain)?)?;
    let flags: Vec<&str> = options.split_whitespace().collect();
    let contestants = vec![Contestant::pleach("pleach", &flags), Contestant::afl()];
    let no_sentences = |_: u64, _: &Path| bail!("sentences are not used here");
    let entry = Entry { program: &program, contestants, write_sentences: &no_sentences };
    let kept = crash::directory(recipe);
    let (mut pleach, mut afl) = (None, None);
    contest::run_once(&entry, seconds, &contest::default_cores()?, &mut |record, out| {
        if record.key.contestant == "afl" {
            afl = Some(Rival {
                branches: record.branches,
                runs: record.runs,
                crashes: record.crashes,
            });
        } else {
            crash::keep(&out.join("crashes"), &kept)?;
            pleach = Some(record);
        }
        Ok(())
    })?;
    let (Some(pleach), Some(afl)) = (pleach, afl) else { bail!("a campaign has no result") };
    let crashes = crash::verify_kept(recipe)?;
    let mut campaign = Campaign::new(version(recipe)?, pleach, afl, crashes);
    campaign.options = without_root(&campaign.options);
    Ok(campaign)
}

/// The text with paths relative to the checkout, because the results are published.
fn without_root(text: &str) -> String {
    text.replace(&format!("{}/", project::root().display()), "")
}

fn write_table(known: &[Recipe], lines: &[Line]) -> Result<()> {
    Ok(fs::write(project::root().join("docs/packages.md"), table::render(known, lines))?)
}
