//! What instrumentation costs a program that computes: each subject's own job,
//! and nothing symbolic, in the plain build, the fast half, the symbolic half and
//! a build by afl-clang-fast.
//!
//! The last one is compiled by the clang that the distribution's AFL++ was built
//! for, which is another version; its ratio is to the same plain build as the
//! others', so it contains the difference between the two clangs.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::one_input::Program;
use super::stats::{geometric_mean, median};
use crate::process;
use crate::subjects::{Flavour, Recipe, ensure_built, symbolic_executable};

#[derive(Debug, Serialize)]
pub struct Cpu {
    pub program: String,
    pub plain_ms: f64,
    /// Ratios to the plain build.
    pub fast: f64,
    pub symbolic: f64,
    pub afl: Option<f64>,
}

/// One way to run a job.
struct Variant {
    directory: std::path::PathBuf,
    command: String,
    samples: Vec<f64>,
}

impl Variant {
    fn run(&mut self) -> Result<()> {
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(format!("exec {}", self.command)).current_dir(&self.directory);
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (exit, cost) = process::cost(&mut shell)?;
        if !exit.success() {
            bail!("{} in {}: {exit}", self.command, self.directory.display());
        }
        self.samples.push(cost.cpu.as_secs_f64() * 1e3);
        Ok(())
    }

    fn median(&self) -> f64 {
        median(&self.samples)
    }
}

/// A subject's job, `rounds` times in every variant, in turn.
pub fn subject(recipe: &Recipe, rounds: u32, with_afl: bool) -> Result<Cpu> {
    let mut plain = variant(recipe, Flavour::Plain)?;
    let mut fast = variant(recipe, Flavour::Pleach)?;
    let mut symbolic = symbolic_of(&fast)?;
    let mut afl = if with_afl { Some(variant(recipe, Flavour::Afl)?) } else { None };
    for _ in 0..rounds {
        plain.run()?;
        fast.run()?;
        symbolic.run()?;
        if let Some(afl) = &mut afl {
            afl.run()?;
        }
    }
    let base = plain.median();
    Ok(Cpu {
        program: recipe.name.clone(),
        plain_ms: base,
        fast: fast.median() / base,
        symbolic: symbolic.median() / base,
        afl: afl.map(|afl| afl.median() / base),
    })
}

/// A program of anyone's, on its own input.
pub fn own(program: &Program, input: &Path, rounds: u32) -> Result<Cpu> {
    let directory = std::env::current_dir()?;
    let input = quoted(input)?;
    let mut rest = String::new();
    for arg in &program.args {
        rest +=
            &if arg == "@@" { format!(" {input}") } else { format!(" {}", quoted(arg.as_ref())?) };
    }
    if !program.args.iter().any(|arg| arg == "@@") {
        rest += &format!(" <{input}");
    }
    let of = |path: &Path| -> Result<Variant> {
        let command = format!("{}{rest}", quoted(path)?);
        Ok(Variant { directory: directory.clone(), command, samples: Vec::new() })
    };
    let twin = tempfile::tempdir()?;
    let symbolic = twin.path().join("symbolic");
    symbolic_executable(&program.pleach, &symbolic)?;
    let (mut plain, mut fast) = (of(&program.plain)?, of(&program.pleach)?);
    let mut symbolic = of(&symbolic)?;
    for _ in 0..rounds {
        plain.run()?;
        fast.run()?;
        symbolic.run()?;
    }
    let base = plain.median();
    Ok(Cpu {
        program: program.name.clone(),
        plain_ms: base,
        fast: fast.median() / base,
        symbolic: symbolic.median() / base,
        afl: None,
    })
}

/// Geometric means over the programs: fast, symbolic, AFL.
pub fn means(rows: &[Cpu]) -> (f64, f64, Option<f64>) {
    let over = |field: fn(&Cpu) -> f64| geometric_mean(&rows.iter().map(field).collect::<Vec<_>>());
    let afl: Option<Vec<f64>> = rows.iter().map(|row| row.afl).collect();
    (over(|r| r.fast), over(|r| r.symbolic), afl.map(|ratios| geometric_mean(&ratios)))
}

fn variant(recipe: &Recipe, flavour: Flavour) -> Result<Variant> {
    ensure_built(recipe, flavour, false)?;
    let mut work = recipe.stage("work", flavour)?;
    let said = process::run(work.stdin(Stdio::null()), Duration::from_secs(60))?;
    if !said.exit.success() {
        bail!("{}: work: {}: {}", recipe.name, said.exit, said.complaint());
    }
    let command = String::from_utf8(said.stdout)?.trim().to_string();
    Ok(Variant { directory: recipe.here(flavour), command, samples: Vec::new() })
}

/// The same job by the symbolic half, laid out beside the program.
fn symbolic_of(fast: &Variant) -> Result<Variant> {
    let (program, rest) = fast.command.split_once(' ').context("a job without arguments")?;
    let twin = format!("{program}.symbolic");
    symbolic_executable(&fast.directory.join(program), &fast.directory.join(&twin))?;
    let directory = fast.directory.clone();
    Ok(Variant { directory, command: format!("{twin} {rest}"), samples: Vec::new() })
}

/// For the shell.
fn quoted(text: &Path) -> Result<String> {
    let text = text.to_str().context("a path that is not UTF-8")?;
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}
