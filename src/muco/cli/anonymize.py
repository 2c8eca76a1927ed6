"""`muco anonymize`: a table in, a release and its certificate out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click

from muco.cli.options import policy_options, read_policy
from muco.cli.terminal import console, say, show_summaries, watching
from muco.errors import MucoWarning, PolicyError
from muco.switches import Method


@click.command("anonymize")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="RELEASE", help="Where the release goes.")
@click.option(
    "--method",
    type=click.Choice([word.value for word in Method]),
    default=Method.MUCO.value,
    show_default=True,
    help="Mutual cover, or a baseline.",
)
@policy_options
@click.option("--key-file", type=click.Path(path_type=Path), help="A key of 64 hexadecimal digits, for a repeat.")
@click.option("--hidden", type=click.Path(path_type=Path), help="Keep key, groups and tables here (a zip, 0600).")
@click.option("--certificate", type=click.Path(path_type=Path), help="Where the certificate goes.")
@click.option(
    "--assess",
    type=click.Choice(["none", "quick", "full"]),
    default="quick",
    show_default=True,
    help="Measure the risks for the certificate: on a sample of people, or on all (slow).",
)
@click.option(
    "--report", type=click.Path(path_type=Path), help="A public page of what was measured (muco[report])."
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option("--dry-run", is_flag=True, help="Do everything but write; RELEASE may be left out.")
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="Show neither progress nor summary.")
@click.option("-v", "--verbose", is_flag=True, help="A line a stage instead of a bar.")
def command(table: Path, output: Path | None, **given: Any) -> None:
    """Anonymize TABLE (CSV, Parquet or Arrow IPC) and write RELEASE with its certificate beside it.

    The input is never changed. Without --key-file no two runs are the same. Method mondrian writes ranges in place
    of values; anatomy writes a second table beside RELEASE, with .sensitive before its suffix.
    """
    if output is None and not given["dry_run"]:
        raise PolicyError("where does the release go? Name it with -o RELEASE, or try the run with --dry-run")
    if given["hidden"] is not None and given["method"] != Method.MUCO:
        raise PolicyError(f"--hidden keeps the tables of mutual cover, and method {given['method']} has none")
    _check_report(given)
    from muco.files import read_table
    from muco.publish import Targets, read_key_file

    out = console()
    targets = Targets.of(output, given, inputs=[table, given["config"], given["key_file"]]) if output else None
    key = read_key_file(given["key_file"]) if given["key_file"] else None
    with watching(out, quiet=given["quiet"], verbose=given["verbose"]) as watch:
        watch("read", 0, 0)
        source = read_table(table)
        policy = read_policy(given, source.table.columns)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", MucoWarning)
            is_judged = given["method"] == Method.MUCO and given["assess"] != "none"
            run = _method(given["method"], keep_hidden=is_judged or given["hidden"] is not None)
            release, hidden = run(source.table, policy, key=key, watch=watch)
        achieved, page = _achieve(source.table, release, hidden, given, watch) if is_judged else ({}, None)
        if targets is not None and not given["dry_run"]:
            watch("write", 0, 0)
            certificate = targets.write(release, hidden, source, achieved, page=page)
        else:
            certificate = release.certificate.to_json(**({"achieved": achieved} if achieved else {}))
    for warning in told:
        say(out, f"note: {warning.message}")
    if not given["quiet"]:
        show_summaries(out, {table.name: release.summary})
        if achieved:
            say(out, f"verdict: {achieved['verdict']}")
        if given["method"] == Method.MONDRIAN:
            say(out, "information loss is of widths, not of moves")
        if targets is None or given["dry_run"]:
            say(out, "dry run: nothing was written")
        else:
            say(out, *targets.lines())
    if given["as_json"]:
        click.echo(certificate, nl=False)


def _check_report(given: dict[str, Any]) -> None:
    """Raise before a run for a page that could not be written after it."""
    if given["report"] is None:
        return
    if given["method"] != Method.MUCO or given["assess"] == "none":
        raise PolicyError(
            "--report writes what was measured of mutual cover: leave --method and --assess as they are, or call "
            "muco report on the release"
        )
    from muco.report.charts import check_extra

    check_extra()


def _achieve(
    table: Any, release: Any, hidden: Any, given: dict[str, Any], watch: Callable[..., object]
) -> tuple[dict[str, Any], str | None]:
    """The achieved risks, as the certificate tells them, and the page where one is wanted."""
    from muco.assess.assessment import Effort, assess_release
    from muco.assess.public import tell_achieved

    watch("assess", 0, 0)
    quick = Effort.RISKS if given["report"] is None else Effort.QUICK
    effort = Effort.FULL if given["assess"] == "full" else quick
    policy = hidden.outcome.groups.microdata.policy
    assessment = assess_release(table, release, policy, hidden=hidden, effort=effort)
    if given["report"] is None:
        return tell_achieved(assessment), None
    from muco.report import Contents, render_page

    contents = Contents.gather(assessment, table, release, title="What the release protects and is worth")
    return tell_achieved(assessment), render_page(contents)


def _method(name: str, *, keep_hidden: bool) -> Callable[..., tuple[Any, Any]]:
    """What anonymizes a table by one method, giving the release and what must stay, where it is kept."""
    from muco.anonymize import anonymize, anonymize_with_hidden

    if keep_hidden:
        return anonymize_with_hidden
    if name == Method.MUCO:
        return lambda *table, **given: (anonymize(*table, **given), None)
    from muco.baselines import anatomize, generalize

    baseline: Callable[..., Any] = generalize if name == Method.MONDRIAN else anatomize
    return lambda *table, **given: (baseline(*table, **given), None)
