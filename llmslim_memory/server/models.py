"""Bodies of requests and answers, as the OpenAPI page shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Id = Annotated[str, Field(min_length=1, max_length=512)]
MAX_BUDGET = 10_000_000


class _Strict(BaseModel):
    # Strict: a number is not taken for text nor a 1 for true, so that a mistake is told instead of guessed at.
    model_config = ConfigDict(extra="forbid", strict=True)


class ScopeIn(_Strict):
    """Whose memory: at least one of the three."""

    user_id: Id | None = None
    agent_id: Id | None = None
    run_id: Id | None = None


class MessageIn(BaseModel):
    """A message as chat APIs write it; keys that are not listed are ignored."""

    model_config = ConfigDict(strict=True)
    role: str = Field(examples=["user"])
    content: str | list[Any] | None = Field(examples=["I moved to Pune last month."])
    timestamp: str | float | None = Field(
        None, description="ISO-8601 text or epoch seconds", examples=["2026-03-01T09:00:00Z"]
    )
    id: Id | None = Field(None, description="your own id: the same message is stored once")
    metadata: dict[str, Any] | None = None
    tool_calls: list[Any] | None = None


class AddIn(ScopeIn):
    """Messages to store, all of them or none."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"messages": [{"role": "user", "content": "I moved to Pune."}], "user_id": "asha"}]
        },
    )
    messages: list[MessageIn] | MessageIn
    timestamp: str | float | None = None
    metadata: dict[str, Any] | None = None
    on_conflict: Literal["error", "keep", "update"] = "error"


class TurnOut(BaseModel):
    """A stored turn."""

    id: str
    role: str
    content: str
    created_at: str
    updated_at: str | None
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    metadata: dict[str, Any]


class TurnsOut(BaseModel):
    """Stored turns, in the order they were added."""

    items: list[TurnOut]


class PageOut(TurnsOut):
    """A page of turns; pass ``next_cursor`` as ``cursor`` to go on, null at the end."""

    next_cursor: str | None


class UpdateIn(_Strict):
    """New content, new metadata, or both."""

    content: str | None = None
    metadata: dict[str, Any] | None = None


class DeletedOut(BaseModel):
    """How many turns were deleted."""

    deleted: int


class SearchIn(ScopeIn):
    """A question and the tokens that the answer may take."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "Where do I live now?", "user_id": "asha", "budget": 500}]},
    )
    query: str
    budget: int | None = Field(None, ge=1, le=MAX_BUDGET)
    k: int | None = Field(None, ge=1, le=MAX_BUDGET)
    relevance: Literal["lexical", "semantic"] | None = None
    since: str | float | None = None
    until: str | float | None = None
    now: str | float | None = None
    standing_requests: bool | None = None
    coverage: Literal["auto", "always", "never"] | None = None
    preferences: bool | None = None
    conflicts: bool | None = None
    explain: bool = False
    exclude: list[str] = Field(default_factory=list, max_length=10_000)
    exclude_runs: list[str] = Field(default_factory=list, max_length=10_000)
    format: Literal["text", "enveloped"] = Field(
        "text", description="enveloped: wrapped as untrusted data, ready for a prompt"
    )


class RecalledOut(BaseModel):
    """A turn that the text shows."""

    item: TurnOut
    score: float
    partial: bool


class ContextOut(BaseModel):
    """The part of the history that answers the question, and what is in it."""

    query: str
    text: str
    format: str
    turns: list[RecalledOut]
    requests: list[RecalledOut]
    preferences: list[RecalledOut]
    conflicts: list[RecalledOut]
    tokens: int
    budget: int
    history_tokens: int
    sessions_total: int
    sessions_kept: int
    elapsed_ms: float
    found: bool
    compressed: bool
    mode: str
    counter: str
    explanation: dict[str, Any] | None


class SessionOut(BaseModel):
    """One combination of ids in use."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None
    turns: int
    first: str
    last: str


class ScopesOut(BaseModel):
    """What there is to choose from."""

    scopes: list[SessionOut]


class ProblemOut(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(examples=["store_unavailable"])
    title: str
    status: int
    detail: str


class HealthOut(BaseModel):
    """Whether the server is up."""

    status: str


class ImportOut(BaseModel):
    """What an import did; every record seen was imported, a duplicate, skipped for a reason, or malformed."""

    model_config = ConfigDict(extra="allow")

    imported: int
    duplicates: int
    malformed: int
    skipped: dict[str, int]
    redactions: dict[str, int]
    errors: list[str]
