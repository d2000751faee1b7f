"""Rows of the ledger as lines: encoding and decoding any row gives it back."""

import json
import math
from typing import get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.outcome import Outcome
from engine.exchange.request_record import CANCELLED, Attempt, McpMessage
from engine.stores.ledger_entry import Entry, cancelled_entries, decode, encode, entry_of, repaired
from engine.values.caller import Caller
from engine.values.usage import COUNTS, Usage
from tests.support.exchanges import new_exchange
from tests.support.journals import ENTRY


def test_a_line_holds_every_field_of_an_entry():
    line = encode(ENTRY)
    assert line.endswith(b"]\n")
    assert decode(line) == ENTRY


def test_lines_of_older_programs_are_objects():
    assert decode(json.dumps(ENTRY._asdict()).encode()) == ENTRY


def test_a_sound_entry_is_not_changed_by_repair():
    assert repaired(ENTRY) == ENTRY


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"{", b'{"id":"x","time":1', b"\0" * 40, b"[1]", b"7", b"null", b'"text"'),
        *(
            b"[]",
            b'[""]',
            b'["torn",1.0',
            b'[["x"]]',
            b"{}",
            b'{"id":""}',
            b'{"id":7}',
            b"\xff\xfe",
        ),
    ],
)
def test_a_line_that_is_no_entry_is_none(line):
    assert decode(line) is None


ODD = [
    ("model_asked", "gpt\0four", "gpt\ufffdfour"),
    ("model_asked", "half \ud800", "half ?"),
    ("model_asked", "x" * 1_000_000, "x" * 256),
    ("token", None, ""),
    ("cost", 10**30, 2**63 - 1),
    ("cost", -(10**30), -(2**63 - 1)),
    ("input", "many", 0),
    ("cost", 10**400, 2**63 - 1),
    ("duration", 10**400, 1e300),
    ("duration", math.nan, 0.0),
    ("first_byte", math.inf, None),
    ("stream", 1, True),
    ("status", 10**12, 2**31 - 1),
]


@pytest.mark.parametrize(("name", "value", "expected"), ODD)
def test_an_entry_is_repaired_to_what_every_database_takes(name, value, expected):
    assert getattr(repaired(ENTRY._replace(**{name: value})), name) == expected


@pytest.mark.parametrize(("name", "value", "expected"), [ODD[0], ODD[1], ODD[2], ODD[4]])
def test_a_line_holds_repaired_values(name, value, expected):
    assert getattr(decode(encode(ENTRY._replace(**{name: value}))), name) == expected


@pytest.mark.parametrize("line", [b'{"id":"req_1","time":5.0}', b'["req_1",5.0]'])
def test_fields_that_an_older_program_did_not_write_get_their_default(line):
    assert decode(line) == Entry("req_1", 5.0)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'["req_1","late"]', Entry("req_1", 0.0)),
        (b'["req_1",5,["a"],{"b":1},null]', Entry("req_1", 5.0)),
        (b'["req_1",5.0,"a","b","c","d","e","200",7]', Entry("req_1", 5.0, *"abcde", 0, "")),
    ],
)
def test_values_of_other_types_are_repaired(line, expected):
    """SQLite would store a text as a number, and refuse all rows because of a list."""
    assert decode(line) == expected


def test_fields_that_a_newer_program_wrote_are_left_out():
    line = json.dumps([*ENTRY, "new", 7]).encode()
    assert decode(line) == ENTRY


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters()),
    st.lists(st.integers()),
    st.just(object()),
)


@given(st.fixed_dictionaries(dict.fromkeys(Entry._fields[1:], ANYTHING)))
def test_whatever_an_entry_holds_is_one_line_of_every_field(values):
    line = encode(Entry(id="req_1", **values))
    assert line.count(b"\n") == 1
    assert len(decode(line)) == len(Entry._fields)


@given(st.fixed_dictionaries(dict.fromkeys(Entry._fields, ANYTHING)))
def test_a_repaired_entry_has_the_types_of_its_fields(values):
    kinds = get_type_hints(Entry).values()
    for kind, value in zip(kinds, repaired(Entry(**values)), strict=True):
        assert type(value) in (get_args(kind) or (kind,))


def test_a_finished_exchange_is_an_entry():
    environ = {"HTTP_USER_AGENT": "claude-cli/2.1.332 (external, cli)", "HTTP_SESSION_ID": "s1"}
    exchange = new_exchange("POST", "/", "", environ, "req_1", operation="openai.chat", model="gpt")
    exchange.caller = Caller("alice")
    record = exchange.record
    record.time, record.upstream, record.model, record.attempt_count = (
        1000.0,
        "one",
        "gpt-4",
        2,
    )
    record.usage = Usage(input=3, output=4, source="upstream", cache_write=2, image_output=1)
    record.price_source = "groq 2026-07-02"
    record.cost, record.first_byte, record.bytes_out = 17, 0.25, 3
    record.end(200, Outcome.COMPLETE)
    record.close(record.start + 1.5)
    row = entry_of(exchange, "EUR")
    assert (row.id, row.time, row.token, row.operation) == ("req_1", 1000.0, "alice", "openai.chat")
    assert (row.model_asked, row.model_served, row.upstream) == ("gpt", "gpt-4", "one")
    assert (row.status, row.outcome) == (200, "complete")
    assert (row.input, row.output, row.source) == (3, 4, "upstream")
    assert (row.cache_write, row.image_output) == (2, 1)
    assert (row.cost, row.currency, row.first_byte) == (17, "EUR", 0.25)
    assert row.price == "groq 2026-07-02"
    assert (row.attempts, row.bytes_out, row.duration) == (2, 3, 1.5)
    assert (row.client, row.client_version, row.session) == ("claude", "2.1.332", "s1")
    assert row.via == ""


def test_the_entry_of_a_tool_has_its_protocol_and_its_client():
    exchange = new_exchange(record={"mcp": McpMessage("shop", client="codex-mcp-client/0.171.0")})
    row = entry_of(exchange, "EUR")
    assert (row.via, row.client, row.client_version) == ("mcp", "codex", "0.171.0")


def test_an_entry_has_every_member_of_the_usage_with_its_type():
    kinds = get_type_hints(Entry)
    assert {name: kinds[name] for name in get_type_hints(Usage)} == get_type_hints(Usage)
    counts = {name: at for at, name in enumerate(COUNTS, 1)}
    entry = entry_of(new_exchange(record={"usage": Usage(**counts, source="upstream")}), "EUR")
    assert {name: getattr(entry, name) for name in COUNTS} == counts
    assert entry.source == "upstream"


def test_a_cancelled_attempt_is_an_entry_of_its_own_without_usage():
    exchange = new_exchange(
        environ={"HTTP_USER_AGENT": "curl/8.5.0", "HTTP_SESSION_ID": "s1"},
        request_id="req_1",
        operation="openai.chat",
        model="gpt",
        caller=Caller("shop", team="all"),
        record={
            "time": 1000.0,
            "start": 10.0,
            "usage": Usage(3, 4, source="upstream"),
            "attempts": [
                Attempt("one/m", "one", "m", CANCELLED, 0, 10.5, 0.25),
                Attempt("two/m", "two", "m", "", 200, 10.6, 0.1),
            ],
        },
    )
    (entry,) = cancelled_entries(exchange, "EUR")
    assert entry == Entry(
        "req_1.1",
        1000.5,
        token="shop",
        operation="openai.chat",
        model_asked="gpt",
        upstream="one",
        outcome=CANCELLED,
        currency="EUR",
        duration=0.25,
        attempts=1,
        team="all",
        client="curl",
        client_version="8.5.0",
        session="s1",
    )
