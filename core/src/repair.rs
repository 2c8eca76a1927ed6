//! Algorithm 2: tuples that kept every quasi-identifier are perturbed, so that an exact match is certainly wrong.

use rayon::prelude::*;

use crate::batch::Tables;
use crate::stream::{Key, Step, Stream};
use crate::{Cancel, Error, Result};

/// What a repair did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The codes after repair, in the batch's order.
    pub codes: Vec<i32>,
    /// Unchanged tuples that were perturbed.
    pub repaired: usize,
    /// Unchanged tuples in groups whose records are all equal: nothing in the group differs from them.
    pub unrepairable: usize,
}

/// Perturbs unchanged tuples of `drawn` until `repair` values differ, or as many as the group has attributes that vary.
///
/// # Errors
/// [`Error::Shape`] if `drawn` does not fit the tables, [`Error::Cancelled`].
pub fn randomize_unchanged_tuples(
    tables: &Tables,
    drawn: &[i32],
    key: &Key,
    first_group: u64,
    repair: usize,
    cancel: &Cancel,
) -> Result<Repaired> {
    if drawn.len() != tables.codes.len() {
        return Err(Error::Shape("the drawn codes are not those of these tables".into()));
    }
    let groups: Vec<Repaired> = (0..tables.groups())
        .into_par_iter()
        .map(|group| {
            cancel.check()?;
            let cells = tables.starts[group] * tables.attributes..tables.starts[group + 1] * tables.attributes;
            Ok(repair_group(tables, group, drawn[cells].to_vec(), key, first_group + group as u64, repair))
        })
        .collect::<Result<_>>()?;
    let mut all = Repaired::default();
    for group in groups {
        all.codes.extend(group.codes);
        all.repaired += group.repaired;
        all.unrepairable += group.unrepairable;
    }
    Ok(all)
}

fn repair_group(tables: &Tables, group: usize, codes: Vec<i32>, key: &Key, address: u64, repair: usize) -> Repaired {
    let mut result = Repaired { codes, ..Repaired::default() };
    let weights = weights_of(tables, group);
    let wanted = repair.min(weights.iter().filter(|weight| **weight > 0.0).count());
    let mut stream = Stream::new(key, address, 0, Step::Repair);
    let originals = tables.group_codes(group).chunks_exact(tables.attributes);
    for (tuple, original) in result.codes.chunks_exact_mut(tables.attributes).zip(originals) {
        // Line 2: pick_unchanged.
        if repair == 0 || tuple != original {
            continue;
        }
        if wanted == 0 {
            result.unrepairable += 1;
            continue;
        }
        result.repaired += 1;
        // Line 4: check_unchanged.
        while tuple.iter().zip(original).filter(|(a, b)| a != b).count() < wanted {
            let attribute = choose_attribute(&weights, &mut stream);
            let columns = &tables.entry(group, attribute).columns;
            tuple[attribute] = columns[stream.below(columns.len() as u64) as usize];
        }
    }
    result
}

/// Line 1: dis_max(attribute, group) / dis_max(attribute, T), which distances already are.
pub(crate) fn weights_of(tables: &Tables, group: usize) -> Vec<f64> {
    let width = |attribute: usize| {
        let distance = &tables.distances[attribute];
        let rows = &tables.entry(group, attribute).rows;
        distance.width(distance.span(rows.iter().copied()), rows.iter().copied())
    };
    (0..tables.attributes).map(width).collect()
}

/// Line 5: an attribute by its weight; one of weight zero is never chosen.
fn choose_attribute(weights: &[f64], stream: &mut Stream) -> usize {
    let mut left = stream.unit() * weights.iter().sum::<f64>();
    let mut last = 0;
    for (attribute, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        last = attribute;
        if left < *weight {
            break;
        }
        left -= weight;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Codes;
    use crate::batch::{Columns, Terms};
    use crate::cover::Cover;
    use crate::distance::Distance;

    fn repaired(codes: &[i32], repair: usize) -> Repaired {
        let distances =
            vec![Distance::line(vec![1.0, 2.0, 3.0], false).unwrap(), Distance::tree(vec![1.0], 2, false).unwrap()];
        let records = codes.len() as i64 / 2;
        let order: Vec<i64> = (0..records).collect();
        let terms = Terms { delta: None, cover: Cover::Balanced, columns: Columns::Observed, asks: &[] };
        let all = Codes::new(codes, 2).unwrap();
        let tables = Tables::calculate(all, &order, &[0, records], &distances, terms, &Cancel::default()).unwrap();
        randomize_unchanged_tuples(&tables, codes, &Key::new([5; 32]), 0, repair, &Cancel::default()).unwrap()
    }

    #[test]
    fn no_tuple_is_left_unchanged() {
        // The second attribute is constant in the group: only the first can differ, even if two are asked for.
        let codes = [0, 1, 1, 1, 2, 1];
        let result = repaired(&codes, 2);
        assert_eq!((result.repaired, result.unrepairable), (3, 0));
        assert!(result.codes.chunks(2).zip(codes.chunks(2)).all(|(a, b)| a[0] != b[0] && a[1] == b[1]));
    }

    #[test]
    fn a_group_of_equal_records_is_counted_and_left() {
        let result = repaired(&[1, 0, 1, 0], 1);
        assert_eq!((result.unrepairable, result.codes), (2, vec![1, 0, 1, 0]));
    }

    #[test]
    fn repair_off_changes_nothing() {
        assert_eq!(repaired(&[0, 0, 1, 1], 0).codes, vec![0, 0, 1, 1]);
    }
}
