"""What is open on a store: copies of whatever holds it share it, and it is not pickled."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from llmslim_memory.errors import InvalidTypeError


class Shared:
    """An object of which there are no copies, since it holds locks and connections."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise InvalidTypeError(f"a {name} is open on its store and cannot be pickled: make one in the other process")
