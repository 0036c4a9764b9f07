//! The symbolic half as files. A private directory holds the symbolic executable, under
//! the program's own name. Beside it, `pleach-twins/` holds the symbolic twins of the
//! shared libraries; the run path of the executable names this directory.
//!
//! The loader finds some libraries relative to the executable (`$ORIGIN`), which is now
//! elsewhere. Such a library gets a link in `pleach-twins/` if it has no twin.

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
/// Libraries of the system that have models, or that do not get input from programs.
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

/// A target, with everything that is needed to run either half.
#[derive(Debug)]
pub struct Layout {
    /// The executable as given.
    pub fast: Image,
    pub symbolic: Image,
    /// Shared libraries with instrumentation, by soname.
    pub libraries: HashMap<String, Library>,
    pub symbolic_path: PathBuf,
    /// The private directory that the files are in, if they are in one.
    dir: Option<PrivateDir>,
}

/// A shared library with instrumentation: both halves.
#[derive(Debug)]
pub struct Library {
    pub fast: Image,
    pub symbolic: Image,
}

impl Layout {
    /// Writes the symbolic half into a private directory.
    pub fn private(program: &Path) -> Result<Layout, ImageError> {
        let dir = PrivateDir::new().map_err(no_directory)?;
        let mut layout = Layout::at(program, &dir.path().join(name_of(program)))?;
        layout.dir = Some(dir);
        Ok(layout)
    }

    /// Writes it into a directory that outlives this process, for a process that will
    /// `exec` the target. The caller must have the directory removed.
    pub fn lasting(program: &Path) -> Result<(Layout, PathBuf), ImageError> {
        let owner = Permissions::from_mode(0o700);
        let mut builder = tempfile::Builder::new();
        let dir = builder.prefix("pleach-exec-").permissions(owner).tempdir();
        let dir = dir.map_err(no_directory)?;
        let layout = Layout::at(program, &dir.path().join(name_of(program)))?;
        Ok((layout, dir.keep()))
    }

    /// The symbolic executable as a file in memory, which needs no clean-up. `None` if it
    /// has twins, or if the system has no such files.
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

    /// The value of `LD_LIBRARY_PATH` for a half, if it needs one. The loader tries this
    /// variable before the run path. So the user's value would lead the symbolic half to
    /// fast halves; the twins go in front of it. Relative directories, in the variable or in
    /// the run path, are relative to the user's current directory, which is not that of the
    /// runs; they become absolute.
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

    /// The image of a module that the target reports. The executable is always the first;
    /// its reported path is what it was called by.
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

    /// Of the files that the symbolic half has loaded, those whose code runs without labels:
    /// libraries that were not built by `pleach cc`, and those of which the loader found the
    /// fast half. The C and C++ libraries are not listed, because they have models.
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

    /// The private directory, for the warden that removes it if the driver is killed.
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
    /// It has no twin, and was found relative to the executable.
    Plain(PathBuf),
}

/// The shared libraries of an executable that need a file beside it, also those that other
/// libraries need.
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

/// The directories of `LD_LIBRARY_PATH`, as absolute paths.
pub(crate) fn library_variable() -> Vec<PathBuf> {
    let variable = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&variable).filter(|d| !d.as_os_str().is_empty());
    dirs.filter_map(|d| std::path::absolute(d).ok()).collect()
}

/// True for an entry of a run path that is relative to the current directory.
fn is_from_here(entry: &str) -> bool {
    !entry.is_empty() && !entry.starts_with(['/', '$'])
}

/// The directories that the loader tries before those of the system. The flag is true for
/// one that depends on where the file or the process is.
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
