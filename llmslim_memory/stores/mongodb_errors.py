"""PyMongo's errors as the library's own, without host, user, password or the driver's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pymongo.errors as driver
from bson.errors import BSONError

from llmslim_memory.errors import (
    InvalidValueError,
    LLMSlimError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)

UNREACHABLE = "the MongoDB server cannot be reached: check that it runs and accepts connections, then try again"
_TOO_LATE = "MongoDB did not answer in time: try again, or raise the timeouts in the URL"
_CONFLICT = "another writer got in the way; nothing was stored: try again"

_UNAVAILABLE_CODES = {112: _CONFLICT, 251: _CONFLICT, 50: _TOO_LATE, 64: _TOO_LATE, 262: _TOO_LATE}
_OTHER_CODES: dict[int, tuple[type[LLMSlimError], str]] = {
    13: (StoreError, "the user may not do this: grant it what docs/stores.md lists"),
    18: (StoreError, "MongoDB refused the user name or password"),
    8000: (StoreError, "MongoDB refused the user name or password"),
    14031: (StoreFullError, "the MongoDB server's disk is full: make room, then try again"),
    10334: (InvalidValueError, "a turn or record is larger than the 16 MB that MongoDB allows"),
}


@contextmanager
def translated() -> Iterator[None]:
    """Raise what PyMongo raises inside as one of the library's errors, the driver's attached as the cause."""
    try:
        yield
    except (BSONError, UnicodeEncodeError, OverflowError) as error:
        raise InvalidValueError("MongoDB cannot store a value of this call: replace lone surrogates") from error
    except driver.PyMongoError as error:
        raise translate(error) from error


def translate(error: driver.PyMongoError) -> LLMSlimError:
    """The library's error for one of PyMongo's."""
    code = _code_of(error)
    if code in _OTHER_CODES:
        kind, message = _OTHER_CODES[code]
        return kind(message)
    if isinstance(error, driver.DocumentTooLarge):
        return InvalidValueError("a turn or record is larger than the 16 MB that MongoDB allows")
    if isinstance(error, driver.WaitQueueTimeoutError):
        return StoreUnavailableError(
            "all connections of the pool are busy: raise maxPoolSize in the URL, or call from fewer threads"
        )
    if isinstance(error, driver.InvalidOperation) and "close" in str(error):
        return StoreClosedError("the MongoDB client was closed")
    if is_temporary(error):
        too_late = error.timeout and not isinstance(error, driver.ServerSelectionTimeoutError)
        return StoreUnavailableError(_UNAVAILABLE_CODES.get(code, _TOO_LATE if too_late else UNREACHABLE))
    return StoreError(f"MongoDB refused the operation ({code or type(error).__name__})")


def is_temporary(error: driver.PyMongoError) -> bool:
    """Whether trying again may help, which is also when it is unknown what became of a write."""
    return (
        isinstance(error, driver.ConnectionFailure)
        or error.timeout
        or _code_of(error) in _UNAVAILABLE_CODES
        or error.has_error_label("TransientTransactionError")
        or error.has_error_label("UnknownTransactionCommitResult")
        or error.has_error_label("RetryableWriteError")
    )


def _code_of(error: driver.PyMongoError) -> int:
    """The server's number for what went wrong, 0 where it gave none."""
    if isinstance(error, driver.BulkWriteError):
        failures = [*error.details.get("writeErrors", []), *error.details.get("writeConcernErrors", [])]
        return int(failures[0].get("code", 0)) if failures else 0
    return int(getattr(error, "code", None) or 0)
