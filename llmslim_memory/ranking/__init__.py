"""Ranking: text becomes terms, terms become postings, and postings become scores for a question."""
