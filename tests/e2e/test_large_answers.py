"""Large answers that are edited: in another process, and sent in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.recording import Recorder, Wire, answer, ask, recorder
from tests.support.running import Running, gateway
from tests.support.small import COMPLETION, chat, project

_EDIT = "[transform: {response: {body: {remove: [system_fingerprint]}}}]"
_TEXT = "The quick brown fox jumps over the lazy dog. " * 70_000


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("answers")
    text = project(folder, upstream.url, {"chat": _EDIT}, workers=1)
    with gateway(folder, text) as running:
        yield running
        assert "Traceback" not in running.output()


def large(**more: object) -> bytes:
    """A completion of three megabytes."""
    (choice,) = COMPLETION["choices"]
    message = {**choice["message"], "content": _TEXT}
    document = {**COMPLETION, "choices": [{**choice, "message": message}]}
    return json.dumps({**document, **more}).encode()


def test_a_large_answer_is_edited(running: Running, upstream: Recorder) -> None:
    upstream.speak = answer(large(system_fingerprint="fp_1"))
    with Wire(running.port) as wire:
        for _ in range(2):
            wire.send(chat())
            edited = wire.answer()
            assert (edited.status, edited.closed) == (200, False)
            assert edited.json() == json.loads(large())


def test_a_large_answer_that_is_no_json_passes_as_it_is(
    running: Running, upstream: Recorder
) -> None:
    broken = large(system_fingerprint="fp_1")[:-2]
    upstream.speak = answer(broken)
    assert ask(running.port, chat()).body == broken


def test_a_caller_who_leaves_early_leaves_nothing_behind(
    running: Running, upstream: Recorder
) -> None:
    upstream.speak = answer(large(system_fingerprint="fp_1"))
    for _ in range(3):
        with Wire(running.port) as wire:
            wire.send(chat())
            wire.head()
    upstream.speak = answer(json.dumps(COMPLETION).encode())
    assert ask(running.port, chat()).json() == COMPLETION
