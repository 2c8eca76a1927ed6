//! The tree of released rows that nearest-record linkage walks: halves of halves, each with what occurs below it.

use rayon::prelude::*;

use super::Pair;
use super::metric::{Metric, Occurring};
use super::nearest::{Among, TIE};
use crate::distance::Distance;
use crate::{Cancel, Result};

/// Items of a node that is not halved.
const LEAF: usize = 8;

struct Node {
    /// Items `start..end` stand below it.
    start: u32,
    end: u32,
    /// The node of the upper half; that of the lower half is the next one. 0 for a leaf.
    upper: u32,
}

/// Rows that are equal in every span, once.
struct Item {
    /// Their places among all rows, item by item.
    rows: std::ops::Range<usize>,
    /// A row that stands for all.
    row: u32,
}

pub(super) struct Forest<'a> {
    pair: &'a Pair<'a>,
    metrics: Vec<Metric<'a>>,
    items: Vec<Item>,
    /// The place of each row among the items' rows.
    place_of: Vec<u32>,
    /// For each sensitive attribute, the codes of each item's rows, ascending within the item.
    sensitive: Vec<Vec<i32>>,
    nodes: Vec<Node>,
    /// One an attribute of each node.
    occurring: Vec<Occurring>,
    /// Block and its root, ascending.
    roots: Vec<(i64, u32)>,
    row_blocks: &'a [i64],
}

pub(super) struct Nearest {
    pub(super) distance: f64,
    pub(super) ties: u32,
    pub(super) has_own: bool,
    pub(super) alike: Vec<f64>,
}

/// The best so far.
struct Best {
    distance: f64,
    items: Vec<u32>,
    among: Among,
}

impl<'a> Forest<'a> {
    pub(super) fn new(
        pair: &'a Pair<'a>,
        distances: &'a [Distance],
        row_blocks: &'a [i64],
        cancel: &Cancel,
    ) -> Result<Self> {
        let mut rows: Vec<u32> = (0..pair.low.records() as u32).collect();
        let form = |row: u32| (pair.low.record(row as usize), pair.high.record(row as usize));
        let place = |row: &u32| (row_blocks[*row as usize], form(*row), *row);
        rows.par_sort_unstable_by(|a, b| place(a).cmp(&place(b)));
        let (mut items, mut blocks, mut start) = (Vec::new(), Vec::new(), 0);
        for run in rows.chunk_by(|a, b| row_blocks[*a as usize] == row_blocks[*b as usize] && form(*a) == form(*b)) {
            items.push(Item { rows: start..start + run.len(), row: run[0] });
            start += run.len();
        }
        for (place, item) in items.iter().enumerate() {
            let block = row_blocks[item.row as usize];
            if blocks.last().is_none_or(|(last, _)| *last != block) {
                blocks.push((block, place));
            }
        }
        let metrics = distances.iter().map(Metric::new).collect();
        let (nodes, occurring, roots) = (Vec::new(), Vec::new(), Vec::new());
        let mut place_of = vec![0; rows.len()];
        rows.iter().enumerate().for_each(|(place, row)| place_of[*row as usize] = place as u32);
        let ascending = |attribute: usize| {
            let mut codes: Vec<i32> = rows.iter().map(|row| pair.released.get(*row as usize, attribute)).collect();
            items.iter().for_each(|item: &Item| codes[item.rows.clone()].sort_unstable());
            codes
        };
        let sensitive = (0..pair.released.attributes()).map(ascending).collect();
        let mut forest = Forest { pair, metrics, items, place_of, sensitive, nodes, occurring, roots, row_blocks };
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

    pub(super) fn nearest(&self, record: usize, block: i64, among: Among) -> Nearest {
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
        let tied = best.items.iter().map(|item| &self.items[*item as usize].rows);
        let ties: usize = tied.clone().map(ExactSizeIterator::len).sum();
        let share = |(place, codes): (usize, &Vec<i32>)| {
            let own = self.pair.sensitive.get(record, place);
            let alike = |rows: &std::ops::Range<usize>| {
                let codes = &codes[rows.clone()];
                codes.partition_point(|code| *code <= own) - codes.partition_point(|code| *code < own)
            };
            tied.clone().map(alike).sum::<usize>() as f64 / ties as f64
        };
        let is_tied = |row: usize| tied.clone().any(|rows| rows.contains(&(self.place_of[row] as usize)));
        Nearest {
            distance: self.distance(record, self.items[*first as usize].row),
            ties: ties as u32,
            has_own: own.is_some_and(is_tied),
            alike: self.sensitive.iter().enumerate().map(share).collect(),
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
