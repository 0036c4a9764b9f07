//! A parsed command line: inputs with their languages, options in order, and the
//! requested output.

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
    /// The value of the last `-x` before the input.
    pub language: Option<OsString>,
}

/// How an input is processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Compiled through LLVM IR, which is instrumented.
    Instrumented,
    /// Compiled or assembled without instrumentation: assembly, other languages.
    Plain,
    /// A header to precompile.
    Header,
    /// An object, archive, library or linker script.
    Linked,
}

/// What the command produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Something that needs no instrumentation: clang does the whole job.
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
    /// True with `-fsanitize=fuzzer`: the link adds Pleach's `main`.
    pub fuzzer: bool,
    /// False with `-fno-pleach-symbolic`.
    pub symbolic: bool,
    /// True with `-fno-pleach-token`: no function is a token function by its name.
    pub no_token_names: bool,
    /// Values of `-fpleach-token=`.
    pub tokens: Vec<String>,
    /// True if link-time optimisation was requested. Its options are removed.
    pub lto: bool,
    /// True if the last option has its value. Otherwise clang reports the error.
    pub complete: bool,
}

impl Invocation {
    /// Parses a command line whose response files are expanded.
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
        let mut clang_only = false;
        let mut language_option = None;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let is_option = word.as_bytes().first() == Some(&b'-') && word.len() > 1;
            if !is_option {
                let language = language_option.clone();
                inv.args.push(Arg::Input(Input { path: word.clone(), language }));
                continue;
            }
            if word == "--" {
                let rest = words.by_ref().cloned();
                inv.args.extend(
                    rest.map(|path| Arg::Input(Input { path, language: language_option.clone() })),
                );
                break;
            }
            let mut flag = Flag::new(word);
            if options::takes_value(flag.name()) {
                flag.value = words.next().cloned();
                inv.complete = flag.value.is_some();
            }
            clang_only |= options::is_clang_only_action(&flag);
            if let Some(x) = language_of(&flag) {
                language_option = (x != "none").then(|| x.to_owned());
            } else {
                inv.apply_flag(flag);
            }
        }
        if inv.lto {
            inv.args.retain_mut(|a| match a {
                Arg::Flag(flag) => sanitize::remove_cfi(flag),
                Arg::Input(_) => true,
            });
        }
        let has_header = inv.inputs().any(|i| inv.kind(i) == Kind::Header);
        let has_input = inv.args.iter().any(|a| match a {
            Arg::Input(_) => true,
            Arg::Flag(f) => options::is_linker_input(f.name()),
        });
        if clang_only || has_header || !has_input || !inv.complete {
            inv.mode = Mode::Clang;
        }
        inv
    }

    /// Records an option that the driver handles itself, or keeps it for clang.
    fn apply_flag(&mut self, mut flag: Flag) {
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
                } else if sanitize::remove_fuzzer(&mut flag, &mut self.fuzzer) {
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

    pub fn has_flag(&self, names: &[&str]) -> bool {
        self.flags().any(|f| names.contains(&f.name()))
    }

    pub fn kind(&self, input: &Input) -> Kind {
        match &input.language {
            Some(x) => kind_of_language(x.to_str().unwrap_or("")),
            None => kind_of_path(Path::new(&input.path)),
        }
    }

    /// The output of `-c` or `-S` for an input.
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

/// The file name of a path, without its extension.
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
    fn the_mode_is_recognised() {
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
    fn values_of_options_are_not_inputs() {
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
    fn pleach_and_lto_options_do_not_reach_clang() {
        let inv = parse("-flto=thin -fno-pleach-symbolic -fsplit-lto-unit -fpleach-token=f a.c");
        assert!(inv.lto && !inv.symbolic && inv.tokens == ["f"]);
        assert_eq!(inv.flags().count(), 0);
        assert!(!parse("-flto -fno-lto a.c").lto);
    }
}
