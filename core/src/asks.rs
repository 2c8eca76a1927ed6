//! Personal cover: each record may ask to hide among more records than the principle gives it.

use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::batch::Terms;
use crate::microdata::Microdata;
use crate::seeds::apart;
use crate::table::Delta;
use crate::{Error, Result};

/// Among how many groups on either side of it a group looks for the nearest one to join.
const NEAR: usize = 8;

impl<'a> Microdata<'a> {
    /// The same microdata with how many records each record asks to hide among.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one for each record, or none at all.
    pub fn with_asks(self, asks: &'a [u32]) -> Result<Self> {
        if !asks.is_empty() && asks.len() != self.codes.records() {
            return Err(Error::Shape("asks need one entry a record".into()));
        }
        Ok(Microdata { asks, ..self })
    }

    /// How many records a record asks to hide among, itself included.
    pub(crate) fn ask(&self, record: u32) -> usize {
        self.asks.get(record as usize).map_or(1, |ask| *ask as usize)
    }

    /// Whether some records are as many as each of them asks for.
    pub(crate) fn meets_asks(&self, records: &[u32]) -> bool {
        self.asks.is_empty() || records.iter().all(|record| self.ask(*record) <= records.len())
    }

    /// Joins each group that has fewer records than one of its members asks for with the nearest one of the leaf,
    /// again and again until it has as many. Groups are places in `leaf`, and so are those that come back; a union
    /// stands where the last of its parts was looked at. Frequency l-diversity survives each union.
    pub(crate) fn join_short(&self, leaf: &[u32], groups: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        if self.asks.is_empty() {
            return groups;
        }
        let most_asked = |group: &[u32]| group.iter().map(|place| self.ask(leaf[*place as usize])).max().unwrap_or(0);
        let mut joined: Vec<Vec<u32>> = Vec::with_capacity(groups.len());
        let mut ahead: VecDeque<Vec<u32>> = groups.into();
        while let Some(mut group) = ahead.pop_front() {
            while most_asked(&group) > group.len() {
                let behind = joined.len().saturating_sub(NEAR);
                let near = joined[behind..].iter().chain(ahead.iter().take(NEAR));
                let means = near.map(|other| self.mean_apart(leaf, &group, other));
                let Some((at, _)) = means.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) else {
                    break; // The leaf is one group: it meets every ask, or no cut would have made it.
                };
                let before = joined.len() - behind;
                let other = if at < before { Some(joined.remove(behind + at)) } else { ahead.remove(at - before) };
                group.extend(other.into_iter().flatten());
                group.sort_unstable();
            }
            joined.push(group);
        }
        joined
    }

    /// The mean distance between the records of two groups.
    fn mean_apart(&self, leaf: &[u32], group: &[u32], other: &[u32]) -> f64 {
        let pairs = group.iter().flat_map(|a| other.iter().map(move |b| (leaf[*a as usize], leaf[*b as usize])));
        pairs.map(|(a, b)| apart(self, a, b)).sum::<f64>() / (group.len() * other.len()) as f64
    }
}

impl Terms<'_> {
    /// δ of a group: 1 over the most that a member asks for, where that is less.
    pub(crate) fn delta_of(&self, members: &[i64]) -> Option<Delta> {
        let asked = members.iter().filter_map(|record| self.asks.get(*record as usize)).max();
        let limit = self.delta?;
        let is_less = |ask: &u32| limit.times(u64::from(*ask)) == Ordering::Greater;
        asked.filter(|ask| is_less(ask)).map_or(Some(limit), |ask| Some(Delta::tight(*ask as usize)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Codes;
    use crate::distance::Distance;
    use crate::principle::Sensitive;

    fn joined(ages: &[i32], asks: &[u32], groups: &[&[u32]]) -> Vec<Vec<u32>> {
        let distances = [Distance::line((0..100).map(f64::from).collect(), false).unwrap()];
        let sensitive = Sensitive::new(Codes::new(&[], 0).unwrap(), &[], &[]).unwrap();
        let tags = vec![0; ages.len()];
        let table = Microdata::new(Codes::new(ages, 1).unwrap(), sensitive, &tags, &distances).unwrap();
        let leaf: Vec<u32> = (0..ages.len() as u32).collect();
        table.with_asks(asks).unwrap().join_short(&leaf, groups.iter().map(|group| group.to_vec()).collect())
    }

    #[test]
    fn a_group_that_is_asked_for_more_joins_its_nearest() {
        // Ages 1 2, 60 61, 10 11: the first asks for four, and 10 11 lie nearer than 60 61.
        let ages = [1, 2, 60, 61, 10, 11];
        let groups: [&[u32]; 3] = [&[0, 1], &[2, 3], &[4, 5]];
        assert_eq!(joined(&ages, &[4, 1, 1, 1, 1, 1], &groups), vec![vec![0, 1, 4, 5], vec![2, 3]]);
        assert_eq!(joined(&ages, &[1, 1, 1, 1, 1, 3], &groups), vec![vec![2, 3], vec![0, 1, 4, 5]]);
    }

    #[test]
    fn groups_are_joined_until_the_ask_is_met() {
        let groups: [&[u32]; 3] = [&[0, 1], &[2, 3], &[4, 5]];
        assert_eq!(joined(&[1, 2, 60, 61, 10, 11], &[1, 5, 1, 1, 1, 1], &groups), vec![vec![0, 1, 2, 3, 4, 5]]);
    }

    #[test]
    fn nobody_who_asks_for_no_more_is_joined() {
        let groups: [&[u32]; 2] = [&[0, 1], &[2, 3]];
        assert_eq!(joined(&[1, 2, 3, 4], &[2, 1, 2, 2], &groups), vec![vec![0, 1], vec![2, 3]]);
    }
}
