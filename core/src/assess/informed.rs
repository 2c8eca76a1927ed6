//! The informed adversary (A1): knows the groups, their tables and every quasi-identifier of everybody, and asks which
//! row of a group is whose. And the one who knows the groups alone (A1g) and takes the nearest row.

use rayon::prelude::*;

use super::likelihood::likelihoods;
use super::matching::{MOST_EXACT, ROUNDS, cheapest_assignment, exact_posterior, sampled_posterior};
use super::nearest::TIE;
use crate::batch::Tables;
use crate::coupling::Blocks;
use crate::stream::{Key, Step, Stream};
use crate::{Cancel, Codes, Error, Result};

/// Larger groups are left out: their weights would not fit in memory. They are counted.
pub const MOST_RECORDS: usize = 2048;

/// What the adversary sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// The release.
    Release,
    /// The control near 1: every record as it is.
    Raw,
    /// The control near chance: the group's released tuples dealt out among its rows again.
    Shuffled,
}

/// A release of a batch: its tables, the released codes in the batch's order, and how many values were repaired.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The tables.
    pub tables: &'a Tables,
    /// Released codes, record by record.
    pub released: &'a [i32],
    /// `repair` of its policy.
    pub repair: usize,
    /// Attributes that share a random number.
    pub blocks: &'a Blocks,
}

/// Terms of one question.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Sensitive codes of the records, in the batch's order; no attributes where there is none.
    pub sensitive: Codes<'a>,
    /// Which rows can be told apart by what is untouched, so that further releases join on them.
    pub is_joined: &'a [bool],
    /// What is seen.
    pub world: World,
    /// How many members of each group have told the adversary which row is theirs.
    pub corrupted: usize,
    /// The number of the batch's first group.
    pub first_group: u64,
    /// The share of groups that are asked about, chosen under the key; 1 for all.
    pub share: f64,
}

/// What the adversary concludes of each record, in the batch's order; NaN where it was not asked.
#[derive(Debug, Default)]
pub struct Concluded {
    /// The posterior of the record's own row.
    pub own: Vec<f64>,
    /// The largest posterior of any row.
    pub largest: Vec<f64>,
    /// 1/ties where the own row is among the likeliest, else 0.
    pub hit: Vec<f64>,
    /// The posterior of the own sensitive value, one a sensitive attribute.
    pub alike: Vec<f64>,
    /// 1/ties where the own row is among the nearest of the group, else 0.
    pub nearest: Vec<f64>,
    /// Whether the cheapest one-to-one assignment gives the record its own row.
    pub assigned: Vec<f64>,
    /// Σ squared difference of the two chains' posteriors of the own row, where chains were needed.
    pub disagreement: f64,
    /// Records whose posterior came from chains.
    pub sampled: usize,
    /// Records in groups that were left out, or whose rows the tables cannot explain.
    pub unexplained: usize,
}

/// Asks of every group of a batch; several releases of the same groups are joined row by row.
///
/// # Errors
/// [`Error::Shape`], [`Error::Cancelled`].
pub fn conclude(seen: &[Seen], question: Question, key: &Key, cancel: &Cancel) -> Result<Concluded> {
    let Some(first) = seen.first() else {
        return Err(Error::Shape("an adversary sees one release at least".into()));
    };
    let records = first.tables.starts.last().copied().unwrap_or(0);
    let fits = seen.iter().all(|s| s.tables.starts == first.tables.starts && s.released.len() == s.tables.codes.len());
    let width = question.sensitive.attributes();
    if !fits || question.is_joined.len() != records || width > 0 && question.sensitive.records() != records {
        return Err(Error::Shape("releases, sensitive codes and tables are not of the same groups".into()));
    }
    let groups: Vec<Concluded> = (0..first.tables.groups())
        .into_par_iter()
        .map(|group| {
            cancel.check()?;
            let stream = Stream::new(key, question.first_group + group as u64, 0, Step::Assess);
            Asked::new(seen, question, group, stream)?.conclude()
        })
        .collect::<Result<_>>()?;
    let mut all = Concluded::default();
    for group in groups {
        all.own.extend(group.own);
        all.largest.extend(group.largest);
        all.hit.extend(group.hit);
        all.alike.extend(group.alike);
        all.nearest.extend(group.nearest);
        all.assigned.extend(group.assigned);
        all.disagreement += group.disagreement;
        all.sampled += group.sampled;
        all.unexplained += group.unexplained;
    }
    Ok(all)
}

/// One group.
struct Asked<'a> {
    seen: &'a [Seen<'a>],
    question: Question<'a>,
    group: usize,
    start: usize,
    size: usize,
    /// The released tuples of the first release, as the world has them.
    tuples: Vec<i32>,
    /// Members that are asked about: all but the corrupted, whose rows are known to be taken.
    members: Vec<usize>,
    stream: Stream,
}

impl<'a> Asked<'a> {
    fn new(seen: &'a [Seen<'a>], question: Question<'a>, group: usize, mut stream: Stream) -> Result<Self> {
        let tables = seen[0].tables;
        let (start, end) = (tables.starts[group], tables.starts[group + 1]);
        let size = end - start;
        let mut members: Vec<usize> = (0..size).collect();
        stream.shuffle(&mut members);
        let is_asked = question.share >= 1.0 || stream.unit() < question.share;
        members.truncate(if is_asked { size.saturating_sub(question.corrupted) } else { 0 });
        members.sort_unstable();
        let mut asked = Asked { seen, question, group, start, size, tuples: Vec::new(), members, stream };
        let mut deal: Vec<usize> = (0..size).collect();
        if question.world == World::Shuffled {
            asked.stream.shuffle(&mut deal);
        }
        asked.tuples = asked.dealt(&seen[0], &deal);
        Ok(asked)
    }

    fn dealt(&self, seen: &Seen, deal: &[usize]) -> Vec<i32> {
        let width = seen.tables.attributes;
        let released = match self.question.world {
            World::Raw => seen.tables.group_codes(self.group),
            _ => &seen.released[self.start * width..(self.start + self.size) * width],
        };
        deal.iter().flat_map(|row| &released[row * width..(row + 1) * width]).copied().collect()
    }

    fn conclude(mut self) -> Result<Concluded> {
        let blank = || vec![f64::NAN; self.size];
        let mut found = Concluded {
            own: blank(),
            largest: blank(),
            hit: blank(),
            alike: vec![f64::NAN; self.size * self.question.sensitive.attributes()],
            nearest: blank(),
            assigned: blank(),
            ..Concluded::default()
        };
        if self.size > MOST_RECORDS || self.members.is_empty() {
            found.unexplained = self.members.len();
            return Ok(found);
        }
        self.take_nearest(&mut found);
        let posterior = self.posterior(&mut found)?;
        let count = self.members.len();
        for (i, member) in self.members.iter().enumerate() {
            let row = &posterior[i * count..(i + 1) * count];
            let largest = row.iter().copied().fold(0.0, f64::max);
            let ties = row.iter().filter(|p| **p >= largest - TIE).count();
            found.own[*member] = row[i];
            found.largest[*member] = largest;
            found.hit[*member] = if row[i] >= largest - TIE { 1.0 / ties as f64 } else { 0.0 };
            let width = self.question.sensitive.attributes();
            for place in 0..width {
                let code = |member: usize| self.question.sensitive.get(self.start + member, place);
                let same = row.iter().zip(&self.members).filter(|(_, other)| code(**other) == code(*member));
                found.alike[member * width + place] = same.map(|(p, _)| p).sum();
            }
        }
        Ok(found)
    }

    /// Whether every row of the group's tables is the same, so that every matching is as likely.
    fn is_closed(&self) -> bool {
        let even = |seen: &Seen| {
            let entry = |attribute| seen.tables.entry(self.group, attribute);
            seen.repair == 0
                && seen.blocks.iter().all(|block| block.len() == 1)
                && (0..seen.tables.attributes).all(|a| entry(a).table.is_equal_rows() || entry(a).rows.len() == 1)
        };
        self.question.world != World::Raw && self.seen.iter().all(even)
    }

    fn posterior(&mut self, found: &mut Concluded) -> Result<Vec<f64>> {
        let count = self.members.len();
        let even = vec![1.0 / count as f64; count * count];
        if self.is_closed() {
            return Ok(even);
        }
        let weights = self.weights()?;
        if count <= MOST_EXACT {
            return Ok(exact_posterior(&weights, count).unwrap_or_else(|| {
                found.unexplained += count;
                even
            }));
        }
        // One chain from the truth, one from the likeliest matching: where they differ, neither has arrived.
        let farthest = weights.iter().copied().filter(|w| *w > 0.0).fold(1.0, f64::min).ln() * 2.0 - 50.0;
        let costs: Vec<f64> = weights.iter().map(|w| if *w > 0.0 { -w.ln() } else { -farthest }).collect();
        let starts = [(0..count).collect(), cheapest_assignment(&costs, count)];
        let chains = starts.map(|start: Vec<usize>| sampled_posterior(&weights, &start, ROUNDS, &mut self.stream));
        let [Some(first), Some(second)] = chains else {
            found.unexplained += count;
            return Ok(even);
        };
        found.sampled += count;
        found.disagreement += (0..count).map(|i| (first[i * count + i] - second[i * count + i]).powi(2)).sum::<f64>();
        Ok(first.iter().zip(&second).map(|(a, b)| (a + b) / 2.0).collect())
    }

    /// P(member i becomes the row of member j), the releases together.
    fn weights(&self) -> Result<Vec<f64>> {
        let pairs = self.members.iter().flat_map(|i| self.members.iter().map(move |j| (*i, *j)));
        if self.question.world == World::Raw {
            let width = self.seen[0].tables.attributes;
            let tuple = |member: usize| &self.tuples[member * width..(member + 1) * width];
            return Ok(pairs.map(|(i, j)| f64::from(u8::from(tuple(i) == tuple(j)))).collect());
        }
        let mut weights = vec![1.0; self.members.len().pow(2)];
        for (number, seen) in self.seen.iter().enumerate() {
            let in_order: Vec<usize> = (0..self.size).collect();
            let tuples = if number == 0 { self.tuples.clone() } else { self.dealt(seen, &in_order) };
            let likely = likelihoods(seen.tables, self.group, &tuples, seen.repair, seen.blocks)?;
            for (weight, (i, j)) in weights.iter_mut().zip(pairs.clone()) {
                if number == 0 || self.question.is_joined[self.start + j] {
                    *weight *= likely[i * self.size + j];
                }
            }
        }
        Ok(weights)
    }

    /// A1g: by distance alone, each for itself and one to one. Where tuples were repaired an exact match is wrong: it
    /// lies farther than any other row.
    fn take_nearest(&mut self, found: &mut Concluded) {
        let tables = self.seen[0].tables;
        let (width, count) = (tables.attributes, self.members.len());
        let originals = tables.group_codes(self.group);
        let is_repaired = self.seen[0].repair > 0 && self.question.world != World::Raw;
        // In an order of its own, for an assignment among ties must not know the truth.
        let mut rows = self.members.clone();
        self.stream.shuffle(&mut rows);
        let apart = |i: usize, j: usize| -> f64 {
            let cells = (0..width).map(|a| (originals[i * width + a], self.tuples[j * width + a]));
            let far: f64 = cells.zip(&tables.distances).map(|((a, b), distance)| distance.between(a, b)).sum();
            if is_repaired && originals[i * width..(i + 1) * width] == self.tuples[j * width..(j + 1) * width] {
                return width as f64 + 1.0;
            }
            far
        };
        let costs: Vec<f64> = self.members.iter().flat_map(|i| rows.iter().map(|j| apart(*i, *j))).collect();
        let assigned = cheapest_assignment(&costs, count);
        for (i, member) in self.members.iter().enumerate() {
            let row = &costs[i * count..(i + 1) * count];
            let least = row.iter().copied().fold(f64::INFINITY, f64::min) + TIE;
            let ties = row.iter().filter(|d| **d <= least).count();
            let is_near = row.iter().zip(&rows).any(|(d, j)| j == member && *d <= least);
            found.nearest[*member] = if is_near { 1.0 / ties as f64 } else { 0.0 };
            found.assigned[*member] = f64::from(u8::from(rows[assigned[i]] == *member));
        }
    }
}
