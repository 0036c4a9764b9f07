//! Real programs, built only by naming Pleach as the compiler, checked by their
//! own test suites.
//!
//! Each is a recipe in `tools/subjects/`: shell, because fetching, configuring
//! and running a suite is nothing but commands. What is here is what the recipes
//! must not know: that the same suite runs four times, on the plain build, on the
//! fast half, and on the symbolic half with labels off and on; and that a test
//! counts only if the plain build passes it.

mod build;
mod check;
mod recipe;
mod table;

use anyhow::{Result, bail};

pub use build::ensure_built;
pub use check::symbolic_executable;
pub use recipe::{Flavour, Recipe};
use table::Row;

#[derive(clap::Args)]
pub struct Args {
    /// Names of subjects, or `all`, or `list`
    #[arg(required = true)]
    names: Vec<String>,
    /// Build again even if nothing changed
    #[arg(long)]
    rebuild: bool,
}

/// True when every test that the plain build passes passed in every half.
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
    for recipe in &chosen {
        eprintln!("{}: fetching, building, checking", recipe.name);
        let row = examine(recipe, args.rebuild)?;
        row.print_problems();
        rows.push(row);
    }
    println!("{}", table::render(&rows));
    let (passed, failed) =
        rows.iter().fold((0, 0), |(p, f), row| (p + row.passed(), f + row.failed()));
    println!("subjects: {passed} passed, {failed} failed");
    Ok(failed == 0)
}

fn choose(known: &[Recipe], name: &str) -> Result<Recipe> {
    match known.iter().find(|recipe| recipe.name == name) {
        Some(recipe) => Ok(recipe.clone()),
        None => bail!("no subject is called {name}; ./x subjects list names them all"),
    }
}

fn examine(recipe: &Recipe, rebuild: bool) -> Result<Row> {
    let plain = ensure_built(recipe, Flavour::Plain, rebuild)?;
    let expected = check::plain(recipe)?;
    let mut row = Row::new(recipe.name.clone(), plain, expected);
    match ensure_built(recipe, Flavour::Pleach, rebuild) {
        Ok(built) => {
            row.pleach = Some(built);
            row.fast = check::fast(recipe)?;
            (row.symbolic, row.labels) = check::symbolic(recipe)?;
        }
        // A build that fails is a finding about this subject; the others go on.
        Err(problem) => row.build_problem = Some(format!("{problem:#}")),
    }
    Ok(row)
}
