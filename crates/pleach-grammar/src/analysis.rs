//! Analyses of a grammar: which rules are useless, which can be empty, which are
//! recursive, which tokens can begin and follow them. `pleach grammar check` prints
//! the results as notes.

use crate::grammar::{Grammar, Pattern, ProductionId, RuleId, Symbol};
use crate::note::{Note, Severity};
use crate::shortest::{Items, NEVER, Shortest, lowest_heights};
use crate::token_set::TokenSet;

/// All vectors are indexed by rule.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// True if it derives a finite string.
    pub productive: Vec<bool>,
    /// True if it can be derived from the start.
    pub reachable: Vec<bool>,
    /// True if it derives the empty string.
    pub nullable: Vec<bool>,
    /// True if it derives a form that begins with itself, perhaps behind empty rules.
    pub left_recursive: Vec<bool>,
    /// True if it derives just itself (`a: a`), which is infinitely ambiguous.
    pub cyclic: Vec<bool>,
    /// Tokens of its shortest string, or [`NEVER`].
    pub length: Vec<u64>,
    /// Height of its lowest derivation tree, or [`NEVER`].
    pub height: Vec<u64>,
    /// Tokens that can begin it.
    pub first: Vec<TokenSet>,
    /// Tokens that can follow it in a sentence.
    pub follow: Vec<TokenSet>,
    /// True if a sentence can end with it.
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
            left_recursive: on_cycles(&left),
            cyclic: on_cycles(&alone),
            height: lowest_heights(grammar),
            length: shortest.rule,
            productive,
            nullable,
            first,
            follow,
            last,
        }
    }

    /// Notes for the user, in the order of the file.
    pub fn notes(&self, grammar: &Grammar) -> Vec<Note> {
        let mut notes = Vec::new();
        for id in grammar.rule_ids() {
            let (r, rule) = (id.index(), grammar.rule(id));
            let mut note = |severity, text: String| {
                notes.push(Note { place: rule.place.clone(), severity, text });
            };
            let name = &rule.name;
            if !self.productive[r] {
                note(Severity::Warning, format!("{name} derives no finite text"));
            } else if !self.reachable[r] {
                let start = &grammar.rule(grammar.start).name;
                note(Severity::Warning, format!("{name} cannot be reached from {start}"));
            } else if self.cyclic[r] {
                let text = format!("{name} derives itself: it has infinitely many derivations");
                note(Severity::Warning, text);
            }
            if self.left_recursive[r] && !rule.helper {
                note(Severity::Info, format!("{name} is left-recursive"));
            }
        }
        notes.sort_by(|a, b| a.place.cmp(&b.place));
        notes
    }

    /// A rule of some sentence that has infinitely many derivations of one string.
    pub fn cyclic_rule(&self) -> Option<RuleId> {
        (0..self.cyclic.len())
            .find(|&r| self.cyclic[r] && self.reachable[r] && self.productive[r])
            .map(RuleId::new)
    }

    /// True if a rule can be part of a sentence.
    pub fn is_useful(&self, rule: RuleId) -> bool {
        self.reachable[rule.index()] && self.length[rule.index()] != NEVER
    }
}

/// The grammar without productions that derive no text: those with a token that has no
/// pattern, and those with a rule that derives no finite string. `None` if no sentence
/// is left.
pub fn writable(grammar: &Grammar) -> Option<Grammar> {
    let mut writable = grammar.clone();
    let has_pattern = |symbol: &Symbol| match symbol {
        Symbol::Token(token) => grammar.token(*token).pattern != Pattern::Unknown,
        Symbol::Rule(_) => true,
    };
    retain_productions(&mut writable, has_pattern);
    let productive = productive(&writable);
    retain_productions(&mut writable, |symbol| match symbol {
        Symbol::Token(_) => true,
        Symbol::Rule(rule) => productive[rule.index()],
    });
    productive[writable.start.index()].then_some(writable)
}

/// Keeps the productions for whose symbols `keeps` is always true.
fn retain_productions(grammar: &mut Grammar, keeps: impl Fn(&Symbol) -> bool) {
    grammar.productions.retain(|production| production.symbols.iter().all(&keeps));
    grammar.rules.iter_mut().for_each(|rule| rule.productions.clear());
    for (at, production) in grammar.productions.iter().enumerate() {
        grammar.rules[production.rule.index()].productions.push(ProductionId::new(at));
    }
}

/// By rule: true if it derives a finite string.
pub fn productive(grammar: &Grammar) -> Vec<bool> {
    lowest_heights(grammar).into_iter().map(|height| height != NEVER).collect()
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

/// True for each vertex on a cycle. Tarjan's algorithm for strongly connected
/// components, with an explicit stack.
fn on_cycles(edges: &[Vec<usize>]) -> Vec<bool> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut open = vec![false; edges.len()];
    let mut on_cycle = vec![false; edges.len()];
    let (mut path, mut component, mut count) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        if number[root] != UNSEEN {
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
                if number[w] == UNSEEN {
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
                    on_cycle[w] = !alone || edges[w].contains(&w);
                }
            }
        }
    }
    on_cycle
}

fn first_and_follow(
    grammar: &Grammar,
    nullable: &[bool],
    productive: &[bool],
) -> (Vec<TokenSet>, Vec<TokenSet>, Vec<bool>) {
    let (rules, tokens) = (grammar.rules.len(), grammar.tokens.len());
    let mut first = vec![TokenSet::empty(tokens); rules];
    let mut follow = vec![TokenSet::empty(tokens); rules];
    let mut last = vec![false; rules];
    last[grammar.start.index()] = true;
    // For a production `a: b …`, the first tokens of `b` are first tokens of `a`.
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
    // For a production `a: … b`, what follows `a` follows `b`.
    let mut follow_flows: Vec<Vec<usize>> = vec![Vec::new(); rules];
    for production in grammar.productions.iter().filter(|p| useful(&p.symbols)) {
        // From right to left: the tokens that can follow, and true if the end of the
        // production can.
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

/// Adds each set to those that its edges lead to, until nothing changes.
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
