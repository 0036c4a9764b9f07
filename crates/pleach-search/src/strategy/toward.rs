//! Search towards places: `auto`, guided by the distance to them.
//!
//! The places are the goals of an [`Aim`](crate::Aim). Everything that `auto` does is done, in
//! another order: flips, inputs and mutations that are near a goal come first (see
//! [`guide`](super::auto)). `auto` remains below, because the graph does not show everything: a
//! guard may depend on a state that the program got into long before.

use super::auto::Auto;
use super::{Derives, Descriptor, FirstInputs, Needs, TokenUse};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "toward",
    about: "like auto, but what is nearest to given places comes first",
    use_for: "getting to a line or a function; tests for a change",
    needs: Needs::Places,
    seeds: FirstInputs::GivenAndCovering,
    keeps_hit_counts: true,
    tokens: Some(TokenUse::Complete),
    grafts: true,
    derives: Derives::NestedAndSamples,
    make: |o| Box::new(Auto::toward(&o)),
    ..Descriptor::COMMON
};
