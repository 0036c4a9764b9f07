//! What is seen in small source trees.

use pleach_project::{Project, System};
use std::path::Path;

/// A tree with these files.
fn tree(name: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Project) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().join(name);
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }
    let project = Project::inspect(&root).expect("it is there");
    (dir, project)
}

fn programs(project: &Project) -> Vec<&str> {
    project.programs.all.iter().map(|p| p.name.as_str()).collect()
}

fn seeds(project: &Project) -> Vec<String> {
    project.seeds.iter().map(|s| s.pattern()).collect()
}

#[test]
fn build_systems_are_ordered() {
    let files = ["configure", "meson.build", "CMakeLists.txt", "configure.ac", "Makefile.in"];
    let files: Vec<(&str, &str)> = files.iter().map(|f| (*f, "")).collect();
    let (_dir, project) = tree("a", &files);
    let expected = [System::Configure, System::Meson, System::CMake, System::Autoconf];
    assert_eq!(project.systems, expected);
    let (_dir, project) = tree("a", &[("configure.ac", ""), ("Makefile.am", "")]);
    assert_eq!(project.systems, [System::Autoconf]);
    let (_dir, project) = tree("a", &[("GNUmakefile", ""), ("a.c", "")]);
    assert_eq!(project.systems, [System::Make]);
    let (_dir, project) = tree("a", &[("a.c", "int main(void) {}")]);
    assert_eq!(project.systems, [System::Sources]);
    let (_dir, project) = tree("a", &[("README.md", "nothing")]);
    assert!(project.systems.is_empty());
}

#[test]
fn shared_libraries_are_disabled_where_configure_can() {
    let built = |text: &str| {
        let (_dir, project) = tree("a", &[("configure", text)]);
        let build = System::Configure.build(&project.tree, Path::new("/out"), "-m64", 3);
        build.commands.join("\n")
    };
    let with = built("  --enable-shared[=PKGS]  build shared libraries");
    assert!(with.contains("-declaration -m64'") && with.contains("--disable-shared"), "{with}");
    assert!(with.contains("make -j3") && with.contains("cp -a "), "{with}");
    assert!(!built("no such option").contains("--disable-shared"));
    // Scripts that people have written ignore CC.
    let by_hand = built("  --cc=CC  use C compiler CC [$cc]");
    assert!(by_hand.contains("./configure --cc=pleach-cc"), "{by_hand}");
    assert!(!with.contains("--cc="), "{with}");
}

/// A patch makes `Makefile.am` newer than `Makefile.in`; automake need not be there.
#[test]
fn generated_files_of_autotools_are_kept() {
    let generated = ["aclocal.m4", "configure", "Makefile.in", "src/Makefile.in", "config.h.in"];
    // The source is written last.
    let all = generated.iter().chain(&["src/Makefile.am"]);
    let files: Vec<(&str, &str)> = all.map(|f| (*f, "")).collect();
    let (_dir, project) = tree("a", &files);
    let out = tempfile::tempdir().expect("a temporary directory");
    let commands = System::Configure.build(&project.tree, out.path(), "", 1).commands;
    // Everything before the script.
    let end = commands.iter().position(|c| c.contains("./configure")).expect("it is run");
    let script = commands[..end].join("\n");
    let done = std::process::Command::new("sh").args(["-e", "-c", &script]).status();
    assert!(done.expect("sh").success(), "{script}");
    let time = |name: &str| {
        let file = out.path().join("src").join(name).metadata().expect("it was copied");
        file.modified().expect("Linux has times")
    };
    assert!(time("aclocal.m4") <= time("configure"));
    for made in ["Makefile.in", "src/Makefile.in", "config.h.in"] {
        assert!(time("configure") <= time(made) && time("src/Makefile.am") < time(made), "{made}");
    }
}

#[test]
fn programs_come_from_build_files() {
    let (_dir, project) = tree(
        "tool-1.2.3",
        &[
            ("Makefile.am", "bin_PROGRAMS = helper \\\n  tool # two\nnoinst_PROGRAMS = gen\n"),
            ("tests/Makefile.am", "check_PROGRAMS = t1\nbin_PROGRAMS = t2\n"),
            ("tool.c", ""),
            ("tests/t1.c", ""),
        ],
    );
    assert_eq!(project.tree.name(), "tool");
    assert_eq!(programs(&project), ["tool", "helper", "gen", "t1", "t2"]);
    let cmake = "# add_executable(no x.c)\nmy_add_executable(no)\nadd_executable(\n  app main.c)\n\
                 set(TOOLS other)\nset( TOOL \"tool\")\nadd_executable(${TOOL} x.c)\n\
                 project(all C)\nadd_executable(${PROJECT_NAME} y.c)\n\
                 add_executable(${UNKNOWN} z.c)\n\
                 set_target_properties(${TOOL} PROPERTIES\n  OUTPUT_NAME \"hammer\")\n";
    let (_dir, project) = tree("x", &[("src/CMakeLists.txt", cmake), ("src/main.c", "")]);
    assert_eq!(programs(&project), ["app", "hammer", "all"]);
    let out = System::CMake.program(Path::new("/out"), &project.programs.all[0]);
    assert_eq!(out, Path::new("/out/build/src/app"));
    let meson = "e = executable('first', 'a.c')\nexecutable(\n  'second', 'b.c')\n";
    let (_dir, project) = tree("x", &[("meson.build", meson), ("a.c", "")]);
    assert_eq!(programs(&project), ["first", "second"]);
    // Manual pages name the program, too; and `main` says that a source is a program.
    let (_dir, project) = tree("x", &[("man/Makefile.in", "PROG = x\n"), ("x.c", "")]);
    assert_eq!(project.programs.all[0].dir, Path::new(""));
    let main = "static int domain(void);\nint\nmain (int argc, char **argv)\n{\n}\n";
    let (_dir, project) = tree("x", &[("one.c", main), ("two.c", "int remain() { main_loop(); }")]);
    assert_eq!(programs(&project), ["one"]);
}

#[test]
fn harnesses_are_definitions() {
    let header = "int LLVMFuzzerTestOneInput(const uint8_t *, size_t);\n";
    let harness = format!(
        "#include \"../lib/word.h\"\n#include <net/x.h>\n{header}\nextern \"C\" \
                           int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)\n{{ }}\n"
    );
    let driver = format!("{header}int main() {{ return LLVMFuzzerTestOneInput(0, 0); }}\n");
    let files = [
        ("fuzz/one.cc", harness.as_str()),
        ("fuzz/main.c", driver.as_str()),
        ("lib/word.h", ""),
        ("include/net/x.h", ""),
    ];
    let (_dir, project) = tree("x", &files);
    let harnesses = &project.programs.harnesses;
    assert_eq!(harnesses.len(), 1, "{harnesses:?}");
    assert_eq!(harnesses[0].path, Path::new("fuzz/one.cc"));
    assert!(harnesses[0].is_cxx());
    assert_eq!(harnesses[0].include, [Path::new("include").to_owned()]);
}

/// A test that compares answers says what an input is: of a compiler, these are sources.
#[test]
fn files_with_answers_are_seeds() {
    let files = [
        ("tests/all.txt", "x"),
        ("tests/run/00_sum.c", "x"),
        ("tests/run/00_sum.expect", "x"),
        ("tests/run/01_if.c", "x"),
        ("tests/run/01_if.expect", "x"),
        ("tests/driver.c", "x"),
    ];
    let (_dir, project) = tree("x", &files);
    let first = &project.seeds[0];
    assert_eq!((first.pattern().as_str(), first.files.len()), ("tests/run/*.c", 2));
    assert!(project.seeds.iter().all(|s| s.extension != "expect"), "{:?}", project.seeds);
}

/// Sources without a build system get the directories of their headers, and of the headers
/// that these include. A header of the system stays that of the system.
#[test]
fn headers_are_found() {
    let main = "#include <stdio.h>\n#include \"beside.h\"\n#include <x/word.h>\n\
                #include \"deep.h\"\nint main(void) { return 0; }\n";
    let files = [
        ("src/main.c", main),
        ("src/beside.h", ""),
        ("include/x/word.h", "#include \"inner.h\"\n#include \"other.h\"\n"),
        ("include/x/inner.h", ""),
        ("third/party/other.h", ""),
        ("third/party/deep.h", ""),
        ("tests/deep.h", ""),
        ("win32/stdio.h", ""),
    ];
    let (_dir, project) = tree("x", &files);
    assert_eq!(project.systems, [System::Sources]);
    let build = System::Sources.build(&project.tree, Path::new("/out"), "", 1);
    let root = project.tree.root.display();
    let expected = format!("-I{root}/include -I{root}/third/party -o /out/main {root}/src/main.c");
    assert!(build.commands.last().unwrap().contains(&expected), "{:?}", build.commands);
}

#[test]
fn seeds_are_files_of_tests_and_corpora() {
    let files = [
        ("src/a.json", "{}"),
        ("tests/a.json", "{}"),
        ("tests/deep/b.json", "{}"),
        ("tests/run.sh", "x"),
        ("tests/README", "x"),
        ("tests/a.expected", "x"),
        ("debian/tests/control", "x"),
        ("examples/empty.json", ""),
        ("fuzzing/inputs/one", "1"),
        ("fuzzing/inputs/two", "2"),
    ];
    let (_dir, project) = tree("json", &files);
    assert_eq!(seeds(&project)[0], "fuzzing/inputs/[!.]*");
    assert_eq!(project.seeds[0].files.len(), 2);
    assert_eq!(seeds(&project)[1], "tests/*.json");
    assert_eq!(project.seeds[1].files.len(), 2);
    assert!(!seeds(&project).iter().any(|s| s.contains("src") || s.ends_with(".sh")));
    let large = "x".repeat(40_000);
    let (_dir, project) = tree("x", &[("tests/large.x", &large)]);
    assert!(project.seeds.is_empty());
}

#[test]
fn grammars_have_their_lexers() {
    let yacc = "%token A\n%%\ns: A;\n";
    let lex = "%%\na return A;\n";
    let files = [
        ("src/parse.y", yacc),
        ("src/scan.l", lex),
        ("src/notes.y", "not a grammar"),
        ("doc/x.g4", "grammar x;\ns: A;\n"),
        ("doc/xLexer.g4", "lexer grammar xLexer;\n"),
        ("ts/grammar.json", "{\"name\": \"x\", \"rules\": {}}"),
        ("other/grammar.json", "{}"),
    ];
    let (_dir, project) = tree("x", &files);
    let found: Vec<_> = project
        .grammars
        .iter()
        .map(|g| {
            (g.path.to_str().unwrap_or(""), g.format, g.lexer.as_deref().and_then(Path::to_str))
        })
        .collect();
    let expected = [
        ("doc/x.g4", "ANTLR 4", Some("doc/xLexer.g4")),
        ("src/parse.y", "yacc", Some("src/scan.l")),
        ("ts/grammar.json", "tree-sitter", None),
    ];
    assert_eq!(found, expected);
}
