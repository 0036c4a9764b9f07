//! Linking: objects, archives, relocatable output, shared libraries and their twins,
//! in the ways that build systems combine them.

mod common;
use common::*;

const LIB: (&str, &str) = ("lib.c", "int lib(int x) { if (x > 2) return x * 2; return 40; }\n");
const MORE: (&str, &str) = ("more.c", "int more(int x) { return x == 2 ? 2 : 3; }\n");
const USER: (&str, &str) = (
    "user.c",
    "#include <stdio.h>\nint lib(int); int more(int);\n\
     int main(int argc, char **argv) { (void)argv; printf(\"%d\\n\", lib(argc) + more(argc + 1)); return 3; }\n",
);

/// Checks that both halves of the program print 42.
#[track_caller]
fn prints_42(d: &Dir, twins: &[&str]) {
    let done = d.run_both("prog", "", twins);
    assert_eq!((done.status, done.stdout.as_str()), (3, "42\n"));
}

fn sources() -> Dir {
    dir(&[LIB, MORE, USER])
}

fn objects() -> Dir {
    let d = sources();
    d.cc("-c lib.c more.c user.c").quiet();
    d
}

#[test]
fn sources_objects_and_archives_can_be_mixed() {
    let d = objects();
    d.cc("lib.c more.c user.c -o prog").quiet();
    prints_42(&d, &[]);
    d.cc("lib.o more.o user.o -o prog").quiet();
    prints_42(&d, &[]);
    d.exec("ar rcs libmore.a more.o").quiet();
    d.cc("user.c lib.o libmore.a -o prog").quiet();
    prints_42(&d, &[]);
    d.cc("user.c -O2 -g lib.o -L. -lmore -o prog").quiet();
    prints_42(&d, &[]);
    d.cc("user.c lib.o more.c").quiet();
    assert_eq!(d.run_both("a.out", "", &[]).stdout, "42\n");
}

#[test]
fn archives_come_in_many_forms() {
    let d = objects();
    d.write("sub/keep", "");
    std::fs::copy(d.join("lib.o"), d.join("sub/same.o")).unwrap();
    std::fs::copy(d.join("more.o"), d.join("same.o")).unwrap();
    std::fs::copy(d.join("lib.o"), d.join("a_name_that_is_longer_than_sixteen.o")).unwrap();
    let llvm_ar = llvm("llvm-ar").to_str().unwrap().to_owned();
    for (make, arguments) in [
        ("ar rcs libx.a lib.o more.o".to_owned(), "user.o libx.a"),
        ("ar qc libx.a sub/same.o same.o".to_owned(), "user.o libx.a"),
        ("ar rcsT libx.a sub/same.o same.o".to_owned(), "user.o libx.a"),
        ("ar rcs libx.a a_name_that_is_longer_than_sixteen.o more.o".to_owned(), "user.o -L. -lx"),
        (format!("{llvm_ar} rcs libx.a lib.o more.o"), "user.o -L. -l:libx.a"),
        (
            format!("{llvm_ar} rcs --thin libx.a lib.o same.o"),
            "user.o -Wl,-Bstatic -L. -lx -Wl,-Bdynamic",
        ),
        (
            "ar rcs libx.a lib.o more.o".to_owned(),
            "user.o -Wl,--whole-archive,libx.a,--no-whole-archive",
        ),
        (
            "ar rcs libx.a lib.o more.o".to_owned(),
            "user.o -Wl,--whole-archive libx.a -Wl,--no-whole-archive",
        ),
        (
            "ar rcs libx.a lib.o more.o".to_owned(),
            "-Wl,--start-group user.o -Wl,-L. -Wl,-lx -Wl,--end-group",
        ),
        ("ar rcs libx.a lib.o more.o user.o".to_owned(), "-Xlinker libx.a"),
    ] {
        let _ = std::fs::remove_file(d.join("libx.a"));
        d.exec(&make).ok();
        d.exec("ranlib libx.a").ok();
        let done = d.cc(&format!("{arguments} -o prog"));
        assert_eq!((done.status, done.stderr.as_str()), (0, ""), "{make}; {arguments}");
        prints_42(&d, &[]);
    }
}

#[test]
fn only_needed_members_are_linked() {
    // The second member defines main, too, so it must not be linked.
    let d = sources();
    d.write("other.c", "int other(void) { return 1; } int main(void) { return 9; }\n");
    d.cc("-c lib.c more.c user.c other.c").quiet();
    d.exec("ar rcs libx.a lib.o other.o more.o").quiet();
    d.cc("user.o libx.a -o prog").quiet();
    prints_42(&d, &[]);
}

#[test]
fn relocatable_output_keeps_all_symbolic_halves() {
    let d = objects();
    d.exec("ld -r lib.o more.o -o joined.o").quiet();
    d.cc("user.o joined.o -o prog").quiet();
    prints_42(&d, &[]);
    d.cc("-r -nostdlib lib.o more.o -o joined.o").quiet();
    d.cc("user.o joined.o -o prog").quiet();
    prints_42(&d, &[]);
    d.cc("-r lib.c more.c -o joined.o").quiet();
    assert!(is_fat(&d.read("joined.o")));
    d.cc("user.o joined.o -o prog").quiet();
    prints_42(&d, &[]);
    d.cc("-fuse-ld=lld -r lib.o more.o -o joined.o").quiet();
    d.exec("ar rcs libj.a joined.o").quiet();
    d.cc("user.o libj.a -o prog").quiet();
    prints_42(&d, &[]);
}

#[test]
fn links_of_all_kinds_have_a_symbolic_half() {
    let d = sources();
    d.write("script.ld", "SECTIONS { .mine : { KEEP(*(.mine)) } } INSERT AFTER .text;\n");
    for options in [
        "-static",
        "-no-pie -fno-pic",
        "-static-pie -fPIE",
        "-s",
        "-Wl,--gc-sections -ffunction-sections",
        "-fuse-ld=lld",
        "-fuse-ld=lld -Wl,--gc-sections,--icf=all",
        "-Wl,-Map,map.txt",
        "-rdynamic -pthread",
        "-Wl,--as-needed -lm -Wl,-z,now -Wl,-z,relro",
        "-Wl,-z,defs",
        "-T script.ld",
        "-Wl,--build-id=sha1 -g -gz",
        "-fsanitize=address",
        "-fsanitize=undefined",
        "-fsanitize=address,undefined -fno-omit-frame-pointer -g",
        "--coverage",
        "-fprofile-generate",
        "-O3 -march=native",
        "-Wl,--no-undefined -Wl,--fatal-warnings",
        "-Wl,--dependency-file=deps.d -fuse-ld=lld",
        "-Wl,--hash-style=gnu -Wl,-O1",
        "-pg",
        "-gsplit-dwarf -g",
        "-static-libgcc -pie",
        "-nostartfiles /usr/lib/x86_64-linux-gnu/Scrt1.o /usr/lib/x86_64-linux-gnu/crti.o \
         /usr/lib/x86_64-linux-gnu/crtn.o",
    ] {
        let done = d.cc(&format!("lib.c more.c user.c -o prog {options}"));
        assert_eq!((done.status, done.stderr.as_str()), (0, ""), "{options}");
        prints_42(&d, &[]);
    }
    assert!(d.exists("map.txt") && d.exists("deps.d"));
}

#[test]
fn a_program_without_instrumentation_is_linked_by_clang_alone() {
    let d = sources();
    d.run(&mut clang(), "-c lib.c more.c user.c", "").quiet();
    d.cc("lib.o more.o user.o -o prog").quiet();
    assert!(d.symbolic("prog").is_none());
    assert_eq!(d.exec("prog").stdout, "42\n");
    d.cc("-shared -fPIC lib.o -o libp.so").quiet();
    assert!(d.symbolic("libp.so").is_none());
    // Plain and fat objects together: the plain ones are linked into both halves.
    d.cc("-c user.c").quiet();
    d.cc("lib.o more.o user.o -o prog").quiet();
    prints_42(&d, &[]);
}

#[test]
fn shared_libraries_contain_their_twins() {
    let d = sources();
    d.cc("-fPIC -c lib.c more.c").quiet();
    d.cc("-shared lib.o -o liblib.so").quiet();
    d.cc("-shared -Wl,-soname,libmore.so -Wl,-z,defs -fPIC more.c -o libmore.so").quiet();
    for line in [
        "user.c ./liblib.so ./libmore.so -Wl,-rpath,$ORIGIN",
        "user.c -L. -llib -lmore -Wl,-rpath,$ORIGIN",
        "user.c -L . -l lib -l:libmore.so -Wl,-rpath=$ORIGIN",
    ] {
        d.cc(&format!("{line} -o prog")).quiet();
        prints_42(&d, &["liblib.so", "libmore.so"]);
    }
    // A library that needs a library.
    d.write("top.c", "int lib(int); int top(int x) { return x > 0 ? lib(x) : 0; }\n");
    d.cc("-shared -fPIC top.c -L. -llib -Wl,-rpath,$ORIGIN -o libtop.so").quiet();
    d.write(
        "usetop.c",
        "int top(int); int main(int argc, char **argv) { (void)argv; return top(argc); }\n",
    );
    d.cc("usetop.c -L. -ltop -Wl,-rpath,$ORIGIN -Wl,-rpath-link,. -o prog").quiet();
    assert_eq!(d.run_both("prog", "", &["libtop.so", "liblib.so"]).status, 40);
    // Loaded into a program that was not compiled by pleach-cc.
    d.write("host.c", "int lib(int); int main(void) { return lib(1); }\n");
    d.run(&mut clang(), "host.c -L. -llib -Wl,-rpath,$ORIGIN -o host", "").quiet();
    assert_eq!(d.exec("host").status, 40);
}

#[test]
fn a_library_runs_in_programs_without_a_runtime() {
    // `poll` has a model in the fast runtime, which such a program does not have.
    let d = dir(&[
        ("net.c", "#include <poll.h>\nint net(int n) { return n > 0 ? poll(0, 0, n) + 6 : 0; }\n"),
        ("host.c", "int net(int); int main(void) { return net(1); }\n"),
        (
            "own.c",
            "struct pollfd; int poll(struct pollfd *p, unsigned long n, int t) { return p || n ? 0 : t + 50; }\n",
        ),
    ]);
    d.cc("-shared -fPIC -Wl,-z,defs net.c -o libnet.so").quiet();
    d.run(&mut clang(), "host.c ./libnet.so -Wl,-rpath,$ORIGIN -o host", "").quiet();
    assert_eq!(d.exec("host").status, 6);
    d.cc("host.c ./libnet.so -Wl,-rpath,$ORIGIN -o prog").quiet();
    assert_eq!(d.run_both("prog", "", &["libnet.so"]).status, 6);
    // A library and a program with their own `poll` use that one.
    d.cc("-shared -fPIC net.c own.c -o libnet.so").quiet();
    assert_eq!(d.exec("host").status, 57);
    d.cc("host.c ./libnet.so -Wl,-rpath,$ORIGIN -o prog").quiet();
    assert_eq!(d.run_both("prog", "", &["libnet.so"]).status, 57);
    d.cc("host.c net.c own.c -o prog").quiet();
    assert_eq!(d.run_both("prog", "", &[]).status, 57);
    d.cc("host.c net.c own.c -static -o prog").quiet();
    assert_eq!(d.run_both("prog", "", &[]).status, 57);
}

#[test]
fn version_scripts_may_name_missing_symbols() {
    let d = sources();
    d.write("v.map", "V1 { global: lib; gone; local: *; };\n");
    d.cc("-shared -fPIC lib.c -Wl,--version-script=v.map -o liblib.so").quiet();
    d.cc("user.c more.c -L. -llib -Wl,-rpath,$ORIGIN -o prog").quiet();
    prints_42(&d, &["liblib.so"]);
}

#[test]
fn link_errors_are_clangs_own() {
    let files = [USER, LIB];
    let done = same_status(&files, "user.c lib.c -o prog");
    assert!(done.stderr.contains("undefined reference to `more'"), "{}", done.stderr);
    same_as_clang(&files, "user.c -lno_such_library -o prog -Wl,--error-limit=1 -fuse-ld=none");
    let done = same_status(&[], "-lno_such_library -o prog");
    assert!(done.stderr.contains("cannot find -lno_such_library"), "{}", done.stderr);
}

/// As [`same_as_clang`], for messages that contain names of scratch files.
#[track_caller]
fn same_status(files: &[(&str, &str)], line: &str) -> Done {
    let d = dir(files);
    let ours = d.cc(line);
    let theirs = d.run(&mut clang(), line, "");
    assert_eq!(ours.status, theirs.status);
    assert_eq!(ours.stderr.lines().count(), theirs.stderr.lines().count(), "{}", ours.stderr);
    assert!(!d.exists("prog"));
    ours
}

#[test]
fn a_symbolic_half_that_cannot_be_linked_is_an_error() {
    let d = sources();
    // Code for a fixed address: fine in the fast half, impossible in a PIE.
    d.write("abs.s", ".globl where\nwhere: mov $table, %eax\nret\n.data\ntable: .long 1\n.section .note.GNU-stack,\"\",@progbits\n");
    d.write("m.c", "int where(void); int main(void) { return where() == 0; }\n");
    let done = d.cc("-no-pie -fno-pic m.c abs.s -o prog").fails(1, "cannot link the symbolic half");
    assert!(done.stderr.contains("-fno-pleach-symbolic"), "{}", done.stderr);
    assert!(!d.exists("prog"));
    d.cc("-no-pie -fno-pic m.c abs.s -o prog -fno-pleach-symbolic").quiet();
    assert!(d.symbolic("prog").is_none());
    assert_eq!(d.exec("prog").status, 0);
    let quiet = d.run(
        driver("pleach-cc").env("PLEACH_SYMBOLIC", "0"),
        "-no-pie -fno-pic m.c abs.s -o prog",
        "",
    );
    quiet.quiet();
}

#[test]
fn programs_without_libc_are_not_instrumented() {
    let d = dir(&[(
        "k.c",
        "int f(int x) { return x ? 1 : 2; }\nvoid _start(void) { __asm__ volatile(\
        \"mov $60, %%eax\\n mov $7, %%edi\\n syscall\" ::: \"memory\"); }\n",
    )]);
    d.cc("-nostdlib -static -ffreestanding k.c -o prog").quiet();
    assert!(d.symbolic("prog").is_none());
    assert_eq!(d.exec("prog").status, 7);
}

#[test]
fn output_may_be_a_device() {
    let d = sources();
    d.cc("-o /dev/null lib.c more.c user.c").quiet();
    d.cc("-c -o /dev/null lib.c").quiet();
    d.cc("lib.c more.c user.c -fuse-ld=lld -static -Wl,-z,norelro,--oformat=binary -o blob")
        .quiet();
}

#[test]
fn a_function_of_the_program_replaces_a_model() {
    // The program or a library defines strlen: both halves must call that one.
    let own = (
        "own.c",
        "unsigned long strlen(const char *s) { unsigned long n = 100; while (*s++) n++; return n; }\n",
    );
    let user = (
        "u.c",
        "unsigned long strlen(const char *);\n\
        int main(int argc, char **argv) { return argc > 0 ? (int)strlen(argv[argc - 1]) : 0; }\n",
    );
    let d = dir(&[own, user]);
    d.cc("-fno-builtin -c own.c u.c").quiet();
    d.cc("u.o own.o -o prog").quiet();
    assert_eq!(d.run_both("prog", "four", &[]).status, 104);
    d.exec("ar rcs libown.a own.o").quiet();
    d.cc("u.o -L. -lown -o prog").quiet();
    assert_eq!(d.run_both("prog", "four", &[]).status, 104);
    d.cc("-fno-builtin -shared -fPIC own.c -o libown.so").quiet();
    d.cc("u.o ./libown.so -o prog").quiet();
    assert_eq!(d.run_both("prog", "four", &["libown.so"]).status, 104);
    d.write("wrap.c", "unsigned long __wrap_strlen(const char *s) { return s[0]; }\n");
    d.cc("-fno-builtin u.o wrap.c -Wl,--wrap=strlen -o prog").quiet();
    assert_eq!(d.run_both("prog", "A", &[]).status, 65);
}

#[test]
fn a_fuzz_target_gets_a_main() {
    let d = dir(&[
        (
            "fuzz.c",
            "#include <stdint.h>\n#include <stddef.h>\n#include <stdlib.h>\n\
        int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) { if (n == 1 && *p == 'x') exit(9); return 0; }\n",
        ),
        ("x", "x"),
        ("y", "y"),
        ("m.c", "int main(void) { return 11; }\n"),
    ]);
    d.cc("-fsanitize=fuzzer,address -g fuzz.c -o prog").quiet();
    // As in libFuzzer, a target that calls `exit` ends with 77.
    assert_eq!(d.run_both("prog", "x", &[]).status, 77);
    assert_eq!(d.run_both("prog", "y", &[]).status, 0);
    d.cc("-fsanitize=fuzzer -c fuzz.c").quiet();
    d.cc("-fsanitize=fuzzer fuzz.o -o prog").quiet();
    assert_eq!(d.run_both("prog", "x", &[]).status, 77);
    // A program with its own main keeps it.
    d.cc("-fsanitize=fuzzer fuzz.c m.c -o prog").quiet();
    assert_eq!(d.run_both("prog", "", &[]).status, 11);
    d.cxx("-fsanitize=fuzzer-no-link fuzz.o m.c -o prog").ok();
}

#[test]
fn cxx_programs_link_and_run() {
    let d = dir(&[(
        "p.cc",
        "#include <iostream>\n#include <string>\n#include <vector>\n#include <stdexcept>\n\
        int main(int argc, char **) { std::vector<std::string> v{\"a\", \"b\"};\n\
        try { if (argc > 0) throw std::runtime_error(v.at(1)); } catch (std::exception &e) { std::cout << e.what() << std::endl; }\n\
        return 5; }\n",
    )]);
    for line in
        ["-O2 p.cc", "-O0 -g -std=c++20 p.cc", "-fsanitize=address,undefined p.cc", "-static p.cc"]
    {
        d.cxx(&format!("{line} -o prog")).quiet();
        let done = d.run_both("prog", "", &[]);
        assert_eq!((done.status, done.stdout.as_str()), (5, "b\n"), "{line}");
    }
}

#[test]
fn counters_share_no_page_with_other_data() {
    use object::{Object, ObjectSection};
    let d = sources();
    d.cc("-fPIC -shared lib.c -o liblib.so").quiet();
    for linker in [
        "-fuse-ld=bfd",
        "-fuse-ld=lld",
        "-fuse-ld=lld -Wl,--gc-sections",
        "-static",
        "-fuse-ld=bfd -Wl,--gc-sections",
    ] {
        d.cc(&format!("lib.c more.c user.c {linker} -o prog")).quiet();
        for name in ["prog", "liblib.so"] {
            let bytes = d.read(name);
            let file = object::File::parse(&*bytes).unwrap();
            let section = file.section_by_name(pleach_abi::section::COUNTERS).expect("counters");
            assert_eq!(
                (section.address() % 4096, section.size() % 4096),
                (0, 0),
                "{name} {linker}"
            );
        }
    }
}

#[test]
fn long_command_lines_reach_clang() {
    let d = sources();
    let defines: Vec<String> =
        (0..6000).map(|i| format!("-DLONG_NAME_NUMBER_{i}=\"some value {i}\"")).collect();
    d.write("args", defines.join("\n").replace('"', "'"));
    d.cc("@args lib.c more.c user.c -o prog").quiet();
    prints_42(&d, &[]);
}
