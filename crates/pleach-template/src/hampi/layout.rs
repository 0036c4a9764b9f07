//! The sizes of variables, and the values for given sizes.

use super::HampiError;
use super::chart::Cell;
use super::circuit::CellId;
use super::problem::{Assertion, Claim, Piece, Problem};
use pleach_automata::ByteSet;

/// How many combinations of sizes are tried.
pub(super) const MAX_SIZES: usize = 1 << 16;

/// How many bytes all values together may have.
const MAX_CELLS: usize = 1 << 23;

/// All combinations of sizes, small sums first. The resolver has checked that there are at
/// most [`MAX_SIZES`].
pub(super) fn sizes(problem: &Problem) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for variable in &problem.variables {
        all = all
            .iter()
            .flat_map(|sizes| {
                (variable.min_size..=variable.max_size).map(move |size| {
                    let mut sizes = sizes.clone();
                    sizes.push(size);
                    sizes
                })
            })
            .collect();
    }
    all.sort_by_key(|sizes| sizes.iter().sum::<usize>());
    all
}

/// Values as rows of cells.
pub(super) struct Layout {
    pub values: Vec<Vec<Cell>>,
    /// The bytes that each cell may have.
    pub domains: Vec<ByteSet>,
    /// The cells of each variable.
    pub variables: Vec<Vec<Cell>>,
}

impl Layout {
    /// `None` if these sizes have no solution: a part lies outside its value, or values that
    /// must be equal differ.
    pub fn new(problem: &Problem, sizes: &[usize]) -> Result<Option<Layout>, HampiError> {
        let mut variables = Vec::new();
        let mut count: CellId = 0;
        for &size in sizes {
            variables.push((count..count + size as CellId).map(Cell::Open).collect::<Vec<_>>());
            count += size as CellId;
        }
        let mut layout =
            Layout { values: Vec::new(), domains: vec![ByteSet::ALL; count as usize], variables };
        let mut total = 0usize;
        for pieces in &problem.values {
            let mut row = Vec::new();
            for piece in pieces {
                match piece {
                    Piece::Text(text) => row.extend(text.iter().map(|&b| Cell::Byte(b))),
                    Piece::Variable(v) => row.extend(&layout.variables[*v]),
                    Piece::Value(v) => row.extend(&layout.values[*v]),
                    Piece::Part { of, offset, length } => {
                        match layout.values[*of].get(*offset..offset + length) {
                            Some(part) => row.extend(part),
                            None => return Ok(None),
                        }
                    }
                }
            }
            total += row.len();
            if total > MAX_CELLS {
                return Err(HampiError::TooLarge);
            }
            layout.values.push(row);
        }
        Ok(layout.unify(&problem.assertions).then_some(layout))
    }

    /// Makes the cells of values that must be equal the same. False if they cannot be.
    fn unify(&mut self, assertions: &[Assertion]) -> bool {
        let mut same = UnionFind { parent: (0..self.domains.len() as CellId).collect() };
        for assertion in assertions {
            let (Claim::Equals(right), false) = (&assertion.claim, assertion.is_denied) else {
                continue;
            };
            let (left, right) = (&self.values[assertion.left], &self.values[*right]);
            if left.len() != right.len() {
                return false;
            }
            for cells in left.iter().zip(right) {
                match cells {
                    (Cell::Byte(a), Cell::Byte(b)) if a != b => return false,
                    (Cell::Byte(_), Cell::Byte(_)) => {}
                    (Cell::Open(cell), Cell::Byte(byte)) | (Cell::Byte(byte), Cell::Open(cell)) => {
                        let domain = &mut self.domains[*cell as usize];
                        *domain = domain.intersection(&ByteSet::of(*byte));
                    }
                    (Cell::Open(a), Cell::Open(b)) => same.join(*a, *b),
                }
            }
        }
        for cell in 0..self.domains.len() {
            let first = same.find(cell as CellId) as usize;
            if first != cell {
                self.domains[first] = self.domains[first].intersection(&self.domains[cell]);
                // The cell is not used any more. One byte, so that there is nothing to choose.
                self.domains[cell] = ByteSet::of(0);
            }
        }
        for row in self.values.iter_mut().chain(&mut self.variables) {
            for cell in row {
                if let Cell::Open(id) = cell {
                    *id = same.find(*id);
                }
            }
        }
        !self.domains.iter().any(ByteSet::is_empty)
    }
}

/// The cells that are the same. The smallest stands for all of them.
struct UnionFind {
    parent: Vec<CellId>,
}

impl UnionFind {
    fn find(&mut self, cell: CellId) -> CellId {
        let mut at = cell;
        while self.parent[at as usize] != at {
            let above = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = above;
            at = above;
        }
        at
    }

    fn join(&mut self, a: CellId, b: CellId) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
