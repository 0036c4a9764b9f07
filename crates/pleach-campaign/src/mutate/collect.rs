//! Where tokens come from: the constants of the program, what traces compare
//! the input with, and the words of the seeds.
//!
//! The read-only data of an executable holds the strings of everything that was
//! linked into it, and a sanitizer brings hundreds. The symbolic half has a table
//! of the globals of instrumented code alone, for bounds: those are the program's
//! own words. The table's addresses are filled in by the loader, so they are read
//! from the relocations.

use super::Dictionary;
use super::dictionary::LONGEST;
use object::elf::R_X86_64_RELATIVE;
use object::{
    Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget,
};
use pleach_abi::node::Op;
use pleach_abi::section::{GLOBALS, Global};
use pleach_exec::layout::Layout;
use pleach_exec::trace::Trace;
use pleach_expr::{Arg, Expr};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::offset_of;

/// Constants that a run compared its input with are better than any guess.
const FROM_TRACE: u32 = 16;
const FROM_SEED: u32 = 4;
/// Larger tables hold data, not words.
const LARGEST: usize = 64 << 10;
/// The most nodes of one condition that are looked at.
const DEEPEST: usize = 1024;

impl Dictionary {
    /// The strings among the constants of a program and its libraries.
    pub fn add_program(&mut self, layout: &Layout) {
        let mut names: Vec<_> = layout.libraries.keys().collect();
        names.sort();
        self.add_image(&layout.fast.symbolic);
        for name in names {
            self.add_image(&layout.libraries[name].fast.symbolic);
        }
    }

    /// What a run compared several bytes of its input with.
    pub fn add_trace(&mut self, trace: &Trace) {
        let mut seen = HashSet::new();
        let mut run = Run::default();
        for event in &trace.events {
            let (mut bytes, mut held) = (BTreeMap::new(), true);
            for label in cone(&trace.expr, event.label, &mut seen) {
                match compared(&trace.expr, label) {
                    Some(Compared::Byte { offset, with, equal }) => {
                        bytes.insert(offset, with);
                        held &= equal;
                    }
                    Some(Compared::Word(words)) => {
                        words.iter().for_each(|w| self.add(w, FROM_TRACE));
                    }
                    None => {}
                }
            }
            // Bytes in one condition are one comparison. From condition to
            // condition it goes on as long as the bytes agree.
            for (offset, with) in bytes {
                run.put(offset, with, self);
            }
            if !held {
                run.end(self);
            }
        }
        run.end(self);
    }

    /// The words of a seed.
    pub fn add_seed(&mut self, seed: &[u8]) {
        let part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let words = seed.split(|b| !part(b)).filter(|w| (2..=LONGEST).contains(&w.len()));
        // A number is no word, and there are other ways to get one.
        let words = words.filter(|w| !w.iter().all(u8::is_ascii_digit));
        words.for_each(|w| self.add(w, FROM_SEED));
    }

    fn add_image(&mut self, elf: &[u8]) {
        let Ok(file) = object::File::parse(elf) else { return };
        for (address, size) in constants(&file) {
            let section = file.sections().find(|s| {
                s.address() != 0 && address.checked_sub(s.address()).is_some_and(|i| i < s.size())
            });
            let data = section.and_then(|s| s.data_range(address, size).ok().flatten());
            self.add_strings(data.unwrap_or_default());
        }
    }

    /// The strings in a constant: all of it, or each that a zero byte ends.
    fn add_strings(&mut self, data: &[u8]) {
        let text = |b: &u8| matches!(b, b' '..=b'~' | b'\t' | b'\n' | b'\r');
        let whole = data.strip_suffix(&[0]).unwrap_or(data);
        if whole.len() <= LONGEST && (whole.iter().all(text) || data.len() == 4 || data.len() == 8)
        {
            // Four or eight bytes that are no text may be a magic number.
            if whole.iter().any(|&b| b != 0) {
                self.add_constant(whole);
            }
            return;
        }
        for string in data.split(|&b| b == 0) {
            if string.len() > 1 && string.iter().all(text) {
                self.add_constant(string);
            }
        }
    }
}

/// The constants that the table of globals lists: address and size.
fn constants(file: &object::File) -> Vec<(u64, u64)> {
    const SIZE: usize = size_of::<Global>();
    let Some(table) = file.section_by_name(GLOBALS) else { return Vec::new() };
    let (base, Ok(data)) = (table.address(), table.data()) else { return Vec::new() };
    let mut addresses = HashMap::new();
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let Some(inside) = at.checked_sub(base).filter(|i| *i < data.len() as u64) else {
            continue;
        };
        let symbol = match (relocation.flags(), relocation.target()) {
            (RelocationFlags::Elf { r_type: R_X86_64_RELATIVE }, _) => 0,
            (_, RelocationTarget::Symbol(index)) => {
                let table = file.dynamic_symbol_table();
                let symbol = table.and_then(|t| t.symbol_by_index(index).ok());
                symbol.map_or(0, |s| s.address())
            }
            _ => continue,
        };
        addresses.insert(inside, symbol.wrapping_add_signed(relocation.addend()));
    }
    let number = |record: &[u8], at: usize| {
        u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
    };
    let records = data.chunks_exact(SIZE).enumerate().filter_map(|(i, record)| {
        let size = number(record, offset_of!(Global, size)) as usize;
        let constant = number(record, offset_of!(Global, flags)) & 1 == 1;
        let address = *addresses.get(&((i * SIZE + offset_of!(Global, addr)) as u64))?;
        (constant && size <= LARGEST && address != 0).then_some((address, size as u64))
    });
    records.collect()
}

/// The nodes of a condition that no condition before had.
fn cone(expr: &Expr, root: u32, seen: &mut HashSet<u32>) -> Vec<u32> {
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(label) = stack.pop() {
        if label == 0 || !expr.is_live(label) || found.len() >= DEEPEST || !seen.insert(label) {
            continue;
        }
        found.push(label);
        stack.extend(expr.operands(label));
    }
    found
}

enum Compared {
    /// One byte of the input with a constant, and whether they agreed.
    Byte { offset: u32, with: u8, equal: bool },
    /// Several bytes at once: what they would have to be, in either order where
    /// that is not plain.
    Word(Vec<Vec<u8>>),
}

/// What an equation compares, if one side is constant. The models of `strcmp`
/// and its like subtract: a difference of 0 is equality.
fn compared(expr: &Expr, label: u32) -> Option<Compared> {
    let op = expr.op(label);
    if !matches!(op, Op::Eq | Op::Ne | Op::Sub) {
        return None;
    }
    let (mut of, with) = match expr.pair(label) {
        (Arg::Label(of), Arg::Const(with)) | (Arg::Const(with), Arg::Label(of)) => (of, with),
        _ => return None,
    };
    let width = expr.width(of);
    let sign = with >> width.saturating_sub(1) & 1 == 1;
    while matches!(expr.op(of), Op::ZExt | Op::SExt) {
        let narrow = expr.node(of).a;
        let bits = expr.width(narrow);
        // A constant that the narrow side cannot have is no word.
        let high = with >> bits.min(127);
        let all = (1u128 << (width - bits).min(127)) - 1;
        if high != 0 && !(expr.op(of) == Op::SExt && sign && high == all) {
            return None;
        }
        of = narrow;
    }
    let bytes = with.to_le_bytes();
    let len = expr.width(of) as usize / 8;
    match expr.op(of) {
        Op::Input => {
            let equal = (expr.recorded(label) == 0) == (op != Op::Eq);
            Some(Compared::Byte { offset: expr.node(of).a, with: bytes[0], equal })
        }
        _ if op == Op::Sub || len == 8 && is_address(with) => None,
        Op::Read if len > 1 => Some(Compared::Word(vec![bytes[..len].to_vec()])),
        Op::Bswap if len > 1 => {
            Some(Compared::Word(vec![bytes[..len].iter().rev().copied().collect()]))
        }
        Op::Or | Op::Add | Op::Concat | Op::Xor if matches!(len, 2 | 4 | 8) => {
            // Put together by shifts, most likely.
            let little = bytes[..len].to_vec();
            let big = little.iter().rev().copied().collect();
            Some(Compared::Word(vec![little, big]))
        }
        _ => None,
    }
}

/// Whether a number is where x86-64 programs have their code, heap and stack. A
/// pointer that depends on the input is pinned by comparing it with itself.
fn is_address(number: u128) -> bool {
    (1 << 40..1 << 47).contains(&number)
}

/// Bytes at consecutive offsets that were compared one after the other.
#[derive(Default)]
struct Run {
    start: u32,
    bytes: Vec<u8>,
}

impl Run {
    fn put(&mut self, offset: u32, with: u8, into: &mut Dictionary) {
        let inside = offset.checked_sub(self.start).map(|i| i as usize);
        match inside.filter(|&i| i <= self.bytes.len() && !self.bytes.is_empty()) {
            Some(i) if i == self.bytes.len() => self.bytes.push(with),
            // Another word with the same beginning.
            Some(i) => {
                self.add(into);
                self.bytes.truncate(i);
                self.bytes.push(with);
            }
            None => {
                self.end(into);
                self.start = offset;
                self.bytes.push(with);
            }
        }
    }

    fn add(&self, into: &mut Dictionary) {
        // Where a string ends is no part of it, and a search for one byte is a
        // run of that.
        let end = self.bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        let word = &self.bytes[..end];
        if word.iter().any(|b| *b != word[0]) {
            into.add(word, FROM_TRACE);
        }
    }

    fn end(&mut self, into: &mut Dictionary) {
        self.add(into);
        self.bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(dictionary: &Dictionary) -> Vec<String> {
        let mut words: Vec<_> =
            dictionary.iter().map(|(t, _)| String::from_utf8_lossy(t).into_owned()).collect();
        words.sort();
        words
    }

    #[test]
    fn comparisons_byte_by_byte_are_words() {
        let (mut dictionary, mut run) = (Dictionary::default(), Run::default());
        // `if`, then `in` at the same place, a search for a newline, and `do`.
        for (offset, with) in [(3, b'i'), (4, b'f'), (4, b'n'), (5, b'\n'), (9, b'd'), (10, b'o')] {
            run.put(offset, with, &mut dictionary);
        }
        run.end(&mut dictionary);
        for offset in 0..5 {
            run.put(offset, b'\n', &mut dictionary);
        }
        run.end(&mut dictionary);
        assert_eq!(words(&dictionary), ["do", "if", "in\n"]);
    }

    #[test]
    fn seeds_have_words() {
        let mut dictionary = Dictionary::default();
        dictionary.add_seed(b"let x_1 = foo(12, 'bar');");
        assert_eq!(words(&dictionary), ["bar", "foo", "let", "x_1"]);
    }

    #[test]
    fn strings_are_found_in_constants() {
        let mut dictionary = Dictionary::default();
        dictionary.add_strings(b"while\0");
        dictionary.add_strings(b"\x89PNG");
        dictionary.add_strings(&[0; 8]);
        dictionary.add_strings(&[1, 2, 3, 4, 5]);
        let mut table = b"if\0\0\0\0\0\0\x01\0\0\0else\0\0\0\0\x02\0\0\0".to_vec();
        table.extend([0; 16]);
        dictionary.add_strings(&table);
        assert_eq!(words(&dictionary), ["else", "if", "while", "\u{fffd}PNG"]);
        assert!(dictionary.iter().any(|(t, _)| t == b"\x89PNG"));
    }
}
