//! The core of muco: Algorithms 1 and 2 of *Publishing Microdata through Mutual Cover*, on integer codes.
//!
//! | the paper | here |
//! |---|---|
//! | Definition 4, 5: dis(.) | [`distance`] |
//! | l-diversity and its kin | [`principle`] |
//! | Algorithm 1, line 2: divide_table | [`partition`] of a [`microdata`], then [`grouping`] by [`buckets`] or [`seeds`], then [`exchange`]; or [`sampled`], which `settle` ends; `written` distances serve both |
//! | cover that records ask for themselves, records that belong together | [`asks`], [`households`] |
//! | Definition 1: the random output table | [`table`] |
//! | Algorithm 1, line 5: calculate_table | [`cover`] solves one along the [`path`], whose steps `system` gives, [`batch`] those of many groups |
//! | Algorithm 1, line 6: output_values | [`draw`], whole blocks by [`coupling`], under the keyed streams of [`stream`] |
//! | Algorithm 2: randomize_unchanged_tuples | [`repair`] |
//! | edit rules kept, which the paper has not | [`rules`] |
//! | what a release protects: the adversaries | [`assess`] |
//! | files that microdata come in | [`csv`] |
//!
//! But for [`csv`], nothing here knows a file, a frame or a cell: records are numbers, values are codes in domain order.

pub mod asks;
pub mod assess;
pub mod batch;
pub mod buckets;
pub mod coupling;
pub mod cover;
pub mod csv;
pub mod distance;
pub mod draw;
pub mod exchange;
pub mod grouping;
pub mod households;
pub mod microdata;
pub mod partition;
pub mod path;
pub mod principle;
#[cfg(feature = "python")]
mod python;
pub mod repair;
pub mod rules;
pub mod sampled;
pub mod seeds;
mod settle;
pub mod stream;
mod system;
pub mod table;
mod written;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a call stopped. No message carries a value of the microdata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The arrays or names given do not fit together.
    Shape(String),
    /// δ is below 1/m for a group of m records (Property 1).
    Infeasible {
        /// How many records the group has.
        records: usize,
    },
    /// A group is so varied on one attribute that its table would not be solved in bounded time.
    TooVaried {
        /// Which attribute, by position.
        attribute: usize,
        /// How many different values the group has there.
        values: usize,
    },
    /// A table failed its exact check, or the path did not reach its centre: nothing may be drawn from it.
    Broken(String),
    /// The caller asked to stop.
    Cancelled,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shape(what) | Error::Broken(what) => f.write_str(what),
            Error::Infeasible { records } => {
                write!(f, "delta is below 1/{records} for a group of {records} records (Property 1)")
            }
            Error::TooVaried { attribute, values } => {
                write!(f, "a group has {values} different values on attribute {attribute}, more than a table can bear")
            }
            Error::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for Error {}

/// What every fallible call of the core returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Codes of records on attributes, one record after the other.
#[derive(Clone, Copy, Debug)]
pub struct Codes<'a> {
    values: &'a [i32],
    attributes: usize,
}

impl<'a> Codes<'a> {
    /// Wraps `values`, `attributes` of them a record.
    ///
    /// # Errors
    /// [`Error::Shape`] if `values` is not a whole number of records.
    pub fn new(values: &'a [i32], attributes: usize) -> Result<Self> {
        if attributes == 0 && values.is_empty() || attributes > 0 && values.len() % attributes == 0 {
            return Ok(Codes { values, attributes });
        }
        Err(Error::Shape(format!("{} codes are not whole records of {attributes} attributes", values.len())))
    }

    /// How many attributes a record has.
    pub fn attributes(&self) -> usize {
        self.attributes
    }

    /// How many records there are; 0 without attributes.
    pub fn records(&self) -> usize {
        self.values.len().checked_div(self.attributes).unwrap_or(0)
    }

    /// All codes of one record.
    #[inline]
    pub fn record(&self, record: usize) -> &'a [i32] {
        &self.values[record * self.attributes..(record + 1) * self.attributes]
    }

    /// One code.
    #[inline]
    pub fn get(&self, record: usize, attribute: usize) -> i32 {
        self.values[record * self.attributes + attribute]
    }
}

/// A flag that another thread may raise; long calls look at it and stop.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// Raises the flag.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Stops the caller with [`Error::Cancelled`] once the flag is up.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}
