//! Builds of the programs in `examples/`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::{process, project};

const LIMIT: Duration = Duration::from_secs(600);

/// Copies an example to an empty directory and builds it there.
pub fn build(example: &str, dir: &Path, compiler: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    fs::create_dir_all(dir)?;
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(project::root().join("examples").join(example).join(".")).arg(dir);
    process::succeed(&mut copy, LIMIT, "cannot copy the example")?;
    let mut make = Command::new("make");
    make.arg("-B").arg(format!("CC={}", compiler.display())).current_dir(dir);
    process::succeed(&mut make, LIMIT, "make").map(drop)
}
