//! Keyed random numbers for what Python orders or measures itself.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::key_of;
use crate::stream::{self, Step, Stream};

#[pyfunction]
fn tag_records<'py>(
    py: Python<'py>,
    key: &[u8],
    columns: PyReadonlyArray2<'py, u64>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let (key, width) = (key_of(key)?, columns.shape()[1]);
    if width == 0 {
        return Ok(vec![0; columns.shape()[0]].into_pyarray(py));
    }
    let values = columns.as_slice()?;
    Ok(py.detach(|| stream::tag_records(&key, values, width)).into_pyarray(py))
}

#[pyfunction]
fn shuffled<'py>(py: Python<'py>, key: &[u8], count: usize) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let key = key_of(key)?;
    let mut order: Vec<i64> = (0..count as i64).collect();
    py.detach(|| Stream::new(&key, 0, 0, Step::Shuffle).shuffle(&mut order));
    Ok(order.into_pyarray(py))
}

#[pyfunction]
fn uniforms<'py>(py: Python<'py>, key: &[u8], stream: u32, count: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let key = key_of(key)?;
    let numbers = py.detach(|| {
        let mut stream = Stream::new(&key, u64::from(stream), 0, Step::Generate);
        (0..count).map(|_| stream.unit()).collect::<Vec<f64>>()
    });
    Ok(numbers.into_pyarray(py))
}

/// Adds the calls of this file to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(tag_records, module)?)?;
    module.add_function(wrap_pyfunction!(shuffled, module)?)?;
    module.add_function(wrap_pyfunction!(uniforms, module)?)
}
