"""A release on disk: the table, its certificate and, on request, the hidden file; they appear together or not."""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np

from muco.atomic import Batch, Existing, Readers, check_target
from muco.errors import MucoWarning, OutputError, PolicyError
from muco.files import Source, check_writable, form_for, layout_for, place_of, write_table
from muco.files.database import check_database, filled
from muco.files.rendering import disarm, find_formulas, render
from muco.formats import STREAM, Format, compression_of, is_database
from muco.layout import OPEN
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
    """Where the files of a run go; made before the run, so that a run that cannot be written is not begun.

    `release` is a path, `-` for standard output, or the URL of a table. `certificate` is None where none is kept.
    """

    release: str = field(repr=False)  # a URL may hold a password
    certificate: Path | None
    hidden: Path | None
    sensitive: Path | None  # the second of Anatomy's tables
    existing: Existing
    inputs: tuple[Path, ...]
    is_spreadsheet_safe: bool = False
    report: Path | None = None
    page: str | None = field(default=None, repr=False)  # what goes there, once it is known

    @staticmethod
    def of(
        output: str | Path,
        given: Mapping[str, Any],
        *,
        inputs: Iterable[Path | None],
        tables: tuple[str, ...] = (),
    ) -> Targets:
        """`given` may name certificate, hidden, report, force, method and spreadsheet_safe; `tables` are read.

        Raises PolicyError or OutputError.
        """
        is_anatomy = given.get("method") == Method.ANATOMY
        is_file = str(output) != STREAM and not is_database(output)
        if is_file and not Path(output).name:
            raise OutputError(f"{Path(output)} cannot be written: it is a directory. Name a file in it.")
        default = Path(output).with_name(f"{_stem(Path(output))}.certificate.json") if is_file else None
        targets = Targets(
            str(output),
            given.get("certificate") or default,
            given.get("hidden"),
            _second(output, is_file=is_file) if is_anatomy else None,
            Existing.REPLACE if given.get("force") else Existing.REFUSE,
            tuple(path for path in inputs if path is not None),
            bool(given.get("spreadsheet_safe")),
            given.get("report"),
        )
        if is_database(output):
            check_database(str(output), tables, existing=targets.existing)
        else:
            check_writable(output)
        beside: list[Path] = []
        release = Path(output) if is_file else None
        for path in (release, targets.certificate, targets.hidden, targets.sensitive, targets.report):
            if path is not None:
                beside.append(check_target(path, existing=targets.existing, inputs=targets.inputs, beside=beside))
        return targets

    @property
    def shown(self) -> str:
        """The place of the release, without a password."""
        return "stdout" if self.release == STREAM else place_of(self.release)

    def lines(self) -> list[str]:
        """What stands where, for the curator."""
        kept = "no certificate is kept: name a file with --certificate"
        lines = [
            f"release: {self.shown}",
            f"certificate: {self.certificate}" if self.certificate else f"note: {kept}",
        ]
        lines += [] if self.sensitive is None else [f"sensitive values: {self.sensitive}"]
        lines += [] if self.report is None else [f"report: {self.report}"]
        return lines if self.hidden is None else [*lines, f"hidden, to be kept: {self.hidden}"]

    def write(
        self,
        release: Release | Anatomy,
        hidden: Hidden | None,
        source: Source,
        achieved: Mapping[str, Any] | None = None,
    ) -> str:
        """Write everything, and return the text of the certificate, which carries the release's SHA-256.

        `achieved` are the risks that were measured, for the certificate.
        """
        told: dict[str, Any] = {"achieved": achieved} if achieved else {}
        table = self._guarded(release.data, source)
        if is_database(self.release):
            with filled(self.release, table, existing=self.existing):
                digest = hashlib.sha256(render(table, OPEN)).hexdigest()
                return self._write_files(
                    release, hidden, source, {"table": self.shown, "sha256_of_csv": digest}, told
                )
        content = write_table(table, self.release, source)
        if self.release == STREAM:
            written = {"file": self.shown, "sha256": hashlib.sha256(content).hexdigest()}
            certificate = self._write_files(release, hidden, source, written, told)
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            return certificate
        return self._write_files(release, hidden, source, content, told)

    def _write_files(
        self,
        release: Release | Anatomy,
        hidden: Hidden | None,
        source: Source,
        written: dict[str, str] | bytes,
        told: dict[str, Any],
    ) -> str:
        """The files of a run: `written` is the content of the release, or what is said of one that is no file."""
        with Batch(existing=self.existing, inputs=self.inputs) as batch:
            if isinstance(written, bytes):
                name = (
                    Path(self.release).name.encode(errors="replace").decode()
                )  # it may hold bytes that are no text
                written = {"file": name, "sha256": batch.add(self.release, written)}
            beside = {**told, "release": written}
            if self.sensitive is not None and isinstance(release, Anatomy):
                digest = batch.add(self.sensitive, write_table(release.sensitive, self.sensitive, source))
                beside["sensitive"] = {"file": self.sensitive.name, "sha256": digest}
            certificate = certificate_of(release, source, **beside)
            if self.certificate is not None:
                batch.add(self.certificate, certificate)
            if self.report is not None and self.page is not None:
                batch.add(self.report, self.page)
            if hidden is not None and self.hidden is not None:
                batch.add(self.hidden, lambda path: write_hidden(hidden, path), readers=Readers.OWNER)
        return certificate

    def _guarded(self, table: pl.DataFrame, source: Source) -> pl.DataFrame:
        """The table, with what a spreadsheet would run quoted, or a MucoWarning where it is left."""
        if form_for(self.release, source) is not Format.CSV:
            return table
        layout = layout_for(self.release, source)
        if self.is_spreadsheet_safe:
            return disarm(table, layout)
        if found := find_formulas(table, layout):
            columns = ", ".join(f"{name} ({count})" for name, count in found.items())
            warn(
                f"cells of text that begin with = + - @ or tab, which a spreadsheet runs as formulas: {columns}. "
                "Quote them with --spreadsheet-safe, or open the release elsewhere",
                MucoWarning,
                stacklevel=3,
            )
        return table


def certificate_of(release: Release | Anatomy, source: Source, /, **written: Any) -> str:
    """The certificate as JSON, with what was written and how many rows were left out of what was read."""
    dropped = source.dropped if source.dropped >= 10 else "fewer than 10"
    beside: dict[str, Any] = {"rows_dropped": dropped} if source.dropped else {}
    return release.certificate.to_json(**beside, **written)


def _second(output: str | Path, *, is_file: bool) -> Path:
    """Where the second table of Anatomy goes. Raises PolicyError where the first is no file."""
    if not is_file:
        raise PolicyError("anatomy writes two tables: name a file with -o")
    return name_second(Path(output))


def name_second(first: Path) -> Path:
    """The second of Anatomy's tables beside the first: release.csv has release.sensitive.csv."""
    return first.with_name(f"{_stem(first)}.sensitive{first.name.removeprefix(_stem(first))}")


def _stem(path: Path) -> str:
    return Path(path.stem).stem if compression_of(path) else path.stem


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
