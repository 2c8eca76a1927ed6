//! How a Mondrian leaf becomes groups: as it is, in Anatomy's buckets, or as neighbours along a sweep.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use crate::partition::Microdata;
use crate::principle::{Form, Principle};
use crate::{Cancel, Error, Result};

/// How leaves become groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The leaf is the group.
    Leaves,
    /// The leaf is cut into smallest diverse groups, taking from the fullest buckets of equal sensitive value.
    Buckets,
    /// The same eligibility, but each group takes the buckets whose next record comes first along the sweep.
    Neighbours {
        /// Whether the sweep runs over the whole table instead of each leaf.
        whole_table: bool,
    },
}

impl Grouping {
    /// A grouping by its two names.
    ///
    /// # Errors
    /// [`Error::Shape`] for names that are none.
    pub fn named(grouping: &str, sweep: &str) -> Result<Self> {
        match (grouping, sweep) {
            ("leaves", _) => Ok(Grouping::Leaves),
            ("buckets", _) => Ok(Grouping::Buckets),
            ("neighbours", "leaf") => Ok(Grouping::Neighbours { whole_table: false }),
            ("neighbours", "table") => Ok(Grouping::Neighbours { whole_table: true }),
            _ => Err(Error::Shape("no grouping has that name".into())),
        }
    }
}

/// Groups of records: `order` lists the members of group 0, then of group 1, and so on.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// The records, group by group.
    pub order: Vec<u32>,
    /// How many records each group has.
    pub sizes: Vec<usize>,
    /// The leaf that each group comes from.
    pub leaves: Vec<usize>,
}

/// Algorithm 1, line 2: Mondrian, then the grouping. The result does not depend on the order of the records.
///
/// # Errors
/// [`Error::Shape`] if the table as a whole does not keep the principle, [`Error::Cancelled`].
pub fn divide_table(table: &Microdata, principle: &Principle, grouping: Grouping, cancel: &Cancel) -> Result<Groups> {
    let mut records: Vec<u32> = (0..table.codes.records() as u32).collect();
    if !principle.holds(&table.sensitive, &records, &mut table.sensitive.tally()) {
        return Err(Error::Shape("the table as a whole does not keep the principle".into()));
    }
    // Taking from buckets keeps the frequency of one attribute; it knows nothing of other principles.
    let one_bucket_each = principle.form == Form::Anonymity || table.sensitive.codes().attributes() == 0;
    let takes = one_bucket_each || principle.form == Form::Frequency && table.sensitive.codes().attributes() == 1;
    let grouping = if takes { grouping } else { Grouping::Leaves };
    let leaves = match grouping {
        Grouping::Neighbours { whole_table: true } => vec![records.len()],
        _ => table.divide(&mut records, Some(principle), cancel)?,
    };
    let mut rest = records.as_mut_slice();
    let mut parts: Vec<&mut [u32]> = Vec::with_capacity(leaves.len());
    for size in &leaves {
        let (leaf, later) = std::mem::take(&mut rest).split_at_mut(*size);
        parts.push(leaf);
        rest = later;
    }
    let grouped: Vec<Groups> = parts
        .into_par_iter()
        .map(|leaf| {
            cancel.check()?;
            table.group_leaf(leaf, principle.diversity, grouping, one_bucket_each, cancel)
        })
        .collect::<Result<_>>()?;
    let mut all = Groups::default();
    for (leaf, groups) in grouped.into_iter().enumerate() {
        all.leaves.extend(std::iter::repeat_n(leaf, groups.sizes.len()));
        all.order.extend(groups.order);
        all.sizes.extend(groups.sizes);
    }
    Ok(all)
}

impl Microdata<'_> {
    fn group_leaf(
        &self,
        leaf: &mut [u32],
        diversity: usize,
        grouping: Grouping,
        one_bucket_each: bool,
        cancel: &Cancel,
    ) -> Result<Groups> {
        match grouping {
            Grouping::Neighbours { .. } => self.sweep(leaf, cancel)?,
            _ => leaf.sort_unstable_by(|a, b| self.canonical(*a).cmp(&self.canonical(*b))),
        }
        if grouping == Grouping::Leaves {
            return Ok(Groups { order: leaf.to_vec(), sizes: vec![leaf.len()], leaves: Vec::new() });
        }
        let bucket_of =
            |at: usize| if one_bucket_each { at as i32 } else { self.sensitive.codes().get(leaf[at] as usize, 0) };
        let mut buckets = Buckets::new((0..leaf.len()).map(bucket_of).collect());
        let mut groups = Groups::default();
        while buckets.left > 0 {
            let members = buckets.take(diversity, grouping == Grouping::Buckets);
            groups.sizes.push(members.len());
            groups.order.extend(members.into_iter().map(|at| leaf[at as usize]));
        }
        Ok(groups)
    }

    /// Codes, then sensitive codes, then the keyed tag: an order that the input's order cannot touch.
    fn canonical(&self, record: u32) -> (&[i32], &[i32], u64) {
        (self.codes.record(record as usize), self.sensitive_codes(record), self.tags[record as usize])
    }

    fn sensitive_codes(&self, record: u32) -> &[i32] {
        let codes = self.sensitive.codes();
        if codes.attributes() == 0 { &[] } else { codes.record(record as usize) }
    }

    /// Recursive median order over all quasi-identifiers: Mondrian that never stops.
    fn sweep(&self, leaf: &mut [u32], cancel: &Cancel) -> Result<()> {
        let mut from = 0;
        for size in self.divide(leaf, None, cancel)? {
            let equal = &mut leaf[from..from + size];
            equal.sort_unstable_by(|a, b| {
                (self.sensitive_codes(*a), self.tags[*a as usize])
                    .cmp(&(self.sensitive_codes(*b), self.tags[*b as usize]))
            });
            from += size;
        }
        Ok(())
    }
}

/// The records of a leaf by sensitive value, each bucket in the leaf's order. Heap entries that a later take has
/// overtaken are dropped when they surface.
struct Buckets {
    /// Positions in the leaf, bucket by bucket.
    members: Vec<u32>,
    /// The next member of each bucket, and one past its last.
    next: Vec<(usize, usize)>,
    /// How many buckets have each size.
    of_size: Vec<usize>,
    largest: usize,
    left: usize,
    by_position: BinaryHeap<Reverse<(u32, u32)>>,
    by_size: BinaryHeap<(u32, Reverse<u32>, u32)>,
}

impl Buckets {
    fn new(bucket_of: Vec<i32>) -> Self {
        let mut members: Vec<u32> = (0..bucket_of.len() as u32).collect();
        members.sort_by_key(|at| bucket_of[*at as usize]);
        let mut next = Vec::new();
        for run in members.chunk_by(|a, b| bucket_of[*a as usize] == bucket_of[*b as usize]) {
            let from = next.last().map_or(0, |(_, end)| *end);
            next.push((from, from + run.len()));
        }
        let largest = next.iter().map(|(from, end)| end - from).max().unwrap_or(0);
        let mut of_size = vec![0; largest + 1];
        next.iter().for_each(|(from, end)| of_size[end - from] += 1);
        let left = members.len();
        let mut buckets = Buckets {
            members,
            next,
            of_size,
            largest,
            left,
            by_position: BinaryHeap::new(),
            by_size: BinaryHeap::new(),
        };
        (0..buckets.next.len()).for_each(|bucket| buckets.offer(bucket));
        buckets
    }

    fn offer(&mut self, bucket: usize) {
        let (from, end) = self.next[bucket];
        if from < end {
            self.by_position.push(Reverse((self.members[from], bucket as u32)));
            self.by_size.push(((end - from) as u32, Reverse(self.members[from]), bucket as u32));
        }
    }

    /// How many buckets would leave the rest ineligible if a group of `size` passed them over.
    fn forced(&self, size: usize, diversity: usize) -> (usize, usize) {
        let threshold = (self.left - size) / diversity + 1;
        let forced = if threshold > self.largest { 0 } else { self.of_size[threshold..=self.largest].iter().sum() };
        (forced, threshold)
    }

    /// One group: the smallest number of records, at least `diversity`, that leaves the rest eligible
    /// (largest bucket times diversity <= what is left), in the leaf's order.
    fn take(&mut self, diversity: usize, fullest: bool) -> Vec<u32> {
        // An eligible rest always has such a size below twice the diversity; a rest that is not is one last group.
        let size = (diversity..=self.left).find(|size| self.forced(*size, diversity).0 <= *size).unwrap_or(self.left);
        let (forced, threshold) = self.forced(size, diversity);
        let by_size = if fullest { size } else { forced };
        let mut chosen: Vec<u32> = Vec::with_capacity(size);
        while chosen.len() < by_size {
            match self.by_size.pop() {
                Some((count, next, bucket)) if self.is_current(bucket, next.0) => {
                    debug_assert!(fullest || count as usize >= threshold);
                    chosen.push(bucket);
                }
                Some(_) => {}
                None => break,
            }
        }
        while chosen.len() < size {
            match self.by_position.pop() {
                Some(Reverse((next, bucket)))
                    if self.is_current(bucket, next) && !chosen[..by_size].contains(&bucket) =>
                {
                    chosen.push(bucket);
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut taken: Vec<u32> = chosen.into_iter().map(|bucket| self.remove_next(bucket as usize)).collect();
        taken.sort_unstable();
        taken
    }

    fn is_current(&self, bucket: u32, next: u32) -> bool {
        let (from, end) = self.next[bucket as usize];
        from < end && self.members[from] == next
    }

    fn remove_next(&mut self, bucket: usize) -> u32 {
        let (from, end) = self.next[bucket];
        self.of_size[end - from] -= 1;
        self.of_size[end - from - 1] += 1;
        while self.largest > 0 && self.of_size[self.largest] == 0 {
            self.largest -= 1;
        }
        self.next[bucket].0 += 1;
        self.left -= 1;
        self.offer(bucket);
        self.members[from]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(values: &[i32], diversity: usize, fullest: bool) -> Vec<Vec<u32>> {
        let mut buckets = Buckets::new(values.to_vec());
        let mut groups = Vec::new();
        while buckets.left > 0 {
            groups.push(buckets.take(diversity, fullest));
        }
        groups
    }

    #[test]
    fn neighbours_take_the_front_of_the_sweep() {
        // l = 2, salaries 0 1 2 3 along the sweep, nothing forced.
        assert_eq!(groups(&[0, 1, 2, 3], 2, false), vec![vec![0, 1], vec![2, 3]]);
    }

    #[test]
    fn eligibility_forces_a_full_bucket_in() {
        // Salaries 1 2 0 0, l = 2: taking 1 and 2 first would leave 0 0. Bucket 0 (2 * 2 > 4 - 2) is forced each time.
        assert_eq!(groups(&[1, 2, 0, 0], 2, false), vec![vec![0, 2], vec![1, 3]]);
    }

    #[test]
    fn a_remainder_too_small_for_a_group_joins_the_last() {
        // Five singles, l = 2: first 2 are taken (3 are left, eligible), then all 3.
        assert_eq!(groups(&[0, 1, 2, 3, 4], 2, false), vec![vec![0, 1], vec![2, 3, 4]]);
    }

    #[test]
    fn buckets_take_the_fullest_first() {
        // Salaries 0 1 1 2 2 2, l = 2: {2, 1}, then sizes 2:2 1:1 0:1, eligibility needs 2*2 <= 4; {2, 0}, {2, 1}.
        assert_eq!(groups(&[0, 1, 1, 2, 2, 2], 2, true), vec![vec![1, 3], vec![0, 4], vec![2, 5]]);
    }

    #[test]
    fn every_group_of_an_eligible_table_is_diverse() {
        // 12 records, commonest value 4 = 12 / 3.
        let values = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5];
        for fullest in [true, false] {
            for group in groups(&values, 3, fullest) {
                let mut seen: Vec<i32> = group.iter().map(|at| values[*at as usize]).collect();
                seen.sort_unstable();
                seen.dedup();
                assert!(seen.len() == group.len() && group.len() >= 3);
            }
        }
    }
}
