//! Distances of small domains, written out once where exchanges ask for them again and again.

use crate::distance::Distance;

/// Domains up to this size have all their distances written out.
const WRITTEN: usize = 512;

/// dis(.) of one attribute times its weight, with all pairs written out where they are few.
pub(crate) enum Written<'a> {
    Pairs { size: usize, distances: Vec<f32> },
    Asked(&'a Distance),
}

impl<'a> Written<'a> {
    pub(crate) fn new(distance: &'a Distance) -> Self {
        let size = distance.size();
        if size > WRITTEN {
            return Written::Asked(distance);
        }
        let codes = 0..size as i32;
        let between = |a: i32, b: i32| (distance.weight() * distance.between(a, b)) as f32;
        let distances = codes.clone().flat_map(|a| codes.clone().map(move |b| between(a, b))).collect();
        Written::Pairs { size, distances }
    }

    #[inline]
    pub(crate) fn between(&self, a: i32, b: i32) -> f32 {
        match self {
            Written::Pairs { size, distances } => distances[a as usize * size + b as usize],
            Written::Asked(distance) => (distance.weight() * distance.between(a, b)) as f32,
        }
    }
}
