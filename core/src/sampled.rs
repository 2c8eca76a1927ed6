//! Groups drawn at random under the key: sensitive values only say which groups may not be.
//!
//! The first groups are runs of the sweep over all quasi-identifiers, of sizes that the numbers of records and l give:
//! no sensitive value is looked at. Then near groups exchange records as Metropolis has it: two records are proposed
//! evenly, and change places with probability min(1, exp(-change of the loss / temperature)) unless a sensitive value
//! would stand twice in a group. Which groups are near, and in what order they are tried, is told by the first groups,
//! so that every round keeps the law exp(-loss / temperature) over the partitions that are diverse: see
//! docs/algebra/minimality.md.

use rayon::prelude::*;

use crate::exchange::{SHARD, Space, Written};
use crate::grouping::{Exchanges, Groups};
use crate::partition::Microdata;
use crate::settle::settle;
use crate::stream::{Step, Stream};
use crate::{Cancel, Result};

/// How often each group proposes an exchange to each near one, in a round, for each of its records.
const PROPOSALS: usize = 1;

/// Groups of all records, `records` in any order; the members of each end in canonical order.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn sample(
    table: &Microdata,
    mut records: Vec<u32>,
    diversity: usize,
    exchanges: &Exchanges,
    cancel: &Cancel,
) -> Result<Groups> {
    sweep_by_tag(table, &mut records, cancel)?;
    let distances: Vec<Written> = table.distances.iter().map(Written::new).collect();
    let space = Space { table, distances: &distances, diversity };
    let first = runs(&records, diversity);
    let temperature = exchanges.temperature * space.spread(&first);
    let mut groups = first.clone();
    for round in 0..exchanges.rounds {
        if round == exchanges.rounds / 2 {
            settle(&space, &mut groups, cancel)?;
        }
        let order = space.side_by_side(&first, round);
        let shards: Vec<(usize, &[usize])> = order.chunks(SHARD).enumerate().collect();
        let drawn: Vec<Vec<Vec<u32>>> = shards
            .into_par_iter()
            .map(|(number, shard)| {
                cancel.check()?;
                let of = |groups: &[Vec<u32>]| shard.iter().map(|group| groups[*group].clone()).collect::<Vec<_>>();
                let mut stream = Stream::new(&exchanges.key, number as u64, round as u32, Step::Exchange);
                Ok(Chain::new(&space, of(&groups), temperature).run(&space.near(&of(&first)), &mut stream))
            })
            .collect::<Result<_>>()?;
        order.into_iter().zip(drawn.into_iter().flatten()).for_each(|(group, new)| groups[group] = new);
    }
    groups.iter_mut().for_each(|group| group.sort_unstable_by(|a, b| table.canonical(*a).cmp(&table.canonical(*b))));
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    Ok(Groups { order: groups.concat(), leaves: vec![0; sizes.len()], sizes })
}

/// The sweep over all quasi-identifiers; records that share all of them stand in the order of their tags alone.
fn sweep_by_tag(table: &Microdata, records: &mut [u32], cancel: &Cancel) -> Result<()> {
    let mut from = 0;
    for size in table.divide(records, None, cancel)? {
        records[from..from + size].sort_unstable_by_key(|record| table.tags[*record as usize]);
        from += size;
    }
    Ok(())
}

/// As many runs as l allows, none larger by two than another.
fn runs(records: &[u32], diversity: usize) -> Vec<Vec<u32>> {
    let count = (records.len() / diversity.max(1)).max(1);
    (0..count)
        .map(|run| records[run * records.len() / count..(run + 1) * records.len() / count].to_vec())
        .collect()
}

impl Space<'_> {
    /// The mean distance between two records of a group.
    fn spread(&self, groups: &[Vec<u32>]) -> f64 {
        let within = |group: &Vec<u32>| -> f64 {
            let to = |a: &u32| group.iter().map(|b| f64::from(self.between(*a, *b))).sum::<f64>();
            group.iter().map(to).sum()
        };
        let sums: Vec<f64> = groups.par_iter().map(within).collect();
        let pairs: usize = groups.iter().map(|group| group.len() * (group.len() - 1)).sum();
        sums.iter().sum::<f64>() / pairs.max(1) as f64
    }

    /// The sensitive value that may stand once in a group; under k-anonymity each record has its own.
    pub(crate) fn value(&self, record: u32) -> u32 {
        let sensitive = self.table.sensitive.codes();
        if sensitive.attributes() == 0 { record } else { sensitive.get(record as usize, 0) as u32 }
    }
}

/// A record and what is asked of it most: its sensitive value, and S_ig, the sum of its distances to its group.
#[derive(Clone, Copy)]
struct Member {
    record: u32,
    value: u32,
    within: f32,
}

/// The groups of a shard on their way.
struct Chain<'a> {
    space: &'a Space<'a>,
    groups: Vec<Vec<Member>>,
    temperature: f64,
}

impl<'a> Chain<'a> {
    fn new(space: &'a Space<'a>, groups: Vec<Vec<u32>>, temperature: f64) -> Self {
        let member = |group: &Vec<u32>, record: u32| Member {
            record,
            value: space.value(record),
            within: group.iter().map(|other| space.between(record, *other)).sum(),
        };
        let groups = groups.iter().map(|group| group.iter().map(|record| member(group, *record)).collect()).collect();
        Chain { space, groups, temperature }
    }

    fn run(mut self, near: &[Vec<usize>], stream: &mut Stream) -> Vec<Vec<u32>> {
        for (g, others) in near.iter().enumerate() {
            for h in others {
                for _ in 0..PROPOSALS * self.groups[g].len() {
                    self.propose(g, *h, stream);
                }
            }
        }
        self.groups.into_iter().map(|group| group.into_iter().map(|member| member.record).collect()).collect()
    }

    /// One step: a record of g and one of h, each pair as likely, change places or do not.
    fn propose(&mut self, g: usize, h: usize, stream: &mut Stream) {
        let (left, right) = (&self.groups[g], &self.groups[h]);
        let (a, b) = (stream.below(left.len() as u64) as usize, stream.below(right.len() as u64) as usize);
        let luck = stream.unit();
        let (i, j) = (left[a], right[b]);
        let repeats = repeats(left, a, j.value) + repeats(right, b, i.value)
            - repeats(left, a, i.value) - repeats(right, b, j.value);
        if repeats > 0 {
            return;
        }
        let to = |group: &[Member], record: u32| group.iter().map(|k| self.space.between(record, k.record)).sum::<f32>();
        let (across, j_to_left, i_to_right) =
            (self.space.between(i.record, j.record), to(left, j.record), to(right, i.record));
        let change = 2.0 / left.len() as f32 * (j_to_left - across - i.within)
            + 2.0 / right.len() as f32 * (i_to_right - across - j.within);
        let is_taken = repeats < 0 || change <= 0.0 || luck < (-f64::from(change) / self.temperature).exp();
        if is_taken {
            self.replace(g, a, Member { within: j_to_left - across, ..j });
            self.replace(h, b, Member { within: i_to_right - across, ..i });
        }
    }

    fn replace(&mut self, group: usize, at: usize, joining: Member) {
        let leaving = self.groups[group][at].record;
        for other in &mut self.groups[group] {
            other.within += self.space.between(other.record, joining.record)
                - self.space.between(other.record, leaving);
        }
        self.groups[group][at] = joining;
    }
}

/// Whether a value stands in a group beside the member at a place: 1, or 0.
fn repeats(group: &[Member], at: usize, value: u32) -> i32 {
    i32::from(group.iter().enumerate().any(|(place, member)| place != at && member.value == value))
}
