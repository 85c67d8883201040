"""A tool with which an agent looks something up in what was said before."""

from __future__ import annotations

from llama_index.core.tools import FunctionTool
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from llama_index.memory.llmslim.engine import Engine, MemoryLike, check_owner
from llama_index.memory.llmslim.recall import recall

from llmslim_memory import Memory

NOTHING = "Nothing that was said before bears on this."


class LLMSlimToolSpec(BaseToolSpec):
    """Gives an agent the tool ``recall``, bound to one user: the model chooses the question, never whose memory.

    Args:
        memory: The memory to search, or a store, path or URL to open one on.
        user_id: Whose memory; a user or an agent is required.
        agent_id: Whose memory, by agent.
        session_id: The running session, whose turns the agent sees already and which is left out.
        token_budget: Tokens that an answer may take, envelope included, by the memory's counter.

    Raises:
        ValueError, TypeError: No user and no agent is named, or one is unusable.
    """

    spec_functions: list[SPEC_FUNCTION_TYPE] = [("recall", "arecall")]  # noqa: RUF012 - as the base class has it

    def __init__(
        self,
        memory: MemoryLike,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        token_budget: int = 1000,
    ) -> None:
        check_owner(user_id, agent_id)
        self._engine = Engine(memory)
        self._user_id, self._agent_id = user_id, agent_id
        self._left_out = () if session_id is None else (session_id,)
        self._budget = token_budget

    def attach(self, memory: MemoryLike) -> None:
        """Give a tool spec that was unpickled its memory again."""
        self._engine.attach(memory)

    def recall(self, query: str) -> str:
        """Look up what was said in earlier conversations with this user. Ask in plain words for one thing at a time."""
        return self._recall(self._engine.open(), query)

    async def arecall(self, query: str) -> str:
        """Look up what was said in earlier conversations with this user. Ask in plain words for one thing at a time."""
        return await self._engine.run(lambda memory: self._recall(memory, query))

    def _recall(self, memory: Memory, query: str) -> str:
        found = recall(
            memory,
            query,
            user_id=self._user_id,
            agent_id=self._agent_id,
            budget=self._budget,
            exclude_runs=self._left_out,
        )
        return found.text or NOTHING


def recall_tool(
    memory: MemoryLike,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    session_id: str | None = None,
    token_budget: int = 1000,
    name: str = "recall",
    description: str | None = None,
) -> FunctionTool:
    """The tool of :class:`LLMSlimToolSpec` alone, under a name and description of your choice.

    Args:
        memory: The memory to search, or a store, path or URL to open one on.
        user_id: Whose memory; a user or an agent is required.
        agent_id: Whose memory, by agent.
        session_id: The running session, which is left out.
        token_budget: Tokens that an answer may take, envelope included.
        name: What the model calls the tool.
        description: When the model is to call it.
    """
    spec = LLMSlimToolSpec(memory, user_id=user_id, agent_id=agent_id, session_id=session_id, token_budget=token_budget)
    return FunctionTool.from_defaults(
        fn=spec.recall, async_fn=spec.arecall, name=name, description=description or spec.recall.__doc__
    )
