"""muco: publish tables about people by mutual cover, with every released cell a real value.

    Policy ─┐
    table ──┴─ anonymize ──> Release (may leave)          anonymize_with_hidden ──> Release, Hidden (must stay)
    Microdata ─ divide_table ─ calculate_table ─ output_values ─ randomize_unchanged_tuples     line by line

Names are loaded when they are first used, so that `import muco` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from muco.anonymize import anonymize, anonymize_with_hidden
    from muco.assess.assessment import Assessment, assess_release
    from muco.errors import MucoError
    from muco.microdata import Microdata
    from muco.output_table import OutputTable
    from muco.policy import Policy
    from muco.release import Hidden, Release
    from muco.steps import calculate_table, divide_table, output_values, randomize_unchanged_tuples

_HOME = {
    "Assessment": "assess.assessment",
    "Hidden": "release",
    "Microdata": "microdata",
    "MucoError": "errors",
    "OutputTable": "output_table",
    "Policy": "policy",
    "Release": "release",
    "anonymize": "anonymize",
    "anonymize_with_hidden": "anonymize",
    "assess_release": "assess.assessment",
    "calculate_table": "steps",
    "divide_table": "steps",
    "output_values": "steps",
    "randomize_unchanged_tuples": "steps",
}
__all__ = [
    "Assessment",
    "Hidden",
    "Microdata",
    "MucoError",
    "OutputTable",
    "Policy",
    "Release",
    "anonymize",
    "anonymize_with_hidden",
    "assess_release",
    "calculate_table",
    "divide_table",
    "output_values",
    "randomize_unchanged_tuples",
]


class _Package(ModuleType):
    """The package; importing its module `anonymize` must not hide the function of that name."""

    def __getattr__(self, name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module muco has no attribute {name}")
        return getattr(import_module(f"muco.{_HOME[name]}"), name)

    def __setattr__(self, name: str, value: object) -> None:
        if name != "anonymize":
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return __all__


sys.modules[__name__].__class__ = _Package
