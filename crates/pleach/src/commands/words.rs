//! Dictionaries: reads what `-x` names.

use crate::exit::Failure;
use anyhow::{Context, anyhow};
use pleach_campaign::mutate::{MAX_WORD_LEN, Words, parse_words};
use pleach_campaign::run::{DictionarySettings, Text};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A larger file is no dictionary.
const MAX_FILE_SIZE: u64 = 16 << 20;
/// The most words of all dictionaries.
const MAX_WORDS: usize = 1 << 16;

/// What `-x` names, made absolute, and the words there. Adds warnings to the notes.
pub fn load(
    given: &[OsString],
    notes: &mut Vec<String>,
) -> Result<(Option<DictionarySettings>, Vec<Vec<u8>>), Failure> {
    let (mut files, mut words, mut too_long) = (Vec::new(), Vec::new(), 0);
    for given in given {
        let (path, level) = split_level(given);
        let found = read(&path, level.unwrap_or(0)).map_err(Failure::user_error)?;
        words.extend(found.words);
        too_long += found.too_long;
        let mut name = std::path::absolute(&path)?.into_os_string();
        level.iter().for_each(|level| name.push(format!("@{level}")));
        files.push(Text::new(&name));
    }
    if words.len() > MAX_WORDS {
        return Err(Failure::user_error(anyhow!(
            "-x: {} words are too many; at most {MAX_WORDS} are possible",
            words.len()
        )));
    }
    if too_long > 0 {
        notes.push(format!(
            "-x: {too_long} words have more than {MAX_WORD_LEN} bytes and are not used"
        ));
    }
    let build = format!("{:016x}", pleach_hash::hash_bytes(&words.join(&b'\n')));
    let settings = (!files.is_empty()).then_some(DictionarySettings { files, build });
    Ok((settings, words))
}

/// Splits `FILE@LEVEL`. A file whose name has an `@` is that file.
fn split_level(given: &OsStr) -> (PathBuf, Option<u32>) {
    let bytes = given.as_bytes();
    let at = bytes.iter().rposition(|&b| b == b'@').filter(|_| !Path::new(given).exists());
    let split = at.and_then(|at| {
        let level = std::str::from_utf8(&bytes[at + 1..]).ok()?.parse().ok()?;
        Some((PathBuf::from(OsStr::from_bytes(&bytes[..at])), Some(level)))
    });
    split.unwrap_or((given.into(), None))
}

/// The words of a file. In a directory, each file is a word.
fn read(path: &Path, level: u32) -> anyhow::Result<Words> {
    let name = || path.display().to_string();
    if !std::fs::metadata(path).with_context(name)?.is_dir() {
        let text = read_file(path)?;
        return parse_words(&text, level).map_err(|error| anyhow!("{}: {error}", name()));
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).with_context(name)? {
        let path = entry.with_context(name)?.path();
        let hidden = path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let mut found = Words::default();
    for file in files {
        match read_file(&file)? {
            word if word.is_empty() => {}
            word if word.len() > MAX_WORD_LEN => found.too_long += 1,
            word => found.words.push(word),
        }
    }
    if found == Words::default() {
        return Err(anyhow!("{}: no words in it", name()));
    }
    Ok(found)
}

fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    let name = || path.display().to_string();
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(name)?;
    file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes).with_context(name)?;
    if bytes.len() as u64 > MAX_FILE_SIZE {
        return Err(anyhow!("{}: is too large for a dictionary", name()));
    }
    Ok(bytes)
}
