//! Attributes of one block drawn together: each attribute's table is untouched, and so are associations inside a block.
//!
//! Controlled draws of a tight balanced table are a random permutation of the group's values; a block permutes whole
//! combinations, so that every matching of rows to members stays equally likely (docs/algebra/provable.md). With other
//! tables the attributes of a record share one random number, along which each lays its own value first and the
//! others by distance: a record tends to keep or to change the whole block.

use crate::batch::{Entry, Tables};
use crate::distance::Distance;
use crate::stream::Stream;
use crate::{Error, Result};

/// Sets of attributes that are drawn together; an attribute in none of them is drawn alone.
#[derive(Clone, Debug, Default)]
pub struct Blocks(Vec<Vec<usize>>);

impl Blocks {
    /// Every attribute in one block, in ascending order of their first ones.
    ///
    /// # Errors
    /// [`Error::Shape`] for an attribute that is named twice or does not exist.
    pub fn new(named: Vec<Vec<usize>>, attributes: usize) -> Result<Self> {
        let mut seen = vec![false; attributes];
        for attribute in named.iter().flatten() {
            match seen.get_mut(*attribute) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(Error::Shape("blocks name an attribute twice, or one that does not exist".into())),
            }
        }
        let alone = (0..attributes).filter(|attribute| !seen[*attribute]).map(|attribute| vec![attribute]);
        let mut blocks: Vec<Vec<usize>> = named.into_iter().filter(|block| !block.is_empty()).chain(alone).collect();
        blocks.iter_mut().for_each(|block| block.sort_unstable());
        blocks.sort_unstable();
        Ok(Blocks(blocks))
    }

    /// The blocks, each ascending.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.0.iter().map(Vec::as_slice)
    }
}

/// Whole combinations of a block, permuted over the group: `released` gets them, record by record.
///
/// # Errors
/// [`Error::Shape`] if a table of the block is not tight and balanced.
pub(crate) fn permute(
    tables: &Tables,
    group: usize,
    block: &[usize],
    stream: &mut Stream,
    released: &mut [i32],
) -> Result<()> {
    let keeps_counts = |entry: &Entry| entry.table.is_equal_rows() && entry.table.row(0) == entry.multiplicities;
    if !block
        .iter()
        .all(|attribute| is_constant(tables.entry(group, *attribute)) || keeps_counts(tables.entry(group, *attribute)))
    {
        return Err(Error::Shape("controlled draws of a block need tables that are tight and balanced".into()));
    }
    let original = tables.group_codes(group);
    let mut order: Vec<usize> = (0..original.len() / tables.attributes).collect();
    stream.shuffle(&mut order);
    for (record, from) in order.into_iter().enumerate() {
        for attribute in block {
            released[record * tables.attributes + attribute] = original[from * tables.attributes + attribute];
        }
    }
    Ok(())
}

fn is_constant(entry: &Entry) -> bool {
    entry.columns.len() == 1
}

/// One random number a record for all attributes of a block.
pub(crate) fn share(tables: &Tables, group: usize, block: &[usize], stream: &mut Stream, released: &mut [i32]) {
    let original = tables.group_codes(group);
    let orders: Vec<Vec<Vec<usize>>> = block
        .iter()
        .map(|attribute| {
            let entry = tables.entry(group, *attribute);
            entry.rows.iter().map(|row| nearest_first(*row, entry, &tables.distances[*attribute])).collect()
        })
        .collect();
    for record in 0..original.len() / tables.attributes {
        let bits = stream.bits();
        for (attribute, orders) in block.iter().zip(&orders) {
            let entry = tables.entry(group, *attribute);
            let place = record * tables.attributes + attribute;
            let row = entry.row_of(original[place]);
            released[place] = entry.columns[along(entry, row, &orders[row], bits)];
        }
    }
}

/// Columns by distance from a value, its own first.
pub(crate) fn nearest_first(code: i32, entry: &Entry, distance: &Distance) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entry.columns.len()).collect();
    let apart = |column: &usize| distance.between(code, entry.columns[*column]);
    order.sort_by(|a, b| {
        let is_other = |column: &usize| entry.columns[*column] != code;
        is_other(a).cmp(&is_other(b)).then(apart(a).total_cmp(&apart(b)))
    });
    order
}

/// The column that a share of the whole, given by 64 random bits, falls into. A total of 2^48 divides 2^64, so that
/// p_ij stays exact; the totals of closed forms are below 2^32, and no p_ij is off by more than 2^-32 of itself.
fn along(entry: &Entry, row: usize, order: &[usize], bits: u64) -> usize {
    let mut left = (u128::from(bits) * u128::from(entry.table.total())) >> 64;
    let numerators = entry.table.row(row);
    for column in order {
        let here = u128::from(numerators[*column]);
        if left < here {
            return *column;
        }
        left -= here;
    }
    order[order.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Columns, Terms};
    use crate::cover::Cover;
    use crate::draw::{Draw, output_values};
    use crate::stream::Key;
    use crate::table::Delta;
    use crate::{Cancel, Codes};

    fn drawn(codes: &[i32], named: Vec<Vec<usize>>, delta: Option<Delta>, draw: Draw, group: u64) -> Result<Vec<i32>> {
        let line = || Distance::line(vec![1.0, 2.0, 3.0, 4.0], false).unwrap();
        let distances = vec![line(), line()];
        let records = codes.len() as i64 / 2;
        let order: Vec<i64> = (0..records).collect();
        let cover = if delta.is_some() { Cover::Cheapest } else { Cover::Balanced };
        let terms = Terms { delta, cover, columns: Columns::Observed, asks: &[] };
        let all = Codes::new(codes, 2).unwrap();
        let tables = Tables::calculate(all, &order, &[0, records], &distances, terms, &Cancel::default()).unwrap();
        let blocks = Blocks::new(named, 2).unwrap();
        output_values(&tables, &Key::new([7; 32]), group, draw, &blocks, &Cancel::default())
    }

    #[test]
    fn a_block_of_a_tight_group_permutes_whole_combinations() {
        let codes = [0, 0, 1, 1, 2, 2, 3, 3];
        let mut moved = 0;
        for group in 0..50 {
            let released = drawn(&codes, vec![vec![1, 0]], None, Draw::Controlled, group).unwrap();
            assert!(released.chunks(2).all(|pair| pair[0] == pair[1]));
            moved += i32::from(released != codes);
        }
        // Each group stays as it is with probability 1/24: never to move would have 24^-50.
        assert!(moved > 0);
    }

    #[test]
    fn a_record_keeps_or_changes_a_block_together_and_each_table_stays() {
        // 28 28 29 twice at 1/2: equal tables and one random number give equal values; 28 becomes 29 with .29105, so
        // 1,164 times of 4,000, +- 6 standard deviations (29 each).
        let mut changed = 0_i32;
        for group in 0..4_000 {
            let codes = [0, 0, 0, 0, 1, 1];
            let half = Delta::new(1, 2).unwrap();
            let released = drawn(&codes, vec![vec![0, 1]], Some(half), Draw::Independent, group).unwrap();
            assert!(released.chunks(2).all(|pair| pair[0] == pair[1]));
            changed += released[0];
        }
        assert!((changed - 1_164).abs() < 173, "{changed}");
    }

    #[test]
    fn a_controlled_block_without_equal_rows_is_refused() {
        let codes = [0, 0, 1, 1, 2, 2, 3, 3];
        let refused = drawn(&codes, vec![vec![0, 1]], Some(Delta::new(1, 2).unwrap()), Draw::Controlled, 1);
        assert!(matches!(refused, Err(Error::Shape(_))));
    }

    #[test]
    fn an_attribute_stands_in_one_block() {
        assert!(Blocks::new(vec![vec![0, 1], vec![1]], 3).is_err() && Blocks::new(vec![vec![3]], 3).is_err());
        let blocks = Blocks::new(vec![vec![2, 0]], 4).unwrap();
        assert_eq!(blocks.iter().collect::<Vec<_>>(), vec![&[0, 2][..], &[1], &[3]]);
    }
}
