//! The microdata T of Section 3 as the core sees them: codes, and what is known of each record.

use crate::distance::Distance;
use crate::partition::{Partition, check_codes};
use crate::principle::Sensitive;
use crate::{Codes, Error, Result};

/// The microdata, encoded.
#[derive(Debug)]
pub struct Microdata<'a> {
    /// Codes of every record on every quasi-identifier.
    pub codes: Codes<'a>,
    /// Sensitive codes; no attributes under k-anonymity, whose groups may not depend on them.
    pub sensitive: Sensitive<'a>,
    /// A keyed tag of each record, the last resort of the canonical order.
    pub tags: &'a [u64],
    /// One distance a quasi-identifier.
    pub distances: &'a [Distance],
    /// How it is divided.
    pub partition: Partition,
    /// How many records each record asks to hide among; empty where none asks.
    pub asks: &'a [u32],
    /// The household of each record; empty where there are none.
    pub households: &'a [u32],
    /// The codes by which cuts see each record: its own, or those of its household.
    pub places: Codes<'a>,
}

impl<'a> Microdata<'a> {
    /// Checks that everything fits.
    ///
    /// # Errors
    /// [`Error::Shape`].
    pub fn new(codes: Codes<'a>, sensitive: Sensitive<'a>, tags: &'a [u64], distances: &'a [Distance]) -> Result<Self> {
        check_codes(codes, distances)?;
        let records = codes.records();
        let sensitive_records = sensitive.codes();
        if tags.len() != records
            || (sensitive_records.attributes() > 0 && sensitive_records.records() != records)
            || u32::try_from(records).is_err()
        {
            return Err(Error::Shape(format!("{} tags do not fit {records} records", tags.len())));
        }
        Ok(Microdata {
            codes,
            sensitive,
            tags,
            distances,
            partition: Partition::default(),
            asks: &[],
            households: &[],
            places: codes,
        })
    }
}
