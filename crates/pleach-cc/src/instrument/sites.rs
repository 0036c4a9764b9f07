//! Sites: every conditional branch, switch, select and division, numbered.
//!
//! Numbering happens on the front end's IR, once its critical edges are
//! broken, in the order of the text. The two halves are copies of that IR, so
//! they number alike. A site's hash is made of the function's linkage name
//! (and the module's, for a local function) and its ordinal.

use super::llvm::{Block, Context, Linkage, Module, Opcode, Value};
use pleach_abi::function::{Call, Function, SiteInfo};
use pleach_abi::section::{self, SiteKind};
use std::collections::HashMap;

pub struct Site {
    pub at: Value,
    pub kind: SiteKind,
    /// 8-bit counters in the fast half.
    pub counters: u32,
}

/// A function's sites, and where their records are.
pub struct Sites {
    pub function: Value,
    pub sites: Vec<Site>,
    /// Address of the first record.
    pub records: Value,
}

impl Sites {
    pub fn record(&self, ctx: &Context, i: usize) -> Value {
        let bytes = i * size_of::<section::Site>();
        self.records.offset_by(ctx, bytes as u64)
    }
}

/// Numbers a module and leaves its site and function records in it.
pub fn number(ctx: &Context, module: &Module) -> Vec<Sites> {
    let source = module.source_name();
    let nosanitize = ctx.metadata_kind("nosanitize");
    let mut all = Vec::new();
    for function in module.functions() {
        if function.is_declaration() || is_ours(&function.name()) {
            continue;
        }
        let (sites, infos) = find(function, nosanitize, start_hash(function, &source));
        let (file, line) = function.definition();
        let record = Function {
            name: function.name(),
            file: if file.is_empty() { source.clone() } else { file },
            line,
            blocks: successors(function),
            sites: infos,
            calls: calls(function),
        };
        let records = emit(ctx, module, function, &record, &sites);
        all.push(Sites { function, sites, records });
    }
    all
}

pub fn is_ours(name: &str) -> bool {
    name.starts_with("__pleach_")
}

/// Sites that only the symbolic half has: accesses and calls. They are found
/// after optimisation, and numbered on their own.
pub struct Extra {
    pub function: Value,
    pub record: Function,
    pub kinds: Vec<SiteKind>,
    hash: u64,
}

impl Extra {
    pub fn new(function: Value, source: &str) -> Extra {
        let (file, line) = function.definition();
        let record = Function {
            name: function.name(),
            file: if file.is_empty() { source.into() } else { file },
            line,
            ..Function::default()
        };
        Extra { function, record, kinds: Vec::new(), hash: mix(start_hash(function, source), 1) }
    }

    /// Index of a new record for an instruction.
    pub fn add(&mut self, at: Value, kind: SiteKind) -> usize {
        let ordinal = self.kinds.len() as u64;
        let mut info = info(at, kind, mix(self.hash, ordinal), &self.record.file);
        if kind == SiteKind::Switch {
            info.cases = at.cases().iter().map(|c| c.constant_int().unwrap_or(0)).collect();
        }
        self.record.sites.push(info);
        self.kinds.push(kind);
        ordinal as usize
    }
}

/// The data of a site array and its function record.
pub fn emit(
    ctx: &Context,
    module: &Module,
    function: Value,
    record: &Function,
    sites: &[Site],
) -> Value {
    let kinds: Vec<_> = sites.iter().map(|s| (s.kind, s.counters)).collect();
    let array = site_array(ctx, record, &kinds);
    let data = module.add_data("__pleach_sites", array, Some(section::SITES), true);
    data.set_alignment(8);
    place(ctx, module, function, data, record);
    module.share_by_name(data, "__pleach_sites", function, shape(sites));
    data
}

/// A hash of what the sites of a function are: the same for two objects that
/// compiled the same text.
pub fn shape(sites: &[Site]) -> u64 {
    sites.iter().fold(0, |h, s| mix(h ^ s.kind as u64, s.counters.into()))
}

pub fn site_array(ctx: &Context, record: &Function, kinds: &[(SiteKind, u32)]) -> Value {
    let t = ctx.structure(&[ctx.int(64), ctx.int(32), ctx.int(32)]);
    let items: Vec<_> = record
        .sites
        .iter()
        .zip(kinds)
        .map(|(info, &(kind, counters))| {
            ctx.constant_struct(&[
                ctx.constant(64, info.hash),
                ctx.constant(32, counters.into()),
                ctx.constant(32, kind as u64),
            ])
        })
        .collect();
    t.constant_array(&items)
}

/// Keeps a site array and its function record, in the function's group.
pub fn place(ctx: &Context, module: &Module, function: Value, data: Value, record: &Function) {
    let bytes = ctx.bytes(&record.encode());
    let text = module.add_data("__pleach_function", bytes, Some(section::FUNCTIONS), true);
    text.set_alignment(1);
    module.follow_comdat(data, function);
    module.follow_comdat(text, function);
    module.keep(data);
    module.keep(text);
}

fn find(function: Value, nosanitize: u32, hash: u64) -> (Vec<Site>, Vec<SiteInfo>) {
    let (mut sites, mut infos) = (Vec::new(), Vec::new());
    let blocks = function.blocks();
    let number: HashMap<Block, u32> = blocks.iter().copied().zip(0..).collect();
    let file = function.definition().0;
    for &block in &blocks {
        for i in block.instructions() {
            let Some((kind, counters)) = site_of(i, nosanitize) else { continue };
            let mut info = info(i, kind, mix(hash, sites.len() as u64), &file);
            info.block = number[&block];
            let targets: Vec<u32> = match kind {
                SiteKind::Branch | SiteKind::Sanitizer | SiteKind::Switch => {
                    i.successors().iter().map(|b| number[b]).collect()
                }
                _ => Vec::new(),
            };
            info.targets = targets;
            if kind == SiteKind::Switch {
                // The default is LLVM's first successor and our last.
                info.targets.rotate_left(1);
                info.cases = i.cases().iter().map(|c| c.constant_int().unwrap_or(0)).collect();
            }
            sites.push(Site { at: i, kind, counters });
            infos.push(info);
        }
    }
    (sites, infos)
}

fn site_of(i: Value, nosanitize: u32) -> Option<(SiteKind, u32)> {
    match i.opcode() {
        Opcode::LLVMBr if i.is_conditional() && !i.condition().is_constant() => {
            Some(match i.metadata(nosanitize) {
                Some(_) => (SiteKind::Sanitizer, 0),
                None => (SiteKind::Branch, 2),
            })
        }
        Opcode::LLVMSwitch => Some((SiteKind::Switch, i.successors().len() as u32)),
        Opcode::LLVMSelect => {
            let c = i.operand(0);
            (c.ty().int_width() == Some(1) && !c.is_constant()).then_some((SiteKind::Select, 2))
        }
        Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem => {
            let d = i.operand(1);
            (d.ty().int_width().is_some() && !d.is_constant()).then_some((SiteKind::Division, 0))
        }
        _ => None,
    }
}

fn info(i: Value, kind: SiteKind, hash: u64, function_file: &str) -> SiteInfo {
    let (file, line, column) = i.location();
    SiteInfo {
        hash,
        kind,
        file: if file == function_file { String::new() } else { file },
        line,
        column,
        block: 0,
        targets: Vec::new(),
        cases: Vec::new(),
    }
}

fn successors(function: Value) -> Vec<Vec<u32>> {
    let blocks = function.blocks();
    let number: HashMap<Block, u32> = blocks.iter().copied().zip(0..).collect();
    blocks.iter().map(|b| b.successors().iter().map(|s| number[s]).collect()).collect()
}

fn calls(function: Value) -> Vec<Call> {
    let mut all = Vec::new();
    for (n, block) in function.blocks().into_iter().enumerate() {
        for i in block.instructions() {
            if !i.is_call() {
                continue;
            }
            let callee = i.callee();
            if callee.is_inline_asm() || callee.intrinsic().is_some() {
                continue;
            }
            let callee = if callee.is_function() { callee.name() } else { String::new() };
            all.push(Call { block: n as u32, callee });
        }
    }
    all
}

fn start_hash(function: Value, source: &str) -> u64 {
    let local = matches!(
        function.linkage(),
        Linkage::LLVMInternalLinkage
            | Linkage::LLVMPrivateLinkage
            | Linkage::LLVMAvailableExternallyLinkage
    );
    let mut h = fnv(0xcbf2_9ce4_8422_2325, function.name().as_bytes());
    if local {
        h = fnv(fnv(h, b"\0"), source.as_bytes());
    }
    h
}

fn fnv(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Mixes an ordinal in so that neighbours differ in all bits.
fn mix(hash: u64, n: u64) -> u64 {
    let mut z = hash.wrapping_add((n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
