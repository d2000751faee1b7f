"""The helper process: reads the options of a kind, writes its token or the failure, and exits."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from engine.credentials.tokens.token import CredentialUnavailable, Token
from engine.values.redaction import Redaction

_LONGEST = 500
"""The most characters of a token server's message."""


def run(kind: str, options: Mapping[str, Any], now: float) -> bytes:
    """The token of a kind, fetched with these options, or the failure to fetch it, as JSON."""
    try:
        module = importlib.import_module(f"engine.credentials.fetchers.{kind}")
        values, expires = module.fetch(options)
        return Token(values, now, *([] if expires is None else [expires])).dump()
    except CredentialUnavailable as failure:
        words, detail, lasting = failure.words, failure.detail, failure.lasting
    except Exception as error:  # noqa: BLE001 - the parent reports it
        words, detail, lasting = "its token was not fetched", describe(error), False
    clean = Redaction(_secrets(options)).redact_text
    failed = {"words": clean(words), "detail": clean(detail)[:_LONGEST], "lasting": lasting}
    return json.dumps(failed).encode()


def describe(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _secrets(options: Mapping[str, Any]) -> Iterator[str]:
    for name in ("secret", "secret_key", "session_token", "password"):
        if isinstance(options.get(name), str):
            yield options[name]


def main(arguments: list[str], source: BinaryIO, target: BinaryIO) -> None:
    """Fetch a token of the kind that the first argument names."""
    target.write(run(arguments[0], json.load(source), time.time()))


if __name__ == "__main__":
    main(sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer)
