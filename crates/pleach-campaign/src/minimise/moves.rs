//! The steps that all shrinkers share. Each asks about something smaller: does it still show
//! the same?

/// The answer to that question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    Same,
    Other,
    /// Nothing was tried, because the budget is used up.
    OutOfBudget,
}

/// Which blocks are removed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoveFrom {
    Start,
    /// Often the last events of a run are not needed.
    End,
}

impl Shows {
    pub fn same_if(is_same: bool) -> Shows {
        if is_same { Shows::Same } else { Shows::Other }
    }
}

/// Finds a boundary between sizes by halving: `same` shows the same, `other` does not. Returns
/// the last size that showed the same.
pub(crate) fn bisect<E>(
    mut other: usize,
    mut same: usize,
    mut ask: impl FnMut(usize) -> Result<Shows, E>,
) -> Result<usize, E> {
    while same.abs_diff(other) > 1 {
        let middle = other.min(same) + same.abs_diff(other) / 2;
        match ask(middle)? {
            Shows::Same => same = middle,
            Shows::Other => other = middle,
            Shows::OutOfBudget => break,
        }
    }
    Ok(same)
}

/// Removes blocks of items: first of `size` items, then of half as many, and so on to single
/// items. Returns false if the budget was used up.
pub(crate) fn remove_blocks<T: Clone, E>(
    items: &mut Vec<T>,
    mut size: usize,
    from: RemoveFrom,
    mut ask: impl FnMut(&[T]) -> Result<Shows, E>,
) -> Result<bool, E> {
    while size >= 1 {
        // The next block starts at `at`, or ends there.
        let mut at = if from == RemoveFrom::Start { 0 } else { items.len() };
        loop {
            let (start, end) = match from {
                RemoveFrom::Start => (at, (at + size).min(items.len())),
                RemoveFrom::End => (at.saturating_sub(size), at),
            };
            if start >= end {
                break;
            }
            let fewer = [&items[..start], &items[end..]].concat();
            let shows = ask(&fewer)?;
            at = match (shows, from) {
                (Shows::OutOfBudget, _) => return Ok(false),
                (Shows::Other, RemoveFrom::Start) => end,
                (_, _) => start,
            };
            if shows == Shows::Same {
                *items = fewer;
            }
        }
        size /= 2;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn bisecting_finds_the_boundary_from_both_sides() {
        let sizes = |other, same, is_same: &dyn Fn(usize) -> bool| {
            let Ok(found) =
                bisect(other, same, |n| Ok::<_, Infallible>(Shows::same_if(is_same(n))));
            found
        };
        assert_eq!(sizes(0, 100, &|n| n >= 37), 37);
        assert_eq!(sizes(100, 0, &|n| n <= 37), 37);
        assert_eq!(sizes(0, 1, &|_| unreachable!()), 1);
        let Ok(found) = bisect(0, 100, |_| Ok::<_, Infallible>(Shows::OutOfBudget));
        assert_eq!(found, 100);
    }

    #[test]
    fn blocks_are_removed_from_both_sides() {
        for from in [RemoveFrom::Start, RemoveFrom::End] {
            let mut items: Vec<u8> = (0..100).collect();
            let has = |items: &[u8]| [3, 50, 99].iter().all(|n| items.contains(n));
            let ask = |items: &[u8]| Ok::<_, Infallible>(Shows::same_if(has(items)));
            let Ok(finished) = remove_blocks(&mut items, 128, from, ask);
            assert_eq!((finished, &items[..]), (true, &[3, 50, 99][..]), "{from:?}");
        }
    }
}
