//! `./x subjects`: real programs, built with Pleach as the compiler and checked by their
//! own test suites.
//!
//! Each is a recipe in `tools/subjects/`, a shell script that downloads, configures and
//! tests the program. This module runs the suite four times: on the plain build, on the
//! fast half, and on the symbolic half without and with labels. A test counts only if the
//! plain build passes it. A recipe that can break its program also has a regression suite
//! exported from a campaign (`suite`).

mod build;
mod check;
mod recipe;
mod suite;
mod table;

use anyhow::{Result, bail};
use pleach_report::Progress;

pub use build::ensure_built;
pub use check::extract_symbolic;
pub use recipe::{Flavour, Recipe, stage_output};
pub use table::Row;

#[derive(clap::Args)]
pub struct Args {
    /// Names of programs; `all` for every program; `list` to print their names
    #[arg(required = true)]
    names: Vec<String>,
    /// Build again, even if nothing changed
    #[arg(long)]
    rebuild: bool,
}

/// True if every test that the plain build passes also passes in both halves.
pub fn run(args: &Args) -> Result<bool> {
    let known = Recipe::all()?;
    if args.names == ["list"] {
        known.iter().for_each(|recipe| println!("{:10} {}", recipe.name, recipe.summary()));
        return Ok(true);
    }
    let chosen = if args.names == ["all"] {
        known
    } else {
        args.names.iter().map(|name| choose(&known, name)).collect::<Result<_>>()?
    };

    let mut rows = Vec::new();
    let progress = Progress::new("programs", chosen.len() as u64);
    for recipe in &chosen {
        progress.suspend(|| eprintln!("{}: downloading, building, testing", recipe.name));
        progress.show();
        let row = examine(recipe, args.rebuild)?;
        progress.inc();
        progress.suspend(|| row.print_problems());
        rows.push(row);
    }
    progress.finish();
    println!("{}", table::render(&rows));
    let (passed, failed) =
        rows.iter().fold((0, 0), |(p, f), row| (p + row.passed(), f + row.failed()));
    println!("subjects: {passed} passed, {failed} failed");
    Ok(failed == 0)
}

/// The recipe of this name.
pub fn choose(known: &[Recipe], name: &str) -> Result<Recipe> {
    match known.iter().find(|recipe| recipe.name == name) {
        Some(recipe) => Ok(recipe.clone()),
        None => bail!("there is no program {name}; `list` prints all names"),
    }
}

/// Builds a program with both compilers, and runs its tests on each build and half.
pub fn examine(recipe: &Recipe, rebuild: bool) -> Result<Row> {
    let plain = ensure_built(recipe, Flavour::Plain, rebuild)?;
    let expected = check::plain(recipe)?;
    let mut row = Row::new(recipe.name.clone(), plain, expected);
    match ensure_built(recipe, Flavour::Pleach, rebuild) {
        Ok(built) => {
            row.pleach = Some(built);
            row.fast = check::fast(recipe)?;
            (row.symbolic, row.labels) = check::symbolic(recipe)?;
            row.suite = suite::check(recipe)?;
        }
        // A failed build is the result of this program; the others continue.
        Err(problem) => row.build_problem = Some(format!("{problem:#}")),
    }
    Ok(row)
}
