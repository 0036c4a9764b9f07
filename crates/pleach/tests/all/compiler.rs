//! `pleach` without its compiler, and with it in different places.

use crate::common::{PLEACH, refused};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A prefix with nothing but `bin/pleach`, and an empty directory as the PATH.
struct Prefix(TempDir);

impl Prefix {
    fn new() -> Prefix {
        let prefix = Prefix(tempfile::tempdir().expect("a temporary directory"));
        prefix.make_dir("path");
        let program = prefix.make_dir("bin").join("pleach");
        let linked = std::fs::hard_link(PLEACH, &program);
        linked.or_else(|_| std::fs::copy(PLEACH, &program).map(drop)).expect("writable");
        prefix
    }

    fn make_dir(&self, name: &str) -> PathBuf {
        let dir = self.0.path().join(name);
        std::fs::create_dir_all(&dir).expect("writable");
        dir
    }

    /// A compiler that has this version.
    fn add_compiler(&self, dir: &str, version: &str) {
        let path = self.make_dir(dir).join("pleach-cc");
        std::fs::write(&path, format!("#!/bin/sh\necho {version}\n")).expect("writable");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it is ours");
    }

    fn pleach(&self) -> Command {
        let mut command = Command::new(self.0.path().join("bin/pleach"));
        command.env("PATH", self.0.path().join("path"));
        command
    }

    fn version(&self) -> String {
        let out = self.pleach().arg("--version").output().expect("it starts");
        assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
        String::from_utf8(out.stdout).expect("text")
    }
}

/// A machine that only searches has one of the two programs.
#[test]
fn only_the_compiler_is_linked_to_llvm() {
    let libraries = |program: &Path| {
        let out = Command::new("ldd").arg(program).output().expect("ldd is part of glibc");
        String::from_utf8(out.stdout).expect("text")
    };
    let own = libraries(Path::new(PLEACH));
    assert!(own.contains("libc.so") && !own.contains("LLVM"), "{own}");
    assert!(libraries(&Path::new(PLEACH).with_file_name("pleach-cc")).contains("LLVM"));
}

#[test]
fn a_missing_compiler_is_reported() {
    let prefix = Prefix::new();
    for name in ["cc", "c++"] {
        let args = [name, "-c", "x.c"];
        let out = prefix.pleach().args(args).output().expect("it starts");
        refused(&out, &args, &["pleach-cc", "beside", "bin/pleach", "PATH"]);
    }
    let version = prefix.version();
    let own = format!("pleach {}\n", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(&own) && version.contains("\nno compiler: "), "{version}");
}

#[test]
fn the_nearest_compiler_is_used() {
    let prefix = Prefix::new();
    for (number, dir) in ["path", "libexec/pleach", "bin"].into_iter().enumerate() {
        prefix.add_compiler(dir, &format!("22.7.{number}"));
        let version = prefix.version();
        assert!(version.contains(&format!("\nLLVM 22.7.{number} (")), "{dir}: {version}");
    }
}

#[test]
fn the_version_names_llvm() {
    let out = Command::new(PLEACH).arg("--version").output().expect("it starts");
    let text = String::from_utf8(out.stdout).expect("text");
    assert!(text.contains("\nLLVM 22."), "{text}");
}
