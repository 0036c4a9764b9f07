//! Classes of bytes that a circuit does not tell apart.
//!
//! A cell may have 256 values, but the conditions on it tell few of them apart. The bytes of
//! a cell that no condition separates are one *class*.
//!
//! If two cells must differ, the bytes of one class are no longer alike. For such cells the
//! classes are single bytes, the same for all cells that such conditions connect. Of the
//! bytes that nothing else tells apart, as many are needed as there are connected cells: the
//! cells cannot use more, and it does not matter which ones they are. To find all solutions,
//! all bytes are needed.

use super::circuit::{Circuit, Gate};
use pleach_automata::{ByteSet, partition};

/// The classes of each cell. `all` if every solution is wanted.
pub(super) fn classes(circuit: &Circuit, reached: &[bool], all: bool) -> Vec<Vec<ByteSet>> {
    let cells = circuit.domains.len();
    let mut sets: Vec<Vec<ByteSet>> = vec![Vec::new(); cells];
    let mut differs = vec![false; cells];
    let mut links = Vec::new();
    for (gate, _) in circuit.gates.iter().zip(reached).filter(|(_, reached)| **reached) {
        match *gate {
            Gate::In(cell, set) => sets[cell as usize].push(set),
            Gate::Differ(a, b) => {
                (differs[a as usize], differs[b as usize]) = (true, true);
                links.push((a as usize, b as usize));
            }
            _ => {}
        }
    }
    let group = connected_groups(cells, &links);
    // All sets and domains of a group, and its number of cells.
    let mut shared: Vec<Vec<ByteSet>> = vec![Vec::new(); cells];
    let mut members = vec![0; cells];
    for cell in (0..cells).filter(|&cell| differs[cell]) {
        members[group[cell]] += 1;
        let mut own = std::mem::take(&mut sets[cell]);
        own.push(circuit.domains[cell]);
        shared[group[cell]].append(&mut own);
    }
    let shared: Vec<Vec<ByteSet>> = shared
        .iter()
        .zip(members)
        .map(|(sets, members)| match members {
            0 => Vec::new(),
            _ => single_bytes(sets, if all { 256 } else { members }),
        })
        .collect();
    (0..cells)
        .map(|cell| {
            let domain = circuit.domains[cell];
            match differs[cell] {
                false => partition(domain, sets[cell].iter().copied()),
                true => {
                    let is_possible = |class: &&ByteSet| !class.intersection(&domain).is_empty();
                    shared[group[cell]].iter().filter(is_possible).copied().collect()
                }
            }
        })
        .collect()
}

/// The smallest cell that each cell is connected with.
fn connected_groups(cells: usize, links: &[(usize, usize)]) -> Vec<usize> {
    let mut group: Vec<usize> = (0..cells).collect();
    loop {
        let mut changed = false;
        for &(a, b) in links {
            let smallest = group[a].min(group[b]);
            changed |= group[a] != smallest || group[b] != smallest;
            (group[a], group[b]) = (smallest, smallest);
        }
        if !changed {
            return group;
        }
    }
}

/// Single bytes: at most `count` of each class that the sets do not tell apart.
fn single_bytes(sets: &[ByteSet], count: usize) -> Vec<ByteSet> {
    let classes = partition(ByteSet::ALL, sets.iter().copied());
    let bytes = classes.iter().flat_map(|class| class.iter().take(count));
    bytes.map(ByteSet::of).collect()
}
