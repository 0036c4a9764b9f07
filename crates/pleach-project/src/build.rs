//! Build systems, and the commands that build a tree with Pleach.
//!
//! Nothing is written to the tree. CMake and Meson build in another directory. For the
//! others the tree is copied, because makefiles of many projects do not work from another
//! directory, and `autoreconf` writes to the sources.

use crate::includes::include_dirs;
use crate::programs::Program;
use crate::tree::{File, Tree};
use pleach_exec::triage::quoted;
use std::fmt;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// A script `configure` and a makefile.
    Configure,
    Meson,
    CMake,
    /// `configure.ac`, from which the script is made.
    Autoconf,
    Make,
    /// Sources alone.
    Sources,
}

/// How to build a tree.
#[derive(Debug)]
pub struct Build {
    pub system: System,
    /// Commands for the shell, in order.
    pub commands: Vec<String>,
}

/// The last one takes C from before 1999: clang refuses calls without a declaration.
const FLAGS: &str = "-g -O1 -Wno-error=implicit-function-declaration";

/// Where a build would install to, below the output directory.
const INSTALLED: &str = "installed";

/// Makes the files that autoconf, automake and makeinfo have made newer than their sources.
/// Patches and version control leave other times, and then `make` would start these programs,
/// which may not be installed.
const KEEP_GENERATED: [&str; 3] = [
    "find . -name aclocal.m4 -exec touch {} +",
    "find . -name configure -exec touch {} +",
    "find . '(' -name Makefile.in -o -name '*.h.in' -o -name '*.hin' -o -name '*.info' ')' \
     -exec touch {} +",
];

impl System {
    pub const ALL: [System; 6] = [
        System::Configure,
        System::Meson,
        System::CMake,
        System::Autoconf,
        System::Make,
        System::Sources,
    ];

    pub fn name(self) -> &'static str {
        match self {
            System::Configure => "configure",
            System::Meson => "meson",
            System::CMake => "cmake",
            System::Autoconf => "autoconf",
            System::Make => "make",
            System::Sources => "sources",
        }
    }

    /// Where the build writes to.
    pub fn build_dir(self, out: &Path) -> PathBuf {
        match self {
            System::Sources => out.to_owned(),
            System::CMake | System::Meson => out.join("build"),
            _ => out.join("src"),
        }
    }

    /// Where the build puts a program, if it follows the directories of the sources.
    pub fn program(self, out: &Path, program: &Program) -> PathBuf {
        match self {
            System::Sources => out.join(&program.name),
            _ => self.build_dir(out).join(&program.dir).join(&program.name),
        }
    }

    /// Programs that the commands need.
    pub fn tools(self) -> Vec<&'static str> {
        match self {
            System::Configure | System::Make => vec!["make"],
            System::Meson => vec!["meson", "ninja"],
            System::CMake => vec!["cmake", "make"],
            System::Autoconf => vec!["autoreconf", "make"],
            System::Sources => Vec::new(),
        }
    }

    /// The commands that build `tree` below the directory `out`, with further flags for the
    /// compiler, such as `-fsanitize=address`.
    pub fn build(self, tree: &Tree, out: &Path, more: &str, jobs: usize) -> Build {
        let flags = format!("{FLAGS} {more}");
        let flags = flags.trim();
        let shown = |path: &Path| quoted(path.as_os_str());
        let (source, copy, build) =
            (shown(&tree.root), shown(&out.join("src")), shown(&out.join("build")));
        let copied = |commands: Vec<String>| {
            let mut all = vec![format!("cp -a {source}/. {copy}"), format!("cd {copy}")];
            all.extend(commands);
            all
        };
        // Manuals are not needed, and makeinfo may not be installed.
        let make = format!("make -j{jobs} MAKEINFO=true");
        let commands = match self {
            System::Configure => {
                let mut commands = Vec::new();
                if tree.has("Makefile") && tree.has("config.status") {
                    commands.push("make distclean".into());
                }
                if tree.has("aclocal.m4") {
                    commands.extend(KEEP_GENERATED.map(String::from));
                }
                commands.extend([configure(tree, out, flags), make]);
                copied(commands)
            }
            System::Autoconf => {
                copied(vec!["autoreconf -fi".into(), configure(tree, out, flags), make])
            }
            System::Make => {
                let make = format!(
                    "{make} CC={} CXX={}",
                    quoted(format!("pleach-cc {flags}").as_ref()),
                    quoted(format!("pleach-c++ {flags}").as_ref())
                );
                // Objects of another compiler would be linked.
                let is_built = tree.with_extension(&["o", "a"]).next().is_some();
                let clean = is_built.then(|| "make clean || true".to_owned());
                copied(clean.into_iter().chain([make]).collect())
            }
            System::CMake => vec![
                format!(
                    "cmake -S {source} -B {build} -DCMAKE_C_COMPILER=pleach-cc \
                     -DCMAKE_CXX_COMPILER=pleach-c++ -DCMAKE_C_FLAGS={flags} \
                     -DCMAKE_CXX_FLAGS={flags} -DBUILD_SHARED_LIBS=OFF \
                     -DCMAKE_INSTALL_PREFIX={prefix}",
                    flags = quoted(flags.as_ref()),
                    prefix = shown(&out.join(INSTALLED)),
                ),
                format!("cmake --build {build} -j{jobs}"),
            ],
            System::Meson => vec![
                format!(
                    "CC=pleach-cc CXX=pleach-c++ CFLAGS={flags} CXXFLAGS={flags} meson setup \
                     --buildtype=plain --default-library=static --prefix={prefix} {build} {source}",
                    flags = quoted(flags.as_ref()),
                    prefix = shown(&out.join(INSTALLED)),
                ),
                format!("meson compile -C {build} -j {jobs}"),
            ],
            System::Sources => sources(tree, out, flags),
        };
        let is_copied = commands.iter().any(|c| c.starts_with("cp "));
        let mut all = vec![format!("mkdir -p {}", if is_copied { copy } else { shown(out) })];
        all.extend(commands);
        Build { system: self, commands: all }
    }
}

impl System {
    /// The commands that install what was built below the directory `out`, for programs that
    /// need their data files. Nothing is written elsewhere: what the build system would put
    /// outside its prefix stays in a staging directory.
    pub fn install(self, out: &Path) -> Option<Vec<String>> {
        let shown = |path: &Path| quoted(path.as_os_str());
        let (staged, installed) = (out.join("staged"), out.join(INSTALLED));
        let build = shown(&self.build_dir(out));
        let destination = format!("DESTDIR={}", shown(&staged));
        let install = match self {
            System::Configure | System::Autoconf => {
                format!("make -C {build} install MAKEINFO=true {destination}")
            }
            System::CMake => format!("{destination} cmake --install {build}"),
            System::Meson => format!("{destination} meson install --no-rebuild -C {build}"),
            System::Make | System::Sources => return None,
        };
        let below = installed.strip_prefix("/").unwrap_or(&installed);
        let moved = shown(&staged.join(below));
        Some(vec![install, format!("[ ! -d {moved} ] || mv {moved} {}", shown(&installed))])
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            System::Configure => "a configure script",
            System::Meson => "Meson",
            System::CMake => "CMake",
            System::Autoconf => "configure.ac",
            System::Make => "a makefile",
            System::Sources => "sources without a build system",
        })
    }
}

/// The build systems that a tree has, the preferred one first.
pub fn systems(tree: &Tree) -> Vec<System> {
    let makefile = ["GNUmakefile", "makefile", "Makefile"].iter().any(|name| tree.has(name));
    let has = |system: &System| match system {
        System::Configure => tree.has("configure"),
        System::Meson => tree.has("meson.build"),
        System::CMake => tree.has("CMakeLists.txt"),
        // Also where there is a script, which may be too old.
        System::Autoconf => tree.has("configure.ac") || tree.has("configure.in"),
        // The makefile of an automake project comes from `configure`.
        System::Make => makefile && !tree.has("Makefile.am") && !tree.has("Makefile.in"),
        System::Sources => false,
    };
    let mut found: Vec<System> = System::ALL.into_iter().filter(has).collect();
    if found.is_empty() && top_sources(tree).next().is_some() {
        found.push(System::Sources);
    }
    found
}

/// A directory below another; an empty name is the other itself.
pub fn below(top: &Path, dir: &Path) -> PathBuf {
    if dir.as_os_str().is_empty() { top.to_owned() } else { top.join(dir) }
}

fn configure(tree: &Tree, out: &Path, flags: &str) -> String {
    let text = |name: &str| {
        let file = tree.files.iter().find(|f| f.path == Path::new(name));
        file.map_or_else(String::new, |f| tree.text(f))
    };
    let (made, source) = (text("configure"), text("configure.ac"));
    // One file that has everything is found and copied more easily than a program with a
    // library. Scripts that are not made by autoconf refuse options that they do not know.
    let shared = made.contains("--enable-shared")
        || ["LT_INIT", "AC_PROG_LIBTOOL", "AM_PROG_LIBTOOL"].iter().any(|m| source.contains(m));
    let shared = if shared { " --disable-shared" } else { "" };
    let takes_prefix = made.contains("--prefix") || made.is_empty();
    let prefix = match takes_prefix {
        true => format!(" --prefix={}", quoted(out.join(INSTALLED).as_os_str())),
        false => String::new(),
    };
    // Scripts that people have written may have an option for the compiler, and ignore CC.
    let option = |name: &str, compiler: &str| match made.contains(&format!("{name}=")) {
        true => format!(" {name}={compiler}"),
        false => String::new(),
    };
    let compiler = option("--cc", "pleach-cc") + &option("--cxx", "pleach-c++");
    let flags = quoted(flags.as_ref());
    format!(
        "CC=pleach-cc CXX=pleach-c++ CFLAGS={flags} CXXFLAGS={flags} \
         ./configure{prefix}{shared}{compiler}"
    )
}

/// The sources at the top of the tree and in its directories for sources.
fn top_sources(tree: &Tree) -> impl Iterator<Item = &File> {
    const DIRS: [&str; 5] = ["", "src", "source", "sources", "lib"];
    let sources = tree.with_extension(&["c", "cc", "cpp", "cxx"]);
    sources.filter(|f| DIRS.iter().any(|dir| f.dir() == Path::new(dir)))
}

/// One command for each source with a `main`, with all sources that have none.
fn sources(tree: &Tree, out: &Path, flags: &str) -> Vec<String> {
    let (main, rest): (Vec<&File>, Vec<&File>) =
        top_sources(tree).partition(|f| crate::programs::has_main(&tree.text(f)));
    let path = |file: &File| quoted(tree.root.join(&file.path).as_os_str());
    let include = include_dirs(tree, main.iter().chain(&rest).copied()).into_iter();
    let include = include.map(|dir| format!(" -I{}", quoted(below(&tree.root, &dir).as_os_str())));
    let include: String = include.collect();
    let commands = main.iter().map(|file| {
        let stem = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let files: Vec<String> =
            std::iter::once(path(file)).chain(rest.iter().map(|f| path(f))).collect();
        let is_c = std::iter::once(file).chain(&rest).all(|f| f.extension() == "c");
        let compiler = if is_c { "pleach-cc" } else { "pleach-c++" };
        let output = quoted(out.join(stem).as_os_str());
        format!("{compiler} {flags}{include} -o {output} {} -lm", files.join(" "))
    });
    commands.collect()
}
