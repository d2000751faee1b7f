"""Results of Gemini's batches, and the files that have them."""

from engine.dialects.gemini.batches import files, path, result
from tests.support.each import each

ANSWER = {"candidates": []}


@each(
    ("entry", "expected"),
    [
        ({"response": ANSWER, "metadata": {"key": "a"}}, ("a", 200, ANSWER, ("response",))),
        ({"key": "a", "response": ANSWER}, ("a", 200, ANSWER, ("response",))),
        ({"error": {"code": 3}}, ("", 400, None)),
        ({"error": {"code": 13}}, ("", 500, None)),
        ({}, ("", 500, None)),
    ],
)
def test_an_entry_is_a_result(entry, expected):
    assert result(entry)[: len(expected)] == expected


@each(
    ("value", "expected"),
    [
        ({"response": {"responsesFile": "files/b"}}, ["files/b"]),
        (
            {
                "response": {"responsesFile": "files/b"},
                "metadata": {"output": {"responsesFile": "files/b"}},
            },
            ["files/b"],
        ),
        ({"response": {"inlinedResponses": {}}, "metadata": None}, []),
    ],
)
def test_files_with_results_are_named_by_their_batch(value, expected):
    assert files(value) == expected


def test_requests_have_the_path_of_their_operation():
    assert path("/models/m:batchGenerateContent") == "/models/m:generateContent"
    assert path("/models/m:asyncBatchEmbedContent") == "/models/m:embedContent"
