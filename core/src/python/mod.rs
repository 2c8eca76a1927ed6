//! The only folder that names pyo3: check arrays, release the interpreter, call, map errors. Shapes and units stand in
//! `src/muco/_core.pyi`. Here is what every call shares; [`engine`] has the calls of Algorithms 1 and 2, [`rules`] what comes
//! between them, [`streams`] keyed random numbers, [`assess`] the adversaries, [`text`] delimited files.

mod assess;
mod engine;
mod rules;
mod streams;
mod text;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyArithmeticError, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::stream::Key;
use crate::{Cancel, Codes, Error};

/// How often a running call looks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// Whether the calls of all threads are to end: signals reach the main thread only.
static STOPPED: AtomicBool = AtomicBool::new(false);

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        match error {
            Error::Cancelled => PyKeyboardInterrupt::new_err(()),
            Error::Broken(what) => PyArithmeticError::new_err(what),
            other => PyValueError::new_err(other.to_string()),
        }
    }
}

/// Runs `job` on a thread of its own with the interpreter released, and raises its flag if a signal asks to stop.
pub(super) fn interruptible<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&Cancel) -> crate::Result<T> + Send,
) -> PyResult<T> {
    let cancel = Cancel::default();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, waiting) = channel();
            let flag = &cancel;
            scope.spawn(move || done.send(job(flag)));
            loop {
                match waiting.recv_timeout(PATIENCE) {
                    Ok(result) => return result.map_err(PyErr::from),
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(PyArithmeticError::new_err("the core stopped without a result"));
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        if STOPPED.load(Ordering::Relaxed) {
                            cancel.raise();
                            return Err(Error::Cancelled.into());
                        }
                        if let Err(signal) = Python::attach(|py| py.check_signals()) {
                            // The scope waits for the job; the signal's own exception is what counts.
                            cancel.raise();
                            return Err(signal);
                        }
                    }
                }
            }
        })
    })
}

pub(super) fn key_of(bytes: &[u8]) -> PyResult<Key> {
    let bytes = bytes.try_into().map_err(|_| PyValueError::new_err("a key has 32 bytes"))?;
    Ok(Key::new(bytes))
}

/// How many records each record asks to hide among; nothing where none asks.
pub(super) fn asked<'a>(asks: Option<&'a PyReadonlyArray1<'_, u32>>) -> PyResult<&'a [u32]> {
    Ok(asks.map(|asks| asks.as_slice()).transpose()?.unwrap_or_default())
}

pub(super) fn codes_of<'a>(array: &'a PyReadonlyArray2<'_, i32>) -> PyResult<Codes<'a>> {
    Ok(Codes::new(array.as_slice()?, array.shape()[1])?)
}

pub(super) fn shaped<'py>(py: Python<'py>, codes: Vec<i32>, attributes: usize) -> PyResult<Bound<'py, PyArray2<i32>>> {
    let shape = (codes.len() / attributes.max(1), attributes);
    let array = Array2::from_shape_vec(shape, codes).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(array.into_pyarray(py))
}

pub(super) fn offsets<'py>(py: Python<'py>, numbers: impl IntoIterator<Item = usize>) -> Bound<'py, PyArray1<i64>> {
    numbers.into_iter().map(|n| n as i64).collect::<Vec<i64>>().into_pyarray(py)
}

#[pyfunction]
fn stop_calls() {
    STOPPED.store(true, Ordering::Relaxed);
}

#[pyfunction]
fn allow_calls() {
    STOPPED.store(false, Ordering::Relaxed);
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    engine::register(module)?;
    streams::register(module)?;
    rules::register(module)?;
    assess::register(module)?;
    text::register(module)?;
    module.add_function(wrap_pyfunction!(stop_calls, module)?)?;
    module.add_function(wrap_pyfunction!(allow_calls, module)?)
}
