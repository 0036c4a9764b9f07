//! Finding clang 22 and its linker.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::Error;
use crate::Language;

/// The prefix of an LLVM 22 to use before any other.
const ENV: &str = "PLEACH_LLVM";
/// Where the packages of Debian and Ubuntu put it.
const PACKAGED: &str = "/usr/lib/llvm-22/bin";

pub struct Toolchain {
    clang: PathBuf,
    clangxx: PathBuf,
    lld: PathBuf,
}

impl Toolchain {
    pub fn find() -> Result<Toolchain, Error> {
        if let Some(prefix) = std::env::var_os(ENV) {
            let bin = Path::new(&prefix).join("bin");
            return match is_clang_22(&bin.join("clang")) {
                true => Ok(Toolchain::at(&bin)),
                false => Err(no_llvm(format!("{} is no clang 22", bin.join("clang").display()))),
            };
        }
        // The packaged one is what it says; asking it would cost every compile
        // the time of a process.
        if Path::new(PACKAGED).join("clang").exists() {
            return Ok(Toolchain::at(Path::new(PACKAGED)));
        }
        let candidates: Vec<PathBuf> =
            ["clang-22", "clang"].iter().filter_map(|name| on_path(name)).collect();
        match candidates.iter().find(|c| is_clang_22(c)) {
            Some(clang) => Ok(Toolchain::at(clang.parent().unwrap_or(Path::new("/")))),
            None => Err(no_llvm(match candidates.last() {
                Some(other) => format!("{} is another version", other.display()),
                None => "no clang was found".into(),
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

/// The real place of a program on the search path: its siblings are there.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(OsStr::new(&path))
        .map(|dir| dir.join(name))
        .find(|p| p.is_file())
        .and_then(|p| p.canonicalize().ok())
}
