//! Measures compile times of Pleach and of plain `clang -O2`. Pleach runs the front end
//! once, the optimiser and the code generator twice, and the instrumentation.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use serde::Serialize;

use super::stats::median;
use crate::process::{self, Cost};
use crate::subjects::{Flavour, Recipe, ensure_built};

/// A source file of a subject, compiled alone.
struct Source {
    subject: &'static str,
    file: &'static str,
    flags: &'static [&'static str],
}

/// C files from large to small, and a C++ file.
const SOURCES: [Source; 5] = [
    Source { subject: "sqlite3", file: "sqlite3.c", flags: &[] },
    Source {
        subject: "expat",
        file: "expat/lib/xmlparse.c",
        flags: &["-DHAVE_EXPAT_CONFIG_H", "-Iexpat"],
    },
    Source { subject: "lua", file: "src/lvm.c", flags: &[] },
    Source { subject: "cjson", file: "cJSON.c", flags: &[] },
    Source { subject: "tinyxml2", file: "tinyxml2.cpp", flags: &[] },
];

#[derive(Debug, Serialize)]
pub struct Compile {
    pub file: String,
    pub plain_cpu_s: f64,
    pub pleach_cpu_s: f64,
    pub plain_wall_s: f64,
    pub pleach_wall_s: f64,
}

impl Compile {
    pub fn cpu_ratio(&self) -> f64 {
        self.pleach_cpu_s / self.plain_cpu_s
    }

    pub fn wall_ratio(&self) -> f64 {
        self.pleach_wall_s / self.plain_wall_s
    }
}

/// Compiles each file `rounds` times with each compiler, in turn.
pub fn measure(recipes: &[Recipe], rounds: u32) -> Result<Vec<Compile>> {
    let mut rows = Vec::new();
    for source in &SOURCES {
        let Some(recipe) = recipes.iter().find(|r| r.name == source.subject) else { continue };
        ensure_built(recipe, Flavour::Plain, false)?;
        let (mut plain, mut pleach) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            plain.push(compile(recipe, source, Flavour::Plain)?);
            pleach.push(compile(recipe, source, Flavour::Pleach)?);
        }
        let middle = |costs: &[Cost], field: fn(&Cost) -> f64| {
            median(&costs.iter().map(field).collect::<Vec<_>>())
        };
        let (cpu, wall) = (|c: &Cost| c.cpu.as_secs_f64(), |c: &Cost| c.wall.as_secs_f64());
        rows.push(Compile {
            file: source.file.rsplit('/').next().unwrap_or(source.file).to_string(),
            plain_cpu_s: middle(&plain, cpu),
            pleach_cpu_s: middle(&pleach, cpu),
            plain_wall_s: middle(&plain, wall),
            pleach_wall_s: middle(&pleach, wall),
        });
    }
    Ok(rows)
}

fn compile(recipe: &Recipe, source: &Source, flavour: Flavour) -> Result<Cost> {
    let (cc, cxx) = flavour.compilers()?;
    let compiler: PathBuf = if source.file.ends_with(".cpp") { cxx } else { cc };
    let object = tempfile::Builder::new().suffix(".o").tempfile()?;
    let mut command = Command::new(compiler);
    // Both compilers compile the same file, in the tree of the plain build.
    command.current_dir(recipe.build_dir(Flavour::Plain));
    command.args(["-O2", "-w", "-c"]).args(source.flags).arg(source.file);
    command.arg("-o").arg(object.path()).stdin(Stdio::null());
    let (exit, cost) = process::measure(&mut command)?;
    if !exit.success() {
        bail!("compiling {} ({}): {exit}", source.file, flavour.name());
    }
    Ok(cost)
}
