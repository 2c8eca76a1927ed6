"""What the operating system says of a write that failed, in words that say what to do and quote no cell."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from muco.errors import MucoError, OutputError

_ADVICE = {
    errno.ENOSPC: "the disk is full. Free some space, or write elsewhere",
    errno.EDQUOT: "the quota is used up. Free some space, or write elsewhere",
    errno.EFBIG: "the file grew past the size allowed. Raise the limit, or write elsewhere",
    errno.EROFS: "the file system is read-only. Write elsewhere",
    errno.EACCES: "permission is denied. Ask for it, or write elsewhere",
    errno.EPERM: "permission is denied. Ask for it, or write elsewhere",
    errno.ENAMETOOLONG: "the name is too long. Choose a shorter one",
    errno.ELOOP: "its symbolic links go in a circle. Name the file itself",
}


@contextmanager
def reported(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the operating system into an OutputError that says what to do.

    What a writer raised may quote cells, and a `with` block makes it the context of what follows: it is cut off.
    """
    try:
        yield
        return
    except Exception as error:
        number = None if isinstance(error, MucoError) else _number_of(error)
        if number is None:
            raise
    reason = _ADVICE.get(number, f"{os.strerror(number)}. Write elsewhere")
    told = OutputError(f"{path} cannot be written: {reason}. What stood there is untouched.")
    try:
        raise told
    except OutputError:
        told.__context__ = None
        raise


def _number_of(error: Exception) -> int | None:
    """The errno; Polars raises errors of many kinds that have it in their text alone."""
    named = re.search(r"os error (\d+)", str(error))
    if isinstance(error, OSError):
        return error.errno or (int(named[1]) if named else errno.EIO)
    return int(named[1]) if named else None
