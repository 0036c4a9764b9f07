//! A command line, understood: inputs with their languages, options in order,
//! and what is asked for.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::options::{self, Flag};
use super::sanitize;
use crate::Language;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    Flag(Flag),
    Input(Input),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub path: OsString,
    /// The value of the `-x` before it.
    pub language: Option<OsString>,
}

/// What a source file becomes on its way to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Goes through LLVM IR that we instrument.
    Instrumented,
    /// Compiled or assembled by clang alone: assembly, other languages.
    Plain,
    /// A header to precompile.
    Header,
    /// An object, archive, library or linker script.
    Linked,
}

/// What the command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing that we have a part in.
    Clang,
    Assembly,
    Object,
    Link,
}

#[derive(Clone, Debug)]
pub struct Invocation {
    pub language: Language,
    pub args: Vec<Arg>,
    pub mode: Mode,
    pub output: Option<OsString>,
    /// `-fsanitize=fuzzer` is in force: the link brings our `main`.
    pub fuzzer: bool,
    /// Cleared by `-fno-pleach-symbolic`.
    pub symbolic: bool,
    /// `-fno-pleach-token` was given: no function is a token function by its name.
    pub no_token_names: bool,
    /// Values of `-fpleach-token=`.
    pub tokens: Vec<String>,
    /// Link time optimisation was asked for, and left out.
    pub lto: bool,
    /// The last option has its value. Otherwise there is an error to report,
    /// which is clang's to do.
    pub complete: bool,
}

impl Invocation {
    /// Reads a command line whose response files are expanded.
    pub fn parse(language: Language, words: &[OsString]) -> Invocation {
        let mut inv = Invocation {
            language,
            args: Vec::new(),
            mode: Mode::Link,
            output: None,
            fuzzer: false,
            symbolic: true,
            no_token_names: false,
            tokens: Vec::new(),
            lto: false,
            complete: true,
        };
        let mut foreign = false;
        let mut given = None;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let is_option = word.as_bytes().first() == Some(&b'-') && word.len() > 1;
            if !is_option {
                inv.args.push(Arg::Input(Input { path: word.clone(), language: given.clone() }));
                continue;
            }
            if word == "--" {
                let rest = words.by_ref().cloned();
                inv.args
                    .extend(rest.map(|path| Arg::Input(Input { path, language: given.clone() })));
                break;
            }
            let mut flag = Flag::new(word);
            if options::takes_value(flag.name()) {
                flag.value = words.next().cloned();
                inv.complete = flag.value.is_some();
            }
            foreign |= options::is_foreign_action(&flag);
            if let Some(x) = language_of(&flag) {
                given = (x != "none").then(|| x.to_owned());
            } else {
                inv.take(flag);
            }
        }
        if inv.lto {
            inv.args.retain_mut(|a| match a {
                Arg::Flag(flag) => sanitize::without_cfi(flag),
                Arg::Input(_) => true,
            });
        }
        let headers = inv.inputs().any(|i| inv.kind(i) == Kind::Header);
        let anything = inv.args.iter().any(|a| match a {
            Arg::Input(_) => true,
            Arg::Flag(f) => options::is_linker_input(f.name()),
        });
        if foreign || headers || !anything || !inv.complete {
            inv.mode = Mode::Clang;
        }
        inv
    }

    fn take(&mut self, mut flag: Flag) {
        match flag.name() {
            "-c" | "--compile" if self.mode == Mode::Link => self.mode = Mode::Object,
            "-S" | "--assemble" => self.mode = Mode::Assembly,
            "-fno-pleach-symbolic" => self.symbolic = false,
            "-fpleach-symbolic" => self.symbolic = true,
            "-fno-pleach-token" => self.no_token_names = true,
            "-fpleach-token" => self.no_token_names = false,
            name if name.starts_with("-fpleach-token=") => {
                self.tokens.extend(name.split_once('=').map(|(_, v)| v.to_string()));
            }
            name if options::is_lto(name) => self.lto |= name.starts_with("-flto"),
            "-fno-lto" => self.lto = false,
            "-c" | "--compile" => {}
            _ => {
                let output = flag.joined("--output=").or_else(|| flag.joined("-o"));
                let output = output.or_else(|| flag.joined("--output")).map(OsStr::to_owned);
                if output.is_some() {
                    self.output = output;
                } else if sanitize::without_fuzzer(&mut flag, &mut self.fuzzer) {
                    self.args.push(Arg::Flag(flag));
                }
            }
        }
    }

    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.args.iter().filter_map(|a| match a {
            Arg::Input(i) => Some(i),
            Arg::Flag(_) => None,
        })
    }

    /// Inputs that become objects.
    pub fn sources(&self) -> impl Iterator<Item = &Input> {
        self.inputs().filter(|i| matches!(self.kind(i), Kind::Instrumented | Kind::Plain))
    }

    pub fn flags(&self) -> impl Iterator<Item = &Flag> {
        self.args.iter().filter_map(|a| match a {
            Arg::Flag(f) => Some(f),
            Arg::Input(_) => None,
        })
    }

    pub fn has(&self, names: &[&str]) -> bool {
        self.flags().any(|f| names.contains(&f.name()))
    }

    pub fn kind(&self, input: &Input) -> Kind {
        match &input.language {
            Some(x) => kind_of_language(x.to_str().unwrap_or("")),
            None => kind_of_path(Path::new(&input.path)),
        }
    }

    /// Where `-c` or `-S` puts what it makes of an input.
    pub fn object_path(&self, input: &Input) -> PathBuf {
        let extension = if self.mode == Mode::Assembly { "s" } else { "o" };
        match &self.output {
            Some(path) => PathBuf::from(path),
            None => {
                let mut name = stem(&input.path);
                name.push(".");
                name.push(extension);
                PathBuf::from(name)
            }
        }
    }

    pub fn executable(&self) -> PathBuf {
        PathBuf::from(self.output.clone().unwrap_or_else(|| "a.out".into()))
    }
}

/// The last part of a path, without its extension.
pub fn stem(path: &OsStr) -> OsString {
    let path = Path::new(path);
    path.file_stem().unwrap_or(path.as_os_str()).to_owned()
}

fn language_of(flag: &Flag) -> Option<&OsStr> {
    match flag.name() {
        "--language" => flag.value.as_deref(),
        name if name.starts_with("--language=") => flag.joined("--language="),
        name if name.starts_with("-x") => flag.joined("-x"),
        _ => None,
    }
}

fn kind_of_language(x: &str) -> Kind {
    match x {
        "c" | "c++" | "cpp-output" | "c++-cpp-output" | "ir" => Kind::Instrumented,
        _ if x.ends_with("-header") => Kind::Header,
        _ => Kind::Plain,
    }
}

fn kind_of_path(path: &Path) -> Kind {
    let Some(extension) = path.extension().and_then(OsStr::to_str) else {
        return Kind::Linked;
    };
    match extension {
        "c" | "i" | "ii" | "cc" | "cp" | "cpp" | "cxx" | "C" | "CC" | "CPP" | "CXX" | "c++"
        | "C++" | "bc" | "ll" => Kind::Instrumented,
        "h" | "hh" | "H" | "hp" | "hpp" | "hxx" | "h++" | "tcc" => Kind::Header,
        "s" | "S" | "sx" | "asm" | "m" | "mi" | "mm" | "mii" | "M" | "cl" | "clcpp" | "cu"
        | "cui" | "hip" | "f" | "F" | "f77" | "for" | "FOR" | "fpp" | "FPP" | "f90" | "F90"
        | "f95" | "F95" | "f03" | "f08" | "rs" | "d" | "ads" | "adb" | "cppm" | "ccm" | "cxxm"
        | "c++m" | "ixx" | "pcm" | "ast" | "gch" | "pch" | "hlsl" => Kind::Plain,
        _ => Kind::Linked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Invocation {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Invocation::parse(Language::C, &words)
    }

    #[test]
    fn what_is_asked_for() {
        let table = [
            ("a.c", Mode::Link),
            ("-c a.c", Mode::Object),
            ("-S a.c", Mode::Assembly),
            ("-c -S a.c", Mode::Assembly),
            ("-E a.c", Mode::Clang),
            ("-M a.c", Mode::Clang),
            ("-MD -c a.c", Mode::Object),
            ("-fsyntax-only a.c", Mode::Clang),
            ("-c -emit-llvm a.c", Mode::Clang),
            ("--version", Mode::Clang),
            ("-v", Mode::Clang),
            ("-print-search-dirs", Mode::Clang),
            ("-dumpmachine", Mode::Clang),
            ("-### -c a.c", Mode::Clang),
            ("a.h", Mode::Clang),
            ("-x c-header a.c", Mode::Clang),
            ("-Wl,--version", Mode::Link),
            ("a.o", Mode::Link),
            ("-c -o a.o -", Mode::Object),
            ("-c a.c -o", Mode::Clang),
        ];
        for (line, mode) in table {
            assert_eq!(parse(line).mode, mode, "{line}");
        }
    }

    #[test]
    fn values_are_not_inputs() {
        let inv =
            parse("-I a.c -include b.h -MF c.c -Xclang d.c -T e.c -o f.c -xc++ g.c -x none h.o");
        let inputs: Vec<_> =
            inv.inputs().map(|i| (i.path.to_str().unwrap(), inv.kind(i))).collect();
        assert_eq!(inputs, [("g.c", Kind::Instrumented), ("h.o", Kind::Linked)]);
        assert_eq!(inv.output.as_deref(), Some(OsStr::new("f.c")));
        assert_eq!(inv.inputs().next().unwrap().language.as_deref(), Some(OsStr::new("c++")));
    }

    #[test]
    fn everything_after_two_dashes_is_an_input() {
        let inv = parse("-c -- -odd.c");
        assert_eq!(inv.inputs().next().unwrap().path, "-odd.c");
    }

    #[test]
    fn options_of_ours_and_lto_do_not_reach_clang() {
        let inv = parse("-flto=thin -fno-pleach-symbolic -fsplit-lto-unit -fpleach-token=f a.c");
        assert!(inv.lto && !inv.symbolic && inv.tokens == ["f"]);
        assert_eq!(inv.flags().count(), 0);
        assert!(!parse("-flto -fno-lto a.c").lto);
    }
}
