//! Groups drawn at random under the key: sensitive values only say which groups may not be.
//!
//! The first groups are runs of the sweep over all quasi-identifiers, of sizes that the numbers of records and l give:
//! no sensitive value is looked at. Then near groups exchange records as Metropolis has it: two records are proposed
//! evenly, and change places with probability min(1, exp(-change of the loss / temperature)) unless a sensitive value
//! would stand twice in a group. Which groups are near, and in what order they are tried, is told by the first groups,
//! so that every round keeps the law exp(-loss / temperature) over the partitions that are diverse: see
//! docs/algebra/minimality.md.

use rayon::prelude::*;

use crate::exchange::Space;
use crate::grouping::{Exchanges, Groups};
use crate::microdata::Microdata;
use crate::settle::settle;
use crate::stream::{Step, Stream};
use crate::written::Written;
use crate::{Cancel, Result};

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
    let space = Space { table, distances: &distances, diversity, shard: exchanges.shard };
    let first = runs(&records, diversity);
    let temperature = exchanges.temperature * space.spread(&first);
    let mut groups = first.clone();
    for round in 0..exchanges.rounds {
        if round == exchanges.rounds / 2 {
            settle(&space, &mut groups, cancel)?;
        }
        let order = space.side_by_side(&first, round);
        let shards: Vec<(usize, &[usize])> = order.chunks(exchanges.shard).enumerate().collect();
        let drawn: Vec<Vec<Vec<u32>>> = shards
            .into_par_iter()
            .map(|(number, shard)| {
                cancel.check()?;
                let of = |groups: &[Vec<u32>]| shard.iter().map(|group| groups[*group].clone()).collect::<Vec<_>>();
                let mut stream = Stream::new(&exchanges.key, number as u64, round as u32, Step::Exchange);
                let chain = Chain { space: &space, groups: of(&groups), temperature };
                Ok(chain.run(&space.near(&of(&first)), &mut stream))
            })
            .collect::<Result<_>>()?;
        order.into_iter().zip(drawn.into_iter().flatten()).for_each(|(group, new)| groups[group] = new);
    }
    settle(&space, &mut groups, cancel)?;
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
    (0..count).map(|run| records[run * records.len() / count..(run + 1) * records.len() / count].to_vec()).collect()
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

/// The groups of a shard on their way.
struct Chain<'a> {
    space: &'a Space<'a>,
    groups: Vec<Vec<u32>>,
    temperature: f64,
}

impl Chain<'_> {
    fn run(mut self, near: &[Vec<usize>], stream: &mut Stream) -> Vec<Vec<u32>> {
        for (g, others) in near.iter().enumerate() {
            for h in others {
                let mut meeting = Meeting::new(self.space, &self.groups[g], &self.groups[*h]);
                for _ in 0..self.groups[g].len() * self.groups[*h].len() {
                    meeting.propose(self.temperature, stream);
                }
                (self.groups[g], self.groups[*h]) = meeting.part();
            }
        }
        self.groups
    }
}

/// The records of two groups, with all distances between them.
struct Meeting {
    records: Vec<u32>,
    values: Vec<u32>,
    apart: Vec<f32>,
    /// Which records stand left, and behind them which stand right.
    places: Vec<usize>,
    split: usize,
    /// Σ dis from each record to the left group and to the right one.
    to_left: Vec<f32>,
    to_right: Vec<f32>,
    /// Whether a value stands twice in one of the groups.
    repeats: bool,
}

impl Meeting {
    fn new(space: &Space, left: &[u32], right: &[u32]) -> Self {
        let records = [left, right].concat();
        let (count, split) = (records.len(), left.len());
        let mut apart = vec![0.0; count * count];
        for i in 0..count {
            for j in 0..i {
                let distance = space.between(records[i], records[j]);
                (apart[i * count + j], apart[j * count + i]) = (distance, distance);
            }
        }
        let values: Vec<u32> = records.iter().map(|record| space.value(*record)).collect();
        let to = |from: usize, to: usize| apart.chunks_exact(count).map(|row| row[from..to].iter().sum()).collect();
        let (to_left, to_right) = (to(0, split), to(split, count));
        let repeats = (0..count).any(|at| values[at + 1..if at < split { split } else { count }].contains(&values[at]));
        Meeting { records, values, apart, places: (0..count).collect(), split, to_left, to_right, repeats }
    }

    /// One step: a record of either group, each pair as likely, change places or do not.
    fn propose(&mut self, temperature: f64, stream: &mut Stream) {
        let (count, split) = (self.places.len(), self.split);
        let drawn = stream.below((split * (count - split)) as u64) as usize;
        let (a, b) = (drawn % split, split + drawn / split);
        let (i, j) = (self.places[a], self.places[b]);
        let across = self.apart[i * count + j];
        let change = 2.0 / split as f32 * (self.to_left[j] - across - self.to_left[i])
            + 2.0 / (count - split) as f32 * (self.to_right[i] - across - self.to_right[j]);
        let is_taken = change <= 0.0 || stream.unit() < (-f64::from(change) / temperature).exp();
        if !is_taken && !self.repeats {
            return;
        }
        let more = self.more_repeats(a, b);
        if more < 0 || is_taken && more == 0 {
            for k in 0..count {
                let nearer = self.apart[k * count + j] - self.apart[k * count + i];
                self.to_left[k] += nearer;
                self.to_right[k] -= nearer;
            }
            self.places.swap(a, b);
        }
    }

    /// How many more values would stand twice in their group.
    fn more_repeats(&self, a: usize, b: usize) -> i32 {
        let (left, right) = self.places.split_at(self.split);
        let repeats = |side: &[usize], own: usize, value: u32| {
            i32::from(side.iter().any(|other| *other != own && self.values[*other] == value))
        };
        let (i, j) = (self.places[a], self.places[b]);
        let (leaving, joining) = (self.values[i], self.values[j]);
        repeats(left, i, joining) + repeats(right, j, leaving) - repeats(left, i, leaving) - repeats(right, j, joining)
    }

    /// The two groups as they are now.
    fn part(self) -> (Vec<u32>, Vec<u32>) {
        let (left, right) = self.places.split_at(self.split);
        let of = |side: &[usize]| side.iter().map(|at| self.records[*at]).collect();
        (of(left), of(right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Codes;
    use crate::distance::Distance;
    use crate::principle::Sensitive;
    use crate::stream::Key;

    /// Two groups of two, ages and pays beside them, after many proposals at no temperature.
    fn met(ages: &[i32], pays: &[i32]) -> (Vec<u32>, Vec<u32>) {
        let distances = [Distance::line((0..10).map(f64::from).collect(), false).unwrap()];
        let sensitive = Sensitive::new(Codes::new(pays, 1).unwrap(), &[9], &[false]).unwrap();
        let table = Microdata::new(Codes::new(ages, 1).unwrap(), sensitive, &[0; 4], &distances).unwrap();
        let written: Vec<Written> = distances.iter().map(Written::new).collect();
        let space = Space { table: &table, distances: &written, diversity: 2, shard: 1024 };
        let mut meeting = Meeting::new(&space, &[0, 1], &[2, 3]);
        let mut stream = Stream::new(&Key::new([1; 32]), 0, 0, Step::Exchange);
        (0..200).for_each(|_| meeting.propose(0.0, &mut stream));
        let (mut left, mut right) = meeting.part();
        left.sort_unstable();
        right.sort_unstable();
        if left < right { (left, right) } else { (right, left) }
    }

    #[test]
    fn cold_exchanges_bring_near_records_together() {
        assert_eq!(met(&[1, 8, 2, 9], &[0, 1, 2, 3]), (vec![0, 2], vec![1, 3]));
    }

    #[test]
    fn a_repeat_is_parted_at_any_cost_and_never_made() {
        // 1 and 2 share a pay, and so do 8 and 9: they part, though they lie near.
        let (left, right) = met(&[1, 2, 8, 9], &[0, 0, 1, 1]);
        assert!(left.contains(&0) && right.contains(&1));
        assert!(left.contains(&2) != left.contains(&3));
    }

    #[test]
    fn runs_differ_by_one_at_most() {
        let sizes: Vec<usize> = runs(&[0; 23], 5).iter().map(Vec::len).collect();
        assert_eq!(sizes, vec![5, 6, 6, 6]);
    }
}
