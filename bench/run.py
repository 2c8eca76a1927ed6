"""`make bench`: how long each stage takes, beside what the same work takes in other ways; writes bench/README.md.

Every measurement is the median of a few runs, each set in a process of its own. Nothing here runs inside the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from page import PRESETS, SIZES, STAGES, write_readme

ROOT = Path(__file__).parents[1]
CENSUS = ROOT.parent / "shared" / "data" / "census.csv"
QUASI = ("SEX", "AGE", "RELATE", "MARST", "RACE", "EDUC", "UHRSWORK")
SAMPLE = 300
KEY = bytes(32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of which the median is taken")
    parser.add_argument("--child", nargs=2, metavar=("WHAT", "PRESET"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        what, preset = given.child
        print(json.dumps(highs(preset) if what == "highs" else stages(what, preset, given.runs)))
        return
    write_readme(measure_all(given.runs))


def measure_all(runs: int) -> dict[str, Any]:
    tables = [*(["census"] if CENSUS.exists() else []), *map(str, SIZES)]
    found: dict[str, Any] = {"census": CENSUS.exists(), "runs": runs}
    for preset in PRESETS:
        for table in tables:
            few = runs if table == "census" else min(runs, 3)
            found[f"{table} {preset}"] = child(table, preset, runs=few)
            print(table, preset, found[f"{table} {preset}"], file=sys.stderr)
        for table in dict.fromkeys((tables[0], tables[-1])):
            few = runs if table == "census" else 1
            found[f"{table} {preset} one thread"] = child(table, preset, runs=few, threads=1)
            print(table, preset, "one thread", found[f"{table} {preset} one thread"], file=sys.stderr)
    found["highs"] = child("highs", "paper", runs=1)
    found["core"] = core_tables(runs)
    found["start"] = start_up(runs)
    return found


def child(what: str, preset: str, *, runs: int, threads: int | None = None) -> dict[str, float]:
    """One set of measurements in a process of its own, on all cores or on one."""
    environment = {**os.environ, **({"RAYON_NUM_THREADS": str(threads)} if threads else {})}
    if threads:
        environment["POLARS_MAX_THREADS"] = str(threads)
    command = [sys.executable, __file__, "--runs", str(runs), "--child", what, preset]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def load(what: str, preset: str) -> tuple[Any, Any]:
    """A table and its policy: l = 10, and delta 1/6 for preset paper."""
    import polars as pl

    from muco import Policy
    from muco.example import generate, policy_text
    from muco.switches import Preset

    if what == "census":
        switches = {"delta": "1/6"} if preset == "paper" else {}
        policy = Policy.of(quasi=QUASI, sensitive="INCWAGE", preset=preset, diversity=10, **switches)
        return pl.read_csv(CENSUS).drop("OCC"), policy
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.toml"
        path.write_text(policy_text(Preset(preset)), "utf-8")
        return generate(int(what)), Policy.read(path)


def stages(what: str, preset: str, runs: int) -> dict[str, float]:
    """Seconds of each stage, of `anonymize` as a whole (frame to release), and of polars' reading and writing."""
    from muco import anonymize

    table, policy = load(what, preset)
    taken: dict[str, list[float]] = {}
    counts: dict[str, float] = {}
    for _ in range(runs):
        counts = one_run(table, policy, taken)
        note(taken, "total", lambda: anonymize(table, policy, key=KEY))
        note(taken, "files", lambda: read_and_write(table))
    seconds = {name: median(values) for name, values in taken.items()}
    return {**seconds, **counts, "engine": sum(seconds[name] for name in STAGES[1:])}


def one_run(table: Any, policy: Any, taken: dict[str, list[float]]) -> dict[str, float]:
    """Algorithm 1 stage by stage, over the same batches as in a whole run."""
    from muco import Microdata
    from muco.microdata import Key
    from muco.steps import calculate_tables, divide_table, draw_values, repair_tuples

    key = Key.of(KEY)
    microdata = note(taken, "encode", lambda: Microdata.of(table, policy, key=key))
    groups = note(taken, "divide", lambda: divide_table(microdata))
    solved, part = 0, dict.fromkeys(STAGES[2:], 0.0)
    for batch in groups.batches():
        started = time.perf_counter()
        tables = calculate_tables(batch)
        covered = time.perf_counter()
        values = draw_values(tables, batch, key)
        drawn = time.perf_counter()
        repair_tuples(tables, values, batch, key)
        repaired = time.perf_counter()
        for name, seconds in zip(part, (covered - started, drawn - covered, repaired - drawn)):
            part[name] += seconds
        solved += tables.solved
    for name, seconds in part.items():
        taken.setdefault(name, []).append(seconds)
    return {"groups": len(groups), "tables": len(groups) * len(policy.quasi), "solved": solved}


def note(taken: dict[str, list[float]], name: str, work: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    result = work()
    taken.setdefault(name, []).append(time.perf_counter() - started)
    return result


def read_and_write(table: Any) -> None:
    """What reading the file and writing it again takes, without any work in between (the file is in the cache)."""
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        table.write_csv(path)
        pl.read_csv(path)


def highs(preset: str) -> dict[str, float]:
    """Seconds a table of scipy's linprog (HiGHS) takes, on a sample spread evenly over the tables of a run."""
    import muco

    what = "census" if CENSUS.exists() else str(SIZES[0])
    table, policy = load(what, preset)
    groups = muco.divide_table(muco.Microdata.of(table, policy))
    places = [(g, name) for g in range(0, len(groups), max(1, len(groups) // SAMPLE * 7)) for name in policy.quasi]
    programs = [linear_program(muco.calculate_table(groups[g], name), 1 / 6) for g, name in places[:SAMPLE]]
    return {"sample": len(programs), "seconds": sum(map(solve_one, programs)) / len(programs)}


def linear_program(table: Any, delta: float) -> tuple[Any, Any, Any]:
    """Costs, limits and row sums of the program of Section 4, one variable a cell."""
    import numpy as np

    domain = table.group.microdata.quasi[table.group.microdata.policy.quasi.index(table.attribute)]
    rows = domain.find(as_cells(domain, table.original))
    columns = domain.find(as_cells(domain, table.values))
    apart = domain.distance.between(np.repeat(rows, len(columns)), np.tile(columns, len(rows)))
    each = np.eye(len(columns))
    limits = np.kron(np.eye(len(rows)), each) - delta * np.kron(np.ones((len(rows), len(rows))), each)
    return apart, limits, np.kron(np.eye(len(rows)), np.ones(len(columns)))


def as_cells(domain: Any, values: tuple[Any, ...]) -> Any:
    import polars as pl

    return pl.Series(values, dtype=domain.cells.dtype)


def solve_one(program: tuple[Any, Any, Any]) -> float:
    import numpy as np
    from scipy.optimize import linprog

    costs, limits, sums = program
    started = time.perf_counter()
    done = linprog(
        costs, A_ub=limits, b_ub=np.zeros(len(limits)), A_eq=sums, b_eq=np.ones(len(sums)), method="highs"
    )
    seconds = time.perf_counter() - started
    if done.status != 0:
        raise SystemExit(f"HiGHS stopped: {done.message}")
    return seconds


def core_tables(runs: int) -> dict[str, float]:
    """Seconds for 20,000 tables on one core: core/benches/tables.rs."""
    taken: dict[str, list[float]] = {}
    command = ["cargo", "bench", "--locked", "--quiet"]
    for _ in range(runs):
        done = subprocess.run(command, cwd=ROOT / "core", check=True, capture_output=True, text=True)
        for name, cells, seconds in re.findall(r"(.+): 20000 tables of (\d+) cells in ([\d.]+) s", done.stdout):
            taken.setdefault(f"{name}, {cells} cells", []).append(float(seconds))
    return {name: median(values) for name, values in taken.items()}


def start_up(runs: int) -> dict[str, float]:
    commands = {
        "python, nothing imported": [sys.executable, "-c", ""],
        "import muco": [sys.executable, "-c", "import muco"],
        "muco --help": [str(Path(sys.executable).parent / "muco"), "--help"],
    }
    taken: dict[str, list[float]] = {}
    for _ in range(max(runs, 5)):
        for name, command in commands.items():
            note(taken, name, lambda c=command: subprocess.run(c, check=True, capture_output=True))
    return {name: median(values) for name, values in taken.items()}


if __name__ == "__main__":
    main()
