"""Results of message batches."""

from engine.dialects.anthropic.batches import BATCHES, result
from tests.support.each import each

MESSAGE = {"id": "msg_1"}


def error(kind):
    return {"type": "errored", "error": {"type": "error", "error": {"type": kind}}}


@each(
    ("outcome", "status"),
    [
        ({"type": "succeeded", "message": MESSAGE}, 200),
        (error("invalid_request_error"), 400),
        (error("api_error"), 500),
        ({"type": "canceled"}, 499),
        ({"type": "expired"}, 504),
        (None, 500),
    ],
)
def test_a_line_is_a_result(outcome, status):
    read = result({"custom_id": "a", "result": outcome})
    assert (read.name, read.status) == ("a", status)
    assert read.answer == (MESSAGE if status == 200 else None)


def test_requests_are_those_of_the_path_above():
    assert BATCHES.path("/messages/batches") == "/messages"
