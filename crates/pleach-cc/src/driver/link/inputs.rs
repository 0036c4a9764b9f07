//! Examines the inputs of a link: which of them have a symbolic half, and which
//! symbols the program defines.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::library::{self, Search};
use super::line::{Element, without_dashes};
use crate::driver::archive::{self, Member};
use crate::driver::compile::Halves;
use crate::driver::elf::{self, MODEL_PREFIX};
use crate::driver::error::Error;
use crate::driver::fat::{self, Contents};

/// What replaces an input in the link of the symbolic half.
pub enum Substitute {
    /// The input itself.
    Same,
    Objects(Vec<Vec<u8>>),
    Archive(Vec<Member>),
    /// The symbolic twin of a shared library.
    Twin {
        path: PathBuf,
        image: Vec<u8>,
    },
}

#[derive(Default)]
pub struct Inputs {
    /// One for each element, in order; `None` for an element that is not an input.
    pub substitutes: Vec<Option<Substitute>>,
    /// True if an input has a symbolic half.
    pub has_symbolic: bool,
    /// True if an input is instrumented, so that the runtime is needed.
    pub has_instrumented: bool,
    /// Symbols that the program's objects and libraries define.
    pub defined: HashSet<Vec<u8>>,
    /// Functions whose models the fast half's objects use.
    pub fast_models: BTreeSet<Vec<u8>>,
    /// Functions whose models the twins use.
    pub twin_models: BTreeSet<Vec<u8>>,
}

pub fn read(elements: &[Element], halves: &[Halves]) -> Result<Inputs, Error> {
    let mut search = Search::new(elements);
    let mut inputs = Inputs::default();
    for element in elements {
        let substitute = match element {
            Element::File(path) => Some(inputs.add_file(path)?),
            Element::Library(name) => match search.find(name) {
                Some(path) => Some(inputs.add_file(&path)?),
                None => Some(Substitute::Same),
            },
            Element::Source(n) => Some(inputs.add_source(&halves[*n])?),
            Element::Linker(flag) => {
                search.apply_option(flag.name());
                inputs.apply_option(flag.name(), flag.value.as_deref().and_then(|v| v.to_str()));
                None
            }
            Element::Driver(_) => None,
        };
        inputs.substitutes.push(substitute);
    }
    Ok(inputs)
}

impl Inputs {
    fn add_source(&mut self, halves: &Halves) -> Result<Substitute, Error> {
        let fast = read_file(&halves.fast)?;
        self.record_symbols(&fast);
        self.has_instrumented |= fat::classify(&fast) == Ok(Contents::FastOnly);
        let Some(symbolic) = &halves.symbolic else { return Ok(Substitute::Same) };
        let bytes = read_file(symbolic)?;
        (self.has_symbolic, self.has_instrumented) = (true, true);
        Ok(Substitute::Objects(vec![bytes]))
    }

    fn add_file(&mut self, path: &Path) -> Result<Substitute, Error> {
        if library::is_in_system_dir(path) {
            return Ok(Substitute::Same);
        }
        let bytes = read_file(path)?;
        if archive::is_archive(&bytes) {
            return self.add_archive(path, &bytes);
        }
        Ok(match self.examine(path, &bytes)? {
            Contents::Fat(frames) => {
                Substitute::Objects(frames.iter().map(|f| f.to_vec()).collect())
            }
            Contents::Shared(Some(image)) => {
                Substitute::Twin { path: path.to_owned(), image: image.to_vec() }
            }
            _ => Substitute::Same,
        })
    }

    fn add_archive(&mut self, path: &Path, bytes: &[u8]) -> Result<Substitute, Error> {
        let mut out = Vec::new();
        let mut changed = false;
        for member in archive::members(path, bytes)? {
            let frames = match self.examine(path, &member.bytes)? {
                Contents::Fat(frames) => frames.iter().map(|f| f.to_vec()).collect(),
                _ => {
                    out.push(member);
                    continue;
                }
            };
            changed = true;
            let to_member = |bytes| Member { name: member.name.clone(), bytes };
            out.extend(Vec::into_iter(frames).map(to_member));
        }
        Ok(if changed { Substitute::Archive(out) } else { Substitute::Same })
    }

    /// Classifies an object or library and records its symbols.
    fn examine<'a>(&mut self, path: &Path, bytes: &'a [u8]) -> Result<Contents<'a>, Error> {
        let contents = fat::classify(bytes)
            .map_err(|what| Error::BadFile { path: path.to_owned(), what: what.into() })?;
        self.record_symbols(bytes);
        match &contents {
            Contents::Unknown | Contents::Plain | Contents::Shared(None) => {}
            Contents::FastOnly => self.has_instrumented = true,
            Contents::Fat(_) => (self.has_symbolic, self.has_instrumented) = (true, true),
            Contents::Shared(Some(image)) => {
                (self.has_symbolic, self.has_instrumented) = (true, true);
                for (name, is_defined) in elf::global_symbols(image) {
                    let model = name.strip_prefix(MODEL_PREFIX.as_bytes()).filter(|_| !is_defined);
                    self.twin_models.extend(model.map(<[u8]>::to_vec));
                }
            }
        }
        Ok(contents)
    }

    /// Records the symbols of an object of the fast half.
    fn record_symbols(&mut self, bytes: &[u8]) {
        for (name, is_defined) in elf::global_symbols(bytes) {
            if is_defined {
                self.defined.insert(name.to_vec());
            } else if let Some(model) = name.strip_prefix(MODEL_PREFIX.as_bytes()) {
                self.fast_models.insert(model.to_vec());
            }
        }
    }

    /// `--wrap` and `--defsym` define a symbol, too.
    fn apply_option(&mut self, name: &str, value: Option<&str>) {
        let (option, joined) = match without_dashes(name).split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (without_dashes(name), None),
        };
        let Some(value) = joined.or(value) else { return };
        let symbol = match option {
            "wrap" => value,
            "defsym" => value.split('=').next().unwrap_or(value),
            _ => return,
        };
        self.defined.insert(symbol.as_bytes().to_vec());
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(Error::io("read", path))
}
