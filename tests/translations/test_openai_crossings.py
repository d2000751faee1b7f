"""Whatever crosses to or from OpenAI's languages is what the SDK sends and reads: shown with the
cases of `crossings/`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.translations import CASES, event_data
from tests.translations.openai_sdk import (
    chat_chunk,
    chat_completion,
    check_chat_request,
    check_responses_request,
    response,
    response_event,
)

REQUESTS = {"chat_completions": check_chat_request, "responses": check_responses_request}
ANSWERS: dict[str, Callable[[bytes], object]] = {
    "chat_completions": chat_completion,
    "responses": response,
}
EVENTS: dict[str, Callable[[bytes], object]] = {
    "chat_completions": chat_chunk,
    "responses": response_event,
}


def cases(party: str, *members: str) -> list[object]:
    """The cases where a party speaks one of OpenAI's languages and that have all these members."""
    files = {
        file: yaml.load(file.read_text("utf-8"), yaml.CSafeLoader)
        for file in sorted(Path(CASES / "crossings").glob("*.yaml"))
    }
    return [
        pytest.param(case, id=file.stem)
        for file, case in files.items()
        if case[party] in REQUESTS and case.keys() >= {*members}
    ]


@pytest.mark.parametrize("case", cases("target", "written"))
def test_requests(case: dict[str, Any]) -> None:
    REQUESTS[case["target"]](json.loads(case["written"]))


@pytest.mark.parametrize("case", cases("caller", "answer", "result"))
def test_answers(case: dict[str, Any]) -> None:
    ANSWERS[case["caller"]](case["result"].encode())


@pytest.mark.parametrize("case", cases("caller", "stream", "result"))
def test_streams(case: dict[str, Any]) -> None:
    for data in event_data(case["result"].encode()):
        if data != b"[DONE]":
            EVENTS[case["caller"]](data)
