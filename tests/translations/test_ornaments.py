"""Answers with odd values, as servers write them, say what they say in every caller's format."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from engine import dialects
from engine.relay.sse import Cleaner
from engine.translations import languages, target_language, target_languages
from engine.translations.neutral.events import BrokenAnswer
from engine.upstream.responses.stream_judge import StreamJudge
from engine.values.redaction import Redaction
from tests.support import yaml_text
from tests.support.recorded_answers import saying_of
from tests.support.sdk_accumulators import as_sdk
from tests.support.translations import CASES, translated

Case = dict[str, Any]
CALLERS = [each.name for each in languages()]
TARGETS = [each.name for each in target_languages()]


def _cases(target: str) -> dict[str, Case]:
    cases: dict[str, Case] = yaml_text.load((CASES / target / "ornaments.yaml").read_text())
    return cases


def _saying(case: Case, caller: str, target: str, *, stream: bool) -> tuple[str, list[Any], str]:
    documents = [each.encode() for each in case["documents"]]
    from_stream = not case.get("whole", False)
    output = translated(documents, caller, target, from_stream=from_stream, stream=stream)
    saying = saying_of(caller, as_sdk(caller, output, stream=stream))
    return saying.text, [[*call] for call in saying.calls], saying.stop


@pytest.mark.parametrize("target", TARGETS)
def test_an_ornament_costs_no_answer(target: str) -> None:
    for name, case in _cases(target).items():
        expected = case.get("text", ""), case.get("calls", [])
        for caller, stream in itertools.product(CALLERS, (False, True)):
            text, calls, stop = _saying(case, caller, target, stream=stream)
            assert (text, calls) == expected, (name, caller, stream)
            assert stop == case.get("stop", stop), (name, caller, stream)


NEEDED = {
    "chat_completions": '{"choices": [{"index": 0, "delta": {"content": {"a": 1}}}]}',
    "messages": '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", '
    '"text": ["a"]}}',
    "responses": '{"type": "response.output_text.delta", "delta": ["a"]}',
    "generate_content": '{"candidates": [{"content": {"parts": [{"text": ["a"]}]}}]}',
    "converse": '{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": ["a"]}}}',
}
"""A content that is none."""


@pytest.mark.parametrize("target", TARGETS)
def test_what_an_answer_needs_is_never_left_out(target: str) -> None:
    case = next(each for each in _cases(target).values() if not each.get("whole"))
    begin, *rest = case["documents"]
    odd = {**case, "documents": [begin, NEEDED[target], *rest]}
    for caller, stream in itertools.product(CALLERS, (False, True)):
        with pytest.raises(BrokenAnswer, match="is not in its format"):
            _saying(odd, caller, target, stream=stream)


@pytest.mark.parametrize("caller", ["chat_completions", "responses"])
@pytest.mark.parametrize("stream", [False, True])
def test_arguments_that_are_white_space_are_json(caller: str, stream: bool) -> None:
    case = _cases("converse")["arguments that are white space"]
    documents = [each.encode() for each in case["documents"]]
    output = translated(documents, caller, "converse", from_stream=True, stream=stream)
    answer = as_sdk(caller, output, stream=stream)
    assert [json.loads(each) for each in _arguments_in(answer)] == [{}, {"b": 2}]


def _arguments_in(value: Any) -> Iterator[str]:
    """The texts of all members `arguments`, wherever they are."""
    if isinstance(value, dict):
        yield from (each for name, each in value.items() if name == "arguments")
    members = value.values() if isinstance(value, dict) else value
    for each in members if isinstance(value, dict | list) else ():
        yield from _arguments_in(each)


@pytest.mark.parametrize("target", [each for each in TARGETS if each != "converse"])
def test_a_relayed_stream_with_ornaments_is_complete_and_as_it_came(target: str) -> None:
    dialect = dialects.get(target_language(target).dialect)
    for name, case in _cases(target).items():
        if case.get("whole"):
            continue
        stream = b"".join(b"data: %b\n\n" % each.encode() for each in case["documents"])
        cleaner, judge = Cleaner(dialect.stream), StreamJudge(dialect, Redaction(()))
        events = judge.check(cleaner.feed(stream) + cleaner.finish())
        judge.keep(events)
        judge.end()
        marker = b"data: [DONE]\n\n" if dialect.stream.end_marker else b""
        expected = re.sub(rb'(?i)data: "?\[?done\]?"?\n\n', marker, stream)
        assert (events, judge.failure, judge.error) == (expected, None, None), name
