"""Whatever the OpenAPI page allows is answered as it says, and nothing makes the server fail."""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from llmslim_memory import Memory
from llmslim_memory.server.app import create_app


@schemathesis.serializer("application/x-ndjson")
def as_lines(context: schemathesis.SerializationContext, value: object) -> bytes:
    return str(value).encode("utf-8", "replace")


app = create_app(Memory(), allowed_hosts=None)
schema = schemathesis.openapi.from_asgi("/openapi.json", app)


# A schema cannot say that a time is one that exists or that one of three ids is needed, so a valid body may be refused.
@schema.parametrize()
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_documented_and_none_is_a_500(case: schemathesis.Case) -> None:
    case.call_and_validate(excluded_checks=[positive_data_acceptance])
