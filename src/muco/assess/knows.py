"""What the informed adversary of each method knows, in words."""

from __future__ import annotations

from muco.switches import Method

_TABLES = {None, Method.MUCO}


def name_informed(method: Method | None) -> str:
    """The subject of a verdict's sentence."""
    known = "the groups, the random output tables" if method in _TABLES else "the groups"
    return (
        f"Someone who knows the method, {known} and every quasi-identifier of everybody, "
        "and neither the secret key nor what else stands in a row,"
    )


def shorten_informed(method: Method | None) -> str:
    """The same in a few words."""
    return "who knows groups and tables" if method in _TABLES else "who knows the groups"


def list_known(method: Method | None) -> str:
    """The same as a list."""
    return "groups, tables and all quasi-identifiers" if method in _TABLES else "groups and all quasi-identifiers"


def tell_why_proven(method: Method | None) -> str:
    """Why all rows of a group are equally likely to be of each of its members."""
    if method is Method.MONDRIAN:
        return "all rows of a group carry the same quasi-identifiers"
    return "all rows of every random output table are equal"
