"""A contract that every store must meet, and hypothesis strategies, for authors of stores."""
