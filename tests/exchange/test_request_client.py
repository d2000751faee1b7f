"""What a request says of its client: the program, and the session of an agent."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.config import agents
from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.request_client import (
    CLIENTS,
    SESSION_HEADERS,
    ClientProgram,
    client_of,
    session_key,
    session_of,
)
from tests.support.each import each
from tests.support.exchanges import new_exchange

TOKEN = "mw-" + "0123456789abcdef" * 4


def client(header: str) -> ClientProgram:
    return client_of(new_exchange(environ={"HTTP_USER_AGENT": header}))


@each(
    ("header", "program"),
    [
        ("claude-cli/2.1.332 (external, cli)", "claude/2.1.332"),
        ("codex_exec/0.171.0 (Debian 13.0.0; x86_64) xterm", "codex/0.171.0"),
        ("codex_cli_rs/0.171.0 (Mac OS 26)", "codex/0.171.0"),
        ("GeminiCLI-tui/0.61.0/gemini-2.5-pro (linux; x64; terminal)", "gemini/0.61.0"),
        ("opencode/1.18.33 ai-sdk/provider-utils/4.0.1", "opencode/1.18.33"),
        ("QwenCode/0.24.4 (linux; x64)", "qwen/0.24.4"),
        ("kimi-code-cli/2.1.0", "kimi/2.1.0"),
        ("OpenAI/JS 6.49.0", "openai-js/6.49.0"),
        ("OpenAI/Python 3.52.0", "openai-python/3.52.0"),
        ("AsyncOpenAI/Python 3.52.0", "openai-python/3.52.0"),
        ("Anthropic/JS 1.12.0", "anthropic-js/1.12.0"),
        ("Anthropic/Python 2.11.0", "anthropic-python/2.11.0"),
        ("google-genai-sdk/3.4.0 gl-python/3.11.7", "google-genai-python/3.4.0"),
        ("google-genai-sdk/2.32.0 gl-node/v20.20.2", "google-genai-js/2.32.0"),
        ("ai-sdk/openai-compatible/2.0.1 ai-sdk/provider-utils/4.0.1", "ai-sdk/2.0.1"),
        ("Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0", "browser"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("cohere/7.3.1", "cohere/7.3.1"),
        ("My-Script", "my-script"),
        ("python-requests/2.32.5 extra/1", "python-requests/2.32.5"),
        ("", ""),
        ("(no product)", ""),
        ("\x1b[2J\x1b]0;owned\x07", ""),
        ("=cmd|' /C calc'!A0", ""),
        ("<script>alert(1)</script>", ""),
        ("evil/1.0\x1b[31m", "evil/1.031m"),
        ("a" * 500 + "/1", "a" * 40),
        ("a/" + "9" * 500, "a/" + "9" * 32),
        ("mw-" + "Ab1" * 12, "mw-"),
        ("OpenAI/Python mw-" + "Ab1" * 12, "openai-python/mw-"),
    ],
)
def test_the_table_names_programs_and_others_name_themselves(header: str, program: str) -> None:
    assert client(header).text == program


def test_a_request_may_have_no_program() -> None:
    assert client_of(new_exchange()) == ClientProgram("", "")


def test_an_agent_has_the_name_that_connects_it() -> None:
    programs = {"claude", "codex", "gemini", "opencode", "qwen", "kimi", "ai-sdk", "litellm"}
    assert programs <= {name for _, name in CLIENTS} & set(agents.names())


@given(st.text(max_size=400))
def test_no_header_gives_a_name_that_is_long_or_not_plain(header: str) -> None:
    program = client(header)
    assert len(program.name) <= 40
    assert len(program.version) <= 32
    assert set(program.name + program.version) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-"
    )


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
