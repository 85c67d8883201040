"""Let budgets hold by the tokenizer of any model: pass a function that counts."""

import re

from llmslim_memory import Memory


def count(text: str) -> int:
    """Stands for your model's tokenizer, such as ``lambda text: len(tokenizer.encode(text))``."""
    return len(re.findall(r"\w+|[^\w\s]", text))


with Memory(encoding=count) as memory:
    for day in range(1, 29):
        memory.add(
            {"role": "user", "content": f"On day {day} I ran {day + 3} kilometres along the river."},
            user_id="mira",
            timestamp=f"2026-02-{day:02}T07:00:00Z",
        )
    context = memory.search("How far did I run on day 14?", user_id="mira", budget=80)

print(context.text)
print(f"\n{context.tokens} of {context.history_tokens} tokens")
assert count(context.text) <= 80
