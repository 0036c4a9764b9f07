//! From an address in a file to its functions and lines.
//!
//! Names and lines come from the debug information, also for inlined functions. Without
//! debug information, names come from the symbol table. The driver reads all of this
//! itself: no symbolizer needs to be installed.
//!
//! A crash must not hold up a campaign that has to end. So a file is read in pieces, and of a
//! file with very much debug information only the symbol table is used.

use super::Frame;
use crate::image::Image;
use addr2line::Context;
use gimli::{
    BaseAddresses, Dwarf, EhFrame, EndianArcSlice, LittleEndian, SectionId, UnwindSection,
};
use object::{Object, ObjectSection, ObjectSegment, SectionKind};
use pleach_work::Task;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files that were needed so far, each read once.
#[derive(Default)]
pub(crate) struct Symbols {
    files: HashMap<PathBuf, Option<Elf>>,
}

/// The tables of one file.
pub(crate) struct Elf {
    path: PathBuf,
    lines: Option<Context<EndianArcSlice<LittleEndian>>>,
    symbols: Image,
    /// Addresses of code. Only these are looked up: functions that the linker dropped have
    /// debug information for addresses near 0.
    code: Vec<Range<u64>>,
    /// The parts that are loaded: the offset in the file, and the address as linked.
    pub segments: Vec<Segment>,
    pub eh_frame: Option<Section>,
    pub eh_frame_hdr: Option<Section>,
}

pub(crate) struct Segment {
    pub offset: u64,
    pub address: u64,
}

#[derive(Clone)]
pub(crate) struct Section {
    pub range: Range<u64>,
    pub bytes: Arc<[u8]>,
}

/// The name of the kernel's library in a map. It is not a file.
pub(crate) const VDSO: &str = "[vdso]";
/// Larger files are not read: a target may map anything.
const MAX_FILE_SIZE: u64 = 1 << 30;
/// More debug information than this is not read. This much takes half a second.
const MAX_DEBUG_SIZE: u64 = 256 << 20;
/// Bytes of a file that are read between two looks at the stop flag.
const CHUNK: u64 = 16 << 20;

impl Symbols {
    pub fn file(&mut self, path: &Path) -> Option<&Elf> {
        self.files.entry(path.into()).or_insert_with(|| Elf::read(path)).as_ref()
    }

    /// The functions at an address (as linked) of a file, innermost first. There is always
    /// at least one, but it may have no name.
    pub fn frames(&mut self, path: &Path, address: u64) -> Vec<Frame> {
        let mut frames = self.file(path).map_or_else(Vec::new, |elf| elf.frames(address));
        if frames.is_empty() {
            let start = self.file(path).and_then(|elf| elf.function_start(address));
            frames.push(Frame { module: path.into(), address, start, ..Frame::default() });
        }
        frames
    }
}

/// The bytes of a file; `None` if it cannot be read, or the thread must stop.
fn read_file(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_FILE_SIZE {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut bytes = Vec::new();
    loop {
        let read = (&mut file).take(CHUNK).read_to_end(&mut bytes).ok()?;
        if pleach_work::spend(read as u64) {
            return None;
        }
        if read == 0 {
            return Some(bytes);
        }
    }
}

/// The kernel's library, which every process has: this one's is that of all others.
fn read_vdso() -> Option<Vec<u8>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with(VDSO))?;
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = (number(start)?, number(end)?);
    let mut bytes = vec![0; end.checked_sub(start)? as usize];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, start).ok()?;
    Some(bytes)
}

impl Elf {
    fn read(path: &Path) -> Option<Elf> {
        let _reading = pleach_work::enter(Task::Triage);
        let bytes = if path == Path::new(VDSO) { read_vdso() } else { read_file(path) }?;
        let symbols = Image::parse(path, &bytes).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let is_debug = |s: &object::Section| s.name().is_ok_and(|name| name.starts_with(".debug"));
        let debug_size: u64 = file.sections().filter(is_debug).map(|s| s.size()).sum();
        if pleach_work::is_stopping() {
            return None;
        }
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            let (start, bytes) = (section.address(), Arc::from(section.data().ok()?));
            Some(Section { range: start..start.saturating_add(section.size()), bytes })
        };
        let load = |id: SectionId| -> Result<_, gimli::Error> {
            let bytes = section(id.name()).map_or_else(|| Arc::from([]), |s| s.bytes);
            Ok(EndianArcSlice::new(bytes, LittleEndian))
        };
        let lines = match debug_size <= MAX_DEBUG_SIZE {
            true => Dwarf::load(load).and_then(Context::from_dwarf).ok(),
            false => None,
        };
        let code = file
            .sections()
            .filter(|s| s.kind() == SectionKind::Text)
            .map(|s| s.address()..s.address().saturating_add(s.size()))
            .collect();
        let segments = file
            .segments()
            .map(|s| Segment { offset: s.file_range().0, address: s.address() })
            .collect();
        let (eh_frame, eh_frame_hdr) = (section(".eh_frame"), section(".eh_frame_hdr"));
        Some(Elf { path: path.into(), lines, symbols, code, segments, eh_frame, eh_frame_hdr })
    }

    fn frames(&self, address: u64) -> Vec<Frame> {
        let mut frames = Vec::new();
        if !self.code.iter().any(|c| c.contains(&address)) {
            return frames;
        }
        let found = self.lines.as_ref().and_then(|l| l.find_frames(address).skip_all_loads().ok());
        if let Some(mut found) = found {
            while let Ok(Some(frame)) = found.next() {
                let name = frame.function.as_ref().and_then(|f| f.raw_name().ok());
                let place = frame.location;
                frames.push(Frame {
                    function: name.map_or_else(String::new, |n| readable(&n)),
                    file: place.as_ref().and_then(|p| p.file).unwrap_or_default().into(),
                    line: place.and_then(|p| p.line).unwrap_or(0),
                    module: self.path.clone(),
                    address,
                    start: None,
                });
            }
        }
        let symbol = || self.symbols.symbol(address).map(|(name, _)| readable(name));
        match frames.last_mut() {
            Some(outer) if outer.function.is_empty() => {
                outer.function = symbol().unwrap_or_default()
            }
            Some(_) => {}
            None => frames.extend(symbol().map(|function| Frame {
                function,
                module: self.path.clone(),
                address,
                ..Frame::default()
            })),
        }
        frames
    }

    /// The start of the function at an address, by the unwind tables. A stripped file has
    /// them too.
    fn function_start(&self, address: u64) -> Option<u64> {
        let section = self.eh_frame.as_ref()?;
        let table = EhFrame::new(&section.bytes, LittleEndian);
        let bases = BaseAddresses::default().set_eh_frame(section.range.start);
        let entry = table.fde_for_address(&bases, address, EhFrame::cie_from_offset).ok()?;
        Some(entry.initial_address())
    }
}

/// A function's name as in the source. C++ names have no parameters and no template
/// arguments: `std::basic_string<…>::rfind`.
pub fn readable(name: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    cpp_demangle::Symbol::new(name)
        .ok()
        .filter(|_| name.starts_with("_Z"))
        .and_then(|s| s.demangle(&options).ok())
        .map_or_else(|| name.to_string(), |name| shortened(&name))
}

/// A C++ name with `<…>` for template arguments, and without the inline namespace of
/// libstdc++.
pub fn shortened(name: &str) -> String {
    // After `operator`, an angle bracket may be part of the name.
    let (head, tail) = name.find("operator").map_or((name, ""), |at| name.split_at(at));
    let (mut out, mut depth) = (String::new(), 0u32);
    for c in head.chars() {
        match c {
            '<' => {
                if depth == 0 {
                    out.push_str("<…>");
                }
                depth += 1;
            }
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out.replace("std::__cxx11::", "std::") + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable() {
        assert_eq!(readable("_ZN4Json6Reader5parseEPKcS2_"), "Json::Reader::parse");
        assert_eq!(readable("parse"), "parse");
        assert_eq!(readable("_Zparse"), "_Zparse");
        let rfind = "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5rfindEcm";
        assert_eq!(readable(rfind), "std::basic_string<…>::rfind");
        assert_eq!(readable("_ZlsRSoi"), "operator<<");
    }

    /// The test program itself has debug information.
    #[test]
    fn an_address_has_a_function_and_a_line() {
        let path = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let image = Image::parse(&path, &bytes).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let symbol = object::Object::symbols(&file)
            .find(|s| {
                object::ObjectSymbol::name(s).is_ok_and(|n| n.contains("an_address_has_a_function"))
            })
            .expect("the test's own symbol");
        let address = object::ObjectSymbol::address(&symbol);
        assert!(image.symbol(address).is_some());
        let mut symbols = Symbols::default();
        let frames = symbols.frames(&path, address);
        let outer = frames.last().expect("there is one");
        assert!(outer.file.ends_with("symbols.rs") && outer.line > 100, "{frames:?}");
        // An address outside all functions has a frame without a name.
        assert_eq!(symbols.frames(&path, 1)[0].function, "");
        assert_eq!(symbols.frames(Path::new("/no/such/file"), 1).len(), 1);
    }
}
