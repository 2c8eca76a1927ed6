//! The Newton system of a point near the central path: its elimination column by column, down to one positive definite
//! system in Δy (docs/algebra/centre.md). Cells come in pairs, which is what the vector registers of every machine hold.

use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// Two numbers that are treated alike.
#[derive(Clone, Copy, Debug)]
pub struct Pair(pub f64, pub f64);

impl Pair {
    pub const ZERO: Pair = Pair(0.0, 0.0);

    #[inline(always)]
    pub fn of(both: f64) -> Self {
        Pair(both, both)
    }

    #[inline(always)]
    pub fn map_each(self, change: impl Fn(f64) -> f64) -> Self {
        Pair(change(self.0), change(self.1))
    }

    #[inline(always)]
    pub fn sum(self) -> f64 {
        self.0 + self.1
    }

    #[inline(always)]
    pub fn larger(self, other: Pair) -> Self {
        let of = |a: f64, b: f64| if a > b { a } else { b };
        Pair(of(self.0, other.0), of(self.1, other.1))
    }
}

macro_rules! lane_by_lane {
    ($($operation:ident $function:ident $sign:tt;)*) => {$(
        impl $operation for Pair {
            type Output = Pair;
            #[inline(always)]
            fn $function(self, other: Pair) -> Pair {
                Pair(self.0 $sign other.0, self.1 $sign other.1)
            }
        }
    )*};
}
lane_by_lane! { Add add +; Sub sub -; Mul mul *; Div div /; }

impl AddAssign for Pair {
    #[inline(always)]
    fn add_assign(&mut self, other: Pair) {
        *self = *self + other;
    }
}

impl SubAssign for Pair {
    #[inline(always)]
    fn sub_assign(&mut self, other: Pair) {
        *self = *self - other;
    }
}

/// How many columns a table has, known to the compiler or not.
pub trait Width: Copy {
    fn columns(self) -> usize;
}

#[derive(Clone, Copy)]
pub struct Columns<const N: usize>;

impl<const N: usize> Width for Columns<N> {
    #[inline(always)]
    fn columns(self) -> usize {
        N
    }
}

impl Width for usize {
    fn columns(self) -> usize {
        self
    }
}

/// The Newton system at a point, factored once for every aim.
pub struct System<W: Width> {
    width: W,
    /// (α, β) = (s/q, w/t) of each cell.
    pub ratio: Vec<Pair>,
    /// D = 1/(α + β) of each cell.
    pub d: Vec<f64>,
    /// (X, Z) = (mD, δβmD) of each cell.
    pub weight: Vec<Pair>,
    /// Coefficients of X·Xᵀ, X·Zᵀ + Z·Xᵀ and Z·Zᵀ of each column, once its own (Δv, ΔS) are eliminated: a symmetric
    /// 2×2 matrix as its two columns.
    inner: Vec<[Pair; 2]>,
    /// The right-hand side (f, g) of each column's pair (Δv, ΔS), and that pair.
    pub right: Vec<Pair>,
    pub shift: Vec<Pair>,
    /// The Cholesky factor of the system in Δy, and Δy.
    factor: Vec<f64>,
    pub dy: Vec<f64>,
}

impl<W: Width> System<W> {
    pub fn new(rows: usize, width: W) -> Self {
        let columns = width.columns();
        System {
            width,
            ratio: vec![Pair::ZERO; rows * columns],
            d: vec![0.0; rows * columns],
            weight: vec![Pair::ZERO; rows * columns],
            inner: vec![[Pair::ZERO; 2]; columns],
            right: vec![Pair::ZERO; columns],
            shift: vec![Pair::ZERO; columns],
            factor: vec![0.0; rows * rows],
            dy: vec![0.0; rows],
        }
    }

    /// The pair (Δv, ΔS) of a column solves [[P, -c], [-c, -δ²Q]] · (Δv, ΔS) = -(f, g): its determinant
    /// -(δ²PQ + c²) never cancels. A balanced column has ΔS = 0, so that Δv = -f/P.
    pub fn eliminate(&mut self, delta: f64, is_balanced: bool) {
        let squared = delta * delta;
        for ((inner, Pair(p, q)), Pair(c, _)) in self.inner.iter_mut().zip(&self.right).zip(&self.shift) {
            if is_balanced {
                inner[0].0 = -1.0 / p;
                continue;
            }
            let determinant = c * c + squared * p * q;
            *inner = [Pair(-squared * q, *c) / Pair::of(determinant), Pair(*c, *p) / Pair::of(determinant)];
        }
    }

    /// Rows sum to one, so Σ_b Δq = 0 in each: a positive definite system in Δy. Cholesky of its lower half. A pivot that
    /// rounding has eaten belongs to a direction in which the duals may shift freely (a balanced table has one): that
    /// shift is set to zero.
    pub fn factor(&mut self) {
        let (u, n) = (self.dy.len(), self.width.columns());
        let (by, inner) = (&mut self.right[..n], &self.inner[..n]);
        for a in 0..u {
            let row = &self.weight[a * n..][..n];
            let mut own = 0.0;
            for b in 0..n {
                by[b] = apply(&inner[b], row[b]);
                own += row[b].0;
            }
            for e in 0..=a {
                let other = &self.weight[e * n..][..n];
                let mut sum = Pair::ZERO;
                for b in 0..n {
                    sum += by[b] * other[b];
                }
                self.factor[a * u + e] = sum.sum();
            }
            self.factor[a * u + a] += own;
        }
        cholesky(&mut self.factor, u);
    }

    /// Δy, and with it (Δv, ΔS), for the right-hand sides (f, g) and ρ, which stands first in each pair of `rho`.
    pub fn solve(&mut self, rho: &[Pair]) {
        let n = self.width.columns();
        self.pair();
        let (right, shift) = (&mut self.right[..n], &self.shift[..n]);
        for (a, dy) in self.dy.iter_mut().enumerate() {
            let (weight, rho) = (&self.weight[a * n..][..n], &rho[a * n..][..n]);
            let mut row = Pair::ZERO;
            for b in 0..n {
                row += weight[b] * (Pair(rho[b].0, 0.0) + shift[b]);
            }
            *dy = -row.sum();
        }
        substitute(&self.factor, &mut self.dy);
        for (a, dy) in self.dy.iter().enumerate() {
            let weight = &self.weight[a * n..][..n];
            for b in 0..n {
                right[b] += weight[b] * Pair::of(*dy);
            }
        }
        self.pair();
    }

    fn pair(&mut self) {
        let n = self.width.columns();
        let (shift, right, inner) = (&mut self.shift[..n], &self.right[..n], &self.inner[..n]);
        for b in 0..n {
            shift[b] = apply(&inner[b], right[b]);
        }
    }
}

/// The Cholesky factor of the lower half of a matrix, in its place.
#[inline]
fn cholesky(matrix: &mut [f64], u: usize) {
    for a in 0..u {
        let (above, row) = matrix.split_at_mut(a * u);
        let diagonal = row[a];
        for e in 0..a {
            let other = &above[e * u..][..=e];
            row[e] = (row[e] - dot(&row[..e], &other[..e])) / other[e];
        }
        let rest = diagonal - dot(&row[..a], &row[..a]);
        row[a] = if rest > 1e-14 * diagonal { rest.sqrt() } else { 1e150 };
    }
}

/// Solves the factored system; `right` becomes the solution.
#[inline]
fn substitute(factor: &[f64], right: &mut [f64]) {
    let u = right.len();
    for a in 0..u {
        let row = &factor[a * u..][..=a];
        right[a] = (right[a] - dot(&row[..a], &right[..a])) / row[a];
    }
    for a in (0..u).rev() {
        let row = &factor[a * u..][..=a];
        let here = right[a] / row[a];
        right[a] = here;
        right[..a].iter_mut().zip(row).for_each(|(right, factor)| *right -= factor * here);
    }
}

/// A 2×2 matrix, given by its columns, times a vector.
#[inline(always)]
fn apply(columns: &[Pair; 2], vector: Pair) -> Pair {
    columns[0] * Pair::of(vector.0) + columns[1] * Pair::of(vector.1)
}

/// Two sums side by side, always in the same order.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = Pair::ZERO;
    let (a_twos, b_twos) = (a.chunks_exact(2), b.chunks_exact(2));
    let rest: f64 = a_twos.remainder().iter().zip(b_twos.remainder()).map(|(a, b)| a * b).sum();
    a_twos.zip(b_twos).for_each(|(a, b)| sum += Pair(a[0], a[1]) * Pair(b[0], b[1]));
    sum.sum() + rest
}
