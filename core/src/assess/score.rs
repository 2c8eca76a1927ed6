//! Adversaries who score every released row: A5 by what a simulation says of each person, A2 by the tables of each
//! group without knowing which rows came from it. Every row is looked at, so that they try a sample of targets.

use rayon::prelude::*;

use super::likelihood::likelihoods;
use super::nearest::TIE;
use crate::batch::Tables;
use crate::coupling::Blocks;
use crate::{Cancel, Codes, Error, Result};

/// A person as A5 sees him: a score for each code of each attribute, and the row that is his.
#[derive(Clone, Copy, Debug)]
pub struct Profile<'a> {
    /// Scores, all codes of one attribute after the other's.
    pub scores: &'a [f32],
    /// Codes of the person.
    pub codes: &'a [i32],
    /// His row.
    pub own: i64,
}

/// A5: the row with the largest sum of scores; rows equal to the person count only if `takes_equal`.
///
/// # Errors
/// [`Error::Shape`], [`Error::Cancelled`].
pub fn score_rows(
    profiles: &[Profile],
    rows: Codes,
    sizes: &[usize],
    takes_equal: bool,
    cancel: &Cancel,
) -> Result<Vec<f64>> {
    let starts: Vec<usize> = sizes.iter().scan(0, |end, size| Some(std::mem::replace(end, *end + size))).collect();
    let total: usize = sizes.iter().sum();
    let fits = profiles.iter().all(|p| p.scores.len() == total && p.codes.len() == sizes.len());
    let has_codes = (0..rows.records())
        .all(|row| rows.record(row).iter().zip(sizes).all(|(code, size)| *code >= 0 && (*code as usize) < *size));
    if !fits || !has_codes || rows.attributes() != sizes.len() {
        return Err(Error::Shape("scores and rows are not of the same attributes".into()));
    }
    profiles
        .par_iter()
        .map(|profile| {
            cancel.check()?;
            let (mut best, mut ties, mut has_own) = (f32::NEG_INFINITY, 0_u32, false);
            for row in 0..rows.records() {
                let codes = rows.record(row);
                let sum: f32 =
                    codes.iter().zip(&starts).map(|(code, start)| profile.scores[start + *code as usize]).sum();
                if sum < best || !takes_equal && codes == profile.codes {
                    continue;
                }
                if sum > best {
                    (best, ties, has_own) = (sum, 0, false);
                }
                ties += 1;
                has_own |= row as i64 == profile.own;
            }
            Ok(if has_own { 1.0 / f64::from(ties) } else { 0.0 })
        })
        .collect()
}

/// A released table, as who knows the tables of each person sees it.
#[derive(Clone, Copy, Debug)]
pub struct Published<'a> {
    /// All rows.
    pub rows: Codes<'a>,
    /// `repair` of its policy.
    pub repair: usize,
    /// Attributes that share a random number.
    pub blocks: &'a Blocks,
}

/// Of each row, the probabilities of all records of some groups to have become it, summed.
///
/// # Errors
/// [`Error::Shape`], [`Error::Cancelled`].
pub fn sum_rows(tables: &Tables, groups: &[i64], published: Published, cancel: &Cancel) -> Result<Vec<f64>> {
    check(tables, groups, published)?;
    let found: Vec<Candidates> = groups
        .par_iter()
        .map(|group| {
            cancel.check()?;
            Candidates::of(tables, *group as usize, published)
        })
        .collect::<Result<_>>()?;
    // One group after the other: the order of additions must not depend on threads.
    let mut totals = vec![0.0; published.rows.records()];
    for candidates in found {
        candidates.rows.iter().enumerate().for_each(|(place, row)| totals[*row] += candidates.sum(place));
    }
    Ok(totals)
}

/// A2: the row whose likeliest source a record is, by its share in the probabilities of everybody to have become that
/// row; 1/ties of a right guess for each record of some groups, group by group. `own` is the row of each record of the
/// batch, `totals` are of [`sum_rows`], and each record of another group that was summed stands for `weight` of them.
///
/// # Errors
/// [`Error::Shape`], [`Error::Cancelled`].
pub fn search_rows(
    tables: &Tables,
    groups: &[i64],
    published: Published,
    own: &[i64],
    (totals, weight): (&[f64], f64),
    cancel: &Cancel,
) -> Result<Vec<f64>> {
    check(tables, groups, published)?;
    if own.len() * tables.attributes != tables.codes.len() || totals.len() != published.rows.records() {
        return Err(Error::Shape("rows, groups and tables do not fit together".into()));
    }
    let search = |group: usize| -> Result<Vec<f64>> {
        let candidates = Candidates::of(tables, group, published)?;
        let everybody: Vec<f64> = (0..candidates.rows.len())
            .map(|place| {
                let here = candidates.sum(place);
                here + weight * (totals[candidates.rows[place]] - here).max(0.0)
            })
            .collect();
        let records = tables.starts[group]..tables.starts[group + 1];
        Ok(records.enumerate().map(|(record, at)| candidates.guess(record, &everybody, own[at])).collect())
    };
    let found: Vec<Vec<f64>> = groups
        .par_iter()
        .map(|group| {
            cancel.check()?;
            search(*group as usize)
        })
        .collect::<Result<_>>()?;
    Ok(found.concat())
}

fn check(tables: &Tables, groups: &[i64], published: Published) -> Result<()> {
    let fits = published.rows.attributes() == tables.attributes
        && groups.iter().all(|group| *group >= 0 && (*group as usize) < tables.groups());
    if fits { Ok(()) } else { Err(Error::Shape("rows, groups and tables do not fit together".into())) }
}

/// The rows that the tables of a group offer in every attribute, and the probability of each record to become each.
struct Candidates {
    rows: Vec<usize>,
    likely: Vec<f64>,
}

impl Candidates {
    fn of(tables: &Tables, group: usize, published: Published) -> Result<Self> {
        let Published { rows, repair, blocks } = published;
        let offers = |attribute: usize, code: i32| tables.entry(group, attribute).columns.binary_search(&code).is_ok();
        let is_offered = |row: &usize| rows.record(*row).iter().enumerate().all(|(a, code)| offers(a, *code));
        let found: Vec<usize> = (0..rows.records()).filter(is_offered).collect();
        let tuples: Vec<i32> = found.iter().flat_map(|row| rows.record(*row)).copied().collect();
        Ok(Candidates { likely: likelihoods(tables, group, &tuples, repair, blocks)?, rows: found })
    }

    /// Of one candidate, over the records of the group.
    fn sum(&self, place: usize) -> f64 {
        self.likely.iter().skip(place).step_by(self.rows.len()).sum()
    }

    /// 1/ties where a record's `own` row is among the best, else 0.
    fn guess(&self, record: usize, everybody: &[f64], own: i64) -> f64 {
        let likely = &self.likely[record * self.rows.len()..(record + 1) * self.rows.len()];
        let share = |place: usize| if likely[place] > 0.0 { likely[place] / everybody[place] } else { 0.0 };
        let largest = (0..self.rows.len()).map(share).fold(0.0, f64::max) * (1.0 - TIE);
        let is_best = |place: &usize| largest > 0.0 && share(*place) >= largest;
        let found = usize::try_from(own).ok().and_then(|row| self.rows.binary_search(&row).ok());
        if found.is_some_and(|place| is_best(&place)) {
            1.0 / (0..self.rows.len()).filter(is_best).count() as f64
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Columns, Terms};
    use crate::cover::Cover;
    use crate::distance::Distance;

    #[test]
    fn the_row_of_the_largest_score_is_taken() {
        // Two attributes of two codes; the person (0, 0) scores 0 for its own codes, -1 and -3 for the others.
        let rows = Codes::new(&[0, 0, 1, 0, 0, 1, 1, 0], 2).unwrap();
        let scores = [0.0, -1.0, 0.0, -3.0];
        let hit = |own, takes_equal| {
            let person = Profile { scores: &scores, codes: &[0, 0], own };
            score_rows(&[person], rows, &[2, 2], takes_equal, &Cancel::default()).unwrap()[0]
        };
        assert_eq!((hit(0, true), hit(1, true)), (1.0, 0.0));
        assert_eq!((hit(1, false), hit(3, false), hit(2, false)), (0.5, 0.5, 0.0));
    }

    /// Two tight groups of two records each; who is right, and how surely.
    fn searched(codes: &[i32], rows: &[i32], own: &[i64]) -> Vec<f64> {
        let distances = [Distance::line(vec![0.0, 1.0, 2.0, 3.0], false).unwrap()];
        let terms = Terms { delta: None, cover: Cover::Balanced, columns: Columns::Observed, asks: &[] };
        let quiet = Cancel::default();
        let all = Codes::new(codes, 1).unwrap();
        let tables = Tables::calculate(all, &[0, 1, 2, 3], &[0, 2, 4], &distances, terms, &quiet).unwrap();
        let blocks = Blocks::new(vec![], 1).unwrap();
        let published = Published { rows: Codes::new(rows, 1).unwrap(), repair: 0, blocks: &blocks };
        let totals = sum_rows(&tables, &[0, 1], published, &quiet).unwrap();
        search_rows(&tables, &[0, 1], published, own, (&totals, 1.0), &quiet).unwrap()
    }

    #[test]
    fn rows_of_other_groups_are_told_apart_where_tables_differ() {
        // Ages 0 1 and 2 3. Each record's own row is one of two as likely.
        assert_eq!(searched(&[0, 1, 2, 3], &[3, 2, 1, 0], &[3, 2, 1, 0]), vec![0.5; 4]);
    }

    #[test]
    fn a_row_that_others_may_have_become_too_counts_for_less() {
        // Ages 0 1 and 1 2, rows 0 1 1 2. Each outputs its two ages with 1/2: three rows are as likely, but of the row
        // 0 a record of the first group has 1/2 of 1, of a row 1 it has 1/2 of 2. So all guess the end of their group.
        assert_eq!(searched(&[0, 1, 1, 2], &[0, 1, 1, 2], &[0, 1, 2, 3]), vec![1.0, 0.0, 0.0, 1.0]);
    }
}
