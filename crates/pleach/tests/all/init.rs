//! `pleach init` in small source trees, one for each build system.

use crate::common::campaign::tree;
use crate::common::{Program, refused};

const CALC: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    FILE *in = argc > 1 ? fopen(argv[1], "r") : 0;
    if (!in) { fprintf(stderr, "usage: %s FILE\n", argv[0]); return 2; }
    int a = 0, byte;
    while ((byte = fgetc(in)) >= '0' && byte <= '9') a = a * 10 + byte - '0';
    if (byte == '/' && fgetc(in) == '0') abort();
    return byte == '+' ? a & 1 : 0;
}
"#;

/// A tree with a program that reads a file, and two seeds.
fn source(build: &[(&str, &str)]) -> Program {
    let p = Program::empty();
    for dir in ["calc-1.2", "calc-1.2/tests"] {
        p.make_dir(dir);
    }
    p.file("calc-1.2/calc.c", CALC.as_bytes());
    p.file("calc-1.2/README.md", b"A calculator.\n");
    p.file("calc-1.2/tests/sum.calc", b"12+3\n");
    p.file("calc-1.2/tests/one.calc", b"7\n");
    for (name, text) in build {
        p.file(&format!("calc-1.2/{name}"), text.as_bytes());
    }
    p
}

const MAKEFILE: &str = "PROG = calc\n$(PROG): calc.c\n\t$(CC) $(CFLAGS) -o $@ $<\n";
const CMAKE: &str =
    "cmake_minimum_required(VERSION 3.10)\nproject(calc C)\nadd_executable(calc calc.c)\n";

/// Builds and searches a tree; the crash is found, and the tree is as before.
fn finds_the_crash(p: &Program) {
    let before = tree(&p.path("calc-1.2"));
    let out = p.run(&["init", "calc-1.2", "--run", "-V", "5"], b"");
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{told}");
    assert!(told.contains("calc @@ ("), "{told}");
    assert_eq!(tree(&p.path("calc-1.2")), before);
    let crashes = std::fs::read_dir(p.path("calc-1.2.pleach/out/crashes")).expect("a campaign");
    let found = crashes.flatten().any(|e| e.file_name().to_string_lossy().starts_with("id:"));
    assert!(found, "{told}");
    let seeds = std::fs::read_dir(p.path("calc-1.2.pleach/seeds")).expect("seeds");
    assert!(seeds.count() > 0, "{told}");
}

#[test]
fn a_tree_with_a_makefile_is_searched() {
    finds_the_crash(&source(&[("Makefile", MAKEFILE)]));
}

/// No build system: the headers are found.
#[test]
fn sources_alone_are_built() {
    let p = source(&[]);
    for dir in ["calc-1.2/src", "calc-1.2/include"] {
        p.make_dir(dir);
    }
    std::fs::remove_file(p.path("calc-1.2/calc.c")).unwrap();
    p.file("calc-1.2/src/calc.c", format!("#include \"all.h\"\n{CALC}").as_bytes());
    p.file("calc-1.2/include/all.h", b"#include <stdio.h>\nint all(void);\n");
    finds_the_crash(&p);
}

/// The first build system fails; the second is tried.
#[test]
fn another_build_system_is_tried() {
    let broken = "#!/bin/sh\necho no such library >&2\nexit 1\n";
    let p = source(&[("CMakeLists.txt", CMAKE), ("configure", broken)]);
    let path = p.path("calc-1.2/configure");
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    finds_the_crash(&p);
}

/// What is missing may be for manuals.
#[test]
fn a_build_may_fail_after_the_programs() {
    let makefile = format!("all: calc manual\nmanual: calc\n\tno-such-program\n{MAKEFILE}");
    finds_the_crash(&source(&[("Makefile", &makefile)]));
}

/// It is installed below the output directory, also what has another place outside.
#[test]
fn a_program_gets_its_data_files() {
    let cmake = format!(
        "{CMAKE}target_compile_definitions(calc PRIVATE \
         DATA=\"${{CMAKE_INSTALL_PREFIX}}/share/words\")\n\
         install(FILES README.md DESTINATION share RENAME words)\n\
         install(FILES README.md DESTINATION /nowhere/share)\n"
    );
    let p = source(&[("CMakeLists.txt", &cmake)]);
    let needs = "int main(int argc, char **argv) {\n    if (!fopen(DATA, \"r\")) return 9;\n";
    let program = CALC.replace("int main(int argc, char **argv) {\n", needs);
    p.file("calc-1.2/calc.c", program.as_bytes());
    finds_the_crash(&p);
    assert!(p.path("calc-1.2.pleach/installed/share/words").is_file());
    assert!(p.path("calc-1.2.pleach/staged/nowhere/share/README.md").is_file());
}

/// The printed commands are a script that works.
#[test]
fn the_printed_commands_work() {
    let p = source(&[("Makefile", MAKEFILE)]);
    let script = p.text(&["init", "calc-1.2", "-V", "1"], b"");
    assert!(
        script.starts_with("# calc: a makefile; programs: calc; 2 seeds: tests/*.calc\n"),
        "{script}"
    );
    assert!(script.contains("cp -a $SRC/. $OUT/src\n"), "{script}");
    assert!(!p.path("calc-1.2.pleach").exists());
    p.file("plan.sh", script.as_bytes());
    let bin = std::path::Path::new(crate::common::PLEACH).parent().unwrap().to_owned();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    let out = shell.arg("plan.sh").env("PATH", path).current_dir(p.dir.path()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(p.path("calc-1.2.pleach/out/queue").is_dir());
}

/// A library with a harness for a fuzzer: the harness is linked with what was built.
#[test]
fn a_harness_is_searched() {
    let library = "#include \"word.h\"\n#include <stdlib.h>\n\
        int word(const unsigned char *p, unsigned long n)\n\
        { if (n > 2 && p[0] == 'a' && p[1] == 'b') abort(); return 0; }\n";
    let harness = "#include \"word.h\"\n#include <stddef.h>\n#include <stdint.h>\n\
        int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{ return word(data, size); }\n";
    let makefile =
        "libword.a: word.o\n\t$(AR) rcs $@ $<\nword.o: src/word.c\n\t$(CC) -Iinclude -c -o $@ $<\n";
    let p = Program::empty();
    for dir in ["word", "word/src", "word/include", "word/fuzz", "word/fuzz/corpus"] {
        p.make_dir(dir);
    }
    p.file("word/src/word.c", library.as_bytes());
    p.file("word/include/word.h", b"int word(const unsigned char *p, unsigned long n);\n");
    p.file("word/fuzz/word_fuzzer.c", harness.as_bytes());
    p.file("word/fuzz/corpus/1", b"aaa");
    p.file("word/Makefile", makefile.as_bytes());
    let out = p.run(&["init", "word", "-o", "built", "--run", "-V", "3"], b"");
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && told.contains("built/word_fuzzer ("), "{told}");
    let crashes = std::fs::read_dir(p.path("built/out/crashes")).expect("a campaign");
    assert!(
        crashes.flatten().any(|e| e.file_name().to_string_lossy().starts_with("id:")),
        "{told}"
    );
}

#[test]
fn what_cannot_be_built_is_refused() {
    let p = source(&[("Makefile", MAKEFILE)]);
    p.make_dir("empty");
    p.refuses(&["init", "nowhere"], &["nowhere", "No such file"]);
    p.refuses(&["init", "empty"], &["empty", "CMakeLists.txt"]);
    p.refuses(&["init", "calc-1.2", "--build", "cmake"], &["--build cmake", "only: make"]);
    p.refuses(&["init", "calc-1.2", "-o", "calc-1.2/out"], &["in the source tree"]);
    p.refuses(&["init", "calc-1.2", "-o", "calc-1.2/tests"], &["in the source tree"]);
    p.file("calc-1.2/calc.c", b"int main(void) { return no; }\n");
    let out = p.run(&["init", "calc-1.2", "--run"], b"");
    let told = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{told}");
    assert!(told.contains("use of undeclared identifier") && told.contains("make.log"), "{told}");
    let args = ["init", "calc-1.2", "--run"];
    refused(&p.run(&args, b""), &args, &["calc-1.2.pleach", "not empty"]);
}
