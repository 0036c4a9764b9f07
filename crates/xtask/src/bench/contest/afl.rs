//! AFL++ as a contestant: Debian's, with its defaults, from the same seed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::on_core;
use super::program::{Built, command_on};
use crate::process;
use crate::project;

/// Starts AFL++ on a core. `cmplog` is the build for comparison logging (`-c`), if it is
/// used.
///
/// The variables change nothing of the search: the core is set by us, there is no terminal,
/// and the machine's settings for crashes and frequencies are left alone.
pub fn start(
    built: &Built,
    cmplog: Option<&Built>,
    seeds: &Path,
    out: &Path,
    (seconds, seed, core): (u64, u64, u32),
) -> Result<Child> {
    let mut command = on_core(core, Path::new("afl-fuzz"));
    command.arg("-i").arg(seeds).arg("-o").arg(out).arg("-V").arg(seconds.to_string());
    command.arg("-s").arg(seed.to_string());
    match cmplog {
        Some(cmplog) => {
            // See tools/afl-launch.c.
            let log_build = cmplog.program()?;
            command.arg("-c").arg(&log_build).arg("--").arg(build_launcher()?);
            command.args(&built.command[1..]);
            command.env("LAUNCH_TARGET", built.program()?).env("LAUNCH_CMPLOG", log_build);
        }
        None => {
            command.arg("--").arg(built.program()?).args(&built.command[1..]);
        }
    }
    for name in [
        "AFL_NO_AFFINITY",
        "AFL_NO_UI",
        "AFL_SKIP_CPUFREQ",
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
    ] {
        command.env(name, "1");
    }
    let log = File::create(out.with_extension("log"))?;
    command.current_dir(&built.directory).stdin(Stdio::null());
    command.stdout(log.try_clone()?).stderr(log).spawn().context("afl-fuzz")
}

/// Compiles `tools/afl-launch.c`, and returns the program.
fn build_launcher() -> Result<PathBuf> {
    let program = project::target("bench").join("afl-launch");
    fs::create_dir_all(project::target("bench"))?;
    let mut command = Command::new("gcc");
    command.args(["-O2", "-o"]).arg(&program).arg(project::root().join("tools/afl-launch.c"));
    let limit = Duration::from_secs(60);
    process::succeed(command.stdin(Stdio::null()), limit, "compiling tools/afl-launch.c")?;
    Ok(program)
}

/// Checks that AFL++ ran as long as it should.
pub fn check_run_time(out: &Path, seconds: u64) -> Result<()> {
    let run_time = read_stat(out, "run_time");
    match run_time {
        Ok(time) if time + 5 >= seconds => Ok(()),
        _ => {
            let log = fs::read_to_string(out.with_extension("log")).unwrap_or_default();
            let last: Vec<&str> = log.lines().rev().take(8).collect();
            let last: Vec<&str> = last.into_iter().rev().collect();
            bail!("afl-fuzz did not run for {seconds} s:\n{}", last.join("\n"));
        }
    }
}

/// A number from AFL++'s statistics.
pub fn read_stat(out: &Path, name: &str) -> Result<u64> {
    let path = out.join("default/fuzzer_stats");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut lines = text.lines().filter_map(|l| l.split_once(':'));
    let value = lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().parse());
    value.with_context(|| format!("{}: no {name}", path.display()))?.context("not a number")
}

/// True if AFL++'s build neither crashes nor hangs on an input. AFL++ refuses other seeds.
pub fn is_usable_seed(built: &Built, input: &Path) -> Result<bool> {
    let scratch = tempfile::tempdir()?;
    let mut command = command_on(built, input, scratch.path())?;
    // As AFL++ does: what a sanitizer reports is a crash.
    command.env("ASAN_OPTIONS", "abort_on_error=1:detect_leaks=0:symbolize=0");
    let done = process::run(&mut command, Duration::from_secs(1));
    Ok(done.is_ok_and(|d| matches!(d.exit, process::Exit::Code(_))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::Flavour;

    const MAGIC: &str = r#"
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        int main(void) {
            char text[64];
            if (read(0, text, sizeof text) < 8) return 1;
            if (memcmp(text, "MAGICHDR", 8) == 0) abort();
            return 0;
        }
    "#;

    /// The crash is behind eight bytes that only comparison logging finds.
    #[test]
    fn comparisons_are_really_logged() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("magic.c"), MAGIC).unwrap();
        let build = |flavour: Flavour| {
            let mut command = Command::new(flavour.compilers().unwrap().0);
            command.args(["-O2", "magic.c", "-o", flavour.name()]).current_dir(dir.path());
            command.envs(flavour.variables().iter().copied());
            process::succeed(&mut command, Duration::from_secs(60), "compiling").unwrap();
            Built { directory: dir.path().into(), command: vec![flavour.name().into()] }
        };
        let (plain, cmplog) = (build(Flavour::Afl), build(Flavour::AflCmplog));
        fs::create_dir(path("seeds")).unwrap();
        fs::write(path("seeds/seed"), "aaaabbbbccccdddd").unwrap();
        let out = path("out");
        let child = start(&plain, Some(&cmplog), &path("seeds"), &out, (4, 1, 0)).unwrap();
        super::super::wait(child, Duration::from_secs(60)).unwrap();
        check_run_time(&out, 4).unwrap();
        assert!(read_stat(&out, "saved_crashes").unwrap() > 0);
    }
}
