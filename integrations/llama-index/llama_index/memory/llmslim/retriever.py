"""A retriever over everything that was said, for query engines and whatever else takes retrievers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import TextBlock
from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.memory.llmslim.engine import Engine, MemoryLike, check_owner
from llama_index.memory.llmslim.quoting import neutral

from llmslim_memory import ContextEnvelope, Hit, InvalidValueError, Memory

_SHOWN_TO_MODELS = (MetadataMode.LLM, MetadataMode.ALL)
DEFAULT_TOP_K = 10
_MOST_WITHIN_BUDGET = 100


class RecalledNode(TextNode):
    """A passage of the history: its text is word for word what was said, and a model sees it as untrusted data."""

    @classmethod
    def class_name(cls) -> str:
        """The name of the class, for LlamaIndex."""
        return "RecalledNode"

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> str:
        """The text as it was said; for a model, in an envelope with who said it and when."""
        if metadata_mode not in _SHOWN_TO_MODELS:
            return self.text
        said = f"[{self.metadata.get('created_at', '')}] {self.metadata.get('role', '')}: {self.text}"
        return ContextEnvelope(neutral(said)).to_text()

    def get_content_blocks(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> list[Any]:
        """As :meth:`get_content`, as a content block."""
        return [TextBlock(text=self.get_content(metadata_mode))]


class LLMSlimRetriever(BaseRetriever):
    """Finds the passages of a user's history that answer a question best.

    Args:
        memory: The memory to search, or a store, path or URL to open one on.
        user_id: Whose history; a user or an agent is required.
        agent_id: Whose history, by agent.
        session_id: Search this session alone.
        similarity_top_k: The most passages to return; 10, unless a budget is given.
        token_budget: The most tokens that the passages may take as a model sees them, by the memory's counter. Better
            passages go first; one that does not fit makes room for smaller ones.
        callback_manager: For LlamaIndex's callbacks.

    Raises:
        ValueError, TypeError: No user and no agent is named, or an argument is unusable.
    """

    def __init__(
        self,
        memory: MemoryLike,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        similarity_top_k: int | None = None,
        token_budget: int | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        check_owner(user_id, agent_id)
        for name, value in (("similarity_top_k", similarity_top_k), ("token_budget", token_budget)):
            if value is not None and value < 1:
                raise InvalidValueError(f"{name} is {value}; pass at least 1, or leave it out")
        super().__init__(callback_manager=callback_manager)
        self._engine = Engine(memory)
        self._scope: dict[str, Any] = {"user_id": user_id, "agent_id": agent_id, "run_id": session_id}
        self._most = similarity_top_k or (DEFAULT_TOP_K if token_budget is None else _MOST_WITHIN_BUDGET)
        self._budget = token_budget

    def attach(self, memory: MemoryLike) -> None:
        """Give a retriever that was unpickled its memory again."""
        self._engine.attach(memory)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._find(self._engine.open(), query_bundle.query_str)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self._engine.run(lambda memory: self._find(memory, query_bundle.query_str))

    def _find(self, memory: Memory, query: str) -> list[NodeWithScore]:
        nodes = [to_node(hit) for hit in memory.rank(query, k=self._most, **self._scope)]
        return nodes if self._budget is None else _within(nodes, self._budget, memory)


def to_node(hit: Hit) -> NodeWithScore:
    """A ranked passage as a node. Its id is the turn's; that of a part of a turn names its place in it as well."""
    item = hit.item
    part = "" if hit.kind == "turn" else f"#{item.content.find(hit.text)}"
    metadata: dict[str, Any] = {
        "turn_id": item.id,
        "role": item.role,
        "session_id": item.run_id,
        "created_at": item.created_at.isoformat(timespec="minutes"),
        "untrusted": True,
    }
    node = RecalledNode(id_=f"{item.id}{part}", text=hit.text)
    node.metadata = metadata
    node.excluded_llm_metadata_keys = node.excluded_embed_metadata_keys = list(metadata)
    return NodeWithScore(node=node, score=hit.score)


def _within(nodes: Sequence[NodeWithScore], budget: int, memory: Memory) -> list[NodeWithScore]:
    kept = []
    for node in nodes:
        cost = memory.counter(node.node.get_content(MetadataMode.LLM))
        if cost <= budget:
            kept.append(node)
            budget -= cost
    return kept
