"""A token opens the memory of the users it was made for, whatever they are called."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmslim_memory.errors import InvalidValueError
from llmslim_memory.server.auth import TokenTable, new_token, token_line


@pytest.mark.parametrize("user", ["*", "ann,ben", "ann;", "ann #1", "#ann", " ann", "ann\n", "ann\u2028ben", "a\rb"])
def test_a_token_is_not_made_for_a_user_whose_name_would_be_read_as_another(user: str) -> None:
    with pytest.raises(InvalidValueError, match="cannot stand in a tokens file"):
        token_line(new_token(), [user])


def test_a_number_sign_within_a_name_is_no_comment() -> None:
    token = new_token()
    caller = TokenTable.parse(f"# who may ask\n{token_line(token, ['ann#1'])} # Ann's second").find(token)
    assert caller is not None
    assert caller.users == frozenset({"ann#1"})


@given(users=st.lists(st.text(max_size=6), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_a_token_opens_exactly_the_users_it_was_made_for_or_is_not_made(users: list[str]) -> None:
    token = new_token()
    try:
        line = token_line(token, users)
    except InvalidValueError:
        return
    for text in (line, f"{line} # a note", f"{line};"[:-1]):
        caller = TokenTable.parse(text).find(token)
        assert caller is not None
        assert caller.users == frozenset(users)
