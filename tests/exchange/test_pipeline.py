"""Composing a handler from stages."""

import pytest

from engine.exchange.exchange import Exchange, Response
from engine.exchange.pipeline import compose
from engine.values.errors import GatewayError


def exchange():
    return Exchange("GET", "/", "", {})


def stage(name, seen):
    def run(given, following):
        seen.append(f"{name} in")
        response = following(given)
        seen.append(f"{name} out")
        return response

    return run


def test_the_first_stage_is_the_outermost():
    seen: list[str] = []

    def last(given):
        seen.append("last")
        return Response(200, [])

    handler = compose([stage("a", seen), stage("b", seen)], last)
    assert handler(exchange()).status == 200
    assert seen == ["a in", "b in", "last", "b out", "a out"]


def test_without_stages_the_last_handler_answers():
    response = Response(204, [])
    assert compose([], lambda given: response)(exchange()) is response


def test_a_stage_may_answer_by_itself():
    answer = Response(304, [])
    handler = compose([lambda given, following: answer], lambda given: pytest.fail("called"))
    assert handler(exchange()) is answer


def test_an_error_goes_up_through_the_stages():
    seen: list[str] = []

    def last(given):
        raise GatewayError(400, "code", "words")

    with pytest.raises(GatewayError):
        compose([stage("a", seen)], last)(exchange())
    assert seen == ["a in"]


def test_a_composed_handler_serves_many_requests():
    seen: list[str] = []
    handler = compose([stage("a", seen)], lambda given: Response(200, []))
    handler(exchange())
    handler(exchange())
    assert seen == ["a in", "a out"] * 2
