//! One program through every compiler and both halves.

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

/// Csmith makes endless programs now and then; a plain one that takes this long
/// is one of them.
const PLAIN_LIMIT: Duration = Duration::from_secs(5);
/// Instrumented programs get much more: slow is not wrong here.
const HALF_LIMIT: Duration = Duration::from_secs(120);
/// After so long it is asked whether the program ends at all.
const DOUBT: Duration = Duration::from_secs(15);
const COMPILE_LIMIT: Duration = Duration::from_secs(600);

/// The tools, found once.
pub struct Workshop {
    pleach: PathBuf,
    pleach_cc: PathBuf,
    include: PathBuf,
}

impl Workshop {
    pub fn new() -> Result<Workshop> {
        let include = PathBuf::from("/usr/include/csmith");
        if !include.join("csmith.h").is_file() {
            bail!("csmith's headers are missing: run ./x setup");
        }
        Ok(Workshop {
            pleach: project::tool("pleach")?,
            pleach_cc: project::tool("pleach-cc")?,
            include,
        })
    }

    /// Makes csmith's program for `seed` and compares it at `-O{level}`.
    pub fn examine(
        &self,
        seed: u64,
        level: u64,
        inputs: u64,
        keep: bool,
        kept: &Path,
    ) -> Result<Verdict> {
        let dir = tempfile::tempdir()?;
        let bench = Bench { shop: self, dir: dir.path(), level: format!("-O{level}") };
        let source = dir.path().join("program.c");
        let mut csmith = Command::new("csmith");
        csmith.arg("--seed").arg(seed.to_string()).arg("--output").arg(&source);
        // Its platform.info goes to the working directory.
        csmith.current_dir(dir.path()).stdin(Stdio::null());
        let made = process::run(&mut csmith, COMPILE_LIMIT)?;
        if !made.exit.success() {
            bail!("csmith failed for seed {seed}: {}", made.complaint());
        }

        let mut verdict = Verdict::default();
        bench.behaviour(&source, &mut verdict)?;
        if inputs > 0 && verdict.skipped.is_none() {
            bench.traces(&source, Random::new(seed), inputs, &mut verdict)?;
        }
        if keep || !verdict.problems.is_empty() {
            save(dir.path(), &kept.join(format!("{seed}-O{level}")), &verdict)?;
        }
        Ok(verdict)
    }
}

/// One program on the bench.
struct Bench<'a> {
    shop: &'a Workshop,
    dir: &'a Path,
    level: String,
}

impl Bench<'_> {
    /// Plain, fast, symbolic: one checksum, one way to exit.
    fn behaviour(&self, source: &Path, verdict: &mut Verdict) -> Result<()> {
        let Some(plain) = self.compile(Path::new(project::CLANG), source, "plain", verdict)? else {
            return Ok(());
        };
        let expected = process::run(plain.run(None)?.stdin(Stdio::null()), PLAIN_LIMIT)?;
        if expected.exit == Exit::TimedOut {
            verdict.skipped = Some("endless");
            return Ok(());
        }
        let Some(both) = self.compile(&self.shop.pleach_cc, source, "pleach", verdict)? else {
            return Ok(());
        };
        let halves = |limit| -> Result<[Outcome; 2]> {
            let fast = process::run(both.run(None)?.stdin(Stdio::null()), limit)?;
            let mut symbolic = self.symbolic(&both, None)?;
            Ok([fast, process::run(symbolic.stdin(Stdio::null()), limit)?])
        };
        let mut found = halves(DOUBT)?;
        if found.iter().any(|half| half.exit == Exit::TimedOut) {
            if self.is_endless(source, verdict)? {
                verdict.skipped = Some("endless");
                return Ok(());
            }
            found = halves(HALF_LIMIT)?;
        }
        let [fast, symbolic] = found;
        differs("fast half", &expected, &fast, verdict);
        differs("symbolic half", &expected, &symbolic, verdict);
        Ok(())
    }

    /// A loop without effects may be taken to end, and an optimiser drops it;
    /// with a counter in it, it has an effect. So a half that does not end says
    /// something only if the program ends when it is not optimised.
    fn is_endless(&self, source: &Path, verdict: &mut Verdict) -> Result<bool> {
        let plain = Bench { level: "-O0".into(), ..*self };
        let Some(program) =
            plain.compile(Path::new(project::CLANG), source, "unoptimised", verdict)?
        else {
            return Ok(false);
        };
        let run = process::run(program.run(None)?.stdin(Stdio::null()), DOUBT)?;
        Ok(run.exit == Exit::TimedOut)
    }

    /// Globals from input: behaviour again, labels on, and every event evaluated.
    fn traces(
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
        let Some(both) = self.compile(&self.shop.pleach_cc, &source, "fed-pleach", verdict)? else {
            return Ok(());
        };
        for number in 0..inputs {
            let input = self.dir.join(format!("input-{number}"));
            fs::write(&input, random.input(adapted.input_len))?;
            self.traced(&source, &plain, &both, &input, verdict)?;
        }
        Ok(())
    }

    fn traced(
        &self,
        source: &Path,
        plain: &Program,
        both: &Program,
        input: &Path,
        verdict: &mut Verdict,
    ) -> Result<()> {
        let name = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let expected = process::run(&mut plain.run(Some(input))?, PLAIN_LIMIT)?;
        if expected.exit == Exit::TimedOut || !self.defined(source, input, &expected)? {
            verdict.set_aside += 1;
            return Ok(());
        }
        let fast = process::run(&mut both.run(Some(input))?, HALF_LIMIT)?;
        differs(&format!("fast half on {name}"), &expected, &fast, verdict);
        let labelled =
            process::run(self.symbolic(both, Some(input))?.env("PLEACH_LABEL", "1"), HALF_LIMIT)?;
        differs(&format!("symbolic half with labels on {name}"), &expected, &labelled, verdict);

        let mut trace = Command::new(&self.shop.pleach);
        let limit = (HALF_LIMIT.as_millis() - 10_000).to_string();
        trace.args(["trace", "--check", "--json", "--timeout", &limit]);
        trace.arg(input).arg("--").arg(&both.0);
        let said = process::run(trace.stdin(Stdio::null()), HALF_LIMIT)?;
        if !said.exit.success() {
            verdict.problems.push(format!("trace of {name}: {}: {}", said.exit, said.complaint()));
            return Ok(());
        }
        let report: Value = serde_json::from_slice(&said.stdout)
            .with_context(|| format!("pleach trace wrote no JSON: {}", said.complaint()))?;
        let status = report["status"].as_i64();
        if status != expected.exit.shell_status().map(i64::from) {
            verdict.problems.push(format!(
                "trace of {name}: it says the run ended with {}, plain: {}",
                report["end"], expected.exit
            ));
        }
        verdict.traces += 1;
        verdict.events += report["events"].as_u64().unwrap_or(0);
        Ok(())
    }

    /// Whether the program keeps to the C standard on this input, as far as the
    /// sanitizers can tell.
    fn defined(&self, source: &Path, input: &Path, expected: &Outcome) -> Result<bool> {
        let program = self.dir.join("sanitized");
        if !program.exists() {
            let mut clang = Command::new(project::CLANG);
            clang.args(["-O1", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
            clang.arg("-I").arg(&self.shop.include).arg(source).arg("-o").arg(&program);
            let compiled = process::run(clang.stdin(Stdio::null()), COMPILE_LIMIT)?;
            if !compiled.exit.success() {
                bail!("clang with sanitizers failed: {}", compiled.complaint());
            }
        }
        let run = process::run(&mut Program(program).run(Some(input))?, HALF_LIMIT)?;
        Ok(run.behaviour() == expected.behaviour())
    }

    /// `None` after noting that the compiler failed: that is a finding too.
    fn compile(
        &self,
        compiler: &Path,
        source: &Path,
        name: &str,
        verdict: &mut Verdict,
    ) -> Result<Option<Program>> {
        let program = self.dir.join(name);
        let mut command = Command::new(compiler);
        command.arg(&self.level).arg("-w").arg("-I").arg(&self.shop.include);
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
            compiled.complaint()
        ));
        Ok(None)
    }

    fn symbolic(&self, program: &Program, input: Option<&Path>) -> Result<Command> {
        let mut command = Command::new(&self.shop.pleach);
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

fn differs(who: &str, expected: &Outcome, got: &Outcome, verdict: &mut Verdict) {
    if expected.behaviour() != got.behaviour() {
        verdict.problems.push(format!(
            "{who}: {} and {:?}, plain: {} and {:?}{}",
            got.exit,
            String::from_utf8_lossy(&got.stdout),
            expected.exit,
            String::from_utf8_lossy(&expected.stdout),
            if got.stderr.is_empty() { String::new() } else { format!("\n{}", got.complaint()) }
        ));
    }
}

/// Copies the sources, inputs and findings; programs can be built again.
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
