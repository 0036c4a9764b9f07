//! Completions that stay close to a seed.
//!
//! A flip changes one token, and most of the tokens behind it can often stay. So edits
//! behind the flip are tried: insert the first few tokens of the shortest completion,
//! delete a few tokens of the seed, and keep the rest of the seed. The edit that changes
//! the fewest tokens wins; of equal ones, the one that deletes fewer. Most impossible
//! edits fail at their first token.
//!
//! This is not the smallest edit of the whole rest. That would be a parse with all
//! errors allowed, in cubic time.

use super::{Chart, Completion};
use crate::grammar::TokenId;
use crate::token_set::TokenSet;

/// Tokens that an edit may insert and delete together.
const MAX_EDITS: usize = 8;

impl Chart {
    /// A sentence if position `at` allowed `set`. It keeps the tokens that were pushed
    /// behind it where possible. The chart is not changed.
    ///
    /// # Panics
    /// If fewer than `at` positions have been pushed.
    pub fn flip_near(&self, at: usize, set: &TokenSet) -> Option<Completion> {
        let mut flipped = self.clone();
        flipped.truncate(at);
        assert_eq!(flipped.len(), at, "`at` is behind the last position");
        if !flipped.push(set) {
            return None;
        }
        flipped.complete_near(self.tokens.get(at + 1..).unwrap_or_default())
    }

    /// A sentence whose first tokens are as pushed and that continues like `rest` where
    /// possible; otherwise a cheapest one. The chart is not changed.
    pub fn complete_near(&mut self, rest: &[TokenId]) -> Option<Completion> {
        let fixed = self.len();
        let plain = self.complete()?;
        let mut best: Option<((usize, usize), Completion)> = None;
        for inserted in 0..=MAX_EDITS.min(plain.tokens.len() - fixed) {
            let bridge = plain.tokens[fixed..fixed + inserted].iter();
            if !bridge.skip(self.len() - fixed).all(|&t| self.push_token(t)) {
                break;
            }
            let joined = self.len();
            for deleted in 0..=(MAX_EDITS - inserted).min(rest.len()) {
                let edits = inserted + deleted;
                if best.as_ref().is_some_and(|(least, _)| (edits, deleted) >= *least) {
                    break;
                }
                if rest[deleted..].iter().all(|&t| self.push_token(t))
                    && let Some(mut found) = self.complete()
                {
                    let edits = edits + (found.tokens.len() - self.len());
                    let is_better = |least: &(usize, usize)| (edits, deleted) < *least;
                    if edits <= MAX_EDITS && best.as_ref().is_none_or(|(least, _)| is_better(least))
                    {
                        found.cost += (self.len() - fixed) as u64;
                        found.fixed = fixed;
                        best = Some(((edits, deleted), found));
                    }
                }
                self.truncate(joined);
            }
        }
        self.truncate(fixed);
        Some(best.map_or(plain, |(_, found)| found))
    }
}
