"""`muco demo`: an example table, and both presets run on it."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from muco.cli.terminal import console, say, show_summaries, watching
from muco.errors import OutputError, PolicyError


@click.command("demo")
@click.argument("folder", type=click.Path(path_type=Path), default="muco-demo")
@click.option("--records", type=click.IntRange(1_000, 10_000_000), default=20_000, show_default=True)
@click.option("--force", is_flag=True, help="Replace the files of an earlier demo.")
def command(folder: Path, records: int, *, force: bool) -> None:
    """Make a census-like table of invented people in FOLDER (muco-demo) and anonymize it with both presets.

    FOLDER gets census.csv, policy.toml, release.csv and certificate.json of preset provable; FOLDER/paper the last
    three of preset paper.
    """
    from muco.anonymize import anonymize_with_hidden
    from muco.assess.assessment import Effort
    from muco.assess.public import measure_achieved
    from muco.atomic import Batch, Existing
    from muco.example import generate, policy_text
    from muco.files import Format, Source, write_table
    from muco.policy import Policy
    from muco.publish import Targets
    from muco.switches import Preset

    out = console()
    folders = {Preset.PROVABLE: folder, Preset.PAPER: folder / "paper"}
    try:
        for path in folders.values():
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}. Name another folder") from None
    names = ("policy.toml", "release.csv", "certificate.json")
    targets = [folder / "census.csv", *(path / name for path in folders.values() for name in names)]
    if not force and (there := [str(target) for target in targets if target.exists()]):
        raise PolicyError(f"{there[0]} exists: use --force to replace an earlier demo, or name another folder")
    table = generate(records)
    with Batch(existing=Existing.REPLACE) as batch:
        batch.add(folder / "census.csv", write_table(table, Format.CSV))
        for preset, path in folders.items():
            batch.add(path / "policy.toml", policy_text(preset))
    summaries = {}
    with watching(out, quiet=False, verbose=False) as watch:
        for preset, path in folders.items():
            policy = Policy.read(path / "policy.toml")
            release, hidden = anonymize_with_hidden(table, policy, watch=watch)
            watch("assess", 0, 0)
            achieved = measure_achieved(table, release, hidden, Effort.RISKS)
            given = {"certificate": path / "certificate.json", "force": True}
            Targets.of(path / "release.csv", given, inputs=[]).write(release, None, Source(table), achieved)
            summaries[preset.value] = release.summary
    show_summaries(out, summaries)
    say(
        out,
        "",
        f"in {folder}: census.csv, policy.toml, release.csv, certificate.json",
        f"in {folder / 'paper'}: the last three, of preset paper",
        f"next: muco anonymize {folder / 'census.csv'} -c {folder / 'policy.toml'} -o release.csv",
    )
