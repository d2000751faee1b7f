"""`routes:` and `policies:` as values."""

import pytest

from engine.config.routes import Respond, read_respond
from tests.support.configs import read_config


def test_names_of_headers_are_in_lower_case_and_values_are_texts():
    response = read_respond({"status": 503, "headers": {"Retry-After": 120}})
    assert response == Respond(503, (("retry-after", "120"),))


def test_null_is_a_body():
    assert read_respond({"status": 200, "body": None}).has_body


def test_responses_with_different_bodies_differ():
    first, second = (read_respond({"status": 200, "body": {"a": n}}) for n in (1, 2))
    assert first != second
    assert hash(first) == hash(second)


def read_routes(text):
    return read_config("", routes=f"routes:\n{text}")


def test_a_route_has_its_operations_with_places():
    config = read_routes("  - {operation: a.b, operations: [a.c, a.d], answer: models}\n")
    operations = [(name, config.source.place(at)) for name, at in config.routes[0].operations]
    assert operations == [("a.b", (4, 17)), ("a.c", (4, 35)), ("a.d", (4, 40))]


def test_operations_may_be_one_wildcard():
    config = read_routes("  - {operations: a.*, answer: models}\n")
    assert [name for name, _ in config.routes[0].operations] == ["a.*"]


@pytest.mark.parametrize(
    ("text", "place", "default"),
    [
        ("model: $request.body#/model", "$request.body#/model", ""),
        ("model: {from: $request.path.m}", "$request.path.m", ""),
        ("model: {from: $request.query.m, default: d}", "$request.query.m", "d"),
        ("answer: models", "", ""),
    ],
)
def test_a_route_has_the_place_of_its_model(text, place, default):
    route = read_routes(f"  - {{operation: a.b, {text}}}\n").routes[0]
    assert (route.model, route.default_model) == (place, default)


def test_a_route_needs_a_token_and_is_validated_by_default():
    plain, public = read_routes(
        "  - {operation: a.b, answer: models}\n"
        "  - {operation: a.c, answer: models, auth: none, validate: off}\n"
    ).routes
    assert (plain.allows_anonymous, plain.validate) == (False, "strict")
    assert (public.allows_anonymous, public.validate) == (True, "off")


def test_policies_keep_their_order_options_and_places():
    config = read_routes(
        "  - operation: a.b\n    answer: models\n    policies:\n"
        "      - max_body: 1MB\n      - other: {x: [1]}\n"
    )
    policies = config.routes[0].policies
    assert [(p.name, p.options) for p in policies] == [("max_body", "1MB"), ("other", {"x": [1]})]
    assert config.source.place(policies[1].at) == (8, 16)
    assert config.source.place(policies[1].at, key=True) == (8, 9)
