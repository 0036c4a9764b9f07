//! Samples of sentences: exactly uniform over the derivations of a length ([`Uniform`]);
//! fast, by the weights of productions ([`Weighted`]); or few sentences that cover much
//! of the grammar ([`paths`], [`Nested`]). The same seed gives the same sentences.

mod nested;
pub mod paths;
mod pick;
mod uniform;
mod weighted;

pub use nested::Nested;
pub use uniform::Uniform;
pub use weighted::Weighted;

use crate::grammar::TokenId;

/// A sentence: its bytes, and its tokens, each with the end of its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    pub bytes: Vec<u8>,
    pub tokens: Vec<(TokenId, u32)>,
}

impl Sentence {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.tokens.clear();
    }

    /// The tokens with their texts.
    pub fn pieces(&self) -> impl Iterator<Item = (TokenId, &[u8])> {
        let starts = std::iter::once(0).chain(self.tokens.iter().map(|t| t.1));
        self.tokens
            .iter()
            .zip(starts)
            .map(|(&(t, end), start)| (t, &self.bytes[start as usize..end as usize]))
    }

    pub(crate) fn emit(&mut self, token: TokenId, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.tokens.push((token, self.bytes.len() as u32));
    }
}
