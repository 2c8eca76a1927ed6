//! How likely a record of a group is to become each of its rows: its rows of the random output tables, and
//! Algorithm 2, which moves the mass of the unchanged tuple elsewhere (docs/algebra/informed.md).

use std::collections::BTreeMap;

use crate::batch::{Entry, Tables};
use crate::coupling::{Blocks, nearest_first};
use crate::repair::weights_of;
use crate::{Error, Result};

/// Sets of changed attributes that Algorithm 2 may pass through before the answer would be too long in coming.
const MOST_SETS: usize = 4096;

/// P(record i becomes row j) of one group, record by record. Rows are `released`, record by record of the group;
/// attributes of one of the `blocks` share a random number.
///
/// # Errors
/// [`Error::Shape`] for a repair of so many values among so many attributes that it cannot be followed.
pub fn likelihoods(
    tables: &Tables,
    group: usize,
    released: &[i32],
    repair: usize,
    blocks: &Blocks,
) -> Result<Vec<f64>> {
    let width = tables.attributes;
    let originals = tables.group_codes(group);
    let (records, rows) = (originals.len() / width, released.len() / width);
    let mut likely = vec![1.0; records * rows];
    let mut unchanged = vec![1.0; records];
    for block in blocks.iter() {
        // Where on the way from 0 to 1 the shared number may lie.
        let mut within = vec![(0.0, 1.0); records * rows];
        let mut kept = vec![1.0_f64; records];
        for attribute in block {
            let entry = tables.entry(group, *attribute);
            let spans: Vec<Vec<(f64, f64)>> =
                (0..entry.rows.len()).map(|row| spans_of(tables, entry, *attribute, row)).collect();
            let column = |code: &i32| entry.columns.binary_search(code).ok();
            let columns: Vec<Option<usize>> = released.iter().skip(*attribute).step_by(width).map(column).collect();
            for record in 0..records {
                let own = originals[record * width + attribute];
                let spans = &spans[entry.row_of(own)];
                let span = |column: Option<usize>| column.map_or((0.0, 0.0), |column| spans[column]);
                let (from, to) = span(column(&own));
                kept[record] = kept[record].min(to - from);
                for (cell, column) in within[record * rows..(record + 1) * rows].iter_mut().zip(&columns) {
                    let (from, to) = span(*column);
                    *cell = (from.max(cell.0), to.min(cell.1));
                }
            }
        }
        likely.iter_mut().zip(&within).for_each(|(likely, (from, to))| *likely *= (to - from).max(0.0));
        unchanged.iter_mut().zip(&kept).for_each(|(unchanged, kept)| *unchanged *= kept);
    }
    let Some(moved) = Repair::new(tables, group, repair)? else {
        return Ok(likely);
    };
    for (record, original) in originals.chunks_exact(width).enumerate() {
        for (j, tuple) in released.chunks_exact(width).enumerate() {
            let cell = &mut likely[record * rows + j];
            *cell = if original == tuple { 0.0 } else { *cell + unchanged[record] * moved.chance(original, tuple) };
        }
    }
    Ok(likely)
}

/// The part of [0, 1) that each column of a row has in a draw: its own value first, then the others by distance, so
/// that a record keeps all attributes of a block where the number is small.
fn spans_of(tables: &Tables, entry: &Entry, attribute: usize, row: usize) -> Vec<(f64, f64)> {
    let (numerators, total) = (entry.table.row(row), entry.table.total() as f64);
    let mut spans = vec![(0.0, 0.0); numerators.len()];
    let mut reached = 0_u64;
    for column in nearest_first(entry.rows[row], entry, &tables.distances[attribute]) {
        let from = reached;
        reached += numerators[column];
        spans[column] = (from as f64 / total, reached as f64 / total);
    }
    spans
}

/// Where Algorithm 2 sends an unchanged tuple of one group.
struct Repair<'a> {
    /// The probability that exactly these attributes (bits) differ in the end.
    changed: BTreeMap<u64, f64>,
    /// The values each attribute may take.
    columns: Vec<&'a [i32]>,
}

impl<'a> Repair<'a> {
    /// `None` where nothing is repaired: it is off, or all records of the group are equal.
    fn new(tables: &'a Tables, group: usize, repair: usize) -> Result<Option<Self>> {
        let weights = weights_of(tables, group);
        let varying = weights.iter().filter(|weight| **weight > 0.0).count();
        if repair == 0 || varying == 0 {
            return Ok(None);
        }
        let columns: Vec<&[i32]> = (0..tables.attributes).map(|a| &tables.entry(group, a).columns[..]).collect();
        let counts: Vec<f64> = columns.iter().map(|values| values.len() as f64).collect();
        Ok(Some(Repair { changed: changed_sets(&weights, &counts, repair.min(varying))?, columns }))
    }

    /// P(an unchanged `original` becomes `tuple`): the set that changed, then any other value in each of its
    /// attributes, all as likely.
    fn chance(&self, original: &[i32], tuple: &[i32]) -> f64 {
        let cells = original.iter().zip(tuple).zip(&self.columns).enumerate();
        let (mut set, mut values) = (0_u64, 1.0);
        for (attribute, ((_, code), columns)) in cells.filter(|(_, ((a, b), _))| a != b) {
            set |= 1 << attribute;
            let others = columns.len() as f64 - 1.0;
            values *= if columns.binary_search(code).is_ok() { others.recip() } else { 0.0 };
        }
        self.changed.get(&set).map_or(0.0, |chance| chance * values)
    }
}

/// Which `wanted` attributes differ when Algorithm 2 stops. Each step draws an attribute by weight and one of its c
/// values: it differs from the original with (c - 1)/c, so that the set of changed attributes is a Markov chain. With
/// one wanted, the first change ends it: the chance of an attribute is w (c - 1)/c over the sum of those.
fn changed_sets(weights: &[f64], columns: &[f64], wanted: usize) -> Result<BTreeMap<u64, f64>> {
    let varying: Vec<usize> = (0..weights.len()).filter(|a| weights[*a] > 0.0).collect();
    if wanted == varying.len() {
        return Ok([(varying.iter().fold(0, |set, a| set | 1 << a), 1.0)].into());
    }
    let mut ended = BTreeMap::new();
    let mut open: BTreeMap<u64, f64> = [(0, 1.0)].into();
    // The steps that change nothing are left out; they delay the end and do not alter it.
    while open.values().sum::<f64>() > 1e-15 {
        let mut next = BTreeMap::new();
        for (set, chance) in open {
            let rate = |a: &usize| {
                let outcomes = if set >> a & 1 == 1 { 1.0 } else { columns[*a] - 1.0 };
                weights[*a] * outcomes / columns[*a]
            };
            let total: f64 = varying.iter().map(rate).sum();
            for attribute in &varying {
                let after = set ^ (1 << attribute);
                let target = if after.count_ones() as usize == wanted { &mut ended } else { &mut next };
                *target.entry(after).or_insert(0.0) += chance * rate(attribute) / total;
            }
        }
        if next.len() > MOST_SETS {
            return Err(Error::Shape(format!("repair of {wanted} values in so many attributes cannot be followed")));
        }
        open = next;
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Columns, Terms};
    use crate::coupling::Blocks;
    use crate::cover::Cover;
    use crate::distance::Distance;
    use crate::draw::{Draw, output_values};
    use crate::repair::randomize_unchanged_tuples;
    use crate::stream::Key;
    use crate::table::Delta;
    use crate::{Cancel, Codes};

    #[test]
    fn one_change_falls_on_an_attribute_by_weight_and_values() {
        // w (c - 1)/c: 1 * 1/2 and .5 * 2/3 = 1/3: 3/5 and 2/5. The third attribute has weight 0.
        let changed = changed_sets(&[1.0, 0.5, 0.0], &[2.0, 3.0, 1.0], 1).unwrap();
        assert!((changed[&1] - 0.6).abs() < 1e-15 && (changed[&2] - 0.4).abs() < 1e-15);
        assert_eq!(changed_sets(&[1.0, 0.5, 0.0], &[2.0, 3.0, 1.0], 2).unwrap(), [(3, 1.0)].into());
    }

    #[test]
    fn the_likelihood_is_how_often_it_happens() {
        // Three records, three attributes; 20,000 runs of lines 5, 6 and Algorithm 2 beside the likelihood of every
        // tuple, with and without a block, within 6 standard deviations (at most .0123).
        let distances: Vec<Distance> = (0..3).map(|_| Distance::line(vec![1.0, 2.0, 3.0], false).unwrap()).collect();
        let codes = [0, 1, 0, 1, 1, 2, 2, 0, 2];
        let terms = Terms {
            delta: Some(Delta::new(1, 2).unwrap()),
            cover: Cover::Cheapest,
            columns: Columns::Domain,
            asks: &[],
        };
        let all = Codes::new(&codes, 3).unwrap();
        let order: Vec<i64> = (0..3).cycle().take(60_000).collect();
        let starts: Vec<i64> = (0..=20_000).map(|g| g * 3).collect();
        let quiet = Cancel::default();
        let tables = Tables::calculate(all, &order, &starts, &distances, terms, &quiet).unwrap();
        let key = Key::new([4; 32]);
        for (named, repair) in [(vec![], 0), (vec![], 1), (vec![], 2), (vec![vec![0, 2]], 0), (vec![vec![0, 2]], 1)] {
            let blocks = Blocks::new(named, 3).unwrap();
            let drawn = output_values(&tables, &key, 0, Draw::Independent, &blocks, &quiet).unwrap();
            let released = randomize_unchanged_tuples(&tables, &drawn, &key, 0, repair, &quiet).unwrap().codes;
            let tuples: Vec<[i32; 3]> = (0..27).map(|i| [i / 9, i / 3 % 3, i % 3]).collect();
            let likely = likelihoods(&tables, 0, &tuples.concat(), repair, &blocks).unwrap();
            for record in 0..3 {
                let row = &likely[record * 27..(record + 1) * 27];
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                for (tuple, expected) in tuples.iter().zip(row) {
                    let hits = released.chunks_exact(9).filter(|g| g[record * 3..record * 3 + 3] == *tuple).count();
                    let deviation = (expected * (1.0 - expected) / 20_000.0).sqrt();
                    assert!((hits as f64 / 20_000.0 - expected).abs() <= 6.0 * deviation + 1e-12);
                }
            }
        }
    }
}
