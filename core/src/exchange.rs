//! Records exchanged between near groups while that draws both together and keeps the principle.
//!
//! With all rows of a table equal, a group of m records loses Σ_ij dis(i, j) / m. Exchanging i of group g with j of
//! group h changes that by 2/m_g (S_jg - d_ij - S_ig) + 2/m_h (S_ih - d_ij - S_jh), where S_ig = Σ_k∈g dis(i, k).
//! Sizes stay. Groups are compared with their nearest ones only, shard by shard of groups that came out of the
//! partition side by side, so that the work is linear in the records and no number of threads can change it.

use rayon::prelude::*;

use crate::grouping::{Exchanges, Groups};
use crate::microdata::Microdata;
use crate::written::Written;
use crate::{Cancel, Codes, Result};

/// Groups of a shard, in which near groups are sought by comparing all profiles.
pub const SHARD: usize = 1024;
/// How many near groups each group is compared with: 8 gives all but 1 % of what 16 give.
const NEAR: usize = 8;
/// An exchange must gain this much, so that rounding cannot keep two groups exchanging for ever.
const GAIN: f32 = 1e-5;
/// Into how many runs the values of an attribute without a line are counted for a profile.
const BINS: usize = 64;

/// Rounds of best exchanges; the members of each group end in canonical order.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn exchange(
    table: &Microdata,
    diversity: usize,
    groups: &mut Groups,
    exchanges: &Exchanges,
    cancel: &Cancel,
) -> Result<()> {
    let distances: Vec<Written> = table.distances.iter().map(Written::new).collect();
    let space = Space { table, distances: &distances, diversity, shard: exchanges.shard };
    let mut rest = groups.order.as_slice();
    let mut members: Vec<Vec<u32>> = Vec::with_capacity(groups.sizes.len());
    for size in &groups.sizes {
        let (group, others) = rest.split_at(*size);
        members.push(group.to_vec());
        rest = others;
    }
    for pass in 0..exchanges.rounds {
        let order = space.side_by_side(&members, pass);
        let shards: Vec<Vec<Vec<u32>>> = order
            .chunks(space.shard)
            .map(|shard| shard.iter().map(|group| std::mem::take(&mut members[*group])).collect())
            .collect();
        let improved: Vec<(Vec<Vec<u32>>, usize)> = shards
            .into_par_iter()
            .map(|shard| {
                cancel.check()?;
                Ok(Shard::new(&space, shard).improve())
            })
            .collect::<Result<_>>()?;
        let moved: usize = improved.iter().map(|(_, moved)| moved).sum();
        order.into_iter().zip(improved.into_iter().flat_map(|(shard, _)| shard)).for_each(|(g, new)| members[g] = new);
        // Other shards may still gain where the order of the groups changes from round to round.
        if moved == 0 && members.len() <= space.shard {
            break;
        }
    }
    members.iter_mut().for_each(|group| group.sort_unstable_by(|a, b| table.canonical(*a).cmp(&table.canonical(*b))));
    groups.order = members.concat();
    Ok(())
}

/// The records with their summed distance, and what every group must keep.
pub(crate) struct Space<'a> {
    pub(crate) table: &'a Microdata<'a>,
    pub(crate) distances: &'a [Written<'a>],
    pub(crate) diversity: usize,
    pub(crate) shard: usize,
}

impl Space<'_> {
    #[inline]
    fn apart(&self, a: &[i32], b: &[i32]) -> f32 {
        self.distances.iter().zip(a.iter().zip(b)).map(|(distance, (a, b))| distance.between(*a, *b)).sum()
    }

    pub(crate) fn between(&self, a: u32, b: u32) -> f32 {
        let codes: Codes = self.table.codes;
        self.apart(codes.record(a as usize), codes.record(b as usize))
    }

    /// Where a group lies, for l1 distance: mean positions on lines, shares of values elsewhere (of runs of values in
    /// a large domain), which are near where the mean distance between two groups is small.
    fn profile(&self, members: &[u32]) -> Vec<f32> {
        let share = 1.0 / members.len() as f32;
        let mut profile = Vec::new();
        for (attribute, distance) in self.table.distances.iter().enumerate() {
            let codes = members.iter().map(|record| self.table.codes.get(*record as usize, attribute));
            let (from, weight) = (profile.len(), distance.weight() as f32);
            if distance.is_line() {
                profile.extend([0.0, 0.0]);
                for code in codes {
                    let apart =
                        if distance.is_missing(code) { 0.0 } else { self.distances[attribute].between(0, code) };
                    profile[from] += share * apart;
                    profile[from + 1] += weight * share * f32::from(u8::from(distance.is_missing(code)));
                }
            } else {
                let size = distance.size();
                let bins = size.min(BINS);
                profile.resize(from + bins, 0.0);
                // Half a share each: a value that is here and not there counts on both sides.
                codes.for_each(|code| profile[from + code as usize * bins / size] += weight * share / 2.0);
            }
        }
        profile
    }

    /// The groups whose profiles lie nearest to each group's, nearest first.
    pub(crate) fn near(&self, groups: &[Vec<u32>]) -> Vec<Vec<usize>> {
        let count = groups.len();
        let profiles: Vec<Vec<f32>> = groups.iter().map(|group| self.profile(group)).collect();
        let nearest = |group: usize| {
            let mut found: Vec<(f32, usize)> = Vec::with_capacity(NEAR + 1);
            for other in (0..count).filter(|other| *other != group) {
                let sides = profiles[group].iter().zip(&profiles[other]);
                let apart: f32 = sides.map(|(a, b)| (a - b).abs()).sum();
                if found.len() < NEAR || found.last().is_some_and(|last| apart < last.0) {
                    let at = found.partition_point(|(distance, _)| *distance <= apart);
                    found.insert(at, (apart, other));
                    found.truncate(NEAR);
                }
            }
            found.into_iter().map(|(_, other)| other).collect()
        };
        (0..count).map(nearest).collect()
    }

    /// The groups in an order that puts near ones into one shard: as the partition made them, then by their medians,
    /// one attribute after the other, beginning with another in each pass, so that no border stays.
    pub(crate) fn side_by_side(&self, groups: &[Vec<u32>], pass: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..groups.len()).collect();
        if pass == 0 || groups.len() <= self.shard {
            return order;
        }
        let attributes = self.distances.len();
        let median = |group: &Vec<u32>, attribute: usize| {
            let mut codes: Vec<i32> = group.iter().map(|r| self.table.codes.get(*r as usize, attribute)).collect();
            *codes.select_nth_unstable(group.len() / 2).1
        };
        let of = |group: &Vec<u32>| (0..attributes).map(|i| median(group, (i + pass - 1) % attributes)).collect();
        let medians: Vec<Vec<i32>> = groups.par_iter().map(of).collect();
        order.sort_by(|a, b| medians[*a].cmp(&medians[*b]));
        order
    }

    /// Whether a group keeps frequency l-diversity, and what `joining` asks for, when it takes the place of
    /// `leaving`. Without a sensitive attribute any other exchange will do: sizes stay.
    fn is_diverse(&self, members: &[u32], leaving: usize, joining: u32) -> bool {
        if self.table.ask(joining) > members.len() {
            return false;
        }
        let sensitive = self.table.sensitive.codes();
        if sensitive.attributes() == 0 {
            return true;
        }
        let value = sensitive.get(joining as usize, 0);
        let equal = |(at, record): &(usize, &u32)| *at != leaving && sensitive.get(**record as usize, 0) == value;
        (members.iter().enumerate().filter(equal).count() + 1) * self.diversity <= members.len()
    }
}

/// Some groups side by side.
struct Shard<'a> {
    space: &'a Space<'a>,
    groups: Vec<Vec<u32>>,
    /// S_ig of each record in its own group.
    within: Vec<Vec<f32>>,
}

impl<'a> Shard<'a> {
    fn new(space: &'a Space<'a>, groups: Vec<Vec<u32>>) -> Self {
        let mut shard = Shard { space, within: vec![Vec::new(); groups.len()], groups };
        (0..shard.groups.len()).for_each(|group| shard.measure(group));
        shard
    }

    fn measure(&mut self, group: usize) {
        let members = &self.groups[group];
        let from = |record: &u32| members.iter().map(|other| self.space.between(*record, *other)).sum();
        self.within[group] = members.iter().map(from).collect();
    }

    /// Exchanges until no two near groups gain by one: the groups, and how many exchanges there were.
    fn improve(mut self) -> (Vec<Vec<u32>>, usize) {
        let near = self.space.near(&self.groups);
        let mut moved = 0;
        for (group, others) in near.iter().enumerate() {
            for other in others {
                if *other < group && near[*other].contains(&group) {
                    continue;
                }
                while let Some((a, b)) = self.best(group, *other) {
                    let (joining, leaving) = (self.groups[*other][b], self.groups[group][a]);
                    (self.groups[group][a], self.groups[*other][b]) = (joining, leaving);
                    self.measure(group);
                    self.measure(*other);
                    moved += 1;
                }
            }
        }
        (self.groups, moved)
    }

    /// The exchange between two groups that gains most, as the places of its records in them.
    fn best(&self, g: usize, h: usize) -> Option<(usize, usize)> {
        let (left, right) = (&self.groups[g], &self.groups[h]);
        let across: Vec<f32> =
            left.iter().flat_map(|a| right.iter().map(move |b| self.space.between(*a, *b))).collect();
        let width = right.len();
        let to_right: Vec<f32> = across.chunks_exact(width).map(|row| row.iter().sum()).collect();
        let to_left: Vec<f32> = (0..width).map(|b| across.iter().skip(b).step_by(width).sum()).collect();
        let (by_left, by_right) = (2.0 / left.len() as f32, 2.0 / width as f32);
        let mut best = None;
        let mut least = -GAIN;
        for (a, row) in across.chunks_exact(width).enumerate() {
            for (b, apart) in row.iter().enumerate() {
                let change = by_left * (to_left[b] - apart - self.within[g][a])
                    + by_right * (to_right[a] - apart - self.within[h][b]);
                if change < least && self.is_allowed(left, right, a, b) {
                    (least, best) = (change, Some((a, b)));
                }
            }
        }
        best
    }

    fn is_allowed(&self, left: &[u32], right: &[u32], a: usize, b: usize) -> bool {
        self.space.is_diverse(left, a, right[b]) && self.space.is_diverse(right, b, left[a])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Distance;
    use crate::principle::Sensitive;
    use crate::stream::Key;

    /// Ages in two groups of two, salaries beside them; what one round makes of them.
    fn exchanged(ages: &[i32], salaries: &[i32], rounds: usize) -> Vec<u32> {
        let distances = [Distance::line((0..10).map(f64::from).collect(), false).unwrap()];
        let sensitive = Sensitive::new(Codes::new(salaries, 1).unwrap(), &[4], &[false]).unwrap();
        let table = Microdata::new(Codes::new(ages, 1).unwrap(), sensitive, &[0; 4], &distances).unwrap();
        let mut groups = Groups { order: vec![0, 1, 2, 3], sizes: vec![2, 2], leaves: vec![0, 0] };
        let exchanges = Exchanges { rounds, temperature: 0.0, key: Key::new([0; 32]), shard: SHARD };
        exchange(&table, 2, &mut groups, &exchanges, &Cancel::default()).unwrap();
        groups.order
    }

    #[test]
    fn records_go_where_they_are_near() {
        // {1, 8} and {2, 9}: 1 goes for 9, the first of two exchanges that gain most, and the groups are {8, 9}, {1, 2}.
        assert_eq!(exchanged(&[1, 8, 2, 9], &[0, 1, 2, 3], 1), vec![1, 3, 0, 2]);
        assert_eq!(exchanged(&[1, 8, 2, 9], &[0, 1, 2, 3], 0), vec![0, 1, 2, 3]);
    }

    #[test]
    fn no_exchange_breaks_the_principle() {
        // 1 and 2 share a salary, and so do 8 and 9: they stay apart.
        assert_eq!(exchanged(&[1, 8, 2, 9], &[0, 1, 0, 1], 3), vec![0, 1, 2, 3]);
    }

    #[test]
    fn groups_that_gain_nothing_are_left() {
        assert_eq!(exchanged(&[1, 2, 8, 9], &[0, 1, 2, 3], 3), vec![0, 1, 2, 3]);
    }
}
