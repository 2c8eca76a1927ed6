"""Whether a step's memory is there before it begins: an allocator that finds none ends the run without a word.

What a step needs is measured (docs/lab.md, "Memory"); what is free is the least of what the machine, the control
group and `ulimit -v` leave.
"""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from muco.errors import TableError

TEXT = 5  # bytes for each byte of a delimited text that is being read
CELL = 48  # bytes for each cell of a table that is being anonymized
_GIB = 1 << 30
# Address space that libraries and their threads take, whatever the table: measured 1.3 GiB with two threads.
_LIBRARIES, _THREAD = _GIB, _GIB // 4


def check_room() -> None:
    """Raise TableError where `ulimit -v` leaves too little for the libraries: their threads would wait forever."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    needed = _reserved()
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise TableError(
            f"muco needs about {_shown(needed)} of address space with {_threads()} threads, and the limit "
            f"is {_shown(limit)} (ulimit -v): raise it, or set POLARS_MAX_THREADS and RAYON_NUM_THREADS to 1"
        )


def check_memory(needed: int, purpose: str) -> None:
    """Raise TableError where fewer bytes are free than a step needs.

    >>> check_memory(1 << 60, "reading t.csv")
    Traceback (most recent call last):
        ...
    muco.errors.TableError: reading t.csv needs about 1,073,741,824.0 GiB of memory, and ... are free (...
    """
    free, bound = min(_bounds(), default=(needed, ""))
    if free < needed:
        raise TableError(
            f"{purpose} needs about {_shown(needed)} of memory, and {_shown(max(free, 0))} are free ({bound}): "
            "free some, raise the limit, or give a smaller table"
        )


def _threads() -> int:
    given = os.environ.get("POLARS_MAX_THREADS", "")
    return int(given) if given.isdigit() and int(given) else os.cpu_count() or 1


def _reserved() -> int:
    """The address space of libraries and threads, most of which they never touch."""
    return _LIBRARIES + _THREAD * _threads()


def _shown(size: int) -> str:
    return f"{size / _GIB:,.1f} GiB"


def _bounds() -> Iterator[tuple[int, str]]:
    """What is free by each bound that this system tells of."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError, IndexError):
        if limit != resource.RLIM_INFINITY:
            touched = int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()
            yield limit - touched - _reserved(), "ulimit -v"
    with suppress(OSError, ValueError, KeyError):
        told = dict(re.findall(r"^(\w+):\s+(\d+) kB", Path("/proc/meminfo").read_text("ascii"), re.MULTILINE))
        yield 1024 * (int(told["MemAvailable"]) + int(told["SwapFree"])), "the machine"
    with suppress(OSError, ValueError):
        own = re.search(r"^0::(/.*)$", Path("/proc/self/cgroup").read_text("utf-8"), re.MULTILINE)
        folder = Path("/sys/fs/cgroup", own[1].strip("/") if own else "")
        most = int((folder / "memory.max").read_text("ascii"))  # the word max where nothing bounds it
        idle = re.search(r"^inactive_file (\d+)$", (folder / "memory.stat").read_text("ascii"), re.MULTILINE)
        taken = int((folder / "memory.current").read_text("ascii")) - (int(idle[1]) if idle else 0)
        yield most - taken, "the control group"
