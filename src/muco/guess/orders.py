"""Orders that values have by what they say: levels, grades, bands and steps of education, in several languages."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_VALUES = 60  # a longer order is a list of something else

# Each ladder from its lowest rung; words of one rung are one step in different words.
LADDERS: tuple[tuple[str, ...], ...] = (
    (
        "none|no|nothing|keine|aucun|ninguno|nessuno|nenhum",
        "very low|sehr niedrig|sehr gering|très faible|muy bajo|molto basso|muito baixo",
        "low|lo|niedrig|gering|faible|bas|bajo|baja|basso|bassa|baixo|baixa|below average|unterdurchschnittlich",
        "medium|med|middle|mid|moderate|average|normal|mittel|moyen|moyenne|medio|media|médio|média|durchschnittlich",
        "high|hi|hoch|élevé|haut|alto|alta|above average|überdurchschnittlich",
        "very high|sehr hoch|très élevé|muy alto|molto alto|muito alto",
    ),
    (
        "tiny|xs|extra small",
        "small|s|klein|petit|pequeño|piccolo|pequeno",
        "medium|m|mittel|moyen|mediano|medio|médio",
        "large|big|l|groß|gross|grand|grande",
        "very large|huge|xl|extra large",
    ),
    (
        "never|nie|jamais|nunca|mai",
        "rarely|seldom|hardly ever|selten|rarement|raramente|rara vez",
        "sometimes|occasionally|manchmal|parfois|a veces|a volte|às vezes",
        "often|frequently|usually|oft|häufig|souvent|a menudo|spesso|frequentemente",
        "always|very often|immer|toujours|siempre|sempre",
    ),
    ("none", "several", "most", "almost all|all"),
    (
        "strongly disagree|completely disagree|stimme gar nicht zu|pas du tout d'accord|muy en desacuerdo",
        "disagree|somewhat disagree|stimme nicht zu|stimme eher nicht zu|pas d'accord|en desacuerdo|discordo",
        "neutral|neither|neither agree nor disagree|undecided|teils teils|neutre|ni de acuerdo ni en desacuerdo",
        "agree|somewhat agree|stimme zu|stimme eher zu|d'accord|de acuerdo|concordo",
        "strongly agree|completely agree|stimme voll zu|tout à fait d'accord|muy de acuerdo",
    ),
    (
        "very poor|very bad|very weak|very unhappy|very dissatisfied|sehr schlecht|très mauvais|muy malo|pessimo",
        "poor|bad|weak|unhappy|dissatisfied|schlecht|mauvais|malo|cattivo|ruim",
        "fair|average|neutral|mäßig|befriedigend|passable|regular|discreto|razoável",
        "good|satisfied|happy|gut|bon|bueno|buono|bom|pretty happy",
        "very good|vgood|very happy|very satisfied|sehr gut|très bon|muy bueno|molto buono|muito bom",
        "excellent|ausgezeichnet|excelente|eccellente",
    ),
    (
        "absent|none|healthy|normal|gesund",
        "minimal|mild|leicht|léger|leve|lieve",
        "moderate|mittelschwer|modéré|moderado|moderato",
        "severe|serious|schwer|sévère|grave|severo",
        "very severe|critical|kritisch|critique|crítico",
        "death|dead|fatal|tot",
    ),
    ("first|1st", "second|2nd", "third|3rd", "fourth|4th", "fifth|5th"),
    ("primary", "secondary", "tertiary"),
    ("junior", "mid|middle", "senior"),
    ("rural", "suburban", "urban"),
    ("non-smoker|never smoked|nonsmoker|never", "former|ex-smoker|quit|past", "current|smoker|smokes|yes"),
    (
        *("jan|january", "feb|february", "mar|march", "apr|april", "may", "jun|june", "jul|july"),
        *("aug|august", "sep|sept|september", "oct|october", "nov|november", "dec|december"),
    ),
    ("mon|monday", "tue|tuesday", "wed|wednesday", "thu|thursday", "fri|friday", "sat|saturday", "sun|sunday"),
)

# Steps of education by what stands in the text; the first that fits counts.
_SCHOOL = tuple(
    (re.compile(pattern), rank)
    for pattern, rank in (
        (r"^(none|no (school|education|formal)|never attended|illiterate|sin estudios|ohne abschluss)", 0),
        (r"pre-?school|kindergarten|nursery", 0.5),
        (r"less than high|some high|no high|< ?high|kein abitur", 8.9),
        (r"post ?-?grad|graduate (degree|school)|advanced|more than (college|bachelor)|^graduate$", 18),
        (r"^bac ?\+ ?[4-9]", 18),
        (r"^bac ?\+ ?[1-3]", 15),
        (r"doctor|ph\.? ?d|promotion|dottorato|doutor", 20),
        (r"^(prof[- ]school|professional)", 19),
        (r"master|mba|magister|mestrado|máster|magistrale", 18),
        (r"assoc", 14.5),
        (r"some[- ]?(college|university|coll)|incomplete (college|university)|part college", 13.5),
        (r"bachelor|college (grad|degree)|^(college|university|laurea|licence|licenciatura|hochschule)$", 16),
        (r"university|universi|universidad|hochschul|superior|tertiary|higher", 16),
        (r"abitur|baccalaur|^bac$|bachillerato|matura|gymnasium|^(ensino )?médio$|^diploma( superiore)?$", 12.5),
        (r"hs[- ]?grad|high[- ]?school|completed high|ged|upper secondary|secondary special", 12.4),
        (r"realschul|lower secondary|middle school|licenza media|collège|brevet", 10),
        (r"hauptschul|volksschul|^(ensino )?fundamental$", 9),
        (r"secundaria|secondary|secondaire|secundário|secondaria", 11),
        (r"primary|elementary|primaria|primaire|grundschul|primário|elementare", 5),
    )
)
_GRADE = re.compile(r"^(?:up to |through )?(?:grades? ?|klasse ?|year )?(\d{1,2})(?:st|nd|rd|th)?\b")
_BAND = re.compile(
    r"^(?P<below><=?|under|below|less than|up to|unter|bis|moins de|menos de|meno di|até)?"
    r"(?P<above>>=?|over|above|more than|more|über|ab|plus de|más de|oltre|mais de)?(?P<mark>[^\d-]{0,4})"
    r"(?P<low>-?\d[\d,.]*)(?: ?(?P<unit>[km])\b)?(?P<rest>.*)$"
)
_UP = re.compile(
    r"^ ?(\+|and over|and above|and older|or more|or older|und älter|und mehr|et plus|y más|e più|e mais)"
)


def find_order(values: Sequence[str]) -> tuple[str, ...] | None:
    """The values from lowest to highest, where every one of them has a place that tells; else None.

    >>> find_order(["high", "low", "medium"]), find_order(["65+", "<18", "18-64"])
    (('low', 'medium', 'high'), ('<18', '18-64', '65+'))
    """
    if not 2 < len(values) <= MOST_VALUES:
        return None
    plain = {value: re.sub(r"[\s_]+", " ", value.strip().lower()) for value in values}
    for ladder in LADDERS:
        rungs = {word: place for place, rung in enumerate(ladder) for word in rung.split("|")}
        if all(text in rungs for text in plain.values()) and len({rungs[text] for text in plain.values()}) > 2:
            return tuple(sorted(values, key=lambda value: (rungs[plain[value]], value)))
    bands = {value: _place_of_band(text) for value, text in plain.items()}
    # Q1 to Q4 have an order; E11 and I10 are codes of two kinds.
    if len({re.sub("[^a-z]", "", found["mark"]) for text in plain.values() if (found := _BAND.match(text))}) > 1:
        return None
    if all(place is not None for place in bands.values()) and len(set(bands.values())) == len(bands):
        return tuple(sorted(values, key=lambda value: bands[value] or (0.0, 0)))
    return None


def find_school_order(values: Sequence[str]) -> tuple[str, ...] | None:
    """The steps of education from lowest to highest, where every value is one; else None.

    >>> find_school_order(["Masters", "11th", "HS-grad", "Some-college"])
    ('11th', 'HS-grad', 'Some-college', 'Masters')
    """
    if not 2 < len(values) <= MOST_VALUES:
        return None
    ranks = {value: _school_rank(value.strip().lower()) for value in values}
    if any(rank is None for rank in ranks.values()) or len(set(ranks.values())) < 3:
        return None
    return tuple(sorted(values, key=lambda value: (ranks[value] or 0.0, value)))


def _school_rank(text: str) -> float | None:
    found = next((rank for pattern, rank in _SCHOOL if pattern.search(text)), None)
    if found is not None:
        return float(found)
    grade = _GRADE.match(text)
    return min(float(grade[1]), 12.2) if grade else None


def _place_of_band(text: str) -> tuple[float, int] | None:
    """Where a band such as 18-24, <18, 65+ or 10k to 20k begins; below its number, at it, or above it."""
    found = _BAND.match(text)
    rest = found["rest"] if found else ""
    is_band = found and (found["below"] or found["above"] or _UP.match(rest) or re.search(r"^ ?\D{1,12}\d", rest))
    if not found or not (is_band or rest in {"", "."}):  # 6 stands in order below 7 or more
        return None
    number = _number(found["low"])
    if number is None:
        return None
    number *= {"k": 1e3, "m": 1e6, None: 1}[found["unit"]]
    return number, -1 if found["below"] else 1 if found["above"] or _UP.match(rest) else 0


def _number(text: str) -> float | None:
    try:
        return float(re.sub(r"[,.](?=\d{3}\b)", "", text.rstrip(",.")).replace(",", "."))
    except ValueError:
        return None
