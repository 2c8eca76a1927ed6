//! How a Mondrian leaf becomes groups: as it is, in Anatomy's buckets, as neighbours along a sweep, or around seeds.

use rayon::prelude::*;

use crate::buckets::Buckets;
use crate::exchange::exchange;
use crate::microdata::Microdata;
use crate::partition::Partition;
use crate::principle::{Form, Principle};
use crate::sampled::sample;
use crate::seeds::Seeds;
use crate::stream::Key;
use crate::{Cancel, Error, Result};

/// How leaves become groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The leaf is the group.
    Leaves,
    /// The leaf is cut into smallest diverse groups, taking from the fullest buckets of equal sensitive value.
    Buckets,
    /// The same eligibility, but each group takes the buckets whose next record comes first along the sweep.
    Neighbours {
        /// Whether the sweep runs over the whole table instead of each leaf.
        whole_table: bool,
    },
    /// The same eligibility, but each group is a record far from the others with the nearest ones to it.
    Seeds {
        /// Whether seeds are sought in the whole table instead of each leaf.
        whole_table: bool,
    },
    /// Runs of a sweep over the whole table, exchanged at random under the key: see [`crate::sampled`].
    Sampled,
}

/// How near groups exchange records after they are formed.
#[derive(Clone, Debug)]
pub struct Exchanges {
    /// How many rounds.
    pub rounds: usize,
    /// How readily [`Grouping::Sampled`] takes what costs more, in mean distances within the first groups.
    pub temperature: f64,
    /// What it draws from.
    pub key: Key,
    /// How many groups, side by side, may be near each other: [`crate::exchange::SHARD`].
    pub shard: usize,
}

impl Grouping {
    /// A grouping by its two names.
    ///
    /// # Errors
    /// [`Error::Shape`] for names that are none.
    pub fn named(grouping: &str, sweep: &str) -> Result<Self> {
        match (grouping, sweep) {
            ("leaves", _) => Ok(Grouping::Leaves),
            ("buckets", _) => Ok(Grouping::Buckets),
            ("neighbours", "leaf") => Ok(Grouping::Neighbours { whole_table: false }),
            ("neighbours", "table") => Ok(Grouping::Neighbours { whole_table: true }),
            ("seeds", "leaf") => Ok(Grouping::Seeds { whole_table: false }),
            ("seeds", "table") => Ok(Grouping::Seeds { whole_table: true }),
            ("sampled", _) => Ok(Grouping::Sampled),
            _ => Err(Error::Shape("no grouping has that name".into())),
        }
    }
}

/// Groups of records: `order` lists the members of group 0, then of group 1, and so on.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// The records, group by group.
    pub order: Vec<u32>,
    /// How many records each group has.
    pub sizes: Vec<usize>,
    /// The leaf that each group comes from.
    pub leaves: Vec<usize>,
}

/// Algorithm 1, line 2: Mondrian, then the grouping, then exchanges between near groups. The
/// result does not depend on the order of the records.
///
/// # Errors
/// [`Error::Shape`] if the table as a whole does not keep the principle, [`Error::Cancelled`].
pub fn divide_table(
    table: &Microdata,
    principle: &Principle,
    grouping: Grouping,
    exchanges: &Exchanges,
    cancel: &Cancel,
) -> Result<Groups> {
    let mut records: Vec<u32> = (0..table.codes.records() as u32).collect();
    if !principle.holds(&table.sensitive, &records, &mut table.sensitive.tally()) {
        return Err(Error::Shape("the table as a whole does not keep the principle".into()));
    }
    if !table.meets_asks(&records) {
        return Err(Error::Shape("a record asks to hide among more records than there are".into()));
    }
    // Taking from buckets keeps the frequency of one attribute; it knows nothing of other principles.
    let one_bucket_each = principle.form == Form::Anonymity || table.sensitive.codes().attributes() == 0;
    let takes = one_bucket_each || principle.form == Form::Frequency && table.sensitive.codes().attributes() == 1;
    let takes = if table.households.is_empty() { takes } else { matches!(grouping, Grouping::Neighbours { .. }) };
    let grouping = if takes { grouping } else { Grouping::Leaves };
    if grouping == Grouping::Sampled {
        return sample(table, records, principle.diversity, exchanges, cancel);
    }
    let leaves = match grouping {
        Grouping::Neighbours { whole_table: true } | Grouping::Seeds { whole_table: true } => vec![records.len()],
        _ => table.divide(&mut records, Some(principle), cancel)?,
    };
    let mut rest = records.as_mut_slice();
    let mut parts: Vec<&mut [u32]> = Vec::with_capacity(leaves.len());
    for size in &leaves {
        let (leaf, later) = std::mem::take(&mut rest).split_at_mut(*size);
        parts.push(leaf);
        rest = later;
    }
    let grouped: Vec<Groups> = parts
        .into_par_iter()
        .map(|leaf| {
            cancel.check()?;
            table.group_leaf(leaf, principle, grouping, one_bucket_each, cancel)
        })
        .collect::<Result<_>>()?;
    let mut all = Groups::default();
    for (leaf, groups) in grouped.into_iter().enumerate() {
        all.leaves.extend(std::iter::repeat_n(leaf, groups.sizes.len()));
        all.order.extend(groups.order);
        all.sizes.extend(groups.sizes);
    }
    if exchanges.rounds > 0 && grouping != Grouping::Leaves && table.households.is_empty() {
        exchange(table, principle.diversity, &mut all, exchanges, cancel)?;
    }
    Ok(all)
}

impl Microdata<'_> {
    fn group_leaf(
        &self,
        leaf: &mut [u32],
        principle: &Principle,
        grouping: Grouping,
        one_bucket_each: bool,
        cancel: &Cancel,
    ) -> Result<Groups> {
        match grouping {
            Grouping::Neighbours { .. } | Grouping::Seeds { .. } => self.sweep(leaf, cancel)?,
            Grouping::Buckets if self.partition == Partition::Program => {
                leaf.sort_unstable_by_key(|record| (self.tags[*record as usize], *record));
            }
            _ => leaf.sort_unstable_by(|a, b| self.canonical(*a).cmp(&self.canonical(*b))),
        }
        if grouping == Grouping::Leaves || !self.households.is_empty() {
            let whole = grouping == Grouping::Leaves;
            let sizes = if whole { vec![leaf.len()] } else { self.runs(leaf, principle) };
            return Ok(Groups { order: leaf.to_vec(), sizes, leaves: Vec::new() });
        }
        let diversity = principle.diversity;
        let bucket_of = if one_bucket_each { (0..leaf.len() as u32).collect() } else { self.buckets(leaf) };
        let mut taken: Vec<Vec<u32>> = Vec::new();
        if let Grouping::Seeds { .. } = grouping {
            let mut seeds = Seeds::new(self, leaf, bucket_of);
            while !seeds.is_done() {
                cancel.check()?;
                taken.push(seeds.take(diversity));
            }
        } else {
            let mut buckets = Buckets::new(bucket_of);
            while !buckets.is_done() {
                taken.push(buckets.take(diversity, grouping == Grouping::Buckets));
            }
        }
        let mut groups = Groups::default();
        for members in self.join_short(leaf, taken) {
            groups.sizes.push(members.len());
            groups.order.extend(members.into_iter().map(|at| leaf[at as usize]));
        }
        Ok(groups)
    }

    /// The sensitive values of a leaf's records, numbered from 0 in their order.
    fn buckets(&self, leaf: &[u32]) -> Vec<u32> {
        let code = |record: &u32| self.sensitive.codes().get(*record as usize, 0);
        let mut values: Vec<i32> = leaf.iter().map(code).collect();
        values.sort_unstable();
        values.dedup();
        leaf.iter().map(|record| values.partition_point(|value| *value < code(record)) as u32).collect()
    }

    /// Codes, then sensitive codes, then the keyed tag: an order that the input's order cannot touch.
    pub(crate) fn canonical(&self, record: u32) -> (&[i32], &[i32], u64) {
        (self.codes.record(record as usize), self.sensitive_codes(record), self.tags[record as usize])
    }

    fn sensitive_codes(&self, record: u32) -> &[i32] {
        let codes = self.sensitive.codes();
        if codes.attributes() == 0 { &[] } else { codes.record(record as usize) }
    }

    /// Recursive median order over all quasi-identifiers: Mondrian that never stops.
    fn sweep(&self, leaf: &mut [u32], cancel: &Cancel) -> Result<()> {
        let mut from = 0;
        for size in self.divide(leaf, None, cancel)? {
            let equal = &mut leaf[from..from + size];
            equal.sort_unstable_by(|a, b| {
                let key = |r: u32| (self.household(r), self.sensitive_codes(r), self.tags[r as usize]);
                key(*a).cmp(&key(*b))
            });
            from += size;
        }
        Ok(())
    }
}
