//! The files that every target is linked with or may include: the runtime's
//! archives, a few small objects, and the headers. They are embedded in this
//! program, so the compiler is a single file.
//!
//! clang and the linker need real files. `./x install` writes them to `lib/pleach` in
//! the prefix of this program. Elsewhere, the first run of a user writes them to
//! a cache directory whose name contains a hash of the contents. So dependency
//! files that name the headers stay valid, and configure scripts, which link
//! hundreds of times, do not write the archives each time. A rename creates the
//! directory, so it is either complete or absent.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The functions that the fast and the symbolic runtime have models for, sorted.
pub fn modelled_functions() -> (Vec<String>, Vec<String>) {
    let own = |list: &[&str]| list.iter().map(|&m| m.to_owned()).collect();
    (own(FAST_MODELS), own(SYMBOLIC_MODELS))
}

/// The installed files.
pub struct Runtime {
    root: PathBuf,
    is_installed: bool,
}

impl Runtime {
    /// Writes the files, unless they exist. Uses `scratch` if the user has no cache
    /// directory, or if other users can write to it.
    pub fn install(scratch: &Path) -> std::io::Result<Runtime> {
        if let Some(root) = installed_dir().filter(|dir| is_trusted_dir(dir)) {
            return Ok(Runtime { root, is_installed: true });
        }
        for base in cache_dirs() {
            let root = base.join(HASH);
            if is_private_dir(&root) || write_files(&base, &root).is_ok() && is_private_dir(&root) {
                return Ok(Runtime { root, is_installed: false });
            }
        }
        let root = scratch.join(HASH);
        if !root.exists() {
            write_files(scratch, &root)?;
        }
        Ok(Runtime { root, is_installed: false })
    }

    /// Headers: `pleach.h`, `crest.h`, `klee/klee.h`.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// The path of a file that is made on this machine once, for later links. It is in the
    /// user's own directory, because an installation belongs to root.
    pub fn made_file(&self, name: &str) -> Option<PathBuf> {
        if !self.is_installed {
            return Some(self.link_file(name));
        }
        let mut dirs = cache_dirs().into_iter().map(|base| base.join(format!("{HASH}-made")));
        dirs.find(|dir| make_private_dir(dir)).map(|dir| dir.join(name))
    }

    /// The path of a file for the linker, by its name in the build script's table.
    pub fn link_file(&self, name: &str) -> PathBuf {
        self.root.join("lib").join(name)
    }
}

/// True if the directory is there now, and private.
fn make_private_dir(dir: &Path) -> bool {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.is_ok() && is_private_dir(dir)
}

/// Writes the files for all users: `dir/HASH/lib` and `dir/HASH/include`.
pub fn write_runtime(dir: &Path) -> std::io::Result<()> {
    for (name, bytes) in FILES {
        let path = dir.join(HASH).join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

/// Where `./x install` has put the files. The hash is that of the files in this program.
fn installed_dir() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("lib/pleach").join(HASH))
}

/// The directories to try, in order of preference.
fn cache_dirs() -> Vec<PathBuf> {
    let var = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = var("XDG_CACHE_HOME").or_else(|| Some(var("HOME")?.join(".cache")));
    // Safety: takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    let shared = std::env::temp_dir().join(format!("pleach-{user}"));
    cache.map(|c| c.join("pleach")).into_iter().chain([shared]).collect()
}

/// True if this user owns the directory and no other user can write to it. Its
/// files are linked into programs, so others must not be able to change them.
fn is_private_dir(dir: &Path) -> bool {
    // Safety: takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    is_owned_by(dir, user)
}

/// As `is_private_dir`, but root may own it.
fn is_trusted_dir(dir: &Path) -> bool {
    is_private_dir(dir) || is_owned_by(dir, 0)
}

fn is_owned_by(dir: &Path, user: u32) -> bool {
    std::fs::symlink_metadata(dir)
        .is_ok_and(|m| m.is_dir() && m.uid() == user && m.permissions().mode() & 0o022 == 0)
}

fn write_files(base: &Path, root: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(base)?;
    if !is_private_dir(base) {
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
    // Another run may have created the directory first; its files are the same.
    if root.is_dir() { Ok(()) } else { moved }
}
