"""Fetch a token in a helper process: `python -m engine.credentials.access_tokens.helper MODULE`.

The options and the token pass as JSON through pipes, so that no secret of the config is in the
arguments or the environment of the helper. The helper inherits the environment, in which the
vendors' libraries look for credentials.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

import gevent.subprocess as subprocess

from engine.credentials.access_tokens.token import CredentialUnavailable, Token

_SECONDS = 25.0
HELPER = (sys.executable, "-P", "-m", "engine.credentials.access_tokens.helper")


def fetch(
    module: str,
    options: Mapping[str, object],
    *,
    seconds: float = _SECONDS,
    helper: Sequence[str] = HELPER,
) -> Token:
    """A token from `fetch` of a module, such as one of `engine/credentials/fetchers/`, which the
    program `helper` runs. Only this greenlet waits. Raises CredentialUnavailable."""
    try:
        process = subprocess.Popen(
            [*helper, module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        words = "the process that fetches its token cannot be started"
        raise CredentialUnavailable(words, str(error)) from error
    try:
        output, _ = process.communicate(json.dumps(options).encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        raise CredentialUnavailable("its token was not fetched in time", f"{seconds:g} s") from None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
    return _result(output)


def _result(output: bytes) -> Token:
    try:
        document = json.loads(output)
    except ValueError:
        raise CredentialUnavailable("the process that fetches its token failed") from None
    if "words" in document:
        words, detail = document["words"], document["detail"]
        raise CredentialUnavailable(words, detail, lasting=document["lasting"])
    return Token.load(output)
