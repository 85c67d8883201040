"""Bring a ChatGPT export into memory, twice without storing anything twice, and ask about it.

    python examples/import_chatgpt.py [the zip that ChatGPT sends]

Without one, a small export is made up in the same form: a tree of messages, of which the current branch counts. What
looks like a key is replaced before anything is stored.
"""

from __future__ import annotations

import json
import sys
import zipfile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from llmslim_memory import Memory, import_history

RANDOM = sha256(b"nobody's key").hexdigest()


def node(name: str, parent: str | None, role: str, text: str, at: int) -> dict[str, Any]:
    said = {
        "id": name,
        "author": {"role": role},
        "create_time": 1_775_000_000 + 60 * at,
        "content": {"content_type": "text", "parts": [text]},
    }
    return {"id": name, "message": said, "parent": parent, "children": []}


def made_up_export(folder: Path) -> Path:
    nodes = [
        node("m1", None, "user", "My sourdough starter is called Doris. I feed her 50 g of rye a day.", 0),
        node("m2", "m1", "assistant", "A fine name. Rye keeps a starter lively.", 1),
        node("m3", "m2", "user", f"My key is sk-proj-{RANDOM}, how do I keep it safe?", 2),
        node("m4", "m3", "assistant", "In your system's key ring, and never in a chat.", 3),
        node("old", "m2", "user", "A question that was edited away.", 2),
    ]
    chat = {
        "title": "Baking",
        "create_time": 1_775_000_000,
        "conversation_id": "c1",
        "current_node": "m4",
        "mapping": {each["id"]: each for each in nodes},
    }
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([chat]))
    return path


def main() -> None:
    with TemporaryDirectory() as folder, Memory() as memory:
        source = Path(sys.argv[1]) if len(sys.argv) > 1 else made_up_export(Path(folder))
        for attempt in ("first", "second"):
            report = import_history(source, memory, user_id="asha")
            print(f"{attempt} time: {report.imported} new, {report.duplicates} there already, {report.format}")
            print("  left out:", dict(report.skipped), " replaced:", dict(report.redactions))
        print(memory.search("How much rye does Doris get?", user_id="asha", budget=400).text)


if __name__ == "__main__":
    main()
