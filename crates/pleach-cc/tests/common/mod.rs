//! What the tests of the driver share: a directory of files, and commands run
//! in it, with the real compiler and with plain clang.
#![allow(dead_code)] // Not every test file uses all of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub const HELLO: &str = "#include <stdio.h>\nint main(int argc, char **argv) { if (argc > 1) puts(argv[1]); return argc; }\n";

pub struct Dir(tempfile::TempDir);

/// A fresh directory with these files.
pub fn dir(files: &[(&str, &str)]) -> Dir {
    let dir = Dir(tempfile::tempdir().unwrap());
    for (name, text) in files {
        dir.write(name, text);
    }
    dir
}

/// What a command did.
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

    /// Succeeded and had nothing to say.
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

    /// `pleach-cc` with these words.
    pub fn cc(&self, line: &str) -> Done {
        self.run(&mut driver("pleach-cc"), line, "")
    }

    pub fn cxx(&self, line: &str) -> Done {
        self.run(&mut driver("pleach-c++"), line, "")
    }

    /// A program of this directory or of the system.
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

    /// Splits the symbolic half out of a linked file.
    #[track_caller]
    pub fn symbolic(&self, linked: &str) -> Option<Vec<u8>> {
        section(&self.read(linked), pleach_abi::section::SYMBOLIC_IMAGE)
    }

    /// Runs both halves of an executable and wants the same from both; twins
    /// of shared libraries are laid out as the executor does it.
    #[track_caller]
    pub fn both(&self, program: &str, args: &str, twins: &[&str]) -> Done {
        let image = self.symbolic(program).expect("a symbolic half");
        let place = tempfile::tempdir_in(self.path()).unwrap();
        let path = place.path().join("symbolic");
        std::fs::write(&path, image).unwrap();
        make_executable(&path);
        for library in twins {
            let folder = place.path().join("pleach-twins");
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

    /// Names and, for text that users read, contents of all files.
    fn listing(&self) -> BTreeMap<String, String> {
        let mut out = BTreeMap::new();
        let mut todo = vec![self.path().to_owned()];
        while let Some(folder) = todo.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.path()).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    todo.push(path);
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

/// The same command, by us and by clang, in two directories with these files:
/// output, messages, status and the files that are there afterwards agree.
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

/// The driver under a name: `pleach-cc` or `pleach-c++`.
pub fn driver(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach-cc"));
    command.arg0(name);
    command
}

/// Links to the driver under both names, for build systems.
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
    // A command that does not read its input may be gone already.
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
