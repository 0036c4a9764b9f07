//! Counts the branches that inputs take, on a build by gcc with `--coverage`. It is
//! independent of all fuzzers that are compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::program::{Built, command_on};
use crate::process;

/// Runs inputs in the build for gcov. Returns the number of branches taken, and of all
/// branches.
pub fn count_branches(built: &Built, inputs: &[PathBuf]) -> Result<(u64, u64)> {
    let build_dir = &built.directory;
    let old_counts = find_files(build_dir, "gcda")?;
    old_counts.iter().try_for_each(fs::remove_file)?;
    let limit = Duration::from_secs(5);
    let scratch = tempfile::tempdir()?;
    for input in inputs {
        // The exit status does not matter. A run that hangs is killed and counts nothing.
        let _ = process::run(&mut command_on(built, input, scratch.path())?, limit);
    }
    // Object files without counts belong to other programs, such as the subject's tests.
    let counts = find_files(build_dir, "gcda")?;
    let (mut taken, mut total) = (0.0, 0);
    for count in counts {
        let mut gcov = Command::new("gcov");
        gcov.args(["-b", "-n", "-o"]).arg(count.parent().unwrap_or(build_dir)).arg(&count);
        gcov.current_dir(scratch.path()).stdin(Stdio::null());
        let done = process::run(&mut gcov, Duration::from_secs(60))?;
        let (file_taken, file_total) = parse_gcov(&String::from_utf8_lossy(&done.stdout));
        taken += file_taken;
        total += file_total;
    }
    Ok((taken.round() as u64, total))
}

/// The branches taken and all branches in gcov's output, without system headers.
fn parse_gcov(output: &str) -> (f64, u64) {
    let (mut taken, mut total, mut is_own) = (0.0, 0, false);
    for line in output.lines() {
        if let Some(file) = line.strip_prefix("File '") {
            is_own = !file.starts_with("/usr/");
        }
        let Some(rest) = line.strip_prefix("Taken at least once:").filter(|_| is_own) else {
            continue;
        };
        let Some((percent, count)) = rest.split_once("% of ") else { continue };
        let (Ok(percent), Ok(count)) = (percent.parse::<f64>(), count.trim().parse::<u64>()) else {
            continue;
        };
        taken += (percent * count as f64 / 100.0).round();
        total += count;
    }
    (taken, total)
}

fn find_files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![dir.to_path_buf()]);
    while let Some(dir) = folders.pop() {
        for entry in fs::read_dir(&dir).with_context(|| dir.display().to_string())? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && entry.path().extension().is_some_and(|e| e == extension) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gcovs_output_is_parsed_without_system_headers() {
        let output = "File 'calc.c'\nLines executed:50.00% of 10\nBranches executed:80.00% of 10\n\
                    Taken at least once:30.00% of 10\nNo calls\n\nFile '/usr/include/x.h'\n\
                    Taken at least once:100.00% of 4\n";
        assert_eq!(parse_gcov(output), (3.0, 10));
    }
}
