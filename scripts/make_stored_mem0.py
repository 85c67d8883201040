"""Makes the stores that Mem0's own code leaves on disk, for the tests of importing them.

    python scripts/make_stored_mem0.py tests/data/mem0

Run it with each version of ``mem0ai`` whose stores are to be kept, together with ``faiss-cpu``; each writes a folder
of its own. Nothing is asked of a model: facts are stored as they are given.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import MagicMock, patch

os.environ["MEM0_TELEMETRY"] = "False"

MESSAGES = [
    {"role": "user", "content": "I moved to Bergen in May", "name": "Ann"},
    {"role": "assistant", "content": "Bergen gets a lot of rain"},
]


def main() -> None:
    target = Path(sys.argv[1], version("mem0ai"))
    for provider in ("faiss", "qdrant"):
        with TemporaryDirectory() as folder:
            fill(provider, Path(folder))
            keep(Path(folder), target / provider)


def fill(provider: str, folder: Path) -> None:
    """Add, edit and delete as a user of Mem0's would."""
    from mem0 import Memory

    embedder = MagicMock()
    embedder.embed.side_effect = lambda text, *_, **__: [float(len(text)), 1.0, 0.5, 0.25]
    embedder.embed_batch.side_effect = lambda texts, *_, **__: [embedder.embed(text) for text in texts]
    embedder.config.embedding_dims = 4
    where: dict[str, Any] = {"path": str(folder / "store"), "collection_name": "mem0", "embedding_model_dims": 4}
    config = {
        "vector_store": {"provider": provider, "config": where | ({"on_disk": True} if provider == "qdrant" else {})},
        "history_db_path": str(folder / "history.db"),
    }
    with (
        patch("mem0.utils.factory.EmbedderFactory.create", return_value=embedder),
        patch("mem0.utils.factory.LlmFactory.create", return_value=MagicMock()),
    ):
        memory = Memory.from_config(config)
        memory.add(MESSAGES, user_id="ann", agent_id="bot", metadata={"topic": "home", "tags": ["a"]}, infer=False)
        memory.add("Ann likes oolong", user_id="ann", run_id="r1", infer=False)
        gone = memory.add("Forget this", user_id="ann", infer=False)["results"][0]
        kept = memory.add("Lives in Oslo", user_id="ben", infer=False)["results"][0]
        memory.update(kept["id"], "Lives in Tromsø")
        memory.delete(gone["id"])


def keep(folder: Path, target: Path) -> None:
    """Copy what holds the memories; the vectors are not needed."""
    for path in [*folder.rglob("mem0*.pkl"), *folder.rglob("mem0*.json"), *folder.rglob("storage.sqlite")]:
        place = target / path.relative_to(folder / "store")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


if __name__ == "__main__":
    main()
