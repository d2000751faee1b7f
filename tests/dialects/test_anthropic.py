"""The Anthropic dialect: errors and pages of models."""

import pytest

from engine import dialects
from engine.values.errors import GatewayError
from tests.support.dialects import error_of, ids, listed, names


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (409, "conflict_error"),
        (413, "request_too_large"),
        (415, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (502, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ],
)
def test_anthropic_types_follow_the_status(status, kind):
    document = error_of("anthropic", status)
    assert document["error"]["type"] == kind
    assert (document["type"], document["request_id"]) == ("error", "req_1")
    assert set(document) == {"type", "error", "request_id"}


def test_an_error_has_the_details_that_the_vendors_sdk_reads():
    details = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
    error = GatewayError(400, "unsupported_parameter", "No thread.", details=details)
    document = dialects.get("anthropic").error(error, "r1")
    assert document["error"]["details"] == details
    plain = dialects.get("anthropic").error(GatewayError(400, "x", "y"), "r1")
    assert "details" not in plain["error"]


def test_a_model_of_anthropic():
    assert listed("anthropic")["data"][0] == {
        "type": "model",
        "id": "org/m0:x",
        "display_name": "Model 0",
        "created_at": "2023-11-14T22:13:20Z",
    }


@pytest.mark.parametrize(
    ("parameters", "first", "last", "more"),
    [
        ({}, 0, 20, True),
        ({"limit": "5"}, 0, 5, True),
        ({"limit": "60"}, 0, 60, False),
        ({"limit": "1000"}, 0, 60, False),
        ({"after_id": "org/m9:x"}, 10, 30, True),
        ({"after_id": "org/m55:x"}, 56, 60, False),
        ({"after_id": "org/m39:x"}, 40, 60, False),
        ({"before_id": "org/m30:x"}, 10, 30, True),
        ({"before_id": "org/m5:x"}, 0, 5, False),
        ({"before_id": "org/m20:x"}, 0, 20, False),
        ({"before_id": "org/m30:x", "limit": "3"}, 27, 30, True),
        ({"after_id": "nobody"}, 0, 20, True),
    ],
)
def test_anthropic_has_pages_in_both_directions(parameters, first, last, more):
    document = listed("anthropic", **parameters)
    assert ids(document) == names(first, last)
    assert document["has_more"] is more
    assert (document["first_id"], document["last_id"]) == (ids(document)[0], ids(document)[-1])


def test_a_page_past_the_end_is_empty():
    document = listed("anthropic", after_id="org/m59:x")
    assert document == {"data": [], "has_more": False, "first_id": None, "last_id": None}
    assert listed("anthropic", cards=[])["data"] == []
    assert listed("gemini", cards=[])["models"] == []


def test_all_pages_of_anthropic_are_all_models():
    models, after = [], None
    while True:
        page = listed("anthropic", limit="7", **({"after_id": after} if after else {}))
        models += ids(page)
        after = page["last_id"]
        if not page["has_more"]:
            break
    assert models == names(0, 60)
