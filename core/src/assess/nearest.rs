//! Nearest-record linkage: the released rows at the smallest summed distance from a record, without looking at all.
//!
//! Rows stand in a tree of halves; each node knows which codes occur below it on each attribute, which gives a lower
//! bound of the distance to any of its rows, and what cannot beat the best row so far is never entered. A released
//! span is as near as its nearest value.

use rayon::prelude::*;

use super::Pair;
use super::forest::{Forest, Nearest};
use crate::distance::Distance;
use crate::{Cancel, Error, Result};

/// Sums of distances within this are ties: the order of additions must not decide who is nearest.
pub const TIE: f64 = 1e-9;

/// Which rows may be the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All.
    All,
    /// Those that differ from the record: whoever knows that an exact match is wrong leaves it out.
    Different,
}

/// What the nearest rows of some records are.
#[derive(Debug, Default)]
pub struct Found {
    /// The distance to the nearest row; infinite if there is none.
    pub distance: Vec<f64>,
    /// How many rows are so near.
    pub ties: Vec<u32>,
    /// Whether the record's own row is one of them.
    pub has_own: Vec<bool>,
    /// The share of them with the record's sensitive value, one a sensitive attribute.
    pub alike: Vec<f64>,
}

/// Finds the nearest rows of `targets` among the rows of their own block: `row_blocks` and `record_blocks` number
/// what else is known to be equal.
///
/// # Errors
/// [`Error::Shape`], [`Error::Cancelled`].
pub fn find_nearest(
    pair: &Pair,
    distances: &[Distance],
    (row_blocks, record_blocks): (&[i64], &[i64]),
    targets: &[i64],
    among: Among,
    cancel: &Cancel,
) -> Result<Found> {
    pair.check()?;
    let (records, rows) = (pair.original.records(), pair.low.records());
    let fits = distances.len() == pair.original.attributes()
        && row_blocks.len() == rows
        && record_blocks.len() == records
        && targets.iter().all(|t| *t >= 0 && (*t as usize) < records);
    let within = |code: &i32, d: &Distance| (*code as usize) < d.size();
    let has_codes = (0..records).all(|r| pair.original.record(r).iter().zip(distances).all(|(c, d)| within(c, d)))
        && (0..rows).all(|r| pair.low.record(r).iter().zip(distances).all(|(c, d)| within(c, d)))
        && (0..rows).all(|r| pair.high.record(r).iter().zip(distances).all(|(c, d)| *c < d.size() as i32));
    if !fits || !has_codes {
        return Err(Error::Shape("blocks, targets or codes do not fit the tables".into()));
    }
    let forest = Forest::new(pair, distances, row_blocks, cancel)?;
    let parts: Vec<Vec<Nearest>> = targets
        .par_chunks(64)
        .map(|part| {
            cancel.check()?;
            Ok(part.iter().map(|t| forest.nearest(*t as usize, record_blocks[*t as usize], among)).collect())
        })
        .collect::<Result<_>>()?;
    let mut found = Found::default();
    for nearest in parts.into_iter().flatten() {
        found.distance.push(nearest.distance);
        found.ties.push(nearest.ties);
        found.has_own.push(nearest.has_own);
        found.alike.extend(nearest.alike);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Codes;
    use crate::stream::{Key, Step, Stream};

    const RECORDS: usize = 300;

    /// Random codes on a line of 70, a tree of 5 with a missing value, and an own matrix of 4.
    fn world() -> (Vec<Distance>, Vec<i32>, Vec<i32>, Vec<i32>) {
        let matrix: Vec<f64> = (0..16).map(|i| f64::from((i / 4_i32 - i % 4).pow(2) % 5)).collect();
        let distances = vec![
            Distance::line((0..70).map(f64::from).collect(), false).unwrap(),
            Distance::tree(vec![0.5, 1.0, 0.5, 1.0], 5, true).unwrap(),
            Distance::matrix(matrix, 4, false).unwrap(),
        ];
        let mut stream = Stream::new(&Key::new([1; 32]), 0, 0, Step::Generate);
        let mut codes =
            || -> Vec<i32> { (0..RECORDS).flat_map(|_| [70, 6, 4].map(|size| stream.below(size) as i32)).collect() };
        let (original, low) = (codes(), codes());
        let high = low.iter().zip(codes()).map(|(low, other)| if other % 3 == 0 { *low.max(&other) } else { *low });
        let high = high.collect();
        (distances, original, low, high)
    }

    #[test]
    fn the_tree_finds_what_a_look_at_every_row_finds() {
        let (distances, original, low, high) = world();
        let own: Vec<i64> = (0..RECORDS as i64).collect();
        let blocks: Vec<i64> = (0..RECORDS as i64).map(|r| r % 3).collect();
        let sensitive: Vec<i32> = (0..RECORDS as i32).map(|r| r % 7).collect();
        let pair = Pair {
            original: Codes::new(&original, 3).unwrap(),
            low: Codes::new(&low, 3).unwrap(),
            high: Codes::new(&high, 3).unwrap(),
            row: &own,
            sensitive: Codes::new(&sensitive, 1).unwrap(),
            released: Codes::new(&sensitive, 1).unwrap(),
        };
        let between = |record: usize, row: usize| -> f64 {
            let to_span = |a: usize| {
                let span = low[row * 3 + a]..=high[row * 3 + a];
                span.map(|code| distances[a].between(original[record * 3 + a], code)).fold(1.0, f64::min)
            };
            (0..3).map(to_span).sum()
        };
        for among in [Among::All, Among::Different] {
            let found = find_nearest(&pair, &distances, (&blocks, &blocks), &own, among, &Cancel::default()).unwrap();
            for record in 0..RECORDS {
                let far: Vec<(usize, f64)> = (0..RECORDS)
                    .filter(|row| blocks[*row] == blocks[record])
                    .map(|row| (row, between(record, row)))
                    .filter(|(_, d)| among == Among::All || *d > TIE)
                    .collect();
                let least = far.iter().map(|(_, d)| *d).fold(f64::INFINITY, f64::min);
                let ties: Vec<usize> = far.iter().filter(|(_, d)| *d <= least + TIE).map(|(row, _)| *row).collect();
                let alike = ties.iter().filter(|row| sensitive[**row] == sensitive[record]).count();
                assert!((found.distance[record] - least).abs() < 1e-12);
                assert_eq!(found.ties[record] as usize, ties.len());
                assert_eq!(found.has_own[record], ties.contains(&record));
                assert_eq!(found.alike[record], alike as f64 / ties.len() as f64);
            }
        }
    }
}
