"""Files of OpenAI, what it says of one and how it takes one, and results of its batches."""

from engine.dialects.interface.files import FileFacts
from engine.dialects.openai.files import FILES, files, result
from tests.support.each import each

BODY = {"id": "chatcmpl-1"}


@each(
    ("name", "media_type", "purpose"),
    [
        ("a.pdf", "application/pdf", "user_data"),
        ("a.png", "image/png", "vision"),
        ("a", "application/octet-stream", "user_data"),
    ],
)
def test_a_file_is_uploaded_for_what_chats_do_with_it(name, media_type, purpose):
    facts = FILES.facts({"filename": name, "bytes": 7, "purpose": "batch"})
    assert facts == FileFacts(name, media_type, 7)
    upload = FILES.upload(facts)
    assert (upload.part, upload.fields) == ("file", {"purpose": purpose})


@each(
    ("line", "expected"),
    [
        (
            {"custom_id": "a", "response": {"status_code": 200, "body": BODY}, "error": None},
            ("a", 200, BODY, ("response", "body")),
        ),
        ({"custom_id": "a", "response": {"status_code": 400, "body": None}}, ("a", 400, None)),
        (
            {"custom_id": "a", "response": None, "error": {"code": "batch_expired"}},
            ("a", 500, None),
        ),
        ({"custom_id": 7, "response": {"status_code": "x"}}, ("", 200, None)),
    ],
)
def test_a_line_is_a_result(line, expected):
    assert result(line)[: len(expected)] == expected


@each(
    ("value", "expected"),
    [
        (
            {"id": "batch_1", "output_file_id": "file-1", "error_file_id": "file-2"},
            ["file-1", "file-2"],
        ),
        ({"id": "batch_1", "output_file_id": None}, []),
        ({"id": "file-1", "purpose": "batch_output"}, ["file-1"]),
        ({"id": "file-1", "purpose": "batch"}, []),
    ],
)
def test_files_with_results_are_known_by_their_batch_or_purpose(value, expected):
    assert files(value) == expected
