//! The adversaries.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::engine::{Distance, Tables};
use super::{codes_of, interruptible, key_of};
use crate::assess::informed::{Question, Seen, World};
use crate::assess::nearest::Among;
use crate::assess::score::{Profile, Published};
use crate::assess::{Pair, disclosure, informed, nearest, score, single};
use crate::coupling::Blocks;
use crate::distance;

/// The arrays of an original and a release.
#[pyclass(frozen, module = "muco._core")]
struct Encoded {
    original: Py<PyArray2<i32>>,
    low: Py<PyArray2<i32>>,
    high: Py<PyArray2<i32>>,
    row: Py<PyArray1<i64>>,
    sensitive: Py<PyArray2<i32>>,
    released: Py<PyArray2<i32>>,
}

#[pymethods]
impl Encoded {
    #[new]
    fn new(
        original: Py<PyArray2<i32>>,
        low: Py<PyArray2<i32>>,
        high: Py<PyArray2<i32>>,
        row: Py<PyArray1<i64>>,
        sensitive: Py<PyArray2<i32>>,
        released: Py<PyArray2<i32>>,
    ) -> Self {
        Encoded { original, low, high, row, sensitive, released }
    }
}

/// The arrays of an [`Encoded`], held for as long as a call reads them.
struct Held<'py> {
    codes: [PyReadonlyArray2<'py, i32>; 5],
    row: PyReadonlyArray1<'py, i64>,
}

impl<'py> Held<'py> {
    fn new(py: Python<'py>, encoded: &Encoded) -> Self {
        let read = |array: &Py<PyArray2<i32>>| array.bind(py).readonly();
        let Encoded { original, low, high, row, sensitive, released } = encoded;
        Held { codes: [original, low, high, sensitive, released].map(read), row: row.bind(py).readonly() }
    }

    fn pair(&self) -> PyResult<Pair<'_>> {
        let [original, low, high, sensitive, released] = &self.codes;
        Ok(Pair {
            original: codes_of(original)?,
            low: codes_of(low)?,
            high: codes_of(high)?,
            row: self.row.as_slice()?,
            sensitive: codes_of(sensitive)?,
            released: codes_of(released)?,
        })
    }
}

fn reals<'py>(py: Python<'py>, numbers: Vec<f64>, width: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = numbers.len().checked_div(width).unwrap_or(0);
    numbers.into_pyarray(py).reshape([rows, width])
}

/// (identity, singled, attribute): a sum over the targets a mask.
type Disclosed<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

#[pyfunction]
fn disclose<'py>(
    py: Python<'py>,
    encoded: &Encoded,
    masks: PyReadonlyArray1<'py, u64>,
    targets: PyReadonlyArray1<'py, i64>,
) -> PyResult<Disclosed<'py>> {
    let held = Held::new(py, encoded);
    let (pair, masks, targets) = (held.pair()?, masks.as_slice()?, targets.as_slice()?);
    let sums = interruptible(py, |cancel| disclosure::disclose(&pair, masks, targets, cancel))?;
    Ok((
        sums.iter().map(|sum| sum.identity).collect::<Vec<f64>>().into_pyarray(py),
        sums.iter().map(|sum| sum.singled).collect::<Vec<f64>>().into_pyarray(py),
        reals(py, sums.iter().flat_map(|sum| sum.attribute.clone()).collect(), pair.sensitive.attributes())?,
    ))
}

/// (distance, ties, whether the own row is among them, share with the own sensitive value).
type Found<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<bool>>, Bound<'py, PyArray2<f64>>);

#[pyfunction]
#[pyo3(signature = (encoded, distances, blocks, targets, *, among))]
fn find_nearest<'py>(
    py: Python<'py>,
    encoded: &Encoded,
    distances: Vec<PyRef<'_, Distance>>,
    blocks: (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>),
    targets: PyReadonlyArray1<'py, i64>,
    among: &str,
) -> PyResult<Found<'py>> {
    let among = match among {
        "all" => Among::All,
        "different" => Among::Different,
        _ => return Err(PyValueError::new_err("rows are sought among all or different")),
    };
    let distances: Vec<distance::Distance> = distances.iter().map(|d| d.0.clone()).collect();
    let held = Held::new(py, encoded);
    let (pair, targets) = (held.pair()?, targets.as_slice()?);
    let blocks = (blocks.0.as_slice()?, blocks.1.as_slice()?);
    let found = interruptible(py, |cancel| nearest::find_nearest(&pair, &distances, blocks, targets, among, cancel))?;
    Ok((
        found.distance.into_pyarray(py),
        super::offsets(py, found.ties.into_iter().map(|ties| ties as usize)),
        found.has_own.into_pyarray(py),
        reals(py, found.alike, pair.sensitive.attributes())?,
    ))
}

/// (tables, released codes, repair, attributes that share a random number).
type Release<'py> = (PyRef<'py, Tables>, PyReadonlyArray2<'py, i32>, usize, Vec<Vec<usize>>);

/// (posterior of the own row, largest, hit, nearest in the group, one to one), posterior of the own sensitive values,
/// then (Σ squared difference of chains, records that needed them, records unexplained).
type Concluded<'py> = (Vec<Bound<'py, PyArray1<f64>>>, Bound<'py, PyArray2<f64>>, (f64, usize, usize));

#[pyfunction]
#[pyo3(signature = (seen, sensitive, is_joined, key, *, first_group, world, corrupted, share))]
#[allow(clippy::too_many_arguments)]
fn conclude<'py>(
    py: Python<'py>,
    seen: Vec<Release<'py>>,
    sensitive: PyReadonlyArray2<'py, i32>,
    is_joined: PyReadonlyArray1<'py, bool>,
    key: &[u8],
    first_group: u64,
    world: &str,
    corrupted: usize,
    share: f64,
) -> PyResult<Concluded<'py>> {
    let world = match world {
        "release" => World::Release,
        "raw" => World::Raw,
        "shuffled" => World::Shuffled,
        _ => return Err(PyValueError::new_err("a world is release, raw or shuffled")),
    };
    let blocks: Vec<Blocks> = seen
        .iter()
        .map(|(tables, _, _, named)| Blocks::new(named.clone(), tables.0.attributes))
        .collect::<crate::Result<_>>()?;
    let releases: Vec<Seen> = seen
        .iter()
        .zip(&blocks)
        .map(|((tables, released, repair, _), blocks)| {
            Ok(Seen { tables: &tables.0, released: released.as_slice()?, repair: *repair, blocks })
        })
        .collect::<PyResult<_>>()?;
    let (sensitive, is_joined) = (codes_of(&sensitive)?, is_joined.as_slice()?);
    let question = Question { sensitive, is_joined, world, corrupted, first_group, share };
    let key = key_of(key)?;
    let found = interruptible(py, |cancel| informed::conclude(&releases, question, &key, cancel))?;
    let parts = [found.own, found.largest, found.hit, found.nearest, found.assigned];
    Ok((
        parts.into_iter().map(|part| part.into_pyarray(py)).collect(),
        reals(py, found.alike, sensitive.attributes())?,
        (found.disagreement, found.sampled, found.unexplained),
    ))
}

#[pyfunction]
fn single_value_risks<'py>(py: Python<'py>, tables: &Tables) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let risks = interruptible(py, |cancel| single::single_value_risks(&tables.0, cancel))?;
    reals(py, risks, tables.0.attributes)
}

#[pyfunction]
#[pyo3(signature = (scores, codes, own, rows, sizes, *, takes_equal))]
fn score_rows<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray2<'py, f32>,
    codes: PyReadonlyArray2<'py, i32>,
    own: PyReadonlyArray1<'py, i64>,
    rows: PyReadonlyArray2<'py, i32>,
    sizes: Vec<usize>,
    takes_equal: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (all, codes, rows) = (scores.as_slice()?, codes_of(&codes)?, codes_of(&rows)?);
    let width: usize = sizes.iter().sum();
    let own = own.as_slice()?;
    if all.len() != own.len() * width || codes.records() != own.len() {
        return Err(PyValueError::new_err("scores, codes and rows of the targets differ in number"));
    }
    let profile = |(t, own): (usize, &i64)| Profile {
        scores: &all[t * width..(t + 1) * width],
        codes: codes.record(t),
        own: *own,
    };
    let profiles: Vec<Profile> = own.iter().enumerate().map(profile).collect();
    let hits = interruptible(py, |cancel| score::score_rows(&profiles, rows, &sizes, takes_equal, cancel))?;
    Ok(hits.into_pyarray(py))
}

#[pyfunction]
#[pyo3(signature = (tables, groups, rows, *, repair, blocks))]
fn sum_rows<'py>(
    py: Python<'py>,
    tables: &Tables,
    groups: PyReadonlyArray1<'py, i64>,
    rows: PyReadonlyArray2<'py, i32>,
    repair: usize,
    blocks: Vec<Vec<usize>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let blocks = Blocks::new(blocks, tables.0.attributes)?;
    let published = Published { rows: codes_of(&rows)?, repair, blocks: &blocks };
    let groups = groups.as_slice()?;
    Ok(interruptible(py, |cancel| score::sum_rows(&tables.0, groups, published, cancel))?.into_pyarray(py))
}

#[pyfunction]
#[pyo3(signature = (tables, groups, rows, own, totals, *, weight, repair, blocks))]
#[allow(clippy::too_many_arguments)]
fn search_rows<'py>(
    py: Python<'py>,
    tables: &Tables,
    groups: PyReadonlyArray1<'py, i64>,
    rows: PyReadonlyArray2<'py, i32>,
    own: PyReadonlyArray1<'py, i64>,
    totals: PyReadonlyArray1<'py, f64>,
    weight: f64,
    repair: usize,
    blocks: Vec<Vec<usize>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let blocks = Blocks::new(blocks, tables.0.attributes)?;
    let published = Published { rows: codes_of(&rows)?, repair, blocks: &blocks };
    let (groups, own, totals) = (groups.as_slice()?, own.as_slice()?, (totals.as_slice()?, weight));
    let found = interruptible(py, |cancel| score::search_rows(&tables.0, groups, published, own, totals, cancel))?;
    Ok(found.into_pyarray(py))
}

/// Adds the calls of this file to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Encoded>()?;
    module.add_function(wrap_pyfunction!(disclose, module)?)?;
    module.add_function(wrap_pyfunction!(find_nearest, module)?)?;
    module.add_function(wrap_pyfunction!(conclude, module)?)?;
    module.add_function(wrap_pyfunction!(single_value_risks, module)?)?;
    module.add_function(wrap_pyfunction!(score_rows, module)?)?;
    module.add_function(wrap_pyfunction!(sum_rows, module)?)?;
    module.add_function(wrap_pyfunction!(search_rows, module)?)
}
