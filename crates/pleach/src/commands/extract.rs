//! `pleach extract`: writes one half to a file, for test suites that call the program
//! themselves.

use crate::args::{Extract, HalfName};
use crate::exit::{Code, Failure};
use anyhow::{Context, anyhow};
use pleach_exec::{Image, Layout};
use std::path::Path;

pub fn run(args: Extract) -> Result<Code, Failure> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    if real(&args.output).is_some_and(|out| real(&args.program) == Some(out)) {
        let name = args.output.display();
        return Err(Failure::user_error(anyhow!(
            "{name}: is the program itself; give another file"
        )));
    }
    match args.half {
        HalfName::Symbolic => {
            Layout::at(&args.program, &args.output)?;
        }
        HalfName::Fast => {
            let image = Image::open(&args.program)?;
            std::fs::copy(&image.path, &args.output)
                .with_context(|| args.output.display().to_string())
                .map_err(Failure::user_error)?;
        }
    }
    Ok(Code::Ok)
}
