"""The program of a request, by its User-Agent, whatever that is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.config import agents
from engine.exchange.client_program import CLIENTS, ClientProgram, client_of
from tests.support.each import each
from tests.support.exchanges import new_exchange


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
