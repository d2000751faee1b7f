"""One reader of usage: what a caller is told is what the ledger notes, in every caller's format.

The ledger's side is read as that of a relayed answer is; the caller's, from what it gets.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from engine import dialects
from engine.metering.readers import reader
from engine.translations import language, languages, target_language, target_languages
from engine.translations.language import RequestLine
from engine.translations.refusals import LossRules
from engine.translations.translation import Translation
from engine.upstream.client.failures import InvalidAnswer
from engine.upstream.translated_response import translated_response
from engine.values.redaction import Redaction
from engine.values.usage import Usage
from tests.support import paths
from tests.support.each import each
from tests.support.recorded_answers import needs_answers, recorded_answers
from tests.support.thorough import share
from tests.support.told_usage import told
from tests.support.translations import event_data
from tests.support.upstreams import EVENTS, JSON, FakeResponse

Json = dict[str, Any]

CASES = paths.CASES / "usage"
CALLERS = [each.name for each in languages()]
FORMS = list(itertools.product(CALLERS, (False, True)))
TARGETS = [each.name for each in target_languages()]
_TURN = {"role": "user", "content": "Hi"}
_REQUESTS: dict[str, Json] = {
    "chat_completions": {"messages": [_TURN], "stream_options": {"include_usage": True}},
    "responses": {"input": "Hi", "store": False},
    "messages": {"max_tokens": 9, "messages": [_TURN]},
    "generate_content": {"contents": [{"parts": [{"text": "Hi"}]}]},
}


def answer_to(
    caller: str,
    target: str,
    documents: list[bytes],
    *,
    events: bool,
    stream: bool,
    cache_counted_twice: bool = False,
) -> tuple[bytes, Usage | None]:
    """What a caller gets of an answer, and the usage that the ledger notes. Raises InvalidAnswer
    for an answer that is refused."""
    pair = Translation(language(caller), target_language(target))
    request: Json = {"model": "m", **_REQUESTS[caller], "stream": stream}
    if not stream or caller == "generate_content":
        request.pop("stream_options", None)
    if caller == "generate_content":
        request = _REQUESTS[caller]
    line = RequestLine(id="req1", model="m", stream=stream, query="alt=sse" if stream else "")
    exchange = pair.request(json.dumps(request).encode(), line, "m", LossRules())
    pieces = [b"data: " + each + b"\n\n" for each in documents] if events else documents
    fake: Any = FakeResponse(200, EVENTS if events else JSON, pieces)
    response = translated_response(
        fake,
        exchange,
        dialects.get(pair.source.dialect),
        "req1",
        Redaction([]),
        cache_counted_twice=cache_counted_twice,
    )
    output = b""
    if response.events is None:
        output = b"".join(iter(response.read, b""))
    else:
        while data := response.read():
            output += response.events.feed(data)
        output += response.events.finish()
        if response.events.failure is not None:
            raise InvalidAnswer(str(response.events.failure))
    return output, response.usage.usage()


def relayed_usage(target: str, documents: list[bytes], *, events: bool) -> Usage | None:
    """The usage that the ledger notes of an answer that is relayed."""
    meter = dialects.get(target_language(target).dialect).meter
    usage_reader = reader(meter, "text/event-stream" if events else "application/json")
    for each_ in documents:
        usage_reader.feed(b"data: " + each_ + b"\n\n" if events else each_)
    return usage_reader.usage()


def differences(caller: str, output: bytes, usage: Usage | None, *, stream: bool) -> Iterator[str]:
    """Where the caller is told another count than the ledger notes."""
    counts = told(caller, output, stream=stream)
    for name, count in counts.items():
        noted = 0 if usage is None else getattr(usage, name)
        if count != noted:
            yield f"{caller}, stream={stream}: {name} {count}, the ledger {noted}"
    if usage is not None and not counts:
        yield f"{caller}, stream={stream}: nothing is told of {usage}"


def problems_of(
    target: str, documents: list[bytes], forms: list[tuple[str, bool]], *, events: bool
) -> tuple[list[str], int]:
    """The differences in each form, and how many answers were carried."""
    problems: list[str] = []
    carried = 0
    for caller, stream in forms:
        try:
            output, noted = answer_to(caller, target, documents, events=events, stream=stream)
        except InvalidAnswer:
            continue
        carried += 1
        if noted != (relayed := relayed_usage(target, documents, events=events)):
            problems.append(f"{noted} translated, {relayed} relayed")
        problems += differences(caller, output, noted, stream=stream)
    return problems, carried


CHOICE: Json = {
    "index": 0,
    "message": {"role": "assistant", "content": "Hi"},
    "finish_reason": "stop",
}
_ANSWERS: dict[str, Json] = {
    "chat_completions": {"id": "c", "object": "chat.completion", "created": 1, "model": "m"},
    "responses": {
        "id": "r",
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
    },
    "messages": {"content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"},
    "generate_content": {
        "candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]
    },
}
_OF_OTHERS = {"data", "results", "task", "text", "duration", "type", "error", "response", "meta"}


def _documents() -> Iterator[tuple[str, Json, Json | None, str]]:
    """Each case of an answer to a chat: its language, the answer, the usage, and the name."""
    for dialect, spoken in (
        ("openai", "chat_completions"),
        ("anthropic", "messages"),
        ("gemini", "generate_content"),
    ):
        for title, case in yaml.safe_load((CASES / f"{dialect}.yaml").read_text()).items():
            answer = case["answer"]
            of_others = _OF_OTHERS - ({"type"} if dialect == "anthropic" else set())
            if not isinstance(answer, dict) or of_others & answer.keys() or "message" in answer:
                continue
            target = "responses" if answer.get("object") == "response" else spoken
            if answer.get("status") != "queued":
                yield target, _whole(target, answer), case["usage"], f"{dialect}: {title}"


def _whole(target: str, answer: Json) -> Json:
    """An answer that says "Hi", and the usage of a case."""
    whole = {**answer, **_ANSWERS[target]}
    if target == "chat_completions":
        own = (answer.get("choices") or [{}])[0]
        whole["choices"] = [{**CHOICE, **({"usage": own["usage"]} if "usage" in own else {})}]
    return whole


@each(
    ("target", "document", "expected"),
    [pytest.param(*case[:3], id=case[3]) for case in _documents()],
)
def test_each_reported_usage_is_told_as_it_is_noted(
    target: str, document: Json, expected: Json | None
) -> None:
    usage = None if expected is None else Usage(**expected, source="upstream")
    body = json.dumps(document).encode()
    assert relayed_usage(target, [body], events=False) == usage
    assert problems_of(target, [body], FORMS, events=False) == ([], len(FORMS))


_STREAMS = {
    "chat": "chat_completions",
    "messages": "messages",
    "generate": "generate_content",
    "responses": "responses",
}


def test_the_usage_of_streams_is_told_as_it_is_noted() -> None:
    problems: list[str] = []
    carried = 0
    for file in sorted(CASES.glob("*.sse")):
        target = _STREAMS.get(file.stem.partition("-")[0])
        if target is not None:
            found, count = problems_of(target, event_data(file.read_bytes()), FORMS, events=True)
            problems += [f"{file.stem}: {each_}" for each_ in found]
            carried += count
    assert problems == []
    assert carried >= 8 * len(FORMS)


@needs_answers
@pytest.mark.parametrize("target", TARGETS)
def test_the_usage_of_a_recorded_answer_is_told_as_it_is_noted(target: str) -> None:
    problems: list[str] = []
    carried = 0
    for number, answer in enumerate(recorded_answers(target)):
        forms = list(share(FORMS, number))
        found, count = problems_of(target, answer.documents, forms, events=answer.is_stream)
        problems += [f"{answer.id}: {each_}" for each_ in found]
        carried += count
    assert problems == []
    assert carried > len(recorded_answers(target))


ODD: list[Any] = [[], "12", 10.0, {"a": 1}, True, -1, None]


@pytest.mark.parametrize("target", list(_ANSWERS))
@pytest.mark.parametrize("events", [False, True])
def test_odd_usage_costs_nobody_an_answer(target: str, events: bool) -> None:
    """Whatever stands in the place of the usage, or of one of its members."""
    key = "usageMetadata" if target == "generate_content" else "usage"
    names = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_tokens_details")
    names += ("input_tokens_details", "cache_creation", "promptTokensDetails", "iterations")
    usages = [*ODD, *({name: odd} for name in names for odd in ODD)]
    for usage in usages:
        document = _whole(target, {key: usage})
        documents = [json.dumps(document).encode()]
        if events:
            documents = _stream(target, key, usage)
        assert problems_of(target, documents, FORMS, events=events) == ([], len(FORMS)), usage


def _stream(target: str, key: str, usage: Any) -> list[bytes]:
    delta = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    message = {"type": "message_start", "message": {"id": "1", "model": "m", key: usage}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}
    block["content_block"] = {"type": "text", "text": "Hi"}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, key: usage}
    events: dict[str, list[Json]] = {
        "chat_completions": [{"id": "c", "choices": [delta]}, {"choices": [], key: usage}],
        "messages": [
            *(message, block, {"type": "content_block_stop", "index": 0}, end),
            {"type": "message_stop"},
        ],
        "responses": [
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.completed", "response": _whole(target, {key: usage})},
        ],
        "generate_content": [_whole(target, {key: usage})],
    }
    return [json.dumps(each_).encode() for each_ in events[target]]


@pytest.mark.parametrize(("twice", "expected"), [(False, 40), (True, 20)])
def test_a_prompt_cache_that_the_upstream_counts_twice_is_told_once(
    twice: bool, expected: int
) -> None:
    usage = {"input_tokens": 20, "cache_read_input_tokens": 15, "cache_creation_input_tokens": 5}
    body = json.dumps(_whole("messages", {"usage": usage})).encode()
    output, _ = answer_to(
        *("chat_completions", "messages", [body]),
        events=False,
        stream=False,
        cache_counted_twice=twice,
    )
    assert told("chat_completions", output, stream=False)["input"] == expected
