//! Algorithm 1, line 6: values drawn from the tables, one by one or with each column's count controlled.

use rayon::prelude::*;

use crate::batch::{Entry, Tables};
use crate::coupling::{Blocks, permute, share};
use crate::stream::{Key, Step, Stream};
use crate::{Cancel, Error, Result};

/// How values are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// One draw per record and attribute.
    Independent,
    /// Dependent rounding: every p_ij stays exact, and each column's count is the floor or ceiling of its expectation.
    Controlled,
}

impl Draw {
    /// A draw by name.
    ///
    /// # Errors
    /// [`Error::Shape`] for a name that is none.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "independent" => Ok(Draw::Independent),
            "controlled" => Ok(Draw::Controlled),
            _ => Err(Error::Shape("no draw has that name".into())),
        }
    }
}

/// The released codes of a batch, in its order, record by record. `first_group` is the number of the batch's first
/// group among all groups: streams are addressed by it, so that batches of any size draw the same.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::Shape`] for blocks that these tables cannot draw together.
pub fn output_values(
    tables: &Tables,
    key: &Key,
    first_group: u64,
    draw: Draw,
    blocks: &Blocks,
    cancel: &Cancel,
) -> Result<Vec<i32>> {
    let groups: Vec<Vec<i32>> = (0..tables.groups())
        .into_par_iter()
        .map(|group| {
            cancel.check()?;
            output_group(tables, group, key, first_group + group as u64, draw, blocks)
        })
        .collect::<Result<_>>()?;
    Ok(groups.concat())
}

fn output_group(
    tables: &Tables,
    group: usize,
    key: &Key,
    address: u64,
    draw: Draw,
    blocks: &Blocks,
) -> Result<Vec<i32>> {
    let mut released = vec![0; tables.group_codes(group).len()];
    for block in blocks.iter() {
        let mut stream = Stream::new(key, address, block[0] as u32, Step::Draw);
        match (block, draw) {
            ([attribute], _) => output_attribute(tables, group, *attribute, draw, &mut stream, &mut released),
            (_, Draw::Independent) => share(tables, group, block, &mut stream, &mut released),
            (_, Draw::Controlled) => permute(tables, group, block, &mut stream, &mut released)?,
        }
    }
    Ok(released)
}

fn output_attribute(
    tables: &Tables,
    group: usize,
    attribute: usize,
    draw: Draw,
    stream: &mut Stream,
    released: &mut [i32],
) {
    let entry = tables.entry(group, attribute);
    let own = tables.group_codes(group).iter().skip(attribute).step_by(tables.attributes);
    let rows: Vec<usize> = own.map(|code| entry.row_of(*code)).collect();
    let columns = match draw {
        _ if entry.columns.len() == 1 => vec![0; rows.len()],
        Draw::Independent => rows.iter().map(|row| entry.table.draw(*row, stream)).collect(),
        Draw::Controlled => controlled(entry, &rows, stream),
    };
    for (record, column) in columns.into_iter().enumerate() {
        released[record * tables.attributes + attribute] = entry.columns[column];
    }
}

/// Records come in random order, so that records with equal rows are treated alike: with equal rows throughout,
/// every arrangement of the drawn values over the group is equally likely (docs/algebra/provable.md).
fn controlled(entry: &Entry, rows: &[usize], stream: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    stream.shuffle(&mut order);
    let drawn = if entry.table.is_equal_rows() {
        systematic(entry.table.row(0), entry.table.total(), rows.len(), stream)
    } else {
        let shares = order.iter().flat_map(|record| entry.table.row(rows[*record])).copied().collect();
        Rounding { columns: entry.columns.len(), total: entry.table.total(), shares }.round(stream)
    };
    let mut columns = vec![0; rows.len()];
    order.into_iter().zip(drawn).for_each(|(record, column)| columns[record] = column);
    columns
}

/// Equal rows: one random start, then every `total`-th point of the records' mass laid end to end. Each column gets
/// the floor or ceiling of its expectation, exactly that where it is whole.
fn systematic(row: &[u64], total: u64, records: usize, stream: &mut Stream) -> Vec<usize> {
    let start = u128::from(stream.below(total));
    let mut drawn = Vec::with_capacity(records);
    let mut reached = 0_u128;
    for (column, numerator) in row.iter().enumerate() {
        reached += u128::from(*numerator) * records as u128;
        while (drawn.len() as u128) * u128::from(total) + start < reached {
            drawn.push(column);
        }
    }
    drawn
}

/// Dependent rounding (Gandhi, Khuller, Parthasarathy, Srinivasan 2006) in integers, on the graph whose edges are
/// the entries strictly between 0 and 1.
struct Rounding {
    columns: usize,
    total: u64,
    /// Records times columns.
    shares: Vec<u64>,
}

impl Rounding {
    fn round(mut self, stream: &mut Stream) -> Vec<usize> {
        // A walk from a column with one open edge ends in another such or in a cycle; without one, any walk is a cycle.
        loop {
            let column_with =
                |degree: &dyn Fn(usize) -> bool| (0..self.columns).find(|c| degree(self.open_in_column(*c)));
            match column_with(&|degree| degree == 1).or_else(|| column_with(&|degree| degree > 1)) {
                Some(column) => {
                    let path = self.walk(column);
                    self.shift(&path, stream);
                }
                None => break,
            }
        }
        self.shares.chunks_exact(self.columns).map(|row| row.iter().position(|n| *n > 0).unwrap_or(0)).collect()
    }

    fn is_open(&self, edge: usize) -> bool {
        self.shares[edge] > 0 && self.shares[edge] < self.total
    }

    fn open_in_column(&self, column: usize) -> usize {
        (column..self.shares.len()).step_by(self.columns).filter(|edge| self.is_open(*edge)).count()
    }

    /// Edges from `column` on, alternating column to record and record to column, until a vertex repeats (then the
    /// cycle alone) or nothing leads on.
    fn walk(&self, column: usize) -> Vec<usize> {
        let mut path: Vec<usize> = Vec::new();
        let mut column = column;
        loop {
            let from_column = (column..self.shares.len()).step_by(self.columns);
            let Some(down) = from_column.into_iter().find(|e| self.is_open(*e) && path.last() != Some(e)) else {
                return path;
            };
            let record = down / self.columns;
            if let Some(first) = path.iter().skip(1).step_by(2).position(|edge| edge / self.columns == record) {
                // The record was left by the edge at 2 * first + 1: the cycle runs from there to here.
                path.push(down);
                return path.split_off(2 * first + 1);
            }
            path.push(down);
            let in_record = record * self.columns..(record + 1) * self.columns;
            let Some(up) = in_record.into_iter().find(|e| self.is_open(*e) && *e != down) else {
                return path;
            };
            column = up % self.columns;
            let seen = path.iter().step_by(2).position(|edge| edge % self.columns == column);
            path.push(up);
            if let Some(first) = seen {
                return path.split_off(2 * first);
            }
        }
    }

    /// Moves mass along the path, up on every other edge and down on the rest, either way as likely as keeps every
    /// expectation; at least one edge closes.
    fn shift(&mut self, path: &[usize], stream: &mut Stream) {
        let room = |parity: usize, shares: &[u64]| {
            let up = path.iter().skip(parity).step_by(2).map(|edge| self.total - shares[*edge]).min();
            let down = path.iter().skip(1 - parity).step_by(2).map(|edge| shares[*edge]).min();
            up.unwrap_or(u64::MAX).min(down.unwrap_or(u64::MAX))
        };
        let (forward, backward) = (room(0, &self.shares), room(1, &self.shares));
        let raised = usize::from(stream.below(forward + backward) >= backward);
        let amount = if raised == 0 { forward } else { backward };
        for (i, edge) in path.iter().enumerate() {
            if i % 2 == raised {
                self.shares[*edge] += amount;
            } else {
                self.shares[*edge] -= amount;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(group: u64) -> Stream {
        Stream::new(&Key::new([3; 32]), group, 0, Step::Draw)
    }

    #[test]
    fn systematic_counts_are_exact_where_expectations_are_whole() {
        // Three records share (1, 2) of 3: one of the first, two of the second, always.
        (0..50).for_each(|group| assert_eq!(systematic(&[1, 2], 3, 3, &mut stream(group)), vec![0, 1, 1]));
    }

    #[test]
    fn rounding_keeps_marginals_and_column_counts() {
        // Shares in quarters: columns expect 1.75, 1.25 of 3 records. Over 20,000 roundings each cell is within
        // 6 standard deviations (at most 71 each) of its share, and the first column counts 1 or 2.
        let shares = vec![3, 1, 2, 2, 2, 2];
        let mut hits = [0_i32; 6];
        for group in 0..20_000 {
            let drawn = Rounding { columns: 2, total: 4, shares: shares.clone() }.round(&mut stream(group));
            let first = drawn.iter().filter(|column| **column == 0).count();
            assert!((1..=2).contains(&first));
            drawn.iter().enumerate().for_each(|(record, column)| hits[record * 2 + column] += 1);
        }
        for (hit, share) in hits.iter().zip(&shares) {
            assert!((hit - *share as i32 * 5_000).abs() < 426, "{hits:?}");
        }
    }

    #[test]
    fn a_closed_table_is_left_alone() {
        let drawn = Rounding { columns: 2, total: 1, shares: vec![0, 1, 1, 0] }.round(&mut stream(0));
        assert_eq!(drawn, vec![1, 0]);
    }
}
