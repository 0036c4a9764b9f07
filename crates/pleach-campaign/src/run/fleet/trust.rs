//! Whose finds can be trusted. A find says what it covers, and who runs it sees if that is so. A
//! member whose finds almost never bring anything sends rubbish, whatever its messages look
//! like: its finds are no longer run.

use super::Find;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The number of finds of a member that are run before it is judged.
const MIN_RUNS: u64 = 256;
/// One of this number of finds must have brought something.
const USEFUL_SHARE: u64 = 16;
/// The finds that are remembered because they added nothing to what others claimed.
const MAX_PASSED_OVER: usize = 256;
const MAX_PASSED_OVER_BYTES: usize = 4 << 20;

#[derive(Default)]
pub struct Trust {
    senders: HashMap<Arc<str>, Record>,
    passed_over: VecDeque<(Arc<str>, Find)>,
    passed_over_bytes: usize,
}

#[derive(Clone, Copy, Default)]
struct Record {
    run: u64,
    useful: u64,
    is_lost: bool,
}

impl Trust {
    /// A find of a member was run. True if its finds are ignored from now on.
    pub fn judge(&mut self, from: &Arc<str>, is_useful: bool) -> bool {
        let record = self.senders.entry(from.clone()).or_default();
        record.run += 1;
        record.useful += u64::from(is_useful);
        let is_bad = record.run >= MIN_RUNS && record.useful * USEFUL_SHARE < record.run;
        is_bad && !std::mem::replace(&mut record.is_lost, true)
    }

    pub fn is_lost(&self, from: &str) -> bool {
        self.senders.get(from).is_some_and(|record| record.is_lost)
    }

    /// A find adds nothing to what others claim to cover. If one of these claims turns out to be
    /// untrue, it counts after all.
    pub fn pass_over(&mut self, from: &Arc<str>, find: Find) {
        self.passed_over_bytes += find.bytes.len();
        self.passed_over.push_back((from.clone(), find));
        while self.passed_over.len() > MAX_PASSED_OVER
            || self.passed_over_bytes > MAX_PASSED_OVER_BYTES
        {
            let Some((_, oldest)) = self.passed_over.pop_front() else { break };
            self.passed_over_bytes -= oldest.bytes.len();
        }
    }

    pub fn take_passed_over(&mut self) -> Vec<(Arc<str>, Find)> {
        self.passed_over_bytes = 0;
        self.passed_over.drain(..).collect()
    }

    pub fn forget_passed_over(&mut self) {
        self.take_passed_over();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fleet::FindKind;

    #[test]
    fn a_member_whose_finds_bring_nothing_is_ignored() {
        let (mut trust, bad, good): (_, Arc<str>, Arc<str>) =
            (Trust::default(), "bad".into(), "good".into());
        let lost = (0..1000).filter(|n| trust.judge(&bad, n % 100 == 0)).count();
        assert_eq!(lost, 1, "it is said once");
        assert!((0..1000).all(|n| !trust.judge(&good, n % 10 == 0)));
        assert!(trust.is_lost("bad") && !trust.is_lost("good") && !trust.is_lost("unknown"));
    }

    #[test]
    fn few_finds_are_remembered() {
        let mut trust = Trust::default();
        let find =
            |size| Find { kind: FindKind::Queue, bytes: vec![0; size].into(), covers: Vec::new() };
        (0..1000).for_each(|size| trust.pass_over(&"a".into(), find(size)));
        assert_eq!(trust.take_passed_over().len(), MAX_PASSED_OVER);
        (0..10).for_each(|_| trust.pass_over(&"a".into(), find(1 << 20)));
        assert_eq!(trust.take_passed_over().len(), 4);
        assert!(trust.take_passed_over().is_empty());
    }
}
