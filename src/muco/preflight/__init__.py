"""Everything that would stop or weaken a run, found before it, all at once; nothing is written.

policy file ── reading ──┐
table ── columns ────────┼── Findings ── exit code
whole ──────────┘
"""
