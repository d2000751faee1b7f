"""What a request says of its client, for ledger and log.

The program is named by its User-Agent: an agent, an SDK, or what it calls itself. Requests of an
agent also name its session, which `affinity: agent` keeps at one target.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Any, NamedTuple

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange
from engine.values.redaction import redact_tokens
from engine.values.trees import Json


class ClientProgram(NamedTuple):
    """A program and its version, "" for what the request does not say. Both have only letters,
    digits and `._+-`, at most 40 and 32 of them; `text` is both: `claude/2.1.332`."""

    name: str = ""
    version: str = ""
    text: str = ""


CLIENTS = (
    # As recorded: claude-cli/2.1.332, codex_exec/0.171.0 (codex_cli_rs and codex_vscode are its
    # other faces), GeminiCLI-tui/0.61.0/MODEL, opencode/1.18.33, QwenCode/0.24.4,
    # kimi-code-cli/2.1.0. The names are those of `modelway connect`.
    (r"claude-(?:cli|code)/(?P<version>\S+)", "claude"),
    (r"codex[_-][a-z_-]+/(?P<version>\S+)", "codex"),
    (r"GeminiCLI[\w-]*/(?P<version>[^\s/]+)", "gemini"),
    (r"opencode/(?P<version>\S+)", "opencode"),
    (r"QwenCode[\w-]*/(?P<version>[^\s/]+)", "qwen"),
    (r"(?:kimi-code-cli|KimiCLI)/(?P<version>\S+)", "kimi"),
    # SDKs, also below other agents: OpenAI/JS of Copilot CLI, ai-sdk/openai-compatible of Cline.
    (r"(?:Async)?OpenAI/Python (?P<version>\S+)", "openai-python"),
    (r"OpenAI/JS (?P<version>\S+)", "openai-js"),
    (r"(?:Async)?Anthropic\w*/Python (?P<version>\S+)", "anthropic-python"),
    (r"Anthropic\w*/JS (?P<version>\S+)", "anthropic-js"),
    (r"google-genai-sdk/(?P<version>\S+).* gl-python/", "google-genai-python"),
    (r"google-genai-sdk/(?P<version>\S+).* gl-node/", "google-genai-js"),
    (r"ai-sdk/[\w-]+/(?P<version>\S+)", "ai-sdk"),
    (r"litellm/(?P<version>\S+)", "litellm"),
    (r"Mozilla/(?P<version>)", "browser"),
)
"""Patterns of the beginning of a User-Agent, and the name of the program. Any other has the name of
its first product (RFC 9110 10.1.5) in lower case."""

_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), name) for pattern, name in CLIENTS)
_PRODUCT = re.compile(r"(?P<name>[\w.+-]+)(?:/(?P<version>[^\s/;,()]+))?", re.ASCII)
_OTHER = re.compile(r"[^A-Za-z0-9._+-]+")
_MAX_HEADER, _MAX_NAME, _MAX_VERSION = 200, 40, 32


def client_of(exchange: Exchange) -> ClientProgram:
    """The program of an exchange, by the first 200 characters of its User-Agent, or by what the
    message of MCP says that calls it; of a token of the gateway there, only that it is one."""
    mcp = exchange.record.mcp
    text = exchange.environ.get("HTTP_USER_AGENT", "") if mcp is None else mcp.client
    return _client_of(text[:_MAX_HEADER])


@lru_cache(maxsize=1024)
def _client_of(header: str) -> ClientProgram:
    header = redact_tokens(header.strip())
    for pattern, name in _PATTERNS:
        if match := pattern.match(header):
            return _program(name, match["version"])
    product = _PRODUCT.match(header)
    if product is None:
        return ClientProgram()
    return _program(product["name"].lower(), product["version"] or "")


def _program(name: str, version: str) -> ClientProgram:
    name = _OTHER.sub("", name)[:_MAX_NAME]
    version = _OTHER.sub("", version)[:_MAX_VERSION]
    return ClientProgram(name, version, f"{name}/{version}" if version else name)


SESSION_HEADERS = {
    # As recorded: claude-cli 2.1.332, codex_exec 0.171.0, opencode 1.18.33. The last is also what
    # plug-ins and scripts send, and the playground.
    "x-claude-code-session-id": "Claude Code",
    "session-id": "Codex",
    "x-session-affinity": "opencode",
    "x-session-id": "opencode",
}
"""The headers in which agents name their session."""

_HEADERS = tuple(map(environ_key, SESSION_HEADERS))
_ANY_HEADER = frozenset(_HEADERS)
_ANY_MEMBER = frozenset({"prompt_cache_key", "user", "metadata"})
_MAX_TEXT, _MAX_START = 200, 180
"""Characters of a session's text, and those that are left of a longer one before its digest."""


def session_key(exchange: Exchange) -> str:
    """The session that a request names: in a header, as `prompt_cache_key`, `user` or
    `metadata.user_id`; "" without any. It is what the caller sent, of any length."""
    environ = exchange.environ
    if environ.keys() & _ANY_HEADER:
        for header in _HEADERS:
            if value := environ.get(header):
                return str(value)
    body = exchange.content.value
    return _in_body(body) if isinstance(body, dict) and body.keys() & _ANY_MEMBER else ""


def _in_body(body: Json) -> str:
    if value := _text(body.get("prompt_cache_key")) or _text(body.get("user")):
        return value
    metadata = body.get("metadata")
    return _text(metadata.get("user_id")) if isinstance(metadata, dict) else ""


def session_of(exchange: Exchange) -> str:
    """The `session_key` for people and tables: at most 200 printable characters on one line, and no
    token of the gateway. Two sessions whose keys differ have different texts."""
    record = exchange.record
    session = record.session
    if session is None:
        key = session_key(exchange)
        session = record.session = _cleaned(key) if key else ""
    return session


def _cleaned(key: str) -> str:
    text = redact_tokens(_shortened(key, key))
    if text.isprintable():
        return text
    return _shortened(text.encode("unicode_escape").decode("ascii"), key)


def _shortened(text: str, key: str) -> str:
    """The text, or its start and a digest of the key."""
    if len(text) <= _MAX_TEXT:
        return text
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{text[:_MAX_START]}~{digest}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
