"""Long-term memory for LLM agents: turns kept verbatim, picked within a token budget at read time."""
