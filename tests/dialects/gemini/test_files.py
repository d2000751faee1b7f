"""Files of the Gemini API, what it says of one and how it takes one, and results of its batches."""

from engine.dialects.gemini.files import FILES, files, path, result
from engine.dialects.interface.files import FileFacts, Piece
from tests.support.each import each

ANSWER = {"candidates": []}


def test_an_upload_begins_with_what_is_known_of_the_file():
    facts = FILES.facts({"displayName": "a", "mimeType": "text/plain", "sizeBytes": "5"})
    assert facts == FileFacts("a", "text/plain", 5)
    upload = FILES.upload(facts)
    assert upload.body == {"file": {"displayName": "a", "mimeType": "text/plain"}}
    assert dict(upload.headers)["x-goog-upload-header-content-length"] == "5"
    assert upload.part == ""


def test_a_file_ends_before_two_days_are_over():
    assert 0 < FILES.lifetime < 48 * 3600


@each(
    ("command", "offset", "piece"),
    [
        ("upload", "8", Piece(8, False)),
        ("Upload,  FINALIZE", "0", Piece(0, True)),
        ("finalize", "0", None),
        ("start", "0", None),
        ("uploaded", "0", None),
        ("", "", None),
        *[("upload", offset, None) for offset in ("", "x", "-1", "1.0", "0x1", "9" * 16)],
    ],
)
def test_what_a_request_of_an_upload_brings(command, offset, piece):
    headers = {"x-goog-upload-command": command, "x-goog-upload-offset": offset}
    assert FILES.read_piece(headers.__getitem__) == piece


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
