//! How `pleach run` becomes a member of a fleet: what all members must have in common, and the
//! connection.

use crate::exit::Failure;
use anyhow::{Context, anyhow};
use pleach_campaign::run::fleet::Build;
use pleach_campaign::run::{GrammarSettings, Settings, Text, build_of, records};
use pleach_exec::Layout;
use pleach_exec::triage::quoted;
use pleach_fleet::{Address, Connection};
use pleach_hash::{Hash, hash_bytes};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Connects to the fleet. Nothing on disk is touched.
pub fn connect(
    url: &str,
    creds: Option<&Path>,
    layout: &Layout,
    settings: &Settings,
) -> Result<Connection, Failure> {
    let build = build(layout, settings)?;
    Connection::open(url, creds, &build, &settings.toml())
        .map_err(|error| Failure::user_error(anyhow!(error)))
}

/// The options that make a resumed campaign a member again, without secrets.
pub fn options(url: &str, creds: Option<&Path>) -> Vec<String> {
    let Ok(address) = Address::parse(url) else { return Vec::new() };
    let mut options = vec!["--fleet".into(), quoted(address.to_string().as_ref())];
    if let Some(file) = creds {
        options.extend(["--creds".into(), quoted(file.as_os_str())]);
    }
    options
}

/// What all members have in common: the program, and every option that changes what an input
/// means or how work is split. Where the files are may differ.
fn build(layout: &Layout, settings: &Settings) -> Result<Build, Failure> {
    let mut build = Build::default();
    build.add("the version of pleach", settings.version.clone());
    build.add("the executable", settings.build.clone());
    let libraries: BTreeMap<_, _> = layout.libraries.iter().collect();
    for (soname, library) in libraries {
        build.add(format!("the library {soname}"), hash_of(&library.fast.path)?);
    }
    build.add("the table of branches", format!("{:016x}", hash_of_branches(layout)));
    build.add("the arguments", arguments(settings)?);
    build.add("--strategy", settings.strategy.clone());
    build.add("--max-len", settings.max_len.to_string());
    build.add("--depth", settings.depth.to_string());
    if settings.socket {
        build.add("--socket", "set");
    }
    if let Some(size) = &settings.tty {
        build.add("--tty", size.to_string());
    }
    if let Some(dir) = &settings.cwd {
        let hash = hash_of_directory(Path::new(&dir.os()), Hash::new());
        let hash = hash.with_context(|| format!("--cwd {dir}")).map_err(Failure::user_error)?;
        build.add("the directory of --cwd", format!("{:016x}", hash.finish()));
    }
    if let Some(grammar) = &settings.grammar {
        build.add("the grammar", describe_grammar(grammar));
    }
    for toward in &settings.toward {
        build.add(format!("the place {}", toward.place), "set");
    }
    Ok(build)
}

fn hash_of(path: &Path) -> Result<String, Failure> {
    let hash = build_of(path).with_context(|| path.display().to_string());
    hash.map_err(Failure::user_error)
}

fn hash_of_branches(layout: &Layout) -> u64 {
    let mut hash = Hash::new();
    for function in records(layout) {
        hash = hash.add_bytes(function.name.as_bytes());
        for site in &function.sites {
            hash = hash.add(site.hash);
        }
    }
    hash.finish()
}

/// The arguments of the program. A file counts by its contents, because it may be elsewhere.
fn arguments(settings: &Settings) -> Result<String, Failure> {
    let mut words = Vec::new();
    for word in settings.program.iter().skip(1).map(Text::os) {
        let path = Path::new(&word);
        let is_file = path.is_absolute() && path.is_file();
        words.push(match path.file_name().filter(|_| is_file) {
            Some(name) => format!("{}#{}", quoted(name), hash_of(path)?),
            None => quoted(&word),
        });
    }
    Ok(words.join(" "))
}

fn describe_grammar(grammar: &GrammarSettings) -> String {
    let elsewhere = Text::default();
    let anywhere = GrammarSettings {
        file: elsewhere.clone(),
        lexer: grammar.lexer.as_ref().map(|_| elsewhere),
        keywords: Vec::new(),
        ..grammar.clone()
    };
    format!("{} {:016x}", grammar.build, hash_bytes(format!("{anywhere:?}").as_bytes()))
}

/// A hash of names and contents.
fn hash_of_directory(dir: &Path, mut hash: Hash) -> std::io::Result<Hash> {
    let mut names: Vec<OsString> = Vec::new();
    for entry in fs::read_dir(dir)? {
        names.push(entry?.file_name());
    }
    names.sort();
    for name in names {
        let path = dir.join(&name);
        let kind = fs::symlink_metadata(&path)?;
        hash = hash.add_bytes(name.as_bytes());
        hash = match (kind.is_dir(), kind.is_symlink(), kind.is_file()) {
            (true, _, _) => hash_of_directory(&path, hash.add(1))?.add(2),
            (_, true, _) => hash.add_bytes(fs::read_link(&path)?.as_os_str().as_bytes()),
            (_, _, true) => hash.add_bytes(&fs::read(&path)?),
            _ => hash,
        };
    }
    Ok(hash)
}
