//! Groups in which a sensitive value stands twice exchange it for one of the nearest group that lacks it.

use std::collections::{BTreeSet, HashSet};

use crate::exchange::Space;
use crate::{Cancel, Result};

/// Makes every value stand once in a group. Groups are near by number. It ends where no value has more records than
/// there are groups and no group is larger by two than another: then a group that lacks the value always has another
/// to give that makes repeats fewer (docs/algebra/minimality.md).
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn settle(space: &Space, groups: &mut [Vec<u32>], cancel: &Cancel) -> Result<()> {
    loop {
        let mut repeated: Vec<u32> = groups.iter().flat_map(|group| repeats(space, group)).collect();
        if repeated.is_empty() {
            return Ok(());
        }
        repeated.sort_unstable();
        repeated.dedup();
        for value in repeated {
            cancel.check()?;
            spread_value(space, groups, value);
        }
    }
}

/// The values that stand in a group more than once.
fn repeats(space: &Space, group: &[u32]) -> Vec<u32> {
    let mut values: Vec<u32> = group.iter().map(|record| space.value(*record)).collect();
    values.sort_unstable();
    values.chunk_by(|a, b| a == b).filter(|run| run.len() > 1).map(|run| run[0]).collect()
}

/// Gives every second record of a value to the nearest group without it.
fn spread_value(space: &Space, groups: &mut [Vec<u32>], value: u32) {
    let places =
        |group: &[u32]| -> Vec<usize> { (0..group.len()).filter(|at| space.value(group[*at]) == value).collect() };
    let holders: Vec<Vec<usize>> = groups.iter().map(|group| places(group)).collect();
    let mut lacking: BTreeSet<usize> = (0..groups.len()).filter(|group| holders[*group].is_empty()).collect();
    for (group, held) in holders.into_iter().enumerate() {
        for at in held.into_iter().skip(1) {
            let below = lacking.range(..group).next_back().copied();
            let above = lacking.range(group..).next().copied();
            let nearer = |other: &usize| (other.abs_diff(group), *other);
            let Some(other) = below.into_iter().chain(above).min_by_key(nearer) else { return };
            lacking.remove(&other);
            let back = best_return(space, groups, (group, at), other);
            let (joining, leaving) = (groups[other][back], groups[group][at]);
            (groups[group][at], groups[other][back]) = (joining, leaving);
        }
    }
}

/// The place in `other` of the record that comes back for the one at a place of a group: one whose value the group
/// lacks, or else one whose value `other` has twice; of these the nearest to the one that goes.
fn best_return(space: &Space, groups: &[Vec<u32>], (group, at): (usize, usize), other: usize) -> usize {
    let own: HashSet<u32> = groups[group].iter().map(|record| space.value(*record)).collect();
    let twice: HashSet<u32> = repeats(space, &groups[other]).into_iter().collect();
    let rank = |record: u32| {
        let value = space.value(record);
        (own.contains(&value) && !twice.contains(&value), space.between(groups[group][at], record))
    };
    let order = |a: &usize, b: &usize| {
        let (a, b) = (rank(groups[other][*a]), rank(groups[other][*b]));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    (0..groups[other].len()).min_by(order).unwrap_or(0)
}
