"""A release on disk: the table, its certificate and, on request, the hidden file; they appear together or not."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from muco.atomic import Batch, Existing, Readers, check_target
from muco.errors import PolicyError
from muco.files import Format, Source, format_of, write_table
from muco.microdata import Key
from muco.release import Anatomy, Release
from muco.switches import Method
from muco.values import as_text

if TYPE_CHECKING:
    import polars as pl

    from muco.release import Hidden

_LARGEST_KEY_FILE = 1000


@dataclass(frozen=True, slots=True)
class Targets:
    """Where the files of a run go; made before the run, so that a run that cannot be written is not begun."""

    release: Path
    certificate: Path
    hidden: Path | None
    sensitive: Path | None  # the second of Anatomy's tables
    report: Path | None
    form: Format
    existing: Existing
    inputs: tuple[Path, ...]

    @staticmethod
    def of(output: Path, given: Mapping[str, Any], *, inputs: Iterable[Path | None]) -> Targets:
        """`given` may name `certificate`, `hidden`, `report`, `force` and `method`.

        Raises PolicyError or OutputError.
        """
        is_anatomy = given.get("method") == Method.ANATOMY
        targets = Targets(
            output,
            given.get("certificate") or output.with_name(f"{output.stem}.certificate.json"),
            given.get("hidden"),
            output.with_name(f"{output.stem}.sensitive{output.suffix}") if is_anatomy else None,
            given.get("report"),
            format_of(output),
            Existing.REPLACE if given.get("force") else Existing.REFUSE,
            tuple(path for path in inputs if path is not None),
        )
        beside: list[Path] = []
        for path in (targets.release, targets.certificate, targets.hidden, targets.sensitive, targets.report):
            if path is not None:
                beside.append(check_target(path, existing=targets.existing, inputs=targets.inputs, beside=beside))
        return targets

    def lines(self) -> list[str]:
        """What stands where, for the curator."""
        lines = [f"release: {self.release}", f"certificate: {self.certificate}"]
        lines += [] if self.sensitive is None else [f"sensitive values: {self.sensitive}"]
        lines += [] if self.report is None else [f"report: {self.report}"]
        return lines if self.hidden is None else [*lines, f"hidden, to be kept: {self.hidden}"]

    def write(
        self,
        release: Release | Anatomy,
        hidden: Hidden | None,
        source: Source,
        achieved: Mapping[str, Any] | None = None,
        *,
        page: str | None = None,
    ) -> str:
        """Write everything, and return the text of the certificate, which carries the release's SHA-256.

        `achieved` are the risks that were measured, for the certificate, `page` is the report as HTML.
        """
        tables = {"release": (self.release, release.data)}
        if self.sensitive is not None and isinstance(release, Anatomy):
            tables["sensitive"] = (self.sensitive, release.sensitive)
        with Batch(existing=self.existing, inputs=self.inputs) as batch:
            beside: dict[str, Any] = {"achieved": achieved} if achieved else {}
            for what, (path, table) in tables.items():
                digest = batch.add(path, write_table(table, self.form, delimiter=source.delimiter))
                beside[what] = {"file": path.name, "sha256": digest}
            certificate = release.certificate.to_json(**beside)
            batch.add(self.certificate, certificate)
            if page is not None and self.report is not None:
                batch.add(self.report, page)
            if hidden is not None and self.hidden is not None:
                batch.add(self.hidden, lambda path: write_hidden(hidden, path), readers=Readers.OWNER)
        return certificate


def read_key_file(path: Path) -> Key:
    """A key from a file of 64 hexadecimal digits or 32 bytes. Raises PolicyError."""
    try:
        with path.open("rb") as handle:
            content = handle.read(_LARGEST_KEY_FILE)
    except OSError as error:
        raise PolicyError(f"the key file {path} cannot be read: {error.strerror}") from None
    if len(content) == 32:
        return Key(content)
    if not content.isascii():
        raise PolicyError(f"the key file {path} holds neither 64 hexadecimal digits nor 32 bytes")
    return Key.of(content.decode("ascii"))


def write_hidden(hidden: Hidden, path: Path) -> None:
    """What must stay with the curator, as a zip of key, policy, groups and tables."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("key.txt", hidden.key.bits.hex() + "\n")
        archive.writestr("policy.toml", hidden.outcome.groups.microdata.policy.to_toml())
        for name, table in (("groups.parquet", _groups(hidden)), ("tables.parquet", _tables(hidden))):
            content = io.BytesIO()
            table.write_parquet(content)
            archive.writestr(name, content.getvalue())


def _groups(hidden: Hidden) -> pl.DataFrame:
    """Which group each record (from 1) is in, and which row (from 1) of the release it became."""
    import polars as pl

    groups = hidden.outcome.groups
    rows = np.empty(len(hidden.rows), dtype=np.int64)
    rows[hidden.rows] = np.arange(1, len(rows) + 1)
    numbers = np.repeat(np.arange(len(groups)), groups.sizes)
    return pl.DataFrame({"group": numbers, "record": groups.order + 1, "row": rows[groups.order]})


def _tables(hidden: Hidden) -> pl.DataFrame:
    """Every probability above zero: the group, the attribute, the record's value, the output, its share."""
    import polars as pl

    parts = []
    for batch, tables in zip(hidden.outcome.groups.batches(), hidden.tables, strict=True):
        groups, attributes, values, outputs, numerators, totals = tables.flat()
        for place, domain in enumerate(hidden.outcome.groups.microdata.quasi):
            here = attributes == place
            text = as_text(domain.cells)
            parts.append(
                pl.DataFrame(
                    {
                        "group": groups[here] + batch.first,
                        "attribute": pl.Series([domain.attribute]).gather(np.zeros(here.sum(), dtype=np.int64)),
                        "value": text.gather(values[here]),
                        "output": text.gather(outputs[here]),
                        "numerator": numerators[here],
                        "total": totals[here],
                    }
                )
            )
    return pl.concat(parts)
