//! Names of the files that a compile writes beside its object. clang derives them
//! from the output's name. Under Pleach, clang's output is a scratch file, so this
//! module derives them from the user's output.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Context;
use super::error::Error;
use super::invocation::{Input, Invocation, Mode, stem};
use super::process::{Messages, Run};

/// `-MD` and `-MMD`: the dependency file's name and the target in it.
pub fn dependency_args(inv: &Invocation, input: &Input) -> Vec<OsString> {
    // The preprocessor's option contains the file's name.
    let preprocessor = |name: &str| name.starts_with("-Wp,-MD,") || name.starts_with("-Wp,-MMD,");
    let passed = inv.flags().any(|f| preprocessor(f.name()));
    let asked = inv.has_flag(&["-MD", "-MMD", "--write-dependencies", "--write-user-dependencies"]);
    if !asked && !passed {
        return Vec::new();
    }
    let given =
        |heads: [&str; 2]| inv.flags().any(|f| heads.iter().any(|h| f.name().starts_with(h)));
    let mut args = Vec::new();
    if !passed && !given(["-MF", "-MF"]) {
        let file = match &inv.output {
            Some(output) => PathBuf::from(output).with_extension("d"),
            None => PathBuf::from(append(stem(&input.path), ".d")),
        };
        args.extend(["-MF".into(), file.into()]);
    }
    if !given(["-MT", "-MQ"]) {
        let target = inv.output.clone().unwrap_or_else(|| append(stem(&input.path), ".o"));
        args.extend(["-MQ".into(), target]);
    }
    args
}

/// `-MJ`: writes the compilation database for the user's own command. clang's
/// driver makes it without compiling anything. The options added for this are
/// removed from the result.
pub fn write_compilation_database(cx: &Context, words: &[OsString]) -> Result<(), Error> {
    const DRIVER_ONLY: &str = "-fdriver-only";
    let Some(path) = cx.inv.flags().filter_map(|f| f.joined("-MJ")).last() else { return Ok(()) };
    let file = cx.scratch.path().join("database.json");
    let mut args: Vec<OsString> = vec![DRIVER_ONLY.into(), "-Qunused-arguments".into()];
    args.extend(words.iter().filter(|w| !super::is_pleach_option(w)).cloned());
    args.extend(["-MJ".into(), file.clone().into()]);
    let log = cx.scratch.path().join("database.log");
    if !Run::start(cx.clang(), &args, Messages::File(&log), &cx.scratch)?.wait()?.success() {
        // The compile will report the error.
        return Ok(());
    }
    let text = std::fs::read_to_string(&file).map_err(Error::io("read", &file))?;
    let added = [DRIVER_ONLY, "-Qunused-arguments"].map(|word| format!("\"{word}\", "));
    let text = added.iter().fold(text, |text, word| text.replace(word, ""));
    std::fs::write(path, text).map_err(Error::io("write", PathBuf::from(path)))
}

/// Arguments that name the files of `--coverage`, `-gsplit-dwarf` and
/// `-fstack-usage`. In a link, a source's files are named after the executable and
/// the source. `codegen` is true for the step that writes machine code.
pub fn side_file_args(inv: &Invocation, input: &Input, codegen: bool) -> Vec<OsString> {
    let source = stem(&input.path);
    let base = match (&inv.output, inv.mode) {
        (None, Mode::Link) => append("a-".into(), &source.to_string_lossy()),
        (Some(output), Mode::Link) => {
            append(append(output.clone(), "-"), &source.to_string_lossy())
        }
        (Some(output), _) => PathBuf::from(output).with_extension("").into(),
        (None, _) => source,
    };
    let mut cc1 = Vec::new();
    if codegen && inv.has_flag(&["-fstack-usage"]) {
        let file = inv.output.as_ref().map_or_else(|| stem(&input.path), OsString::clone);
        let file = PathBuf::from(file).with_extension("su");
        cc1.extend(["-stack-usage-file".into(), file.into()]);
    }
    if inv.has_flag(&["--coverage", "-coverage", "-ftest-coverage", "-fprofile-arcs"]) {
        let absolute = std::path::absolute(&base).unwrap_or_else(|_| base.clone().into());
        for (option, extension) in
            [("-coverage-notes-file=", ".gcno"), ("-coverage-data-file=", ".gcda")]
        {
            let mut arg = OsString::from(option);
            arg.push(append(absolute.clone().into(), extension));
            cc1.push(arg);
        }
    }
    let split = inv
        .flags()
        .map(|f| f.name())
        .filter(|n| n.starts_with("-g") && n.contains("split-dwarf"))
        .last();
    let debug =
        inv.flags().any(|f| f.name().starts_with("-g") && !f.name().contains("split-dwarf"));
    if debug && matches!(split, Some("-gsplit-dwarf" | "-gsplit-dwarf=split")) {
        let file = append(base, ".dwo");
        cc1.extend(["-split-dwarf-file".into(), file.clone()]);
        if codegen {
            cc1.extend(["-split-dwarf-output".into(), file]);
        }
    }
    cc1.into_iter().flat_map(|arg| ["-Xclang".into(), arg]).collect()
}

fn append(mut name: OsString, more: &str) -> OsString {
    name.push(more);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    fn check(args: fn(&Invocation, &Input) -> Vec<OsString>, line: &str, expected: &str) {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let inv = Invocation::parse(Language::C, &words);
        let got = args(&inv, inv.inputs().next().unwrap());
        let got: Vec<_> = got.iter().map(|a| a.to_str().unwrap()).collect();
        assert_eq!(got.join(" "), expected, "{line}");
    }

    #[test]
    fn dependencies_are_named_after_the_output() {
        let check = |line, expected| check(dependency_args, line, expected);
        check("-c dir/a.c", "");
        check("-c -MD dir/a.c", "-MF a.d -MQ a.o");
        check("-c -MMD dir/a.c -o out/b.o", "-MF out/b.d -MQ out/b.o");
        check("-c -MD -MF x.d a.c -o b.o", "-MQ b.o");
        check("-c -MD -MT t a.c -o b.o", "-MF b.d");
        check("-c -Wp,-MD,x.d a.c -o b.o", "-MQ b.o");
    }

    #[test]
    fn stack_usage_is_named_after_the_output() {
        let check = |line, expected| check(|i, s| side_file_args(i, s, true), line, expected);
        check("-c -fstack-usage d/a.c", "-Xclang -stack-usage-file -Xclang a.su");
        check("-c -fstack-usage a.c -o d/b.o", "-Xclang -stack-usage-file -Xclang d/b.su");
        check("-fstack-usage a.c -o d/exe", "-Xclang -stack-usage-file -Xclang d/exe.su");
    }

    #[test]
    fn split_debug_information_is_named_after_the_output() {
        let check = |line, expected| check(|i, s| side_file_args(i, s, false), line, expected);
        check("-c -g -gsplit-dwarf a.c -o d/b.o", "-Xclang -split-dwarf-file -Xclang d/b.dwo");
        check("-g -gsplit-dwarf a.c -o d/exe", "-Xclang -split-dwarf-file -Xclang d/exe-a.dwo");
        check("-c -g a.c", "");
        check("-c -gsplit-dwarf a.c", "");
    }
}
