"""`muco demo`: an example table, both presets run on it, and what they protect beside two other methods."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from muco.cli.terminal import Watch, console, say, show_columns, show_summaries, watching
from muco.errors import MucoError, OutputError, PolicyError

if TYPE_CHECKING:
    from muco.assess.assessment import Assessment
    from muco.assess.contest import Baselines
    from muco.release import Release
    from muco.switches import Preset

_NAMES = ("policy.toml", "release.csv", "certificate.json", "report.html")


@click.command("demo")
@click.argument("folder", type=click.Path(path_type=Path), default="muco-demo")
@click.option("--records", type=click.IntRange(1_000, 10_000_000), default=20_000, show_default=True)
@click.option("--force", is_flag=True, help="Replace the files of an earlier demo.")
def command(folder: Path, records: int, *, force: bool) -> None:
    """Make a census-like table of invented people in FOLDER (muco-demo) and anonymize it with both presets.

    FOLDER gets census.csv, policy.toml, release.csv, certificate.json and report.html of preset provable;
    FOLDER/paper the last four of preset paper. Both stand beside Mondrian and Anatomy in one table at the end.
    """
    from muco.assess.contest import Entry, measure_baselines
    from muco.atomic import Batch, Existing
    from muco.example import generate, policy_text
    from muco.files import write_table
    from muco.report import Audience
    from muco.report.words import Reader, tell_entries
    from muco.switches import Preset

    out = console()
    folders = {Preset.PROVABLE: folder, Preset.PAPER: folder / "paper"}
    _make_folders(folder, folders, force=force)
    table = generate(records)
    with Batch(existing=Existing.REPLACE) as batch:
        batch.add(folder / "census.csv", write_table(table, "census.csv"))
        for preset, path in folders.items():
            batch.add(path / "policy.toml", policy_text(preset))
    with watching(out, quiet=False, verbose=False) as watch:
        runs = {preset: _anonymize(table, path, watch) for preset, path in folders.items()}
        watch("compare", 0, 0)
        baselines = measure_baselines(table, runs[Preset.PROVABLE][1].policy)
        ours = {preset: Entry.of(f"muco, {preset}", assessment) for preset, (_, assessment) in runs.items()}
        watch("report", 0, 0)
        told = _write_pages(table, runs, folders, replace(baselines, entries=(*ours.values(), *baselines.entries)))
    show_summaries(out, {preset.value: release.summary for preset, (release, _) in runs.items()})
    say(out, "")
    beside = tell_entries((*ours.values(), *baselines.entries), Reader(Audience.INTERNAL, records))
    show_columns(out, beside.heads, beside.rows)
    say(
        out,
        "",
        f"in {folder}: census.csv, {', '.join(_NAMES[: 4 if not told else 3])}",
        f"in {folder / 'paper'}: the same but census.csv, of preset paper",
        *told,
        f"next: muco anonymize {folder / 'census.csv'} -c {folder / 'policy.toml'} -o release.csv",
    )


def _make_folders(folder: Path, folders: dict[Preset, Path], *, force: bool) -> None:
    try:
        for path in folders.values():
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}. Name another folder") from None
    targets = [folder / "census.csv", *(path / name for path in folders.values() for name in _NAMES)]
    if not force and (there := [str(target) for target in targets if target.exists()]):
        raise PolicyError(f"{there[0]} exists: use --force to replace an earlier demo, or name another folder")


def _anonymize(table: Any, path: Path, watch: Watch) -> tuple[Release, Assessment]:
    """A release and its certificate in a folder, by the policy that stands there."""
    from muco.anonymize import anonymize_with_hidden
    from muco.assess.assessment import assess_release
    from muco.assess.public import tell_achieved
    from muco.files import Source
    from muco.policy import Policy
    from muco.publish import Targets

    policy = Policy.read(path / "policy.toml")
    release, hidden = anonymize_with_hidden(table, policy, watch=watch)
    watch("assess", 0, 0)
    assessment = assess_release(table, release, policy, hidden=hidden)
    given = {"certificate": path / "certificate.json", "force": True}
    targets = Targets.of(path / "release.csv", given, inputs=[])
    targets.write(release, None, Source(table), tell_achieved(assessment))
    return release, assessment


def _write_pages(
    table: Any,
    runs: dict[Preset, tuple[Release, Assessment]],
    folders: dict[Preset, Path],
    baselines: Baselines,
) -> list[str]:
    """A page a preset; what to say where the extra is absent."""
    from muco.atomic import Batch, Existing
    from muco.report.charts import check_extra

    try:
        check_extra()
    except MucoError as error:
        return [str(error)]
    from muco.report import Contents, render_page

    with Batch(existing=Existing.REPLACE) as batch:
        for preset, (release, assessment) in runs.items():
            title = f"The example table, preset {preset}"
            contents = Contents.gather(assessment, table, release, title=title, baselines=baselines)
            batch.add(folders[preset] / "report.html", render_page(contents))
    return []
