"""Copies of requests: which, how many, and what is left of the original in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import gevent
import pytest
from msgspec.structs import replace

from engine.config.model_operation import ModelOperation
from engine.config.models import MirrorConfig, Model, TargetConfig
from engine.exchange.exchange import Exchange, Response
from engine.exchange.request_body import Body
from engine.exchange.requested_model import RequestedModel
from engine.exchange.stage_services import Services
from engine.upstream import choose
from engine.upstream.attempts.mirror import MAX_HELD, Mirrors, copy_of, is_chosen, is_copied
from engine.upstream.models.build_catalog import build_catalog
from engine.upstream.models.model_catalog import ServedMirror
from engine.values.caller import Caller
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, upstream

CHAT = ModelOperation("api.chat", "openai", "/chat/completions", "chat_completions", "", "chat")
TUNE = ModelOperation("api.tune", "openai", "/tune", "", "", "")


def mirror_of(
    percent: float = 100, most: int = 2, operations: tuple[str, ...] = ()
) -> ServedMirror:
    to = (TargetConfig("b", "next", 1.0),)
    config = MirrorConfig(to, percent, most, operations, ())
    model = Model("m", (TargetConfig("a", "", 1.0),), (), "", "", 0, mirror=config)
    upstreams = {name: upstream(Client(), name=name) for name in "ab"}
    catalog = build_catalog({"m": model}, upstreams, partial(choose.build, Services()))
    served = catalog.find("m")
    assert served is not None
    assert served.mirror is not None
    return served.mirror


def exchange_of(mirror: ServedMirror, body: bytes = b'{"model": "m"}', **more: str) -> Exchange:
    exchange = new_exchange(body=Body(body), value={}, operation="api.chat", **more)
    exchange.caller = Caller("ada")
    exchange.model = RequestedModel("m", (10, 13))
    exchange.model.mirror = mirror
    return exchange


def run(
    mirrors: Mirrors,
    exchange: Exchange,
    send: Callable[[Exchange], Response],
    operation: ModelOperation = CHAT,
    within: object = None,
) -> Response:
    stage = mirrors.stage(send, operation, within)  # type: ignore[arg-type]
    return stage(exchange, lambda exchange: Response(201, []))


def test_a_copy_has_the_request_and_the_targets_of_the_mirror_but_no_caller():
    sent: list[Exchange] = []

    def send(exchange: Exchange) -> Response:
        sent.append(exchange)
        return Response(200, [], iter([b"thrown ", b"away"]))

    mirrors, exchange = Mirrors(), exchange_of(mirror_of())
    assert run(mirrors, exchange, send).status == 201
    assert sent == []  # nothing waits for it
    gevent.sleep(0)
    (copied,) = sent
    assert [t.upstream.name for t in copied.model.targets] == ["b"]
    assert (copied.model.name, copied.model.span) == ("m", (10, 13))
    assert (copied.body, copied.caller, copied.operation) == (exchange.body, None, "api.chat")
    assert (copied.record.via, copied.record is exchange.record) == ("mirror", False)
    assert copied.request_id not in ("", exchange.request_id)
    assert mirrors.counts == {("m", "sent"): 1}


@pytest.mark.parametrize(
    ("response", "result"),
    [
        (lambda exchange: Response(200, [], b"{}"), "sent"),
        (lambda exchange: Response(503, [], b"{}"), "failed"),
    ],
)
def test_each_copy_is_counted_by_its_result(response, result):
    mirrors = Mirrors()
    run(mirrors, exchange_of(mirror_of()), response)
    gevent.sleep(0)
    assert mirrors.counts == {("m", result): 1}


def test_a_copy_whose_answer_breaks_off_has_failed_and_ended():
    ended = []

    def send(exchange: Exchange) -> Response:
        exchange.on_end.append(lambda: ended.append(True))

        def body():
            yield b"half"
            raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF)

        return Response(200, [], body())

    mirrors = Mirrors()
    run(mirrors, exchange_of(mirror_of()), send)
    gevent.sleep(0)
    assert (mirrors.counts, ended) == ({("m", "failed"): 1}, [True])


def test_what_has_no_room_is_dropped():
    release = gevent.event.Event()

    def send(exchange: Exchange) -> Response:
        release.wait()
        return Response(200, [], b"")

    mirrors, mirror = Mirrors(), mirror_of(most=2)
    for _ in range(3):
        run(mirrors, exchange_of(mirror), send)
    assert mirrors.counts == {("m", "dropped"): 1}
    release.set()
    gevent.sleep(0)
    gevent.sleep(0)
    assert mirrors.counts == {("m", "dropped"): 1, ("m", "sent"): 2}
    many = mirror_of(most=1000)
    for _ in range(MAX_HELD // 1_000_000 + 1):
        run(mirrors, exchange_of(many, b" " * 1_000_000), send)
    assert mirrors.counts["m", "dropped"] == 2


def test_a_region_that_is_required_holds_for_copies():
    def within(model, caller):
        raise GatewayError(403, "region_not_allowed", "elsewhere")

    mirrors = Mirrors()
    run(mirrors, exchange_of(mirror_of()), lambda e: Response(200, [], b""), within=within)
    gevent.sleep(0)
    assert mirrors.counts == {("m", "dropped"): 1}


@pytest.mark.parametrize(
    ("operation", "named", "copied"),
    [(CHAT, (), True), (TUNE, (), False), (TUNE, ("api.*",), True), (TUNE, ("api.chat",), True)],
)
def test_an_operation_that_may_have_side_effects_is_copied_if_it_is_named(operation, named, copied):
    mirrors = Mirrors()
    exchange = exchange_of(mirror_of(operations=named))
    run(mirrors, exchange, lambda e: Response(200, [], b""), operation)
    gevent.sleep(0)
    assert bool(mirrors.counts) is copied


def test_responses_and_counts_of_tokens_are_not_known_to_be_free_of_side_effects():
    assert is_copied(CHAT)
    assert not is_copied(replace(CHAT, language="responses"))
    assert not is_copied(replace(CHAT, counts="messages"))
    assert not is_copied(TUNE)


def test_the_share_is_decided_by_the_id_alone():
    ids = [f"req_{number}" for number in range(4000)]
    chosen = [each for each in ids if is_chosen(each, 10)]
    assert 320 < len(chosen) < 480
    assert chosen == [each for each in ids if is_chosen(each, 10)]
    assert {*chosen} <= {each for each in ids if is_chosen(each, 20)}
    assert all(is_chosen(each, 100) for each in ids)


def test_without_a_target_there_is_no_copy():
    mirror = mirror_of()
    model = mirror.model.for_operation(lambda target: None)
    assert copy_of(exchange_of(mirror), model) is None
