"""Serves ``import mem0`` of other people's code from this package."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_PACKAGE = __name__.rpartition(".")[0]
_SERVED = (
    "client.main",
    "client.types",
    "client.utils",
    "configs.base",
    "configs.enums",
    "embeddings.configs",
    "exceptions",
    "llms.configs",
    "memory.main",
    "vector_stores.configs",
)


class _Refusal(MetaPathFinder):
    """Says of every other module of Mem0's why it is not there."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the signature of the import system
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Nothing, for the import system to go on; an error for a part of Mem0 that is not served."""
        if not fullname.startswith("mem0."):
            return None
        raise ModuleNotFoundError(
            f"{fullname} is not there: llmslim_memory.mem0 stands in for mem0 in this process, and serves of it "
            f"{', '.join(_SERVED)}; all else calls a model or Mem0's service",
            name=fullname,
        )


def install() -> None:
    """Let ``import mem0`` of other people's code find this package, in this process.

    Call it before anything imports Mem0 itself. Parts of Mem0 that call a model or its service are not there, and an
    import of one says so.

    Raises:
        RuntimeError: Mem0 is loaded already.
    """
    loaded = sys.modules.get("mem0")
    if loaded is sys.modules[_PACKAGE]:
        return
    if loaded is not None:
        raise RuntimeError("mem0 is loaded already: call llmslim_memory.mem0.install() before it is imported")
    sys.modules["mem0"] = sys.modules[_PACKAGE]
    for name in _SERVED:
        module = importlib.import_module(f"{_PACKAGE}.{name}")
        sys.modules[f"mem0.{name}"] = module
        if package := name.rpartition(".")[0]:
            sys.modules[f"mem0.{package}"] = sys.modules[f"{_PACKAGE}.{package}"]
    sys.meta_path.insert(0, _Refusal())
