//! The fast way to parse: an LALR(1) machine, which knows when to give up.
//!
//! Most inputs of most grammars need none of what the chart can do. In the tables
//! of an LALR(1) parser, a cell (a state and the next token) with one action says
//! that every derivation of the input, if there is any, goes on with that action.
//! So as long as a parse meets only such cells, its tree is the only one. Cells
//! with more than one action are marked, not resolved: a parse that comes upon
//! one says that it does not know, and the chart begins anew. A grammar need not
//! be LALR(1) for this to pay, an input that stays clear of its conflicts is
//! enough.
//!
//! Measured on JSON, with the lexer's time in both, this takes a quarter of the time
//! of the chart (`./x bench grammar parse`).

mod tables;

use crate::grammar::{Grammar, RuleId, TokenId};
use crate::tree::{Kind, Node, Tree};
use tables::{ACCEPT, REDUCE, SHIFT, Tables};

/// Nodes of a tree: the chart has its own limit and the words to say so.
const MOST_NODES: usize = 100_000_000;

pub struct Lalr {
    tables: Tables,
}

/// The pairs of rules that one token of lookahead does not tell apart, in the order
/// of the grammar. None if the tables would be too large.
pub fn conflicting_rules(grammar: &Grammar) -> Option<Vec<(RuleId, RuleId)>> {
    tables::conflicting_rules(grammar)
}

impl Lalr {
    /// None if the tables would be too large to be worth it.
    pub fn new(grammar: &Grammar) -> Option<Lalr> {
        Tables::new(grammar).map(|tables| Lalr { tables })
    }

    /// States and the cells with more than one action. A grammar with no such
    /// cell is unambiguous.
    pub fn conflicts(&self) -> usize {
        self.tables.conflicts
    }

    pub fn states(&self) -> usize {
        self.tables.states
    }

    /// The only tree of a string. None if there is none, or if one token of
    /// lookahead does not decide.
    pub fn tree(&self, tokens: impl IntoIterator<Item = TokenId>) -> Option<Tree> {
        let tables = &self.tables;
        let end = tables.end;
        let mut tokens = tokens.into_iter();
        // States, each with where the nodes of the symbol that leads to it begin.
        let mut stack: Vec<(u32, u32)> = vec![(0, 0)];
        let mut nodes: Vec<Node> = Vec::new();
        let mut leaves = 0;
        let mut state = 0;
        loop {
            let token = tokens.next();
            let column = token.map_or(end, |t| t.0);
            // A table with marked cells can go in circles between them.
            let mut patience = tables.patience(stack.len());
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
                        patience = patience.checked_sub(1)?;
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
            if nodes.len() > MOST_NODES {
                return None;
            }
        }
    }
}
