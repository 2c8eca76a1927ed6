//! The end of the path: from a point near it onto the optimal face, and to the centre of the face.
//!
//! On the face some q and t are zero: those far below their duals. What remains is free, and the centre is where
//! Σ m (log q + log t) over the free ones is greatest. Newton's step for that is solved by the system of the path, with
//! ratios s/q and w/t of 1/q² and 1/t² where free and beyond all others where zero.

use super::Path;
use crate::system::{Pair, Width};

/// How far apart q and s must be, and t and w, to tell which of them is zero on the face.
const CLEAR: f64 = 1e4;
/// The ratio s/q, or w/t, of what is zero: all others are nothing beside it. Much larger would not do, for a column
/// may hold nothing that is free, and then the ratios themselves tell its sum.
const FIRM: f64 = 1e12;
/// A step that moves nothing by more than this, relative to itself, is the last: what remains is about its square. The
/// first nearly always is; the second is where values lie 10,000 times nearer to some than to others.
const SMALL: f64 = 1e-4;
const LANDINGS: usize = 6;

impl<W: Width> Path<'_, W> {
    /// Whether every q is far from its s, and every t from its w, so that the smaller of the two is zero at the end.
    pub(super) fn is_clear(&self) -> bool {
        let mut ratios = self.primal.iter().zip(&self.dual).map(|(primal, dual)| *primal / *dual);
        let is_far = |ratio: f64| !(1.0 / CLEAR..CLEAR).contains(&ratio);
        ratios.all(|ratio| is_far(ratio.0) && is_far(ratio.1))
    }

    /// The last steps: q on the face, at its centre. A step towards mu = 0 inside the system of the path would lose 1e-8
    /// where only cells that are zero on the face tie some rows to the others: their weights are about mu beside others
    /// of 1/mu, and rounding eats them.
    pub(super) fn land(&mut self) -> Vec<f64> {
        let both = self.primal.iter().zip(&self.dual);
        let zero: Vec<(bool, bool)> = both.map(|(p, d)| (p.0 < d.0, p.1 < d.1)).collect();
        for _ in 0..LANDINGS {
            self.aim_at_the_face(&zero, 1.0);
            self.factor();
            if self.step_on_the_face(&zero) < SMALL {
                break;
            }
        }
        // Steps to the centre leave the face by about 1e-12 of their gradients, which this one makes good.
        self.aim_at_the_face(&zero, 0.0);
        self.step_on_the_face(&zero);
        self.primal.iter().map(|primal| primal.0).collect()
    }

    /// Rows that sum to one, t as it follows from q, and what the columns of a balanced table lack.
    fn meet_the_sums(&mut self) {
        let n = self.width.columns();
        let mut sums = vec![0.0; n];
        for (m, row) in self.m.iter().zip(self.primal.chunks_exact_mut(n)) {
            let total: f64 = row.iter().map(|primal| primal.0).sum();
            for (sum, primal) in sums.iter_mut().zip(row) {
                primal.0 /= total;
                *sum += m * primal.0;
            }
        }
        if self.is_balanced {
            self.lacking = self.sums.iter().zip(&sums).map(|(wanted, sum)| wanted - sum).collect();
        } else {
            self.sums = sums;
        }
        for row in self.primal.chunks_exact_mut(n) {
            row.iter_mut().zip(&self.sums).for_each(|(primal, sum)| primal.1 = self.delta * sum - primal.0);
        }
    }

    /// Sets ratios and gradients: what is `zero` (q, t) is to become it; the rest has `gradient` times that of its
    /// logarithm.
    fn aim_at_the_face(&mut self, zero: &[(bool, bool)], gradient: f64) {
        self.meet_the_sums();
        // The dual that gives the ratio. An exact zero would give none.
        let pull = |x: &mut f64, zero: bool| {
            if *x == 0.0 {
                *x = f64::MIN_POSITIVE;
            }
            if zero { FIRM * *x } else { 1.0 / *x }
        };
        let free = |zero: bool| f64::from(u8::from(!zero));
        for (i, zero) in zero.iter().enumerate() {
            let primal = &mut self.primal[i];
            self.dual[i] = Pair(pull(&mut primal.0, zero.0), pull(&mut primal.1, zero.1));
            // A correction that leaves `gradient`/q of the pull of what is free, and takes nothing from the rest.
            self.primal_step[i] = Pair(free(zero.0), free(zero.1));
            self.dual_step[i] = Pair::of(-1.0 - gradient);
        }
    }

    /// Newton's step: the largest change of what is free, relative to itself.
    fn step_on_the_face(&mut self, zero: &[(bool, bool)]) -> f64 {
        self.aim(0.0, 1.0);
        let mut largest = 0.0_f64;
        for ((primal, step), zero) in self.primal.iter_mut().zip(&self.primal_step).zip(zero) {
            let change = (*step / *primal).map_each(f64::abs);
            largest = largest.max(if zero.0 { 0.0 } else { change.0 }).max(if zero.1 { 0.0 } else { change.1 });
            primal.0 = if zero.0 { 0.0 } else { (primal.0 + step.0).max(0.0) };
        }
        largest
    }
}
