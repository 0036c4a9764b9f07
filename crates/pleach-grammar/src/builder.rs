//! Builds a [`Grammar`] from rules with options, repetitions and groups.
//!
//! A [`Grammar`] has none of these. The builder gets expressions ([`Ebnf`]) and makes
//! helper rules: `x?` is `x_opt: x |`, `x*` is `x_star: | x_star x`, and `x+` is
//! `x_plus: x | x_plus x`. All repetitions of a symbol share one helper. A group of
//! several symbols gets a rule that is named after the rule around it. Repetitions are
//! left-recursive, so a bottom-up parser needs no stack for them. A choice needs no
//! helper at the top of a rule, or directly inside another choice.
//!
//! Expressions are in a vector of the builder, and a handle is an index. So nothing
//! recurses, even for a hundred thousand nested brackets.

use crate::analysis;
use crate::grammar::{
    Grammar, Lexing, Pattern, Precedence, Production, ProductionId, Rule, RuleId, Separator,
    Symbol, Token, TokenId,
};
use crate::note::{Language, Note, Place, Severity};
use pleach_automata::dfa::MAX_PIECES;
use std::collections::HashMap;

/// Symbols on the right-hand sides of all productions, helper rules included.
pub const MAX_SYMBOLS: usize = 8_000_000;
/// The largest count of a repetition.
pub const MAX_REPEATS: u32 = 10_000;

/// All are errors in the user's grammar.
#[derive(Debug, thiserror::Error)]
pub enum GrammarError {
    #[error("{place}: {name} is neither a token nor a rule")]
    Undefined { name: String, place: Place },
    #[error("{place}: token {name} is declared twice; the first declaration is at {first}")]
    DuplicateToken { name: String, place: Place, first: Place },
    #[error("{place}: {name} is both a token and a rule")]
    Clash { name: String, place: Place },
    #[error("{place}: the grammar has no rules")]
    NoRules { place: Place },
    #[error("{place}: the language is empty: {name} derives no finite text")]
    EmptyLanguage { name: String, place: Place },
    #[error(
        "{place}: the grammar is too large: its productions have more than {MAX_SYMBOLS} symbols"
    )]
    TooLarge { place: Place },
    #[error("{place}: the pattern of {name} is too large; the limit is {MAX_PIECES} pieces")]
    Expression { name: String, place: Place },
    #[error("{place}: {times} repetitions are too many; the limit is {MAX_REPEATS}")]
    Repeats { times: u32, place: Place },
}

/// Handle of an expression in its builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ebnf(u32);

enum Node {
    Empty,
    Symbol(Symbol),
    /// Resolved in `finish`, when all rules and tokens are declared.
    Name(String, Place),
    Sequence(Vec<Ebnf>),
    Choice(Vec<Ebnf>),
    Optional(Ebnf),
    Star(Ebnf),
    Plus(Ebnf),
    Repeat(Ebnf, u32, Option<u32>),
}

/// All of a production but its symbols.
#[derive(Clone, Debug)]
pub struct Attributes {
    pub place: Place,
    pub precedence: Option<Precedence>,
    pub label: Option<String>,
    pub weight: f64,
}

impl Attributes {
    pub fn at(place: Place) -> Attributes {
        Attributes { place, precedence: None, label: None, weight: 1.0 }
    }
}

#[derive(Default)]
pub struct GrammarBuilder {
    tokens: Vec<Token>,
    token_names: HashMap<String, TokenId>,
    rules: Vec<Rule>,
    rule_names: HashMap<String, RuleId>,
    bodies: Vec<(RuleId, Ebnf, Attributes)>,
    nodes: Vec<Node>,
    start: Option<(String, Place)>,
    separators: Vec<Separator>,
    notes: Vec<Note>,
    language: Language,
    lexing: Lexing,
    error: Option<GrammarError>,
}

impl GrammarBuilder {
    pub fn new() -> GrammarBuilder {
        GrammarBuilder::default()
    }

    /// Declares a token. If two tokens have the same name, `finish` fails.
    pub fn token(&mut self, token: Token) -> TokenId {
        let id = TokenId::new(self.tokens.len());
        if let Some(&first) = self.token_names.get(&token.name) {
            let first = self.tokens[first.index()].place.clone();
            let (name, place) = (token.name.clone(), token.place.clone());
            self.error.get_or_insert(GrammarError::DuplicateToken { name, place, first });
        } else {
            self.token_names.insert(token.name.clone(), id);
        }
        self.tokens.push(token);
        id
    }

    /// The token of a literal, which is named by its text in quotes. It is declared at
    /// its first use.
    pub fn literal(&mut self, text: &[u8], place: Place) -> TokenId {
        let name = format!("\"{}\"", text.escape_ascii());
        match self.token_names.get(&name) {
            Some(&id) => id,
            None => self.token(Token {
                name,
                pattern: Pattern::Literal(text.to_vec()),
                number: None,
                place,
                precedence: None,
                priority: 0,
            }),
        }
    }

    pub fn find_token(&self, name: &str) -> Option<TokenId> {
        self.token_names.get(name).copied()
    }

    pub fn token_mut(&mut self, id: TokenId) -> &mut Token {
        &mut self.tokens[id.index()]
    }

    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The rule of this name, which is declared at its first use.
    pub fn rule(&mut self, name: &str, place: Place) -> RuleId {
        if let Some(&id) = self.rule_names.get(name) {
            return id;
        }
        let id = RuleId::new(self.rules.len());
        self.rule_names.insert(name.to_owned(), id);
        self.rules.push(Rule {
            name: name.to_owned(),
            place,
            productions: Vec::new(),
            helper: false,
        });
        id
    }

    pub fn find_rule(&self, name: &str) -> Option<RuleId> {
        self.rule_names.get(name).copied()
    }

    /// Adds a production to a rule, or one for each alternative if `body` is a choice.
    pub fn production(&mut self, rule: RuleId, body: Ebnf, attributes: Attributes) {
        self.bodies.push((rule, body, attributes));
    }

    /// Sets the start. Without this, the first rule is the start.
    pub fn start(&mut self, name: &str, place: Place) {
        self.start = Some((name.to_owned(), place));
    }

    pub fn separator(&mut self, separator: Separator) {
        self.separators.push(separator);
    }

    pub fn note(&mut self, place: Place, severity: Severity, text: impl Into<String>) {
        self.notes.push(Note { place, severity, text: text.into() });
    }

    /// Records how the language differs from that of the file.
    pub fn language(&mut self, change: Language) {
        self.language = self.language.combine(change);
    }

    /// Sets how a text is split into tokens.
    pub fn lexing(&mut self, lexing: Lexing) {
        self.lexing = lexing;
    }

    fn node(&mut self, node: Node) -> Ebnf {
        self.nodes.push(node);
        Ebnf(u32::try_from(self.nodes.len() - 1).expect("fewer nodes than bytes of a file"))
    }

    pub fn empty(&mut self) -> Ebnf {
        self.node(Node::Empty)
    }

    pub fn symbol(&mut self, symbol: Symbol) -> Ebnf {
        self.node(Node::Symbol(symbol))
    }

    /// A token or a rule, which may be declared later.
    pub fn name(&mut self, name: &str, place: Place) -> Ebnf {
        self.node(Node::Name(name.to_owned(), place))
    }

    pub fn sequence(&mut self, parts: Vec<Ebnf>) -> Ebnf {
        self.node(Node::Sequence(parts))
    }

    pub fn choice(&mut self, parts: Vec<Ebnf>) -> Ebnf {
        self.node(Node::Choice(parts))
    }

    pub fn optional(&mut self, inner: Ebnf) -> Ebnf {
        match *self.unwrap_groups(inner) {
            Node::Optional(_) | Node::Star(_) => inner,
            Node::Plus(x) => self.node(Node::Star(x)),
            _ => self.node(Node::Optional(inner)),
        }
    }

    pub fn star(&mut self, inner: Ebnf) -> Ebnf {
        match *self.unwrap_groups(inner) {
            // `(x*)*` is infinitely ambiguous, and has the same language as `x*`.
            Node::Optional(x) | Node::Plus(x) => self.node(Node::Star(x)),
            Node::Star(_) => inner,
            _ => self.node(Node::Star(inner)),
        }
    }

    pub fn plus(&mut self, inner: Ebnf) -> Ebnf {
        match *self.unwrap_groups(inner) {
            Node::Optional(x) => self.node(Node::Star(x)),
            Node::Star(_) | Node::Plus(_) => inner,
            _ => self.node(Node::Plus(inner)),
        }
    }

    pub fn repeat(&mut self, inner: Ebnf, min: u32, max: Option<u32>) -> Ebnf {
        match (min, max) {
            (0, None) => self.star(inner),
            (1, None) => self.plus(inner),
            (0, Some(1)) => self.optional(inner),
            (1, Some(1)) => inner,
            _ => self.node(Node::Repeat(inner, min, max)),
        }
    }

    /// The node inside groups of one part. Few levels are enough: constructors have
    /// simplified the inner ones already.
    fn unwrap_groups(&self, mut at: Ebnf) -> &Node {
        const MAX_LEVELS: usize = 4;
        for _ in 0..MAX_LEVELS {
            match &self.nodes[at.0 as usize] {
                Node::Sequence(parts) | Node::Choice(parts) if parts.len() == 1 => at = parts[0],
                node => return node,
            }
        }
        &self.nodes[at.0 as usize]
    }

    pub fn finish(mut self) -> Result<Grammar, GrammarError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        for rule in &self.rules {
            if self.token_names.contains_key(&rule.name) {
                let (name, place) = (rule.name.clone(), rule.place.clone());
                return Err(GrammarError::Clash { name, place });
            }
        }
        let Some(first) = self.rules.first() else {
            let place = self.tokens.first().map_or_else(Place::none, |t| t.place.clone());
            return Err(GrammarError::NoRules { place: Place { line: 0, ..place } });
        };
        let (name, place) =
            self.start.take().unwrap_or_else(|| (first.name.clone(), first.place.clone()));
        let Some(&start) = self.rule_names.get(&name) else {
            return Err(GrammarError::Undefined { name, place });
        };
        let bodies = std::mem::take(&mut self.bodies);
        let mut lowering = Lowering {
            nodes: &self.nodes,
            tokens: &self.token_names,
            names: &mut self.rule_names,
            rules: self.rules,
            productions: Vec::new(),
            symbols: 0,
            shared: HashMap::new(),
            jobs: Vec::new(),
            counters: HashMap::new(),
        };
        for (rule, body, attributes) in bodies {
            lowering.body(rule, body, &attributes)?;
        }
        let grammar = Grammar {
            rules: lowering.rules,
            productions: lowering.productions,
            tokens: self.tokens,
            start,
            separators: self.separators,
            notes: self.notes,
            language: self.language,
            lexing: self.lexing,
        };
        if !analysis::productive(&grammar)[start.index()] {
            let rule = grammar.rule(start);
            let (name, place) = (rule.name.clone(), rule.place.clone());
            return Err(GrammarError::EmptyLanguage { name, place });
        }
        Ok(grammar)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Suffix {
    Optional,
    Star,
    Plus,
}

/// Productions that a rule still has to get: the alternatives of `body`, each behind
/// `prefix`.
struct Job {
    rule: RuleId,
    /// The rule of the file that helper rules are named after.
    owner: RuleId,
    prefix: Option<Symbol>,
    body: Ebnf,
}

struct Lowering<'a> {
    nodes: &'a [Node],
    tokens: &'a HashMap<String, TokenId>,
    names: &'a mut HashMap<String, RuleId>,
    rules: Vec<Rule>,
    productions: Vec<Production>,
    symbols: usize,
    shared: HashMap<(Suffix, Symbol), RuleId>,
    jobs: Vec<Job>,
    /// By base name: the last number used, so that finding a free name does not take
    /// quadratic time.
    counters: HashMap<String, u32>,
}

impl Lowering<'_> {
    fn body(&mut self, rule: RuleId, body: Ebnf, given: &Attributes) -> Result<(), GrammarError> {
        self.jobs.push(Job { rule, owner: rule, prefix: None, body });
        let mut attributes = given.clone();
        while let Some(job) = self.jobs.pop() {
            for alternative in self.alternatives(job.body) {
                let mut symbols: Vec<Symbol> = job.prefix.into_iter().collect();
                self.flatten(alternative, job.owner, &attributes.place, &mut symbols)?;
                // An empty alternative of a repetition would be `H: H`.
                if job.prefix.is_none() || symbols.len() > 1 {
                    self.add(job.rule, symbols, &attributes)?;
                }
            }
            // Precedence, label and weight are for the rule itself, not for helpers.
            attributes = Attributes::at(attributes.place);
        }
        Ok(())
    }

    fn add(
        &mut self,
        rule: RuleId,
        symbols: Vec<Symbol>,
        a: &Attributes,
    ) -> Result<(), GrammarError> {
        self.symbols += symbols.len() + 1;
        if self.symbols > MAX_SYMBOLS {
            return Err(GrammarError::TooLarge { place: a.place.clone() });
        }
        self.rules[rule.index()].productions.push(ProductionId::new(self.productions.len()));
        self.productions.push(Production {
            rule,
            symbols,
            place: a.place.clone(),
            precedence: a.precedence,
            label: a.label.clone(),
            weight: a.weight,
        });
        Ok(())
    }

    /// The alternatives of a body in order. `x?` has two: `x` and nothing.
    fn alternatives(&self, body: Ebnf) -> Vec<Option<Ebnf>> {
        let mut found = Vec::new();
        let mut stack = vec![Some(body)];
        while let Some(top) = stack.pop() {
            match top.map(|e| &self.nodes[e.0 as usize]) {
                Some(Node::Choice(parts)) => stack.extend(parts.iter().rev().map(|&e| Some(e))),
                Some(Node::Sequence(parts)) if parts.len() == 1 => stack.push(Some(parts[0])),
                Some(Node::Optional(inner)) => stack.extend([None, Some(*inner)]),
                _ => found.push(top),
            }
        }
        found
    }

    /// The symbols of a sequence; choices and repetitions in it become helpers.
    fn flatten(
        &mut self,
        body: Option<Ebnf>,
        owner: RuleId,
        place: &Place,
        symbols: &mut Vec<Symbol>,
    ) -> Result<(), GrammarError> {
        let nodes = self.nodes;
        let mut stack: Vec<Ebnf> = body.into_iter().collect();
        while let Some(top) = stack.pop() {
            match &nodes[top.0 as usize] {
                Node::Empty => {}
                Node::Symbol(symbol) => symbols.push(*symbol),
                Node::Name(name, at) => symbols.push(self.resolve(name, at)?),
                Node::Sequence(parts) => stack.extend(parts.iter().rev()),
                Node::Choice(parts) if parts.len() == 1 => stack.push(parts[0]),
                Node::Choice(_) => {
                    let rule = self.helper(owner, "group", place);
                    self.jobs.push(Job { rule, owner, prefix: None, body: top });
                    symbols.push(Symbol::Rule(rule));
                }
                Node::Optional(inner) => match self.single(*inner)? {
                    Some(symbol) => {
                        symbols.push(self.suffixed(Suffix::Optional, symbol, owner, place)?);
                    }
                    None => {
                        let rule = self.helper(owner, "opt", place);
                        self.jobs.push(Job { rule, owner, prefix: None, body: top });
                        symbols.push(Symbol::Rule(rule));
                    }
                },
                Node::Star(inner) => match self.single(*inner)? {
                    Some(symbol) => {
                        symbols.push(self.suffixed(Suffix::Star, symbol, owner, place)?);
                    }
                    None => {
                        let rule = self.helper(owner, "star", place);
                        let symbol = Symbol::Rule(rule);
                        self.add(rule, Vec::new(), &Attributes::at(place.clone()))?;
                        self.jobs.push(Job { rule, owner, prefix: Some(symbol), body: *inner });
                        symbols.push(symbol);
                    }
                },
                Node::Plus(inner) => {
                    let symbol = self.grouped(*inner, owner, place)?;
                    symbols.push(self.suffixed(Suffix::Plus, symbol, owner, place)?);
                }
                Node::Repeat(inner, min, max) => {
                    let symbol = self.grouped(*inner, owner, place)?;
                    self.counted(symbol, *min, *max, owner, place, symbols)?;
                }
            }
        }
        Ok(())
    }

    fn resolve(&self, name: &str, place: &Place) -> Result<Symbol, GrammarError> {
        match (self.names.get(name), self.tokens.get(name)) {
            // A helper of this name is not what the file means.
            (Some(&rule), _) if !self.rules[rule.index()].helper => Ok(Symbol::Rule(rule)),
            (_, Some(&token)) => Ok(Symbol::Token(token)),
            _ => Err(GrammarError::Undefined { name: name.to_owned(), place: place.clone() }),
        }
    }

    /// The symbol of an expression that is just one symbol.
    fn single(&self, mut body: Ebnf) -> Result<Option<Symbol>, GrammarError> {
        loop {
            match &self.nodes[body.0 as usize] {
                Node::Symbol(symbol) => return Ok(Some(*symbol)),
                Node::Name(name, place) => return self.resolve(name, place).map(Some),
                Node::Sequence(parts) | Node::Choice(parts) if parts.len() == 1 => body = parts[0],
                _ => return Ok(None),
            }
        }
    }

    /// The symbol of an expression; a helper if it is more than one symbol.
    fn grouped(
        &mut self,
        body: Ebnf,
        owner: RuleId,
        place: &Place,
    ) -> Result<Symbol, GrammarError> {
        if let Some(symbol) = self.single(body)? {
            return Ok(symbol);
        }
        let rule = self.helper(owner, "group", place);
        self.jobs.push(Job { rule, owner, prefix: None, body });
        Ok(Symbol::Rule(rule))
    }

    /// `x?`, `x*` or `x+` of one symbol. All uses share one rule.
    fn suffixed(
        &mut self,
        suffix: Suffix,
        symbol: Symbol,
        owner: RuleId,
        place: &Place,
    ) -> Result<Symbol, GrammarError> {
        if let Some(&rule) = self.shared.get(&(suffix, symbol)) {
            return Ok(Symbol::Rule(rule));
        }
        let word = match suffix {
            Suffix::Optional => "opt",
            Suffix::Star => "star",
            Suffix::Plus => "plus",
        };
        let rule = match symbol {
            Symbol::Rule(inner) => self.helper(inner, word, place),
            Symbol::Token(_) => self.helper(owner, word, place),
        };
        self.shared.insert((suffix, symbol), rule);
        let own = Symbol::Rule(rule);
        let productions = match suffix {
            Suffix::Optional => [vec![symbol], vec![]],
            Suffix::Star => [vec![], vec![own, symbol]],
            Suffix::Plus => [vec![symbol], vec![own, symbol]],
        };
        for symbols in productions {
            self.add(rule, symbols, &Attributes::at(place.clone()))?;
        }
        Ok(own)
    }

    /// `x{min,max}`: `min` symbols, then a star or a chain of options.
    fn counted(
        &mut self,
        symbol: Symbol,
        min: u32,
        max: Option<u32>,
        owner: RuleId,
        place: &Place,
        symbols: &mut Vec<Symbol>,
    ) -> Result<(), GrammarError> {
        let times = max.unwrap_or(min).max(min);
        if times > MAX_REPEATS {
            return Err(GrammarError::Repeats { times, place: place.clone() });
        }
        symbols.extend(std::iter::repeat_n(symbol, min as usize));
        let Some(max) = max else {
            symbols.push(self.suffixed(Suffix::Star, symbol, owner, place)?);
            return Ok(());
        };
        let mut rest: Option<Symbol> = None;
        for _ in min..max {
            let rule = self.helper(owner, "upto", place);
            let at = Attributes::at(place.clone());
            self.add(rule, std::iter::once(symbol).chain(rest).collect(), &at)?;
            self.add(rule, Vec::new(), &at)?;
            rest = Some(Symbol::Rule(rule));
        }
        symbols.extend(rest);
        Ok(())
    }

    /// Declares a helper rule with a free name.
    fn helper(&mut self, owner: RuleId, word: &str, place: &Place) -> RuleId {
        let base = format!("{}_{word}", self.rules[owner.index()].name);
        let counter = self.counters.entry(base.clone()).or_insert(0);
        let name = loop {
            *counter += 1;
            let name = if *counter == 1 { base.clone() } else { format!("{base}{counter}") };
            if !self.names.contains_key(&name) && !self.tokens.contains_key(&name) {
                break name;
            }
        };
        let id = RuleId::new(self.rules.len());
        self.names.insert(name.clone(), id);
        self.rules.push(Rule { name, place: place.clone(), productions: Vec::new(), helper: true });
        id
    }
}
