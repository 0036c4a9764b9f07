//! Shared libraries: the symbolic executable finds their twins, and also libraries without
//! a twin that the loader finds relative to the program.

use pleach_exec::Layout;
use std::path::Path;
use std::process::Command;

fn run(command: &mut Command) -> String {
    let done = command.output().expect("the tool is there");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn compile(dir: &Path, source: &str, args: &[&str]) {
    let file = dir.join("source.c");
    std::fs::write(&file, source).unwrap();
    run(Command::new("cc").current_dir(dir).arg(&file).args(args));
}

/// Puts the file `twin` into a section of `file`, as `pleach cc` does when it links.
fn embed(dir: &Path, twin: &str, file: &str) {
    let section = format!(".pleach.symbolic={twin}");
    run(Command::new("objcopy").current_dir(dir).args(["--add-section", &section, file]));
}

#[test]
fn twins_are_written_beside_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    std::fs::create_dir(at.join("lib")).unwrap();
    let library = |name: &str, says: &str, args: &[&str]| {
        let source = format!("const char *{name}(void) {{ return \"{says}\"; }}\n");
        compile(at, &source, &[&["-shared", "-fPIC"], args].concat());
    };
    library("one", "fast one", &["-o", "lib/libone.so", "-Wl,-soname,libone.so"]);
    library("one", "symbolic one", &["-o", "one.twin", "-Wl,-soname,libone.so"]);
    library("two", "plain two", &["-o", "lib/libtwo.so", "-Wl,-soname,libtwo.so"]);
    let main = "int puts(const char *); const char *one(void), *two(void);\n\
                int main(void) { puts(one()); puts(two()); return 0; }\n";
    let link = ["-Llib", "-lone", "-ltwo"];
    let path = "-Wl,--disable-new-dtags,-rpath";
    compile(at, main, &[&link[..], &["-o", "prog", &format!("{path},$ORIGIN/lib")]].concat());
    let twins = format!("{path},$ORIGIN/pleach-twins");
    compile(at, main, &[&link[..], &["-o", "prog.twin", &twins]].concat());
    embed(at, "one.twin", "lib/libone.so");
    embed(at, "prog.twin", "prog");

    let fast = run(&mut Command::new(at.join("prog")));
    assert_eq!(fast, "fast one\nplain two\n");
    let layout = Layout::private(&at.join("prog")).unwrap();
    assert_eq!(layout.symbolic_path.file_name().unwrap(), "prog");
    let symbolic = run(&mut Command::new(&layout.symbolic_path));
    assert_eq!(symbolic, "symbolic one\nplain two\n");
    assert!(layout.libraries.contains_key("libone.so") && layout.libraries.len() == 1);
    let private = layout.directory().unwrap().to_path_buf();
    drop(layout);
    assert!(!private.exists());
}
