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

use crate::path::{Limit, Program};
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

/// By how much a column must miss the optimum before it is ruled out: far above what the duals are known to.
const RULED_OUT: f64 = 1e-5;

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
            _ if delta.times(rarest) != Ordering::Less && self.is_strict() => {
                Table::identity(&self.own, self.columns())
            }
            Ordering::Equal => Table::equal_rows(self.common_row()),
            Ordering::Greater => Table::round(&self.follow_path(delta.value())?, &self.multiplicities, delta)?,
        };
        table.check(&self.multiplicities, delta)?;
        Ok(table)
    }

    /// Whether no two values lie at distance 0, so that a record that may keep its value does.
    fn is_strict(&self) -> bool {
        let columns = self.columns();
        let far = |(i, d): (usize, &f64)| *d > 0.0 || self.own[i / columns] == i % columns;
        self.distances.iter().enumerate().all(far)
    }

    /// The centre, row by row. Columns that no record has rarely carry anything: the observed ones are solved first,
    /// and what their duals rule out is left out. That changes no centre, for terms that are zero all over the optimal
    /// face are not in its barrier, and halves the time.
    fn follow_path(&self, delta: f64) -> Result<Vec<f64>> {
        if self.columns() == self.own.len() {
            return Ok(self.centre(delta)?.q);
        }
        let observed = self.restricted(&self.own);
        let limit = observed.centre(delta)?;
        let column = |b: usize| self.distances.iter().skip(b).step_by(self.columns()).map(|d| d / limit.scale);
        let useful = |b: &usize| self.own.contains(b) || !self.is_ruled_out(column(*b), &limit.y, delta);
        let kept: Vec<usize> = (0..self.columns()).filter(useful).collect();
        let q = if kept.len() == self.own.len() { limit.q } else { self.restricted(&kept).centre(delta)?.q };
        let mut all = vec![0.0; self.distances.len()];
        for (i, q) in q.into_iter().enumerate() {
            all[i / kept.len() * self.columns() + kept[i % kept.len()]] = q;
        }
        Ok(all)
    }

    /// Whether a column at distances `d` from the rows is zero in every optimum: there are w >= 0 for which all of
    /// s_a = d_a - y_a + w_a - V is above zero, V = δ Σ m w. The least w is (V + y_a - d_a)+, so δ Σ m (V + y - d)+ < V
    /// must hold for some V; the difference is convex and piecewise linear, with corners at d_a - y_a.
    fn is_ruled_out(&self, d: impl Iterator<Item = f64>, y: &[f64], delta: f64) -> bool {
        let corners: Vec<f64> = d.zip(y).map(|(d, y)| d - y).collect();
        let needed = |v: f64| -> f64 {
            let over = corners.iter().zip(&self.multiplicities);
            delta * over.map(|(corner, m)| *m as f64 * (v - corner).max(0.0)).sum::<f64>()
        };
        corners.iter().any(|v| needed(*v) < v - RULED_OUT)
    }

    /// The same problem with fewer columns, which must include every record's own.
    fn restricted(&self, columns: &[usize]) -> Problem {
        let own = self.own.iter().map(|own| columns.partition_point(|column| column < own)).collect();
        let rows = self.distances.chunks_exact(self.columns());
        Problem {
            multiplicities: self.multiplicities.clone(),
            distances: rows.flat_map(|row| columns.iter().map(|column| row[*column])).collect(),
            own,
            cover: self.cover,
        }
    }

    fn centre(&self, delta: f64) -> Result<Limit> {
        let (multiplicities, distances) = (&self.multiplicities, &self.distances);
        let is_balanced = self.cover == Cover::Balanced;
        Program { multiplicities, distances, start: &self.even_row(), delta, is_balanced }.centre()
    }

    /// A row that every record may share at any δ above 1/m: even, or the group's own counts where those are kept.
    fn even_row(&self) -> Vec<f64> {
        let (columns, records) = (self.columns(), self.records() as f64);
        if self.cover == Cover::Cheapest {
            return vec![1.0 / columns as f64; columns];
        }
        let mut row = vec![0.0; columns];
        self.own.iter().zip(&self.multiplicities).for_each(|(column, m)| row[*column] = *m as f64 / records);
        row
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
    fn rows_that_only_empty_cells_tie_together_come_out_exact() {
        // Two values at distance 0 from each other and one far off, 2 + 1 + 6 records, all free to stay (δ = 1): the far
        // one stays, and the other two share their columns by their counts.
        let problem = Problem {
            multiplicities: vec![2, 1, 6],
            distances: vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0],
            own: vec![0, 1, 2],
            cover: Cover::Balanced,
        };
        let table = problem.solve(Some(Delta::new(1, 1).unwrap())).unwrap();
        assert_eq!((table.row(2), table.row(0)[2], table.row(1)[2]), (&[0, 0, TOTAL][..], 0, 0));
        assert!((probability(&table, 0, 0) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_tie_of_one_in_17000_does_not_move_the_centre() {
        // 3 3 3 4 and four of 17136 at δ = 1/2: P(3→4) = x, P(4→4) = 3x. The barrier of the face, 3 log(1-x) + 3 log x +
        // log(1-3x) + log 3x + 3 log(1-2x) + 3 log 2x + 4 log(2-3x) + 4 log 3x, is greatest at x = .2651517687.
        let table = line(&[3.0, 4.0, 17136.0], &[3, 1, 4], Cover::Cheapest).solve(Some(Delta::new(1, 2).unwrap()));
        assert!((probability(&table.unwrap(), 0, 1) - 0.265_151_768_7).abs() < 1e-9);
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
