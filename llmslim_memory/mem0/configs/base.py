"""`MemoryConfig`: takes whatever a program sets, and keeps it for programs that read it back."""

from __future__ import annotations

from typing import Any


class MemoryConfig:
    """Settings of a memory as Mem0 names them. Only those that say where turns live have an effect here."""

    def __init__(self, **settings: Any) -> None:
        self.version = "v1.1"
        self.custom_instructions: str | None = None
        self.__dict__.update(settings)

    def __getattr__(self, name: str) -> Any:
        # Programs look at settings that they never made; Mem0 has defaults for all of them.
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def __repr__(self) -> str:
        return f"MemoryConfig({', '.join(sorted(self.__dict__))})"
