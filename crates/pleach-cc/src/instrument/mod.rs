//! Turns one module of IR into two.
//!
//! Both halves are copies of the front end's IR with its critical edges broken, so
//! both number their sites in the same way (`sites`). The fast half gets counters
//! (`fast`). The symbolic half gets markers at its sites, is optimised, and then
//! gets labels (`labels`). After optimisation there is much less code to label. The
//! markers keep every decision of the source visible, even if the optimiser changes
//! or removes its branch.

pub mod fast;
pub mod labels;
pub mod llvm;
pub mod orient;
pub mod program;
pub mod recursion;
pub mod shortcut;
pub mod sites;
pub mod tokens;

use llvm::{Context, Module, TargetMachine};
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's fault: IR of another LLVM version, or a damaged file.
    #[error("cannot read {path} as LLVM IR (it must come from clang 22): {why}")]
    Read { path: String, why: String },
    #[error("{0}")]
    Write(String),
    /// Pleach's fault: the instrumented IR is not valid.
    #[error("internal error in {stage}, please report it with the source file: {why}")]
    Internal { stage: &'static str, why: String },
    /// The user names a token place that does not exist.
    #[error("{0}")]
    Token(String),
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Functions that the fast and the symbolic runtime have models for, sorted.
    pub fast_models: Vec<String>,
    pub symbolic_models: Vec<String>,
    /// Functions that return tokens.
    pub tokens: tokens::Tokens,
    /// Removes debug information from the fast half after the sites' lines were read,
    /// because the user did not ask for it.
    pub strip_debug: bool,
    /// Verifies the IR after each stage.
    pub verify: bool,
}

/// A copy of the front end's IR that becomes the symbolic half. It is instrumented
/// later, while clang compiles the fast half.
pub struct SymbolicModule {
    // Dropped in this order: the context must outlive the others.
    module: Module,
    machine: TargetMachine,
    ctx: Context,
}

/// Reads a module, writes its fast half, and returns the module of the symbolic half.
pub fn write_fast_half(
    bitcode: &Path,
    out: &Path,
    opts: &Options,
) -> Result<SymbolicModule, Error> {
    let ctx = Context::create();
    let read = |why| Error::Read { path: bitcode.display().to_string(), why };
    let base = ctx.read_bitcode(bitcode).map_err(read)?;
    let machine = TargetMachine::for_module(&base).map_err(read)?;
    let internal = |stage| move |why| Error::Internal { stage, why };
    program::prepare(&ctx, &base);
    orient::orient_branches(&ctx, &base);
    shortcut::thread_known_operands(&ctx, &base);
    base.run_passes("function(break-crit-edges)", &machine).map_err(internal("edges"))?;
    let copy = base.duplicate();
    let sites = sites::number_sites(&ctx, &base, true);
    fast::instrument(&ctx, &base, &sites);
    program::redirect_to_models(&base, &opts.fast_models);
    base.keep_all(&ctx);
    if opts.strip_debug {
        base.strip_debug();
    }
    if opts.verify {
        base.verify().map_err(internal("fast half"))?;
    }
    base.write(out).map_err(Error::Write)?;
    Ok(SymbolicModule { module: copy, machine, ctx })
}

impl SymbolicModule {
    /// Instruments the module and writes it.
    pub fn write(self, out: &Path, opts: &Options) -> Result<(), Error> {
        labels::instrument(&self.ctx, &self.module, &self.machine, opts)?;
        self.module.write(out).map_err(Error::Write)
    }
}
