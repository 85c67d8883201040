"""Reads pickles of plain data from untrusted files: nothing is imported, nothing is called, nothing can run."""

from __future__ import annotations

import io
import pickle
import pickletools
from typing import Any

# Opcodes that build plain values and instances of qdrant's models, which are read as plain values too. Not among them:
# whatever looks a class up in a registry, loads a persistent object, or hands over a buffer.
_ALLOWED = frozenset(
    """
    PROTO FRAME STOP MARK POP POP_MARK MEMOIZE BINPUT LONG_BINPUT PUT BINGET LONG_BINGET GET NONE NEWTRUE NEWFALSE
    INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8
    STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 EMPTY_LIST APPEND APPENDS LIST EMPTY_TUPLE
    TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_DICT SETITEM SETITEMS DICT EMPTY_SET ADDITEMS FROZENSET GLOBAL STACK_GLOBAL
    NEWOBJ BUILD REDUCE
    """.split()  # noqa: SIM905  # a word list reads better
)
_MEMO = frozenset({"BINPUT", "LONG_BINPUT", "PUT"})
_MODELS = "qdrant_client."
_MAX_LONG = 64
_MAX_DEPTH = 64


class Stub:
    """Stands for an instance of a class of qdrant's: its state, and no behaviour."""

    state: Any = None

    def __new__(cls, *_: object) -> Stub:  # noqa: D102
        return object.__new__(cls)

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.startswith(_MODELS):
            return Stub
        if module in ("builtins", "__builtin__") and name == "set":
            return set
        raise pickle.UnpicklingError("a class that is no plain data")


def unpickle(data: bytes, *, most: int) -> Any:
    """The plain data in ``data``: dicts with text keys, lists, text, numbers, booleans and ``None``.

    Args:
        data: A pickle.
        most: Values that it may hold, counted each time they are referred to.

    Raises:
        ValueError: It is no pickle, holds more than plain data, too much of it, or nests too deeply.
    """
    try:
        _check_opcodes(data)
        value = _Plain(io.BytesIO(data)).load()
    except (
        ValueError,
        pickle.UnpicklingError,
        EOFError,
        KeyError,
        IndexError,
        TypeError,
        AttributeError,
        OverflowError,
    ) as error:
        raise ValueError("not a pickle of plain data") from error
    return _Copier(most).copy(value, 0)


def _check_opcodes(data: bytes) -> None:
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name not in _ALLOWED:
            raise ValueError(f"the opcode {opcode.name} builds more than plain data")
        # The memo is an array: an index beyond what the pickle can have stored would make it huge.
        if opcode.name in _MEMO and not (isinstance(argument, int) and 0 <= argument <= len(data)):
            raise ValueError("a memo index beyond the pickle")
        if isinstance(argument, int) and argument.bit_length() > _MAX_LONG:
            raise ValueError("an integer beyond 64 bits")


class _Copier:
    """Copies plain values, so that references to one value many times over cannot grow without bound."""

    def __init__(self, most: int) -> None:
        self._left = most

    def copy(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            raise ValueError("more values than a record may hold")
        if value is None or isinstance(value, str | bool | int | float):
            return value
        if isinstance(value, dict):
            return {str(key): self.copy(entry, depth + 1) for key, entry in value.items() if isinstance(key, str | int)}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.copy(entry, depth + 1) for entry in value]
        if isinstance(value, Stub):
            return self.copy(_fields(value.state), depth + 1)
        return None


def _fields(state: Any) -> Any:
    """The fields of a model: pydantic keeps them under ``__dict__`` in the state."""
    return state.get("__dict__", state) if isinstance(state, dict) else None
