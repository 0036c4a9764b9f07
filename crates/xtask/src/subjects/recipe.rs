//! A recipe, and the stages of its script.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process;
use crate::project;

/// Which compiler builds a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Plain,
    Pleach,
    /// AFL++, for the benchmarks.
    Afl,
    /// AFL++ with comparison logging, for `afl-fuzz -c`.
    AflCmplog,
    /// gcc with `--coverage`, to count the branches that inputs cover.
    Gcov,
    /// libFuzzer, for targets of libFuzzer.
    LibFuzzer,
    /// The plain compiler with ASan, to check crashes.
    Asan,
    /// Pleach with ASan, for campaigns on packages.
    PleachAsan,
    /// AFL++ with ASan.
    AflAsan,
}

impl Flavour {
    pub fn name(self) -> &'static str {
        match self {
            Flavour::Plain => "plain",
            Flavour::Pleach => "pleach",
            Flavour::Afl => "afl",
            Flavour::AflCmplog => "afl-cmplog",
            Flavour::Gcov => "gcov",
            Flavour::LibFuzzer => "libfuzzer",
            Flavour::Asan => "asan",
            Flavour::PleachAsan => "pleach-asan",
            Flavour::AflAsan => "afl-asan",
        }
    }

    /// Flags for the compiler and for the linker.
    fn flags(self) -> (&'static str, &'static str) {
        match self {
            Flavour::Gcov => ("-O0 --coverage", "--coverage"),
            Flavour::LibFuzzer => ("-O2 -fsanitize=fuzzer-no-link", ""),
            Flavour::Asan | Flavour::PleachAsan => {
                ("-O2 -g -fsanitize=address", "-fsanitize=address")
            }
            _ => ("-O2", ""),
        }
    }

    /// Flags that link a target of libFuzzer. libFuzzer itself gets the inputs of a list
    /// instead of its own mutants; builds that only run inputs get a plain `main`.
    fn fuzzer_flags(self) -> String {
        let file = |name: &str| project::root().join("tools/fuzz-targets").join(name);
        let flag = "-fsanitize=fuzzer";
        match self {
            Flavour::LibFuzzer => format!("{flag} {}", file("replay.c").display()),
            Flavour::Plain | Flavour::Asan | Flavour::Gcov => file("main.c").display().to_string(),
            _ => flag.into(),
        }
    }

    /// Variables for the compiler.
    pub fn variables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Flavour::Afl => &[("AFL_QUIET", "1")],
            Flavour::AflCmplog => &[("AFL_QUIET", "1"), ("AFL_LLVM_CMPLOG", "1")],
            Flavour::AflAsan => &[("AFL_QUIET", "1"), ("AFL_USE_ASAN", "1")],
            Flavour::Plain
            | Flavour::Pleach
            | Flavour::Gcov
            | Flavour::LibFuzzer
            | Flavour::Asan
            | Flavour::PleachAsan => &[],
        }
    }

    /// The C and the C++ compiler.
    pub fn compilers(self) -> Result<(PathBuf, PathBuf)> {
        Ok(match self {
            Flavour::Plain | Flavour::LibFuzzer | Flavour::Asan => {
                (project::CLANG.into(), project::CLANGXX.into())
            }
            Flavour::Pleach | Flavour::PleachAsan => {
                (project::tool("pleach-cc")?, project::tool("pleach-c++")?)
            }
            Flavour::Afl | Flavour::AflCmplog | Flavour::AflAsan => {
                ("afl-clang-fast".into(), "afl-clang-fast++".into())
            }
            Flavour::Gcov => ("gcc".into(), "g++".into()),
        })
    }

    /// True if Pleach is the compiler.
    pub fn is_pleach(self) -> bool {
        matches!(self, Flavour::Pleach | Flavour::PleachAsan)
    }
}

#[derive(Clone, Debug)]
pub struct Recipe {
    pub name: String,
    script: String,
    /// The file of the script.
    path: PathBuf,
    /// The directory of the recipe.
    home: PathBuf,
    /// The directory below `target/` where it is built.
    area: &'static str,
}

impl Recipe {
    /// All recipes of programs, sorted by name.
    pub fn all() -> Result<Vec<Recipe>> {
        Recipe::in_dir("tools/subjects")
    }

    /// All recipes of libFuzzer targets, sorted by name.
    pub fn fuzz_targets() -> Result<Vec<Recipe>> {
        Recipe::in_dir("tools/fuzz-targets")
    }

    /// All recipes of Debian packages, sorted by name.
    pub fn packages() -> Result<Vec<Recipe>> {
        let home = project::root().join("tools/packages");
        let mut recipes = Vec::new();
        for entry in fs::read_dir(&home).with_context(|| home.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(name) = name.strip_suffix(".sh").filter(|name| *name != "lib") else {
                continue;
            };
            recipes.push(Recipe {
                name: name.into(),
                script: fs::read_to_string(&path)?,
                home: home.clone(),
                area: "packages",
                path,
            });
        }
        recipes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(recipes)
    }

    fn in_dir(dir: &str) -> Result<Vec<Recipe>> {
        let dir = project::root().join(dir);
        let mut recipes = Vec::new();
        let entries =
            fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = entry.path().join("recipe.sh");
            if let Ok(script) = fs::read_to_string(&path) {
                let name = entry.file_name().to_string_lossy().into_owned();
                recipes.push(Recipe { name, script, path, home: entry.path(), area: "subjects" });
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

    /// Everything of the recipe that a build depends on.
    pub fn build_sources(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.home.join(name)).unwrap_or_default();
        let own = self.path.with_extension("c");
        let own = own.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        [self.script.clone(), read("target.c"), read(own), read("lib.sh")].concat()
    }

    /// The directory of the recipe.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// True if it has a CPU-bound job for the benchmark.
    pub fn has_work(&self) -> bool {
        self.script.contains("\nwork() {")
    }

    /// True if it defines the command that reads one input.
    pub fn has_fuzz(&self) -> bool {
        self.script.contains("\nfuzz() {")
    }

    /// True if it can build a broken variant of its program.
    pub fn has_broken(&self) -> bool {
        self.script.contains("\nbroken() {")
    }

    /// True if it defines the command that reads keys from a terminal.
    pub fn has_keys(&self) -> bool {
        self.script.contains("\nkeys() {")
    }

    /// The directory of all files of this program.
    pub fn dir(&self) -> PathBuf {
        project::target(self.area).join(&self.name)
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
        command.arg(project::root().join("tools/subjects/lib.sh")).arg(stage);
        command
            .env("SUBJECTS", project::target("subjects"))
            .env("SCRIPT", &self.path)
            .env("HERE", self.build_dir(flavour))
            .env("EXPECTED", self.dir().join("expected"))
            .env("RECORD", if flavour == Flavour::Plain { "1" } else { "0" })
            .env("CC", cc)
            .env("CXX", cxx)
            .env("CFLAGS", flags)
            .env("CXXFLAGS", flags)
            .env("LDFLAGS", link)
            .env("FUZZER", flavour.fuzzer_flags())
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .envs(flavour.variables().iter().copied());
        Ok(command)
    }
}

/// Runs a stage of a recipe and returns its output.
pub fn stage_output(recipe: &Recipe, name: &str, flavour: Flavour) -> Result<Vec<u8>> {
    let mut command = recipe.stage(name, flavour)?;
    let what = format!("{}: {name}", recipe.name);
    let limit = Duration::from_secs(60);
    Ok(process::succeed(command.stdin(Stdio::null()), limit, &what)?.stdout)
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

    #[test]
    fn every_package_names_its_program_and_has_test_data() {
        let recipes = Recipe::packages().unwrap();
        assert!(recipes.len() >= 50, "{} packages", recipes.len());
        let subjects = Recipe::all().unwrap();
        for recipe in recipes {
            assert!(recipe.summary().ends_with('.'), "{}: {}", recipe.name, recipe.summary());
            assert!(recipe.script.contains("\nprogram="), "{} has no program", recipe.name);
            let has_seeds =
                ["\nseeds=", "\nmake_seeds()"].iter().any(|w| recipe.script.contains(w));
            assert!(has_seeds, "{} has no test data", recipe.name);
            assert!(subjects.iter().all(|s| s.name != recipe.name), "{} is a subject", recipe.name);
        }
    }

    #[test]
    fn every_fuzz_target_has_its_source_and_seeds() {
        for recipe in Recipe::fuzz_targets().unwrap() {
            assert!(recipe.summary().ends_with('.'), "{}: {}", recipe.name, recipe.summary());
            assert!(recipe.script.contains("\nbuild() {"), "{} has no build", recipe.name);
            assert!(recipe.build_sources().contains("LLVMFuzzerTestOneInput"), "{}", recipe.name);
            assert!(fs::read_dir(recipe.home.join("seeds")).unwrap().count() > 0);
        }
    }
}
