"""What a page consists of: sections of words, tables and charts."""

from __future__ import annotations

from dataclasses import dataclass

from muco.report.words import Table


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with its title, the same in words for who cannot see it, and as a table."""

    title: str
    alt: str
    svg: str
    table: Table
    is_wide: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: what to know, then tables, then charts."""

    name: str
    title: str
    words: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()
    code: str = ""
