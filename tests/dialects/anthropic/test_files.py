"""Files of Anthropic, what it says of one and how it takes one, and results of its batches."""

from engine.dialects.anthropic.files import BATCHES, FILES, result
from engine.dialects.interface.files import FileFacts
from tests.support.each import each

MESSAGE = {"id": "msg_1"}


def test_a_file_needs_nothing_but_itself():
    value = {"filename": "a.txt", "mime_type": "text/plain", "size_bytes": 5}
    assert FILES.facts(value) == FileFacts("a.txt", "text/plain", 5)
    upload = FILES.upload(FILES.facts(value))
    assert (upload.part, upload.fields) == ("file", {})
    assert dict(FILES.headers)["anthropic-beta"] == "files-api-2025-04-14"


def test_what_is_not_said_has_a_default():
    assert FILES.facts({"filename": 3}) == FileFacts("file", "application/octet-stream")


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
