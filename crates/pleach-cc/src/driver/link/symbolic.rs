//! The link of the symbolic half.
//!
//! The command is the user's, with each input replaced by its symbolic half. It
//! always makes a dynamically linked, position independent file with lld, whatever
//! the user's options are: only such a program leaves the addresses of the shadow
//! memory free. Files that describe the link (a map, dependencies) come from the
//! fast half's link.
//!
//! Twins of shared libraries keep their names and sonames. The executable searches
//! for them first in `pleach-twins` beside itself, and a twin searches for others
//! beside itself. The executor copies the twins there before a run.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::inputs::{Inputs, Substitute};
use super::line::{Element, without_dashes};
use super::{ANCHOR, Product, RUNTIME_LIBRARIES};
use crate::driver::error::Error;
use crate::driver::options::{self, Flag};
use crate::driver::{Context, archive, elf};

/// Directory of the twins, beside the symbolic executable.
pub const TWINS: &str = "pleach-twins";

/// The arguments of the link. Writes the files that they name to the scratch
/// directory.
pub fn arguments(
    cx: &Context,
    product: Product,
    elements: &[Element],
    inputs: Inputs,
    cxx: Option<&Path>,
    output: &Path,
) -> Result<Vec<OsString>, Error> {
    let mut ld = OsString::from("--ld-path=");
    ld.push(cx.toolchain.lld()?);
    let mut args: Vec<OsString> = vec!["-Qunused-arguments".into(), "-fuse-ld=lld".into(), ld];
    args.extend(["-o".into(), output.into()]);
    match product {
        Product::Executable => {
            args.push("-pie".into());
            args.push(format!("-Wl,-rpath,$ORIGIN/{TWINS}").into());
        }
        Product::Shared => args.push("-Wl,-rpath,$ORIGIN".into()),
    }
    // Symbols are bound once at start-up, not again in every child of the fork server.
    // Libraries require it: the lazy resolver does not preserve r10, and callers of
    // the runtime rely on r10.
    args.push("-Wl,-z,now".into());
    // GNU ld accepts these by default, and lld does not.
    args.push("-Wl,--undefined-version,--allow-shlib-undefined".into());

    let mut files = Files { dir: cx.scratch.sub("link")?, count: 0 };
    let Inputs { substitutes, defined, twin_models, .. } = inputs;
    let is_defined = |name: &[u8]| defined.contains(name);
    for (element, substitute) in elements.iter().zip(substitutes) {
        match (element, substitute) {
            (Element::Driver(flag), _) => args.extend(driver_option(flag)),
            (Element::Linker(flag), _) => args.extend(linker_option(flag)),
            (Element::File(path), Some(Substitute::Same)) => args.push(path.into()),
            (Element::Library(name), Some(Substitute::Same)) => {
                let mut arg = OsString::from("-l");
                arg.push(name);
                args.push(arg);
            }
            (Element::Source(n), Some(Substitute::Same)) => {
                args.push(cx.halves[*n].fast.clone().into())
            }
            (_, Some(substitute)) => args.extend(files.write_substitute(substitute, &is_defined)?),
            (_, None) => {}
        }
    }
    match product {
        Product::Shared => args.push(cx.runtime.link_file("shared_symbolic.o").into()),
        Product::Executable => {
            // A twin's call of a model must reach the program's own function, as the
            // library's call does in the fast half.
            for name in twin_models.iter().filter(|n| is_defined(n)) {
                let name = String::from_utf8_lossy(name);
                args.push(format!("-Wl,--defsym={}{name}={name}", elf::MODEL_PREFIX).into());
            }
            args.push("-Wl,--export-dynamic-symbol=__pleach_*".into());
            args.push(format!("-Wl,-u,{ANCHOR}").into());
            if let Some(object) = cxx {
                let bytes = std::fs::read(object).map_err(Error::io("read", object))?;
                args.extend(files.write_substitute(Substitute::Objects(vec![bytes]), &is_defined)?);
            }
            if cx.inv.fuzzer {
                args.push(cx.runtime.link_file("libpleach_fuzzer.a").into());
            }
            args.push(cx.runtime.link_file("libpleach_rt_symbolic.a").into());
            args.extend(RUNTIME_LIBRARIES.iter().flat_map(|w| ["-Xlinker", w]).map(OsString::from));
        }
    }
    Ok(args)
}

/// True for `-z defs` and `-z text`, which a twin cannot satisfy, and for `-z lazy`,
/// which is not allowed.
fn is_dropped_z_option(name: &str, flag: &Flag) -> bool {
    let value = flag.value.as_deref();
    without_dashes(name) == "z"
        && ["defs", "text", "lazy"].iter().any(|v| value == Some(OsStr::new(v)))
}

fn driver_option(flag: &Flag) -> Vec<OsString> {
    let is_kept =
        options::is_symbolic_link_option(flag.name()) && !is_dropped_z_option(flag.name(), flag);
    match is_kept {
        true => flag.words().collect(),
        false => Vec::new(),
    }
}

fn linker_option(flag: &Flag) -> Vec<OsString> {
    const DROPPED: &str = "\
        Bstatic-pie M Map cref dependency-file fatal-warnings no-pie no-undefined o oformat output pie \
        plugin plugin-opt print-map s static strip-all t trace trace-symbol v V verbose \
        version warn-unresolved-symbols y no-allow-shlib-undefined unresolved-symbols \
        no-undefined-version stats print-gc-sections why-extract time-trace build-id \
        compress-debug-sections gdb-index";
    let name = without_dashes(flag.name());
    let name = name.split_once('=').map_or(name, |(head, _)| head);
    if options::is_one_of(name, DROPPED) || is_dropped_z_option(name, flag) {
        return Vec::new();
    }
    flag.words().flat_map(|w| ["-Xlinker".into(), w]).collect()
}

/// Files written for this link, numbered.
struct Files {
    dir: PathBuf,
    count: usize,
}

impl Files {
    /// Writes what replaces an input, and returns its arguments for the link.
    fn write_substitute(
        &mut self,
        substitute: Substitute,
        is_defined: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Vec<OsString>, Error> {
        match substitute {
            Substitute::Same => Ok(Vec::new()),
            Substitute::Objects(objects) => objects
                .into_iter()
                .map(|mut object| {
                    elf::redirect_models(&mut object, is_defined);
                    Ok(self.write_file("o", &object)?.into())
                })
                .collect(),
            Substitute::Archive(mut members) => {
                members.iter_mut().for_each(|m| elf::redirect_models(&mut m.bytes, is_defined));
                Ok(vec![self.write_file("a", &archive::write(&members))?.into()])
            }
            Substitute::Twin { path, image } => {
                // Named by -l, not by path: the executable would record the scratch path
                // of a library without a soname.
                self.count += 1;
                let dir = self.dir.join(format!("twin{}", self.count));
                std::fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
                let name = path.file_name().unwrap_or_default();
                let twin = dir.join(name);
                std::fs::write(&twin, image).map_err(Error::io("write", &twin))?;
                let mut library = OsString::from("-l:");
                library.push(name);
                let mut search = OsString::from("-L");
                search.push(&dir);
                debug_assert!(!name.as_bytes().is_empty());
                Ok(vec![search, library])
            }
        }
    }

    fn write_file(&mut self, extension: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        self.count += 1;
        let path = self.dir.join(format!("{}.{extension}", self.count));
        std::fs::write(&path, bytes).map_err(Error::io("write", &path))?;
        Ok(path)
    }
}
