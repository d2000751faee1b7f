"""On the empty machine: commands, requests, and what is reported of them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

API = "http://127.0.0.1:8080"


def ask(secret: str, model: str = "gpt-5", **members: Any) -> tuple[int, str]:
    """The response to a chat request: status and body; 0 if nothing answers."""
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}], **members}
    headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
    return get(f"{API}/v1/chat/completions", headers, json.dumps(body).encode())


def get(
    url: str, headers: dict[str, str] | None = None, body: bytes | None = None
) -> tuple[int, str]:
    """Status and body; 0 if nothing answers, or if the response is cut."""
    request = urllib.request.Request(url, body, headers or {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def until(promise: str, holds: Callable[[], bool], seconds: float = 60) -> None:
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if holds():
            return report(promise, True, f"after {time.monotonic() - start:.1f} s")
        time.sleep(0.1)
    return report(promise, False)


def report(promise: str, holds: bool, figure: object = "") -> None:
    print(f"{'ok  ' if holds else 'FAIL'}  {promise} {figure}".rstrip(), flush=True)
    if not holds:
        sys.exit(1)


def shell(script: str, *, fails: bool = False) -> str:
    """What a script of bash prints, as a page shows it; it has to end with 0, or not."""
    result = subprocess.run(
        ["bash", "-ec", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if (result.returncode != 0) != fails:
        sys.exit(f"{script}\n{result.stdout}\nended with {result.returncode}")
    return result.stdout
