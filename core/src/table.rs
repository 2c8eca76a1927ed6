//! The random output table (Definition 1) in integers, and its exact check. Nothing is drawn from anything else.

use crate::stream::Stream;
use crate::{Error, Result};

/// What a numerator of a solved table counts: 2^-48. Closed forms have smaller totals and are exact.
pub const TOTAL: u64 = 1 << 48;

/// δ as a rational number, so that every comparison is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Above the line.
    pub numerator: u64,
    /// Below the line.
    pub denominator: u64,
}

impl Delta {
    /// A δ in (0, 1].
    ///
    /// # Errors
    /// [`Error::Shape`].
    pub fn new(numerator: u64, denominator: u64) -> Result<Self> {
        if numerator == 0 || numerator > denominator || denominator > u64::from(u32::MAX) {
            return Err(Error::Shape("delta is a fraction in (0, 1] with a denominator below 2^32".into()));
        }
        Ok(Delta { numerator, denominator })
    }

    /// 1/m, the smallest value Property 1 allows to a group of m records.
    pub fn tight(records: usize) -> Self {
        Delta { numerator: 1, denominator: records as u64 }
    }

    /// How δ · `count` compares with 1.
    pub fn times(&self, count: u64) -> std::cmp::Ordering {
        (u128::from(self.numerator) * u128::from(count)).cmp(&u128::from(self.denominator))
    }

    /// δ as a float, for the solver only.
    pub fn value(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The largest integer at most δ · `sum`.
    fn floor(&self, sum: u128) -> u128 {
        sum * u128::from(self.numerator) / u128::from(self.denominator)
    }
}

/// p_ij as numerators over one total, one row a distinct value; records of equal value share a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: usize,
    /// Row by row; a single row if all rows are equal.
    numerators: Vec<u64>,
    total: u64,
}

impl Table {
    /// Every record keeps its value: `columns[a]` is the column of row a.
    pub fn identity(own: &[usize], columns: usize) -> Self {
        let mut numerators = vec![0; own.len() * columns];
        own.iter().enumerate().for_each(|(row, column)| numerators[row * columns + column] = 1);
        Table { columns, numerators, total: 1 }
    }

    /// All rows equal and proportional to `weights`.
    pub fn equal_rows(weights: Vec<u64>) -> Self {
        Table { columns: weights.len(), total: weights.iter().sum(), numerators: weights }
    }

    /// Rounds probabilities (row by row) to integers that keep Definition 1 and 3 exactly: down first, then what
    /// stands above its limit is lowered to it, then each row's rest goes where the row has room. A row's room
    /// is δm - 1 in all, so it has some whenever δ > 1/m.
    ///
    /// # Errors
    /// [`Error::Broken`] if a row finds no room.
    pub fn round(probabilities: &[f64], multiplicities: &[u64], delta: Delta) -> Result<Self> {
        let rows = multiplicities.len();
        let columns = probabilities.len() / rows;
        let mut numerators = Vec::with_capacity(probabilities.len());
        for row in probabilities.chunks_exact(columns) {
            // A hair below 1, so that no row comes out above the total: what was cut off is filled in at the end.
            let unit = TOTAL as f64 * (1.0 - 8.0 * f64::EPSILON) / row.iter().map(|p| p.max(0.0)).sum::<f64>();
            numerators.extend(row.iter().map(|p| (p.max(0.0) * unit) as u64));
        }
        let mut table = Table { columns, numerators, total: TOTAL };
        (0..columns).for_each(|column| table.lower(column, multiplicities, delta));
        for row in 0..rows {
            table.fill(row, multiplicities, delta)?;
        }
        Ok(table)
    }

    /// Lowers the entries of a column that exceed δ times its sum. Those at the limit share one level L, with
    /// L <= δ (m_L L + rest); solving that for L beats lowering step by step, which may take 1/(1 - δ m_L) steps.
    fn lower(&mut self, column: usize, multiplicities: &[u64], delta: Delta) {
        let mut at_limit = vec![false; multiplicities.len()];
        loop {
            let sum = self.sum(column, multiplicities);
            let above = |row: usize| u128::from(self.numerators[row * self.columns + column]) > delta.floor(sum);
            let violators: Vec<usize> = (0..multiplicities.len()).filter(|row| above(*row)).collect();
            if violators.is_empty() {
                return;
            }
            violators.iter().for_each(|row| at_limit[*row] = true);
            let shared = |row: &usize| at_limit[*row];
            let strength: u64 = (0..multiplicities.len()).filter(shared).map(|row| multiplicities[row]).sum();
            let numerator = |row: usize| self.numerators[row * self.columns + column];
            let rest: u128 = (0..multiplicities.len())
                .filter(|row| !at_limit[*row])
                .map(|row| u128::from(multiplicities[row]) * u128::from(numerator(row)))
                .sum();
            let lowest = (0..multiplicities.len()).filter(shared).map(numerator).min().unwrap_or(0);
            let denominator = u128::from(delta.denominator);
            let room = denominator.saturating_sub(u128::from(delta.numerator) * u128::from(strength));
            let level = match (rest * u128::from(delta.numerator)).checked_div(room) {
                Some(level) => lowest.min(level as u64),
                // m_L >= 1/δ: any common level keeps the limit.
                None => lowest,
            };
            let columns = self.columns;
            (0..multiplicities.len())
                .filter(|row| at_limit[*row])
                .for_each(|row| self.numerators[row * columns + column] = level);
        }
    }

    /// Brings a row up to the total: into its likeliest column with room, then wherever there is room.
    fn fill(&mut self, row: usize, multiplicities: &[u64], delta: Delta) -> Result<()> {
        let cells = row * self.columns..(row + 1) * self.columns;
        let mut rest = self.total - self.numerators[cells].iter().sum::<u64>();
        let mut columns: Vec<usize> = (0..self.columns).collect();
        columns.sort_by_key(|column| std::cmp::Reverse(self.numerators[row * self.columns + column]));
        for whole in [true, false] {
            for column in &columns {
                let limit = delta.floor(self.sum(*column, multiplicities));
                let entry = &mut self.numerators[row * self.columns + column];
                let room = limit.saturating_sub(u128::from(*entry)).min(u128::from(rest)) as u64;
                if !whole || room == rest {
                    *entry += room;
                    rest -= room;
                }
            }
        }
        if rest == 0 {
            Ok(())
        } else {
            Err(Error::Broken("a random output table has no room for its own rounding".into()))
        }
    }

    fn sum(&self, column: usize, multiplicities: &[u64]) -> u128 {
        let weighted = |(row, m): (usize, &u64)| u128::from(*m) * u128::from(self.row(row)[column]);
        multiplicities.iter().enumerate().map(weighted).sum()
    }

    /// Definition 1 and Definition 3, exactly: rows sum to the total, and no entry exceeds δ of its column's sum.
    ///
    /// # Errors
    /// [`Error::Broken`].
    pub fn check(&self, multiplicities: &[u64], delta: Delta) -> Result<()> {
        let rows = multiplicities.len();
        let shaped = self.columns > 0 && (self.is_equal_rows() || self.numerators.len() == rows * self.columns);
        if !shaped || self.numerators.chunks_exact(self.columns).any(|row| row.iter().sum::<u64>() != self.total) {
            return Err(Error::Broken("a row of a random output table does not sum to one (Definition 1)".into()));
        }
        let within = |column: usize| {
            let limit = self.sum(column, multiplicities) * u128::from(delta.numerator);
            (0..rows).all(|row| u128::from(self.row(row)[column]) * u128::from(delta.denominator) <= limit)
        };
        if (0..self.columns).all(within) {
            return Ok(());
        }
        Err(Error::Broken("a random output table exceeds delta in a column (Definition 3)".into()))
    }

    /// Whether one row serves every record.
    pub fn is_equal_rows(&self) -> bool {
        self.numerators.len() == self.columns
    }

    /// The numerators of one row.
    pub fn row(&self, row: usize) -> &[u64] {
        if self.is_equal_rows() {
            return &self.numerators;
        }
        &self.numerators[row * self.columns..(row + 1) * self.columns]
    }

    /// What numerators are counted in.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One draw from one row.
    pub fn draw(&self, row: usize, stream: &mut Stream) -> usize {
        let mut drawn = stream.below(self.total);
        let row = self.row(row);
        let reached = |numerator: &u64| {
            let here = drawn < *numerator;
            drawn = drawn.wrapping_sub(*numerator);
            here
        };
        row.iter().position(reached).unwrap_or(row.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Key, Step};

    #[test]
    fn rounding_keeps_rows_and_limits_exact() {
        // Three records, δ = 2/5: the middle column holds .4 .4 .2 (sum 1, limit .4) and leaves no slack to lose.
        let probabilities = [0.4, 0.4, 0.2, 0.4, 0.4, 0.2, 0.2, 0.2, 0.6];
        let delta = Delta::new(3, 5).unwrap();
        let table = Table::round(&probabilities, &[1, 1, 1], delta).unwrap();
        table.check(&[1, 1, 1], delta).unwrap();
        assert!((table.row(0)[0] as f64 / TOTAL as f64 - 0.4).abs() < 1e-13);
    }

    #[test]
    fn a_table_that_leaves_its_limit_is_caught() {
        let identity = Table::identity(&[0, 1], 2);
        assert!(identity.check(&[1, 1], Delta::new(1, 2).unwrap()).is_err());
        assert!(identity.check(&[1, 1], Delta::new(1, 1).unwrap()).is_ok());
        let short = Table { columns: 2, numerators: vec![1, 0, 0, 0], total: 1 };
        assert!(short.check(&[1, 1], Delta::new(1, 1).unwrap()).is_err());
    }

    #[test]
    fn equal_rows_meet_one_over_m_exactly() {
        let table = Table::equal_rows(vec![3, 7]);
        assert_eq!(table.check(&[3, 7], Delta::tight(10)), Ok(()));
        assert!(table.check(&[3, 6], Delta::tight(10)).is_err());
    }

    #[test]
    fn a_draw_follows_its_row() {
        // 40,000 draws of 1/4, 0, 3/4: 10,000 +- 6 standard deviations (87), and never the column of zero.
        let table = Table { columns: 3, numerators: vec![1, 0, 3], total: 4 };
        let mut stream = Stream::new(&Key::new([1; 32]), 0, 0, Step::Draw);
        let mut counts = [0_i32; 3];
        (0..40_000).for_each(|_| counts[table.draw(0, &mut stream)] += 1);
        assert!(counts[1] == 0 && (counts[0] - 10_000).abs() < 520, "{counts:?}");
    }
}
