//! The moves that every shrinker is made of. Each asks the same question about something
//! smaller: does it still show the same?

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    Same,
    Other,
    /// The budget is used up: nothing was tried.
    Spent,
}

/// Where removing begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    Start,
    /// What a run did last is the easiest to do without.
    End,
}

impl Shows {
    pub fn same(is_same: bool) -> Shows {
        if is_same { Shows::Same } else { Shows::Other }
    }
}

/// Halves the distance between `other`, a size that shows something else, and `same`, one
/// that shows the same, until they are neighbours. Returns the last size that showed the
/// same.
pub fn bisect<E>(
    mut other: usize,
    mut same: usize,
    mut ask: impl FnMut(usize) -> Result<Shows, E>,
) -> Result<usize, E> {
    while same.abs_diff(other) > 1 {
        let middle = other.min(same) + same.abs_diff(other) / 2;
        match ask(middle)? {
            Shows::Same => same = middle,
            Shows::Other => other = middle,
            Shows::Spent => break,
        }
    }
    Ok(same)
}

/// Removes blocks of items, of `size` at first, then of half that and so on down to single
/// items. True if it was not stopped by the budget.
pub fn remove_blocks<T: Clone, E>(
    items: &mut Vec<T>,
    mut size: usize,
    from: From,
    mut ask: impl FnMut(&[T]) -> Result<Shows, E>,
) -> Result<bool, E> {
    while size >= 1 {
        // The block to try: it begins at `at`, or ends there.
        let mut at = if from == From::Start { 0 } else { items.len() };
        loop {
            let (start, end) = match from {
                From::Start => (at, (at + size).min(items.len())),
                From::End => (at.saturating_sub(size), at),
            };
            if start >= end {
                break;
            }
            let fewer = [&items[..start], &items[end..]].concat();
            let shows = ask(&fewer)?;
            at = match (shows, from) {
                (Shows::Spent, _) => return Ok(false),
                (Shows::Other, From::Start) => end,
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
    fn bisecting_finds_the_boundary_from_either_side() {
        let sizes = |other, same, is_same: &dyn Fn(usize) -> bool| {
            let Ok(found) = bisect(other, same, |n| Ok::<_, Infallible>(Shows::same(is_same(n))));
            found
        };
        assert_eq!(sizes(0, 100, &|n| n >= 37), 37);
        assert_eq!(sizes(100, 0, &|n| n <= 37), 37);
        assert_eq!(sizes(0, 1, &|_| unreachable!()), 1);
        let Ok(found) = bisect(0, 100, |_| Ok::<_, Infallible>(Shows::Spent));
        assert_eq!(found, 100);
    }

    #[test]
    fn blocks_are_removed_from_either_side() {
        for from in [From::Start, From::End] {
            let mut items: Vec<u8> = (0..100).collect();
            let has = |items: &[u8]| [3, 50, 99].iter().all(|n| items.contains(n));
            let ask = |items: &[u8]| Ok::<_, Infallible>(Shows::same(has(items)));
            let Ok(finished) = remove_blocks(&mut items, 128, from, ask);
            assert_eq!((finished, &items[..]), (true, &[3, 50, 99][..]), "{from:?}");
        }
    }
}
