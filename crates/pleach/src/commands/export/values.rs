//! Test suites of Test-Comp: runs the program as its user does, and takes the values that
//! its `__VERIFIER_nondet_*` calls returned from the log of the runtime.

use super::Export;
use super::{cannot_write, read_input};
use crate::args::Run;
use crate::commands::{require_vacant, target, time_limit};
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::anyhow;
use pleach_exec::source::path_in;
use pleach_exec::{End, Half, Image, Output, Plain};
use pleach_report::export::{Context, TestSuite, Value, write_test_suite};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MAX_OUTPUT: u64 = 1 << 20;
const CALL: &str = "__VERIFIER_nondet_";

pub fn run(
    args: &Export,
    run: &Run,
    paths: &[PathBuf],
    context: &Context,
) -> Result<Code, Failure> {
    let image = Image::open(Path::new(&run.program[0]))?;
    let mut calls = image.functions.iter().flat_map(|f| &f.calls);
    if !calls.any(|call| call.callee.starts_with(CALL)) {
        return Err(Failure::user_error(anyhow!(
            "{}: does not call {CALL}*; a test suite of Test-Comp has nothing else",
            image.path.display()
        )));
    }
    require_vacant(&args.output)?;
    let logs = tempfile::tempdir()?;
    let log = logs.path().join("calls");
    let (mut tests, mut hangs) = (Vec::new(), 0);
    for path in paths {
        let input = read_input(path)?;
        let _ = std::fs::remove_file(&log);
        let end = run_with_log(run, &log, &input, time_limit(run, path))?;
        if !matches!(end, End::Exit(_) | End::Signal(_)) {
            hangs += 1;
            continue;
        }
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let values: Vec<Value> = text.lines().filter_map(Value::parse).collect();
        tests.push((values, matches!(end, End::Signal(_))));
    }
    let main = image.functions.iter().find(|f| f.name == "main");
    let file = main.map(|f| path_in(f, &f.file)).unwrap_or_default();
    let hash = match std::fs::read(context.locate(&file)) {
        Ok(bytes) => Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect(),
        Err(_) => String::new(),
    };
    let program_file = context.relative(&file).to_string_lossy().into_owned();
    let suite = TestSuite { program_file, program_hash: hash, tests };
    std::fs::create_dir_all(&args.output).map_err(cannot_write(&args.output))?;
    write_test_suite(&args.output, &suite, context).map_err(cannot_write(&args.output))?;
    let mut out = show::out();
    writeln!(
        out,
        "{}: {} tests of {} inputs",
        args.output.display(),
        suite.tests.len(),
        paths.len()
    )?;
    if hangs > 0 {
        writeln!(out, "{hangs} that did not end are left out")?;
    }
    out.flush()?;
    Ok(Code::Ok)
}

fn run_with_log(run: &Run, log: &Path, input: &[u8], timeout: Duration) -> Result<End, Failure> {
    let mut options = target(Half::Fast, run, Path::new(""), Output::Null)?;
    let mut variable = OsString::from("PLEACH_CALLS=");
    variable.push(log);
    let program = std::path::absolute(&run.program[0])?.into_os_string();
    let rest = options.args.split_off(1);
    options.args = vec!["env".into(), variable, program];
    options.args.extend(rest);
    let mut plain = Plain::new(PathBuf::from("/usr/bin/env"), options, MAX_OUTPUT)?;
    Ok(plain.run(input, timeout)?.end)
}
