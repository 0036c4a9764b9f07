//! The comment at the top of a test program.
//!
//! The first lines are prose. Then come keys, one on each line: first those of the program,
//! then for each `// run` those of the run. `tests/README.md` lists them. The rest of the
//! file is not read. Rewriting keeps every line that is not a `path:` line.

use super::quoted::unquote;
use std::path::{Path, PathBuf};

/// A program of `tests/programs`.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub file: PathBuf,
    pub flags: Vec<String>,
    /// Optimisation levels to build at. The path of the last one is compared.
    pub levels: Vec<&'static str>,
    /// Sources compiled by plain clang in every build, relative to the program.
    pub objects: Vec<PathBuf>,
    /// Further sources of the program.
    pub parts: Vec<PathBuf>,
    /// False if only Pleach can build it, because it has the headers or the `main`.
    pub plain: bool,
    /// The input comes over a connection that the program accepts.
    pub socket: bool,
    pub runs: Vec<Run>,
}

/// One run of it.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub streams: Streams,
    pub args: Vec<String>,
    pub stdout: Vec<u8>,
    pub end: Option<Ending>,
    pub path: Vec<String>,
    pub must: Vec<Must>,
    pub free: Vec<usize>,
    pub same: Vec<Vec<u8>>,
    pub other: Vec<Vec<u8>>,
    pub losses: Vec<String>,
    /// Why traces of mutated inputs may leave the predicted path.
    pub diverges: Option<String>,
    /// The `path:` lines come after this line (counted from 0).
    path_after: usize,
}

/// The input: one plain stream, or several in a container.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    pub input: Option<Vec<u8>>,
    pub args: Vec<Vec<u8>>,
    pub env: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Exit(i32),
    Signal(i32),
}

/// `in[offset] OP value`.
#[derive(Clone, Debug)]
pub struct Must {
    pub offset: usize,
    pub operator: String,
    pub value: u8,
}

impl Must {
    pub fn holds(&self, byte: u8) -> bool {
        match self.operator.as_str() {
            "==" => byte == self.value,
            "!=" => byte != self.value,
            "<" => byte < self.value,
            "<=" => byte <= self.value,
            ">" => byte > self.value,
            _ => byte >= self.value,
        }
    }
}

impl Program {
    /// Reads the comment of a program; an error names the line.
    pub fn read(file: &Path) -> Result<Program, String> {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let mut program = Program {
            file: file.to_path_buf(),
            flags: vec!["-O2".into()],
            plain: true,
            ..Program::default()
        };
        let mut all = false;
        // The first line is prose, whatever it looks like.
        for (number, line) in comment(&text).skip(1) {
            let key = match line.split_once(": ") {
                _ if line == "run" => "run",
                Some((key, _)) if key.chars().all(|c| c.is_ascii_lowercase()) => key,
                _ => continue,
            };
            let value = line.get(key.len() + 2..).unwrap_or("").trim();
            let done = match program.runs.last_mut() {
                _ if key == "run" => {
                    program.runs.push(Run { path_after: number, ..Run::default() });
                    Some(())
                }
                None => program.key(key, value, &mut all),
                Some(run) => run.key(key, value, number),
            };
            done.ok_or_else(|| format!("{}:{}: cannot read `{line}`", file.display(), number + 1))?;
        }
        let own = program.flags.iter().position(|f| f.starts_with("-O"));
        program.levels = match own.map(|at| program.flags.remove(at)).as_deref() {
            _ if all => vec!["-O0", "-O1", "-O3", "-O2"],
            Some("-O0") => vec!["-O0"],
            Some("-O1") => vec!["-O1"],
            Some("-O3") => vec!["-O3"],
            _ => vec!["-O2"],
        };
        match program.runs.iter().all(|r| r.end.is_some()) && !program.runs.is_empty() {
            true => Ok(program),
            false => Err(format!("{}: a run must say `exit:` or `signal:`", file.display())),
        }
    }

    fn key(&mut self, key: &str, value: &str, all: &mut bool) -> Option<()> {
        match key {
            "flags" => self.flags = words(value),
            "opt" => *all = (value == "all").then_some(true)?,
            "object" => self.objects.push(value.into()),
            "with" => self.parts.push(value.into()),
            "plain" => self.plain = value != "no",
            "socket" => self.socket = value == "yes",
            _ => return None,
        }
        Some(())
    }

    /// Replaces the `path:` lines by `paths`, which has one list for each run.
    pub fn rewrite(&self, paths: &[Vec<String>]) -> std::io::Result<()> {
        let text = std::fs::read_to_string(&self.file)?;
        let head = comment(&text).count();
        let mut out = String::new();
        for (number, line) in text.lines().enumerate() {
            if number < head && line.starts_with("// path: ") {
                continue;
            }
            out.push_str(line);
            out.push('\n');
            for (run, path) in self.runs.iter().zip(paths) {
                if run.path_after == number {
                    path.iter().for_each(|p| out.push_str(&format!("// path: {p}\n")));
                }
            }
        }
        std::fs::write(&self.file, out)
    }
}

impl Run {
    fn key(&mut self, key: &str, value: &str, number: usize) -> Option<()> {
        match key {
            "input" => self.streams.input = Some(unquote(value)?),
            "arg" => self.streams.args.push(unquote(value)?),
            "env" => self.streams.env.push(unquote(value)?),
            "args" => self.args = words(value),
            "stdout" => self.stdout = unquote(value)?,
            "exit" => self.end = Some(Ending::Exit(value.parse().ok()?)),
            "signal" => self.end = Some(Ending::Signal(value.parse().ok()?)),
            "path" => self.path.push(value.into()),
            "must" => self.must.push(must(value)?),
            "free" => {
                self.free = words(value).iter().map(|w| w.parse().ok()).collect::<Option<_>>()?
            }
            "same" => self.same.push(unquote(value)?),
            "other" => self.other.push(unquote(value)?),
            "losses" => self.losses = words(value),
            "diverges" => self.diverges = Some(value.into()),
            _ => return None,
        }
        if matches!(key, "exit" | "signal") {
            self.path_after = number;
        }
        Some(())
    }
}

/// The comment lines at the top, without their slashes, with their numbers.
fn comment(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().map_while(|l| l.strip_prefix("//")).map(str::trim_start).enumerate()
}

fn words(value: &str) -> Vec<String> {
    value.split_whitespace().map(Into::into).collect()
}

fn must(value: &str) -> Option<Must> {
    let (offset, rest) = value.strip_prefix("in[")?.split_once("] ")?;
    let (operator, constant) = rest.split_once(' ')?;
    let value = match constant.strip_prefix('\'') {
        Some(c) => *unquote(&format!("\"{}\"", c.strip_suffix('\'')?))?.first()?,
        None => match constant.strip_prefix("0x") {
            Some(hex) => u8::from_str_radix(hex, 16).ok()?,
            None => constant.parse().ok()?,
        },
    };
    ["==", "!=", "<", "<=", ">", ">="].contains(&operator).then_some(())?;
    Some(Must { offset: offset.parse().ok()?, operator: operator.into(), value })
}
