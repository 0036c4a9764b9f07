//! The user's link command as a sequence of elements: options of clang's driver,
//! options of the linker, files, libraries, sources. Linker options come from `-Wl,`
//! and `-Xlinker`; the value of one may be in the next `-Wl,` or `-Xlinker`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::driver::invocation::{Arg, Invocation, Kind};
use crate::driver::options::{Flag, is_one_of};

#[derive(Debug, PartialEq, Eq)]
pub enum Element {
    Driver(Flag),
    Linker(Flag),
    File(PathBuf),
    /// The NAME of `-lNAME`.
    Library(OsString),
    /// The n-th source of the command.
    Source(usize),
}

pub fn elements(inv: &Invocation) -> Vec<Element> {
    let mut line = Line::default();
    let mut sources = 0;
    for arg in &inv.args {
        match arg {
            Arg::Input(input) if inv.kind(input) == Kind::Linked => {
                line.out.push(Element::File(PathBuf::from(&input.path)));
            }
            Arg::Input(_) => {
                line.out.push(Element::Source(sources));
                sources += 1;
            }
            Arg::Flag(flag) => line.push_flag(flag),
        }
    }
    line.out
}

#[derive(Default)]
struct Line {
    out: Vec<Element>,
    /// Index of the linker option whose value is the next word.
    awaits_value: Option<usize>,
}

impl Line {
    fn push_flag(&mut self, flag: &Flag) {
        let name = flag.name();
        if name.starts_with("-Wl,") {
            let words = flag.text.as_bytes()[4..].split(|&b| b == b',');
            words.for_each(|w| self.push_linker_word(OsStr::from_bytes(w)));
        } else if ["-Xlinker", "--for-linker"].contains(&name) {
            flag.value.iter().for_each(|w| self.push_linker_word(w));
        } else if let Some(library) = flag.joined("-l") {
            self.out.push(Element::Library(library.to_owned()));
        } else {
            self.out.push(Element::Driver(flag.clone()));
        }
    }

    fn push_linker_word(&mut self, word: &OsStr) {
        if let Some(at) = self.awaits_value.take() {
            match &mut self.out[at] {
                Element::Linker(flag) => flag.value = Some(word.to_owned()),
                Element::Library(name) => *name = word.to_owned(),
                _ => {}
            }
            return;
        }
        let bytes = word.as_bytes();
        if bytes.first() != Some(&b'-') {
            self.out.push(Element::File(PathBuf::from(word)));
            return;
        }
        let library = bytes.strip_prefix(b"-l").or_else(|| bytes.strip_prefix(b"--library="));
        if let Some(library) = library {
            if library.is_empty() {
                self.awaits_value = Some(self.out.len());
            }
            self.out.push(Element::Library(OsString::from_vec(library.to_vec())));
            return;
        }
        let flag = Flag::new(word);
        if linker_option_takes_value(flag.name()) {
            self.awaits_value = Some(self.out.len());
        }
        self.out.push(Element::Linker(flag));
    }
}

/// A linker option without its dashes: a long option may have one or two.
pub fn without_dashes(name: &str) -> &str {
    name.strip_prefix("--").or_else(|| name.strip_prefix('-')).unwrap_or(name)
}

fn linker_option_takes_value(name: &str) -> bool {
    const SHORT: &str = "-A -F -G -I -L -R -T -Y -b -c -e -f -h -m -o -u -y -z";
    const LONG: &str = "\
        Map Tbss Tdata Ttext Ttext-segment assert auxiliary default-script defsym \
        dependency-file dynamic-linker dynamic-list entry exclude-libs export-dynamic-symbol \
        export-dynamic-symbol-list filter fini format hash-style image-base init just-symbols \
        library library-path orphan-handling output plugin plugin-opt require-defined \
        retain-symbols-file rpath rpath-link script section-start soname sort-section \
        symbol-ordering-file sysroot trace-symbol undefined unresolved-symbols version-script \
        wrap";
    is_one_of(name, SHORT) || is_one_of(without_dashes(name), LONG)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    #[test]
    fn linker_words_find_their_values_and_files() {
        let line = "a.c -Wl,--whole-archive,libx.a,--no-whole-archive -Wl,-rpath -Wl,/p -Xlinker -z \
                    -Xlinker defs -lm -l z -Wl,-lq -Wl,--version-script=v b.o -L dir";
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let inv = Invocation::parse(Language::C, &words);
        let linker = |text: &str, value: Option<&str>| {
            Element::Linker(Flag { text: text.into(), value: value.map(OsString::from) })
        };
        assert_eq!(
            elements(&inv),
            [
                Element::Source(0),
                linker("--whole-archive", None),
                Element::File("libx.a".into()),
                linker("--no-whole-archive", None),
                linker("-rpath", Some("/p")),
                linker("-z", Some("defs")),
                Element::Library("m".into()),
                Element::Library("z".into()),
                Element::Library("q".into()),
                linker("--version-script=v", None),
                Element::File("b.o".into()),
                Element::Driver(Flag { text: "-L".into(), value: Some("dir".into()) }),
            ]
        );
    }
}
