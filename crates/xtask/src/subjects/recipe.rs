//! A recipe, and the stages of its script.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::project;

/// Which compiler builds a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Plain,
    Pleach,
    /// AFL++, for the benchmarks.
    Afl,
    /// gcc with `--coverage`, to count the branches that inputs cover.
    Gcov,
}

impl Flavour {
    pub fn name(self) -> &'static str {
        match self {
            Flavour::Plain => "plain",
            Flavour::Pleach => "pleach",
            Flavour::Afl => "afl",
            Flavour::Gcov => "gcov",
        }
    }

    /// Flags for the compiler and for the linker.
    fn flags(self) -> (&'static str, &'static str) {
        match self {
            Flavour::Gcov => ("-O0 --coverage", "--coverage"),
            _ => ("-O2", ""),
        }
    }

    /// The C and the C++ compiler.
    pub fn compilers(self) -> Result<(PathBuf, PathBuf)> {
        Ok(match self {
            Flavour::Plain => (project::CLANG.into(), project::CLANGXX.into()),
            Flavour::Pleach => (project::tool("pleach-cc")?, project::tool("pleach-c++")?),
            Flavour::Afl => ("afl-clang-fast".into(), "afl-clang-fast++".into()),
            Flavour::Gcov => ("gcc".into(), "g++".into()),
        })
    }
}

#[derive(Clone, Debug)]
pub struct Recipe {
    pub name: String,
    script: String,
}

impl Recipe {
    /// All recipes, sorted by name.
    pub fn all() -> Result<Vec<Recipe>> {
        let dir = project::root().join("tools/subjects");
        let mut recipes = Vec::new();
        let entries =
            fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))?;
        for entry in entries {
            let entry = entry?;
            if let Ok(script) = fs::read_to_string(entry.path().join("recipe.sh")) {
                let name = entry.file_name().to_string_lossy().into_owned();
                recipes.push(Recipe { name, script });
            }
        }
        recipes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(recipes)
    }

    /// The first sentence of the comment at the top of the recipe.
    pub fn summary(&self) -> String {
        let comment: Vec<&str> =
            self.script.lines().map_while(|line| line.strip_prefix("# ")).collect();
        let comment = comment.join(" ");
        comment.split_inclusive(". ").next().unwrap_or_default().trim().to_string()
    }

    pub fn script(&self) -> &str {
        &self.script
    }

    /// True if it has a CPU-bound job for the benchmark.
    pub fn has_work(&self) -> bool {
        self.script.contains("\nwork() {")
    }

    /// True if it defines the command that reads one input.
    pub fn has_fuzz(&self) -> bool {
        self.script.contains("\nfuzz() {")
    }

    /// True if it defines the command that reads keys from a terminal.
    pub fn has_keys(&self) -> bool {
        self.script.contains("\nkeys() {")
    }

    /// The directory of all files of this program.
    pub fn dir(&self) -> PathBuf {
        project::target("subjects").join(&self.name)
    }

    /// The directory where it is built.
    pub fn build_dir(&self, flavour: Flavour) -> PathBuf {
        self.dir().join(flavour.name())
    }

    /// Creates a log file.
    pub fn log(&self, name: &str) -> Result<(PathBuf, File)> {
        fs::create_dir_all(self.dir())?;
        let path = self.dir().join(format!("{name}.log"));
        let file =
            File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok((path, file))
    }

    /// The command that runs one stage of the script; see `tools/subjects/lib.sh`.
    pub fn stage(&self, stage: &str, flavour: Flavour) -> Result<Command> {
        let (cc, cxx) = flavour.compilers()?;
        let (flags, link) = flavour.flags();
        let mut command = Command::new("bash");
        command.arg(project::root().join("tools/subjects/lib.sh")).arg(stage).arg(&self.name);
        command
            .env("SUBJECTS", project::target("subjects"))
            .env("HERE", self.build_dir(flavour))
            .env("EXPECTED", self.dir().join("expected"))
            .env("RECORD", if flavour == Flavour::Plain { "1" } else { "0" })
            .env("CC", cc)
            .env("CXX", cxx)
            .env("CFLAGS", flags)
            .env("CXXFLAGS", flags)
            .env("LDFLAGS", link)
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("AFL_QUIET", "1");
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_has_a_summary_and_defines_its_stages() {
        let recipes = Recipe::all().unwrap();
        assert!(recipes.len() >= 8, "{} recipes", recipes.len());
        for recipe in recipes {
            assert!(recipe.summary().ends_with('.'), "{}: {}", recipe.name, recipe.summary());
            for stage in ["build", "programs", "check"] {
                let head = format!("\n{stage}() {{");
                assert!(recipe.script.contains(&head), "{} has no {stage}", recipe.name);
            }
        }
    }
}
