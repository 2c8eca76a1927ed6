"""Every experiment of the paper, and what its text claims."""
