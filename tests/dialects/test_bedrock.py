"""The dialect of Amazon Bedrock's runtime."""

from __future__ import annotations

import json
from typing import Any

from botocore.parsers import create_parser

from engine import dialects
from engine.relay.amazon_events import AmazonEvents
from engine.values.usage import Usage
from tests.support import bedrock
from tests.support.amazon_events import exception
from tests.support.dialects import error, listed
from tests.support.each import each

BEDROCK = dialects.get("bedrock")
COUNTS = {
    "inputTokens": 2,
    "outputTokens": 5,
    "totalTokens": 16,
    "cacheReadInputTokens": 3,
    "cacheWriteInputTokens": 6,
    "cacheDetails": [{"ttl": "1h", "inputTokens": 4}, {"ttl": "5m", "inputTokens": 2}, 7],
}
USAGE = Usage(input=11, output=5, cached=3, cache_write=6, cache_write_1h=4, source="upstream")


CODES = [
    (400, "ValidationException"),
    (404, "ResourceNotFoundException"),
    (418, "ValidationException"),
    (429, "ThrottlingException"),
    (500, "InternalServerException"),
]


@each(("status", "code"), CODES)
def test_the_vendors_sdk_reads_an_error(status: int, code: str) -> None:
    body = json.dumps(BEDROCK.error(error(status), "req_1")).encode()
    response = {"status_code": status, "headers": {}, "body": body}
    shape = bedrock.operation(bedrock.CONVERSE).output_shape
    read = create_parser("rest-json").parse(response, shape)["Error"]
    assert (read["Code"], read["Message"]) == (code, "What went wrong.")


@each("document", [None, [], {}, {"message": 5}, "x"])
def test_a_document_without_a_message_is_no_error(document: Any) -> None:
    assert not BEDROCK.is_error(document)


def test_an_exception_of_a_stream_has_its_status() -> None:
    text = AmazonEvents().feed(exception("throttlingException", "Wait."))
    read = BEDROCK.stream_error(json.loads(text))
    assert read is not None
    assert (read.status, read.document["__type"]) == (429, "ThrottlingException")
    assert read.document["message"] == read.document["error"]["message"] == "Wait."


@each("document", [None, {"error": {}}, {"error": {"code": "x"}}, {"error": "x"}])
def test_an_error_of_another_form_has_none(document: Any) -> None:
    assert BEDROCK.stream_error(document) is None


USAGES = [
    ({"usage": COUNTS}, USAGE),
    ({"metadata": {"usage": COUNTS, "metrics": {}}}, USAGE),
    ({"usage": {"inputTokens": 1}}, Usage(input=1, source="upstream")),
    ({"usage": {}}, None),
    ({"messageStop": {"stopReason": "end_turn"}}, None),
    ({"metadata": 5}, None),
    ([], None),
]


@each(("document", "expected"), USAGES)
def test_usage(document: Any, expected: Usage | None) -> None:
    assert BEDROCK.meter is not None
    assert BEDROCK.meter.usage_of(document) == expected


def test_the_last_event_of_a_stream_has_its_usage() -> None:
    assert BEDROCK.meter is not None
    tally = BEDROCK.meter.tally()
    tally.take({"messageStart": {}})
    assert (tally.ended, tally.usage()) == (False, None)
    tally.take({"metadata": {"usage": COUNTS}})
    assert (tally.ended, tally.usage()) == (True, USAGE)


def test_the_list_of_models() -> None:
    (first, *_) = listed("bedrock")["modelSummaries"]
    assert set(first) == {"modelId", "modelName", "providerName"}


def test_requests_are_claimed_by_no_header() -> None:
    assert not BEDROCK.claims({}, "")


@each(
    ("document", "expected"),
    [
        ({"messageStart": {}}, False),
        ({"contentBlockStart": {}}, False),
        ({"contentBlockDelta": {}}, True),
        ({"type": "message_start"}, False),
        ({"type": "content_block_delta"}, True),
        ({"outputText": "hi"}, True),
        (None, True),
    ],
)
def test_the_events_that_begin_an_answer_have_no_content(document: Any, expected: bool) -> None:
    assert BEDROCK.has_content(document) is expected


@each(
    ("documents", "expected"),
    [
        ([{"contentBlockDelta": {}}], False),
        ([{"contentBlockDelta": {}}, {"messageStop": {}}], True),
        ([{"metadata": {}}], True),
        ([{"type": "content_block_delta"}], False),
        ([{"type": "message_stop"}], True),
        ([{"outputText": "", "amazon-bedrock-invocationMetrics": {}}], True),
        ([{"outputText": "hi"}], None),
        ([None], None),
    ],
)
def test_the_end_of_a_stream(documents: list[Any], expected: bool | None) -> None:
    assert BEDROCK.ends(documents) is expected
