"""Long-term memory for agents: recalls before the model is called, records what is said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal, NoReturn, NotRequired, cast

from langchain_core.runnables import RunnableConfig

from langchain_llmslim.placing import append_to_system, as_human, find_question, find_turn_start, place
from langchain_llmslim.recall import recall_text
from langchain_llmslim.recording import Recorder
from langchain_llmslim.runs import Run, Runs
from langchain_llmslim.scope import IdSource, RunScope, ScopeRule
from langchain_llmslim.sharing import share
from langchain_llmslim.text import message_text
from llmslim_memory import AsyncMemory, InvalidValueError, LLMSlimError, Memory, MissingExtraError

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

logger = logging.getLogger(__name__)

_KEY = "llmslim_memory"

OnError = Literal["warn", "raise"] | Callable[[str, Exception], None]


class LLMSlimState(AgentState[Any]):
    """The agent's state with a token of the run, by the middleware's name; it is never saved."""

    llmslim_memory: NotRequired[Annotated[dict[str, str], UntrackedValue, PrivateStateAttr]]


class LLMSlimMemoryMiddleware(AgentMiddleware[LLMSlimState, Any, Any]):
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
        recall: Whether to recall.
        record: Whether to store.
        record_roles: Which messages to store: ``"human"``, ``"ai"``, ``"tool"``, ``"system"``.
        exclude_current_session: What not to recall: ``"in_context"`` leaves out messages that the model sees anyway,
            ``True`` the whole session, ``False`` only the question.
        inject_as: ``"human"`` for a message of its own, ``"system"`` for a block at the end of the system message
            (remembered text then speaks with the system's authority, and each run changes a cached prompt's start).
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
        recall: bool = True,
        record: bool = True,
        record_roles: Sequence[str] = ("human", "ai", "tool"),
        exclude_current_session: bool | Literal["in_context"] = "in_context",
        inject_as: Literal["human", "system"] = "human",
        on_error: OnError = "warn",
        name: str | None = None,
    ) -> None:
        super().__init__()
        _check("exclude_current_session", exclude_current_session, (True, False, "in_context"))
        _check("inject_as", inject_as, ("human", "system"))
        if not callable(on_error):
            _check("on_error", on_error, ("warn", "raise"))
        if not isinstance(token_budget, int) or token_budget < 0:
            raise InvalidValueError(f"token_budget is {token_budget!r}; pass a whole number, 0 to recall nothing")
        self._memory = share(memory)
        self._rule = ScopeRule(user_id, agent_id, session_id)
        self._recorder = Recorder(record_roles)
        self._runs = Runs()
        self._token_budget = token_budget
        self._recalls = recall
        self._records = record
        self._exclude = exclude_current_session
        self._inject_as = inject_as
        self._on_error = on_error
        self._name = name or type(self).__name__
        self.tools = []

    @property
    def name(self) -> str:
        """What tells this middleware from others in the same agent."""
        return self._name

    def before_agent(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any] | None:
        """Store what the user said, and recall what answers it."""
        return self._begin(state, self._rule.resolve(runtime, config))

    async def abefore_agent(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any] | None:
        """The same, off the event loop."""
        return await asyncio.to_thread(self._begin, state, self._rule.resolve(runtime, config))

    def before_model(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any] | None:
        """Store what tools said; recall again where a run was resumed."""
        return self._go_on(state, self._rule.resolve(runtime, config))

    async def abefore_model(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any] | None:
        """The same, off the event loop."""
        return await asyncio.to_thread(self._go_on, state, self._rule.resolve(runtime, config))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with what was recalled."""
        self._catch_up(request)
        return handler(self._inject(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The same, off the event loop."""
        if self._is_behind(request):
            await asyncio.to_thread(self._catch_up, request)
        return await handler(self._inject(request))

    def after_model(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any] | None:
        """Store what the model said."""
        return self._hear(state, self._rule.resolve(runtime, config))

    async def aafter_model(  # type: ignore[override]
        self, state: LLMSlimState, runtime: Runtime[Any], config: RunnableConfig
    ) -> dict[str, Any] | None:
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
        raise TypeError(f"{self.name} holds an open memory and cannot be pickled or copied: make a new one instead")

    def _begin(self, state: LLMSlimState, scope: RunScope) -> dict[str, Any]:
        run = self._runs.start()
        if self._records:
            self._guard("record", run, scope, lambda memory: self._recorder.begin(memory, state["messages"], scope))
        self._recall(state, run, scope)
        return self._mark(state, run)

    def _go_on(self, state: LLMSlimState, scope: RunScope) -> dict[str, Any] | None:
        known = self._run(state)
        run = known or self._runs.start()
        self._store(state, run, scope)
        if run.text is None:
            self._recall(state, run, scope)
        return None if known else self._mark(state, run)

    def _hear(self, state: LLMSlimState, scope: RunScope) -> dict[str, Any] | None:
        known = self._run(state)
        run = known or self._runs.start()
        self._store(state, run, scope)
        return None if known else self._mark(state, run)

    def _finish(self, state: LLMSlimState, scope: RunScope) -> None:
        run = self._run(state) or self._runs.start()
        self._store(state, run, scope)
        self._runs.end(run.token)

    def _store(self, state: LLMSlimState, run: Run, scope: RunScope) -> None:
        if self._records:
            self._guard("record", run, scope, lambda memory: self._recorder.record(memory, state["messages"], scope))

    def _recall(self, state: AgentState[Any], run: Run, scope: RunScope) -> None:
        messages = state["messages"]
        question = find_question(messages)
        run.text = ""
        if not self._recalls or question is None:
            return
        start = find_turn_start(messages, question)
        run.anchor = messages[start].id
        seen = messages[start:] if self._exclude is False else messages

        def recall(memory: Memory) -> None:
            run.text = recall_text(
                memory,
                message_text(messages[question]),
                scope.readable(),
                token_budget=self._token_budget,
                exclude=self._recorder.turn_ids(seen, scope),
                exclude_runs=[scope.session_id] if self._exclude is True and scope.session_id is not None else (),
            )

        self._guard("recall", run, scope, recall)

    def _is_behind(self, request: ModelRequest[Any]) -> bool:
        run = self._run(request.state)
        return run is None or run.text is None

    def _catch_up(self, request: ModelRequest[Any]) -> None:
        """Recall for a run that was resumed at this very call, whose earlier hooks do not run again."""
        if self._is_behind(request):
            run = self._run(request.state) or self._runs.start()
            self._recall(request.state, run, self._rule.resolve(request.runtime, get_config()))
            # A retry gets the same state object again, and finds the run by it.
            cast("dict[str, Any]", request.state).update(self._mark(request.state, run))

    def _inject(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        run = self._run(request.state)
        if run is None or not run.text:
            return request
        if self._inject_as == "system":
            return request.override(system_message=append_to_system(request.system_message, run.text))
        return request.override(messages=place(request.messages, as_human(run.text), run.anchor))

    def _run(self, state: AgentState[Any]) -> Run | None:
        return self._runs.get(_tokens(state).get(self.name))

    def _mark(self, state: AgentState[Any], run: Run) -> dict[str, Any]:
        return {_KEY: {**_tokens(state), self.name: run.token}}

    def _guard(self, stage: str, run: Run, scope: RunScope, work: Callable[[Memory], None]) -> None:
        try:
            work(self._memory.open())
        except Exception as error:
            # A memory that fails must not end the conversation, unless that is asked for.
            if self._on_error == "raise":
                raise
            if callable(self._on_error):
                self._on_error(stage, error)
            elif not run.warned:
                run.warned = True
                logger.warning("memory failed at %s in session %r: %s", stage, scope.session_id, _reason(error))


def _tokens(state: AgentState[Any]) -> dict[str, str]:
    return cast("dict[str, Any]", state).get(_KEY) or {}


def _reason(error: Exception) -> str:
    # Errors of our own never hold what was said; others might.
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, LLMSlimError) else name


def _check(name: str, value: object, choices: Sequence[object]) -> None:
    if not any(value is choice or (isinstance(choice, str) and value == choice) for choice in choices):
        raise InvalidValueError(f"{name} is {value!r}; pass one of {', '.join(map(repr, choices))}")
