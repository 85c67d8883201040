"""A function-calling model that follows a script and notes what it was shown."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from llama_index.core.base.llms import types
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    TextBlock,
)
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection

Step = str | tuple[str, dict[str, Any]] | Callable[[Sequence[ChatMessage]], str]
"""An answer, a tool to call with its arguments, or a function from what the model sees to an answer."""


class ScriptedLLM(FunctionCallingLLM):
    """Takes one step of its script a call; the last step stays."""

    _steps: list[Step] = PrivateAttr()
    _seen: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

    def __init__(self, *steps: Step) -> None:
        super().__init__()
        self._steps = list(steps)

    @property
    def seen(self) -> list[list[ChatMessage]]:
        """What the model was shown, a list a call."""
        return self._seen

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, is_chat_model=True)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        self._seen.append(copy.deepcopy(list(messages)))
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if isinstance(step, tuple):
            return ChatResponse(message=_call(*step, number=len(self._seen)))
        text = step if isinstance(step, str) else step(messages)
        return ChatResponse(message=ChatMessage(role="assistant", content=text), delta=text)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Iterator[ChatResponse]:
        answer = self.chat(messages, **kwargs)

        def stream() -> Iterator[ChatResponse]:
            yield answer

        return stream()

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self.chat(messages, **kwargs)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> AsyncIterator[ChatResponse]:
        answer = self.chat(messages, **kwargs)

        async def stream() -> AsyncIterator[ChatResponse]:
            yield answer

        return stream()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        answer = self.chat([ChatMessage(role="user", content=prompt)])
        return CompletionResponse(text=answer.message.content or "")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Iterator[CompletionResponse]:
        yield self.complete(prompt)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return self.complete(prompt)

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        answer = self.complete(prompt)

        async def stream() -> AsyncIterator[CompletionResponse]:
            yield answer

        return stream()

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        asked = [] if user_msg is None else [ChatMessage(role="user", content=str(user_msg))]
        return {"messages": [*(chat_history or []), *asked]}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        calls = response.message.additional_kwargs.get("tool_calls", [])
        return [ToolSelection(tool_id=c["id"], tool_name=c["name"], tool_kwargs=c["arguments"]) for c in calls]


def _call(name: str, arguments: dict[str, Any], *, number: int) -> ChatMessage:
    call = {"id": f"call-{number}", "name": name, "arguments": arguments}
    blocks: list[Any] = [TextBlock(text="")]
    if hasattr(types, "ToolCallBlock"):
        blocks = [types.ToolCallBlock(tool_call_id=call["id"], tool_name=name, tool_kwargs=arguments)]
    return ChatMessage(role="assistant", blocks=blocks, additional_kwargs={"tool_calls": [call]})
