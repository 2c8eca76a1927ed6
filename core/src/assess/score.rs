//! Adversaries who score every released row: A5 by what a simulation says of each person, A2 by the tables of each
//! group without knowing which rows came from it. Every row is looked at, so that they try a sample of targets.

use rayon::prelude::*;

use super::likelihood::likelihoods;
use super::nearest::TIE;
use crate::batch::Tables;
use crate::coupling::Blocks;
use crate::{Cancel, Codes, Error, Result};

/// What one target's scores say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guess {
    /// 1/ties where the own row is among the best, else 0.
    pub hit: f64,
    /// The share of the own row in all likelihood.
    pub own: f64,
    /// The share of the best row.
    pub largest: f64,
}

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
    /// The row of each record of the batch.
    pub own: &'a [i64],
    /// `repair` of its policy.
    pub repair: usize,
    /// Attributes that share a random number.
    pub blocks: &'a Blocks,
}

/// A2: for each record of some groups, its likelihood to have become each row of the whole release; one [`Guess`]
/// a record, group by group.
///
/// # Errors
/// [`Error::Shape`], [`Error::Cancelled`].
pub fn search_rows(tables: &Tables, groups: &[i64], published: Published, cancel: &Cancel) -> Result<Vec<Guess>> {
    let fits = published.rows.attributes() == tables.attributes
        && published.own.len() * tables.attributes == tables.codes.len()
        && groups.iter().all(|group| *group >= 0 && (*group as usize) < tables.groups());
    if !fits {
        return Err(Error::Shape("rows, groups and tables do not fit together".into()));
    }
    let found: Vec<Vec<Guess>> = groups
        .par_iter()
        .map(|group| {
            cancel.check()?;
            search_of(tables, *group as usize, published)
        })
        .collect::<Result<_>>()?;
    Ok(found.concat())
}

fn search_of(tables: &Tables, group: usize, published: Published) -> Result<Vec<Guess>> {
    let Published { rows, own, repair, blocks } = published;
    let offers = |attribute: usize, code: i32| tables.entry(group, attribute).columns.binary_search(&code).is_ok();
    let is_offered = |row: &usize| rows.record(*row).iter().enumerate().all(|(a, code)| offers(a, *code));
    let candidates: Vec<usize> = (0..rows.records()).filter(is_offered).collect();
    let tuples: Vec<i32> = candidates.iter().flat_map(|row| rows.record(*row)).copied().collect();
    let likely = likelihoods(tables, group, &tuples, repair, blocks)?;
    let of_record = |record: usize| {
        let scores = &likely[record * candidates.len()..(record + 1) * candidates.len()];
        let total: f64 = scores.iter().sum();
        if total <= 0.0 {
            return Guess { hit: 0.0, own: 0.0, largest: 0.0 };
        }
        let largest = scores.iter().copied().fold(0.0, f64::max);
        let ties = scores.iter().filter(|score| **score >= largest * (1.0 - TIE)).count();
        let row = own[tables.starts[group] + record];
        let score = candidates.binary_search(&(row.max(0) as usize)).map_or(0.0, |place| scores[place]);
        let hit = if score >= largest * (1.0 - TIE) { 1.0 / ties as f64 } else { 0.0 };
        Guess { hit, own: score / total, largest: largest / total }
    };
    Ok((0..tables.starts[group + 1] - tables.starts[group]).map(of_record).collect())
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

    #[test]
    fn rows_of_other_groups_are_told_apart_where_tables_differ() {
        // Two groups of two, tight: ages 0 1 and 2 3. Each record's own row is one of two as likely.
        let distances = [Distance::line(vec![0.0, 1.0, 2.0, 3.0], false).unwrap()];
        let terms = Terms { delta: None, cover: Cover::Balanced, columns: Columns::Observed, asks: &[] };
        let quiet = Cancel::default();
        let all = Codes::new(&[0, 1, 2, 3], 1).unwrap();
        let tables = Tables::calculate(all, &[0, 1, 2, 3], &[0, 2, 4], &distances, terms, &quiet).unwrap();
        let (rows, blocks) = (Codes::new(&[3, 2, 1, 0], 1).unwrap(), Blocks::new(vec![], 1).unwrap());
        let published = Published { rows, own: &[3, 2, 1, 0], repair: 0, blocks: &blocks };
        let found = search_rows(&tables, &[0, 1], published, &quiet);
        assert_eq!(found.unwrap(), vec![Guess { hit: 0.5, own: 0.5, largest: 0.5 }; 4]);
    }
}
