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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Codes;
    use crate::distance::Distance;
    use crate::microdata::Microdata;
    use crate::principle::Sensitive;
    use crate::written::Written;

    fn settled(pays: &[i32], mut groups: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        let ages: Vec<i32> = (0..pays.len() as i32).collect();
        let distances = [Distance::line((0..10).map(f64::from).collect(), false).unwrap()];
        let sensitive = Sensitive::new(Codes::new(pays, 1).unwrap(), &[9], &[false]).unwrap();
        let tags = vec![0; pays.len()];
        let table = Microdata::new(Codes::new(&ages, 1).unwrap(), sensitive, &tags, &distances).unwrap();
        let written: Vec<Written> = distances.iter().map(Written::new).collect();
        let space = Space { table: &table, distances: &written, diversity: 2, shard: 1024 };
        settle(&space, &mut groups, &Cancel::default()).unwrap();
        groups
    }

    #[test]
    fn a_value_that_stands_twice_goes_to_the_nearest_group_without_it() {
        // Pay 5 stands twice in {0, 1}; {2, 3} has it too, {4, 5} lacks it. Record 4 is the nearer to record 1.
        let groups = settled(&[5, 5, 5, 1, 2, 3], vec![vec![0, 1], vec![2, 3], vec![4, 5]]);
        assert_eq!(groups, vec![vec![0, 4], vec![2, 3], vec![1, 5]]);
    }

    #[test]
    fn a_record_comes_back_that_makes_no_repeat() {
        // {0, 1, 2} has pays 5 5 1; of {3, 4, 5} with 1 2 3 the nearest would bring another 1.
        let groups = settled(&[5, 5, 1, 1, 2, 3], vec![vec![0, 1, 2], vec![3, 4, 5]]);
        assert_eq!(groups, vec![vec![0, 4, 2], vec![3, 1, 5]]);
    }

    #[test]
    fn groups_as_full_of_one_value_as_can_be_are_settled() {
        // Three records of each of three pays, all together at first: each group ends with one of each.
        for group in settled(&[1, 1, 1, 2, 2, 2, 3, 3, 3], vec![vec![0, 1, 2], vec![3, 4, 5], vec![6, 7, 8]]) {
            let mut pays: Vec<u32> = group.iter().map(|record| record / 3).collect();
            pays.sort_unstable();
            assert_eq!(pays, vec![0, 1, 2]);
        }
    }
}
