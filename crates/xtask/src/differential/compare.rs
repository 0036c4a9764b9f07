//! Compiles one program with each compiler and compares all its runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::adapter;
use super::random::Random;
use super::verdict::Verdict;
use crate::process::{self, Exit, Outcome};
use crate::project;

/// Csmith sometimes makes programs that never end. A plain program that takes longer is
/// one of them.
const PLAIN_LIMIT: Duration = Duration::from_secs(5);
/// Instrumented programs get much more time: being slow is not an error here.
const HALF_LIMIT: Duration = Duration::from_secs(120);
/// If a half takes longer, the unoptimised program shows whether it ends at all.
const FIRST_LIMIT: Duration = Duration::from_secs(15);
const COMPILE_LIMIT: Duration = Duration::from_secs(600);

/// Paths of the tools, found once.
pub struct Tools {
    pleach: PathBuf,
    pleach_cc: PathBuf,
    include: PathBuf,
}

impl Tools {
    pub fn find() -> Result<Tools> {
        let include = PathBuf::from("/usr/include/csmith");
        if !include.join("csmith.h").is_file() {
            bail!("csmith's headers are missing: run ./x setup");
        }
        Ok(Tools {
            pleach: project::tool("pleach")?,
            pleach_cc: project::tool("pleach-cc")?,
            include,
        })
    }

    /// Generates csmith's program for `seed` and compares it at `-O{level}`. Saves its
    /// files below `saved` if it fails or if `keep` is set.
    pub fn examine(
        &self,
        seed: u64,
        level: u64,
        inputs: u64,
        keep: bool,
        saved: &Path,
    ) -> Result<Verdict> {
        let dir = tempfile::tempdir()?;
        let test = ProgramTest { tools: self, dir: dir.path(), level: format!("-O{level}") };
        let source = dir.path().join("program.c");
        let mut csmith = Command::new("csmith");
        csmith.arg("--seed").arg(seed.to_string()).arg("--output").arg(&source);
        // csmith writes platform.info to the working directory.
        csmith.current_dir(dir.path()).stdin(Stdio::null());
        let generated = process::run(&mut csmith, COMPILE_LIMIT)?;
        if !generated.exit.success() {
            bail!("csmith failed for seed {seed}: {}", generated.last_lines());
        }

        let mut verdict = Verdict::default();
        test.compare_behaviour(&source, &mut verdict)?;
        if inputs > 0 && verdict.skipped.is_none() {
            test.check_traces(&source, Random::new(seed), inputs, &mut verdict)?;
        }
        if keep || !verdict.problems.is_empty() {
            save(dir.path(), &saved.join(format!("{seed}-O{level}")), &verdict)?;
        }
        Ok(verdict)
    }
}

/// The test of one program.
struct ProgramTest<'a> {
    tools: &'a Tools,
    dir: &'a Path,
    level: String,
}

impl ProgramTest<'_> {
    /// Checks that plain clang, the fast half and the symbolic half print the same checksum
    /// and exit in the same way.
    fn compare_behaviour(&self, source: &Path, verdict: &mut Verdict) -> Result<()> {
        let Some(plain) = self.compile(Path::new(project::CLANG), source, "plain", verdict)? else {
            return Ok(());
        };
        let expected = process::run(plain.run(None)?.stdin(Stdio::null()), PLAIN_LIMIT)?;
        if expected.exit == Exit::TimedOut {
            verdict.skipped = Some("endless");
            return Ok(());
        }
        let Some(both) = self.compile(&self.tools.pleach_cc, source, "pleach", verdict)? else {
            return Ok(());
        };
        let run_halves = |limit| -> Result<[Outcome; 2]> {
            let fast = process::run(both.run(None)?.stdin(Stdio::null()), limit)?;
            let mut symbolic = self.symbolic(&both, None)?;
            Ok([fast, process::run(symbolic.stdin(Stdio::null()), limit)?])
        };
        let mut outcomes = run_halves(FIRST_LIMIT)?;
        if outcomes.iter().any(|half| half.exit == Exit::TimedOut) {
            if self.is_endless(source, verdict)? {
                verdict.skipped = Some("endless");
                return Ok(());
            }
            outcomes = run_halves(HALF_LIMIT)?;
        }
        let [fast, symbolic] = outcomes;
        record_difference("fast half", &expected, &fast, verdict);
        record_difference("symbolic half", &expected, &symbolic, verdict);
        Ok(())
    }

    /// True if the unoptimised program does not end. An optimiser may remove an endless
    /// loop without effects, but not if it contains a counter. So a half that does not end
    /// is an error only if the unoptimised program ends.
    fn is_endless(&self, source: &Path, verdict: &mut Verdict) -> Result<bool> {
        let plain = ProgramTest { level: "-O0".into(), ..*self };
        let Some(program) =
            plain.compile(Path::new(project::CLANG), source, "unoptimised", verdict)?
        else {
            return Ok(false);
        };
        let run = process::run(program.run(None)?.stdin(Stdio::null()), FIRST_LIMIT)?;
        Ok(run.exit == Exit::TimedOut)
    }

    /// Makes the program read its globals, and checks its behaviour with labels and its
    /// traces on random inputs.
    fn check_traces(
        &self,
        source: &Path,
        mut random: Random,
        inputs: u64,
        verdict: &mut Verdict,
    ) -> Result<()> {
        let text = String::from_utf8_lossy(&fs::read(source)?).into_owned();
        let Some(adapted) = adapter::adapt(&text) else { return Ok(()) };
        let source = self.dir.join("fed.c");
        fs::write(&source, &adapted.source)?;
        let Some(plain) = self.compile(Path::new(project::CLANG), &source, "fed-plain", verdict)?
        else {
            return Ok(());
        };
        let Some(both) = self.compile(&self.tools.pleach_cc, &source, "fed-pleach", verdict)?
        else {
            return Ok(());
        };
        for number in 0..inputs {
            let input = self.dir.join(format!("input-{number}"));
            fs::write(&input, random.input(adapted.input_len))?;
            self.check_input(&source, &plain, &both, &input, verdict)?;
        }
        Ok(())
    }

    fn check_input(
        &self,
        source: &Path,
        plain: &Program,
        both: &Program,
        input: &Path,
        verdict: &mut Verdict,
    ) -> Result<()> {
        let name = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let expected = process::run(&mut plain.run(Some(input))?, PLAIN_LIMIT)?;
        if expected.exit == Exit::TimedOut || !self.is_defined(source, input, &expected)? {
            verdict.skipped_inputs += 1;
            return Ok(());
        }
        let fast = process::run(&mut both.run(Some(input))?, HALF_LIMIT)?;
        record_difference(&format!("fast half on {name}"), &expected, &fast, verdict);
        let labelled =
            process::run(self.symbolic(both, Some(input))?.env("PLEACH_LABEL", "1"), HALF_LIMIT)?;
        let who = format!("symbolic half with labels on {name}");
        record_difference(&who, &expected, &labelled, verdict);

        let mut trace = Command::new(&self.tools.pleach);
        let limit = (HALF_LIMIT.as_millis() - 10_000).to_string();
        trace.args(["trace", "--check", "--json", "--timeout", &limit]);
        trace.arg(input).arg("--").arg(&both.0);
        let traced = process::run(trace.stdin(Stdio::null()), HALF_LIMIT)?;
        if !traced.exit.success() {
            let problem = format!("trace of {name}: {}: {}", traced.exit, traced.last_lines());
            verdict.problems.push(problem);
            return Ok(());
        }
        let report: Value = serde_json::from_slice(&traced.stdout)
            .with_context(|| format!("pleach trace wrote no JSON: {}", traced.last_lines()))?;
        let status = report["status"].as_i64();
        if status != expected.exit.shell_status().map(i64::from) {
            verdict.problems.push(format!(
                "trace of {name}: the run ended with {}, the plain program with {}",
                report["end"], expected.exit
            ));
        }
        verdict.traces += 1;
        verdict.events += report["events"].as_u64().unwrap_or(0);
        Ok(())
    }

    /// True if the sanitizers find no undefined behaviour on this input.
    fn is_defined(&self, source: &Path, input: &Path, expected: &Outcome) -> Result<bool> {
        let program = self.dir.join("sanitized");
        if !program.exists() {
            let mut clang = Command::new(project::CLANG);
            clang.args(["-O1", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
            clang.arg("-I").arg(&self.tools.include).arg(source).arg("-o").arg(&program);
            let compiled = process::run(clang.stdin(Stdio::null()), COMPILE_LIMIT)?;
            if !compiled.exit.success() {
                bail!("clang with sanitizers failed: {}", compiled.last_lines());
            }
        }
        let run = process::run(&mut Program(program).run(Some(input))?, HALF_LIMIT)?;
        Ok(run.behaviour() == expected.behaviour())
    }

    /// `None` if the compiler fails, which is recorded as a problem.
    fn compile(
        &self,
        compiler: &Path,
        source: &Path,
        name: &str,
        verdict: &mut Verdict,
    ) -> Result<Option<Program>> {
        let program = self.dir.join(name);
        let mut command = Command::new(compiler);
        command.arg(&self.level).arg("-w").arg("-I").arg(&self.tools.include);
        command.arg(source).arg("-o").arg(&program).stdin(Stdio::null());
        let compiled = process::run(&mut command, COMPILE_LIMIT)?;
        if compiled.exit.success() {
            return Ok(Some(Program(program)));
        }
        let compiler = compiler.file_name().unwrap_or_default().to_string_lossy();
        verdict.problems.push(format!(
            "{compiler} on {}: {}: {}",
            source.file_name().unwrap_or_default().to_string_lossy(),
            compiled.exit,
            compiled.last_lines()
        ));
        Ok(None)
    }

    fn symbolic(&self, program: &Program, input: Option<&Path>) -> Result<Command> {
        let mut command = Command::new(&self.tools.pleach);
        command.args(["exec", "--half", "symbolic", "--"]).arg(&program.0);
        if let Some(input) = input {
            command.stdin(File::open(input)?);
        }
        Ok(command)
    }
}

struct Program(PathBuf);

impl Program {
    fn run(&self, input: Option<&Path>) -> Result<Command> {
        let mut command = Command::new(&self.0);
        if let Some(input) = input {
            command.stdin(File::open(input)?);
        }
        Ok(command)
    }
}

fn record_difference(who: &str, expected: &Outcome, got: &Outcome, verdict: &mut Verdict) {
    if expected.behaviour() != got.behaviour() {
        verdict.problems.push(format!(
            "{who}: {} with output {:?}, but the plain program: {} with output {:?}{}",
            got.exit,
            String::from_utf8_lossy(&got.stdout),
            expected.exit,
            String::from_utf8_lossy(&expected.stdout),
            if got.stderr.is_empty() { String::new() } else { format!("\n{}", got.last_lines()) }
        ));
    }
}

/// Copies the sources and inputs, and writes the problems. The programs can be built
/// again.
fn save(from: &Path, to: &Path, verdict: &Verdict) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if text.ends_with(".c") || text.starts_with("input-") {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    fs::write(to.join("problems.txt"), verdict.problems.join("\n"))?;
    Ok(())
}
