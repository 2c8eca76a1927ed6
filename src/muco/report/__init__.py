"""The page of a release: what was measured, in words and charts; it computes nothing.

original, release, policy ── Contents.gather ──> Contents ── render_page ──> one self-contained HTML page
"""

from __future__ import annotations

from muco.report.contents import Audience, Contents
from muco.report.page import render_page

__all__ = ["Audience", "Contents", "render_page"]
