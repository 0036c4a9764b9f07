//! Classes of characters (`isalpha`), and upper and lower case.
//!
//! glibc keeps them in tables: 128 entries below zero, and 256 from zero on. Macros of its
//! header read the tables in the program's own code. So the tables are added as constant
//! objects, and such a read becomes a lookup; the functions are lookups in the same tables.
//! In a locale whose tables are those of ASCII, a change of case is a plain expression,
//! which is cheaper to solve.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::V;
use super::define::models;
use super::text::is_between;
use crate::start::header;
use crate::symbolic::tls::tls;
use crate::symbolic::{arena, objects};
use pleach_abi::node::Op;

mod real {
    unsafe extern "C" {
        pub fn __ctype_b_loc() -> u64;
        pub fn __ctype_tolower_loc() -> u64;
        pub fn __ctype_toupper_loc() -> u64;
    }
}

/// Entries of a table below zero, and in all.
const ENTRIES_BELOW_ZERO: u64 = 128;
const ENTRIES: u64 = 384;

models! {
    fn __ctype_b_loc() -> u64 {
        add_table(real::__ctype_b_loc(), Table::Classes)
    }
    fn __ctype_tolower_loc() -> u64 {
        add_table(real::__ctype_tolower_loc(), Table::Lower)
    }
    fn __ctype_toupper_loc() -> u64 {
        add_table(real::__ctype_toupper_loc(), Table::Upper)
    }

    fn isascii(c: i32) -> i32 {
        c.and(V::new(32, !0x7f)).eq(V::new(32, 0)).zext(32)
    }
    fn toascii(c: i32) -> i32 {
        c.and(V::new(32, 0x7f))
    }
    fn tolower(c: i32) -> i32 {
        change_case(c, Table::Lower, Table::Lower.current())
    }
    fn toupper(c: i32) -> i32 {
        change_case(c, Table::Upper, Table::Upper.current())
    }
    fn tolower_l(c: i32, locale: u64) -> i32 {
        change_case(c, Table::Lower, Table::Lower.in_locale(locale.pin()))
    }
    fn toupper_l(c: i32, locale: u64) -> i32 {
        change_case(c, Table::Upper, Table::Upper.in_locale(locale.pin()))
    }
}

macro_rules! classes {
    ($($name:ident, $in_locale:ident: $bits:literal;)*) => {
        models! {$(
            fn $name(c: i32) -> i32 {
                test_class(c, $bits, Table::Classes.current())
            }
            fn $in_locale(c: i32, locale: u64) -> i32 {
                test_class(c, $bits, Table::Classes.in_locale(locale.pin()))
            }
        )*}
    };
}

// The bits as they are in the table of a little-endian machine.
classes! {
    isupper, isupper_l: 0x0100;
    islower, islower_l: 0x0200;
    isalpha, isalpha_l: 0x0400;
    isdigit, isdigit_l: 0x0800;
    isxdigit, isxdigit_l: 0x1000;
    isspace, isspace_l: 0x2000;
    isprint, isprint_l: 0x4000;
    isgraph, isgraph_l: 0x8000;
    isblank, isblank_l: 0x0001;
    iscntrl, iscntrl_l: 0x0002;
    ispunct, ispunct_l: 0x0004;
    isalnum, isalnum_l: 0x0008;
}

/// One byte in lower case, in the current locale.
pub fn to_lower_byte(b: u8) -> u8 {
    // Safety: the table has an entry for every byte.
    unsafe { *(Table::Lower.current() as *const i32).add(b.into()) as u8 }
}

/// A byte in lower case, with its label.
pub fn to_lower(b: V) -> V {
    if b.label == 0 {
        return V::new(8, to_lower_byte(b.val as u8).into());
    }
    let table = Table::Lower.current();
    if Table::Lower.is_ascii(table) {
        is_between(b, b'A', b'Z').choose(b.or(V::new(8, 0x20)), b)
    } else {
        Table::Lower.read(b.zext(32), table).trunc(8)
    }
}

/// Adds the tables of the first locale: C++'s facets read them without a call of
/// `__ctype_b_loc`.
pub fn start() {
    // Safety: these only return addresses.
    unsafe {
        add_table(real::__ctype_b_loc(), Table::Classes);
        add_table(real::__ctype_tolower_loc(), Table::Lower);
        add_table(real::__ctype_toupper_loc(), Table::Upper);
    }
}

#[derive(Clone, Copy)]
pub enum Table {
    Classes,
    Lower,
    Upper,
}

impl Table {
    /// Size of an entry in bytes.
    fn entry_size(self) -> u64 {
        if matches!(self, Table::Classes) { 2 } else { 4 }
    }

    /// Address of the entry for zero, in the current locale.
    pub fn current(self) -> u64 {
        // Safety: each returns the address of a pointer to the table.
        unsafe {
            let place = match self {
                Table::Classes => real::__ctype_b_loc(),
                Table::Lower => real::__ctype_tolower_loc(),
                Table::Upper => real::__ctype_toupper_loc(),
            };
            *(place as *const u64)
        }
    }

    /// As [`Table::current`], in a `locale_t`. Its layout is public: 13 pointers, and then
    /// the three tables.
    ///
    /// # Safety
    /// `locale` is a `locale_t`.
    unsafe fn in_locale(self, locale: u64) -> u64 {
        // Safety: the caller guarantees it.
        unsafe { *(locale as *const u64).add(13 + self as usize) }
    }

    fn object(self, table: u64) -> objects::Object {
        let size = self.entry_size();
        objects::Object {
            base: table - ENTRIES_BELOW_ZERO * size,
            size: ENTRIES * size,
            constant: true,
        }
    }

    /// The entry for a character from -128 to 255.
    fn read(self, c: V, table: u64) -> V {
        let size = self.entry_size();
        let at = c.sext(64).mul(V::new(64, size)).add(V::new(64, table));
        let entry = V::load(at.val, 8 * size as u32);
        V { label: objects::lookup(self.object(table), at.label, at.val, entry.width), ..entry }
    }

    /// True if a table of cases changes the ASCII letters only.
    fn is_ascii(self, table: u64) -> bool {
        static mut LAST: [(u64, bool); 3] = [(0, false); 3];
        // Safety: a race writes the same answer twice; the table is libc's.
        unsafe {
            let last = &raw mut LAST[self as usize];
            if (*last).0 != table {
                let plain = (0..=255u8).all(|b| {
                    let to = if matches!(self, Table::Lower) {
                        b.to_ascii_lowercase()
                    } else {
                        b.to_ascii_uppercase()
                    };
                    *(table as *const i32).add(b.into()) == i32::from(to)
                });
                *last = (table, plain);
            }
            (*last).1
        }
    }
}

/// Adds the table that `place` points to as a constant object.
///
/// # Safety
/// `place` comes from one of the `__ctype_*_loc` functions.
unsafe fn add_table(place: u64, which: Table) -> u64 {
    static mut LAST: [u64; 3] = [0; 3];
    if header().is_some() {
        // Safety: the caller guarantees it; a race adds the object twice.
        unsafe {
            let table = *(place as *const u64);
            let last = &raw mut LAST[which as usize];
            if *last != table {
                *last = table;
                objects::add(which.object(table));
            }
        }
    }
    place
}

/// `table[c] & bits`. Outside of the table the behaviour of the C function is undefined. So
/// a value that may be more than a byte is checked like any other index.
///
/// # Safety
/// `table` is a table of classes.
#[inline]
unsafe fn test_class(c: V, bits: u64, table: u64) -> V {
    if c.label == 0 {
        // Safety: the C function reads this entry.
        let entry = unsafe { *(table as *const u16).offset(c.val as i32 as isize) };
        return V::new(32, u64::from(entry) & bits);
    }
    let at = c.sext(64).mul(V::new(64, 2)).add(V::new(64, table));
    // Safety: the C function reads this entry.
    let val = u64::from(unsafe { *(at.val as *const u16) });
    let known = Table::Classes.object(table);
    objects::add(known);
    let label = match at.label {
        0 => 0,
        label if is_byte(c.label) => objects::lookup(known, label, at.val, 16),
        label => objects::load_at(tls().site, label, at.val, 16),
    };
    V::arg(label, 16, val).zext(32).and(V::new(32, bits))
}

/// `c` in another case; a value outside of the table is returned unchanged.
///
/// # Safety
/// `table` is a table of cases.
#[inline]
unsafe fn change_case(c: V, which: Table, table: u64) -> V {
    if c.label == 0 {
        let at = c.val as i32;
        // Safety: inside of the table.
        let to = |at| unsafe { *(table as *const i32).offset(at) };
        return if (-128..256).contains(&at) { to(at as isize).into() } else { c };
    }
    if is_byte(c.label) && which.is_ascii(table) {
        let (first, step) = match which {
            Table::Lower => (b'A', 32),
            _ => (b'a', 32u64.wrapping_neg()),
        };
        return is_between(c, first, first + 25).choose(c.add(V::new(32, step)), c);
    }
    let inside = || c.add(V::new(32, ENTRIES_BELOW_ZERO)).ult(V::new(32, ENTRIES));
    if is_byte(c.label) || inside().decide() { which.read(c, table) } else { c }
}

/// True if the value is a widened byte.
fn is_byte(label: u32) -> bool {
    let n = arena::node(label);
    n.op == Op::ZExt as u8 && arena::node(n.a).width <= 8
}
