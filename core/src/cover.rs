//! One group, one attribute (Algorithm 1, line 5): the cheapest or the balanced random output table, at its centre.
//!
//! Records of equal value share a row. With u rows of multiplicity m_a, columns b, distances d_ab:
//!
//! ```text
//! min  Σ m_a d_ab q_ab    Σ_b q_ab = 1,   t_ab = δ S_b - q_ab >= 0,   q_ab >= 0,   S_b = Σ_a m_a q_ab
//! ```
//!
//! and S_b = m_b besides where the table is balanced. The optimum is rarely unique; which one is taken is a privacy
//! choice. We take the limit of the central path: it is unique, gives equal records equal rows, and no order of
//! records, solver or machine moves it. A primal-dual path-following method (the paper's kind) leads there.

use std::cmp::Ordering;

use crate::table::{Delta, Table};
use crate::{Error, Result};

/// Which table is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cover {
    /// The paper's linear program.
    Cheapest,
    /// The same with each group's value counts kept in expectation.
    Balanced,
}

impl Cover {
    /// A cover by name.
    ///
    /// # Errors
    /// [`Error::Shape`] for a name that is none.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "cheapest" => Ok(Cover::Cheapest),
            "balanced" => Ok(Cover::Balanced),
            _ => Err(Error::Shape("no cover has that name".into())),
        }
    }
}

/// The linear program of one group and attribute.
#[derive(Clone, Debug)]
pub struct Problem {
    /// How many records share each distinct value.
    pub multiplicities: Vec<u64>,
    /// d_ab, row by row, in any unit.
    pub distances: Vec<f64>,
    /// The column of each row's own value.
    pub own: Vec<usize>,
    /// Which table is wanted.
    pub cover: Cover,
}

/// Complementarity at which the path is left. The step to its limit is second order: what remains is about its square.
const LAST_MU: f64 = 1e-8;
/// How near to the path a point must be, relative to mu, before one more step ends the centring.
const CENTRED: f64 = 1e-6;
/// Steps after which a path that has not arrived is given up; 5 to 15 are usual.
const STEPS: usize = 200;
/// How much of the way to the boundary a step goes.
const CAUTION: f64 = 0.99;

impl Problem {
    fn columns(&self) -> usize {
        self.distances.len() / self.multiplicities.len()
    }

    fn records(&self) -> u64 {
        self.multiplicities.iter().sum()
    }

    /// The table at the centre of the optimal face, checked; δ `None` is tight.
    ///
    /// # Errors
    /// [`Error::Infeasible`] by Property 1; [`Error::Broken`] if the path does not arrive or the check fails.
    pub fn solve(&self, delta: Option<Delta>) -> Result<Table> {
        let records = self.records();
        let delta = delta.unwrap_or(Delta::tight(records as usize));
        let rarest = self.multiplicities.iter().copied().min().unwrap_or(0);
        let table = match delta.times(records) {
            Ordering::Less => return Err(Error::Infeasible { records: records as usize }),
            // Before anything else: a value that covers itself costs nothing.
            _ if delta.times(rarest) != Ordering::Less => Table::identity(&self.own, self.columns()),
            Ordering::Equal => Table::equal_rows(self.common_row()),
            Ordering::Greater => {
                let path = Path::new(self, delta.value()).follow()?;
                Table::round(&path, &self.multiplicities, delta)?
            }
        };
        table.check(&self.multiplicities, delta)?;
        Ok(table)
    }

    /// δm = 1 forces equal rows. Balanced: the group's own counts. Cheapest: all on the weighted median, evenly
    /// over ties, which is where the central path leads.
    fn common_row(&self) -> Vec<u64> {
        let columns = self.columns();
        let mut row = vec![0; columns];
        if self.cover == Cover::Balanced {
            self.own.iter().zip(&self.multiplicities).for_each(|(column, m)| row[*column] = *m);
            return row;
        }
        let cost = |b: usize| -> f64 {
            self.multiplicities.iter().enumerate().map(|(a, m)| *m as f64 * self.distances[a * columns + b]).sum()
        };
        let costs: Vec<f64> = (0..columns).map(cost).collect();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let tie = 1e-9 * self.distances.iter().copied().fold(0.0, f64::max) * self.records() as f64;
        (0..columns).filter(|b| costs[*b] <= least + tie).for_each(|b| row[b] = 1);
        row
    }
}

/// A point near the central path: q·s and t·w all near mu. The duals y and v live inside s, which is updated like
/// the others and never recomputed as d - y + w - v, so that small entries keep their relative precision.
struct Path {
    m: Vec<f64>,
    columns: usize,
    delta: f64,
    cover: Cover,
    q: Vec<f64>,
    s: Vec<f64>,
    t: Vec<f64>,
    w: Vec<f64>,
}

/// A Newton step of the four.
struct Step {
    q: Vec<f64>,
    s: Vec<f64>,
    t: Vec<f64>,
    w: Vec<f64>,
}

/// What a column contributes to the system in Δy once its own (Δv, ΔS) are eliminated.
struct Column {
    /// Coefficients of X·Xᵀ, X·Zᵀ + Z·Xᵀ and Z·Zᵀ.
    xx: f64,
    xz: f64,
    zz: f64,
    /// Σ mDρ and its dual side.
    f: f64,
    g: f64,
}

impl Path {
    /// A strictly feasible point, primal and dual, so that every later one is feasible too.
    fn new(problem: &Problem, delta: f64) -> Self {
        let columns = problem.columns();
        let m: Vec<f64> = problem.multiplicities.iter().map(|m| *m as f64).collect();
        let records: f64 = m.iter().sum();
        let scale = problem.distances.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut start: Vec<f64> = vec![1.0 / columns as f64; columns];
        if problem.cover == Cover::Balanced {
            start.fill(0.0);
            problem.own.iter().zip(&m).for_each(|(column, m)| start[*column] = m / records);
        }
        // Rows equal: q = S/m and t = (δ - 1/m) S. With w = 1/(δm), v = 1 and y = w - 2 the rest of s is d + 1.
        let q: Vec<f64> = m.iter().flat_map(|_| start.iter().copied()).collect();
        let t = q.iter().map(|q| (delta * records - 1.0) * q).collect();
        let s = problem.distances.iter().map(|d| d / scale + 1.0).collect();
        let w = vec![1.0 / (delta * records); q.len()];
        Path { m, columns, delta, cover: problem.cover, q, s, t, w }
    }

    /// Follows the path to mu = [`LAST_MU`], centres there, and takes the last step to its limit.
    fn follow(mut self) -> Result<Vec<f64>> {
        let zeros = vec![0.0; self.q.len()];
        for _ in 0..STEPS {
            let mu = self.mu();
            if mu <= LAST_MU {
                break;
            }
            let predictor = self.step(0.0, &zeros, &zeros);
            let ahead = self.mu_after(&predictor);
            let target = (mu * (ahead / mu).powi(3)).max(LAST_MU / 2.0);
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<f64>>();
            let (qs, tw) = (product(&predictor.q, &predictor.s), product(&predictor.t, &predictor.w));
            let corrector = self.step(target, &qs, &tw);
            self.advance(&corrector);
        }
        for _ in 0..STEPS {
            let arrived = self.is_centred();
            let centring = self.step(LAST_MU, &zeros, &zeros);
            self.advance(&centring);
            if arrived {
                // That step squared what was left of the distance to the path.
                let limit = self.step(0.0, &zeros, &zeros);
                return Ok(self.q.iter().zip(&limit.q).map(|(q, dq)| (q + dq).max(0.0)).collect());
            }
        }
        Err(Error::Broken("the central path of a random output table did not arrive".into()))
    }

    fn mu(&self) -> f64 {
        self.average(|i| self.q[i] * self.s[i] + self.t[i] * self.w[i])
    }

    fn mu_after(&self, step: &Step) -> f64 {
        let primal = longest(&self.q, &step.q).min(longest(&self.t, &step.t)).min(1.0);
        let dual = longest(&self.s, &step.s).min(longest(&self.w, &step.w)).min(1.0);
        self.average(|i| {
            (self.q[i] + primal * step.q[i]) * (self.s[i] + dual * step.s[i])
                + (self.t[i] + primal * step.t[i]) * (self.w[i] + dual * step.w[i])
        })
    }

    /// Each identical record counts, so that the reduced centre is the full problem's.
    fn average(&self, product: impl Fn(usize) -> f64) -> f64 {
        let total: f64 = (0..self.q.len()).map(|i| self.m[i / self.columns] * product(i)).sum();
        total / (2.0 * self.columns as f64 * self.m.iter().sum::<f64>())
    }

    fn is_centred(&self) -> bool {
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a * b / LAST_MU - 1.0).abs() < CENTRED);
        near(&self.q, &self.s) && near(&self.t, &self.w)
    }

    fn advance(&mut self, step: &Step) {
        let primal = (CAUTION * longest(&self.q, &step.q).min(longest(&self.t, &step.t))).min(1.0);
        let dual = (CAUTION * longest(&self.s, &step.s).min(longest(&self.w, &step.w))).min(1.0);
        let add = |x: &mut [f64], dx: &[f64], length: f64| x.iter_mut().zip(dx).for_each(|(x, dx)| *x += length * dx);
        add(&mut self.q, &step.q, primal);
        add(&mut self.t, &step.t, primal);
        add(&mut self.s, &step.s, dual);
        add(&mut self.w, &step.w, dual);
    }

    /// The Newton step towards q·s = t·w = `mu`, less the second-order products given.
    fn step(&self, mu: f64, qs: &[f64], tw: &[f64]) -> Step {
        let cells = self.q.len();
        let n = self.columns;
        // Δs = r - αΔq and Δw = r' - βΔt with α = s/q, β = w/t; D = 1/(α + β), ρ = r - r'.
        let r: Vec<f64> = (0..cells).map(|i| (mu - qs[i]) / self.q[i] - self.s[i]).collect();
        let r_dash: Vec<f64> = (0..cells).map(|i| (mu - tw[i]) / self.t[i] - self.w[i]).collect();
        let alpha: Vec<f64> = self.s.iter().zip(&self.q).map(|(s, q)| s / q).collect();
        let beta: Vec<f64> = self.w.iter().zip(&self.t).map(|(w, t)| w / t).collect();
        let d: Vec<f64> = alpha.iter().zip(&beta).map(|(a, b)| 1.0 / (a + b)).collect();
        let columns: Vec<Column> = (0..n).map(|b| self.column(b, &d, &beta, &r, &r_dash)).collect();
        let dy = self.solve_rows(&columns, &d, &beta, &r, &r_dash);
        let mut step = Step { q: vec![0.0; cells], s: vec![0.0; cells], t: vec![0.0; cells], w: vec![0.0; cells] };
        for (b, column) in columns.iter().enumerate() {
            let (mut f, mut g) = (column.f, column.g);
            for (a, dy) in dy.iter().enumerate() {
                let x = self.m[a] * d[a * n + b] * dy;
                f += x;
                g += self.delta * beta[a * n + b] * x;
            }
            let (dv, ds) = (column.xx * f + column.xz * g, column.xz * f + column.zz * g);
            for (a, dy) in dy.iter().enumerate() {
                let i = a * n + b;
                let pull = r[i] - r_dash[i] + dy + dv;
                step.q[i] = d[i] * (pull + self.delta * beta[i] * ds);
                // δΔS - Δq, written so that nothing cancels where t is small.
                step.t[i] = d[i] * (self.delta * alpha[i] * ds - pull);
                step.s[i] = r[i] - alpha[i] * step.q[i];
                step.w[i] = r_dash[i] - beta[i] * step.t[i];
            }
        }
        step
    }

    /// The pair (Δv, ΔS) of a column solves [[P, -c], [-c, -δ²Q]] · (Δv, ΔS) = -(f, g): its determinant
    /// -(δ²PQ + c²) never cancels. A balanced column has ΔS = 0, so that Δv = -f/P.
    fn column(&self, b: usize, d: &[f64], beta: &[f64], r: &[f64], r_dash: &[f64]) -> Column {
        let (mut p, mut q, mut c, mut f, mut g) = (0.0, 0.0, 1.0, 0.0, 0.0);
        for (a, m) in self.m.iter().enumerate() {
            let i = a * self.columns + b;
            let mass = m * d[i];
            p += mass;
            // αβD = β (1 - βD); α = s/q again, as 1 - βD would cancel.
            q += mass * beta[i] * (self.s[i] / self.q[i]);
            c -= self.delta * mass * beta[i];
            f += mass * (r[i] - r_dash[i]);
            g += self.delta * (m * r_dash[i] + mass * beta[i] * (r[i] - r_dash[i]));
        }
        if self.cover == Cover::Balanced {
            return Column { xx: -1.0 / p, xz: 0.0, zz: 0.0, f, g: 0.0 };
        }
        let determinant = c * c + self.delta * self.delta * p * q;
        Column { xx: -self.delta * self.delta * q / determinant, xz: c / determinant, zz: p / determinant, f, g }
    }

    /// Rows sum to one, so Σ_b Δq = 0 in each: a positive definite system in Δy.
    fn solve_rows(&self, columns: &[Column], d: &[f64], beta: &[f64], r: &[f64], r_dash: &[f64]) -> Vec<f64> {
        let (u, n) = (self.m.len(), self.columns);
        let x: Vec<f64> = (0..u * n).map(|i| self.m[i / n] * d[i]).collect();
        let z: Vec<f64> = (0..u * n).map(|i| self.delta * beta[i] * x[i]).collect();
        let mut matrix = vec![0.0; u * u];
        let mut right = vec![0.0; u];
        for a in 0..u {
            for b in 0..n {
                let (i, column) = (a * n + b, &columns[b]);
                matrix[a * u + a] += x[i];
                let dv = column.xx * column.f + column.xz * column.g;
                let ds = column.xz * column.f + column.zz * column.g;
                right[a] -= x[i] * (r[i] - r_dash[i] + dv) + z[i] * ds;
                let (by_x, by_z) = (column.xx * x[i] + column.xz * z[i], column.xz * x[i] + column.zz * z[i]);
                for e in 0..=a {
                    matrix[a * u + e] += by_x * x[e * n + b] + by_z * z[e * n + b];
                }
            }
        }
        solve_positive(&mut matrix, &mut right);
        right
    }
}

/// The longest step that keeps x + length · dx >= 0.
fn longest(x: &[f64], dx: &[f64]) -> f64 {
    x.iter().zip(dx).filter(|(_, dx)| **dx < 0.0).map(|(x, dx)| -x / dx).fold(f64::INFINITY, f64::min)
}

/// Cholesky, in place, of the lower half; `right` becomes the solution. A pivot that rounding has eaten belongs to a
/// direction in which the duals may shift freely (a balanced table has one): that shift is set to zero.
fn solve_positive(matrix: &mut [f64], right: &mut [f64]) {
    let u = right.len();
    for a in 0..u {
        let diagonal = matrix[a * u + a];
        for e in 0..=a {
            let dot: f64 = (0..e).map(|k| matrix[a * u + k] * matrix[e * u + k]).sum();
            let rest = matrix[a * u + e] - dot;
            matrix[a * u + e] = match e == a {
                false => rest / matrix[e * u + e],
                true if rest > 1e-14 * diagonal => rest.sqrt(),
                true => 1e150,
            };
        }
        let dot: f64 = (0..a).map(|k| matrix[a * u + k] * right[k]).sum();
        right[a] = (right[a] - dot) / matrix[a * u + a];
    }
    for a in (0..u).rev() {
        let dot: f64 = (a + 1..u).map(|k| matrix[k * u + a] * right[k]).sum();
        right[a] = (right[a] - dot) / matrix[a * u + a];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TOTAL;

    fn line(values: &[f64], multiplicities: &[u64], cover: Cover) -> Problem {
        let distances = values.iter().flat_map(|a| values.iter().map(move |b| (a - b).abs())).collect();
        Problem { multiplicities: multiplicities.to_vec(), distances, own: (0..values.len()).collect(), cover }
    }

    fn probability(table: &Table, row: usize, column: usize) -> f64 {
        table.row(row)[column] as f64 / table.total() as f64
    }

    #[test]
    fn the_papers_example_has_its_centre_at_the_root_of_its_equation() {
        // 28, 28, 29 at δ = 1/2: 5/q = 2/(1 - q) + 6/(1 - 2q) at q = .29105; P(29 -> 28) = 1 - 2q.
        let table = line(&[28.0, 29.0], &[2, 1], Cover::Cheapest).solve(Some(Delta::new(1, 2).unwrap())).unwrap();
        let q = probability(&table, 0, 1);
        assert!((5.0 / q - 2.0 / (1.0 - q) - 6.0 / (1.0 - 2.0 * q)).abs() < 1e-6, "{q}");
        assert!((probability(&table, 1, 0) - (1.0 - 2.0 * q)).abs() < 1e-9);
    }

    #[test]
    fn delta_one_keeps_every_value() {
        let table = line(&[1.0, 2.0, 9.0], &[1, 1, 1], Cover::Cheapest).solve(Some(Delta::new(1, 1).unwrap())).unwrap();
        assert_eq!((table.total(), table.row(2)), (1, &[0, 0, 1][..]));
    }

    #[test]
    fn tight_is_the_median_or_the_groups_own_counts() {
        // 1 1 2 9: the median is anything from 1 to 2, and both are columns.
        let cheapest = line(&[1.0, 2.0, 9.0], &[2, 1, 1], Cover::Cheapest).solve(None).unwrap();
        assert_eq!((cheapest.row(0), cheapest.total()), (&[1, 1, 0][..], 2));
        let balanced = line(&[1.0, 2.0, 9.0], &[2, 1, 1], Cover::Balanced).solve(None).unwrap();
        assert_eq!((balanced.row(1), balanced.total()), (&[2, 1, 1][..], 4));
    }

    #[test]
    fn a_delta_below_one_over_m_is_refused() {
        let problem = line(&[1.0, 2.0], &[1, 1], Cover::Cheapest);
        assert_eq!(problem.solve(Some(Delta::new(1, 3).unwrap())), Err(Error::Infeasible { records: 2 }));
    }

    #[test]
    fn a_balanced_table_keeps_the_groups_counts() {
        let multiplicities = [3, 1, 2, 4];
        let problem = line(&[20.0, 22.0, 30.0, 60.0], &multiplicities, Cover::Balanced);
        let table = problem.solve(Some(Delta::new(1, 6).unwrap())).unwrap();
        for (b, m) in multiplicities.iter().enumerate() {
            let sum: u64 = (0..4).map(|a| multiplicities[a] * table.row(a)[b]).sum();
            assert!((sum as f64 / TOTAL as f64 - *m as f64).abs() < 1e-9);
        }
    }

    #[test]
    fn a_delta_just_above_one_over_m_arrives() {
        for denominator in [9_999, 99_999, 999_999] {
            let delta = Delta::new(denominator / 10 + 1, denominator).unwrap();
            for cover in [Cover::Cheapest, Cover::Balanced] {
                line(&[1.0, 2.0, 5.0, 9.0], &[4, 3, 2, 1], cover).solve(Some(delta)).unwrap();
            }
        }
    }
}
