"""Option objects that `MemoryClient`'s methods take instead of keyword arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Options:
    """Settings of one call; whatever is set is passed on as a keyword argument."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """What is set."""
        return {name: value for name, value in vars(self).items() if value is not None}


class AddMemoryOptions(Options):
    """Settings of ``add``."""


class SearchMemoryOptions(Options):
    """Settings of ``search``."""


class GetAllMemoryOptions(Options):
    """Settings of ``get_all``."""


class UpdateMemoryOptions(Options):
    """Settings of ``update``."""


class DeleteAllMemoryOptions(Options):
    """Settings of ``delete_all``."""


class ProjectUpdateOptions(Options):
    """Settings of a project of Mem0's service; there is none here."""


def as_arguments(options: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An options object and keyword arguments as one; keyword arguments go over."""
    if options is None:
        return dict(arguments)
    given = options if isinstance(options, Mapping) else options.model_dump(exclude_none=True)
    return {**given, **arguments}
