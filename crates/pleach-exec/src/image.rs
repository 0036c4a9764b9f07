//! What `pleach cc` left in an executable or shared library.
//!
//! Everything is checked before anything runs. Each thing that can be wrong with the file
//! has a message of its own, which tells the user what to do.

use crate::source::is_system_file;
use object::elf;
use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader};
use object::{
    Endianness, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget,
};
use pleach_abi::function::{Function, SiteInfo};
use pleach_abi::section::{self, SiteKind};
use pleach_abi::token::TokenFunction;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// One ELF file with instrumentation.
#[derive(Clone, Debug)]
pub struct Image {
    pub path: PathBuf,
    pub sites: Vec<Site>,
    pub functions: Vec<Function>,
    /// Token functions, each with the address of its record (symbolic half).
    pub tokens: Vec<(u64, TokenFunction)>,
    /// By address: the hash of a site and one of its counters, see [`section::Target`]
    /// (symbolic half).
    pub targets: HashMap<u64, (u64, u32)>,
    /// By the hash of a site: its function, and its place among the function's sites.
    places: HashMap<u64, (usize, usize)>,
    /// Symbols of data and functions, sorted: address, size, name.
    symbols: Vec<(u64, u64, String)>,
    /// The sonames of the libraries that it needs, in order.
    pub needed: Vec<String>,
    /// The entries of its run path, as written.
    pub run_path: Vec<String>,
    pub soname: Option<String>,
    /// The whole symbolic twin; empty in the twin itself.
    pub symbolic: Vec<u8>,
}

/// One record of the site table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    pub hash: u64,
    pub counters: u32,
    pub kind: Option<SiteKind>,
}

/// Why a file cannot be used. The user can fix each of these.
#[derive(Debug, Error)]
pub enum ImageError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("{}: not an ELF file; give an executable made by `pleach cc`", path.display())]
    NotElf { path: PathBuf },
    #[error(
        "{}: a script; give the executable that it runs (libtool puts it into .libs/)",
        path.display()
    )]
    Script { path: PathBuf },
    #[error(
        "{}: a 32-bit executable; Pleach needs x86-64, so build without -m32", path.display()
    )]
    Bits { path: PathBuf },
    #[error("{}: built for another machine; Pleach needs x86-64 Linux", path.display())]
    Machine { path: PathBuf },
    #[error("{}: not an executable or shared library; link it with `pleach cc`", path.display())]
    NotLinked { path: PathBuf },
    #[error("{}: a damaged ELF file ({error}); build it again", path.display())]
    Damaged { path: PathBuf, error: String },
    #[error(
        "{}: no symbolic half; build it with `pleach cc` (for example CC=pleach-cc)",
        path.display()
    )]
    NotOurs { path: PathBuf },
    #[error(
        "{}: no symbolic half, and linked statically with another C library (musl?); \
         build it with `pleach cc` for glibc",
        path.display()
    )]
    Static { path: PathBuf },
    #[error(
        "{}: its symbolic half was stripped; llvm-strip drops it: use `strip -g`, \
         or do not strip",
        path.display()
    )]
    Stripped { path: PathBuf },
    #[error("{}: its table of functions is damaged; build it again with this `pleach cc`", path.display())]
    Functions { path: PathBuf },
}

impl Image {
    /// Reads an executable; an error if it has no symbolic half.
    pub fn open(path: &Path) -> Result<Image, ImageError> {
        let io = |error| ImageError::Io { path: path.into(), error };
        if std::fs::metadata(path).map_err(io)?.is_dir() {
            return Err(io(std::io::Error::from_raw_os_error(libc::EISDIR)));
        }
        let bytes = std::fs::read(path).map_err(io)?;
        let image = Image::parse(path, &bytes)?;
        let path = || PathBuf::from(path);
        match image.symbolic.is_empty() {
            false => Ok(image),
            true if !image.sites.is_empty() || !image.functions.is_empty() => {
                Err(ImageError::Stripped { path: path() })
            }
            true if has_interpreter(&bytes) => Err(ImageError::NotOurs { path: path() }),
            true => Err(ImageError::Static { path: path() }),
        }
    }

    /// Reads a linked ELF file, with or without a symbolic half in it.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Image, ImageError> {
        let at = || PathBuf::from(path);
        let damaged = |e: object::Error| ImageError::Damaged { path: at(), error: e.to_string() };
        match bytes {
            [0x7f, b'E', b'L', b'F', 2, 1, ..] => {}
            [0x7f, b'E', b'L', b'F', 1, ..] => return Err(ImageError::Bits { path: at() }),
            [0x7f, b'E', b'L', b'F', 2, 2, ..] => return Err(ImageError::Machine { path: at() }),
            [b'#', b'!', ..] => return Err(ImageError::Script { path: at() }),
            _ => return Err(ImageError::NotElf { path: at() }),
        }
        let file = ElfFile64::<Endianness>::parse(bytes).map_err(damaged)?;
        let endian = file.endian();
        if file.elf_header().e_machine(endian) != elf::EM_X86_64 {
            return Err(ImageError::Machine { path: at() });
        }
        if !matches!(file.elf_header().e_type(endian), elf::ET_EXEC | elf::ET_DYN) {
            return Err(ImageError::NotLinked { path: at() });
        }
        let section = |name: &str| -> Result<&[u8], ImageError> {
            file.section_by_name(name).map_or(Ok(&[][..]), |s| s.data().map_err(damaged))
        };
        let functions = Function::decode_all(section(section::FUNCTIONS)?)
            .ok_or_else(|| ImageError::Functions { path: at() })?;
        let start = file.section_by_name(section::TOKENS).map_or(0, |s| s.address());
        let tokens = TokenFunction::decode_all(section(section::TOKENS)?)
            .ok_or_else(|| ImageError::Functions { path: at() })?
            .into_iter()
            .map(|(offset, f)| (start + offset, f))
            .collect();
        let places = places_of(&functions);
        let mut symbols: Vec<_> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|s| s.size() > 0 && s.address() > 0)
            .filter_map(|s| Some((s.address(), s.size(), s.name().ok()?.to_string())))
            .collect();
        symbols.sort();
        symbols.dedup_by_key(|s| s.0);
        let mut image = Image {
            targets: targets(&file, section(section::TARGETS)?),
            path: at(),
            sites: sites(section(section::SITES)?),
            functions,
            tokens,
            places,
            symbols,
            needed: Vec::new(),
            run_path: Vec::new(),
            soname: None,
            symbolic: section(section::SYMBOLIC_IMAGE)?.to_vec(),
        };
        image.read_dynamic(&file, bytes).map_err(damaged)?;
        Ok(image)
    }

    /// An image of a fake program: its tables, without a file.
    #[cfg(any(test, feature = "fake"))]
    pub(crate) fn of_tables(path: &Path, functions: Vec<Function>, sites: Vec<Site>) -> Image {
        Image {
            path: path.into(),
            places: places_of(&functions),
            targets: HashMap::new(),
            functions,
            sites,
            tokens: Vec::new(),
            symbols: Vec::new(),
            needed: Vec::new(),
            run_path: Vec::new(),
            soname: None,
            symbolic: Vec::new(),
        }
    }

    /// The function and the description of a site, by its place in the table.
    pub fn describe(&self, site: usize) -> Option<(&Function, &SiteInfo)> {
        let (function, info) = self.described(site)?;
        let function = &self.functions[function];
        Some((function, &function.sites[info]))
    }

    /// The function and the description of a site, by its hash.
    pub fn describe_hash(&self, hash: u64) -> Option<(&Function, &SiteInfo)> {
        let &(function, info) = self.places.get(&hash)?;
        let function = &self.functions[function];
        Some((function, &function.sites[info]))
    }

    /// True if a site is in a file of the system: see [`is_system_file`](crate::is_system_file).
    pub fn is_system(&self, site: usize) -> bool {
        self.describe(site).is_some_and(|(function, info)| is_system_file(function.file_of(info)))
    }

    /// True if the counters of a site are those of branches. Others show that a function ran.
    pub fn has_branches(&self, site: usize) -> bool {
        self.sites.get(site).is_some_and(|s| s.counters > 0 && s.kind != Some(SiteKind::Entry))
    }

    /// The function of a site and its place among the function's sites, as indices.
    pub fn described(&self, site: usize) -> Option<(usize, usize)> {
        self.places.get(&self.sites.get(site)?.hash).copied()
    }

    /// The symbol that an address (as linked) lies in, and the offset inside it.
    pub fn symbol(&self, address: u64) -> Option<(&str, u64)> {
        let after = self.symbols.partition_point(|s| s.0 <= address);
        let (start, size, name) = self.symbols.get(after.checked_sub(1)?)?;
        (address - start < *size).then_some((name.as_str(), address - start))
    }

    fn read_dynamic(
        &mut self,
        file: &ElfFile64<Endianness>,
        bytes: &[u8],
    ) -> Result<(), object::Error> {
        let endian = file.endian();
        let segments = file.elf_program_headers();
        let Some(entries) =
            segments.iter().find_map(|s| s.dynamic(endian, bytes).transpose()).transpose()?
        else {
            return Ok(());
        };
        let value = |tag: u32| {
            entries.iter().find(|d| d.tag32(endian) == Some(tag)).map(|d| d.d_val.get(endian))
        };
        let (Some(table), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else {
            return Ok(());
        };
        let strings = segments
            .iter()
            .find_map(|s| s.data_range(endian, bytes, table, size).ok().flatten())
            .unwrap_or(&[]);
        let text = |at: u64| -> String {
            let rest = usize::try_from(at).ok().and_then(|at| strings.get(at..)).unwrap_or(&[]);
            let end = rest.iter().position(|&b| b == 0).unwrap_or(rest.len());
            String::from_utf8_lossy(&rest[..end]).into_owned()
        };
        for entry in entries {
            let value = entry.d_val.get(endian);
            match entry.tag32(endian) {
                Some(elf::DT_NEEDED) => self.needed.push(text(value)),
                Some(elf::DT_SONAME) => self.soname = Some(text(value)),
                Some(elf::DT_RUNPATH | elf::DT_RPATH) => {
                    self.run_path.extend(text(value).split(':').map(String::from));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The name of a side of a decision: `true`, `false`, `case 7`, `default`, `to line 12` of a
/// computed goto, `called`.
pub fn side_name(function: &Function, site: &SiteInfo, side: usize) -> String {
    match (site.kind, site.cases.get(side)) {
        (SiteKind::Switch, Some(case)) => format!("case {case}"),
        (SiteKind::Switch, None) => "default".into(),
        (SiteKind::Jump, _) => match site.targets.get(side).and_then(|&b| line_of(function, b)) {
            Some(line) => format!("to line {line}"),
            None => format!("label {side}"),
        },
        (SiteKind::Called, _) => "called".into(),
        _ if side == 0 => "true".into(),
        _ => "false".into(),
    }
}

/// The first line that a block has code for.
fn line_of(function: &Function, block: u32) -> Option<u32> {
    function.places.get(block as usize)?.first().map(|place| place.line)
}

/// By the hash of each site: its function, and its place among the function's sites.
fn places_of(functions: &[Function]) -> HashMap<u64, (usize, usize)> {
    let mut places = HashMap::new();
    for (f, function) in functions.iter().enumerate() {
        places.extend(function.sites.iter().enumerate().map(|(s, site)| (site.hash, (f, s))));
    }
    places
}

fn sites(bytes: &[u8]) -> Vec<Site> {
    let field = |record: &[u8], at: usize| {
        u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
    };
    let record = |r: &[u8]| Site {
        hash: u64::from(field(r, 4)) << 32 | u64::from(field(r, 0)),
        counters: field(r, 8),
        kind: u8::try_from(field(r, 12)).ok().and_then(SiteKind::from_u8),
    };
    bytes.chunks_exact(size_of::<section::Site>()).map(record).collect()
}

/// The table of targets. The addresses in it are those that the loader would write.
fn targets(file: &ElfFile64<Endianness>, bytes: &[u8]) -> HashMap<u64, (u64, u32)> {
    const SIZE: usize = size_of::<section::Target>();
    let start = file.section_by_name(section::TARGETS).map_or(0, |s| s.address());
    let places = start..start + bytes.len() as u64;
    let mut addresses: HashMap<u64, u64> = HashMap::new();
    let symbols = file.dynamic_symbol_table();
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        if !places.contains(&at) {
            continue;
        }
        let symbol = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let symbol = symbols.as_ref().and_then(|all| all.symbol_by_index(index).ok());
                symbol.map_or(0, |s| s.address())
            }
            _ => 0,
        };
        addresses.insert(at, symbol.wrapping_add(relocation.addend() as u64));
    }
    let word = |record: &[u8], at: usize| {
        record[at..at + 8].iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
    };
    let mut targets = HashMap::new();
    for (at, record) in (start..).step_by(SIZE).zip(bytes.chunks_exact(SIZE)) {
        let address = addresses.get(&at).copied().unwrap_or_else(|| word(record, 0));
        if address != 0 {
            targets.entry(address).or_insert((word(record, 8), word(record, 16) as u32));
        }
    }
    targets
}

fn has_interpreter(bytes: &[u8]) -> bool {
    ElfFile64::<Endianness>::parse(bytes).is_ok_and(|file| {
        let endian = file.endian();
        file.elf_program_headers().iter().any(|p| p.p_type(endian) == elf::PT_INTERP)
    })
}
