"""The response of a route as a value."""

from engine.config.respond import Respond, read_respond


def test_names_of_headers_are_in_lower_case_and_values_are_texts():
    response = read_respond({"status": 503, "headers": {"Retry-After": 120}})
    assert response == Respond(503, (("retry-after", "120"),))


def test_null_is_a_body():
    assert read_respond({"status": 200, "body": None}).has_body


def test_responses_with_different_bodies_differ():
    first, second = (read_respond({"status": 200, "body": {"a": n}}) for n in (1, 2))
    assert first != second
    assert hash(first) == hash(second)
