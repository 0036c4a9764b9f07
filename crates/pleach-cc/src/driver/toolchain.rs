//! Finding clang 22 and its linker.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::Error;
use crate::Language;

/// The environment variable that names the prefix of LLVM 22. It overrides the search.
const PREFIX_VARIABLE: &str = "PLEACH_LLVM";
/// Where the packages of Debian and Ubuntu install it.
const PACKAGED_BIN: &str = "/usr/lib/llvm-22/bin";

pub struct Toolchain {
    clang: PathBuf,
    clangxx: PathBuf,
    lld: PathBuf,
}

impl Toolchain {
    pub fn find() -> Result<Toolchain, Error> {
        if let Some(prefix) = std::env::var_os(PREFIX_VARIABLE) {
            let bin = Path::new(&prefix).join("bin");
            return match is_clang_22(&bin.join("clang")) {
                true => Ok(Toolchain::at(&bin)),
                false => Err(no_llvm(format!(
                    "{} (from {PREFIX_VARIABLE}) is not clang 22",
                    bin.join("clang").display()
                ))),
            };
        }
        // The packaged version is known from its path. Running it to check would
        // cost every compile one more process.
        if Path::new(PACKAGED_BIN).join("clang").exists() {
            return Ok(Toolchain::at(Path::new(PACKAGED_BIN)));
        }
        let candidates: Vec<PathBuf> =
            ["clang-22", "clang"].iter().filter_map(|name| on_path(name)).collect();
        match candidates.iter().find(|c| is_clang_22(c)) {
            Some(clang) => Ok(Toolchain::at(clang.parent().unwrap_or(Path::new("/")))),
            None => Err(no_llvm(match candidates.last() {
                Some(other) => format!("{} has another version", other.display()),
                None => "no clang was found in PATH".into(),
            })),
        }
    }

    fn at(bin: &Path) -> Toolchain {
        let tool = |plain: &str, versioned: &str| {
            let path = bin.join(plain);
            if path.exists() { path } else { bin.join(versioned) }
        };
        Toolchain {
            clang: tool("clang", "clang-22"),
            clangxx: tool("clang++", "clang++-22"),
            lld: tool("ld.lld", "ld.lld-22"),
        }
    }

    pub fn clang(&self, language: Language) -> &Path {
        match language {
            Language::C => &self.clang,
            Language::Cxx => &self.clangxx,
        }
    }

    /// The linker of the symbolic half.
    pub fn lld(&self) -> Result<&Path, Error> {
        match self.lld.exists() {
            true => Ok(&self.lld),
            false => Err(no_llvm(format!("its linker {} is missing", self.lld.display()))),
        }
    }
}

fn no_llvm(found: String) -> Error {
    Error::NoLlvm { found }
}

fn is_clang_22(clang: &Path) -> bool {
    let Ok(out) = Command::new(clang).arg("--version").output() else { return false };
    String::from_utf8_lossy(&out.stdout).contains("clang version 22.")
}

/// The path of a program in PATH, with links resolved: the other tools are beside it.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(OsStr::new(&path))
        .map(|dir| dir.join(name))
        .find(|p| p.is_file())
        .and_then(|p| p.canonicalize().ok())
}
