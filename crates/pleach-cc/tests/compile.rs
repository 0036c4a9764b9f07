//! Compiling: every mode of clang, its messages, and the files that it writes.

mod common;
use common::*;

const A: (&str, &str) = ("a.c", "int f(int x) { if (x > 3) return 1; return 2; }\n");
const B: (&str, &str) = ("b.c", "int g(int x) { return x ? 5 : 7; }\n");
const MAIN: (&str, &str) = ("main.c", HELLO);
const WARNS: (&str, &str) = ("w.c", "int f(void) { int unused; return \"x\" - 0 == 0; }\n");
const BROKEN: (&str, &str) =
    ("e.c", "int f(void) { return undeclared; }\nint g(void) { return 1 }\n");

#[test]
fn a_compile_writes_only_a_fat_object() {
    same_as_clang(&[A], "-c a.c");
    same_as_clang(&[A], "-O2 -g -c a.c -o out.o");
    let d = dir(&[A]);
    d.cc("-c a.c").quiet();
    assert!(is_fat(&d.read("a.o")));
    d.cc("-c a.c -o plain.o -fno-pleach-symbolic").quiet();
    assert!(!is_fat(&d.read("plain.o")));
}

#[test]
fn messages_are_clangs_own() {
    for line in [
        "-c e.c",
        "e.c",
        "-c w.c -Wall",
        "-c w.c -Wall -Werror",
        "w.c -Wall -c -o x.o -fcolor-diagnostics",
        "-c e.c w.c -Wall",
        "w.c e.c -Wall",
        "-c missing.c",
        "-c",
        "",
        "-c a.c missing.c",
        "-c a.c -o no/dir/a.o",
        "-c a.c b.c -o both.o",
        "-c a.c -fno-such-option",
        "-c a.c -lm",
        "-c a.c -lm -Werror",
        "-c a.c -shared",
        "-c a.c -Wl,-z,now",
        "-c a.c b.o",
        "-c a.c -Wno-such-warning",
        "-c a.c -std=c++11",
        "-c -x nolang a.c",
        "-c a.c -o",
        "-fsyntax-only w.c -Wall",
        "-c bad.c",
        "-c a.c -O9",
        "-S a.c -lm",
        "b.o missing.o",
        "-c asm.c -Wall",
        "-c a.c -Wa,--noexecstack -Werror",
        "-c a.c -fstack-protector-strong -pipe -Werror",
        "-c a.c -Wa,-bad-option",
        "-c a.c -D",
        "-c bad.s",
        "-c a.c -march=nosuch",
    ] {
        let asm = ("asm.c", "void f(void) {\n  __asm__(\"no such instruction\");\n}\n");
        let files = [
            A,
            B,
            WARNS,
            BROKEN,
            ("b.o", ""),
            ("bad.c", "#error told\n#include <none.h>\n"),
            asm,
            ("bad.s", "no such instruction\n"),
        ];
        same_as_clang(&files, line);
    }
}

#[test]
fn assembler_errors_are_reported_once() {
    let d = dir(&[("asm.c", "void f(void) {\n  int u;\n  __asm__(\"no such instruction\");\n}\n")]);
    let done = d.cc("-c asm.c -Wall").fails(1, "asm.c:3:11: error: ");
    for text in ["warning: unused variable", "error: "] {
        assert_eq!(done.stderr.matches(text).count(), 1, "{}", done.stderr);
    }
}

#[test]
fn several_sources_are_compiled_at_once() {
    same_as_clang(&[A, B], "-c a.c b.c");
    let d = dir(&[A, B]);
    d.cc("-c a.c b.c").quiet();
    assert!(is_fat(&d.read("a.o")) && is_fat(&d.read("b.o")));
    // One bad source does not keep the others from being compiled.
    same_as_clang(&[BROKEN, WARNS], "-c e.c w.c");
}

#[test]
fn commands_without_instrumentation_go_to_clang() {
    for line in [
        "-fsyntax-only a.c",
        "-M a.c",
        "-MM main.c -MT x",
        "-dumpmachine",
        "--version",
        "-dumpversion",
        "-print-search-dirs",
        "-print-file-name=libc.so",
        "-v",
        "-c -emit-llvm a.c",
        "-S -emit-llvm a.c -o -",
        "-x c-header a.c -o a.pch",
        "h.h",
        "--help",
        "-print-prog-name=ld",
        "-Wl,--version",
        "-print-multi-os-directory",
        "-E a.c",
        "-E -P a.c -o a.i",
    ] {
        same_as_clang(&[A, MAIN, ("h.h", "int h;\n")], line);
    }
}

#[test]
fn the_macros_of_pleach_are_defined() {
    let d = dir(&[("p.c", "__PLEACH__ __AFL_HAVE_MANUAL_CONTROL\n")]);
    assert!(d.cc("-E -P p.c").ok().stdout.contains("1 1"));
    assert_eq!(same_with_input(&[], "-E -P -", "x\n").stdout, "x\n");
}

#[test]
fn dependency_files_are_the_same_as_clangs() {
    let files = [
        ("d.c", "#include \"h.h\"\n#include <stddef.h>\nint main(void) { return h; }\n"),
        ("h.h", "enum { h };\n"),
        ("sub/d.c", "#include \"../h.h\"\n"),
        ("out/keep", ""),
    ];
    for line in [
        "-MD -c d.c",
        "-MMD -c d.c -o out/x.o",
        "-MD -MP -MF deps.d -c d.c -o x.o",
        "-MMD -MT a -MT b -c d.c",
        "-MMD -MQ $x -c d.c",
        "-MD -c sub/d.c",
        "-Wp,-MMD,k.d -c d.c -o x.o",
        "-MMD d.c -o out/exe",
        "-MMD d.c",
        "-MMD -c sub/d.c -o out/x.y.o",
        "-MMD -MF - -c d.c",
        "-MM d.c -MF x.d",
        "-M -MG d.c",
        "-MMD -S d.c",
        "-MMD -c d.c sub/d.c",
    ] {
        same_as_clang(&files, line);
    }
}

#[test]
fn compilation_databases_are_the_same_as_clangs() {
    for line in ["-c -MJ db.json -O2 a.c -o x.o", "-MJdb.json -fno-pic -c a.c main.c"] {
        let (ours, theirs) = (dir(&[A, MAIN]), dir(&[A, MAIN]));
        ours.cc(line).quiet();
        theirs.run(&mut clang(), line, "").quiet();
        let text = |d: &Dir| {
            let text = String::from_utf8(d.read("db.json")).unwrap();
            text.replace(d.path().to_str().unwrap(), "DIR")
        };
        assert_eq!(text(&ours), text(&theirs), "{line}");
    }
}

#[test]
fn stack_usage_files_are_beside_the_output() {
    for line in ["-c a.c", "-c sub/a.c -o out/x.o", "main.c -o out/exe", "-S a.c"] {
        let files =
            [A, ("main.c", "int main(void) { return 0; }\n"), ("sub/a.c", A.1), ("out/keep", "")];
        same_as_clang(&files, &format!("-fstack-usage {line}"));
    }
}

#[test]
fn output_and_input_may_be_streams() {
    let d = dir(&[A]);
    let object = d.cc("-c a.c -o -").ok().raw;
    assert!(is_fat(&object));
    assert!(d.cc("-S a.c -o -").ok().stdout.contains("f:"));
    let from_stdin = d.run(driver("pleach-cc").args(["-x", "c"]), "-c - -o s.o", A.1);
    from_stdin.quiet();
    assert!(is_fat(&d.read("s.o")));
    same_with_input(&[], "-x c -c -", A.1);
    same_with_input(&[], "-x c -c -", BROKEN.1);
    same_with_input(&[], "-c -", A.1);
}

#[test]
fn assembly_output_is_that_of_the_fast_half() {
    same_as_clang(&[A, B], "-S a.c b.c");
    let d = dir(&[A]);
    d.cc("-O1 -S a.c -o x.s").quiet();
    let text = String::from_utf8(d.read("x.s")).unwrap();
    assert!(text.contains("f:") && !text.contains("__pleach_m_"));
    d.cc("-c x.s").quiet();
    assert!(!is_fat(&d.read("x.o")));
}

#[test]
fn the_language_comes_from_the_file_name_or_an_option() {
    let c = "int f(void) { int class = 1; return class; }\n";
    let cxx = "template <class T> T f(T x) { return x > 1 ? x : 1; }\ntemplate int f(int);\n";
    let d = dir(&[
        ("c.txt", c),
        ("x.txt", cxx),
        ("x.cc", cxx),
        ("t.i", c),
        ("a.S", ".globl s\ns: ret\n#ifdef X\n#endif\n"),
    ]);
    d.cc("-c -x c c.txt -o 1.o").quiet();
    d.cc("-c -xc++ x.txt -o 2.o").quiet();
    d.cc("-c x.cc -o 3.o").quiet();
    d.cc("-c t.i -o 4.o").quiet();
    d.cc("-c -x c++ x.txt -x none t.i").quiet();
    for object in ["1.o", "2.o", "3.o", "4.o", "x.o", "t.o"] {
        assert!(is_fat(&d.read(object)), "{object}");
    }
    d.cc("-c a.S -o 5.o").quiet();
    d.cc("-c -x assembler-with-cpp a.S -o 6.o").quiet();
    assert!(!is_fat(&d.read("5.o")) && !is_fat(&d.read("6.o")));
    d.cxx("-c -x c c.txt -o 7.o").quiet();
    d.cc("-c x.cc -x c c.txt").quiet();
}

#[test]
fn llvm_ir_is_instrumented() {
    let d = dir(&[A]);
    d.run(&mut clang(), "-O1 -c -emit-llvm a.c -o a.bc", "").quiet();
    d.run(&mut clang(), "-O1 -S -emit-llvm a.c -o a.ll", "").quiet();
    d.cc("-c a.bc -o 1.o").ok();
    d.cc("-c -O2 a.ll -o 2.o").ok();
    assert!(is_fat(&d.read("1.o")) && is_fat(&d.read("2.o")));
    let broken = [("bad.ll", "define i32 @f() { ret i64 0 }\n")];
    same_as_clang(&broken, "-c bad.ll");
}

#[test]
fn precompiled_headers_work() {
    let d = dir(&[
        ("h.h", "static inline int h(void) { return 4; }\n"),
        ("u.c", "int f(void) { return h(); }\n"),
    ]);
    d.cc("-x c-header h.h -o h.h.pch").quiet();
    d.cc("-include h.h -c u.c").quiet();
    d.cc("-include-pch h.h.pch -c u.c").quiet();
}

#[test]
fn files_beside_the_object_have_the_same_names_as_clangs() {
    for line in [
        "-g -gsplit-dwarf -c a.c -o out/x.o",
        "-g -gsplit-dwarf -c a.c",
        "--coverage -c a.c -o out/x.o",
        "--coverage -c a.c",
        "-g -gsplit-dwarf main.c -o out/exe",
        "--coverage main.c -o out/exe",
    ] {
        same_as_clang(&[A, MAIN, ("out/keep", "")], line);
    }
    let d = dir(&[MAIN]);
    d.cc("--coverage main.c -o exe").quiet();
    assert_eq!(d.exec("exe").status, 1);
    assert!(d.exists("exe-main.gcda"));
}

#[test]
fn temporary_files_are_saved_on_request() {
    let d = dir(&[MAIN]);
    d.cc("-save-temps -c main.c").ok();
    for name in ["main.i", "main.s", "main.o"] {
        assert!(d.exists(name), "{name}");
    }
    assert!(is_fat(&d.read("main.o")));
}

#[test]
fn response_files_may_name_other_response_files() {
    let d = dir(&[
        ("a b.c", A.1),
        ("outer", "-c @inner\n"),
        ("inner", "\"a b.c\" -o 'x y.o' -DQ=\\\"q\\\"\n"),
    ]);
    d.cc("@outer").quiet();
    assert!(is_fat(&d.read("x y.o")));
    same_as_clang(&[A], "-c a.c @missing");
}

#[test]
fn options_for_code_generation_reach_both_halves() {
    let d = dir(&[A]);
    for line in [
        "-O3 -march=x86-64-v3 -fPIC",
        "-Os -fno-pic -mcmodel=medium",
        "-ffunction-sections -fdata-sections -g3",
        "-fsanitize=address,undefined",
        "-fsanitize=undefined -fno-sanitize-recover=all",
        "-fsanitize=fuzzer-no-link",
        "-fprofile-generate",
        "-fprofile-instr-generate -fcoverage-mapping",
        "-fno-integrated-as",
        "-pg",
        "-Wall -Wextra -Weverything -Wno-unsafe-buffer-usage -Wno-missing-prototypes -Werror -std=c99 -pedantic",
        "-fvisibility=hidden -fno-plt -fstack-protector-all",
        "-fopenmp -pthread",
        "-Xclang -disable-O0-optnone",
        "-mllvm -inline-threshold=10",
        "-fno-exceptions -fno-asynchronous-unwind-tables -mno-red-zone -mstackrealign",
        "-fsanitize=thread",
        "-fsanitize=memory",
        "-finstrument-functions",
        "-ftrapv -fwrapv",
        "-gz -gdwarf-4",
        "--target=x86_64-linux-gnu",
        "-m64 -fcf-protection=full -ftime-trace",
        "-include stdio.h -isystem . -idirafter .",
    ] {
        let done = d.cc(&format!("-c a.c -o x.o {line}"));
        assert_eq!((done.status, done.stderr.as_str()), (0, ""), "{line}");
        assert!(is_fat(&d.read("x.o")), "{line}");
    }
}

#[test]
fn the_same_source_gives_the_same_bytes() {
    let d = dir(&[A, B, MAIN]);
    for name in ["1", "2"] {
        d.cc(&format!("-O2 -g -c a.c -o {name}.o")).quiet();
        d.cc(&format!("-O2 main.c a.c b.c -o {name}.out")).quiet();
    }
    assert!(d.read("1.o") == d.read("2.o"));
    assert!(d.read("1.out") == d.read("2.out"));
}

#[test]
fn link_time_optimisation_is_ignored_with_one_warning() {
    let d = dir(&[A, B]);
    let done = d.cc("-flto=thin -c a.c b.c -Werror -fwhole-program-vtables -fsanitize=cfi").ok();
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    assert!(done.stderr.contains("warning: -flto is ignored"));
    assert!(is_fat(&d.read("a.o")));
}

#[test]
fn programs_prepared_for_afl_compile() {
    let text = "#include <unistd.h>\n__AFL_FUZZ_INIT();\n\
        int main(void) {\n#ifdef __AFL_HAVE_MANUAL_CONTROL\n  __AFL_INIT();\n#endif\n\
        unsigned char *buf = __AFL_FUZZ_TESTCASE_BUF;\n\
        while (__AFL_LOOP(1000)) { int len = __AFL_FUZZ_TESTCASE_LEN; if (len > 3 && buf[0] == 'x') return 7; }\n\
        return 0; }\n";
    let d = dir(&[("l.c", text), ("l.cc", text)]);
    d.cc("-Wall -Wextra -pedantic -Werror -c l.c -o c.o").quiet();
    d.cxx("-Wall -Wextra -pedantic -Werror -c l.cc -o cc.o").quiet();
}

#[test]
fn nothing_is_left_in_the_scratch_directory() {
    let d = dir(&[MAIN, BROKEN, ("tmp/keep", "")]);
    for line in ["-c main.c", "main.c", "-c e.c", "-S main.c"] {
        d.run(driver("pleach-cc").env("TMPDIR", d.join("tmp")), line, "");
    }
    let left: Vec<_> =
        std::fs::read_dir(d.join("tmp")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["keep"]);
}

#[test]
fn a_signal_leaves_nothing_behind() {
    let d = dir(&[("tmp/keep", "")]);
    // The front end waits for its input, so the signal arrives while it runs.
    let mut child = driver("pleach-cc")
        .args(["-c", "-x", "c", "-", "-o", "x.o"])
        .env("TMPDIR", d.join("tmp"))
        .current_dir(d.path())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let scratch = || std::fs::read_dir(d.join("tmp")).unwrap().count();
    while scratch() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // Kept open: `wait` would close it, and the front end would continue.
    let _input = child.stdin.take();
    // Safety: a child of this process.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(libc::SIGTERM));
    assert_eq!(scratch(), 1);
    assert!(!d.exists("x.o"));
}

#[test]
fn unsupported_targets_are_refused() {
    let d = dir(&[A]);
    for line in [
        "-m32",
        "--target=aarch64-linux-gnu",
        "-target i686-linux-gnu",
        "--target=x86_64-linux-musl",
    ] {
        let done = d.cc(&format!("-c a.c {line}")).fails(2, "is not supported");
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
        assert!(!d.exists("a.o"));
    }
    d.cc("-m32 -E a.c").ok();
}

#[test]
fn a_missing_or_wrong_llvm_is_reported() {
    let d = dir(&[A, ("bin/clang", "#!/bin/sh\necho clang version 14.0.6\n")]);
    std::process::Command::new("chmod").arg("+x").arg(d.join("bin/clang")).status().unwrap();
    for prefix in [d.join("none"), d.path().to_owned()] {
        let done = d.run(driver("pleach-cc").env("PLEACH_LLVM", prefix), "-c a.c", "");
        let done = done.fails(2, "LLVM 22 is needed");
        assert!(done.stderr.contains("apt-get install clang-22"), "{}", done.stderr);
    }
}
