"""The session that a request names, for the ledger and the log: bounded, printable, no token."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.agent_session import SESSION_HEADERS, session_key, session_of
from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import MISSING, Exchange
from tests.support.each import each
from tests.support.exchanges import new_exchange

TOKEN = "mw-" + "0123456789abcdef" * 4


def request(body: Any = MISSING, **headers: str) -> Exchange:
    environ = {environ_key(name.replace("_", "-")): value for name, value in headers.items()}
    return new_exchange(value=body, environ=environ)


@each("name", list(SESSION_HEADERS))
def test_a_header_names_the_session(name: str) -> None:
    body = {"prompt_cache_key": "other"}
    assert session_of(request(body, **{name.replace("-", "_"): "s1"})) == "s1"


@each(
    ("body", "session"),
    [
        ({"prompt_cache_key": "a", "user": "b"}, "a"),
        ({"user": "b", "metadata": {"user_id": "c"}}, "b"),
        ({"metadata": {"user_id": "c"}}, "c"),
        ({"prompt_cache_key": None, "user": 5, "metadata": []}, ""),
        ({"input": "The prompt is no session"}, ""),
        ([], ""),
        (MISSING, ""),
    ],
)
def test_a_member_of_the_body_names_it_without_a_header(body: Any, session: str) -> None:
    assert session_of(request(body)) == session_key(request(body)) == session


@each(
    ("key", "session"),
    [
        ("\x1b[2Jx", "\\x1b[2Jx"),
        ("two\r\nlines", "two\\r\\nlines"),
        ("right\u202eto left", "right\\u202eto left"),
        ("half \ud800", "half \\ud800"),
        (f"id {TOKEN}", "id mw-***"),
        ("M\u00fcller", "M\u00fcller"),
    ],
)
def test_what_could_harm_a_table_or_a_terminal_is_escaped(key: str, session: str) -> None:
    assert session_of(request({"user": key})) == session


@given(st.text(max_size=2000))
def test_any_session_is_short_and_on_one_line(key: str) -> None:
    session = session_of(request({"user": key}))
    assert len(session) <= 200
    assert session.isprintable()


def test_long_sessions_stay_apart() -> None:
    one, other = (session_of(request({"user": "a" * 5000 + end})) for end in "xy")
    assert one != other
    assert one == session_of(request({"user": "a" * 5000 + "x"}))
