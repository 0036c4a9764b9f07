//! `pleach pack`: makes one input file from several streams. Their order in the file is:
//! standard input, file, arguments, variables, connections.

use super::read;
use crate::args::Pack;
use crate::exit::{Code, Failure};
use anyhow::{Context, anyhow};
use pleach_abi::container::{ARG, ENV, FILE, SOCKET, STDIN};
use pleach_exec::container;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A target reads at most this many streams.
const MAX_STREAMS: usize = 64;

pub fn run(args: Pack) -> Result<Code, Failure> {
    if args.stdin.len() > 1 || args.file.len() > 1 {
        return Err(Failure::user_error(anyhow!("--stdin and --file can be given only once")));
    }
    let mut streams: Vec<(u8, Vec<u8>)> = Vec::new();
    let files = |kind: u8, paths: &[PathBuf]| -> Result<Vec<_>, Failure> {
        paths.iter().map(|path| Ok((kind, read(path)?))).collect()
    };
    streams.extend(files(STDIN, &args.stdin)?);
    streams.extend(files(FILE, &args.file)?);
    for text in args.arg {
        streams.push((ARG, bytes(text)));
    }
    for text in args.env {
        let text = bytes(text);
        match text.iter().position(|&b| b == b'=') {
            Some(1..) => streams.push((ENV, text)),
            _ => {
                let shown = String::from_utf8_lossy(&text).into_owned();
                return Err(Failure::user_error(anyhow!("--env {shown}: must be NAME=VALUE")));
            }
        }
    }
    streams.extend(files(SOCKET, &args.socket)?);
    if streams.is_empty() {
        return Err(Failure::user_error(anyhow!("nothing to pack: give at least one stream")));
    }
    if streams.len() > MAX_STREAMS {
        return Err(Failure::user_error(anyhow!(
            "an input file can have at most {MAX_STREAMS} streams"
        )));
    }
    let file = container::build(streams.iter().map(|(kind, b)| (*kind, &b[..])))
        .map_err(Failure::user_error)?;
    std::fs::write(&args.output, file)
        .with_context(|| args.output.display().to_string())
        .map_err(Failure::user_error)?;
    Ok(Code::Ok)
}

fn bytes(text: OsString) -> Vec<u8> {
    text.into_vec()
}
