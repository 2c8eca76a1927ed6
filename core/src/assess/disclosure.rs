//! Disclosure (Section 5.1): for each set of known attributes, how many rows equal a record there, whether its own is
//! among them, and how many of them have its sensitive value.

use super::Pair;
use super::classes::{Classes, NONE};
use super::covering;
use crate::{Cancel, Codes, Error, Result};

/// Sums over records for one set of known attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// Σ 1/matches of records whose own row is among the matches.
    pub identity: f64,
    /// Records whose one match is their own row.
    pub singled: f64,
    /// Σ share of the matches that have the own sensitive value, one sum a sensitive attribute.
    pub attribute: Vec<f64>,
}

impl Sums {
    /// Adds the sums of other records.
    pub fn add(&mut self, other: &Sums) {
        self.identity += other.identity;
        self.singled += other.singled;
        self.attribute.resize(other.attribute.len(), 0.0);
        self.attribute.iter_mut().zip(&other.attribute).for_each(|(a, b)| *a += b);
    }
}

/// The sums for each of `masks`, sets of known attributes as bits, ascending; over all of `targets`.
///
/// # Errors
/// [`Error::Shape`], [`Error::Cancelled`].
pub fn disclose(pair: &Pair, masks: &[u64], targets: &[i64], cancel: &Cancel) -> Result<Vec<Sums>> {
    pair.check()?;
    let attributes = pair.original.attributes();
    let are_masks = masks.windows(2).all(|m| m[0] < m[1]) && masks.iter().all(|m| *m > 0 && m >> attributes == 0);
    if !are_masks || targets.iter().any(|t| *t < 0 || *t as usize >= pair.original.records()) {
        return Err(Error::Shape("masks must ascend and name attributes, targets must be records".into()));
    }
    if !pair.is_plain() {
        return covering::disclose(pair, masks, targets, cancel);
    }
    let sizes = |left: Codes, right: Codes| -> Vec<usize> {
        let largest = |codes: Codes, a| (0..codes.records()).map(|r| codes.get(r, a)).max().unwrap_or(0);
        (0..left.attributes()).map(|a| largest(left, a).max(largest(right, a)) as usize + 1).collect()
    };
    let search = Search {
        pair,
        targets,
        sizes: sizes(pair.original, pair.low),
        sensitive_sizes: sizes(pair.sensitive, pair.released),
        cancel,
    };
    let whole = Classes::whole(pair.low.records(), targets.len());
    let mut found = search.descend(&whole, 0, masks)?;
    found.sort_unstable_by_key(|(mask, _)| *mask);
    Ok(found.into_iter().map(|(_, sums)| sums).collect())
}

struct Search<'a> {
    pair: &'a Pair<'a>,
    targets: &'a [i64],
    sizes: Vec<usize>,
    sensitive_sizes: Vec<usize>,
    cancel: &'a Cancel,
}

impl Search<'_> {
    /// All masks at once, as a walk down the tree of their bits: each refines the classes of a smaller one.
    fn descend(&self, classes: &Classes, attribute: usize, masks: &[u64]) -> Result<Vec<(u64, Sums)>> {
        self.cancel.check()?;
        let Some(mask) = masks.first() else {
            return Ok(Vec::new());
        };
        if attribute == self.sizes.len() {
            return Ok(vec![(*mask, self.sums(classes))]);
        }
        let (with, without): (Vec<u64>, Vec<u64>) = masks.iter().partition(|mask| *mask >> attribute & 1 == 1);
        let deeper = || {
            if with.is_empty() {
                return Ok(Vec::new());
            }
            let refined = classes.refined(
                self.sizes[attribute],
                |row| self.pair.low.get(row, attribute),
                |target| self.pair.original.get(self.targets[target] as usize, attribute),
            );
            self.descend(&refined, attribute + 1, &with)
        };
        let (left, right) = rayon::join(deeper, || self.descend(classes, attribute + 1, &without));
        let mut found = left?;
        found.extend(right?);
        Ok(found)
    }

    fn sums(&self, classes: &Classes) -> Sums {
        let counts = classes.counts();
        let mut sums = Sums::default();
        for (target, class) in self.targets.iter().zip(&classes.records) {
            let is_own = |row: usize| *class != NONE && classes.rows[row] == *class;
            if self.pair.row_of(*target as usize).is_some_and(is_own) {
                let matches = counts[*class as usize];
                sums.identity += 1.0 / f64::from(matches);
                sums.singled += f64::from(u8::from(matches == 1));
            }
        }
        for (place, size) in self.sensitive_sizes.iter().enumerate() {
            let alike = classes.refined(
                *size,
                |row| self.pair.released.get(row, place),
                |target| self.pair.sensitive.get(self.targets[target] as usize, place),
            );
            let fitting = alike.counts();
            let share = |(class, both): (&u32, &u32)| {
                if *both == NONE {
                    0.0
                } else {
                    f64::from(fitting[*both as usize]) / f64::from(counts[*class as usize])
                }
            };
            sums.attribute.push(classes.records.iter().zip(&alike.records).map(share).sum());
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two attributes, one sensitive; the release kept the first attribute of all and the second of some.
    fn sums(low: &[i32], high: &[i32]) -> Vec<Sums> {
        let original = [0, 0, 0, 1, 1, 1];
        let pair = Pair {
            original: Codes::new(&original, 2).unwrap(),
            low: Codes::new(low, 2).unwrap(),
            high: Codes::new(high, 2).unwrap(),
            row: &[0, 1, 2],
            sensitive: Codes::new(&[5, 5, 6], 1).unwrap(),
            released: Codes::new(&[5, 5, 6], 1).unwrap(),
        };
        disclose(&pair, &[1, 2, 3], &[0, 1, 2], &Cancel::default()).unwrap()
    }

    #[test]
    fn disclosure_of_a_hand_made_world() {
        // Original (0,0)5 (0,1)5 (1,1)6, released (0,0)5 (0,0)5 (1,1)6.
        // First known: records 0 and 1 match two rows, one their own: 1/2 each; record 2 matches its own: 1.
        // Second known: record 0 matches rows 0, 1: 1/2; record 1 only row 2, not its own, of the other value: 0;
        // record 2 its own. Both: 1/2, none, 1.
        let release = [0, 0, 0, 0, 1, 1];
        let expected = vec![
            Sums { identity: 2.0, singled: 1.0, attribute: vec![3.0] },
            Sums { identity: 1.5, singled: 1.0, attribute: vec![2.0] },
            Sums { identity: 1.5, singled: 1.0, attribute: vec![2.0] },
        ];
        assert_eq!(sums(&release, &release), expected);
    }

    #[test]
    fn a_span_matches_what_it_covers() {
        // The second attribute of rows 0 and 1 is the span 0..1, so that record 0 and 1 match both rows under any
        // set, and record 2 matches rows 0 to 2 where only the second is known: identity 1/3, attribute 1/3.
        let by_hand = sums(&[0, 0, 0, 0, 1, 1], &[0, 1, 0, 1, 1, 1]);
        assert_eq!(by_hand[0], Sums { identity: 2.0, singled: 1.0, attribute: vec![3.0] });
        let third = 1.0 / 3.0;
        assert!((by_hand[1].identity - (0.5 + third + third)).abs() < 1e-15);
        assert!((by_hand[1].attribute[0] - (1.0 + 2.0 * third + third)).abs() < 1e-15);
        assert_eq!(by_hand[2], Sums { identity: 2.0, singled: 1.0, attribute: vec![3.0] });
    }
}
