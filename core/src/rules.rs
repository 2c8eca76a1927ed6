//! Edit rules: drawn values change places between records that draw by one law, until no row breaks a rule.
//!
//! A rule forbids a row that meets all its conditions. Which records may exchange, and how they are chosen, depends on
//! the drawn rows and on equal rows of the tables, never on which of the records drew a row. So every p_ij stays, and in
//! the provable setting every matching of rows to members stays equally likely (docs/algebra/rules.md).

use std::collections::HashMap;

use rayon::prelude::*;

use crate::batch::Tables;
use crate::coupling::Blocks;
use crate::draw::Draw;
use crate::stream::{Key, Step, Stream};
use crate::{Cancel, Error, Result};

/// Exchanges tried for each row that breaks a rule after the draw.
const TRIES: usize = 128;
/// The place of a record that breaks no rule.
const NOWHERE: usize = usize::MAX;

/// One rule: attributes, each with the codes that meet its condition. It forbids a row that meets them all.
pub type Rule = Vec<(usize, Vec<bool>)>;

/// The rules of a run, and the blocks whose values may change places for them.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    /// Blocks that hold an attribute of a rule.
    units: Vec<Vec<usize>>,
    /// Whether the attributes of a block share a random number, so that the law is the record's own.
    shares: bool,
}

impl Rules {
    /// The rules, for values that were drawn in these blocks.
    pub fn new(rules: Vec<Rule>, draw: Draw, blocks: &Blocks) -> Self {
        let is_named = |attribute: &usize| rules.iter().flatten().any(|(named, _)| named == attribute);
        let units = blocks.iter().filter(|block| block.iter().any(is_named)).map(<[usize]>::to_vec).collect();
        Rules { units, rules, shares: draw == Draw::Independent }
    }

    /// How many rules a row breaks.
    fn broken_by(&self, row: &[i32]) -> usize {
        let breaks = |rule: &&Rule| rule.iter().all(|(attribute, met)| met[row[*attribute] as usize]);
        self.rules.iter().filter(breaks).count()
    }

    fn check(&self, tables: &Tables, drawn: &[i32]) -> Result<()> {
        let fits = |(attribute, met): &(usize, Vec<bool>)| {
            tables.distances.get(*attribute).is_some_and(|distance| distance.size() == met.len())
        };
        let is_code = |(place, code): (usize, &i32)| {
            *code >= 0 && (*code as usize) < tables.distances[place % tables.attributes].size()
        };
        if drawn.len() != tables.codes.len() || !drawn.iter().enumerate().all(is_code) {
            return Err(Error::Shape("the drawn codes are not those of these tables".into()));
        }
        if self.rules.iter().any(Vec::is_empty) || !self.rules.iter().flatten().all(fits) {
            return Err(Error::Shape("a rule needs conditions, each with one flag a code of its attribute".into()));
        }
        Ok(())
    }

    /// The records of a group by the law they draw by: those whose rows are equal on every attribute that may move.
    fn classes(&self, tables: &Tables, group: usize) -> Vec<Vec<usize>> {
        let mut members: HashMap<Vec<i32>, usize> = HashMap::new();
        let mut classes: Vec<Vec<usize>> = Vec::new();
        for (record, own) in tables.group_codes(group).chunks_exact(tables.attributes).enumerate() {
            let law = |(unit, attribute): (&Vec<usize>, &usize)| {
                let is_own = self.shares && unit.len() > 1;
                if is_own || !tables.entry(group, *attribute).table.is_equal_rows() { own[*attribute] } else { 0 }
            };
            let laws = self.units.iter().flat_map(|unit| unit.iter().map(move |a| (unit, a))).map(law).collect();
            let class = *members.entry(laws).or_insert_with(|| {
                classes.push(Vec::new());
                classes.len() - 1
            });
            classes[class].push(record);
        }
        classes
    }
}

/// The drawn codes with values exchanged, unit by unit, between records that draw by one law, while rows break rules.
///
/// # Errors
/// [`Error::Shape`] if the codes or rules do not fit the tables, [`Error::Cancelled`].
pub fn keep_rules(
    tables: &Tables,
    drawn: &[i32],
    key: &Key,
    first_group: u64,
    rules: &Rules,
    cancel: &Cancel,
) -> Result<Vec<i32>> {
    rules.check(tables, drawn)?;
    let groups: Vec<Vec<i32>> = (0..tables.groups())
        .into_par_iter()
        .map(|group| {
            cancel.check()?;
            let cells = tables.starts[group] * tables.attributes..tables.starts[group + 1] * tables.attributes;
            let mut ruled = Ruled::new(rules, drawn[cells].to_vec(), tables.attributes);
            if !ruled.broken.is_empty() {
                let mut stream = Stream::new(key, first_group + group as u64, 0, Step::Rules);
                ruled.mend(&rules.classes(tables, group), &mut stream);
            }
            Ok(ruled.rows)
        })
        .collect::<Result<_>>()?;
    Ok(groups.concat())
}

/// The rows of a group, and which of them break rules.
struct Ruled<'a> {
    rules: &'a Rules,
    rows: Vec<i32>,
    attributes: usize,
    /// How many rules each row breaks.
    counts: Vec<usize>,
    /// The rows that break any, and where each row stands among them.
    broken: Vec<usize>,
    places: Vec<usize>,
}

impl<'a> Ruled<'a> {
    fn new(rules: &'a Rules, rows: Vec<i32>, attributes: usize) -> Self {
        let counts: Vec<usize> = rows.chunks_exact(attributes).map(|row| rules.broken_by(row)).collect();
        let mut ruled =
            Ruled { rules, rows, attributes, broken: Vec::new(), places: vec![NOWHERE; counts.len()], counts };
        (0..ruled.counts.len()).for_each(|record| ruled.list(record));
        ruled
    }

    /// Exchanges one unit of a row that breaks a rule, each as likely, with a record of its class, each as likely, and
    /// keeps what breaks no more rules than before.
    fn mend(&mut self, classes: &[Vec<usize>], stream: &mut Stream) {
        let mut class_of = vec![0; self.counts.len()];
        classes.iter().enumerate().for_each(|(class, records)| records.iter().for_each(|r| class_of[*r] = class));
        for _ in 0..TRIES * self.broken.len() {
            if self.broken.is_empty() {
                return;
            }
            let one = self.broken[stream.below(self.broken.len() as u64) as usize];
            let class = &classes[class_of[one]];
            let other = class[stream.below(class.len() as u64) as usize];
            let unit = &self.rules.units[stream.below(self.rules.units.len() as u64) as usize];
            self.exchange(unit, one, other);
            let now = [one, other].map(|record| self.rules.broken_by(self.row(record)));
            if one == other || now[0] + now[1] > self.counts[one] + self.counts[other] {
                self.exchange(unit, one, other);
                continue;
            }
            (self.counts[one], self.counts[other]) = (now[0], now[1]);
            [one, other].into_iter().for_each(|record| self.list(record));
        }
    }

    fn row(&self, record: usize) -> &[i32] {
        &self.rows[record * self.attributes..(record + 1) * self.attributes]
    }

    fn exchange(&mut self, unit: &[usize], one: usize, other: usize) {
        unit.iter().for_each(|a| self.rows.swap(one * self.attributes + a, other * self.attributes + a));
    }

    /// Takes a row into the list of those that break rules, or out of it.
    fn list(&mut self, record: usize) {
        match (self.counts[record] > 0, self.places[record]) {
            (true, NOWHERE) => {
                self.places[record] = self.broken.len();
                self.broken.push(record);
            }
            (false, place) if place != NOWHERE => {
                self.broken.swap_remove(place);
                self.places[record] = NOWHERE;
                if let Some(moved) = self.broken.get(place) {
                    self.places[*moved] = place;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Codes;
    use crate::batch::{Columns, Terms};
    use crate::cover::Cover;
    use crate::distance::Distance;
    use crate::table::Delta;

    /// Ages young (0) and old (1), single (0) and married (1).
    fn tables(codes: &[i32], delta: Option<Delta>) -> Tables {
        let line = || Distance::line(vec![1.0, 2.0], false).unwrap();
        let records = codes.len() as i64 / 2;
        let order: Vec<i64> = (0..records).collect();
        let cover = if delta.is_some() { Cover::Cheapest } else { Cover::Balanced };
        let terms = Terms { delta, cover, columns: Columns::Observed, asks: &[] };
        let all = Codes::new(codes, 2).unwrap();
        Tables::calculate(all, &order, &[0, records], &[line(), line()], terms, &Cancel::default()).unwrap()
    }

    fn no_young_are_married() -> Vec<Rule> {
        vec![vec![(0, vec![true, false]), (1, vec![false, true])]]
    }

    fn kept(tables: &Tables, drawn: &[i32], blocks: Vec<Vec<usize>>, group: u64) -> Vec<i32> {
        let rules = Rules::new(no_young_are_married(), Draw::Controlled, &Blocks::new(blocks, 2).unwrap());
        keep_rules(tables, drawn, &Key::new([9; 32]), group, &rules, &Cancel::default()).unwrap()
    }

    #[test]
    fn values_change_places_until_no_row_breaks_a_rule() {
        // Two young, two old, two married: drawn the wrong way round, each attribute keeps its values.
        let tables = tables(&[0, 0, 0, 0, 1, 1, 1, 1], None);
        for group in 0..50 {
            let rows = kept(&tables, &[0, 1, 0, 1, 1, 0, 1, 0], Vec::new(), group);
            let mut pairs: Vec<&[i32]> = rows.chunks(2).collect();
            pairs.sort_unstable();
            assert_eq!(pairs, vec![&[0, 0], &[0, 0], &[1, 1], &[1, 1]]);
        }
    }

    #[test]
    fn what_no_exchange_can_mend_is_left() {
        // Two young and one old, two married: one young person must be married, and never two.
        let tables = tables(&[0, 1, 0, 1, 1, 0], None);
        let rows = kept(&tables, &[0, 1, 0, 1, 1, 0], Vec::new(), 0);
        assert_eq!(rows.chunks(2).filter(|row| **row == [0, 1]).count(), 1);
    }

    #[test]
    fn a_block_moves_as_a_whole() {
        // The block is both attributes: combinations stay, so what breaks the rule does too.
        let tables = tables(&[0, 1, 0, 0, 1, 1, 1, 0], None);
        let rows = kept(&tables, &[0, 1, 0, 0, 1, 1, 1, 0], vec![vec![0, 1]], 0);
        let mut pairs: Vec<&[i32]> = rows.chunks(2).collect();
        pairs.sort_unstable();
        assert_eq!(pairs, vec![&[0, 0], &[0, 1], &[1, 0], &[1, 1]]);
    }

    #[test]
    fn only_records_that_draw_by_one_law_exchange() {
        // At delta 1/2 rows differ by own value: the four records are young single, old married, and one of each
        // other kind, so that no two draw by one law, and the young married row stays.
        let codes = [0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1];
        let tables = tables(&codes, Delta::new(1, 2).ok());
        assert!(!tables.entry(0, 0).table.is_equal_rows() && !tables.entry(0, 1).table.is_equal_rows());
        let drawn = [0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1];
        assert_eq!(kept(&tables, &drawn, Vec::new(), 0), drawn);
    }

    #[test]
    fn rules_that_do_not_fit_are_refused() {
        let tables = tables(&[0, 0, 1, 1], None);
        let blocks = Blocks::new(Vec::new(), 2).unwrap();
        let refused = |rules: Vec<Rule>, drawn: &[i32]| {
            let rules = Rules::new(rules, Draw::Controlled, &blocks);
            keep_rules(&tables, drawn, &Key::new([9; 32]), 0, &rules, &Cancel::default()).is_err()
        };
        assert!(refused(vec![vec![(0, vec![true])]], &[0, 0, 1, 1]) && refused(vec![Vec::new()], &[0, 0, 1, 1]));
        assert!(refused(no_young_are_married(), &[0, 0]) && refused(no_young_are_married(), &[0, 0, 1, 2]));
    }
}
