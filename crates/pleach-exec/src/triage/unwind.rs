//! The stack of a stopped process, by the tables for exceptions in its files
//! (`.eh_frame`). These need neither debug information nor frame pointers.

use super::symbols::{Symbols, VDSO};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A copy of what a stopped process has. To read the tables of its files takes long the first
/// time, and the time limit of the run does not wait for that.
#[derive(Debug, Default)]
pub(crate) struct Stopped {
    pub ip: u64,
    pub sp: u64,
    pub bp: u64,
    /// `/proc/PID/maps`.
    pub maps: String,
    /// The memory from `sp` to the end of the stack, and its address: above `sp`, if the
    /// stack has overflowed.
    pub stack: Vec<u8>,
    pub stack_start: u64,
}

impl Stopped {
    /// The eight bytes at an address of the stack.
    fn read(&self, address: u64) -> Option<u64> {
        let start = usize::try_from(address.checked_sub(self.stack_start)?).ok()?;
        let bytes = self.stack.get(start..start.checked_add(8)?)?;
        bytes.try_into().map(u64::from_le_bytes).ok()
    }
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
pub(crate) fn unwind(symbols: &mut Symbols, stopped: &Stopped) -> Vec<Address> {
    let mut unwinder = UnwinderX86_64::new();
    let modules = modules(symbols, &stopped.maps);
    for m in &modules {
        unwinder.add_module(m.unwinding.clone());
    }
    let find = |address: u64| -> Option<Address> {
        let m = modules.iter().find(|m| m.range.contains(&address))?;
        Some(Address { file: m.file.clone(), address: address.wrapping_sub(m.bias) })
    };
    let (mut ip, mut sp) = (stopped.ip, stopped.sp);
    let mut found = Vec::new();
    // If the program has jumped to an address without code, it was probably by a call. Then
    // the top of the stack is the return address.
    if find(ip).is_none() {
        found.push(Address { file: PathBuf::new(), address: ip });
        match stopped.read(sp) {
            Some(caller) if find(caller).is_some() => (ip, sp) = (caller - 1, sp + 8),
            _ => return found,
        }
    }
    let mut cache = CacheX86_64::<_>::new();
    let mut stack = |address| stopped.read(address).ok_or(());
    let registers = UnwindRegsX86_64::new(ip, sp, stopped.bp);
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

/// One line of `/proc/PID/maps` that has a file, or the library of the kernel: a program that
/// asks for the time is often there.
struct Mapping<'a> {
    range: Range<u64>,
    offset: u64,
    is_code: bool,
    path: &'a str,
}

impl Mapping<'_> {
    fn parse(line: &str) -> Option<Mapping<'_>> {
        let path = match line.find('/') {
            Some(at) => &line[at..],
            None => line.ends_with(VDSO).then_some(VDSO)?,
        };
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
        let line = "7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0      [vdso]";
        assert_eq!(Mapping::parse(line).unwrap().path, VDSO);
        assert!(Mapping::parse("7ffff7fc1000-7ffff7fc3000 r--p 00000000 00:00 0 [vvar]").is_none());
        assert!(Mapping::parse("nonsense /x").is_none());
    }

    #[test]
    fn only_the_stack_is_read() {
        let stack = (0..16).collect();
        let stopped = Stopped { stack_start: 0x1000, stack, ..Stopped::default() };
        assert_eq!(stopped.read(0x1000), Some(0x0706_0504_0302_0100));
        assert_eq!(stopped.read(0x1008), Some(0x0f0e_0d0c_0b0a_0908));
        for outside in [0, 0xff8, 0x1009, 0x1010, u64::MAX] {
            assert_eq!(stopped.read(outside), None, "{outside:#x}");
        }
    }

    /// A stack that cannot be followed ends there, without an error.
    #[test]
    fn a_jump_to_nowhere_has_one_address() {
        let stopped = Stopped { stack: vec![7; 64], ..Stopped::default() };
        let found = unwind(&mut Symbols::default(), &stopped);
        assert_eq!(found, [Address { file: PathBuf::new(), address: 0 }]);
    }
}
