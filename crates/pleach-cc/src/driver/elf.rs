//! ELF files, edited in place of a run of objcopy.
//!
//! Two edits are needed. A section is added to a finished object, executable
//! or library: nothing that is already in the file moves, the new bytes, the
//! longer table of names and a new section header table go to the end. And
//! references to a libc model are pointed back at the function itself, where
//! the program has its own; see [`redirect_models`].

use object::elf::{self, FileHeader64, SectionHeader64};
use object::endian::LittleEndian as LE;
use object::read::elf::{FileHeader, SectionHeader, Sym};

type Header = FileHeader64<LE>;
type Section = SectionHeader64<LE>;

/// Size of the parts of the format, all fixed.
const FILE_HEADER: usize = size_of::<Header>();
const SECTION_HEADER: usize = size_of::<Section>();

/// A section of the file, if it is an ELF file for 64-bit little endian.
pub fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let header = Header::parse(file).ok()?;
    let sections = header.sections(LE, file).ok()?;
    let (_, found) = sections.section_by_name(LE, name.as_bytes())?;
    found.data(LE, file).ok()
}

/// ET_REL, ET_EXEC or ET_DYN; `None` for what is no x86-64 ELF file.
pub fn file_type(file: &[u8]) -> Option<u16> {
    let header = Header::parse(file).ok()?;
    (header.e_machine.get(LE) == elf::EM_X86_64).then(|| header.e_type.get(LE))
}

/// Bytes to append to a file of `len` bytes and the new file header, which
/// together give it one more section.
pub struct Appended {
    pub tail: Vec<u8>,
    pub header: Vec<u8>,
}

/// Adds a section of plain data that is not loaded. `None` if the file has no
/// section headers to add to.
pub fn append_section(file: &[u8], name: &str, flags: u32, data: &[u8]) -> Option<Appended> {
    let header = Header::parse(file).ok()?;
    let sections = header.section_headers(LE, file).ok()?;
    let names_at = header.section_strings_index(LE, file).ok()?.0;
    let mut sections: Vec<Section> = sections.to_vec();
    let names = sections.get(names_at)?.data(LE, file).ok()?;

    let mut tail =
        Vec::with_capacity(data.len() + names.len() + (sections.len() + 2) * SECTION_HEADER);
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

    // More sections than the header can count are counted in section 0.
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
    debug_assert_eq!(object::bytes_of(&header).len(), FILE_HEADER);
    Some(Appended { tail, header: object::bytes_of(&header).to_vec() })
}

fn empty_section() -> Section {
    let zeros = [0; SECTION_HEADER];
    match object::from_bytes::<Section>(&zeros) {
        Ok((section, _)) => *section,
        Err(()) => unreachable!("a section header is made of bytes"),
    }
}

/// Name and definedness of each global symbol of the symbol table, or of the
/// dynamic one of a shared library.
pub fn globals(file: &[u8]) -> Vec<(&[u8], bool)> {
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

/// A call of libc's `strlen` in instrumented code is a reference to the model
/// `__pleach_m_strlen`. Where the program brings a `strlen` of its own (in
/// `own`), that reference must mean the program's. The model's name ends in
/// the function's, so it is enough to move the symbol's name forward in the
/// string table.
pub fn redirect_models(object: &mut [u8], own: &dyn Fn(&[u8]) -> bool) {
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
            let target = name.strip_prefix(MODEL.as_bytes());
            if symbol.is_undefined(LE) && target.is_some_and(own) {
                moves.push((start + i * entry, symbol.st_name.get(LE) + MODEL.len() as u32));
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

/// Prefix of the models' names.
pub const MODEL: &str = "__pleach_m_";
