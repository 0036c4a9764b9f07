//! Names of source files, as the compiler noted them.

use pleach_abi::function::Function;
use std::path::{Component, Path, PathBuf};

/// True for a file of the system: a header of libc, of the C++ library or of an installed
/// package. Totals leave out the branches in such files. Inputs that cover one are still
/// kept.
pub fn is_system_file(path: &str) -> bool {
    const DIRECTORIES: [&str; 6] = [
        "/usr/include",
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/local/include",
        "/usr/local/lib",
    ];
    if !path.starts_with('/') {
        return false;
    }
    // Compilers name their headers `/usr/lib/gcc/x/12/../../../../include/…`.
    let path = tidy(Path::new(path));
    // The C++ library of a toolchain that is installed elsewhere.
    let text = path.to_string_lossy();
    DIRECTORIES.iter().any(|dir| path.starts_with(dir)) || text.contains("/include/c++/")
}

/// The path of a file of a function: relative names start from the directory of the compiler.
/// A build that changes directories has the same name for several files.
pub fn path_in(function: &Function, name: &str) -> String {
    tidy(&Path::new(&function.directory).join(name)).to_string_lossy().into_owned()
}

/// Removes `.` and `..` without a look at the disk.
pub fn tidy(path: &Path) -> PathBuf {
    use Component::{CurDir, Normal, ParentDir};
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            CurDir => {}
            ParentDir if matches!(out.components().next_back(), Some(Normal(_))) => {
                out.pop();
            }
            ParentDir if out.has_root() => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_tidied() {
        let of = |p: &str| tidy(Path::new(p)).display().to_string();
        assert_eq!(of("./a/../b.c"), "b.c");
        assert_eq!(of("../a/./b.c"), "../a/b.c");
        assert_eq!(of("/x/../../y"), "/y");
    }

    #[test]
    fn relative_names_start_from_the_directory_of_the_compiler() {
        let function = Function { directory: "/src/lib".into(), ..Function::default() };
        assert_eq!(path_in(&function, "util.c"), "/src/lib/util.c");
        assert_eq!(path_in(&function, "../include/util.h"), "/src/include/util.h");
        assert_eq!(path_in(&function, "/usr/include/stdio.h"), "/usr/include/stdio.h");
        assert_eq!(path_in(&Function::default(), "./util.c"), "util.c");
    }
}
