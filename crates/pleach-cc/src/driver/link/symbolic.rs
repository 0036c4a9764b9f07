//! The link of the symbolic half.
//!
//! The command is the user's, with each input replaced by what it has of the
//! symbolic half. It always makes a dynamically linked, position independent
//! file with lld, whatever the user asks for: labels live at addresses that
//! only such a program leaves free. What the user wants to learn from the link
//! (a map, dependencies) comes from the fast one.
//!
//! Twins of shared libraries keep their names and sonames. The executable looks
//! for them in `pleach-twins` beside itself first, and a twin beside itself:
//! whoever runs the symbolic half lays the twins out there.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::inputs::{Inputs, Substitute};
use super::line::{Element, bare};
use super::{ANCHOR, Product, RUNTIME_LIBRARIES};
use crate::driver::error::Error;
use crate::driver::options::{self, Flag};
use crate::driver::{Context, archive, elf};

/// Directory of the twins, beside the symbolic executable.
pub const TWINS: &str = "pleach-twins";

/// The arguments, with every file that they name written to the scratch directory.
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
    // Bound at start-up, once, and not again in every child of the fork server.
    // In libraries it must be so: the lazy resolver does not keep r10, which
    // callers of the runtime count on.
    args.push("-Wl,-z,now".into());
    // GNU ld lets pass what lld would refuse by default.
    args.push("-Wl,--undefined-version,--allow-shlib-undefined".into());

    let dir = cx.scratch.sub("link")?;
    let Inputs { substitutes, own, twin_models, .. } = inputs;
    let mut files = Files { dir, count: 0 };
    let is_own = |name: &[u8]| own.contains(name);
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
            (_, Some(substitute)) => args.extend(files.write(substitute, &is_own)?),
            (_, None) => {}
        }
    }
    match product {
        Product::Shared => args.push(cx.runtime.link_file("shared_symbolic.o").into()),
        Product::Executable => {
            // A twin that calls a model must get the program's own function,
            // as the library would in the fast half.
            for name in twin_models.iter().filter(|n| is_own(n)) {
                let name = String::from_utf8_lossy(name);
                args.push(format!("-Wl,--defsym={}{name}={name}", elf::MODEL).into());
            }
            args.push("-Wl,--export-dynamic-symbol=__pleach_*".into());
            args.push(format!("-Wl,-u,{ANCHOR}").into());
            if let Some(object) = cxx {
                let bytes = std::fs::read(object).map_err(Error::io("read", object))?;
                args.extend(files.write(Substitute::Objects(vec![bytes]), &is_own)?);
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

/// What a twin cannot promise (`-z defs`, `-z text`) or must not do (`-z lazy`).
fn is_unfit(name: &str, flag: &Flag) -> bool {
    let value = flag.value.as_deref();
    bare(name) == "z" && ["defs", "text", "lazy"].iter().any(|v| value == Some(OsStr::new(v)))
}

fn driver_option(flag: &Flag) -> Vec<OsString> {
    match options::is_symbolic_link(flag.name()) && !is_unfit(flag.name(), flag) {
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
    let name = bare(flag.name());
    let name = name.split_once('=').map_or(name, |(head, _)| head);
    if options::is_one_of(name, DROPPED) || is_unfit(name, flag) {
        return Vec::new();
    }
    flag.words().flat_map(|w| ["-Xlinker".into(), w]).collect()
}

/// Files made for this link.
struct Files {
    dir: PathBuf,
    count: usize,
}

impl Files {
    fn write(
        &mut self,
        substitute: Substitute,
        own: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Vec<OsString>, Error> {
        match substitute {
            Substitute::Same => Ok(Vec::new()),
            Substitute::Objects(objects) => objects
                .into_iter()
                .map(|mut object| {
                    elf::redirect_models(&mut object, own);
                    Ok(self.file("o", &object)?.into())
                })
                .collect(),
            Substitute::Archive(mut members) => {
                members.iter_mut().for_each(|m| elf::redirect_models(&mut m.bytes, own));
                Ok(vec![self.file("a", &archive::write(&members))?.into()])
            }
            Substitute::Twin { path, image } => {
                // Found by name in a directory, not by path: a library without
                // a soname would otherwise be needed under its scratch path.
                self.count += 1;
                let dir = self.dir.join(format!("twin{}", self.count));
                std::fs::create_dir_all(&dir).map_err(Error::io("make", &dir))?;
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

    fn file(&mut self, extension: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        self.count += 1;
        let path = self.dir.join(format!("{}.{extension}", self.count));
        std::fs::write(&path, bytes).map_err(Error::io("write", &path))?;
        Ok(path)
    }
}
