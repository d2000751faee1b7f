"""Upstreams that fail while their answers are translated, in all crossings, through a real gateway:
the caller gets a complete answer, or an error in its own format. Upstreams are scripted bytes.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest

from engine.translations import languages
from tests.support.each import each
from tests.support.recording import Recorder, Speak, answer, recorder
from tests.support.running import TOKENS, Running, gateway
from tests.support.scripted import STALL
from tests.support.translating import CHAT_ROUTES, OPERATION_OF, SPECS, UPSTREAM_OF
from tests.support.translation_faults import (
    BREAKING_OFF,
    COMPLETE,
    NOT_ITS_FORMAT,
    TEXT,
    Fault,
    Paced,
    RawCaller,
    Reply,
    beginning,
    body_of,
    calling,
    events,
    failing,
    overloaded,
    refusing,
    stream,
)

LANGUAGES = [language.name for language in languages()]
CROSSINGS = [
    pytest.param(RawCaller(caller), target, id=f"{caller}-{target}")
    for caller in LANGUAGES
    for target in LANGUAGES
    if caller != target
]
every_crossing = pytest.mark.parametrize(("caller", "target"), CROSSINGS)

INVALID: dict[str, Fault] = {
    "format": NOT_ITS_FORMAT["JSON of another language"],
    "order": BREAKING_OFF["events out of order"],
    "end": BREAKING_OFF["a clean end without the last event"],
    "arguments": lambda language: calling(language, "no JSON"),
}
"""Answers that no vendor gives, each of another kind."""

_CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1}}
{specs}upstreams:
{upstreams}
models:
{models}
routes:
{chat_routes}{tokens}
"""


def config(url: str, spare_url: str) -> str:
    """Models by the language of their upstream: with a breaker that never opens, one for each kind
    of INVALID with a breaker that opens at the second failure, `hasty-` with a short idle timeout,
    `spare-` with a fallback in another language."""
    upstreams, models = [], []
    for name in LANGUAGES:
        common = "credential: {bearer: key-1}, pool: 0, proxy: ''"
        common += ", retry: {attempts: 1}"
        for kind, where, breaker in (
            ("", url, "failures: 1000000"),
            *((f"{fault}-", url, "failures: 2, cooldown: 60s") for fault in INVALID),
            ("second-", spare_url, "failures: 1000000"),
            ("hasty-", url, "failures: 1000000"),
        ):
            idle = "300ms" if kind == "hasty-" else "5s"
            at = UPSTREAM_OF[name].format(url=where)
            times = f"timeouts: {{idle: {idle}}}, breaker: {{{breaker}}}"
            upstreams.append(f"  {kind}{name}: {{{at}, {common}, {times}}}")
            to = f"{OPERATION_OF.get(name, '')}to: [{{upstream: {kind}{name}, model: gpt-4o}}]"
            models.append(f"  {kind}{name}: {{{to}, translate: strict}}")
        spare = _spare(name)
        to = f"{OPERATION_OF.get(name, '')}to: [{{upstream: {name}, model: gpt-4o}}]"
        models.append(f"  spare-{name}: {{{to}, translate: strict, fallback: [second-{spare}]}}")
        models.append(f"  lossy-{name}: {{{to}, translate: lossy}}")
    return _CONFIG.format(
        specs=SPECS,
        chat_routes=CHAT_ROUTES,
        upstreams="\n".join(upstreams),
        models="\n".join(models),
        tokens=TOKENS,
    )


def _spare(name: str) -> str:
    return "messages" if name != "messages" else "generate_content"


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def spare() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, upstream: Recorder, spare: Recorder
) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("translation-faults")
    with gateway(folder, config(upstream.url, spare.url)) as started:
        yield started


@pytest.fixture
def port(running: Running) -> Iterator[int]:
    workers = running.workers()
    yield running.port
    assert running.workers() == workers
    assert "Traceback" not in running.output()


def assert_refused(caller: RawCaller, reply: Reply, status: int) -> str:
    """Assert that a reply is only an error in the caller's format; its message."""
    assert (reply.status, reply.cut) == (status, False), reply
    assert reply.value("content-type") == "application/json"
    identity = reply.value("x-request-id")
    assert str(identity).startswith("req_")
    if caller.language == "messages":
        assert reply.value("request-id") == identity == json.loads(reply.body)["request_id"]
    return message_of(caller, reply)


def message_of(caller: RawCaller, reply: Reply) -> str:
    message, _, code = caller.error(json.loads(reply.body))
    assert code in (None, reply.status)
    return message


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@every_crossing
def test_an_answer_in_another_format_is_a_502(
    caller: RawCaller, target: str, streamed: bool, port: int, upstream: Recorder
) -> None:
    for name, fault in NOT_ITS_FORMAT.items():
        upstream.speak = fault(target)
        reply = caller.ask(port, target, stream=streamed)
        assert reply.status == 502, (name, reply)
        assert assert_refused(caller, reply, 502).startswith("The upstream"), name


@every_crossing
def test_a_stream_that_breaks_off_ends_with_an_error_and_a_cut_connection(
    caller: RawCaller, target: str, port: int, upstream: Recorder
) -> None:
    for name, fault in BREAKING_OFF.items():
        upstream.speak = fault(target)
        reply = caller.ask(port, target, stream=True)
        assert (reply.status, reply.cut, caller.ends(reply)) == (200, True, 0), (name, reply)
        assert caller.text(reply, stream=True) == "Hello", (name, reply)
        [(message, *_)] = caller.errors(reply)
        assert message.startswith("The upstream"), name


@every_crossing
def test_a_stream_that_falls_silent_ends_with_an_error(
    caller: RawCaller, target: str, port: int, upstream: Recorder
) -> None:
    upstream.speak = stream(*beginning(target), end=b"", ending=STALL)
    reply = caller.ask(port, f"hasty-{target}", stream=True)
    assert (reply.cut, caller.ends(reply), caller.text(reply, stream=True)) == (True, 0, "Hello")
    [(message, *_)] = caller.errors(reply)
    assert "fell silent" in message


@every_crossing
def test_text_arrives_while_the_upstream_goes_on(
    caller: RawCaller, target: str, port: int, upstream: Recorder
) -> None:
    upstream.speak = paced = Paced(target)
    received = b""
    for piece in caller.pieces(port, target):
        received += piece
        if b'"Hello"' in received:
            paced.go_on.set()
    assert paced.go_on.is_set()
    assert b'" there."' in received


@every_crossing
def test_nothing_of_a_stream_that_breaks_off_is_an_answer_in_one_piece(
    caller: RawCaller, target: str, port: int, upstream: Recorder
) -> None:
    for name, fault in BREAKING_OFF.items():
        upstream.speak = fault(target)
        reply = caller.ask(port, target, stream=False)
        assert reply.status == 502, (name, reply)
        assert_refused(caller, reply, 502)


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@every_crossing
def test_an_unusual_answer_that_is_complete_is_translated(
    caller: RawCaller, target: str, streamed: bool, port: int, upstream: Recorder
) -> None:
    for name, fault in COMPLETE.items():
        upstream.speak = fault(target)
        reply = caller.ask(port, target, stream=streamed)
        assert (reply.status, reply.cut) == (200, False), (name, reply)
        assert caller.text(reply, stream=streamed) == TEXT, (name, reply)
        if streamed:
            assert (caller.ends(reply), caller.errors(reply)) == (1, []), (name, reply)


@every_crossing
def test_an_error_before_content_has_its_status(
    caller: RawCaller, target: str, port: int, upstream: Recorder
) -> None:
    for before in ([], beginning(target)[:-1]):
        upstream.speak = failing(target, *before)
        for streamed in (True, False):
            reply = caller.ask(port, target, stream=streamed)
            assert assert_refused(caller, reply, 429) == "too fast"


@every_crossing
def test_an_error_first_has_a_status_that_its_words_do_not_say_in_another_dialect(
    caller: RawCaller, target: str, port: int, upstream: Recorder
) -> None:
    upstream.speak = overloaded(target)
    for streamed in (True, False):
        reply = caller.ask(port, target, stream=streamed)
        assert assert_refused(caller, reply, 503) == "busy"


@every_crossing
def test_an_error_after_content_ends_the_stream(
    caller: RawCaller, target: str, port: int, upstream: Recorder
) -> None:
    upstream.speak = failing(target, *beginning(target))
    reply = caller.ask(port, target, stream=True)
    assert (reply.status, reply.cut, caller.ends(reply)) == (200, True, 0)
    assert caller.text(reply, stream=True) == "Hello"
    [(message, kind, _)] = caller.errors(reply)
    assert message == "too fast"
    assert kind in ("requests", "rate_limit_error", "RESOURCE_EXHAUSTED")
    assert_refused(caller, caller.ask(port, target, stream=False), 429)


STATUSES = [
    (400, 400),
    (401, 502),  # the gateway's credential, which is not the caller's fault
    (402, 502),
    (403, 502),
    (404, 404),
    (413, 413),
    (429, 429),
    (500, 500),
    (503, 503),
    (529, 503),
]


@every_crossing
def test_an_error_response_keeps_its_status_and_when_to_retry(
    caller: RawCaller, target: str, port: int, upstream: Recorder
) -> None:
    for status, expected in STATUSES:
        if status == 529 and target != "messages":
            continue
        upstream.speak = refusing(target, status, "Retry-After: 7", "Request-Id: req_theirs")
        for streamed in (True, False):
            reply = caller.ask(port, target, stream=streamed)
            message = assert_refused(caller, reply, expected)
            if expected != 502:
                assert message == "not so"
                assert reply.value("retry-after") == "7"
                assert reply.value("x-upstream-request-id") == "req_theirs"


_LIMITS = {
    "chat_completions": ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    "responses": ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    "messages": ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
}


@pytest.mark.parametrize(
    ("caller", "target"),
    [each for each in CROSSINGS if "generate_content" not in str(each.id)],
)
def test_rate_limits_have_the_names_of_the_callers_format(
    caller: RawCaller, target: str, port: int, upstream: Recorder
) -> None:
    remaining, reset = _LIMITS[target]
    moment = "2000-01-01T00:00:00Z" if target == "messages" else "0s"
    limits = (f"{remaining}: 7", f"{reset}: {moment}")
    for speak in (
        answer(body_of(target), ("Content-Type: application/json", *limits)),
        refusing(target, 429, *limits),
    ):
        upstream.speak = speak
        reply = caller.ask(port, target, stream=False)
        remaining_name, reset_name = _LIMITS[caller.language]
        assert reply.value(remaining_name) == "7"
        assert reply.value(reset_name) is not None
        if remaining_name != remaining:
            assert reply.value(remaining) is None


@pytest.mark.parametrize("target", LANGUAGES)
def test_arguments_that_are_no_json_are_an_error_where_an_object_belongs(
    target: str, port: int, upstream: Recorder
) -> None:
    upstream.speak = calling(target, "no JSON")
    for language in languages():
        if language.name == target:
            continue
        caller = RawCaller(language.name)
        reply = caller.ask(port, target, stream=True)
        if language.text_arguments != "none":
            assert (reply.status, reply.cut, caller.ends(reply)) == (200, False, 1), reply
            assert b"no JSON" in reply.body
        elif reply.status == 200:
            assert (reply.cut, caller.ends(reply)) == (True, 0), reply
            [(message, *_)] = caller.errors(reply)
            assert "calls look with arguments" in message
        else:
            assert "calls look with arguments" in assert_refused(caller, reply, 502)
        reply = caller.ask(port, target, stream=False)
        if language.text_arguments == "all":
            assert reply.status == 200
            assert b"no JSON" in reply.body
        else:
            assert_refused(caller, reply, 502)


@each(("target", "fault"), itertools.product(LANGUAGES, INVALID))
def test_the_breaker_learns_of_answers_that_cannot_be_translated(
    target: str, fault: str, port: int, upstream: Recorder
) -> None:
    caller = RawCaller("messages" if target != "messages" else "generate_content")
    streamed = fault != "arguments"  # which may be any text in a stream of messages
    upstream.reset()
    upstream.speak = INVALID[fault](target)
    for _ in range(2):
        reply = caller.ask(port, f"{fault}-{target}", stream=streamed)
        assert reply.status == 502 or (reply.cut, caller.ends(reply)) == (True, 0), reply
    reply = caller.ask(port, f"{fault}-{target}", stream=streamed)
    assert (reply.status, len(upstream.requests)) == (503, 2)


def _unavailable(language: str) -> Speak:
    return refusing(language, 503)


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@every_crossing
def test_what_fails_before_content_goes_to_the_next_target(
    caller: RawCaller, target: str, streamed: bool, port: int, upstream: Recorder, spare: Recorder
) -> None:
    second = _spare(target)
    spare.speak = stream(*events(second)) if streamed else answer(body_of(second))
    faults: dict[str, Fault] = {
        **NOT_ITS_FORMAT,
        "an error first": failing,
        "an error before content": lambda language: failing(language, *beginning(language)[:-1]),
        "an end before content": lambda language: stream(*beginning(language)[:-1]),
        "an error response": _unavailable,
    }
    for name, fault in faults.items():
        upstream.speak = fault(target)
        reply = caller.ask(port, f"spare-{target}", stream=streamed)
        assert (reply.status, reply.cut) == (200, False), (name, reply)
        assert caller.text(reply, stream=streamed) == TEXT, name


@each("target", LANGUAGES)
def test_dropped_fields_are_named_on_streams_and_on_errors(
    target: str, port: int, upstream: Recorder
) -> None:
    caller = RawCaller("messages" if target != "messages" else "chat_completions")
    more = {"x,\r\né": 1}
    name = "x%2C%0D%0A%C3%A9"
    for speak in (stream(*events(target)), refusing(target, 400), refusing(target, 503)):
        upstream.speak = speak
        reply = caller.ask(port, f"lossy-{target}", stream=True, **more)
        assert reply.value("x-modelway-dropped") == name, reply
