//! Sites: numbers every conditional branch, switch, select and division.
//!
//! Sites are numbered in the order of the front end's IR, after its critical edges
//! were broken. The two halves are copies of that IR, so both get the same numbers. A
//! site's hash is made of the function's linkage name (and the module's name, for a
//! local function) and its ordinal in the function.

use super::llvm::{Block, Context, Linkage, Module, Opcode, Type, Value};
use pleach_abi::function::{Call, Function, Place, SiteInfo};
use pleach_abi::section::{self, SiteKind};
use pleach_hash::Hash;
use std::collections::{HashMap, HashSet};

pub struct Site {
    pub at: Value,
    pub kind: SiteKind,
    pub hash: u64,
    /// Number of its counters in the fast half.
    pub counters: u32,
}

/// A function's sites and their records.
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

/// Numbers the sites of a module and adds site and function records to it. `with_places`: the
/// records say which lines each block has code for.
pub fn number_sites(ctx: &Context, module: &Module, with_places: bool) -> Vec<Sites> {
    let source = module.source_name();
    let nosanitize = ctx.metadata_kind("nosanitize");
    let mut all = Vec::new();
    let taken: Vec<Value> =
        module.functions().into_iter().filter(|f| is_address_taken(*f)).collect();
    // One record of the module names them: of a function that no other module has, too.
    let is_own = |f: &Value| !f.is_declaration() && !is_pleach_symbol(&f.name());
    let functions = || module.functions().into_iter().filter(is_own);
    let speaker = functions().find(|f| !module.has_comdat(*f)).or_else(|| functions().next());
    for function in functions() {
        let hash = hash_function(function, &source);
        let (mut sites, mut infos) = find_sites(function, nosanitize, hash);
        if let Some(kind) = entry_kind(module, function, &sites, taken.contains(&function))
            && let Some(at) = function.blocks().first().and_then(|b| b.insertion_point())
        {
            let file = function.definition().0;
            let hash = mix(hash, sites.len() as u64);
            infos.push(site_info(at, kind, hash, &file));
            sites.push(Site { at, kind, hash, counters: 1 });
        }
        let names = taken.iter().map(|f| f.name()).filter(|_| speaker == Some(function));
        let (file, line) = function.definition();
        let file = if file.is_empty() { source.clone() } else { file };
        let places = if with_places { find_places(function, &file) } else { Vec::new() };
        let record = Function {
            name: function.name(),
            file,
            line,
            blocks: block_successors(function),
            sites: infos,
            calls: find_calls(function),
            places,
            shape: hash_type(function.value_type()),
            code: if with_places { hash_code(function) } else { 0 },
            directory: if with_places { function.directory() } else { String::new() },
            addresses: names.filter(|name| !is_pleach_symbol(name)).collect(),
        };
        let records = emit_records(ctx, module, function, &record, &sites);
        all.push(Sites { function, sites, records });
    }
    all
}

pub fn is_pleach_symbol(name: &str) -> bool {
    name.starts_with("__pleach_")
}

/// Sites that only the symbolic half has: accesses, calls, and branches that the
/// optimiser made. They are found after optimisation and numbered separately.
pub struct ExtraSites {
    pub function: Value,
    pub record: Function,
    pub kinds: Vec<SiteKind>,
    hash: u64,
}

impl ExtraSites {
    pub fn new(function: Value, source: &str) -> ExtraSites {
        let (file, line) = function.definition();
        let record = Function {
            name: function.name(),
            file: if file.is_empty() { source.into() } else { file },
            line,
            ..Function::default()
        };
        let hash = mix(hash_function(function, source), 1);
        ExtraSites { function, record, kinds: Vec::new(), hash }
    }

    /// Adds a site for an instruction and returns its index.
    pub fn add(&mut self, at: Value, kind: SiteKind) -> usize {
        let ordinal = self.kinds.len() as u64;
        let mut info = site_info(at, kind, mix(self.hash, ordinal), &self.record.file);
        if kind == SiteKind::Switch {
            info.cases = at.cases().iter().map(|c| c.constant_int().unwrap_or(0)).collect();
        }
        self.record.sites.push(info);
        self.kinds.push(kind);
        ordinal as usize
    }
}

/// Adds a function's site records and function record to the module.
fn emit_records(
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
    emit_function_record(ctx, module, function, data, record);
    module.share_by_name(data, "__pleach_sites", function, hash_kinds(sites));
    data
}

/// A hash of the kinds of a function's sites. Two objects that compiled the same text
/// have the same hash.
pub fn hash_kinds(sites: &[Site]) -> u64 {
    sites.iter().fold(0, |h, s| mix(h ^ s.kind as u64, s.counters.into()))
}

/// The constant array of a function's site records.
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

/// Adds a function record, and keeps it and the site array in the function's comdat
/// group.
pub fn emit_function_record(
    ctx: &Context,
    module: &Module,
    function: Value,
    data: Value,
    record: &Function,
) {
    let bytes = ctx.bytes(&record.encode());
    let text = module.add_data("__pleach_function", bytes, Some(section::FUNCTIONS), true);
    text.set_alignment(1);
    module.follow_comdat(data, function);
    module.follow_comdat(text, function);
    module.keep(data);
    module.keep(text);
}

fn find_sites(function: Value, nosanitize: u32, hash: u64) -> (Vec<Site>, Vec<SiteInfo>) {
    let (mut sites, mut infos) = (Vec::new(), Vec::new());
    let blocks = function.blocks();
    let number: HashMap<Block, u32> = blocks.iter().copied().zip(0..).collect();
    let file = function.definition().0;
    for &block in &blocks {
        for i in block.instructions() {
            let Some((kind, counters)) = classify(i, nosanitize) else { continue };
            let mut info = site_info(i, kind, mix(hash, sites.len() as u64), &file);
            info.block = number[&block];
            let targets: Vec<u32> = match kind {
                SiteKind::Branch | SiteKind::Sanitizer | SiteKind::Switch => {
                    i.successors().iter().map(|b| number[b]).collect()
                }
                SiteKind::Jump => jump_targets(i).iter().map(|b| number[b]).collect(),
                _ => Vec::new(),
            };
            info.targets = targets;
            if kind == SiteKind::Switch {
                // The default is LLVM's first successor, and the last in the record.
                info.targets.rotate_left(1);
                info.cases = i.cases().iter().map(|c| c.constant_int().unwrap_or(0)).collect();
            }
            sites.push(Site { at: i, kind, hash: info.hash, counters });
            infos.push(info);
        }
    }
    (sites, infos)
}

/// The kind of site that an instruction is, and its number of counters.
fn classify(i: Value, nosanitize: u32) -> Option<(SiteKind, u32)> {
    match i.opcode() {
        Opcode::LLVMBr if i.is_conditional() && !i.condition().is_constant() => {
            Some(match i.metadata(nosanitize) {
                Some(_) => (SiteKind::Sanitizer, 0),
                None => (SiteKind::Branch, 2),
            })
        }
        Opcode::LLVMSwitch => Some((SiteKind::Switch, i.successors().len() as u32)),
        Opcode::LLVMIndirectBr => Some((SiteKind::Jump, jump_targets(i).len() as u32)),
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

fn site_info(i: Value, kind: SiteKind, hash: u64, function_file: &str) -> SiteInfo {
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

/// For each block, the numbers of its successors.
fn block_successors(function: Value) -> Vec<Vec<u32>> {
    let blocks = function.blocks();
    let number: HashMap<Block, u32> = blocks.iter().copied().zip(0..).collect();
    blocks.iter().map(|b| b.successors().iter().map(|s| number[s]).collect()).collect()
}

fn find_calls(function: Value) -> Vec<Call> {
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
            let (callee, shape) = match callee.is_function() {
                true => (callee.name(), 0),
                false => (String::new(), hash_type(i.called_type())),
            };
            all.push(Call { block: n as u32, callee, shape });
        }
    }
    all
}

/// For each block, the places that it has code for. A line is listed with the column of its first
/// code, and once more if later code has a larger column, with the largest.
fn find_places(function: Value, function_file: &str) -> Vec<Vec<Place>> {
    let of_block = |block: &Block| {
        let mut places: Vec<Place> = Vec::new();
        let code = block.instructions().into_iter().filter(|i| i.opcode() != Opcode::LLVMPHI);
        for (file, line, column) in code.map(Value::location).filter(|(_, line, _)| *line > 0) {
            let file = if file == function_file { String::new() } else { file };
            let same = |p: &Place| p.line == line && p.file == file;
            let known = places.iter().position(same);
            let last = known
                .and_then(|first| Some(first + 1 + places[first + 1..].iter().position(same)?));
            match (known, last) {
                (None, _) => places.push(Place { file, line, column }),
                (_, Some(last)) => places[last].column = column.max(places[last].column),
                (Some(first), None) if column > places[first].column => {
                    places.push(Place { file, line, column });
                }
                (Some(_), None) => {}
            }
        }
        places
    };
    function.blocks().iter().map(of_block).collect()
}

/// True if the function may be called through a pointer: it is used, but not only by calls.
fn is_address_taken(function: Value) -> bool {
    function.intrinsic().is_none()
        && function.users().into_iter().any(|user| {
            let is_argument = || (0..user.argument_count()).any(|i| user.operand(i) == function);
            !user.is_instruction() || !user.is_call() || is_argument()
        })
}

/// How the entry of a function is counted, if it is. `is_taken`: the module takes its address.
fn entry_kind(
    module: &Module,
    function: Value,
    sites: &[Site],
    is_taken: bool,
) -> Option<SiteKind> {
    // Copies of one function in several modules must have the same sites, but only some of
    // the modules may take its address.
    if is_taken && !module.has_comdat(function) && !function.is_available_externally() {
        return Some(SiteKind::Called);
    }
    let is_leaf = sites.iter().all(|s| s.counters == 0);
    // Another module may put it into a table.
    let is_visible = function.linkage() == Linkage::LLVMExternalLinkage
        && !module.has_comdat(function)
        && function.name() != "main";
    (is_leaf && (is_taken || is_visible)).then_some(SiteKind::Entry)
}

/// The labels that a computed goto may go to, each once.
pub fn jump_targets(jump: Value) -> Vec<Block> {
    let mut targets = jump.successors();
    let mut seen = HashSet::new();
    targets.retain(|&t| seen.insert(t));
    targets
}

/// A hash of a function's code: its instructions, constants, and the names of what it uses.
/// Names that the compiler numbers, and lines, may differ in the next build.
fn hash_code(function: Value) -> u32 {
    let mut numbers: HashMap<Value, u64> = HashMap::new();
    let instructions = function.blocks().into_iter().flat_map(Block::instructions);
    for value in function.params().into_iter().chain(instructions) {
        let next = numbers.len() as u64;
        numbers.insert(value, next);
    }
    let mut hash = Hash::new().add_bytes(function.value_type().text().as_bytes());
    for block in function.blocks() {
        hash = hash.add(0xb10c);
        for i in block.instructions() {
            hash = hash.add(i.opcode() as u64).add_bytes(i.ty().text().as_bytes());
            if matches!(i.opcode(), Opcode::LLVMICmp) {
                hash = hash.add(i.predicate() as u64);
            }
            if matches!(i.opcode(), Opcode::LLVMFCmp) {
                hash = hash.add(i.real_predicate() as u64);
            }
            for operand in (0..i.operand_count()).map(|n| i.operand(n)) {
                hash = match numbers.get(&operand) {
                    Some(&number) => hash.add(number),
                    None if operand.is_function() => hash.add_bytes(operand.name().as_bytes()),
                    None if operand.is_global_variable() => hash_global(hash, operand),
                    None if operand.is_constant() => hash.add_bytes(operand.text().as_bytes()),
                    None => hash,
                };
            }
        }
    }
    hash.finish() as u32
}

/// A variable by its name, or a nameless constant by its value.
fn hash_global(hash: Hash, global: Value) -> Hash {
    match global.initializer().filter(|_| global.is_local() && global.is_constant_global()) {
        Some(value) => hash.add_bytes(value.text().as_bytes()),
        None => hash.add_bytes(global.name().as_bytes()),
    }
}

/// A hash of a function's type.
fn hash_type(t: Type) -> u32 {
    Hash::new().add_bytes(t.text().as_bytes()).finish() as u32
}

fn hash_function(function: Value, source: &str) -> u64 {
    let local = matches!(
        function.linkage(),
        Linkage::LLVMInternalLinkage
            | Linkage::LLVMPrivateLinkage
            | Linkage::LLVMAvailableExternallyLinkage
    );
    let hash = Hash::new().add_bytes(function.name().as_bytes());
    let hash = if local { hash.add_bytes(source.as_bytes()) } else { hash };
    hash.finish()
}

/// Mixes an ordinal into a hash, so that neighbours differ in all bits.
fn mix(hash: u64, n: u64) -> u64 {
    Hash::from(hash).add(n + 1).finish()
}
