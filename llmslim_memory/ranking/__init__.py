"""How well each stored passage answers a question: analysis, passages, index, scores."""
