"""Fill a memory with the chats you already have, then ask about them.

    python examples/import_chats.py [a ChatGPT, Claude.ai, Claude Code or Mem0 export]

Without an export, a small one is made up. Importing twice stores nothing twice, and credentials never get in.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from llmslim_memory import ImportReport, Memory, import_history

ROLES = ("human", "assistant")


def made_up_export(folder: Path) -> Path:
    said = ["My allotment is number 14, by the canal.", "Noted.", "The tap there takes a three-quarter inch hose."]
    messages = [
        {
            "uuid": f"m{number}",
            "sender": ROLES[number % 2],
            "content": [{"type": "text", "text": text}],
        }
        for number, text in enumerate(said)
    ]
    talk = {"uuid": "t1", "name": "Allotment", "created_at": "2026-04-02T09:00:00Z", "chat_messages": messages}
    path = folder / "conversations.json"
    path.write_text(json.dumps([talk]), encoding="utf-8")
    return path


def show(report: ImportReport) -> None:
    left_out = ", ".join(f"{count} {reason}" for reason, count in report.skipped.items()) or "nothing"
    print(f"{report.format}: {report.imported} new, {report.duplicates} there already, left out: {left_out}")


def main() -> None:
    memory = Memory()
    with TemporaryDirectory() as folder:
        source = Path(sys.argv[1]) if len(sys.argv) > 1 else made_up_export(Path(folder))
        show(import_history(source, memory, user_id="asha"))
        show(import_history(source, memory, user_id="asha"))
    print(memory.search("Which hose fits the tap at my allotment?", user_id="asha", budget=400).text)


if __name__ == "__main__":
    main()
