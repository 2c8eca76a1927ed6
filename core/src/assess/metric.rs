//! How far a code is from a released span, and from whatever occurs below a node of the search tree.

use crate::distance::Distance;

/// Domains up to this size are looked up instead of computed.
const MOST_LOOKED_UP: usize = 512;

/// dis(.) of one attribute, looked up where the domain is small.
pub(super) struct Metric<'a> {
    pub(super) distance: &'a Distance,
    table: Vec<f64>,
}

impl<'a> Metric<'a> {
    pub(super) fn new(distance: &'a Distance) -> Self {
        let size = distance.size() as i32;
        let all = 0..if distance.size() <= MOST_LOOKED_UP { size } else { 0 };
        let table = all.clone().flat_map(|a| all.clone().map(move |b| distance.between(a, b))).collect();
        Metric { distance, table }
    }

    #[inline]
    pub(super) fn between(&self, a: i32, b: i32) -> f64 {
        if self.table.is_empty() {
            return self.distance.between(a, b);
        }
        self.table[a as usize * self.distance.size() + b as usize]
    }

    /// The distance from a code to the nearest of a span; a span without codes is as far as can be.
    pub(super) fn to_span(&self, code: i32, low: i32, high: i32) -> f64 {
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
pub(super) struct Occurring {
    first: i32,
    last: i32,
    /// One bit a code where the domain has at most 64, else 0.
    bits: u64,
}

impl Occurring {
    pub(super) const NONE: Occurring = Occurring { first: i32::MAX, last: i32::MIN, bits: 0 };

    pub(super) fn with(self, low: i32, high: i32, size: usize) -> Self {
        if low > high {
            return self;
        }
        let bits = if size > 64 { 0 } else { u64::MAX >> (63 - (high - low)) << low };
        Occurring { first: self.first.min(low), last: self.last.max(high), bits: self.bits | bits }
    }

    /// No row below is nearer to `code` than this.
    #[inline]
    pub(super) fn bound(&self, code: i32, metric: &Metric) -> f64 {
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
