//! The token border: functions that return tokens.
//!
//! A parser asks a lexer for the next token, and what the parser decides on it is a
//! decision on a token, not on bytes. In a run that works on tokens (Godefroid, Kiezun
//! and Levin, *Grammar-based whitebox fuzzing*, 2008) nothing is recorded inside such
//! a function, and what it gives is a variable of its own. Whether a run does is
//! decided when it starts; compiled in is only the border: a call at the entry of
//! the function, and one where the token leaves it.
//!
//! The calls go in before optimisation, and the result passes through one of them
//! (`result`), whose effect the optimiser does not know. Otherwise it would see
//! through: a lexer that returns constants, inlined into its parser, leaves no
//! comparison behind. For the same reason, and because the border is told by the
//! frame of the function, such functions are not inlined.
//!
//! Where the token is: the result; or in memory, on a path from an argument, the
//! result or a global. A path is followed by the types in the debug information,
//! once, here; the runtime gets offsets.

use super::llvm::{Context, Debug, Module, Opcode, Shape, Value};
use super::{Error, sites};
use pleach_abi::section;
use pleach_abi::token::{How, TokenFunction};

mod names;
mod place;

pub use place::Place;

/// Which functions are a border.
#[derive(Clone, Debug)]
pub struct Tokens {
    /// Those with well-known names are.
    pub by_name: bool,
    /// And these.
    pub named: Vec<Named>,
}

/// A function that somebody named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub place: Place,
}

impl Default for Tokens {
    fn default() -> Self {
        Tokens { by_name: true, named: Vec::new() }
    }
}

/// The call that a result passes through is named by its width.
pub const RESULT: &str = "__pleach_token_mark.i";
/// Behind `pleach_token` of `pleach.h`.
const IN_SOURCE: &str = "pleach_token_at";

/// To the optimiser it may give anything.
const LIKE: &str = "declare void @like() nounwind willreturn nofree nosync nocallback memory(inaccessiblemem: readwrite)";

/// Puts the border around the token functions of a module, before optimisation.
pub fn mark(ctx: &Context, module: &Module, tokens: &Tokens) -> Result<(), Error> {
    for function in module.functions() {
        if function.is_declaration()
            || function.is_available_externally()
            || function.has_attribute("naked")
            || sites::is_ours(&function.name())
        {
            continue;
        }
        let border = Border { ctx, module, function };
        border.mark(tokens)?;
    }
    Ok(())
}

struct Border<'a> {
    ctx: &'a Context,
    module: &'a Module,
    function: Value,
}

impl Border<'_> {
    fn mark(&self, tokens: &Tokens) -> Result<(), Error> {
        let debug = Debug::of_function(self.ctx, self.function);
        let plain = debug.map(Debug::name).filter(|n| !n.is_empty());
        let linkage = self.function.name();
        let plain = plain.unwrap_or_else(|| linkage.clone());
        let asked = tokens.named.iter().rev().find(|n| {
            let last = n.name.rsplit("::").next().unwrap_or(&n.name);
            n.name == linkage || last == plain
        });
        if let Some(named) = asked {
            return self.border(&named.place, How::Flag).map_err(|why| {
                Error::Token(format!("-fpleach-token={}:{}: {why}", named.name, named.place))
            });
        }
        if tokens.by_name && names::is_token_function(&plain) {
            let fits = self.result_width().is_some();
            match fits {
                true => return self.border(&Place::result(), How::Name).map_err(Error::Token),
                false => self.record(&Place::result(), How::Candidate, Vec::new()),
            };
        }
        if self.calls(IN_SOURCE) {
            self.record(&Place::result(), How::Source, Vec::new());
        }
        Ok(())
    }

    /// Bits of the result, if it is a number that a token can be.
    fn result_width(&self) -> Option<u32> {
        let returned = self.returns().first().map(|r| r.operand(0))?;
        let debug = Debug::of_function(self.ctx, self.function).and_then(Debug::signature);
        // A pointer or structure in one register is a number to LLVM only.
        let number = debug
            .and_then(|(result, _)| result)
            .is_none_or(|t| matches!(t.shape(), Shape::Integer { .. } | Shape::Enumeration));
        returned.ty().int_width().filter(|w| number && matches!(w, 8 | 16 | 32 | 64))
    }

    /// The `ret` instructions that return something.
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

    /// A call that must be the last thing before its return cannot have a border.
    fn ends_in_a_jump(&self) -> bool {
        self.returns().iter().any(|r| {
            let v = r.operand(0);
            v.is_instruction() && v.is_must_tail()
        })
    }

    fn border(&self, place: &Place, how: How) -> Result<(), String> {
        if self.ends_in_a_jump() {
            return Err(format!("{} ends in a call that takes its place", self.function.name()));
        }
        if *place == Place::result() {
            let Some(width) = self.result_width() else {
                return Err(format!(
                    "the result of {} is no integer; say where the token is, such as ret->kind \
                     or arg0->token",
                    self.function.name()
                ));
            };
            let result = self.result_type();
            let record = self.record(place, how, self.names(result));
            let frame = self.enter();
            self.pass_results(frame, width, record);
        } else {
            let found = place::follow(self.ctx, self.module, self.function, place)?;
            let record = self.record(place, how, self.names(Some(found.token)));
            let frame = self.enter();
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

    /// At the entry: tells the runtime, and gives where the return address is.
    fn enter(&self) -> Value {
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

    /// Each result passes through a call that `labels` replaces.
    fn pass_results(&self, frame: Value, width: u32, record: Value) {
        let (ctx, int, pointer) = (self.ctx, self.ctx.int(width), self.ctx.pointer());
        // Small results say whether they are signed, by how they are extended.
        let signed = !self.function.has_attribute_at(0, "zeroext");
        let t = int.function(&[int, pointer, pointer, ctx.int(32)]);
        let through = self.declare(&format!("{RESULT}{width}"), t);
        if let Ok(text) = ctx.parse_text(LIKE)
            && let Some(like) = text.function("like")
        {
            through.imitate(like);
        }
        let builder = ctx.builder();
        for exit in self.returns() {
            builder.before(exit);
            builder.locate_as(exit);
            let shape = ctx.constant(32, place::shape(width, signed));
            let v = builder.call(through, &[exit.operand(0), frame, record, shape]);
            exit.set_operand(0, v);
        }
    }

    /// Before each return: the token is in memory, where the path leads.
    fn report_places(
        &self,
        frame: Value,
        found: &place::Found,
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
                    // What the front end returns in registers it has just loaded.
                    if !v.is_instruction() || v.opcode() != Opcode::LLVMLoad {
                        return Err("its result is in registers; mark the token in the source \
                                    with pleach_token"
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

    /// The function's record in the executable.
    fn record(&self, place: &Place, how: How, names: Vec<(i32, String)>) -> Value {
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

    /// Names of the numbers: the enumeration that the token is of, or the one that
    /// bison writes, or the one that holds what the function returns.
    fn names(&self, token: Option<Debug>) -> Vec<(i32, String)> {
        let own = token.filter(|t| t.shape() == Shape::Enumeration);
        let all = Debug::enumerations(self.ctx, self.module);
        let by_bison = || {
            all.iter().copied().find(|e| {
                let name = e.type_name();
                name.ends_with("tokentype") || name == "token_kind_type"
            })
        };
        let chosen = own.or_else(by_bison).or_else(|| self.enumeration_of_returns(&all));
        let numbers = chosen.map(Debug::enumerators).unwrap_or_default();
        numbers.into_iter().filter_map(|(n, name)| Some((i32::try_from(n).ok()?, name))).collect()
    }

    /// The only enumeration with two numbers or more that the function returns, where
    /// all that is not in it is a character, zero or less.
    fn enumeration_of_returns<'d>(&self, all: &[Debug<'d>]) -> Option<Debug<'d>> {
        let returned = self.returned_constants();
        let holds = |e: &&Debug| {
            let numbers: Vec<i64> = e.enumerators().into_iter().map(|(n, _)| n).collect();
            let (inside, outside): (Vec<i64>, Vec<i64>) =
                returned.iter().partition(|n| numbers.contains(n));
            inside.len() > 1 && outside.iter().all(|&n| n < 128)
        };
        let mut fitting = all.iter().filter(holds);
        match (fitting.next(), fitting.next()) {
            (Some(&one), None) => Some(one),
            _ => None,
        }
    }

    /// Constants that the front end stores where the result is loaded from.
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
