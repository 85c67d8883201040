"""Mem0's exceptions by their names, each of ours as well, so that callers of either can catch them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmslim_memory.errors import LLMSlimError


class MemoryError(LLMSlimError):  # noqa: A001 - Mem0's name for it
    """Root of Mem0's exceptions: a message, a code, and what to do about it."""

    def __init__(
        self,
        message: str,
        error_code: str = "MEMORY_ERROR",
        details: Mapping[str, Any] | None = None,
        suggestion: str | None = None,
        debug_info: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.error_code = error_code
        self.details = dict(details or {})
        self.suggestion = suggestion
        self.debug_info = dict(debug_info or {})


class ValidationError(MemoryError, ValueError):
    """An argument cannot be used. A ``ValueError`` too, which Mem0's is not."""


class AuthenticationError(MemoryError):
    """Never raised here: there is no key to be wrong."""


class RateLimitError(MemoryError):
    """Never raised here: nothing is metered."""


class MemoryNotFoundError(MemoryError, ValueError):
    """There is no memory with this id."""


class NetworkError(MemoryError):
    """Never raised here: nothing leaves the machine."""


class ConfigurationError(MemoryError, ValueError):
    """A configuration cannot be used."""


class MemoryQuotaExceededError(MemoryError):
    """Never raised here: there is no quota."""


class MemoryCorruptionError(MemoryError):
    """Never raised here; a damaged database raises ``StoreError``."""


class VectorSearchError(MemoryError):
    """Never raised here: there are no vectors."""


class CacheError(MemoryError):
    """Never raised here."""


class VectorStoreError(MemoryError):
    """Never raised here: there is no vector store."""


class EmbeddingError(MemoryError):
    """Never raised here: nothing is embedded."""


class LLMError(MemoryError):
    """Never raised here: no model is called."""


class DatabaseError(MemoryError):
    """Never raised here; the stores raise ``StoreError``."""


class DependencyError(MemoryError):
    """Never raised here; a missing extra raises ``MissingExtraError``."""


class GraphStoreError(MemoryError):
    """Never raised here: there is no graph."""


class UnsupportedFeatureError(MemoryError, NotImplementedError, ValueError):
    """Something that needs a model or Mem0's service, and so does not exist here."""


HTTP_STATUS_TO_EXCEPTION: Mapping[int, type[MemoryError]] = {
    400: ValidationError,
    401: AuthenticationError,
    403: AuthenticationError,
    404: MemoryNotFoundError,
    408: NetworkError,
    409: ValidationError,
    413: MemoryQuotaExceededError,
    422: ValidationError,
    429: RateLimitError,
    500: MemoryError,
    502: NetworkError,
    503: NetworkError,
    504: NetworkError,
}
"""The class that stands for each status of an HTTP answer."""


def create_exception_from_response(
    status_code: int,
    response_text: str,
    error_code: str | None = None,
    details: Mapping[str, Any] | None = None,
    debug_info: Mapping[str, Any] | None = None,
) -> MemoryError:
    """The exception that stands for an HTTP answer, for programs that speak to Mem0's service themselves."""
    kind = HTTP_STATUS_TO_EXCEPTION.get(status_code, MemoryError)
    message = response_text or f"HTTP status {status_code}"
    return kind(message, error_code or f"HTTP_{status_code}", details, debug_info=debug_info)
