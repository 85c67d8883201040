"""Keep a conversation, and recall within a token budget what answers a question."""

from llmslim_memory import Memory

with Memory() as memory:  # in this process only; Memory("memory.db") keeps it in a file
    memory.add(
        [
            {"role": "user", "content": "I live in Lisbon.", "timestamp": "2026-01-11T18:40:00Z"},
            {"role": "assistant", "content": "Lovely city. Noted.", "timestamp": "2026-01-11T18:41:00Z"},
            {"role": "user", "content": "We moved to Porto on Saturday!", "timestamp": "2026-05-04T18:15:00Z"},
        ],
        user_id="mira",
        run_id="chat-1",
    )
    context = memory.search("Where does Mira live, Lisbon or Porto?", user_id="mira", budget=200)

print(context.text)
print(f"\n{context.tokens} of at most {context.budget} tokens, counted with {context.counter}")
