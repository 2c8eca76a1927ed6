"""Guesses about a table nobody described: the role and the kind of each column, and a policy worth running.

words ─┐
shapes ┼─ roles ──┐
traits ┘  kinds ──┼── proposal ── draft (the commented policy)
          orders ─┘
"""
