//! Nearest-record linkage: the released rows at the smallest summed distance from a record, without looking at all.
//!
//! Rows stand in a tree of halves; each node knows which codes occur below it on each attribute, which gives a lower
//! bound of the distance to any of its rows, and what cannot beat the best row so far is never entered. A released
//! span is as near as its nearest value.

use rayon::prelude::*;

use super::Pair;
use crate::distance::Distance;
use crate::{Cancel, Error, Result};

/// Sums of distances within this are ties: the order of additions must not decide who is nearest.
pub const TIE: f64 = 1e-9;
/// Domains up to this size are looked up instead of computed.
const MOST_LOOKED_UP: usize = 512;
const LEAF: usize = 8;

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

/// dis(.) of one attribute, looked up where the domain is small.
struct Metric<'a> {
    distance: &'a Distance,
    table: Vec<f64>,
}

impl<'a> Metric<'a> {
    fn new(distance: &'a Distance) -> Self {
        let size = distance.size() as i32;
        let all = 0..if distance.size() <= MOST_LOOKED_UP { size } else { 0 };
        let table = all.clone().flat_map(|a| all.clone().map(move |b| distance.between(a, b))).collect();
        Metric { distance, table }
    }

    #[inline]
    fn between(&self, a: i32, b: i32) -> f64 {
        if self.table.is_empty() {
            return self.distance.between(a, b);
        }
        self.table[a as usize * self.distance.size() + b as usize]
    }

    /// The distance from a code to the nearest of a span; a span without codes is as far as can be.
    fn to_span(&self, code: i32, low: i32, high: i32) -> f64 {
        if low == high {
            return self.between(code, low);
        }
        if low <= code && code <= high {
            return 0.0;
        }
        // The missing code is the last: a span that reaches it has its known codes below.
        let last = high.min(self.distance.known() as i32 - 1);
        if low > last || self.distance.is_missing(code) {
            return 1.0;
        }
        if self.distance.is_ordered() {
            return self.between(code, if code < low { low } else { last });
        }
        (low..=last).map(|other| self.between(code, other)).fold(1.0, f64::min)
    }
}

/// The codes that occur below a node on one attribute.
#[derive(Clone, Copy)]
struct Occurring {
    first: i32,
    last: i32,
    /// One bit a code where the domain has at most 64, else 0.
    bits: u64,
}

impl Occurring {
    const NONE: Occurring = Occurring { first: i32::MAX, last: i32::MIN, bits: 0 };

    fn with(self, low: i32, high: i32, size: usize) -> Self {
        if low > high {
            return self;
        }
        let bits = if size > 64 { 0 } else { u64::MAX >> (63 - (high - low)) << low };
        Occurring { first: self.first.min(low), last: self.last.max(high), bits: self.bits | bits }
    }

    /// No row below is nearer to `code` than this.
    #[inline]
    fn bound(&self, code: i32, metric: &Metric) -> f64 {
        if self.bits == 0 || !metric.distance.is_ordered() {
            return metric.to_span(code, self.first, self.last);
        }
        if self.bits >> code & 1 == 1 {
            return 0.0;
        }
        // On a line or in a tree the nearest is the next code on either side; 1 is farthest.
        let (below, above) = (self.bits & ((1 << code) - 1), self.bits >> code);
        let left = if below == 0 { 1.0 } else { metric.between(code, 63 - below.leading_zeros() as i32) };
        let right = if above == 0 { 1.0 } else { metric.between(code, code + above.trailing_zeros() as i32) };
        left.min(right)
    }
}

struct Node {
    /// Items `start..end` stand below it.
    start: u32,
    end: u32,
    /// The node of the upper half; that of the lower half is the next one. 0 for a leaf.
    upper: u32,
}

/// Rows that are equal in every span, once.
struct Item {
    /// Their place in `rows`.
    rows: std::ops::Range<u32>,
    /// A row that stands for all.
    row: u32,
}

struct Forest<'a> {
    pair: &'a Pair<'a>,
    metrics: Vec<Metric<'a>>,
    items: Vec<Item>,
    rows: Vec<u32>,
    nodes: Vec<Node>,
    /// One an attribute of each node.
    occurring: Vec<Occurring>,
    /// Block and its root, ascending.
    roots: Vec<(i64, u32)>,
    row_blocks: &'a [i64],
}

struct Nearest {
    distance: f64,
    ties: u32,
    has_own: bool,
    alike: Vec<f64>,
}

/// The best so far.
struct Best {
    distance: f64,
    items: Vec<u32>,
    among: Among,
}

impl<'a> Forest<'a> {
    fn new(pair: &'a Pair<'a>, distances: &'a [Distance], row_blocks: &'a [i64], cancel: &Cancel) -> Result<Self> {
        let mut rows: Vec<u32> = (0..pair.low.records() as u32).collect();
        let form = |row: u32| (pair.low.record(row as usize), pair.high.record(row as usize));
        let place = |row: &u32| (row_blocks[*row as usize], form(*row), *row);
        rows.par_sort_unstable_by(|a, b| place(a).cmp(&place(b)));
        let (mut items, mut blocks, mut start) = (Vec::new(), Vec::new(), 0);
        for run in rows.chunk_by(|a, b| row_blocks[*a as usize] == row_blocks[*b as usize] && form(*a) == form(*b)) {
            items.push(Item { rows: start..start + run.len() as u32, row: run[0] });
            start += run.len() as u32;
        }
        for (place, item) in items.iter().enumerate() {
            let block = row_blocks[item.row as usize];
            if blocks.last().is_none_or(|(last, _)| *last != block) {
                blocks.push((block, place));
            }
        }
        let metrics = distances.iter().map(Metric::new).collect();
        let (nodes, occurring, roots) = (Vec::new(), Vec::new(), Vec::new());
        let mut forest = Forest { pair, metrics, items, rows, nodes, occurring, roots, row_blocks };
        let ends = blocks.iter().skip(1).map(|(_, start)| *start).chain([forest.items.len()]);
        for ((block, start), end) in blocks.iter().zip(ends.collect::<Vec<_>>()) {
            cancel.check()?;
            let root = forest.build(*start, end);
            forest.roots.push((*block, root));
        }
        Ok(forest)
    }

    /// The node of some items, and all below it.
    fn build(&mut self, start: usize, end: usize) -> u32 {
        let node = self.nodes.len();
        self.nodes.push(Node { start: start as u32, end: end as u32, upper: 0 });
        let mut spread = vec![(i64::MAX, i64::MIN); self.metrics.len()];
        for (attribute, metric) in self.metrics.iter().enumerate() {
            let mut occurring = Occurring::NONE;
            for item in &self.items[start..end] {
                let (low, high) = self.span(item, attribute);
                occurring = occurring.with(low, high, metric.distance.size());
                let middle = i64::from(low) + i64::from(high);
                spread[attribute] = (spread[attribute].0.min(middle), spread[attribute].1.max(middle));
            }
            self.occurring.push(occurring);
        }
        if end - start > LEAF {
            let at = self.halve(start, end, &spread);
            self.build(start, at);
            self.nodes[node].upper = self.build(at, end);
        }
        node as u32
    }

    fn span(&self, item: &Item, attribute: usize) -> (i32, i32) {
        (self.pair.low.get(item.row as usize, attribute), self.pair.high.get(item.row as usize, attribute))
    }

    /// Puts the lower half of the widest attribute first and says where the upper begins.
    fn halve(&mut self, start: usize, end: usize, spread: &[(i64, i64)]) -> usize {
        let width = |attribute: usize| {
            let (first, last) = spread[attribute];
            let metric = &self.metrics[attribute];
            let known = metric.distance.known() as i64 - 1;
            match (first == last, metric.distance.is_ordered() && last / 2 <= known) {
                (true, _) => 0.0,
                // A hair above 0, for spans of different middle may begin alike.
                (_, true) => metric.between((first / 2) as i32, (last / 2) as i32).max(TIE),
                _ => 1.0,
            }
        };
        let widths: Vec<f64> = (0..spread.len()).map(width).collect();
        let widest = (0..spread.len()).max_by(|a, b| widths[*a].total_cmp(&widths[*b])).unwrap_or(0);
        let half = (start + end) / 2;
        if spread[widest].0 == spread[widest].1 {
            return half;
        }
        let pair = self.pair;
        let middle = |item: &Item| {
            i64::from(pair.low.get(item.row as usize, widest)) + i64::from(pair.high.get(item.row as usize, widest))
        };
        let items = &mut self.items[start..end];
        items.sort_unstable_by_key(|item| (middle(item), item.row));
        // Equal codes stay on one side, so that nodes become pure in categories.
        let cut = middle(&items[half - start]);
        let below = items.partition_point(|item| middle(item) < cut);
        let up_to = items.partition_point(|item| middle(item) <= cut);
        start + if below > 0 { below } else { up_to }
    }

    fn nearest(&self, record: usize, block: i64, among: Among) -> Nearest {
        let none = vec![0.0; self.pair.sensitive.attributes()];
        let missed = Nearest { distance: f64::INFINITY, ties: 0, has_own: false, alike: none };
        let Ok(root) = self.roots.binary_search_by_key(&block, |(block, _)| *block) else {
            return missed;
        };
        let own = self.pair.row_of(record).filter(|row| self.row_blocks[*row] == block);
        // The own row is one of the candidates: nothing farther needs a look.
        let limit = own.map_or(f64::INFINITY, |row| self.distance(record, row as u32));
        let limit = if among == Among::Different && limit <= TIE { f64::INFINITY } else { limit };
        let mut best = Best { distance: limit, items: Vec::new(), among };
        self.visit(self.roots[root].1 as usize, record, &mut best);
        let Some(first) = best.items.first() else {
            return missed;
        };
        let tied = best.items.iter().flat_map(|item| &self.rows[as_range(&self.items[*item as usize].rows)]);
        let ties = tied.clone().count();
        let is_same = |place: usize, row: u32| {
            self.pair.released.get(row as usize, place) == self.pair.sensitive.get(record, place)
        };
        let share = |place: usize| tied.clone().filter(|row| is_same(place, **row)).count() as f64 / ties as f64;
        Nearest {
            distance: self.distance(record, self.items[*first as usize].row),
            ties: ties as u32,
            has_own: own.is_some_and(|own| tied.clone().any(|row| *row as usize == own)),
            alike: (0..self.pair.sensitive.attributes()).map(share).collect(),
        }
    }

    fn distance(&self, record: usize, row: u32) -> f64 {
        let spans = self.pair.low.record(row as usize).iter().zip(self.pair.high.record(row as usize));
        let cells = self.pair.original.record(record).iter().zip(spans);
        self.metrics.iter().zip(cells).map(|(metric, (code, (low, high)))| metric.to_span(*code, *low, *high)).sum()
    }

    fn bound(&self, node: usize, record: usize) -> f64 {
        let attributes = self.metrics.len();
        let occurring = &self.occurring[node * attributes..(node + 1) * attributes];
        let codes = self.pair.original.record(record);
        occurring.iter().zip(codes).zip(&self.metrics).map(|((o, code), metric)| o.bound(*code, metric)).sum()
    }

    fn visit(&self, node: usize, record: usize, best: &mut Best) {
        let Node { start, end, upper } = self.nodes[node];
        if upper == 0 {
            (start..end).for_each(|item| best.take(item, self.distance(record, self.items[item as usize].row)));
            return;
        }
        let (left, right) = (node + 1, upper as usize);
        let (near, far) = (self.bound(left, record), self.bound(right, record));
        let ordered = if near <= far { [(near, left), (far, right)] } else { [(far, right), (near, left)] };
        for (bound, child) in ordered {
            if bound <= best.distance + TIE {
                self.visit(child, record, best);
            }
        }
    }
}

impl Best {
    fn take(&mut self, item: u32, distance: f64) {
        if distance > self.distance + TIE || self.among == Among::Different && distance <= TIE {
            return;
        }
        if distance < self.distance - TIE {
            self.distance = distance;
            self.items.clear();
        }
        self.items.push(item);
    }
}

fn as_range(range: &std::ops::Range<u32>) -> std::ops::Range<usize> {
    range.start as usize..range.end as usize
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
