//! Fills a dictionary: with the constants of the program, with what traces compare the input
//! with, and with the words of the seeds.
//!
//! The read-only data of an executable has the strings of everything that is linked into it;
//! a sanitizer alone has hundreds. The symbolic half has a table of the globals of
//! instrumented code, for bounds checks. These are the program's own words. The loader fills
//! in the addresses of that table, so they are read from the relocations.

use super::Dictionary;
use super::dictionary::MAX_TOKEN_LEN;
use object::elf::R_X86_64_RELATIVE;
use object::{
    Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget,
};
use pleach_abi::node::Op;
use pleach_abi::section::{GLOBALS, Global};
use pleach_exec::layout::Layout;
use pleach_exec::trace::Trace;
use pleach_expr::{Arg, Expr};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::mem::offset_of;

/// The weight of constants that a run compared its input with: they are better than any
/// guess.
const TRACE_WEIGHT: u32 = 16;
const SEED_WEIGHT: u32 = 4;
/// Larger tables have data, not words.
const MAX_TABLE_SIZE: usize = 64 << 10;
/// How many nodes of one condition are examined.
const MAX_NODES: usize = 1024;

impl Dictionary {
    /// Adds the strings among the constants of a program and its libraries.
    pub fn add_program(&mut self, layout: &Layout) {
        let mut names: Vec<_> = layout.libraries.keys().collect();
        names.sort();
        self.add_image(&layout.fast.symbolic);
        for name in names {
            self.add_image(&layout.libraries[name].fast.symbolic);
        }
    }

    /// Adds what a run compared several bytes of its input with.
    pub fn add_trace(&mut self, trace: &Trace) {
        let mut seen = HashSet::new();
        let mut run = ComparedRun::default();
        for event in &trace.events {
            let (mut bytes, mut all_equal) = (BTreeMap::new(), true);
            for label in new_nodes(&trace.expr, event.label, &mut seen) {
                match compared(&trace.expr, label) {
                    Some(Compared::Byte { offset, with, equal }) => {
                        bytes.insert(offset, with);
                        all_equal &= equal;
                    }
                    Some(Compared::Word(words)) => {
                        words.iter().for_each(|w| self.add(w, TRACE_WEIGHT));
                    }
                    None => {}
                }
            }
            // The bytes of one condition are one comparison. It continues in the next
            // condition as long as the bytes agree.
            for (offset, with) in bytes {
                run.push(offset, with, self);
            }
            if !all_equal {
                run.end(self);
            }
        }
        run.end(self);
    }

    /// Adds the values of several bytes that a run chose a case of a switch by.
    pub fn add_cases(&mut self, trace: &Trace, layout: &Layout) {
        for event in &trace.events {
            for &case in trace.cases(layout, event).unwrap_or_default() {
                if let Some(Compared::Word(words)) =
                    compared_with(&trace.expr, event.label, case.into())
                {
                    words.iter().for_each(|w| self.add(w, TRACE_WEIGHT));
                }
            }
        }
    }

    /// Adds the strings of a program that begin with one of these words: the run compared
    /// them up to the first difference. Then drops words that are only the beginning of one.
    pub fn complete_words(&mut self, layout: &Layout) {
        let mut program = Dictionary::default();
        program.add_program(layout);
        let strings: BTreeSet<&[u8]> = program.iter().map(|(string, _)| string).collect();
        let mut whole: BTreeSet<&[u8]> = BTreeSet::new();
        for (word, _) in self.iter() {
            let longer = strings.range(word..).take_while(|s| s.starts_with(word));
            let longer: Vec<_> = longer.filter(|s| !s.contains(&b'%')).collect();
            match longer.is_empty() {
                true => _ = whole.insert(word),
                false => whole.extend(longer),
            }
        }
        let mut completed = Dictionary::default();
        whole.into_iter().for_each(|word| completed.add(word, TRACE_WEIGHT));
        *self = completed;
    }

    /// Adds the words of a seed.
    pub fn add_seed(&mut self, seed: &[u8]) {
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let words = seed.split(|b| !is_part(b)).filter(|w| (2..=MAX_TOKEN_LEN).contains(&w.len()));
        // Other mutations make numbers.
        let words = words.filter(|w| !w.iter().all(u8::is_ascii_digit));
        words.for_each(|w| self.add(w, SEED_WEIGHT));
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

    /// Adds the strings of a constant: all of it, or each part that a zero byte ends.
    fn add_strings(&mut self, data: &[u8]) {
        let is_text = |b: &u8| matches!(b, b' '..=b'~' | b'\t' | b'\n' | b'\r');
        let whole = data.strip_suffix(&[0]).unwrap_or(data);
        if whole.len() <= MAX_TOKEN_LEN
            && (whole.iter().all(is_text) || data.len() == 4 || data.len() == 8)
        {
            // Four or eight bytes that are not text may be a magic number.
            if whole.iter().any(|&b| b != 0) {
                self.add_constant(whole);
            }
            return;
        }
        for string in data.split(|&b| b == 0) {
            if string.len() > 1 && string.iter().all(is_text) {
                self.add_constant(string);
            }
        }
    }
}

/// The address and size of each constant in the table of globals.
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
        (constant && size <= MAX_TABLE_SIZE && address != 0).then_some((address, size as u64))
    });
    records.collect()
}

/// The nodes of a condition that are not part of an earlier one.
fn new_nodes(expr: &Expr, root: u32, seen: &mut HashSet<u32>) -> Vec<u32> {
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(label) = stack.pop() {
        if label == 0 || !expr.is_live(label) || found.len() >= MAX_NODES || !seen.insert(label) {
            continue;
        }
        found.push(label);
        stack.extend(expr.operands(label));
    }
    found
}

enum Compared {
    /// One byte of the input with a constant. `equal` if they agreed.
    Byte { offset: u32, with: u8, equal: bool },
    /// Several bytes at once with these words: two if the byte order is not known.
    Word(Vec<Vec<u8>>),
}

/// What an equation compares, if one side is constant. The models of `strcmp` and similar
/// functions subtract: a difference of 0 means equal.
fn compared(expr: &Expr, label: u32) -> Option<Compared> {
    let op = expr.op(label);
    if !matches!(op, Op::Eq | Op::Ne | Op::Sub) {
        return None;
    }
    let (of, with) = match expr.pair(label) {
        (Arg::Label(of), Arg::Const(with)) | (Arg::Const(with), Arg::Label(of)) => (of, with),
        _ => return None,
    };
    let compared = compared_with(expr, of, with)?;
    match compared {
        Compared::Byte { offset, with, .. } => {
            let equal = (expr.recorded(label) == 0) == (op != Op::Eq);
            Some(Compared::Byte { offset, with, equal })
        }
        // A subtraction of numbers is no comparison.
        Compared::Word(_) if op == Op::Sub => None,
        word => Some(word),
    }
}

/// What is compared if a value is compared with a constant.
fn compared_with(expr: &Expr, mut of: u32, with: u128) -> Option<Compared> {
    let width = expr.width(of);
    let sign = with >> width.saturating_sub(1) & 1 == 1;
    while matches!(expr.op(of), Op::ZExt | Op::SExt) {
        let narrow = expr.node(of).a;
        let bits = expr.width(narrow);
        // A constant that the narrow side cannot have is not a word.
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
        Op::Input => Some(Compared::Byte { offset: expr.node(of).a, with: bytes[0], equal: false }),
        _ if len == 8 && is_address(with) => None,
        Op::Read if len > 1 => Some(Compared::Word(vec![bytes[..len].to_vec()])),
        Op::Bswap if len > 1 => {
            Some(Compared::Word(vec![bytes[..len].iter().rev().copied().collect()]))
        }
        Op::Or | Op::Add | Op::Concat | Op::Xor if matches!(len, 2 | 4 | 8) => {
            // Most likely built by shifts, in either byte order.
            let little = bytes[..len].to_vec();
            let big = little.iter().rev().copied().collect();
            Some(Compared::Word(vec![little, big]))
        }
        _ => None,
    }
}

/// True if a number may be an address of code, heap or stack on x86-64. A pointer that
/// depends on the input is pinned by comparing it with its value, which is not a word.
fn is_address(number: u128) -> bool {
    (1 << 40..1 << 47).contains(&number)
}

/// Bytes at consecutive offsets that were compared one after the other.
#[derive(Default)]
struct ComparedRun {
    start: u32,
    bytes: Vec<u8>,
}

impl ComparedRun {
    /// Adds a byte that was compared at an offset.
    fn push(&mut self, offset: u32, with: u8, into: &mut Dictionary) {
        let inside = offset.checked_sub(self.start).map(|i| i as usize);
        match inside.filter(|&i| i <= self.bytes.len() && !self.bytes.is_empty()) {
            Some(i) if i == self.bytes.len() => self.bytes.push(with),
            // Another word with the same prefix.
            Some(i) => {
                self.add_word(into);
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

    fn add_word(&self, into: &mut Dictionary) {
        // Zeros at the end are not part of a string. A search for one byte compares with that
        // byte only.
        let end = self.bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        let word = &self.bytes[..end];
        if word.iter().any(|b| *b != word[0]) {
            into.add(word, TRACE_WEIGHT);
        }
    }

    /// Ends the run and adds its word.
    fn end(&mut self, into: &mut Dictionary) {
        self.add_word(into);
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
    fn bytes_that_are_compared_in_a_row_are_a_word() {
        let (mut dictionary, mut run) = (Dictionary::default(), ComparedRun::default());
        // `if`, then `in` at the same place, a search for a newline, and `do`.
        for (offset, with) in [(3, b'i'), (4, b'f'), (4, b'n'), (5, b'\n'), (9, b'd'), (10, b'o')] {
            run.push(offset, with, &mut dictionary);
        }
        run.end(&mut dictionary);
        for offset in 0..5 {
            run.push(offset, b'\n', &mut dictionary);
        }
        run.end(&mut dictionary);
        assert_eq!(words(&dictionary), ["do", "if", "in\n"]);
    }

    #[test]
    fn words_of_seeds_are_found() {
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
