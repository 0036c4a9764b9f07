//! What every target is linked with and may include: the runtime's archives,
//! a few small objects, and the headers. All of it is inside this program, so
//! that one file is the whole compiler.
//!
//! The linker and clang want files. They are laid out once for a user, in a
//! directory whose name holds a hash of the contents: dependency files that
//! name the headers stay true, and configure scripts, which link hundreds of
//! times, do not write the archives each time. The directory appears by a
//! rename, so it is complete or not there.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The functions that each half's runtime replaces, sorted.
pub fn models() -> (Vec<String>, Vec<String>) {
    let own = |list: &[&str]| list.iter().map(|&m| m.to_owned()).collect();
    (own(FAST_MODELS), own(SYMBOLIC_MODELS))
}

/// The laid out files.
pub struct Runtime {
    root: PathBuf,
}

impl Runtime {
    /// Lays the files out, unless they are. Where the user has no cache
    /// directory, or one that is not theirs alone, `scratch` is used.
    pub fn install(scratch: &Path) -> std::io::Result<Runtime> {
        for base in caches() {
            let root = base.join(HASH);
            if is_ours(&root) || lay_out(&base, &root).is_ok() && is_ours(&root) {
                return Ok(Runtime { root });
            }
        }
        let root = scratch.join(HASH);
        if !root.exists() {
            lay_out(scratch, &root)?;
        }
        Ok(Runtime { root })
    }

    /// Headers: `pleach.h`, `crest.h`, `klee/klee.h`.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// A file for the linker, by its name in the table of the build script.
    pub fn link_file(&self, name: &str) -> PathBuf {
        self.root.join("lib").join(name)
    }
}

fn caches() -> Vec<PathBuf> {
    let var = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = var("XDG_CACHE_HOME").or_else(|| Some(var("HOME")?.join(".cache")));
    // Safety: takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    let shared = std::env::temp_dir().join(format!("pleach-{user}"));
    cache.map(|c| c.join("pleach")).into_iter().chain([shared]).collect()
}

/// A directory of ours that nobody else may write to: what lies in it is
/// linked into programs.
fn is_ours(dir: &Path) -> bool {
    // Safety: takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    std::fs::symlink_metadata(dir)
        .is_ok_and(|m| m.is_dir() && m.uid() == user && m.permissions().mode() & 0o022 == 0)
}

fn lay_out(base: &Path, root: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(base)?;
    if !is_ours(base) {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(base)?;
    for (name, bytes) in FILES {
        let path = fresh.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = std::fs::File::create(path)?;
        file.write_all(bytes)?;
    }
    let fresh = fresh.keep();
    let moved = std::fs::rename(&fresh, root);
    if moved.is_err() {
        let _ = std::fs::remove_dir_all(&fresh);
    }
    // Another run may have been first; its files are the same.
    if root.is_dir() { Ok(()) } else { moved }
}
