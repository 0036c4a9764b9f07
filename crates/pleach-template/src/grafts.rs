//! Children of inputs by way of their derivation trees, as grammar fuzzers make them
//! (Holler, Herzig and Zeller, "Fuzzing with Code Fragments", 2012; Aschermann and
//! others, "Nautilus", 2019).
//!
//! An input that parses is a *plant*. A child of it is a sentence again: a part gives
//! way to a part of another plant that was derived from the same rule, to one of its
//! own, to a new derivation, or to a part of itself; a part is nested into itself; or a
//! token gets another text. What a parser alone decides is seldom worth an input, but
//! what comes behind it is decided by parts that meet: a `continue` in a loop, a name
//! that was declared. So names come from what is there already as often as not, and
//! words that the program knows are texts of the tokens that they are read as.
//!
//! Trees are flat lists, as in [`pleach_grammar::Tree`], and a child is made of copies
//! of stretches of them: nothing recurses, however deep an input is nested.

use pleach_automata::dfa::{self, Dfa};
use pleach_grammar::detokenize::Detokenizer;
use pleach_grammar::tree::Kind;
use pleach_grammar::{
    Automaton, Grammar, Lexer, Parser, Pattern, ProductionId, RuleId, Symbol, TokenId, chart,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum GraftsError {
    #[error("the lexer of the grammar is too large: {0}")]
    Lexer(#[from] dfa::TooLarge),
    #[error("the grammar is too large: {0}")]
    Grammar(#[from] chart::TooLarge),
}

/// Inputs with larger trees are no plants, and no child has a larger one.
const MOST_NODES: usize = 20_000;
/// Larger inputs are not parsed, nor those that the grammar derives in too many ways.
const MOST_BYTES: usize = 4096;
const MOST_ENTRIES: usize = 250_000;
/// Nodes of all plants together. What comes then is no plant; others have children.
const MOST_IN_ALL: usize = 1 << 24;
/// Texts that are kept. Then no more are made up.
const MOST_WORDS: usize = 1 << 18;
/// Parts of one production, and texts of one token, that are kept.
const MOST_PARTS: usize = 1024;
const MOST_TEXTS: usize = 512;
/// Edits of one child, at most.
const EDITS: usize = 4;
/// Times that a part is nested into itself, as a power of two.
const NESTED: u32 = 4;
/// Tokens after which a new derivation takes the shortest way out.
const GROWTH: usize = 24;

pub struct Grafts {
    grammar: Arc<Grammar>,
    parser: Parser,
    texts: Texts,
    plants: Vec<Box<[Node]>>,
    /// Nodes of all of them.
    planted: usize,
    /// By production: plants and the parts of them.
    parts: Vec<Vec<(u32, u32)>>,
    /// By rule: the production that ends it with the fewest tokens.
    ends: Vec<ProductionId>,
    random: fastrand::Rng,
}

#[derive(Clone, Copy)]
struct Node {
    what: What,
    /// Nodes of the part, itself included.
    size: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Rule(RuleId),
    /// With its text.
    Leaf(TokenId, u32),
}

/// All texts of tokens, each once.
struct Texts {
    detokenizer: Detokenizer,
    all: Vec<Box<[u8]>>,
    numbers: FxHashMap<Box<[u8]>, u32>,
    /// By token with more than one: those that are known, and all there are.
    known: Vec<Option<(Vec<u32>, Dfa)>>,
}

impl Grafts {
    pub fn new(grammar: &Arc<Grammar>, seed: u64) -> Result<Grafts, GraftsError> {
        let detokenizer = Detokenizer::new(grammar)?;
        let parser = impatient_parser(grammar, detokenizer.lexer().clone())?;
        let known = grammar.token_ids().map(|id| match grammar.token(id).pattern {
            Pattern::Regex(_) => Some((Vec::new(), detokenizer.lexer().language(id))),
            _ => None,
        });
        let known = known.collect();
        Ok(Grafts {
            texts: Texts { detokenizer, all: Vec::new(), numbers: FxHashMap::default(), known },
            plants: Vec::new(),
            planted: 0,
            parts: vec![Vec::new(); grammar.productions.len()],
            ends: ends(grammar),
            random: fastrand::Rng::with_seed(seed),
            parser,
            grammar: grammar.clone(),
        })
    }

    /// Takes in an input. Its number, if it is one of the grammar's.
    pub fn add(&mut self, input: &[u8]) -> Option<u32> {
        if input.len() > MOST_BYTES || self.planted >= MOST_IN_ALL {
            return None;
        }
        let parsed = self.parser.parse(input).ok()?;
        if parsed.tree.nodes().len() > MOST_NODES {
            return None;
        }
        let number = self.plants.len() as u32;
        let mut nodes = Vec::with_capacity(parsed.tree.nodes().len());
        for (at, node) in parsed.tree.nodes().iter().enumerate() {
            let what = match node.kind {
                Kind::Rule(production) => {
                    let parts = &mut self.parts[production.index()];
                    // Later ones take the places of earlier ones.
                    match parts.len() < MOST_PARTS {
                        true => parts.push((number, at as u32)),
                        false => {
                            parts[(number as usize * 31 + at) % MOST_PARTS] = (number, at as u32);
                        }
                    }
                    What::Rule(self.grammar.production(production).rule)
                }
                Kind::Token(token, leaf) => {
                    let (from, to) = parsed.lexemes[leaf as usize].span;
                    What::Leaf(token, self.texts.learn(token, &input[from..to]))
                }
            };
            nodes.push(Node { what, size: node.size });
        }
        self.planted += nodes.len();
        self.plants.push(nodes.into());
        Some(number)
    }

    /// A word that the program knows: a text of the tokens that it is read as, be it in
    /// quotes.
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

    /// How many inputs there are to make children of.
    pub fn len(&self) -> usize {
        self.plants.len()
    }

    pub fn is_empty(&self) -> bool {
        self.plants.is_empty()
    }

    /// A child of an input, of any if none is named.
    pub fn child(&mut self, plant: Option<u32>) -> Option<Vec<u8>> {
        // Taken out, for the edits need the rest.
        let mut random = self.random.fork();
        let plant = match plant {
            Some(plant) => plant as usize,
            None if self.plants.is_empty() => return None,
            None => random.usize(0..self.plants.len()),
        };
        let mut nodes = self.plants.get(plant)?.to_vec();
        for _ in 0..random.usize(1..=EDITS) {
            let changed = self.edit(&nodes, &mut random);
            if let Some(changed) = changed.filter(|c| c.len() <= MOST_NODES) {
                nodes = changed;
            }
        }
        let leaves = nodes.iter().filter_map(|n| match n.what {
            What::Leaf(token, text) => Some((token, &*self.texts.all[text as usize])),
            What::Rule(_) => None,
        });
        let leaves: Vec<_> = leaves.collect();
        Some(self.texts.detokenizer.join(&leaves))
    }

    fn edit(&mut self, nodes: &[Node], random: &mut fastrand::Rng) -> Option<Vec<Node>> {
        match random.u32(0..16) {
            0..6 => self.graft(nodes, random),
            6..8 => within(nodes, random),
            8..10 => inside(nodes, random, |nodes, (outer, inner)| {
                replace(nodes, outer, &nodes[part(nodes, inner)])
            }),
            10 => {
                let times = 1 << random.u32(0..=NESTED);
                inside(nodes, random, |nodes, pair| nested(nodes, pair, times))
            }
            11..13 => self.grow(nodes, random),
            _ => self.retext(nodes, random),
        }
    }

    /// A part gives way to one of another input.
    fn graft(&self, nodes: &[Node], random: &mut fastrand::Rng) -> Option<Vec<Node>> {
        let (at, rule) = a_rule(nodes, random)?;
        let &(plant, from) = self.donor(rule, random)?;
        let donor = &self.plants[plant as usize];
        Some(replace(nodes, at, &donor[part(donor, from as usize)]))
    }

    /// A part of some input that was derived from a rule: as often as there are such, or
    /// each way to derive it as often as any other. There are many expressions among the
    /// statements, and few of the rest.
    fn donor(&self, rule: RuleId, random: &mut fastrand::Rng) -> Option<&(u32, u32)> {
        let ways = &self.grammar.rule(rule).productions;
        let known = || ways.iter().map(|p| &self.parts[p.index()]).filter(|p| !p.is_empty());
        if random.bool() {
            let ways: Vec<_> = known().collect();
            let way = random.choice(&ways)?;
            return random.choice(way.iter());
        }
        let all = known().map(Vec::len).sum::<usize>();
        known().flatten().nth(random.usize(0..all.max(1)))
    }

    /// A part gives way to a new derivation of its rule.
    fn grow(&mut self, nodes: &[Node], random: &mut fastrand::Rng) -> Option<Vec<Node>> {
        let (at, rule) = a_rule(nodes, random)?;
        let mut new: Vec<Node> = Vec::new();
        let limit = random.usize(1..=GROWTH);
        let (mut leaves, mut open) = (0, vec![(Symbol::Rule(rule), usize::MAX)]);
        // Derived from the left; who waits for a size is known by the place of its parent.
        let mut parents: Vec<usize> = Vec::new();
        while let Some((symbol, parent)) = open.pop() {
            if new.len() > MOST_NODES {
                return None;
            }
            parents.push(parent);
            match symbol {
                Symbol::Token(token) => {
                    leaves += 1;
                    let what = What::Leaf(token, self.texts.draw(token, nodes, random));
                    new.push(Node { what, size: 1 });
                }
                Symbol::Rule(rule) => {
                    let production = match leaves + open.len() < limit {
                        true => *random.choice(&self.grammar.rule(rule).productions)?,
                        false => self.ends[rule.index()],
                    };
                    let here = new.len();
                    new.push(Node { what: What::Rule(rule), size: 1 });
                    let symbols = &self.grammar.production(production).symbols;
                    open.extend(symbols.iter().rev().map(|&s| (s, here)));
                }
            }
        }
        for i in (1..new.len()).rev() {
            let size = new[i].size;
            new[parents[i]].size += size;
        }
        Some(replace(nodes, at, &new))
    }

    /// A token gets another text.
    fn retext(&mut self, nodes: &[Node], random: &mut fastrand::Rng) -> Option<Vec<Node>> {
        let many = |(_, n): &(usize, &Node)| match n.what {
            What::Leaf(token, _) => self.texts.known[token.index()].is_some(),
            What::Rule(_) => false,
        };
        let places: Vec<usize> = nodes.iter().enumerate().filter(many).map(|(i, _)| i).collect();
        let &at = random.choice(&places)?;
        let What::Leaf(token, _) = nodes[at].what else { return None };
        let mut changed = nodes.to_vec();
        changed[at].what = What::Leaf(token, self.texts.draw(token, nodes, random));
        Some(changed)
    }
}

impl Texts {
    fn number(&mut self, text: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    /// A text that a token has somewhere.
    fn learn(&mut self, token: TokenId, text: &[u8]) -> u32 {
        let number = self.number(text);
        if let Some((known, _)) = &mut self.known[token.index()]
            && known.len() < MOST_TEXTS
            && !known.contains(&number)
        {
            known.push(number);
        }
        number
    }

    /// A text for a token: one that it has in the input at hand, one that it has
    /// elsewhere, the one that new tokens get, or seldom one at random.
    fn draw(&mut self, token: TokenId, nodes: &[Node], random: &mut fastrand::Rng) -> u32 {
        let plain = self.detokenizer.text(token).to_vec();
        let Some((known, words)) = &self.known[token.index()] else { return self.number(&plain) };
        let here = || {
            let own = nodes.iter().filter_map(|n| match n.what {
                What::Leaf(t, text) if t == token => Some(text),
                _ => None,
            });
            own.collect::<Vec<u32>>()
        };
        let found = match random.u32(0..16) {
            0..7 => random.choice(&here()).copied(),
            7..13 => random.choice(known).copied(),
            13 if self.all.len() < MOST_WORDS => {
                crate::samples::word(words, random).map(|word| self.number(&word))
            }
            _ => None,
        };
        found.unwrap_or_else(|| self.number(&plain))
    }
}

/// A parser that gives up on inputs that a grammar derives in too many ways.
pub(crate) fn impatient_parser(
    grammar: &Arc<Grammar>,
    lexer: Lexer,
) -> Result<Parser, chart::TooLarge> {
    let automaton = Arc::new(Automaton::new(grammar.clone())?);
    Ok(Parser::new(automaton, lexer).with_entries(MOST_ENTRIES))
}

fn part(nodes: &[Node], at: usize) -> std::ops::Range<usize> {
    at..at + nodes[at].size as usize
}

/// A place where a rule was derived, and the rule: any place, or one of any rule. Most
/// places are deep in expressions.
fn a_rule(nodes: &[Node], random: &mut fastrand::Rng) -> Option<(usize, RuleId)> {
    let rule = |at: usize| match nodes[at].what {
        What::Rule(rule) => Some((at, rule)),
        What::Leaf(..) => None,
    };
    if random.bool() && !nodes.is_empty() {
        // Half of all nodes are of rules, or more.
        return (0..32).find_map(|_| rule(random.usize(0..nodes.len())));
    }
    let mut places: Vec<(RuleId, usize)> =
        (0..nodes.len()).filter_map(rule).map(|(at, rule)| (rule, at)).collect();
    places.sort_unstable();
    let same: Vec<&[(RuleId, usize)]> = places.chunk_by(|a, b| a.0 == b.0).collect();
    let places = random.choice(&same)?;
    random.choice(places.iter()).map(|&(rule, at)| (at, rule))
}

/// The nodes with another part in the place of one.
fn replace(nodes: &[Node], at: usize, new: &[Node]) -> Vec<Node> {
    let old = part(nodes, at);
    let mut changed = Vec::with_capacity(nodes.len() + new.len() - old.len());
    changed.extend_from_slice(&nodes[..at]);
    changed.extend_from_slice(new);
    changed.extend_from_slice(&nodes[old.end..]);
    // All around it have grown.
    for (i, node) in changed[..at].iter_mut().enumerate() {
        if i + nodes[i].size as usize > at {
            node.size = node.size + new.len() as u32 - old.len() as u32;
        }
    }
    changed
}

/// A part gives way to another of the same input.
fn within(nodes: &[Node], random: &mut fastrand::Rng) -> Option<Vec<Node>> {
    let (at, _) = a_rule(nodes, random)?;
    let others: Vec<usize> =
        (0..nodes.len()).filter(|&i| i != at && nodes[i].what == nodes[at].what).collect();
    let &from = random.choice(&others)?;
    Some(replace(nodes, at, &nodes[part(nodes, from)]))
}

/// With a part and a part of it that was derived from the same rule.
fn inside(
    nodes: &[Node],
    random: &mut fastrand::Rng,
    change: impl FnOnce(&[Node], (usize, usize)) -> Vec<Node>,
) -> Option<Vec<Node>> {
    let (inner, _) = a_rule(nodes, random)?;
    let around = |&i: &usize| {
        i < inner && nodes[i].what == nodes[inner].what && part(nodes, i).contains(&inner)
    };
    let outer: Vec<usize> = (0..inner).filter(around).collect();
    let &outer = random.choice(&outer)?;
    Some(change(nodes, (outer, inner)))
}

/// A part nested into itself some times more.
fn nested(nodes: &[Node], (outer, inner): (usize, usize), times: usize) -> Vec<Node> {
    let mut changed = nodes.to_vec();
    let mut at = inner;
    for _ in 0..times {
        if changed.len() > MOST_NODES {
            break;
        }
        changed = replace(&changed, at, &nodes[part(nodes, outer)]);
        at += inner - outer;
    }
    changed
}

/// By rule: the production that ends it with the fewest tokens.
fn ends(grammar: &Grammar) -> Vec<ProductionId> {
    const NEVER: u64 = 1 << 40;
    let mut costs = vec![NEVER; grammar.rules.len()];
    let mut ends: Vec<ProductionId> = grammar
        .rules
        .iter()
        .map(|r| r.productions.first().copied().unwrap_or(ProductionId(0)))
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for id in grammar.production_ids() {
            let production = grammar.production(id);
            let of = |s: &Symbol| match s {
                Symbol::Token(_) => 1,
                Symbol::Rule(rule) => costs[rule.index()],
            };
            // A derivation costs something too, so that no circle is free.
            let cost = production.symbols.iter().map(of).sum::<u64>().saturating_add(1).min(NEVER);
            if cost < costs[production.rule.index()] {
                costs[production.rule.index()] = cost;
                ends[production.rule.index()] = id;
                changed = true;
            }
        }
    }
    ends
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

    fn children(grafts: &mut Grafts, plant: u32, count: usize) -> HashSet<String> {
        let child = |_| grafts.child(Some(plant)).unwrap();
        (0..count).map(child).map(|c| String::from_utf8(c).unwrap()).collect()
    }

    #[test]
    fn children_are_sentences_and_parts_meet() {
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
    fn sizes_stay_those_of_the_parts() {
        let mut grafts = grafts(&["loop { a = 1 + b + c; stop; }", "stop;"]);
        let mut random = fastrand::Rng::with_seed(9);
        for _ in 0..2000 {
            let nodes = grafts.plants[0].to_vec();
            let Some(changed) = grafts.edit(&nodes, &mut random) else { continue };
            assert_eq!(changed[0].size as usize, changed.len());
            for (at, node) in changed.iter().enumerate() {
                assert!(at + node.size as usize <= changed.len());
                assert!(node.size == 1 || matches!(node.what, What::Rule(_)));
            }
        }
    }

    #[test]
    fn words_of_the_program_become_texts() {
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
