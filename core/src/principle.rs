//! What every group must keep: l-diversity in its forms, t-closeness, k-anonymity. Each is a predicate over counts.

use crate::{Codes, Error, Result};

/// Rounding allowed where a principle compares real numbers.
const SLACK: f64 = 1e-12;

/// The form of a principle; its l (or k) stands beside it in [`Principle`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// No sensitive value is more frequent than 1/l of the group: the paper's.
    Frequency,
    /// At least l different sensitive values.
    Distinct,
    /// The entropy of the sensitive values is at least ln l.
    Entropy,
    /// Recursive (c, l): the commonest is rarer than c times all from the l-th on.
    Recursive {
        /// c
        c: f64,
    },
    /// t-closeness: the earth mover's distance to the whole table is at most t.
    Closeness {
        /// t
        t: f64,
    },
    /// k-anonymity alone.
    Anonymity,
}

/// A principle: its form, and the number of records every group must have whatever the form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Principle {
    /// The form.
    pub form: Form,
    /// l, or k.
    pub diversity: usize,
}

impl Principle {
    /// A principle by name.
    ///
    /// # Errors
    /// [`Error::Shape`] for a name that is none.
    pub fn named(name: &str, diversity: usize, c: f64, t: f64) -> Result<Self> {
        let form = match name {
            "frequency" => Form::Frequency,
            "distinct" => Form::Distinct,
            "entropy" => Form::Entropy,
            "recursive" => Form::Recursive { c },
            "closeness" => Form::Closeness { t },
            "anonymity" => Form::Anonymity,
            _ => return Err(Error::Shape("no principle has that name".into())),
        };
        Ok(Principle { form, diversity: diversity.max(1) })
    }

    /// Whether `records` satisfy the principle for every sensitive attribute.
    pub fn holds(&self, sensitive: &Sensitive, records: &[u32], tally: &mut Tally) -> bool {
        if records.len() < self.diversity {
            return false;
        }
        if self.form == Form::Anonymity {
            return true;
        }
        (0..sensitive.codes.attributes()).all(|attribute| {
            tally.count(sensitive, attribute, records);
            self.accepts(tally, sensitive, attribute, records.len())
        })
    }

    fn accepts(&self, tally: &Tally, sensitive: &Sensitive, attribute: usize, records: usize) -> bool {
        let l = self.diversity;
        let counts = || tally.seen.iter().map(|code| tally.counts[*code as usize] as usize);
        match self.form {
            Form::Anonymity => true,
            Form::Frequency => counts().all(|count| count * l <= records),
            Form::Distinct => tally.seen.len() >= l,
            Form::Entropy => {
                let n = records as f64;
                let mut sorted: Vec<usize> = counts().collect();
                // Summed from the smallest, so that the order in which records come cannot tip the last bit.
                sorted.sort_unstable();
                let entropy: f64 = sorted.iter().map(|r| *r as f64 / n).map(|p| -p * p.ln()).sum();
                entropy >= (l as f64).ln() - SLACK
            }
            Form::Recursive { c } => {
                let mut sorted: Vec<usize> = counts().collect();
                sorted.sort_unstable_by(|a, b| b.cmp(a));
                sorted.len() >= l && (sorted[0] as f64) < c * sorted[l - 1..].iter().sum::<usize>() as f64
            }
            Form::Closeness { t } => sensitive.earth_mover(tally, attribute, records) <= t + SLACK,
        }
    }
}

/// The sensitive codes of all records, with what t-closeness needs to know of the whole table.
#[derive(Debug)]
pub struct Sensitive<'a> {
    codes: Codes<'a>,
    ordered: &'a [bool],
    shares: Vec<Vec<f64>>,
}

impl<'a> Sensitive<'a> {
    /// Counts the table's own shares; `sizes` are the domain sizes, `ordered` tells which have an order.
    ///
    /// # Errors
    /// [`Error::Shape`] if the arrays do not fit or a code lies outside its domain.
    pub fn new(codes: Codes<'a>, sizes: &[usize], ordered: &'a [bool]) -> Result<Self> {
        let attributes = codes.attributes();
        if sizes.len() != attributes || ordered.len() != attributes {
            return Err(Error::Shape("sizes and ordered need one entry a sensitive attribute".into()));
        }
        let mut shares: Vec<Vec<f64>> = sizes.iter().map(|size| vec![0.0; *size]).collect();
        let share = 1.0 / codes.records().max(1) as f64;
        let mut counts: Vec<Vec<u32>> = sizes.iter().map(|size| vec![0; *size]).collect();
        for record in 0..codes.records() {
            for (attribute, code) in codes.record(record).iter().enumerate() {
                match counts[attribute].get_mut(*code as usize) {
                    Some(count) => *count += 1,
                    None => return Err(Error::Shape("a sensitive code lies outside its domain".into())),
                }
            }
        }
        for (share_of, count_of) in shares.iter_mut().zip(&counts) {
            share_of.iter_mut().zip(count_of).for_each(|(s, c)| *s = f64::from(*c) * share);
        }
        Ok(Sensitive { codes, ordered, shares })
    }

    /// The codes themselves.
    pub fn codes(&self) -> Codes<'a> {
        self.codes
    }

    /// An empty tally wide enough for every attribute.
    pub fn tally(&self) -> Tally {
        let widest = self.shares.iter().map(Vec::len).max().unwrap_or(0);
        Tally { counts: vec![0; widest], seen: Vec::new() }
    }

    fn earth_mover(&self, tally: &Tally, attribute: usize, records: usize) -> f64 {
        let shares = &self.shares[attribute];
        let gaps = shares.iter().zip(&tally.counts).map(|(q, c)| f64::from(*c) / records as f64 - q);
        if !self.ordered[attribute] {
            return gaps.map(f64::abs).sum::<f64>() / 2.0;
        }
        let moved = gaps.scan(0.0, |carried, gap| {
            *carried += gap;
            Some(f64::abs(*carried))
        });
        moved.sum::<f64>() / (shares.len().max(2) - 1) as f64
    }
}

/// Counts of one sensitive attribute over some records; cleared by what it saw, so a count costs no more than them.
#[derive(Debug)]
pub struct Tally {
    counts: Vec<u32>,
    seen: Vec<i32>,
}

impl Tally {
    fn count(&mut self, sensitive: &Sensitive, attribute: usize, records: &[u32]) {
        for code in self.seen.drain(..) {
            self.counts[code as usize] = 0;
        }
        for record in records {
            let code = sensitive.codes.get(*record as usize, attribute);
            let count = &mut self.counts[code as usize];
            if *count == 0 {
                self.seen.push(code);
            }
            *count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(name: &str, l: usize, group: &[i32]) -> bool {
        let table: Vec<i32> = group.iter().copied().chain([0, 1, 2, 3]).collect();
        let sensitive = Sensitive::new(Codes::new(&table, 1).unwrap(), &[4], &[true]).unwrap();
        let records: Vec<u32> = (0..group.len() as u32).collect();
        let principle = Principle::named(name, l, 2.0, 0.25).unwrap();
        principle.holds(&sensitive, &records, &mut sensitive.tally())
    }

    #[test]
    fn frequency_bounds_the_commonest_value() {
        assert!(holds("frequency", 2, &[0, 0, 1, 2]));
        assert!(!holds("frequency", 2, &[0, 0, 0, 1, 2]));
    }

    #[test]
    fn distinct_counts_values() {
        assert!(holds("distinct", 3, &[0, 0, 0, 1, 2]));
        assert!(!holds("distinct", 3, &[0, 0, 1]));
    }

    #[test]
    fn entropy_of_even_counts_meets_its_bound_exactly() {
        assert!(holds("entropy", 2, &[0, 0, 1, 1]));
        assert!(!holds("entropy", 2, &[0, 0, 0, 1]));
    }

    #[test]
    fn recursive_compares_the_commonest_with_the_tail() {
        // l = 2, c = 2: counts 3, 2 give 3 < 2 * 2; counts 4, 2 give 4 < 4, false.
        assert!(holds("recursive", 2, &[0, 0, 0, 1, 1]));
        assert!(!holds("recursive", 2, &[0, 0, 0, 0, 1, 1]));
    }

    #[test]
    fn anonymity_counts_records_only() {
        assert!(holds("anonymity", 3, &[0, 0, 0]));
        assert!(!holds("anonymity", 3, &[0, 1]));
    }

    #[test]
    fn closeness_moves_earth_along_the_order() {
        // The table is 0 3 0 1 2 3: shares 2 1 1 2 of 6. Group 0 3: gaps 1/6 -1/6 -1/6 1/6, carried 1/6 0 -1/6 0,
        // sum 1/3 over 3 steps = 1/9 <= 1/4. Group 0 0 (table 0 0 0 1 2 3): carried 1/2 1/3 1/6 0, sum 1 over 3 > 1/4.
        assert!(holds("closeness", 2, &[0, 3]));
        assert!(!holds("closeness", 2, &[0, 0]));
    }

    #[test]
    fn a_code_outside_its_domain_is_refused() {
        assert!(Sensitive::new(Codes::new(&[4], 1).unwrap(), &[4], &[false]).is_err());
    }
}
