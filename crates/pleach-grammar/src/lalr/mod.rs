//! A fast LALR(1) parser that gives up at conflicts.
//!
//! Most inputs do not need the chart. If a cell of the LALR(1) tables (a state and the
//! next token) has one action, every derivation of the input continues with that
//! action. So if a parse meets only such cells, its tree is the only one. Cells with
//! several actions are marked as conflicts, and not resolved. A parse that meets one
//! gives up, and the chart parses the input from the start. So the grammar need not be
//! LALR(1); it is enough that the input avoids the conflicts.
//!
//! Measured on JSON, including the time of the lexer, this takes a quarter of the time
//! of the chart (`./x bench grammar parse`).

mod tables;

use crate::grammar::{Grammar, RuleId, TokenId};
use crate::tree::{Kind, Node, Tree};
use tables::{ACCEPT, REDUCE, SHIFT, Tables};

/// Nodes of a tree. Beyond this the chart takes over, and reports its own limit.
const MAX_NODES: usize = 100_000_000;

pub struct Lalr {
    tables: Tables,
}

/// The pairs of rules between which one token of lookahead does not decide, in the order
/// of the grammar. `None` if the tables would be too large.
pub fn conflicting_rules(grammar: &Grammar) -> Option<Vec<(RuleId, RuleId)>> {
    tables::conflicting_rules(grammar)
}

impl Lalr {
    /// `None` if the tables would be too large.
    pub fn new(grammar: &Grammar) -> Option<Lalr> {
        Tables::new(grammar).map(|tables| Lalr { tables })
    }

    /// The number of cells with several actions. If there is none, the grammar is
    /// unambiguous.
    pub fn conflicts(&self) -> usize {
        self.tables.conflicts
    }

    pub fn states(&self) -> usize {
        self.tables.states
    }

    /// The only tree of a string. `None` if there is no tree, or if one token of lookahead
    /// does not decide.
    pub fn tree(&self, tokens: impl IntoIterator<Item = TokenId>) -> Option<Tree> {
        let tables = &self.tables;
        let end = tables.end;
        let mut tokens = tokens.into_iter();
        // States, each with the index of the first node of its symbol.
        let mut stack: Vec<(u32, u32)> = vec![(0, 0)];
        let mut nodes: Vec<Node> = Vec::new();
        let mut leaves = 0;
        let mut state = 0;
        loop {
            let token = tokens.next();
            let column = token.map_or(end, |t| t.0);
            // If the table has conflicts, other cells can reduce forever.
            let mut reductions_left = tables.max_reductions(stack.len());
            loop {
                let action = tables.action(state, column);
                match action & 3 {
                    SHIFT => break,
                    REDUCE => {
                        let (production, rule, length) = tables.reduction(action);
                        let kept = stack.len() - length;
                        let from = stack.get(kept).map_or(nodes.len(), |top| top.1 as usize);
                        stack.truncate(kept);
                        let size = (nodes.len() - from + 1) as u32;
                        nodes.push(Node { kind: Kind::Rule(production), size });
                        state = tables.goto(stack[kept - 1].0, rule);
                        stack.push((state, from as u32));
                        reductions_left = reductions_left.checked_sub(1)?;
                    }
                    ACCEPT => return Some(Tree::from_postorder(&nodes)),
                    _ => return None,
                }
            }
            let token = token?;
            state = tables.action(state, column) >> 2;
            stack.push((state, nodes.len() as u32));
            nodes.push(Node { kind: Kind::Token(token, leaves), size: 1 });
            leaves += 1;
            if nodes.len() > MAX_NODES {
                return None;
            }
        }
    }
}
