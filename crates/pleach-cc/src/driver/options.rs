//! What the driver knows about clang's options.
//!
//! clang has about four thousand options. Most of them go unchanged to every run
//! of clang. This module answers three questions, because a wrong answer would
//! lose an argument or an input file:
//! - Which options take the next word as their value?
//! - Which options ask for something else than an object or an executable? Then
//!   clang does the whole job.
//! - Which steps of a command (front end, code generation, link) use an option?

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// An option as the user wrote it, with its value if that is a separate word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    pub text: OsString,
    pub value: Option<OsString>,
}

impl Flag {
    pub fn new(text: impl Into<OsString>) -> Flag {
        Flag { text: text.into(), value: None }
    }

    /// The option's text for comparisons. An option that is not UTF-8 contains a path
    /// (`-Ipath`); its valid start is enough.
    pub fn name(&self) -> &str {
        let bytes = self.text.as_bytes();
        match std::str::from_utf8(bytes) {
            Ok(s) => s,
            Err(e) => std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or(""),
        }
    }

    /// The value of `-Xvalue` or `-X value`.
    pub fn joined(&self, option: &str) -> Option<&OsStr> {
        if self.text.as_bytes() == option.as_bytes() {
            return self.value.as_deref();
        }
        let rest = self.text.as_bytes().strip_prefix(option.as_bytes())?;
        Some(OsStr::from_bytes(rest))
    }

    pub fn words(&self) -> impl Iterator<Item = OsString> {
        [Some(self.text.clone()), self.value.clone()].into_iter().flatten()
    }
}

/// Options whose value is the next word if nothing is joined to them. To find them,
/// each option that clang 22 lists was followed by a file name, and the file was no
/// longer an input.
const TAKING_NEXT_WORD: &str = "\
    --analyzer-output --assert --config --define-macro --dyld-prefix --for-linker --force-link \
    --imacros --include --include-directory --include-directory-after --include-prefix \
    --include-with-prefix --include-with-prefix-after --include-with-prefix-before --language \
    --library-directory --output --param --prefix --resource --rtlib --serialize-diagnostics \
    --std --stdlib --sysroot --undefine-macro --vfsoverlay -A -B -D -F -G -I -L -MF -MJ -MQ \
    -MT -T -Tbss -Tdata -Ttext -U -Xanalyzer -Xarch_device -Xarch_host -Xarch_x86_64 \
    -Xassembler -Xclang -Xclangas -Xcuda-fatbinary -Xcuda-ptxas -Xlinker -Xoffload-linker \
    -Xopenmp-target -Xpreprocessor -allowable_client -arch -b -bundle_loader -ccc-gcc-name \
    -ccc-install-dir -client_name -current_version -cxx-isystem -darwin-target-variant \
    -dependency-dot -dependency-file -dsym-dir -dumpdir -dylib_file -e -exported_symbols_list \
    -fdebug-compilation-dir -filelist -fmodules-user-build-path -force_load -framework \
    -ftrapv-handler -gen-cdb-fragment-path -iapinotes-modules -idirafter -iframework \
    -iframeworkwithsysroot -imacros -image_base -imultilib -include -include-pch -init \
    -install_name -iprefix -iquote -isysroot -isystem -isystem-after -ivfsoverlay -iwithprefix \
    -iwithprefixbefore -iwithsysroot -l -meabi -mllvm -mmlir -module-dependency-dir \
    -mthread-model -multiply_defined -o -pagezero_size -resource-dir -rpath -sectcreate \
    -seg1addr -segprot -serialize-diagnostics -stdlib++-isystem -target -u -umbrella \
    -undefined -unexported_symbols_list -vfsoverlay -weak_framework -weak_library \
    -working-directory -x -z";

/// True if `name` is in a table of options, which is a string of words.
pub fn is_one_of(name: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|word| word == name)
}

fn starts_with_one_of(name: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|word| name.starts_with(word))
}

pub fn takes_value(option: &str) -> bool {
    is_one_of(option, TAKING_NEXT_WORD) || option.starts_with("-Xopenmp-target=")
}

/// True if an option asks for something else than objects, assembly or a link. Then
/// clang does the whole job.
pub fn is_clang_only_action(flag: &Flag) -> bool {
    const EXACT: &str = "\
        -### --analyze --autocomplete --help --help-hidden --migrate --precompile --version -E \
        --preprocess -M -MM --dependencies --user-dependencies -cc1 -cc1as -dumpmachine \
        -dumpversion -emit-ast -emit-interface-stubs -emit-llvm -emit-merged-ifs -extract-api \
        -fdriver-only -fsyntax-only -help -module-file-info -rewrite-legacy-objc -rewrite-objc \
        -verify-pch";
    const HEADS: &str = "-print- --print- -ccc-print- --autocomplete= -dumpfull";
    let name = flag.name();
    if name == "-Xclang" {
        let value = flag.value.as_deref().and_then(OsStr::to_str).unwrap_or("");
        return value.starts_with("-emit-")
            || value.starts_with("-ast-")
            || ["-E", "-analyze", "-fsyntax-only", "-verify"].contains(&value);
    }
    is_one_of(name, EXACT) || starts_with_one_of(name, HEADS)
}

/// Options of link-time optimisation. The halves are objects of machine code, which
/// it cannot use.
pub fn is_lto(name: &str) -> bool {
    const HEADS: &str = "\
        -flto= -flto- -fthinlto- -fthin-link- -fsplit-lto-unit -ffat-lto-objects -funified-lto \
        -fwhole-program-vtables -fvirtual-function-elimination -fsanitize-cfi-cross-dso";
    name == "-flto" || starts_with_one_of(name, HEADS)
}

/// Options that select the C++ library of a program.
pub fn selects_cxx_library(name: &str) -> bool {
    ["--gcc-toolchain", "--gcc-install-dir", "--gcc-triple", "--sysroot", "-isysroot"]
        .iter()
        .any(|o| name.starts_with(o))
}

/// Options for the linker that clang counts as inputs.
pub fn is_linker_input(name: &str) -> bool {
    name == "-Xlinker" || name == "--for-linker" || name.starts_with("-Wl,") || is_library(name)
}

pub fn is_library(name: &str) -> bool {
    name.starts_with("-l")
}

/// Options that only the front end uses: sources, macros, warnings, dependencies.
fn is_front_end(name: &str) -> bool {
    if name.starts_with("-Wa,") {
        return false;
    }
    const EXACT: &str = "\
        -ansi --ansi -C -CC -H -P -trigraphs -undef -v -w -Xclang -Xpreprocessor -Xanalyzer \
        -nobuiltininc -fstack-usage -cxx-isystem -c-isystem";
    const HEADS: &str = "\
        -A -D -F -I -M -R -U -W -i -nostdinc -pedantic --pedantic -no-pedantic -std= --std -d \
        --define-macro --include --imacros --undefine-macro -stdlib --stdlib -stdlib++-isystem \
        --serialize-diagnostics -serialize-diagnostics -save-stats -fplugin -fpass-plugin \
        -fmodule -fno-module -fprebuilt -fimplicit-module -fbuiltin-module -fpch -fdiagnostics \
        -fno-diagnostics -ftime- -fopenmp -fembed-bitcode -fsave-optimization-record \
        -foptimization-record -fmacro-backtrace -ferror-limit -ftemplate- -fcrash-diagnostics \
        -gen- --config -working-directory";
    is_one_of(name, EXACT) || starts_with_one_of(name, HEADS)
}

/// Options that only the link uses.
fn is_link_only(name: &str) -> bool {
    const EXACT: &str = "\
        -T -Tbss -Tdata -Ttext -e -no-pie -nolibc -nodefaultlibs -nopie -nostartfiles \
        -nostdlib -nostdlib++ -pie -r -rdynamic -rpath -s -shared -static -static-libgcc \
        -static-libstdc++ -static-pie -u -z -shared-libgcc -shared-libsan -static-libsan";
    const HEADS: &str = "-L -fuse-ld= --ld-path= -u -rtlib= --rtlib -unwindlib=";
    is_linker_input(name)
        || is_one_of(name, EXACT)
        || starts_with_one_of(name, HEADS)
        || name.starts_with("-T")
}

/// True if an option turns debug information on, false if it turns it off. `None`
/// for options that only change its form (`-gz`, `-gsplit-dwarf`, …).
pub fn debug_info(name: &str) -> Option<bool> {
    const ON: &str = "-g --debug -gfull -gmodules -gused -glldb -gsce -gdbx";
    const HEADS: &str = "-g1 -g2 -g3 -ggdb -gdwarf -gline-";
    const SHAPES: &str = "-gdwarf-aranges -gdwarf32 -gdwarf64";
    match name {
        "-g0" | "-ggdb0" => Some(false),
        _ if is_one_of(name, SHAPES) => None,
        _ => (is_one_of(name, ON) || starts_with_one_of(name, HEADS)).then_some(true),
    }
}

/// Options that need line numbers: coverage notes and sample profiles.
pub fn reads_debug_info(name: &str) -> bool {
    const HEADS: &str = "\
        --coverage -coverage -ftest-coverage -fprofile-arcs -fprofile-sample-use -fauto-profile \
        -fdebug-info-for-profiling -fpseudo-probe";
    starts_with_one_of(name, HEADS)
}

/// Options of code generation, which the fast half's second compile gets.
pub fn is_codegen(name: &str) -> bool {
    !is_front_end(name) && !is_link_only(name)
}

/// The options of code generation that the symbolic half gets, too. It is optimised
/// before it is instrumented, it is always position independent, and it has no
/// sanitizers, profiles or debug information.
pub fn is_symbolic_codegen(name: &str) -> bool {
    const HEADS: &str = "\
        -O --optimize -g -fsanitize -fno-sanitize -fprofile -fno-profile -fcoverage --coverage \
        -coverage -ftest-coverage -fcs-profile -fauto-profile -fxray -fbasic-block \
        -fsplit-machine -fdebug- -save-temps -mllvm -mcmodel=kernel -mcmodel=small \
        -fpseudo-probe -fmemory-profile -fwhole-program";
    const EXACT: &str = "\
        -fPIC -fPIE -fpic -fpie -fno-pic -fno-pie -fno-PIC -fno-PIE -fno-integrated-as \
        -no-integrated-as -pg -p -mfentry -mnop-mcount -mrecord-mcount";
    is_codegen(name) && !is_one_of(name, EXACT) && !starts_with_one_of(name, HEADS)
}

/// The driver options that the link of the symbolic half keeps. It always makes a
/// dynamically linked PIE with lld, without sanitizers and profiles.
pub fn is_symbolic_link_option(name: &str) -> bool {
    const EXACT: &str = "\
        -static -static-pie -static-libstdc++ -no-pie -nopie -pie -s -pg -p -v -shared-libsan \
        -static-libsan -save-temps";
    const HEADS: &str = "\
        -fuse-ld= --ld-path= -fsanitize -fno-sanitize -fprofile -fcoverage --coverage \
        -coverage -ftest-coverage -fcs-profile -fxray -M -W -save-temps= -gsplit-dwarf";
    !is_one_of(name, EXACT) && !starts_with_one_of(name, HEADS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_options_take_a_value() {
        assert!(takes_value("-o") && takes_value("-Xclang") && !takes_value("-c"));
    }

    #[test]
    fn debug_information_is_turned_on_or_off() {
        for name in ["-g", "-g3", "-ggdb3", "-gdwarf-4", "-gline-tables-only"] {
            assert_eq!(debug_info(name), Some(true), "{name}");
        }
        assert_eq!(debug_info("-g0"), Some(false));
        for name in
            ["-gz", "-gsplit-dwarf", "-gno-column-info", "-gdwarf-aranges", "-grecord-command-line"]
        {
            assert_eq!(debug_info(name), None, "{name}");
        }
    }

    #[test]
    fn each_step_gets_its_own_options() {
        let steps = |name: &str| {
            (is_codegen(name), is_symbolic_codegen(name), is_symbolic_link_option(name))
        };
        let table = [
            ("-DX=1", (false, false, true)),
            ("-Iinclude", (false, false, true)),
            ("-Wall", (false, false, false)),
            ("-Wa,--noexecstack", (true, true, false)),
            ("-Wl,-z,now", (false, false, false)),
            ("-O2", (true, false, true)),
            ("-g", (true, false, true)),
            ("-march=native", (true, true, true)),
            ("-fPIC", (true, false, true)),
            ("-ffunction-sections", (true, true, true)),
            ("-fsanitize=address", (true, false, false)),
            ("--coverage", (true, false, false)),
            ("-lm", (false, false, true)),
            ("-static", (false, false, false)),
            ("-static-libstdc++", (false, false, false)),
            ("-shared", (false, false, true)),
            ("--sysroot=/x", (true, true, true)),
            ("-MD", (false, false, false)),
            ("-std=c11", (false, false, true)),
            ("-pthread", (true, true, true)),
        ];
        for (name, expected) in table {
            assert_eq!(steps(name), expected, "{name}");
        }
    }
}
