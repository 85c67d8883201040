"""What memory does at each point of an agent's run: recall once, store what was said, survive its own failures."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Literal

from langchain_core.messages import BaseMessage

from langchain_llmslim.placing import find_question, find_turn_start
from langchain_llmslim.recall import PLACEHOLDER, check_template, recall_text
from langchain_llmslim.recording import Recorder, last_question
from langchain_llmslim.runs import Run, Runs
from langchain_llmslim.scope import RunScope
from langchain_llmslim.sharing import share
from langchain_llmslim.text import message_text
from llmslim_memory import AsyncMemory, InvalidValueError, LLMSlimError, Memory

logger = logging.getLogger(__name__)

OnError = Literal["warn", "raise"] | Callable[[str, Exception], None]
Exclude = bool | Literal["in_context"]


class AgentMemory:
    """A memory in the service of an agent; the arguments are those of the middleware."""

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        *,
        token_budget: int,
        k: int | None,
        template: str | None,
        recall: bool,
        record: bool,
        record_roles: Collection[str],
        exclude_current_session: Exclude,
        on_error: OnError,
    ) -> None:
        if isinstance(token_budget, bool) or not isinstance(token_budget, int) or token_budget < 0:
            raise InvalidValueError(f"token_budget is {token_budget!r}; pass a whole number, 0 to recall nothing")
        if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
            raise InvalidValueError(f"k is {k!r}; pass a whole number of at least 1, or None for as many as fit")
        check_choice("exclude_current_session", exclude_current_session, (True, False, "in_context"))
        if not callable(on_error):
            check_choice("on_error", on_error, ("warn", "raise"))
        self._memory = share(memory)
        self._recorder = Recorder(record_roles)
        self._runs = Runs()
        self._token_budget = token_budget
        self._k = k
        self._template = PLACEHOLDER if template is None else check_template(template)
        self._recalls = recall
        self._records = record
        self._exclude = exclude_current_session
        self._on_error = on_error

    def known(self, token: str | None) -> Run | None:
        """The run of this token, where this process knows it."""
        return self._runs.get(token)

    def begin(self, messages: Sequence[BaseMessage], scope: RunScope) -> Run:
        """Start a run: store what is new, then recall what answers the question."""
        run = self._runs.start()
        if self._records:
            self._guard("record", run, scope, lambda memory: self._recorder.begin(memory, messages, scope))
        self.recall(run, messages, scope)
        return run

    def resume(self, run: Run | None, messages: Sequence[BaseMessage], scope: RunScope) -> Run:
        """The run to go on with, which knows what was recalled: a new one if it was resumed in another process."""
        run = run or self._runs.start()
        if run.text is None and find_question(messages) is None:
            # A summary has taken the question's place since it was asked.
            self._recall(run, messages, scope, lambda memory: last_question(memory, scope))
        elif run.text is None:
            self.recall(run, messages, scope)
        return run

    def hear(self, run: Run | None, messages: Sequence[BaseMessage], scope: RunScope) -> Run:
        """Store what was said since."""
        run = run or self._runs.start()
        if self._records:
            self._guard("record", run, scope, lambda memory: self._recorder.record(memory, messages, scope))
        return run

    def finish(self, run: Run | None, messages: Sequence[BaseMessage], scope: RunScope) -> None:
        """Store what was said last, and forget the run."""
        self._runs.end(self.hear(run, messages, scope).token)

    def recall(self, run: Run, messages: Sequence[BaseMessage], scope: RunScope) -> None:
        """Recall what answers the last question, leaving out what the model sees anyway."""
        run.text = ""
        question = find_question(messages)
        if question is None:
            return
        start = find_turn_start(messages, question)
        run.anchor = messages[start].id
        seen = messages[start:] if self._exclude is False else messages
        self._recall(run, seen, scope, lambda _: message_text(messages[question]))

    def _recall(self, run: Run, seen: Sequence[BaseMessage], scope: RunScope, ask: Callable[[Memory], str]) -> None:
        run.text = ""
        if not self._recalls:
            return
        runs = [scope.session_id] if self._exclude is True and scope.session_id is not None else []

        def work(memory: Memory) -> None:
            run.text = recall_text(
                memory,
                ask(memory),
                scope.readable(),
                token_budget=self._token_budget,
                k=self._k,
                template=self._template,
                exclude=self._recorder.turn_ids(seen, scope),
                exclude_runs=runs,
            )

        self._guard("recall", run, scope, work)

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


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    if not any(value is choice or (isinstance(choice, str) and value == choice) for choice in choices):
        raise InvalidValueError(f"{name} is {value!r}; pass one of {', '.join(map(repr, choices))}")


def _reason(error: Exception) -> str:
    # Errors of our own never hold what was said; others might.
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, LLMSlimError) else name
