//! From a chart over a whole input to a derivation tree.
//!
//! The tree is built from the top. For an entry that completes a rule, the links from
//! entry to entry give the children from right to left. Nullable rules that a dot
//! skipped get their first empty derivation. If the grammar is ambiguous, the first
//! production wins at each node for which the chart has several.

use super::automaton::NONE;
use super::{Allowed, Chart};
use crate::grammar::{RuleId, Symbol};
use crate::tree::{Kind, Tree};

enum Task {
    /// A rule, and the entry that completed it.
    Rule(RuleId, u32),
    Empty(RuleId),
    Token(crate::grammar::TokenId),
}

impl Chart {
    /// A tree of the pushed tokens, if they are a sentence.
    pub fn tree(&mut self) -> Option<Tree> {
        let at = self.len();
        let start = self.automaton.grammar.start;
        let place = self.close(at, Allowed::End);
        let (from, to) = self.places[place as usize].entries;
        let root = if at == 0 {
            (self.automaton.shortest.rule[start.index()] == 0).then_some(Task::Empty(start))
        } else {
            let ends = |&e: &u32| {
                let entry = &self.entries[e as usize];
                let completes = &self.automaton.states[entry.state as usize].completes;
                entry.origin == 0 && completes.iter().any(|&(rule, _)| rule == start)
            };
            (from..to)
                .filter(ends)
                .min_by_key(|&e| self.entries[e as usize].penalty)
                .map(|e| Task::Rule(start, e))
        };
        let tree = root.map(|root| self.build_tree(root));
        self.drop_overlay();
        tree
    }

    fn build_tree(&self, root: Task) -> Tree {
        let automaton = &*self.automaton;
        let grammar = &*automaton.grammar;
        let mut kinds = Vec::new();
        let mut stack = vec![root];
        while let Some(task) = stack.pop() {
            match task {
                Task::Token(token) => kinds.push(Kind::Token(token, 0)),
                Task::Empty(rule) => {
                    // Only nullable rules get here, and they have a choice.
                    let Some(p) = automaton.shortest.choice[rule.index()] else { continue };
                    kinds.push(Kind::Rule(p));
                    stack.extend(grammar.production(p).symbols.iter().rev().filter_map(empty));
                }
                Task::Rule(rule, mut index) => {
                    let entry = &self.entries[index as usize];
                    let completes = &automaton.states[entry.state as usize].completes;
                    let production = completes.iter().find(|c| c.0 == rule).map(|c| c.1);
                    let Some(production) = production else { continue };
                    kinds.push(Kind::Rule(production));
                    let symbols = &grammar.production(production).symbols;
                    let first = automaton.items.item(production, 0);
                    // Children from right to left, so that the stack has the first on top.
                    let mut dot = symbols.len();
                    loop {
                        let entry = self.entries[index as usize];
                        if entry.before == NONE {
                            stack.extend(symbols[..dot].iter().rev().filter_map(empty));
                            break;
                        }
                        let before = self.entries[entry.before as usize].state;
                        let accessing = automaton.states[entry.state as usize].accessing;
                        let items = &automaton.states[before as usize].items;
                        // Over skipped rules, to the symbol that the entry moved over.
                        while dot > 0
                            && !(Some(symbols[dot - 1]) == accessing
                                && items.binary_search(&(first + dot as u32 - 1)).is_ok())
                        {
                            stack.extend(empty(&symbols[dot - 1]));
                            dot -= 1;
                        }
                        if dot == 0 {
                            break;
                        }
                        dot -= 1;
                        stack.push(match symbols[dot] {
                            Symbol::Token(token) => Task::Token(token),
                            Symbol::Rule(rule) => Task::Rule(rule, entry.child),
                        });
                        index = entry.before;
                    }
                }
            }
        }
        Tree::from_kinds(grammar, kinds)
    }
}

fn empty(symbol: &Symbol) -> Option<Task> {
    match symbol {
        Symbol::Rule(rule) => Some(Task::Empty(*rule)),
        Symbol::Token(_) => None,
    }
}
