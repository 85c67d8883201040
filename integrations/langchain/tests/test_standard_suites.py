"""The standard suites of langchain-tests, unmodified, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import pytest_socket
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_llmslim import LLMSlimRetriever, create_recall_tool
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from llmslim_memory import Memory

MEMORY = Memory()
MEMORY.add(
    [{"role": "user", "content": f"My {thing} is red."} for thing in ("bike", "car", "door", "hat", "kite")],
    user_id="ann",
    run_id="s1",
)


@pytest.fixture(autouse=True)
def _no_network() -> Iterator[None]:
    pytest_socket.disable_socket(allow_unix_socket=True)
    yield
    pytest_socket.enable_socket()


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return LLMSlimRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": MEMORY, "user_id": "ann"}

    @property
    def retriever_query_example(self) -> str:
        return "What is red?"


class TestToolUnit(ToolsUnitTests):
    @property
    def tool_constructor(self) -> BaseTool:
        return create_recall_tool(MEMORY, user_id="ann")

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"query": "What is red?"}


class TestToolIntegration(ToolsIntegrationTests):
    @property
    def tool_constructor(self) -> BaseTool:
        return create_recall_tool(MEMORY, user_id="ann")

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"query": "What is red?"}
