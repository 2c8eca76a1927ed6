"""What `make bench` measured, as bench/README.md."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

STAGES = ("encode", "divide", "cover", "draw", "repair")
PRESETS = ("provable", "paper")
SIZES = (250_000, 500_000, 1_000_000)
HEAD = """\
# How fast

Written by `make bench` (`bench/run.py`); not part of the tests.
Machine: {machine}, shared with other work while this was measured: trust ratios within the run more than seconds.
Figures are medians of {runs} runs (3 from 250,000 records on, 1 there with one thread). l = 10; preset paper at
delta = 1/6. The generated table is `muco.example.generate`, with its policy.

## Seconds of each stage
"""
MEANING = """\
*encode*: values to codes and tags. *divide*, *cover*, *draw*, *repair*: Algorithm 1, lines 2, 5, 6 and Algorithm 2;
*engine* is their sum. *total* is `muco.anonymize`, from frame to release and certificate, measured on its own.
*tables* are groups times quasi-identifiers, *solved* the different problems among them."""
SOLVER = """\
One thread: RAYON_NUM_THREADS=1 and POLARS_MAX_THREADS=1, engine seconds. HiGHS: {sample} of the paper preset's
tables, solved one by one by scipy.optimize.linprog on programs built beforehand ({milliseconds:.2f} ms each),
**extrapolated** to all tables of the run; for the generated table by the same time a table. It gives an optimum,
not the centre."""


def write_readme(found: dict[str, Any]) -> None:
    lines = [HEAD.format(machine=machine(), runs=found["runs"]), *stage_table(found), *ratio_table(found)]
    lines += ["", "## 20,000 tables on one core", "", "| tables | seconds |", "|---|---|"]
    lines += [f"| {name} | {seconds:.3f} |" for name, seconds in found["core"].items()]
    lines += ["", "## Linear in records", "", "| records | " + " | ".join(PRESETS) + " |", "|---|---|---|"]
    lines += [
        f"| {size:,} | " + " | ".join(linear(found, size, preset) for preset in PRESETS) + " |" for size in SIZES
    ]
    lines += [
        "",
        "Engine seconds, and microseconds a record.",
        "",
        "## Start-up",
        "",
        "| what | seconds |",
        "|---|---|",
    ]
    lines += [f"| `{name}` | {seconds:.3f} |" for name, seconds in found["start"].items()]
    Path(__file__).with_name("README.md").write_text("\n".join(lines) + "\n", "utf-8")


def stage_table(found: dict[str, Any]) -> list[str]:
    columns = (*STAGES, "engine", "total")
    lines = ["| table, preset | groups | tables | solved | " + " | ".join(columns) + " |", "|---" * 11 + "|"]
    for table in (*(["census"] if found["census"] else []), str(SIZES[-1])):
        for preset in PRESETS:
            run = found[f"{table} {preset}"]
            cells = [f"{run[name]:,}" for name in ("groups", "tables", "solved")]
            cells += [f"{run[name]:.3f}" for name in columns]
            lines.append(f"| {named(table)}, {preset} | " + " | ".join(cells) + " |")
    return [*lines, "", MEANING]


def ratio_table(found: dict[str, Any]) -> list[str]:
    lines = [
        "| table, preset | engine, one thread / all | polars CSV in and out | engine / polars | HiGHS / cover |"
    ]
    lines.append("|---" * 5 + "|")
    for table in (*(["census"] if found["census"] else []), str(SIZES[-1])):
        for preset in PRESETS:
            run, one = found[f"{table} {preset}"], found[f"{table} {preset} one thread"]
            solver = found["highs"]["seconds"] * run["tables"]
            beside = f"{solver:,.0f} s / {run['cover']:.2f} s = {solver / run['cover']:,.0f}"
            lines.append(
                f"| {named(table)}, {preset} | {one['engine']:.3f} / {run['engine']:.3f} = "
                f"{one['engine'] / run['engine']:.2f} | {run['files']:.3f} | {run['engine'] / run['files']:.1f} | "
                f"{beside if preset == 'paper' else 'closed form'} |"
            )
    solver = found["highs"]
    text = SOLVER.format(sample=solver["sample"], milliseconds=1000 * solver["seconds"])
    return ["", "## Beside other ways", "", *lines, "", text]


def linear(found: dict[str, Any], size: int, preset: str) -> str:
    seconds = found[f"{size} {preset}"]["engine"]
    return f"{seconds:.2f} s, {1e6 * seconds / size:.2f} µs"


def named(table: str) -> str:
    return "census table (40,152)" if table == "census" else f"{int(table):,} generated"


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {platform.machine()}, {memory:.0f} GiB of memory, {platform.system()}"
