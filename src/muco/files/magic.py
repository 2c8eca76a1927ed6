"""The form of what comes without a name, on standard input, by its first bytes."""

from __future__ import annotations

import re

from muco.files.compressed import MAGIC
from muco.formats import Compression, Format

# What each form begins with, as its specification says; whatever begins otherwise is text.
_BEGINNINGS = (
    (rb"PAR1", Format.PARQUET),
    (rb"ARROW1", Format.ARROW),
    (rb"PK\x03\x04|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Format.EXCEL),  # the second of .xls
    (rb"\$FL[23]", Format.SPSS),
    (rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\x00", Format.STATA),  # the second up to version 12
    (rb"\x00{12}\xc2\xea\x81\x60", Format.SAS),
)


def form_of_content(content: bytes) -> tuple[Format, Compression | None]:
    """The form of a whole content, and what it is packed in.

    >>> form_of_content(b"PAR1...")
    (<Format.PARQUET: 'parquet'>, None)
    """
    packed = next((packed for magic, packed in MAGIC.items() if content.startswith(magic)), None)
    form = next((form for start, form in _BEGINNINGS if re.match(start, content)), Format.CSV)
    return form, packed
