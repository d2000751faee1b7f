"""An exchange from its start to its end, and handlers composed of stages."""

import re
import time
from functools import partial

import pytest
from gevent import GreenletExit

from engine.exchange.exchange import MISSING, Exchange, Response, compose, new_request_id
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange


def test_exchanges_share_defaults_but_no_mutable_objects():
    first, second = (new_exchange("GET") for _ in range(2))
    assert (first.model.name, first.content.value, first.model.targets) == ("", MISSING, ())
    assert first.on_end is not second.on_end
    assert first.record is not second.record


def test_a_stage_may_set_few_attributes_of_an_exchange():
    """What one stage leaves for one other is passed, or stands in a value named for both."""
    names = Exchange.__annotations__
    mutable = {name for name, kind in names.items() if not kind.startswith("Final")}
    assert len(mutable) <= 18, sorted(mutable)
    exchange = new_exchange("GET")
    assert {name for name in vars(exchange) if not name.startswith("_")} <= names.keys()


def test_an_unknown_attribute_of_an_exchange_is_refused():
    with pytest.raises(TypeError, match="no modle"):
        new_exchange("GET", modle="gpt")


def ending(*callbacks):
    exchange = new_exchange("GET")
    exchange.on_end += reversed(callbacks)  # the last one is called first
    return exchange


def test_a_callback_that_fails_at_the_end_is_logged_and_the_others_run(caplog):
    calls = []
    exchange = ending(lambda: calls.append(1), lambda: 1 / 0, lambda: calls.append(2))
    exchange.end()
    exchange.end()
    assert calls == [1, 2]
    assert caplog.text.count("request req_1: a callback at its end failed") == 1
    assert "ZeroDivisionError" in caplog.text


def test_a_kill_in_the_middle_of_the_end_goes_on_after_the_other_callbacks():
    calls = []

    def killed():
        raise GreenletExit

    exchange = ending(lambda: calls.append(1), killed, lambda: calls.append(2), killed)
    with pytest.raises(GreenletExit):
        exchange.end()
    assert calls == [1, 2]
    assert not exchange.on_end


def stage(name, calls):
    def run(exchange, following):
        calls.append(f"{name} in")
        response = following(exchange)
        calls.append(f"{name} out")
        return response

    return run


def test_the_first_stage_is_the_outermost():
    calls: list[str] = []

    def last(exchange):
        calls.append("last")
        return Response(200, [])

    handler = compose([stage("a", calls), stage("b", calls)], last)
    assert handler(new_exchange()).status == 200
    assert calls == ["a in", "b in", "last", "b out", "a out"]


class Keeper:
    """Stages that are a method, and an object."""

    def __init__(self, calls):
        self.calls = calls

    def keep(self, exchange, following):
        self.calls.append("method")
        return following(exchange)

    def __call__(self, exchange, following):
        self.calls.append("object")
        return following(exchange)


def test_a_stage_is_a_function_a_method_an_object_or_what_else_can_be_called():
    calls: list[str] = []

    def with_more(exchange, following, name="more"):
        calls.append(name)
        return following(exchange)

    keeper = Keeper(calls)
    stages = [keeper.keep, keeper, with_more, partial(with_more, name="partial")]
    last = Response(200, [])
    assert compose(stages, lambda exchange: last)(new_exchange()) is last
    assert calls == ["method", "object", "more", "partial"]
    assert compose([keeper.keep], lambda exchange: None)(new_exchange()) is None  # its own handler


def test_without_stages_the_last_handler_answers():
    response = Response(204, [])
    assert compose([], lambda exchange: response)(new_exchange()) is response


def test_a_stage_may_answer_by_itself():
    answer = Response(304, [])
    handler = compose([lambda exchange, following: answer], lambda exchange: pytest.fail("called"))
    assert handler(new_exchange()) is answer


def test_an_error_goes_up_through_the_stages():
    calls: list[str] = []

    def last(exchange):
        raise GatewayError(400, "code", "words")

    with pytest.raises(GatewayError):
        compose([stage("a", calls)], last)(new_exchange())
    assert calls == ["a in"]


def test_a_composed_handler_serves_many_requests():
    calls: list[str] = []
    handler = compose([stage("a", calls)], lambda exchange: Response(200, []))
    handler(new_exchange())
    handler(new_exchange())
    assert calls == ["a in", "a out"] * 2


def test_a_name_tells_its_time_and_then_chance() -> None:
    before = time.time_ns() // 1_000_000
    name = new_request_id()
    assert re.fullmatch(r"req_[0-9a-f]{32}", name)
    assert before <= int(name[4:16], 16) <= time.time_ns() // 1_000_000


def test_no_two_names_are_the_same() -> None:
    assert len({new_request_id() for _ in range(10_000)}) == 10_000
