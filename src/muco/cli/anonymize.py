"""`muco anonymize`: a table in, a release and its certificate out."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import rich_click as click

from muco.cli.options import policy_options, read_policy
from muco.cli.terminal import console, say, show_summaries, watching
from muco.errors import MucoWarning, PolicyError


@click.command("anonymize")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="RELEASE", help="Where the release goes.")
@policy_options
@click.option("--key-file", type=click.Path(path_type=Path), help="A key of 64 hexadecimal digits, for a repeat.")
@click.option("--hidden", type=click.Path(path_type=Path), help="Keep key, groups and tables here (a zip, 0600).")
@click.option("--certificate", type=click.Path(path_type=Path), help="Where the certificate goes.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option("--dry-run", is_flag=True, help="Do everything but write; RELEASE may be left out.")
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="Show neither progress nor summary.")
@click.option("-v", "--verbose", is_flag=True, help="A line a stage instead of a bar.")
def command(table: Path, output: Path | None, **given: Any) -> None:
    """Anonymize TABLE (CSV, Parquet or Arrow IPC) and write RELEASE with its certificate beside it.

    The input is never changed. Without --key-file no two runs are the same.
    """
    if output is None and not given["dry_run"]:
        raise PolicyError("where does the release go? Name it with -o RELEASE, or try the run with --dry-run")
    from muco.anonymize import anonymize, anonymize_with_hidden
    from muco.files import read_table
    from muco.policy import Policy
    from muco.publish import Targets, read_key_file

    out = console()
    inputs = [
        table,
        given["config"],
        given["key_file"],
        *(Policy.files_of(given["config"]) if given["config"] else ()),
    ]
    targets = Targets.of(output, given, inputs=inputs) if output else None
    key = read_key_file(given["key_file"]) if given["key_file"] else None
    with watching(out, quiet=given["quiet"], verbose=given["verbose"]) as watch:
        watch("read", 0, 0)
        source = read_table(table)
        policy = read_policy(given, source.table.columns)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", MucoWarning)
            hidden = None
            if targets is not None and targets.hidden is not None:
                release, hidden = anonymize_with_hidden(source.table, policy, key=key, watch=watch)
            else:
                release = anonymize(source.table, policy, key=key, watch=watch)
        if targets is not None and not given["dry_run"]:
            watch("write", 0, 0)
            certificate = targets.write(release, hidden, source)
        else:
            certificate = release.certificate.to_json()
    for warning in told:
        say(out, f"note: {warning.message}")
    if not given["quiet"]:
        show_summaries(out, {table.name: release.summary})
        if targets is None or given["dry_run"]:
            say(out, "dry run: nothing was written")
        else:
            say(out, *targets.lines())
    if given["as_json"]:
        click.echo(certificate, nl=False)
