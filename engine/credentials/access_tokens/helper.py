"""The helper process: reads the options of a credential, writes its token or the failure, exits."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import BinaryIO, cast

from engine.credentials.access_tokens.token import CredentialUnavailable, Token
from engine.values.discovery import constant_of
from engine.values.redaction import Redaction
from engine.values.trees import Section

FetchToken = Callable[[Section], tuple[Mapping[str, str], float | None]]
"""Fetches a token with the options of a credential: its texts by name, and the Unix time at which
it expires, None if that is not known. Raises CredentialUnavailable."""

_MAX_MESSAGE = 500
"""The most characters of a token server's message."""


def run(module: str, options: Mapping[str, object], now: float) -> bytes:
    """The token that `fetch` of a module fetches with these options, or the failure to fetch it, as
    JSON."""
    try:
        fetch = cast(FetchToken, constant_of(module, "fetch", FunctionType))
        values, expires = fetch(options)
        return Token(values, now, *([] if expires is None else [expires])).dump()
    except CredentialUnavailable as failure:
        words, detail, lasting = failure.words, failure.detail, failure.lasting
    except Exception as error:  # noqa: BLE001 - the parent reports it
        words, detail, lasting = "its token was not fetched", describe(error), False
    clean = Redaction(_secrets(options)).redact_text
    failed = {"words": clean(words), "detail": clean(detail)[:_MAX_MESSAGE], "lasting": lasting}
    return json.dumps(failed).encode()


def describe(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _secrets(options: Section) -> Iterator[str]:
    for name in ("secret", "secret_key", "session_token", "password"):
        if isinstance(options.get(name), str):
            yield options[name]


def main(arguments: list[str], source: BinaryIO, target: BinaryIO) -> None:
    """Fetch a token with the module that the first argument names."""
    target.write(run(arguments[0], json.load(source), time.time()))


if __name__ == "__main__":
    main(sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer)
