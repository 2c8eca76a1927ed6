"""Packed text, unpacked under the limits while it streams, and packed the same way each time."""

from __future__ import annotations

import gzip
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any

from muco.errors import TableError
from muco.files.damage import attempt
from muco.files.extras import need
from muco.formats import Compression
from muco.memory import TEXT, check_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from muco.files.limits import Limits

_CHUNK = 1 << 20
_SMALL = 1 << 12  # zstd may unpack each byte to 32 KiB, and gives no smaller pieces
MAGIC = {b"\x1f\x8b": Compression.GZIP, b"\x28\xb5\x2f\xfd": Compression.ZSTD}


def read_content(file: BinaryIO, name: str, compression: Compression | None, limits: Limits) -> bytes:
    """The whole content of a file, unpacked. Raises TableError for damage and for what passes the limits."""
    pieces, total = [], 0
    for piece, packed in _pieces(file, name, compression):
        total += len(piece)
        limits.check_content(total, name, packed=packed)
        check_memory((TEXT - 1) * total, f"reading {name}")
        pieces.append(piece)
    return b"".join(pieces)


def _pieces(file: BinaryIO, name: str, compression: Compression | None) -> Iterator[tuple[bytes, int | None]]:
    """Pieces of the content, each with how many packed bytes were read so far."""
    if compression is None:
        while piece := file.read(_CHUNK):
            yield piece, None
        return
    read = 0
    start = _start_of(compression)
    stream: Any = None
    rest = b""
    while chunk := rest or file.read(_SMALL):
        read += len(chunk) if not rest else 0
        stream = stream or start()
        damage = f"{name} cannot be unpacked: it is damaged, or not in {compression}"
        yield attempt(partial(stream.decompress, chunk), damage), read
        rest = b""
        if stream.eof:
            rest, stream = stream.unused_data.lstrip(b"\0"), None
    if stream is not None or not read:
        raise TableError(f"{name} cannot be unpacked: it ends too early. Fetch it again")


def _start_of(compression: Compression) -> Callable[[], Any]:
    if compression is Compression.GZIP:
        return lambda: zlib.decompressobj(wbits=31)
    zstandard = need("zstandard", "zst", "to read and write .zst")
    return lambda: zstandard.ZstdDecompressor().decompressobj()


def pack(content: bytes, compression: Compression | None) -> bytes:
    """The content, packed without a name or a time, so that equal content gives equal bytes."""
    if compression is None:
        return content
    if compression is Compression.GZIP:
        return gzip.compress(content, mtime=0)
    packed: bytes = need("zstandard", "zst", "to read and write .zst").ZstdCompressor().compress(content)
    return packed
