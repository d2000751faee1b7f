"""What the helper process writes."""

from __future__ import annotations

import io
import json
import sys
from types import ModuleType
from typing import Any

import pytest

from engine.credentials.access_tokens.helper import main, run
from engine.credentials.access_tokens.token import CredentialUnavailable, Token

RIDDLE = "engine.credentials.fetchers.riddle"


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A kind of token called `riddle`."""
    module = ModuleType(RIDDLE)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def raising(error: Exception) -> Any:
    def fetch(options: dict[str, Any]) -> None:
        raise error

    return fetch


def failure(kind: ModuleType, error: Exception, **options: str) -> Any:
    kind.__dict__["fetch"] = raising(error)
    return json.loads(run(RIDDLE, options, 5))


@pytest.mark.parametrize(("end", "expires"), [(9.5, 9.5), (None, float("inf"))])
def test_it_writes_a_token(kind: ModuleType, end: float | None, expires: float) -> None:
    kind.__dict__["fetch"] = lambda options: ({"token": options["a"]}, end)
    source, target = io.BytesIO(b'{"a": "b"}'), io.BytesIO()
    main([RIDDLE], source, target)
    token = Token.load(target.getvalue())
    assert (token.values, token.expires) == ({"token": "b"}, expires)
    assert Token.load(run(RIDDLE, {"a": "b"}, 5)).fetched == 5


def test_it_writes_the_failure_if_there_is_no_token(kind: ModuleType) -> None:
    error = CredentialUnavailable("no key", "key.pem", lasting=True)
    assert failure(kind, error) == {"words": "no key", "detail": "key.pem", "lasting": True}


def test_an_unexpected_error_is_named(kind: ModuleType) -> None:
    failed = failure(kind, ZeroDivisionError("by\nzero"))
    assert failed["detail"] == "ZeroDivisionError: by zero"
    assert not failed["lasting"]


def test_a_missing_library_is_named() -> None:
    assert (
        "No module named"
        in json.loads(run("engine.credentials.fetchers.no_such_kind", {}, 5))["detail"]
    )


def test_no_secret_is_in_a_message(kind: ModuleType) -> None:
    for name in ("secret", "secret_key", "session_token"):
        error = CredentialUnavailable("it is s3cr3t+k", "at /?s3cr3t%2Bk")
        failed = failure(kind, error, **{name: "s3cr3t+k"})
        assert failed["words"] == "it is [redacted]"
        assert failed["detail"] == "at /?[redacted]"


def test_long_messages_are_cut(kind: ModuleType) -> None:
    assert len(failure(kind, ValueError("x" * 9999))["detail"]) == 500
