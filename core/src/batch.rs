//! The random output tables of many groups at once (Algorithm 1, lines 3 to 5), equal problems solved once.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::cover::{Cover, Problem};
use crate::distance::Distance;
use crate::partition::check_codes;
use crate::table::{Delta, Table};
use crate::{Cancel, Codes, Error, Result};

/// Different values a group may have on one attribute where its table must be solved: the cost is cubic in them.
pub const MOST_VALUES: usize = 512;
/// Columns a table may have; `domain` falls back to the observed ones beyond, at no cost to the optimum.
pub const MOST_COLUMNS: usize = 512;

/// Which values a table may output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Those the group has. With l1 and tree distances an optimum always exists on them.
    Observed,
    /// Those of the whole table that lie within the group's range: the paper's wording.
    Domain,
}

impl Columns {
    /// Columns by name.
    ///
    /// # Errors
    /// [`Error::Shape`] for a name that is none.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "observed" => Ok(Columns::Observed),
            "domain" => Ok(Columns::Domain),
            _ => Err(Error::Shape("no choice of columns has that name".into())),
        }
    }
}

/// The table of one group and attribute, with the codes its rows and columns stand for.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The distinct codes of the group, ascending: one row each.
    pub rows: Vec<i32>,
    /// How many records share each row.
    pub multiplicities: Vec<u64>,
    /// The codes that may be output, ascending.
    pub columns: Vec<i32>,
    /// The probabilities.
    pub table: Arc<Table>,
}

impl Entry {
    /// The row of a record with this code.
    pub fn row_of(&self, code: i32) -> usize {
        self.rows.partition_point(|row| *row < code)
    }
}

/// All tables of a batch of groups, and the batch itself.
#[derive(Debug)]
pub struct Tables {
    /// Original codes of the batch's records, in the batch's order.
    pub codes: Vec<i32>,
    /// How many attributes a record has.
    pub attributes: usize,
    /// Where each group begins, and where the last ends.
    pub starts: Vec<usize>,
    /// One entry a group and attribute, group by group.
    pub entries: Vec<Entry>,
    /// The distances the tables were made with.
    pub distances: Vec<Distance>,
    /// How many different problems were solved.
    pub solved: usize,
    /// How many `domain` tables were too wide and offer the observed columns.
    pub narrowed: usize,
}

/// What every table of a run has in common.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// δ; `None` is tight.
    pub delta: Option<Delta>,
    /// Cheapest or balanced.
    pub cover: Cover,
    /// Observed or domain.
    pub columns: Columns,
    /// How many records each record of the table asks to hide among; empty where none asks.
    pub asks: &'a [u32],
}

impl Tables {
    /// Algorithm 1, line 5, for every group of the batch and every attribute.
    ///
    /// # Errors
    /// [`Error::Infeasible`], [`Error::TooVaried`], [`Error::Broken`], [`Error::Cancelled`], [`Error::Shape`].
    pub fn calculate(
        all: Codes,
        order: &[i64],
        starts: &[i64],
        distances: &[Distance],
        terms: Terms,
        cancel: &Cancel,
    ) -> Result<Self> {
        check_codes(all, distances)?;
        if !terms.asks.is_empty() && terms.asks.len() != all.records() {
            return Err(Error::Shape("asks need one entry a record".into()));
        }
        let starts = check_starts(order, starts, all.records())?;
        let codes: Vec<i32> = order.iter().flat_map(|record| all.record(*record as usize)).copied().collect();
        let attributes = distances.len();
        let batch = Codes::new(&codes, attributes)?;
        let drafts: Vec<Draft> = (0..(starts.len() - 1) * attributes)
            .into_par_iter()
            .map(|index| {
                let (group, attribute) = (index / attributes, index % attributes);
                let members = (starts[group]..starts[group + 1]).map(|record| batch.get(record, attribute));
                let delta = terms.delta_of(&order[starts[group]..starts[group + 1]]);
                Draft::new(members, &distances[attribute], attribute, Terms { delta, ..terms })
            })
            .collect::<Result<_>>()?;
        cancel.check()?;
        let narrowed = drafts.iter().filter(|draft| draft.is_narrowed).count();
        let (entries, solved) = solve(drafts, cancel)?;
        Ok(Tables { codes, attributes, starts, entries, distances: distances.to_vec(), solved, narrowed })
    }

    /// The entry of one group and attribute.
    pub fn entry(&self, group: usize, attribute: usize) -> &Entry {
        &self.entries[group * self.attributes + attribute]
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// The original codes of one group, record by record.
    pub fn group_codes(&self, group: usize) -> &[i32] {
        &self.codes[self.starts[group] * self.attributes..self.starts[group + 1] * self.attributes]
    }
}

fn check_starts(order: &[i64], starts: &[i64], records: usize) -> Result<Vec<usize>> {
    let ascending = starts.first() == Some(&0)
        && starts.last() == Some(&(order.len() as i64))
        && starts.windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending || order.iter().any(|record| *record < 0 || *record as usize >= records) {
        return Err(Error::Shape("starts must ascend from 0 to the records of the batch, which must exist".into()));
    }
    Ok(starts.iter().map(|start| *start as usize).collect())
}

/// A table before it is solved.
struct Draft {
    rows: Vec<i32>,
    columns: Vec<i32>,
    problem: Problem,
    delta: Option<Delta>,
    is_narrowed: bool,
}

impl Draft {
    fn new(members: impl Iterator<Item = i32>, distance: &Distance, attribute: usize, terms: Terms) -> Result<Self> {
        let mut codes: Vec<i32> = members.collect();
        codes.sort_unstable();
        let (mut rows, mut multiplicities) = (Vec::new(), Vec::new());
        for run in codes.chunk_by(|a, b| a == b) {
            rows.push(run[0]);
            multiplicities.push(run.len() as u64);
        }
        if terms.delta.is_some() && rows.len() > MOST_VALUES {
            return Err(Error::TooVaried { attribute, values: rows.len() });
        }
        let (columns, is_narrowed) = columns_of(&rows, distance, terms);
        let own = rows.iter().map(|row| columns.partition_point(|column| column < row)).collect();
        // Distances matter to a tight balanced table in nothing; a wide one would be large for no use.
        let matter = terms.delta.is_some() || terms.cover == Cover::Cheapest;
        let far = |a: i32, b: i32| if matter { distance.between(a, b) } else { 0.0 };
        let mut distances: Vec<f64> = Vec::with_capacity(rows.len() * columns.len());
        rows.iter().for_each(|a| distances.extend(columns.iter().map(|b| far(*a, *b))));
        // The optimum does not know the unit: without it, ages 28 28 29 and hours 40 40 41 are one problem.
        let widest = distances.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        distances.iter_mut().for_each(|d| *d /= widest);
        Ok(Draft {
            rows,
            columns,
            problem: Problem { multiplicities, distances, own, cover: terms.cover },
            delta: terms.delta,
            is_narrowed,
        })
    }

    /// Equal keys are equal problems. Keys hold the distances bit for bit.
    fn key(&self) -> Vec<u64> {
        let problem = &self.problem;
        let counts = problem.multiplicities.iter().copied();
        let own = problem.own.iter().map(|column| *column as u64);
        let delta = self.delta.map_or([0, 0], |delta| [delta.numerator, delta.denominator]);
        std::iter::once(counts.len() as u64)
            .chain(delta)
            .chain(counts.clone())
            .chain(own)
            .chain(problem.distances.iter().map(|d| d.to_bits()))
            .collect()
    }

    fn entry(self, table: Arc<Table>) -> Entry {
        Entry { rows: self.rows, multiplicities: self.problem.multiplicities, columns: self.columns, table }
    }
}

fn columns_of(rows: &[i32], distance: &Distance, terms: Terms) -> (Vec<i32>, bool) {
    // A balanced table keeps the group's counts, which are zero on every value the group does not have.
    if terms.columns == Columns::Observed || terms.cover == Cover::Balanced {
        return (rows.to_vec(), false);
    }
    let span = distance.span(rows.iter().copied());
    if span.first > span.last || (span.last - span.first) as usize >= MOST_COLUMNS {
        return (rows.to_vec(), span.first <= span.last);
    }
    let missing = rows.last().copied().filter(|_| span.missing);
    ((span.first..=span.last).chain(missing).collect(), false)
}

/// Solves each different problem once, on every core.
fn solve(drafts: Vec<Draft>, cancel: &Cancel) -> Result<(Vec<Entry>, usize)> {
    let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut firsts: Vec<usize> = Vec::new();
    let keys: Vec<Vec<u64>> = drafts.par_iter().map(Draft::key).collect();
    let problem_of: Vec<usize> = keys
        .into_iter()
        .enumerate()
        .map(|(draft, key)| {
            *known.entry(key).or_insert_with(|| {
                firsts.push(draft);
                firsts.len() - 1
            })
        })
        .collect();
    let tables: Vec<Arc<Table>> = firsts
        .par_iter()
        .map(|draft| {
            cancel.check()?;
            drafts[*draft].problem.solve(drafts[*draft].delta).map(Arc::new)
        })
        .collect::<Result<_>>()?;
    let entries = drafts.into_iter().zip(&problem_of).map(|(draft, problem)| draft.entry(tables[*problem].clone()));
    Ok((entries.collect(), firsts.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(columns: Columns) -> Terms<'static> {
        Terms { delta: Some(Delta::new(1, 2).unwrap()), cover: Cover::Cheapest, columns, asks: &[] }
    }

    #[test]
    fn equal_problems_are_solved_once_whatever_their_unit() {
        // Ages 28 28 29 and, in another group, 40 40 41.
        let distances = [Distance::line(vec![28.0, 29.0, 40.0, 41.0], false).unwrap()];
        let codes = [0, 0, 1, 2, 2, 3];
        let all = Codes::new(&codes, 1).unwrap();
        let tables = Tables::calculate(
            all,
            &[0, 1, 2, 3, 4, 5],
            &[0, 3, 6],
            &distances,
            terms(Columns::Observed),
            &Cancel::default(),
        );
        let tables = tables.unwrap();
        assert_eq!((tables.solved, tables.entry(1, 0).columns.clone()), (1, vec![2, 3]));
    }

    #[test]
    fn domain_offers_what_lies_within_the_groups_range() {
        let distances = [Distance::line(vec![1.0, 2.0, 3.0, 4.0], true).unwrap()];
        let codes = [0, 0, 2, 2, 4];
        let all = Codes::new(&codes, 1).unwrap();
        let tables =
            Tables::calculate(all, &[0, 1, 2, 3, 4], &[0, 5], &distances, terms(Columns::Domain), &Cancel::default());
        assert_eq!(tables.unwrap().entry(0, 0).columns, vec![0, 1, 2, 4]);
    }

    #[test]
    fn starts_that_skip_a_record_are_refused() {
        let distances = [Distance::line(vec![1.0], false).unwrap()];
        let all = Codes::new(&[0, 0], 1).unwrap();
        let run = |starts: &[i64]| {
            Tables::calculate(all, &[0, 1], starts, &distances, terms(Columns::Domain), &Cancel::default())
        };
        assert!(run(&[0, 1]).is_err() && run(&[0, 0, 2]).is_err() && run(&[0, 2]).is_ok());
    }
}
