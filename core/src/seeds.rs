//! Groups by the nearest seed: the record farthest from the rest begins, its nearest of other sensitive values join.
//!
//! A leaf of at most [`WINDOW`] records is looked at whole. A larger one is swept: its seed is the first record left
//! and only the next [`WINDOW`] left are looked at, so that the work stays linear in the records.

use crate::microdata::Microdata;

/// How many records a seed chooses from.
const WINDOW: usize = 256;

/// The records of a leaf that are still without a group, in the leaf's order.
pub struct Seeds<'a> {
    table: &'a Microdata<'a>,
    leaf: &'a [u32],
    bucket_of: Vec<u32>,
    /// How many records of each bucket are left, how many buckets have each size, and the largest such size.
    size_of: Vec<usize>,
    buckets_of_size: Vec<usize>,
    largest: usize,
    left: usize,
    /// The places that are left, as a ring in ascending order around the place after the last.
    next: Vec<u32>,
    before: Vec<u32>,
    /// Σ dis to all of the leaf, for a leaf that is looked at whole.
    far: Vec<f64>,
}

impl<'a> Seeds<'a> {
    /// `bucket_of` numbers the sensitive value of each record of the leaf from 0.
    pub fn new(table: &'a Microdata<'a>, leaf: &'a [u32], bucket_of: Vec<u32>) -> Self {
        let (buckets, records) = (bucket_of.iter().max().map_or(0, |bucket| *bucket as usize + 1), leaf.len() as u32);
        let mut size_of = vec![0; buckets];
        bucket_of.iter().for_each(|bucket| size_of[*bucket as usize] += 1);
        let largest = size_of.iter().copied().max().unwrap_or(0);
        let mut buckets_of_size = vec![0; largest + 1];
        size_of.iter().for_each(|size| buckets_of_size[*size] += 1);
        let far = if leaf.len() > WINDOW {
            Vec::new()
        } else {
            leaf.iter().map(|a| leaf.iter().map(|b| apart(table, *a, *b)).sum()).collect()
        };
        let next = (1..=records).chain([0]).collect();
        let before = [records].into_iter().chain(0..records).collect();
        Seeds { table, leaf, bucket_of, size_of, buckets_of_size, largest, left: leaf.len(), next, before, far }
    }

    /// Whether every record has its group.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    /// The places that are left, in the leaf's order.
    fn places(&self) -> impl Iterator<Item = u32> {
        let end = self.leaf.len() as u32;
        let after = move |place: u32| Some(self.next[place as usize]).filter(|next| *next != end);
        std::iter::successors(after(end), move |place| after(*place))
    }

    /// How many buckets would leave the rest ineligible if a group of `size` passed them over, and from which size on.
    fn forced(&self, size: usize, diversity: usize) -> (usize, usize) {
        let threshold = (self.left - size) / diversity + 1;
        let forced =
            if threshold > self.largest { 0 } else { self.buckets_of_size[threshold..=self.largest].iter().sum() };
        (forced, threshold)
    }

    /// The next group, as places in the leaf, ascending: the smallest number of records, at least `diversity`, that leaves the rest
    /// eligible; buckets that eligibility forces are among them, the others are those with the nearest records.
    pub fn take(&mut self, diversity: usize) -> Vec<u32> {
        let size = (diversity..=self.left).find(|size| self.forced(*size, diversity).0 <= *size).unwrap_or(self.left);
        let (forced, threshold) = self.forced(size, diversity);
        let (mut needed, mut free) = (forced.min(size), size.saturating_sub(forced));
        let mut chosen: Vec<u32> = Vec::with_capacity(size);
        let mut taken: Vec<u32> = Vec::with_capacity(size);
        for place in self.by_distance() {
            let bucket = self.bucket_of[place as usize];
            let of_kind = if self.size_of[bucket as usize] >= threshold { &mut needed } else { &mut free };
            if *of_kind > 0 && !taken.contains(&bucket) {
                *of_kind -= 1;
                taken.push(bucket);
                chosen.push(place);
            }
            if chosen.len() == size {
                break;
            }
        }
        chosen.sort_unstable();
        chosen.iter().for_each(|place| self.remove(*place));
        chosen
    }

    /// The record that is farthest from its leaf, or the first of a leaf that is swept.
    fn seed(&self) -> u32 {
        let farthest = |a: &u32, b: &u32| self.far[*a as usize].total_cmp(&self.far[*b as usize]).then(b.cmp(a));
        let seed = if self.far.is_empty() { self.places().next() } else { self.places().max_by(farthest) };
        seed.unwrap_or(0)
    }

    /// The places in the window, nearest to the seed first, then the others that are left, in their order.
    fn by_distance(&self) -> impl Iterator<Item = u32> {
        let from = self.leaf[self.seed() as usize];
        let mut near: Vec<(f64, u32)> = self
            .places()
            .take(WINDOW)
            .map(|place| (apart(self.table, from, self.leaf[place as usize]), place))
            .collect();
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.into_iter().map(|(_, place)| place).chain(self.places().skip(WINDOW))
    }

    fn remove(&mut self, place: u32) {
        let size = &mut self.size_of[self.bucket_of[place as usize] as usize];
        self.buckets_of_size[*size] -= 1;
        *size -= 1;
        self.buckets_of_size[*size] += 1;
        while self.largest > 0 && self.buckets_of_size[self.largest] == 0 {
            self.largest -= 1;
        }
        let (before, next) = (self.before[place as usize], self.next[place as usize]);
        (self.next[before as usize], self.before[next as usize]) = (next, before);
        self.left -= 1;
    }
}

pub(crate) fn apart(table: &Microdata, a: u32, b: u32) -> f64 {
    let codes = table.codes.record(a as usize).iter().zip(table.codes.record(b as usize));
    table.distances.iter().zip(codes).map(|(distance, (a, b))| distance.weight() * distance.between(*a, *b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Codes;
    use crate::distance::Distance;
    use crate::principle::Sensitive;

    fn groups(ages: &[i32], bucket_of: &[u32], diversity: usize) -> Vec<Vec<u32>> {
        let distances = [Distance::line((0..400).map(f64::from).collect(), false).unwrap()];
        let sensitive = Sensitive::new(Codes::new(&[], 0).unwrap(), &[], &[]).unwrap();
        let tags = vec![0; ages.len()];
        let table = Microdata::new(Codes::new(ages, 1).unwrap(), sensitive, &tags, &distances).unwrap();
        let leaf: Vec<u32> = (0..ages.len() as u32).collect();
        let mut seeds = Seeds::new(&table, &leaf, bucket_of.to_vec());
        let mut groups = Vec::new();
        while !seeds.is_done() {
            groups.push(seeds.take(diversity));
        }
        groups
    }

    #[test]
    fn the_farthest_record_takes_its_nearest() {
        // 1 2 8 9 with 20 apart from all: 20 takes 9, then 1 (farthest of the rest from the leaf) would take 2, but
        // 8 alone would be left: three of one each.
        assert_eq!(groups(&[1, 2, 8, 9, 20], &[0, 1, 2, 3, 4], 2), vec![vec![3, 4], vec![0, 1, 2]]);
    }

    #[test]
    fn equal_sensitive_values_do_not_join() {
        // 1 and 9 are equally far out, so 1 is the seed. 8 and 9 share a value, which is half of what is left: one of
        // them is forced in, and 8 is the nearer, though 2 is nearer still.
        assert_eq!(groups(&[1, 2, 8, 9], &[1, 2, 0, 0], 2), vec![vec![0, 2], vec![1, 3]]);
    }

    #[test]
    fn eligibility_forces_a_full_bucket_in() {
        // Buckets 0 0 0 1 2 2 with l = 2: bucket 0 (3 * 2 > 4) is forced each time, wherever its records are.
        for group in groups(&[1, 2, 3, 200, 201, 202], &[0, 0, 0, 1, 2, 2], 2) {
            assert!(group.len() == 2 && group.iter().any(|place| *place < 3));
        }
    }

    #[test]
    fn a_leaf_beyond_the_window_is_swept() {
        let ages: Vec<i32> = (0..390).collect();
        let buckets: Vec<u32> = (0..390).collect();
        let made = groups(&ages, &buckets, 3);
        assert_eq!((made.len(), made[0].clone(), made[129].len()), (130, vec![0, 1, 2], 3));
    }
}
