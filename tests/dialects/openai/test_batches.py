"""Results of OpenAI's batches, and the files that have them."""

from engine.dialects.openai.batches import files, result
from tests.support.each import each

BODY = {"id": "chatcmpl-1"}


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
