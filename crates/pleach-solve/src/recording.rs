//! A path as a file, with everything that flips of it need and nothing of the program. For
//! benchmarks and bug reports.
//!
//! The format is a magic number with a version, then fields of fixed size, little endian.
//! A list follows its length. A damaged file is refused, and the graph is checked like that
//! of a trace.

use crate::path::{Path, Shape, Step};
use pleach_abi::node::Node;
use pleach_expr::{Broken, Expr};
use std::sync::Arc;
use thiserror::Error;

/// One path.
#[derive(Clone, Debug)]
pub struct Recording {
    pub expr: Expr,
    pub steps: Vec<Step>,
    pub input: Vec<u8>,
    pub lengths: Vec<u64>,
    pub offsets: Vec<u64>,
}

/// Why a file was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadRecording {
    #[error("this is not a recording of this version of Pleach")]
    Magic,
    #[error("the recording is cut off or damaged at byte {at}")]
    Damaged { at: usize },
    #[error("the recording's expressions are unsound: {0}")]
    Graph(#[from] Broken),
}

const MAGIC: &[u8; 8] = b"PLCHREC1";

impl Recording {
    /// Prepares the path.
    pub fn path(&self) -> Path {
        Path::new(&self.expr, self.steps.clone(), &self.input, &self.lengths, &self.offsets)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let number = |out: &mut Vec<u8>, n: u64| out.extend(n.to_le_bytes());
        let nodes = self.expr.nodes();
        number(&mut out, nodes.len() as u64);
        for n in nodes {
            out.extend([n.op, n.width]);
            out.extend(n.flags.to_le_bytes());
            for label in [n.a, n.b, n.c] {
                out.extend(label.to_le_bytes());
            }
            number(&mut out, n.imm);
            number(&mut out, n.val);
        }
        for bytes in [self.expr.snapshots(), &self.input] {
            number(&mut out, bytes.len() as u64);
            out.extend(bytes);
        }
        number(&mut out, self.expr.extended_len().into());
        for list in [&self.lengths, &self.offsets] {
            number(&mut out, list.len() as u64);
            list.iter().for_each(|&n| number(&mut out, n));
        }
        number(&mut out, self.steps.len() as u64);
        for step in &self.steps {
            number(&mut out, step.label.into());
            match &step.shape {
                Shape::Bool { taken } => out.push(u8::from(*taken)),
                Shape::Value => out.push(2),
                Shape::Cases { cases } => {
                    out.push(3);
                    number(&mut out, cases.len() as u64);
                    cases.iter().for_each(|&c| number(&mut out, c));
                }
                Shape::Len { stream, bound, taken } => {
                    out.push(4 + u8::from(*taken));
                    number(&mut out, (*stream).into());
                    number(&mut out, *bound);
                }
            }
        }
        out
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Recording, BadRecording> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BadRecording::Magic)?;
        let mut reader = Reader { bytes: rest, at: 0 };
        let nodes = reader.list(32, |r| {
            let head = r.take(2)?;
            let (op, width) = (head[0], head[1]);
            let flags = u16::from_le_bytes(r.array()?);
            let [a, b, c] = [r.small()?, r.small()?, r.small()?];
            Ok(Node { op, width, flags, a, b, c, imm: r.number()?, val: r.number()? })
        })?;
        let snapshots = reader.bytes()?;
        let input = reader.bytes()?;
        let input_len = u32::try_from(reader.number()?).map_err(|_| reader.damaged())?;
        let lengths = reader.list(8, Reader::number)?;
        let offsets = reader.list(8, Reader::number)?;
        let steps = reader.list(9, |r| {
            let label = u32::try_from(r.number()?).map_err(|_| r.damaged())?;
            let kind = r.take(1)?[0];
            let shape = match kind {
                0 | 1 => Shape::Bool { taken: kind == 1 },
                2 => Shape::Value,
                3 => Shape::Cases { cases: Arc::from(r.list(8, Reader::number)?) },
                4 | 5 => Shape::Len {
                    stream: u32::try_from(r.number()?).map_err(|_| r.damaged())?,
                    bound: r.number()?,
                    taken: kind == 5,
                },
                _ => return Err(r.damaged()),
            };
            Ok(Step { label, shape })
        })?;
        if reader.at != reader.bytes.len() || lengths.len() != offsets.len() {
            return Err(reader.damaged());
        }
        if input.len() < input_len as usize {
            return Err(reader.damaged());
        }
        let roots: Vec<u32> = steps.iter().map(|s| s.label).collect();
        let expr = Expr::new(nodes, snapshots, input_len, roots)?;
        let is_valid = |s: &Step| match s.shape {
            Shape::Bool { .. } => s.label != 0 && expr.width(s.label) == 1,
            Shape::Cases { .. } => s.label != 0 && expr.width(s.label) <= 64,
            Shape::Value => s.label != 0,
            Shape::Len { stream, .. } => (stream as usize) < lengths.len(),
        };
        if !steps.iter().all(is_valid) {
            return Err(reader.damaged());
        }
        Ok(Recording { expr, steps, input, lengths, offsets })
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn damaged(&self) -> BadRecording {
        BadRecording::Damaged { at: MAGIC.len() + self.at }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], BadRecording> {
        let part = self.bytes.get(self.at..).and_then(|rest| rest.get(..count));
        let part = part.ok_or_else(|| self.damaged())?;
        self.at += count;
        Ok(part)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadRecording> {
        let damaged = self.damaged();
        self.take(N)?.try_into().map_err(|_| damaged)
    }

    fn small(&mut self) -> Result<u32, BadRecording> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn number(&mut self) -> Result<u64, BadRecording> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn bytes(&mut self) -> Result<Vec<u8>, BadRecording> {
        let len = usize::try_from(self.number()?).map_err(|_| self.damaged())?;
        Ok(self.take(len)?.to_vec())
    }

    /// A list of entries with at least `size` bytes each. A list that is longer than the
    /// file is refused before memory is allocated for it.
    fn list<T>(
        &mut self,
        size: usize,
        mut entry: impl FnMut(&mut Self) -> Result<T, BadRecording>,
    ) -> Result<Vec<T>, BadRecording> {
        let len = usize::try_from(self.number()?).map_err(|_| self.damaged())?;
        if len > (self.bytes.len() - self.at) / size {
            return Err(self.damaged());
        }
        (0..len).map(|_| entry(self)).collect()
    }
}
