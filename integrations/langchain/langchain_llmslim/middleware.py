"""Long-term memory for agents: recalls before the model is called, records what is said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Annotated, Any, Literal, NoReturn, NotRequired, cast

from langchain_core.runnables import RunnableConfig

from langchain_llmslim.agent_memory import AgentMemory, Exclude, OnError, check_choice
from langchain_llmslim.placing import append_to_system, as_human, place
from langchain_llmslim.runs import Run
from langchain_llmslim.scope import IdSource, RunScope, ScopeRule
from llmslim_memory import AsyncMemory, InvalidTypeError, Memory, MissingExtraError

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import PrivateStateAttr
    from langgraph.channels.untracked_value import UntrackedValue
    from langgraph.config import get_config
    from langgraph.runtime import Runtime
except ImportError as error:
    raise MissingExtraError(
        "LLMSlimMemoryMiddleware needs the package langchain: pip install 'langchain-llmslim[agents]'"
    ) from error

try:
    from langgraph.types import TracePolicy, omit_payload
except ImportError:  # langgraph before 1.2 traces every hook in full
    _TRACE = None
else:
    _TRACE = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)

_KEY = "llmslim_memory"


class LLMSlimState(AgentState[Any]):
    """The agent's state with a token of the run, by the middleware's name; it is never saved."""

    llmslim_memory: NotRequired[Annotated[dict[str, str], UntrackedValue, PrivateStateAttr]]


class LLMSlimMemoryMiddleware(AgentMiddleware[LLMSlimState, Any]):
    """Gives an agent a memory of all that was said to it, across threads and processes.

    Once a run, before the first model call, what answers the user's question is recalled. Every model call of the run
    sees it, wrapped as untrusted data, in a message before the question; the agent's state, its output and its
    checkpoints do not. What is said is stored as soon as it is said, each message once.

    Args:
        memory: A ``Memory`` or ``AsyncMemory``; one serves any number of agents, users and threads.
        user_id: The person, or a function ``(runtime, config)`` that names them. By default whom the server
            authenticated, else ``user_id`` in the run's context or in ``config["configurable"]``. All their threads
            are recalled from.
        agent_id: The agent, likewise; it recalls only what it heard itself.
        session_id: The session, likewise; by default the thread id. Where no user is known, it alone is recalled from.
        token_budget: The most tokens that recalled text may take, its wrapper included; 0 for none.
        k: The most turns to recall, beside standing requests and the like; as many as fit, unless given.
        recall: Whether to recall.
        record: Whether to store.
        record_roles: Which messages to store: ``"human"``, ``"ai"``, ``"tool"``, ``"system"``.
        exclude_current_session: What not to recall: ``"in_context"`` leaves out messages that the model sees anyway,
            ``True`` the whole session, ``False`` only the question.
        inject_as: ``"human"`` for a message of its own, ``"system"`` for a block at the end of the system message
            (remembered text then speaks with the system's authority, and each run changes a cached prompt's start).
        template: A text to put around what is recalled, which stands where it says ``{memory}``: still wrapped, and
            within the budget together. Other braces in it mean nothing.
        on_error: What to do when memory fails: ``"warn"`` logs once a run and goes on, ``"raise"`` raises, a function
            is called with the stage (``"record"``, ``"recall"``) and the error.
        name: Tells several memories in one agent apart.

    Raises:
        ValueError: An argument is none of these. A run raises it before the model is called if neither a user nor a
            thread is known.
    """

    state_schema = LLMSlimState
    trace_policy = _TRACE

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        *,
        user_id: IdSource = None,
        agent_id: IdSource = None,
        session_id: IdSource = None,
        token_budget: int = 1000,
        k: int | None = None,
        recall: bool = True,
        record: bool = True,
        record_roles: Collection[str] = ("human", "ai", "tool"),
        exclude_current_session: Exclude = "in_context",
        inject_as: Literal["human", "system"] = "human",
        template: str | None = None,
        on_error: OnError = "warn",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_choice("inject_as", inject_as, ("human", "system"))
        self._agent_memory = AgentMemory(
            memory,
            token_budget=token_budget,
            k=k,
            template=template,
            recall=recall,
            record=record,
            record_roles=record_roles,
            exclude_current_session=exclude_current_session,
            on_error=on_error,
        )
        self._rule = ScopeRule(user_id, agent_id, session_id)
        self._inject_as = inject_as
        self._name = name or type(self).__name__
        self.tools = []

    @property
    def name(self) -> str:
        """What tells this middleware from others in the same agent."""
        return self._name

    def before_agent(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any]:
        """Store what the user said, and recall what answers it."""
        return self._begin(state, self._rule.resolve(runtime, config))

    async def abefore_agent(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any]:
        """The same, off the event loop."""
        return await asyncio.to_thread(self._begin, state, self._rule.resolve(runtime, config))

    def before_model(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any]:
        """Store what tools said; recall again where a run was resumed."""
        return self._go_on(state, self._rule.resolve(runtime, config))

    async def abefore_model(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any]:
        """The same, off the event loop."""
        return await asyncio.to_thread(self._go_on, state, self._rule.resolve(runtime, config))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with what was recalled."""
        return handler(self._inject(request, self._ready(request) or self._catch_up(request)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The same, off the event loop."""
        run = self._ready(request)
        if run is None:
            run = await asyncio.to_thread(self._catch_up, request)
        return await handler(self._inject(request, run))

    def after_model(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any]:
        """Store what the model said."""
        return self._hear(state, self._rule.resolve(runtime, config))

    async def aafter_model(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any]:
        """The same, off the event loop."""
        return await asyncio.to_thread(self._hear, state, self._rule.resolve(runtime, config))

    def after_agent(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> None:
        """Store what was said last."""
        self._finish(state, self._rule.resolve(runtime, config))

    async def aafter_agent(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> None:
        """The same, off the event loop."""
        await asyncio.to_thread(self._finish, state, self._rule.resolve(runtime, config))

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError(
            f"{self.name} holds an open memory and cannot be pickled or copied: make a new one instead"
        )

    def _begin(self, state: LLMSlimState, scope: RunScope) -> dict[str, Any]:
        return self._mark(state, self._agent_memory.begin(state["messages"], scope))

    def _go_on(self, state: LLMSlimState, scope: RunScope) -> dict[str, Any]:
        run = self._agent_memory.hear(self._run(state), state["messages"], scope)
        return self._mark(state, self._agent_memory.resume(run, state["messages"], scope))

    def _hear(self, state: LLMSlimState, scope: RunScope) -> dict[str, Any]:
        return self._mark(state, self._agent_memory.hear(self._run(state), state["messages"], scope))

    def _finish(self, state: LLMSlimState, scope: RunScope) -> None:
        self._agent_memory.finish(self._run(state), state["messages"], scope)

    def _ready(self, request: ModelRequest[Any]) -> Run | None:
        run = self._run(request.state)
        return None if run is None or run.text is None else run

    def _catch_up(self, request: ModelRequest[Any]) -> Run:
        """Recall for a run that was resumed at this very call, whose earlier hooks do not run again."""
        scope = self._rule.resolve(request.runtime, get_config())
        run = self._agent_memory.resume(self._run(request.state), request.state["messages"], scope)
        # A retry gets the same state object again, and finds the run by it.
        cast("dict[str, Any]", request.state).update(self._mark(request.state, run))
        return run

    def _inject(self, request: ModelRequest[Any], run: Run) -> ModelRequest[Any]:
        if not run.text:
            return request
        if self._inject_as == "system":
            return request.override(system_message=append_to_system(request.system_message, run.text))
        return request.override(messages=place(request.messages, as_human(run.text), run.anchor))

    def _run(self, state: AgentState[Any]) -> Run | None:
        return self._agent_memory.known(_tokens(state).get(self.name))

    def _mark(self, state: AgentState[Any], run: Run) -> dict[str, Any]:
        return {_KEY: {**_tokens(state), self.name: run.token}}


def _tokens(state: AgentState[Any]) -> dict[str, str]:
    return cast("dict[str, Any]", state).get(_KEY) or {}
