//! Shared by the tests of the driver: a directory of files, and commands that run in
//! it, with `pleach-cc` and with plain clang.
#![allow(dead_code)] // Not every test file uses everything.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub const HELLO: &str = "#include <stdio.h>\nint main(int argc, char **argv) { if (argc > 1) puts(argv[1]); return argc; }\n";

pub struct Dir(tempfile::TempDir);

/// A new directory with these files.
pub fn dir(files: &[(&str, &str)]) -> Dir {
    let dir = Dir(tempfile::tempdir().unwrap());
    for (name, text) in files {
        dir.write(name, text);
    }
    dir
}

/// The result of a command.
#[derive(Debug)]
pub struct Done {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
    pub raw: Vec<u8>,
}

impl Done {
    #[track_caller]
    pub fn ok(self) -> Done {
        assert_eq!(self.status, 0, "{}{}", self.stdout, self.stderr);
        self
    }

    /// The command succeeded and printed nothing.
    #[track_caller]
    pub fn quiet(self) -> Done {
        assert_eq!((self.status, self.stderr.as_str(), self.stdout.as_str()), (0, "", ""));
        self
    }

    #[track_caller]
    pub fn fails(self, status: i32, text: &str) -> Done {
        assert_eq!(self.status, status, "{}", self.stderr);
        assert!(self.stderr.contains(text), "{}", self.stderr);
        self
    }
}

impl Dir {
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn exists(&self, name: &str) -> bool {
        self.join(name).exists()
    }

    /// Runs `pleach-cc` with these words.
    pub fn cc(&self, line: &str) -> Done {
        self.run(&mut driver("pleach-cc"), line, "")
    }

    pub fn cxx(&self, line: &str) -> Done {
        self.run(&mut driver("pleach-c++"), line, "")
    }

    /// Runs a program of this directory or of the system.
    pub fn exec(&self, line: &str) -> Done {
        let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
        let local = self.join(program);
        let program = if local.exists() { local } else { PathBuf::from(program) };
        self.run(&mut Command::new(program), rest, "")
    }

    pub fn run(&self, command: &mut Command, line: &str, stdin: &str) -> Done {
        command.args(line.split_whitespace()).current_dir(self.path());
        done(command, stdin)
    }

    /// The symbolic half of a linked file.
    #[track_caller]
    pub fn symbolic(&self, linked: &str) -> Option<Vec<u8>> {
        section(&self.read(linked), pleach_abi::section::SYMBOLIC_IMAGE)
    }

    /// Runs both halves of an executable and checks that they behave the same. Puts the
    /// twins of shared libraries where the executor puts them.
    #[track_caller]
    pub fn run_both(&self, program: &str, args: &str, twins: &[&str]) -> Done {
        let image = self.symbolic(program).expect("a symbolic half");
        let private = tempfile::tempdir_in(self.path()).unwrap();
        let path = private.path().join("symbolic");
        std::fs::write(&path, image).unwrap();
        make_executable(&path);
        for library in twins {
            let folder = private.path().join("pleach-twins");
            std::fs::create_dir_all(&folder).unwrap();
            let twin = self.symbolic(library).expect("a twin");
            std::fs::write(folder.join(Path::new(library).file_name().unwrap()), twin).unwrap();
        }
        let fast = self.run(&mut Command::new(self.join(program)), args, "");
        let symbolic = self.run(&mut Command::new(&path), args, "");
        assert_eq!(
            (fast.status, &fast.stdout),
            (symbolic.status, &symbolic.stdout),
            "{}",
            symbolic.stderr
        );
        fast
    }

    /// The names of all files, and the contents of those that users read.
    fn listing(&self) -> BTreeMap<String, String> {
        let mut out = BTreeMap::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.path()).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let is_text = [".d", ".json"].iter().any(|e| name.ends_with(e));
                    let text = is_text.then(|| std::fs::read_to_string(&path).unwrap());
                    out.insert(name, text.unwrap_or_default());
                }
            }
        }
        out
    }
}

/// Runs the same command with `pleach-cc` and with clang, in two directories with these
/// files. Checks that output, messages, status and the resulting files are the same.
#[track_caller]
pub fn same_as_clang(files: &[(&str, &str)], line: &str) -> Done {
    same_with_input(files, line, "")
}

#[track_caller]
pub fn same_with_input(files: &[(&str, &str)], line: &str, stdin: &str) -> Done {
    let (ours, theirs) = (dir(files), dir(files));
    let got = ours.run(&mut driver("pleach-cc"), line, stdin);
    let expected = theirs.run(&mut clang(), line, stdin);
    let text = |d: &Done, dir: &Dir| {
        let here = dir.path().to_str().unwrap().to_owned();
        (d.status, d.stdout.replace(&here, "DIR"), d.stderr.replace(&here, "DIR"))
    };
    assert_eq!(text(&got, &ours), text(&expected, &theirs), "{line}");
    assert_eq!(ours.listing(), theirs.listing(), "{line}");
    got
}

/// The driver, called by one of its names: `pleach-cc` or `pleach-c++`.
pub fn driver(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach-cc"));
    command.arg0(name);
    command
}

/// Creates links to the driver under both names, for build systems.
pub fn compilers(dir: &Dir) -> (OsString, OsString) {
    let link = |name: &str| {
        let path = dir.join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pleach-cc"), &path).unwrap();
        path.into_os_string()
    };
    (link("pleach-cc"), link("pleach-c++"))
}

pub fn llvm(tool: &str) -> PathBuf {
    let prefix = std::env::var_os("PLEACH_LLVM").unwrap_or("/usr/lib/llvm-22".into());
    Path::new(&prefix).join("bin").join(tool)
}

pub fn clang() -> Command {
    Command::new(llvm("clang"))
}

pub fn done(command: &mut Command, stdin: &str) -> Done {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    // A command that does not read its input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = status.code().unwrap_or_else(|| 128 + status.signal().unwrap());
    Done { status, stdout: text(&stdout), stderr: text(&stderr), raw: stdout }
}

pub fn section(file: &[u8], name: &str) -> Option<Vec<u8>> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(file).unwrap();
    Some(file.section_by_name(name)?.data().unwrap().to_vec())
}

pub fn is_fat(file: &[u8]) -> bool {
    section(file, pleach_abi::section::SYMBOLIC_OBJECT).is_some()
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
