//! How much slower a package is in both halves: its program on its own test data.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::bench::contest::program::{Built, Program, command_on};
use crate::bench::stats::median;
use crate::process;
use crate::subjects::{Flavour, Recipe, extract_symbolic, stage_output};

const ROUNDS: usize = 3;

/// Ratios of processor time to the plain build, without and with labels on the input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Slowdown {
    pub fast: f64,
    pub symbolic: f64,
    pub labels: f64,
}

/// Runs all test data in each variant in turn; the median of the rounds counts.
pub fn measure(recipe: &Recipe) -> Result<Slowdown> {
    let program = Program::package(recipe.clone());
    let plain = program.build(Flavour::Plain)?;
    // Its arguments name files of its own build.
    let words = String::from_utf8(stage_output(recipe, "fuzz", Flavour::Pleach)?)?;
    let command = words.split_whitespace().map(String::from).collect();
    let fast = Built { directory: recipe.build_dir(Flavour::Pleach), command };
    let scratch = tempfile::tempdir()?;
    // Beside the program, because a program may look for its files there.
    let mut symbolic = fast.clone();
    symbolic.command[0] += ".symbolic";
    extract_symbolic(&fast.program()?, &fast.directory.join(&symbolic.command[0]))?;

    let variants = [(&plain, false), (&fast, false), (&symbolic, false), (&symbolic, true)];
    let mut samples = [const { Vec::new() }; 4];
    let seeds = String::from_utf8(stage_output(recipe, "fuzz_seeds", Flavour::Plain)?)?;
    if seeds.is_empty() {
        bail!("{}: there is no test data of a usable size", recipe.name);
    }
    for _ in 0..ROUNDS {
        for ((built, labels), samples) in variants.iter().zip(&mut samples) {
            let mut total = 0.0;
            for seed in seeds.lines() {
                let seed = plain.directory.join(seed);
                let mut command = command_on(built, &seed, scratch.path())?;
                command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
                if *labels {
                    command.env("PLEACH_LABEL", "1");
                }
                total += process::measure(&mut command)?.1.cpu.as_secs_f64();
            }
            samples.push(total);
        }
    }
    let [plain, fast, symbolic, labels] = samples.map(|times| median(&times));
    Ok(Slowdown { fast: fast / plain, symbolic: symbolic / plain, labels: labels / plain })
}
