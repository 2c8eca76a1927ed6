//! The records of a leaf in buckets of equal sensitive value, from which groups are taken as Anatomy does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The records of a leaf by sensitive value, each bucket in the leaf's order. Heap entries that a later take has
/// overtaken are dropped when they surface.
pub struct Buckets {
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
    /// `bucket_of` numbers the sensitive value of each record of the leaf.
    pub fn new(bucket_of: Vec<u32>) -> Self {
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

    /// Whether every record has its group.
    pub fn is_done(&self) -> bool {
        self.left == 0
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
    pub fn take(&mut self, diversity: usize, fullest: bool) -> Vec<u32> {
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

    fn groups(values: &[u32], diversity: usize, fullest: bool) -> Vec<Vec<u32>> {
        let mut buckets = Buckets::new(values.to_vec());
        let mut groups = Vec::new();
        while !buckets.is_done() {
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
                let mut seen: Vec<u32> = group.iter().map(|at| values[*at as usize]).collect();
                seen.sort_unstable();
                seen.dedup();
                assert!(seen.len() == group.len() && group.len() >= 3);
            }
        }
    }
}
