"""The HTTP server searches in processes of its own on request."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

from llmslim_memory import Memory
from tests.server.processes import serving, sqlite


def test_a_server_with_workers_answers_as_a_memory_without(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        memory.add([{"role": "user", "content": f"The heron stood on stone {n}."} for n in range(40)], user_id="ann")
        expected = memory.search("heron on stone 7", user_id="ann", budget=100).text
    with serving([*sqlite(tmp_path), "--workers", "2"]) as server:
        body = json.dumps({"query": "heron on stone 7", "user_id": "ann", "budget": 100}).encode()
        request = urllib.request.Request(
            f"{server.url}/v1/search", body, {"content-type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(request) as response:
            assert json.load(response)["text"] == expected
        assert server.process.poll() is None
