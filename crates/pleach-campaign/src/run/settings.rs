//! What was asked for, as it is kept in `run.toml`.

use pleach_exec::executor::{Half, Output, TargetOptions};
use pleach_exec::scratch::{WorkDir, WorkDirError};
use pleach_exec::terminal::Size;
use pleach_hash::hash_bytes;
use pleach_search::PilotOptions;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// What a campaign is. When it is resumed, only the limits of a run may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The version that began the campaign.
    pub version: String,
    /// The program and its arguments, `@@` for the input.
    pub program: Vec<Text>,
    /// Which build of the program: a hash of its bytes.
    pub build: String,
    pub strategy: String,
    /// Seed of the generator of random numbers.
    pub seed: u64,
    /// Milliseconds for a run.
    pub timeout_ms: u64,
    /// Runs are ended earlier than that if they use far more CPU time than the
    /// seeds did: nobody said how long a run may take.
    #[serde(default)]
    pub adaptive: bool,
    /// MiB for a run; 0 for no limit.
    pub memory_mib: u64,
    /// Bytes of the first input, where there are no seeds.
    pub len: u64,
    /// Inputs are not grown beyond this.
    pub max_len: u64,
    /// Typed calls may grow inputs up to this, where nothing was said about `max_len`.
    #[serde(default)]
    pub calls_len: Option<u64>,
    /// Typed calls do not grow inputs beyond this in a program that asks for ever, where
    /// nothing was said about `max_len`.
    #[serde(default)]
    pub endless_len: Option<u64>,
    /// Decisions of a path that depth-first search flips.
    pub depth: u32,
    /// The program's connections deliver the input.
    pub socket: bool,
    /// The program runs on a terminal of this size, whose keys are the input.
    #[serde(default)]
    pub tty: Option<Size>,
    /// The input file's name ends like this.
    pub extension: Text,
    /// Runs work in a copy of this directory; without it, in an empty one.
    #[serde(default)]
    pub cwd: Option<Text>,
    /// The grammar of the input, if there is one.
    #[serde(default)]
    pub grammar: Option<GrammarSettings>,
    #[serde(default)]
    pub hybrid: Hybrid,
}

/// What was said about a grammar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrammarSettings {
    pub file: Text,
    pub lexer: Option<Text>,
    /// Files with the words that the scanner looks up, and whether it ignores their case.
    #[serde(default)]
    pub keywords: Vec<Text>,
    #[serde(default)]
    pub caseless_keywords: bool,
    /// Which grammar: a hash of the files.
    pub build: String,
    /// Bounds of what is derived.
    pub max_length: Option<u32>,
    pub max_height: Option<u32>,
    /// Lengths are counted in tokens.
    pub tokens: bool,
    /// Flips for one string of a symbolic grammar.
    pub per_string: u32,
    /// What becomes of tokens, where it was said.
    pub keep: Vec<String>,
    pub one: Vec<String>,
    pub many: Vec<String>,
    /// Tokens with another language, as they were given.
    #[serde(default)]
    pub holes: Vec<String>,
    /// What fills a hole need not be a text of its token.
    #[serde(default)]
    pub relaxed: bool,
    /// Holes do not become longer than this; 0 for lengths that do not change.
    #[serde(default = "max_hole")]
    pub max_hole: u32,
}

/// Bytes of a hole, where nothing is said.
pub const MAX_HOLE: u32 = 65_536;

fn max_hole() -> u32 {
    MAX_HOLE
}

/// What `-s hybrid` was told; 0 is for what adapts by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hybrid {
    /// θ1: stop when so many percent of the branches within reach are covered.
    pub enough: u32,
    /// θ2: events without gain before a search.
    pub saturation: u64,
    /// Steps of a search.
    pub budget: u64,
    /// Events that a search looks ahead.
    pub ahead: u64,
    /// The strategy of a search.
    pub explore: String,
    /// Percent of random events that are uniform.
    pub uniform: u32,
}

impl Default for Hybrid {
    fn default() -> Hybrid {
        Hybrid { enough: 0, saturation: 0, budget: 0, ahead: 0, explore: "cfg".into(), uniform: 25 }
    }
}

impl Hybrid {
    pub fn pilot(&self) -> PilotOptions {
        let said = |n: u64| (n > 0).then_some(n);
        PilotOptions {
            saturation: said(self.saturation),
            budget: said(self.budget),
            ahead: said(self.ahead),
        }
    }
}

impl Settings {
    /// The first thing in which a campaign differs from what is asked now: its
    /// name, then and now.
    pub fn difference(&self, now: &Settings) -> Option<(&'static str, String, String)> {
        let program =
            |s: &Settings| s.program.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let directory =
            |s: &Settings| s.cwd.as_ref().map_or("an empty directory".into(), ToString::to_string);
        let pairs = [
            ("the program", program(self), program(now)),
            ("--strategy", self.strategy.clone(), now.strategy.clone()),
            ("--seed", self.seed.to_string(), now.seed.to_string()),
            ("--len", self.len.to_string(), now.len.to_string()),
            ("--max-len", self.max_len.to_string(), now.max_len.to_string()),
            ("--depth", self.depth.to_string(), now.depth.to_string()),
            ("--socket", self.socket.to_string(), now.socket.to_string()),
            ("--tty", format!("{:?}", self.tty), format!("{:?}", now.tty)),
            ("--cwd", directory(self), directory(now)),
            ("the grammar", format!("{:?}", self.grammar), format!("{:?}", now.grammar)),
            ("--enough", self.hybrid.enough.to_string(), now.hybrid.enough.to_string()),
            ("--saturation", self.hybrid.saturation.to_string(), now.hybrid.saturation.to_string()),
            ("--budget", self.hybrid.budget.to_string(), now.hybrid.budget.to_string()),
            ("--ahead", self.hybrid.ahead.to_string(), now.hybrid.ahead.to_string()),
            ("--explore", self.hybrid.explore.clone(), now.hybrid.explore.clone()),
            ("--uniform", self.hybrid.uniform.to_string(), now.hybrid.uniform.to_string()),
        ];
        pairs.into_iter().find(|(_, then, now)| then != now)
    }

    /// How long a hole may become.
    pub fn max_hole(&self) -> u32 {
        self.grammar.as_ref().map_or(MAX_HOLE, |g| g.max_hole)
    }

    /// Whether the lengths of holes are variables.
    pub fn lengths(&self) -> bool {
        self.max_hole() > 0
    }

    /// The files that runs find in their directory.
    pub fn workdir(&self) -> Result<Option<WorkDir>, WorkDirError> {
        self.cwd.as_ref().map(|dir| WorkDir::read(Path::new(&dir.os()))).transpose()
    }

    /// How the program is run, in a copy of these files.
    pub fn target(&self, half: Half, workdir: Option<&WorkDir>) -> TargetOptions {
        let mut target = TargetOptions::new(half, self.args());
        target.output = Output::Null;
        target.socket = self.socket;
        target.tty = self.tty;
        target.memory_kib = (self.memory_mib > 0).then(|| self.memory_mib.saturating_mul(1024));
        target.extension = self.extension.os();
        target.scratch = true;
        target.workdir = workdir.cloned();
        target
    }

    pub fn args(&self) -> Vec<OsString> {
        self.program.iter().map(Text::os).collect()
    }
}

/// A string of the operating system's, readable in a text file: bytes that are
/// not UTF-8, and the backslash, are written `\xNN`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(String);

impl Text {
    pub fn new(text: &OsStr) -> Text {
        let mut out = String::new();
        for chunk in text.as_bytes().utf8_chunks() {
            out.push_str(&chunk.valid().replace('\\', "\\x5c"));
            chunk.invalid().iter().for_each(|b| out.push_str(&format!("\\x{b:02x}")));
        }
        Text(out)
    }

    pub fn os(&self) -> OsString {
        let (mut rest, mut out) = (self.0.as_bytes(), Vec::new());
        while let Some((&first, tail)) = rest.split_first() {
            let digits = tail.strip_prefix(b"x").and_then(|t| t.get(..2));
            let byte = digits
                .filter(|_| first == b'\\')
                .and_then(|d| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok());
            out.push(byte.unwrap_or(first));
            rest = if byte.is_some() { &tail[3..] } else { tail };
        }
        OsString::from_vec(out)
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A hash of a file's bytes, to know a build by.
pub fn build_of(path: &Path) -> std::io::Result<String> {
    let bytes = std::fs::read(path)?;
    Ok(format!("{:016x}", hash_bytes(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_argument_survives_the_file() {
        for bytes in [&b"plain"[..], b"\xff\xfe", b"a\\b", b"\\x41", b"\\", b"\\x", "ä→".as_bytes()]
        {
            let given = OsStr::from_bytes(bytes);
            assert_eq!(Text::new(given).os(), given);
        }
        assert_eq!(Text::new(OsStr::from_bytes(b"a\xffb")).to_string(), "a\\xffb");
    }
}
