"""What an upstream has reported or sent is charged, also if the caller does not get it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.translations import languages
from tests.support.books import Books, Row
from tests.support.recording import Recorder, answer, recorder
from tests.support.running import TOKENS, Running, gateway
from tests.support.scripted import CLOSE, in_turn, script
from tests.support.translated_usage import CHARGED, charged, with_usage
from tests.support.translating import CHAT_ROUTES, OPERATION_OF, SPECS, UPSTREAM_OF
from tests.support.translation_faults import RawCaller, Reply, beginning, body_of, stream

LANGUAGES = [language.name for language in languages()]
_CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1}}
stores: {{records: "sqlite:///records.db"}}
currency: EUR
prices: {{"*": {{input: 2.5, output: 10, cached_input: 1.25}}}}
{specs}upstreams:
{upstreams}
models:
{models}
routes:
{chat_routes}{tokens}
"""
CONTENT = {
    "chat_completions": "choices",
    "responses": "output",
    "messages": "content",
    "generate_content": "candidates",
}
"""The member of an answer that holds its content."""


def caller_of(target: str) -> RawCaller:
    return RawCaller("messages" if target != "messages" else "chat_completions")


def unusable(language: str) -> bytes:
    """An answer that reports usage, with a content that is not in the vendor's format."""
    document = json.loads(with_usage(language, body_of(language)))
    document[CONTENT[language]] = True
    return json.dumps(document).encode()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("unused-answers")


@pytest.fixture(scope="module")
def running(folder: Path, upstream: Recorder) -> Iterator[Running]:
    """Models of each language that are asked three times, and `spare-` with a fallback."""
    upstreams, models = [], []
    for name in LANGUAGES:
        for kind in ("", "second-"):
            at = UPSTREAM_OF[name].format(url=upstream.url)
            common = "proxy: '', retry: {attempts: 3}, breaker: {failures: 1000000}"
            upstreams.append(f"  {kind}{name}: {{{at}, {common}}}")
        to = f"{OPERATION_OF.get(name, '')}translate: strict, to: [{{upstream: {name}, model: m}}]"
        models.append(f"  {name}: {{{to}}}")
        second = f"{OPERATION_OF.get(name, '')}to: [{{upstream: second-{name}, model: m}}]"
        models.append(f"  second-{name}: {{{second}, translate: strict}}")
        models.append(f"  spare-{name}: {{{to}, fallback: [second-{name}]}}")
    text = _CONFIG.format(
        specs=SPECS,
        upstreams="\n".join(upstreams),
        models="\n".join(models),
        chat_routes=CHAT_ROUTES,
        tokens=TOKENS,
    )
    with gateway(folder, text) as started:
        yield started


@pytest.fixture
def books(folder: Path) -> Books:
    return Books(folder)


def asked(
    running: Running, upstream: Recorder, books: Books, target: str, model: str
) -> tuple[Reply, int, Row]:
    """The reply that a caller of another language got, how often the upstream was asked, and the
    row of the ledger."""
    before, replies = len(upstream.requests), []

    def ask() -> None:
        replies.append(caller_of(target).ask(running.port, model, stream=False))

    [row] = books.rows_of(ask)
    return replies[0], len(upstream.requests) - before, row


@pytest.mark.parametrize("target", LANGUAGES)
def test_an_answer_that_cannot_be_translated_is_charged_and_not_asked_for_again(
    target: str, running: Running, upstream: Recorder, books: Books
) -> None:
    upstream.speak = answer(unusable(target))
    reply, requests, row = asked(running, upstream, books, target, target)
    assert (reply.status, requests) == (502, 1)
    assert ("x-should-retry", "false") in reply.headers  # the caller's SDK does not ask again
    assert charged(row) == CHARGED


@pytest.mark.parametrize("target", LANGUAGES)
def test_another_target_is_asked_and_both_are_charged(
    target: str, running: Running, upstream: Recorder, books: Books
) -> None:
    good = answer(with_usage(target, body_of(target)))
    upstream.speak = in_turn(answer(unusable(target)), good)
    reply, requests, row = asked(running, upstream, books, target, f"spare-{target}")
    assert (reply.status, requests) == (200, 2)
    *counts, source, cost = CHARGED
    assert charged(row) == (*(2 * count for count in counts), source, 2 * cost)


@pytest.mark.parametrize("target", LANGUAGES)
def test_an_answer_that_reports_nothing_is_asked_for_again(
    target: str, running: Running, upstream: Recorder, books: Books
) -> None:
    good = answer(with_usage(target, body_of(target)))
    upstream.speak = in_turn(answer(b"no JSON"), good)
    reply, requests, row = asked(running, upstream, books, target, target)
    assert (reply.status, requests) == (200, 2)
    assert charged(row) == CHARGED


@pytest.mark.parametrize("target", LANGUAGES)
def test_an_answer_that_breaks_off_is_charged_by_what_came(
    target: str, running: Running, upstream: Recorder, books: Books
) -> None:
    body = body_of(target)
    cut = body[: body.rindex(b'"usage')]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n\r\n"
    upstream.speak = script(head + cut, CLOSE)
    reply, requests, row = asked(running, upstream, books, target, target)
    assert (reply.status, requests) == (502, 1)
    assert row["source"] == "estimated"
    assert row["input"] > 0 < row["output"]


@pytest.mark.parametrize("target", LANGUAGES)
def test_a_stream_that_becomes_an_answer_is_charged_where_it_breaks_off(
    target: str, running: Running, upstream: Recorder, books: Books
) -> None:
    upstream.speak = stream(*beginning(target), end=b"", ending=CLOSE)
    reply, _, row = asked(running, upstream, books, target, target)
    assert reply.status == 502
    assert row["output"] > 0
