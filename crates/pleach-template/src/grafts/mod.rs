//! Children of inputs, made by edits of their derivation trees, as grammar fuzzers do
//! (Holler, Herzig and Zeller, "Fuzzing with Code Fragments", 2012; Aschermann and others,
//! "Nautilus", 2019).
//!
//! Every input that parses is kept as a tree. A child is another sentence: a subtree is
//! replaced by one of another tree that was derived from the same rule, by one of the same
//! tree, by a new derivation or by a part of itself; or a subtree is nested into itself; or a
//! token gets another text. What the parser alone decides seldom makes an input worth
//! keeping. What matters comes behind the parser, and depends on parts that meet: a
//! `continue` in a loop, a name that was declared. So the texts of names often come from the
//! same input, and words that the program knows are used as texts, too.

mod texts;
mod tree;

use pleach_automata::dfa;
use pleach_grammar::tree::Kind;
use pleach_grammar::{Automaton, Grammar, Lexer, Parser, ProductionId, RuleId, Symbol, chart};
use std::sync::Arc;
use texts::Texts;
use tree::{Node, NodeKind, copy_within, draw_nested, draw_rule, nest, replace, subtree, unwrap};

#[derive(Debug, thiserror::Error)]
pub enum GraftsError {
    #[error("the lexer of the grammar is too large: {0}")]
    Lexer(#[from] dfa::TooLarge),
    #[error("the grammar is too large: {0}")]
    Grammar(#[from] chart::TooLarge),
}

/// The largest tree that is kept, and the largest tree of a child.
const MAX_NODES: usize = 20_000;
/// Longer inputs are not parsed.
const MAX_BYTES: usize = 4096;
/// Inputs with a larger chart are not parsed to their end: the grammar derives them in too
/// many ways.
const MAX_ENTRIES: usize = 250_000;
/// When all trees together have this many nodes, no more are kept.
const MAX_TOTAL_NODES: usize = 1 << 24;
/// How many subtrees of one production are remembered.
const MAX_SUBTREES: usize = 1024;
/// How many edits make a child.
const MAX_EDITS: usize = 4;
/// A subtree is nested into itself at most 2 to the power of this many times.
const MAX_NESTING_LOG2: u32 = 4;
/// After at most this many tokens, a new derivation takes the shortest way to its end.
const MAX_GROWTH: usize = 24;

pub struct Grafts {
    grammar: Arc<Grammar>,
    parser: Parser,
    texts: Texts,
    trees: Vec<Box<[Node]>>,
    total_nodes: usize,
    /// For each production, the subtrees that it derived: the tree, and the place in it.
    subtrees: Vec<Vec<(u32, u32)>>,
    /// For each rule, the production that leads to the fewest tokens.
    shortest: Vec<ProductionId>,
    random: fastrand::Rng,
}

impl Grafts {
    pub fn new(grammar: &Arc<Grammar>, seed: u64) -> Result<Grafts, GraftsError> {
        let texts = Texts::new(grammar)?;
        Ok(Grafts {
            parser: bounded_parser(grammar, texts.detokenizer.lexer().clone())?,
            texts,
            trees: Vec::new(),
            total_nodes: 0,
            subtrees: vec![Vec::new(); grammar.productions.len()],
            shortest: shortest_productions(grammar),
            random: fastrand::Rng::with_seed(seed),
            grammar: grammar.clone(),
        })
    }

    /// Parses an input and keeps its tree. Returns the number of the tree; `None` if the
    /// input does not parse or is too large.
    pub fn add(&mut self, input: &[u8]) -> Option<u32> {
        if input.len() > MAX_BYTES || self.total_nodes >= MAX_TOTAL_NODES {
            return None;
        }
        let parsed = self.parser.parse(input).ok()?;
        if parsed.tree.nodes().len() > MAX_NODES {
            return None;
        }
        let number = self.trees.len() as u32;
        let mut nodes = Vec::with_capacity(parsed.tree.nodes().len());
        for (at, node) in parsed.tree.nodes().iter().enumerate() {
            let kind = match node.kind {
                Kind::Rule(production) => {
                    let subtrees = &mut self.subtrees[production.index()];
                    match subtrees.len() < MAX_SUBTREES {
                        true => subtrees.push((number, at as u32)),
                        // Later ones replace earlier ones.
                        false => {
                            let place = (number as usize * 31 + at) % MAX_SUBTREES;
                            subtrees[place] = (number, at as u32);
                        }
                    }
                    NodeKind::Rule(self.grammar.production(production).rule)
                }
                Kind::Token(token, leaf) => {
                    let (from, to) = parsed.lexemes[leaf as usize].span;
                    NodeKind::Leaf(token, self.texts.learn(token, &input[from..to]))
                }
            };
            nodes.push(Node { kind, size: node.size });
        }
        self.total_nodes += nodes.len();
        self.trees.push(nodes.into());
        Some(number)
    }

    /// Adds a word that the program knows. It becomes a text of the tokens that it is read
    /// as, alone or in quotes.
    pub fn add_word(&mut self, word: &[u8]) {
        for quote in [&b""[..], b"\"", b"'"] {
            let text = [quote, word, quote].concat();
            let Ok(lexemes) = self.texts.detokenizer.lexer().lex(&text) else { continue };
            if let [one] = &lexemes[..]
                && one.span == (0, text.len())
            {
                self.texts.learn(one.token, &text);
            }
        }
    }

    /// Makes a child of a tree; of a random one if none is given. `None` if there is no
    /// tree.
    pub fn child(&mut self, tree: Option<u32>) -> Option<Vec<u8>> {
        // A generator of its own, because the edits borrow `self`.
        let mut random = self.random.fork();
        let tree = match tree {
            Some(tree) => tree as usize,
            None if self.trees.is_empty() => return None,
            None => random.usize(0..self.trees.len()),
        };
        let mut nodes = self.trees.get(tree)?.to_vec();
        for _ in 0..random.usize(1..=MAX_EDITS) {
            let changed = self.edit(&nodes, &mut random);
            if let Some(changed) = changed.filter(|c| c.len() <= MAX_NODES) {
                nodes = changed;
            }
        }
        let leaves = nodes.iter().filter_map(|n| match n.kind {
            NodeKind::Leaf(token, text) => Some((token, self.texts.get(text))),
            NodeKind::Rule(_) => None,
        });
        let leaves: Vec<_> = leaves.collect();
        Some(self.texts.detokenizer.join(&leaves))
    }

    fn edit(&mut self, nodes: &[Node], random: &mut fastrand::Rng) -> Option<Vec<Node>> {
        match random.u32(0..16) {
            0..6 => self.graft(nodes, random),
            6..8 => copy_within(nodes, random),
            8..10 => draw_nested(nodes, random).map(|pair| unwrap(nodes, pair)),
            10 => {
                let times = 1 << random.u32(0..=MAX_NESTING_LOG2);
                draw_nested(nodes, random).map(|pair| nest(nodes, pair, times))
            }
            11..13 => self.grow(nodes, random),
            _ => self.change_text(nodes, random),
        }
    }

    /// Replaces a subtree by one of any tree.
    fn graft(&self, nodes: &[Node], random: &mut fastrand::Rng) -> Option<Vec<Node>> {
        let (at, rule) = draw_rule(nodes, random)?;
        let &(tree, from) = self.draw_subtree(rule, random)?;
        let donor = &self.trees[tree as usize];
        Some(replace(nodes, at, &donor[subtree(donor, from as usize)]))
    }

    /// Draws a subtree that was derived from a rule. Half of the time all productions of the
    /// rule are equally likely; otherwise all subtrees are. Among statements there are many
    /// expressions, and few of anything else.
    fn draw_subtree(&self, rule: RuleId, random: &mut fastrand::Rng) -> Option<&(u32, u32)> {
        let productions = &self.grammar.rule(rule).productions;
        let known =
            || productions.iter().map(|p| &self.subtrees[p.index()]).filter(|s| !s.is_empty());
        if random.bool() {
            let by_production: Vec<_> = known().collect();
            let subtrees = random.choice(&by_production)?;
            return random.choice(subtrees.iter());
        }
        let all = known().map(Vec::len).sum::<usize>();
        known().flatten().nth(random.usize(0..all.max(1)))
    }

    /// Replaces a subtree by a new derivation of its rule.
    fn grow(&mut self, nodes: &[Node], random: &mut fastrand::Rng) -> Option<Vec<Node>> {
        let (at, rule) = draw_rule(nodes, random)?;
        let mut new: Vec<Node> = Vec::new();
        let limit = random.usize(1..=MAX_GROWTH);
        // Symbols that are not derived yet, the leftmost last, each with its parent.
        let (mut leaves, mut open) = (0, vec![(Symbol::Rule(rule), usize::MAX)]);
        let mut parents: Vec<usize> = Vec::new();
        while let Some((symbol, parent)) = open.pop() {
            if new.len() > MAX_NODES {
                return None;
            }
            parents.push(parent);
            match symbol {
                Symbol::Token(token) => {
                    leaves += 1;
                    let kind = NodeKind::Leaf(token, self.texts.draw(token, nodes, random));
                    new.push(Node { kind, size: 1 });
                }
                Symbol::Rule(rule) => {
                    let production = match leaves + open.len() < limit {
                        true => *random.choice(&self.grammar.rule(rule).productions)?,
                        false => self.shortest[rule.index()],
                    };
                    let here = new.len();
                    new.push(Node { kind: NodeKind::Rule(rule), size: 1 });
                    let symbols = &self.grammar.production(production).symbols;
                    open.extend(symbols.iter().rev().map(|&s| (s, here)));
                }
            }
        }
        // Children come after their parents, so their sizes are complete first.
        for i in (1..new.len()).rev() {
            let size = new[i].size;
            new[parents[i]].size += size;
        }
        Some(replace(nodes, at, &new))
    }

    /// Gives a token another text.
    fn change_text(&mut self, nodes: &[Node], random: &mut fastrand::Rng) -> Option<Vec<Node>> {
        let is_variable = |(_, n): &(usize, &Node)| match n.kind {
            NodeKind::Leaf(token, _) => self.texts.is_variable(token),
            NodeKind::Rule(_) => false,
        };
        let places: Vec<usize> =
            nodes.iter().enumerate().filter(is_variable).map(|(i, _)| i).collect();
        let &at = random.choice(&places)?;
        let NodeKind::Leaf(token, _) = nodes[at].kind else { return None };
        let mut changed = nodes.to_vec();
        changed[at].kind = NodeKind::Leaf(token, self.texts.draw(token, nodes, random));
        Some(changed)
    }
}

/// A parser that gives up on inputs that the grammar derives in too many ways.
pub(crate) fn bounded_parser(
    grammar: &Arc<Grammar>,
    lexer: Lexer,
) -> Result<Parser, chart::TooLarge> {
    let automaton = Arc::new(Automaton::new(grammar.clone())?);
    Ok(Parser::new(automaton, lexer).with_entries(MAX_ENTRIES))
}

/// For each rule, the production that leads to the fewest tokens.
fn shortest_productions(grammar: &Grammar) -> Vec<ProductionId> {
    const NEVER: u64 = 1 << 40;
    let mut costs = vec![NEVER; grammar.rules.len()];
    let mut shortest: Vec<ProductionId> = grammar
        .rules
        .iter()
        .map(|r| r.productions.first().copied().unwrap_or(ProductionId(0)))
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for id in grammar.production_ids() {
            let production = grammar.production(id);
            let cost_of = |s: &Symbol| match s {
                Symbol::Token(_) => 1,
                Symbol::Rule(rule) => costs[rule.index()],
            };
            // A production costs something, too, so that no cycle is free.
            let cost =
                production.symbols.iter().map(cost_of).sum::<u64>().saturating_add(1).min(NEVER);
            if cost < costs[production.rule.index()] {
                costs[production.rule.index()] = cost;
                shortest[production.rule.index()] = id;
                changed = true;
            }
        }
    }
    shortest
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_import as import;
    use std::collections::HashSet;

    const BLOCKS: &str = "s ::= item*\nitem ::= 'loop' '{' item* '}' | 'stop' ';' | name '=' sum ';'\n\
        sum ::= name | number | sum '+' sum\nname ::= [a-z]+\nnumber ::= [0-9]+\n\
        space ::= ' '+\n@skip space\n";

    fn grafts(inputs: &[&str]) -> Grafts {
        let grammar = import::from_bytes("blocks.ebnf", BLOCKS.as_bytes(), None).unwrap();
        let mut grafts = Grafts::new(&Arc::new(grammar), 3).unwrap();
        inputs.iter().for_each(|i| assert!(grafts.add(i.as_bytes()).is_some(), "{i}"));
        grafts
    }

    fn children(grafts: &mut Grafts, tree: u32, count: usize) -> HashSet<String> {
        let child = |_| grafts.child(Some(tree)).unwrap();
        (0..count).map(child).map(|c| String::from_utf8(c).unwrap()).collect()
    }

    #[test]
    fn children_are_sentences_and_combine_parts() {
        let mut grafts = grafts(&["loop { a = 1; }", "stop; total = a + 2;"]);
        let children = children(&mut grafts, 0, 2000);
        for child in &children {
            assert!(grafts.parser.parse(child.as_bytes()).is_ok(), "{child}");
        }
        assert!(children.len() > 300, "{}", children.len());
        let any = |wanted: &dyn Fn(&str) -> bool| children.iter().any(|c| wanted(c));
        assert!(any(&|c| c.starts_with("loop{stop;")), "{children:?}");
        assert!(any(&|c| c.contains("loop{loop{loop{")) && any(&|c| c.contains("total=")));
    }

    #[test]
    fn edits_keep_the_sizes_of_subtrees_correct() {
        let mut grafts = grafts(&["loop { a = 1 + b + c; stop; }", "stop;"]);
        let mut random = fastrand::Rng::with_seed(9);
        for _ in 0..2000 {
            let nodes = grafts.trees[0].to_vec();
            let Some(changed) = grafts.edit(&nodes, &mut random) else { continue };
            assert_eq!(changed[0].size as usize, changed.len());
            for (at, node) in changed.iter().enumerate() {
                assert!(at + node.size as usize <= changed.len());
                assert!(node.size == 1 || matches!(node.kind, NodeKind::Rule(_)));
            }
        }
    }

    #[test]
    fn words_of_the_program_become_texts_of_tokens() {
        let mut grafts = grafts(&["a = 1;"]);
        for word in ["widget", "loop", "no word", "1234"] {
            grafts.add_word(word.as_bytes());
        }
        let children = children(&mut grafts, 0, 500);
        let any = |word: &str| children.iter().any(|c| c.contains(word));
        assert!(any("widget=") && any("=1234;") && !any("loop="));
        assert_eq!(grafts.add(b"a = ;"), None);
    }
}
