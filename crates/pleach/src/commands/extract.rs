//! `pleach extract`: one half as a file of its own, for test suites that call
//! the program themselves.

use crate::args::{Extract, HalfName};
use crate::exit::{Code, Failure};
use anyhow::Context;
use pleach_campaign::{Image, Layout};

pub fn run(args: Extract) -> Result<Code, Failure> {
    match args.half {
        HalfName::Symbolic => {
            Layout::at(&args.program, &args.output)?;
        }
        HalfName::Fast => {
            let image = Image::open(&args.program)?;
            std::fs::copy(&image.path, &args.output)
                .with_context(|| args.output.display().to_string())
                .map_err(Failure::person)?;
        }
    }
    Ok(Code::Ok)
}
