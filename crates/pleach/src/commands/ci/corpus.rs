//! A corpus that is kept between runs: plain files, a corpus of libFuzzer, or an output
//! directory of AFL++. Files are only ever added, under the hash of their contents.

use super::state;
use crate::commands::export::instances;
use crate::commands::{inputs_in, read_input};
use crate::exit::Failure;
use anyhow::anyhow;
use pleach_hash::Hash;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub struct Corpus {
    /// Where new inputs go.
    dir: PathBuf,
    /// The inputs, each contents once, in the order of their names.
    pub inputs: Vec<(PathBuf, Vec<u8>)>,
    names: HashSet<String>,
}

/// The name of an input in the corpus.
pub fn name_of(input: &[u8]) -> String {
    let first = Hash::new().add_bytes(input).finish();
    let second = Hash::from(first).add(input.len() as u64).add_bytes(input).finish();
    format!("{first:016x}{second:016x}")
}

impl Corpus {
    /// Reads a corpus. One that does not exist is empty.
    pub fn read(dir: &Path) -> Result<Corpus, Failure> {
        let mut corpus = Corpus { dir: dir.into(), inputs: Vec::new(), names: HashSet::new() };
        match std::fs::metadata(dir) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(corpus),
            Ok(meta) if !meta.is_dir() => {
                let dir = dir.display();
                return Err(Failure::user_error(anyhow!("--corpus {dir}: is not a directory")));
            }
            _ => {}
        }
        let mut dirs = vec![dir.to_path_buf()];
        if dir.join("queue").is_dir() {
            corpus.dir = dir.join("queue");
        } else {
            // An instance of its own, which the others read.
            let found = instances(dir);
            if !found.is_empty() {
                corpus.dir = dir.join("pleach").join("queue");
                dirs.extend(found);
            }
        }
        for dir in &dirs {
            let is_afl = dir.join("queue").is_dir();
            let dir = if is_afl { dir.join("queue") } else { dir.clone() };
            for path in inputs_in(&dir, &[])? {
                corpus.add(path.clone(), read_input(&path)?);
            }
        }
        Ok(corpus)
    }

    fn add(&mut self, path: PathBuf, input: Vec<u8>) {
        if self.names.insert(name_of(&input)) {
            self.inputs.push((path, input));
        }
    }

    pub fn has(&self, input: &[u8]) -> bool {
        self.names.contains(&name_of(input))
    }

    /// Adds an input on the disk.
    pub fn keep(&self, extension: &str, input: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.dir.join(name_of(input) + extension);
        state::write(&path, input)?;
        Ok(path)
    }

    /// The extension of the inputs, with its dot, or nothing.
    pub fn extension(&self) -> String {
        let first = self.inputs.first().and_then(|(path, _)| crate::commands::extension(path));
        first.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Copies the inputs into an empty directory, as seeds.
    pub fn copy_to(&self, dir: &Path) -> Result<(), Failure> {
        std::fs::create_dir_all(dir)?;
        let extension = self.extension();
        for (_, input) in &self.inputs {
            std::fs::write(dir.join(name_of(input) + &extension), input)?;
        }
        Ok(())
    }
}
