//! The stack of a stopped process, by the tables for exceptions in its files
//! (`.eh_frame`). These need neither debug information nor frame pointers.

use super::symbols::Symbols;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// The state of a stopped process.
pub(crate) struct Stopped<'a> {
    pub ip: u64,
    pub sp: u64,
    pub bp: u64,
    /// `/proc/PID/maps`.
    pub maps: &'a str,
    /// Reads eight bytes at an address, if possible.
    pub read: &'a mut dyn FnMut(u64) -> Option<u64>,
}

/// An address in a file, as linked. For a caller it is the address of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Empty if the address is in no file.
    pub file: PathBuf,
    pub address: u64,
}

/// Deeper stacks are cut.
const MAX_DEPTH: usize = 256;

/// The addresses on the stack, innermost first.
pub(crate) fn unwind(symbols: &mut Symbols, stopped: Stopped) -> Vec<Address> {
    let mut unwinder = UnwinderX86_64::new();
    let modules = modules(symbols, stopped.maps);
    for m in &modules {
        unwinder.add_module(m.unwinding.clone());
    }
    let find = |address: u64| -> Option<Address> {
        let m = modules.iter().find(|m| m.range.contains(&address))?;
        Some(Address { file: m.file.clone(), address: address.wrapping_sub(m.bias) })
    };
    let Stopped { mut ip, mut sp, bp, read, .. } = stopped;
    let mut found = Vec::new();
    // If the program has jumped to an address without code, it was probably by a call. Then
    // the top of the stack is the return address.
    if find(ip).is_none() {
        found.push(Address { file: PathBuf::new(), address: ip });
        match read(sp) {
            Some(caller) if find(caller).is_some() => (ip, sp) = (caller - 1, sp + 8),
            _ => return found,
        }
    }
    let mut cache = CacheX86_64::<_>::new();
    let mut stack = |address| read(address).ok_or(());
    let registers = UnwindRegsX86_64::new(ip, sp, bp);
    let mut frames = unwinder.iter_frames(ip, registers, &mut cache, &mut stack);
    while let Ok(Some(frame)) = frames.next() {
        let address = match frame {
            FrameAddress::InstructionPointer(ip) => ip,
            FrameAddress::ReturnAddress(_) => frame.address_for_lookup(),
        };
        match find(address) {
            Some(address) if found.len() < MAX_DEPTH => found.push(address),
            _ => break,
        }
    }
    found
}

struct Mapped {
    file: PathBuf,
    range: Range<u64>,
    /// Load address minus address as linked.
    bias: u64,
    unwinding: Module<Arc<[u8]>>,
}

/// The files with code that a process has mapped.
fn modules(symbols: &mut Symbols, maps: &str) -> Vec<Mapped> {
    let mut ranges: HashMap<&str, (Range<u64>, Vec<Mapping>, bool)> = HashMap::new();
    for mapping in maps.lines().filter_map(Mapping::parse) {
        let entry = ranges.entry(mapping.path);
        let (range, all, is_code) =
            entry.or_insert_with(|| (mapping.range.clone(), Vec::new(), false));
        range.start = range.start.min(mapping.range.start);
        range.end = range.end.max(mapping.range.end);
        *is_code |= mapping.is_code;
        all.push(mapping);
    }
    let mut modules = Vec::new();
    for (path, (range, mappings, _)) in ranges.into_iter().filter(|(_, r)| r.2) {
        let path = PathBuf::from(path);
        let Some(elf) = symbols.file(&path) else { continue };
        let page = |n: u64| n & !0xfff;
        let bias = mappings.iter().find_map(|m| {
            let segment = elf.segments.iter().find(|s| page(s.offset) == m.offset)?;
            Some(m.range.start.wrapping_sub(page(segment.address)))
        });
        let Some(bias) = bias else { continue };
        let sections = ExplicitModuleSectionInfo {
            base_svma: 0,
            eh_frame_svma: elf.eh_frame.as_ref().map(|s| s.range.clone()),
            eh_frame: elf.eh_frame.as_ref().map(|s| s.bytes.clone()),
            eh_frame_hdr_svma: elf.eh_frame_hdr.as_ref().map(|s| s.range.clone()),
            eh_frame_hdr: elf.eh_frame_hdr.as_ref().map(|s| s.bytes.clone()),
            ..Default::default()
        };
        let name = path.display().to_string();
        let unwinding = Module::new(name, range.clone(), bias, sections);
        modules.push(Mapped { file: path, range, bias, unwinding });
    }
    modules
}

/// One line of `/proc/PID/maps` that has a file.
struct Mapping<'a> {
    range: Range<u64>,
    offset: u64,
    is_code: bool,
    path: &'a str,
}

impl Mapping<'_> {
    fn parse(line: &str) -> Option<Mapping<'_>> {
        let path = line.find('/').map(|at| &line[at..])?;
        let mut fields = line.split_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let is_code = fields.next()?.contains('x');
        let offset = number(fields.next()?)?;
        Some(Mapping { range: number(start)?..number(end)?, offset, is_code, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_map_are_parsed() {
        let line = "555555554000-555555556000 r-xp 00001000 08:01 123  /tmp/a b/prog";
        let m = Mapping::parse(line).unwrap();
        assert_eq!((m.range, m.offset), (0x5555_5555_4000..0x5555_5555_6000, 0x1000));
        assert_eq!((m.is_code, m.path), (true, "/tmp/a b/prog"));
        assert!(Mapping::parse("7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0 [vdso]").is_none());
        assert!(Mapping::parse("nonsense /x").is_none());
    }

    /// A stack that cannot be followed ends there, without an error.
    #[test]
    fn a_jump_to_nowhere_has_one_address() {
        let mut read = |_| Some(7);
        let stopped = Stopped { ip: 0, sp: 8, bp: 0, maps: "", read: &mut read };
        let found = unwind(&mut Symbols::default(), stopped);
        assert_eq!(found, [Address { file: PathBuf::new(), address: 0 }]);
    }
}
