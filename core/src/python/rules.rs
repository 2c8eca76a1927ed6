//! Edit rules, between the draw and Algorithm 2.

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use super::engine::Tables;
use super::{interruptible, key_of, shaped};
use crate::coupling::Blocks;
use crate::draw::Draw;
use crate::rules::{self, Rules};

/// (attribute, whether each of its codes meets the condition), a condition an entry.
type Conditions<'py> = Vec<(usize, PyReadonlyArray1<'py, bool>)>;

#[pyfunction]
#[pyo3(signature = (tables, drawn, key, *, first_group, rules, draw, blocks))]
#[allow(clippy::too_many_arguments)]
fn keep_rules<'py>(
    py: Python<'py>,
    tables: &Tables,
    drawn: PyReadonlyArray2<'py, i32>,
    key: &[u8],
    first_group: u64,
    rules: Vec<Conditions<'py>>,
    draw: &str,
    blocks: Vec<Vec<usize>>,
) -> PyResult<Bound<'py, PyArray2<i32>>> {
    let (key, drawn) = (key_of(key)?, drawn.as_slice()?);
    let mut masks: Vec<rules::Rule> = Vec::with_capacity(rules.len());
    for rule in &rules {
        let conditions = rule.iter().map(|(attribute, met)| Ok((*attribute, met.as_slice()?.to_vec())));
        masks.push(conditions.collect::<PyResult<_>>()?);
    }
    let rules = Rules::new(masks, Draw::named(draw)?, &Blocks::new(blocks, tables.0.attributes)?);
    let kept = interruptible(py, |cancel| rules::keep_rules(&tables.0, drawn, &key, first_group, &rules, cancel))?;
    shaped(py, kept, tables.0.attributes)
}

/// Adds the call of this file to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(keep_rules, module)?)
}
