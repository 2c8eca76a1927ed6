"""The people of the example table: how often each value occurs, and what depends on what.

Nothing here is copied from a real file: the weights are round numbers, chosen so that the table has what
makes anonymization hard (dependence, heaps, rare categories, records alike in every quasi-identifier).
Weights stand in columns in the order of the texts in `example`; what a salary is worth stands in `_earn`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Weights = tuple[tuple[int, ...], ...]

# Which keyed stream decides what; UNANSWERED is the first of one stream an attribute.
Stream = IntEnum(
    "Stream", "AGE GENDER RACE EDUCATION MARRIAGE RELATIONSHIP SCHEDULE HOURS LUCK ROUNDING TOP UNANSWERED"
)
_YOUNGEST = 16
_AGES = (  # five years of age a row
    (11, 14, 24, 29, 32),
    (36, 38, 40, 42, 43),
    (44, 45, 45, 44, 44),
    (43, 43, 42, 42, 41),
    (41, 40, 40, 40, 39),
    (40, 39, 39, 40, 40),
    (41, 41, 42, 42, 43),
    (44, 43, 44, 43, 43),
    (42, 41, 40, 38, 36),
    (34, 31, 27, 25, 23),
    (21, 18, 16, 14, 13),
)
_BANDS = np.array([20, 25, 30, 35, 45, 55, 65])  # the rows of what depends on age in eight bands
_STAGES = np.array([25, 35, 50])  # and in four stages of life
_GENDERS = ((51, 49),)
_RACES = (  # by stage
    (590, 140, 14, 90, 22, 6, 57, 66, 15),
    (620, 135, 13, 78, 27, 7, 61, 50, 9),
    (640, 130, 12, 68, 25, 8, 65, 44, 8),
    (710, 118, 11, 48, 18, 9, 48, 32, 6),
)
_EDUCATIONS = (  # by band
    (2, 10, 45, 110, 160, 420, 245, 5, 3, 0),
    (2, 9, 8, 14, 24, 330, 350, 80, 170, 13),
    (3, 14, 10, 12, 18, 270, 180, 110, 285, 98),
    (4, 17, 12, 11, 17, 260, 160, 115, 255, 149),
    (5, 23, 15, 11, 17, 270, 155, 115, 235, 154),
    (6, 25, 14, 13, 19, 310, 160, 120, 200, 133),
    (6, 20, 10, 13, 20, 325, 165, 120, 185, 136),
    (8, 22, 10, 14, 20, 310, 170, 85, 180, 181),
)
_MARITAL_STATUSES = (  # by band, women two years ahead
    (8, 4, 2, 1, 1, 984),
    (85, 14, 10, 8, 1, 882),
    (280, 26, 20, 34, 1, 639),
    (450, 32, 26, 68, 2, 422),
    (560, 36, 34, 125, 5, 240),
    (585, 32, 36, 195, 17, 135),
    (600, 26, 30, 205, 52, 87),
    (600, 20, 20, 190, 115, 55),
)
_RELATIONSHIPS = (  # wives, then the six marital statuses (of the married: husbands)
    (390, 560, 3, 20, 10, 1, 3, 4, 3, 1, 6, 4, 0),
    (600, 345, 3, 22, 10, 1, 3, 4, 2, 1, 6, 4, 0),
    (560, 0, 45, 120, 25, 5, 40, 12, 10, 2, 50, 80, 25),
    (600, 0, 110, 140, 3, 4, 35, 6, 5, 1, 35, 60, 12),
    (610, 0, 180, 130, 1, 3, 26, 4, 4, 1, 18, 50, 6),
    (720, 0, 75, 80, 2, 2, 20, 5, 25, 6, 22, 28, 4),
    (480, 0, 150, 200, 2, 10, 42, 6, 4, 1, 30, 65, 8),
)
_RELATIONSHIPS_BY_STAGE = (  # what a stage of life makes of them
    (4, 8, 8, 40, 60, 100, 12, 12, 0, 0, 20, 25, 20),
    (10, 10, 12, 14, 30, 25, 10, 12, 3, 0, 10, 12, 12),
    (12, 10, 9, 6, 9, 4, 9, 9, 12, 10, 8, 8, 8),
    (13, 10, 6, 3, 2, 0, 9, 5, 60, 60, 8, 7, 5),
)
_SCHEDULES = (  # by band: part time, full time, long weeks, anything
    (76, 15, 3, 6),
    (47, 33, 12, 5),
    (20, 46, 24, 4),
    (17, 47, 28, 4),
    (16, 47, 30, 4),
    (16, 47, 30, 4),
    (20, 46, 26, 4),
    (42, 33, 15, 5),
)
_SCHEDULES_BY_GENDER = ((13, 10, 6, 10), (8, 10, 11, 10))
_SCHEDULES_BY_DEGREE = ((10, 10, 9, 10), (7, 10, 12, 10))  # without and with one
_DEGREE = 8  # the rank of the first degree in `education`
_HOURS = tuple(hour for hour in range(1, 100) if hour not in {73, 79, 89, 97})
_HEAPS: tuple[tuple[range, dict[int, int]], ...] = (  # of a schedule: the hours said now and then, and often
    (range(1, 35), {8: 9, 10: 16, 12: 12, 15: 19, 16: 12, 20: 52, 24: 18, 25: 34, 28: 8, 30: 58, 32: 26}),
    (range(35, 45), {35: 12, 36: 6, 37: 3, 38: 6, 40: 72, 42: 5, 43: 2, 44: 2}),
    (
        range(45, 100),
        {45: 50, 48: 16, 50: 66, 52: 4, 55: 22, 60: 38, 65: 8, 70: 11, 72: 4, 75: 3, 80: 8, 84: 3},
    ),
    (range(1, 100), {}),
)
_PAY = np.array([21.0, 21.5, 22.0, 22.0, 22.5, 30.0, 32.5, 37.0, 51.0, 68.0]) * 1000  # by education, dollars
_CAREER = np.array([0.45, 0.62, 0.82, 0.95, 1.1, 1.17, 1.12, 0.92])  # by band
_GENDER_GAP = np.array([0.86, 1.0])
# How a salary stands to the usual one (few weeks, a long tail): that share of people is below that factor.
_SHARES = np.array([0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.96, 0.985, 0.995, 1])
_FACTORS = np.array([0, 0.0008, 0.015, 0.11, 0.28, 0.56, 0.8, 1, 1.22, 1.58, 2.1, 2.9, 4.2, 7, 18])
_ROUNDINGS = np.array([10_000, 5_000, 1_000, 500, 100])  # of a salary of five figures, per the weights below
_ROUNDING_WEIGHTS = ((20, 20, 40, 5, 15),)
_TOP_FROM = 350_000
_TOPS = np.array([383, 402, 417, 436, 458, 471, 505, 529, 562, 604, 651, 718]) * 1000


def _pick(uniform: Reals, *given: tuple[Weights, Integers | int]) -> Integers:
    """One code a record, by the product of the integer weights in the row of each table it stands in."""
    joint, row = np.ones((1, 1), dtype=np.int64), np.zeros(1, dtype=np.int64)
    for table, index in given:
        weights = np.array(table, dtype=np.int64)
        joint = (joint[:, None, :] * weights).reshape(-1, weights.shape[1])
        row = row * len(weights) + index
    totals = joint.sum(axis=1)
    starts = np.cumsum(totals) - totals
    codes = np.repeat(np.tile(np.arange(joint.shape[1]), len(joint)), joint.ravel())
    # Weights are integers, so that no rounding of a sum of shares can move a record on another machine.
    picked: Integers = codes[starts[row] + np.floor(uniform * totals[row]).astype(np.int64)]
    return picked


def _earn(usual: Reals, uniform: Callable[[Stream], Reals]) -> Integers:
    """Salaries around the usual ones, rounded as people do, then as the census does ($4, tens, thousands).

    Only sums, products and floors: unlike exp or log they end in the same bit everywhere.
    """
    slopes = np.diff(_FACTORS) / np.diff(_SHARES)
    luck = uniform(Stream.LUCK)
    knot = np.searchsorted(_SHARES, luck, side="right") - 1
    earned = usual * (_FACTORS[knot] + (luck - _SHARES[knot]) * slopes[knot])
    figures = np.array([100, 10, 1])[np.searchsorted([1_000, 10_000], earned, side="right")]
    unit = _ROUNDINGS[_pick(uniform(Stream.ROUNDING), (_ROUNDING_WEIGHTS, 0))] / figures
    said = np.floor(earned / unit + 0.5) * unit
    said = np.where(said > 0, said, earned)
    step = np.array([10, 100, 1_000])[np.searchsorted([1_000, 50_000], said, side="right")]
    salary = np.maximum(np.floor(said / step + 0.5) * step, 4).astype(np.int64)
    top = _TOPS[np.floor(uniform(Stream.TOP) * len(_TOPS)).astype(np.int64)]
    return np.where(salary < _TOP_FROM, salary, top)


def people(uniform: Callable[[Stream], Reals]) -> tuple[Integers, ...]:
    """The values or codes of all records, attribute by attribute, in the order of Table 1 of the paper."""
    age = _YOUNGEST + _pick(uniform(Stream.AGE), ((tuple(chain.from_iterable(_AGES)),), 0))
    band, stage = np.searchsorted(_BANDS, age, side="right"), np.searchsorted(_STAGES, age, side="right")
    gender = _pick(uniform(Stream.GENDER), (_GENDERS, 0))
    race = _pick(uniform(Stream.RACE), (_RACES, stage))
    education = _pick(uniform(Stream.EDUCATION), (_EDUCATIONS, band))
    older = np.searchsorted(_BANDS, age + np.where(gender == 0, 2, 0), side="right")
    marriage = _pick(uniform(Stream.MARRIAGE), (_MARITAL_STATUSES, older))
    role = np.where((marriage == 0) & (gender == 0), 0, marriage + 1)
    relationship = _pick(uniform(Stream.RELATIONSHIP), (_RELATIONSHIPS, role), (_RELATIONSHIPS_BY_STAGE, stage))
    degree = (education >= _DEGREE).astype(np.int64)
    schedule = _pick(
        uniform(Stream.SCHEDULE),
        (_SCHEDULES, band),
        (_SCHEDULES_BY_GENDER, gender),
        (_SCHEDULES_BY_DEGREE, degree),
    )
    often = tuple(tuple(heaps.get(h, int(h in span)) for h in _HOURS) for span, heaps in _HEAPS)
    hours = np.array(_HOURS)[_pick(uniform(Stream.HOURS), (often, schedule))]
    load = np.minimum(hours, 60) / 40
    usual = _PAY[education] * _CAREER[band] * _GENDER_GAP[gender] * load * (0.4 + 0.6 * load)
    return gender, age, relationship, marriage, race, education, hours, _earn(usual, uniform)
