//! Completions that stay near a seed.
//!
//! A flip changes one token; most of what came after it can often stay. What is
//! tried is an edit where the seed is rejoined: the first few tokens of the
//! shortest completion go in, a few tokens of the seed go out, and the rest of
//! the seed follows as it is. The edit that changes the fewest tokens wins; of equal
//! ones, that which takes out fewer.
//! Attempts that cannot work mostly die at their first token. (A least edit of
//! the whole rest would be a parse of all of it with every error allowed, at
//! cubic cost; this is not meant to be one.)

use super::{Chart, Completion};
use crate::grammar::TokenId;
use crate::token_set::TokenSet;

/// Edits that change more tokens than this are not tried.
const MOST_EDITS: usize = 8;

impl Chart {
    /// A sentence if position `at` allowed `set`, which goes on with the tokens
    /// that have been pushed behind it where it can. What has been pushed stays as
    /// it is.
    ///
    /// # Panics
    /// If fewer than `at` positions have been pushed.
    pub fn flip_near(&self, at: usize, set: &TokenSet) -> Option<Completion> {
        let mut flipped = self.clone();
        flipped.truncate(at);
        assert_eq!(flipped.len(), at, "a position behind the last");
        if !flipped.push(set) {
            return None;
        }
        flipped.complete_near(self.tokens.get(at + 1..).unwrap_or_default())
    }

    /// A sentence whose first tokens are as pushed and which goes on like `rest`
    /// where it can; otherwise a cheapest one. The chart stays as it is.
    pub fn complete_near(&mut self, rest: &[TokenId]) -> Option<Completion> {
        let fixed = self.len();
        let plain = self.complete()?;
        let mut best: Option<((usize, usize), Completion)> = None;
        for inserted in 0..=MOST_EDITS.min(plain.tokens.len() - fixed) {
            let bridge = plain.tokens[fixed..fixed + inserted].iter();
            if !bridge.skip(self.len() - fixed).all(|&t| self.push_token(t)) {
                break;
            }
            let joined = self.len();
            for deleted in 0..=(MOST_EDITS - inserted).min(rest.len()) {
                let edits = inserted + deleted;
                if best.as_ref().is_some_and(|(least, _)| (edits, deleted) >= *least) {
                    break;
                }
                if rest[deleted..].iter().all(|&t| self.push_token(t))
                    && let Some(mut found) = self.complete()
                {
                    let edits = edits + (found.tokens.len() - self.len());
                    let better = |least: &(usize, usize)| (edits, deleted) < *least;
                    if edits <= MOST_EDITS && best.as_ref().is_none_or(|(least, _)| better(least)) {
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
