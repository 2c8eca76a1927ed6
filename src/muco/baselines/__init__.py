"""What mutual cover is compared with, as real alternatives: Mondrian generalisation and Anatomy.

table, policy ── generalize ──> Release            one table: a range, a label or a set in place of each value
              └─ anatomize ───> Anatomy            two tables: quasi-identifiers with a group, its sensitive values
"""

from __future__ import annotations

from muco.baselines.anatomy import anatomize, anatomize_with_groups, join_tables
from muco.baselines.generalize import generalize, generalize_with_groups

__all__ = ["anatomize", "anatomize_with_groups", "generalize", "generalize_with_groups", "join_tables"]
