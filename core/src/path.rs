//! The central path of a random output table's linear program: the primal-dual method that leads to its centre.
//!
//! With duals scaled by the multiplicities, per column b: s_ab = d_ab - y_a + w_ab - v_b with v_b = δ Σ m_a w_ab, and
//! on the path q·s = t·w = mu in every cell, where each identical record counts m_a times. Every cell has two primal
//! numbers (q, t) and two dual ones (s, w) that are treated alike and travel as pairs. The Newton system of a step is
//! in [`crate::system`].

use crate::system::{Columns, Pair, System, Width};
use crate::{Error, Result};

mod face;

/// Complementarity at which the path is left. The step from there is second order: what remains is about its square.
const LAST_MU: f64 = 1e-8;
/// Where the path is followed to, in a few steps each, while its point does not tell the optimal face.
const FURTHER: [f64; 4] = [1e-10, 1e-12, 1e-14, 1e-16];
const FEW: usize = 12;
/// How near to the path a point must be, relative to mu, before it leaves for the face.
const CENTRED: f64 = 1e-5;
/// Steps after which a path that has not arrived is given up; 10 to 15 are usual.
const STEPS: usize = 200;
/// How much of the way to the boundary a step goes.
const CAUTION: f64 = 0.99;

/// A point near the central path, the Newton system there, and the step it gives. The duals y and v live inside s,
/// which is updated like the others and never recomputed as d - y + w - v, so that small entries keep their relative
/// precision. Matrices stand row by row.
struct Path<'a, W: Width> {
    m: Vec<f64>,
    distances: &'a [f64],
    scale: f64,
    width: W,
    delta: f64,
    is_balanced: bool,
    /// (q, t) and (s, w) of each cell, and what is to be added to them.
    primal: Vec<Pair>,
    dual: Vec<Pair>,
    primal_step: Vec<Pair>,
    dual_step: Vec<Pair>,
    /// S_b of a balanced table, and what it lacks of that.
    sums: Vec<f64>,
    lacking: Vec<f64>,
    system: System<W>,
}

/// A linear program: multiplicities of the rows, distances row by row, and a row `start` that all records may share,
/// whose column sums must be those of a balanced table.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// m_a.
    pub multiplicities: &'a [u64],
    /// d_ab, in any unit.
    pub distances: &'a [f64],
    /// S_b/m at the first point.
    pub start: &'a [f64],
    /// δ, above 1/m.
    pub delta: f64,
    /// Whether column sums are to stay those of the start.
    pub is_balanced: bool,
}

impl Program<'_> {
    /// Where the central path leads. Tables of few columns, which most are, have code of their own, unrolled.
    ///
    /// # Errors
    /// [`Error::Broken`] if the path does not arrive.
    pub fn centre(&self) -> Result<Limit> {
        match self.start.len() {
            2 => Path::new(self, Columns::<2>).follow(),
            3 => Path::new(self, Columns::<3>).follow(),
            4 => Path::new(self, Columns::<4>).follow(),
            5 => Path::new(self, Columns::<5>).follow(),
            6 => Path::new(self, Columns::<6>).follow(),
            7 => Path::new(self, Columns::<7>).follow(),
            8 => Path::new(self, Columns::<8>).follow(),
            9 => Path::new(self, Columns::<9>).follow(),
            10 => Path::new(self, Columns::<10>).follow(),
            many => Path::new(self, many).follow(),
        }
    }
}

/// Where the path ends: q row by row, and the duals y of the rows, in units of `scale`, the largest distance.
#[derive(Debug)]
pub struct Limit {
    /// q_ab.
    pub q: Vec<f64>,
    /// y_a.
    pub y: Vec<f64>,
    /// What distances were divided by.
    pub scale: f64,
}

impl<'a, W: Width> Path<'a, W> {
    /// A strictly feasible point, primal and dual, so that every later one is feasible too.
    fn new(program: &'a Program<'a>, width: W) -> Self {
        let Program { multiplicities, distances, start, delta, is_balanced } = *program;
        let m: Vec<f64> = multiplicities.iter().map(|m| *m as f64).collect();
        let records: f64 = m.iter().sum();
        let scale = distances.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        // Rows equal: q = S/m and t = (δ - 1/m) S. With w = 1/(δm), v = 1 and y = w - 2 the rest of s is d + 1.
        let shared: Vec<Pair> = start.iter().map(|q| Pair(*q, (delta * records - 1.0) * q)).collect();
        let primal = shared.repeat(m.len());
        let dual = distances.iter().map(|d| Pair(d / scale + 1.0, 1.0 / (delta * records))).collect();
        let (primal_step, dual_step) = (vec![Pair::ZERO; primal.len()], vec![Pair::ZERO; primal.len()]);
        let (sums, lacking) = (start.iter().map(|q| records * q).collect(), vec![0.0; start.len()]);
        let system = System::new(m.len(), width);
        Path {
            m,
            distances,
            scale,
            width,
            delta,
            is_balanced,
            primal,
            dual,
            primal_step,
            dual_step,
            sums,
            lacking,
            system,
        }
    }

    /// Follows the path to mu = [`LAST_MU`], or on to where it shows which cells are zero at its end, and lands there.
    ///
    /// # Errors
    /// [`Error::Broken`] if it does not arrive.
    fn follow(mut self) -> Result<Limit> {
        for _ in 0..STEPS {
            let mu = self.mu_after(Pair::ZERO);
            if mu <= 1.5 * LAST_MU {
                break;
            }
            self.factor();
            self.aim(0.0, 0.0);
            let ahead = self.mu_after(self.lengths().map_each(|length| length.min(1.0)));
            self.aim((mu * (ahead / mu).powi(2)).max(LAST_MU), 1.0);
            self.advance();
        }
        if !self.centre(LAST_MU, STEPS) {
            return Err(Error::Broken("the central path of a random output table did not arrive".into()));
        }
        for mu in FURTHER {
            if self.is_clear() || !self.centre(mu, FEW) {
                break;
            }
        }
        let y = self.y();
        Ok(Limit { q: self.land(), y, scale: self.scale })
    }

    /// Steps to within [`CENTRED`] of the point of the path at `mu`, and whether they came there.
    fn centre(&mut self, mu: f64, steps: usize) -> bool {
        (0..steps).any(|_| {
            if self.is_centred(mu) {
                return true;
            }
            self.factor();
            self.aim(mu, 0.0);
            self.advance();
            false
        })
    }

    /// y_a = d - s + w - v, read where s is smallest.
    fn y(&self) -> Vec<f64> {
        let n = self.width.columns();
        let mut v = vec![0.0; n];
        for (m, row) in self.m.iter().zip(self.dual.chunks_exact(n)) {
            v.iter_mut().zip(row).for_each(|(v, dual)| *v += self.delta * m * dual.1);
        }
        let cell = |i: &usize| self.dual[*i].0;
        let rows = (0..self.m.len()).map(|a| {
            let least = (a * n..(a + 1) * n).min_by(|i, j| cell(i).total_cmp(&cell(j))).unwrap_or(a * n);
            self.distances[least] / self.scale - self.dual[least].0 + self.dual[least].1 - v[least - a * n]
        });
        rows.collect()
    }

    /// The average complementarity after steps of these lengths (primal, dual), each identical record counted, so that
    /// the reduced centre is the full problem's.
    fn mu_after(&self, lengths: Pair) -> f64 {
        let n = self.width.columns();
        let (by_primal, by_dual) = (Pair::of(lengths.0), Pair::of(lengths.1));
        let mut total = 0.0;
        for (a, m) in self.m.iter().enumerate() {
            let (p, dp) = (&self.primal[a * n..][..n], &self.primal_step[a * n..][..n]);
            let (d, dd) = (&self.dual[a * n..][..n], &self.dual_step[a * n..][..n]);
            let mut row = Pair::ZERO;
            for b in 0..n {
                row += (p[b] + by_primal * dp[b]) * (d[b] + by_dual * dd[b]);
            }
            total += m * row.sum();
        }
        total / (2.0 * n as f64 * self.m.iter().sum::<f64>())
    }

    /// The longest steps (primal, dual) that stay inside.
    fn lengths(&self) -> Pair {
        let steepest = |point: &[Pair], step: &[Pair]| {
            let mut steepest = Pair::of(f64::MIN_POSITIVE);
            for (x, dx) in point.iter().zip(step) {
                steepest = steepest.larger(Pair::ZERO - *dx / *x);
            }
            steepest.0.max(steepest.1)
        };
        Pair(1.0 / steepest(&self.primal, &self.primal_step), 1.0 / steepest(&self.dual, &self.dual_step))
    }

    fn is_centred(&self, mu: f64) -> bool {
        let apart = |x: f64| (x / mu - 1.0).abs();
        let products = self.primal.iter().zip(&self.dual).map(|(p, d)| *p * *d);
        products.map(|both| apart(both.0).max(apart(both.1))).fold(0.0, f64::max) < CENTRED
    }

    fn advance(&mut self) {
        let lengths = self.lengths().map_each(|length| (CAUTION * length).min(1.0));
        let add = |x: &mut [Pair], dx: &[Pair], length: f64| {
            x.iter_mut().zip(dx).for_each(|(x, dx)| *x += Pair::of(length) * *dx);
        };
        add(&mut self.primal, &self.primal_step, lengths.0);
        add(&mut self.dual, &self.dual_step, lengths.1);
    }

    /// What does not depend on the aim.
    fn factor(&mut self) {
        let n = self.width.columns();
        let System { ratio, d, weight, right, shift, .. } = &mut self.system;
        // P = ΣX and Q = ΣαβX wait in `right`, c = 1 - ΣZ in `shift`.
        let (sums, c) = (&mut right[..n], &mut shift[..n]);
        sums.fill(Pair::ZERO);
        c.fill(Pair(1.0, 0.0));
        for (a, m) in self.m.iter().enumerate() {
            let (primal, dual) = (&self.primal[a * n..][..n], &self.dual[a * n..][..n]);
            let (ratio, d) = (&mut ratio[a * n..][..n], &mut d[a * n..][..n]);
            let weight = &mut weight[a * n..][..n];
            for b in 0..n {
                ratio[b] = dual[b] / primal[b];
                d[b] = 1.0 / ratio[b].sum();
                let x = m * d[b];
                weight[b] = Pair(x, self.delta * ratio[b].1 * x);
                // αβD, not β(1 - βD), which would cancel.
                sums[b] += Pair(x, x * ratio[b].0 * ratio[b].1);
                c[b].0 -= weight[b].1;
            }
        }
        self.system.eliminate(self.delta, self.is_balanced);
        self.system.factor();
    }

    /// The Newton step towards q·s = t·w = `mu`, less `correction` times the products of the step before:
    /// Δs = r - αΔq and Δw = r' - βΔt, with ρ = r - r'.
    fn aim(&mut self, mu: f64, correction: f64) {
        let n = self.width.columns();
        let (mu, correction) = (Pair::of(mu), Pair::of(correction));
        let right = &mut self.system.right[..n];
        right.fill(Pair::ZERO);
        for (a, m) in self.m.iter().enumerate() {
            let (primal, dual) = (&self.primal[a * n..][..n], &self.dual[a * n..][..n]);
            let (dp, dd) = (&mut self.primal_step[a * n..][..n], &mut self.dual_step[a * n..][..n]);
            let weight = &self.system.weight[a * n..][..n];
            for b in 0..n {
                let r = (mu - correction * dp[b] * dd[b]) / primal[b] - dual[b];
                let rho = r.0 - r.1;
                right[b] += weight[b] * Pair::of(rho) + Pair(0.0, self.delta * m * r.1);
                // The step's places hold ρ, r and r' until it is known.
                (dp[b].0, dd[b]) = (rho, r);
            }
        }
        if self.is_balanced {
            right.iter_mut().zip(&self.lacking).for_each(|(right, lacking)| *right = Pair(right.0 - lacking, 0.0));
        }
        self.system.solve(&self.primal_step);
        let System { ratio, d, shift, dy, .. } = &self.system;
        let shift = &shift[..n];
        for (a, dy) in dy.iter().enumerate() {
            let (dp, dd) = (&mut self.primal_step[a * n..][..n], &mut self.dual_step[a * n..][..n]);
            let (ratio, d) = (&ratio[a * n..][..n], &d[a * n..][..n]);
            for b in 0..n {
                let (pull, sum) = (dp[b].0 + dy + shift[b].0, self.delta * shift[b].1);
                // Δt = δΔS - Δq, written so that nothing cancels where t is small.
                dp[b] = Pair::of(d[b]) * (Pair(pull, -pull) + Pair(ratio[b].1, ratio[b].0) * Pair::of(sum));
                dd[b] -= ratio[b] * dp[b];
            }
        }
    }
}
