"""Real database servers for the tests, from wheels: no root, no containers, nothing left behind."""
