"""`muco verify`: whether a release is the very file its certificate speaks of."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from muco.cli.findings import show_certificate


@click.command("verify")
@click.argument("release", type=click.Path(path_type=Path))
@click.argument("certificate", type=click.Path(path_type=Path))
def command(release: Path, certificate: Path) -> None:
    """Check RELEASE against the SHA-256 in CERTIFICATE, and say what the certificate says of it.

    Exits with 4 where they do not belong together. A certificate is not signed: it is worth as much as its source.
    """
    from muco.seal import check_seal

    show_certificate(release.name, check_seal(release, certificate))
