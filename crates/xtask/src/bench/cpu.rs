//! Measures what instrumentation costs a CPU-bound program without symbolic input: a job
//! of each subject, in the plain build, the fast half, the symbolic half and a build by
//! afl-clang-fast.
//!
//! The distribution's AFL++ uses another version of clang. Its ratio is to the same plain
//! build as the others, so it includes the difference between the two versions.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::one_input::Program;
use super::stats::{geometric_mean, median};
use crate::process;
use crate::subjects::{Flavour, Recipe, ensure_built, extract_symbolic};

#[derive(Debug, Serialize)]
pub struct Cpu {
    pub program: String,
    pub plain_ms: f64,
    /// Ratios to the plain build.
    pub fast: f64,
    pub symbolic: f64,
    pub afl: Option<f64>,
}

/// A job in one build, and its measured times in milliseconds.
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
        let (exit, cost) = process::measure(&mut shell)?;
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

/// Runs a subject's job `rounds` times in every variant, in turn.
pub fn measure_subject(recipe: &Recipe, rounds: u32, with_afl: bool) -> Result<Cpu> {
    let mut plain = variant(recipe, Flavour::Plain)?;
    let mut fast = variant(recipe, Flavour::Pleach)?;
    let mut symbolic = symbolic_variant(&fast)?;
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

/// Runs the user's program on its input, `rounds` times in every variant, in turn.
pub fn measure_program(program: &Program, input: &Path, rounds: u32) -> Result<Cpu> {
    let directory = std::env::current_dir()?;
    let input = quote(input)?;
    let mut rest = String::new();
    for arg in &program.args {
        rest +=
            &if arg == "@@" { format!(" {input}") } else { format!(" {}", quote(arg.as_ref())?) };
    }
    if !program.args.iter().any(|arg| arg == "@@") {
        rest += &format!(" <{input}");
    }
    let variant = |path: &Path| -> Result<Variant> {
        let command = format!("{}{rest}", quote(path)?);
        Ok(Variant { directory: directory.clone(), command, samples: Vec::new() })
    };
    let dir = tempfile::tempdir()?;
    let symbolic = dir.path().join("symbolic");
    extract_symbolic(&program.pleach, &symbolic)?;
    let (mut plain, mut fast) = (variant(&program.plain)?, variant(&program.pleach)?);
    let mut symbolic = variant(&symbolic)?;
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
    let mean = |field: fn(&Cpu) -> f64| geometric_mean(&rows.iter().map(field).collect::<Vec<_>>());
    let afl: Option<Vec<f64>> = rows.iter().map(|row| row.afl).collect();
    (mean(|r| r.fast), mean(|r| r.symbolic), afl.map(|ratios| geometric_mean(&ratios)))
}

fn variant(recipe: &Recipe, flavour: Flavour) -> Result<Variant> {
    ensure_built(recipe, flavour, false)?;
    let mut work = recipe.stage("work", flavour)?;
    let done = process::run(work.stdin(Stdio::null()), Duration::from_secs(60))?;
    if !done.exit.success() {
        bail!("{}: work: {}: {}", recipe.name, done.exit, done.last_lines());
    }
    let command = String::from_utf8(done.stdout)?.trim().to_string();
    Ok(Variant { directory: recipe.build_dir(flavour), command, samples: Vec::new() })
}

/// The same job in the symbolic half, which is extracted beside the program.
fn symbolic_variant(fast: &Variant) -> Result<Variant> {
    let (program, rest) = fast.command.split_once(' ').context("a job without arguments")?;
    let symbolic = format!("{program}.symbolic");
    extract_symbolic(&fast.directory.join(program), &fast.directory.join(&symbolic))?;
    let directory = fast.directory.clone();
    Ok(Variant { directory, command: format!("{symbolic} {rest}"), samples: Vec::new() })
}

/// Quotes a path for the shell.
fn quote(text: &Path) -> Result<String> {
    let text = text.to_str().context("a path that is not UTF-8")?;
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}
