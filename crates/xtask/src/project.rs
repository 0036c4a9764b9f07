//! Paths: the checkout, the programs that `./x build` makes, and the plain compilers
//! that Pleach is compared with.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// The top of the checkout.
pub fn root() -> PathBuf {
    // `./x` sets the variable; `cargo test` does not.
    if let Some(root) = env::var_os("PLEACH_ROOT") {
        return root.into();
    }
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

/// A path under `target/`, where all downloaded and built files go.
pub fn target(name: &str) -> PathBuf {
    root().join("target").join(name)
}

/// The same clang that Pleach uses, so that instrumentation is the only difference to
/// the plain build.
pub const CLANG: &str = "clang-22";
pub const CLANGXX: &str = "clang++-22";

/// A program that `./x build` makes.
pub fn tool(name: &str) -> Result<PathBuf> {
    let path = target("release").join(name);
    if !path.is_file() {
        bail!("{} is missing: run ./x build first", path.display());
    }
    Ok(path)
}
