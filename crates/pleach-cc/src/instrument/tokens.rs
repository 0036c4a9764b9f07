//! The token border: functions that return tokens.
//!
//! A parser asks a lexer for the next token and then decides on a token, not on bytes.
//! In a run that works on tokens (Godefroid, Kiezun and Levin, *Grammar-based whitebox
//! fuzzing*, 2008) nothing is recorded inside the lexer, and its result is a new
//! variable. This module only adds the border: a call at the entry of the function,
//! and a call where the token leaves it. When a run starts, the driver decides
//! whether the border is active.
//!
//! The calls are inserted before optimisation. The result passes through one of them,
//! and the optimiser does not know what it returns. Otherwise a lexer that returns
//! constants could be inlined into its parser, and no comparison would be left. Token
//! functions are not inlined, for the same reason and because the runtime recognises
//! them by their stack frame.
//!
//! The token is the function's result, or in memory on a path from an argument, the
//! result or a global. The path is resolved here, with the types in the debug
//! information; the runtime gets offsets.

use super::llvm::{Context, Debug, Module, Opcode, Shape, Value};
use super::{Error, sites};
use pleach_abi::section;
use pleach_abi::token::{How, TokenFunction};

mod names;
mod place;

pub use place::Place;

/// Which functions are token functions.
#[derive(Clone, Debug)]
pub struct Tokens {
    /// True if functions with well-known names are.
    pub by_known_name: bool,
    /// The functions that the user named.
    pub by_option: Vec<TokenOption>,
}

/// One `-fpleach-token=NAME:PLACE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenOption {
    pub name: String,
    pub place: Place,
}

impl Default for Tokens {
    fn default() -> Self {
        Tokens { by_known_name: true, by_option: Vec::new() }
    }
}

/// Prefix of the call that a result passes through; its width in bits follows.
pub const RESULT_CALL: &str = "__pleach_token_mark.i";
/// The function behind the macro `pleach_token` of `pleach.h`.
const SOURCE_MARK: &str = "pleach_token_at";

/// Attributes of the call that a result passes through: the optimiser must assume
/// that it may return anything.
const OPAQUE_DECLARATION: &str = "declare void @opaque() nounwind willreturn nofree nosync nocallback memory(inaccessiblemem: readwrite)";

/// Adds the border to the token functions of a module, before optimisation.
pub fn insert_borders(ctx: &Context, module: &Module, tokens: &Tokens) -> Result<(), Error> {
    for function in module.functions() {
        if function.is_declaration()
            || function.is_available_externally()
            || function.has_attribute("naked")
            || sites::is_pleach_symbol(&function.name())
        {
            continue;
        }
        let candidate = Candidate { ctx, module, function };
        candidate.insert_if_token_function(tokens)?;
    }
    Ok(())
}

/// A function that may be a token function.
struct Candidate<'a> {
    ctx: &'a Context,
    module: &'a Module,
    function: Value,
}

impl Candidate<'_> {
    fn insert_if_token_function(&self, tokens: &Tokens) -> Result<(), Error> {
        let debug = Debug::of_function(self.ctx, self.function);
        let source_name = debug.map(Debug::name).filter(|n| !n.is_empty());
        let linkage_name = self.function.name();
        let source_name = source_name.unwrap_or_else(|| linkage_name.clone());
        let option = tokens.by_option.iter().rev().find(|option| {
            let last = option.name.rsplit("::").next().unwrap_or(&option.name);
            option.name == linkage_name || last == source_name
        });
        if let Some(option) = option {
            return self.insert_border(&option.place, How::Flag).map_err(|why| {
                Error::Token(format!("-fpleach-token={}:{}: {why}", option.name, option.place))
            });
        }
        let result = Place::result();
        if tokens.by_known_name && names::is_token_function(&source_name) {
            if self.result_width().is_some() {
                return self.insert_border(&result, How::Name).map_err(Error::Token);
            }
            self.emit_record(&result, How::Candidate, Vec::new());
        }
        if self.calls(SOURCE_MARK) {
            self.emit_record(&result, How::Source, Vec::new());
        }
        Ok(())
    }

    /// The width of the result in bits, if it is an integer that can be a token.
    fn result_width(&self) -> Option<u32> {
        let returned = self.returns().first().map(|r| r.operand(0))?;
        let debug = Debug::of_function(self.ctx, self.function).and_then(Debug::signature);
        // To LLVM, a pointer or structure in one register may be an integer, too.
        let is_number = debug
            .and_then(|(result, _)| result)
            .is_none_or(|t| matches!(t.shape(), Shape::Integer { .. } | Shape::Enumeration));
        returned.ty().int_width().filter(|w| is_number && matches!(w, 8 | 16 | 32 | 64))
    }

    /// The `ret` instructions that return a value.
    fn returns(&self) -> Vec<Value> {
        let ends = self.function.blocks().into_iter().filter_map(|b| b.terminator());
        ends.filter(|t| t.opcode() == Opcode::LLVMRet && t.operand_count() == 1).collect()
    }

    /// All `ret` instructions.
    fn exits(&self) -> Vec<Value> {
        let ends = self.function.blocks().into_iter().filter_map(|b| b.terminator());
        ends.filter(|t| t.opcode() == Opcode::LLVMRet).collect()
    }

    fn calls(&self, name: &str) -> bool {
        let instructions = self.function.blocks().into_iter().flat_map(|b| b.instructions());
        instructions.filter(|i| i.is_call()).any(|i| {
            let callee = i.callee();
            callee.is_function() && callee.name() == name
        })
    }

    /// True if the function ends in a `musttail` call. No call may follow it, so there
    /// is no room for the border.
    fn ends_in_tail_call(&self) -> bool {
        self.returns().iter().any(|r| {
            let v = r.operand(0);
            v.is_instruction() && v.is_must_tail()
        })
    }

    fn insert_border(&self, place: &Place, how: How) -> Result<(), String> {
        if self.ends_in_tail_call() {
            return Err(format!(
                "{} ends in a call marked musttail; name the function that it calls",
                self.function.name()
            ));
        }
        if *place == Place::result() {
            let Some(width) = self.result_width() else {
                return Err(format!(
                    "the result of {} is not an integer; say where the token is, such as \
                     ret->kind or arg0->token",
                    self.function.name()
                ));
            };
            let result = self.result_type();
            let record = self.emit_record(place, how, self.token_names(result));
            let frame = self.emit_entry_call();
            self.pass_results(frame, width, record);
        } else {
            let found = place::resolve(self.ctx, self.module, self.function, place)?;
            let record = self.emit_record(place, how, self.token_names(Some(found.token)));
            let frame = self.emit_entry_call();
            self.report_places(frame, &found, record)?;
        }
        self.function.remove_attribute("alwaysinline");
        self.function.remove_attribute("inlinehint");
        self.function.add_attribute(self.ctx.attribute("noinline"));
        Ok(())
    }

    fn result_type(&self) -> Option<Debug<'_>> {
        Debug::of_function(self.ctx, self.function).and_then(Debug::signature).and_then(|s| s.0)
    }

    /// Tells the runtime at the entry that the function starts. Returns the address of
    /// the return address, by which the runtime recognises the frame.
    fn emit_entry_call(&self) -> Value {
        let (ctx, module) = (self.ctx, self.module);
        let frame_of = module.intrinsic("llvm.addressofreturnaddress", &[ctx.pointer()]);
        let enter = self.declare("__pleach_token_enter", ctx.void().function(&[ctx.pointer()]));
        let builder = ctx.builder();
        if let Some(start) = self.function.blocks().first().and_then(|b| b.insertion_point()) {
            builder.before(start);
        }
        let frame = builder.call(frame_of, &[]);
        builder.call(enter, &[frame]);
        frame
    }

    /// Passes each result through a call that `labels` replaces later.
    fn pass_results(&self, frame: Value, width: u32, record: Value) {
        let (ctx, int, pointer) = (self.ctx, self.ctx.int(width), self.ctx.pointer());
        // An unsigned result that is smaller than a register has `zeroext`.
        let signed = !self.function.has_attribute_at(0, "zeroext");
        let t = int.function(&[int, pointer, pointer, ctx.int(32)]);
        let result_call = self.declare(&format!("{RESULT_CALL}{width}"), t);
        if let Ok(text) = ctx.parse_text(OPAQUE_DECLARATION)
            && let Some(opaque) = text.function("opaque")
        {
            result_call.copy_attributes(opaque);
        }
        let builder = ctx.builder();
        for exit in self.returns() {
            builder.before(exit);
            builder.locate_as(exit);
            let shape = ctx.constant(32, place::shape(width, signed));
            let v = builder.call(result_call, &[exit.operand(0), frame, record, shape]);
            exit.set_operand(0, v);
        }
    }

    /// Tells the runtime before each return where in memory the token is.
    fn report_places(
        &self,
        frame: Value,
        found: &place::Resolved,
        record: Value,
    ) -> Result<(), String> {
        let (ctx, pointer) = (self.ctx, self.ctx.pointer());
        let t = ctx.void().function(&[pointer, pointer, pointer, pointer]);
        let report = self.declare("__pleach_token_at", t);
        let mut steps = Vec::new();
        steps.extend((found.shape as u32).to_le_bytes());
        steps.extend((found.offsets.len() as u32).to_le_bytes());
        found.offsets.iter().for_each(|o| steps.extend(o.to_le_bytes()));
        let steps = self.module.add_data("__pleach_token_steps", ctx.bytes(&steps), None, true);
        steps.set_alignment(8);
        let builder = ctx.builder();
        for exit in self.exits() {
            let (base, before) = match found.base {
                place::Base::Value(v) => (v, exit),
                place::Base::Result => (exit.operand(0), exit),
                place::Base::ResultInMemory => {
                    let v = exit.operand(0);
                    // The front end loads a structure just before it returns it in registers.
                    if !v.is_instruction() || v.opcode() != Opcode::LLVMLoad {
                        return Err("the function returns its result in registers, where no path \
                                    can lead; mark the token in the source with pleach_token"
                            .into());
                    }
                    (v.operand(0), v)
                }
            };
            builder.before(before);
            builder.locate_as(exit);
            builder.call(report, &[frame, base, steps, record]);
        }
        Ok(())
    }

    fn declare(&self, name: &str, t: super::llvm::Type) -> Value {
        self.module.function(name).unwrap_or_else(|| self.module.add_function(name, t))
    }

    /// Adds the function's record, which the driver finds in the executable.
    fn emit_record(&self, place: &Place, how: How, names: Vec<(i32, String)>) -> Value {
        let (file, line) = self.function.definition();
        let record = TokenFunction {
            name: self.function.name(),
            file: if file.is_empty() { self.module.source_name() } else { file },
            line,
            place: place.to_string(),
            how,
            names,
        };
        let bytes = self.ctx.bytes(&record.encode());
        let data = self.module.add_data("__pleach_token", bytes, Some(section::TOKENS), true);
        data.set_alignment(1);
        self.module.follow_comdat(data, self.function);
        self.module.keep(data);
        data
    }

    /// The names of the token numbers. They come from the token's own enumeration, or
    /// from the one that bison writes, or from the one that contains the returned values.
    fn token_names(&self, token: Option<Debug>) -> Vec<(i32, String)> {
        let of_token = token.filter(|t| t.shape() == Shape::Enumeration);
        let all = Debug::enumerations(self.ctx, self.module);
        let by_bison = || {
            all.iter().copied().find(|e| {
                let name = e.type_name();
                name.ends_with("tokentype") || name == "token_kind_type"
            })
        };
        let chosen = of_token.or_else(by_bison).or_else(|| self.enumeration_of_returns(&all));
        let numbers = chosen.map(Debug::enumerators).unwrap_or_default();
        numbers.into_iter().filter_map(|(n, name)| Some((i32::try_from(n).ok()?, name))).collect()
    }

    /// The enumeration that contains at least two of the returned constants, if it is
    /// the only one. Constants outside it must be below 128: characters, zero or
    /// negative numbers.
    fn enumeration_of_returns<'d>(&self, all: &[Debug<'d>]) -> Option<Debug<'d>> {
        let returned = self.returned_constants();
        let contains_tokens = |e: &&Debug| {
            let numbers: Vec<i64> = e.enumerators().into_iter().map(|(n, _)| n).collect();
            let (inside, outside): (Vec<i64>, Vec<i64>) =
                returned.iter().partition(|n| numbers.contains(n));
            inside.len() > 1 && outside.iter().all(|&n| n < 128)
        };
        let mut matching = all.iter().filter(contains_tokens);
        match (matching.next(), matching.next()) {
            (Some(&one), None) => Some(one),
            _ => None,
        }
    }

    /// The constants that the function returns: the front end stores each to the
    /// variable from which it loads the result.
    fn returned_constants(&self) -> Vec<i64> {
        let mut all: Vec<i64> = Vec::new();
        for exit in self.returns() {
            let v = exit.operand(0);
            all.extend(v.signed_int());
            if v.is_instruction() && v.opcode() == Opcode::LLVMLoad {
                let stores = v.operand(0).users().into_iter().filter(|u| {
                    u.is_instruction()
                        && u.opcode() == Opcode::LLVMStore
                        && u.operand(1) == v.operand(0)
                });
                all.extend(stores.filter_map(|s| s.operand(0).signed_int()));
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}
