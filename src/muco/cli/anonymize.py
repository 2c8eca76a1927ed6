"""`muco anonymize`: a table in, a release and its certificate out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from muco.cli.options import policy_for, policy_options, proposes_blocks
from muco.cli.tables import input_files, read_source, table_options
from muco.cli.terminal import Watch, console, say, show_summaries, watching
from muco.errors import MucoWarning, PolicyError
from muco.formats import STREAM
from muco.switches import Method

if TYPE_CHECKING:
    from muco.files import Source
    from muco.policy import Policy
    from muco.publish import Targets


GUESSABLE = (
    "the key looks made up, and whoever guesses it can undo the release: what leaves needs a key of chance. "
    "Leave --key-file out, or take what `openssl rand -hex 32` prints"
)


@click.command("anonymize")
@click.argument("tables", metavar="TABLE...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="RELEASE", help="Where the release goes: a file, a URL, or - for stdout.")
@click.option(
    "--method",
    type=click.Choice([word.value for word in Method]),
    default=Method.MUCO.value,
    show_default=True,
    help="Mutual cover, or a baseline.",
)
@policy_options
@table_options
@click.option("--key-file", type=click.Path(path_type=Path), help="A key of 64 hexadecimal digits, for a repeat.")
@click.option("--hidden", type=click.Path(path_type=Path), help="Keep key, groups and tables here (a zip, 0600).")
@click.option("--certificate", type=click.Path(path_type=Path), help="Where the certificate goes.")
@click.option("--spreadsheet-safe", is_flag=True, help="Put ' before text that a spreadsheet would run.")
@click.option(
    "--assess",
    type=click.Choice(["none", "quick", "full"]),
    default="quick",
    show_default=True,
    help="Measure the risks for the certificate: on a sample of people, or on all (slow).",
)
@click.option("--report", type=click.Path(path_type=Path), help="A public page of what was measured (HTML).")
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option("--dry-run", is_flag=True, help="Do everything but write; RELEASE may be left out.")
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="Show neither progress nor summary.")
@click.option("-v", "--verbose", is_flag=True, help="A line a stage instead of a bar.")
def command(tables: tuple[str, ...], output: str | None, **given: Any) -> None:
    """Anonymize TABLE and write RELEASE with its certificate beside it.

    TABLE is CSV (also .gz and .zst), Parquet, Arrow IPC, a workbook, a file of SPSS, Stata or SAS, the URL of a
    database, - for stdin, or several files or a folder as one table. The input is never changed. Without --key-file
    no two runs are the same. Method mondrian writes ranges in place of values; anatomy writes a second table beside
    RELEASE, with .sensitive before its suffix.
    """
    _check(output, given)
    from muco.files import name_of
    from muco.policy import Policy
    from muco.publish import Targets

    out = console()
    named = Policy.files_of(given["config"]) if given["config"] else ()
    inputs = [*input_files(tables), given["config"], given["key_file"], *named]
    targets = Targets.of(output, given, inputs=inputs, tables=tables) if output else None
    if given["dry_run"]:
        targets = None
    with watching(out, quiet=given["quiet"], verbose=given["verbose"]) as watch:
        release, certificate, notes, achieved = _run(tables, targets, given, watch)
    for note in notes:
        say(out, f"note: {note}")
    if not given["quiet"]:
        show_summaries(out, {" + ".join(map(name_of, tables)): release.summary})
        if achieved:
            say(out, f"verdict: {achieved['verdict']}")
        if given["method"] == Method.MONDRIAN:
            say(out, "information loss is of widths, not of moves")
        say(out, *(targets.lines() if targets else ["dry run: nothing was written"]))
    if given["as_json"]:
        click.echo(certificate, nl=False)


def _check(output: str | None, given: dict[str, Any]) -> None:
    if output is None and not given["dry_run"]:
        raise PolicyError("where does the release go? Name it with -o RELEASE, or try the run with --dry-run")
    if output == STREAM and given["as_json"]:
        raise PolicyError("--json and -o - both print on stdout: leave one out, or name a file with --certificate")
    if given["hidden"] is not None and given["method"] != Method.MUCO:
        raise PolicyError(f"--hidden keeps the tables of mutual cover, and method {given['method']} has none")

    if given["report"] is not None:
        _check_report(given)


def _check_report(given: dict[str, Any]) -> None:
    """Raise before a run for a page that could not be written after it."""
    if given["assess"] == "none":
        raise PolicyError("--report writes what was measured: leave --assess as it is, or call muco report later")
    from muco.report.charts import check_extra

    check_extra()


def _run(
    tables: tuple[str, ...], targets: Targets | None, given: dict[str, Any], watch: Watch
) -> tuple[Any, str, list[str], dict[str, Any]]:
    from muco.frame import Frame
    from muco.publish import certificate_of, read_key_file
    from muco.release import Hidden

    key = read_key_file(given["key_file"]) if given["key_file"] else None
    watch("read", 0, 0)
    source = read_source(tables, given)
    policy = policy_for(source, given)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", MucoWarning)
        is_judged = given["assess"] != "none"
        keeps = targets is not None and targets.hidden is not None
        run = _method(given["method"], keep_hidden=is_judged or keeps)
        release, kept = run(Frame.of(source.table, source.origin), policy, key=key, watch=watch)
        achieved, page = _achieve(source.table, release, kept, given, watch) if is_judged else ({}, None)
        if targets is not None:
            watch("write", 0, 0)
            hidden = kept if isinstance(kept, Hidden) else None
            certificate = replace(targets, page=page).write(release, hidden, source, achieved)
        else:
            certificate = certificate_of(release, source, **({"achieved": achieved} if achieved else {}))
    weak = [GUESSABLE] if key is not None and key.is_guessable and targets is not None else []
    notes = [*weak, *source.notes, *_proposed(source, policy, given)]
    notes += [str(warning.message) for warning in told]
    return release, certificate, notes, achieved


def _proposed(source: Source, policy: Policy, given: dict[str, Any]) -> list[str]:
    if not proposes_blocks(given, source.table.columns):
        return []
    from muco.tune.blocks import describe_blocks

    return [describe_blocks(policy)]


def _achieve(
    table: Any, release: Any, kept: Any, given: dict[str, Any], watch: Callable[..., object]
) -> tuple[dict[str, Any], str | None]:
    """The achieved risks, as the certificate tells them, and the page where one is wanted."""
    from muco.assess.assessment import Effort, assess_release
    from muco.assess.public import tell_achieved

    watch("assess", 0, 0)
    quick = Effort.RISKS if given["report"] is None else Effort.QUICK
    effort = Effort.FULL if given["assess"] == "full" else quick
    policy = kept.policy
    assessment = assess_release(table, release, policy, hidden=kept, effort=effort)
    if given["report"] is None:
        return tell_achieved(assessment), None
    from muco.report import Contents, render_page

    watch("report", 0, 0)
    title = "What the release protects and is worth"
    return tell_achieved(assessment), render_page(Contents.gather(assessment, table, release, title=title))


def _method(name: str, *, keep_hidden: bool) -> Callable[..., tuple[Any, Any]]:
    """What anonymizes a table by one method, giving the release and what must stay, where it is kept."""
    from muco.anonymize import anonymize, anonymize_with_hidden
    from muco.baselines import anatomize_with_groups, generalize_with_groups

    if name == Method.MONDRIAN:
        return generalize_with_groups
    if name == Method.ANATOMY:
        return anatomize_with_groups
    return anonymize_with_hidden if keep_hidden else lambda *table, **given: (anonymize(*table, **given), None)
