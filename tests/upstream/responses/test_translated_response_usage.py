"""One reader of usage: what a caller is told is what the ledger notes, in every caller's format.

The ledger's side is read as that of a relayed answer is; the caller's, from what it gets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from engine.upstream.client.failures import InvalidAnswer
from engine.values.usage import Usage
from tests.support import paths, yaml_text
from tests.support.answer_laws import FORMS, answer_to, relayed_usage, usage_differences
from tests.support.each import each
from tests.support.told_usage import told
from tests.support.translations import event_data

Json = dict[str, Any]

CASES = paths.CASES / "usage"


def problems_of(
    target: str, documents: list[bytes], forms: list[tuple[str, bool]], *, events: bool
) -> tuple[list[str], int]:
    """The differences in each form, and how many answers were carried."""
    problems: list[str] = []
    carried = 0
    body = b"".join(b"data: " + each_ + b"\n\n" for each_ in documents) if events else documents[0]
    for caller, stream in forms:
        try:
            output, noted = answer_to(caller, target, body, events=events, stream=stream)
        except InvalidAnswer:
            continue
        carried += 1
        if noted != (relayed := relayed_usage(target, body, events=events)):
            problems.append(f"{noted} translated, {relayed} relayed")
        found = usage_differences(_told(caller, output, stream=stream), noted)
        problems += [f"{caller}, stream={stream}: {each_}" for each_ in found]
    return problems, carried


def _told(caller: str, output: bytes, *, stream: bool) -> dict[str, int]:
    data = event_data(output) if stream else [output]
    return told(caller, [json.loads(each_) for each_ in data if each_ != b"[DONE]"])


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
        for title, case in yaml_text.load((CASES / f"{dialect}.yaml").read_text()).items():
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
    assert relayed_usage(target, body, events=False) == usage
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
        *("chat_completions", "messages", body),
        events=False,
        stream=False,
        cache_counted_twice=twice,
    )
    assert _told("chat_completions", output, stream=False)["input"] == expected
