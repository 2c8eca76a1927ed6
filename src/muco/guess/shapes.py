"""What values look like: addresses, telephone and account numbers, and the person numbers of several countries."""

from __future__ import annotations

from dataclasses import dataclass

from muco.guess.traits import Traits, share_of

_MOST = 0.9  # of the distinct values


@dataclass(frozen=True, slots=True)
class Shape:
    """A form that tells what a value is; `is_plain` ones occur by chance, and count among unique values only."""

    what: str
    pattern: str
    is_plain: bool = False


SHAPES = (
    Shape("e-mail addresses", r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$"),
    Shape("web addresses", r"^(https?://|www\.)\S+$"),
    Shape("UUIDs", r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"),
    Shape("IP addresses", r"^(\d{1,3}\.){3}\d{1,3}$"),
    Shape("hardware addresses", r"^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$"),
    Shape("hash sums", r"^[0-9a-f]{32,128}$"),
    Shape("bank account numbers (IBAN)", r"^[A-Z]{2}\d{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}$"),
    Shape("card numbers", r"^\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}$"),
    Shape("US social security numbers", r"^\d{3}-\d{2}-\d{4}$"),
    Shape("UK national insurance numbers", r"^[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]$"),
    Shape("UK health service numbers", r"^\d{3} \d{3} \d{4}$"),
    Shape("Spanish identity numbers", r"^(\d{8}|[XYZ]-?\d{7})-?[A-Z]$"),
    Shape("Italian tax codes", r"^[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]$"),
    Shape("Brazilian tax numbers", r"^\d{3}\.\d{3}\.\d{3}-\d{2}$"),
    Shape("Belgian national numbers", r"^\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}$"),
    Shape("Swiss insurance numbers", r"^756\.\d{4}\.\d{4}\.\d{2}$"),
    Shape("Nordic person numbers", r"^\d{6}(\d{2})?[-+A]\d{3}[0-9A-Z]$"),
    Shape("German insurance numbers", r"^\d{2} ?\d{6} ?[A-Z] ?\d{3}$"),
    Shape("Chilean identity numbers", r"^\d{1,2}\.\d{3}\.\d{3}-[\dkK]$"),
    Shape("Mexican person codes", r"^[A-Z]{4}\d{6}[HM][A-Z]{5}[0-9A-Z]\d$"),
    Shape("Indian identity numbers", r"^(\d{4} \d{4} \d{4}|[A-Z]{5}\d{4}[A-Z])$"),
    Shape(
        "French insurance numbers", r"^[12] ?\d{2} ?\d{2} ?(\d{2}|2[AB]) ?\d{3} ?\d{3}( ?\d{2})?$", is_plain=True
    ),
    Shape("Chinese identity numbers", r"^\d{17}[\dX]$", is_plain=True),
    Shape("German tax numbers", r"^\d{2} ?\d{3} ?\d{3} ?\d{3}$", is_plain=True),
    Shape("telephone numbers", r"^(\+|00)\d[\d ()/.-]{6,20}$", is_plain=True),
    Shape("telephone numbers", r"^\(?\d{2,5}\)?[ /.-]\d{2,4}([ /.-]?\d{2,5}){1,3}$", is_plain=True),
    Shape("long numbers of one length", r"^\d{9,20}$", is_plain=True),
)
_CONTENT = r"^[A-TV-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?$"


def find_shape(traits: Traits) -> str | None:
    """What nine in ten of the distinct values look like, in words; None for nothing that names a person."""
    if len(traits.text) < 3 or traits.forms or traits.lengths[1] < 6:
        return None
    head = traits.text[:1000]
    is_measured = traits.numbers is not None and not traits.is_whole  # 34.0522 is no telephone number
    for shape in SHAPES:
        if shape.is_plain and (not traits.is_near_unique or is_measured):
            continue
        if share_of(head, shape.pattern) >= _MOST and traits.share(shape.pattern) >= _MOST:
            return (
                None if shape.pattern.startswith(r"^\d{9") and traits.lengths[0] < traits.lengths[1] else shape.what
            )
    return None


def are_diagnosis_codes(traits: Traits) -> bool:
    """Whether the values are ICD-10 codes, such as those of diagnoses and causes of death."""
    if len(traits.text) < 5 or traits.lengths[1] > 8 or traits.share(_CONTENT) < _MOST:
        return False
    # Chapters have letters of their own; codes that all begin with one letter are something else's.
    return traits.text.str.slice(0, 1).n_unique() > 2
