//! Text files, checked before anything parses them.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::csv::{self, Fault};

/// (is the header quoted, columns that are quoted throughout, rows that end in LF, CR LF and CR).
type Style = (bool, Vec<usize>, [usize; 3]);
/// (header, rows, [(row, fault, fields)], where the rows begin, the good rows where they differ, style).
type Scanned<'py> =
    (Vec<Bound<'py, PyBytes>>, usize, Vec<(usize, &'static str, usize)>, usize, Option<Bound<'py, PyBytes>>, Style);

#[pyfunction]
fn scan_csv<'py>(py: Python<'py>, text: &[u8], delimiter: u8) -> Scanned<'py> {
    let scan = py.detach(|| csv::scan(text, delimiter));
    let faults = scan.faults.into_iter().map(|(row, fault)| match fault {
        Fault::Ragged { fields } => (row, "ragged", fields),
        Fault::AfterQuote => (row, "after_quote", 0),
        Fault::OpenQuote => (row, "open_quote", 0),
        Fault::Nul => (row, "nul", 0),
        Fault::NotUtf8 => (row, "not_utf8", 0),
        Fault::TooLong => (row, "too_long", 0),
    });
    let columns = scan.style.quotes.iter().enumerate();
    let quoted = columns.filter(|(_, (quoted, bare))| *quoted > 0 && *bare == 0).map(|(column, _)| column);
    (
        scan.header.iter().map(|name| PyBytes::new(py, name)).collect(),
        scan.rows,
        faults.collect(),
        scan.from,
        scan.text.map(|text| PyBytes::new(py, &text)),
        (scan.style.is_header_quoted, quoted.collect(), scan.style.ends),
    )
}

/// Adds the calls of this file to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(scan_csv, module)?)
}
