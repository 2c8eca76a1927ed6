//! dis(.) of one attribute (Definition 4) over its codes, divided by dis_max(attribute, T).

use crate::{Error, Result};

#[derive(Clone, Debug)]
enum Shape {
    /// Ascending positions: l1 (Definition 5), days, ranks.
    Line(Vec<f64>),
    /// Leaves in depth-first order; `steps[i]` lies between leaf i and i + 1. The lowest common ancestor of two
    /// leaves is the highest step between them, so the whole tree fits in one vector.
    Tree(Vec<f64>),
    /// All pairs, row by row.
    Matrix(Vec<f64>),
}

/// The distance of one attribute. A missing value is the last code and lies at 1 from every other.
#[derive(Clone, Debug)]
pub struct Distance {
    shape: Shape,
    known: usize,
    missing: bool,
    scale: f64,
    weight: f64,
}

/// The smallest and largest known code of some records, and whether a value is missing among them.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Smallest known code; larger than `last` if there is none.
    pub first: i32,
    /// Largest known code.
    pub last: i32,
    /// Whether the missing code occurs.
    pub missing: bool,
}

impl Span {
    /// No code at all.
    pub const EMPTY: Span = Span { first: i32::MAX, last: i32::MIN, missing: false };

    /// How far apart the codes are, as numbers; the missing code counts as one more.
    pub fn is_one_value(&self) -> bool {
        if self.missing { self.first > self.last } else { self.first >= self.last }
    }
}

impl Distance {
    /// The l1 distance of ascending positions.
    ///
    /// # Errors
    /// [`Error::Shape`] if a position is not finite or they do not ascend.
    pub fn line(positions: Vec<f64>, missing: bool) -> Result<Self> {
        if positions.iter().any(|p| !p.is_finite()) || positions.windows(2).any(|p| p[0] >= p[1]) {
            return Err(Error::Shape("positions must be finite and ascend".into()));
        }
        let scale = match (positions.first(), positions.last()) {
            (Some(first), Some(last)) if last > first => last - first,
            _ => 1.0,
        };
        if !scale.is_finite() {
            return Err(Error::Shape("positions lie too far apart for double precision".into()));
        }
        Ok(Distance { known: positions.len(), shape: Shape::Line(positions), missing, scale, weight: 1.0 })
    }

    /// The tree distance of `known` leaves in depth-first order, `steps` between neighbours.
    ///
    /// # Errors
    /// [`Error::Shape`] if a step lies outside (0, 1] or their number does not fit.
    pub fn tree(mut steps: Vec<f64>, known: usize, missing: bool) -> Result<Self> {
        if steps.len() + 1 != known.max(1) || steps.iter().any(|s| !(*s > 0.0 && *s <= 1.0)) {
            return Err(Error::Shape("a tree of k leaves has k - 1 steps in (0, 1]".into()));
        }
        // Where only a branch of the tree occurs, dis_max(attribute, T) is that branch's height.
        let scale = if steps.is_empty() { 1.0 } else { highest(&steps) };
        steps.iter_mut().for_each(|step| *step /= scale);
        Ok(Distance { known, shape: Shape::Tree(steps), missing, scale, weight: 1.0 })
    }

    /// An own distance between `known` values, row by row.
    ///
    /// # Errors
    /// [`Error::Shape`] if it is not a symmetric, finite, non-negative matrix with a zero diagonal.
    pub fn matrix(mut distances: Vec<f64>, known: usize, missing: bool) -> Result<Self> {
        let sound = distances.len() == known * known
            && (0..known).all(|a| {
                (0..known).all(|b| {
                    let d = distances[a * known + b];
                    d.is_finite() && d >= 0.0 && d == distances[b * known + a] && (a != b || d == 0.0)
                })
            });
        if !sound {
            return Err(Error::Shape(
                "a distance matrix is symmetric, finite, >= 0, with zeros on its diagonal".into(),
            ));
        }
        let largest = distances.iter().copied().fold(0.0, f64::max);
        let scale = if largest > 0.0 { largest } else { 1.0 };
        distances.iter_mut().for_each(|d| *d /= scale);
        Ok(Distance { known, shape: Shape::Matrix(distances), missing, scale, weight: 1.0 })
    }

    /// The same distance, counted `weight` times where attributes are compared to form groups. It stays as it is in
    /// tables, draws and measures.
    ///
    /// # Errors
    /// [`Error::Shape`] for a weight that is not finite and above 0.
    pub fn weighted(self, weight: f64) -> Result<Self> {
        if !weight.is_finite() || weight <= 0.0 {
            return Err(Error::Shape("the weight of an attribute must be finite and above 0".into()));
        }
        Ok(Distance { weight, ..self })
    }

    /// How often the attribute counts where groups are formed.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// How many codes there are, the missing one included.
    pub fn size(&self) -> usize {
        self.known + usize::from(self.missing)
    }

    /// dis_max(attribute, T) in the attribute's own unit.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Whether values stand on a line, so that a mean position says where some of them are.
    pub fn is_line(&self) -> bool {
        matches!(self.shape, Shape::Line(_))
    }

    /// How many codes stand for a value.
    pub fn known(&self) -> usize {
        self.known
    }

    /// Whether, of the known codes on one side of a code, the one next to it is the nearest: lines and trees.
    pub fn is_ordered(&self) -> bool {
        !matches!(self.shape, Shape::Matrix(_))
    }

    /// Whether `code` stands for a missing value.
    #[inline]
    pub fn is_missing(&self, code: i32) -> bool {
        code as usize >= self.known
    }

    /// dis(a, b) in [0, 1].
    pub fn between(&self, a: i32, b: i32) -> f64 {
        if a == b {
            return 0.0;
        }
        if self.is_missing(a) || self.is_missing(b) {
            return 1.0;
        }
        self.across(a.min(b) as usize, a.max(b) as usize)
    }

    fn across(&self, low: usize, high: usize) -> f64 {
        match &self.shape {
            Shape::Line(positions) => (positions[high] - positions[low]) / self.scale,
            Shape::Tree(steps) => highest(&steps[low..high]),
            Shape::Matrix(distances) => distances[low * self.known + high],
        }
    }

    /// The largest distance between values of a group whose codes span `span`; `codes` lists them (any order).
    pub fn width(&self, span: Span, codes: impl Iterator<Item = i32>) -> f64 {
        if span.is_one_value() {
            return 0.0;
        }
        if span.missing {
            return 1.0;
        }
        let Shape::Matrix(_) = self.shape else {
            return self.across(span.first as usize, span.last as usize);
        };
        let mut present: Vec<i32> = codes.collect();
        present.sort_unstable();
        present.dedup();
        let pairs = present.iter().flat_map(|a| present.iter().map(move |b| (*a, *b)));
        pairs.map(|(a, b)| self.between(a, b)).fold(0.0, f64::max)
    }

    /// The sum of squares about the mean of some codes, in the attribute's own unit: where they stand on a line, else
    /// their numbers; a missing one stands one beyond the last.
    pub fn squares(&self, codes: impl Iterator<Item = i32> + Clone) -> f64 {
        let place = |code: i32| match &self.shape {
            Shape::Line(positions) => {
                let last = positions.last().map_or(0.0, |last| last + 1.0);
                positions.get(code as usize).copied().unwrap_or(last)
            }
            _ => f64::from(code),
        };
        let (count, sum) = codes.clone().fold((0_u32, 0.0), |(n, sum), code| (n + 1, sum + place(code)));
        let mean = sum / f64::from(count.max(1));
        codes.map(|code| (place(code) - mean).powi(2)).sum()
    }

    /// The span of some codes.
    pub fn span(&self, codes: impl Iterator<Item = i32>) -> Span {
        codes.fold(Span::EMPTY, |span, code| self.widened(span, code))
    }

    /// `span` with one more code.
    #[inline]
    pub fn widened(&self, span: Span, code: i32) -> Span {
        if self.is_missing(code) {
            return Span { missing: true, ..span };
        }
        Span { first: span.first.min(code), last: span.last.max(code), missing: span.missing }
    }
}

/// The highest step, leaving off at the root: a walk over a wide tree soon meets it.
fn highest(steps: &[f64]) -> f64 {
    let mut top = 0.0;
    for step in steps {
        if *step >= 1.0 {
            return 1.0;
        }
        top = step.max(top);
    }
    top
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_l1_over_its_range() {
        let ages = Distance::line(vec![20.0, 30.0, 60.0], true).unwrap();
        assert_eq!(ages.between(0, 1), 0.25);
        assert_eq!(ages.between(2, 0), 1.0);
        assert_eq!((ages.between(1, 3), ages.between(3, 3), ages.size()), (1.0, 0.0, 4));
    }

    #[test]
    fn a_tree_is_the_height_of_the_lowest_common_ancestor() {
        // ((a b) c) of height 2: a and b meet at height 1, both meet c at the root.
        let tree = Distance::tree(vec![0.5, 1.0], 3, false).unwrap();
        assert_eq!([tree.between(0, 1), tree.between(1, 2), tree.between(2, 0)], [0.5, 1.0, 1.0]);
        // With c gone only the branch is left: a and b are as far apart as two values can be.
        let branch = Distance::tree(vec![0.5], 2, false).unwrap();
        assert_eq!((branch.between(0, 1), branch.scale()), (1.0, 0.5));
    }

    #[test]
    fn a_matrix_is_scaled_and_must_be_symmetric() {
        let own = Distance::matrix(vec![0.0, 4.0, 4.0, 0.0], 2, false).unwrap();
        assert_eq!((own.between(0, 1), own.scale()), (1.0, 4.0));
        assert!(Distance::matrix(vec![0.0, 4.0, 3.0, 0.0], 2, false).is_err());
    }

    #[test]
    fn positions_that_do_not_ascend_are_refused() {
        assert!(Distance::line(vec![1.0, 1.0], false).is_err());
        assert!(Distance::line(vec![0.0, f64::NAN], false).is_err());
        assert!(Distance::line(vec![-1e308, 1e308], false).is_err());
    }

    #[test]
    fn squares_are_of_places_on_a_line_and_else_of_numbers() {
        // 20 30 and the missing one at 61: mean 37, 17² + 7² + 24². Leaves 0 and 2: mean 1.
        let ages = Distance::line(vec![20.0, 30.0, 60.0], true).unwrap();
        assert_eq!(ages.squares([0, 1, 3].into_iter()), 914.0);
        assert_eq!(Distance::tree(vec![0.5, 1.0], 3, false).unwrap().squares([0, 2].into_iter()), 2.0);
    }

    #[test]
    fn a_weight_is_above_zero_and_changes_no_distance() {
        let line = || Distance::line(vec![1.0, 3.0], false).unwrap();
        let twice = line().weighted(2.0).unwrap();
        assert_eq!((twice.weight(), twice.between(0, 1), twice.scale()), (2.0, 1.0, 2.0));
        assert!(line().weighted(0.0).is_err() && line().weighted(f64::INFINITY).is_err());
    }

    #[test]
    fn a_missing_value_beside_another_spans_everything() {
        let ages = Distance::line(vec![20.0, 30.0, 60.0], true).unwrap();
        let span = ages.span([1, 3].into_iter());
        assert_eq!(ages.width(span, [1, 3].into_iter()), 1.0);
        assert!(ages.span([3, 3].into_iter()).is_one_value());
    }
}
