//! Where things are: the checkout, what `./x build` leaves in it, and the plain
//! compilers that everything is compared with.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// The top of the checkout.
pub fn root() -> PathBuf {
    // `./x` says where it is; under `cargo test` the manifest does.
    if let Some(root) = env::var_os("PLEACH_ROOT") {
        return root.into();
    }
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

/// A directory under `target/`, where everything that is fetched or made stays.
pub fn target(name: &str) -> PathBuf {
    root().join("target").join(name)
}

/// The clang that Pleach itself is built on, so that the instrumentation is the
/// only difference to the plain build.
pub const CLANG: &str = "clang-22";
pub const CLANGXX: &str = "clang++-22";

/// One of the programs that `./x build` leaves.
pub fn tool(name: &str) -> Result<PathBuf> {
    let path = target("release").join(name);
    if !path.is_file() {
        bail!("{} is missing: run ./x build first", path.display());
    }
    Ok(path)
}
