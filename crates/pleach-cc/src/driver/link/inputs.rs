//! The inputs of a link, looked into: which of them have a symbolic half, and
//! what the program defines itself.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::library::{self, Search};
use super::line::{Element, bare};
use crate::driver::archive::{self, Member};
use crate::driver::compile::Halves;
use crate::driver::elf::{self, MODEL};
use crate::driver::error::Error;
use crate::driver::fat::{self, Contents};

/// What stands in an input's place in the link of the symbolic half.
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

/// Inputs in the order of the elements; elements that are no inputs have `None`.
#[derive(Default)]
pub struct Inputs {
    pub substitutes: Vec<Option<Substitute>>,
    /// Something has a symbolic half.
    pub symbolic: bool,
    /// Something is instrumented, so the runtime is needed.
    pub instrumented: bool,
    /// Names that the program's objects and libraries define.
    pub own: HashSet<Vec<u8>>,
    /// Functions whose models the fast half's objects refer to.
    pub fast_models: BTreeSet<Vec<u8>>,
    /// Functions whose models the twins refer to.
    pub twin_models: BTreeSet<Vec<u8>>,
}

pub fn read(elements: &[Element], halves: &[Halves]) -> Result<Inputs, Error> {
    let mut search = Search::new(elements);
    let mut inputs = Inputs::default();
    for element in elements {
        let substitute = match element {
            Element::File(path) => Some(inputs.file(path)?),
            Element::Library(name) => match search.find(name) {
                Some(path) => Some(inputs.file(&path)?),
                None => Some(Substitute::Same),
            },
            Element::Source(n) => Some(inputs.source(&halves[*n])?),
            Element::Linker(flag) => {
                search.see(flag.name());
                inputs.option(flag.name(), flag.value.as_deref().and_then(|v| v.to_str()));
                None
            }
            Element::Driver(_) => None,
        };
        inputs.substitutes.push(substitute);
    }
    Ok(inputs)
}

impl Inputs {
    fn source(&mut self, halves: &Halves) -> Result<Substitute, Error> {
        let fast = load(&halves.fast)?;
        self.define(&fast);
        self.instrumented |= fat::contents(&fast) == Ok(Contents::FastOnly);
        let Some(symbolic) = &halves.symbolic else { return Ok(Substitute::Same) };
        let bytes = load(symbolic)?;
        (self.symbolic, self.instrumented) = (true, true);
        Ok(Substitute::Objects(vec![bytes]))
    }

    fn file(&mut self, path: &Path) -> Result<Substitute, Error> {
        if library::is_system(path) {
            return Ok(Substitute::Same);
        }
        let bytes = load(path)?;
        if archive::is_archive(&bytes) {
            return self.archive(path, &bytes);
        }
        Ok(match self.look(path, &bytes)? {
            Contents::Fat(frames) => {
                Substitute::Objects(frames.iter().map(|f| f.to_vec()).collect())
            }
            Contents::Shared(Some(image)) => {
                Substitute::Twin { path: path.to_owned(), image: image.to_vec() }
            }
            _ => Substitute::Same,
        })
    }

    fn archive(&mut self, path: &Path, bytes: &[u8]) -> Result<Substitute, Error> {
        let mut out = Vec::new();
        let mut changed = false;
        for member in archive::members(path, bytes)? {
            let frames = match self.look(path, &member.bytes)? {
                Contents::Fat(frames) => frames.iter().map(|f| f.to_vec()).collect(),
                _ => {
                    out.push(member);
                    continue;
                }
            };
            changed = true;
            let named = |bytes| Member { name: member.name.clone(), bytes };
            out.extend(Vec::into_iter(frames).map(named));
        }
        Ok(if changed { Substitute::Archive(out) } else { Substitute::Same })
    }

    /// Notes what an object or library means for the whole.
    fn look<'a>(&mut self, path: &Path, bytes: &'a [u8]) -> Result<Contents<'a>, Error> {
        let contents = fat::contents(bytes)
            .map_err(|what| Error::BadFile { path: path.to_owned(), what: what.into() })?;
        self.define(bytes);
        match &contents {
            Contents::Unknown | Contents::Plain | Contents::Shared(None) => {}
            Contents::FastOnly => self.instrumented = true,
            Contents::Fat(_) => (self.symbolic, self.instrumented) = (true, true),
            Contents::Shared(Some(image)) => {
                (self.symbolic, self.instrumented) = (true, true);
                for (name, defined) in elf::globals(image) {
                    let model = name.strip_prefix(MODEL.as_bytes()).filter(|_| !defined);
                    self.twin_models.extend(model.map(<[u8]>::to_vec));
                }
            }
        }
        Ok(contents)
    }

    /// Takes in the symbols of an object of the fast half.
    fn define(&mut self, bytes: &[u8]) {
        for (name, defined) in elf::globals(bytes) {
            if defined {
                self.own.insert(name.to_vec());
            } else if let Some(model) = name.strip_prefix(MODEL.as_bytes()) {
                self.fast_models.insert(model.to_vec());
            }
        }
    }

    /// `--wrap` and `--defsym` give a name a new meaning, too.
    fn option(&mut self, name: &str, value: Option<&str>) {
        let (option, joined) = match bare(name).split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (bare(name), None),
        };
        let Some(value) = joined.or(value) else { return };
        let symbol = match option {
            "wrap" => value,
            "defsym" => value.split('=').next().unwrap_or(value),
            _ => return,
        };
        self.own.insert(symbol.as_bytes().to_vec());
    }
}

fn load(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(Error::io("read", path))
}
