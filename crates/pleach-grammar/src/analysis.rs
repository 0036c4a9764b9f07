//! What can be said of a grammar by looking at it: which rules are of no use,
//! which can be empty, which are recursive and how, what can begin and follow
//! them. `pleach grammar check` prints it as notes.

use crate::grammar::{Grammar, Pattern, ProductionId, RuleId, Symbol};
use crate::note::{Note, Severity};
use crate::shortest::{Items, NEVER, Shortest, lowest};
use crate::token_set::TokenSet;

/// Everything is by rule.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Some derivation of it ends.
    pub productive: Vec<bool>,
    /// The start can lead to it.
    pub reachable: Vec<bool>,
    /// It can be the empty string.
    pub nullable: Vec<bool>,
    /// It can begin with itself, perhaps behind rules that are empty.
    pub left_recursive: Vec<bool>,
    /// It can become itself and nothing else (`a: a`): endlessly ambiguous.
    pub cyclic: Vec<bool>,
    /// Tokens of its shortest string, or [`NEVER`].
    pub length: Vec<u64>,
    /// Height of its lowest derivation tree, or [`NEVER`].
    pub height: Vec<u64>,
    /// Tokens that can begin it.
    pub first: Vec<TokenSet>,
    /// Tokens that can follow it in a sentence.
    pub follow: Vec<TokenSet>,
    /// It can be the last of a sentence.
    pub last: Vec<bool>,
}

impl Analysis {
    pub fn new(grammar: &Grammar) -> Analysis {
        let productive = productive(grammar);
        let items = Items::new(grammar);
        let shortest = Shortest::new(grammar, &items, |_| 1);
        let nullable: Vec<bool> = shortest.rule.iter().map(|&length| length == 0).collect();
        let useful = |symbols: &[Symbol]| {
            symbols.iter().all(|s| !matches!(s, Symbol::Rule(r) if !productive[r.index()]))
        };
        let empty = |s: &Symbol| matches!(s, Symbol::Rule(r) if nullable[r.index()]);
        let (mut left, mut alone) =
            (vec![Vec::new(); grammar.rules.len()], vec![Vec::new(); grammar.rules.len()]);
        for production in grammar.productions.iter().filter(|p| useful(&p.symbols)) {
            let symbols = &production.symbols;
            let full = symbols.iter().filter(|s| !empty(s)).count();
            let mut before = true;
            for symbol in symbols {
                if let Symbol::Rule(r) = symbol {
                    if before {
                        left[production.rule.index()].push(r.index());
                    }
                    if full == usize::from(!empty(symbol)) {
                        alone[production.rule.index()].push(r.index());
                    }
                }
                before &= empty(symbol);
            }
        }
        let (first, follow, last) = first_and_follow(grammar, &nullable, &productive);
        Analysis {
            reachable: reachable(grammar),
            left_recursive: recursive(&left),
            cyclic: recursive(&alone),
            height: lowest(grammar),
            length: shortest.rule,
            productive,
            nullable,
            first,
            follow,
            last,
        }
    }

    /// Remarks for a person, in the order of the file.
    pub fn notes(&self, grammar: &Grammar) -> Vec<Note> {
        let mut notes = Vec::new();
        for id in grammar.rule_ids() {
            let (r, rule) = (id.index(), grammar.rule(id));
            let mut note = |severity, text: String| {
                notes.push(Note { place: rule.place.clone(), severity, text });
            };
            let name = &rule.name;
            if !self.productive[r] {
                note(Severity::Warning, format!("no derivation of {name} ends"));
            } else if !self.reachable[r] {
                let start = &grammar.rule(grammar.start).name;
                note(Severity::Warning, format!("nothing leads from {start} to {name}"));
            } else if self.cyclic[r] {
                let text = format!("{name} can become itself: it has endlessly many derivations");
                note(Severity::Warning, text);
            }
            if self.left_recursive[r] && !rule.helper {
                note(Severity::Info, format!("{name} is left-recursive"));
            }
        }
        notes.sort_by(|a, b| a.place.cmp(&b.place));
        notes
    }

    /// A rule that has endlessly many derivations of one string and takes part
    /// in sentences, if there is one.
    pub fn endless(&self) -> Option<RuleId> {
        (0..self.cyclic.len())
            .find(|&r| self.cyclic[r] && self.reachable[r] && self.productive[r])
            .map(RuleId::new)
    }

    /// Whether it can be part of a sentence.
    pub fn useful(&self, rule: RuleId) -> bool {
        self.reachable[rule.index()] && self.length[rule.index()] != NEVER
    }
}

/// The grammar without productions that lead to no text: because nobody knows what a
/// token looks like (those that are known by name only), or because a rule has no end.
/// Nothing, if no sentence is left.
pub fn writable(grammar: &Grammar) -> Option<Grammar> {
    let mut known = grammar.clone();
    let written = |symbol: &Symbol| match symbol {
        Symbol::Token(token) => grammar.token(*token).pattern != Pattern::Unknown,
        Symbol::Rule(_) => true,
    };
    keep(&mut known, written);
    let ends = productive(&known);
    keep(&mut known, |symbol| match symbol {
        Symbol::Token(_) => true,
        Symbol::Rule(rule) => ends[rule.index()],
    });
    ends[known.start.index()].then_some(known)
}

/// Keeps the productions all of whose symbols are as wanted.
fn keep(grammar: &mut Grammar, wanted: impl Fn(&Symbol) -> bool) {
    grammar.productions.retain(|production| production.symbols.iter().all(&wanted));
    grammar.rules.iter_mut().for_each(|rule| rule.productions.clear());
    for (at, production) in grammar.productions.iter().enumerate() {
        grammar.rules[production.rule.index()].productions.push(ProductionId::new(at));
    }
}

/// For each rule, whether some derivation of it ends.
pub fn productive(grammar: &Grammar) -> Vec<bool> {
    lowest(grammar).into_iter().map(|height| height != NEVER).collect()
}

fn reachable(grammar: &Grammar) -> Vec<bool> {
    let mut seen = vec![false; grammar.rules.len()];
    let mut stack = vec![grammar.start];
    seen[grammar.start.index()] = true;
    while let Some(rule) = stack.pop() {
        for &p in &grammar.rule(rule).productions {
            for symbol in &grammar.production(p).symbols {
                if let Symbol::Rule(r) = symbol
                    && !std::mem::replace(&mut seen[r.index()], true)
                {
                    stack.push(*r);
                }
            }
        }
    }
    seen
}

/// The vertices that lie on a circle: strongly connected components by Tarjan's
/// algorithm, with a stack of its own.
fn recursive(edges: &[Vec<usize>]) -> Vec<bool> {
    const NEW: usize = usize::MAX;
    let mut number = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut open = vec![false; edges.len()];
    let mut on_circle = vec![false; edges.len()];
    let (mut path, mut component, mut count) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        if number[root] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some((v, next)) = path.last_mut() {
            let v = *v;
            if *next == 0 {
                (number[v], low[v], open[v]) = (count, count, true);
                count += 1;
                component.push(v);
            }
            if let Some(&w) = edges[v].get(*next) {
                *next += 1;
                if number[w] == NEW {
                    path.push((w, 0));
                } else if open[w] {
                    low[v] = low[v].min(number[w]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                low[*parent] = low[*parent].min(low[v]);
            }
            if low[v] == number[v] {
                let start = component.iter().rposition(|&w| w == v).unwrap_or(0);
                let alone = component.len() - start == 1;
                for w in component.drain(start..) {
                    open[w] = false;
                    on_circle[w] = !alone || edges[w].contains(&w);
                }
            }
        }
    }
    on_circle
}

fn first_and_follow(
    grammar: &Grammar,
    nullable: &[bool],
    productive: &[bool],
) -> (Vec<TokenSet>, Vec<TokenSet>, Vec<bool>) {
    let (rules, tokens) = (grammar.rules.len(), grammar.tokens.len());
    // What flows where: first(b) into first(a), follow(a) into follow(b).
    let mut first = vec![TokenSet::empty(tokens); rules];
    let mut follow = vec![TokenSet::empty(tokens); rules];
    let mut last = vec![false; rules];
    last[grammar.start.index()] = true;
    let mut first_flows: Vec<Vec<usize>> = vec![Vec::new(); rules];
    let useful = |symbols: &[Symbol]| {
        symbols.iter().all(|s| !matches!(s, Symbol::Rule(r) if !productive[r.index()]))
    };
    for production in grammar.productions.iter().filter(|p| useful(&p.symbols)) {
        for symbol in &production.symbols {
            match symbol {
                Symbol::Token(t) => {
                    first[production.rule.index()].insert(*t);
                    break;
                }
                Symbol::Rule(r) => {
                    first_flows[r.index()].push(production.rule.index());
                    if !nullable[r.index()] {
                        break;
                    }
                }
            }
        }
    }
    flow(&mut first, &first_flows);
    let mut follow_flows: Vec<Vec<usize>> = vec![Vec::new(); rules];
    for production in grammar.productions.iter().filter(|p| useful(&p.symbols)) {
        // From the right: what can come after, and whether the end can.
        let mut after = TokenSet::empty(tokens);
        let mut at_end = true;
        for symbol in production.symbols.iter().rev() {
            match symbol {
                Symbol::Token(t) => {
                    after = TokenSet::of(tokens, [*t]);
                    at_end = false;
                }
                Symbol::Rule(r) => {
                    follow[r.index()].union_with(&after);
                    if at_end {
                        follow_flows[production.rule.index()].push(r.index());
                    }
                    if !nullable[r.index()] {
                        at_end = false;
                        after = first[r.index()].clone();
                    } else {
                        after.union_with(&first[r.index()]);
                    }
                }
            }
        }
    }
    flow(&mut follow, &follow_flows);
    let mut stack = vec![grammar.start.index()];
    while let Some(r) = stack.pop() {
        for &to in &follow_flows[r] {
            if !std::mem::replace(&mut last[to], true) {
                stack.push(to);
            }
        }
    }
    (first, follow, last)
}

/// Least sets that include those they flow from.
fn flow(sets: &mut [TokenSet], edges: &[Vec<usize>]) {
    let mut work: Vec<usize> = (0..sets.len()).collect();
    let mut queued = vec![true; sets.len()];
    while let Some(from) = work.pop() {
        queued[from] = false;
        for &to in &edges[from] {
            if to == from {
                continue;
            }
            let [source, target] = sets.get_disjoint_mut([from, to]).expect("two different rules");
            if target.union_with(source) && !std::mem::replace(&mut queued[to], true) {
                work.push(to);
            }
        }
    }
}
