"""The package imports with what it needs and names what is missing for the rest."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import langchain_llmslim
import pytest

HIDE = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden!r} or name in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hide())
"""


# What langchain-core imports does this on Python 3.14.
ALLOWED = "ignore:'asyncio.iscoroutinefunction' is deprecated:DeprecationWarning"


def run(code: str, *hidden: str) -> str:
    source = HIDE.format(hidden=set(hidden)) + textwrap.dedent(code)
    command = [sys.executable, "-W", "error", "-W", ALLOWED, "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_public_names_exist() -> None:
    assert set(dir(langchain_llmslim)) == {*langchain_llmslim.__all__, "LLMSlimMemoryMiddleware"}
    assert all(getattr(langchain_llmslim, name) for name in dir(langchain_llmslim))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        langchain_llmslim.Nothing  # noqa: B018


def test_without_langchain_all_but_the_middleware_works_and_it_names_the_package() -> None:
    shown = run(
        """
        from langchain_llmslim import *
        from llmslim_memory import Memory
        memory = Memory()
        history = LLMSlimChatMessageHistory(memory, session_id="s1", user_id="ann")
        history.add_user_message("My bike is red.")
        print(LLMSlimRetriever(memory=memory, user_id="ann").invoke("bike")[0].page_content)
        print("red" in create_recall_tool(memory, user_id="ann").invoke({"query": "bike"}))
        print("red" in memory_context(memory, user_id="ann").invoke("bike"))
        try:
            from langchain_llmslim import LLMSlimMemoryMiddleware
        except ImportError as error:
            print(error)
        """,
        "langchain",
        "langgraph",
    )
    assert shown.splitlines() == [
        "My bike is red.",
        "True",
        "True",
        "LLMSlimMemoryMiddleware needs the package langchain: pip install 'langchain-llmslim[agents]'",
    ]


def test_the_history_works_when_langchain_core_drops_its_base_class() -> None:
    shown = run(
        """
        from langchain_core.messages import AIMessage
        from langchain_llmslim import LLMSlimChatMessageHistory
        from llmslim_memory import Memory
        history = LLMSlimChatMessageHistory(Memory(), session_id="s1")
        history.add_user_message("Hello")
        history.add_ai_message("Hi")
        history.add_message(AIMessage("there"))
        print([message.content for message in history.messages], history.recall("hello")[0].page_content)
        print(type(history).__mro__[1].__name__)
        """,
        "langchain_core.chat_history",
    )
    assert shown.splitlines() == ["['Hello', 'Hi', 'there'] Hello", "object"]


def test_importing_and_making_everything_warns_of_nothing() -> None:
    run(
        """
        from langchain_llmslim import *
        from langchain_llmslim import LLMSlimMemoryMiddleware
        from llmslim_memory import Memory
        memory = Memory()
        LLMSlimMemoryMiddleware(memory)
        LLMSlimChatMessageHistory(memory, session_id="s1").add_user_message("Hello")
        LLMSlimRetriever(memory=memory, user_id="ann")
        create_recall_tool(memory), memory_context(memory)
        """
    )


def test_importing_the_package_does_not_import_langchain() -> None:
    shown = run(
        "import langchain_llmslim, sys; print({'langchain', 'langgraph'} & {n.split('.')[0] for n in sys.modules})"
    )
    assert shown.strip() == "set()"
