//! `pleach init`: from a source tree to a search. Prints the commands that build the tree, choose
//! seeds and search; with `--run`, runs them, and finds out by runs which program reads which
//! files.

mod build;
mod plan;
mod probe;

use super::require_vacant;
use crate::args::{Args, Command, Init};
use crate::exit::{Code, Failure};
use anyhow::{Context, anyhow};
use clap::Parser;
use plan::Plan;
use pleach_exec::triage::quoted;
use pleach_project::{Project, System};
use std::io::Write;
use std::path::{Path, PathBuf};

/// At most this many files become seeds.
const MAX_SEEDS: usize = 500;

pub fn run(args: Init) -> Result<Code, Failure> {
    let named = || args.dir.display().to_string();
    let project = Project::inspect(&args.dir).with_context(named).map_err(Failure::user_error)?;
    let systems = systems(&project, &args)?;
    let out = match &args.output {
        Some(out) => std::path::absolute(out)?,
        None => default_output(&project.tree.root),
    };
    if out.starts_with(&project.tree.root) {
        return Err(Failure::user_error(anyhow!(
            "{}: is in the source tree, which is not changed; name another directory with -o",
            out.display()
        )));
    }
    require_vacant(&out)?;
    let plan = Plan { project: &project, args: &args, system: systems[0], out: &out };
    if !args.run {
        let mut stdout = crate::show::out();
        stdout.write_all(plan.script().as_bytes())?;
        stdout.flush()?;
        return Ok(Code::Ok);
    }
    eprintln!("{}", plan.headline());
    std::fs::create_dir_all(&out)
        .with_context(|| out.display().to_string())
        .map_err(Failure::user_error)?;
    let system = build::run(&project, &args, &systems, &out)?;
    let plan = Plan { system, ..plan };
    search(&plan)
}

/// The build systems to try, the best first: those whose programs are installed.
fn systems(project: &Project, args: &Init) -> Result<Vec<System>, Failure> {
    let dir = args.dir.display();
    let names: Vec<&str> = project.systems.iter().map(|s| s.name()).collect();
    if names.is_empty() {
        return Err(Failure::user_error(anyhow!(
            "{dir}: no configure, configure.ac, CMakeLists.txt, meson.build or makefile, and no C \
             or C++ sources"
        )));
    }
    if let Some(name) = &args.build {
        return match project.systems.iter().find(|s| s.name() == name) {
            Some(system) => Ok(vec![*system]),
            None => Err(Failure::user_error(anyhow!(
                "--build {name}: {dir} has only: {}",
                names.join(", ")
            ))),
        };
    }
    let mut systems = project.systems.clone();
    systems.sort_by_key(|system| !build::missing_tools(*system).is_empty());
    Ok(systems)
}

/// Beside the tree: `mawk-1.3.4.pleach`.
fn default_output(root: &Path) -> PathBuf {
    let mut name = root.file_name().unwrap_or_default().to_os_string();
    name.push(".pleach");
    root.with_file_name(name)
}

/// Chooses a program and seeds in a tree that is built, and searches.
fn search(plan: &Plan) -> Result<Code, Failure> {
    let mut chosen = probe::choose(plan)?;
    if chosen.is_none() && build::install(plan)? {
        chosen = probe::choose(plan)?;
    }
    if chosen.is_none() && !probe::has_programs(plan) && plan.project.programs.harnesses.is_empty()
    {
        return Err(Failure::failed_check(anyhow!(
            "no program in {} was made by pleach-cc: the build uses another compiler, or makes only \
             libraries; say how with --build, or build it as docs/recipes.md shows",
            plan.out.display()
        )));
    }
    let Some(chosen) = chosen else {
        return Err(Failure::failed_check(anyhow!(
            "no program was found in {} that reads its input and decides on it; name one with \
             --program, or write a harness (docs/recipes.md)",
            plan.out.display()
        )));
    };
    eprintln!("program: {} ({} branches depend on the input)", chosen.shown(), chosen.sites);
    let mut words: Vec<String> = vec!["pleach".into(), "run".into()];
    if !chosen.seeds.is_empty() {
        let dir = select_seeds(plan, &chosen)?;
        words.extend(["-i".into(), dir.display().to_string()]);
    }
    let seconds = plan.args.seconds.to_string();
    let out = plan.out.join("out").display().to_string();
    words.extend(["-o".into(), out, "-V".into(), seconds, "--".into()]);
    words.extend(chosen.words());
    let shown: Vec<String> = words.iter().map(|w| quoted(w.as_ref())).collect();
    eprintln!("$ {}", shown.join(" "));
    for line in plan.grammar_hints() {
        eprintln!("{line}");
    }
    repeat(words)
}

/// Copies the seeds, and keeps those that cover something.
fn select_seeds(plan: &Plan, chosen: &probe::Chosen) -> Result<PathBuf, Failure> {
    let (all, kept) = (plan.out.join("seeds-all"), plan.out.join("seeds"));
    let written = || -> std::io::Result<()> {
        std::fs::create_dir_all(&all)?;
        for (number, path) in chosen.seeds.iter().take(MAX_SEEDS).enumerate() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            std::fs::copy(path, all.join(format!("{number:03}-{name}")))?;
        }
        Ok(())
    };
    written().with_context(|| all.display().to_string()).map_err(Failure::user_error)?;
    let text = |path: &Path| path.display().to_string();
    let mut words: Vec<String> = ["pleach", "cmin", "-t", "2000", "-i"].map(String::from).to_vec();
    words.extend([text(&all), "-o".into(), text(&kept), "--".into()]);
    words.extend(chosen.words());
    repeat(words)?;
    // Every seed may crash or hang.
    let has_kept = std::fs::read_dir(&kept).is_ok_and(|mut entries| entries.next().is_some());
    Ok(if has_kept { kept } else { all })
}

/// Runs another command of Pleach in this process.
fn repeat(words: Vec<String>) -> Result<Code, Failure> {
    match Args::try_parse_from(words) {
        Ok(Args { command: command @ (Command::Campaign(_) | Command::Cmin(_)) }) => {
            super::run(command)
        }
        Ok(_) => Ok(Code::Internal),
        Err(error) => Err(Failure::internal(error)),
    }
}
