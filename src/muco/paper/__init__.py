"""Every experiment of the paper, and what its text claims, held against what comes out.

Plan ── reproduce ──> Reproduction (results, claims) ── to_html, frames ──> a page, and the numbers of its figures
"""

from __future__ import annotations

from muco.paper.page import Reproduction, reproduce
from muco.paper.plan import Plan

__all__ = ["Plan", "Reproduction", "reproduce"]
