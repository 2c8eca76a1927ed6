"""Which setting is better for a table, and which one keeps a risk that is asked for at the least loss."""
