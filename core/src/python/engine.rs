//! The calls of Algorithms 1 and 2, whole batches of groups at a time.

use numpy::ndarray::{Array2, ArrayView1};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{asked, codes_of, interruptible, key_of, offsets, shaped};
use crate::batch::{self, Columns, Terms};
use crate::coupling::Blocks;
use crate::cover::Cover;
use crate::draw::{self, Draw};
use crate::exchange::SHARD;
use crate::grouping::{self, Exchanges, Grouping};
use crate::microdata::Microdata;
use crate::partition::Partition;
use crate::principle::Sensitive;
use crate::table::Delta;
use crate::{Cancel, distance, principle, repair};

/// dis(.) of one attribute.
#[pyclass(frozen, module = "muco._core")]
pub(super) struct Distance(pub(super) distance::Distance);

#[pymethods]
impl Distance {
    #[staticmethod]
    #[pyo3(signature = (positions, *, missing))]
    fn line(positions: PyReadonlyArray1<'_, f64>, missing: bool) -> PyResult<Self> {
        Ok(Distance(distance::Distance::line(positions.as_slice()?.to_vec(), missing)?))
    }

    #[staticmethod]
    #[pyo3(signature = (steps, *, leaves, missing))]
    fn tree(steps: PyReadonlyArray1<'_, f64>, leaves: usize, missing: bool) -> PyResult<Self> {
        Ok(Distance(distance::Distance::tree(steps.as_slice()?.to_vec(), leaves, missing)?))
    }

    #[staticmethod]
    #[pyo3(signature = (distances, *, missing))]
    fn matrix(distances: PyReadonlyArray2<'_, f64>, missing: bool) -> PyResult<Self> {
        let known = distances.shape()[0];
        Ok(Distance(distance::Distance::matrix(distances.as_slice()?.to_vec(), known, missing)?))
    }

    fn weighted(&self, weight: f64) -> PyResult<Self> {
        Ok(Distance(self.0.clone().weighted(weight)?))
    }

    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    #[getter]
    fn scale(&self) -> f64 {
        self.0.scale()
    }

    fn between<'py>(
        &self,
        py: Python<'py>,
        a: PyReadonlyArray1<'py, i32>,
        b: PyReadonlyArray1<'py, i32>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (a, b): (ArrayView1<i32>, ArrayView1<i32>) = (a.as_array(), b.as_array());
        let fits = |code: &i32| *code >= 0 && (*code as usize) < self.0.size();
        if a.len() != b.len() || !a.iter().all(fits) || !b.iter().all(fits) {
            return Err(PyValueError::new_err("codes must lie in the domain, as many on either side"));
        }
        let apart = py.detach(|| a.iter().zip(b).map(|(a, b)| self.0.between(*a, *b)).collect::<Vec<f64>>());
        Ok(apart.into_pyarray(py))
    }
}

#[pyclass(frozen, module = "muco._core")]
struct Principle(principle::Principle);

#[pymethods]
impl Principle {
    #[new]
    #[pyo3(signature = (name, diversity, *, c = 3.0, t = 0.2))]
    fn new(name: &str, diversity: usize, c: f64, t: f64) -> PyResult<Self> {
        Ok(Principle(principle::Principle::named(name, diversity, c, t)?))
    }

    fn holds(&self, sensitive: PyReadonlyArray2<'_, i32>, sizes: Vec<usize>, ordered: Vec<bool>) -> PyResult<bool> {
        let sensitive = Sensitive::new(codes_of(&sensitive)?, &sizes, &ordered)?;
        let records: Vec<u32> = (0..sensitive.codes().records() as u32).collect();
        Ok(self.0.holds(&sensitive, &records, &mut sensitive.tally()))
    }
}

/// (order, starts, leaf of each group).
type Groups<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

#[pyfunction]
#[pyo3(signature = (
    codes, sensitive, tags, distances, principle, *, sizes, ordered, grouping, sweep, exchanges, temperature, key,
    shard = SHARD, partition = "range", asks = None, households = None
))]
#[allow(clippy::too_many_arguments)]
fn divide_table<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray2<'py, i32>,
    sensitive: PyReadonlyArray2<'py, i32>,
    tags: PyReadonlyArray1<'py, u64>,
    distances: Vec<PyRef<'py, Distance>>,
    principle: &Principle,
    sizes: Vec<usize>,
    ordered: Vec<bool>,
    grouping: &str,
    sweep: &str,
    exchanges: usize,
    temperature: f64,
    key: &[u8],
    shard: usize,
    partition: &str,
    asks: Option<PyReadonlyArray1<'py, u32>>,
    households: Option<(PyReadonlyArray1<'py, u32>, PyReadonlyArray2<'py, i32>)>,
) -> PyResult<Groups<'py>> {
    let distances: Vec<distance::Distance> = distances.iter().map(|d| d.0.clone()).collect();
    let sensitive = Sensitive::new(codes_of(&sensitive)?, &sizes, &ordered)?;
    let asks = asked(asks.as_ref())?;
    let mut table = Microdata::new(codes_of(&codes)?, sensitive, tags.as_slice()?, &distances)?.with_asks(asks)?;
    table.partition = Partition::named(partition)?;
    if let Some((numbers, middles)) = &households {
        table = table.with_households(numbers.as_slice()?, codes_of(middles)?)?;
    }
    let grouping = Grouping::named(grouping, sweep)?;
    let exchanges = Exchanges { rounds: exchanges, temperature, key: key_of(key)?, shard: shard.max(2) };
    let groups =
        interruptible(py, |cancel| grouping::divide_table(&table, &principle.0, grouping, &exchanges, cancel))?;
    let mut starts = vec![0];
    groups.sizes.iter().for_each(|size| starts.push(starts[starts.len() - 1] + size));
    Ok((offsets(py, groups.order.into_iter().map(|r| r as usize)), offsets(py, starts), offsets(py, groups.leaves)))
}

/// The tables of a batch, kept on this side of the border.
#[pyclass(frozen, module = "muco._core")]
pub(super) struct Tables(pub(super) batch::Tables);

/// (row codes, records a row, column codes, numerators, total).
type OneTable<'py> =
    (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray2<u64>>, u64);

#[pymethods]
impl Tables {
    #[getter]
    fn solved(&self) -> usize {
        self.0.solved
    }

    #[getter]
    fn narrowed(&self) -> usize {
        self.0.narrowed
    }

    fn flat<'py>(&self, py: Python<'py>) -> Flat<'py> {
        let (mut groups, mut attributes, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        let (mut columns, mut numerators, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        for (index, entry) in self.0.entries.iter().enumerate() {
            for (row, code) in entry.rows.iter().enumerate() {
                for (numerator, column) in entry.table.row(row).iter().zip(&entry.columns).filter(|(n, _)| **n > 0) {
                    groups.push((index / self.0.attributes) as i64);
                    attributes.push((index % self.0.attributes) as i32);
                    rows.push(*code);
                    columns.push(*column);
                    numerators.push(*numerator);
                    totals.push(entry.table.total());
                }
            }
        }
        (
            groups.into_pyarray(py),
            attributes.into_pyarray(py),
            rows.into_pyarray(py),
            columns.into_pyarray(py),
            numerators.into_pyarray(py),
            totals.into_pyarray(py),
        )
    }

    fn table<'py>(&self, py: Python<'py>, group: usize, attribute: usize) -> PyResult<OneTable<'py>> {
        if group >= self.0.groups() || attribute >= self.0.attributes {
            return Err(PyValueError::new_err("the batch has no such group or attribute"));
        }
        let entry = self.0.entry(group, attribute);
        let rows = 0..entry.rows.len();
        let numerators: Vec<u64> = rows.flat_map(|row| entry.table.row(row)).copied().collect();
        let numerators = Array2::from_shape_vec((entry.rows.len(), entry.columns.len()), numerators)
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok((
            entry.rows.clone().into_pyarray(py),
            offsets(py, entry.multiplicities.iter().map(|m| *m as usize)),
            entry.columns.clone().into_pyarray(py),
            numerators.into_pyarray(py),
            entry.table.total(),
        ))
    }
}

/// (group, attribute, row code, column code, numerator, total), a probability above zero an entry.
type Flat<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
);

#[pyfunction]
#[pyo3(signature = (codes, order, starts, distances, *, delta, cover, columns, asks = None))]
#[allow(clippy::too_many_arguments)]
fn calculate_tables(
    py: Python<'_>,
    codes: PyReadonlyArray2<'_, i32>,
    order: PyReadonlyArray1<'_, i64>,
    starts: PyReadonlyArray1<'_, i64>,
    distances: Vec<PyRef<'_, Distance>>,
    delta: Option<(u64, u64)>,
    cover: &str,
    columns: &str,
    asks: Option<PyReadonlyArray1<'_, u32>>,
) -> PyResult<Tables> {
    let distances: Vec<distance::Distance> = distances.iter().map(|d| d.0.clone()).collect();
    let delta = delta.map(|(numerator, denominator)| Delta::new(numerator, denominator)).transpose()?;
    let terms =
        Terms { delta, cover: Cover::named(cover)?, columns: Columns::named(columns)?, asks: asked(asks.as_ref())? };
    let (codes, order, starts) = (codes_of(&codes)?, order.as_slice()?, starts.as_slice()?);
    let tables = |cancel: &Cancel| batch::Tables::calculate(codes, order, starts, &distances, terms, cancel);
    interruptible(py, tables).map(Tables)
}

#[pyfunction]
#[pyo3(signature = (tables, key, *, first_group, draw, blocks))]
fn output_values<'py>(
    py: Python<'py>,
    tables: &Tables,
    key: &[u8],
    first_group: u64,
    draw: &str,
    blocks: Vec<Vec<usize>>,
) -> PyResult<Bound<'py, PyArray2<i32>>> {
    let (key, draw) = (key_of(key)?, Draw::named(draw)?);
    let blocks = Blocks::new(blocks, tables.0.attributes)?;
    let drawn = interruptible(py, |cancel| draw::output_values(&tables.0, &key, first_group, draw, &blocks, cancel))?;
    shaped(py, drawn, tables.0.attributes)
}

#[pyfunction]
#[pyo3(signature = (tables, drawn, key, *, first_group, repair))]
fn randomize_unchanged_tuples<'py>(
    py: Python<'py>,
    tables: &Tables,
    drawn: PyReadonlyArray2<'py, i32>,
    key: &[u8],
    first_group: u64,
    repair: usize,
) -> PyResult<(Bound<'py, PyArray2<i32>>, usize, usize)> {
    let (key, drawn) = (key_of(key)?, drawn.as_slice()?);
    let repaired = interruptible(py, |cancel| {
        repair::randomize_unchanged_tuples(&tables.0, drawn, &key, first_group, repair, cancel)
    })?;
    Ok((shaped(py, repaired.codes, tables.0.attributes)?, repaired.repaired, repaired.unrepairable))
}

/// Adds the calls of this file to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Distance>()?;
    module.add_class::<Principle>()?;
    module.add_class::<Tables>()?;
    module.add_function(wrap_pyfunction!(divide_table, module)?)?;
    module.add_function(wrap_pyfunction!(calculate_tables, module)?)?;
    module.add_function(wrap_pyfunction!(output_values, module)?)?;
    module.add_function(wrap_pyfunction!(randomize_unchanged_tuples, module)?)
}
