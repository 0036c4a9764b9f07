//! The inputs that a campaign keeps, and what their names say.

use crate::run::Kept;
use pleach_exec::executor::End;
use pleach_exec::triage::CrashId;
use pleach_search::Counts;
use std::io;
use std::path::{Path, PathBuf};

/// An input in the directory of a campaign.
#[derive(Clone, Debug)]
pub struct Input {
    pub kept: Kept,
    pub number: u32,
    /// The number in the queue of the input that it was made from.
    pub source: Option<u32>,
    /// Milliseconds from the start of the campaign until it was kept.
    pub time_ms: u64,
    /// How it was made: `seed`, `flip`, `havoc`.
    pub op: String,
    /// The file and line of the branch that it was made for, or that it took.
    pub site: Option<String>,
    pub name: String,
    pub path: PathBuf,
    pub len: usize,
    /// How it ended; `None` before it is replayed.
    pub end: Option<End>,
    /// How often it took each branch.
    pub counts: Counts,
    /// Which crash it is, after it was examined.
    pub crash: Option<Crash>,
}

/// What is known of a crashing input.
#[derive(Clone, Debug)]
pub struct Crash {
    /// `None` if it does not crash in a process of its own.
    pub id: Option<CrashId>,
    /// What the program printed.
    pub stderr: Vec<u8>,
}

impl Input {
    /// The bytes of the input.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        std::fs::read(&self.path)
    }

    /// What the name of a file says: `id:000012,src:000003,time:4512,op:flip,site:calc.c:41`.
    fn of_name(kept: Kept, path: PathBuf) -> Option<Input> {
        let name = path.file_name()?.to_str()?.to_string();
        if name.ends_with(".txt") {
            return None;
        }
        let mut fields = name.split(',');
        let number = fields.next()?.strip_prefix("id:")?.parse().ok()?;
        let mut input = Input { kept, number, name: name.clone(), path, ..Input::default() };
        for field in fields {
            match field.split_once(':') {
                Some(("src", source)) => input.source = source.parse().ok(),
                Some(("time", time)) => input.time_ms = time.parse().unwrap_or(0),
                Some(("op", op)) => input.op = op.to_string(),
                Some(("site", site)) => input.site = Some(site.to_string()),
                _ => {}
            }
        }
        Some(input)
    }
}

impl Default for Input {
    fn default() -> Input {
        Input {
            kept: Kept::Queue,
            number: 0,
            source: None,
            time_ms: 0,
            op: String::new(),
            site: None,
            name: String::new(),
            path: PathBuf::new(),
            len: 0,
            end: None,
            counts: Counts::default(),
            crash: None,
        }
    }
}

/// The inputs in one directory of a campaign.
pub fn list(dir: &Path, kept: Kept) -> io::Result<Vec<Input>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        found.extend(Input::of_name(kept, entry?.path()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_how_an_input_was_made() {
        let parse = |name: &str| Input::of_name(Kept::Queue, PathBuf::from("queue").join(name));
        let input = parse("id:000012,src:000003,time:4512,op:flip,site:calc.c:41,+cov").unwrap();
        assert_eq!((input.number, input.source, input.time_ms), (12, Some(3), 4512));
        assert_eq!((&*input.op, input.site.as_deref()), ("flip", Some("calc.c:41")));
        let seed = parse("id:000000,time:0,op:seed").unwrap();
        assert_eq!((seed.source, &*seed.op, seed.site), (None, "seed", None));
        assert!(parse("id:000001,sig:11,op:flip.stack.txt").is_none());
        assert!(parse("README.txt").is_none());
    }
}
