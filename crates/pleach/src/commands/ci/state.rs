//! What `pleach ci` remembers between runs, in `.pleach` in the corpus: the crashes that are
//! known, an input for each of them, and the answers of the program.

use crate::exit::Failure;
use anyhow::{Context, anyhow};
use pleach_exec::CrashId;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The kind of a crash that is a hang.
pub const HANG: &str = "hang";

/// A crash that an earlier run found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub kind: String,
    /// What people read: the kind and the place.
    pub text: String,
}

/// What the program answered on an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub end: String,
    /// The hash of standard output, and its length.
    pub output: String,
}

pub struct State {
    dir: PathBuf,
    baseline: PathBuf,
    /// By the identity of the crash.
    pub crashes: BTreeMap<String, Known>,
    /// By the name of the input.
    pub answers: BTreeMap<String, Answer>,
}

pub fn id(crash: &CrashId) -> String {
    format!("{:016x}", crash.hash)
}

impl State {
    /// Reads the state of a corpus. What does not exist is empty; what is damaged is refused.
    pub fn read(corpus: &Path, baseline: Option<&Path>) -> Result<State, Failure> {
        let dir = corpus.join(".pleach");
        let baseline = baseline.map_or_else(|| dir.join("crashes.json"), Path::to_path_buf);
        let text = |value: &Value, key: &str| value[key].as_str().map(String::from);
        let crash = |v: &Value| Some(Known { kind: text(v, "kind")?, text: text(v, "text")? });
        let answer = |v: &Value| Some(Answer { end: text(v, "end")?, output: text(v, "output")? });
        Ok(State {
            crashes: read_map(&baseline, crash)?,
            answers: read_map(&dir.join("answers.json"), answer)?,
            dir,
            baseline,
        })
    }

    /// True if a crash is known. A hang whose stack could not be read may be any hang.
    pub fn knows(&self, crash: &CrashId) -> bool {
        let mut hangs = self.crashes.values().filter(|known| known.kind == HANG);
        self.crashes.contains_key(&id(crash))
            || crash.kind == HANG && hangs.any(|k| k.text == HANG || crash.frames.is_empty())
    }

    /// The inputs of known crashes, by the identity of the crash.
    pub fn crash_inputs(&self) -> Vec<(String, PathBuf)> {
        let entries = std::fs::read_dir(self.dir.join("crashes")).into_iter().flatten().flatten();
        let name = |e: std::fs::DirEntry| {
            Some((e.file_name().to_str()?.split('.').next()?.to_string(), e.path()))
        };
        let mut all: Vec<_> = entries.filter_map(name).collect();
        all.sort();
        all
    }

    pub fn write(&self) -> Result<(), Failure> {
        let crashes = self
            .crashes
            .iter()
            .map(|(id, known)| (id, json!({ "kind": known.kind, "text": known.text })));
        write_map(&self.baseline, crashes)?;
        let answers = self
            .answers
            .iter()
            .map(|(name, answer)| (name, json!({ "end": answer.end, "output": answer.output })));
        write_map(&self.dir.join("answers.json"), answers)
    }

    /// Keeps the input of a crash, and returns where.
    pub fn keep_crash(&self, id: &str, extension: &str, input: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.dir.join("crashes").join(format!("{id}{extension}"));
        write(&path, input).map(|()| path)
    }
}

/// Writes a whole file or nothing, and makes its directory.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent)
        .with_context(|| parent.display().to_string())
        .map_err(Failure::user_error)?;
    crate::commands::export::write_file(path, bytes)
}

fn read_map<T>(
    path: &Path,
    one: impl Fn(&Value) -> Option<T>,
) -> Result<BTreeMap<String, T>, Failure> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(e) => {
            let named = anyhow::Error::from(e).context(path.display().to_string());
            return Err(Failure::user_error(named));
        }
    };
    let damaged =
        || Failure::user_error(anyhow!("{}: is not what `pleach ci` wrote", path.display()));
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
    let object = value.as_object().ok_or_else(damaged)?;
    object.iter().map(|(k, v)| Ok((k.clone(), one(v).ok_or_else(damaged)?))).collect()
}

fn write_map<'a>(
    path: &Path,
    entries: impl Iterator<Item = (&'a String, Value)>,
) -> Result<(), Failure> {
    let map: serde_json::Map<String, Value> = entries.map(|(k, v)| (k.clone(), v)).collect();
    let mut text = serde_json::to_vec_pretty(&Value::Object(map))?;
    text.push(b'\n');
    write(path, &text)
}
