//! One module of IR in, two out.
//!
//! Both halves are copies of the front end's IR with its critical edges
//! broken, so they number their sites alike (`sites`). The fast half gets
//! counters (`fast`). The symbolic half gets markers at its sites, is
//! optimised, and only then gets labels (`labels`): there is much less code to
//! label after optimisation, and the markers keep every decision of the source
//! visible whatever the optimiser makes of the branch itself.

pub mod fast;
pub mod labels;
pub mod llvm;
pub mod program;
pub mod recursion;
pub mod shortcut;
pub mod sites;
pub mod tokens;

use llvm::{Context, Module, TargetMachine};
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not IR that this LLVM reads: another compiler's, or a damaged file.
    #[error("cannot read {path} as LLVM IR: {why}")]
    Read { path: String, why: String },
    #[error("{0}")]
    Write(String),
    /// A defect of ours: the IR that we made is not valid.
    #[error("internal error in {stage}: {why}")]
    Internal { stage: &'static str, why: String },
    /// The user names a token that is not there.
    #[error("{0}")]
    Token(String),
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Functions that the fast and the symbolic runtime replace.
    pub fast_models: Vec<String>,
    pub symbolic_models: Vec<String>,
    /// Functions that return tokens.
    pub tokens: tokens::Tokens,
    /// The user did not ask for debug information: drop it from the fast half
    /// once the sites' lines have been taken from it.
    pub strip_debug: bool,
    /// Check the IR after each of our passes.
    pub verify: bool,
}

/// The symbolic half, not yet made: so that the fast half can be compiled
/// while it is.
pub struct Symbolic {
    // Dropped in this order: values before the context.
    module: Module,
    machine: TargetMachine,
    ctx: Context,
}

/// Reads a module, writes its fast half, and returns what the symbolic half
/// will be made from.
pub fn fast(bitcode: &Path, out: &Path, opts: &Options) -> Result<Symbolic, Error> {
    let ctx = Context::create();
    let read = |why| Error::Read { path: bitcode.display().to_string(), why };
    let base = ctx.read_bitcode(bitcode).map_err(read)?;
    let machine = TargetMachine::for_module(&base).map_err(read)?;
    let internal = |stage| move |why| Error::Internal { stage, why };
    program::prepare(&ctx, &base);
    shortcut::thread(&ctx, &base);
    base.run_passes("function(break-crit-edges)", &machine).map_err(internal("edges"))?;
    let twin = base.duplicate();
    let sites = sites::number(&ctx, &base);
    fast::instrument(&ctx, &base, &sites);
    program::redirect(&base, &opts.fast_models);
    base.keep_all(&ctx);
    if opts.strip_debug {
        base.strip_debug();
    }
    if opts.verify {
        base.verify().map_err(internal("fast half"))?;
    }
    base.write(out).map_err(Error::Write)?;
    Ok(Symbolic { module: twin, machine, ctx })
}

impl Symbolic {
    pub fn write(self, out: &Path, opts: &Options) -> Result<(), Error> {
        labels::instrument(&self.ctx, &self.module, &self.machine, opts)?;
        self.module.write(out).map_err(Error::Write)
    }
}

/// Both halves, one after the other.
pub fn split(
    bitcode: &Path,
    fast_out: &Path,
    symbolic_out: &Path,
    opts: &Options,
) -> Result<(), Error> {
    fast(bitcode, fast_out, opts)?.write(symbolic_out, opts)
}
