"""`MemoryConfig` and its parts: they take whatever a program sets, and keep it for programs that read it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Settings:
    """Named settings as attributes. One that was never made reads as ``None``, where Mem0 has a default of its own."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(sorted(self.__dict__))})"

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """All settings, those within settings too."""
        return {name: _plain(value) for name, value in vars(self).items()}

    def dict(self, **_: Any) -> dict[str, Any]:
        """All settings, by the name that older releases gave this."""
        return self.model_dump()


class Provider(Settings):
    """A provider's name and its settings."""

    def __init__(self, provider: str | None = None, config: Any = None, **settings: Any) -> None:
        plain = Settings(**config) if isinstance(config, Mapping) else config
        super().__init__(provider=provider, config=Settings() if plain is None else plain, **settings)


class VectorStoreConfig(Provider):
    """Where vectors would live; ``path`` and ``collection_name`` say where turns do."""


class EmbedderConfig(Provider):
    """What would embed texts; nothing does."""


class LlmConfig(Provider):
    """Which model would be called; none is."""


class MemoryItem(Settings):
    """One memory, as programs that build their own name it."""


class MemoryConfig(Settings):
    """Settings of a memory as Mem0 names them. Only those that say where turns live have an effect here."""

    def __init__(self, **settings: Any) -> None:
        parts = {"vector_store": VectorStoreConfig(), "embedder": EmbedderConfig(), "llm": LlmConfig()}
        super().__init__(**{"version": "v1.1", "custom_instructions": None} | parts | settings)


def _plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, Settings) else value
