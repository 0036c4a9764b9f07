//! The symbolic half as files: a private directory with the symbolic
//! executable under the program's own name, and beside it `pleach-twins/`,
//! which its run path names, with the symbolic twins of the shared libraries.
//!
//! The executable no longer lies where it was built to lie, so a library that
//! was found relative to it (`$ORIGIN`) and has no twin gets a link there too.

use crate::executor::Half;
use crate::image::{Image, ImageError};
use crate::private::PrivateDir;
use crate::shm::{LoadedModule, memory_file};
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

pub const TWINS: &str = "pleach-twins";
/// Libraries of the system that have models, or that programs do not hand input to.
const MODELLED: [&str; 16] = [
    "ld-linux",
    "libc.so",
    "libc-",
    "libm.so",
    "libm-",
    "libmvec",
    "libpthread",
    "libdl.so",
    "libdl-",
    "librt.so",
    "libutil.so",
    "libgcc_s",
    "libstdc++",
    "libc++",
    "libasan",
    "libclang_rt",
];

/// A target with everything that is needed to run either half.
#[derive(Debug)]
pub struct Layout {
    /// The executable as given.
    pub fast: Image,
    /// The symbolic executable, and the twins by soname.
    pub symbolic: Image,
    pub libraries: HashMap<String, Library>,
    pub symbolic_path: PathBuf,
    /// Owns the files, if they are in a private directory.
    dir: Option<PrivateDir>,
}

/// A shared library with instrumentation: both halves.
#[derive(Debug)]
pub struct Library {
    pub fast: Image,
    pub symbolic: Image,
}

impl Layout {
    /// Lays the symbolic half out in a private directory.
    pub fn private(program: &Path) -> Result<Layout, ImageError> {
        let dir = PrivateDir::new().map_err(no_directory)?;
        let mut layout = Layout::at(program, &dir.path().join(name_of(program)))?;
        layout.dir = Some(dir);
        Ok(layout)
    }

    /// Lays it out in a directory that outlives this process, for one that is to
    /// become the target; its removal is the caller's.
    pub fn lasting(program: &Path) -> Result<(Layout, PathBuf), ImageError> {
        let owner = Permissions::from_mode(0o700);
        let mut builder = tempfile::Builder::new();
        let dir = builder.prefix("pleach-exec-").permissions(owner).tempdir();
        let dir = dir.map_err(no_directory)?;
        let layout = Layout::at(program, &dir.path().join(name_of(program)))?;
        Ok((layout, dir.keep()))
    }

    /// The symbolic executable as a file in memory, if it needs nothing beside
    /// it: there is nothing to clean up then. `None` if it has twins, or where
    /// there are no such files.
    pub fn in_memory(program: &Path) -> Result<Option<File>, ImageError> {
        let fast = Image::open(program)?;
        if !libraries_of(&fast).is_empty() {
            return Ok(None);
        }
        let file = memory_file(c"pleach-symbolic", libc::MFD_CLOEXEC);
        Ok(file.and_then(|f| f.write_all_at(&fast.symbolic, 0).map(|()| f)).ok())
    }

    /// Writes the symbolic executable to `to`, and the twins beside it.
    pub fn at(program: &Path, to: &Path) -> Result<Layout, ImageError> {
        let fast = Image::open(program)?;
        let twin_path = to.to_path_buf();
        let symbolic = Image::parse(&twin_path, &fast.symbolic)?;
        write_executable(to, &fast.symbolic)?;
        let dir = to.parent().unwrap_or(Path::new(".")).join(TWINS);
        let mut libraries = HashMap::new();
        for (soname, library) in libraries_of(&fast) {
            let place = dir.join(&soname);
            let io = |error| ImageError::Io { path: place.clone(), error };
            match library {
                Found::Instrumented(image) => {
                    std::fs::create_dir_all(&dir).map_err(io)?;
                    let symbolic = Image::parse(&place, &image.symbolic)?;
                    write_executable(&place, &image.symbolic)?;
                    libraries.insert(soname, Library { fast: *image, symbolic });
                }
                Found::Plain(path) => {
                    std::fs::create_dir_all(&dir).map_err(io)?;
                    let _ = std::fs::remove_file(&place);
                    symlink(path, &place).map_err(io)?;
                }
            }
        }
        Ok(Layout { fast, symbolic, libraries, symbolic_path: twin_path, dir: None })
    }

    /// A layout of a fake program: both halves have the same tables, and no files.
    #[cfg(any(test, feature = "fake"))]
    pub(crate) fn of_tables(image: Image) -> Layout {
        Layout {
            fast: image.clone(),
            symbolic_path: image.path.clone(),
            symbolic: image,
            libraries: HashMap::new(),
            dir: None,
        }
    }

    /// The value of `LD_LIBRARY_PATH` for a half, if there is a need for one. The variable
    /// goes before the run path: it would find the fast halves for the symbolic half. And
    /// relative directories, there or in the run path, are relative to where the person
    /// stands, not to where runs work.
    pub fn library_path(&self, half: Half) -> Option<OsString> {
        let from_here = self.fast.run_path.iter().filter(|d| is_from_here(d));
        let from_here = from_here.filter_map(|d| std::path::absolute(d).ok());
        let mut dirs: Vec<PathBuf> = library_variable().into_iter().chain(from_here).collect();
        if dirs.is_empty() {
            return None;
        }
        let twins = self.symbolic_path.parent()?.join(TWINS);
        if half == Half::Symbolic && twins.is_dir() {
            dirs.insert(0, twins);
        }
        std::env::join_paths(dirs).ok()
    }

    /// The image behind a module that the target reports. The executable is
    /// always the first; the path that it has for itself is what it was called.
    pub fn module(&self, module: &LoadedModule, half: Half) -> Option<&Image> {
        let pick = |fast, symbolic| match half {
            Half::Fast => fast,
            Half::Symbolic => symbolic,
        };
        if module.place == 0 {
            return Some(pick(&self.fast, &self.symbolic));
        }
        let library = self.libraries.get(module.path.file_name()?.to_str()?)?;
        Some(pick(&library.fast, &library.symbolic))
    }

    /// Of the files that the symbolic half has loaded, those in which nothing is followed:
    /// libraries that were not built by `pleach cc`, and instrumented ones of which the
    /// loader found the fast half. The C and C++ libraries have models instead.
    pub fn without_symbolic_half(&self, loaded: &[PathBuf]) -> Vec<PathBuf> {
        let own = self.symbolic_path.parent();
        let own = own.and_then(|dir| std::fs::canonicalize(dir).ok());
        let foreign = |path: &&PathBuf| {
            let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
            let inside = own.as_ref().is_some_and(|dir| path.starts_with(dir));
            name.contains(".so") && !inside && !MODELLED.iter().any(|m| name.starts_with(m))
        };
        loaded.iter().filter(foreign).cloned().collect()
    }

    /// The private directory, and what is in it, for whoever must remove it.
    pub fn directory(&self) -> Option<&Path> {
        self.dir.as_ref().map(PrivateDir::path)
    }
}

fn name_of(program: &Path) -> OsString {
    program.file_name().map_or_else(|| OsString::from("program"), OsString::from)
}

fn no_directory(error: io::Error) -> ImageError {
    ImageError::Io { path: std::env::temp_dir(), error }
}

enum Found {
    Instrumented(Box<Image>),
    /// No twin, and only found relative to the executable.
    Plain(PathBuf),
}

/// The shared libraries of an executable that matter here, transitively.
fn libraries_of(program: &Image) -> Vec<(String, Found)> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut queue: Vec<(String, Vec<(PathBuf, bool)>)> =
        program.needed.iter().map(|n| (n.clone(), search_path(program))).collect();
    while let Some((soname, path)) = queue.pop() {
        if soname.contains('/') || !seen.insert(soname.clone()) {
            continue;
        }
        let Some((file, relative)) =
            path.iter().map(|(d, r)| (d.join(&soname), *r)).find(|(f, _)| f.is_file())
        else {
            continue;
        };
        let parsed = std::fs::read(&file).ok().and_then(|b| Image::parse(&file, &b).ok());
        let Some(image) = parsed else { continue };
        for needed in &image.needed {
            let mut path = search_path(&image);
            path.extend(search_path(program));
            queue.push((needed.clone(), path));
        }
        if !image.symbolic.is_empty() {
            found.push((soname, Found::Instrumented(Box::new(image))));
        } else if relative {
            let file = std::fs::canonicalize(&file).unwrap_or(file);
            found.push((soname, Found::Plain(file)));
        }
    }
    found
}

/// The directories that `LD_LIBRARY_PATH` names, from the root.
pub(crate) fn library_variable() -> Vec<PathBuf> {
    let variable = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&variable).filter(|d| !d.as_os_str().is_empty());
    dirs.filter_map(|d| std::path::absolute(d).ok()).collect()
}

/// True for an entry of a run path that is relative to where a process works.
fn is_from_here(entry: &str) -> bool {
    !entry.is_empty() && !entry.starts_with(['/', '$'])
}

/// Where the loader looks before the system's directories, and whether that
/// is relative to the file.
fn search_path(image: &Image) -> Vec<(PathBuf, bool)> {
    let path = std::fs::canonicalize(&image.path).unwrap_or_else(|_| image.path.clone());
    let origin = path.parent().unwrap_or(Path::new(".")).to_path_buf();
    let expand = |entry: &String| {
        let text = origin.to_string_lossy();
        let full = entry.replace("${ORIGIN}", &text).replace("$ORIGIN", &text);
        (PathBuf::from(&full), full != *entry || !full.starts_with('/'))
    };
    let mut path: Vec<_> = library_variable().into_iter().map(|d| (d, false)).collect();
    path.extend(image.run_path.iter().filter(|e| !e.is_empty()).map(expand));
    path
}

fn write_executable(path: &Path, bytes: &[u8]) -> Result<(), ImageError> {
    let io = |error| ImageError::Io { path: path.into(), error };
    std::fs::write(path, bytes).map_err(io)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).map_err(io)
}
