//! Sets of tokens of one grammar.

use crate::grammar::TokenId;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenSet {
    words: Vec<u64>,
    /// The number of tokens of the grammar.
    universe: usize,
}

impl TokenSet {
    pub fn empty(universe: usize) -> TokenSet {
        TokenSet { words: vec![0; universe.div_ceil(64)], universe }
    }

    pub fn all(universe: usize) -> TokenSet {
        TokenSet::empty(universe).complement()
    }

    pub fn of(universe: usize, tokens: impl IntoIterator<Item = TokenId>) -> TokenSet {
        let mut set = TokenSet::empty(universe);
        tokens.into_iter().for_each(|t| {
            set.insert(t);
        });
        set
    }

    /// Adds a token. True if it is new.
    ///
    /// # Panics
    /// If the grammar has no such token.
    pub fn insert(&mut self, token: TokenId) -> bool {
        assert!(token.index() < self.universe, "a token of another grammar");
        let (word, bit) = (token.index() / 64, 1 << (token.index() % 64));
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    pub fn remove(&mut self, token: TokenId) {
        if let Some(word) = self.words.get_mut(token.index() / 64) {
            *word &= !(1 << (token.index() % 64));
        }
    }

    #[inline]
    pub fn contains(&self, token: TokenId) -> bool {
        self.words.get(token.index() / 64).is_some_and(|w| w >> (token.index() % 64) & 1 != 0)
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    pub fn intersects(&self, other: &TokenSet) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Adds all tokens of another set. True if the set has become larger.
    pub fn union_with(&mut self, other: &TokenSet) -> bool {
        let mut grown = false;
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            grown |= *b & !*a != 0;
            *a |= b;
        }
        grown
    }

    #[must_use]
    pub fn complement(&self) -> TokenSet {
        let mut words: Vec<u64> = self.words.iter().map(|w| !w).collect();
        if let Some(last) = words.last_mut()
            && !self.universe.is_multiple_of(64)
        {
            *last &= (1 << (self.universe % 64)) - 1;
        }
        TokenSet { words, universe: self.universe }
    }

    pub fn iter(&self) -> impl Iterator<Item = TokenId> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(TokenId::new(i * 64 + bit))
            })
        })
    }

    /// The only member, if there is exactly one.
    pub fn single(&self) -> Option<TokenId> {
        let mut tokens = self.iter();
        let first = tokens.next()?;
        tokens.next().is_none().then_some(first)
    }
}
