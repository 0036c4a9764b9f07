//! Who owns what: rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to
//! increase hit rates", 1998). Each member has a weight for each hash, and the heaviest owns
//! it. When a member comes or goes, only its own share moves.

use pleach_hash::mix;

/// The owner of a hash among members, by their numbers: hashes of their identities, all
/// different. `None` if there are no members.
pub fn owner(hash: u64, members: impl IntoIterator<Item = u64>) -> Option<u64> {
    members.into_iter().max_by_key(|&member| (mix(hash ^ mix(member)), member))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn shares_are_even_and_only_those_of_a_lost_member_move() {
        let all: Vec<u64> = (0..8).collect();
        let rest: Vec<u64> = all.iter().copied().filter(|&m| m != 3).collect();
        let mut shares: HashMap<u64, u32> = HashMap::new();
        for hash in 0..80_000 {
            let before = owner(hash, all.iter().copied()).unwrap();
            let after = owner(hash, rest.iter().copied()).unwrap();
            assert!(before == 3 || before == after);
            *shares.entry(before).or_default() += 1;
        }
        assert!(shares.len() == 8 && shares.values().all(|n| (9_500..10_500).contains(n)));
        assert_eq!(owner(1, []), None);
    }
}
