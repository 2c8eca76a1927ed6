"""A release on disk: what stands in the files, and what does not."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from muco.errors import PolicyError
from muco.publish import Targets, read_key_file
from shell import KEY, muco, people

ROLES = ("--identifier", "name", "--quasi", "age,town", "--sensitive", "illness", "--diversity", "4")


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key.txt"
    path.write_text(KEY + "\n")
    return path


def test_a_release_is_the_table_shuffled_and_covered_and_nothing_more(tmp_path: Path, key_file: Path) -> None:
    source = pl.read_csv(people(tmp_path / "in.csv"))
    assert (
        muco("anonymize", tmp_path / "in.csv", *ROLES, "-o", tmp_path / "out.csv", "--key-file", key_file).code == 0
    )
    release = pl.read_csv(tmp_path / "out.csv")
    assert release.columns == ["age", "town", "illness"]
    for name in release.columns:  # provable: each column is a permutation of itself
        assert release[name].sort().equals(source[name].sort())
        assert not release[name].equals(source[name])


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_the_certificate_has_the_digest_of_the_release(tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out.{suffix}"
    ran = muco("anonymize", people(tmp_path / "in.csv"), *ROLES, "-o", out, "--json")
    certificate = json.loads((tmp_path / "out.certificate.json").read_text())
    assert certificate["release"] == {"file": out.name, "sha256": hashlib.sha256(out.read_bytes()).hexdigest()}
    assert json.loads(ran.out) == certificate


def test_the_certificate_carries_no_key_partition_table_or_input_hash(tmp_path: Path, key_file: Path) -> None:
    table = people(tmp_path / "in.csv")
    muco("anonymize", table, *ROLES, "-o", tmp_path / "out.csv", "--key-file", key_file)
    text = (tmp_path / "out.certificate.json").read_text()
    assert set(json.loads(text)) == {
        "method", "settings", "attributes", "records", "smallest_group", "changed_share", "information_loss",
        "repair", "promise", "limits", "version", "certificate_version", "gate", "release", "achieved", "rules",
    }  # fmt: skip
    for secret in (KEY, hashlib.sha256(table.read_bytes()).hexdigest(), "Aston", "illness 3", "person 1"):
        assert secret not in text


def test_a_small_count_of_the_certificate_is_not_told(tmp_path: Path) -> None:
    # The first eight records are one leaf and all equal: they cannot be repaired. The other four can.
    rows = [f"{age},v{at % 4}" for at, age in enumerate([1] * 8 + [10, 11, 12, 13])]
    (tmp_path / "in.csv").write_text("a,s\n" + "\n".join(rows) + "\n")
    words = ("--quasi", "a", "--sensitive", "s", "--diversity", "4", "--delta", "1/2", "--grouping", "leaves")
    ran = muco("anonymize", tmp_path / "in.csv", *words, "--dry-run", "--json")
    repair = json.loads(ran.out)["repair"]
    assert all(count in {0, "fewer than 10"} or int(count) >= 10 for count in repair.values())
    assert repair["unrepairable"] == "fewer than 10"
    assert "but for fewer than 10 in groups of equal records" in ran.out


def test_the_hidden_file_is_for_its_owner_and_tells_the_rows(tmp_path: Path, key_file: Path) -> None:
    table = people(tmp_path / "in.csv")
    hidden = tmp_path / "hidden.zip"
    words = ("-o", tmp_path / "out.csv", "--hidden", hidden, "--key-file", key_file)
    ran = muco("anonymize", table, *ROLES, *words)
    assert f"hidden, to be kept: {hidden}" in ran.err
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o600
    with zipfile.ZipFile(hidden) as archive:
        assert archive.read("key.txt").decode().strip() == KEY
        groups = pl.read_parquet(io.BytesIO(archive.read("groups.parquet")))
        tables = pl.read_parquet(io.BytesIO(archive.read("tables.parquet")))
        (tmp_path / "policy.toml").write_bytes(archive.read("policy.toml"))
    # The sensitive value stays beside its own record, so the two illnesses of a pair are one.
    source, release = pl.read_csv(table), pl.read_csv(tmp_path / "out.csv")
    pairs = groups.sort("row")["record"] - 1
    assert source["illness"].gather(pairs).equals(release["illness"])
    assert groups.group_by("group").len()["len"].min() == 4
    sums = tables.group_by("group", "attribute", "value").agg((pl.col("numerator") / pl.col("total")).sum())
    assert (sums["numerator"] - sums["numerator"].round()).abs().max() < 1e-12  # type: ignore[operator]
    # The policy and the key of the hidden file replay the run.
    again = muco(
        "anonymize", table, "-c", tmp_path / "policy.toml", "-o", tmp_path / "two.csv", "--key-file", key_file
    )
    assert again.code == 0
    assert (tmp_path / "two.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_a_parquet_release_has_no_statistics_metadata_or_categories_of_the_original(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "age": [10, 20, 30, 40],
            "town": pl.Series(["canary1", "x", "y", "x"], dtype=pl.Categorical),
            "kind": pl.Series(["a", "b", "a", "b"], dtype=pl.Enum(["a", "canary2", "b"])),
            "illness": ["p", "q", "r", "s"],
        }
    )
    table.write_parquet(tmp_path / "in.parquet", metadata={"pandas": "canary3"})
    words = ("--identifier", "town", "--quasi", "age", "--sensitive", "illness", "--diversity", "4")
    for name in ("out.parquet", "out.arrow"):
        assert muco("anonymize", tmp_path / "in.parquet", *words, "-o", tmp_path / name, "--force").code == 0
        assert b"canary" not in (tmp_path / name).read_bytes()
    footer = pq.read_metadata(tmp_path / "out.parquet")
    assert set(footer.metadata or ()) <= {b"ARROW:schema"}
    assert not any(footer.row_group(0).column(place).is_stats_set for place in range(footer.num_columns))
    assert (
        pl.read_ipc(tmp_path / "out.arrow").schema
        == table.drop("town")
        .select("age", pl.col("kind").cast(pl.String).cast(pl.Enum(["a", "b"])), "illness")
        .schema
    )


def test_a_changed_cell_looks_like_one_that_was_kept(tmp_path: Path) -> None:
    # 34 and 34.0 are one number and leave in one form; 034 is a code and keeps its zero.
    (tmp_path / "in.csv").write_text('n,code,s\n34.0,034,a\n34,034,b\n7,34,c\n"34.00",34,d\n')
    muco(
        "anonymize",
        tmp_path / "in.csv",
        "--quasi",
        "n,code",
        "--sensitive",
        "s",
        "--diversity",
        "4",
        "-o",
        tmp_path / "o.csv",
    )
    rows = [line.split(",") for line in (tmp_path / "o.csv").read_text().splitlines()[1:]]
    assert sorted(row[0] for row in rows) == ["34", "34", "34", "7"]
    assert sorted(row[1] for row in rows) == ["034", "034", "34", "34"]


def test_the_delimiter_of_the_input_is_kept(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("n;s\n1;a,b\n2;c\n")
    muco(
        "anonymize",
        tmp_path / "in.csv",
        "--quasi",
        "n",
        "--sensitive",
        "s",
        "--diversity",
        "2",
        "-o",
        tmp_path / "o.csv",
    )
    assert (tmp_path / "o.csv").read_text().startswith("n;s\n")
    assert ";a,b\n" in (tmp_path / "o.csv").read_text()


@pytest.mark.parametrize("content", [KEY.encode(), f" {KEY.upper()}\r\n".encode(), bytes.fromhex(KEY)])
def test_a_key_file_holds_digits_or_bytes(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)
    assert read_key_file(tmp_path / "key").bits.hex() == KEY


@pytest.mark.parametrize("content", [b"", b"12", b"\xff" * 31, b"zz" * 32, bytes(64), b"\xff" * 5000])
def test_what_is_no_key_is_refused_and_not_quoted(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(PolicyError, match="64 hexadecimal digits") as caught:
        read_key_file(tmp_path / "key")
    assert caught.value.__context__ is None


def test_a_key_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"the key file .*none cannot be read: No such file"):
        read_key_file(tmp_path / "none")


def test_targets_are_checked_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="two of the files to be written are the same"):
        Targets.of(tmp_path / "a.csv", {"certificate": tmp_path / "a.csv"}, inputs=[])
    with pytest.raises(PolicyError, match="has no suffix that tells its form"):
        Targets.of(tmp_path / "release", {}, inputs=[])
