//! Finds the file of `-lNAME`. Only libraries that may be fat matter. They are in
//! directories that the user names or installs to, so the system's own directories
//! are left to the linker.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::line::{Element, without_dashes};

/// Searched after the user's directories, as linkers do.
const LOCAL_DIRS: &[&str] = &["/usr/local/lib/x86_64-linux-gnu", "/usr/local/lib"];
const SYSTEM_DIRS: &[&str] = &["/usr/lib", "/lib", "/lib64", "/usr/lib64"];

pub struct Search {
    directories: Vec<PathBuf>,
    /// True if only static libraries are allowed at this point of the command.
    static_only: bool,
    /// The values that `--push-state` saved.
    saved: Vec<bool>,
}

impl Search {
    /// Every `-L` applies to every library, whatever their order.
    pub fn new(elements: &[Element]) -> Search {
        let named = elements.iter().filter_map(|e| match e {
            Element::Driver(f) => f.joined("--library-directory=").or_else(|| f.joined("-L")),
            Element::Linker(f) => f.joined("--library-path=").or_else(|| f.joined("-L")),
            _ => None,
        });
        let library_path = std::env::var_os("LIBRARY_PATH").unwrap_or_default();
        let directories = named
            .map(PathBuf::from)
            .chain(std::env::split_paths(&library_path))
            .chain(LOCAL_DIRS.iter().map(PathBuf::from))
            .collect();
        let static_only = elements.iter().any(|e| match e {
            Element::Driver(f) => ["-static", "-static-pie", "--static"].contains(&f.name()),
            _ => false,
        });
        Search { directories, static_only, saved: Vec::new() }
    }

    /// Applies a linker option such as `-Bstatic`. Call it in the order of the command.
    pub fn apply_option(&mut self, option: &str) {
        match without_dashes(option) {
            "Bstatic" | "static" | "dn" | "non_shared" => self.static_only = true,
            "Bdynamic" | "dy" | "call_shared" => self.static_only = false,
            "push-state" => self.saved.push(self.static_only),
            "pop-state" => self.static_only = self.saved.pop().unwrap_or(self.static_only),
            _ => {}
        }
    }

    /// The file of a library outside the system's directories.
    pub fn find(&self, name: &OsStr) -> Option<PathBuf> {
        let file = |head: &str, tail: &str| {
            let mut file = std::ffi::OsString::from(head);
            file.push(name);
            file.push(tail);
            file
        };
        let exact = name.as_bytes().strip_prefix(b":").map(|n| OsStr::from_bytes(n).to_owned());
        let candidates = match exact {
            Some(exact) => vec![exact],
            None if self.static_only => vec![file("lib", ".a")],
            None => vec![file("lib", ".so"), file("lib", ".a")],
        };
        self.directories
            .iter()
            .filter(|d| !is_in_system_dir(d))
            .flat_map(|d| candidates.iter().map(move |c| d.join(c)))
            .find(|p| p.is_file())
    }
}

/// True for a path in a directory of the system's own libraries.
pub fn is_in_system_dir(path: &Path) -> bool {
    SYSTEM_DIRS.iter().any(|s| path.starts_with(s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::options::Flag;

    #[test]
    fn libraries_are_found_as_the_linker_would() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["libboth.so", "libboth.a", "libonly.a", "odd.name"] {
            std::fs::write(at(name), "").unwrap();
        }
        let flag = Flag { text: "-L".into(), value: Some(dir.path().into()) };
        let mut search = Search::new(&[Element::Driver(flag)]);
        let find = |s: &Search, name: &str| s.find(OsStr::new(name));
        assert_eq!(find(&search, "both"), Some(at("libboth.so")));
        assert_eq!(find(&search, "only"), Some(at("libonly.a")));
        assert_eq!(find(&search, ":odd.name"), Some(at("odd.name")));
        assert_eq!(find(&search, "none"), None);
        search.apply_option("--push-state");
        search.apply_option("-Bstatic");
        assert_eq!(find(&search, "both"), Some(at("libboth.a")));
        search.apply_option("--pop-state");
        assert_eq!(find(&search, "both"), Some(at("libboth.so")));
    }
}
