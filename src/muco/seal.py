"""The seal between a release and its certificate: the SHA-256 of the file as it was written."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from muco.errors import ReleaseError, TableError

_LARGEST = 1 << 24
_TABLES = ("release", "sensitive")  # the second is Anatomy's


def check_seal(release: Path, certificate: Path) -> dict[str, Any]:
    """What the certificate says, once the release is the very file it speaks of.

    Raises TableError for files that cannot be read or are no certificate, ReleaseError where the hash differs.
    """
    words = _read(certificate)
    sealed = {what: words[what]["sha256"] for what in _TABLES if _is_sealed(words.get(what))}
    if not sealed:
        raise TableError(f"{certificate} names no SHA-256 of a release: it is no certificate that muco wrote")
    try:
        with release.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TableError(f"{release} cannot be read: {error.strerror}") from None
    if found not in sealed.values():
        raise ReleaseError(
            f"{release} is not the file that {certificate.name} speaks of: its SHA-256 is {found}, the certificate "
            f"names {' and '.join(sealed.values())}. It was changed after it was written, or belongs to another "
            "certificate: do not rely on what the certificate says of it"
        )
    return words


def _read(certificate: Path) -> dict[str, Any]:
    try:
        with certificate.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise TableError(f"{certificate} cannot be read: {error.strerror}") from None
    try:
        words = json.loads(content)
    except (ValueError, RecursionError):
        words = None
    if len(content) > _LARGEST or not isinstance(words, dict):
        raise TableError(f"{certificate} is no certificate: it is no JSON object of at most 16 MiB")
    return words


def _is_sealed(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("sha256"), str)
