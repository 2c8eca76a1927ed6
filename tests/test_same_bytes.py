"""The same key and data give the same bytes, whoever counts. Nothing rides along with a release."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import muco
from muco._core import shuffled
from muco.example import generate

KEY = "0d" * 32
RECORDS = range(500)
# Of four beside each other most live together, but every third stands alone; one in four asks for 8, one for 14.
TABLE = generate(500).with_columns(
    home=pl.Series([None if i % 3 == 0 else f"home {i // 4}" for i in RECORDS]),
    asked=pl.Series([(None, None, 8, 14)[i % 4] for i in RECORDS]),
)
QUASI = ["gender", "age", "education", "hours_per_week"]
OTHER = {name: {"role": "other"} for name in ("relationship", "marital_status", "race")}
REMOVED = ["person_id", "home", "asked"]
# Conditions that no relabelling below touches. Some people break it, and so do some rows that are drawn.
RULE = {"name": "r", "forbid": {"hours_per_week": "> 40", "education": "missing"}}
PRESETS: list[dict[str, Any]] = [
    {"preset": "provable"},
    {"preset": "provable", "sweep": "table"},
    {"preset": "paper", "delta": "1/5"},
    {"preset": "paper", "delta": "0.3", "grouping": "leaves", "draw": "controlled"},
    {"grouping": "sampled"},
    {"grouping": "seeds", "exchanges": 2},
    {"asks": "asked"},
    {"asks": "asked", "preset": "paper", "delta": "1/5"},
    {"household": "home"},
    {"blocks": [["age", "education"]]},
    {"blocks": [["age", "education"]], "preset": "paper", "delta": "1/5"},
    {"rules": [RULE]},
]
NAMING = {"asks", "household", "blocks", "rules"}  # switches that name columns of the table
every_preset = pytest.mark.parametrize("preset", PRESETS, ids=lambda p: "-".join(map(str, [*p, *p.values()])))


def policy(**switches: Any) -> muco.Policy:
    roles: dict[str, Any] = {"quasi": QUASI, "sensitive": "salary", "identifier": REMOVED, "attributes": OTHER}
    return muco.Policy.of(**roles, **{"diversity": 6, **switches})


def released(table: Any = TABLE, **switches: Any) -> Any:
    return muco.anonymize(table, policy(**switches), key=KEY).data


def digest(data: pl.DataFrame) -> str:
    return hashlib.sha256(data.write_csv().encode()).hexdigest()


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_same_bytes as here
print(*here.digests())
"""


def digests() -> list[str]:
    """Of every preset, and of groups drawn in two shards: 1,250, of which 1,024 stand side by side."""
    many = released(generate(5_000).with_columns(home=None, asked=None), grouping="sampled", diversity=4)
    return [*(digest(released(**preset)) for preset in PRESETS), digest(many)]


@pytest.mark.parametrize(("threads", "seed"), [("1", "0"), ("2", "1"), ("8", "2"), ("8", "random")])
def test_threads_and_the_hash_seed_change_no_byte(threads: str, seed: str) -> None:
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(Path(__file__).parent)],
        env={**os.environ, "RAYON_NUM_THREADS": threads, "PYTHONHASHSEED": seed, "POLARS_MAX_THREADS": threads},
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.split() == digests()


@every_preset
@pytest.mark.parametrize("number", range(3))
def test_the_order_of_the_input_changes_no_byte(preset: dict[str, Any], number: int) -> None:
    order = shuffled(bytes([number] * 32), len(TABLE))
    assert released(TABLE[order], **preset).equals(released(**preset))


@pytest.mark.parametrize("preset", [preset for preset in PRESETS if not NAMING & {*preset}], ids=str)
def test_records_that_only_untouched_columns_tell_apart_keep_no_order_of_the_input(preset: dict[str, Any]) -> None:
    # Two ages and eight salaries for 320 people: twenty share each combination, and only their note differs.
    table = pl.DataFrame(
        {"age": [n % 2 for n in range(320)], "pay": [n // 2 % 8 for n in range(320)], "note": range(320)}
    )
    notes: dict[str, Any] = {"attributes": {"note": {"role": "other"}}, "diversity": 8, **preset}
    one, other = (
        muco.anonymize(given, quasi="age", sensitive="pay", key=KEY, **notes).data
        for given in (table, table[shuffled(bytes(32), 320)])
    )
    assert one.equals(other)


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows whose missing values are None, whatever the frame calls them."""
    return [
        {name: None if isinstance(cell, float) and math.isnan(cell) else cell for name, cell in row.items()}
        for row in rows
    ]


@every_preset
def test_the_kind_of_frame_changes_no_value(preset: dict[str, Any]) -> None:
    expected = released(**preset).to_dicts()
    panda = released(TABLE.to_pandas(), **preset)
    arrow = released(TABLE.to_arrow(), **preset)
    assert isinstance(panda, pd.DataFrame)
    assert isinstance(arrow, pa.Table)
    assert plain(panda.to_dict("records")) == expected
    assert arrow.to_pylist() == expected


@every_preset
def test_without_a_key_two_runs_differ(preset: dict[str, Any]) -> None:
    one, other = (muco.anonymize(TABLE, policy(**preset)).data for _ in range(2))
    assert not one.equals(other)
    assert not one.sort(one.columns).equals(other.sort(other.columns))


def test_another_key_gives_other_values_and_another_order() -> None:
    data = muco.anonymize(TABLE, policy(), key="0e" * 32).data
    assert not data.sort(data.columns).equals(released().sort(data.columns))
    assert not data["salary"].equals(released()["salary"])


@every_preset
def test_relabelling_values_and_shifting_numbers_changes_nothing_else(preset: dict[str, Any]) -> None:
    # Names keep their order, which is what values without a hierarchy stand in.
    names = ("gender", "education")
    changed = TABLE.with_columns(*(("x " + pl.col(name)).alias(name) for name in names), pl.col("age") * 10 - 3_000)
    back = released(changed, **preset).with_columns(
        *(pl.col(name).str.strip_prefix("x ") for name in names), (pl.col("age") + 3_000) // 10
    )
    assert back.equals(released(**preset))


# ---- nothing rides along


def test_a_pandas_release_has_a_fresh_index_and_no_attributes() -> None:
    table = TABLE.to_pandas()
    table.index = pd.Index([f"P{i}" for i in range(len(table))], name="who")
    table.attrs["source"] = "clinic 9"
    data = released(table)
    assert data.index.equals(pd.RangeIndex(len(table)))
    assert data.index.name is None
    assert not data.attrs
    assert data.dtypes.equals(table.drop(columns=REMOVED).dtypes)


def test_an_arrow_release_has_no_metadata() -> None:
    plain_table = TABLE.to_arrow()
    fields = [field.with_metadata({"note": "raw"}) for field in plain_table.schema]
    table = pa.table(plain_table.columns, schema=pa.schema(fields, metadata={"pandas": "{}", "who": "clinic 9"}))
    schema = released(table).schema
    assert schema.metadata is None
    assert all(field.metadata is None for field in schema)
    assert schema.types == table.drop_columns(REMOVED).schema.types


@pytest.mark.parametrize("ordered", [False, True])
def test_a_pandas_category_without_rows_does_not_leave(ordered: bool) -> None:  # noqa: FBT001
    known = sorted(TABLE["education"].drop_nulls().unique())
    table = TABLE.to_pandas()
    table["education"] = pd.Categorical(table["education"], [*known, "SECRET"], ordered=ordered)
    assert list(released(table)["education"].cat.categories) == known
    assert released(table)["education"].cat.ordered is ordered


def test_an_arrow_or_polars_category_without_rows_does_not_leave() -> None:
    known = sorted(TABLE["education"].drop_nulls().unique())
    values = pa.array([*known, "SECRET"])
    codes = pa.array([None if v is None else known.index(v) for v in TABLE["education"]], pa.int32())
    arrow = TABLE.to_arrow().drop_columns("education")
    arrow = arrow.append_column("education", pa.DictionaryArray.from_arrays(codes, values))
    assert "SECRET" not in released(arrow)["education"].combine_chunks().dictionary.to_pylist()
    enum = TABLE.with_columns(pl.col("education").cast(pl.Enum([*known, "SECRET"])))
    dtype = released(enum)["education"].dtype
    assert isinstance(dtype, pl.Enum)
    assert dtype.categories.to_list() == known


def test_a_changed_cell_does_not_look_different_from_one_that_was_kept() -> None:
    # The same 34 written three ways becomes one.
    ages = [["34", "34.0", " 34", "35"][i % 4] for i in range(40)]
    table = pl.DataFrame({"age": ages, "pay": range(40)})
    data = muco.anonymize(table, quasi="age", sensitive="pay", diversity=10, key=KEY).data
    assert set(data["age"]) == {"34", "35"}


@every_preset
def test_rows_come_in_an_order_that_tells_nothing_of_the_input(preset: dict[str, Any]) -> None:
    # Salaries ascend in the input. Of a random order the correlation is 0 +- 1/sqrt(500): six of them are .27.
    data = released(TABLE.sort("salary"), **preset)["salary"].to_numpy()
    assert abs(np.corrcoef(np.arange(500), data)[0, 1]) < 0.27
