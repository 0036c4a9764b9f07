//! The settings of a campaign, as `run.toml` stores them.

use pleach_exec::executor::{Half, Output, TargetOptions};
use pleach_exec::scratch::{WorkDir, WorkDirError};
use pleach_exec::terminal::Size;
use pleach_hash::hash_bytes;
use pleach_search::PilotOptions;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The settings of a campaign. When it is resumed, only the limits of a run may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The version that began the campaign.
    pub version: String,
    /// The program and its arguments, `@@` for the input.
    pub program: Vec<Text>,
    /// A hash of the executable, to recognise another build.
    pub build: String,
    pub strategy: String,
    /// The seed of the random generator.
    pub seed: u64,
    /// The time limit of a run, in milliseconds.
    pub timeout_ms: u64,
    /// The user gave no time limit: runs that use far more CPU time than the seeds are stopped
    /// earlier.
    #[serde(default)]
    pub adaptive: bool,
    /// The memory limit of a run in MiB; 0 for none.
    pub memory_mib: u64,
    /// How many bytes of memory the driver may use for what it remembers. What it forgets
    /// depends on this number, and so does the queue.
    #[serde(default = "max_memory")]
    pub max_memory: u64,
    /// The length of the first input, if there are no seeds.
    pub len: u64,
    /// The maximal length of an input.
    pub max_len: u64,
    /// If the user gave no `max_len`: typed calls may make inputs this long.
    #[serde(default)]
    pub calls_len: Option<u64>,
    /// If the user gave no `max_len`: the same for a program that never stops asking.
    #[serde(default)]
    pub endless_len: Option<u64>,
    /// Depth-first search flips this many decisions of a path.
    pub depth: u32,
    /// The share of flips in `auto` is multiplied by this percentage.
    #[serde(default = "whole")]
    pub flip_share_percent: u32,
    /// The program's connections deliver the input.
    pub socket: bool,
    /// The program runs on a terminal of this size, and the input is its keys.
    #[serde(default)]
    pub tty: Option<Size>,
    /// The extension of the input file.
    pub extension: Text,
    /// Each run works in a copy of this directory; if there is none, in an empty one.
    #[serde(default)]
    pub cwd: Option<Text>,
    /// The grammar of the input, if there is one.
    #[serde(default)]
    pub grammar: Option<GrammarSettings>,
    #[serde(default)]
    pub hybrid: Hybrid,
    /// Where files of other fuzzers are taken from. This may differ when a campaign is
    /// resumed.
    #[serde(default)]
    pub exchange: ExchangeSettings,
    /// The user's dictionaries, if there are any.
    #[serde(default)]
    pub dictionary: Option<DictionarySettings>,
    /// The places that the search should get to.
    #[serde(default)]
    pub toward: Vec<Toward>,
}

/// Exchange with other fuzzers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeSettings {
    /// Directories of other fuzzers.
    pub from: Vec<Text>,
    /// In a directory of AFL++: the name of this instance. The instances beside it are
    /// watched.
    pub name: Option<String>,
    /// It is the main instance.
    pub main: bool,
}

/// The user's dictionaries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DictionarySettings {
    /// Files and directories, each perhaps with `@` and a level.
    pub files: Vec<Text>,
    /// A hash of their words, to recognise other ones.
    pub build: String,
}

/// A place that a search should get to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toward {
    pub place: String,
    /// What was said about it: a result of a static analyser.
    #[serde(default)]
    pub what: String,
}

/// The grammar of a campaign, and how it is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrammarSettings {
    pub file: Text,
    pub lexer: Option<Text>,
    /// Files with the keywords that the scanner looks up.
    #[serde(default)]
    pub keywords: Vec<Text>,
    /// The scanner ignores the case of keywords.
    #[serde(default)]
    pub caseless_keywords: bool,
    /// A hash of the files, to recognise another grammar.
    pub build: String,
    /// The bounds of derived strings.
    pub max_length: Option<u32>,
    pub max_height: Option<u32>,
    /// Lengths are counted in tokens.
    pub tokens: bool,
    /// How many flips one string of a symbolic grammar gets.
    pub per_string: u32,
    /// Tokens that the symbolic grammar keeps, replaces by one constant, or by any number of
    /// constants.
    pub keep: Vec<String>,
    pub one: Vec<String>,
    pub many: Vec<String>,
    /// Tokens with a language of the user, as they were given.
    #[serde(default)]
    pub holes: Vec<String>,
    /// A hole need not be a text of its token.
    #[serde(default)]
    pub relaxed: bool,
    /// The maximal length of a hole; 0 if lengths may not change.
    #[serde(default = "max_hole")]
    pub max_hole: u32,
}

/// The maximal length of a hole, if the user gives none.
pub const MAX_HOLE: u32 = 65_536;

/// The limit of campaigns from before there was one.
fn max_memory() -> u64 {
    1 << 30
}

fn whole() -> u32 {
    100
}

fn max_hole() -> u32 {
    MAX_HOLE
}

/// The options of `-s hybrid`. 0 stands for a value that adapts by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hybrid {
    /// θ1: stop when this percentage of the reachable branches is covered.
    pub enough: u32,
    /// θ2: how many events without gain lead to a search.
    pub saturation: u64,
    /// The budget of a search, in runs and traces.
    pub budget: u64,
    /// How many events a search goes ahead.
    pub ahead: u64,
    /// The strategy of a search.
    pub explore: String,
    /// The percentage of random events that are uniform.
    pub uniform: u32,
}

impl Default for Hybrid {
    fn default() -> Hybrid {
        Hybrid { enough: 0, saturation: 0, budget: 0, ahead: 0, explore: "cfg".into(), uniform: 25 }
    }
}

impl Hybrid {
    pub fn pilot(&self) -> PilotOptions {
        let given = |n: u64| (n > 0).then_some(n);
        PilotOptions {
            saturation: given(self.saturation),
            budget: given(self.budget),
            ahead: given(self.ahead),
        }
    }
}

impl Settings {
    /// The first setting that differs from those of a campaign: its name, and its value then
    /// and now.
    pub fn difference(&self, now: &Settings) -> Option<(&'static str, String, String)> {
        let program =
            |s: &Settings| s.program.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let directory =
            |s: &Settings| s.cwd.as_ref().map_or("an empty directory".into(), ToString::to_string);
        let dictionary = |s: &Settings| match &s.dictionary {
            Some(DictionarySettings { files, build }) => {
                let files: Vec<_> = files.iter().map(ToString::to_string).collect();
                format!("{} ({build})", files.join(", "))
            }
            None => "none".into(),
        };
        let pairs = [
            ("the program", program(self), program(now)),
            ("--strategy", self.strategy.clone(), now.strategy.clone()),
            ("--seed", self.seed.to_string(), now.seed.to_string()),
            ("--len", self.len.to_string(), now.len.to_string()),
            ("--max-len", self.max_len.to_string(), now.max_len.to_string()),
            ("--depth", self.depth.to_string(), now.depth.to_string()),
            (
                "--flip-share (in percent)",
                self.flip_share_percent.to_string(),
                now.flip_share_percent.to_string(),
            ),
            ("--socket", self.socket.to_string(), now.socket.to_string()),
            ("--tty", format!("{:?}", self.tty), format!("{:?}", now.tty)),
            ("--cwd", directory(self), directory(now)),
            ("the dictionary (-x)", dictionary(self), dictionary(now)),
            ("the grammar", format!("{:?}", self.grammar), format!("{:?}", now.grammar)),
            ("the places", format!("{:?}", self.toward), format!("{:?}", now.toward)),
            ("--enough", self.hybrid.enough.to_string(), now.hybrid.enough.to_string()),
            ("--saturation", self.hybrid.saturation.to_string(), now.hybrid.saturation.to_string()),
            ("--budget", self.hybrid.budget.to_string(), now.hybrid.budget.to_string()),
            ("--ahead", self.hybrid.ahead.to_string(), now.hybrid.ahead.to_string()),
            ("--explore", self.hybrid.explore.clone(), now.hybrid.explore.clone()),
            ("--uniform", self.hybrid.uniform.to_string(), now.hybrid.uniform.to_string()),
        ];
        pairs.into_iter().find(|(_, then, now)| then != now)
    }

    /// The text of `run.toml`.
    pub fn toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// The maximal length of a hole.
    pub fn max_hole(&self) -> u32 {
        self.grammar.as_ref().map_or(MAX_HOLE, |g| g.max_hole)
    }

    /// True if the lengths of holes are variables.
    pub fn has_variable_lengths(&self) -> bool {
        self.max_hole() > 0
    }

    /// Reads the files that each run finds in its directory.
    pub fn workdir(&self) -> Result<Option<WorkDir>, WorkDirError> {
        self.cwd.as_ref().map(|dir| WorkDir::read(Path::new(&dir.os()))).transpose()
    }

    /// How the program is run. Each run gets a copy of the files in `workdir`.
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

/// A string of the operating system, as a text file has it: bytes that are not UTF-8, and the
/// backslash, are written as `\xNN`.
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

/// A hash of a file, to recognise another build.
pub fn build_of(path: &Path) -> std::io::Result<String> {
    let bytes = std::fs::read(path)?;
    Ok(format!("{:016x}", hash_bytes(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_argument_can_be_stored() {
        for bytes in [&b"plain"[..], b"\xff\xfe", b"a\\b", b"\\x41", b"\\", b"\\x", "ä→".as_bytes()]
        {
            let given = OsStr::from_bytes(bytes);
            assert_eq!(Text::new(given).os(), given);
        }
        assert_eq!(Text::new(OsStr::from_bytes(b"a\xffb")).to_string(), "a\\xffb");
    }
}
