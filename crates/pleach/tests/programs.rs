//! Checks every program of `tests/programs` against the comment at its top.
//!
//! There is one trial for each program. `tests/README.md` explains the checks and the
//! comments; `UPDATE_EXPECT=1` writes their `path:` lines.

mod support {
    pub mod bench;
    pub mod expectation;
    pub mod mutation;
    pub mod prediction;
    pub mod quoted;
    pub mod workshop;
}

use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::bench;
use support::expectation::Program;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let trials = match programs(&folder) {
        Ok(files) => files.into_iter().map(trial).collect(),
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn programs(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "c" || e == "cc") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn trial(file: PathBuf) -> Trial {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Trial::test(name, move || {
        let program = Program::read(&file)?;
        let mut failures = Vec::new();
        for level in &program.levels {
            let found = bench::examine(&program, level)?;
            failures.extend(found.failures.iter().map(|f| format!("{level} {f}")));
            // The comment has the paths of the last level.
            if std::env::var_os("UPDATE_EXPECT").is_some()
                && *level == program.levels[program.levels.len() - 1]
            {
                program.rewrite(&found.paths).map_err(|e| e.to_string())?;
            }
        }
        match failures.is_empty() {
            true => Ok(()),
            false => Err(failures.join("\n").into()),
        }
    })
}
