//! Compiles one program with each compiler and compares all its runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::adapter;
use super::kind::{Kind, Language};
use super::random::Random;
use super::verdict::Verdict;
use crate::process::{self, Exit, Outcome};
use crate::project;

/// One of this number of our own programs is checked by the sanitizers for undefined behaviour.
pub const SANITIZED_STEP: u64 = 8;
/// Csmith sometimes makes programs that never end. A plain program that takes longer is
/// one of them.
const PLAIN_LIMIT: Duration = Duration::from_secs(5);
/// Instrumented programs get much more time: being slow is not an error here.
const HALF_LIMIT: Duration = Duration::from_secs(120);
/// If a half takes longer, the unoptimised program shows whether it ends at all.
const FIRST_LIMIT: Duration = Duration::from_secs(15);
const COMPILE_LIMIT: Duration = Duration::from_secs(600);

/// Which program is tested, and how.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub kind: Kind,
    pub seed: u64,
    pub level: u64,
    /// The number of random inputs.
    pub inputs: u64,
}

impl Case {
    /// The name of its directory, if it is kept.
    pub fn name(&self) -> String {
        format!("{}-{}-O{}", self.kind.name(), self.seed, self.level)
    }

    /// Generates the program and compares it. Saves its files below `saved` if it fails or if
    /// `keep` is set.
    pub fn examine(&self, keep: bool, saved: &Path) -> Result<Verdict> {
        let dir = tempfile::tempdir()?;
        let source = self.kind.generate(self.seed, dir.path())?;
        let flags = self.kind.flags().iter().map(|f| f.to_string());
        let test = ProgramTest {
            dir: dir.path(),
            language: self.kind.language(),
            flags: [format!("-O{}", self.level)].into_iter().chain(flags).collect(),
        };
        let mut verdict = Verdict::default();
        let built = test.compare_behaviour(&source, &mut verdict)?;
        if let Some(built) = built.filter(|_| self.inputs > 0) {
            self.check_inputs(&test, &source, built, &mut verdict)?;
        }
        if keep || !verdict.problems.is_empty() {
            save(dir.path(), &saved.join(self.name()), &verdict)?;
        }
        Ok(verdict)
    }

    /// Checks the behaviour with labels and the traces on random inputs. A program that reads
    /// none is made to read its globals.
    fn check_inputs(
        &self,
        test: &ProgramTest,
        source: &Path,
        built: Built,
        verdict: &mut Verdict,
    ) -> Result<()> {
        let mut random = Random::new(self.seed);
        let Some(len) = self.kind.input_len() else {
            let text = String::from_utf8_lossy(&fs::read(source)?).into_owned();
            let Some(adapted) = adapter::adapt(&text) else { return Ok(()) };
            let source = test.dir.join("fed.c");
            fs::write(&source, &adapted.source)?;
            let Some(built) = test.build(&source, "fed", verdict)? else { return Ok(()) };
            for number in 0..self.inputs {
                let bytes = random.input(adapted.input_len);
                let input = test.write_input(number, &bytes)?;
                test.check_input(&source, &built, &input, Undefined::Skip, verdict)?;
            }
            return Ok(());
        };
        let undefined = match self.seed.is_multiple_of(SANITIZED_STEP) {
            true => Undefined::Report,
            false => Undefined::Trust,
        };
        for number in 0..self.inputs {
            let len = match number {
                0 => len,
                _ => random.below(len + 1),
            };
            let bytes = random.input(len as usize);
            let input = test.write_input(number, &bytes)?;
            test.check_input(source, &built, &input, undefined, verdict)?;
        }
        Ok(())
    }
}

/// What is done about undefined behaviour on an input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Undefined {
    /// The sanitizers are asked, and the input is skipped.
    Skip,
    /// The sanitizers are asked, and it is an error of the generator.
    Report,
    /// The program cannot have any.
    Trust,
}

/// The test of one program.
pub struct ProgramTest<'a> {
    pub dir: &'a Path,
    pub language: Language,
    pub flags: Vec<String>,
}

/// The builds of a program by plain clang and by Pleach.
pub struct Built {
    plain: Program,
    both: Program,
}

impl ProgramTest<'_> {
    /// Checks that plain clang, the fast half and the symbolic half print the same and exit in
    /// the same way, without input. Returns the builds, unless the program was skipped.
    pub fn compare_behaviour(&self, source: &Path, verdict: &mut Verdict) -> Result<Option<Built>> {
        let plain = self.compile(&self.language.plain_compiler(), source, "plain", verdict)?;
        let Some(plain) = plain else { return Ok(None) };
        let expected = process::run(plain.run(None)?.stdin(Stdio::null()), PLAIN_LIMIT)?;
        if expected.exit == Exit::TimedOut {
            verdict.skipped = Some("endless");
            return Ok(None);
        }
        self.compare_with(plain, expected, source, verdict)
    }

    /// As [`ProgramTest::compare_behaviour`], when the plain program was run.
    pub fn compare_with(
        &self,
        plain: Program,
        expected: Outcome,
        source: &Path,
        verdict: &mut Verdict,
    ) -> Result<Option<Built>> {
        let both = self.compile(&self.language.pleach_compiler()?, source, "pleach", verdict)?;
        let Some(both) = both else { return Ok(None) };
        let run_halves = |limit| -> Result<[Outcome; 2]> {
            let fast = process::run(both.run(None)?.stdin(Stdio::null()), limit)?;
            let mut symbolic = self.symbolic(&both, None)?;
            Ok([fast, process::run(symbolic.stdin(Stdio::null()), limit)?])
        };
        let mut outcomes = run_halves(FIRST_LIMIT)?;
        if outcomes.iter().any(|half| half.exit == Exit::TimedOut) {
            if self.is_endless(source, verdict)? {
                verdict.skipped = Some("endless");
                return Ok(None);
            }
            outcomes = run_halves(HALF_LIMIT)?;
        }
        let [fast, symbolic] = outcomes;
        record_difference("fast half", &expected, &fast, verdict);
        record_difference("symbolic half", &expected, &symbolic, verdict);
        Ok(Some(Built { plain, both }))
    }

    /// True if the unoptimised program does not end. An optimiser may remove an endless
    /// loop without effects, but not if it contains a counter. So a half that does not end
    /// is an error only if the unoptimised program ends.
    fn is_endless(&self, source: &Path, verdict: &mut Verdict) -> Result<bool> {
        // The last level on a command line counts.
        let flags = self.flags.iter().cloned().chain(["-O0".into()]).collect();
        let plain = ProgramTest { flags, ..*self };
        let compiler = self.language.plain_compiler();
        let Some(program) = plain.compile(&compiler, source, "unoptimised", verdict)? else {
            return Ok(false);
        };
        let run = process::run(program.run(None)?.stdin(Stdio::null()), FIRST_LIMIT)?;
        Ok(run.exit == Exit::TimedOut)
    }

    /// Builds a program twice.
    fn build(&self, source: &Path, name: &str, verdict: &mut Verdict) -> Result<Option<Built>> {
        let plain = self.language.plain_compiler();
        let plain = self.compile(&plain, source, &format!("{name}-plain"), verdict)?;
        let pleach = self.language.pleach_compiler()?;
        let both = self.compile(&pleach, source, &format!("{name}-pleach"), verdict)?;
        Ok(plain.zip(both).map(|(plain, both)| Built { plain, both }))
    }

    fn write_input(&self, number: u64, bytes: &[u8]) -> Result<PathBuf> {
        let input = self.dir.join(format!("input-{number}"));
        fs::write(&input, bytes)?;
        Ok(input)
    }

    fn check_input(
        &self,
        source: &Path,
        Built { plain, both }: &Built,
        input: &Path,
        undefined: Undefined,
        verdict: &mut Verdict,
    ) -> Result<()> {
        let name = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let expected = process::run(&mut plain.run(Some(input))?, PLAIN_LIMIT)?;
        let is_endless = expected.exit == Exit::TimedOut;
        let is_asked = !is_endless && undefined != Undefined::Trust;
        if is_endless || is_asked && !self.is_defined(source, input, &expected)? {
            match undefined {
                Undefined::Skip => verdict.skipped_inputs += 1,
                _ => verdict.problems.push(format!("{name}: undefined behaviour, or no end")),
            }
            return Ok(());
        }
        let fast = process::run(&mut both.run(Some(input))?, HALF_LIMIT)?;
        record_difference(&format!("fast half on {name}"), &expected, &fast, verdict);
        let labelled =
            process::run(self.symbolic(both, Some(input))?.env("PLEACH_LABEL", "1"), HALF_LIMIT)?;
        let who = format!("symbolic half with labels on {name}");
        record_difference(&who, &expected, &labelled, verdict);

        let mut trace = Command::new(project::tool("pleach")?);
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
            let mut clang = Command::new(self.language.plain_compiler());
            clang.args(&self.flags).arg("-O1");
            clang.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
            clang.arg(source).arg("-o").arg(&program);
            let compiled = process::run(clang.stdin(Stdio::null()), COMPILE_LIMIT)?;
            if !compiled.exit.success() {
                bail!("clang with sanitizers failed: {}", compiled.last_lines());
            }
        }
        let run = process::run(&mut Program(program).run(Some(input))?, HALF_LIMIT)?;
        Ok(run.behaviour() == expected.behaviour())
    }

    /// `None` if the compiler fails, which is recorded as a problem.
    pub fn compile(
        &self,
        compiler: &Path,
        source: &Path,
        name: &str,
        verdict: &mut Verdict,
    ) -> Result<Option<Program>> {
        let program = self.dir.join(name);
        let mut command = Command::new(compiler);
        command.args(&self.flags).arg(source).arg("-o").arg(&program).stdin(Stdio::null());
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
        let mut command = Command::new(project::tool("pleach")?);
        command.args(["exec", "--half", "symbolic", "--"]).arg(&program.0);
        if let Some(input) = input {
            command.stdin(File::open(input)?);
        }
        Ok(command)
    }
}

pub struct Program(PathBuf);

impl Program {
    pub fn run(&self, input: Option<&Path>) -> Result<Command> {
        let mut command = Command::new(&self.0);
        if let Some(input) = input {
            command.stdin(File::open(input)?);
        }
        Ok(command)
    }
}

pub fn record_difference(who: &str, expected: &Outcome, got: &Outcome, verdict: &mut Verdict) {
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
        if Language::of(&entry.path()).is_some() || text.starts_with("input-") {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    fs::write(to.join("problems.txt"), verdict.problems.join("\n"))?;
    Ok(())
}
