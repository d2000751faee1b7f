"""The revisions of MCP: which one a message is of, and what its head must say."""

import base64

import pytest
from msgspec.structs import replace

from engine.mcp.protocol.json_rpc import Code, Message, ProtocolError
from engine.mcp.protocol.revisions import (
    LEGACY,
    MODERN,
    Head,
    check_legacy,
    check_modern,
    client_of,
    header_value,
    is_modern,
    legacy_revision,
    negotiated,
)
from tests.support.each import each

META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEAD = Head(MODERN, "tools/list")
CALL_HEAD = Head(MODERN, "tools/call", "show")


def listing(**meta):
    return Message("tools/list", {}, 1, {**META, **meta})


def calling(name="show"):
    return Message("tools/call", {"name": name}, 1, META)


def without(name):
    return Message("tools/list", {}, 1, {k: v for k, v in META.items() if name not in k})


@each(
    "head, message, modern",
    [
        (Head(), Message("initialize"), False),
        (Head(), Message("tools/list"), False),
        (Head("2025-06-18"), Message("tools/list"), False),
        (Head("2025-11-25", "initialize"), Message("initialize"), False),
        (Head(), Message("server/discover"), True),
        (Head(None, "tools/list"), Message("tools/list"), True),
        (Head(MODERN), Message("tools/list"), True),
        (Head("2024-11-05"), Message("tools/list"), True),
        (Head("2025-11-25"), listing(), True),
    ],
)
def test_the_era_is_that_of_the_body_then_that_of_the_head(head, message, modern):
    assert is_modern(head, message) is modern


@each("head, message", [(HEAD, listing()), (CALL_HEAD, calling())])
def test_a_complete_head_is_accepted(head, message):
    check_modern(head, message)


def test_a_name_may_be_encoded():
    name = "=?base64?" + base64.b64encode("größe".encode()).decode() + "?="
    check_modern(replace(CALL_HEAD, name=name), calling("größe"))
    assert header_value("Mcp-Name", "=?base64??=") == ""
    assert header_value("Mcp-Name", "=?base64?") == "=?base64?"


@each(
    "head, message, code",
    [
        (HEAD, Message("tools/list", {}, 1), Code.INVALID_PARAMS),
        (HEAD, without("protocolVersion"), Code.INVALID_PARAMS),
        (HEAD, without("clientCapabilities"), Code.INVALID_PARAMS),
        (HEAD, Message("tools/list", {"_meta": []}, 1), Code.INVALID_PARAMS),
        (replace(HEAD, version=None), listing(), Code.HEADER_MISMATCH),
        (replace(HEAD, version="2025-11-25"), listing(), Code.HEADER_MISMATCH),
        (replace(HEAD, method=None), listing(), Code.HEADER_MISMATCH),
        (replace(HEAD, method="TOOLS/LIST"), listing(), Code.HEADER_MISMATCH),
        (replace(HEAD, method="tools/call"), listing(), Code.HEADER_MISMATCH),
        (replace(CALL_HEAD, name=None), calling(), Code.HEADER_MISMATCH),
        (replace(CALL_HEAD, name="list"), calling(), Code.HEADER_MISMATCH),
        (replace(CALL_HEAD, name="Show"), calling(), Code.HEADER_MISMATCH),
        (replace(CALL_HEAD, name="=?base64?!?="), calling(), Code.HEADER_MISMATCH),
        (replace(CALL_HEAD, name="=?base64?/w==?="), calling(), Code.HEADER_MISMATCH),
        (CALL_HEAD, calling(5), Code.INVALID_PARAMS),
    ],
)
def test_a_head_that_lacks_something_or_differs_is_refused(head, message, code):
    with pytest.raises(ProtocolError) as raised:
        check_modern(head, message)
    assert raised.value.code == code


def test_a_revision_that_is_not_served_is_refused_with_those_that_are():
    newer = listing(**{"io.modelcontextprotocol/protocolVersion": "2027-01-01"})
    with pytest.raises(ProtocolError) as raised:
        check_modern(replace(HEAD, version="2027-01-01"), newer)
    assert raised.value.code == Code.UNSUPPORTED_VERSION
    assert raised.value.data == {"supported": [MODERN], "requested": "2027-01-01"}


@each(
    "wanted, revision",
    [*((r, r) for r in LEGACY), ("2024-11-05", LEGACY[0]), (MODERN, LEGACY[0]), (None, LEGACY[0])],
)
def test_initialize_is_answered_with_a_revision_of_its_era(wanted, revision):
    message = Message("initialize", {"protocolVersion": wanted}, 1)
    assert negotiated(message) == legacy_revision(Head(), message) == revision


def test_a_message_without_a_header_is_of_the_first_revision_that_has_none():
    assert legacy_revision(Head(), Message("ping")) == "2025-03-26"
    assert legacy_revision(Head("2025-06-18"), Message("ping")) == "2025-06-18"


@each(
    "head, message, client",
    [
        (
            Head(),
            listing(**{"io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"}}),
            "a/1",
        ),
        (Head(), Message("initialize", {"clientInfo": {"name": "b", "version": "2"}}), "b/2"),
        (Head(user_agent="node/20 (x)"), Message("tools/list", {"clientInfo": {}}), "node/20"),
        (Head(user_agent="x\u0007y"), Message("ping"), "x?y"),
        (Head(), Message("initialize", {"clientInfo": {"name": "n" * 99}}), "n" * 64),
        (Head(), listing(**{"io.modelcontextprotocol/clientInfo": "a"}), ""),
    ],
)
def test_the_client_is_what_it_says_itself_bounded(head, message, client):
    assert client_of(head, message) == client


LEGACY_CALL = Message("tools/call", {"name": "show"}, 1)


@each("name", [None, "show", "=?base64?c2hvdw==?="])
def test_a_request_of_2025_may_have_headers_that_say_what_its_body_does(name):
    check_legacy(Head(LEGACY[0], "tools/call", name), LEGACY_CALL)
    check_legacy(Head(LEGACY[0], None, name), LEGACY_CALL)
    check_legacy(Head(LEGACY[0], "tools/list", name), Message("tools/list", {}, 1))


@each(
    "method, name",
    [
        ("tools/list", None),
        ("tools/call ", None),
        (None, "drop"),
        (None, "Show"),
        (None, "=?base64?ZHJvcA==?="),
        (None, "show,show"),
        (None, ""),
    ],
)
def test_a_request_of_2025_with_a_header_that_differs_is_refused(method, name):
    with pytest.raises(ProtocolError, match="Header mismatch") as raised:
        check_legacy(Head(LEGACY[0], method, name), LEGACY_CALL)
    assert raised.value.code == Code.HEADER_MISMATCH
