//! What a release protects: the adversaries, on integer codes.
//!
//! | who links a row to its person | here |
//! |---|---|
//! | by equal values, some of them known | [`disclosure`]; for generalised tables [`covering`] |
//! | by the nearest row | [`nearest`] |
//! | by a likelihood of his own, or by tables without group numbers | [`score`] |
//! | knowing groups and tables | [`informed`], its likelihood [`likelihood`], its posterior [`matching`] |
//! | by one value of one attribute | [`single`] |
//!
//! A released cell is a span of codes, `low` to `high`; a span with `low` above `high` covers no value.

pub mod classes;
pub mod covering;
pub mod disclosure;
mod forest;
pub mod informed;
pub mod likelihood;
pub mod matching;
mod metric;
pub mod nearest;
pub mod score;
pub mod single;

use crate::{Codes, Error, Result};

/// An original and a release of it over one domain, and which row stands for which record.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Codes of the records.
    pub original: Codes<'a>,
    /// The first code that each released cell covers.
    pub low: Codes<'a>,
    /// The last code that each released cell covers.
    pub high: Codes<'a>,
    /// The row of each record; below 0 where there is none, or it is not known.
    pub row: &'a [i64],
    /// Sensitive codes of the records; no attributes where there is none.
    pub sensitive: Codes<'a>,
    /// Sensitive codes of the rows.
    pub released: Codes<'a>,
}

impl Pair<'_> {
    /// Checks that everything fits.
    ///
    /// # Errors
    /// [`Error::Shape`].
    pub fn check(&self) -> Result<()> {
        let (records, rows) = (self.original.records(), self.low.records());
        let attributes = self.original.attributes();
        let is_whole = attributes > 0
            && attributes < 64
            && self.low.attributes() == attributes
            && self.high.attributes() == attributes
            && self.high.records() == rows
            && self.row.len() == records
            && self.sensitive.attributes() == self.released.attributes()
            && (self.sensitive.attributes() == 0
                || self.sensitive.records() == records && self.released.records() == rows);
        let fits = |code: &i32| *code >= 0;
        let has_codes = (0..records).all(|r| self.original.record(r).iter().all(fits))
            && (0..rows).all(|r| self.low.record(r).iter().all(fits));
        if is_whole && has_codes && self.row.iter().all(|row| *row < rows as i64) && u32::try_from(rows).is_ok() {
            return Ok(());
        }
        Err(Error::Shape("original and release do not fit together".into()))
    }

    /// The row that stands for a record.
    #[inline]
    pub fn row_of(&self, record: usize) -> Option<usize> {
        usize::try_from(self.row[record]).ok()
    }

    /// Whether a released cell covers the value of a record.
    #[inline]
    pub fn covers(&self, row: usize, record: usize, attribute: usize) -> bool {
        let code = self.original.get(record, attribute);
        self.low.get(row, attribute) <= code && code <= self.high.get(row, attribute)
    }

    /// Whether no released cell covers more than one value.
    pub fn is_plain(&self) -> bool {
        (0..self.low.records()).all(|row| self.low.record(row) == self.high.record(row))
    }
}
