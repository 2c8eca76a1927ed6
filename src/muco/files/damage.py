"""What other people's readers raise, made into one error that quotes no cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from muco.errors import MucoError, TableError

T = TypeVar("T")


def attempt(action: Callable[[], T], message: str) -> T:
    """What `action` gives, or TableError with `message`, which has no context: whatever was raised may quote cells.

    A panic of a reader written in Rust is no Exception, and counts all the same; an interrupt passes.
    """
    try:
        return action()
    except (MucoError, MemoryError):
        raise
    except OSError as error:
        reason = f"{message.partition(':')[0]}: {error.strerror}" if error.strerror else message
    except Exception:
        reason = message
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        reason = message
    raise TableError(reason)
