"""A program for Mem0 with its import changed: a chat that recalls, corrects and forgets.

The model is a stand-in that needs no key: it repeats what a real one would read in its prompt.
"""

import tempfile
from pathlib import Path

from llmslim_memory.mem0 import Memory  # was: from mem0 import Memory


def model(messages: list[dict[str, str]]) -> str:
    recalled = messages[0]["content"].splitlines()[1:]
    return f"I remember: {recalled[0].removeprefix('- ')}" if recalled else "Tell me more."


def chat(memory: Memory, message: str, user_id: str) -> str:
    recalled = memory.search(query=message, user_id=user_id, limit=3)["results"]
    notes = "".join(f"\n- {hit['memory']}" for hit in recalled)
    messages = [
        {"role": "system", "content": f"What was said before:{notes}"},
        {"role": "user", "content": message},
    ]
    reply = model(messages)
    memory.add([messages[1], {"role": "assistant", "content": reply}], user_id=user_id)
    return reply


with tempfile.TemporaryDirectory() as folder:
    config = {"vector_store": {"provider": "qdrant", "config": {"path": str(Path(folder) / "qdrant")}}}
    with Memory.from_config(config) as memory:
        for said in ("My sister Noor lives in Lisbon.", "Where does my sister Noor live?"):
            print("user:     ", said)
            print("assistant:", chat(memory, said, user_id="ann"))
        first = memory.get_all(user_id="ann")["results"][0]
        memory.update(first["id"], "My sister Noor lives in Porto.")
        print("history:  ", [row["new_memory"] for row in memory.history(first["id"])])
        memory.delete_all(user_id="ann", purge=True)
        print("forgotten:", memory.get_all(user_id="ann")["results"] == [])
