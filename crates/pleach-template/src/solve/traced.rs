//! A traced run, as the solver needs it.

use super::lengths::LengthDecisions;
use crate::template::Template;
use crate::tokens::Sentence;
use pleach_expr::{Expr, container};
use pleach_solve::{Path, Requirement, Shape, Step};
use std::sync::Arc;

/// What the flips of one run share: its input, its conditions, and the parts of the input
/// that may change.
pub struct Traced {
    pub expr: Expr,
    pub steps: Vec<Step>,
    pub input: Arc<[u8]>,
    /// The parts of the input that may change; `None` if every byte may.
    pub template: Option<Arc<Template>>,
    /// The tokens of the input, if they are variables and their numbers are known.
    pub sentence: Option<Sentence>,
    /// The input followed by the lengths of its holes and the numbers of its tokens, four
    /// bytes each. Expressions refer to both by offset. `None` if there are neither.
    pub extended: Option<Vec<u8>>,
    /// The run recorded decisions on tokens, not on the bytes that its lexer read.
    pub on_tokens: bool,
    /// The offset of the first token's number in `extended`.
    pub first_token: u32,
    /// The decisions on the lengths of holes alone.
    pub lengths: LengthDecisions,
}

impl Traced {
    /// A run on bytes, of which each may change.
    pub fn new(expr: Expr, steps: Vec<Step>, input: Arc<[u8]>) -> Traced {
        Traced {
            expr,
            steps,
            template: None,
            sentence: None,
            extended: None,
            on_tokens: false,
            first_token: input.len() as u32,
            input,
            lengths: LengthDecisions::default(),
        }
    }

    /// Bytes of memory, roughly. The input is not counted: the corpus has it.
    pub fn memory(&self) -> usize {
        let lexemes = self.sentence.as_ref().map_or(0, |s| size_of_val(&s.lexemes[..]));
        let holes = self.template.as_ref().map_or(0, |t| size_of_val(&t.holes[..]));
        let extended = self.extended.as_ref().map_or(0, Vec::len);
        let steps = self.steps.capacity() * size_of::<Step>();
        // The cases of a switch are shared by all its steps.
        self.expr.memory() + steps + lexemes + holes + extended
    }

    /// Prepares the conditions of the path, together with what the template requires.
    pub fn prepare_path(&self) -> Path {
        let input = self.extended.as_deref().unwrap_or(&self.input);
        let required = self.template.as_ref().map(|t| t.requirements(input));
        self.path_under(&required.unwrap_or_default(), |_| false)
    }

    /// The same with other requirements, and without some of the steps.
    pub(super) fn path_under(
        &self,
        required: &[Requirement],
        is_skipped: impl Fn(u32) -> bool,
    ) -> Path {
        let (lengths, offsets) = container::extents(&self.input);
        let input = self.extended.as_deref().unwrap_or(&self.input);
        let streams = (&lengths[..], &offsets[..]);
        let mut steps = self.steps.clone();
        for (at, step) in (0..).zip(&mut steps) {
            if is_skipped(at) {
                *step = Step { label: 0, shape: Shape::Bool { taken: true } };
            }
        }
        Path::under(required, &self.expr, steps, input, streams)
    }
}
