"""Libraries that only some forms need, and what to install where one is absent."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from muco.errors import PolicyError


def need(module: str, extra: str, purpose: str) -> Any:
    """Import a library of an extra. Raises PolicyError with the command that installs it."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise PolicyError(
            f"{library} is needed {purpose}, and is not installed: pip install 'muco[{extra}]'"
        ) from None
