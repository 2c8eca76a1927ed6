"""Hostile input for the readers: `python bench/fuzz.py TARGET FOLDER SECONDS`, with atheris installed beside muco.

Whatever comes in, a reader gives a table that is written and read back equal, or one of muco's own errors without a
cell in it: never another exception, an abort, 10 seconds or 2 GiB. Finds go to FOLDER/finds, once for each place.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"

import atheris  # type: ignore[import-not-found]

with atheris.instrument_imports(include=["muco"]):
    import polars as pl

    from muco.errors import MucoError
    from muco.files import BadRows, Limits, Source, write_table
    from muco.files.columnar import read_columnar, write_columnar
    from muco.files.compressed import pack, read_content
    from muco.files.delimited import read_delimited
    from muco.files.excel import read_excel, write_excel
    from muco.files.stat import read_stat, write_stat
    from muco.formats import Compression, Format
    from muco.guess.draft import write_draft
    from muco.guess.proposal import Proposal
    from muco.hierarchy import Hierarchy
    from muco.layout import OPEN, Layout
    from muco.policy import Policy

LIMITS = Limits(content=64 << 20, rows=1_000_000)
CELL = re.compile(rb"cell[0-9]+")
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))
TABLE = pl.DataFrame({"a": [1, 2, None], "b": ["cell10001", "", "x,y"], "c": [1.5, -2.0, 3.25]})


def read_text(content: bytes, stated: Layout = OPEN, bad_rows: BadRows = BadRows.REFUSE) -> Source:
    return read_delimited(content, "t.csv", stated, bad_rows, LIMITS)


def check_text(data: bytes) -> None:
    """The first byte chooses how the rest is read; what was read is written, and read back equal."""
    choice, content = data[:1] or b"\0", data[1:]
    stated = (
        OPEN,
        OPEN,
        Layout(delimiter=";", decimal=","),
        Layout(encoding="latin-1"),
        Layout(encoding="utf-16", delimiter="\t"),
        Layout(encoding="shift_jis"),
    )[choice[0] % 6]
    source = read_text(content, stated, BadRows.DROP if choice[0] & 64 else BadRows.REFUSE)
    written = write_table(source.table, "out.csv", source)
    again = read_text(written, stated)
    assert again.table.equals(source.table), "the table that is written reads back otherwise"
    assert write_table(again.table, "out.csv", again) == written, "a second writing differs"


def check_packed(data: bytes) -> None:
    packed = Compression.ZSTD if data[:1] > b"\x80" else Compression.GZIP
    read_text(read_content(io.BytesIO(data[1:]), "t.csv", packed, LIMITS))


def check_columnar(data: bytes) -> None:
    form = Format.PARQUET if data[:4] == b"PAR1" else Format.ARROW
    source = read_columnar(io.BytesIO(data), "t", form, LIMITS)
    again = read_columnar(io.BytesIO(write_columnar(source.table, form)), "t", form, LIMITS)
    assert again.table.equals(source.table), "the table that is written reads back otherwise"


def check_excel(data: bytes) -> None:
    """The first byte chooses the part of a workbook that the rest stands for; none, and it is the whole."""
    book, parts = io.BytesIO(), dict(PARTS)
    if data[:1] != b"P" and data:
        parts[sorted(parts)[data[0] % len(parts)]] = data[1:]
        with zipfile.ZipFile(book, "w") as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
    source = read_excel(book.getvalue() or data, "t.xlsx", OPEN, LIMITS)
    again = read_excel(write_excel(source.table, None), "t.xlsx", OPEN, LIMITS)
    assert again.table.shape == source.table.shape, "the table that is written reads back otherwise"


def parts_of(book: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def check_stat(data: bytes) -> None:
    form = Format.SPSS if data[:4] in {b"$FL2", b"$FL3"} else Format.STATA if data[:1] != b"\0" else Format.SAS
    path = FOLDER / "t.bin"
    path.write_bytes(data)
    source = read_stat(path, "t", form, LIMITS)
    if form is not Format.SAS:
        write_stat(source.table, form, source.labels, suffix=".sav" if form is Format.SPSS else ".dta")


def check_hierarchy(data: bytes) -> None:
    path = FOLDER / ("t.toml" if data[:1] == b"\1" else "t.csv")
    path.write_bytes(data[1:])
    tree = Hierarchy.read(path)
    tree.holding(pl.Series(["7", "15.5", "2000-03-01", "a"]))
    again = Hierarchy.from_arx(tree.to_arx())
    assert (again.leaves, again.levels) == (tree.leaves, tree.levels), (
        "the tree that is written reads back otherwise"
    )


def check_policy(data: bytes) -> None:
    path = FOLDER / "p.toml"
    path.write_bytes(data)
    policy = Policy.read(path)
    path.write_text(policy.to_toml(), "utf-8")
    assert Policy.read(path) == policy, "the policy that is written reads back otherwise"


def check_guess(data: bytes) -> None:
    """What init writes is a policy that reads."""
    source = read_text(data)
    path = FOLDER / "g.toml"
    draft = write_draft(Proposal.of(source.table, numerals=source.layout.numerals)) + source.layout.to_toml()
    path.write_text(draft, "utf-8")
    Policy.read(path)


TARGETS: dict[str, Callable[[bytes], None]] = {
    name.removeprefix("check_"): check for name, check in dict(globals()).items() if name.startswith("check_")
}


PARTS = parts_of(write_excel(TABLE, None))


def tables() -> list[bytes]:
    csv = b'age,name,note\n34,cell10001,"a, ""b"""\n-9,?,NA\n012,cell10002,\xc3\xa9\n'
    found = [csv, csv.replace(b",", b";").replace(b"34", b"1.234,5"), csv.replace(b"\n", b"\r\n"), b"a\n1\n\n2\n"]
    found += [csv.decode().encode("utf-16"), csv.decode().encode("cp1252"), b"\xef\xbb\xbf" + csv, b'"a;b"\n"1"\n']
    return [
        *found,
        b"a|b\n1|x\n2|cell10003|\n",
        b"a\tb\r1\t2\r",
        b"x,y,\n1,2,\n",
        b"d,t\n31.12.2020,true\n1.1.2021,no\n",
    ]


def trees() -> list[bytes]:
    found = [b"a;A;*\nb;A;*\nc;C;*\n", b"a,x\nb,x\n", b'{"cat": "E", "subcats": [{"cat": "g"}, {"cat": "h"}]}']
    found += [
        b"distinct\nname x\ntype string\nheight 2\n\nA has a b\n\nR has A C\n",
        b"a\tb\n",
        b'["a", {"b": ["c"]}]',
    ]
    found += [b"range\nname x\ntype int\nheight 2\n\n0.0,20.0 has 0.0,10.0 10.0,20.0 \n", b"0-9;*\n10-19;*\n"]
    found += [b"range\nname x\ntype date\nheight 2\n\n2000,2001 has 1/2000,12/2000 1/1/2001,31/12/2001 null,null\n"]
    found += [b'{"nodes": [{"id": 1, "label": "r"}, {"id": 2}], "edges": [{"from": 1, "to": 2}]}']
    found += [b'[{"id": 1, "parent": "#"}, {"id": 2, "parent": 1, "text": "b"}, {"id": 3, "parent": 1}]']
    return [b"\0" + tree for tree in found] + [b'\1A = ["a", "b"]\n[B]\nC = ["c"]\n']


def policies() -> list[bytes]:
    quasi = b'[attributes.a]\nrole = "quasi"\n'
    return [
        b'schema_version = 1\npreset = "paper"\ndelta = "1/6"\ndiversity = 10\n' + quasi,
        quasi + b'kind = "ordinal"\norder = ["x", "y"]\n[attributes.b]\nrole = "sensitive"\n',
        quasi + b'hierarchy.tree = { A = ["x"], B = [{ C = ["y"] }] }\n[table]\ndelimiter = ";"\n',
        quasi + b'hierarchy.intervals = { widths = [5, 10], origin = 0.5 }\nmissing = ["?"]\n',
        quasi + b'hierarchy.dates = { levels = ["month"], form = "%d.%m.%Y" }\n',
        quasi + b'form = "%m/%Y"\n',
        quasi + b'distances = { values = ["a", "b"], matrix = [[0, 1], [1, 0]] }\n',
    ]


def columnar() -> list[bytes]:
    more = TABLE.with_columns(
        pl.lit("2020-01-02").str.to_date().alias("d"), pl.Series("e", list("xyx")).cast(pl.Categorical)
    )
    return [write_columnar(table, form) for table in (TABLE, more) for form in (Format.PARQUET, Format.ARROW)]


def seeds(target: str) -> list[bytes]:
    """Small sound inputs, and some that are nearly so."""
    csv = tables()[0] * 9
    inner = [bytes([place]) + PARTS[name] for place, name in enumerate(sorted(PARTS))]
    suffixes = {".sav": Format.SPSS, ".zsav": Format.SPSS, ".dta": Format.STATA}
    return {
        "text": lambda: [bytes([number]) + text for text in tables() for number in (0, 2, 3, 4, 5, 64)],
        "guess": tables,
        "packed": lambda: [
            b"\0" + gzip.compress(csv),
            b"\xff" + pack(csv, Compression.ZSTD),
            b"\0" + gzip.compress(b""),
        ],
        "columnar": columnar,
        "excel": lambda: [
            *inner,
            write_excel(TABLE, None),
            b"PK\3\4",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000),
        ],
        "stat": lambda: [write_stat(TABLE, form, {}, suffix=suffix) for suffix, form in suffixes.items()],
        "hierarchy": trees,
        "policy": policies,
    }[target]()


def main() -> None:
    target, folder, seconds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    check = TARGETS[target]
    corpus, finds = folder / target, folder / "finds"
    for place in (corpus, finds):
        place.mkdir(parents=True, exist_ok=True)
    for seed in seeds(target):
        (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)

    def run(data: bytes) -> None:
        try:
            check(data)
            return
        except MucoError as error:
            inner = set(CELL.findall(data.partition(b"\n")[2])) - set(CELL.findall(data.partition(b"\n")[0]))
            leaked = [cell for cell in inner if cell.decode() in str(error)]
            if not leaked and error.__cause__ is None:
                return
            place = f"leak {target}"
        except BaseException as error:
            frames = [
                f for f in traceback.extract_tb(error.__traceback__) if "muco" in f.filename or "fuzz" in f.filename
            ]
            where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
            place = f"{target} {type(error).__name__} {where} {str(error)[:80]}"
        name = hashlib.sha256(re.sub(r"[0-9]+", "", place).encode()).hexdigest()[:12]
        if not (finds / name).exists():
            (finds / name).write_bytes(data)
            (finds / f"{name}.txt").write_text(f"{place}\n{traceback.format_exc()}")

    words = [
        f"-max_total_time={seconds}",
        "-timeout=10",
        "-rss_limit_mb=2048",
        "-max_len=20000",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], str(corpus), f"-artifact_prefix={finds}/{target}-", *words], run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
