//! Disclosure of a generalised table: a row matches a record where its spans cover the record's values.
//!
//! Rows with equal spans are one box: generalised tables have few. Which boxes cover a code is a string of bits, so
//! that knowing one attribute more is an `and`.

use rayon::prelude::*;

use super::Pair;
use super::disclosure::Sums;
use crate::{Cancel, Result};

/// Records of one task; sums are added task by task, so that they do not depend on the threads.
const TASK: usize = 64;
/// Bits that all covers together may take, 1 GiB; beyond, they are made anew for every record.
const MOST_BITS: usize = 1 << 33;

/// What [`super::disclosure::disclose`] gives, for spans.
pub(super) fn disclose(pair: &Pair, masks: &[u64], targets: &[i64], cancel: &Cancel) -> Result<Vec<Sums>> {
    let boxes = Boxes::new(pair);
    let parts: Vec<Vec<Sums>> = targets
        .par_chunks(TASK)
        .map(|part| {
            cancel.check()?;
            let empty = Sums { attribute: vec![0.0; pair.sensitive.attributes()], ..Sums::default() };
            let mut sums = vec![empty; masks.len()];
            let mut alike = vec![vec![0; boxes.rows.len()]; pair.sensitive.attributes()];
            for target in part {
                boxes.count_alike(*target as usize, &mut alike, 1);
                let walk = Walk { boxes: &boxes, record: *target as usize, alike: &alike };
                walk.descend(&Matches::all(boxes.rows.len()), 0, (masks, &mut sums));
                boxes.count_alike(*target as usize, &mut alike, -1);
            }
            Ok(sums)
        })
        .collect::<Result<_>>()?;
    let mut all = vec![Sums::default(); masks.len()];
    parts.iter().for_each(|part| all.iter_mut().zip(part).for_each(|(sum, more)| sum.add(more)));
    Ok(all)
}

/// Rows with equal spans, and which of them cover each code.
struct Boxes<'a> {
    pair: &'a Pair<'a>,
    /// A row of each box, and how many there are.
    rows: Vec<(u32, u32)>,
    /// The box of each row.
    of_row: Vec<u32>,
    /// For each sensitive attribute, (code, box) of every row, ascending.
    sensitive: Vec<Vec<(i32, u32)>>,
    /// Attribute, code, then bits; empty where that would be too large.
    covers: Vec<Vec<Vec<u64>>>,
}

impl<'a> Boxes<'a> {
    fn new(pair: &'a Pair<'a>) -> Self {
        let mut order: Vec<u32> = (0..pair.low.records() as u32).collect();
        let form = |row: u32| (pair.low.record(row as usize), pair.high.record(row as usize));
        order.par_sort_unstable_by(|a, b| form(*a).cmp(&form(*b)));
        let (mut rows, mut of_row) = (Vec::new(), vec![0; order.len()]);
        for run in order.chunk_by(|a, b| form(*a) == form(*b)) {
            run.iter().for_each(|row| of_row[*row as usize] = rows.len() as u32);
            rows.push((run[0], run.len() as u32));
        }
        let of_codes = |place| {
            let mut codes: Vec<(i32, u32)> =
                of_row.iter().enumerate().map(|(row, b)| (pair.released.get(row, place), *b)).collect();
            codes.sort_unstable();
            codes
        };
        let sensitive = (0..pair.sensitive.attributes()).map(of_codes).collect();
        let mut boxes = Boxes { pair, rows, of_row, sensitive, covers: Vec::new() };
        boxes.covers = boxes.all_covers();
        boxes
    }

    fn all_covers(&self) -> Vec<Vec<Vec<u64>>> {
        let original = self.pair.original;
        let size = |a| (0..original.records()).map(|r| original.get(r, a)).max().map_or(0, |c| c as usize + 1);
        let sizes: Vec<usize> = (0..original.attributes()).map(size).collect();
        if sizes.iter().sum::<usize>().saturating_mul(self.rows.len()) > MOST_BITS {
            return Vec::new();
        }
        let of_attribute = |(a, size): (usize, &usize)| (0..*size as i32).map(|code| self.cover(a, code)).collect();
        sizes.par_iter().enumerate().map(of_attribute).collect()
    }

    fn cover(&self, attribute: usize, code: i32) -> Vec<u64> {
        let (low, high) = (self.pair.low, self.pair.high);
        let covers = |row: u32| low.get(row as usize, attribute) <= code && code <= high.get(row as usize, attribute);
        let word = |part: &[(u32, u32)]| {
            part.iter().enumerate().fold(0, |word, (place, (row, _))| word | u64::from(covers(*row)) << place)
        };
        self.rows.chunks(64).map(word).collect()
    }

    /// Adds `step` for every row with the record's sensitive values to the counts of its box.
    fn count_alike(&self, record: usize, alike: &mut [Vec<i64>], step: i64) {
        for (place, (codes, counts)) in self.sensitive.iter().zip(alike).enumerate() {
            let own = self.pair.sensitive.get(record, place);
            let first = codes.partition_point(|(code, _)| *code < own);
            codes[first..].iter().take_while(|(code, _)| *code == own).for_each(|(_, b)| counts[*b as usize] += step);
        }
    }
}

/// The boxes that match so far: bits while they are many, a list once they are few.
enum Matches {
    Many(Vec<u64>),
    Few(Vec<u32>),
}

impl Matches {
    fn all(boxes: usize) -> Self {
        let word = |first: usize| u64::MAX >> (64 - (boxes - first).min(64));
        Matches::Many((0..boxes).step_by(64).map(word).collect())
    }

    fn listed(bits: &[u64]) -> Vec<u32> {
        let mut boxes = Vec::new();
        for (place, word) in bits.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                boxes.push(place as u32 * 64 + left.trailing_zeros());
                left &= left - 1;
            }
        }
        boxes
    }
}

/// One record on its way down the tree of masks.
struct Walk<'a> {
    boxes: &'a Boxes<'a>,
    record: usize,
    /// How many rows of each box have its sensitive value.
    alike: &'a [Vec<i64>],
}

impl Walk<'_> {
    fn descend(&self, matches: &Matches, depth: usize, (masks, sums): (&[u64], &mut [Sums])) {
        let attributes = self.boxes.pair.original.attributes();
        if masks.is_empty() {
            return;
        }
        if depth == attributes {
            let listed = match matches {
                Matches::Many(bits) => &Matches::listed(bits),
                Matches::Few(boxes) => boxes,
            };
            return self.add(listed, &mut sums[0]);
        }
        // The highest bit first: it splits an ascending list in two runs.
        let attribute = attributes - 1 - depth;
        let split = masks.partition_point(|mask| mask >> attribute & 1 == 0);
        let (without, with) = masks.split_at(split);
        let (sums_without, sums_with) = sums.split_at_mut(split);
        self.descend(matches, depth + 1, (without, sums_without));
        if !with.is_empty() {
            self.descend(&self.narrowed(matches, attribute), depth + 1, (with, sums_with));
        }
    }

    fn narrowed(&self, matches: &Matches, attribute: usize) -> Matches {
        match matches {
            Matches::Few(boxes) => {
                let row = |b: &u32| self.boxes.rows[*b as usize].0 as usize;
                let kept = boxes.iter().copied().filter(|b| self.boxes.pair.covers(row(b), self.record, attribute));
                Matches::Few(kept.collect())
            }
            Matches::Many(bits) => {
                let code = self.boxes.pair.original.get(self.record, attribute);
                let both = |cover: &[u64]| bits.iter().zip(cover).map(|(a, b)| a & b).collect::<Vec<u64>>();
                let kept = match self.boxes.covers.get(attribute) {
                    Some(covers) => both(&covers[code as usize]),
                    None => both(&self.boxes.cover(attribute, code)),
                };
                let count = kept.iter().map(|word| word.count_ones() as usize).sum::<usize>();
                if count > 4 * kept.len() { Matches::Many(kept) } else { Matches::Few(Matches::listed(&kept)) }
            }
        }
    }

    fn add(&self, boxes: &[u32], sums: &mut Sums) {
        let count: f64 = boxes.iter().map(|b| f64::from(self.boxes.rows[*b as usize].1)).sum();
        if boxes.is_empty() {
            return;
        }
        if self.boxes.pair.row_of(self.record).is_some_and(|row| boxes.contains(&self.boxes.of_row[row])) {
            sums.identity += 1.0 / count;
            sums.singled += f64::from(u8::from(count == 1.0));
        }
        for (sum, alike) in sums.attribute.iter_mut().zip(self.alike) {
            *sum += boxes.iter().map(|b| alike[*b as usize]).sum::<i64>() as f64 / count;
        }
    }
}
