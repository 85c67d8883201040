"""Which ranked passages are shown within a token budget, and how."""
