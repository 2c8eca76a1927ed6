//! Records that belong together, such as those of one household or of one person: no cut and no group parts them.

use crate::microdata::Microdata;
use crate::partition::check_codes;
use crate::principle::Principle;
use crate::{Codes, Error, Result};

/// The household of a record that has none: it stands alone.
pub const ALONE: u32 = u32::MAX;

impl<'a> Microdata<'a> {
    /// The same microdata with the household of each record, and the codes by which cuts see it: those of its
    /// household's middle, equal for all its records.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one of each for each record.
    pub fn with_households(self, households: &'a [u32], middles: Codes<'a>) -> Result<Self> {
        check_codes(middles, self.distances)?;
        if households.len() != self.codes.records() || middles.records() != households.len() {
            return Err(Error::Shape("households and their codes need one entry a record".into()));
        }
        Ok(Microdata { households, places: middles, ..self })
    }

    /// The household of a record; the same for all where there are none.
    pub(crate) fn household(&self, record: u32) -> u32 {
        self.households.get(record as usize).copied().unwrap_or(ALONE)
    }

    /// The sizes of the shortest runs of whole households along a swept leaf that keep the principle and meet all
    /// asks. What is left over at the end joins the runs before it until it does too. A run is looked at whenever it
    /// has grown by an eighth, so that the work stays near linear in the records.
    pub(crate) fn runs(&self, leaf: &[u32], principle: &Principle) -> Vec<usize> {
        let mut tally = self.sensitive.tally();
        let mut holds = |run: &[u32]| self.meets_asks(run) && principle.holds(&self.sensitive, run, &mut tally);
        let grown = |size: usize| size + size / 8 + 1;
        let (mut starts, mut from, mut end, mut due) = (vec![0], 0, 0, 0);
        for household in leaf.chunk_by(|a, b| self.household(*a) != ALONE && self.household(*a) == self.household(*b)) {
            end += household.len();
            if end - from < due {
                continue;
            }
            if holds(&leaf[from..end]) {
                starts.push(end);
                (from, due) = (end, 0);
            } else {
                due = grown(end - from);
            }
        }
        if from == end {
            starts.pop(); // Nothing is left over.
            from = starts.last().copied().unwrap_or(0);
        }
        while starts.len() > 1 && !holds(&leaf[from..]) {
            let due = grown(end - from);
            while starts.len() > 1 && end - from < due {
                starts.pop();
                from = starts.last().copied().unwrap_or(0);
            }
        }
        let ends = starts.iter().skip(1).copied().chain([end]);
        starts.iter().zip(ends).map(|(start, end)| end - start).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Distance;
    use crate::principle::Sensitive;

    fn sizes(households: &[u32], pay: &[i32], diversity: usize) -> Vec<usize> {
        let distances = [Distance::line((0..10).map(f64::from).collect(), false).unwrap()];
        let sensitive = Sensitive::new(Codes::new(pay, 1).unwrap(), &[10], &[false]).unwrap();
        let (codes, tags) = (vec![0; pay.len()], vec![0; pay.len()]);
        let codes = Codes::new(&codes, 1).unwrap();
        let table = Microdata::new(codes, sensitive, &tags, &distances).unwrap();
        let table = table.with_households(households, codes).unwrap();
        let leaf: Vec<u32> = (0..pay.len() as u32).collect();
        table.runs(&leaf, &Principle::named("frequency", diversity, 0.0, 0.0).unwrap())
    }

    #[test]
    fn a_run_ends_with_a_household_once_it_keeps_the_principle() {
        // l = 2: pays 1 1 | 2 2 hold together only; then 3 and 4, who stand alone, do.
        assert_eq!(sizes(&[0, 0, 1, 1, ALONE, ALONE], &[1, 1, 2, 2, 3, 4], 2), vec![4, 2]);
    }

    #[test]
    fn what_is_left_over_joins_the_runs_before_it() {
        // l = 2: 1 2 and 3 4 hold. 5 5 does not, but 3 4 5 5 does. With 3 5 | 5 5 neither 5 5 nor 3 5 5 5 does.
        assert_eq!(sizes(&[ALONE; 6], &[1, 2, 3, 4, 5, 5], 2), vec![2, 4]);
        assert_eq!(sizes(&[ALONE; 6], &[1, 2, 3, 5, 5, 5], 2), vec![6]);
    }
}
