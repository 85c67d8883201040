"""Bearer tokens: kept as hashes, compared in constant time, each bound to some users or to all."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from llmslim_memory.errors import InvalidValueError
from llmslim_memory.types import check_id

EVERYONE = "*"
# In a tokens file these end a name or stand for all; a name with one of them in it would open someone else's memory.
_UNNAMEABLE = re.compile(r"[,;\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|\s#|^[\s#]|\s$|^\*$")
_COMMENT = re.compile(r"(?:^|\s)#.*")
UNAUTHORIZED = "pass a valid token: Authorization: Bearer <token>"


class ForbiddenError(Exception):
    """The caller's token does not cover the user that the request names."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the users whose memory they may use, ``None`` for all."""

    users: frozenset[str] | None = None

    def user(self, user_id: str | None) -> str | None:
        """The user that a request is about: the one named, or the caller's only one.

        Raises:
            ForbiddenError: The caller may not use this user's memory.
            ValueError: No user is named and the caller has several.
        """
        if self.users is None:
            return user_id
        if user_id is None and len(self.users) == 1:
            return next(iter(self.users))
        if user_id is None:
            raise InvalidValueError("user_id is missing: name the user, as this token is bound to several")
        if user_id not in self.users:
            raise ForbiddenError
        return user_id

    def may_see(self, user_id: str | None) -> bool:
        """Whether turns stored under ``user_id`` are the caller's to see."""
        return self.users is None or user_id in self.users


def new_token() -> str:
    """A fresh token of 256 random bits."""
    return f"llm_{secrets.token_urlsafe(32)}"


def token_line(token: str, users: Sequence[str]) -> str:
    """The line that lets ``token`` use the memory of ``users`` (none: everyone's), for a tokens file.

    Raises:
        ValueError: A user's id cannot be written in such a line.
    """
    for user in users:
        if _UNNAMEABLE.search(check_id("user", user)):
            raise InvalidValueError(
                f"user {user!r} cannot stand in a tokens file: commas, semicolons, line breaks, blanks around it, '#' "
                f"after a blank and the name {EVERYONE!r} alone have a meaning there"
            )
    return f"{_digest(token).hex()} {','.join(users) or EVERYONE}"


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The tokens that open the server, as SHA-256 hashes of 256-bit secrets, and whom each is for."""

    entries: tuple[tuple[bytes, Caller], ...]

    @classmethod
    def parse(cls, text: str) -> TokenTable:
        """Read lines of the form ``<sha256 in hex> <user>[,<user>...]`` or ``<sha256 in hex> *``.

        A number sign begins a comment, at the start of a line or after a blank.

        Raises:
            ValueError: A line has another form; the message gives its number, not its text.
        """
        lines = [(number, _COMMENT.sub("", line).strip()) for number, line in enumerate(text.splitlines(), 1)]
        entries = tuple(_entry(number, line) for number, line in lines if line)
        if not entries:
            raise InvalidValueError("there are no tokens: add a line of the form '<sha256 in hex> <user or *>'")
        return cls(entries)

    def bearer(self, header: str) -> Caller | None:
        """Who sends this Authorization header, or ``None``."""
        scheme, _, token = header.partition(" ")
        return self.find(token.strip()) if scheme.lower() == "bearer" else None

    def find(self, token: str) -> Caller | None:
        """Who holds this token, or ``None``; every entry is compared, in constant time."""
        digest = _digest(token)
        found: Caller | None = None
        for known, caller in self.entries:
            if hmac.compare_digest(known, digest):
                found = caller
        return found


def _entry(number: int, line: str) -> tuple[bytes, Caller]:
    digest, _, users = line.partition(" ")
    names = [name.strip() for name in users.split(",") if name.strip()]
    try:
        known = bytes.fromhex(digest)
    except ValueError:
        known = b""
    if len(known) != sha256().digest_size or not names:
        raise InvalidValueError(f"tokens, line {number}: the form is '<sha256 in hex> <user>[,<user>...]' or '... *'")
    if names == [EVERYONE]:
        return known, Caller(None)
    return known, Caller(frozenset(check_id("user", name) for name in names))
