//! Mondrian (Algorithm 1, line 2): strict median cuts while both sides keep the principle.

use crate::distance::{Distance, Span};
use crate::microdata::Microdata;
use crate::principle::{Principle, Sensitive, Tally};
use crate::{Cancel, Codes, Error, Result};

/// Nodes larger than this are cut on two threads; smaller ones are not worth a task.
const PARALLEL: usize = 8192;

/// How a table is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partition {
    /// A node is cut on the widest range over dis_max(attribute, T); a median with nothing above it moves to the next
    /// code below. Near records are the next to be taken from a leaf's buckets.
    #[default]
    Range,
    /// The authors' program: on the largest sum of squares about the mean, in the attribute's own unit; an attribute
    /// whose median has nothing above it is passed over; any record of a bucket is the next, by its tag.
    Program,
}

impl Partition {
    /// A partition by its name.
    ///
    /// # Errors
    /// [`Error::Shape`] for a name that is none.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "range" => Ok(Partition::Range),
            "program" => Ok(Partition::Program),
            _ => Err(Error::Shape("no partition has that name".into())),
        }
    }
}

impl Microdata<'_> {
    /// Cuts `records` in place until no cut is allowed; returns the size of each leaf, left before right.
    /// Without a principle every difference is cut: the order that results is the sweep of `neighbours`.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn divide(&self, records: &mut [u32], principle: Option<&Principle>, cancel: &Cancel) -> Result<Vec<usize>> {
        let mut leaves = Vec::new();
        let mut scratch = Scratch::new(&self.sensitive);
        self.divide_node(records, principle, cancel, &mut scratch, &mut leaves)?;
        Ok(leaves)
    }

    fn divide_node(
        &self,
        records: &mut [u32],
        principle: Option<&Principle>,
        cancel: &Cancel,
        scratch: &mut Scratch,
        leaves: &mut Vec<usize>,
    ) -> Result<()> {
        let Some(at) = self.cut(records, principle, scratch) else {
            leaves.push(records.len());
            return Ok(());
        };
        let large = records.len() > PARALLEL;
        let (left, right) = records.split_at_mut(at);
        if !large {
            self.divide_node(left, principle, cancel, scratch, leaves)?;
            return self.divide_node(right, principle, cancel, scratch, leaves);
        }
        cancel.check()?;
        let (left, right) =
            rayon::join(|| self.divide(left, principle, cancel), || self.divide(right, principle, cancel));
        leaves.extend(left?);
        leaves.extend(right?);
        Ok(())
    }

    /// Puts the records of the first allowed cut's left side first and says how many they are.
    fn cut(&self, records: &mut [u32], principle: Option<&Principle>, scratch: &mut Scratch) -> Option<usize> {
        let least = principle.map_or(1, |principle| principle.diversity);
        if records.len() < 2 * least {
            return None;
        }
        for attribute in self.ranked(records) {
            scratch.codes.clear();
            scratch.codes.extend(records.iter().map(|r| self.places.get(*r as usize, attribute)));
            let counts = histogram(&mut scratch.codes, &mut scratch.counts);
            let Some(cut) = median_cut(&counts, records.len(), self.partition) else {
                continue;
            };
            let at = gather_left(records, |record| self.places.get(record as usize, attribute) <= cut);
            let (left, right) = records.split_at(at);
            let holds = |side: &[u32], tally: &mut Tally| {
                principle.is_none_or(|principle| self.meets_asks(side) && principle.holds(&self.sensitive, side, tally))
            };
            // The right side is the smaller one and so the likelier to fail.
            if holds(right, &mut scratch.tally) && holds(left, &mut scratch.tally) {
                return Some(at);
            }
        }
        None
    }

    /// The attributes on which the records differ, widest by weighted range first; ties keep the policy's order.
    fn ranked(&self, records: &[u32]) -> Vec<usize> {
        let mut spans = vec![Span::EMPTY; self.distances.len()];
        for record in records {
            for ((span, distance), code) in
                spans.iter_mut().zip(self.distances).zip(self.places.record(*record as usize))
            {
                *span = distance.widened(*span, *code);
            }
        }
        let present = |attribute| records.iter().map(move |r| self.places.get(*r as usize, attribute));
        let mut ranked: Vec<(f64, usize)> = (0..spans.len())
            .filter(|attribute| !spans[*attribute].is_one_value())
            .map(|attribute| {
                let distance = &self.distances[attribute];
                let spread = match self.partition {
                    Partition::Range => distance.width(spans[attribute], present(attribute)),
                    Partition::Program => distance.squares(present(attribute)),
                };
                (distance.weight() * spread, attribute)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.into_iter().map(|(_, attribute)| attribute).collect()
    }
}

/// Checks that every code has its place in its attribute's distance.
///
/// # Errors
/// [`Error::Shape`].
pub fn check_codes(codes: Codes, distances: &[Distance]) -> Result<()> {
    if codes.attributes() != distances.len() || distances.is_empty() {
        return Err(Error::Shape("codes need one column a distance, and at least one".into()));
    }
    for record in 0..codes.records() {
        let fits =
            codes.record(record).iter().zip(distances).all(|(code, d)| *code >= 0 && (*code as usize) < d.size());
        if !fits {
            return Err(Error::Shape(format!("a code of record {record} lies outside its domain")));
        }
    }
    Ok(())
}

struct Scratch {
    codes: Vec<i32>,
    counts: Vec<u32>,
    tally: Tally,
}

impl Scratch {
    fn new(sensitive: &Sensitive) -> Self {
        Scratch { codes: Vec::new(), counts: Vec::new(), tally: sensitive.tally() }
    }
}

/// Counts of the codes that occur, ascending. Codes close together are counted in place, others sorted.
fn histogram(codes: &mut [i32], counts: &mut Vec<u32>) -> Vec<(i32, u32)> {
    let low = codes.iter().copied().min().unwrap_or(0);
    let high = codes.iter().copied().max().unwrap_or(0);
    let width = (high - low) as usize + 1;
    if width <= 4 * codes.len() {
        counts.clear();
        counts.resize(width, 0);
        codes.iter().for_each(|code| counts[(code - low) as usize] += 1);
        let present = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        return present.map(|(offset, count)| (low + offset as i32, *count)).collect();
    }
    codes.sort_unstable();
    codes.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
}

/// The median code of a node, or by [`Partition::Range`] the next one below it if nothing lies above: the left side is
/// all codes up to it. Works on counts alone, so that whoever holds a node's histogram can cut it.
pub fn median_cut(histogram: &[(i32, u32)], records: usize, partition: Partition) -> Option<i32> {
    let mut below = 0;
    let median = histogram.iter().position(|(_, count)| {
        below += *count as usize;
        below > (records - 1) / 2
    })?;
    let last = histogram.len().checked_sub(2)?;
    if median > last && partition == Partition::Program {
        return None;
    }
    Some(histogram[median.min(last)].0)
}

/// Moves the records that belong left to the front and counts them.
fn gather_left(records: &mut [u32], is_left: impl Fn(u32) -> bool) -> usize {
    let mut at = 0;
    for i in 0..records.len() {
        if is_left(records[i]) {
            records.swap(at, i);
            at += 1;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_keeps_something_on_either_side() {
        let cut = |counts: &[(i32, u32)]| median_cut(counts, 4, Partition::Range);
        assert_eq!(cut(&[(1, 1), (2, 3)]), Some(1));
        assert_eq!(cut(&[(1, 2), (5, 1), (9, 1)]), Some(1));
        assert_eq!(cut(&[(1, 1), (5, 2), (9, 1)]), Some(5));
        assert_eq!(cut(&[(7, 4)]), None);
    }

    #[test]
    fn the_authors_program_passes_over_a_median_with_nothing_above() {
        assert_eq!(median_cut(&[(1, 1), (2, 3)], 4, Partition::Program), None);
        assert_eq!(median_cut(&[(1, 2), (5, 1), (9, 1)], 4, Partition::Program), Some(1));
    }

    #[test]
    fn squares_rank_by_spread_where_ranges_rank_by_reach() {
        // Ages 0 0 0 12: range 12, squares 3 * 9 + 81 = 108. Hours 0 8 8 16 of 0 to 100: range .16, squares 128.
        let codes = [0, 0, 0, 1, 0, 1, 1, 2];
        let hours = Distance::line(vec![0.0, 8.0, 16.0, 100.0], false).unwrap();
        let distances = [Distance::line(vec![0.0, 12.0], false).unwrap(), hours];
        let sensitive = Sensitive::new(Codes::new(&[0; 4], 1).unwrap(), &[1], &[false]).unwrap();
        let mut table = Microdata::new(Codes::new(&codes, 2).unwrap(), sensitive, &[0; 4], &distances).unwrap();
        assert_eq!(table.ranked(&[0, 1, 2, 3]), vec![0, 1]);
        table.partition = Partition::Program;
        assert_eq!(table.ranked(&[0, 1, 2, 3]), vec![1, 0]);
    }

    #[test]
    fn far_codes_are_counted_like_near_ones() {
        let mut counts = Vec::new();
        assert_eq!(histogram(&mut [900_000, 3, 3], &mut counts), vec![(3, 2), (900_000, 1)]);
        assert_eq!(histogram(&mut [5, 3, 3], &mut counts), vec![(3, 2), (5, 1)]);
    }

    #[test]
    fn a_node_is_cut_at_its_widest_attribute_only_where_both_sides_hold() {
        // Ages 20 30 40 50, hours all 40. Salaries a b a b: {20, 30} and {40, 50} are both 2-diverse.
        // With salaries a a b b neither side is, so the table stays whole.
        let codes = [0, 0, 1, 0, 2, 0, 3, 0];
        let distances =
            [Distance::line(vec![20.0, 30.0, 40.0, 50.0], false).unwrap(), Distance::line(vec![40.0], false).unwrap()];
        let leaves = |salaries: &[i32]| {
            let sensitive = Sensitive::new(Codes::new(salaries, 1).unwrap(), &[2], &[false]).unwrap();
            let table = Microdata::new(Codes::new(&codes, 2).unwrap(), sensitive, &[0; 4], &distances).unwrap();
            let principle = Principle::named("frequency", 2, 0.0, 0.0).unwrap();
            table.divide(&mut [3, 1, 2, 0], Some(&principle), &Cancel::default()).unwrap()
        };
        assert_eq!(leaves(&[0, 1, 0, 1]), vec![2, 2]);
        assert_eq!(leaves(&[0, 0, 1, 1]), vec![4]);
    }
}
