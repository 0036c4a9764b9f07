//! Makes a regression suite: chooses and shrinks inputs, and records what the program
//! answers, as its user runs it.

use super::Export;
use super::replay::Replayer;
use super::{cannot_write, read_input};
use crate::args::Run;
use crate::commands::{extension, require_vacant, split_option, target, time_limit};
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::anyhow;
use pleach_campaign::minimise::{Features, shorten, smallest_set};
use pleach_exec::{End, Half, Output, Plain};
use pleach_report::Progress;
use pleach_report::export::suite::{
    self, Answer, Delivery, Plan, Runner, case_name, is_expressible, is_suite,
};
use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A case whose output is longer is left out.
const MAX_OUTPUT: u64 = 1 << 20;

/// What a run covers.
struct Covered {
    /// Branches with how often they were taken, and branches with the class of the answer.
    all: Vec<u32>,
    /// The former alone.
    counts: Vec<u32>,
    class: AnswerClass,
    /// How many different lines were printed.
    lines: usize,
}

/// Marks a branch with the class of an answer among features.
const ANSWERED: u32 = 1 << 31;

/// What was left out, and why.
#[derive(Default)]
struct LeftOut {
    crashes: usize,
    unstable: usize,
    inexpressible: usize,
}

/// Refuses a directory that has anything but an earlier suite.
pub fn check_output(dir: &Path) -> Result<(), Failure> {
    match is_suite(dir) {
        true => Ok(()),
        false => {
            require_vacant(dir)?;
            let parent = dir.parent().filter(|p| !p.as_os_str().is_empty());
            match parent.is_none_or(Path::is_dir) {
                true => Ok(()),
                false => Err(Failure::user_error(anyhow!(
                    "{}: cannot be written: its parent is not a directory",
                    dir.display()
                ))),
            }
        }
    }
}

pub fn run(
    args: &Export,
    run: Run,
    paths: Vec<PathBuf>,
    runner: Runner,
    program: String,
) -> Result<Code, Failure> {
    if run.socket || run.tty.is_some() {
        return Err(Failure::user_error(anyhow!(
            "a suite cannot give its input over connections or a terminal"
        )));
    }
    let mut left_out = LeftOut::default();
    let (inputs, is_fuzzer) = choose(args, &run, &paths, &mut left_out)?;
    let plan = plan(&run, &paths[0], program, is_fuzzer);
    let parent = args.output.parent().filter(|p| !p.as_os_str().is_empty());
    let failed = cannot_write(&args.output);
    // Everything is made beside its place, and moved there when it is complete.
    let made = tempfile::Builder::new()
        .prefix(".pleach-export-")
        .tempdir_in(parent.unwrap_or(Path::new(".")))
        .map_err(&failed)?;
    let dir = std::path::absolute(made.path())?;
    suite::write_runner(&dir, runner, &plan).map_err(&failed)?;
    for (name, input) in &inputs {
        suite::write_input(&dir, &plan, name, input).map_err(&failed)?;
    }
    let kept = record(args, &run, &dir, inputs.keys(), &mut left_out)?;
    for (name, answer) in &kept {
        match answer {
            Some(answer) => suite::write_answer(&dir, name, answer),
            None => std::fs::remove_dir_all(dir.join("cases").join(name)),
        }
        .map_err(&failed)?;
    }
    suite::install(&dir, &args.output).map_err(&failed)?;
    let count = kept.values().flatten().count();
    let mut out = show::out();
    writeln!(out, "{}: {count} cases of {} inputs", args.output.display(), paths.len())?;
    let ends = match args.crashes {
        true => "that hang",
        false => "that crash or hang (--crashes keeps crashes)",
    };
    for (count, which) in [
        (left_out.crashes, ends),
        (left_out.unstable, "whose output differs from run to run"),
        (left_out.inexpressible, "that a shell cannot give to the program"),
    ] {
        if count > 0 {
            writeln!(out, "left out: {count} {which}")?;
        }
    }
    out.flush()?;
    Ok(Code::Ok)
}

/// What is told apart of an answer: the exit status, and whether anything was printed.
type AnswerClass = (i32, bool);

/// More different lines than this need not be kept.
const MAX_LINES: usize = 32;

/// The most seeds of a campaign that become cases as they are.
const MAX_SEEDS: usize = 64;

/// The most classes of answers.
const MAX_CLASSES: usize = 8;

/// A small set of inputs with the coverage of all, each as small as a few runs make it, by
/// the names of their cases. The second result is true for a program with libFuzzer's entry.
///
/// A branch is in the set with each class of answers: that a wrong sum is never printed shows
/// nothing. For the same reason, bytes of an input are removed, but not replaced.
fn choose(
    args: &Export,
    run: &Run,
    paths: &[PathBuf],
    left_out: &mut LeftOut,
) -> Result<(BTreeMap<String, Vec<u8>>, bool), Failure> {
    let mut replayer = Replayer::new(run, &paths[0], false)?;
    let executor = &mut replayer.executor;
    let (mut features, mut good, mut bad) = (Features::default(), Vec::new(), Vec::new());
    let (mut runs, mut classes): (Vec<Covered>, Vec<AnswerClass>) = Default::default();
    let mut seeds = Vec::new();
    let progress = Progress::new("running inputs", paths.len() as u64);
    for path in paths {
        progress.inc();
        let input = read_input(path)?;
        if !is_expressible(&input) {
            left_out.inexpressible += 1;
            continue;
        }
        let outcome = executor.run(&input, time_limit(run, path))?;
        match outcome.end {
            End::Exit(status) => {
                let class = (status, !outcome.stdout.is_empty());
                let number = classes.iter().position(|c| *c == class).unwrap_or(classes.len());
                if number == classes.len() && number < MAX_CLASSES {
                    classes.push(class);
                }
                let number = number.min(MAX_CLASSES - 1) as u32;
                let counts = features.of(&executor.counters());
                let answered = features.branches(&executor.counters()).into_iter();
                let answered = answered.map(|b| ANSWERED | (b * MAX_CLASSES as u32 + number));
                let all = answered.chain(counts.iter().copied()).collect();
                let lines = different_lines(&outcome.stdout);
                runs.push(Covered { all, counts, class, lines });
                let is_seed = is_seed(path) && seeds.len() < MAX_SEEDS;
                seeds.extend(is_seed.then_some(good.len()));
                good.push(input);
            }
            End::Signal(_) if args.crashes => bad.push(input),
            _ => left_out.crashes += 1,
        }
    }
    progress.finish();
    let chosen: Vec<usize> = match args.all {
        true => (0..good.len()).collect(),
        false => {
            let sizes = runs.iter().zip(&good).map(|(run, input)| (run.all.clone(), input.len()));
            smallest_set(&sizes.collect::<Vec<_>>())
        }
    };
    // What people wrote means most.
    let mut inputs: BTreeMap<String, Vec<u8>> =
        seeds.iter().map(|&i| (case_name(&good[i]), good[i].clone())).collect();
    let chosen: Vec<usize> = chosen.into_iter().filter(|i| !seeds.contains(i)).collect();
    let timeout = time_limit(run, Path::new(""));
    let progress = Progress::new("making inputs smaller", chosen.len() as u64);
    for i in chosen {
        progress.inc();
        let (input, wanted) = (&good[i], &runs[i]);
        let shrunk = shorten(input, args.shrink, &mut |candidate| {
            let outcome = executor.run(candidate, timeout)?;
            let class = (wanted.class.0, !outcome.stdout.is_empty());
            let is_same = outcome.end == End::Exit(wanted.class.0)
                && class == wanted.class
                && different_lines(&outcome.stdout) >= wanted.lines;
            Ok::<_, Failure>(is_same && features.of(&executor.counters()) == wanted.counts)
        })?;
        inputs.insert(case_name(&shrunk.input), shrunk.input);
    }
    inputs.extend(bad.into_iter().map(|input| (case_name(&input), input)));
    let mut functions = replayer.layout.fast.functions.iter();
    Ok((inputs, functions.any(|f| f.name == "LLVMFuzzerTestOneInput")))
}

/// True for a seed in the queue of a campaign.
fn is_seed(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split(',').any(|field| field == "op:seed")
}

/// The number of different lines in an answer. A smaller input should not make all of them alike,
/// as an expression does whose variables have lost their values.
fn different_lines(output: &[u8]) -> usize {
    let lines: HashSet<&[u8]> = output.split(|&byte| byte == b'\n').collect();
    lines.len().min(MAX_LINES)
}

/// How the suite runs the program. Files that its arguments name come along.
fn plan(run: &Run, first: &Path, program: String, is_fuzzer: bool) -> Plan {
    let mut args: Vec<OsString> = Vec::new();
    let mut files: Vec<(OsString, PathBuf)> = Vec::new();
    let in_dir = |dir: &PathBuf| std::fs::read_dir(dir).into_iter().flatten().flatten();
    files.extend(run.cwd.iter().flat_map(in_dir).map(|e| (e.file_name(), e.path())));
    for arg in run.program.iter().skip(1) {
        let (option, path) = split_option(arg);
        let is_copied = run.cwd.as_ref().is_some_and(|dir| dir.join(path).exists());
        match path.file_name().filter(|_| path.is_file() && !is_copied) {
            Some(name) => {
                let mut word = option.to_os_string();
                word.push(name);
                args.push(word);
                files.push((name.into(), path.into()));
            }
            None => args.push(arg.clone()),
        }
    }
    let names_input = |a: &OsString| a.as_bytes().windows(2).any(|w| w == b"@@");
    let mut delivery = if args.iter().any(names_input) { Delivery::File } else { Delivery::Stdin };
    // A plain build of a program for libFuzzer reads files.
    if is_fuzzer && delivery == Delivery::Stdin {
        delivery = Delivery::File;
        args.push("@@".into());
    }
    let extension = extension(first).unwrap_or_default().to_string_lossy().into_owned();
    // It is part of shell commands and of the names of tests.
    let is_plain = |c: char| c.is_alphanumeric() || "_.+-".contains(c);
    let program = program.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    Plan { program, args, extension, delivery, files }
}

/// Runs every case twice, as the suite will. A case that crashed, or that did not answer the
/// same again, has no answer.
fn record<'a>(
    args: &Export,
    run: &Run,
    dir: &Path,
    names: impl Iterator<Item = &'a String>,
    left_out: &mut LeftOut,
) -> Result<BTreeMap<String, Option<Answer>>, Failure> {
    let program = std::path::absolute(&run.program[0])?;
    let names: Vec<&String> = names.collect();
    let mut passes = [Vec::new(), Vec::new()];
    let progress = Progress::new("recording answers", 2 * names.len() as u64);
    for pass in &mut passes {
        for name in &names {
            pass.push(run_case(args, run, dir, &program, name)?);
            progress.inc();
        }
    }
    let [first, second] = passes;
    let mut kept = BTreeMap::new();
    for ((name, first), second) in names.into_iter().zip(first).zip(second) {
        let answer = match (first, second) {
            (Some(first), Some(second)) if first == second => Some(first),
            (None, None) => {
                left_out.crashes += 1;
                None
            }
            _ => {
                left_out.unstable += 1;
                None
            }
        };
        kept.insert(name.clone(), answer);
    }
    Ok(kept)
}

/// What a case answers. `None` if it crashes or hangs, and such cases are not kept.
fn run_case(
    args: &Export,
    run: &Run,
    dir: &Path,
    program: &Path,
    name: &str,
) -> Result<Option<Answer>, Failure> {
    let shell = PathBuf::from("/bin/sh");
    let runner = dir.join("run.sh");
    let words: [&OsStr; 5] =
        ["sh".as_ref(), runner.as_ref(), "--raw".as_ref(), program.as_ref(), name.as_ref()];
    let mut options = target(Half::Fast, run, Path::new(""), Output::Null)?;
    options.args = words.map(OsString::from).to_vec();
    // The runner puts the files in place.
    options.workdir = None;
    let mut plain = Plain::new(shell, options, MAX_OUTPUT)?;
    let outcome = plain.run(b"", time_limit(run, Path::new("")))?;
    let status = match outcome.end {
        End::Exit(status) => status,
        End::Signal(signal) if args.crashes => 128 + signal,
        _ => return Ok(None),
    };
    let stderr = args.stderr.then_some(outcome.stderr);
    Ok(Some(Answer { stdout: outcome.stdout, stderr, status }))
}
