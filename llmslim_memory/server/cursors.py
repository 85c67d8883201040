"""Cursors that tell a client nothing: sealed, so that a place in the store shows no count of other people's turns."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import secrets
from collections.abc import Sequence
from hashlib import blake2b

from llmslim_memory.errors import InvalidValueError

_NONCE = 12
_TAG = 16
_BLOCK = 64


def new_key() -> bytes:
    """A key for cursors, which end with the process."""
    return secrets.token_bytes(32)


def seal(key: bytes, place: str, bound_to: Sequence[str | None]) -> str:
    """``place`` as opaque text that only :func:`unseal` with the same key and binding can read."""
    nonce = secrets.token_bytes(_NONCE)
    plain = place.encode()
    padded = len(plain).to_bytes(2, "big") + plain
    padded += bytes(-len(padded) % _BLOCK)
    hidden = _mask(key, nonce, padded)
    return base64.urlsafe_b64encode(nonce + hidden + _tag(key, nonce + hidden, bound_to)).decode().rstrip("=")


def unseal(key: bytes, cursor: str, bound_to: Sequence[str | None]) -> str:
    """The place that :func:`seal` hid.

    Raises:
        ValueError: It was not sealed here, or for another listing.
    """
    try:
        raw = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
    except (ValueError, binascii.Error):
        raw = b""
    sealed, tag = raw[:-_TAG], raw[-_TAG:]
    if len(sealed) <= _NONCE or not hmac.compare_digest(tag, _tag(key, sealed, bound_to)):
        raise InvalidValueError("the cursor is not one that this listing gave: begin again without a cursor")
    padded = _mask(key, sealed[:_NONCE], sealed[_NONCE:])
    return padded[2 : 2 + int.from_bytes(padded[:2], "big")].decode()


def _mask(key: bytes, nonce: bytes, data: bytes) -> bytes:
    stream = b"".join(
        blake2b(nonce + block.to_bytes(4, "big"), key=key, person=b"cursor-mask").digest()
        for block in range(len(data) // _BLOCK)
    )
    return bytes(a ^ b for a, b in zip(data, stream, strict=True))


def _tag(key: bytes, data: bytes, bound_to: Sequence[str | None]) -> bytes:
    named = json.dumps(list(bound_to)).encode()
    return blake2b(data + blake2b(named).digest(), key=key, digest_size=_TAG, person=b"cursor-tag").digest()
