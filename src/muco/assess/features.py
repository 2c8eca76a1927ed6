"""What a model sees of either table: a number an attribute and row, and which rows it learns from."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from muco._core import uniforms
from muco.arrays import Codes
from muco.domain import Domain
from muco.errors import MucoError
from muco.scale import Reals, whole_spans

if TYPE_CHECKING:
    from muco.assess.comparison import Comparison

PUBLIC_KEY = bytes(32)  # models hide nothing: everybody may train the same ones
MOST = 50_000  # records a model is trained on, so that a million take seconds
_SEED, _DRAWS = 1000, 1001  # streams: the models' seed, and the first of one stream an attribute


def load(module: str) -> ModuleType:
    """A module of scikit-learn. Raises MucoError, with how to install it, where it is absent."""
    from importlib import import_module

    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        raise MucoError("this measure trains models: install scikit-learn with `pip install muco[ml]`") from None


def seed_of(key: bytes) -> int:
    """The seed of scikit-learn's own generators, from the keyed stream."""
    return int(uniforms(key, _SEED, 1)[0] * 2**31)


def draw_codes(comparison: Comparison, key: bytes) -> Codes:
    """One code a released cell, shape (rows, attributes): a span becomes a uniform draw from what it covers."""
    sizes = np.array([len(domain.cells) for domain in comparison.quasi], dtype=np.int32)
    low, high = whole_spans(comparison.low, comparison.high, sizes)
    drawn = low.copy()
    for place in range(low.shape[1]):
        share = uniforms(key, _DRAWS + place, len(low))
        drawn[:, place] += np.floor(share * (high - low + 1)[:, place]).astype(np.int32)
    return drawn


def as_features(codes: Codes, domains: tuple[Domain, ...]) -> Reals:
    """Codes as numbers, NaN where a number, date or rank is missing; trees ask only for their order."""
    features = codes.astype(np.float64)
    for place, domain in enumerate(domains):
        if domain.is_ordered and domain.has_missing:
            features[codes[:, place] == domain.known, place] = np.nan
    return features
