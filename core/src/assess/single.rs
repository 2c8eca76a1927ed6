//! Exact single-value risk: who knows one value of a record, and its group's table, picks one of the rows that have it.

use rayon::prelude::*;

use crate::batch::{Entry, Tables};
use crate::{Cancel, Result};

/// Σ_i P(own row has the own value, i rows have it) / i of each record and attribute, in the batch's order.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn single_value_risks(tables: &Tables, cancel: &Cancel) -> Result<Vec<f64>> {
    let groups: Vec<Vec<f64>> = (0..tables.groups())
        .into_par_iter()
        .map(|group| {
            cancel.check()?;
            let mut risks = tables.group_codes(group).iter().map(|_| 0.0).collect::<Vec<f64>>();
            for attribute in 0..tables.attributes {
                let entry = tables.entry(group, attribute);
                let of_rows: Vec<f64> = (0..entry.rows.len()).map(|row| risk_of(entry, row)).collect();
                let codes = tables.group_codes(group).iter().skip(attribute).step_by(tables.attributes);
                for (record, code) in codes.enumerate() {
                    risks[record * tables.attributes + attribute] = of_rows[entry.row_of(*code)];
                }
            }
            Ok(risks)
        })
        .collect::<Result<_>>()?;
    Ok(groups.concat())
}

/// The number of others with the value is Poisson-binomial: its distribution record by record.
fn risk_of(entry: &Entry, own: usize) -> f64 {
    let Ok(column) = entry.columns.binary_search(&entry.rows[own]) else {
        return 0.0;
    };
    let share = |row: usize| entry.table.row(row)[column] as f64 / entry.table.total() as f64;
    let mut others = vec![1.0];
    for row in 0..entry.rows.len() {
        let chance = share(row);
        for _ in 0..entry.multiplicities[row] - u64::from(row == own) {
            let mut more = vec![0.0; others.len() + 1];
            for (count, probability) in others.iter().enumerate() {
                more[count] += probability * (1.0 - chance);
                more[count + 1] += probability * chance;
            }
            others = more;
        }
    }
    share(own) * others.iter().enumerate().map(|(count, p)| p / (count + 1) as f64).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Codes;
    use crate::batch::{Columns, Terms};
    use crate::cover::Cover;
    use crate::distance::Distance;
    use crate::table::{Delta, Table};

    #[test]
    fn two_alike_and_one_other_by_hand() {
        // Tight and balanced: everybody outputs the first value with 2/3. For one of the two that have it, of the two
        // others 0, 1 or 2 output it with 1/9, 4/9, 4/9: 2/3 (1/9 + 4/18 + 4/27) = 26/81.
        // For the one with the other value: 1/3 (4/9 + 4/18 + 1/27) = 19/81.
        let distances = [Distance::line(vec![1.0, 2.0], false).unwrap()];
        let terms = Terms { delta: None, cover: Cover::Balanced, columns: Columns::Observed, asks: &[] };
        let all = Codes::new(&[0, 0, 1], 1).unwrap();
        let quiet = Cancel::default();
        let tables = Tables::calculate(all, &[0, 1, 2], &[0, 3], &distances, terms, &quiet).unwrap();
        let risks = single_value_risks(&tables, &quiet).unwrap();
        let expected = [26.0 / 81.0, 26.0 / 81.0, 19.0 / 81.0];
        assert!(risks.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{risks:?}");
    }

    #[test]
    fn helen_of_the_paper() {
        // Ages 28 28 29 as the paper prints them: .7129 of 28 stay, .4258 of 29 become 28. Of the two others none,
        // one or both become 28 with .1649, .5316, .3036: .7129 (.1649 + .5316/2 + .3036/3) = .3791 (it prints .3741).
        let table = Table::round(&[0.7129, 0.2871, 0.4258, 0.5742], &[2, 1], Delta::new(1, 2).unwrap()).unwrap();
        let entry = Entry { rows: vec![0, 1], multiplicities: vec![2, 1], columns: vec![0, 1], table: table.into() };
        assert!((risk_of(&entry, 0) - 0.3791).abs() < 5e-5);
    }
}
