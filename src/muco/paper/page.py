"""A reproduction on disk: one page that opens offline, and the numbers of every figure beside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from muco.atomic import Batch, Existing, check_target
from muco.errors import MucoError, OutputError
from muco.paper.claims import claims_of_experiments
from muco.paper.experiments import Results, Watch, run_experiments
from muco.paper.figures import draw_figures, draw_small
from muco.paper.plan import Plan
from muco.paper.small_claims import claims_of_example
from muco.paper.small_table import SmallTable
from muco.paper.verdict import Claim, Verdict, to_frame

if TYPE_CHECKING:
    import polars as pl

PAGE = "report.html"
TABLES = (
    "claims",
    "disclosure",
    "loss",
    "queries",
    "partition",
    "example_people",
    "example_ages",
    "example_released",
)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Everything that came out of one plan."""

    plan: Plan
    results: Results
    small: SmallTable
    claims: tuple[Claim, ...]

    @property
    def verdicts(self) -> dict[str, int]:
        """How many findings hold, hold partly, fail."""
        counts = Counter(finding.verdict for claim in self.claims for finding in claim.findings)
        return {str(verdict): counts[verdict] for verdict in Verdict}

    def frames(self) -> dict[str, pl.DataFrame]:
        """The tables that are written beside the page, by name."""
        results, small = self.results, self.small
        frames = (
            to_frame(self.claims),
            results.disclosure,
            results.loss,
            results.queries,
            results.partition,
            small.people,
            small.ages,
            small.released,
        )
        return dict(zip(TABLES, frames))

    def to_html(self) -> str:
        """The page: no script, nothing loaded from elsewhere."""
        from jinja2 import Environment
        from markupsafe import Markup

        source = resources.files("muco.paper").joinpath("page.html.jinja").read_text("utf-8")
        template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
        return template.render(
            made=self,
            tables=TABLES,
            age_figure=draw_small(self.small),
            figures=draw_figures(self.results),
            drawn=Markup,
            version=version("muco"),
        )


def reproduce(plan: Plan, watch: Watch | None = None) -> Reproduction:
    """Run every experiment of the paper and hold its text against what came out.

    The same plan gives the same figures. Raises what `run_experiments` raises.
    """
    small = SmallTable.of()
    results = run_experiments(plan, watch)
    return Reproduction(plan, results, small, (*claims_of_example(small), *claims_of_experiments(results)))


def prepare_folder(folder: Path, existing: Existing, inputs: tuple[Path, ...] = ()) -> None:
    """Make the folder, and refuse before a long run what could not be written after it.

    Raises OutputError, PolicyError for files that stand in the way, or MucoError without the extra `report`.
    """
    if absent := [name for name in ("jinja2", "vl_convert") if find_spec(name) is None]:
        raise MucoError(
            f"the page needs {' and '.join(absent)}, which is not installed: pip install 'muco[report]'"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}. Name another folder with -o") from None
    for name in (PAGE, *(f"{table}.csv" for table in TABLES)):
        check_target(folder / name, existing=existing, inputs=inputs)


def write(made: Reproduction, folder: Path, existing: Existing) -> None:
    """Write the page and its tables together."""
    with Batch(existing=existing) as batch:
        batch.add(folder / PAGE, made.to_html())
        for name, frame in made.frames().items():
            batch.add(folder / f"{name}.csv", frame.write_csv())
