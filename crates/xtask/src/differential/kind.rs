//! The kinds of random programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::{cxx, floats, loops};
use crate::{process, project};

const GENERATOR_LIMIT: Duration = Duration::from_secs(600);
const CSMITH_INCLUDE: &str = "/usr/include/csmith";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// C programs of csmith, which read their globals
    Csmith,
    /// C programs of our own: loops, arrays, structs, strings
    Loops,
    /// C++ programs of our own: templates, exceptions, virtual calls, the standard library
    Cxx,
    /// C programs of our own that compute in floating point
    Floats,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Csmith, Kind::Loops, Kind::Cxx, Kind::Floats];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Csmith => "csmith",
            Kind::Loops => "loops",
            Kind::Cxx => "cxx",
            Kind::Floats => "floats",
        }
    }

    pub fn language(self) -> Language {
        match self {
            Kind::Csmith | Kind::Loops | Kind::Floats => Language::C,
            Kind::Cxx => Language::Cxx,
        }
    }

    /// Flags that its programs are compiled with.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Kind::Csmith => &["-w", "-I", CSMITH_INCLUDE],
            Kind::Loops => &["-w"],
            Kind::Floats => &["-w", "-lm"],
            Kind::Cxx => &["-w", "-std=c++20"],
        }
    }

    /// How many bytes its programs read. `None`: they read none, and must be adapted.
    pub fn input_len(self) -> Option<u64> {
        match self {
            Kind::Csmith => None,
            Kind::Loops => Some(loops::INPUT_LEN),
            Kind::Cxx => Some(cxx::INPUT_LEN),
            Kind::Floats => Some(floats::INPUT_LEN),
        }
    }

    /// Writes the program for a seed. Returns its file.
    pub fn generate(self, seed: u64, dir: &Path) -> Result<PathBuf> {
        let source = dir.join("program").with_extension(self.language().extension());
        match self {
            Kind::Csmith => {
                if !Path::new(CSMITH_INCLUDE).join("csmith.h").is_file() {
                    bail!("csmith's headers are missing: run ./x setup");
                }
                let mut csmith = Command::new("csmith");
                csmith.arg("--seed").arg(seed.to_string()).arg("--output").arg(&source);
                // csmith writes platform.info to the working directory.
                csmith.current_dir(dir).stdin(Stdio::null());
                let what = format!("csmith failed for seed {seed}");
                process::succeed(&mut csmith, GENERATOR_LIMIT, &what)?;
            }
            Kind::Loops => fs::write(&source, loops::generate(seed))?,
            Kind::Cxx => fs::write(&source, cxx::generate(seed))?,
            Kind::Floats => fs::write(&source, floats::generate(seed))?,
        }
        Ok(source)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

impl Language {
    /// The language of a source file; `None` for other files.
    pub fn of(file: &Path) -> Option<Language> {
        match file.extension()?.to_str()? {
            "c" => Some(Language::C),
            "C" | "cc" | "cpp" => Some(Language::Cxx),
            _ => None,
        }
    }

    pub fn extension(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cxx => "cpp",
        }
    }

    pub fn plain_compiler(self) -> PathBuf {
        match self {
            Language::C => project::CLANG.into(),
            Language::Cxx => project::CLANGXX.into(),
        }
    }

    pub fn pleach_compiler(self) -> Result<PathBuf> {
        match self {
            Language::C => project::tool("pleach-cc"),
            Language::Cxx => project::tool("pleach-c++"),
        }
    }
}
