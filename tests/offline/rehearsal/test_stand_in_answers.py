"""The answers of the stand-ins for upstreams: whole chats, in every language."""

import json

import pytest

from engine import dialects
from engine.offline.rehearsal.stand_in_answers import stand_in_answer
from engine.translations import language, target_language
from engine.translations.neutral.answer import collect
from tests.support.translations import events_of

TARGETS = {
    "chat_completions": ("/v1/chat/completions", {"model": "m", "messages": []}),
    "responses": ("/v1/responses", {"model": "m", "input": "Hi"}),
    "messages": ("/v1/messages", {"model": "m", "max_tokens": 9, "messages": []}),
    "generate_content": ("/v1beta/models/m:generateContent", {"contents": []}),
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_chat_is_answered_in_its_language(name):
    path, body = TARGETS[name]
    media_type, answer = stand_in_answer(path, json.dumps(body).encode())
    assert media_type == "application/json"
    (candidate,) = collect(language(name).read_answer(answer)).candidates
    assert candidate.blocks[0].text == "OK"


@pytest.mark.parametrize("method", ["converse", "converse-stream"])
def test_a_language_of_targets_alone_is_answered_with_its_example(method):
    media_type, answer = stand_in_answer(f"/model/m%3A0/{method}", b"{}")
    assert media_type == "application/json"
    (candidate,) = collect(target_language("converse").read_answer(answer)).candidates
    assert candidate.blocks[0].text == "OK"


@pytest.mark.parametrize("name", TARGETS)
def test_a_stream_is_answered_with_a_stream(name):
    path, body = TARGETS[name]
    path = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    media_type, answer = stand_in_answer(path, json.dumps({**body, "stream": True}).encode())
    assert media_type == "text/event-stream"
    (candidate,) = collect(events_of(language(name), answer)).candidates
    assert candidate.blocks[0].text == "OK"


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/v1/embeddings", b"{}"),
        ("/v1/chat/completions", b"no JSON"),
        ("/v1/messages", b'{"messages": 3}'),
        ("/v1/messages", b"[" * 5000),
    ],
)
def test_everything_else_is_an_answer_in_every_dialect(target, body):
    answer = json.loads(stand_in_answer(target, body).body)
    assert not dialects.get("anthropic").lacks_answer(answer, "/messages")
    assert not dialects.get("openai").lacks_answer(answer, "/chat/completions")
