//! Edits ELF files in this process, without objcopy.
//!
//! There are two edits. [`append_section`] adds a section to a finished object,
//! executable or library. Nothing in the file moves: the new bytes, the longer
//! table of names and a new section header table go to the end.
//! [`redirect_models`] changes references to a libc model into references to the
//! program's own function of that name.

use object::elf::{self, FileHeader64, SectionHeader64};
use object::endian::LittleEndian as LE;
use object::read::elf::{FileHeader, SectionHeader, Sym};

type Header = FileHeader64<LE>;
type Section = SectionHeader64<LE>;

const FILE_HEADER_SIZE: usize = size_of::<Header>();
const SECTION_HEADER_SIZE: usize = size_of::<Section>();

/// The contents of a section, if this is a 64-bit little-endian ELF file.
pub fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let header = Header::parse(file).ok()?;
    let sections = header.sections(LE, file).ok()?;
    let (_, found) = sections.section_by_name(LE, name.as_bytes())?;
    found.data(LE, file).ok()
}

/// ET_REL, ET_EXEC or ET_DYN; `None` if this is not an x86-64 ELF file.
pub fn file_type(file: &[u8]) -> Option<u16> {
    let header = Header::parse(file).ok()?;
    (header.e_machine.get(LE) == elf::EM_X86_64).then(|| header.e_type.get(LE))
}

/// The changes that add a section to a file: bytes to append, and a new file header.
pub struct Appended {
    pub tail: Vec<u8>,
    pub header: Vec<u8>,
}

/// Adds a section of data that is not loaded. `None` if the file has no section
/// headers.
pub fn append_section(file: &[u8], name: &str, flags: u32, data: &[u8]) -> Option<Appended> {
    let header = Header::parse(file).ok()?;
    let sections = header.section_headers(LE, file).ok()?;
    let names_at = header.section_strings_index(LE, file).ok()?.0;
    let mut sections: Vec<Section> = sections.to_vec();
    let names = sections.get(names_at)?.data(LE, file).ok()?;

    let mut tail =
        Vec::with_capacity(data.len() + names.len() + (sections.len() + 2) * SECTION_HEADER_SIZE);
    let pad = |tail: &mut Vec<u8>| {
        tail.resize((file.len() + tail.len()).next_multiple_of(8) - file.len(), 0)
    };
    pad(&mut tail);
    let data_at = file.len() + tail.len();
    tail.extend(data);

    let names_offset = file.len() + tail.len();
    tail.extend(names);
    tail.extend(name.as_bytes());
    tail.push(0);
    let old = &mut sections[names_at];
    let name_at = names.len() as u32;
    old.sh_offset.set(LE, names_offset as u64);
    old.sh_size.set(LE, (names.len() + name.len() + 1) as u64);

    let mut new: Section = empty_section();
    new.sh_name.set(LE, name_at);
    new.sh_type.set(LE, elf::SHT_PROGBITS);
    new.sh_flags.set(LE, flags.into());
    new.sh_offset.set(LE, data_at as u64);
    new.sh_size.set(LE, data.len() as u64);
    new.sh_addralign.set(LE, 8);
    sections.push(new);

    // If the header's field is too small for the number of sections, section 0 holds it.
    let count = sections.len();
    let mut header = *header;
    if count < elf::SHN_LORESERVE.into() {
        header.e_shnum.set(LE, count as u16);
    } else {
        header.e_shnum.set(LE, 0);
        sections[0].sh_size.set(LE, count as u64);
        if header.e_shstrndx.get(LE) != elf::SHN_XINDEX {
            sections[0].sh_link.set(LE, names_at as u32);
            header.e_shstrndx.set(LE, elf::SHN_XINDEX);
        }
    }
    pad(&mut tail);
    header.e_shoff.set(LE, (file.len() + tail.len()) as u64);
    tail.extend(object::bytes_of_slice(&sections));
    debug_assert_eq!(object::bytes_of(&header).len(), FILE_HEADER_SIZE);
    Some(Appended { tail, header: object::bytes_of(&header).to_vec() })
}

fn empty_section() -> Section {
    let zeros = [0; SECTION_HEADER_SIZE];
    match object::from_bytes::<Section>(&zeros) {
        Ok((section, _)) => *section,
        Err(()) => unreachable!("a section header needs no alignment"),
    }
}

/// The global symbols: name, and true if the file defines it. For a shared library
/// these are the dynamic symbols.
pub fn global_symbols(file: &[u8]) -> Vec<(&[u8], bool)> {
    let Ok(header) = Header::parse(file) else { return Vec::new() };
    let table =
        if header.e_type.get(LE) == elf::ET_DYN { elf::SHT_DYNSYM } else { elf::SHT_SYMTAB };
    let Ok(sections) = header.sections(LE, file) else { return Vec::new() };
    let Ok(symbols) = sections.symbols(LE, file, table) else { return Vec::new() };
    symbols
        .iter()
        .filter(|s| !s.is_local())
        .filter_map(|s| Some((s.name(LE, symbols.strings()).ok()?, !s.is_undefined(LE))))
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

/// Redirects references to models of functions that the program defines itself.
///
/// In instrumented code, a call of `strlen` refers to the model
/// `__pleach_m_strlen`. If the program defines its own `strlen`, the call must go
/// there. The model's name ends with the function's name, so it is enough to
/// advance the symbol's offset into the string table.
pub fn redirect_models(object: &mut [u8], is_defined: &dyn Fn(&[u8]) -> bool) {
    let mut moves = Vec::new();
    if let Ok(header) = Header::parse(&*object)
        && let Ok(sections) = header.sections(LE, &*object)
        && let Ok(symbols) = sections.symbols(LE, &*object, elf::SHT_SYMTAB)
        && let Ok(table) = sections.section(symbols.section())
    {
        let start = table.sh_offset.get(LE) as usize;
        let entry = size_of::<elf::Sym64<LE>>();
        for (i, symbol) in symbols.iter().enumerate() {
            let Ok(name) = symbol.name(LE, symbols.strings()) else { continue };
            let target = name.strip_prefix(MODEL_PREFIX.as_bytes());
            if symbol.is_undefined(LE) && target.is_some_and(is_defined) {
                moves.push((start + i * entry, symbol.st_name.get(LE) + MODEL_PREFIX.len() as u32));
            }
        }
    }
    for (at, name) in moves {
        // `st_name` is the first field of a symbol.
        if let Some(field) = object.get_mut(at..at + 4) {
            field.copy_from_slice(&name.to_le_bytes());
        }
    }
}

/// Prefix of the models' symbols.
pub const MODEL_PREFIX: &str = "__pleach_m_";
